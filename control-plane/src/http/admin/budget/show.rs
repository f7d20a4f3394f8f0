//! `GET /admin/budget`: shows today's budget.

use super::BudgetView;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use axum::Json;
use axum::extract::State;

pub async fn show(State(app): State<App>, _: Operator) -> Result<Json<BudgetView>, Problem> {
    Ok(Json(BudgetView::now(&app).await?))
}

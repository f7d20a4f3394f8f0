//! `PUT /admin/budget`: sets the budget of a day.

use super::BudgetView;
use crate::app::App;
use crate::config::farm::USD_PER_DAY_MAX;
use crate::http::body::JsonBody;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::money::microusd_from;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetBudget {
    /// 0 stops cold renders at once.
    usd_per_day: f64,
}

pub async fn set(
    State(app): State<App>,
    _: Operator,
    JsonBody(body): JsonBody<SetBudget>,
) -> Result<Json<BudgetView>, Problem> {
    if !(0.0..=USD_PER_DAY_MAX).contains(&body.usd_per_day) {
        return Err(Problem::bad_parameter(
            "usd_per_day",
            format!("`usd_per_day` must be 0 to {USD_PER_DAY_MAX} US dollars.",),
        ));
    }
    app.renders.set_budget(microusd_from(body.usd_per_day)).await?;
    tracing::info!(usd_per_day = body.usd_per_day, "budget set by the operator");
    Ok(Json(BudgetView::now(&app).await?))
}

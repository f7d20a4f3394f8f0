//! `POST /admin/prewarm/plan`: plans a batch without starting it.

use super::PrewarmBody;
use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::prewarm::{Plan, wishes};
use axum::Json;
use axum::extract::State;

/// Returns the size and cost that a batch would have. Nothing is queued.
pub async fn plan(
    State(app): State<App>,
    _: Operator,
    JsonBody(body): JsonBody<PrewarmBody>,
) -> Result<Json<Plan>, Problem> {
    let wishes = wishes(&app.catalog.now(), body.requests()?)?;
    Ok(Json(Plan::of(&app, &wishes).await?))
}

//! `POST /admin/prewarm/batches`, `GET /admin/prewarm/batches` and
//! `GET /admin/prewarm/batches/{batch_id}`: start, list and show batches.

use super::{BatchView, PrewarmBody};
use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::prewarm::{Plan, PrewarmBatch, wishes};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Serialize;

/// Number of batches in the list. Older ones can be shown by their ids.
const LISTED: i64 = 50;

#[derive(Debug, Serialize)]
pub struct CreatedPrewarmBatch {
    batch_id: String,
    plan: Plan,
}

#[derive(Debug, Serialize)]
pub struct BatchesView {
    /// The latest first.
    batches: Vec<BatchView>,
}

/// Starts a batch.
pub async fn create(
    State(app): State<App>,
    _: Operator,
    JsonBody(body): JsonBody<PrewarmBody>,
) -> Result<(StatusCode, Json<CreatedPrewarmBatch>), Problem> {
    let (name, budget_percent) = (body.name()?, body.budget_percent()?);
    let catalog = app.catalog.now();
    let wishes = wishes(&catalog, body.requests()?)?;
    let plan = Plan::of(&app, &wishes).await?;
    let batch_id = PrewarmBatch::create(&app.db, &catalog, name, &wishes, budget_percent, app.clock.now()).await?;
    tracing::info!(batch_id, name, rows = plan.rows, "prewarming started by the operator");
    Ok((StatusCode::CREATED, Json(CreatedPrewarmBatch { batch_id, plan })))
}

pub async fn list(State(app): State<App>, _: Operator) -> Result<Json<BatchesView>, Problem> {
    let batches = PrewarmBatch::list(&app.db, LISTED).await?;
    Ok(Json(BatchesView { batches: batches.into_iter().map(BatchView::from).collect() }))
}

pub async fn show(
    State(app): State<App>,
    _: Operator,
    Path(batch_id): Path<String>,
) -> Result<Json<BatchView>, Problem> {
    Ok(Json(PrewarmBatch::find(&app.db, &batch_id).await?.into()))
}

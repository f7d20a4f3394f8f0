//! `POST /admin/prewarm/batches/{batch_id}/pause`, `.../resume` and
//! `.../cancel`: change the state of a batch.

use super::BatchView;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::prewarm::{BatchOrder, PrewarmBatch};
use axum::Json;
use axum::extract::{Path, State};

/// Pauses a batch: jobs that are queued are still rendered, and no more are
/// queued until the batch is resumed.
pub async fn pause(app: State<App>, operator: Operator, id: Path<String>) -> Result<Json<BatchView>, Problem> {
    give(app, operator, id, BatchOrder::Pause).await
}

pub async fn resume(app: State<App>, operator: Operator, id: Path<String>) -> Result<Json<BatchView>, Problem> {
    give(app, operator, id, BatchOrder::Resume).await
}

/// Cancels a batch for good: jobs that are queued are still rendered.
pub async fn cancel(app: State<App>, operator: Operator, id: Path<String>) -> Result<Json<BatchView>, Problem> {
    give(app, operator, id, BatchOrder::Cancel).await
}

async fn give(
    State(app): State<App>,
    _: Operator,
    Path(batch_id): Path<String>,
    order: BatchOrder,
) -> Result<Json<BatchView>, Problem> {
    let batch = PrewarmBatch::order(&app.db, &batch_id, order, app.clock.now()).await?;
    tracing::info!(batch_id, state = batch.state.as_str(), "prewarming ordered by the operator");
    Ok(Json(batch.into()))
}

//! `DELETE /node/v1/nodes/{node_id}`: a node leaves.

use crate::app::App;
use crate::http::error::Problem;
use crate::http::node_caller::NodeCaller;
use axum::extract::{Path, State};
use axum::http::StatusCode;

pub async fn leave(
    State(app): State<App>,
    caller: NodeCaller,
    Path(node_id): Path<String>,
) -> Result<StatusCode, Problem> {
    app.renders.leave(&caller.token_id, &node_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

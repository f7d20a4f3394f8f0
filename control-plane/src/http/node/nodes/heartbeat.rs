//! `POST /node/v1/nodes/{node_id}/heartbeat`: the node reports that it is alive and which jobs it
//! has, and receives orders.

use crate::app::App;
use crate::http::body::NodeBody;
use crate::http::error::Problem;
use crate::http::node_caller::NodeCaller;
use axum::Json;
use axum::extract::{Path, State};
use cyclorama_core::wire::{HeartbeatRequest, HeartbeatResponse};

pub async fn heartbeat(
    State(app): State<App>,
    caller: NodeCaller,
    Path(node_id): Path<String>,
    NodeBody(report): NodeBody<HeartbeatRequest>,
) -> Result<Json<HeartbeatResponse>, Problem> {
    Ok(Json(app.renders.heartbeat(&caller.token_id, &node_id, &report).await?))
}

//! `POST /node/v1/nodes/{node_id}/leases`: the node claims jobs, and
//! waits for some if there are none.

use crate::app::App;
use crate::http::body::NodeBody;
use crate::http::error::Problem;
use crate::http::node_caller::NodeCaller;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cyclorama_core::wire::{LeaseRequest, LeaseResponse};

pub async fn lease(
    State(app): State<App>,
    caller: NodeCaller,
    Path(node_id): Path<String>,
    NodeBody(request): NodeBody<LeaseRequest>,
) -> Result<Response, Problem> {
    let closing = app.closing.cancelled();
    let jobs = app.renders.work(&caller.token_id, &node_id, request.free, request.wait_seconds, closing).await?;
    if jobs.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(Json(LeaseResponse { jobs }).into_response())
}

//! `POST /node/v1/jobs/{job_id}/failure`: the node reports that it could not do the job.

use crate::app::App;
use crate::http::body::NodeBody;
use crate::http::error::Problem;
use crate::http::node_caller::NodeCaller;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use cyclorama_core::wire::FailureRequest;

pub async fn failure(
    State(app): State<App>,
    caller: NodeCaller,
    Path(job_id): Path<String>,
    NodeBody(request): NodeBody<FailureRequest>,
) -> Result<StatusCode, Problem> {
    app.renders.fail(&caller.token_id, &job_id, request.fence, request.kind, &request.detail).await??;
    metrics::counter!("cyclorama_render_failures_total", "kind" => request.kind.as_str()).increment(1);
    Ok(StatusCode::NO_CONTENT)
}

//! `POST /node/v1/jobs/{job_id}/result`: the node reports that every object of the job is uploaded.

use super::receipt;
use crate::app::App;
use crate::http::body::NodeBody;
use crate::http::error::Problem;
use crate::http::node_caller::NodeCaller;
use crate::renders::ResultError;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::ResultRequest;

/// Maximum size of a result, in bytes: it lists up to 15 colours of 13 objects, at about 150 bytes
/// each, and a receipt.
pub const BODY_BYTES_MAX: usize = 256 * 1024;

pub async fn result(
    State(app): State<App>,
    caller: NodeCaller,
    Path(job_id): Path<String>,
    NodeBody(request): NodeBody<ResultRequest>,
) -> Result<StatusCode, Problem> {
    // The task goes on when the node disconnects: half of the objects may have been moved already.
    let accepting = async move {
        let replaced = app.renders.accept(&caller.token_id, &job_id, &request).await?;
        receipt::measure(&request.receipt.read());
        if replaced {
            app.pictures.forget_known();
        }
        Ok::<(), ResultError>(())
    };
    match tokio::spawn(Trace::current().around(accepting)).await {
        Ok(Ok(())) => Ok(StatusCode::NO_CONTENT),
        Ok(Err(ResultError::Stale(stale))) => Err(stale.into()),
        Ok(Err(ResultError::Rejected(rejected))) => {
            Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "object_rejected", format!("{rejected}."))
                .with("object", rejected.name))
        }
        Ok(Err(ResultError::Store(error))) => Err(error.into()),
        Ok(Err(ResultError::Database(error))) => Err(error.into()),
        Err(_) => Err(Problem::internal()),
    }
}

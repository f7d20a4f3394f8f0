//! `POST /node/v1/nodes`: a node joins.

use crate::app::App;
use crate::http::body::NodeBody;
use crate::http::error::Problem;
use crate::http::node_caller::NodeCaller;
use crate::renders::JoinError;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cyclorama_core::wire::{JoinRequest, JoinResponse};

pub async fn join(
    State(app): State<App>,
    caller: NodeCaller,
    NodeBody(request): NodeBody<JoinRequest>,
) -> Result<(StatusCode, Json<JoinResponse>), Problem> {
    let node_id = app.renders.join(&caller.token_id, &request).await.map_err(|error| match error {
        JoinError::Invalid { field, .. } => Problem::bad_parameter(field, format!("{error}.")),
        JoinError::TooMany { retry_after_seconds, .. } => {
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_nodes", format!("{error}."))
                .retry_after(retry_after_seconds)
        }
        JoinError::Database(error) => error.into(),
    })?;
    let farm = &app.config.farm;
    let answer = JoinResponse { node_id, heartbeat_seconds: farm.heartbeat_seconds, lease_seconds: farm.lease_seconds };
    Ok((StatusCode::CREATED, Json(answer)))
}

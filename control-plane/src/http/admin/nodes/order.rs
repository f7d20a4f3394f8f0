//! `POST /admin/nodes/{node_id}/drain`, `.../lock` and `.../resume`

use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::renders::NodeError;
use axum::Json;
use axum::extract::{Path, State};
use cyclorama_core::wire::NodeOrder;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A longer drain needs no end.
pub const DRAIN_SECONDS_MAX: u64 = 7 * 86_400;

#[derive(Debug, Serialize)]
pub struct Ordered {
    node_id: String,
    state: &'static str,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drain {
    /// What the node still holds then is given to others; absent: it has all the time it needs.
    within_seconds: Option<u64>,
}

/// The node finishes what it has and takes no more.
pub async fn drain(
    State(app): State<App>,
    _: Operator,
    Path(node_id): Path<String>,
    JsonBody(body): JsonBody<Drain>,
) -> Result<Json<Ordered>, Problem> {
    if body.within_seconds.is_some_and(|seconds| seconds > DRAIN_SECONDS_MAX) {
        let detail = format!("within_seconds: 0 to {DRAIN_SECONDS_MAX} seconds.");
        return Err(Problem::bad_parameter("within_seconds", detail));
    }
    give(&app, node_id, NodeOrder::Draining, body.within_seconds.map(Duration::from_secs)).await
}

/// The node takes nothing until it is resumed.
pub async fn lock(State(app): State<App>, _: Operator, Path(node_id): Path<String>) -> Result<Json<Ordered>, Problem> {
    give(&app, node_id, NodeOrder::Locked, None).await
}

/// The node takes work again; a quarantine ends as well.
pub async fn resume(
    State(app): State<App>,
    _: Operator,
    Path(node_id): Path<String>,
) -> Result<Json<Ordered>, Problem> {
    give(&app, node_id, NodeOrder::Active, None).await
}

async fn give(
    app: &App,
    node_id: String,
    order: NodeOrder,
    within: Option<Duration>,
) -> Result<Json<Ordered>, Problem> {
    app.renders.order_node(&node_id, order, within).await.map_err(|error| match error {
        NodeError::Unknown => Problem::not_found("unknown_node", format!("There is no node {node_id}.")),
        other => other.into(),
    })?;
    tracing::info!(node_id, order = order.as_str(), "node ordered by the operator");
    Ok(Json(Ordered { node_id, state: order.as_str() }))
}

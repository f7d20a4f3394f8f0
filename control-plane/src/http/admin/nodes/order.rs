//! `POST /admin/nodes/{node_id}/drain`, `.../lock` and `.../resume`: change the status of a node.

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

/// Maximum time limit of a drain, in seconds. A drain that may take longer needs no limit.
pub const DRAIN_SECONDS_MAX: u64 = 7 * 86_400;

#[derive(Debug, Serialize)]
pub struct OrderedNode {
    node_id: String,
    state: &'static str,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drain {
    /// Time after which the node's remaining jobs go to other nodes; unlimited if absent.
    within_seconds: Option<u64>,
}

/// Drains a node: it finishes its jobs and gets no new ones.
pub async fn drain(
    State(app): State<App>,
    _: Operator,
    Path(node_id): Path<String>,
    JsonBody(body): JsonBody<Drain>,
) -> Result<Json<OrderedNode>, Problem> {
    if body.within_seconds.is_some_and(|seconds| seconds > DRAIN_SECONDS_MAX) {
        let detail = format!("`within_seconds` must be 0 to {DRAIN_SECONDS_MAX} seconds.");
        return Err(Problem::bad_parameter("within_seconds", detail));
    }
    give(&app, node_id, NodeOrder::Draining, body.within_seconds.map(Duration::from_secs)).await
}

/// Locks a node: it gets no jobs until it is resumed.
pub async fn lock(
    State(app): State<App>,
    _: Operator,
    Path(node_id): Path<String>,
) -> Result<Json<OrderedNode>, Problem> {
    give(&app, node_id, NodeOrder::Locked, None).await
}

/// Resumes a node: it gets jobs again. This also ends a quarantine.
pub async fn resume(
    State(app): State<App>,
    _: Operator,
    Path(node_id): Path<String>,
) -> Result<Json<OrderedNode>, Problem> {
    give(&app, node_id, NodeOrder::Active, None).await
}

async fn give(
    app: &App,
    node_id: String,
    order: NodeOrder,
    within: Option<Duration>,
) -> Result<Json<OrderedNode>, Problem> {
    app.renders.order_node(&node_id, order, within).await.map_err(|error| match error {
        NodeError::Unknown => Problem::not_found("unknown_node", format!("There is no node {node_id}.")),
        other => other.into(),
    })?;
    tracing::info!(node_id, order = order.as_str(), "node ordered by the operator");
    Ok(Json(OrderedNode { node_id, state: order.as_str() }))
}

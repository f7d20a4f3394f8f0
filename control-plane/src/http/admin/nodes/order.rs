//! `POST /admin/nodes/{node_id}/drain`, `.../lock` and `.../resume`

use crate::app::App;
use crate::http::error::Problem;
use crate::http::extract::Operator;
use crate::renders::NodeError;
use axum::Json;
use axum::extract::{Path, State};
use cyclorama_core::wire::NodeOrder;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct Ordered {
    node_id: String,
    state: &'static str,
}

/// The node finishes what it has and takes no more.
pub async fn drain(State(app): State<App>, _: Operator, Path(node_id): Path<String>) -> Result<Json<Ordered>, Problem> {
    give(&app, node_id, NodeOrder::Draining).await
}

/// The node takes nothing until it is resumed.
pub async fn lock(State(app): State<App>, _: Operator, Path(node_id): Path<String>) -> Result<Json<Ordered>, Problem> {
    give(&app, node_id, NodeOrder::Locked).await
}

/// The node takes work again; a quarantine ends as well.
pub async fn resume(
    State(app): State<App>,
    _: Operator,
    Path(node_id): Path<String>,
) -> Result<Json<Ordered>, Problem> {
    give(&app, node_id, NodeOrder::Active).await
}

async fn give(app: &App, node_id: String, order: NodeOrder) -> Result<Json<Ordered>, Problem> {
    app.renders.order_node(&node_id, order).await.map_err(|error| match error {
        NodeError::Unknown => Problem::not_found("unknown_node", format!("There is no node {node_id}.")),
        NodeError::Store(cause) => cause.into(),
        NodeError::Database(cause) => cause.into(),
    })?;
    tracing::info!(node_id, order = order.as_str(), "node ordered by the operator");
    Ok(Json(Ordered { node_id, state: order.as_str() }))
}

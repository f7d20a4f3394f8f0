//! `GET /admin/nodes`: the render nodes.

use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::renders::Node;
use axum::Json;
use axum::extract::State;
use cyclorama_core::wire::{MachineLoad, Pipeline, Unparsed};
use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Serialize)]
pub struct Nodes {
    /// The newest first.
    nodes: Vec<NodeView>,
}

#[derive(Debug, Serialize)]
pub struct NodeView {
    node_id: String,
    name: String,
    /// The node status: active, draining, locked or quarantined.
    state: &'static str,
    /// The state that the node reported of itself: ready, busy, draining or unhealthy. A node is
    /// also unhealthy while it has not stopped a job that it was told to stop.
    reported_state: String,
    /// True if the node has sent a heartbeat lately.
    alive: bool,
    seen_at: String,
    joined_at: String,
    version: String,
    slots: i64,
    jobs_leased: i64,
    jobs_done: i64,
    /// The price that the node stated when it joined. If `null`, a render on the node is counted
    /// with the cost in the settings.
    usd_per_hour: Option<f64>,
    pipelines: Vec<Pipeline>,
    device: Value,
    /// The metrics of the device, as the node last sent them.
    device_metrics: Unparsed<MachineLoad>,
}

impl From<Node> for NodeView {
    fn from(node: Node) -> Self {
        NodeView {
            node_id: node.id,
            name: node.name,
            state: node.state.as_str(),
            reported_state: node.reported_state,
            alive: node.alive,
            seen_at: crate::clock::UnixMs(node.seen_at_ms).rfc3339(),
            joined_at: crate::clock::UnixMs(node.joined_at_ms).rfc3339(),
            version: node.version,
            slots: node.slots,
            jobs_leased: node.jobs_leased,
            jobs_done: node.jobs_done,
            usd_per_hour: node.usd_per_hour,
            pipelines: node.pipelines,
            device: node.device,
            device_metrics: node.device_metrics,
        }
    }
}

pub async fn list(State(app): State<App>, _: Operator) -> Result<Json<Nodes>, Problem> {
    let nodes = app.renders.nodes().await?.into_iter().map(NodeView::from).collect();
    Ok(Json(Nodes { nodes }))
}

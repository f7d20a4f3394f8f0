//! `GET /admin/nodes`

use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::renders::Node;
use axum::Json;
use axum::extract::State;
use cyclorama_core::wire::{AsSent, MachineLoad, Pipeline};
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
    /// active, draining, locked or quarantined: what the service lets it do.
    state: &'static str,
    /// ready, busy, draining or unhealthy: what it said of itself; unhealthy also while it does not let go of a job it was told to stop.
    reported_state: String,
    /// Heard of lately.
    alive: bool,
    seen_at: String,
    joined_at: String,
    version: String,
    slots: i64,
    jobs_leased: i64,
    jobs_done: i64,
    /// As it said when it joined; `null`: a render on it is counted as the settings say.
    usd_per_hour: Option<f64>,
    pipelines: Vec<Pipeline>,
    device: Value,
    /// As the node last sent them.
    device_metrics: AsSent<MachineLoad>,
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

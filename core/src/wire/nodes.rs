//! Wire messages about nodes: joining, heartbeats and orders to a node.

use super::{MachineLoad, StageName, Unparsed};
use serde::{Deserialize, Serialize};

/// `POST /node/v1/nodes`: a node joins.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JoinRequest {
    pub name: String,
    pub version: String,
    /// Number of leases that the node holds at once.
    pub slots: u32,
    /// Number of jobs that the node can run in one pass.
    #[serde(default = "one")]
    pub batch_max: u32,
    pub pipelines: Vec<Pipeline>,
    /// Paints that the node can read beyond the fifteen presets with their shadow. Nodes of
    /// versions that know only those do not send the member.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paints: Vec<String>,
    pub device: Device,
    /// Cost of the machine per hour, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd_per_hour: Option<f64>,
}

fn one() -> u32 {
    1
}

/// Value in [`JoinRequest::paints`]: the node can read any sRGB colour with a finish, and paints
/// without the shadow on the ground.
pub const CUSTOM_PAINTS: &str = "custom";

/// A model folder that a node has loaded: its id and the digest of its lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    pub id: String,
    pub digest: String,
}

/// The graphics device of a node.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Device {
    pub name: String,
    pub backend: String,
    /// Memory of the graphics card, in megabytes. (In a heartbeat the member of this name is the
    /// memory of the process.)
    #[serde(default, rename = "memory_mb")]
    pub card_memory_mb: Option<u64>,
    /// The execution provider that runs the models, by ONNX Runtime's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_provider: Option<String>,
}

/// The answer to a [`JoinRequest`]: the node's id, and how often to send heartbeats and how long
/// leases last, in seconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JoinResponse {
    pub node_id: String,
    pub heartbeat_seconds: u64,
    pub lease_seconds: u64,
}

crate::named_enum! {
    /// The state that a node reports of itself.
    pub enum NodeState { Ready = "ready", Busy = "busy", Draining = "draining", Unhealthy = "unhealthy" }
}

/// `POST /node/v1/nodes/{node_id}/heartbeat`: a node reports its state, its jobs and its load, and
/// thereby renews its leases.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HeartbeatRequest {
    pub state: NodeState,
    #[serde(default)]
    pub jobs: Vec<JobProgress>,
    #[serde(default)]
    pub device: Unparsed<MachineLoad>,
}

/// Progress of a job that the node holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobProgress {
    pub job_id: String,
    pub fence: i64,
    #[serde(default)]
    pub stage: StageName,
    /// Completed ratio of the job, 0 to 1.
    #[serde(default)]
    pub progress: f32,
}

crate::named_enum! {
    /// The node status that the service sets: what the node may do.
    pub enum NodeOrder { Active = "active", Draining = "draining", Locked = "locked" }
}

/// The answer to a heartbeat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HeartbeatResponse {
    pub state: NodeOrder,
    /// Jobs that the node must drop, because nothing waits for them any more or because the
    /// node has lost the lease.
    #[serde(default)]
    pub cancel: Vec<String>,
}

//! Nodes: joining, heartbeats, orders.

use super::{AsSent, MachineLoad, StageName};
use serde::{Deserialize, Serialize};

/// `POST /node/v1/nodes`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JoinRequest {
    pub name: String,
    pub version: String,
    /// How many leases the node holds at once.
    pub slots: u32,
    /// How many jobs it can run in one pass.
    #[serde(default = "one")]
    pub batch_max: u32,
    pub pipelines: Vec<Pipeline>,
    /// Paints the node can read beyond the fifteen presets with their shadow. Nodes of versions that know only those do not send it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paints: Vec<String>,
    pub device: Device,
    /// What an hour of the machine costs, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd_per_hour: Option<f64>,
}

fn one() -> u32 {
    1
}

/// In [`JoinRequest::paints`]: any sRGB colour with a finish, and paints without the shadow on the ground.
pub const CUSTOM_PAINTS: &str = "custom";

/// A model folder a node has loaded: its id and the digest of its lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    pub id: String,
    pub digest: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Device {
    pub name: String,
    pub backend: String,
    /// Memory of the card, in megabytes. (The member of this name in a heartbeat is the memory of the process.)
    #[serde(default, rename = "memory_mb")]
    pub card_memory_mb: Option<u64>,
    /// What runs its models, as ONNX Runtime calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_provider: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JoinResponse {
    pub node_id: String,
    pub heartbeat_seconds: u64,
    pub lease_seconds: u64,
}

crate::named_enum! {
    pub enum NodeState { Ready = "ready", Busy = "busy", Draining = "draining", Unhealthy = "unhealthy" }
}

/// `POST /node/v1/nodes/{node_id}/heartbeat`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HeartbeatRequest {
    pub state: NodeState,
    #[serde(default)]
    pub jobs: Vec<JobProgress>,
    #[serde(default)]
    pub device: AsSent<MachineLoad>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobProgress {
    pub job_id: String,
    pub fence: i64,
    #[serde(default)]
    pub stage: StageName,
    /// 0 to 1.
    #[serde(default)]
    pub progress: f32,
}

crate::named_enum! {
    pub enum NodeOrder { Active = "active", Draining = "draining", Locked = "locked" }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HeartbeatResponse {
    pub state: NodeOrder,
    /// Jobs nobody waits for any more, or whose lease this node has lost.
    #[serde(default)]
    pub cancel: Vec<String>,
}

//! Node protocol, version 1: JSON over `/node/v1`, bearer node token (see `docs/node-protocol.md`).
//!
//! Unknown fields are ignored and absent optional ones allowed on both sides, so either side may be newer.

use crate::{Paint, Vehicle, View};
use serde::{Deserialize, Serialize};

/// Largest object that is uploaded, stored or read, in bytes. Layers are the largest: six half-float planes of 1024x1024 are
/// 25 MB before compression.
pub const OBJECT_BYTES_MAX: u64 = 64 << 20;

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
    #[serde(default)]
    pub memory_mb: Option<u64>,
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

/// `POST /node/v1/nodes/{node_id}/leases`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LeaseRequest {
    /// Free slots.
    pub free: u32,
    /// How long to wait for work, 0 to 30.
    #[serde(default)]
    pub wait_seconds: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LeaseResponse {
    pub jobs: Vec<Job>,
}

crate::named_enum! {
    pub enum JobKind {
        /// Geometry, diffusion, layers, then every colour asked for.
        Render = "render",
        /// Colours composed from stored layers.
        Paint = "paint",
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    pub job_id: String,
    /// Grows with every lease of the job; a result that names an older one changes nothing.
    pub fence: i64,
    /// Unix milliseconds after which nobody waits for the result any more.
    pub deadline: i64,
    pub attempt: u32,
    pub kind: JobKind,
    pub vehicle: Vehicle,
    pub view: View,
    /// What to compose, in the text form of [`Paint`]: `silver`, `#1f4e8c-matt`.
    pub colours: Vec<Paint>,
    pub pipeline: String,
    pub seed: u64,
    pub uploads: Vec<Upload>,
    /// Where to read the layers from: `paint` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers_url: Option<String>,
    /// What is to be found there, lower-case hex: `paint` only. Absent from services before version 0.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers_sha256: Option<String>,
    /// The span that it belongs to (W3C Trace Context), where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

/// One object the node owes: a plain PUT of `media_type` bytes to `url` with `headers`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Upload {
    /// `layers`, `master.<paint>.png` or `<side>.<paint>.<format>`, where `<paint>` is [`Paint::file_name`].
    pub name: String,
    pub url: String,
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    pub media_type: String,
    /// Pixels; 0 for `layers`.
    #[serde(default)]
    pub width: u32,
    #[serde(default)]
    pub height: u32,
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
    pub device: serde_json::Value,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobProgress {
    pub job_id: String,
    pub fence: i64,
    #[serde(default)]
    pub stage: String,
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

/// `POST /node/v1/jobs/{job_id}/result`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResultRequest {
    pub fence: i64,
    pub objects: Vec<UploadedObject>,
    /// Stored as sent and shown to operators: model digests, seed, steps, device, stage timings.
    #[serde(default)]
    pub receipt: serde_json::Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadedObject {
    pub name: String,
    /// Lower-case hex.
    pub sha256: String,
    pub bytes: u64,
}

crate::named_enum! {
    pub enum FailureKind {
        OutOfMemory = "out_of_memory", Model = "model", Quality = "quality", Upload = "upload", Internal = "internal",
    }
}

/// `POST /node/v1/jobs/{job_id}/failure`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FailureRequest {
    pub fence: i64,
    pub kind: FailureKind,
    pub detail: String,
}

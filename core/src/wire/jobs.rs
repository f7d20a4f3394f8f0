//! Jobs: asking for work, what a job is, its result or its failure.

use super::{AsSent, ObjectName, Receipt};
use crate::{Paint, Vehicle, View};
use serde::{Deserialize, Serialize};

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
    pub name: ObjectName,
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

/// `POST /node/v1/jobs/{job_id}/result`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResultRequest {
    pub fence: i64,
    pub objects: Vec<UploadedObject>,
    /// Stored as sent and shown to operators.
    #[serde(default)]
    pub receipt: AsSent<Receipt>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadedObject {
    pub name: ObjectName,
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

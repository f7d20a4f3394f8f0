//! Wire messages about jobs: the request for work, the job itself, its result and its failure.

use super::{ObjectName, Receipt, Unparsed};
use crate::{Paint, Vehicle, View};
use serde::{Deserialize, Serialize};

/// `POST /node/v1/nodes/{node_id}/leases`: a node's request for work.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LeaseRequest {
    /// Number of free slots.
    pub free: u32,
    /// Time to wait for work, in seconds, 0 to 30.
    #[serde(default)]
    pub wait_seconds: u64,
}

/// The jobs that the node now holds leases of; none if there is no work for it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LeaseResponse {
    pub jobs: Vec<Job>,
}

crate::named_enum! {
    /// The kinds of work.
    pub enum JobKind {
        /// Make geometry, diffusion and layers, and then every requested paint.
        Render = "render",
        /// Compose paints from stored layers.
        Paint = "paint",
    }
}

/// One lease of a job, with everything that the node needs to do it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    pub job_id: String,
    /// Number of the lease. It grows with every lease of the job, and a result with an older
    /// fence changes nothing.
    pub fence: i64,
    /// Time, in Unix milliseconds, after which nothing waits for the result any more.
    pub deadline: i64,
    pub attempt: u32,
    pub kind: JobKind,
    pub vehicle: Vehicle,
    pub view: View,
    /// Paints to compose, in the text form of [`Paint`]: `silver`, `#1f4e8c-matt`.
    pub colours: Vec<Paint>,
    pub pipeline: String,
    pub seed: u64,
    pub uploads: Vec<Upload>,
    /// URL of the stored layers. Only in `paint` jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers_url: Option<String>,
    /// SHA-256 of the stored layers, lower-case hex. Only in `paint` jobs. Absent from
    /// services before version 0.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers_sha256: Option<String>,
    /// The span that the job belongs to (W3C Trace Context), if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

/// One object that the node has to upload: a plain PUT of `media_type` bytes
/// to `url` with `headers`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Upload {
    pub name: ObjectName,
    pub url: String,
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    pub media_type: String,
    /// Width and height in pixels; 0 for `layers`.
    #[serde(default)]
    pub width: u32,
    #[serde(default)]
    pub height: u32,
}

/// `POST /node/v1/jobs/{job_id}/result`: a node's report that a job is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResultRequest {
    pub fence: i64,
    pub objects: Vec<UploadedObject>,
    /// Stored as sent, and shown to operators.
    #[serde(default)]
    pub receipt: Unparsed<Receipt>,
}

/// One object that the node has uploaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadedObject {
    pub name: ObjectName,
    /// SHA-256 of the bytes, lower-case hex.
    pub sha256: String,
    pub bytes: u64,
}

crate::named_enum! {
    /// The kind of a job's failure.
    pub enum FailureKind {
        OutOfMemory = "out_of_memory", Model = "model", Quality = "quality", Upload = "upload", Internal = "internal",
    }
}

/// `POST /node/v1/jobs/{job_id}/failure`: a node's report that a job failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FailureRequest {
    pub fence: i64,
    pub kind: FailureKind,
    pub detail: String,
}

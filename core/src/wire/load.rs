//! How busy a node's machine is.

use super::as_sent::{understood, whole_number};
use serde::{Deserialize, Serialize};

/// The `device` of a heartbeat. Each member may be absent or null, where the system or the driver does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineLoad {
    /// Resident memory of the node's process, in megabytes. (The member of this name in [`super::Device`] is the memory of the card.)
    #[serde(rename = "memory_mb", deserialize_with = "whole_number")]
    pub process_memory_mb: Option<u64>,
    #[serde(flatten)]
    pub card: CardLoad,
}

/// The graphics card of a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CardLoad {
    #[serde(deserialize_with = "whole_number")]
    pub gpu_memory_used_mb: Option<u64>,
    #[serde(deserialize_with = "whole_number")]
    pub gpu_memory_total_mb: Option<u64>,
    /// Share of the last moments in which the card was at work, 0 to 1.
    #[serde(deserialize_with = "understood")]
    pub gpu_utilisation: Option<f64>,
}

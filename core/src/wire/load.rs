//! The load of a node's machine.

use super::unparsed::{understood, whole_number};
use serde::{Deserialize, Serialize};

/// The `device` of a heartbeat. Each member may be absent or null if the system or the
/// driver does not provide it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineLoad {
    /// Resident memory of the node's process, in megabytes. (In [`super::Device`] the member of
    /// this name is the memory of the graphics card.)
    #[serde(rename = "memory_mb", deserialize_with = "whole_number")]
    pub process_memory_mb: Option<u64>,
    #[serde(flatten)]
    pub card: CardLoad,
}

/// The load of the graphics card at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CardLoad {
    #[serde(deserialize_with = "whole_number")]
    pub gpu_memory_used_mb: Option<u64>,
    #[serde(deserialize_with = "whole_number")]
    pub gpu_memory_total_mb: Option<u64>,
    /// Ratio of the last moments in which the card was working, 0 to 1.
    #[serde(deserialize_with = "understood")]
    pub gpu_utilisation: Option<f64>,
}

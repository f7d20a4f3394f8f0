//! The stages of a job, as heartbeats and receipts name them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

crate::named_enum! {
    /// In the order of the work; `fetch` and `layers` are of paint jobs alone.
    pub enum Stage {
        /// The node has the job, and has not begun.
        Leased = "leased",
        /// The stored layers of a paint job are read.
        Fetch = "fetch",
        Geometry = "geometry",
        Gbuffer = "gbuffer",
        /// Waiting for the other pictures of a batch.
        Batch = "batch",
        /// Waiting for the model, which works for others.
        Turn = "turn",
        Diffusion = "diffusion",
        /// The stored layers of a paint job are unpacked.
        Layers = "layers",
        Compose = "compose",
        /// The quality gate.
        Gate = "gate",
        Encode = "encode",
        Upload = "upload",
        /// The result is reported: a heartbeat's stage alone.
        Result = "result",
    }
}

/// A stage that a node names, which may be one of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StageName {
    Known(Stage),
    Other(String),
}

impl Default for StageName {
    /// None yet.
    fn default() -> Self {
        StageName::Other(String::new())
    }
}

impl From<Stage> for StageName {
    fn from(stage: Stage) -> Self {
        StageName::Known(stage)
    }
}

impl From<&str> for StageName {
    fn from(text: &str) -> Self {
        let known = Stage::from_str(text).ok().filter(|stage| stage.as_str() == text);
        known.map_or_else(|| StageName::Other(text.to_owned()), StageName::Known)
    }
}

impl fmt::Display for StageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StageName::Known(stage) => stage.fmt(f),
            StageName::Other(text) => f.write_str(text),
        }
    }
}

impl Serialize for StageName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StageName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Ok(StageName::from(&*text))
    }
}

//! The stages of a job, as heartbeats and receipts name them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

crate::named_enum! {
    /// A stage of a job, in the order of the work. Only paint jobs have `fetch` and `layers`.
    pub enum Stage {
        /// The node holds the lease and has not begun.
        Leased = "leased",
        /// Reading the stored layers of a paint job.
        Fetch = "fetch",
        Geometry = "geometry",
        Gbuffer = "gbuffer",
        /// Waiting for the other images of a batch.
        Batch = "batch",
        /// Waiting for the model, which is working on other jobs.
        Turn = "turn",
        Diffusion = "diffusion",
        /// Unpacking the stored layers of a paint job.
        Layers = "layers",
        Compose = "compose",
        /// Checking by the quality gate.
        Gate = "gate",
        Encode = "encode",
        Upload = "upload",
        /// Reporting the result. Only heartbeats name this stage.
        Result = "result",
    }
}

/// A stage as a node names it. It may be one that only the node knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StageName {
    Known(Stage),
    Other(String),
}

impl Default for StageName {
    /// Returns the empty name: no stage yet.
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

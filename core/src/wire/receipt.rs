//! The receipt of a result, in which a node reports what made the images, what the quality gate
//! measured and how long each stage took.

use super::unparsed::understood;
use super::{Stage, StageName};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;

crate::named_enum! {
    /// The source of an image's light.
    pub enum Light {
        /// The diffusion model's light.
        Diffusion = "diffusion",
        /// The studio's own light, used where the model's light did not pass the quality gate.
        BaseShading = "base_shading",
    }
}

/// What a node reports of how a result was made. Every member may be absent: a paint job has
/// no model and no light of its own, and other nodes report what they like. Digests are
/// SHA-256 in lower-case hex.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Receipt {
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelReceipt>,
    /// Digest of the geometry as the studio rendered it: the same for the same vehicle and
    /// view on every machine.
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub gbuffer_digest: Option<String>,
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub triangles: Option<u64>,
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The scheduler by which the model took its samples.
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<Value>,
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Number of images that went through the model together.
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub execution_provider: Option<String>,
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub onnx_runtime: Option<String>,
    /// Digest of the stored layers that a paint job composed from.
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub layers_sha256: Option<String>,
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceReceipt>,
    /// Absent where images were composed from stored layers.
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub light: Option<Light>,
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub quality: Option<QualityReceipt>,
    /// Duration of each stage, in milliseconds.
    #[serde(deserialize_with = "known_stages", serialize_with = "whole", skip_serializing_if = "BTreeMap::is_empty")]
    pub timings_ms: BTreeMap<Stage, f64>,
    /// Name and version of the node's program.
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub software: Option<String>,
    /// Version of the encoder settings that made the files.
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub encode_recipe: Option<Value>,
    #[serde(deserialize_with = "understood", skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
}

/// The model folder that made the light.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReceipt {
    pub id: String,
    pub digest: String,
    #[serde(default)]
    pub license: Value,
    #[serde(default)]
    pub precision: Value,
    #[serde(default)]
    pub files: Vec<ModelFileReceipt>,
}

/// One file of the model folder and its digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFileReceipt {
    pub path: String,
    pub sha256: String,
}

/// The graphics device that rendered the images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceReceipt {
    pub name: String,
    pub backend: String,
}

/// Measurements of the quality gate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QualityReceipt {
    pub figures: Value,
    /// One entry for each attempt that failed. Absent if there was only one attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Vec<Value>>,
}

/// Reads the stages that this version knows and whose time is a number from 0 on.
fn known_stages<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Stage, f64>, D::Error> {
    let sent: Option<BTreeMap<String, Value>> = understood(deserializer)?;
    let timings = sent.into_iter().flatten().filter_map(|(stage, time)| match StageName::from(&*stage) {
        StageName::Known(stage) => Some((stage, time.as_f64()?)),
        StageName::Other(_) => None,
    });
    Ok(timings.filter(|(_, milliseconds)| *milliseconds >= 0.0).collect())
}

/// Writes times that are whole numbers without a fraction.
fn whole<S: Serializer>(timings: &BTreeMap<Stage, f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(timings.iter().map(|(stage, milliseconds)| {
        let number = match milliseconds.fract() == 0.0 {
            true => Value::from(*milliseconds as u64),
            false => Value::from(*milliseconds),
        };
        (stage, number)
    }))
}

#[cfg(test)]
mod tests {
    use super::super::Unparsed;
    use super::*;
    use serde_json::json;

    #[test]
    fn only_known_stages_with_a_time_are_read() {
        for (document, read) in [
            (json!(null), vec![]),
            (json!("paid in full"), vec![]),
            (json!({"timings_ms": []}), vec![]),
            (json!({"timings_ms": {"geometry": "long", "gate": -1, "made-up": 5}}), vec![]),
            (
                json!({"light": "moon", "device": "fake", "timings_ms": {"upload": 250, "turn": 3, "geometry": 1500.5}}),
                vec![(Stage::Geometry, 1500.5), (Stage::Turn, 3.0), (Stage::Upload, 250.0)],
            ),
        ] {
            let receipt = Unparsed::<Receipt>::from_document(document.clone()).read();
            assert_eq!(receipt.timings_ms.into_iter().collect::<Vec<_>>(), read, "{document}");
            assert_eq!((receipt.light, receipt.device), (None, None), "{document}");
        }
    }
}

//! Metrics from the receipt of an accepted result: the durations of its stages, the light of its
//! images, and the number of refusals by the gate.
//!
//! Only names of the protocol become labels, so that no node can
//! make an unlimited number of series.

use cyclorama_core::wire::{Light, Receipt};

/// The label of images that were painted from stored layers: they have no light of their own.
const STORED_LAYERS: &str = "stored_layers";

/// Returns every value of the label `light`.
pub fn lights() -> impl Iterator<Item = &'static str> {
    Light::ALL.iter().map(|light| light.as_str()).chain([STORED_LAYERS])
}

pub fn measure(receipt: &Receipt) {
    for (stage, milliseconds) in &receipt.timings_ms {
        metrics::histogram!("cyclorama_render_stage_seconds", "stage" => stage.as_str()).record(milliseconds / 1000.0);
    }
    let light = receipt.light.map_or(STORED_LAYERS, Light::as_str);
    metrics::counter!("cyclorama_renders_total", "light" => light).increment(1);
    let refused = receipt.quality.as_ref().and_then(|quality| quality.refused.as_ref()).map_or(0, Vec::len);
    metrics::counter!("cyclorama_gate_refusals_total").increment(refused as u64);
}

//! What an accepted result's receipt tells `/metrics`: how long its stages took, what its pictures are lit by, what the gate refused.
//!
//! A receipt is whatever a node sent. Only names that are known here become labels, so that no node can make series without end.

use serde_json::Value;

/// In the order of the work; see the render node's renderer, painter and publisher.
const STAGES: [&str; 10] =
    ["fetch", "geometry", "gbuffer", "batch", "diffusion", "layers", "compose", "gate", "encode", "upload"];

/// What a picture is lit by. Painted from layers that exist, it has no light of its own.
pub const LIGHTS: [&str; 3] = ["diffusion", "base_shading", STORED_LAYERS];
const STORED_LAYERS: &str = "stored_layers";

pub fn measure(receipt: &Value) {
    for (stage, seconds) in stages(receipt) {
        metrics::histogram!("cyclorama_render_stage_seconds", "stage" => stage).record(seconds);
    }
    let light = receipt["light"].as_str().and_then(|told| LIGHTS.into_iter().find(|light| *light == told));
    metrics::counter!("cyclorama_renders_total", "light" => light.unwrap_or(STORED_LAYERS)).increment(1);
    let refused = receipt["quality"]["refused"].as_array().map_or(0, Vec::len);
    metrics::counter!("cyclorama_gate_refusals_total").increment(refused as u64);
}

fn stages(receipt: &Value) -> impl Iterator<Item = (&'static str, f64)> {
    STAGES.into_iter().filter_map(|stage| {
        let milliseconds = receipt["timings_ms"][stage].as_f64()?;
        (milliseconds >= 0.0).then_some((stage, milliseconds / 1000.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_known_stages_with_a_time_are_told() {
        for (receipt, told) in [
            (json!(null), vec![]),
            (json!("paid in full"), vec![]),
            (json!({"timings_ms": []}), vec![]),
            (json!({"timings_ms": {"geometry": "long", "gate": -1, "made-up": 5}}), vec![]),
            (json!({"timings_ms": {"upload": 250, "geometry": 1500.5}}), vec![("geometry", 1.5005), ("upload", 0.25)]),
        ] {
            assert_eq!(stages(&receipt).collect::<Vec<_>>(), told, "{receipt}");
            measure(&receipt);
        }
    }
}

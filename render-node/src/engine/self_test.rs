//! The render that a node makes of a vehicle of its own before it reports that it is ready: with
//! every model, through the gate. A model that cannot pass it would fail every client's render.
//!
//! Why: `docs/decisions/nodes-and-protocol.md` (A node's self-test).

use crate::config::LocalConfig;
use crate::engine::order::RenderRequest;
use crate::engine::renderer::Renderer;
use crate::engine::start_error::{SelfTestError, StartError};
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::{Light, Unparsed};
use cyclorama_core::{BodyClass, Colour, View};

/// Starts a renderer and returns it once it has passed the self-test.
pub fn passed(config: &LocalConfig) -> Result<Renderer, StartError> {
    let mut renderer = Renderer::start(config)?;
    run(&mut renderer)?;
    Ok(renderer)
}

/// Renders with each model. This takes seconds without a GPU; it also warms up everything that the
/// first client would otherwise wait for.
pub fn run(renderer: &mut Renderer) -> Result<(), SelfTestError> {
    for pipeline in renderer.pipelines().into_iter().map(|pipeline| pipeline.id) {
        let order = RenderRequest {
            vehicle: crate::vehicle::typical::typical(BodyClass::Hatchback),
            view: View::FrontThreeQuarter,
            colours: vec![Colour::Red.into()],
            pipeline: pipeline.clone(),
            seed: 0,
            trace: Trace::none(),
        };
        let render = renderer
            .render(&order, &mut |_, _| true)
            .map_err(|source| SelfTestError::Render { pipeline: pipeline.clone(), source })?;
        if render.receipt.light != Some(Light::Diffusion) {
            let refused = render.receipt.quality.and_then(|quality| quality.refused).unwrap_or_default();
            let findings = serde_json::Value::from(refused).to_string();
            return Err(SelfTestError::Light { pipeline, findings });
        }
        let timings_ms = Unparsed::from(&render.receipt).into_document()["timings_ms"].take();
        tracing::info!(pipeline, %timings_ms, "self-test passed");
    }
    Ok(())
}

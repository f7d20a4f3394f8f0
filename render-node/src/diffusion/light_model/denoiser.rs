//! The ONNX graph of a light model. No other module knows its tensor names.

use crate::diffusion::diffusion_error::DiffusionError;
use crate::diffusion::graph::{Graph, Numbers, OtherOutputs, expected};
use crate::diffusion::residual::RESIDUAL_CHANNELS;
use crate::diffusion::run_memory::RunMemory;
use crate::diffusion::{ModelFolder, OnnxRuntime, Provider};
use ort::session::Session;
use ort::value::TensorRef;
use std::borrow::Cow;

const SAMPLE: &str = "sample";
const TIMESTEP: &str = "timestep";
const CONDITIONING: &str = "conditioning";
const CLEAN: &str = "x0";

pub(super) struct Denoiser {
    graph: Graph,
    side: usize,
    conditioning_channels: usize,
}

impl Denoiser {
    pub(super) fn load(
        runtime: &OnnxRuntime,
        provider: Provider,
        folder: &ModelFolder,
        side: usize,
        conditioning_channels: usize,
    ) -> Result<Self, DiffusionError> {
        let graph = Graph::open(runtime, provider, folder, UNET_MODEL, RunMemory::GivenBack)?;
        let image =
            |name, channels: usize| expected(name, Numbers::Float32, &[None, Some(channels), Some(side), Some(side)]);
        let inputs = [
            image(SAMPLE, RESIDUAL_CHANNELS),
            expected(TIMESTEP, Numbers::Float32, &[None]),
            image(CONDITIONING, conditioning_channels),
        ];
        graph.check(&inputs, &[image(CLEAN, RESIDUAL_CHANNELS)], OtherOutputs::Refused)?;
        Ok(Self { graph, side, conditioning_channels })
    }

    /// Returns the maximum number of images in a batch, or `None` if the graph takes any number.
    pub(super) fn batch_max(&self) -> Option<usize> {
        self.graph.fixed_batch(SAMPLE)
    }

    /// Returns the clean samples that the model predicts from those of `batch` at time `timestep`,
    /// one after the other.
    pub(super) fn predict(&mut self, batch: &[Item<'_>], timestep: f32) -> Result<Vec<f32>, DiffusionError> {
        let (count, side, channels) = (batch.len(), self.side, self.conditioning_channels);
        let sample = joined(batch.iter().map(|item| item.sample));
        let conditioning = joined(batch.iter().map(|item| item.conditioning));
        let timesteps = vec![timestep; count];
        // Passed as views: a model of one step would gain nothing from bound inputs, and the
        // conditioning is 30 MB per image.
        let run = |session: &mut Session| -> ort::Result<Vec<f32>> {
            let outputs = session.run(ort::inputs![
                SAMPLE => TensorRef::from_array_view(([count, RESIDUAL_CHANNELS, side, side], &*sample))?,
                TIMESTEP => TensorRef::from_array_view(([count], timesteps.as_slice()))?,
                CONDITIONING => TensorRef::from_array_view(([count, channels, side, side], &*conditioning))?,
            ])?;
            let (_, clean) = outputs[CLEAN].try_extract_tensor::<f32>()?;
            Ok(clean.to_vec())
        };
        let clean = run(&mut self.graph.session).map_err(|source| self.graph.failed(source))?;
        // Only now is the size of a dynamic output known.
        if clean.len() != sample.len() {
            let detail = format!("`{CLEAN}` has {} values where `{SAMPLE}` has {}", clean.len(), sample.len());
            return Err(self.graph.signature(detail));
        }
        Ok(clean)
    }
}

/// One image's part of a batch: planes of side x side.
pub(super) struct Item<'a> {
    pub sample: &'a [f32],
    pub conditioning: &'a [f32],
}

/// Concatenates the parts; a single part is borrowed as it is.
fn joined<'a>(mut parts: impl ExactSizeIterator<Item = &'a [f32]>) -> Cow<'a, [f32]> {
    match parts.len() {
        1 => parts.next().map_or(Cow::Borrowed(&[]), Cow::Borrowed),
        _ => Cow::Owned(parts.collect::<Vec<_>>().concat()),
    }
}

pub const UNET_MODEL: &str = "unet/model.onnx";

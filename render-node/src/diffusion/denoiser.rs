//! The ONNX session of a light model: the one place that knows its tensor names.

use super::{DiffusionError, ModelFolder, OnnxRuntime, Provider, RESIDUAL_CHANNELS};
use ort::session::Session;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::value::{Outlet, TensorElementType, TensorRef, ValueType};
use std::borrow::Cow;

const SAMPLE: &str = "sample";
const TIMESTEP: &str = "timestep";
const CONDITIONING: &str = "conditioning";
const CLEAN: &str = "x0";

pub(super) struct Denoiser {
    session: Session,
    model: String,
    side: usize,
    conditioning_channels: usize,
}

impl Denoiser {
    pub(super) fn load(
        runtime: &OnnxRuntime,
        provider: Provider,
        folder: &ModelFolder,
        conditioning_channels: usize,
    ) -> Result<Self, DiffusionError> {
        let model = folder.id().to_owned();
        let session = open(runtime, provider, folder)?;
        let side = folder.side_px() as usize;
        let image = |channels: usize| vec![None, Some(channels), Some(side), Some(side)];
        let expected_inputs =
            [(SAMPLE, image(RESIDUAL_CHANNELS)), (TIMESTEP, vec![None]), (CONDITIONING, image(conditioning_channels))];
        let expected_outputs = [(CLEAN, image(RESIDUAL_CHANNELS))];
        check("input", session.inputs(), &expected_inputs)
            .and_then(|()| check("output", session.outputs(), &expected_outputs))
            .map_err(|detail| DiffusionError::Signature { model: model.clone(), detail })?;
        Ok(Self { session, model, side, conditioning_channels })
    }

    /// `None`: its graph takes any number.
    pub(super) fn batch_max(&self) -> Option<usize> {
        let fixed = |input: &Outlet| match input.dtype() {
            ValueType::Tensor { shape, .. } => shape.first().and_then(|batch| usize::try_from(*batch).ok()),
            _ => None,
        };
        self.session.inputs().iter().filter_map(fixed).min()
    }

    /// The clean samples the model sees in those of `batch` at time `timestep`, one after the other.
    pub(super) fn predict(&mut self, batch: &[Item<'_>], timestep: f32) -> Result<Vec<f32>, DiffusionError> {
        let (count, side, channels) = (batch.len(), self.side, self.conditioning_channels);
        let sample = joined(batch.iter().map(|item| item.sample));
        let conditioning = joined(batch.iter().map(|item| item.conditioning));
        let timesteps = vec![timestep; count];
        let run = |session: &mut Session| -> ort::Result<Vec<f32>> {
            let outputs = session.run(ort::inputs![
                SAMPLE => TensorRef::from_array_view(([count, RESIDUAL_CHANNELS, side, side], &*sample))?,
                TIMESTEP => TensorRef::from_array_view(([count], timesteps.as_slice()))?,
                CONDITIONING => TensorRef::from_array_view(([count, channels, side, side], &*conditioning))?,
            ])?;
            let (_, clean) = outputs[CLEAN].try_extract_tensor::<f32>()?;
            Ok(clean.to_vec())
        };
        let clean = run(&mut self.session).map_err(|source| {
            let model = self.model.clone();
            // ONNX Runtime has no code of its own for it; these are what its allocators say.
            let exhausted = ["Failed to allocate memory", "bad_alloc", "out of memory"]
                .iter()
                .any(|text| source.message().contains(text));
            if exhausted {
                DiffusionError::OutOfMemory { model, source }
            } else {
                DiffusionError::Inference { model, source }
            }
        })?;
        // A dynamic output shape is only known now.
        if clean.len() != sample.len() {
            let detail = format!("`{CLEAN}` has {} values where `{SAMPLE}` has {}", clean.len(), sample.len());
            return Err(DiffusionError::Signature { model: self.model.clone(), detail });
        }
        Ok(clean)
    }
}

/// One picture's part of a batch: planes of side x side.
pub(super) struct Item<'a> {
    pub sample: &'a [f32],
    pub conditioning: &'a [f32],
}

/// One after the other; a single one as it is.
fn joined<'a>(mut parts: impl ExactSizeIterator<Item = &'a [f32]>) -> Cow<'a, [f32]> {
    match parts.len() {
        1 => parts.next().map_or(Cow::Borrowed(&[]), Cow::Borrowed),
        _ => Cow::Owned(parts.collect::<Vec<_>>().concat()),
    }
}

fn open(runtime: &OnnxRuntime, provider: Provider, folder: &ModelFolder) -> Result<Session, DiffusionError> {
    // As many as this process may use (containers and cpusets counted); more would only fight each other.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let prepare = || -> ort::Result<SessionBuilder> {
        Ok(Session::builder(&runtime.environment)?
            .with_no_environment_execution_providers()?
            .with_optimization_level(GraphOptimizationLevel::All)?
            .with_intra_threads(threads)?
            .with_inter_threads(1)?
            // Idle threads sleep: on one machine the service answers requests between renders.
            .with_intra_op_spinning(false)?)
    };
    let load = |source| DiffusionError::Load { model: folder.id().to_owned(), source };
    let builder = prepare().map_err(load)?;
    let registered = builder.with_execution_providers(provider.registrations(threads));
    let mut builder = registered.map_err(|error| DiffusionError::Provider { provider, source: error.into() })?;
    builder.commit_from_file(folder.unet_model()).map_err(load)
}

/// Every tensor expected is there with its type and shape, and no other. `None` stands for any size; a dynamic
/// dimension fits everything.
fn check(kind: &str, found: &[Outlet], expected: &[(&str, Vec<Option<usize>>)]) -> Result<(), String> {
    if let Some(extra) = found.iter().find(|o| !expected.iter().any(|(name, _)| *name == o.name())) {
        return Err(format!("it has an {kind} `{}`", extra.name()));
    }
    for (name, dimensions) in expected {
        let outlet = found.iter().find(|o| o.name() == *name).ok_or_else(|| format!("it has no {kind} `{name}`"))?;
        let fits = match outlet.dtype() {
            ValueType::Tensor { ty: TensorElementType::Float32, shape, .. } => {
                shape.len() == dimensions.len()
                    && shape
                        .iter()
                        .zip(dimensions)
                        .all(|(found, wanted)| *found < 0 || wanted.is_none_or(|w| *found == w as i64))
            }
            _ => false,
        };
        if !fits {
            let wanted: Vec<String> = dimensions.iter().map(|d| d.map_or("N".to_owned(), |d| d.to_string())).collect();
            return Err(format!("{kind} `{name}` is {}, not 32-bit floats of [{}]", outlet.dtype(), wanted.join(", ")));
        }
    }
    Ok(())
}

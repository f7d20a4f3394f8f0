//! The ONNX session of a light model: the one place that knows its tensor names.

use super::{DiffusionError, ModelFolder, OnnxRuntime, RESIDUAL_CHANNELS};
use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::{Outlet, TensorElementType, TensorRef, ValueType};

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
        folder: &ModelFolder,
        conditioning_channels: usize,
    ) -> Result<Self, DiffusionError> {
        let model = folder.id().to_owned();
        let session = build(runtime, folder).map_err(|source| DiffusionError::Load { model: model.clone(), source })?;
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

    /// The clean sample the model sees in `sample` at time `timestep`. Slices hold planes of side x side.
    pub(super) fn predict(
        &mut self,
        sample: &[f32],
        timestep: f32,
        conditioning: &[f32],
    ) -> Result<Vec<f32>, DiffusionError> {
        let (side, channels) = (self.side, self.conditioning_channels);
        let run = |session: &mut Session| -> ort::Result<Vec<f32>> {
            let outputs = session.run(ort::inputs![
                SAMPLE => TensorRef::from_array_view(([1, RESIDUAL_CHANNELS, side, side], sample))?,
                TIMESTEP => TensorRef::from_array_view(([1_usize], [timestep].as_slice()))?,
                CONDITIONING => TensorRef::from_array_view(([1, channels, side, side], conditioning))?,
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

fn build(runtime: &OnnxRuntime, folder: &ModelFolder) -> ort::Result<Session> {
    // As many as this process may use (containers and cpusets counted); more would only fight each other.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Session::builder(&runtime.environment)?
        .with_no_environment_execution_providers()?
        .with_execution_providers([ort::ep::CPU::default().with_arena_allocator(false).build().error_on_failure()])?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(threads)?
        .with_inter_threads(1)?
        // Idle threads sleep: on one machine the service answers requests between renders.
        .with_intra_op_spinning(false)?
        .commit_from_file(folder.unet_model())
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

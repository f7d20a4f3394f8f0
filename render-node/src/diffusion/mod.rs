//! From base shading to finished light: runs the light model of a model folder and adds what it predicts to the layers.
//!
//! The base layers carry every sharp edge, because they come from geometry. The model works at half their size, on the
//! *residual* in an encoded light space, and so adds only what needs the whole scene: contact, occlusion,
//! inter-reflection, the soft shadow. What the model is told (conditioning) is the studio's affair; the paint is `finish`'s.

mod denoiser;
pub mod light_space;
pub mod model_folder;
pub mod onnx_runtime;
mod residual;
pub mod sampler;
pub mod scheduler;

pub use model_folder::{LockError, ModelFolder};
pub use onnx_runtime::{OnnxRuntime, OnnxRuntimeError};

use crate::studio::Layers;
use denoiser::Denoiser;
use scheduler::FlowMatchEuler;
use std::path::Path;

/// Planes of the residual: diffuse r g b, gloss r g b, rest r g b, ground shadow.
pub const RESIDUAL_CHANNELS: usize = 10;

/// Why a model could not be loaded or run.
#[derive(Debug, thiserror::Error)]
pub enum DiffusionError {
    #[error(transparent)]
    Folder(#[from] LockError),
    #[error("model `{model}` takes other tensors than a light model does: {detail}")]
    Signature { model: String, detail: String },
    #[error("ONNX Runtime cannot load model `{model}`")]
    Load {
        model: String,
        #[source]
        source: ort::Error,
    },
    #[error("the device has no memory left for model `{model}`")]
    OutOfMemory {
        model: String,
        #[source]
        source: ort::Error,
    },
    #[error("model `{model}` failed")]
    Inference {
        model: String,
        #[source]
        source: ort::Error,
    },
    #[error("model `{model}` answered with values that are not numbers")]
    NotFinite { model: String },
    #[error("the picture does not fit model `{model}`: {detail}")]
    Picture { model: String, detail: String },
    /// The job is no longer wanted; not a failure.
    #[error("cancelled")]
    Cancelled,
}

/// Says whether a job is still wanted; asked before every step with the share of steps done (0 to 1).
pub type StillWanted<'a> = dyn FnMut(f32) -> bool + 'a;

/// A loaded light model. One at a time runs on a device: owned by the engine's thread.
pub struct LightModel {
    folder: ModelFolder,
    denoiser: Denoiser,
    scheduler: FlowMatchEuler,
}

impl LightModel {
    /// Loads the model in `folder`. Refused when a file is not the one its lock names, when the lock's conditioning is
    /// not `conditioning` (names and order), or when the ONNX graph takes other tensors.
    pub fn load(runtime: &OnnxRuntime, folder: &Path, conditioning: &[&str]) -> Result<Self, DiffusionError> {
        let folder = ModelFolder::open(folder)?;
        folder.expect_conditioning(conditioning)?;
        let scheduler = FlowMatchEuler::from_config(&folder.scheduler_config()?)
            .map_err(|e| folder.broken_file("scheduler/scheduler_config.json", e.to_string()))?;
        let denoiser = Denoiser::load(runtime, &folder, conditioning.len())?;
        Ok(Self { folder, denoiser, scheduler })
    }

    pub fn folder(&self) -> &ModelFolder {
        &self.folder
    }

    pub fn scheduler(&self) -> &FlowMatchEuler {
        &self.scheduler
    }

    /// Lights `base` in place. `conditioning` holds the channels the model was loaded for, one after the other, each
    /// [`ModelFolder::side_px`] square, rows from the top. The same seed and attempt (0 for the first) give the same light on the same device.
    pub fn light(
        &mut self,
        base: &mut Layers,
        conditioning: &[f32],
        seed: u64,
        attempt: u32,
        still_wanted: &mut StillWanted<'_>,
    ) -> Result<(), DiffusionError> {
        let model = || self.folder.id().to_owned();
        let side = self.folder.side_px() as usize;
        let channels = self.folder.conditioning().len();
        if conditioning.len() != channels * side * side
            || base.side_px == 0
            || !base.side_px.is_multiple_of(self.folder.side_px())
        {
            let detail = format!(
                "{} values of conditioning and layers of {} px, where {channels} channels of {side} px and a multiple of {side} px are needed",
                conditioning.len(),
                base.side_px,
            );
            return Err(DiffusionError::Picture { model: model(), detail });
        }

        let mut sample = self.scheduler.start(seed, attempt, RESIDUAL_CHANNELS * side * side);
        let steps = self.scheduler.timesteps().len();
        for step in 0..steps {
            if !still_wanted(step as f32 / steps as f32) {
                return Err(DiffusionError::Cancelled);
            }
            let clean = self.denoiser.predict(&sample, self.scheduler.timesteps()[step], conditioning)?;
            self.scheduler.step(step, &mut sample, &clean);
        }
        if sample.iter().any(|v| !v.is_finite()) {
            return Err(DiffusionError::NotFinite { model: model() });
        }
        residual::add(base, &sample, side, self.folder.residual_scale());
        Ok(())
    }
}

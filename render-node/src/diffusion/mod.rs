//! From base shading to finished light: runs the light model of a model folder and adds what it predicts to the layers.
//!
//! The base layers carry every sharp edge, because they come from geometry. The model works at half their size, on the
//! *residual* in an encoded light space, and so adds only what needs the whole scene: contact, occlusion,
//! inter-reflection, the soft shadow. What the model is told (conditioning) is the studio's affair; the paint is `finish`'s.

mod denoiser;
pub mod light_space;
pub mod model_folder;
pub mod onnx_runtime;
pub mod provider;
mod residual;
pub mod sampler;
pub mod scheduler;

pub use model_folder::{LockError, ModelFolder};
pub use onnx_runtime::{OnnxRuntime, OnnxRuntimeError};
pub use provider::{Provider, ProviderChoice};

use crate::studio::Layers;
use denoiser::{Denoiser, Item};
use scheduler::FlowMatchEuler;
use std::path::{Path, PathBuf};

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
    #[error("{} has no provider `{wanted}`: CYCLORAMA_NODE_PROVIDER can be auto, {has}", library.display())]
    NoProvider { wanted: Provider, library: PathBuf, has: String },
    #[error(
        "provider `{provider}` of ONNX Runtime does not start here; another one is named by CYCLORAMA_NODE_PROVIDER"
    )]
    Provider {
        provider: Provider,
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
    /// Loads the model in `folder`, to be run by `provider`. Refused when a file is not the one its lock names, when the lock's conditioning is
    /// not `conditioning` (names and order), or when the ONNX graph takes other tensors.
    pub fn load(
        runtime: &OnnxRuntime,
        provider: Provider,
        folder: &Path,
        conditioning: &[&str],
    ) -> Result<Self, DiffusionError> {
        let folder = ModelFolder::open(folder)?;
        folder.expect_conditioning(conditioning)?;
        let scheduler = FlowMatchEuler::from_config(&folder.scheduler_config()?)
            .map_err(|e| folder.broken_file("scheduler/scheduler_config.json", e.to_string()))?;
        let denoiser = Denoiser::load(runtime, provider, &folder, conditioning.len())?;
        Ok(Self { folder, denoiser, scheduler })
    }

    pub fn folder(&self) -> &ModelFolder {
        &self.folder
    }

    pub fn scheduler(&self) -> &FlowMatchEuler {
        &self.scheduler
    }

    /// How many pictures it takes at once; `None`: any number.
    pub fn batch_max(&self) -> Option<usize> {
        self.denoiser.batch_max()
    }

    /// Lights each picture in place, all of them in one run of the model a step. What becomes of each is answered in their order; an error
    /// of the whole leaves every picture as it was. The same seed and attempt (0 for the first) give the same light on the same device.
    pub fn light(
        &mut self,
        pictures: &mut [Unlit<'_>],
        attempt: u32,
    ) -> Result<Vec<Result<(), DiffusionError>>, DiffusionError> {
        let model = || self.folder.id().to_owned();
        let side = self.folder.side_px() as usize;
        let steps = self.scheduler.timesteps().len();
        let begin = |picture: &Unlit<'_>| {
            self.check(picture)?;
            Ok(self.scheduler.start(picture.seed, attempt, RESIDUAL_CHANNELS * side * side))
        };
        let mut samples: Vec<Result<Vec<f32>, DiffusionError>> = pictures.iter().map(begin).collect();
        for step in 0..steps {
            for (sample, picture) in samples.iter_mut().zip(pictures.iter_mut()) {
                if sample.is_ok() && !(picture.still_wanted)(step as f32 / steps as f32) {
                    *sample = Err(DiffusionError::Cancelled);
                }
            }
            let going =
                || samples.iter().zip(pictures.iter()).filter_map(|(sample, p)| Some((sample.as_ref().ok()?, p)));
            let batch: Vec<Item<'_>> =
                going().map(|(sample, picture)| Item { sample, conditioning: picture.conditioning }).collect();
            if batch.is_empty() {
                break;
            }
            let clean = self.denoiser.predict(&batch, self.scheduler.timesteps()[step])?;
            let going = samples.iter_mut().filter_map(|sample| sample.as_mut().ok());
            for (sample, clean) in going.zip(clean.chunks_exact(RESIDUAL_CHANNELS * side * side)) {
                self.scheduler.step(step, sample, clean);
            }
        }
        let light = |(sample, picture): (Result<Vec<f32>, DiffusionError>, &mut Unlit<'_>)| {
            let sample = sample?;
            if sample.iter().any(|v| !v.is_finite()) {
                return Err(DiffusionError::NotFinite { model: model() });
            }
            residual::add(picture.base, &sample, side, self.folder.residual_scale());
            Ok(())
        };
        Ok(samples.into_iter().zip(pictures).map(light).collect())
    }

    fn check(&self, picture: &Unlit<'_>) -> Result<(), DiffusionError> {
        let (side_px, channels) = (self.folder.side_px(), self.folder.conditioning().len());
        let found = picture.base.side_px;
        if picture.conditioning.len() == channels * (side_px * side_px) as usize
            && found > 0
            && found.is_multiple_of(side_px)
        {
            return Ok(());
        }
        let detail = format!(
            "{} values of conditioning and layers of {found} px, where {channels} channels of {side_px} px and a multiple of {side_px} px are needed",
            picture.conditioning.len(),
        );
        Err(DiffusionError::Picture { model: self.folder.id().to_owned(), detail })
    }
}

/// A picture in its base shading.
pub struct Unlit<'a> {
    pub base: &'a mut Layers,
    /// The channels the model was loaded for, one after the other, each [`ModelFolder::side_px`] square, rows from the top.
    pub conditioning: &'a [f32],
    pub seed: u64,
    pub still_wanted: Box<StillWanted<'a>>,
}

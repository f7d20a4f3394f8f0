//! From base shading to finished light: runs the model of a model folder and adds what it says to the layers.
//!
//! The base layers carry every sharp edge, because they come from geometry. A model only adds what needs the whole
//! scene, at a side that divides theirs, as a *residual* in an encoded light space. The built-in kind (`light_model`)
//! predicts the residual itself; a text-to-image pipeline (`stable_diffusion`) changes a picture of the base shading,
//! and the residual is read off it. What a model is told (conditioning) is the studio's affair; the paint is
//! `finish`'s.

mod diffusion_error;
mod fused_attention;
mod graph;
mod light_model;
pub mod light_space;
pub mod lock;
pub mod model_file;
pub(crate) mod model_folder;
mod noise;
mod onnx_file;
pub(crate) mod onnx_runtime;
pub(crate) mod provider;
mod residual;
mod run_memory;
pub(crate) mod sampler;
pub mod stable_diffusion;
mod unlit;

pub use diffusion_error::DiffusionError;
pub use light_model::LightModel;
pub use model_file::LockError;
pub use model_folder::{ModelFolder, PipelineKind};
pub use onnx_runtime::{OnnxRuntime, OnnxRuntimeError};
pub use provider::{Provider, ProviderChoice};
pub use residual::RESIDUAL_CHANNELS;
pub use stable_diffusion::StableDiffusion;
pub use unlit::{Base, StillWanted, Unlit};

use serde_json::Value;
use std::path::Path;

/// A loaded model. One at a time runs on a device.
pub enum DiffusionModel {
    Light(Box<LightModel>),
    StableDiffusion(Box<StableDiffusion>),
}

impl DiffusionModel {
    /// Loads the model in `folder`, to be run by `provider`. Refused when a file is not the one its lock names, or when a graph takes other
    /// tensors than its kind of pipeline does. A light model is made for the channels `conditioning` (names and order).
    pub fn load(
        runtime: &OnnxRuntime,
        provider: Provider,
        folder: &Path,
        conditioning: &[&str],
    ) -> Result<Self, DiffusionError> {
        Self::of(runtime, provider, ModelFolder::open(folder)?, conditioning)
    }

    /// The same for a folder that has been checked.
    pub fn of(
        runtime: &OnnxRuntime,
        provider: Provider,
        folder: ModelFolder,
        conditioning: &[&str],
    ) -> Result<Self, DiffusionError> {
        Ok(match folder.kind() {
            PipelineKind::Light => Self::Light(Box::new(LightModel::load(runtime, provider, folder, conditioning)?)),
            PipelineKind::StableDiffusion => {
                Self::StableDiffusion(Box::new(StableDiffusion::load(runtime, provider, folder)?))
            }
        })
    }

    pub fn folder(&self) -> &ModelFolder {
        match self {
            Self::Light(model) => model.folder(),
            Self::StableDiffusion(model) => model.folder(),
        }
    }

    /// Steps of a run.
    pub fn steps(&self) -> usize {
        match self {
            Self::Light(model) => model.steps(),
            Self::StableDiffusion(model) => model.steps(),
        }
    }

    /// How its samples are taken, for the receipt.
    pub fn sampling(&self) -> Value {
        match self {
            Self::Light(model) => model.sampling(),
            Self::StableDiffusion(model) => model.sampling(),
        }
    }

    /// `fp16` or `fp32`: the numbers its denoiser takes.
    pub fn precision(&self) -> &'static str {
        match self {
            Self::Light(model) => model.precision(),
            Self::StableDiffusion(model) => model.precision(),
        }
    }

    /// How many pictures it takes at once; `None`: any number.
    pub fn batch_max(&self) -> Option<usize> {
        match self {
            Self::Light(model) => model.batch_max(),
            Self::StableDiffusion(model) => model.batch_max(),
        }
    }

    /// Lights each picture in place, all of them in one run of the model a step. What becomes of each is answered in their order; an error
    /// of the whole leaves every picture as it was. The same seed and attempt (0 for the first) give the same light on the same device.
    pub fn light(
        &mut self,
        pictures: Vec<Unlit<'_>>,
        attempt: u32,
    ) -> Result<Vec<Result<(), DiffusionError>>, DiffusionError> {
        match self {
            Self::Light(model) => model.light(pictures, attempt),
            Self::StableDiffusion(model) => model.light(pictures, attempt),
        }
    }
}

//! From base shading to finished light: runs the model of a model folder and adds its residual to
//! the layers.
//!
//! The base layers carry every sharp edge, because they come from geometry. A model only adds what
//! needs the whole scene, at a side that divides theirs, as a *residual* in an encoded light space.
//! The built-in kind (`light_model`) predicts the residual itself. A text-to-image pipeline
//! (`stable_diffusion`) changes an image of the base shading, and the residual is derived from the
//! change. The studio makes the model's conditioning, and `finish` applies the paint.

mod base_shaded;
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

pub use base_shaded::{Base, BaseShaded, ContinueCheck};
pub use diffusion_error::DiffusionError;
pub use light_model::LightModel;
pub use model_file::LockError;
pub use model_folder::{ModelFolder, PipelineKind};
pub use onnx_runtime::{OnnxRuntime, OnnxRuntimeError};
pub use provider::{Provider, ProviderChoice};
pub use residual::RESIDUAL_CHANNELS;
pub use stable_diffusion::StableDiffusion;

use serde_json::Value;
use std::path::Path;

/// A loaded model. A device runs one at a time.
pub enum DiffusionModel {
    Light(Box<LightModel>),
    StableDiffusion(Box<StableDiffusion>),
}

impl DiffusionModel {
    /// Loads the model in `folder`, to be run by `provider`. Returns an error if a file's digest
    /// differs from its lock, or if a graph takes other tensors than its kind of pipeline does. A
    /// light model must be made for the channels `conditioning` (names and order).
    pub fn load(
        runtime: &OnnxRuntime,
        provider: Provider,
        folder: &Path,
        conditioning: &[&str],
    ) -> Result<Self, DiffusionError> {
        Self::of(runtime, provider, ModelFolder::open(folder)?, conditioning)
    }

    /// Same as [`DiffusionModel::load`], for a folder that has been checked.
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

    /// Returns the number of steps of a run.
    pub fn steps(&self) -> usize {
        match self {
            Self::Light(model) => model.steps(),
            Self::StableDiffusion(model) => model.steps(),
        }
    }

    /// Returns the settings of its sampler, for the receipt.
    pub fn sampling(&self) -> Value {
        match self {
            Self::Light(model) => model.sampling(),
            Self::StableDiffusion(model) => model.sampling(),
        }
    }

    /// Returns `fp16` or `fp32`: the type of numbers its denoiser takes.
    pub fn precision(&self) -> &'static str {
        match self {
            Self::Light(model) => model.precision(),
            Self::StableDiffusion(model) => model.precision(),
        }
    }

    /// Returns the maximum number of images in a batch, or `None` if there is no limit.
    pub fn batch_max(&self) -> Option<usize> {
        match self {
            Self::Light(model) => model.batch_max(),
            Self::StableDiffusion(model) => model.batch_max(),
        }
    }

    /// Lights each image in place; all images go through the model together in every step. Returns
    /// one result per image, in their order. If the whole call returns an error, every image is as
    /// it was. The same seed and attempt (0 for the first) give the same light on the same device.
    pub fn light(
        &mut self,
        pictures: Vec<BaseShaded<'_>>,
        attempt: u32,
    ) -> Result<Vec<Result<(), DiffusionError>>, DiffusionError> {
        match self {
            Self::Light(model) => model.light(pictures, attempt),
            Self::StableDiffusion(model) => model.light(pictures, attempt),
        }
    }
}

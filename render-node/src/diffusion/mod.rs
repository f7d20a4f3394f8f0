//! From base shading to finished light: runs the model of a model folder and adds what it says to the layers.
//!
//! The base layers carry every sharp edge, because they come from geometry. A model only adds what needs the whole scene, at a side that
//! divides theirs, as a *residual* in an encoded light space. The built-in kind (`light_model`) predicts the residual itself; a text-to-image
//! pipeline (`stable_diffusion`) changes a picture of the base shading, and the residual is read off it. What a model is told (conditioning) is
//! the studio's affair; the paint is `finish`'s.

mod fused_attention;
mod graph;
mod light_model;
pub mod light_space;
pub mod lock;
pub(crate) mod model_folder;
mod noise;
mod onnx_file;
pub(crate) mod onnx_runtime;
pub(crate) mod provider;
mod residual;
pub(crate) mod sampler;
pub mod stable_diffusion;

pub use light_model::LightModel;
pub use model_folder::{LockError, ModelFolder, PipelineKind};
pub use onnx_runtime::{OnnxRuntime, OnnxRuntimeError};
pub use provider::{Provider, ProviderChoice};
pub use residual::RESIDUAL_CHANNELS;
pub use stable_diffusion::StableDiffusion;

use crate::studio::conditioning::Conditioning;
use crate::studio::{Layers, StudioError};
use cyclorama_core::{Vehicle, View};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Why a model could not be loaded or run.
#[derive(Debug, thiserror::Error)]
pub enum DiffusionError {
    #[error(transparent)]
    Folder(#[from] LockError),
    #[error("model `{model}`: {file} has other tensors than it needs: {detail}")]
    Signature { model: String, file: String, detail: String },
    #[error("model `{model}`: ONNX Runtime cannot load {file}")]
    Load {
        model: String,
        file: String,
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
    #[error("the device has no memory left for {file} of model `{model}`")]
    OutOfMemory {
        model: String,
        file: String,
        #[source]
        source: ort::Error,
    },
    #[error("model `{model}`: {file} failed")]
    Inference {
        model: String,
        file: String,
        #[source]
        source: ort::Error,
    },
    #[error("the sampler of model `{model}` failed")]
    Sampler {
        model: String,
        #[source]
        source: sampler::SamplerError,
    },
    #[error("{file} of model `{model}` answered with values that are not numbers")]
    NotFinite { model: String, file: String },
    #[error("the picture does not fit model `{model}`: {detail}")]
    Picture { model: String, detail: String },
    #[error("the base shading cannot be drawn")]
    Base(#[source] StudioError),
    /// The job is no longer wanted; not a failure.
    #[error("cancelled")]
    Cancelled,
}

/// Says whether a job is still wanted; asked before every step with the share of steps done (0 to 1).
pub type StillWanted<'a> = dyn FnMut(f32) -> bool + 'a;

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

/// Gives the layers of the base shading. May have to wait for them, and so is asked as late as a model can do without.
pub type Base<'a> = dyn FnOnce() -> Result<&'a mut Layers, StudioError> + 'a;

/// The layers that `base` gives, whose side must be a multiple of the model's `side_px`.
fn fitting_base<'a>(base: Box<Base<'a>>, side_px: u32, model: &str) -> Result<&'a mut Layers, DiffusionError> {
    let base = base().map_err(DiffusionError::Base)?;
    if base.side_px == 0 || !base.side_px.is_multiple_of(side_px) {
        let detail = format!("layers of {} px, where a multiple of {side_px} px is needed", base.side_px);
        return Err(DiffusionError::Picture { model: model.to_owned(), detail });
    }
    Ok(base)
}

/// A picture in its base shading.
pub struct Unlit<'a> {
    pub base: Box<Base<'a>>,
    /// The channels the model was loaded for.
    pub conditioning: &'a Conditioning,
    /// What it is of, for prompts.
    pub vehicle: &'a Vehicle,
    pub view: View,
    pub seed: u64,
    pub still_wanted: Box<StillWanted<'a>>,
}

//! Errors of loading or running a model.

use crate::diffusion::model_file::LockError;
use crate::diffusion::provider::Provider;
use crate::diffusion::sampler;
use crate::studio::StudioError;
use std::path::PathBuf;

/// An error of loading or running a model.
#[derive(Debug, thiserror::Error)]
pub enum DiffusionError {
    #[error(transparent)]
    Folder(#[from] LockError),
    #[error("model `{model}`: {file} does not have the expected tensors: {detail}")]
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
    #[error("provider `{provider}` of ONNX Runtime does not start here; set CYCLORAMA_NODE_PROVIDER to another one")]
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
    #[error("{file} of model `{model}` returned values that are not numbers")]
    NotFinite { model: String, file: String },
    #[error("the image does not fit model `{model}`: {detail}")]
    Picture { model: String, detail: String },
    #[error("the base shading cannot be drawn")]
    Base(#[source] StudioError),
    /// The job is no longer wanted; not a failure.
    #[error("cancelled")]
    Cancelled,
}

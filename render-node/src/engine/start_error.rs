//! Reasons why the engine cannot start.

use crate::diffusion::model_file::LOCK_FILE;
use crate::diffusion::{DiffusionError, OnnxRuntimeError};
use crate::engine::render_error::RenderError;
use crate::finish::ComposeError;
use crate::gpu::GpuError;
use crate::studio::StudioError;
use crate::vehicle::LibraryError;
use std::path::PathBuf;

/// Reasons why the node cannot start. Each message is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Sheets(#[from] LibraryError),
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error(transparent)]
    OnnxRuntime(#[from] OnnxRuntimeError),
    #[error(transparent)]
    Model(#[from] DiffusionError),
    #[error("the studio cannot be set up")]
    Studio(#[from] StudioError),
    #[error("the paint pass cannot be set up")]
    Compose(#[from] ComposeError),
    #[error("there is no model in {} (a folder with a {})", .0.display(), LOCK_FILE)]
    NoModel(PathBuf),
    #[error("{} holds {found} models, more than {max}", folder.display())]
    TooManyModels { folder: PathBuf, found: usize, max: usize },
    #[error("two models in {} are called `{id}`", folder.display())]
    SameId { id: String, folder: PathBuf },
    /// The node joined the control plane with other models.
    #[error("the models in {} are not those the node started with", .0.display())]
    ModelsChanged(PathBuf),
    #[error(transparent)]
    SelfTest(#[from] SelfTestError),
    #[error("the engine's thread cannot be started")]
    Thread {
        #[source]
        source: std::io::Error,
    },
    #[error("the engine panicked while it started")]
    Panicked,
    #[error("cannot read the models' folder {}", folder.display())]
    Models {
        folder: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

/// Reasons why the node does not take work.
#[derive(Debug, thiserror::Error)]
pub enum SelfTestError {
    #[error("the self-test of model `{pipeline}` failed")]
    Render {
        pipeline: String,
        #[source]
        source: RenderError,
    },
    /// The base shading passes, but the model's light does not.
    #[error("the light of model `{pipeline}` does not pass the quality gate: {findings}")]
    Light { pipeline: String, findings: String },
}

//! Reasons why a vehicle has no image.

use crate::diffusion::DiffusionError;
use crate::finish::ComposeError;
use crate::gpu::GpuError;
use crate::studio::StudioError;
use crate::vehicle::VehicleError;
use cyclorama_core::wire::FailureKind;

#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    #[error("this vehicle cannot be drawn: {0}")]
    Vehicle(#[from] VehicleError),
    #[error(transparent)]
    Studio(#[from] StudioError),
    #[error(transparent)]
    Diffusion(DiffusionError),
    #[error(transparent)]
    Compose(#[from] ComposeError),
    #[error("this node has no pipeline `{0}`")]
    NoPipeline(String),
    /// Memory ran out, and the models could not be loaded again.
    #[error("the models are not loaded")]
    NoModels,
    /// Neither the diffusion model's light nor the base shading passes the gate.
    #[error("the picture failed its checks: {0}")]
    Quality(String),
    #[error("cancelled")]
    Cancelled,
}

impl From<DiffusionError> for RenderError {
    fn from(error: DiffusionError) -> Self {
        match error {
            DiffusionError::Base(error) => error.into(),
            error => Self::Diffusion(error),
        }
    }
}

impl RenderError {
    /// Returns the kind of failure to report, or `None` if nobody waits for an answer.
    pub fn failure_kind(&self) -> Option<FailureKind> {
        let of_gpu = |error: &GpuError| match error {
            GpuError::OutOfMemory { .. } => FailureKind::OutOfMemory,
            _ => FailureKind::Internal,
        };
        Some(match self {
            RenderError::Cancelled | RenderError::Diffusion(DiffusionError::Cancelled) => return None,
            RenderError::Vehicle(_) | RenderError::Studio(StudioError::Nothing(_) | StudioError::Mesh(_)) => {
                FailureKind::Model
            }
            RenderError::Studio(StudioError::Gpu(error)) | RenderError::Compose(ComposeError::Gpu(error)) => {
                of_gpu(error)
            }
            RenderError::Diffusion(DiffusionError::OutOfMemory { .. }) | RenderError::NoModels => {
                FailureKind::OutOfMemory
            }
            RenderError::Quality(_) | RenderError::Diffusion(DiffusionError::NotFinite { .. }) => FailureKind::Quality,
            RenderError::Studio(_)
            | RenderError::Compose(_)
            | RenderError::Diffusion(_)
            | RenderError::NoPipeline(_) => FailureKind::Internal,
        })
    }

    /// Returns true if the GPU device is lost, in which case only a new process recovers it.
    pub fn is_device_lost(&self) -> bool {
        let gpu = match self {
            RenderError::Studio(StudioError::Gpu(error)) | RenderError::Compose(ComposeError::Gpu(error)) => error,
            _ => return false,
        };
        matches!(gpu, GpuError::Lost { .. })
    }
}

//! Errors of a job of the engine.

use crate::engine::render_error::RenderError;
use cyclorama_core::wire;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A defect. The thread continues with the next job.
    #[error("the render panicked: {0}")]
    Panicked(String),
    #[error("the engine's queue is full")]
    Full,
    /// Memory ran out, and the engine has not restarted since.
    #[error("the engine is out of memory")]
    Unhealthy,
    #[error("the engine has stopped")]
    Stopped,
}

impl EngineError {
    pub fn is_out_of_memory(&self) -> bool {
        match self {
            EngineError::Render(error) => error.failure_kind() == Some(wire::FailureKind::OutOfMemory),
            EngineError::Unhealthy => true,
            EngineError::Panicked(_) | EngineError::Full | EngineError::Stopped => false,
        }
    }

    pub fn is_device_lost(&self) -> bool {
        matches!(self, EngineError::Render(error) if error.is_device_lost())
    }
}

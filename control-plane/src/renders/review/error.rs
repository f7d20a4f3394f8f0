//! The errors with which an operator's decision or order about a render is refused.

use crate::renders::RenderError;

/// The errors of operators' decisions and orders.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    #[error("there is no render {0}")]
    Unknown(String),
    #[error("the render {0} is not in review")]
    NotFlagged(String),
    #[error("the render {0} has no image yet")]
    NotRendered(String),
    #[error("the render {0} has no such candidate")]
    NoCandidate(String),
    #[error("a job of this vehicle and view is already running")]
    Busy,
    #[error(transparent)]
    Render(#[from] RenderError),
}

impl From<sqlx::Error> for ReviewError {
    fn from(error: sqlx::Error) -> Self {
        ReviewError::Render(error.into())
    }
}

//! The errors with which a result is refused.

use crate::objects::{InvalidKey, ObjectError};
use crate::renders::Stale;

/// An object is missing or is not what the job requires. The same upload addresses accept it again
/// until the lease ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("object `{name}`: {reason}")]
pub struct RejectedObject {
    pub name: String,
    pub reason: String,
}

/// The errors with which a result is refused.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    #[error(transparent)]
    Stale(#[from] Stale),
    #[error(transparent)]
    Rejected(#[from] RejectedObject),
    #[error("the object store failed")]
    Store(#[from] ObjectError),
    #[error("the database did not answer")]
    Database(#[from] sqlx::Error),
}

impl From<InvalidKey> for ResultError {
    fn from(error: InvalidKey) -> Self {
        ResultError::Store(error.into())
    }
}

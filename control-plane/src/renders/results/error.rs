//! Why a result is refused.

use crate::objects::{InvalidKey, ObjectError};
use crate::renders::Stale;

/// An object that is missing or not what was asked for. The same addresses take it again until the lease ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("object `{name}`: {reason}")]
pub struct Rejected {
    pub name: String,
    pub reason: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    #[error(transparent)]
    Stale(#[from] Stale),
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("the object store failed")]
    Store(#[from] ObjectError),
    #[error("the database does not answer")]
    Database(#[from] sqlx::Error),
}

impl From<InvalidKey> for ResultError {
    fn from(error: InvalidKey) -> Self {
        ResultError::Store(error.into())
    }
}

//! The errors with which a node's call is refused.

use crate::objects::ObjectError;

/// The errors of nodes' calls.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The node never joined with this token, or has left, so it has to join again.
    #[error("there is no such node")]
    Unknown,
    #[error("`{field}` {rule}")]
    Invalid { field: &'static str, rule: &'static str },
    /// As many nodes of the token as are allowed at once are already waiting for work.
    #[error("too many nodes of this token are asking for work at the same time")]
    TooMany,
    #[error("the object store failed")]
    Store(#[from] ObjectError),
    #[error("the database did not answer")]
    Database(#[from] sqlx::Error),
}

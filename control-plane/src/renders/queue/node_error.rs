//! Why a call of a node is refused.

use crate::objects::ObjectError;

#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// Never joined with this token, or left: it has to join again.
    #[error("there is no such node")]
    Unknown,
    #[error("`{field}` {rule}")]
    Invalid { field: &'static str, rule: &'static str },
    /// Nodes of its token ask for work already, as many as may at once.
    #[error("too many nodes of this token ask for work at once")]
    TooMany,
    #[error("the object store failed")]
    Store(#[from] ObjectError),
    #[error("the database does not answer")]
    Database(#[from] sqlx::Error),
}

//! A picture that exists, and why there is none.

use super::rules::Share;
use std::sync::Arc;

/// A picture that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub render_id: String,
    pub revision: i64,
    pub master_sha256: String,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum RenderError {
    #[error("the render failed ({kind}): {detail}")]
    Failed { kind: String, detail: String },
    #[error("no picture within the time a request waits")]
    TooLate,
    /// The queue is full, or would take longer than the request may wait. Then it makes sense to come back.
    #[error("too many renders are waiting")]
    AtCapacity { retry_after_seconds: u64 },
    #[error("the day's render budget is spent")]
    BudgetSpent {
        reset_at_ms: i64,
        /// What of it is spent.
        share: Share,
    },
    #[error("the database does not answer")]
    Database(#[source] Arc<sqlx::Error>),
}

impl From<sqlx::Error> for RenderError {
    fn from(error: sqlx::Error) -> Self {
        RenderError::Database(Arc::new(error))
    }
}

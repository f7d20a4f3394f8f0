//! A rendered image that exists, and the errors that say why there is none.

use super::rules::BudgetScope;
use std::sync::Arc;

/// A rendered image that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedImage {
    pub render_id: String,
    pub revision: i64,
    pub master_sha256: String,
}

/// The reasons why there is no rendered image.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RenderError {
    #[error("the render failed ({kind}): {detail}")]
    Failed { kind: String, detail: String },
    #[error("no picture within the time a request waits")]
    TooLate,
    /// The queue is full, or the job would be done later than the request may wait. The client may
    /// retry after `retry_after_seconds`.
    #[error("too many renders are waiting")]
    AtCapacity { retry_after_seconds: u64 },
    #[error("the day's render budget is spent")]
    BudgetSpent {
        reset_at_ms: i64,
        /// The limit that is reached.
        scope: BudgetScope,
    },
    #[error("the database did not answer")]
    Database(#[source] Arc<sqlx::Error>),
}

impl From<sqlx::Error> for RenderError {
    fn from(error: sqlx::Error) -> Self {
        RenderError::Database(Arc::new(error))
    }
}

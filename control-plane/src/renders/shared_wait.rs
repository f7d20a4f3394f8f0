//! The state that all requests of this process share that wait for one variant; `queue::wait`
//! watches the variant for them.

use super::picture::{RenderError, RenderedImage};
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The result of a watched variant; `None` while it is being made.
pub(super) type WaitResult = Option<Result<RenderedImage, RenderError>>;

/// The state that requests of one requester for one variant share.
#[derive(Debug)]
pub(super) struct SharedWait {
    pub outcome: watch::Receiver<WaitResult>,
    /// One reference is held here, and one by each request that waits.
    pub waiting: Arc<()>,
    /// Cancelled when the variant's job is in the queue, or when the watcher ends.
    pub begun: CancellationToken,
}

impl SharedWait {
    /// True if at least one request waits.
    pub fn is_waited_for(&self) -> bool {
        Arc::strong_count(&self.waiting) > 1
    }
}

//! What all requests of this process that wait for one variant share; `queue::wait` watches it for them.

use super::picture::{Picture, RenderError};
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// What a watched variant comes to; `None` while it is in the making.
pub(super) type Outcome = Option<Result<Picture, RenderError>>;

/// What requests of one asker for one variant share.
#[derive(Debug)]
pub(super) struct Watched {
    pub outcome: watch::Receiver<Outcome>,
    /// One reference here, and one for each request that waits.
    pub waiting: Arc<()>,
    /// Cancelled when the variant's job is in the queue, or when the watcher ends.
    pub begun: CancellationToken,
}

impl Watched {
    pub fn is_waited_for(&self) -> bool {
        Arc::strong_count(&self.waiting) > 1
    }
}

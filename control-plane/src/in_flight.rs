//! Counts the requests that are being answered, so that a shutdown can wait until there are none.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// The number of requests of clients and operators that are being answered. Nodes' requests are not
/// counted: they arrive for as long as any job is left.
#[derive(Debug, Default)]
pub struct InFlight {
    count: Arc<AtomicUsize>,
    ended: Arc<Notify>,
}

/// One counted request. It ends when dropped, also if the client disconnects.
pub struct RequestInFlight {
    count: Arc<AtomicUsize>,
    ended: Arc<Notify>,
}

impl InFlight {
    /// Counts a request until the returned value is dropped.
    pub fn enter(&self) -> RequestInFlight {
        self.count.fetch_add(1, Ordering::SeqCst);
        RequestInFlight { count: self.count.clone(), ended: self.ended.clone() }
    }

    pub fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Waits until no request is left.
    pub async fn drained(&self) {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            if self.count() == 0 {
                return;
            }
            ended.await;
        }
    }
}

impl Drop for RequestInFlight {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::SeqCst);
        self.ended.notify_waiters();
    }
}

//! Requests that are being answered, for whoever waits until there are none.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// How many requests of clients and operators are being answered. Nodes' requests are not counted: they come for as long
/// as anything is left to do.
#[derive(Debug, Default)]
pub struct InFlight {
    count: Arc<AtomicUsize>,
    ended: Arc<Notify>,
}

/// One request; ends when dropped, also when the client goes away.
pub struct Entered {
    count: Arc<AtomicUsize>,
    ended: Arc<Notify>,
}

impl InFlight {
    /// Counts a request until the answer is dropped.
    pub fn enter(&self) -> Entered {
        self.count.fetch_add(1, Ordering::SeqCst);
        Entered { count: self.count.clone(), ended: self.ended.clone() }
    }

    pub fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Resolves when none is left.
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

impl Drop for Entered {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::SeqCst);
        self.ended.notify_waiters();
    }
}

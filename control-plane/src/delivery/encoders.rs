//! Limits on how much work for free and for paid requests may keep cores busy with decoding,
//! resizing, encoding and signing.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The longest time that free work waits for a place.
const FREE_WAIT: Duration = Duration::from_secs(5);

/// Maximum amount of free work that may wait. Waiting work holds a request and no image.
const FREE_WAITING_MAX: usize = 32;

/// One in this many cores does free work, and at least one core.
const CORES_FOR_ONE_FREE: usize = 4;

/// The kind of request for which work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Work for a credit: a key's request, or a signed URL.
    Paid,
    /// Work for a visitor, a partner's page or a page of the service itself.
    Free,
}

/// Places for work that keeps a core busy. Paid work has places of its own, which free work never
/// takes. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Encoders {
    paid: Arc<Semaphore>,
    free: Arc<Semaphore>,
    /// Places for free work that runs or waits.
    free_admitted: Arc<Semaphore>,
    free_wait: Duration,
}

/// The error that there is too much free work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodersBusy;

impl Encoders {
    /// Creates places for a machine with this many cores.
    pub fn new(cores: usize) -> Self {
        Self::with_wait(cores, FREE_WAIT)
    }

    fn with_wait(cores: usize, free_wait: Duration) -> Self {
        let free = (cores / CORES_FOR_ONE_FREE).max(1);
        Encoders {
            paid: Arc::new(Semaphore::new(cores.max(1))),
            free: Arc::new(Semaphore::new(free)),
            free_admitted: Arc::new(Semaphore::new(free + FREE_WAITING_MAX)),
            free_wait,
        }
    }

    /// Runs `task` on a thread of its own when there is a place. The task keeps its place to its
    /// end, even when no request waits for it any more. Fails with [`EncodersBusy`] if free work
    /// finds no place in time.
    pub async fn run<T: Send + 'static>(
        &self,
        work: Work,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EncodersBusy> {
        let place = match work {
            Work::Paid => (self.paid.clone().acquire_owned().await.map_err(|_| EncodersBusy)?, None),
            Work::Free => self.free_place().await?,
        };
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            task()
        });
        match done.await {
            Ok(done) => Ok(done),
            Err(stopped) => std::panic::resume_unwind(stopped.into_panic()),
        }
    }

    async fn free_place(&self) -> Result<(OwnedSemaphorePermit, Option<OwnedSemaphorePermit>), EncodersBusy> {
        let admitted = self.free_admitted.clone().try_acquire_owned().map_err(|_| EncodersBusy)?;
        match tokio::time::timeout(self.free_wait, self.free.clone().acquire_owned()).await {
            Ok(Ok(place)) => Ok((place, Some(admitted))),
            Ok(Err(_)) | Err(_) => Err(EncodersBusy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Fills every place for free work; ends when the senders are dropped.
    fn occupy(encoders: &Encoders, work: Work, places: usize) -> Vec<mpsc::SyncSender<()>> {
        let mut holders = Vec::new();
        for _ in 0..places {
            let (holder, held) = mpsc::sync_channel::<()>(1);
            holders.push(holder);
            let encoders = encoders.clone();
            tokio::spawn(async move {
                encoders
                    .run(work, move || {
                        let _ = held.recv();
                    })
                    .await
            });
        }
        holders
    }

    async fn wait_until_taken(semaphore: &Semaphore) {
        while semaphore.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn free_work_takes_no_place_of_paid_work_and_waits_no_longer_than_it_may() {
        let encoders = Encoders::with_wait(2, Duration::from_millis(20));
        let holders = occupy(&encoders, Work::Free, 1);
        wait_until_taken(&encoders.free).await;
        assert_eq!(encoders.run(Work::Free, || 1).await, Err(EncodersBusy), "its wait is over");
        for expected in [1, 2, 3] {
            assert_eq!(encoders.run(Work::Paid, move || expected).await, Ok(expected));
        }
        drop(holders);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn no_more_free_work_waits_than_may() {
        let encoders = Encoders::with_wait(1, Duration::from_secs(600));
        let holders = occupy(&encoders, Work::Free, 1 + FREE_WAITING_MAX);
        wait_until_taken(&encoders.free_admitted).await;
        assert_eq!(encoders.run(Work::Free, || 1).await, Err(EncodersBusy), "at once");
        drop(holders);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn who_leaves_gives_its_place_back_only_when_the_work_ends() {
        let encoders = Encoders::with_wait(1, Duration::from_millis(20));
        let (holder, held) = mpsc::sync_channel::<()>(1);
        let leaving = tokio::spawn({
            let encoders = encoders.clone();
            async move { encoders.run(Work::Free, move || held.recv().is_err()).await }
        });
        wait_until_taken(&encoders.free).await;
        leaving.abort();
        assert!(leaving.await.is_err_and(|ended| ended.is_cancelled()));
        assert_eq!(encoders.run(Work::Free, || 1).await, Err(EncodersBusy), "the core is still busy");
        drop(holder);
        while encoders.free.available_permits() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(encoders.run(Work::Free, || 1).await, Ok(1));
    }
}

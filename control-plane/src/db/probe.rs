//! Readiness checks of the database. One ping at a time in a process serves all callers: a ping
//! needs a turn of SQLite's one writer, and anybody may check readiness as often as they like.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Time for which a result is reused: shorter than any load balancer's pause between two probes.
const KEPT: Duration = Duration::from_millis(250);

/// True if the database is ready, with the time of the check. `None` while the ping is under way.
type ProbeResult = Option<(bool, Instant)>;

#[derive(Debug, Clone, Default)]
pub(super) struct Probe(Arc<Mutex<Option<watch::Receiver<ProbeResult>>>>);

impl Probe {
    /// Returns the result of the ping that is under way or has just ended, or else of `ping`, which
    /// continues even if its caller leaves.
    pub async fn ask(&self, ping: impl Future<Output = bool> + Send + 'static) -> bool {
        let mut answer = self.answer(ping);
        let told = answer.wait_for(Option::is_some).await;
        told.is_ok_and(|told| told.is_some_and(|(is_ready, _)| is_ready))
    }

    fn answer(&self, ping: impl Future<Output = bool> + Send + 'static) -> watch::Receiver<ProbeResult> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = latest.as_ref().filter(|answer| is_good(answer)) {
            return answer.clone();
        }
        let (tell, answer) = watch::channel(None);
        tokio::spawn(async move {
            let is_ready = ping.await;
            tell.send_replace(Some((is_ready, Instant::now())));
        });
        *latest = Some(answer.clone());
        answer
    }
}

fn is_good(answer: &watch::Receiver<ProbeResult>) -> bool {
    match *answer.borrow() {
        Some((_, found)) => found.elapsed() < KEPT,
        None => answer.has_changed().is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::DatabaseKind;
    use crate::test_database::databases;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test(flavor = "multi_thread")]
    async fn however_many_ask_one_of_them_waits_for_the_writer() {
        // PostgreSQL has no single writer that a test could hold.
        for database in databases().await.into_iter().filter(|database| database.kind == DatabaseKind::Sqlite) {
            let (probe, pings) = (Probe::default(), Arc::new(AtomicUsize::new(0)));
            let ask = || {
                let (probe, pings, database) = (probe.clone(), pings.clone(), database.clone());
                async move {
                    let ping = async move {
                        pings.fetch_add(1, Ordering::SeqCst);
                        database.ping().await.is_ok()
                    };
                    probe.ask(ping).await
                }
            };
            let held = database.begin().await.expect("begins");
            // The ping continues although the caller that began it disconnects.
            assert!(futures::poll!(Box::pin(ask())).is_pending());
            let mut asking = Box::pin(futures::future::join_all((0..200).map(|_| ask())));
            assert!(futures::poll!(asking.as_mut()).is_pending());
            held.rollback().await.expect("ends");
            assert!(asking.await.into_iter().all(|is_ready| is_ready));
            assert_eq!(pings.load(Ordering::SeqCst), 1);
            tokio::time::sleep(KEPT).await;
            assert!(ask().await);
            assert_eq!(pings.load(Ordering::SeqCst), 2, "an old answer says nothing");
        }
    }

    #[tokio::test]
    async fn a_failure_is_told_to_everybody_and_forgotten_soon() {
        let probe = Probe::default();
        let (first, second) = tokio::join!(probe.ask(async { false }), probe.ask(async { true }));
        assert_eq!((first, second), (false, false));
        tokio::time::sleep(KEPT).await;
        assert!(!probe.ask(async { panic!("on purpose") }).await);
        assert!(probe.ask(async { true }).await, "a ping that broke down is not waited for");
    }
}

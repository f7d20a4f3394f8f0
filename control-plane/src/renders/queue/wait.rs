//! Waiting for an image. All requests of a process by one requester for one variant share one
//! watcher.
//!
//! A signal wakes the watcher when a job of its vehicle and view ends (`signals`). Otherwise the
//! watcher polls now and then.

use super::variants::EnqueueOutcome;
use crate::renders::budget;
use crate::renders::lane::Requester;
use crate::renders::rules::BudgetScope;
use crate::renders::shared_wait::{SharedWait, WaitResult};
use crate::renders::state::RenderState;
use crate::renders::{RenderError, RenderedImage, Renders};
use cyclorama_core::traces::Trace;
use cyclorama_core::{Variant, Vehicle};
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Interval at which a watcher extends its job's deadline (a quarter of the wait if that is
/// shorter), so that a request that joins never finds the job about to expire. Extending also
/// queues the job again if it was dropped.
const REASSERT: Duration = Duration::from_secs(5);

/// Maximum of [`Renders::grace_period`].
pub const LINGER_MAX: Duration = Duration::from_secs(30);

/// Maximum number of database errors in a row before the waiting requests fail.
const ERRORS_MAX: usize = 3;

/// The watcher's own end of [`SharedWait`].
struct Watcher<'a> {
    vehicle: &'a Vehicle,
    variant: &'a Variant,
    requester: &'a Requester,
    waiting: Weak<()>,
    begun: CancellationToken,
}

impl Watcher<'_> {
    fn is_waited_for(&self) -> bool {
        self.waiting.strong_count() > 1
    }

    /// Resolves when no request waits any more.
    async fn alone(&self) {
        while self.is_waited_for() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
}

impl Renders {
    /// Returns the variant's image, rendering it first if necessary. Waits at most `render_wait`;
    /// after that returns [`RenderError::TooLate`].
    pub async fn picture(
        &self,
        vehicle: &Vehicle,
        variant: &Variant,
        requester: &Requester,
    ) -> Result<RenderedImage, RenderError> {
        let (mut outcome, _waiting) = self.watch(vehicle, variant, requester);
        let waited = tokio::time::timeout(self.settings().render_wait, outcome.wait_for(Option::is_some)).await;
        match waited {
            Ok(Ok(outcome)) => outcome.clone().unwrap_or(Err(RenderError::TooLate)),
            Ok(Err(_)) | Err(_) => Err(RenderError::TooLate),
        }
    }

    /// Returns how long a job outlives the last poll of the requests that wait for it: long enough
    /// for a client that comes back and for a database that restarts, and too short to render an
    /// image for no client.
    fn grace_period(&self) -> Duration {
        self.settings().render_wait.min(LINGER_MAX)
    }

    /// Returns the `Retry-After` in seconds for an image that came too late. It is short enough
    /// that the render still goes on then.
    pub fn retry_after_seconds(&self) -> u64 {
        (self.grace_period().as_secs() / 2).max(1)
    }

    /// True if no request of the requester waits in this process for the variant any more. When
    /// this returns true, the job that their requests may have begun is in the queue.
    pub(super) async fn is_left(&self, variant: &Variant, requester: &Requester) -> bool {
        let begun = match self.watched().get(&(variant.clone(), requester.clone())) {
            None => return true,
            Some(watched) if watched.is_waited_for() => return false,
            Some(watched) => watched.begun.clone(),
        };
        begun.cancelled().await;
        true
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<(Variant, Requester), SharedWait>> {
        self.0.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins the variant's watcher, or starts one. Each waiting request keeps the returned `Arc`.
    fn watch(
        &self,
        vehicle: &Vehicle,
        variant: &Variant,
        requester: &Requester,
    ) -> (watch::Receiver<WaitResult>, Arc<()>) {
        let key = (variant.clone(), requester.clone());
        let mut watched = self.watched();
        if let Some(running) = watched.get(&key)
            && running.outcome.has_changed().is_ok()
            && running.outcome.borrow().is_none()
        {
            return (running.outcome.clone(), running.waiting.clone());
        }
        let (outcome, receiver) = watch::channel(None);
        let (waiting, begun) = (Arc::new(()), CancellationToken::new());
        let shared = SharedWait { outcome: receiver.clone(), waiting: waiting.clone(), begun: begun.clone() };
        let weak = Arc::downgrade(&waiting);
        watched.insert(key.clone(), shared);
        let (renders, vehicle) = (self.clone(), vehicle.clone());
        let watching = async move {
            let _ends: DropGuard = begun.clone().drop_guard();
            let watcher = Watcher { vehicle: &vehicle, variant: &key.0, requester: &key.1, waiting: weak, begun };
            loop {
                let found = renders.watch_until(&watcher).await;
                // The watcher ends under the lock, so that no request joins a watcher that has just
                // ended.
                let mut watched = renders.watched();
                if found.is_none() && watcher.is_waited_for() {
                    // A request joined just after the last one had left.
                    continue;
                }
                watched.remove(&key);
                let _ = outcome.send(found);
                return;
            }
        };
        // The job that the watcher queues belongs to the trace of the first request.
        tokio::spawn(Trace::current().around(watching));
        (receiver, waiting)
    }

    /// Watches until the variant has an outcome. Returns `None` if no request waits any more.
    async fn watch_until(&self, watcher: &Watcher<'_>) -> WaitResult {
        let ends = self.0.signals.ends(&watcher.variant.vehicle_key(), watcher.variant.view.as_str());
        let reassert = REASSERT.min(self.settings().render_wait / 4);
        let mut waiting: Option<(String, i64)> = None;
        let mut asserted = Instant::now();
        let mut errors = 0;
        loop {
            // Nothing is enqueued for a client that has left already.
            if !watcher.is_waited_for() {
                return None;
            }
            // Registered before the poll, so that a result between the poll and the wait is not
            // missed.
            let ended = ends.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();

            let step = match &waiting {
                Some((render_id, round)) if asserted.elapsed() < reassert => self.poll(render_id, *round).await,
                Some((render_id, round)) => match self.poll(render_id, *round).await {
                    Ok(None) => self.reassert(watcher, &mut waiting, &mut asserted).await,
                    other => other,
                },
                None => self.reassert(watcher, &mut waiting, &mut asserted).await,
            };
            watcher.begun.cancel();
            match step {
                Ok(Some(picture)) => return Some(Ok(picture)),
                Ok(None) => errors = 0,
                Err(RenderError::Database(error)) if waiting.is_some() && errors < ERRORS_MAX => {
                    tracing::warn!(
                        error = &*error as &dyn std::error::Error,
                        "the state of a render that requests wait for could not be read"
                    );
                    errors += 1;
                }
                Err(error) => return Some(Err(error)),
            }
            tokio::select! {
                () = ended => {}
                () = tokio::time::sleep(self.settings().look_again) => {}
                () = watcher.alone() => return None,
            }
        }
    }

    /// Enqueues the variant, or extends its job's deadline. Returns the image if it exists.
    async fn reassert(
        &self,
        watcher: &Watcher<'_>,
        waiting: &mut Option<(String, i64)>,
        asserted: &mut Instant,
    ) -> Result<Option<RenderedImage>, RenderError> {
        let deadline_ms = self.0.clock.now().0 + self.grace_period().as_millis() as i64;
        let wanted = self.request(watcher.vehicle, watcher.variant, watcher.requester, deadline_ms).await?;
        *asserted = Instant::now();
        match wanted {
            EnqueueOutcome::Done(picture) => Ok(Some(picture)),
            EnqueueOutcome::Waiting { render_id, round } => {
                // The round is later than ours, so ours failed between two polls.
                if waiting.as_ref().is_some_and(|(_, ours)| *ours != round) {
                    return Err(failed_meanwhile());
                }
                *waiting = Some((render_id, round));
                Ok(None)
            }
        }
    }

    /// Polls the variant's row once. Returns `None` while the image is being made.
    async fn poll(&self, render_id: &str, round: i64) -> Result<Option<RenderedImage>, RenderError> {
        let Some(row) = self.variant_row(render_id).await? else { return Err(RenderError::TooLate) };
        match row.state {
            RenderState::Done => Ok(row.picture),
            RenderState::Wanted if row.round == round => Ok(None),
            RenderState::Wanted => Err(failed_meanwhile()),
            RenderState::Failed => {
                let (kind, detail) = row.failure.unwrap_or_default();
                Err(match budget::reset_of(&kind, self.0.clock.now()) {
                    Some(reset_at_ms) => RenderError::BudgetSpent { reset_at_ms, scope: BudgetScope::Day },
                    None => RenderError::Failed { kind, detail },
                })
            }
            RenderState::Expired => Err(RenderError::TooLate),
        }
    }
}

fn failed_meanwhile() -> RenderError {
    RenderError::Failed {
        kind: "internal".to_owned(),
        detail: "the render failed and another request has started it anew".to_owned(),
    }
}

//! Waiting for a picture: all requests of a process for one variant share one watcher.
//!
//! The watcher is woken when a job of its vehicle and view ends (`signals`), and otherwise looks now and then.

use super::variants::Wanted;
use crate::renders::budget;
use crate::renders::lane::Asker;
use crate::renders::rules::Share;
use crate::renders::state::RenderState;
use crate::renders::watched::{Outcome, Watched};
use crate::renders::{Picture, RenderError, Renders};
use cyclorama_core::traces::Trace;
use cyclorama_core::{Variant, Vehicle};
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

/// How often a watcher pushes its job's deadline on, or four times in a shorter wait: whoever joins it never finds the job about to
/// lapse. This also queues the job again should it have been dropped.
const REASSERT: Duration = Duration::from_secs(5);

/// See [`Renders::linger`].
pub const LINGER_MAX: Duration = Duration::from_secs(30);

/// Database errors in a row before the waiting requests are told.
const ERRORS_MAX: usize = 3;

/// A watcher's own end of [`Watched`].
struct Watcher<'a> {
    vehicle: &'a Vehicle,
    variant: &'a Variant,
    asker: &'a Asker,
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
    /// The variant's picture, made first if need be. Waits no longer than the settings say.
    pub async fn picture(&self, vehicle: &Vehicle, variant: &Variant, asker: &Asker) -> Result<Picture, RenderError> {
        let (mut outcome, _waiting) = self.watch(vehicle, variant, asker);
        let waited = tokio::time::timeout(self.settings().render_wait, outcome.wait_for(Option::is_some)).await;
        match waited {
            Ok(Ok(outcome)) => outcome.clone().unwrap_or(Err(RenderError::TooLate)),
            Ok(Err(_)) | Err(_) => Err(RenderError::TooLate),
        }
    }

    /// How long a job outlives the last look of whoever waits for it: long enough for a client that comes back and
    /// for a database that starts anew, too short to make a picture for nobody.
    fn linger(&self) -> Duration {
        self.settings().render_wait.min(LINGER_MAX)
    }

    /// When to ask again for a picture that came too late: while its render goes on.
    pub fn retry_after_seconds(&self) -> u64 {
        (self.linger().as_secs() / 2).max(1)
    }

    /// Whether nobody waits here for the variant on the asker's behalf any more. Then the job that their requests may
    /// have begun is in the queue.
    pub(super) async fn is_left(&self, variant: &Variant, asker: &Asker) -> bool {
        let begun = match self.watched().get(&(variant.clone(), asker.clone())) {
            None => return true,
            Some(watched) if watched.is_waited_for() => return false,
            Some(watched) => watched.begun.clone(),
        };
        begun.cancelled().await;
        true
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<(Variant, Asker), Watched>> {
        self.0.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins the variant's watcher, or starts it. Whoever waits keeps the reference.
    fn watch(&self, vehicle: &Vehicle, variant: &Variant, asker: &Asker) -> (watch::Receiver<Outcome>, Arc<()>) {
        let key = (variant.clone(), asker.clone());
        let mut watched = self.watched();
        if let Some(running) = watched.get(&key)
            && running.outcome.has_changed().is_ok()
            && running.outcome.borrow().is_none()
        {
            return (running.outcome.clone(), running.waiting.clone());
        }
        let (outcome, receiver) = watch::channel(None);
        let (waiting, begun) = (Arc::new(()), CancellationToken::new());
        let shared = Watched { outcome: receiver.clone(), waiting: waiting.clone(), begun: begun.clone() };
        let weak = Arc::downgrade(&waiting);
        watched.insert(key.clone(), shared);
        let (renders, vehicle) = (self.clone(), vehicle.clone());
        let watching = async move {
            let _ends: DropGuard = begun.clone().drop_guard();
            let watcher = Watcher { vehicle: &vehicle, variant: &key.0, asker: &key.1, waiting: weak, begun };
            loop {
                let found = renders.watch_until(&watcher).await;
                // Ended under the lock, so that nobody joins a watcher that has just ended.
                let mut watched = renders.watched();
                if found.is_none() && watcher.is_waited_for() {
                    // Somebody joined just when nobody was left.
                    continue;
                }
                watched.remove(&key);
                let _ = outcome.send(found);
                return;
            }
        };
        // The job that it queues belongs to the trace of who came first.
        tokio::spawn(Trace::current().around(watching));
        (receiver, waiting)
    }

    /// `None`: nobody waits any more.
    async fn watch_until(&self, watcher: &Watcher<'_>) -> Outcome {
        let ends = self.0.signals.ends(&watcher.variant.vehicle_key(), watcher.variant.view.as_str());
        let reassert = REASSERT.min(self.settings().render_wait / 4);
        let mut waiting: Option<(String, i64)> = None;
        let mut asserted = Instant::now();
        let mut errors = 0;
        loop {
            // Nothing is begun for a client that has left already.
            if !watcher.is_waited_for() {
                return None;
            }
            // Registered before looking, so that a result between the look and the wait is not missed.
            let ended = ends.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();

            let step = match &waiting {
                Some((render_id, round)) if asserted.elapsed() < reassert => self.step(render_id, *round).await,
                Some((render_id, round)) => match self.step(render_id, *round).await {
                    Ok(None) => self.assert(watcher, &mut waiting, &mut asserted).await,
                    other => other,
                },
                None => self.assert(watcher, &mut waiting, &mut asserted).await,
            };
            watcher.begun.cancel();
            match step {
                Ok(Some(picture)) => return Some(Ok(picture)),
                Ok(None) => errors = 0,
                Err(RenderError::Database(error)) if waiting.is_some() && errors < ERRORS_MAX => {
                    tracing::warn!(
                        error = &*error as &dyn std::error::Error,
                        "a waiting render could not be looked up"
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

    async fn assert(
        &self,
        watcher: &Watcher<'_>,
        waiting: &mut Option<(String, i64)>,
        asserted: &mut Instant,
    ) -> Result<Option<Picture>, RenderError> {
        let deadline_ms = self.0.clock.now().0 + self.linger().as_millis() as i64;
        let wanted = self.want(watcher.vehicle, watcher.variant, watcher.asker, deadline_ms).await?;
        *asserted = Instant::now();
        match wanted {
            Wanted::Done(picture) => Ok(Some(picture)),
            Wanted::Waiting { render_id, round } => {
                // A later round than ours: ours failed between two looks.
                if waiting.as_ref().is_some_and(|(_, ours)| *ours != round) {
                    return Err(failed_meanwhile());
                }
                *waiting = Some((render_id, round));
                Ok(None)
            }
        }
    }

    /// Looks once. `None`: still in the making.
    async fn step(&self, render_id: &str, round: i64) -> Result<Option<Picture>, RenderError> {
        let Some(row) = self.variant_row(render_id).await? else { return Err(RenderError::TooLate) };
        match row.state {
            RenderState::Done => Ok(row.picture),
            RenderState::Wanted if row.round == round => Ok(None),
            RenderState::Wanted => Err(failed_meanwhile()),
            RenderState::Failed => {
                let (kind, detail) = row.failure.unwrap_or_default();
                Err(match budget::reset_of(&kind, self.0.clock.now()) {
                    Some(reset_at_ms) => RenderError::BudgetSpent { reset_at_ms, share: Share::Day },
                    None => RenderError::Failed { kind, detail },
                })
            }
            RenderState::Lapsed => Err(RenderError::TooLate),
        }
    }
}

fn failed_meanwhile() -> RenderError {
    RenderError::Failed {
        kind: "internal".to_owned(),
        detail: "the render failed and another request has started it anew".to_owned(),
    }
}

//! Waiting for a picture: all requests of a process for one variant share one watcher.
//!
//! The watcher is woken when a job of its vehicle and view ends (`signals`), and otherwise looks now and then.

use super::cost;
use super::order::Wanted;
use super::{Asker, Outcome, Picture, RenderError, RenderState, Renders, Share};
use cyclorama_core::traces::Trace;
use cyclorama_core::{Variant, Vehicle};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How often a watcher pushes its job's deadline on, or four times in a shorter wait: whoever joins it never finds the job about to
/// lapse. This also queues the job again should it have been dropped.
const REASSERT: Duration = Duration::from_secs(5);

/// See [`Renders::linger`].
pub(super) const LINGER_MAX: Duration = Duration::from_secs(30);

/// Database errors in a row before the waiting requests are told.
const ERRORS_MAX: usize = 3;

impl Renders {
    /// The variant's picture, made first if need be. Waits no longer than the settings say.
    pub async fn picture(&self, vehicle: &Vehicle, variant: &Variant, asker: &Asker) -> Result<Picture, RenderError> {
        let mut outcome = self.watch(vehicle, variant, asker);
        let waited = tokio::time::timeout(self.settings().render_wait, outcome.wait_for(Option::is_some)).await;
        match waited {
            Ok(Ok(outcome)) => outcome.clone().unwrap_or(Err(RenderError::TooLate)),
            Ok(Err(_)) | Err(_) => Err(RenderError::TooLate),
        }
    }

    /// How long a job outlives the last look of whoever waits for it: long enough for a client that comes back and for a database that starts
    /// anew, too short to make a picture for nobody.
    fn linger(&self) -> Duration {
        self.settings().render_wait.min(LINGER_MAX)
    }

    /// When to ask again for a picture that came too late: while its render goes on.
    pub fn retry_after_seconds(&self) -> u64 {
        (self.linger().as_secs() / 2).max(1)
    }

    /// Joins the variant's watcher, or starts it.
    fn watch(&self, vehicle: &Vehicle, variant: &Variant, asker: &Asker) -> watch::Receiver<Outcome> {
        let key = (variant.clone(), asker.clone());
        let mut watched = self.0.watched.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(running) = watched.get(&key)
            && running.has_changed().is_ok()
            && running.borrow().is_none()
        {
            return running.clone();
        }
        let (outcome, receiver) = watch::channel(None);
        watched.insert(key.clone(), receiver.clone());
        let (renders, vehicle) = (self.clone(), vehicle.clone());
        let watching = async move {
            loop {
                let found = renders.watch_until(&vehicle, &key.0, &key.1, &outcome).await;
                // Ended under the lock, so that nobody joins a watcher that has just ended.
                let mut watched = renders.0.watched.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if found.is_none() && outcome.receiver_count() > 1 {
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
        receiver
    }

    /// `None`: nobody waits any more.
    async fn watch_until(
        &self,
        vehicle: &Vehicle,
        variant: &Variant,
        asker: &Asker,
        waiters: &watch::Sender<Outcome>,
    ) -> Outcome {
        let ends = self.0.signals.ends(&variant.vehicle_key(), variant.view.as_str());
        let reassert = REASSERT.min(self.settings().render_wait / 4);
        let mut waiting: Option<(String, i64)> = None;
        let mut asserted = Instant::now();
        let mut errors = 0;
        loop {
            // Registered before looking, so that a result between the look and the wait is not missed.
            let ended = ends.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();

            let step = match &waiting {
                Some((render_id, round)) if asserted.elapsed() < reassert => self.step(render_id, *round).await,
                Some((render_id, round)) => match self.step(render_id, *round).await {
                    Ok(None) => self.assert(vehicle, variant, asker, &mut waiting, &mut asserted).await,
                    other => other,
                },
                None => self.assert(vehicle, variant, asker, &mut waiting, &mut asserted).await,
            };
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
                // The watcher map holds one receiver itself.
                () = alone(waiters) => return None,
            }
        }
    }

    async fn assert(
        &self,
        vehicle: &Vehicle,
        variant: &Variant,
        asker: &Asker,
        waiting: &mut Option<(String, i64)>,
        asserted: &mut Instant,
    ) -> Result<Option<Picture>, RenderError> {
        let deadline_ms = self.0.clock.now().0 + self.linger().as_millis() as i64;
        let wanted = self.want(vehicle, variant, asker, deadline_ms).await?;
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
        let Some(row) = self.look(render_id).await? else { return Err(RenderError::TooLate) };
        match row.state {
            RenderState::Done => Ok(row.picture),
            RenderState::Wanted if row.round == round => Ok(None),
            RenderState::Wanted => Err(failed_meanwhile()),
            RenderState::Failed => {
                let (kind, detail) = row.failure.unwrap_or_default();
                Err(match cost::reset_of(&kind, self.0.clock.now()) {
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

/// Resolves when no request waits on the channel any more. The map of watchers keeps one receiver of its own.
async fn alone(waiters: &watch::Sender<Outcome>) {
    while waiters.receiver_count() > 1 {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

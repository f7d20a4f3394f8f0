//! The task that reloads accounts: it checks balances periodically, charges stored cards, and turns
//! auto-reload off where it fails.

use super::failure_emails::FailureEmails;
use super::{ATTEMPTS_MAX, Due, Low, UNKNOWN_MS, begin, claim, due, low, pack_of, put_off, turn_off_for_pack};
use crate::clock::{Clock, DAY_MS};
use crate::config::prices::Pack;
use crate::db::Database;
use crate::ledger::LedgerError;
use crate::payments::stripe::settle::{self, EventOutcome};
use crate::payments::stripe::{StripeClient, StripeError};
use crate::tasks::every;
use std::sync::Arc;
use std::time::Duration;

/// Time within which Stripe answers an attempt, if it ever does, in milliseconds.
const ATTEMPT_MS: i64 = 30_000;

/// Longest pause between two attempts, in milliseconds.
const WAIT_MS_MAX: i64 = 3_600_000;

/// Time for which events of Stripe are stored, in milliseconds.
const EVENTS_KEPT_MS: i64 = 60 * DAY_MS;

const TIDY_EVERY: Duration = Duration::from_secs(3600);

/// The settings and services that the task needs.
pub struct AutoReloadSweep {
    pub db: Database,
    pub clock: Clock,
    pub stripe: StripeClient,
    pub packs: Vec<Pack>,
    /// Pause between two checks of the balances.
    pub every: Duration,
    pub letters: FailureEmails,
}

impl AutoReloadSweep {
    /// Starts the sweep and the deletion of old events. Both tasks run until they are aborted.
    pub fn start(self) -> [tokio::task::JoinHandle<()>; 2] {
        let sweep = Arc::new(self);
        [
            every(sweep.every, "accounts could not be checked for auto-reload", sweep.clone(), |sweep| async move {
                sweep.sweep().await
            }),
            every(TIDY_EVERY, "old Stripe events could not be deleted", sweep, |sweep| async move {
                settle::forget_events(&sweep.db, sweep.clock.now().plus_ms(-EVENTS_KEPT_MS)).await.map(drop)
            }),
        ]
    }

    async fn sweep(&self) -> Result<(), LedgerError> {
        let now = self.clock.now();
        for low in low(&self.db, now).await? {
            match pack_of(&self.packs, low.pack_credits) {
                Some(pack) => {
                    begin(&self.db, &low, pack, now).await?;
                }
                // The packs were changed since.
                None => self.end_for_pack(&low).await?,
            }
        }
        for due in due(&self.db, now).await? {
            self.attempt(&due).await?;
        }
        Ok(())
    }

    async fn attempt(&self, due: &Due) -> Result<(), LedgerError> {
        let now = self.clock.now();
        // While this call to Stripe is running, no other process makes one; afterwards the time is
        // set to the real one.
        if !claim(&self.db, &self.packs, due, now, now.plus_ms(ATTEMPT_MS)).await? {
            return Ok(());
        }
        if now >= due.expires_at {
            return self.give_up(due, "it was not done in time", false).await;
        }
        let asked = self.stripe.charge(&due.payment_id, &due.customer, &due.payment_method, due.cents).await;
        let now = self.clock.now();
        match asked {
            Ok(intent) => match (intent.status.clone(), intent.paid()) {
                (_, Some(paid)) => {
                    let outcome = settle::charged(&self.db, &paid, now).await?;
                    match outcome {
                        EventOutcome::Refused(why) => tracing::error!(why, "a payment arrived and was not credited"),
                        _ => {
                            tracing::info!(
                                account_id = due.account_id,
                                payment_id = due.payment_id,
                                "an account was reloaded"
                            )
                        }
                    }
                    Ok(())
                }
                // Stripe reports the result by an event.
                (status, None) if status == "processing" => {
                    Ok(put_off(&self.db, due, due.expires_at, due.expires_at).await?)
                }
                (status, None) => self.give_up(due, &status, true).await,
            },
            Err(StripeError::Declined { code }) => self.give_up(due, &code, true).await,
            // The card or the customer is gone. A wrong key, in contrast, is for the operator to
            // correct, and the call is tried again.
            Err(error @ StripeError::Refused { status: 400 | 404, .. }) => {
                self.give_up(due, &error.to_string(), true).await
            }
            Err(error) if due.attempts + 1 >= ATTEMPTS_MAX => {
                tracing::error!(error = &error as &dyn std::error::Error, "the last attempt at a reload failed");
                self.give_up(due, "Stripe did not answer", false).await
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "an attempt at a reload failed; it is retried"
                );
                let wait_ms = self.every.as_millis() as i64 * (1 << due.attempts.clamp(0, 6));
                let until = now.plus_ms(wait_ms.min(WAIT_MS_MAX));
                Ok(put_off(&self.db, due, until, now.plus_ms(UNKNOWN_MS)).await?)
            }
        }
    }

    /// Ends a reload that Stripe does not make, and turns auto-reload off. `is_known` is true if
    /// Stripe reported the failure; otherwise the money may still arrive.
    async fn give_up(&self, due: &Due, why: &str, is_known: bool) -> Result<(), LedgerError> {
        let now = self.clock.now();
        let mut tx = self.db.begin().await?;
        let outcome = settle::cancel(&mut tx, &due.payment_id, "reload", now).await?;
        tx.commit().await?;
        if !is_known {
            put_off(&self.db, due, now, now.plus_ms(UNKNOWN_MS)).await?;
        }
        // Any other outcome means that the owner turned auto-reload off, or that an event reported
        // the failure first and the email has been sent.
        if matches!(outcome, EventOutcome::Applied(_)) {
            self.tell(&due.account_id, why).await;
        }
        Ok(())
    }

    /// Turns auto-reload off for an account whose pack is no longer sold.
    async fn end_for_pack(&self, low: &Low) -> Result<(), LedgerError> {
        let mut tx = self.db.begin().await?;
        let is_off = turn_off_for_pack(&mut tx, low, self.clock.now()).await?;
        tx.commit().await?;
        if is_off {
            self.tell(&low.account_id, "its pack is no longer sold").await;
        }
        Ok(())
    }

    async fn tell(&self, account_id: &str, why: &str) {
        tracing::warn!(account_id, why, "auto-reload was turned off");
        self.letters.tell_of_failure(account_id).await;
    }
}

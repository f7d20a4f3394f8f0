//! The task that reloads accounts: looks at balances now and then, charges kept cards, and turns off what does not work.

use super::{ATTEMPTS_MAX, Due, Low, UNKNOWN_MS, begin, claim, due, low, pack_of, put_off, turn_off_for_pack};
use crate::accounts::account;
use crate::app::App;
use crate::clock::{self, DAY_MS};
use crate::ledger::LedgerError;
use crate::mail::Letter;
use crate::payments::stripe::settle::{self, Outcome};
use crate::payments::stripe::{Stripe, StripeError};
use std::time::Duration;

/// Stripe has answered an attempt by then, or never will.
const ATTEMPT_MS: i64 = 30_000;

/// Between two attempts.
const WAIT_MS_MAX: i64 = 3_600_000;

/// Events of Stripe are remembered for so long.
const EVENTS_KEPT_MS: i64 = 60 * DAY_MS;

const TIDY_EVERY: Duration = Duration::from_secs(3600);

/// Runs until the task is aborted.
pub fn start(app: App, stripe: Stripe) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let mut sweeps = clock::ticks(app.config.prices.auto_reload_every);
        let mut tidyings = clock::ticks(TIDY_EVERY);
        loop {
            tokio::select! {
                _ = sweeps.tick() => {
                    if let Err(error) = sweep(&app, &stripe).await {
                        tracing::warn!(error = &error as &dyn std::error::Error, "accounts could not be looked at for auto-reload");
                    }
                }
                _ = tidyings.tick() => {
                    let before = app.clock.now().plus_ms(-EVENTS_KEPT_MS);
                    if let Err(error) = settle::forget_events(&app.db, before).await {
                        tracing::warn!(error = &error as &dyn std::error::Error, "old events could not be forgotten");
                    }
                }
            }
        }
    })
}

async fn sweep(app: &App, stripe: &Stripe) -> Result<(), LedgerError> {
    let now = app.clock.now();
    for low in low(&app.db, now).await? {
        match pack_of(&app.config.prices.packs, low.pack_credits) {
            Some(pack) => {
                begin(&app.db, &low, pack, now).await?;
            }
            // The packs were changed since.
            None => end_for_pack(app, &low).await?,
        }
    }
    for due in due(&app.db, now).await? {
        attempt(app, stripe, &due).await?;
    }
    Ok(())
}

async fn attempt(app: &App, stripe: &Stripe, due: &Due) -> Result<(), LedgerError> {
    let now = app.clock.now();
    // While it is being asked nobody else asks; afterwards the time is set to the real one.
    if !claim(&app.db, &app.config.prices.packs, due, now, now.plus_ms(ATTEMPT_MS)).await? {
        return Ok(());
    }
    if now >= due.expires_at {
        return give_up(app, due, "it was not done in time", false).await;
    }
    let asked = stripe.charge(&due.payment_id, &due.customer, &due.payment_method, due.cents).await;
    let now = app.clock.now();
    match asked {
        Ok(intent) => match (intent.status.clone(), intent.paid()) {
            (_, Some(paid)) => {
                let outcome = settle::charged(&app.db, &paid, now).await?;
                match outcome {
                    Outcome::Refused(why) => tracing::error!(why, "money came and was not credited"),
                    _ => tracing::info!(account_id = due.account_id, payment_id = due.payment_id, "account reloaded"),
                }
                Ok(())
            }
            // Stripe tells the end by an event.
            (status, None) if status == "processing" => {
                Ok(put_off(&app.db, due, due.expires_at, due.expires_at).await?)
            }
            (status, None) => give_up(app, due, &status, true).await,
        },
        Err(StripeError::Declined { code }) => give_up(app, due, &code, true).await,
        // The card or the customer is gone. A wrong key is the operator's affair, and tried again.
        Err(error @ StripeError::Refused { status: 400 | 404, .. }) => {
            give_up(app, due, &error.to_string(), true).await
        }
        Err(error) if due.attempts + 1 >= ATTEMPTS_MAX => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "Stripe was asked for a reload for the last time"
            );
            give_up(app, due, "Stripe did not answer", false).await
        }
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "a reload is tried again later");
            let wait_ms = app.config.prices.auto_reload_every.as_millis() as i64 * (1 << due.attempts.clamp(0, 6));
            let until = now.plus_ms(wait_ms.min(WAIT_MS_MAX));
            Ok(put_off(&app.db, due, until, now.plus_ms(UNKNOWN_MS)).await?)
        }
    }
}

/// Ends a reload that Stripe does not make, and turns auto-reload off. `is_known`: whether Stripe said so; otherwise the money may still
/// come.
async fn give_up(app: &App, due: &Due, why: &str, is_known: bool) -> Result<(), LedgerError> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let outcome = settle::cancel(&mut tx, &due.payment_id, "reload", now).await?;
    tx.commit().await?;
    if !is_known {
        put_off(&app.db, due, now, now.plus_ms(UNKNOWN_MS)).await?;
    }
    // Otherwise its owner turned it off, or an event told it first and the letter is written.
    if matches!(outcome, Outcome::Applied(_)) {
        tell(app, &due.account_id, why).await;
    }
    Ok(())
}

/// Turns auto-reload off for an account whose pack is no longer sold.
async fn end_for_pack(app: &App, low: &Low) -> Result<(), LedgerError> {
    let mut tx = app.db.begin().await?;
    let is_off = turn_off_for_pack(&mut tx, low, app.clock.now()).await?;
    tx.commit().await?;
    if is_off {
        tell(app, &low.account_id, "its pack is no longer sold").await;
    }
    Ok(())
}

async fn tell(app: &App, account_id: &str, why: &str) {
    tracing::warn!(account_id, why, "auto-reload is turned off");
    tell_of_failure(app, account_id).await;
}

/// The letter to somebody whose card was not charged. What goes wrong is logged: auto-reload is off either way.
pub async fn tell_of_failure(app: &App, account_id: &str) {
    let Some(mailer) = &app.mailer else { return };
    let account = match account::find(&app.db, account_id).await {
        Ok(account) => account,
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a letter has no address");
            return;
        }
    };
    let text = format!(
        "Your balance at {base} is low, and your card could not be charged for more credits. Auto-reload is turned off, so that it is not tried again.\n\nBuy credits, or turn it on again: {base}/dashboard/billing\n",
        base = app.base_url,
    );
    let letter = Letter { to: account.email, subject: "Auto-reload did not work and is turned off", text };
    if let Err(error) = mailer.room().and_then(|room| mailer.post(room, letter)) {
        tracing::error!(error = &error as &dyn std::error::Error, account_id, "a letter was not taken");
    }
}

//! The task that writes the emails: it checks balances and days periodically, a
//! bounded number at a time.

use super::{AlertKind, DueEmail, arm, claim, due, mark};
use crate::clock::Clock;
use crate::db::Database;
use crate::mail::{Email, MailError, Mailer};
use crate::plural;
use crate::tasks::every;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of emails of each kind in one sweep; the rest follows with the next.
const SWEEP_MAX: i64 = 50;

/// Longer than a mail server may take for an email, and also the wait before a failed one is tried
/// again, in milliseconds.
const RETRY_MS: i64 = 60_000;

/// The settings and services that the task needs.
pub struct AlertSweep {
    pub db: Database,
    pub clock: Clock,
    pub mailer: Mailer,
    /// Pause between two checks of the accounts.
    pub every: Duration,
    pub base_url: String,
}

impl AlertSweep {
    /// Starts the task, which runs until it is aborted.
    pub fn start(self) -> tokio::task::JoinHandle<()> {
        every(self.every, "accounts could not be checked for alert emails", Arc::new(self), |sweep| async move {
            sweep.sweep().await
        })
    }

    async fn sweep(&self) -> Result<(), sqlx::Error> {
        arm(&self.db).await?;
        let now = self.clock.now();
        for due in due(&self.db, now, SWEEP_MAX).await? {
            // Send one after the other, so that emails that people wait for come first.
            if !claim(&self.db, &due, now, self.clock.now().plus_ms(RETRY_MS)).await? {
                continue;
            }
            match self.mailer.send(email(&self.base_url, &due)).await {
                // An address that can never get an email is not tried again and again.
                Ok(()) | Err(MailError::Address | MailError::Server { is_permanent: true }) => {
                    mark(&self.db, &due).await?;
                }
                // Stop for the other emails as well: the mail server does not accept emails now.
                Err(MailError::Busy | MailError::Server { is_permanent: false }) => break,
            }
        }
        Ok(())
    }
}

fn email(base: &str, due: &DueEmail) -> Email {
    let (subject, said) = match due.kind {
        AlertKind::LowBalance => (
            "Your credits are running low",
            format!(
                "Your balance at {base} is {}, which is below your threshold of {}.",
                plural::count(due.credits, "credit"),
                due.threshold_credits
            ),
        ),
        AlertKind::DailySpend => (
            "Your spend for one day is above your threshold",
            format!(
                "On {} (UTC) your keys spent {} at {base}, which is more than your threshold of {}.",
                due.told,
                plural::count(due.credits, "credit"),
                due.threshold_credits
            ),
        ),
    };
    let text = format!(
        "{said}\n\nSee your usage: {base}/dashboard\nBuy credits or change your alerts: {base}/dashboard/billing\n"
    );
    Email { to: due.email.clone(), subject, text }
}

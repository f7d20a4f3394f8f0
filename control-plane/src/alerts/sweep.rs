//! The task that writes the letters: looks at balances and days now and then, a bounded number at a time.

use super::{Due, Kind, arm, claim, due, mark};
use crate::clock::Clock;
use crate::db::Database;
use crate::mail::{Letter, MailError, Mailer};
use crate::plural;
use crate::tasks::every;
use std::sync::Arc;
use std::time::Duration;

/// Letters of each kind in one sweep; the rest follows with the next.
const SWEEP_MAX: i64 = 50;

/// Longer than a mail server may take over a letter; also the wait before one that failed is tried again.
const RETRY_MS: i64 = 60_000;

/// What letters are written and sent with.
pub struct Sweep {
    pub db: Database,
    pub clock: Clock,
    pub mailer: Mailer,
    /// Between two looks at the accounts.
    pub every: Duration,
    pub base_url: String,
}

impl Sweep {
    /// Runs until the task is aborted.
    pub fn start(self) -> tokio::task::JoinHandle<()> {
        every(self.every, "accounts could not be looked at for letters", Arc::new(self), |sweep| async move {
            sweep.sweep().await
        })
    }

    async fn sweep(&self) -> Result<(), sqlx::Error> {
        arm(&self.db).await?;
        let now = self.clock.now();
        for due in due(&self.db, now, SWEEP_MAX).await? {
            // One after the other: people who wait for a letter of theirs come first.
            if !claim(&self.db, &due, now, self.clock.now().plus_ms(RETRY_MS)).await? {
                continue;
            }
            match self.mailer.send(letter(&self.base_url, &due)).await {
                // Where no letter can ever go, none is tried again and again.
                Ok(()) | Err(MailError::Address | MailError::Server { is_permanent: true }) => {
                    mark(&self.db, &due).await?;
                }
                // Also for the others: the mail server does not take letters now.
                Err(MailError::Busy | MailError::Server { is_permanent: false }) => break,
            }
        }
        Ok(())
    }
}

fn letter(base: &str, due: &Due) -> Letter {
    let (subject, said) = match due.kind {
        Kind::LowBalance => (
            "Your credits are running low",
            format!(
                "Your balance at {base} is {}, below the {} that you set.",
                plural::count(due.credits, "credit"),
                due.threshold_credits
            ),
        ),
        Kind::DailySpend => (
            "A day's spend is higher than you expected",
            format!(
                "On {} (UTC) your keys have taken {} at {base}, more than the {} that you set.",
                due.told,
                plural::count(due.credits, "credit"),
                due.threshold_credits
            ),
        ),
    };
    let text = format!(
        "{said}\n\nWhere credits went: {base}/dashboard\nBuy credits, or change when you are told: {base}/dashboard/billing\n"
    );
    Letter { to: due.email.clone(), subject, text }
}

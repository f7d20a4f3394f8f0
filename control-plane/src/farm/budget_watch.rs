//! Warns the operator when the day's render budget runs low: in the log, as a metric, and by email
//! if the operator's address is configured.

use crate::clock::Clock;
use crate::mail::{Email, MailError, Mailer};
use crate::money::usd_from;
use crate::renders::{Budget, Renders};
use crate::tasks::every;
use std::sync::Arc;
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(5);

/// The settings and services that the watch needs.
pub struct BudgetWatch {
    pub renders: Renders,
    pub clock: Clock,
    pub mailer: Option<Mailer>,
    /// Email address of the operator, who gets the emails.
    pub operator: Option<String>,
    pub base_url: String,
}

impl BudgetWatch {
    /// Starts the task, which runs until it is aborted.
    pub fn start(self) -> tokio::task::JoinHandle<()> {
        every(EVERY, "the day's budget could not be read", Arc::new(self), |watch| async move { watch.look().await })
    }

    async fn look(&self) -> Result<(), sqlx::Error> {
        let budget = self.renders.budget().await?;
        for percent in self.renders.reach_thresholds(&budget).await? {
            metrics::counter!("cyclorama_budget_thresholds_total", "percent" => percent.to_string()).increment(1);
            tracing::warn!(
                percent,
                day = budget.day,
                used_microusd = budget.reserved_microusd + budget.settled_microusd,
                limit_microusd = budget.microusd_per_day,
                forecast_microusd = budget.forecast_microusd(self.clock.now()),
                "the day's render budget has reached a threshold"
            );
        }
        if let (Some(mailer), Some(operator)) = (&self.mailer, &self.operator)
            && let Some(percent) = self.renders.claim_letter(&budget.day).await?
        {
            match mailer.send(self.letter(operator, percent, &budget)).await {
                // An address that can never get an email is not tried again and again.
                Ok(()) | Err(MailError::Address | MailError::Server { is_permanent: true }) => {
                    self.renders.letter_sent(&budget.day, percent).await?;
                }
                Err(MailError::Busy | MailError::Server { is_permanent: false }) => {}
            }
        }
        Ok(())
    }

    fn letter(&self, operator: &str, percent: i64, budget: &Budget) -> Email {
        let usd = |microusd: i64| format!("${:.2}", usd_from(microusd));
        let text = format!(
            "{} of today's render budget of {} is spent or reserved (the threshold is {percent} %). \
         At this rate, {} will be spent by the end of the day.\n\n\
         When the budget is spent, new images are refused until {} (UTC midnight). Existing images are still delivered.\n\n\
         Service: {}\n",
            usd(budget.reserved_microusd + budget.settled_microusd),
            usd(budget.microusd_per_day),
            usd(budget.forecast_microusd(self.clock.now())),
            crate::clock::UnixMs(budget.reset_at_ms).rfc3339(),
            self.base_url,
        );
        Email { to: operator.to_owned(), subject: "The day's render budget", text }
    }
}

//! Tells the operator when the day's render budget runs low: in the log, as a metric, and by a letter where there is somebody to write to.

use crate::app::App;
use crate::clock;
use crate::mail::{Letter, MailError};
use crate::renders::Budget;
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(5);

/// Runs until the task is aborted.
pub fn start(app: App) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let mut ticks = clock::ticks(EVERY);
        loop {
            ticks.tick().await;
            if let Err(error) = look(&app).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "the day's budget could not be looked at");
            }
        }
    })
}

async fn look(app: &App) -> Result<(), sqlx::Error> {
    let budget = app.renders.budget().await?;
    for percent in app.renders.reach_thresholds(&budget).await? {
        metrics::counter!("cyclorama_budget_thresholds_total", "percent" => percent.to_string()).increment(1);
        tracing::warn!(
            percent,
            day = budget.day,
            used_microusd = budget.reserved_microusd + budget.settled_microusd,
            limit_microusd = budget.microusd_per_day,
            forecast_microusd = budget.forecast_microusd(app.clock.now()),
            "the day's render budget has reached a threshold"
        );
    }
    if let (Some(mailer), Some(operator)) =
        (&app.mailer, app.config.mail.as_ref().and_then(|mail| mail.operator.as_ref()))
        && let Some(percent) = app.renders.claim_letter(&budget.day).await?
    {
        match mailer.send(letter(app, operator, percent, &budget)).await {
            // Where no letter can ever go, none is tried again and again.
            Ok(()) | Err(MailError::Address | MailError::Server { is_permanent: true }) => {
                app.renders.letter_sent(&budget.day, percent).await?;
            }
            Err(MailError::Busy | MailError::Server { is_permanent: false }) => {}
        }
    }
    Ok(())
}

fn letter(app: &App, operator: &str, percent: i64, budget: &Budget) -> Letter {
    let usd = |microusd: i64| format!("${:.2}", microusd as f64 / 1e6);
    let text = format!(
        "{} of today's render budget of {} is used up or reserved ({percent} % was the threshold). If the day goes on like this, it comes to {}.\n\n\
         Renders that are not in the cache are refused when the budget is spent, until {} (UTC midnight). Cached pictures are served all the same.\n\n\
         The service: {}\n",
        usd(budget.reserved_microusd + budget.settled_microusd),
        usd(budget.microusd_per_day),
        usd(budget.forecast_microusd(app.clock.now())),
        clock::UnixMs(budget.reset_at_ms).rfc3339(),
        app.base_url,
    );
    Letter { to: operator.to_owned(), subject: "The day's render budget", text }
}

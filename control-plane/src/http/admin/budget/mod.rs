//! `/admin/budget`: the budget for cold renders of one UTC day.

pub mod set;
pub mod show;

use crate::app::App;
use crate::clock::UnixMs;
use crate::money::usd_from;
use crate::renders::AtLimit;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct BudgetView {
    /// UTC day, YYYY-MM-DD.
    day: String,
    usd_per_day: f64,
    /// Expected cost of renders that are queued or running.
    reserved_usd: f64,
    /// Cost of renders that have run.
    settled_usd: f64,
    reset_at: String,
    /// Forecast for the whole day, if renders go on at the present rate.
    forecast_usd: f64,
    /// Expected cost of a cold render: the mean of the last ones on nodes with a price, or the
    /// value in the settings.
    render_cost_usd: f64,
    thresholds: Vec<ThresholdView>,
    /// Parts of the day's budget, in percent: for prewarming, for visitors and the service's own
    /// pages, for one account, and for all accounts together that have only had free credits.
    prewarm_percent: i64,
    example_percent: i64,
    account_percent: i64,
    free_percent: i64,
    at_limit: AtLimit,
}

#[derive(Debug, Serialize)]
struct ThresholdView {
    percent: i64,
    /// `null` if the threshold has not been reached today.
    reached_at: Option<String>,
}

impl BudgetView {
    /// Returns today's budget.
    pub(super) async fn now(app: &App) -> Result<Self, sqlx::Error> {
        let usd = usd_from;
        let (budget, rules) = (app.renders.budget().await?, &app.config.farm.budget_rules);
        let thresholds = app.renders.thresholds().await?.into_iter().map(|threshold| ThresholdView {
            percent: threshold.percent,
            reached_at: threshold.reached_at_ms.map(|at_ms| UnixMs(at_ms).rfc3339()),
        });
        Ok(BudgetView {
            usd_per_day: usd(budget.microusd_per_day),
            reserved_usd: usd(budget.reserved_microusd),
            settled_usd: usd(budget.settled_microusd),
            reset_at: UnixMs(budget.reset_at_ms).rfc3339(),
            forecast_usd: usd(budget.forecast_microusd(app.clock.now())),
            render_cost_usd: usd(app.renders.render_cost_microusd()),
            thresholds: thresholds.collect(),
            prewarm_percent: rules.prewarm_percent,
            example_percent: rules.example_percent,
            account_percent: rules.account_percent,
            free_percent: rules.free_percent,
            at_limit: rules.at_limit,
            day: budget.day,
        })
    }
}

//! `/admin/budget`: what cold renders of one UTC day may cost.

pub mod set;
pub mod show;

use crate::clock::UnixMs;
use crate::renders::Budget;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct BudgetView {
    /// UTC day, YYYY-MM-DD.
    day: String,
    usd_per_day: f64,
    /// For renders that are queued or running.
    reserved_usd: f64,
    /// For renders that have run.
    settled_usd: f64,
    reset_at: String,
}

impl From<Budget> for BudgetView {
    fn from(budget: Budget) -> Self {
        let usd = |micro: i64| micro as f64 / 1e6;
        BudgetView {
            day: budget.day,
            usd_per_day: usd(budget.microusd_per_day),
            reserved_usd: usd(budget.reserved_microusd),
            settled_usd: usd(budget.settled_microusd),
            reset_at: UnixMs(budget.reset_at_ms).rfc3339(),
        }
    }
}

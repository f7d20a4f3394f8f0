//! Rules without I/O for how a day's budget is divided between lanes and accounts, and for what
//! happens when the budget runs out.

use super::lane::Lane;

/// How the day's budget is divided, and what happens when it runs out. Percentages are of the day's
/// limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Cold renders of the prewarm lane are queued only up to this percentage.
    pub prewarm_percent: i64,
    /// Cold renders of the example lane (examples and visitors) are queued only up to this
    /// percentage.
    pub example_percent: i64,
    /// The limit for the renders of one account in a day.
    pub account_percent: i64,
    /// The limit for the renders in a day of all accounts together that have only had free credits.
    pub free_percent: i64,
    /// The percentages at which the operator is notified, in rising order.
    pub notify_percents: Vec<i64>,
    pub at_limit: AtLimit,
}

impl Rules {
    /// Returns the percentage of the day's budget up to which a lane may queue cold renders.
    pub(super) fn percent_of(&self, lane: Lane) -> i64 {
        match lane {
            Lane::Prewarm => self.prewarm_percent,
            Lane::Example => self.example_percent,
            Lane::Rerender | Lane::FirstLoad | Lane::Interactive => 100,
        }
    }
}

/// The limit of a day's budget that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetScope {
    /// The limit of the day, or of the lane.
    Day,
    /// The limit of the requester's account.
    Account,
    /// The limit of all accounts that have only had free credits.
    FreeAccounts,
}

/// What happens to running renders that a lowered budget no longer covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AtLimit {
    /// They are finished.
    Finish,
    /// They are ended, and every request that waits for them fails.
    Stop,
}

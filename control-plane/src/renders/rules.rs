//! How a day's budget is shared between lanes and accounts, and what happens when it runs out: rules without I/O.

use super::lane::Lane;

/// How the day's budget is shared, and what happens when it runs out. Percentages of the day's limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Cold renders of prewarming are queued only up to here.
    pub prewarm_percent: i64,
    /// And those of examples and visitors.
    pub example_percent: i64,
    /// What one account may have rendered in a day.
    pub account_percent: i64,
    /// What all accounts that have only had free credits may have rendered in a day together.
    pub free_percent: i64,
    /// When the operator is told, in rising order.
    pub notify_percents: Vec<i64>,
    pub at_limit: AtLimit,
}

impl Rules {
    /// Up to what percentage of the day a lane may queue cold renders.
    pub(super) fn percent_of(&self, lane: Lane) -> i64 {
        match lane {
            Lane::Prewarm => self.prewarm_percent,
            Lane::Example => self.example_percent,
            Lane::Anew | Lane::FirstLoad | Lane::Interactive => 100,
        }
    }
}

/// What of a day's budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// The day's, or the lane's.
    Day,
    /// The account's own.
    Account,
    /// That of all accounts that have only had free credits.
    FreeAccounts,
}

/// What is done with running renders that a lowered budget no longer covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AtLimit {
    /// They are finished.
    Finish,
    /// They are ended, with everybody who waits for them.
    Stop,
}

//! Thresholds of the day's budget. Each is recorded once, by the first process that sees it
//! reached; `farm` sends the email about it.

use super::day::{Budget, day_of};
use crate::renders::Renders;
use sqlx::Row;

/// Time for which a process claims the email about a threshold, in milliseconds. After that another
/// process may write it.
const CLAIM_MS: i64 = 60_000;

/// A threshold of today's budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold {
    pub percent: i64,
    /// `None` if it is not reached yet.
    pub reached_at_ms: Option<i64>,
}

impl Renders {
    /// Records which thresholds of today's budget have been reached. Returns those that were not
    /// recorded before, in rising order.
    pub async fn reach_thresholds(&self, budget: &Budget) -> Result<Vec<i64>, sqlx::Error> {
        let mut reached = Vec::new();
        // An operator who sets a budget of 0 wants no notice of it.
        if budget.microusd_per_day == 0 {
            return Ok(reached);
        }
        let used = budget.percent();
        for percent in self.settings().rules.notify_percents.iter().filter(|percent| **percent <= used) {
            let sql =
                "insert into budget_marks (day, percent, reached_at_ms) values ($1, $2, $3) on conflict do nothing";
            let query = sqlx::query(sql).bind(&budget.day).bind(*percent).bind(self.0.clock.now().0);
            if self.0.database.write(query).await? == 1 {
                reached.push(*percent);
            }
        }
        Ok(reached)
    }

    /// Returns today's thresholds, in rising order.
    pub async fn thresholds(&self) -> Result<Vec<Threshold>, sqlx::Error> {
        let rows = sqlx::query("select percent, reached_at_ms from budget_marks where day = $1")
            .bind(day_of(self.0.clock.now()).0)
            .fetch_all(&self.0.database.readers)
            .await?;
        let mut reached = Vec::new();
        for row in rows {
            reached.push((row.try_get::<i64, _>(0)?, row.try_get::<i64, _>(1)?));
        }
        let found = |percent: &i64| reached.iter().find(|(marked, _)| marked == percent).map(|(_, at_ms)| *at_ms);
        let percents = self.settings().rules.notify_percents.iter();
        Ok(percents.map(|percent| Threshold { percent: *percent, reached_at_ms: found(percent) }).collect())
    }

    /// Claims the email about the highest threshold of a day, if no email has reported it yet.
    /// Returns the threshold's percentage. No other process writes the email for a minute.
    pub async fn claim_letter(&self, day: &str) -> Result<Option<i64>, sqlx::Error> {
        let now = self.0.clock.now();
        let claimed = sqlx::query(
            "update budget_marks set claimed_until_ms = $1
             where day = $2 and told = 0 and claimed_until_ms < $3
                and percent = (select max(percent) from budget_marks where day = $2) returning percent",
        )
        .bind(now.0 + CLAIM_MS)
        .bind(day)
        .bind(now.0);
        let rows = self.0.database.write_returning(claimed).await?;
        rows.first().map(|row| row.try_get(0)).transpose()
    }

    /// Records that the mail server has accepted the email. The email covers all lower thresholds,
    /// too.
    pub async fn letter_sent(&self, day: &str, percent: i64) -> Result<(), sqlx::Error> {
        let sql = "update budget_marks set told = 1 where day = $1 and percent <= $2 and told = 0";
        self.0.database.write(sqlx::query(sql).bind(day).bind(percent)).await?;
        Ok(())
    }
}

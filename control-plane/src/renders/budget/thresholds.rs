//! How far the day's budget is used up, told once for each threshold, by whichever process sees it first. Who tells it is `farm`'s.

use super::day::{Budget, day_of};
use crate::renders::Renders;
use sqlx::Row;

/// For the letter of a threshold; after that another process may write it.
const CLAIM_MS: i64 = 60_000;

/// A threshold of today's budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold {
    pub percent: i64,
    /// `None`: not yet.
    pub reached_at_ms: Option<i64>,
}

impl Renders {
    /// Writes down which thresholds of today's budget have been reached. Those that nobody had written down, in rising order.
    pub async fn reach_thresholds(&self, budget: &Budget) -> Result<Vec<i64>, sqlx::Error> {
        let mut reached = Vec::new();
        // Without a budget there is nothing to watch: the operator has said so.
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

    /// Today's thresholds, in rising order.
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

    /// Takes on the letter about the highest threshold of a day that no letter told of; nobody else writes it for a minute.
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

    /// The letter is with the mail server: it tells of all thresholds below, too.
    pub async fn letter_sent(&self, day: &str, percent: i64) -> Result<(), sqlx::Error> {
        let sql = "update budget_marks set told = 1 where day = $1 and percent <= $2 and told = 0";
        self.0.database.write(sqlx::query(sql).bind(day).bind(percent)).await?;
        Ok(())
    }
}

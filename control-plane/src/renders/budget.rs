//! What a day of cold renders may cost: reserved when a job is queued, settled when it has run. Only what taking in a result that came in time
//! costs may go above the day's limit (`cost`).

use super::cost::AtLimit;
use super::signals::Signal;
use super::{Asker, Lane, RenderError, Renders};
use crate::clock::{DAY_MS, UnixMs};
use crate::db::Tx;
use sqlx::Row;

/// Kind of the failure of a job that was ended for want of budget.
pub(super) const BUDGET_SPENT: &str = "budget";

/// How fast a day has gone so far tells little in its first minutes.
const FORECAST_AFTER_MS: i64 = 600_000;

/// How the day's budget is shared, and what happens when it runs out. Percentages of the day's limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Cold renders of prewarming are queued only up to here.
    pub prewarm_percent: i64,
    /// And those of examples and visitors.
    pub example_percent: i64,
    /// What one account may have rendered in a day.
    pub account_percent: i64,
    /// When the operator is told, in rising order.
    pub notify_percents: Vec<i64>,
    pub at_limit: AtLimit,
}

impl Rules {
    fn percent_of(&self, lane: Lane) -> i64 {
        match lane {
            Lane::Prewarm => self.prewarm_percent,
            Lane::Example => self.example_percent,
            Lane::Anew | Lane::FirstLoad | Lane::Interactive => 100,
        }
    }
}

/// The budget of today (UTC).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    pub day: String,
    pub microusd_per_day: i64,
    pub reserved_microusd: i64,
    pub settled_microusd: i64,
    pub reset_at_ms: i64,
}

impl Budget {
    /// What the day comes to if it goes on as it has so far.
    pub fn forecast_microusd(&self, now: UnixMs) -> i64 {
        let gone_ms = (now.0 - (self.reset_at_ms - DAY_MS)).clamp(FORECAST_AFTER_MS, DAY_MS);
        let spent = i128::from(self.reserved_microusd + self.settled_microusd);
        (spent * i128::from(DAY_MS) / i128::from(gone_ms)) as i64
    }

    /// How much of it is reserved or spent, in whole percent; 100 where there is none.
    pub fn percent(&self) -> i64 {
        let used = self.reserved_microusd + self.settled_microusd;
        if self.microusd_per_day > 0 { used.saturating_mul(100) / self.microusd_per_day } else { 100 }
    }
}

impl Renders {
    pub async fn budget(&self) -> Result<Budget, sqlx::Error> {
        let (day, reset_at_ms) = day_of(self.0.clock.now());
        let pool = &self.0.database.readers;
        let limit = sqlx::query("select microusd_per_day from budget where id = 1").fetch_optional(pool).await?;
        let spent = sqlx::query("select reserved_microusd, settled_microusd from budget_days where day = $1")
            .bind(&day)
            .fetch_optional(pool)
            .await?;
        let (reserved_microusd, settled_microusd) = match spent {
            Some(row) => (row.try_get(0)?, row.try_get(1)?),
            None => (0, 0),
        };
        Ok(Budget {
            day,
            microusd_per_day: limit.map_or(Ok(self.settings().daily_budget_microusd), |row| row.try_get(0))?,
            reserved_microusd,
            settled_microusd,
            reset_at_ms,
        })
    }

    /// Sets the daily budget from now on. 0 stops cold renders at once, also those already queued.
    pub async fn set_budget(&self, microusd_per_day: i64) -> Result<(), sqlx::Error> {
        self.0.database.write(sqlx::query(
            "insert into budget (id, microusd_per_day, set_at_ms) values (1, $1, $2)
             on conflict (id) do update set microusd_per_day = excluded.microusd_per_day, set_at_ms = excluded.set_at_ms",
        )
        .bind(microusd_per_day)
        .bind(self.0.clock.now().0)
        ).await?;
        // Jobs held back by a budget of 0 can go on.
        self.0.signals.give(Signal::Anew);
        Ok(())
    }

    /// Reserves the expected cost of a cold render, while it stays within the shares of lane and account and within `percent` of the budget.
    /// Returns the day it counts for and the cost.
    pub(super) async fn reserve(
        &self,
        tx: &mut Tx<'_>,
        asker: &Asker,
        percent: i64,
    ) -> Result<(String, i64), RenderError> {
        let (day, reset_at_ms) = day_of(self.0.clock.now());
        let (rules, cost) = (&self.settings().rules, self.render_cost_microusd());
        let percent = percent.min(rules.percent_of(asker.lane));
        if !self.grow(tx, &day, cost, percent).await? {
            // Spent, or the day has no row yet. Of two that find none at once, the second's `begin_day` does nothing.
            begin_day(tx, &day).await?;
            if !self.grow(tx, &day, cost, percent).await? {
                return Err(RenderError::BudgetSpent { reset_at_ms, of_account: false });
            }
        }
        // The day's row is locked: nobody else adds to the account's share meanwhile.
        if rules.account_percent < 100
            && !asker.account_id.is_empty()
            && !self.is_within_share(tx, &day, asker, cost).await?
        {
            return Err(RenderError::BudgetSpent { reset_at_ms, of_account: true });
        }
        Ok((day, cost))
    }

    /// Whether what the budget holds for a job may count for the asker's account instead of the one that it counts for.
    pub(super) async fn may_take_over(
        &self,
        tx: &mut Tx<'_>,
        job_id: &str,
        asker: &Asker,
    ) -> Result<bool, sqlx::Error> {
        if self.settings().rules.account_percent >= 100 || asker.account_id.is_empty() {
            return Ok(true);
        }
        let row = sqlx::query("select budget_day, cost_microusd, account_id from jobs where id = $1")
            .bind(job_id)
            .fetch_one(&mut **tx)
            .await?;
        let (day, cost): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
        if cost == 0 || row.try_get::<&str, _>(2)? == asker.account_id {
            return Ok(true);
        }
        // Locks the day's row: nobody else adds to the account's share meanwhile.
        let locking = "update budget_days set reserved_microusd = reserved_microusd where day = $1";
        sqlx::query(locking).bind(&day).execute(&mut **tx).await?;
        self.is_within_share(tx, &day, asker, cost).await
    }

    async fn is_within_share(&self, tx: &mut Tx<'_>, day: &str, asker: &Asker, cost: i64) -> Result<bool, sqlx::Error> {
        let row = sqlx::query(
            "select cast(coalesce(sum(cost_microusd), 0) as bigint),
                    coalesce((select microusd_per_day from budget where id = 1), $1)
             from jobs where budget_day = $2 and account_id = $3",
        )
        .bind(self.settings().daily_budget_microusd)
        .bind(day)
        .bind(&asker.account_id)
        .fetch_one(&mut **tx)
        .await?;
        let (used, limit): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        Ok(i128::from(used + cost) * 100 <= i128::from(limit) * i128::from(self.settings().rules.account_percent))
    }

    /// Reserves so much more of a day by a guarded update. `false`: it would pass `percent` of its budget.
    pub(super) async fn grow(
        &self,
        tx: &mut Tx<'_>,
        day: &str,
        microusd: i64,
        percent: i64,
    ) -> Result<bool, sqlx::Error> {
        let grown = sqlx::query(
            "update budget_days set reserved_microusd = reserved_microusd + $1
             where day = $2
                and (reserved_microusd + settled_microusd + $1) * 100
                    <= coalesce((select microusd_per_day from budget where id = 1), $3) * $4
                and coalesce((select microusd_per_day from budget where id = 1), $3) > 0",
        )
        .bind(microusd)
        .bind(day)
        .bind(self.settings().daily_budget_microusd)
        .bind(percent)
        .execute(&mut **tx)
        .await?;
        Ok(grown.rows_affected() == 1)
    }

    /// Whether more is reserved and spent than the day may have: an operator who lowers the budget makes it so, and a render that took longer
    /// than could be covered.
    pub(super) async fn is_passed(&self, tx: &mut Tx<'_>, day: &str) -> Result<bool, sqlx::Error> {
        let row = sqlx::query(
            "select 1 from budget_days where day = $1
                and reserved_microusd + settled_microusd > coalesce((select microusd_per_day from budget where id = 1), $2)",
        )
        .bind(day)
        .bind(self.settings().daily_budget_microusd)
        .fetch_optional(&mut **tx)
        .await?;
        Ok(row.is_some())
    }
}

async fn begin_day(tx: &mut Tx<'_>, day: &str) -> Result<(), sqlx::Error> {
    let sql =
        "insert into budget_days (day, reserved_microusd, settled_microusd) values ($1, 0, 0) on conflict do nothing";
    sqlx::query(sql).bind(day).execute(&mut **tx).await?;
    Ok(())
}

/// Of what was reserved for a job, `settled_microusd` are spent and the rest is free again.
pub(super) async fn settle(
    tx: &mut Tx<'_>,
    day: &str,
    reserved_microusd: i64,
    settled_microusd: i64,
) -> Result<(), sqlx::Error> {
    let sql = "update budget_days set reserved_microusd = reserved_microusd - $1, settled_microusd = settled_microusd + $2 where day = $3";
    sqlx::query(sql).bind(reserved_microusd).bind(settled_microusd).bind(day).execute(&mut **tx).await?;
    Ok(())
}

/// The UTC day of a moment, and when it ends.
pub(super) fn day_of(now: UnixMs) -> (String, i64) {
    (now.utc_day(), now.0 - now.0.rem_euclid(DAY_MS) + DAY_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_utc_days() {
        for (now, day, reset) in [
            (0, "1970-01-01", 86_400_000),
            (86_399_999, "1970-01-01", 86_400_000),
            (86_400_000, "1970-01-02", 172_800_000),
            (1_795_219_200_000, "2026-11-21", 1_795_305_600_000),
        ] {
            assert_eq!(day_of(UnixMs(now)), (day.to_owned(), reset), "{now}");
        }
    }
}

//! What a day of cold renders may cost: reserved when a job is queued, settled when it has run. Only what taking in a
//! result that came in time costs may go above the day's limit (`queue::lease`).

use crate::clock::{DAY_MS, UnixMs};
use crate::db::Tx;
use crate::ledger;
use crate::renders::lane::Asker;
use crate::renders::rules::Share;
use crate::renders::signals::Signal;
use crate::renders::{RenderError, Renders, Settings};
use sqlx::Row;

/// Kind of the failure of a job that was ended for want of budget.
pub const BUDGET_SPENT: &str = "budget";

/// How fast a day has gone so far tells little in its first minutes.
const FORECAST_AFTER_MS: i64 = 600_000;

/// What is reserved for a cold render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reserved {
    pub day: String,
    pub cost_microusd: i64,
    /// It is of the share of accounts that have only had free credits.
    pub of_free_account: bool,
}

impl Reserved {
    /// For work that costs nothing.
    pub fn nothing() -> Self {
        Reserved { day: String::new(), cost_microusd: 0, of_free_account: false }
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
}

/// Reserves `cost`, what a cold render is expected to cost in millionths of a US dollar, while it stays within the
/// shares of lane and account and within `percent` of the budget.
pub async fn reserve(
    tx: &mut Tx<'_>,
    settings: &Settings,
    now: UnixMs,
    asker: &Asker,
    cost: i64,
    percent: i64,
) -> Result<Reserved, RenderError> {
    let (day, reset_at_ms) = day_of(now);
    let rules = &settings.rules;
    let spent = |share| RenderError::BudgetSpent { reset_at_ms, share };
    let percent = percent.min(rules.percent_of(asker.lane));
    if !grow(tx, settings, &day, cost, percent).await? {
        // Spent, or the day has no row yet. Of two that find none at once, the second's `begin_day` does nothing.
        begin_day(tx, &day).await?;
        if !grow(tx, settings, &day, cost, percent).await? {
            return Err(spent(Share::Day));
        }
    }
    // The day's row is locked: nobody else adds to the shares meanwhile.
    match share_left(tx, settings, &day, asker, cost).await? {
        Ok(of_free_account) => Ok(Reserved { day, cost_microusd: cost, of_free_account }),
        Err(share) => Err(spent(share)),
    }
}

/// Whether what the budget holds for a job may count for the asker's account instead of the one that it counts for;
/// then whether it is one that has only had free credits.
pub async fn may_take_over(
    tx: &mut Tx<'_>,
    settings: &Settings,
    job_id: &str,
    asker: &Asker,
) -> Result<Option<bool>, sqlx::Error> {
    if asker.account_id.is_empty() {
        return Ok(Some(false));
    }
    let rules = &settings.rules;
    if rules.account_percent >= 100 {
        let of_free_account = ledger::has_only_free_credits(tx, &asker.account_id).await?;
        if !of_free_account || rules.free_percent >= 100 {
            return Ok(Some(of_free_account));
        }
    }
    let row = sqlx::query("select budget_day, cost_microusd, account_id, of_free_account from jobs where id = $1")
        .bind(job_id)
        .fetch_one(&mut **tx)
        .await?;
    let (day, cost): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
    if cost == 0 || row.try_get::<&str, _>(2)? == asker.account_id {
        return Ok(Some(row.try_get::<i64, _>(3)? == 1));
    }
    // Locks the day's row: nobody else adds to the shares meanwhile.
    let locking = "update budget_days set reserved_microusd = reserved_microusd where day = $1";
    sqlx::query(locking).bind(&day).execute(&mut **tx).await?;
    let left = share_left(tx, settings, &day, asker, cost).await?;
    Ok(left.ok())
}

/// Whether so much more fits into the share of the asker's account, and into that of all accounts that have only had
/// free credits if it is one of them, which is told. `Err`: the share that it does not fit into.
async fn share_left(
    tx: &mut Tx<'_>,
    settings: &Settings,
    day: &str,
    asker: &Asker,
    cost: i64,
) -> Result<Result<bool, Share>, sqlx::Error> {
    let rules = &settings.rules;
    if asker.account_id.is_empty() {
        return Ok(Ok(false));
    }
    let of_account = "account_id = $3";
    if rules.account_percent < 100 && !fits(tx, settings, day, (of_account, asker), cost, rules.account_percent).await?
    {
        return Ok(Err(Share::Account));
    }
    if !ledger::has_only_free_credits(tx, &asker.account_id).await? {
        return Ok(Ok(false));
    }
    let of_free = "of_free_account = 1 and $3 <> ''";
    if rules.free_percent < 100 && !fits(tx, settings, day, (of_free, asker), cost, rules.free_percent).await? {
        return Ok(Err(Share::FreeAccounts));
    }
    Ok(Ok(true))
}

/// Whether the day's jobs that a condition on them holds for (`$3` is the asker's account) leave room for so much
/// more within `percent` of the budget.
async fn fits(
    tx: &mut Tx<'_>,
    settings: &Settings,
    day: &str,
    (jobs, asker): (&'static str, &Asker),
    cost: i64,
    percent: i64,
) -> Result<bool, sqlx::Error> {
    let sql = format!(
        "select cast(coalesce(sum(cost_microusd), 0) as bigint),
                coalesce((select microusd_per_day from budget where id = 1), $1)
         from jobs where budget_day = $2 and {jobs}"
    );
    let row = sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(settings.daily_budget_microusd)
        .bind(day)
        .bind(&asker.account_id)
        .fetch_one(&mut **tx)
        .await?;
    let (used, limit): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    Ok(i128::from(used + cost) * 100 <= i128::from(limit) * i128::from(percent))
}

/// Reserves so much more of a day by a guarded update. `false`: it would pass `percent` of its budget.
pub async fn grow(
    tx: &mut Tx<'_>,
    settings: &Settings,
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
    .bind(settings.daily_budget_microusd)
    .bind(percent)
    .execute(&mut **tx)
    .await?;
    Ok(grown.rows_affected() == 1)
}

/// Whether more is reserved and spent than the day may have: an operator who lowers the budget makes it so, and a render that took longer
/// than could be covered.
pub async fn is_passed(tx: &mut Tx<'_>, settings: &Settings, day: &str) -> Result<bool, sqlx::Error> {
    let row = sqlx::query(
        "select 1 from budget_days where day = $1
            and reserved_microusd + settled_microusd > coalesce((select microusd_per_day from budget where id = 1), $2)",
    )
    .bind(day)
    .bind(settings.daily_budget_microusd)
    .fetch_optional(&mut **tx)
    .await?;
    Ok(row.is_some())
}

async fn begin_day(tx: &mut Tx<'_>, day: &str) -> Result<(), sqlx::Error> {
    let sql =
        "insert into budget_days (day, reserved_microusd, settled_microusd) values ($1, 0, 0) on conflict do nothing";
    sqlx::query(sql).bind(day).execute(&mut **tx).await?;
    Ok(())
}

/// Of what was reserved for a job, `settled_microusd` are spent and the rest is free again.
pub async fn settle(
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
pub fn day_of(now: UnixMs) -> (String, i64) {
    (now.utc_day(), now.utc_day_end().0)
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

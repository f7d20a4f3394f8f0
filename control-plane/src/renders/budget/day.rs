//! The budget of a day for cold renders: an amount is reserved when a job is queued and settled
//! when it has run. Only the cost of accepting a result that came in time may exceed the day's
//! limit (`queue::lease`).

use crate::clock::{DAY_MS, UnixMs};
use crate::db::Tx;
use crate::ledger;
use crate::renders::lane::Requester;
use crate::renders::rules::BudgetScope;
use crate::renders::signals::Signal;
use crate::renders::{RenderError, RenderSettings, Renders};
use sqlx::Row;

/// Kind of the failure of a job that was ended because the budget did not cover it.
pub const BUDGET_SPENT: &str = "budget";

/// Minimum time that a forecast assumes to have passed of the day, in milliseconds: the spend of
/// the first minutes says little about the day.
const FORECAST_AFTER_MS: i64 = 600_000;

/// The reservation for a cold render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    pub day: String,
    pub cost_microusd: i64,
    /// True if it counts against the limit of accounts that have only had free credits.
    pub of_free_account: bool,
}

impl Reservation {
    /// Returns the reservation for work that costs nothing.
    pub fn nothing() -> Self {
        Reservation { day: String::new(), cost_microusd: 0, of_free_account: false }
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
    /// Returns the spend of the whole day if it goes on at its present rate, in millionths of a US
    /// dollar.
    pub fn forecast_microusd(&self, now: UnixMs) -> i64 {
        let gone_ms = (now.0 - (self.reset_at_ms - DAY_MS)).clamp(FORECAST_AFTER_MS, DAY_MS);
        let spent = i128::from(self.reserved_microusd + self.settled_microusd);
        (spent * i128::from(DAY_MS) / i128::from(gone_ms)) as i64
    }

    /// Returns how much of the budget is reserved or spent, in whole percent; 100 where the budget
    /// is 0.
    pub fn percent(&self) -> i64 {
        let used = self.reserved_microusd + self.settled_microusd;
        if self.microusd_per_day > 0 { used.saturating_mul(100) / self.microusd_per_day } else { 100 }
    }
}

impl Renders {
    /// Returns the budget of today, with the amounts that are reserved and settled.
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

/// Reserves `cost`, the expected cost of a cold render in millionths of a US dollar. Fails with
/// [`RenderError::BudgetSpent`] if the reservation would exceed the limits of lane or account, or
/// `percent` of the budget.
pub async fn reserve(
    tx: &mut Tx<'_>,
    settings: &RenderSettings,
    now: UnixMs,
    requester: &Requester,
    cost: i64,
    percent: i64,
) -> Result<Reservation, RenderError> {
    let (day, reset_at_ms) = day_of(now);
    let rules = &settings.rules;
    let spent = |scope| RenderError::BudgetSpent { reset_at_ms, scope };
    let percent = percent.min(rules.percent_of(requester.lane));
    if !grow(tx, settings, &day, cost, percent).await? {
        // The budget is spent, or the day has no row yet. Of two transactions that find no row at
        // once, the second one's `begin_day` does nothing.
        begin_day(tx, &day).await?;
        if !grow(tx, settings, &day, cost, percent).await? {
            return Err(spent(BudgetScope::Day));
        }
    }
    // The day's row is locked, so no other transaction adds to the amounts meanwhile.
    match ratio_left(tx, settings, &day, requester, cost).await? {
        Ok(of_free_account) => Ok(Reservation { day, cost_microusd: cost, of_free_account }),
        Err(scope) => Err(spent(scope)),
    }
}

/// Checks if the amount that the budget reserves for a job may count against the requester's
/// account instead of the present one. Returns `None` if it may not. Otherwise returns true if the
/// requester's account has only had free credits.
pub async fn may_take_over(
    tx: &mut Tx<'_>,
    settings: &RenderSettings,
    job_id: &str,
    requester: &Requester,
) -> Result<Option<bool>, sqlx::Error> {
    if requester.account_id.is_empty() {
        return Ok(Some(false));
    }
    let rules = &settings.rules;
    if rules.account_percent >= 100 {
        let of_free_account = ledger::has_only_free_credits(tx, &requester.account_id).await?;
        if !of_free_account || rules.free_percent >= 100 {
            return Ok(Some(of_free_account));
        }
    }
    let row = sqlx::query("select budget_day, cost_microusd, account_id, of_free_account from jobs where id = $1")
        .bind(job_id)
        .fetch_one(&mut **tx)
        .await?;
    let (day, cost): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
    if cost == 0 || row.try_get::<&str, _>(2)? == requester.account_id {
        return Ok(Some(row.try_get::<i64, _>(3)? == 1));
    }
    // Locks the day's row, so that no other transaction adds to the amounts meanwhile.
    let locking = "update budget_days set reserved_microusd = reserved_microusd where day = $1";
    sqlx::query(locking).bind(&day).execute(&mut **tx).await?;
    let left = ratio_left(tx, settings, &day, requester, cost).await?;
    Ok(left.ok())
}

/// Checks if `cost` more stays within the limit of the requester's account, and within that of all
/// accounts that have only had free credits if the account is one of them. Returns true inside `Ok`
/// if it is one, and the exceeded limit inside `Err`.
async fn ratio_left(
    tx: &mut Tx<'_>,
    settings: &RenderSettings,
    day: &str,
    requester: &Requester,
    cost: i64,
) -> Result<Result<bool, BudgetScope>, sqlx::Error> {
    let rules = &settings.rules;
    if requester.account_id.is_empty() {
        return Ok(Ok(false));
    }
    let of_account = "account_id = $3";
    if rules.account_percent < 100
        && !fits(tx, settings, day, (of_account, requester), cost, rules.account_percent).await?
    {
        return Ok(Err(BudgetScope::Account));
    }
    if !ledger::has_only_free_credits(tx, &requester.account_id).await? {
        return Ok(Ok(false));
    }
    let of_free = "of_free_account = 1 and $3 <> ''";
    if rules.free_percent < 100 && !fits(tx, settings, day, (of_free, requester), cost, rules.free_percent).await? {
        return Ok(Err(BudgetScope::FreeAccounts));
    }
    Ok(Ok(true))
}

/// True if `cost` more stays within `percent` of the budget, together with the day's jobs that meet
/// the condition `jobs` (in which `$3` is the requester's account).
async fn fits(
    tx: &mut Tx<'_>,
    settings: &RenderSettings,
    day: &str,
    (jobs, requester): (&'static str, &Requester),
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
        .bind(&requester.account_id)
        .fetch_one(&mut **tx)
        .await?;
    let (used, limit): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    Ok(i128::from(used + cost) * 100 <= i128::from(limit) * i128::from(percent))
}

/// Reserves `microusd` more of a day by a guarded update. Returns false if that would exceed
/// `percent` of the day's budget.
pub async fn grow(
    tx: &mut Tx<'_>,
    settings: &RenderSettings,
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

/// True if more is reserved and spent than the day's budget. The causes are an operator who lowered
/// the budget, and a render that took longer than could be covered.
pub async fn is_passed(tx: &mut Tx<'_>, settings: &RenderSettings, day: &str) -> Result<bool, sqlx::Error> {
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

/// Settles a job's reservation: `settled_microusd` of it are spent, and the rest is free again.
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

/// Returns the UTC day of a moment, and its end in Unix milliseconds.
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

//! What a day of cold renders may cost: reserved when a job is queued, settled when it has run, never above the day's limit.

use super::{RenderError, Renders};
use crate::clock::{DAY_MS, UnixMs};
use crate::db::Tx;
use sqlx::Row;

/// The budget of today (UTC).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    pub day: String,
    pub microusd_per_day: i64,
    pub reserved_microusd: i64,
    pub settled_microusd: i64,
    pub reset_at_ms: i64,
}

impl Renders {
    pub async fn budget(&self) -> Result<Budget, sqlx::Error> {
        let (day, reset_at_ms) = day_of(self.0.clock.now());
        let pool = &self.0.database.pool;
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
        self.0.queued.notify_waiters();
        Ok(())
    }

    /// Reserves the cost of a cold render, by a guarded update, while it stays within a share of the budget. Returns the day it counts for.
    pub(super) async fn reserve(&self, tx: &mut Tx<'_>, percent: i64) -> Result<String, RenderError> {
        let (day, reset_at_ms) = day_of(self.0.clock.now());
        sqlx::query("insert into budget_days (day, reserved_microusd, settled_microusd) values ($1, 0, 0) on conflict do nothing")
            .bind(&day)
            .execute(&mut **tx)
            .await?;
        let reserved = sqlx::query(
            "update budget_days set reserved_microusd = reserved_microusd + $1
             where day = $2
                and (reserved_microusd + settled_microusd + $1) * 100
                    <= coalesce((select microusd_per_day from budget where id = 1), $3) * $4
                and coalesce((select microusd_per_day from budget where id = 1), $3) > 0",
        )
        .bind(self.settings().render_cost_microusd)
        .bind(&day)
        .bind(self.settings().daily_budget_microusd)
        .bind(percent)
        .execute(&mut **tx)
        .await?;
        match reserved.rows_affected() {
            1 => Ok(day),
            _ => Err(RenderError::BudgetSpent { reset_at_ms }),
        }
    }
}

/// The job has run: what was reserved for it is spent.
pub(super) async fn settle(tx: &mut Tx<'_>, day: &str, microusd: i64) -> Result<(), sqlx::Error> {
    let sql = "update budget_days set reserved_microusd = reserved_microusd - $1, settled_microusd = settled_microusd + $1 where day = $2";
    sqlx::query(sql).bind(microusd).bind(day).execute(&mut **tx).await?;
    Ok(())
}

/// The job never ran: what was reserved for it is free again.
pub(super) async fn free(tx: &mut Tx<'_>, day: &str, microusd: i64) -> Result<(), sqlx::Error> {
    let sql = "update budget_days set reserved_microusd = reserved_microusd - $1 where day = $2";
    sqlx::query(sql).bind(microusd).bind(day).execute(&mut **tx).await?;
    Ok(())
}

/// The UTC day of a moment, and when it ends.
fn day_of(now: UnixMs) -> (String, i64) {
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

//! The cost of a render by the clock of a node that has a price, and the rule that the budget
//! reserves enough for it at every moment.
//!
//! Before an attempt begins, and with each renewal of its lease, the job's reservation covers the
//! lease to its end. An attempt that the budget cannot cover any further is ended. So is a running
//! one once a lowered budget is passed, if `budget_at_limit` is `stop`. So the amount that is
//! settled afterwards was reserved before, and the day's budget is not exceeded. There is one
//! exception: a result that came in time, but took so long to be accepted that its lease was
//! renewed. The cost of that time is booked even where the budget does not cover it, and a warning
//! is logged.
//!
//! Why: `docs/decisions/budget.md` (When the budget reserves money for a render).

use super::day::{self, BUDGET_SPENT};
use crate::clock::UnixMs;
use crate::db::Tx;
use crate::renders::{RenderSettings, Renders};
use sqlx::Row;

const HOUR_MS: i64 = 3_600_000;

/// Number of the last cold renders on nodes with a price from which the expected cost of the next
/// one is computed.
const RENDERS_MEASURED: i64 = 50;

/// Returns the price of a slot for `ms` milliseconds, rounded up to whole millionths of a US
/// dollar.
pub fn microusd(rate_microusd_per_hour: i64, ms: i64) -> i64 {
    let product = i128::from(rate_microusd_per_hour) * i128::from(ms.max(0));
    i64::try_from((product + i128::from(HOUR_MS) - 1) / i128::from(HOUR_MS)).unwrap_or(i64::MAX)
}

/// SQL expression for the job's cost so far, including [`microusd`] of the attempt that ends at
/// `$1`. The attempt adds 0 on a node without a price. It ends with its lease at the latest,
/// however much later its end is noticed.
pub const SPENT_NOW: &str =
    "spent_microusd + case when rate_microusd_per_hour is null or leased_at_ms is null or leased_at_ms > $1 then 0
    else ((case when lease_until_ms < cast($1 as bigint) then lease_until_ms else cast($1 as bigint) end - leased_at_ms)
        * rate_microusd_per_hour + 3599999) / 3600000 end";

/// The amount that the budget has to reserve for a job.
pub struct CostCover<'a> {
    pub job_id: &'a str,
    pub budget_day: &'a str,
    /// The amount reserved so far.
    pub cost_microusd: i64,
    pub needed_microusd: i64,
}

impl Renders {
    /// Returns the expected cost of one cold render in millionths of a US dollar: the mean of the
    /// last ones on nodes with a price, or the configured cost if there are none.
    pub fn render_cost_microusd(&self) -> i64 {
        let measured = *self.0.mean_cost_microusd.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        measured.unwrap_or(self.settings().render_cost_microusd)
    }

    /// Measures the mean cost of the last cold renders on nodes with a price.
    pub(in crate::renders) async fn measure_cost(&self) -> Result<(), sqlx::Error> {
        let row = sqlx::query(
            "select count(*), cast(coalesce(sum(cost_microusd), 0) as bigint) from (
                 select cost_microusd from jobs where state = 'done' and kind = 'render' and rate_microusd_per_hour is not null
                 order by ended_at_ms desc limit $1) latest",
        )
        .bind(RENDERS_MEASURED)
        .fetch_one(&self.0.database.readers)
        .await?;
        let (renders, sum): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        let mean = (renders > 0).then(|| (sum + renders - 1) / renders);
        *self.0.mean_cost_microusd.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = mean;
        Ok(())
    }
}

/// Raises the amount that the budget reserves for a job to the amount that it needs. Returns false
/// if the budget has not that much left.
pub async fn cover(tx: &mut Tx<'_>, settings: &RenderSettings, job: CostCover<'_>) -> Result<bool, sqlx::Error> {
    let missing = job.needed_microusd - job.cost_microusd;
    if missing <= 0 {
        return Ok(true);
    }
    if !day::grow(tx, settings, job.budget_day, missing, 100).await? {
        return Ok(false);
    }
    sqlx::query("update jobs set cost_microusd = $1 where id = $2")
        .bind(job.needed_microusd)
        .bind(job.job_id)
        .execute(&mut **tx)
        .await?;
    Ok(true)
}

/// Returns the price of one of a node's slots, rounded up to whole millionths of a US dollar per
/// hour.
pub fn rate_of_slot(microusd_per_hour: Option<i64>, slots: i64) -> Option<i64> {
    microusd_per_hour.map(|price| (price + slots.max(1) - 1) / slots.max(1))
}

/// Returns the time at which the day's budget is renewed, in Unix milliseconds, if `kind` says that
/// a job failed because the budget was spent.
pub fn reset_of(kind: &str, now: UnixMs) -> Option<i64> {
    (kind == BUDGET_SPENT).then(|| day::day_of(now).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_money_rounded_up() {
        for (rate, ms, expected) in [
            (3_600_000, 1_000, 1_000),
            (3_600_000, 0, 0),
            (3_600_000, -5, 0),
            (1, 1, 1),
            (2_500_000, 2_000, 1_389),
            (i64::MAX, i64::MAX, i64::MAX),
        ] {
            assert_eq!(microusd(rate, ms), expected, "{rate} {ms}");
        }
        assert_eq!(rate_of_slot(Some(5), 2), Some(3));
        assert_eq!(rate_of_slot(None, 2), None);
    }
}

//! What a render costs by the clock of a node that has a price, and that the budget holds enough for it at every moment.
//!
//! Before an attempt begins, and with each renewal of its lease, the job's reservation covers the lease to its end. An attempt that the
//! budget cannot cover any further is ended. So what is settled afterwards was reserved before, and the day's budget is not passed. There is one
//! exception: a result that came in time, but took so long to be accepted that its lease was renewed. What that cost is booked even where the
//! budget does not cover it, and a warning is logged.

use super::Renders;
use super::budget::{self, BUDGET_SPENT};
use super::lease::{Ended, unwanted};
use crate::clock::UnixMs;
use crate::db::Tx;
use crate::plain_text;
use cyclorama_core::wire::JobProgress;
use sqlx::Row;
use sqlx::any::AnyRow;

const HOUR_MS: i64 = 3_600_000;

/// Of the last cold renders on nodes with a price, those whose costs say what the next one will cost.
const RENDERS_MEASURED: i64 = 50;

/// A lease is renewed for no longer than this in all: a node whose engine hangs while its heart beats would keep a job for ever.
pub(super) const LEASE_MS_MAX: i64 = 15 * 60_000;

/// What is done with running renders that a lowered budget no longer covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AtLimit {
    /// They are finished.
    Finish,
    /// They are ended, with everybody who waits for them.
    Stop,
}

/// A slot's price for so long, rounded up to whole millionths.
pub(super) fn microusd(rate_microusd_per_hour: i64, ms: i64) -> i64 {
    let product = i128::from(rate_microusd_per_hour) * i128::from(ms.max(0));
    i64::try_from((product + i128::from(HOUR_MS) - 1) / i128::from(HOUR_MS)).unwrap_or(i64::MAX)
}

/// [`microusd`] of the attempt that ends at `$1`, in SQL; 0 on a node without a price. It ends with its lease at the latest, however much later
/// that is found out.
pub(super) const SPENT_NOW: &str =
    "spent_microusd + case when rate_microusd_per_hour is null or leased_at_ms is null or leased_at_ms > $1 then 0
    else ((case when lease_until_ms < cast($1 as bigint) then lease_until_ms else cast($1 as bigint) end - leased_at_ms)
        * rate_microusd_per_hour + 3599999) / 3600000 end";

/// What the budget has to hold for a job.
pub(super) struct Covered<'a> {
    pub job_id: &'a str,
    pub budget_day: &'a str,
    /// Held so far.
    pub cost_microusd: i64,
    pub needed_microusd: i64,
}

impl Renders {
    /// What one cold render is expected to cost, in millionths of a US dollar: the mean of the last ones on nodes with a price, or as the
    /// settings say.
    pub fn render_cost_microusd(&self) -> i64 {
        let measured = *self.0.mean_cost_microusd.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        measured.unwrap_or(self.settings().render_cost_microusd)
    }

    pub(super) async fn measure_cost(&self) -> Result<(), sqlx::Error> {
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

    /// Raises what the budget holds for a job to what it needs. `false`: there is not as much left.
    pub(super) async fn cover(&self, tx: &mut Tx<'_>, job: Covered<'_>) -> Result<bool, sqlx::Error> {
        let missing = job.needed_microusd - job.cost_microusd;
        if missing <= 0 {
            return Ok(true);
        }
        if !self.grow(tx, job.budget_day, missing, 100).await? {
            return Ok(false);
        }
        sqlx::query("update jobs set cost_microusd = $1 where id = $2")
            .bind(job.needed_microusd)
            .bind(job.job_id)
            .execute(&mut **tx)
            .await?;
        Ok(true)
    }

    /// Has the budget hold what a lease costs that was renewed for its result to be taken in. Where there is not as much left, the render is
    /// made all the same, and what it cost is booked when it is recorded.
    pub(super) async fn cover_result(
        &self,
        tx: &mut Tx<'_>,
        job_id: &str,
        renewed: &AnyRow,
    ) -> Result<(), sqlx::Error> {
        let (rate, cost_microusd): (Option<i64>, i64) =
            (renewed.try_get("rate_microusd_per_hour")?, renewed.try_get("cost_microusd")?);
        let Some(rate) = rate.filter(|_| cost_microusd > 0) else { return Ok(()) };
        let leased_ms: i64 =
            renewed.try_get::<i64, _>("lease_until_ms")? - renewed.try_get::<i64, _>("leased_at_ms")?;
        let needed_microusd = renewed.try_get::<i64, _>("spent_microusd")? + microusd(rate, leased_ms);
        let budget_day: String = renewed.try_get("budget_day")?;
        let covered = Covered { job_id, budget_day: &budget_day, cost_microusd, needed_microusd };
        if !self.cover(tx, covered).await? {
            tracing::warn!(job_id, needed_microusd, "the day's budget does not cover the time that a result takes");
        }
        Ok(())
    }

    /// Renews the leases a node reports, of jobs that are still wanted. Returns the jobs it holds no lease of any more.
    pub(super) async fn renew(&self, node_id: &str, jobs: &[JobProgress]) -> Result<Vec<String>, sqlx::Error> {
        let mut cancel = Vec::new();
        for job in jobs {
            if !self.renew_one(node_id, job).await? {
                cancel.push(job.job_id.clone());
            }
        }
        Ok(cancel)
    }

    async fn renew_one(&self, node_id: &str, job: &JobProgress) -> Result<bool, sqlx::Error> {
        let now = self.0.clock.now();
        let until_ms = self.lease_until_ms(now);
        let mut tx = self.0.database.begin().await?;
        let row = sqlx::query(sqlx::AssertSqlSafe(format!(
            "update jobs set lease_until_ms = $1, stage = $2, progress = $3
             where id = $4 and fence = $5 and node_id = $6 and state = 'leased' and leased_at_ms > $7 and not {}
             returning leased_at_ms, rate_microusd_per_hour, spent_microusd, cost_microusd, budget_day",
            unwanted("$8")
        )))
        .bind(until_ms)
        .bind(plain_text::readable(&job.stage, 80))
        .bind(f64::from(job.progress))
        .bind(&job.job_id)
        .bind(job.fence)
        .bind(node_id)
        .bind(now.0 - LEASE_MS_MAX)
        .bind(now.0)
        .fetch_optional(&mut *tx)
        .await?;
        let Some(row) = row else {
            let lapsed = self.lapse(&mut tx, &job.job_id, Some((job.fence, node_id))).await?;
            tx.commit().await?;
            if let Some(lapsed) = lapsed {
                tracing::info!(
                    job_id = job.job_id,
                    stage = job.stage,
                    "a render was given up: nobody waits for it any more"
                );
                self.attempt_ended(&job.job_id, job.fence, &lapsed);
            }
            return Ok(false);
        };
        let (rate, cost_microusd): (Option<i64>, i64) =
            (row.try_get("rate_microusd_per_hour")?, row.try_get("cost_microusd")?);
        // Paint jobs cost nothing.
        if cost_microusd > 0 {
            let leased_ms = until_ms - row.try_get::<i64, _>("leased_at_ms")?;
            let spent: i64 = row.try_get("spent_microusd")?;
            let covered = Covered {
                job_id: &job.job_id,
                budget_day: row.try_get("budget_day")?,
                cost_microusd,
                needed_microusd: rate.map_or(cost_microusd, |rate| spent + microusd(rate, leased_ms)),
            };
            let is_cut_short =
                self.settings().rules.at_limit == AtLimit::Stop && self.is_passed(&mut tx, covered.budget_day).await?;
            if is_cut_short || !self.cover(&mut tx, covered).await? {
                let ended = self.end_for_budget(&mut tx, &job.job_id, job.fence).await?;
                tx.commit().await?;
                if let Some(ended) = ended {
                    self.attempt_ended(&job.job_id, job.fence, &ended);
                }
                return Ok(false);
            }
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Ends a leased job that the budget does not cover, with everybody who waits: they are told that the budget is spent.
    pub(super) async fn end_for_budget(
        &self,
        tx: &mut Tx<'_>,
        job_id: &str,
        fence: i64,
    ) -> Result<Option<Ended>, sqlx::Error> {
        tracing::warn!(job_id, fence, "a render was ended: the day's budget does not cover it");
        self.fail_for_good(tx, job_id, fence, BUDGET_SPENT, "the day's budget does not cover it").await
    }
}

impl Ended {
    /// Books what the job came to, and frees the rest of what the budget held for it. A job that never ran costs nothing; on nodes without
    /// a price one that ran costs what was held.
    pub(super) async fn pay(&self, tx: &mut Tx<'_>) -> Result<(), sqlx::Error> {
        if self.cost_microusd == 0 {
            return Ok(());
        }
        let settled = match (self.attempt, self.rate_microusd_per_hour) {
            (0, _) => 0,
            (_, Some(_)) => self.spent_microusd,
            (_, None) => self.cost_microusd,
        };
        if settled > self.cost_microusd {
            let job_id = &self.job_id;
            tracing::warn!(
                job_id,
                settled,
                reserved = self.cost_microusd,
                "a render cost more than the budget held for it"
            );
        }
        budget::settle(tx, &self.budget_day, self.cost_microusd, settled).await?;
        if settled == self.cost_microusd {
            return Ok(());
        }
        sqlx::query("update jobs set cost_microusd = $1 where id = $2")
            .bind(settled)
            .bind(&self.job_id)
            .execute(&mut **tx)
            .await?;
        Ok(())
    }
}

/// Price of one of a node's slots.
pub(super) fn rate_of_slot(microusd_per_hour: Option<i64>, slots: i64) -> Option<i64> {
    microusd_per_hour.map(|price| (price + slots.max(1) - 1) / slots.max(1))
}

/// Whether a wait ended because the budget was spent, and when it is renewed.
pub(super) fn reset_of(kind: &str, now: UnixMs) -> Option<i64> {
    (kind == BUDGET_SPENT).then(|| budget::day_of(now).1)
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

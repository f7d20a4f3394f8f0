//! How fast the farm works, as measured, and what that means for somebody who wants to wait: admission to the queue.

use super::Renders;
use sqlx::Row;
use std::time::Duration;

/// Of the last jobs, those whose times count.
const JOBS_MEASURED: i64 = 50;

/// Older ones tell nothing of the farm as it is.
const MEASURED_WITHIN_MS: i64 = 60 * 60_000;

/// How old a measurement may get.
pub(super) const MEASURED_EVERY: Duration = Duration::from_secs(5);

/// The longest that anybody is told to stay away.
const RETRY_AFTER_SECONDS_MAX: f64 = 600.0;

/// What a client is told where nothing has been measured.
pub(super) const RETRY_AFTER_SECONDS_USUAL: u64 = 15;

/// Leases that are held at once, and how long one takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Of all nodes that are given work.
    pub slots: i64,
    pub seconds_per_job: f64,
}

impl Pace {
    /// Until a picture is there that so many jobs go before: whole rounds of the farm, and its own.
    pub fn seconds_until_done(self, jobs_ahead: i64) -> f64 {
        (jobs_ahead as f64 / self.slots.max(1) as f64 + 1.0) * self.seconds_per_job
    }

    /// `None`: it will be there in time. Else when it would be, if nobody else came meanwhile: whole seconds, at least one.
    pub fn refuse(self, jobs_ahead: i64, wait: Duration) -> Option<u64> {
        let late_seconds = self.seconds_until_done(jobs_ahead) - wait.as_secs_f64();
        (late_seconds > 0.0).then(|| late_seconds.ceil().clamp(1.0, RETRY_AFTER_SECONDS_MAX) as u64)
    }
}

impl Renders {
    /// The farm's pace as last measured; `None`: no node is there, or none has finished anything lately.
    pub fn pace(&self) -> Option<Pace> {
        *self.0.pace.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(super) async fn measure_pace(&self) -> Result<(), sqlx::Error> {
        let now = self.0.clock.now();
        let slots: i64 = sqlx::query(
            "select cast(coalesce(sum(slots), 0) as bigint) from nodes
             where standing = 'active' and reported_state in ('ready', 'busy') and seen_at_ms >= $1",
        )
        .bind(self.silent_since_ms(now))
        .fetch_one(&self.0.database.pool)
        .await?
        .try_get(0)?;
        let row = sqlx::query(
            "select count(*), cast(coalesce(sum(ended_at_ms - leased_at_ms), 0) as bigint) from (
                 select ended_at_ms, leased_at_ms from jobs
                 where state in ('done', 'failed') and ended_at_ms >= $1 and leased_at_ms is not null
                 order by ended_at_ms desc limit $2) latest",
        )
        .bind(now.0 - MEASURED_WITHIN_MS)
        .bind(JOBS_MEASURED)
        .fetch_one(&self.0.database.pool)
        .await?;
        let (jobs, sum_ms): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        let pace = (slots > 0 && jobs > 0)
            .then(|| Pace { slots, seconds_per_job: sum_ms.max(0) as f64 / jobs as f64 / 1000.0 });
        *self.0.pace.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = pace;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_would_wait_too_long_is_told_when_to_come_back() {
        let wait = Duration::from_secs(120);
        for (slots, seconds_per_job, jobs_ahead, refused) in [
            (1, 5.0, 0, None),
            (1, 5.0, 23, None),
            (1, 5.0, 24, Some(5)),
            (1, 5.0, 34, Some(55)),
            (4, 5.0, 92, None),
            (4, 5.0, 93, Some(2)),
            (1, 0.2, 400, None),
            (1, 130.0, 0, Some(10)),
            (1, 5.0, 100_000, Some(600)),
        ] {
            let pace = Pace { slots, seconds_per_job };
            assert_eq!(pace.refuse(jobs_ahead, wait), refused, "{pace:?}, {jobs_ahead} ahead");
        }
    }
}

//! Admission to the queue: checks that there is room for one more job, and that it would be done
//! while its request still waits.
//!
//!
//! Why: `docs/decisions/render-queue.md` (Admission: a request that would wait too long is refused
//! at once).

use super::new_job::next_turn;
use crate::db::Tx;
use crate::renders::lane::{Lane, Requester, WaitingCounts};
use crate::renders::pace::{LaneRates, Pace, RETRY_AFTER_SECONDS_USUAL};
use crate::renders::{RenderError, Renders};
use sqlx::Row;
use std::time::Duration;

/// Interval between two measurements of the farm, so the maximum age of one.
pub const MEASURED_EVERY: Duration = Duration::from_secs(5);

/// Number of the last finished jobs whose times count.
const JOBS_MEASURED: i64 = 50;

/// Maximum age of a finished job whose time counts, in milliseconds: older ones say nothing about
/// the farm as it is.
const MEASURED_WITHIN_MS: i64 = 60 * 60_000;

/// The queue holds as many jobs as the farm does in this many seconds, or its configured number
/// where that is more. With a longer queue, a busy database would count more than it serves.
/// Why: `docs/decisions/render-queue.md` (Length of the queue).
const QUEUE_SECONDS: f64 = 12.0;

/// The prewarm lane keeps as many jobs in the queue as the farm does in this many seconds, which is
/// a little more than it does between two rounds of the feeder (`prewarm::feeder`).
const AHEAD_SECONDS: f64 = 2.0;
/// Minimum for the jobs that the prewarm lane keeps in the queue.
const AHEAD_MIN: i64 = 32;

impl Renders {
    pub(super) fn given(&self) -> std::sync::MutexGuard<'_, LaneRates> {
        self.0.given.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns the `Retry-After` in seconds for a job of this lane with `jobs_ahead` others before
    /// it. Returns `None` if the job would be done in time, or if no request waits for jobs of the
    /// lane.
    fn late(&self, lane: Lane, jobs_ahead: i64) -> Option<u64> {
        let pace = self.pace().filter(|_| lane.is_waited_for())?;
        let above = self.given().above(lane, self.0.clock.now());
        pace.refuse(jobs_ahead, above, self.settings().render_wait)
    }

    /// Returns the farm's pace as last measured, or `None` if there is no node or none has finished
    /// a job lately.
    pub fn pace(&self) -> Option<Pace> {
        *self.0.pace.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns how many jobs may wait in the queue: more on a faster farm.
    fn queue_max(&self) -> i64 {
        let within = self.pace().map_or(0.0, |pace| pace.jobs_within(QUEUE_SECONDS));
        self.settings().queue_max.max(within as i64)
    }

    /// Returns how many rows of prewarming are kept in the queue: enough to keep a farm busy
    /// between two rounds of the feeder, and few enough that a pause of prewarming takes effect
    /// soon.
    pub fn ahead_max(&self) -> i64 {
        let within = self.pace().map_or(0.0, |pace| pace.jobs_within(AHEAD_SECONDS));
        AHEAD_MIN.max(within as i64).min(Lane::Prewarm.waiting_max(self.queue_max()))
    }

    /// Measures the farm's pace from the nodes that may take jobs and from the last finished jobs.
    pub async fn measure_pace(&self) -> Result<(), sqlx::Error> {
        let now = self.0.clock.now();
        let slots: i64 = sqlx::query(
            // A node's own number of slots counts once it has finished a job. Until then the node
            // counts as one slot.
            "select cast(coalesce(sum(case when jobs_done > 0 then slots else 1 end), 0) as bigint) from nodes
             where standing = 'active' and reported_state in ('ready', 'busy') and seen_at_ms >= $1",
        )
        .bind(self.silent_since_ms(now))
        .fetch_one(&self.0.database.readers)
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
        .fetch_one(&self.0.database.readers)
        .await?;
        let (jobs, sum_ms): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        let pace = (slots > 0 && jobs > 0)
            .then(|| Pace { slots, seconds_per_job: sum_ms.max(0) as f64 / jobs as f64 / 1000.0 });
        *self.0.pace.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = pace;
        Ok(())
    }

    /// Returns the `turn` of a new job. Returns [`RenderError::AtCapacity`] if the queue has no
    /// room for it, or if it would not be done in time.
    pub(super) async fn admit(&self, tx: &mut Tx<'_>, requester: &Requester) -> Result<i64, RenderError> {
        let turn = next_turn(tx, requester).await?;
        let row = sqlx::query(
            "select count(*), count(case when priority = $1 then 1 end), count(case when account_id = $2 then 1 end),
                    count(case when priority > $1 or (priority = $1 and turn <= $3) then 1 end)
             from jobs where state = 'queued'",
        )
        .bind(requester.lane.number())
        .bind(&requester.account_id)
        .bind(turn)
        .fetch_one(&mut **tx)
        .await?;
        let waiting = WaitingCounts { all: row.try_get(0)?, in_lane: row.try_get(1)?, of_account: row.try_get(2)? };
        match self.late(requester.lane, row.try_get(3)?) {
            Some(retry_after_seconds) => Err(RenderError::AtCapacity { retry_after_seconds }),
            None if waiting.has_room(requester, self.queue_max()) => Ok(turn),
            None => Err(RenderError::AtCapacity { retry_after_seconds: RETRY_AFTER_SECONDS_USUAL }),
        }
    }
}

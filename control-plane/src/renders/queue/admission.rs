//! Admission to the queue: whether one more job finds room, and would be done while somebody still waits for it.
//!
//! Why: `docs/decisions/render-queue.md` (Admission: a request that would wait too long is refused
//! at once).

use super::new_job::next_turn;
use crate::db::Tx;
use crate::renders::lane::{Asker, Lane, Waiting};
use crate::renders::pace::{Given, Pace, RETRY_AFTER_SECONDS_USUAL};
use crate::renders::{RenderError, Renders};
use sqlx::Row;
use std::time::Duration;

/// How old a measurement may get.
pub const MEASURED_EVERY: Duration = Duration::from_secs(5);

/// Of the last jobs, those whose times count.
const JOBS_MEASURED: i64 = 50;

/// Older ones tell nothing of the farm as it is.
const MEASURED_WITHIN_MS: i64 = 60 * 60_000;

/// The queue holds what the farm does in so many seconds, or its usual number where that is more. Beyond it a busy database would count
/// more than it serves.
/// Why: `docs/decisions/render-queue.md` (Length of the queue).
const QUEUE_SECONDS: f64 = 12.0;

/// Prewarming has as much of it as the farm does between two looks, and a little more.
const AHEAD_SECONDS: f64 = 2.0;
const AHEAD_MIN: i64 = 32;

impl Renders {
    pub(super) fn given(&self) -> std::sync::MutexGuard<'_, Given> {
        self.0.given.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// How long a job of this lane that so many go before would be late, in seconds; `None`: it is in time, or nobody waits for it.
    fn late(&self, lane: Lane, jobs_ahead: i64) -> Option<u64> {
        let pace = self.pace().filter(|_| lane.is_waited_for())?;
        let above = self.given().above(lane, self.0.clock.now());
        pace.refuse(jobs_ahead, above, self.settings().render_wait)
    }

    /// The farm's pace as last measured; `None`: no node is there, or none has finished anything lately.
    pub fn pace(&self) -> Option<Pace> {
        *self.0.pace.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Jobs that may wait in the queue: more on a farm that does more of them.
    fn queue_max(&self) -> i64 {
        let within = self.pace().map_or(0.0, |pace| pace.jobs_within(QUEUE_SECONDS));
        self.settings().queue_max.max(within as i64)
    }

    /// Rows of prewarming to keep in the queue: enough to keep a farm busy between two looks, few enough that a pause is soon felt.
    pub fn ahead_max(&self) -> i64 {
        let within = self.pace().map_or(0.0, |pace| pace.jobs_within(AHEAD_SECONDS));
        AHEAD_MIN.max(within as i64).min(Lane::Prewarm.waiting_max(self.queue_max()))
    }

    pub async fn measure_pace(&self) -> Result<(), sqlx::Error> {
        let now = self.0.clock.now();
        let slots: i64 = sqlx::query(
            // What a node says of its slots counts once it has finished something: until then it is one that may work at all.
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

    /// The turn of a new job, if it finds room and would be done in time.
    pub(super) async fn admit(&self, tx: &mut Tx<'_>, asker: &Asker) -> Result<i64, RenderError> {
        let turn = next_turn(tx, asker).await?;
        let row = sqlx::query(
            "select count(*), count(case when priority = $1 then 1 end), count(case when account_id = $2 then 1 end),
                    count(case when priority > $1 or (priority = $1 and turn <= $3) then 1 end)
             from jobs where state = 'queued'",
        )
        .bind(asker.lane.number())
        .bind(&asker.account_id)
        .bind(turn)
        .fetch_one(&mut **tx)
        .await?;
        let waiting = Waiting { all: row.try_get(0)?, in_lane: row.try_get(1)?, of_account: row.try_get(2)? };
        match self.late(asker.lane, row.try_get(3)?) {
            Some(retry_after_seconds) => Err(RenderError::AtCapacity { retry_after_seconds }),
            None if waiting.has_room(asker, self.queue_max()) => Ok(turn),
            None => Err(RenderError::AtCapacity { retry_after_seconds: RETRY_AFTER_SECONDS_USUAL }),
        }
    }
}

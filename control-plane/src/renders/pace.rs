//! How fast the farm works, as measured, and what that means for somebody who wants to wait: admission to the queue.

use super::{Lane, Renders};
use crate::clock::UnixMs;
use sqlx::Row;
use std::time::Duration;

/// Of the last jobs, those whose times count.
const JOBS_MEASURED: i64 = 50;

/// Older ones tell nothing of the farm as it is.
const MEASURED_WITHIN_MS: i64 = 60 * 60_000;

/// How old a measurement may get.
pub(super) const MEASURED_EVERY: Duration = Duration::from_secs(5);

/// The queue holds what the farm does in so many seconds, or its usual number where that is more. Beyond it a busy database would count
/// more than it serves.
const QUEUE_SECONDS: f64 = 12.0;

/// Prewarming has as much of it as the farm does between two looks, and a little more.
const AHEAD_SECONDS: f64 = 2.0;
const AHEAD_MIN: i64 = 32;

/// Of the farm, what a lane is thought to have at least.
const LEFT_MIN: f64 = 0.02;

/// Over how long what lanes are given is averaged.
const GIVEN_OVER_MS: f64 = 60_000.0;

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
    /// What the farm does in so many seconds.
    fn jobs_within(self, seconds: f64) -> f64 {
        self.slots as f64 * seconds / self.seconds_per_job.max(0.001)
    }

    /// Until a picture is there that so many jobs go before: whole rounds of what lanes above leave of the farm, and its own.
    /// `above_per_second`: jobs that the lanes above its own are given, which will go before it, too.
    pub fn seconds_until_done(self, jobs_ahead: i64, above_per_second: f64) -> f64 {
        let left = (1.0 - above_per_second / self.jobs_within(1.0)).max(LEFT_MIN);
        (jobs_ahead as f64 / (self.slots.max(1) as f64 * left) + 1.0) * self.seconds_per_job
    }

    /// `None`: it will be there in time. Else when it would be, if things go on like this: whole seconds, at least one.
    pub fn refuse(self, jobs_ahead: i64, above_per_second: f64, wait: Duration) -> Option<u64> {
        let late_seconds = self.seconds_until_done(jobs_ahead, above_per_second) - wait.as_secs_f64();
        (late_seconds > 0.0).then(|| late_seconds.ceil().clamp(1.0, RETRY_AFTER_SECONDS_MAX) as u64)
    }
}

/// Jobs a second that each lane was given by this process lately.
#[derive(Debug, Default)]
pub(super) struct Given {
    at_ms: i64,
    per_second: [f64; Lane::ALL.len()],
}

impl Given {
    pub fn note(&mut self, lane: Lane, now: UnixMs) {
        self.decay(now);
        self.per_second[lane as usize] += 1000.0 / GIVEN_OVER_MS;
    }

    /// To the lanes above.
    fn above(&mut self, lane: Lane, now: UnixMs) -> f64 {
        self.decay(now);
        self.per_second[lane as usize + 1..].iter().sum()
    }

    fn decay(&mut self, now: UnixMs) {
        let passed_ms = (now.0 - self.at_ms).max(0) as f64;
        self.at_ms = self.at_ms.max(now.0);
        let kept = (-passed_ms / GIVEN_OVER_MS).exp();
        self.per_second.iter_mut().for_each(|rate| *rate *= kept);
    }
}

impl Renders {
    pub(super) fn given(&self) -> std::sync::MutexGuard<'_, Given> {
        self.0.given.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// How long a job of this lane that so many go before would be late, in seconds; `None`: it is in time, or nobody waits for it.
    pub(super) fn late(&self, lane: Lane, jobs_ahead: i64) -> Option<u64> {
        let pace = self.pace().filter(|_| lane.is_waited_for())?;
        let above = self.given().above(lane, self.0.clock.now());
        pace.refuse(jobs_ahead, above, self.settings().render_wait)
    }

    /// The farm's pace as last measured; `None`: no node is there, or none has finished anything lately.
    pub fn pace(&self) -> Option<Pace> {
        *self.0.pace.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Jobs that may wait in the queue: more on a farm that does more of them.
    pub(super) fn queue_max(&self) -> i64 {
        let within = self.pace().map_or(0.0, |pace| pace.jobs_within(QUEUE_SECONDS));
        self.settings().queue_max.max(within as i64)
    }

    /// Rows of prewarming to keep in the queue: enough to keep a farm busy between two looks, few enough that a pause is soon felt.
    pub fn ahead_max(&self) -> i64 {
        let within = self.pace().map_or(0.0, |pace| pace.jobs_within(AHEAD_SECONDS));
        AHEAD_MIN.max(within as i64).min(Lane::Prewarm.waiting_max(self.queue_max()))
    }

    pub(super) async fn measure_pace(&self) -> Result<(), sqlx::Error> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_would_wait_too_long_is_told_when_to_come_back() {
        let wait = Duration::from_secs(120);
        for (slots, seconds_per_job, jobs_ahead, above_per_second, refused) in [
            (1, 5.0, 0, 0.0, None),
            (1, 5.0, 23, 0.0, None),
            (1, 5.0, 24, 0.0, Some(5)),
            (1, 5.0, 34, 0.0, Some(55)),
            (4, 5.0, 92, 0.0, None),
            (4, 5.0, 93, 0.0, Some(2)),
            (1, 0.2, 400, 0.0, None),
            (1, 130.0, 0, 0.0, Some(10)),
            (1, 5.0, 100_000, 0.0, Some(600)),
            // Three quarters of the farm go to lanes above: what is ahead takes four times as long.
            (1, 5.0, 5, 0.15, None),
            (1, 5.0, 6, 0.15, Some(5)),
            (1, 5.0, 0, 9.0, None),
        ] {
            let pace = Pace { slots, seconds_per_job };
            assert_eq!(pace.refuse(jobs_ahead, above_per_second, wait), refused, "{pace:?}, {jobs_ahead} ahead");
        }
    }

    #[test]
    fn what_lanes_are_given_is_remembered_for_a_minute() {
        let mut given = Given::default();
        let second = |n: i64| UnixMs(1_000_000 + n * 1000);
        for n in 0..600 {
            given.note(Lane::Interactive, second(n));
            given.note(Lane::Prewarm, second(n));
        }
        let above = given.above(Lane::FirstLoad, second(600));
        assert!((0.95..1.05).contains(&above), "one a second: {above}");
        assert_eq!(given.above(Lane::Interactive, second(600)), 0.0);
        let later = given.above(Lane::FirstLoad, second(900));
        assert!(later < 0.01, "{later}");
    }
}

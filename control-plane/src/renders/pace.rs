//! The measured speed of the farm, and from it the time that a new request would have to wait.

use super::lane::Lane;
use crate::clock::UnixMs;
use std::time::Duration;

/// Lower bound of the ratio of the farm's capacity that is assumed to be left for a lane.
const LEFT_MIN: f64 = 0.02;

/// Time constant of the moving average of jobs handed out per lane, in milliseconds.
const GIVEN_OVER_MS: f64 = 60_000.0;

/// Maximum of `Retry-After`, in seconds.
const RETRY_AFTER_SECONDS_MAX: f64 = 600.0;

/// `Retry-After` where nothing has been measured, in seconds.
pub(super) const RETRY_AFTER_SECONDS_USUAL: u64 = 15;

/// The farm's speed: how many leases it holds at once, and how long one takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Slots of all nodes that may take jobs.
    pub slots: i64,
    pub seconds_per_job: f64,
}

impl Pace {
    /// Returns the number of jobs that the farm does in `seconds`.
    pub fn jobs_within(self, seconds: f64) -> f64 {
        self.slots as f64 * seconds / self.seconds_per_job.max(0.001)
    }

    /// Returns the seconds until a new job is done that has `jobs_ahead` others before it: the time
    /// of those jobs on the part of the farm that higher lanes leave, and the time of the job
    /// itself. `above_per_second` is the rate at which jobs of higher lanes are handed out, which
    /// will go before the new job, too.
    pub fn seconds_until_done(self, jobs_ahead: i64, above_per_second: f64) -> f64 {
        let left = (1.0 - above_per_second / self.jobs_within(1.0)).max(LEFT_MIN);
        (jobs_ahead as f64 / (self.slots.max(1) as f64 * left) + 1.0) * self.seconds_per_job
    }

    /// Returns `None` if a new job would be done within `wait`. Otherwise returns how many seconds
    /// too late it would be done at the present rates, as whole seconds from 1 to
    /// [`RETRY_AFTER_SECONDS_MAX`].
    pub fn refuse(self, jobs_ahead: i64, above_per_second: f64, wait: Duration) -> Option<u64> {
        let late_seconds = self.seconds_until_done(jobs_ahead, above_per_second) - wait.as_secs_f64();
        (late_seconds > 0.0).then(|| late_seconds.ceil().clamp(1.0, RETRY_AFTER_SECONDS_MAX) as u64)
    }
}

/// Jobs per second that this process lately handed out of each lane.
#[derive(Debug, Default)]
pub(super) struct LaneRates {
    at_ms: i64,
    per_second: [f64; Lane::ALL.len()],
}

impl LaneRates {
    /// Counts a job of `lane` that was handed out now.
    pub fn note(&mut self, lane: Lane, now: UnixMs) {
        self.decay(now);
        self.per_second[lane as usize] += 1000.0 / GIVEN_OVER_MS;
    }

    /// Returns the rate of all lanes above `lane`, in jobs per second.
    pub fn above(&mut self, lane: Lane, now: UnixMs) -> f64 {
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
            // Three quarters of the farm go to lanes above, so the jobs ahead take four times as
            // long.
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
        let mut given = LaneRates::default();
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

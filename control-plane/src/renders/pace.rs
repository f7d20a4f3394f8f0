//! How fast the farm works, as measured, and what that means for somebody who wants to wait.

use super::lane::Lane;
use crate::clock::UnixMs;
use std::time::Duration;

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
    pub fn jobs_within(self, seconds: f64) -> f64 {
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

//! Pauses before another attempt: they double, with jitter so that nodes that lost the service
//! together do not all come back at once.

use std::time::Duration;

/// A series of growing pauses.
#[derive(Debug)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    failures: u32,
}

impl Backoff {
    /// Starts with a pause of `first`, and never exceeds `max`.
    pub fn new(first: Duration, max: Duration) -> Self {
        Self { first, max, failures: 0 }
    }

    /// Returns the next pause: between half of the doubled pause and all of it. `random`, a number
    /// from 0 to 1, selects the point between the two.
    pub fn next(&mut self, random: f64) -> Duration {
        let doubled = self.first.saturating_mul(1_u32 << self.failures.min(16)).min(self.max);
        self.failures += 1;
        doubled.mul_f64(0.5 + 0.5 * random.clamp(0.0, 1.0))
    }

    /// Returns the number of pauses since the start or the last reset.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_up_to_the_maximum_and_starts_over() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        let pauses: Vec<u128> = (0..6).map(|_| backoff.next(1.0).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1000, 1000]);
        assert_eq!(backoff.next(0.0).as_millis(), 500);
        for _ in 0..100 {
            assert!(backoff.next(0.5) <= Duration::from_secs(1));
        }
        backoff.reset();
        assert_eq!(backoff.next(1.0).as_millis(), 100);
    }
}

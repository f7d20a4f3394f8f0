//! Time, passed in so that tests and rules never read the machine's clock by themselves.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::{Interval, MissedTickBehavior};

/// A UTC day, in milliseconds.
pub const DAY_MS: i64 = 86_400_000;

/// Unix time in whole milliseconds: the only form of time in the database and in domain rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMs(pub i64);

impl UnixMs {
    pub fn plus_ms(self, ms: i64) -> Self {
        UnixMs(self.0 + ms)
    }

    /// Returns the UTC day of this time, as YYYY-MM-DD.
    pub fn utc_day(self) -> String {
        let moment = time::OffsetDateTime::from_unix_timestamp(self.0.div_euclid(1000));
        let date = moment.unwrap_or(time::OffsetDateTime::UNIX_EPOCH).date();
        format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day())
    }

    /// Returns the start of the UTC day.
    pub fn utc_day_start(self) -> UnixMs {
        UnixMs(self.0.div_euclid(DAY_MS) * DAY_MS)
    }

    /// Returns the end of the UTC day.
    pub fn utc_day_end(self) -> UnixMs {
        self.utc_day_start().plus_ms(DAY_MS)
    }

    /// Returns the UTC year.
    pub fn utc_year(self) -> u16 {
        let moment = time::OffsetDateTime::from_unix_timestamp(self.0.div_euclid(1000));
        moment.ok().and_then(|moment| u16::try_from(moment.year()).ok()).unwrap_or(1970)
    }

    /// Returns the UTC month, as YYYY-MM.
    pub fn utc_month(self) -> String {
        let mut day = self.utc_day();
        day.truncate("YYYY-MM".len());
        day
    }

    /// Returns the start of the next UTC month.
    pub fn next_utc_month(self) -> UnixMs {
        let moment = time::OffsetDateTime::from_unix_timestamp(self.0.div_euclid(1000));
        let date = moment.unwrap_or(time::OffsetDateTime::UNIX_EPOCH).date();
        let days_left = date.month().length(date.year()) - date.day() + 1;
        UnixMs((self.0.div_euclid(DAY_MS) + i64::from(days_left)) * DAY_MS)
    }

    /// Returns the start of the UTC month.
    pub fn utc_month_start(self) -> UnixMs {
        let moment = time::OffsetDateTime::from_unix_timestamp(self.0.div_euclid(1000));
        let day = moment.unwrap_or(time::OffsetDateTime::UNIX_EPOCH).day();
        UnixMs((self.0.div_euclid(DAY_MS) + 1 - i64::from(day)) * DAY_MS)
    }

    /// Returns the form in JSON answers: RFC 3339 in UTC with milliseconds.
    pub fn rfc3339(self) -> String {
        let nanoseconds = i128::from(self.0) * 1_000_000;
        time::OffsetDateTime::from_unix_timestamp_nanos(nanoseconds)
            .ok()
            .and_then(|moment| moment.format(&time::format_description::well_known::Rfc3339).ok())
            .unwrap_or_default()
    }
}

/// Returns the ticks of a periodic task. The first comes at once; ticks that are missed because one
/// run took too long are not made up for.
pub fn ticks(every: Duration) -> Interval {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Lead of the database's clock over this machine's, in milliseconds.
static DATABASE_AHEAD_MS: AtomicI64 = AtomicI64::new(0);

/// A difference up to this many milliseconds is ignored: it comes from the measurement, or from
/// machines that keep their time.
/// Why: `docs/decisions/operations.md` (Which clock counts).
const TOLERATED_MS: i64 = 250;

/// Makes [`Clock::SYSTEM`] follow the database's clock from now on. Several processes judge
/// each other's leases by times that the others wrote; a process whose machine's clock is
/// wrong would end them all.
pub fn follow_database(ahead_ms: i64) {
    let before = DATABASE_AHEAD_MS.load(Ordering::Relaxed);
    if (ahead_ms - before).abs() <= TOLERATED_MS {
        return;
    }
    DATABASE_AHEAD_MS.store(ahead_ms, Ordering::Relaxed);
    tracing::warn!(ahead_ms, "this machine's clock differs from the database's, whose time is used");
}

/// The source of the current time: the machine's clock, corrected to the database's, or
/// that of a simulation.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Option<&'static AtomicI64>);

impl Clock {
    pub const SYSTEM: Clock = Clock(None);

    /// Returns a clock that shows the value of the returned number, in Unix milliseconds. The
    /// number lives as long as the process.
    pub fn simulated(start: UnixMs) -> (Self, &'static AtomicI64) {
        let now_ms: &'static AtomicI64 = Box::leak(Box::new(AtomicI64::new(start.0)));
        (Clock(Some(now_ms)), now_ms)
    }

    pub fn now(&self) -> UnixMs {
        if let Some(now_ms) = self.0 {
            return UnixMs(now_ms.load(Ordering::Relaxed));
        }
        UnixMs(machine_ms() + DATABASE_AHEAD_MS.load(Ordering::Relaxed))
    }
}

/// Returns the time of the machine's own clock, in Unix milliseconds.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
pub fn machine_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_begin_and_end_at_midnight() {
        for (at, month, begins, ends) in [
            ("2026-11-22T09:30:15Z", "2026-11", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"),
            ("2026-12-31T23:59:59Z", "2026-12", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
            ("2028-02-01T00:00:00Z", "2028-02", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"),
        ] {
            let parse = |text: &str| {
                let moment = time::OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339);
                UnixMs(moment.expect(text).unix_timestamp() * 1000)
            };
            let at = parse(at);
            assert_eq!(at.utc_month(), month);
            assert_eq!((at.utc_month_start(), at.next_utc_month()), (parse(begins), parse(ends)), "{month}");
        }
    }
}

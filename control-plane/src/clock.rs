//! Time, passed in so that tests and rules never read the machine's clock by themselves.

use std::time::{SystemTime, UNIX_EPOCH};

/// Unix time in whole milliseconds: the one form of time in the database and in domain rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMs(pub i64);

impl UnixMs {
    pub fn plus_ms(self, ms: i64) -> Self {
        UnixMs(self.0 + ms)
    }
}

/// The source of the present moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock;

impl Clock {
    pub fn now(&self) -> UnixMs {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        UnixMs(since.as_millis() as i64)
    }
}

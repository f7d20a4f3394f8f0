//! Requests of people and programs without a key, counted by network in this process's memory,
//! so that a request over a limit costs no database row and no work. Windows are whole
//! minutes, like the meter's.

use crate::clock::UnixMs;
use crate::ledger::Window;
use crate::networks::{neighbours_of, network_of};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

const MINUTE_MS: i64 = 60_000;

/// Maximum number of counts in one minute, at about 50 bytes each. If there are more, they do not
/// come from one client, and further networks are not counted.
const NETWORKS_MAX: usize = 262_144;

/// Limit of the networks around one client's network, as a multiple of the client's limit.
const NEIGHBOURS: i64 = 10;

/// Limit of all networks together in one process, as a multiple of one client's limit.
const EVERYBODY: i64 = 500;

/// The counts of the current minute.
#[derive(Debug, Default)]
pub struct NetworkCounts(Mutex<Minute>);

#[derive(Debug, Default)]
struct Minute {
    number: i64,
    counts: HashMap<(&'static str, CountScope), i64>,
}

/// The networks whose requests are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum CountScope {
    Client(IpAddr),
    Neighbours(IpAddr),
    Everybody,
}

/// The reason why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// The client, or the networks around it, sent too many requests.
    Client(Window),
    /// All networks together sent too many requests.
    Everybody { reset_seconds: i64 },
}

impl NetworkCounts {
    /// Counts a request that reads.
    pub fn read(&self, purpose: &'static str, ip: IpAddr, limit: i64, now: UnixMs) -> Result<(), Over> {
        self.count(&[(purpose, CountScope::Client(network_of(ip)), limit)], now)
    }

    /// Counts a request that writes: for its client, for the networks around it, and for everybody,
    /// so that the number of rows is bounded, whoever sends the requests. A refused request is
    /// counted nowhere, so that nobody uses up the limits of others.
    pub fn write(&self, purpose: &'static str, ip: IpAddr, limit: i64, now: UnixMs) -> Result<(), Over> {
        let limits = [
            (purpose, CountScope::Client(network_of(ip)), limit),
            (purpose, CountScope::Neighbours(neighbours_of(ip)), limit.saturating_mul(NEIGHBOURS)),
            (purpose, CountScope::Everybody, limit.saturating_mul(EVERYBODY)),
        ];
        self.count(&limits, now)
    }

    /// Returns an error if the next request that reads would be refused. Counts nothing.
    pub fn is_over(&self, purpose: &'static str, ip: IpAddr, limit: i64, now: UnixMs) -> Result<(), Over> {
        let minute = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = minute.counts.get(&(purpose, CountScope::Client(network_of(ip))));
        match count.is_some_and(|count| *count >= limit) && minute.number == now.0.div_euclid(MINUTE_MS) {
            true => Err(Over::Client(full(limit, now))),
            false => Ok(()),
        }
    }

    fn count(&self, limits: &[(&'static str, CountScope, i64)], now: UnixMs) -> Result<(), Over> {
        let mut minute = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = now.0.div_euclid(MINUTE_MS);
        if minute.number != number {
            minute.counts.clear();
            minute.number = number;
        }
        for (purpose, scope, limit) in limits {
            if minute.counts.get(&(*purpose, *scope)).is_some_and(|count| count >= limit) {
                return Err(match scope {
                    CountScope::Client(_) | CountScope::Neighbours(_) => Over::Client(full(*limit, now)),
                    CountScope::Everybody => Over::Everybody { reset_seconds: reset_seconds(now) },
                });
            }
        }
        for (purpose, scope, _) in limits {
            let is_known = minute.counts.contains_key(&(*purpose, *scope));
            if is_known || minute.counts.len() < NETWORKS_MAX {
                *minute.counts.entry((*purpose, *scope)).or_default() += 1;
            }
        }
        Ok(())
    }
}

fn full(limit: i64, now: UnixMs) -> Window {
    Window { limit, remaining: 0, reset_seconds: reset_seconds(now) }
}

fn reset_seconds(now: UnixMs) -> i64 {
    (MINUTE_MS - now.0.rem_euclid(MINUTE_MS) + 999) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect(text)
    }

    #[test]
    fn a_client_has_its_limit_in_each_minute() {
        let counts = NetworkCounts::default();
        let count = |address: &str, at_ms| counts.read("pages", ip(address), 2, UnixMs(at_ms));
        assert_eq!((count("2001:db8::1", 1_000), count("2001:db8::2", 2_000)), (Ok(()), Ok(())));
        let over = Err(Over::Client(Window { limit: 2, remaining: 0, reset_seconds: 57 }));
        assert_eq!(count("2001:db8::3", 3_000), over);
        assert_eq!(counts.is_over("pages", ip("2001:db8::3"), 2, UnixMs(3_000)), over);
        assert_eq!(counts.is_over("other", ip("2001:db8::3"), 2, UnixMs(3_000)), Ok(()));
        assert_eq!(count("2001:db8:0:1::1", 3_000), Ok(()));
        assert_eq!(counts.is_over("pages", ip("2001:db8::3"), 2, UnixMs(60_000)), Ok(()));
        assert_eq!(count("2001:db8::3", 60_000), Ok(()));
    }

    #[test]
    fn writes_are_bounded_for_a_site_and_for_everybody() {
        let (counts, now) = (NetworkCounts::default(), UnixMs(0));
        let write = |address: String| counts.write("letters", ip(&address), 2, now);
        // A site with any number of networks.
        let taken = (0..1000).filter(|n| write(format!("2001:db8:0:{n:x}::1")).is_ok()).count();
        assert_eq!(taken as i64, 2 * NEIGHBOURS);
        // One address that does not stop uses up nothing of the others' limit.
        let taken = (0..100_000).filter(|_| write("192.0.2.1".to_owned()).is_ok()).count();
        assert_eq!(taken, 2);
        // A large number of sites.
        let taken =
            (0..100_000).filter(|n| write(format!("2001:{:x}:{:x}::1", n / 1000 + 1, n % 1000)).is_ok()).count();
        assert_eq!(taken as i64, 2 * EVERYBODY - 2 * NEIGHBOURS - 2);
        assert!(matches!(write("198.51.100.1".to_owned()), Err(Over::Everybody { reset_seconds: 60 })));
    }
}

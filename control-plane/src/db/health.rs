//! Health of the database: whether it can be written, as the last of the writes shows that this
//! process makes every two seconds anyway; and which connections can no longer be used. A database
//! that has become read-only (a failover, a standby, a full or lost disk) answers reads as before,
//! and its old connections stay as they are after it can be written again.

use super::kind::DatabaseKind;
use sqlx::AnyConnection;
use sqlx::pool::PoolConnectionMetadata;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum age of the last successful write. Five writes did not return by then: whatever the
/// cause, this process cannot charge.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Returns `on` in a session whose transactions cannot write.
const READ_ONLY: &str = "select current_setting('transaction_read_only')";

/// The health of one database, shared by its pools.
#[derive(Debug, Clone, Default)]
pub struct DatabaseHealth(Arc<Mutex<HealthState>>);

#[derive(Debug, Default)]
struct HealthState {
    written_at: Option<Instant>,
    /// Time of the last failed write, until one succeeds.
    failed_at: Option<Instant>,
}

impl DatabaseHealth {
    /// Records the result of a write that was made as a check.
    pub fn note(&self, is_written: bool, now: Instant) {
        let mut state = self.lock();
        match is_written {
            true => *state = HealthState { written_at: Some(now), failed_at: None },
            false => state.failed_at = Some(now),
        }
    }

    /// Returns true if the last write succeeded and is recent. Also true if no write has been made
    /// as a check, because nothing is known then.
    pub fn is_writable(&self, now: Instant) -> bool {
        let state = self.lock();
        let is_late = state.written_at.is_some_and(|at| now.duration_since(at) > SILENCE_MAX);
        state.failed_at.is_none() && !is_late
    }

    /// Returns true if an idle connection may be used; otherwise the pool closes
    /// it and opens another.
    pub async fn is_usable(
        &self,
        kind: DatabaseKind,
        connection: &mut AnyConnection,
        about: &PoolConnectionMetadata,
    ) -> Result<bool, sqlx::Error> {
        let failed_at = self.lock().failed_at;
        // While writes fail, every connection is opened again once after each failed write: often
        // enough to notice when writes work again, and no more than the pool's size in two seconds.
        let is_older = failed_at.is_some_and(|at| about.age > at.elapsed());
        match kind {
            DatabaseKind::Sqlite => Ok(!is_older),
            DatabaseKind::Postgres => {
                // Replaces sqlx's ping: it takes as many round trips, and it distinguishes a
                // session that has ended from one that can only read.
                let read_only: String = sqlx::query_scalar(READ_ONLY).fetch_one(&mut *connection).await?;
                Ok(read_only != "on" || (failed_at.is_some() && !is_older))
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HealthState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_write_says_whether_the_next_may_work() {
        let (health, start) = (DatabaseHealth::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(health.is_writable(start), "nothing is known against it");
        for (second, is_written, expected) in [(0, true, true), (2, false, false), (4, false, false), (6, true, true)] {
            health.note(is_written, at(second));
            assert_eq!(health.is_writable(at(second)), expected, "{second}");
        }
        assert!(health.is_writable(at(16)));
        assert!(!health.is_writable(at(17)), "a write hangs");
        health.note(true, at(18));
        assert!(health.is_writable(at(18)));
    }
}

//! Deletes what is no longer needed: rate windows that are over and idempotency
//! keys that have expired.

use super::idempotency;
use crate::clock::{Clock, UnixMs};
use crate::db::Database;
use crate::tasks::every;
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(600);

/// Windows last a minute, and the clocks of several processes may differ by less than this.
const WINDOW_KEPT_MS: i64 = 600_000;

/// Starts the task that deletes them. It runs until it is aborted.
pub fn start_tidying(database: Database, clock: Clock) -> tokio::task::JoinHandle<()> {
    every(EVERY, "old rows of the ledger could not be deleted", database, move |database| async move {
        tidy(&database, clock.now()).await
    })
}

pub(super) async fn tidy(database: &Database, now: UnixMs) -> Result<(), sqlx::Error> {
    idempotency::forget_expired(database, now).await?;
    // Keep a key's last window: it records when the key was last used.
    let over = sqlx::query(
        "delete from rate_windows where window_start_ms < $1 and not exists (select 1 from api_keys where id = rate_windows.counted)",
    )
    .bind(now.0 - WINDOW_KEPT_MS);
    database.write(over).await?;
    Ok(())
}

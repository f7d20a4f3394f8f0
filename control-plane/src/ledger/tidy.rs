//! Forgetting what nobody asks for any more: windows that are over and idempotency keys that have expired.

use super::idempotency;
use crate::clock::{Clock, UnixMs};
use crate::db::Database;
use crate::tasks::every;
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(600);

/// Windows last a minute; clocks of several processes may differ by less than this.
const WINDOW_KEPT_MS: i64 = 600_000;

/// Runs until the task is aborted.
pub fn start_tidying(database: Database, clock: Clock) -> tokio::task::JoinHandle<()> {
    every(EVERY, "the ledger could not be tidied", database, move |database| async move {
        tidy(&database, clock.now()).await
    })
}

pub(super) async fn tidy(database: &Database, now: UnixMs) -> Result<(), sqlx::Error> {
    idempotency::forget_expired(database, now).await?;
    // A key's last window stays: it tells when the key was last used.
    let over = sqlx::query(
        "delete from rate_windows where window_start_ms < $1 and not exists (select 1 from api_keys where id = rate_windows.counted)",
    )
    .bind(now.0 - WINDOW_KEPT_MS);
    database.write(over).await?;
    Ok(())
}

//! Removal of uploads that are no longer needed: when an attempt ends, and by a sweep where that
//! failed or an upload came too late.
//!
//!
//! Why: `docs/decisions/object-store.md` (Uploads after the lease has ended).

use super::owed::owed;
use crate::clock::UnixMs;
use crate::objects::{ObjectError, ObjectKey, keys};
use crate::renders::state::colours_of;
use crate::renders::{LEASE_MS_MAX, Renders};
use cyclorama_core::wire::JobKind;
use futures::{StreamExt, stream};
use sqlx::Row;
use std::time::Duration;

/// Maximum number of objects that are removed concurrently.
const REMOVED_AT_ONCE: usize = 6;

/// Maximum age of an upload, in milliseconds. An upload is needed until its result has been
/// accepted, within its lease; this is twice the maximum duration of a lease plus an hour.
const STAGED_MS_MAX: i64 = 2 * LEASE_MS_MAX + 60 * 60_000;

/// Interval between two sweeps of staged objects. With [`SWEPT_AT_ONCE`] it allows for some hundred
/// abandoned uploads a minute.
pub const STAGING_SWEPT_EVERY: Duration = Duration::from_secs(300);
/// Maximum number of staged objects that one sweep removes.
const SWEPT_AT_ONCE: usize = 1_000;

impl Renders {
    /// Removes uploads that are too old to belong to a live lease, and returns how many there were.
    /// Any number of processes may do so concurrently.
    pub(in crate::renders) async fn sweep_staging(&self, now: UnixMs) -> Result<usize, ObjectError> {
        let removed = self.0.store.remove_staged_before(now.plus_ms(-STAGED_MS_MAX), SWEPT_AT_ONCE).await?;
        if removed > 0 {
            tracing::info!(removed, "abandoned uploads were removed");
        }
        Ok(removed)
    }

    /// Removes the uploads of an ended attempt.
    pub(in crate::renders) async fn clear_staging(
        &self,
        job_id: &str,
        fence: i64,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let row = sqlx::query("select kind, colors from jobs where id = $1")
            .bind(job_id)
            .fetch_one(&self.0.database.readers)
            .await?;
        let kind: JobKind = row.try_get::<&str, _>(0)?.parse()?;
        let colours = colours_of(row.try_get(1)?, "jobs.colors", job_id)?;
        let staged = owed(kind, &colours).into_iter().map(|owed| keys::staging(job_id, fence, &owed.name));
        Ok(self.remove_all(staged.collect::<Result<_, _>>()?).await?)
    }

    /// Removes all of the objects, even if some removals fail, and returns the first failure.
    pub(in crate::renders) async fn remove_all(&self, objects: Vec<ObjectKey>) -> Result<(), ObjectError> {
        let removing = objects.into_iter().map(|key| async move { self.0.store.delete(&key).await });
        let removed: Vec<_> = stream::iter(removing).buffer_unordered(REMOVED_AT_ONCE).collect().await;
        removed.into_iter().collect()
    }
}

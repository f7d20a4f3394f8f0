//! What nodes have uploaded and nobody needs any more: removed when an attempt ends, and by a sweep where that failed or an upload came
//! too late.

use super::Renders;
use super::cost::LEASE_MS_MAX;
use super::result::Accepting;
use super::uploads::owed;
use crate::clock::{self, UnixMs};
use crate::logs::causes;
use crate::objects::{ObjectError, ObjectKey, keys};
use cyclorama_core::wire::JobKind;
use futures::{StreamExt, stream};
use sqlx::Row;
use std::time::Duration;

/// Objects that are removed at once.
const REMOVED_AT_ONCE: usize = 6;

/// An upload is needed until its result has been accepted, within its lease: this is twice as long as any lease can be, and then some.
const STAGED_MS_MAX: i64 = 2 * LEASE_MS_MAX + 60 * 60_000;

/// How often staged objects are looked at, and how many of them one look removes: some hundred abandoned uploads a minute at most.
const SWEPT_EVERY: Duration = Duration::from_secs(300);
const SWEPT_AT_ONCE: usize = 1_000;

impl Renders {
    /// Removes what abandoned uploads have left in the object store, every few minutes, until the task is aborted. Any number of processes
    /// may do so side by side.
    pub(super) fn start_staging_sweeper(&self) -> tokio::task::JoinHandle<()> {
        let renders = self.clone();
        tokio::spawn(async move {
            let mut ticks = clock::ticks(SWEPT_EVERY);
            loop {
                ticks.tick().await;
                match renders.sweep_staging(renders.0.clock.now()).await {
                    Ok(0) => {}
                    Ok(removed) => tracing::info!(removed, "abandoned uploads were removed"),
                    Err(error) => tracing::warn!(error = causes(&error), "abandoned uploads could not be removed"),
                }
            }
        })
    }

    /// Removes uploads that are too old to be of a lease that lives. How many there were.
    pub(super) async fn sweep_staging(&self, now: UnixMs) -> Result<usize, ObjectError> {
        self.0.store.remove_staged_before(now.plus_ms(-STAGED_MS_MAX), SWEPT_AT_ONCE).await
    }

    /// Removes what an ended attempt had uploaded.
    pub(super) async fn clear_staging(
        &self,
        job_id: &str,
        fence: i64,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let row = sqlx::query("select kind, colors from jobs where id = $1")
            .bind(job_id)
            .fetch_one(&self.0.database.readers)
            .await?;
        let kind: JobKind = row.try_get::<&str, _>(0)?.parse()?;
        let colours = super::state::colours_of(row.try_get(1)?, "jobs.colors", job_id)?;
        let staged = owed(kind, &colours).into_iter().map(|owed| keys::staging(job_id, fence, &owed.name));
        Ok(self.remove_all(staged.collect::<Result<_, _>>()?).await?)
    }

    /// Removes the objects that a look at a result has pinned, and with `uploads` what the node had put there as well. A failure is
    /// logged: the sweep removes what stays.
    pub(super) async fn clear_pinned(&self, job: &Accepting, uploads: bool) {
        let owed = owed(job.kind, &job.colours).into_iter();
        let removing = async {
            let mut unneeded = Vec::new();
            for owed in owed {
                unneeded.push(keys::pinned(&job.job_id, job.fence, &job.attempt, &owed.name)?);
                if uploads {
                    unneeded.push(keys::staging(&job.job_id, job.fence, &owed.name)?);
                }
            }
            self.remove_all(unneeded).await
        };
        if let Err(error) = removing.await {
            tracing::warn!(job_id = job.job_id, error = causes(&error), "uploads could not be removed");
        }
    }

    /// Removes each of them, whatever becomes of the others; the first failure.
    async fn remove_all(&self, objects: Vec<ObjectKey>) -> Result<(), ObjectError> {
        let removing = objects.into_iter().map(|key| async move { self.0.store.delete(&key).await });
        let removed: Vec<_> = stream::iter(removing).buffer_unordered(REMOVED_AT_ONCE).collect().await;
        removed.into_iter().collect()
    }
}

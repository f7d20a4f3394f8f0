//! The queue's sweep: lost leases return their jobs to the queue, and jobs that no request waits
//! for leave it.

use super::lease::{Loss, expire};
use crate::renders::Renders;
use sqlx::Row;

/// Maximum number of jobs that one sweep takes back, and that it expires; the rest follows a second
/// later.
const SWEEP_MAX: i64 = 64;

/// How long a job is kept that expired before any node had it, so that an operator can see recent
/// events. In milliseconds.
const LAPSED_KEPT_MS: i64 = 60 * 60_000;

impl Renders {
    /// Takes lost leases back and expires queued jobs that no request waits for.
    pub async fn sweep(&self) -> Result<(), sqlx::Error> {
        let now = self.0.clock.now();
        let pool = &self.0.database.readers;
        let lost = sqlx::query("select id, fence from jobs where state = 'leased' and lease_until_ms < $1 order by lease_until_ms limit $2")
            .bind(now.0)
            .bind(SWEEP_MAX)
            .fetch_all(pool)
            .await?;
        for row in lost {
            let (job_id, fence): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
            self.lose(&job_id, fence, Loss::Silence).await?;
        }
        let lapsed = sqlx::query(
            "select id from jobs where state = 'queued' and deadline_ms < $1 order by deadline_ms limit $2",
        )
        .bind(now.0)
        .bind(SWEEP_MAX)
        .fetch_all(pool)
        .await?;
        for row in lapsed {
            let job_id: String = row.try_get(0)?;
            let mut tx = self.0.database.begin().await?;
            expire(&mut tx, self.settings(), now, &job_id, None).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// Deletes jobs that expired an hour ago before any node had them. Every request whose client
    /// disconnects early may leave one, so their number has no other bound.
    pub(in crate::renders) async fn delete_expired(&self) -> Result<u64, sqlx::Error> {
        let forgetting =
            sqlx::query("delete from jobs where state = 'lapsed' and attempt = 0 and fence = 0 and ended_at_ms < $1");
        self.0.database.write(forgetting.bind(self.0.clock.now().0 - LAPSED_KEPT_MS)).await
    }
}

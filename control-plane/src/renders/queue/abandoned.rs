//! Renders whose client left before it paid. Such a render costs the client nothing, and goes on
//! for a while for a client that comes back.
//!
//!
//! Why: `docs/decisions/render-queue.md` (Abandoned renders: limit per account and day).

use crate::clock::UnixMs;
use crate::renders::Renders;
use crate::renders::lane::{Lane, Requester};
use cyclorama_core::Variant;
use sqlx::Row;

impl Renders {
    /// Marks the job of a variant that did not exist yet as abandoned, after a client of the
    /// account requested it and left before it paid. It does so only if the account began the job
    /// and no other request of the account in this process waits for the variant. A job is marked
    /// once, however often clients leave.
    pub async fn abandon(&self, variant: &Variant, account_id: &str) -> Result<(), sqlx::Error> {
        if !self.is_left(variant, &Requester::account(Lane::Interactive, account_id)).await {
            return Ok(());
        }
        // The variant is new, so a finished job with its paint is the one that made the variant. A
        // live job makes the variant, or its layers.
        let mark = sqlx::query(
            "update jobs set abandoned_at_ms = $1
             where abandoned_at_ms is null and id = (
                select id from jobs where begun_by = $2 and vehicle_key = $3 and view = $4
                    and (state in ('queued', 'leased') or (state = 'done' and ',' || colors || ',' like '%,' || $5 || ',%'))
                order by case state when 'done' then 0 else 1 end, queued_at_ms desc limit 1)",
        )
        .bind(self.0.clock.now().0)
        .bind(account_id.to_owned())
        .bind(variant.vehicle_key())
        .bind(variant.view.as_str().to_owned())
        .bind(variant.paint.to_string());
        self.0.database.write(mark).await.map(drop)
    }

    /// Returns how many jobs that the account began were abandoned since `since`, and have cost a
    /// node's time or will cost it. Jobs that no node took and jobs that failed do not count. A job
    /// that was stopped because its client left does.
    pub async fn abandoned_since(&self, account_id: &str, since: UnixMs) -> Result<i64, sqlx::Error> {
        let sql = "select count(*) from jobs
                   where begun_by = $1 and abandoned_at_ms >= $2 and state <> 'failed'
                      and (fence > 0 or (state = 'queued' and deadline_ms > $3))";
        let counted = sqlx::query(sql).bind(account_id).bind(since.0).bind(self.0.clock.now().0);
        let row = counted.fetch_one(&self.0.database.readers).await?;
        row.try_get(0)
    }
}

//! Renders whose client left before it paid. Each costs the client nothing, and goes on for a while for a client that comes back.
//!
//! Why: `docs/decisions/render-queue.md` (Abandoned renders: limit per account and day).

use crate::clock::UnixMs;
use crate::renders::Renders;
use crate::renders::lane::{Asker, Lane};
use cyclorama_core::Variant;
use sqlx::Row;

impl Renders {
    /// A client of the account asked for a variant that did not exist yet, and left before it paid. Marks the one job
    /// that makes the variant, if the account began it and no other request of it here waits for the variant. However
    /// often clients leave, it is marked once.
    pub async fn abandon(&self, variant: &Variant, account_id: &str) -> Result<(), sqlx::Error> {
        if !self.is_left(variant, &Asker::account(Lane::Interactive, account_id)).await {
            return Ok(());
        }
        // The variant is new, so a job that is done and has its colour is the one that made it. A live job makes it, or its layers.
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

    /// How many jobs that the account began were abandoned since `since`, and have cost a node's time or will. Those
    /// that no node took, and those that failed, are not among them. A job that was stopped because its client left
    /// is.
    pub async fn abandoned_since(&self, account_id: &str, since: UnixMs) -> Result<i64, sqlx::Error> {
        let sql = "select count(*) from jobs
                   where begun_by = $1 and abandoned_at_ms >= $2 and state <> 'failed'
                      and (fence > 0 or (state = 'queued' and deadline_ms > $3))";
        let counted = sqlx::query(sql).bind(account_id).bind(since.0).bind(self.0.clock.now().0);
        let row = counted.fetch_one(&self.0.database.readers).await?;
        row.try_get(0)
    }
}

//! Renders whose client left before it paid. Each costs the client nothing, and goes on for a while for a client that comes back.

use super::Renders;
use crate::clock::UnixMs;
use cyclorama_core::Variant;
use sqlx::Row;

impl Renders {
    /// Marks the job of this vehicle and view if the account began it on this UTC day. However often its clients ask and leave, it is one job;
    /// what somebody else began is nothing of this account's.
    pub async fn mark_abandoned(&self, variant: &Variant, account_id: &str) -> Result<(), sqlx::Error> {
        let mark = sqlx::query(
            "update jobs set is_abandoned = 1
             where vehicle_key = $1 and view = $2 and account_id = $3 and queued_at_ms >= $4 and is_abandoned = 0
                and state in ('queued', 'leased', 'done')",
        )
        .bind(variant.vehicle_key())
        .bind(variant.view.as_str().to_owned())
        .bind(account_id.to_owned())
        .bind(self.0.clock.now().utc_day_start().0);
        self.0.database.write(mark).await.map(drop)
    }

    /// How many renders of the account since `since` were left, and are rendered or will be. Those that no node took, and those that failed, are
    /// not among them: they gave nobody a picture.
    pub async fn abandoned_since(&self, account_id: &str, since: UnixMs) -> Result<i64, sqlx::Error> {
        let sql = "select count(*) from jobs
                   where account_id = $1 and queued_at_ms >= $2 and is_abandoned = 1
                      and (state in ('leased', 'done') or (state = 'queued' and deadline_ms > $3))";
        let counted = sqlx::query(sql).bind(account_id).bind(since.0).bind(self.0.clock.now().0);
        let row = counted.fetch_one(&self.0.database.readers).await?;
        row.try_get(0)
    }
}

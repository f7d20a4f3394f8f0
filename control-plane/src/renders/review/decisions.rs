//! Operators' decisions about renders, which are kept for good.

use crate::clock::UnixMs;
use crate::db::Tx;

/// Records an operator's decision, which is kept for good.
pub(super) async fn keep_decision(
    tx: &mut Tx<'_>,
    now: UnixMs,
    render_id: &str,
    decision: &str,
    revision: i64,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "insert into render_decisions (id, render_id, decision, revision, at_ms) values ($1, $2, $3, $4, $5) on conflict do nothing",
    )
    .bind(uuid::Uuid::now_v7().to_string())
    .bind(render_id)
    .bind(decision)
    .bind(revision)
    .bind(now.0)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

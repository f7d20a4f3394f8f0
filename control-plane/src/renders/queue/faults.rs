//! What counts against a node, and what comes of it.
//!
//! A node is given no more work after three different jobs in a row that came to nothing by its doing: it reported a
//! failure, it was not heard of until the lease was over, or it took so long that everybody had left. And it is
//! unhealthy while it does not let go of a job that it was told to stop: then its engine hangs, whatever its heart
//! says.
//!
//! Why: `docs/decisions/nodes-and-protocol.md` (What counts against a node).

use crate::clock::UnixMs;
use crate::db::Tx;
use crate::renders::{Renders, Settings};
use cyclorama_core::wire::NodeState;
use sqlx::Row;
use std::collections::BTreeMap;

/// Different jobs that may come to nothing in a row on a node before it is given no more.
const FAILURES_MAX: usize = 3;

/// Jobs that a node was told to stop and still reports, with the time since when.
pub type Cancelled = BTreeMap<String, i64>;

/// A lease that ended without a word from its node.
#[derive(Debug, Clone, Copy)]
pub struct Silent<'a> {
    pub node_id: &'a str,
    pub job_id: &'a str,
    pub leased_at_ms: i64,
}

impl Renders {
    /// What a node counts as that says it is in this state and has been told to stop these jobs.
    pub(super) fn state_of(&self, said: NodeState, cancelled: &Cancelled, now: UnixMs) -> NodeState {
        // It had as long to let go of a job as a node may be silent.
        let patience_ms = self.settings().lease_seconds as i64 * 1000;
        let hangs = cancelled.values().any(|since_ms| now.0 - since_ms > patience_ms);
        match said {
            NodeState::Ready | NodeState::Busy if hangs => NodeState::Unhealthy,
            said => said,
        }
    }
}

/// Counts a job against its node: three different ones in a row, and it is given no more. Whether it was not counted before.
pub async fn count_failure(tx: &mut Tx<'_>, node_id: &str, job_id: &str) -> Result<bool, sqlx::Error> {
    let row =
        sqlx::query("select failed_in_a_row from nodes where id = $1").bind(node_id).fetch_optional(&mut **tx).await?;
    let Some(row) = row else { return Ok(false) };
    let before: String = row.try_get(0)?;
    let mut failed: Vec<&str> = before.split(',').filter(|id| !id.is_empty()).collect();
    if failed.contains(&job_id) {
        return Ok(false);
    }
    failed.push(job_id);
    sqlx::query("update nodes set failed_in_a_row = $1 where id = $2 and failed_in_a_row = $3")
        .bind(failed.join(","))
        .bind(node_id)
        .bind(&before)
        .execute(&mut **tx)
        .await?;
    if failed.len() >= FAILURES_MAX {
        let set = sqlx::query("update nodes set standing = 'quarantined' where id = $1 and standing = 'active'");
        if set.bind(node_id).execute(&mut **tx).await?.rows_affected() == 1 {
            tracing::error!(
                node_id,
                jobs = failed.join(","),
                "three different jobs in a row came to nothing on a node, which gets no more"
            );
        }
    }
    Ok(true)
}

pub async fn count_success(tx: &mut Tx<'_>, node_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("update nodes set jobs_done = jobs_done + 1, failed_in_a_row = '' where id = $1")
        .bind(node_id)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Counts a lease that ran out. Of those that a node held at the same time one counts: its network was away once. A lease from before this
/// process began may have ended because the service was away, and does not count.
pub async fn count_lost(tx: &mut Tx<'_>, now: UnixMs, began_at: UnixMs, lease: Silent<'_>) -> Result<(), sqlx::Error> {
    if lease.leased_at_ms < began_at.0 {
        return Ok(());
    }
    let before = sqlx::query("select 1 from nodes where id = $1 and lost_at_ms > $2")
        .bind(lease.node_id)
        .bind(lease.leased_at_ms)
        .fetch_optional(&mut **tx)
        .await?;
    if before.is_none() && count_failure(tx, lease.node_id, lease.job_id).await? {
        sqlx::query("update nodes set lost_at_ms = $1 where id = $2")
            .bind(now.0)
            .bind(lease.node_id)
            .execute(&mut **tx)
            .await?;
    }
    Ok(())
}

/// Counts a lease that ended because nobody waited any more, if the node had it for more than half of the time that a request waits:
/// people who leave sooner are no fault of the node.
pub async fn count_lapsed(
    tx: &mut Tx<'_>,
    settings: &Settings,
    now: UnixMs,
    lease: Silent<'_>,
) -> Result<(), sqlx::Error> {
    let leased_ms = now.0 - lease.leased_at_ms;
    if leased_ms > settings.render_wait.as_millis() as i64 / 2 {
        count_failure(tx, lease.node_id, lease.job_id).await?;
    }
    Ok(())
}

/// What is told to stop now, each with the time since when it is.
pub fn still_cancelled(before: Option<&str>, cancel: &[String], now: UnixMs) -> Cancelled {
    let before: Cancelled = before.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    cancel.iter().map(|id| (id.clone(), before.get(id).copied().unwrap_or(now.0))).collect()
}

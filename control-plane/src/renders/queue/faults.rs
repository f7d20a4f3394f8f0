//! Counting of faults of nodes, and their consequences.
//!
//! A node gets no more jobs after three different jobs in a row that came to nothing through its
//! fault: the node reported a failure, it was silent until the lease was over, or it took so long
//! that no request waited any more. A node also counts as unhealthy while it does not give up a job
//! that it was told to stop: its engine hangs then, even though its heartbeats go on.
//!
//!
//! Why: `docs/decisions/nodes-and-protocol.md` (What counts against a node).

use crate::clock::UnixMs;
use crate::db::Tx;
use crate::renders::{RenderSettings, Renders};
use cyclorama_core::wire::NodeState;
use sqlx::Row;
use std::collections::BTreeMap;

/// Number of different jobs in a row that may come to nothing on a node before it gets no more.
const FAILURES_MAX: usize = 3;

/// Jobs that a node was told to stop and still reports, each with the time of the first order to
/// stop, in Unix milliseconds.
pub type CancelledJobs = BTreeMap<String, i64>;

/// A lease that ended without a report from its node.
#[derive(Debug, Clone, Copy)]
pub struct Silent<'a> {
    pub node_id: &'a str,
    pub job_id: &'a str,
    pub leased_at_ms: i64,
}

impl Renders {
    /// Returns the state that a node counts as: the one that it reported, or unhealthy if it has
    /// not given up a cancelled job in time.
    pub(super) fn state_of(&self, said: NodeState, cancelled: &CancelledJobs, now: UnixMs) -> NodeState {
        // A node has as long to give up a job as it may be silent.
        let patience_ms = self.settings().lease_seconds as i64 * 1000;
        let hangs = cancelled.values().any(|since_ms| now.0 - since_ms > patience_ms);
        match said {
            NodeState::Ready | NodeState::Busy if hangs => NodeState::Unhealthy,
            said => said,
        }
    }
}

/// Counts a failed job against its node, which is quarantined after [`FAILURES_MAX`] different ones
/// in a row. Returns true if the job was not counted before.
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
                "a node was quarantined after three different jobs in a row failed on it"
            );
        }
    }
    Ok(true)
}

/// Counts a finished job of the node, and resets its failures in a row.
pub async fn count_success(tx: &mut Tx<'_>, node_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("update nodes set jobs_done = jobs_done + 1, failed_in_a_row = '' where id = $1")
        .bind(node_id)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Counts a lease that ran out. Of the leases that a node held at the same time one counts, because
/// its network was away once. A lease from before this process began does not count, because the
/// service itself may have been away.
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

/// Counts a lease that ended because no request waited any more, if the node had it for more than
/// half of the time that a request waits. Clients that leave sooner are no fault of the node.
pub async fn count_lapsed(
    tx: &mut Tx<'_>,
    settings: &RenderSettings,
    now: UnixMs,
    lease: Silent<'_>,
) -> Result<(), sqlx::Error> {
    let leased_ms = now.0 - lease.leased_at_ms;
    if leased_ms > settings.render_wait.as_millis() as i64 / 2 {
        count_failure(tx, lease.node_id, lease.job_id).await?;
    }
    Ok(())
}

/// Returns the jobs that the node is to stop now (`cancel`), each with the time of the first order
/// to stop. `before` is the stored JSON of the previous heartbeat.
pub fn still_cancelled(before: Option<&str>, cancel: &[String], now: UnixMs) -> CancelledJobs {
    let before: CancelledJobs = before.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    cancel.iter().map(|id| (id.clone(), before.get(id).copied().unwrap_or(now.0))).collect()
}

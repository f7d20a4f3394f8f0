//! Calls of render nodes: requests for work, heartbeats, leaving.

use super::faults;
use super::lease::{Claimant, Loss};
use super::node_error::NodeError;
use crate::renders::Renders;
use crate::renders::budget::rate_of_slot;
use crate::renders::receiving::NoPlace;
use crate::renders::state::{NodeStatus, column};
use cyclorama_core::wire::{HeartbeatRequest, HeartbeatResponse, Job, NodeOrder, NodeState, Pipeline};
use sqlx::Row;
use std::time::Duration;

/// The longest wait of a request for work, in seconds.
const WAIT_SECONDS_MAX: u64 = 30;

/// Maximum number of leases in one answer, and of jobs that a node may report to hold.
pub const SLOTS_MAX: u32 = 64;

/// Maximum size of the device metrics in a heartbeat, in bytes of JSON. Our nodes send some 150
/// bytes, and the metrics are stored with the node.
const DEVICE_METRICS_BYTES_MAX: usize = 4096;

/// The part of a node's request to join that handing out work needs.
struct NodeDescription {
    /// The first pipeline that the node named, which it works with.
    pipeline: String,
    /// The price of one of the node's slots.
    rate_microusd_per_hour: Option<i64>,
    knows_custom_paints: bool,
}

impl Renders {
    /// Leases jobs to the node, waiting up to `wait_seconds` for some. Returns an empty list if
    /// none came, if the node may have none, if a newer request of the node has come, or when
    /// `stopping` resolves. A request without a free slot waits for one poll interval only, so that
    /// the node does not repeat it without a pause.
    pub async fn work(
        &self,
        token_id: &str,
        node_id: &str,
        free: u32,
        wait_seconds: u64,
        stopping: impl Future<Output = ()>,
    ) -> Result<Vec<Job>, NodeError> {
        let wait = Duration::from_secs(wait_seconds.min(WAIT_SECONDS_MAX));
        let wait = if free > 0 { wait } else { wait.min(self.settings().look_again) };
        let until = tokio::time::Instant::now() + wait;
        // The key contains the token, so that no node ends a request of another token's node.
        let key = (token_id.to_owned(), node_id.to_owned());
        let place = match self.0.polls.begin(token_id, &key).await {
            Ok(place) => place,
            Err(NoPlace::Replaced) => return Ok(Vec::new()),
            Err(NoPlace::TooMany) => return Err(NodeError::TooMany),
        };
        tokio::pin!(stopping);
        let NodeDescription { pipeline, rate_microusd_per_hour, knows_custom_paints } =
            self.heard_of(token_id, node_id).await?;
        let base_url = self.base_url_for(token_id);
        let node = Claimant { node_id, pipeline: &pipeline, base_url, rate_microusd_per_hour, knows_custom_paints };
        loop {
            let queued = self.0.signals.work();
            tokio::pin!(queued);
            queued.as_mut().enable();

            let may_work = free > 0 && self.may_work(node_id).await?;
            if may_work && !place.is_replaced() {
                let jobs = self.claim(node, i64::from(free.min(SLOTS_MAX))).await?;
                if !jobs.is_empty() {
                    return Ok(jobs);
                }
            }
            tokio::select! {
                biased;
                // No work is claimed for a connection that the node may have given up.
                () = place.replaced() => return Ok(Vec::new()),
                () = queued => {}
                () = tokio::time::sleep(self.settings().look_again) => {}
                () = tokio::time::sleep_until(until) => return Ok(Vec::new()),
                () = &mut stopping => return Ok(Vec::new()),
            }
        }
    }

    /// Records that the node is alive, and returns its description.
    async fn heard_of(&self, token_id: &str, node_id: &str) -> Result<NodeDescription, NodeError> {
        let sql = "update nodes set seen_at_ms = $1 where id = $2 and token_id = $3 and standing <> 'left'
                   returning pipelines, microusd_per_hour, slots, custom_paints";
        let query = sqlx::query(sql).bind(self.0.clock.now().0).bind(node_id).bind(token_id);
        let row = self.0.database.write_returning(query).await?.into_iter().next().ok_or(NodeError::Unknown)?;
        let pipeline = pipelines(row.try_get(0)?, node_id)?.into_iter().next().map(|pipeline| pipeline.id);
        Ok(NodeDescription {
            pipeline: pipeline.unwrap_or_default(),
            rate_microusd_per_hour: rate_of_slot(row.try_get(1)?, row.try_get(2)?),
            knows_custom_paints: row.try_get::<i64, _>(3)? != 0,
        })
    }

    /// True if the node may take jobs. The node status is read at every poll, so that an operator's
    /// order takes effect at once, also for a request that is already waiting.
    async fn may_work(&self, node_id: &str) -> Result<bool, NodeError> {
        let row = sqlx::query("select standing, reported_state from nodes where id = $1")
            .bind(node_id)
            .fetch_optional(&self.0.database.readers)
            .await?
            .ok_or(NodeError::Unknown)?;
        let standing: NodeStatus = column(row.try_get(0)?, "nodes.standing", node_id)?;
        let reported: NodeState = column(row.try_get(1)?, "nodes.reported_state", node_id)?;
        Ok(standing == NodeStatus::Active && reported != NodeState::Unhealthy)
    }

    /// Records a node's heartbeat and renews its leases. Returns the node status and the jobs to
    /// stop.
    pub async fn heartbeat(
        &self,
        token_id: &str,
        node_id: &str,
        report: &HeartbeatRequest,
    ) -> Result<HeartbeatResponse, NodeError> {
        let metrics = report.device.document().to_string();
        if metrics.len() > DEVICE_METRICS_BYTES_MAX {
            return Err(NodeError::Invalid { field: "device", rule: "must have at most 4096 bytes as JSON" });
        }
        let sql = "select standing, drain_until_ms, cancelled_jobs, reported_state from nodes
                   where id = $1 and token_id = $2 and standing <> 'left'";
        let row = sqlx::query(sql).bind(node_id).bind(token_id).fetch_optional(&self.0.database.readers).await?;
        let row = row.ok_or(NodeError::Unknown)?;
        let standing: NodeStatus = column(row.try_get(0)?, "nodes.standing", node_id)?;
        let drain_until_ms: Option<i64> = row.try_get(1)?;
        if standing == NodeStatus::Draining && drain_until_ms.is_some_and(|until| until <= self.0.clock.now().0) {
            self.take_back(node_id, Loss::Drained).await?;
        }
        let held = report.jobs.get(..SLOTS_MAX as usize).unwrap_or(&report.jobs);
        let cancel = self.renew(node_id, held).await?;
        let now = self.0.clock.now();
        let cancelled = faults::still_cancelled(row.try_get(2)?, &cancel, now);
        let reported = self.state_of(report.state, &cancelled, now);
        if reported != report.state && row.try_get::<&str, _>(3)? != reported.as_str() {
            tracing::warn!(node_id, jobs = cancel.join(","), "a node still holds jobs that it was told to stop");
        }
        let noted = match cancelled.is_empty() {
            true => None,
            false => serde_json::to_string(&cancelled).ok(),
        };
        let beat = sqlx::query(
            "update nodes set seen_at_ms = $1, reported_state = $2, device_metrics = $3, cancelled_jobs = $4
             where id = $5 and token_id = $6 and standing <> 'left'",
        )
        .bind(now.0)
        .bind(reported.as_str())
        .bind(metrics)
        .bind(noted)
        .bind(node_id)
        .bind(token_id);
        if self.0.database.write(beat).await? != 1 {
            return Err(NodeError::Unknown);
        }
        let state = match standing {
            NodeStatus::Active => NodeOrder::Active,
            NodeStatus::Draining => NodeOrder::Draining,
            NodeStatus::Locked | NodeStatus::Quarantined | NodeStatus::Left => NodeOrder::Locked,
        };
        Ok(HeartbeatResponse { state, cancel })
    }

    /// Marks the node as left. The jobs that it still holds go back into the queue at once.
    pub async fn leave(&self, token_id: &str, node_id: &str) -> Result<(), NodeError> {
        let left = self
            .0
            .database
            .write(
                sqlx::query(
                    "update nodes set standing = 'left' where id = $1 and token_id = $2 and standing <> 'left'",
                )
                .bind(node_id)
                .bind(token_id),
            )
            .await?;
        if left != 1 {
            return Err(NodeError::Unknown);
        }
        self.take_back(node_id, Loss::Left).await?;
        Ok(())
    }

    /// Marks all nodes of this token as left, because their process is known to have ended. The
    /// jobs that they hold go back into the queue at once instead of when their leases expire.
    pub async fn disconnected(&self, token_id: &str) -> Result<(), sqlx::Error> {
        let rows = self
            .0
            .database
            .write_returning(
                sqlx::query(
                    "update nodes set standing = 'left' where token_id = $1 and standing <> 'left' returning id",
                )
                .bind(token_id),
            )
            .await?;
        for row in rows {
            self.take_back(row.try_get(0)?, Loss::Ended).await?;
        }
        Ok(())
    }

    async fn take_back(&self, node_id: &str, why: Loss) -> Result<(), sqlx::Error> {
        let held = sqlx::query("select id, fence from jobs where node_id = $1 and state = 'leased'")
            .bind(node_id)
            .fetch_all(&self.0.database.readers)
            .await?;
        for row in held {
            let (job_id, fence): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
            self.lose(&job_id, fence, why).await?;
        }
        Ok(())
    }
}

/// Reads the pipelines that a node named when it joined.
pub fn pipelines(text: &str, node_id: &str) -> Result<Vec<Pipeline>, sqlx::Error> {
    serde_json::from_str(text)
        .map_err(|error| sqlx::Error::Decode(format!("nodes.pipelines of {node_id}: {error}").into()))
}

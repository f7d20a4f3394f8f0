//! Render nodes: asking for work, heartbeats, leaving.

use super::faults;
use super::lease::{Claimant, Loss};
use super::node_error::NodeError;
use crate::renders::Renders;
use crate::renders::budget::rate_of_slot;
use crate::renders::receiving::NoPlace;
use crate::renders::state::{Standing, column};
use cyclorama_core::wire::{HeartbeatRequest, HeartbeatResponse, Job, NodeOrder, NodeState, Pipeline};
use sqlx::Row;
use std::time::Duration;

/// Longest wait of a request for work.
const WAIT_SECONDS_MAX: u64 = 30;

/// Leases handed out in one answer, and the most a node may hold by its own word.
pub const SLOTS_MAX: u32 = 64;

/// Largest object that a heartbeat may tell of its machine, as JSON: a node of ours sends some 150 bytes, and it is kept with the node.
const DEVICE_METRICS_BYTES_MAX: usize = 4096;

/// What a node said when it joined, as far as handing out work needs it.
struct Heard {
    /// The first that it named, which it works with.
    pipeline: String,
    /// Price of one of its slots.
    rate_microusd_per_hour: Option<i64>,
    knows_custom_paints: bool,
}

impl Renders {
    /// Gives the node work, waiting up to `wait_seconds` for some. Empty: none came, or it may have none, or a newer
    /// request of the node has come. A node without a free slot is kept for one look only, so that it does not ask
    /// without a pause.
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
        // Of this token: nobody ends a request of another one's node.
        let key = (token_id.to_owned(), node_id.to_owned());
        let place = match self.0.polls.begin(token_id, &key).await {
            Ok(place) => place,
            Err(NoPlace::Replaced) => return Ok(Vec::new()),
            Err(NoPlace::TooMany) => return Err(NodeError::TooMany),
        };
        tokio::pin!(stopping);
        let Heard { pipeline, rate_microusd_per_hour, knows_custom_paints } = self.heard_of(token_id, node_id).await?;
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
                // Takes no work for a connection that nobody may read any more.
                () = place.replaced() => return Ok(Vec::new()),
                () = queued => {}
                () = tokio::time::sleep(self.settings().look_again) => {}
                () = tokio::time::sleep_until(until) => return Ok(Vec::new()),
                () = &mut stopping => return Ok(Vec::new()),
            }
        }
    }

    /// Notes that the node lives.
    async fn heard_of(&self, token_id: &str, node_id: &str) -> Result<Heard, NodeError> {
        let sql = "update nodes set seen_at_ms = $1 where id = $2 and token_id = $3 and standing <> 'left'
                   returning pipelines, microusd_per_hour, slots, custom_paints";
        let query = sqlx::query(sql).bind(self.0.clock.now().0).bind(node_id).bind(token_id);
        let row = self.0.database.write_returning(query).await?.into_iter().next().ok_or(NodeError::Unknown)?;
        let pipeline = pipelines(row.try_get(0)?, node_id)?.into_iter().next().map(|pipeline| pipeline.id);
        Ok(Heard {
            pipeline: pipeline.unwrap_or_default(),
            rate_microusd_per_hour: rate_of_slot(row.try_get(1)?, row.try_get(2)?),
            knows_custom_paints: row.try_get::<i64, _>(3)? != 0,
        })
    }

    /// Whether a node is given work. Read for every look at the queue: an order holds at once, also for a request that is already waiting.
    async fn may_work(&self, node_id: &str) -> Result<bool, NodeError> {
        let row = sqlx::query("select standing, reported_state from nodes where id = $1")
            .bind(node_id)
            .fetch_optional(&self.0.database.readers)
            .await?
            .ok_or(NodeError::Unknown)?;
        let standing: Standing = column(row.try_get(0)?, "nodes.standing", node_id)?;
        let reported: NodeState = column(row.try_get(1)?, "nodes.reported_state", node_id)?;
        Ok(standing == Standing::Active && reported != NodeState::Unhealthy)
    }

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
        let standing: Standing = column(row.try_get(0)?, "nodes.standing", node_id)?;
        let drain_until_ms: Option<i64> = row.try_get(1)?;
        if standing == Standing::Draining && drain_until_ms.is_some_and(|until| until <= self.0.clock.now().0) {
            self.take_back(node_id, Loss::Drained).await?;
        }
        let held = report.jobs.get(..SLOTS_MAX as usize).unwrap_or(&report.jobs);
        let cancel = self.renew(node_id, held).await?;
        let now = self.0.clock.now();
        let cancelled = faults::still_cancelled(row.try_get(2)?, &cancel, now);
        let reported = self.state_of(report.state, &cancelled, now);
        if reported != report.state && row.try_get::<&str, _>(3)? != reported.as_str() {
            tracing::warn!(node_id, jobs = cancel.join(","), "a node does not let go of jobs that it was told to stop");
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
            Standing::Active => NodeOrder::Active,
            Standing::Draining => NodeOrder::Draining,
            Standing::Locked | Standing::Quarantined | Standing::Left => NodeOrder::Locked,
        };
        Ok(HeartbeatResponse { state, cancel })
    }

    /// The node goes. What it still held is given to others at once.
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

    /// The nodes of this token are known to be dead (their process has ended): what they held is given to others at once
    /// instead of after the lease.
    pub async fn gone(&self, token_id: &str) -> Result<(), sqlx::Error> {
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

/// The pipelines that a node named when it joined.
pub fn pipelines(text: &str, node_id: &str) -> Result<Vec<Pipeline>, sqlx::Error> {
    serde_json::from_str(text)
        .map_err(|error| sqlx::Error::Decode(format!("nodes.pipelines of {node_id}: {error}").into()))
}

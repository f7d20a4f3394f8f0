//! Render nodes: asking for work, heartbeats, orders, quarantine.

use super::queue::{Claimant, Loss};
use super::receiving::NoPlace;
use super::signals::Signal;
use super::state::column;
use super::{Renders, Standing, cost, fault};
use crate::clock::UnixMs;
use crate::objects::ObjectError;
use cyclorama_core::wire::{HeartbeatRequest, HeartbeatResponse, Job, NodeOrder, NodeState, Pipeline};
use sqlx::Row;
use std::time::Duration;

/// Longest wait of a request for work.
const WAIT_SECONDS_MAX: u64 = 30;

/// Leases handed out in one answer, and the most a node may hold by its own word.
pub(super) const SLOTS_MAX: u32 = 64;

/// Largest object that a heartbeat may tell of its machine, as JSON: a node of ours sends some 150 bytes, and it is kept with the node.
const DEVICE_METRICS_BYTES_MAX: usize = 4096;

#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// Never joined with this token, or left: it has to join again.
    #[error("there is no such node")]
    Unknown,
    #[error("`{field}` {rule}")]
    Invalid { field: &'static str, rule: &'static str },
    /// Nodes of its token ask for work already, as many as may at once.
    #[error("too many nodes of this token ask for work at once")]
    TooMany,
    #[error("the object store failed")]
    Store(#[from] ObjectError),
    #[error("the database does not answer")]
    Database(#[from] sqlx::Error),
}

/// A node as operators see it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Node {
    pub id: String,
    pub name: String,
    pub version: String,
    pub slots: i64,
    pub pipelines: Vec<Pipeline>,
    pub device: serde_json::Value,
    /// What the service lets it do.
    pub state: Standing,
    /// What it said of itself: ready, busy, draining, unhealthy. Unhealthy also while it does not let go of a job that it was told to stop.
    pub reported_state: String,
    pub device_metrics: serde_json::Value,
    pub joined_at_ms: i64,
    pub seen_at_ms: i64,
    /// Heard of within three heartbeats.
    pub alive: bool,
    pub jobs_done: i64,
    pub jobs_leased: i64,
    /// `null`: a render on it is counted as the settings say.
    pub usd_per_hour: Option<f64>,
}

/// Nodes that are there now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeCounts {
    /// Heard of within three heartbeats.
    pub alive: i64,
    /// Of those, the ones that are given work.
    pub active: i64,
}

/// What a node said when it joined, as far as handing out work needs it.
struct Heard {
    /// The first that it named, which it works with.
    pipeline: String,
    /// Price of one of its slots.
    rate_microusd_per_hour: Option<i64>,
    knows_custom_paints: bool,
}

impl Renders {
    /// Gives the node work, waiting up to `wait_seconds` for some. Empty: none came, or it may have none, or a newer request of the node has come. A
    /// node without a free slot is kept for one look only, so that it does not ask without a pause.
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
            rate_microusd_per_hour: cost::rate_of_slot(row.try_get(1)?, row.try_get(2)?),
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
        let metrics = report.device.to_string();
        if metrics.len() > DEVICE_METRICS_BYTES_MAX {
            return Err(NodeError::Invalid { field: "device", rule: "must have at most 4096 bytes as JSON" });
        }
        let sql = "select standing, drain_until_ms, cancelled_jobs, reported_state from nodes where id = $1 and token_id = $2 and standing <> 'left'";
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
        let cancelled = fault::still_cancelled(row.try_get(2)?, &cancel, now);
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

    /// The operator's orders: `draining`, `locked`, or back to `active` (which also ends a quarantine). What a draining node still holds
    /// after `within` is given to others.
    pub async fn order_node(&self, node_id: &str, order: NodeOrder, within: Option<Duration>) -> Result<(), NodeError> {
        let until = within.map(|within| self.0.clock.now().0.saturating_add(within.as_millis() as i64));
        let changed = self
            .0
            .database
            .write(
                sqlx::query(
                    "update nodes set standing = $1, failed_in_a_row = '', drain_until_ms = $2 where id = $3 and standing <> 'left'",
                )
                .bind(order.as_str())
                .bind(until)
                .bind(node_id),
            )
            .await?;
        if changed != 1 {
            return Err(NodeError::Unknown);
        }
        self.0.signals.give(Signal::Anew);
        Ok(())
    }

    /// How many nodes were heard of within three heartbeats, and how many of those are given work.
    pub async fn node_counts(&self) -> Result<NodeCounts, sqlx::Error> {
        let row = sqlx::query(
            "select count(*), count(case when standing = 'active' then 1 end) from nodes
             where standing <> 'left' and seen_at_ms >= $1",
        )
        .bind(self.silent_since_ms(self.0.clock.now()))
        .fetch_one(&self.0.database.readers)
        .await?;
        Ok(NodeCounts { alive: row.try_get(0)?, active: row.try_get(1)? })
    }

    /// Every node that has not left, the newest first.
    pub async fn nodes(&self) -> Result<Vec<Node>, sqlx::Error> {
        let now = self.0.clock.now();
        let rows = sqlx::query(
            "select n.*, (select count(*) from jobs j where j.node_id = n.id and j.state = 'leased') as jobs_leased
             from nodes n where standing <> 'left' order by joined_at_ms desc, id desc",
        )
        .fetch_all(&self.0.database.readers)
        .await?;
        rows.iter().map(|row| self.read_node(row, now)).collect()
    }

    fn read_node(&self, row: &sqlx::any::AnyRow, now: UnixMs) -> Result<Node, sqlx::Error> {
        let id: String = row.try_get("id")?;
        let json = |text: Option<&str>| {
            text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(serde_json::Value::Null)
        };
        let reported: NodeState = column(row.try_get("reported_state")?, "nodes.reported_state", &id)?;
        let seen_at_ms: i64 = row.try_get("seen_at_ms")?;
        Ok(Node {
            name: row.try_get("name")?,
            version: row.try_get("version")?,
            slots: row.try_get("slots")?,
            pipelines: pipelines(row.try_get("pipelines")?, &id)?,
            device: json(Some(row.try_get("device")?)),
            state: column(row.try_get("standing")?, "nodes.standing", &id)?,
            reported_state: reported.as_str().to_owned(),
            device_metrics: json(row.try_get("device_metrics")?),
            joined_at_ms: row.try_get("joined_at_ms")?,
            seen_at_ms,
            alive: seen_at_ms >= self.silent_since_ms(now),
            jobs_done: row.try_get("jobs_done")?,
            jobs_leased: row.try_get("jobs_leased")?,
            usd_per_hour: row.try_get::<Option<i64>, _>("microusd_per_hour")?.map(|price| price as f64 / 1e6),
            id,
        })
    }
}

fn pipelines(text: &str, node_id: &str) -> Result<Vec<Pipeline>, sqlx::Error> {
    serde_json::from_str(text)
        .map_err(|error| sqlx::Error::Decode(format!("nodes.pipelines of {node_id}: {error}").into()))
}

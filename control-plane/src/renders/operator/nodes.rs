//! Render nodes as operators see them, and the orders that operators give them.

use crate::clock::UnixMs;
use crate::money::usd_from;
use crate::renders::Renders;
use crate::renders::queue::{NodeError, pipelines};
use crate::renders::signals::Signal;
use crate::renders::state::{NodeStatus, column};
use cyclorama_core::wire::{MachineLoad, NodeOrder, NodeState, Pipeline, Unparsed};
use sqlx::Row;
use std::time::Duration;

/// A node as operators see it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Node {
    pub id: String,
    pub name: String,
    pub version: String,
    pub slots: i64,
    pub pipelines: Vec<Pipeline>,
    pub device: serde_json::Value,
    /// The node status that the service has set.
    pub state: NodeStatus,
    /// The state that the node last reported: ready, busy, draining or unhealthy. A node that does
    /// not give up a job that it was told to stop also counts as unhealthy.
    pub reported_state: String,
    /// The metrics of the last heartbeat.
    pub device_metrics: Unparsed<MachineLoad>,
    pub joined_at_ms: i64,
    pub seen_at_ms: i64,
    /// True if the node was seen within three heartbeats.
    pub alive: bool,
    pub jobs_done: i64,
    pub jobs_leased: i64,
    /// `null` if the node has no price; a render on it then counts as the settings say.
    pub usd_per_hour: Option<f64>,
}

/// Numbers of nodes that are alive now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeCounts {
    /// Nodes that were seen within three heartbeats.
    pub alive: i64,
    /// Those of them that may take jobs.
    pub active: i64,
}

impl Renders {
    /// Returns every node that has not left, the newest first.
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
            device_metrics: Unparsed::from_document(json(row.try_get("device_metrics")?)),
            joined_at_ms: row.try_get("joined_at_ms")?,
            seen_at_ms,
            alive: seen_at_ms >= self.silent_since_ms(now),
            jobs_done: row.try_get("jobs_done")?,
            jobs_leased: row.try_get("jobs_leased")?,
            usd_per_hour: row.try_get::<Option<i64>, _>("microusd_per_hour")?.map(usd_from),
            id,
        })
    }

    /// Returns how many nodes were seen within three heartbeats, and how many of those may take
    /// jobs.
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

    /// Sets a node's status by the operator's order: `draining`, `locked`, or back to `active`
    /// (which also ends a quarantine). Jobs that a draining node still holds after `within` go back
    /// into the queue. Fails with [`NodeError::Unknown`] if there is no such node.
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
}

//! `cyclorama node ...`: render nodes, for operators.

use super::client::{OperatorClient, segment};
use super::numbers::whole;
use crate::http::admin::nodes::order::DRAIN_SECONDS_MAX;
use serde_json::{Value, json};

#[derive(Debug, clap::Subcommand)]
pub enum NodeCommand {
    /// List the render nodes with their status (`state`: active, draining, locked or quarantined),
    /// what each reports of itself (`reported_state`), and whether it is alive
    List,
    /// Let a node finish its jobs and give it no new ones
    Drain {
        /// Id of the node, from `cyclorama node list`
        node_id: String,
        /// Give its unfinished jobs to other nodes after this many seconds
        #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = whole(0..=DRAIN_SECONDS_MAX as i64))]
        within: Option<i64>,
    },
    /// Give a node no new jobs until it is resumed; it finishes those that it holds
    Lock {
        /// Id of the node, from `cyclorama node list`
        node_id: String,
    },
    /// Give a node jobs again; this ends a drain, a lock or a quarantine
    Resume {
        /// Id of the node, from `cyclorama node list`
        node_id: String,
    },
}

impl NodeCommand {
    pub async fn run(self, client: &OperatorClient) -> anyhow::Result<Value> {
        let (node_id, verb, body) = match self {
            NodeCommand::List => return client.get("/admin/nodes").await,
            NodeCommand::Drain { node_id, within } => (node_id, "drain", json!({"within_seconds": within})),
            NodeCommand::Lock { node_id } => (node_id, "lock", json!({})),
            NodeCommand::Resume { node_id } => (node_id, "resume", json!({})),
        };
        client.post(&format!("/admin/nodes/{}/{verb}", segment(&node_id)), body).await
    }
}

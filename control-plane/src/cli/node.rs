//! `cyclorama node ...`

use super::client::{Client, segment};
use super::numbers::whole;
use crate::http::admin::nodes::order::DRAIN_SECONDS_MAX;
use serde_json::{Value, json};

#[derive(Debug, clap::Subcommand)]
pub enum Node {
    /// Render nodes and what they do
    List,
    /// Let a node finish what it has and give it no more
    Drain {
        node_id: String,
        /// Give to others what it still holds after so many seconds
        #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = whole(0..=DRAIN_SECONDS_MAX as i64))]
        within: Option<i64>,
    },
    /// Give a node no work until it is resumed
    Lock { node_id: String },
    /// Give a node work again
    Resume { node_id: String },
}

impl Node {
    pub async fn run(self, client: &Client) -> anyhow::Result<Value> {
        let (node_id, verb, body) = match self {
            Node::List => return client.get("/admin/nodes").await,
            Node::Drain { node_id, within } => (node_id, "drain", json!({"within_seconds": within})),
            Node::Lock { node_id } => (node_id, "lock", json!({})),
            Node::Resume { node_id } => (node_id, "resume", json!({})),
        };
        client.post(&format!("/admin/nodes/{}/{verb}", segment(&node_id)), body).await
    }
}

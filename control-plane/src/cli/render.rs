//! `cyclorama render ...`

use super::client::{Client, segment};
use serde_json::Value;

#[derive(Debug, clap::Subcommand)]
pub enum Render {
    /// State of one render, and the receipt of the node that made it
    Show { render_id: String },
}

impl Render {
    pub async fn run(self, client: &Client) -> anyhow::Result<Value> {
        match self {
            Render::Show { render_id } => client.get(&format!("/admin/renders/{}", segment(&render_id))).await,
        }
    }
}

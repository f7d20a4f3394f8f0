//! `cyclorama render ...`

use super::client::{Client, segment};
use serde_json::Value;

#[derive(Debug, clap::Subcommand)]
pub enum Render {
    /// State of one render, and the receipt of the node that made it
    Show { render_id: String },
    /// The renders that changed last, with their receipts
    List {
        /// How many, 1 to 200
        #[arg(long, default_value_t = 20)]
        limit: i64,
    },
}

impl Render {
    pub async fn run(self, client: &Client) -> anyhow::Result<Value> {
        match self {
            Render::Show { render_id } => client.get(&format!("/admin/renders/{}", segment(&render_id))).await,
            Render::List { limit } => client.get(&format!("/admin/renders?limit={limit}")).await,
        }
    }
}

//! `cyclorama budget ...`

use super::client::Client;
use serde_json::{Value, json};

#[derive(Debug, clap::Subcommand)]
pub enum Budget {
    /// Today's budget and what is spent of it
    Show,
    /// What cold renders of one day may cost; 0 stops them at once
    Set {
        #[arg(long, value_name = "USD")]
        usd_per_day: f64,
    },
}

impl Budget {
    pub async fn run(self, client: &Client) -> anyhow::Result<Value> {
        match self {
            Budget::Show => client.get("/admin/budget").await,
            Budget::Set { usd_per_day } => client.put("/admin/budget", json!({ "usd_per_day": usd_per_day })).await,
        }
    }
}

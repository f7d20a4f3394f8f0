//! `cyclorama budget ...`

use super::client::Client;
use super::numbers::real;
use crate::config::farm::USD_PER_DAY_MAX;
use serde_json::{Value, json};

#[derive(Debug, clap::Subcommand)]
pub enum Budget {
    /// Today's budget and what is spent of it
    Show,
    /// What cold renders of one day may cost; 0 stops them at once
    Set {
        #[arg(long, value_name = "USD", allow_hyphen_values = true, value_parser = real(0.0..=USD_PER_DAY_MAX))]
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

//! `cyclorama budget ...`: the budget of a day, for operators.

use super::client::OperatorClient;
use super::numbers::real;
use crate::config::farm::USD_PER_DAY_MAX;
use serde_json::{Value, json};

#[derive(Debug, clap::Subcommand)]
pub enum BudgetCommand {
    /// Show today's render budget, and how much of it is reserved and spent
    Show,
    /// Set the render budget of a UTC day, for today and every following day; it stays in force
    /// after a restart and overrides the setting daily_budget_usd
    Set {
        /// US dollars for all cold renders of a day; with 0 no cold render starts any more
        #[arg(long, value_name = "USD", allow_hyphen_values = true, value_parser = real(0.0..=USD_PER_DAY_MAX))]
        usd_per_day: f64,
    },
}

impl BudgetCommand {
    pub async fn run(self, client: &OperatorClient) -> anyhow::Result<Value> {
        match self {
            BudgetCommand::Show => client.get("/admin/budget").await,
            BudgetCommand::Set { usd_per_day } => {
                client.put("/admin/budget", json!({ "usd_per_day": usd_per_day })).await
            }
        }
    }
}

//! `cyclorama account ...`

use super::client::{Client, segment};
use serde_json::{Value, json};

#[derive(Debug, clap::Subcommand)]
pub enum Account {
    /// Make an account
    Create {
        #[arg(long)]
        email: String,
        /// All the credits it has; the free credits of a new account when not given
        #[arg(long)]
        credits: Option<i64>,
    },
    /// Give an account credits
    Grant {
        account_id: String,
        credits: i64,
        /// Kept with the entry
        #[arg(long)]
        reason: String,
    },
    /// Balance and use of an account
    Show { account_id: String },
}

impl Account {
    pub async fn run(self, client: &Client) -> anyhow::Result<Value> {
        match self {
            Account::Create { email, credits } => {
                client.post("/admin/accounts", json!({ "email": email, "credits": credits })).await
            }
            Account::Grant { account_id, credits, reason } => {
                let path = format!("/admin/accounts/{}/grants", segment(&account_id));
                client.post(&path, json!({ "credits": credits, "reason": reason })).await
            }
            Account::Show { account_id } => client.get(&format!("/admin/accounts/{}", segment(&account_id))).await,
        }
    }
}

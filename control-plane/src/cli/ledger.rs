//! `cyclorama ledger ...`

use super::client::Client;
use serde_json::Value;

#[derive(Debug, clap::Subcommand)]
pub enum Ledger {
    /// Add every account's entries up and compare them with its balance; fails where they differ
    Verify,
}

impl Ledger {
    pub async fn run(self, client: &Client) -> anyhow::Result<Value> {
        match self {
            Ledger::Verify => {
                let verified = client.get("/admin/ledger/verify").await?;
                anyhow::ensure!(verified["sound"] == true, "the ledger does not add up: {}", verified["wrong"]);
                Ok(verified)
            }
        }
    }
}

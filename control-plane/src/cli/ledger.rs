//! `cyclorama ledger ...`: checks of the ledger, for operators.

use super::client::OperatorClient;
use serde_json::Value;

#[derive(Debug, clap::Subcommand)]
pub enum Ledger {
    /// Check that the entries of each account add up to its balance; fails if they do not
    Verify,
}

impl Ledger {
    pub async fn run(self, client: &OperatorClient) -> anyhow::Result<Value> {
        match self {
            Ledger::Verify => {
                let verified = client.get("/admin/ledger/verify").await?;
                anyhow::ensure!(
                    verified["sound"] == true,
                    "balances differ from the ledger entries: {}",
                    verified["wrong"]
                );
                Ok(verified)
            }
        }
    }
}

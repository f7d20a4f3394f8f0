//! `cyclorama account ...`: accounts and their credits, for operators.

use super::client::{OperatorClient, segment};
use super::numbers::whole;
use crate::ledger::CREDITS_MAX;
use anyhow::Context;
use serde_json::{Value, json};

#[derive(Debug, clap::Subcommand)]
pub enum AccountCommand {
    /// Create an account
    Create {
        /// Email address of its holder
        #[arg(long)]
        email: String,
        /// Initial credits; default: the setting free_credits
        #[arg(long, allow_hyphen_values = true, value_parser = whole(0..=CREDITS_MAX))]
        credits: Option<i64>,
    },
    /// Grant credits to an account
    Grant {
        /// Account id or email address
        #[arg(value_name = "ACCOUNT")]
        account_id: String,
        /// Credits to add
        #[arg(allow_negative_numbers = true, value_parser = whole(1..=CREDITS_MAX))]
        credits: i64,
        /// Reason, stored with the ledger entry
        #[arg(long)]
        reason: String,
    },
    /// Record a payment that was taken elsewhere, which adds its credits once: recording the same
    /// reference again changes nothing
    Purchase {
        /// Account id or email address
        #[arg(value_name = "ACCOUNT")]
        account_id: String,
        /// Credits to add
        #[arg(allow_negative_numbers = true, value_parser = whole(1..=CREDITS_MAX))]
        credits: i64,
        /// Id of the payment where it was taken
        #[arg(long)]
        reference: String,
    },
    /// Create a link that sets a new password; it works once, within two hours
    PasswordLink {
        /// Email address of the account
        #[arg(long)]
        email: String,
    },
    /// Show the balance and usage of an account
    Show {
        /// Account id or email address
        #[arg(value_name = "ACCOUNT")]
        account_id: String,
    },
    /// List all ledger entries of an account, oldest first
    Statement {
        /// Account id or email address
        #[arg(value_name = "ACCOUNT")]
        account_id: String,
        /// Print CSV
        #[arg(long)]
        csv: bool,
        /// Start after this entry
        #[arg(long, value_name = "ENTRY_ID")]
        after: Option<String>,
    },
}

/// The output of a command.
pub enum CommandOutput {
    Document(Value),
    Csv(String),
}

impl AccountCommand {
    pub async fn run(self, client: &OperatorClient) -> anyhow::Result<CommandOutput> {
        let path = async |account: &str, rest: &str| -> anyhow::Result<String> {
            Ok(format!("/admin/accounts/{}{rest}", segment(&id_of(client, account).await?)))
        };
        let document = match self {
            AccountCommand::Create { email, credits } => {
                client.post("/admin/accounts", json!({ "email": email, "credits": credits })).await
            }
            AccountCommand::Grant { account_id, credits, reason } => {
                client.post(&path(&account_id, "/grants").await?, json!({ "credits": credits, "reason": reason })).await
            }
            AccountCommand::Purchase { account_id, credits, reference } => {
                let body = json!({ "credits": credits, "reference": reference });
                client.post(&path(&account_id, "/purchases").await?, body).await
            }
            AccountCommand::PasswordLink { email } => {
                client.post("/admin/password-links", json!({ "email": email })).await
            }
            AccountCommand::Show { account_id } => client.get(&path(&account_id, "").await?).await,
            AccountCommand::Statement { account_id, csv, after } => {
                let path = path(&account_id, "/statement").await?;
                return match csv {
                    true => csv_statement(client, &path, after).await.map(CommandOutput::Csv),
                    false => json_statement(client, &path, after).await.map(CommandOutput::Document),
                };
            }
        };
        document.map(CommandOutput::Document)
    }
}

/// Returns the id of an account that is named by its id or its email address.
pub(super) async fn id_of(client: &OperatorClient, account: &str) -> anyhow::Result<String> {
    if !account.contains('@') {
        return Ok(account.to_owned());
    }
    let found = client.get(&format!("/admin/accounts?email={}", segment(account))).await?;
    Ok(found["account_id"].as_str().context("the service did not return the id of the account")?.to_owned())
}

/// Returns the entries of every page from `after` on.
async fn json_statement(client: &OperatorClient, path: &str, mut after: Option<String>) -> anyhow::Result<Value> {
    let mut lines = Vec::new();
    loop {
        let mut page = client.get(&format!("{path}?{}", begin_after(&after))).await?;
        if let Value::Array(data) = page["data"].take() {
            lines.extend(data);
        }
        after = page["next_after"].as_str().map(str::to_owned);
        if after.is_none() {
            return Ok(lines.into());
        }
    }
}

/// Returns every page from `after` on as one CSV text with one heading.
async fn csv_statement(client: &OperatorClient, path: &str, mut after: Option<String>) -> anyhow::Result<String> {
    let mut text = String::new();
    loop {
        let (page, next) =
            client.get_text(&format!("{path}?format=csv&{}", begin_after(&after)), "x-next-after").await?;
        let rows = if text.is_empty() { page.as_str() } else { page.split_once('\n').map_or("", |(_, rows)| rows) };
        text.push_str(rows);
        after = next;
        if after.is_none() {
            return Ok(text);
        }
    }
}

fn begin_after(after: &Option<String>) -> String {
    after.as_ref().map(|id| format!("after={}", segment(id))).unwrap_or_default()
}

//! `cyclorama account ...`

use super::client::{Client, segment};
use super::numbers::whole;
use crate::ledger::CREDITS_MAX;
use anyhow::Context;
use serde_json::{Value, json};

#[derive(Debug, clap::Subcommand)]
pub enum Account {
    /// Make an account
    Create {
        #[arg(long)]
        email: String,
        /// All the credits it has; the free credits of a new account when not given
        #[arg(long, allow_hyphen_values = true, value_parser = whole(0..=CREDITS_MAX))]
        credits: Option<i64>,
    },
    /// Give an account credits
    Grant {
        /// The account's id or e-mail address
        #[arg(value_name = "ACCOUNT")]
        account_id: String,
        #[arg(allow_negative_numbers = true, value_parser = whole(1..=CREDITS_MAX))]
        credits: i64,
        /// Kept with the entry
        #[arg(long)]
        reason: String,
    },
    /// Enter a payment that was taken elsewhere; entering it again changes nothing
    Purchase {
        /// The account's id or e-mail address
        #[arg(value_name = "ACCOUNT")]
        account_id: String,
        #[arg(allow_negative_numbers = true, value_parser = whole(1..=CREDITS_MAX))]
        credits: i64,
        /// The payment's own id
        #[arg(long)]
        reference: String,
    },
    /// Make a link that sets a new password, good for two hours, once
    PasswordLink {
        #[arg(long)]
        email: String,
    },
    /// Balance and use of an account
    Show {
        /// The account's id or e-mail address
        #[arg(value_name = "ACCOUNT")]
        account_id: String,
    },
    /// Every change of an account's balance, oldest first
    Statement {
        /// The account's id or e-mail address
        #[arg(value_name = "ACCOUNT")]
        account_id: String,
        /// As CSV, every page
        #[arg(long)]
        csv: bool,
        /// Begin after this entry
        #[arg(long, value_name = "ENTRY_ID")]
        after: Option<String>,
    },
}

/// What a command prints.
pub enum Answer {
    Document(Value),
    Csv(String),
}

impl Account {
    pub async fn run(self, client: &Client) -> anyhow::Result<Answer> {
        let path = async |account: &str, rest: &str| -> anyhow::Result<String> {
            Ok(format!("/admin/accounts/{}{rest}", segment(&id_of(client, account).await?)))
        };
        let document = match self {
            Account::Create { email, credits } => {
                client.post("/admin/accounts", json!({ "email": email, "credits": credits })).await
            }
            Account::Grant { account_id, credits, reason } => {
                client.post(&path(&account_id, "/grants").await?, json!({ "credits": credits, "reason": reason })).await
            }
            Account::Purchase { account_id, credits, reference } => {
                let body = json!({ "credits": credits, "reference": reference });
                client.post(&path(&account_id, "/purchases").await?, body).await
            }
            Account::PasswordLink { email } => client.post("/admin/password-links", json!({ "email": email })).await,
            Account::Show { account_id } => client.get(&path(&account_id, "").await?).await,
            Account::Statement { account_id, csv, after } => {
                let path = path(&account_id, "/statement").await?;
                return match csv {
                    true => csv_statement(client, &path, after).await.map(Answer::Csv),
                    false => json_statement(client, &path, after).await.map(Answer::Document),
                };
            }
        };
        document.map(Answer::Document)
    }
}

/// The id of an account that is named by its id or its address.
pub(super) async fn id_of(client: &Client, account: &str) -> anyhow::Result<String> {
    if !account.contains('@') {
        return Ok(account.to_owned());
    }
    let found = client.get(&format!("/admin/accounts?email={}", segment(account))).await?;
    Ok(found["account_id"].as_str().context("the service did not say which account that is")?.to_owned())
}

/// Every page from `after` on.
async fn json_statement(client: &Client, path: &str, mut after: Option<String>) -> anyhow::Result<Value> {
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

/// Every page from `after` on, under one heading.
async fn csv_statement(client: &Client, path: &str, mut after: Option<String>) -> anyhow::Result<String> {
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

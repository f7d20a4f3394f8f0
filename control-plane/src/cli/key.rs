//! `cyclorama key ...`, `cyclorama partner-secret ...`, `cyclorama node-token ...` and `cyclorama signing-key ...`

use super::account::id_of;
use super::client::{Client, segment};
use super::numbers::whole;
use crate::ledger::CREDITS_MAX;
use serde_json::{Value, json};

#[derive(Debug, clap::Subcommand)]
pub enum Key {
    /// Make an API key; it is shown once
    Create {
        /// The account's id or e-mail address
        #[arg(long, value_name = "ACCOUNT")]
        account: String,
        #[arg(long, default_value = "")]
        name: String,
        /// images:read, account:read, billing:write; all when not given
        #[arg(long, value_delimiter = ',')]
        scopes: Option<Vec<String>>,
        /// Requests per minute
        #[arg(long, allow_hyphen_values = true, value_parser = whole(1..=i64::MAX))]
        rate_limit: Option<i64>,
        /// Credits that it may take in a UTC month; as many as the account has when not given
        #[arg(long, value_name = "CREDITS", allow_hyphen_values = true, value_parser = whole(1..=CREDITS_MAX))]
        monthly_cap: Option<i64>,
    },
    /// The keys of an account: all in use, and the last few that were revoked
    List {
        /// The account's id or e-mail address
        #[arg(long, value_name = "ACCOUNT")]
        account: String,
    },
    /// Change what a key may take in a UTC month; without CREDITS the cap is taken off
    Cap {
        key_id: String,
        #[arg(allow_negative_numbers = true, value_parser = whole(1..=CREDITS_MAX))]
        credits: Option<i64>,
    },
    /// Refuse a key from now on
    Revoke { key_id: String },
}

impl Key {
    pub async fn run(self, client: &Client) -> anyhow::Result<Value> {
        match self {
            Key::Create { account, name, scopes, rate_limit, monthly_cap } => {
                let account = id_of(client, &account).await?;
                let body = json!({
                    "account_id": account, "name": name, "scopes": scopes, "rate_limit_per_minute": rate_limit,
                    "monthly_cap_credits": monthly_cap,
                });
                client.post("/admin/keys", body).await
            }
            Key::List { account } => {
                let account = id_of(client, &account).await?;
                client.get(&format!("/admin/accounts/{}/keys", segment(&account))).await
            }
            Key::Cap { key_id, credits } => {
                let body = json!({ "monthly_cap_credits": credits });
                client.put(&format!("/admin/keys/{}/cap", segment(&key_id)), body).await
            }
            Key::Revoke { key_id } => client.post(&format!("/admin/keys/{}/revoke", segment(&key_id)), json!({})).await,
        }
    }
}

#[derive(Debug, clap::Subcommand)]
pub enum NodeToken {
    /// Make a token for render nodes; it is shown once
    Create {
        #[arg(long)]
        name: String,
    },
    /// Refuse a token from now on; what its nodes hold goes to others
    Revoke { token_id: String },
}

impl NodeToken {
    pub async fn run(self, client: &Client) -> anyhow::Result<Value> {
        match self {
            NodeToken::Create { name } => client.post("/admin/node-tokens", json!({ "name": name })).await,
            NodeToken::Revoke { token_id } => {
                client.post(&format!("/admin/node-tokens/{}/revoke", segment(&token_id)), json!({})).await
            }
        }
    }
}

#[derive(Debug, clap::Subcommand)]
pub enum PartnerSecret {
    /// Make a secret that a partner signs addresses of /images/car.png with; it is shown once
    Create {
        /// The API key it hangs on: revoking the key ends its signatures
        #[arg(long, value_name = "KEY_ID")]
        key: String,
    },
    /// Refuse a secret's signatures from now on
    Revoke { partner_secret_id: String },
}

impl PartnerSecret {
    pub async fn run(self, client: &Client) -> anyhow::Result<Value> {
        match self {
            PartnerSecret::Create { key } => client.post("/admin/partner-secrets", json!({ "key_id": key })).await,
            PartnerSecret::Revoke { partner_secret_id: id } => {
                client.post(&format!("/admin/partner-secrets/{}/revoke", segment(&id)), json!({})).await
            }
        }
    }
}

#[derive(Debug, clap::Subcommand)]
pub enum SigningKey {
    /// Sign delivery addresses with a new key from now on; those signed before stay good until they expire
    Rotate,
}

impl SigningKey {
    pub async fn run(self, client: &Client) -> anyhow::Result<Value> {
        match self {
            SigningKey::Rotate => client.post("/admin/signing-keys/rotate", json!({})).await,
        }
    }
}

//! `cyclorama key ...`, `cyclorama partner-secret ...`, `cyclorama node-token ...` and
//! `cyclorama signing-key ...`: secrets, for operators.

use super::account::id_of;
use super::client::{OperatorClient, segment};
use super::numbers::whole;
use crate::ledger::CREDITS_MAX;
use serde_json::{Value, json};

#[derive(Debug, clap::Subcommand)]
pub enum KeyCommand {
    /// Create an API key; it is shown only once
    Create {
        /// Account id or email address
        #[arg(long, value_name = "ACCOUNT")]
        account: String,
        /// Name of the key, to tell it from others
        #[arg(long, default_value = "")]
        name: String,
        /// Scopes: images:read, account:read, billing:write; default: all
        #[arg(long, value_delimiter = ',')]
        scopes: Option<Vec<String>>,
        /// Rate limit, in requests a minute; default: the setting rate_limit_per_minute
        #[arg(long, allow_hyphen_values = true, value_parser = whole(1..=i64::MAX))]
        rate_limit: Option<i64>,
        /// Credits that the key may spend in a UTC month; default: no cap
        #[arg(long, value_name = "CREDITS", allow_hyphen_values = true, value_parser = whole(1..=CREDITS_MAX))]
        monthly_cap: Option<i64>,
    },
    /// List the keys of an account: all active keys and the latest revoked ones
    List {
        /// Account id or email address
        #[arg(long, value_name = "ACCOUNT")]
        account: String,
    },
    /// Set or remove the monthly credit cap of a key
    Cap {
        /// Id of the key, from `cyclorama key list`
        key_id: String,
        /// Credits that the key may spend in a UTC month; if left out, the cap is removed
        #[arg(allow_negative_numbers = true, value_parser = whole(1..=CREDITS_MAX))]
        credits: Option<i64>,
    },
    /// Revoke a key
    Revoke {
        /// Id of the key, from `cyclorama key list`
        key_id: String,
    },
}

impl KeyCommand {
    pub async fn run(self, client: &OperatorClient) -> anyhow::Result<Value> {
        match self {
            KeyCommand::Create { account, name, scopes, rate_limit, monthly_cap } => {
                let account = id_of(client, &account).await?;
                let body = json!({
                    "account_id": account, "name": name, "scopes": scopes, "rate_limit_per_minute": rate_limit,
                    "monthly_cap_credits": monthly_cap,
                });
                client.post("/admin/keys", body).await
            }
            KeyCommand::List { account } => {
                let account = id_of(client, &account).await?;
                client.get(&format!("/admin/accounts/{}/keys", segment(&account))).await
            }
            KeyCommand::Cap { key_id, credits } => {
                let body = json!({ "monthly_cap_credits": credits });
                client.put(&format!("/admin/keys/{}/cap", segment(&key_id)), body).await
            }
            KeyCommand::Revoke { key_id } => {
                client.post(&format!("/admin/keys/{}/revoke", segment(&key_id)), json!({})).await
            }
        }
    }
}

#[derive(Debug, clap::Subcommand)]
pub enum NodeToken {
    /// Create a node token; it is shown only once
    Create {
        #[arg(long)]
        name: String,
    },
    /// Revoke a node token; the jobs of its nodes go to other nodes
    Revoke { token_id: String },
}

impl NodeToken {
    pub async fn run(self, client: &OperatorClient) -> anyhow::Result<Value> {
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
    /// Create a secret with which a partner signs URLs of /images/car.png; it is shown only once
    Create {
        /// API key of the secret; if this key is revoked, the signatures of the secret end
        #[arg(long, value_name = "KEY_ID")]
        key: String,
    },
    /// Revoke a partner secret and its signatures
    Revoke { partner_secret_id: String },
}

impl PartnerSecret {
    pub async fn run(self, client: &OperatorClient) -> anyhow::Result<Value> {
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
    /// Sign delivery URLs with a new key; URLs that were signed before stay valid until they expire
    Rotate,
}

impl SigningKey {
    pub async fn run(self, client: &OperatorClient) -> anyhow::Result<Value> {
        match self {
            SigningKey::Rotate => client.post("/admin/signing-keys/rotate", json!({})).await,
        }
    }
}

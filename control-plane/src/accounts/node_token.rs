//! Node tokens: the secrets with which render nodes authenticate to claim jobs.

use super::token::{KeyHash, PlainKey};
use crate::clock::UnixMs;
use crate::db::{Database, Tx};
use std::time::Duration;

pub const PREFIX: &str = "cycn_";

/// Stores a token that was made with [`PREFIX`], and returns its id. Only the hash is stored.
pub async fn create(tx: &mut Tx<'_>, name: &str, token: &PlainKey, now: UnixMs) -> Result<String, sqlx::Error> {
    let token_id = uuid::Uuid::now_v7().to_string();
    sqlx::query("insert into node_tokens (id, name, token_sha256, created_at_ms) values ($1, $2, $3, $4)")
        .bind(&token_id)
        .bind(name)
        .bind(token.hash().as_str())
        .bind(now.0)
        .execute(&mut **tx)
        .await?;
    Ok(token_id)
}

/// Returns the token's id, or `None` if the token was never made or is revoked.
pub async fn find(db: &Database, hash: &KeyHash) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar("select id from node_tokens where token_sha256 = $1 and revoked_at_ms is null")
        .bind(hash.as_str())
        .fetch_optional(&db.readers)
        .await
}

/// Revokes a token for good. Returns false if there is no token with this id.
/// Repeating it changes nothing.
pub async fn revoke(db: &Database, token_id: &str, now: UnixMs) -> Result<bool, sqlx::Error> {
    let changed = db
        .write(
            sqlx::query("update node_tokens set revoked_at_ms = coalesce(revoked_at_ms, $1) where id = $2")
                .bind(now.0)
                .bind(token_id),
        )
        .await?;
    Ok(changed == 1)
}

/// Tokens of nodes that were admitted recently. Only for decisions that are made before a handler
/// checks the token; presence in the cache authorises nothing.
pub type KnownNodes = moka::sync::Cache<KeyHash, ()>;

const KNOWN_NODES_MAX: u64 = 10_000;

/// Time for which a token stays in the cache; after it, revoked tokens are gone from the cache.
const KNOWN_NODES_FOR: Duration = Duration::from_secs(600);

pub fn known_nodes() -> KnownNodes {
    moka::sync::Cache::builder().max_capacity(KNOWN_NODES_MAX).time_to_live(KNOWN_NODES_FOR).build()
}

//! Node tokens: what a render node shows to take work.

use super::token::{KeyHash, PlainKey};
use crate::clock::UnixMs;
use crate::db::{Database, Tx};
use std::time::Duration;

pub const PREFIX: &str = "cycn_";

/// Records a token made with [`PREFIX`]; answers its id. Only the hash is kept.
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

/// The token's id. `None`: never made, or revoked.
pub async fn find(db: &Database, hash: &KeyHash) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar("select id from node_tokens where token_sha256 = $1 and revoked_at_ms is null")
        .bind(hash.as_str())
        .fetch_optional(&db.readers)
        .await
}

/// Revokes a token for good; `false` when there is none with this id. Repeating it changes nothing.
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

/// Tokens of nodes that were let in lately. For what is decided before a handler looks at the token; it opens nothing.
pub type KnownNodes = moka::sync::Cache<KeyHash, ()>;

const KNOWN_NODES_MAX: u64 = 10_000;

/// Revoked ones are forgotten after so long.
const KNOWN_NODES_FOR: Duration = Duration::from_secs(600);

pub fn known_nodes() -> KnownNodes {
    moka::sync::Cache::builder().max_capacity(KNOWN_NODES_MAX).time_to_live(KNOWN_NODES_FOR).build()
}

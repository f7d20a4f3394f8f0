//! Node tokens: what a render node shows to take work.

use super::token::{KeyHash, PlainKey};
use crate::clock::UnixMs;
use crate::db::{Database, Tx};
use sqlx::Row;

pub const PREFIX: &str = "cycn_";

#[derive(Debug, Clone)]
pub struct ActiveNodeToken {
    pub token_id: String,
    pub name: String,
}

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

/// `None`: never made, or revoked.
pub async fn find(db: &Database, hash: &KeyHash) -> Result<Option<ActiveNodeToken>, sqlx::Error> {
    let row = sqlx::query("select id, name from node_tokens where token_sha256 = $1 and revoked_at_ms is null")
        .bind(hash.as_str())
        .fetch_optional(&db.readers)
        .await?;
    row.map(|row| Ok(ActiveNodeToken { token_id: row.try_get("id")?, name: row.try_get("name")? })).transpose()
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

//! The list of an account's signed URLs, for its owner.

use crate::clock::UnixMs;
use crate::db::Database;
use sqlx::Row;

/// A signed URL without its token, which is shown when it is minted and never again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlSummary {
    pub id: String,
    pub make: String,
    pub model: String,
    pub year: i64,
    pub view: String,
    pub colour: String,
    pub key_name: String,
    pub created_at: UnixMs,
    pub expires_at: UnixMs,
    pub max_uses: i64,
    pub uses: i64,
    pub state: ListedState,
}

/// The state of a listed URL at the time of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedState {
    Active,
    Exhausted,
    /// Its first load failed; the credit was given back.
    Consumed,
    Expired,
    /// Its key was revoked.
    Invalid,
}

impl ListedState {
    pub const fn as_str(self) -> &'static str {
        match self {
            ListedState::Active => "active",
            ListedState::Exhausted => "exhausted",
            ListedState::Consumed => "consumed",
            ListedState::Expired => "expired",
            ListedState::Invalid => "invalid",
        }
    }
}

/// Returns an account's signed URLs, the newest first.
pub async fn list(db: &Database, account_id: &str, limit: i64, now: UnixMs) -> Result<Vec<UrlSummary>, sqlx::Error> {
    let rows = sqlx::query(
        "select u.id, u.make, u.model || case when u.body = '' then '' else '.' || u.body end, u.year, u.view, u.color,
            k.name, u.created_at_ms, u.expires_at_ms, u.max_uses, u.uses, u.state,
                k.revoked_at_ms
         from delivery_urls u join api_keys k on k.id = u.key_id where k.account_id = $1
         order by u.created_at_ms desc, u.id desc limit $2",
    )
    .bind(account_id)
    .bind(limit)
    .fetch_all(&db.readers)
    .await?;
    rows.iter()
        .map(|row| {
            let (expires_at_ms, max_uses, uses): (i64, i64, i64) = (row.try_get(8)?, row.try_get(9)?, row.try_get(10)?);
            let is_revoked = row.try_get::<Option<i64>, _>(12)?.is_some();
            let state = match row.try_get::<String, _>(11)?.as_str() {
                _ if is_revoked => ListedState::Invalid,
                "consumed" => ListedState::Consumed,
                _ if expires_at_ms <= now.0 => ListedState::Expired,
                _ if max_uses > 0 && uses >= max_uses => ListedState::Exhausted,
                _ => ListedState::Active,
            };
            Ok(UrlSummary {
                id: row.try_get(0)?,
                make: row.try_get(1)?,
                model: row.try_get(2)?,
                year: row.try_get(3)?,
                view: row.try_get(4)?,
                colour: row.try_get(5)?,
                key_name: row.try_get(6)?,
                created_at: UnixMs(row.try_get(7)?),
                expires_at: UnixMs(expires_at_ms),
                max_uses,
                uses,
                state,
            })
        })
        .collect()
}

/// Returns the number of a key's signed URLs that can still be loaded.
pub async fn count_active(db: &Database, key_id: &str, now: UnixMs) -> Result<i64, sqlx::Error> {
    sqlx::query(
        "select count(*) from delivery_urls
         where key_id = $1 and state = 'active' and expires_at_ms > $2 and (max_uses = 0 or uses < max_uses)",
    )
    .bind(key_id)
    .bind(now.0)
    .fetch_one(&db.readers)
    .await?
    .try_get(0)
}

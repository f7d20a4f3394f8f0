//! Signed URLs as far as they concern credits: they are made with their debit, counted when loaded,
//! and given back once if the first load fails.
//!
//! The functions run inside the meter's transaction. `delivery` decides which URL a token names and
//! whether it may be loaded.

use super::ended::CountedIn;
use crate::clock::UnixMs;
use crate::db::Tx;
use sqlx::Row;
use sqlx::any::AnyRow;

/// A signed URL that was loaded or closed: the account that paid for it, and the key's cap
/// against which it counted.
pub(super) struct ChangedUrl {
    pub account_id: String,
    pub counted: Option<CountedIn>,
}

/// Counts a load. Returns `None` if the URL may no longer be loaded.
pub(super) async fn count_load(tx: &mut Tx<'_>, now: UnixMs, id: &str) -> Result<Option<ChangedUrl>, sqlx::Error> {
    let row = sqlx::query(
        "update delivery_urls set uses = uses + 1
         where id = $1 and state = 'active' and expires_at_ms > $2 and (max_uses = 0 or uses < max_uses)
         returning account_id, key_id, capped_month",
    )
    .bind(id)
    .bind(now.0)
    .fetch_optional(&mut **tx)
    .await?;
    row.map(|row| read(&row)).transpose()
}

/// Closes a URL that was never loaded, so that its credit can be given back. Returns `None` if it
/// was loaded or closed before.
pub(super) async fn consume(tx: &mut Tx<'_>, id: &str) -> Result<Option<ChangedUrl>, sqlx::Error> {
    let row = sqlx::query(
        "update delivery_urls set state = 'consumed' where id = $1 and state = 'active' and uses = 0
         returning account_id, key_id, capped_month",
    )
    .bind(id)
    .fetch_optional(&mut **tx)
    .await?;
    row.map(|row| read(&row)).transpose()
}

fn read(row: &AnyRow) -> Result<ChangedUrl, sqlx::Error> {
    Ok(ChangedUrl { account_id: row.try_get(0)?, counted: CountedIn::read(row.try_get(1)?, row.try_get(2)?) })
}

//! Signed addresses as far as money goes: made with their debit, counted when loaded, given back once when the first load fails.
//!
//! Runs inside the meter's transaction. Which address a token names and whether it may be loaded is `delivery`'s.

use super::ended::CountedIn;
use crate::clock::UnixMs;
use crate::db::Tx;
use sqlx::Row;
use sqlx::any::AnyRow;

/// An address that was loaded or closed: the account that paid for it, and whose cap it counted against.
pub(super) struct Changed {
    pub account_id: String,
    pub counted: Option<CountedIn>,
}

/// Counts a load, if the address may still be loaded.
pub(super) async fn count_load(tx: &mut Tx<'_>, now: UnixMs, id: &str) -> Result<Option<Changed>, sqlx::Error> {
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

/// Closes an address that was never loaded: its credit is to be given back.
pub(super) async fn consume(tx: &mut Tx<'_>, id: &str) -> Result<Option<Changed>, sqlx::Error> {
    let row = sqlx::query(
        "update delivery_urls set state = 'consumed' where id = $1 and state = 'active' and uses = 0
         returning account_id, key_id, capped_month",
    )
    .bind(id)
    .fetch_optional(&mut **tx)
    .await?;
    row.map(|row| read(&row)).transpose()
}

fn read(row: &AnyRow) -> Result<Changed, sqlx::Error> {
    Ok(Changed { account_id: row.try_get(0)?, counted: CountedIn::read(row.try_get(1)?, row.try_get(2)?) })
}

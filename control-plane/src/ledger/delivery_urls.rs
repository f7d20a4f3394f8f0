//! Signed addresses as far as money goes: made with their debit, counted when loaded, given back once when the first load fails.
//!
//! Runs inside the meter's transaction. Which address a token names and whether it may be loaded is `delivery`'s.

use super::NewDeliveryUrl;
use crate::clock::UnixMs;
use crate::db::Tx;
use sqlx::Row;

/// Counts a load, if the address may still be loaded.
pub(super) async fn count_load(tx: &mut Tx<'_>, now: UnixMs, id: &str) -> Result<bool, sqlx::Error> {
    let counted = sqlx::query(
        "update delivery_urls set uses = uses + 1
         where id = $1 and state = 'active' and expires_at_ms > $2 and (max_uses = 0 or uses < max_uses)",
    )
    .bind(id)
    .bind(now.0)
    .execute(&mut **tx)
    .await?;
    Ok(counted.rows_affected() == 1)
}

/// Closes an address that was never loaded; the account whose credit is to be given back.
pub(super) async fn consume(tx: &mut Tx<'_>, id: &str) -> Result<Option<String>, sqlx::Error> {
    let row = sqlx::query(
        "update delivery_urls set state = 'consumed' where id = $1 and state = 'active' and uses = 0 returning account_id",
    )
    .bind(id)
    .fetch_optional(&mut **tx)
    .await?;
    row.map(|row| row.try_get(0)).transpose()
}

pub(super) async fn insert(
    tx: &mut Tx<'_>,
    now: UnixMs,
    account_id: &str,
    url: &NewDeliveryUrl,
) -> Result<(), sqlx::Error> {
    let variant = &url.variant;
    sqlx::query(
        "insert into delivery_urls (id, account_id, key_id, request_id, make, model, year, view, color, format, width, height,
                                    max_uses, uses, state, created_at_ms, expires_at_ms)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, 'active', $14, $15)",
    )
    .bind(&url.id)
    .bind(account_id)
    .bind(&url.key_id)
    .bind(&url.request_id)
    .bind(&variant.make)
    .bind(&variant.model)
    .bind(i64::from(variant.year))
    .bind(variant.view.as_str())
    .bind(variant.colour.as_str())
    .bind(url.format.as_str())
    .bind(url.width.map(i64::from))
    .bind(url.height.map(i64::from))
    .bind(url.max_uses)
    .bind(now.0)
    .bind(url.expires_at_ms)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

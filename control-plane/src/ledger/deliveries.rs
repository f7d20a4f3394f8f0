//! An account's deliveries, as they are listed for its holder.

use super::Credits;
use crate::clock::UnixMs;
use sqlx::{AnyPool, Row};

/// An image that was delivered to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveredImage {
    pub id: String,
    pub at: UnixMs,
    pub request_id: String,
    pub key_name: String,
    /// The vehicle as `make/model/year`, in slugs.
    pub vehicle_key: String,
    pub view: String,
    pub colour: String,
    pub format: String,
    pub width_px: i64,
    /// `cache` or `generated`.
    pub source: String,
    pub credits: Credits,
}

/// Returns up to `limit` deliveries of an account, newest first. Starts after the delivery with the
/// id `before` if it is given, else with the newest.
pub async fn deliveries(
    pool: &AnyPool,
    account_id: &str,
    before: Option<&str>,
    limit: i64,
) -> Result<Vec<DeliveredImage>, sqlx::Error> {
    let start = match before {
        None => None,
        Some(id) => {
            let sql = "select at_ms from deliveries where id = $1 and account_id = $2";
            let row = sqlx::query(sql).bind(id).bind(account_id).fetch_optional(pool).await?;
            row.map(|row| row.try_get::<i64, _>(0)).transpose()?
        }
    };
    let rows = sqlx::query(
        "select d.id, d.at_ms, d.request_id, k.name, coalesce(nullif(d.vehicle_key, ''), r.vehicle_key), r.view, r.color, d.format, d.width,
            d.source, d.credits
         from deliveries d join renders r on r.id = d.render_id join api_keys k on k.id = d.key_id
         where d.account_id = $1 and (d.at_ms < $2 or (d.at_ms = $2 and d.id < $3)) order by d.at_ms desc, d.id desc limit $4",
    )
    .bind(account_id)
    .bind(start.unwrap_or(i64::MAX))
    .bind(before.unwrap_or_default())
    .bind(limit)
    .fetch_all(pool)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(DeliveredImage {
                id: row.try_get(0)?,
                at: UnixMs(row.try_get(1)?),
                request_id: row.try_get(2)?,
                key_name: row.try_get(3)?,
                vehicle_key: row.try_get(4)?,
                view: row.try_get(5)?,
                colour: row.try_get(6)?,
                format: row.try_get(7)?,
                width_px: row.try_get(8)?,
                source: row.try_get(9)?,
                credits: Credits(row.try_get(10)?),
            })
        })
        .collect()
}

//! Usage of accounts by day. The meter adds it up in the same transaction as what it counts, so
//! that no number is ever computed from millions of rows.

use super::ended::EndedHold;
use super::{Charge, ChargeOutcome, Credits, ImageSource, MeterRequest};
use crate::clock::{DAY_MS, UnixMs};
use crate::db::Tx;
use sqlx::{AnyPool, Row};
use std::collections::BTreeMap;

/// Number of days of usage that are shown for an account.
const SHOWN_DAYS: i64 = 30;

/// Sums over one or more days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Requests of the account's keys, refused ones included.
    pub requests: i64,
    /// Images delivered, by key or as a counted load of a signed URL.
    pub images: i64,
    /// Number of those images that existed already.
    pub cached_images: i64,
    /// Credits taken minus credits given back.
    pub credits_spent: i64,
}

/// Returns the credits of an account taken minus those given back on the UTC day of `day`.
pub async fn credits_spent_on(pool: &AnyPool, account_id: &str, day: UnixMs) -> Result<Credits, sqlx::Error> {
    let sql = "select credits_spent from usage_daily where account_id = $1 and day = $2";
    let row = sqlx::query(sql).bind(account_id).bind(day.utc_day()).fetch_optional(pool).await?;
    row.map_or(Ok(Credits(0)), |row| row.try_get(0).map(Credits))
}

/// Returns the usage of the last thirty UTC days, today included.
pub async fn usage_30d(pool: &AnyPool, account_id: &str, now: UnixMs) -> Result<Usage, sqlx::Error> {
    let first_day = now.plus_ms(-(SHOWN_DAYS - 1) * DAY_MS).utc_day();
    let row = sqlx::query(
        "select cast(coalesce(sum(requests), 0) as bigint), cast(coalesce(sum(images), 0) as bigint),
                cast(coalesce(sum(cached_images), 0) as bigint), cast(coalesce(sum(credits_spent), 0) as bigint)
         from usage_daily where account_id = $1 and day >= $2",
    )
    .bind(account_id)
    .bind(first_day)
    .fetch_one(pool)
    .await?;
    Ok(Usage {
        requests: row.try_get(0)?,
        images: row.try_get(1)?,
        cached_images: row.try_get(2)?,
        credits_spent: row.try_get(3)?,
    })
}

/// Returns the usage of the same thirty days one by one, oldest first, including
/// days without any use.
pub async fn usage_by_day(pool: &AnyPool, account_id: &str, now: UnixMs) -> Result<Vec<(String, Usage)>, sqlx::Error> {
    let days = (0..SHOWN_DAYS).rev().map(|ago| now.plus_ms(-ago * DAY_MS).utc_day());
    let mut by_day: BTreeMap<String, Usage> = days.map(|day| (day, Usage::default())).collect();
    let first_day = by_day.keys().next().cloned().unwrap_or_default();
    let rows = sqlx::query(
        "select day, requests, images, cached_images, credits_spent from usage_daily where account_id = $1 and day >= $2",
    )
    .bind(account_id)
    .bind(first_day)
    .fetch_all(pool)
    .await?;
    for row in rows {
        // A process whose clock is ahead may have begun tomorrow already.
        if let Some(usage) = by_day.get_mut(row.try_get::<&str, _>(0)?) {
            *usage = Usage {
                requests: row.try_get(1)?,
                images: row.try_get(2)?,
                cached_images: row.try_get(3)?,
                credits_spent: row.try_get(4)?,
            };
        }
    }
    Ok(by_day.into_iter().collect())
}

/// Returns what a batch adds to each account's day.
pub(super) fn of_batch<'a>(
    entries: &[&'a MeterRequest],
    outcomes: &[Option<ChargeOutcome>],
    ended: &'a BTreeMap<usize, EndedHold>,
) -> BTreeMap<&'a str, Usage> {
    let mut by_account: BTreeMap<&str, Usage> = BTreeMap::new();
    for (index, entry) in entries.iter().enumerate() {
        if let Some(account_id) = entry.count.as_ref().and_then(|count| count.account_id.as_deref()) {
            by_account.entry(account_id).or_default().requests += 1;
        }
        if !matches!(outcomes[index], Some(ChargeOutcome::Done { .. })) {
            continue;
        }
        let account_id = match (&entry.charge, ended.get(&index)) {
            (
                Charge::Debit { account_id, .. } | Charge::Hold { account_id, .. } | Charge::Mint { account_id, .. },
                _,
            ) => account_id,
            (_, Some(ended)) => &ended.account_id,
            _ => continue,
        };
        let usage = by_account.entry(account_id).or_default();
        usage.credits_spent += entry.charge.asks().0;
        match &entry.charge {
            Charge::Release { .. } | Charge::Refund { .. } => {
                usage.credits_spent -= ended.get(&index).map_or(Credits(0), |ended| ended.credits).0;
            }
            Charge::Debit { delivery, .. } | Charge::Settle { delivery, .. } | Charge::Load { delivery, .. } => {
                usage.images += 1;
                usage.cached_images += i64::from(delivery.source == ImageSource::Cache);
            }
            Charge::Nothing | Charge::Read { .. } | Charge::Hold { .. } | Charge::Mint { .. } => {}
        }
    }
    by_account
}

/// Adds usage to the rows of the day, account by account.
pub(super) async fn add(tx: &mut Tx<'_>, now: UnixMs, by_account: BTreeMap<&str, Usage>) -> Result<(), sqlx::Error> {
    let day = now.utc_day();
    for (account_id, usage) in by_account {
        sqlx::query(
            "insert into usage_daily (account_id, day, requests, images, cached_images, credits_spent)
             values ($1, $2, $3, $4, $5, $6)
             on conflict (account_id, day) do update set requests = usage_daily.requests + excluded.requests,
                images = usage_daily.images + excluded.images,
                cached_images = usage_daily.cached_images + excluded.cached_images,
                credits_spent = usage_daily.credits_spent + excluded.credits_spent",
        )
        .bind(account_id)
        .bind(&day)
        .bind(usage.requests)
        .bind(usage.images)
        .bind(usage.cached_images)
        .bind(usage.credits_spent)
        .execute(&mut **tx)
        .await?;
    }
    Ok(())
}

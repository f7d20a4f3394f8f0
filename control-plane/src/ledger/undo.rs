//! Gives back final charges whose requests got no answer: once, whichever process does it and
//! however often it tries.
//!
//! Each charge is given back in a transaction of its own, which takes its locks in the same order
//! as a batch of the meter.

use super::balance::{NewEntry, enter};
use super::ended::CountedIn;
use super::key_cap;
use super::usage::{self, Usage};
use super::{Credits, LedgerError, delivery_urls, idempotency};
use crate::clock::UnixMs;
use crate::db::{Database, Tx};
use sqlx::Row;
use std::collections::BTreeMap;

const REASON: &str = "charged, but the answer did not go out";

/// Gives back a debit or a settlement, with what it counted. Returns false if it has been given
/// back before, or if its answer was sent after all to a client that repeated the request.
pub(super) async fn give_back(database: &Database, entry_id: &str, now: UnixMs) -> Result<bool, LedgerError> {
    let mut tx = database.begin().await?;
    let given = give_back_in(&mut tx, entry_id, now).await?;
    match given {
        true => tx.commit().await?,
        false => tx.rollback().await?,
    }
    Ok(given)
}

async fn give_back_in(tx: &mut Tx<'_>, entry_id: &str, now: UnixMs) -> Result<bool, LedgerError> {
    if !idempotency::forget_charged(tx, entry_id).await? {
        return Ok(false);
    }
    let charged = sqlx::query(
        "select e.account_id, e.credits, e.at_ms, e.hold_id, h.capped_key_id, h.capped_month
         from ledger_entries e left join holds h on h.id = e.hold_id
         where e.id = $1 and e.kind in ('debit', 'settle') and e.credits < 0",
    )
    .bind(entry_id)
    .fetch_optional(&mut **tx)
    .await?;
    let Some(charged) = charged else { return Ok(false) };
    let (account_id, credits, at): (String, i64, UnixMs) =
        (charged.try_get(0)?, -charged.try_get::<i64, _>(1)?, UnixMs(charged.try_get(2)?));
    let was_held = charged.try_get::<Option<String>, _>(3)?.is_some();
    // The same credit may have paid for a signed URL. Only the answer that was not sent contained
    // the URL, so nobody knows it, and it is closed.
    let address: Option<String> = match was_held {
        true => {
            let sql = "update delivery_urls set state = 'consumed', uses = 0 where entry_id = $1 and state = 'active' and uses = 1
                       returning id";
            sqlx::query_scalar(sql).bind(entry_id).fetch_optional(&mut **tx).await?
        }
        false => None,
    };
    let delivery = sqlx::query("delete from deliveries where id = $1 returning key_id, source")
        .bind(entry_id)
        .fetch_optional(&mut **tx)
        .await?;
    let mut used = Usage::default();
    match delivery {
        Some(delivery) => {
            let counted = match was_held {
                true => CountedIn::read(charged.try_get(4)?, charged.try_get(5)?),
                false => CountedIn::read(delivery.try_get(0)?, Some(at.utc_month())),
            };
            key_cap::give_back(tx, counted.iter().map(|counted| (counted, Credits(credits))), now).await?;
            let given = match &address {
                Some(id) => NewEntry { delivery_url_id: Some(id), ..NewEntry::of("refund", credits, REASON) },
                None => NewEntry { corrects: Some(entry_id), ..NewEntry::of("correction", credits, REASON) },
            };
            enter(tx, &account_id, given, now).await?;
            used.images = -1;
            used.cached_images = -i64::from(delivery.try_get::<&str, _>(1)? == "cache");
            used.credits_spent = -credits;
        }
        None => {
            let unused = consume_all(tx, entry_id).await?;
            key_cap::give_back(tx, unused.values().flatten().map(|counted| (counted, Credits::PER_PICTURE)), now)
                .await?;
            for delivery_url_id in unused.keys() {
                let refund = NewEntry {
                    delivery_url_id: Some(delivery_url_id),
                    ..NewEntry::of("refund", Credits::PER_PICTURE.0, REASON)
                };
                enter(tx, &account_id, refund, now).await?;
            }
            used.credits_spent = -Credits::of_pictures(unused.len()).0;
        }
    }
    let has_given = used != Usage::default();
    if has_given {
        tracing::info!(
            account_id,
            entry_id,
            credits = -used.credits_spent,
            "a charge whose request was never answered was refunded"
        );
        usage::add(tx, at, BTreeMap::from([(account_id.as_str(), used)])).await?;
    }
    Ok(has_given)
}

/// Closes the signed URLs for which an entry paid, except those that were loaded.
async fn consume_all(tx: &mut Tx<'_>, entry_id: &str) -> Result<BTreeMap<String, Option<CountedIn>>, sqlx::Error> {
    let ids: Vec<String> = sqlx::query_scalar("select id from delivery_urls where entry_id = $1 order by id")
        .bind(entry_id)
        .fetch_all(&mut **tx)
        .await?;
    let mut consumed = BTreeMap::new();
    for id in ids {
        if let Some(changed) = delivery_urls::consume(tx, &id).await? {
            consumed.insert(id, changed.counted);
        }
    }
    Ok(consumed)
}

/// Takes back loads of signed URLs whose images were not sent. `delivery_url_ids` contains a URL
/// once for each load; the records of the loads have ids greater than `after` and up to `until`.
pub(super) async fn uncount_loads(
    tx: &mut Tx<'_>,
    delivery_url_ids: &[&str],
    after: &str,
    until: &str,
) -> Result<(), sqlx::Error> {
    if delivery_url_ids.is_empty() {
        return Ok(());
    }
    let mut ids = delivery_url_ids.to_vec();
    ids.sort_unstable();
    for id in ids {
        let sql = "update delivery_urls set uses = uses - 1 where id = $1 and uses > 0";
        sqlx::query(sql).bind(id).execute(&mut **tx).await?;
    }
    let rows = sqlx::query(
        "delete from deliveries where id > $1 and id <= $2 and credits = 0
            and not exists (select 1 from ledger_entries e where e.id = deliveries.id)
         returning account_id, source, at_ms",
    )
    .bind(after)
    .bind(until)
    .fetch_all(&mut **tx)
    .await?;
    let mut used: BTreeMap<String, (UnixMs, Usage)> = BTreeMap::new();
    for row in rows {
        let of_account = used.entry(row.try_get(0)?).or_insert((UnixMs(row.try_get(2)?), Usage::default()));
        of_account.1.images -= 1;
        of_account.1.cached_images -= i64::from(row.try_get::<&str, _>(1)? == "cache");
    }
    for (account_id, (at, used)) in &used {
        usage::add(tx, *at, BTreeMap::from([(account_id.as_str(), *used)])).await?;
    }
    Ok(())
}

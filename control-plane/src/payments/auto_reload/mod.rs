//! Auto-reload: buys a pack with the stored card when the balance falls below a threshold.
//!
//! This module has the settings of accounts and the rows of their reloads. [`sweep`] reads balances
//! and calls Stripe, separately from the debits.
//!
//! Why: `docs/decisions/payments.md` (Auto-reload: limits and failures).

mod failure_emails;
mod sweep;

pub use failure_emails::FailureEmails;
pub use sweep::AutoReloadSweep;

use crate::accounts::account;
use crate::clock::{DAY_MS, UnixMs};
use crate::config::prices::Pack;
use crate::db::{Database, Tx};
use sqlx::Row;

/// Maximum number of reloads of an account in a day for which Stripe was called: a lost key should
/// not empty a card. Reloads that ended before such a call charged nothing and do not count.
const A_DAY_MAX: i64 = 10;

/// Maximum number of accounts read, and of reloads tried, in one sweep.
const SWEEP_MAX: i64 = 100;

/// Maximum number of calls to Stripe for one reload before it is given up.
pub const ATTEMPTS_MAX: i64 = 8;

/// Time after which Stripe is no longer called for a reload, in milliseconds. Stripe remembers the
/// idempotency key of a call for a day: a later call would charge again.
const LIFETIME_MS: i64 = DAY_MS / 2;

/// Time after a call whose answer was lost in which Stripe's event may still report that the card
/// was charged, in milliseconds. The event usually takes seconds.
const UNKNOWN_MS: i64 = 600_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutoReload {
    pub is_on: bool,
    pub threshold_credits: i64,
    pub pack_credits: i64,
}

pub async fn find(db: &Database, account_id: &str) -> Result<Option<AutoReload>, sqlx::Error> {
    let sql = "select is_on, threshold_credits, pack_credits from auto_reloads where account_id = $1";
    let row = sqlx::query(sql).bind(account_id).fetch_optional(&db.readers).await?;
    row.map(|row| {
        Ok(AutoReload {
            is_on: row.try_get::<i64, _>(0)? == 1,
            threshold_credits: row.try_get(1)?,
            pack_credits: row.try_get(2)?,
        })
    })
    .transpose()
}

/// Stores the settings that the account's owner chose, and ends an open reload that does not match
/// them: one for another pack or another card, or one whose balance is not below the threshold.
/// `packs` are the packs that are sold now.
pub async fn set(
    db: &Database,
    packs: &[Pack],
    account_id: &str,
    settings: AutoReload,
    now: UnixMs,
) -> Result<(), sqlx::Error> {
    let mut tx = db.begin().await?;
    account::lock(&mut tx, account_id).await?;
    sqlx::query(
        "insert into auto_reloads (account_id, is_on, threshold_credits, pack_credits) values ($1, $2, $3, $4)
         on conflict (account_id) do update set is_on = excluded.is_on, threshold_credits = excluded.threshold_credits,
            pack_credits = excluded.pack_credits",
    )
    .bind(account_id)
    .bind(i64::from(settings.is_on))
    .bind(settings.threshold_credits)
    .bind(settings.pack_credits)
    .execute(&mut *tx)
    .await?;
    end_unwanted(&mut tx, packs, account_id, now).await?;
    tx.commit().await
}

/// Turns auto-reload off and ends the open reload, so that it is not charged when auto-reload is
/// turned on again. A charge that Stripe is processing at this moment may still be made; its
/// credits are then entered like those of any payment.
pub async fn turn_off(tx: &mut Tx<'_>, account_id: &str, now: UnixMs) -> Result<(), sqlx::Error> {
    account::lock(tx, account_id).await?;
    sqlx::query("update auto_reloads set is_on = 0 where account_id = $1").bind(account_id).execute(&mut **tx).await?;
    // Auto-reload is off, so no pack is wanted.
    end_unwanted(tx, &[], account_id, now).await
}

/// Ends the open reload of an account unless exactly this charge is wanted now: by the settings,
/// the balance, the stored card, and the pack's price among `packs`, the packs that are sold. The
/// reload's row keeps the time until which an attempt at it may still turn out to have been made
/// (`unknown_until_ms`). The caller has locked the account.
async fn end_unwanted(tx: &mut Tx<'_>, packs: &[Pack], account_id: &str, now: UnixMs) -> Result<(), sqlx::Error> {
    let sql = "select pack_credits from auto_reloads where account_id = $1 and is_on = 1";
    let credits: Option<i64> = sqlx::query_scalar(sql).bind(account_id).fetch_optional(&mut **tx).await?;
    // A pack that is no longer sold has no price (null), which equals nothing in SQL.
    let cents = credits.and_then(|credits| pack_of(packs, credits)).map(|pack| pack.cents);
    sqlx::query(
        "update payments set state = 'cancelled', ended_at_ms = $1
         where account_id = $2 and purpose = 'reload' and state = 'open'
            and not exists (select 1 from auto_reloads a join balances b on b.account_id = a.account_id
                        join stripe_customers c on c.account_id = a.account_id
                    where a.account_id = $2 and a.is_on = 1 and a.pack_credits = payments.credits and payments.cents = $3
                        and c.payment_method = payments.payment_method and b.credits < a.threshold_credits)",
    )
    .bind(now.0)
    .bind(account_id)
    .bind(cents)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Returns the pack with this number of credits, if it is sold.
fn pack_of(packs: &[Pack], credits: i64) -> Option<&Pack> {
    packs.iter().find(|pack| pack.credits == credits)
}

/// Locks the balance of an account, so that it does not change until this transaction ends.
async fn lock_balance(tx: &mut Tx<'_>, account_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("update balances set credits = credits where account_id = $1")
        .bind(account_id)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Like [`turn_off`], but only if auto-reload still buys this pack. Returns false if it does not.
async fn turn_off_for_pack(tx: &mut Tx<'_>, low: &Low, now: UnixMs) -> Result<bool, sqlx::Error> {
    account::lock(tx, &low.account_id).await?;
    let sql = "select 1 from auto_reloads where account_id = $1 and is_on = 1 and pack_credits = $2";
    let same = sqlx::query(sql).bind(&low.account_id).bind(low.pack_credits).fetch_optional(&mut **tx).await?;
    if same.is_some() {
        turn_off(tx, &low.account_id, now).await?;
    }
    Ok(same.is_some())
}

/// Returns true if Stripe may still make a charge that was under way when
/// auto-reload was turned off.
pub async fn may_still_charge(db: &Database, account_id: &str, now: UnixMs) -> Result<bool, sqlx::Error> {
    let sql = "select 1 from payments where account_id = $1 and purpose = 'reload' and state = 'cancelled' and unknown_until_ms > $2 limit 1";
    let row = sqlx::query(sql).bind(account_id).bind(now.0).fetch_optional(&db.readers).await?;
    Ok(row.is_some())
}

/// An account with a low balance and a card to charge, as it was when it was read.
/// [`begin`] checks it again.
#[derive(Debug)]
struct Low {
    account_id: String,
    pack_credits: i64,
}

/// SQL condition for a reload of the account `a.account_id` to be due: $1 is now, $2 a day before,
/// $3 the maximum in a day. While an earlier charge may still be reported, no new reload is begun.
const IS_DUE: &str = "a.is_on = 1 and b.credits < a.threshold_credits and c.payment_method is not null
    and not exists (select 1 from payments p where p.account_id = a.account_id and p.purpose = 'reload'
            and (p.state = 'open' or (p.state = 'cancelled' and p.unknown_until_ms > $1)))
    and (select count(*) from payments p where p.account_id = a.account_id and p.purpose = 'reload' and p.attempts > 0
            and p.created_at_ms > $2) < $3";

async fn low(db: &Database, now: UnixMs) -> Result<Vec<Low>, sqlx::Error> {
    let sql = format!(
        "select a.account_id, a.pack_credits
         from auto_reloads a join balances b on b.account_id = a.account_id
            join stripe_customers c on c.account_id = a.account_id
         where {IS_DUE} limit $4"
    );
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(now.0)
        .bind(now.0 - DAY_MS)
        .bind(A_DAY_MAX)
        .bind(SWEEP_MAX)
        .fetch_all(&db.readers)
        .await?;
    rows.into_iter().map(|row| Ok(Low { account_id: row.try_get(0)?, pack_credits: row.try_get(1)? })).collect()
}

/// Creates the reload of an account. Returns false if it is not due, or no longer. Other processes
/// check the same balances, and a slow one must not charge for a shortage that is over: the rows
/// that decide are locked, and a statement that begins after that reads them.
async fn begin(db: &Database, low: &Low, pack: &Pack, now: UnixMs) -> Result<bool, sqlx::Error> {
    let mut tx = db.begin().await?;
    account::lock(&mut tx, &low.account_id).await?;
    lock_balance(&mut tx, &low.account_id).await?;
    let sql = format!(
        "insert into payments (id, account_id, provider, purpose, credits, cents, state, payment_method, retry_at_ms, created_at_ms, expires_at_ms)
         select $4, a.account_id, 'stripe', 'reload', $5, $6, 'open', c.payment_method, $1, $1, $7
         from auto_reloads a join balances b on b.account_id = a.account_id
            join stripe_customers c on c.account_id = a.account_id
         where a.account_id = $8 and a.pack_credits = $5 and {IS_DUE}"
    );
    let begun = sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(now.0)
        .bind(now.0 - DAY_MS)
        .bind(A_DAY_MAX)
        .bind(uuid::Uuid::now_v7().to_string())
        .bind(pack.credits)
        .bind(pack.cents)
        .bind(now.0 + LIFETIME_MS)
        .bind(&low.account_id)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(begun.rows_affected() == 1)
}

/// A reload for which Stripe has to be called.
#[derive(Debug)]
struct Due {
    payment_id: String,
    account_id: String,
    customer: String,
    payment_method: String,
    cents: i64,
    /// Number of attempts before this one.
    attempts: i64,
    expires_at: UnixMs,
}

async fn due(db: &Database, now: UnixMs) -> Result<Vec<Due>, sqlx::Error> {
    let rows = sqlx::query(
        "select p.id, p.account_id, c.customer, p.payment_method, p.cents, p.attempts, p.expires_at_ms
         from payments p join stripe_customers c on c.account_id = p.account_id
            join auto_reloads a on a.account_id = p.account_id and a.is_on = 1
         where p.purpose = 'reload' and p.state = 'open' and p.retry_at_ms <= $1 order by p.retry_at_ms limit $2",
    )
    .bind(now.0)
    .bind(SWEEP_MAX)
    .fetch_all(&db.readers)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Due {
                payment_id: row.try_get(0)?,
                account_id: row.try_get(1)?,
                customer: row.try_get(2)?,
                payment_method: row.try_get(3)?,
                cents: row.try_get(4)?,
                attempts: row.try_get(5)?,
                expires_at: UnixMs(row.try_get(6)?),
            })
        })
        .collect()
}

/// Claims the next attempt at a reload; other processes wait until `retry_at`. Returns false if
/// there is nothing to charge: another process has claimed the attempt, or the reload is no longer
/// wanted (turned off, another pack or card, another price, the shortage over), which ends it.
async fn claim(db: &Database, packs: &[Pack], due: &Due, now: UnixMs, retry_at: UnixMs) -> Result<bool, sqlx::Error> {
    let mut tx = db.begin().await?;
    account::lock(&mut tx, &due.account_id).await?;
    lock_balance(&mut tx, &due.account_id).await?;
    end_unwanted(&mut tx, packs, &due.account_id, now).await?;
    let claimed = sqlx::query(
        "update payments set attempts = attempts + 1, retry_at_ms = $1, unknown_until_ms = $2
         where id = $3 and state = 'open' and retry_at_ms <= $4",
    )
    .bind(retry_at.0)
    .bind(now.0 + UNKNOWN_MS)
    .bind(&due.payment_id)
    .bind(now.0)
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(claimed.rows_affected() == 1)
}

/// Sets when Stripe is called again, and until when an event may report the
/// result of the last call.
async fn put_off(db: &Database, due: &Due, until: UnixMs, unknown_until: UnixMs) -> Result<(), sqlx::Error> {
    let open = sqlx::query("update payments set retry_at_ms = $1 where id = $2 and state = 'open'")
        .bind(until.0)
        .bind(due.payment_id.clone());
    db.write(open).await?;
    // This includes a reload that was cancelled in the meantime.
    let unknown = sqlx::query("update payments set unknown_until_ms = $1 where id = $2 and state <> 'paid'")
        .bind(unknown_until.0)
        .bind(due.payment_id.clone());
    db.write(unknown).await?;
    Ok(())
}

#[cfg(test)]
mod tests;

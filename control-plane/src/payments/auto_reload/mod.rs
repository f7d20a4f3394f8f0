//! Auto-reload: a pack bought with the kept card when the balance falls below a threshold.
//!
//! Here are an account's settings and the rows of its reloads; [`sweep`] looks at balances and asks Stripe, far from the debits.
//!
//! Why: `docs/decisions/payments.md` (Auto-reload: limits and failures).

mod letters;
mod sweep;

pub use letters::Letters;
pub use sweep::Sweep;

use crate::accounts::account;
use crate::clock::{DAY_MS, UnixMs};
use crate::config::prices::Pack;
use crate::db::{Database, Tx};
use sqlx::Row;

/// Reloads of an account in a day that Stripe was asked for: a lost key should not empty a card. Those that were
/// ended before that charged nothing.
const A_DAY_MAX: i64 = 10;

/// Accounts looked at, and reloads tried, in one sweep.
const SWEEP_MAX: i64 = 100;

/// How often Stripe is asked for one reload before it is given up.
pub const ATTEMPTS_MAX: i64 = 8;

/// How long Stripe is asked for one reload. Stripe knows a call by its name for a day: asked later it would charge again.
const LIFETIME_MS: i64 = DAY_MS / 2;

/// How long after a call whose answer was lost Stripe's event may still tell that the card was charged: usually seconds.
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

/// Sets what its owner chose, and ends an open reload that is not what this asks for: another pack's, another card's,
/// or one of a balance that is not below the threshold. `packs` are the packs that are sold now.
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

/// Turns it off and ends the open reload: what was begun before is not charged when it is turned on again. A charge that Stripe is being
/// asked for at this moment may still be made; its credits are entered then like those of any payment.
pub async fn turn_off(tx: &mut Tx<'_>, account_id: &str, now: UnixMs) -> Result<(), sqlx::Error> {
    account::lock(tx, account_id).await?;
    sqlx::query("update auto_reloads set is_on = 0 where account_id = $1").bind(account_id).execute(&mut **tx).await?;
    // Of what is off no pack is wanted.
    end_unwanted(tx, &[], account_id, now).await
}

/// Ends the open reload of an account unless this very charge is wanted now: by the settings, the balance, the card
/// that is kept, and the pack's price among `packs`, those that are sold. Until when an attempt at it may still turn
/// out to have been made (`unknown_until_ms`) stays on its row. The account is locked.
async fn end_unwanted(tx: &mut Tx<'_>, packs: &[Pack], account_id: &str, now: UnixMs) -> Result<(), sqlx::Error> {
    let sql = "select pack_credits from auto_reloads where account_id = $1 and is_on = 1";
    let credits: Option<i64> = sqlx::query_scalar(sql).bind(account_id).fetch_optional(&mut **tx).await?;
    // No price, and nothing is equal to it, for a pack that is not sold any more.
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

/// The pack of so many credits, if it is sold.
fn pack_of(packs: &[Pack], credits: i64) -> Option<&Pack> {
    packs.iter().find(|pack| pack.credits == credits)
}

/// Keeps the balance of an account as it is until this transaction ends.
async fn lock_balance(tx: &mut Tx<'_>, account_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("update balances set credits = credits where account_id = $1")
        .bind(account_id)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// The same, if this pack is still the one that it buys; `false` if not.
async fn turn_off_for_pack(tx: &mut Tx<'_>, low: &Low, now: UnixMs) -> Result<bool, sqlx::Error> {
    account::lock(tx, &low.account_id).await?;
    let sql = "select 1 from auto_reloads where account_id = $1 and is_on = 1 and pack_credits = $2";
    let same = sqlx::query(sql).bind(&low.account_id).bind(low.pack_credits).fetch_optional(&mut **tx).await?;
    if same.is_some() {
        turn_off(tx, &low.account_id, now).await?;
    }
    Ok(same.is_some())
}

/// Whether Stripe may still make a charge that was under way when auto-reload was turned off.
pub async fn may_still_charge(db: &Database, account_id: &str, now: UnixMs) -> Result<bool, sqlx::Error> {
    let sql = "select 1 from payments where account_id = $1 and purpose = 'reload' and state = 'cancelled' and unknown_until_ms > $2 limit 1";
    let row = sqlx::query(sql).bind(account_id).bind(now.0).fetch_optional(&db.readers).await?;
    Ok(row.is_some())
}

/// An account whose balance is low, with a card to charge. As it was when it was read: [`begin`] looks again.
#[derive(Debug)]
struct Low {
    account_id: String,
    pack_credits: i64,
}

/// What makes a reload of the account `a.account_id` due: $1 is now, $2 a day before, $3 the most in a day. While an earlier charge may
/// still come, nothing new is begun.
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

/// Makes the reload of an account; `false` when it is not due, or not any more. Other processes look at the same balances, and whoever is
/// slow must not charge for a shortage that is over: the rows that decide are locked, and a statement begun after that reads them.
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

/// A reload to ask Stripe for.
#[derive(Debug)]
struct Due {
    payment_id: String,
    account_id: String,
    customer: String,
    payment_method: String,
    cents: i64,
    /// Before this one.
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

/// Makes the next attempt at a reload ours; others wait until `retry_at`. `false` when there is nothing to ask for:
/// somebody else does, or the reload is not wanted any more (turned off, another pack or card, another price, the
/// shortage over), which ends it.
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

/// Sets when Stripe is asked again, and until when an answer to what it was asked may come by an event.
async fn put_off(db: &Database, due: &Due, until: UnixMs, unknown_until: UnixMs) -> Result<(), sqlx::Error> {
    let open = sqlx::query("update payments set retry_at_ms = $1 where id = $2 and state = 'open'")
        .bind(until.0)
        .bind(due.payment_id.clone());
    db.write(open).await?;
    // Also of one that was cancelled meanwhile.
    let unknown = sqlx::query("update payments set unknown_until_ms = $1 where id = $2 and state <> 'paid'")
        .bind(unknown_until.0)
        .bind(due.payment_id.clone());
    db.write(unknown).await?;
    Ok(())
}

#[cfg(test)]
mod tests;

//! Auto-reload: a pack bought with the kept card when the balance falls below a threshold.
//!
//! Here are an account's settings and the rows of its reloads; [`sweep`] looks at balances and asks Stripe, far from the debits.

mod sweep;

pub use sweep::{start, tell_of_failure};

use crate::clock::{DAY_MS, UnixMs};
use crate::config::prices::Pack;
use crate::db::{Database, Tx};
use sqlx::Row;

/// Reloads of an account in a day: a lost key should not empty a card.
const A_DAY_MAX: i64 = 10;

/// Accounts looked at, and reloads tried, in one sweep.
const SWEEP_MAX: i64 = 100;

/// How often Stripe is asked for one reload before it is given up.
pub const ATTEMPTS_MAX: i64 = 8;

/// How long Stripe is asked for one reload. Stripe knows a call by its name for a day: asked later it would charge again.
const LIFETIME_MS: i64 = DAY_MS / 2;

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

pub async fn set(db: &Database, account_id: &str, settings: AutoReload) -> Result<(), sqlx::Error> {
    let upsert = sqlx::query(
        "insert into auto_reloads (account_id, is_on, threshold_credits, pack_credits) values ($1, $2, $3, $4)
         on conflict (account_id) do update set is_on = excluded.is_on, threshold_credits = excluded.threshold_credits,
            pack_credits = excluded.pack_credits",
    )
    .bind(account_id.to_owned())
    .bind(i64::from(settings.is_on))
    .bind(settings.threshold_credits)
    .bind(settings.pack_credits);
    db.write(upsert).await?;
    Ok(())
}

pub async fn turn_off(tx: &mut Tx<'_>, account_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("update auto_reloads set is_on = 0 where account_id = $1").bind(account_id).execute(&mut **tx).await?;
    Ok(())
}

/// An account whose balance is low, with a card to charge.
#[derive(Debug)]
struct Low {
    account_id: String,
    payment_method: String,
    pack_credits: i64,
}

async fn low(db: &Database, now: UnixMs) -> Result<Vec<Low>, sqlx::Error> {
    let rows = sqlx::query(
        "select a.account_id, c.payment_method, a.pack_credits
         from auto_reloads a join balances b on b.account_id = a.account_id
            join stripe_customers c on c.account_id = a.account_id
         where a.is_on = 1 and b.credits < a.threshold_credits and c.payment_method is not null
            and not exists (select 1 from payments p where p.account_id = a.account_id and p.purpose = 'reload' and p.state = 'open')
            and (select count(*) from payments p where p.account_id = a.account_id and p.purpose = 'reload'
                    and p.created_at_ms > $1) < $2
         limit $3",
    )
    .bind(now.0 - DAY_MS)
    .bind(A_DAY_MAX)
    .bind(SWEEP_MAX)
    .fetch_all(&db.readers)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Low { account_id: row.try_get(0)?, payment_method: row.try_get(1)?, pack_credits: row.try_get(2)? })
        })
        .collect()
}

/// Makes the reload of an account, unless another process did.
async fn begin(db: &Database, low: &Low, pack: &Pack, now: UnixMs) -> Result<bool, sqlx::Error> {
    let insert = sqlx::query(
        "insert into payments (id, account_id, provider, purpose, credits, cents, state, payment_method, retry_at_ms, created_at_ms, expires_at_ms)
         values ($1, $2, 'stripe', 'reload', $3, $4, 'open', $5, $6, $6, $7) on conflict do nothing",
    )
    .bind(uuid::Uuid::now_v7().to_string())
    .bind(low.account_id.clone())
    .bind(pack.credits)
    .bind(pack.cents)
    .bind(low.payment_method.clone())
    .bind(now.0)
    .bind(now.0 + LIFETIME_MS);
    Ok(db.write(insert).await? == 1)
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

/// Makes the next attempt at a reload ours; others wait until `retry_at`.
async fn claim(db: &Database, due: &Due, now: UnixMs, retry_at: UnixMs) -> Result<bool, sqlx::Error> {
    let update = sqlx::query(
        "update payments set attempts = attempts + 1, retry_at_ms = $1 where id = $2 and state = 'open' and retry_at_ms <= $3",
    )
    .bind(retry_at.0)
    .bind(due.payment_id.clone())
    .bind(now.0);
    Ok(db.write(update).await? == 1)
}

//! Opening accounts, granting credits, reading and checking balances.

use super::{Credits, LedgerError};
use crate::clock::UnixMs;
use crate::db::Tx;
use sqlx::{AnyPool, Row};

/// The largest single grant or purchase, cap or threshold: far above any credit pack, far below what could overflow a sum.
pub const CREDITS_MAX: i64 = 1_000_000_000_000;

/// Gives a new account its balance row and its first credits (0 is allowed). Called once, in the transaction that creates the
/// account.
pub async fn open_account(
    tx: &mut Tx<'_>,
    account_id: &str,
    credits: Credits,
    reason: &str,
    now: UnixMs,
) -> Result<(), LedgerError> {
    sqlx::query("insert into balances (account_id, credits) values ($1, 0)")
        .bind(account_id)
        .execute(&mut **tx)
        .await?;
    if credits.0 != 0 {
        grant(tx, account_id, credits, reason, now).await?;
    }
    Ok(())
}

/// Adds credits and says why. Returns the new balance.
pub async fn grant(
    tx: &mut Tx<'_>,
    account_id: &str,
    credits: Credits,
    reason: &str,
    now: UnixMs,
) -> Result<Credits, LedgerError> {
    check_amount(credits)?;
    let after = add(tx, account_id, credits).await?;
    sqlx::query("insert into ledger_entries (id, account_id, kind, credits, reason, at_ms) values ($1, $2, 'grant', $3, $4, $5)")
        .bind(uuid::Uuid::now_v7().to_string())
        .bind(account_id)
        .bind(credits.0)
        .bind(reason)
        .bind(now.0)
        .execute(&mut **tx)
        .await?;
    Ok(after)
}

/// A payment, as whoever took it names it.
#[derive(Debug, Clone, Copy)]
pub struct Payment<'a> {
    /// Unique for good: entering a payment again changes nothing.
    pub reference: &'a str,
    pub credits: Credits,
    pub reason: &'a str,
}

/// Adds the credits of a payment, once however often it is told. Returns the balance, and whether this call added them.
pub async fn purchase(
    tx: &mut Tx<'_>,
    account_id: &str,
    payment: Payment<'_>,
    now: UnixMs,
) -> Result<(Credits, bool), LedgerError> {
    let Payment { reference, credits, reason } = payment;
    check_amount(credits)?;
    // The balance first, as every writer locks it before the entries; a repetition takes what it added back.
    let after = add(tx, account_id, credits).await?;
    let entered = sqlx::query(
        "insert into ledger_entries (id, account_id, kind, credits, reason, reference, at_ms)
         values ($1, $2, 'purchase', $3, $4, $5, $6) on conflict do nothing",
    )
    .bind(uuid::Uuid::now_v7().to_string())
    .bind(account_id)
    .bind(credits.0)
    .bind(reason)
    .bind(reference)
    .bind(now.0)
    .execute(&mut **tx)
    .await?;
    if entered.rows_affected() == 1 {
        return Ok((after, true));
    }
    let before = add(tx, account_id, Credits(-credits.0)).await?;
    let same = sqlx::query(
        "select 1 from ledger_entries where kind = 'purchase' and reference = $1 and account_id = $2 and credits = $3",
    )
    .bind(reference)
    .bind(account_id)
    .bind(credits.0)
    .fetch_optional(&mut **tx)
    .await?;
    match same {
        Some(_) => Ok((before, false)),
        None => Err(LedgerError::ReferenceTaken(reference.to_owned())),
    }
}

/// Takes credits of a payment back whose money went back, as many as there are: a balance is never negative. Returns how many.
/// The reference is the caller's to use once.
pub async fn take_back(
    tx: &mut Tx<'_>,
    account_id: &str,
    payment: Payment<'_>,
    now: UnixMs,
) -> Result<Credits, LedgerError> {
    let Payment { reference, credits, reason } = payment;
    check_amount(credits)?;
    // Locks the balance, so that what is read stays true.
    let there = add(tx, account_id, Credits(0)).await?;
    let taken = there.min(credits);
    if taken.0 > 0 {
        add(tx, account_id, Credits(-taken.0)).await?;
        sqlx::query(
            "insert into ledger_entries (id, account_id, kind, credits, reason, reference, at_ms)
             values ($1, $2, 'reversal', $3, $4, $5, $6)",
        )
        .bind(uuid::Uuid::now_v7().to_string())
        .bind(account_id)
        .bind(-taken.0)
        .bind(reason)
        .bind(reference)
        .bind(now.0)
        .execute(&mut **tx)
        .await?;
    }
    Ok(taken)
}

fn check_amount(credits: Credits) -> Result<(), LedgerError> {
    if (1..=CREDITS_MAX).contains(&credits.0) { Ok(()) } else { Err(LedgerError::BadAmount(credits.0)) }
}

/// Adds to a balance, or takes what is known to be there.
async fn add(tx: &mut Tx<'_>, account_id: &str, credits: Credits) -> Result<Credits, LedgerError> {
    let row = sqlx::query("update balances set credits = credits + $1 where account_id = $2 returning credits")
        .bind(credits.0)
        .bind(account_id)
        .fetch_optional(&mut **tx)
        .await?
        .ok_or_else(|| LedgerError::UnknownAccount(account_id.to_owned()))?;
    Ok(Credits(row.try_get(0)?))
}

/// What the account can spend now.
pub async fn balance(pool: &AnyPool, account_id: &str) -> Result<Credits, LedgerError> {
    Ok(standing(pool, account_id).await?.credits)
}

/// An account's credits, and what it has had for those that are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// What it can spend now.
    pub credits: Credits,
    /// Reserved for deliveries that have not happened yet.
    pub held: Credits,
    /// Pictures delivered, ever.
    pub deliveries: i64,
}

pub async fn standing(pool: &AnyPool, account_id: &str) -> Result<Standing, LedgerError> {
    let row = sqlx::query(
        "select b.credits,
            cast(coalesce((select sum(h.credits) from holds h where h.account_id = b.account_id and h.state = 'open'), 0) as bigint),
            (select count(*) from deliveries d where d.account_id = b.account_id)
         from balances b where b.account_id = $1",
    )
    .bind(account_id)
    .fetch_optional(pool)
    .await?
    .ok_or_else(|| LedgerError::UnknownAccount(account_id.to_owned()))?;
    Ok(Standing { credits: Credits(row.try_get(0)?), held: Credits(row.try_get(1)?), deliveries: row.try_get(2)? })
}

/// An account whose entries do not add up to its balance, or whose open holds and hold entries disagree.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Verdict {
    pub account_id: String,
    pub balance: Credits,
    pub entries: Credits,
    /// Credits of its open holds, by state.
    pub held: Credits,
    /// Credits of its hold entries that have no outcome.
    pub entries_held: Credits,
}

/// Adds every account's entries up and returns the accounts where something is wrong: none, in a sound ledger.
pub async fn verify(pool: &AnyPool) -> Result<Vec<Verdict>, LedgerError> {
    let rows = sqlx::query(
        "select * from (
            select b.account_id, b.credits,
                cast(coalesce((select sum(e.credits) from ledger_entries e where e.account_id = b.account_id), 0) as bigint) as entries,
                cast(coalesce((select sum(h.credits) from holds h where h.account_id = b.account_id and h.state = 'open'), 0) as bigint)
                    as held,
                cast(coalesce((select -sum(e.credits) from ledger_entries e where e.account_id = b.account_id and e.kind = 'hold'
                    and not exists (select 1 from ledger_entries o where o.hold_id = e.hold_id and o.kind in ('settle', 'release'))), 0)
                    as bigint) as entries_held
            from balances b) sums
         where credits <> entries or held <> entries_held",
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Verdict {
                account_id: row.try_get(0)?,
                balance: Credits(row.try_get(1)?),
                entries: Credits(row.try_get(2)?),
                held: Credits(row.try_get(3)?),
                entries_held: Credits(row.try_get(4)?),
            })
        })
        .collect()
}

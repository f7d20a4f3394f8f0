//! Opening accounts, granting credits, reading and checking balances.

use super::{Credits, LedgerError};
use crate::clock::UnixMs;
use crate::db::Tx;
use sqlx::any::AnyRow;
use sqlx::{AnyPool, Row};

/// Largest single grant or purchase, cap or threshold, in credits: far above any credit pack, far
/// below what could overflow a sum.
pub const CREDITS_MAX: i64 = 1_000_000_000_000;

/// Creates the balance row of a new account and grants its first credits (0 is allowed). Must be
/// called once, in the transaction that creates the account.
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

/// Like [`open_account`], for an account that its holder creates: it gets the credits that
/// every new account gets. It counts as having only free credits until it buys some or the
/// operator grants it some.
pub async fn open_free_account(
    tx: &mut Tx<'_>,
    account_id: &str,
    free: Credits,
    now: UnixMs,
) -> Result<(), LedgerError> {
    open_account(tx, account_id, free, "free credits of a new account", now).await?;
    let sql = "update balances set only_free = 1 where account_id = $1";
    sqlx::query(sql).bind(account_id).execute(&mut **tx).await?;
    Ok(())
}

/// Returns true if the account has never had anything but free credits.
pub async fn has_only_free_credits(tx: &mut Tx<'_>, account_id: &str) -> Result<bool, sqlx::Error> {
    let sql = "select 1 from balances where account_id = $1 and only_free = 1";
    let row = sqlx::query(sql).bind(account_id).fetch_optional(&mut **tx).await?;
    Ok(row.is_some())
}

/// Marks the account as having had credits that were paid for or granted. The caller has locked the
/// account's row already.
async fn end_only_free(tx: &mut Tx<'_>, account_id: &str) -> Result<(), sqlx::Error> {
    let sql = "update balances set only_free = 0 where account_id = $1 and only_free = 1";
    sqlx::query(sql).bind(account_id).execute(&mut **tx).await?;
    Ok(())
}

/// Adds credits with an entry that records `reason`. Returns the new balance, or
/// [`LedgerError::BadAmount`] if the amount is not between 1 and [`CREDITS_MAX`].
pub async fn grant(
    tx: &mut Tx<'_>,
    account_id: &str,
    credits: Credits,
    reason: &str,
    now: UnixMs,
) -> Result<Credits, LedgerError> {
    check_amount(credits)?;
    let after = enter(tx, account_id, NewEntry::of("grant", credits.0, reason), now).await?;
    end_only_free(tx, account_id).await?;
    Ok(Credits(after.credits))
}

/// A payment, identified by the reference under which it was taken.
#[derive(Debug, Clone, Copy)]
pub struct ReceivedPayment<'a> {
    /// Unique for good: entering a payment a second time changes nothing.
    pub reference: &'a str,
    pub credits: Credits,
    pub reason: &'a str,
}

/// Adds the credits of a payment, once however often the payment is reported. Returns the balance,
/// and true if this call added the credits. Fails with [`LedgerError::ReferenceTaken`] if the
/// reference was entered for another account or amount.
pub async fn purchase(
    tx: &mut Tx<'_>,
    account_id: &str,
    payment: ReceivedPayment<'_>,
    now: UnixMs,
) -> Result<(Credits, bool), LedgerError> {
    let ReceivedPayment { reference, credits, reason } = payment;
    check_amount(credits)?;
    // Lock the balance first: every writer locks it before the entries.
    let before = lock(tx, account_id).await?;
    let entry = NewEntry { reference: Some(reference), ..NewEntry::of("purchase", credits.0, reason) };
    if insert(tx, account_id, entry, before, now).await? {
        let after = add(tx, account_id, credits.0, 1).await?;
        end_only_free(tx, account_id).await?;
        return Ok((Credits(after.credits), true));
    }
    let same = sqlx::query(
        "select 1 from ledger_entries where kind = 'purchase' and reference = $1 and account_id = $2 and credits = $3",
    )
    .bind(reference)
    .bind(account_id)
    .bind(credits.0)
    .fetch_optional(&mut **tx)
    .await?;
    match same {
        Some(_) => Ok((Credits(before.credits), false)),
        None => Err(LedgerError::ReferenceTaken(reference.to_owned())),
    }
}

/// Takes credits back whose payment was refunded or disputed, at most as many as the account can
/// spend: a balance is never negative. Returns how many were taken. The caller must use a
/// reference only once.
pub async fn take_back(
    tx: &mut Tx<'_>,
    account_id: &str,
    payment: ReceivedPayment<'_>,
    now: UnixMs,
) -> Result<Credits, LedgerError> {
    let ReceivedPayment { reference, credits, reason } = payment;
    check_amount(credits)?;
    // Credits on hold are not taken.
    let taken = Credits(lock(tx, account_id).await?.credits).min(credits);
    if taken.0 > 0 {
        let entry = NewEntry { reference: Some(reference), ..NewEntry::of("reversal", -taken.0, reason) };
        enter(tx, account_id, entry, now).await?;
    }
    Ok(taken)
}

fn check_amount(credits: Credits) -> Result<(), LedgerError> {
    if (1..=CREDITS_MAX).contains(&credits.0) { Ok(()) } else { Err(LedgerError::BadAmount(credits.0)) }
}

/// A new entry that changes the credits that the account can spend.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewEntry<'a> {
    pub kind: &'static str,
    pub credits: i64,
    pub reason: &'a str,
    /// Set for purchases and reversals.
    pub reference: Option<&'a str>,
    /// Set for refunds.
    pub delivery_url_id: Option<&'a str>,
    /// Set for corrections.
    pub corrects: Option<&'a str>,
}

impl<'a> NewEntry<'a> {
    pub fn of(kind: &'static str, credits: i64, reason: &'a str) -> Self {
        NewEntry { kind, credits, reason, reference: None, delivery_url_id: None, corrects: None }
    }
}

/// An account's row of `balances`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Book {
    /// Credits that the account can spend.
    pub credits: i64,
    pub held: i64,
    /// Number of entries in the account's ledger.
    pub entries: i64,
}

/// Changes to add to an account's row in `balances`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct BalanceChange {
    /// Change of the credits that the account can spend.
    pub credits: i64,
    /// Change of the credits on hold.
    pub held: i64,
    /// Number of ledger rows that are added.
    pub entries: i64,
}

/// Changes a balance and writes the entry that explains the change.
pub(super) async fn enter(
    tx: &mut Tx<'_>,
    account_id: &str,
    entry: NewEntry<'_>,
    now: UnixMs,
) -> Result<Book, LedgerError> {
    let before = lock(tx, account_id).await?;
    insert(tx, account_id, entry, before, now).await?;
    add(tx, account_id, entry.credits, 1).await
}

/// Writes an account's next entry. Returns false if its payment has been entered before.
async fn insert(
    tx: &mut Tx<'_>,
    account_id: &str,
    entry: NewEntry<'_>,
    before: Book,
    now: UnixMs,
) -> Result<bool, sqlx::Error> {
    let inserted = sqlx::query(
        "insert into ledger_entries
            (id, account_id, number, kind, credits, balance, reason, reference, delivery_url_id, corrects, at_ms)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (reference) where kind = 'purchase' do nothing",
    )
    .bind(uuid::Uuid::now_v7().to_string())
    .bind(account_id)
    .bind(before.entries + 1)
    .bind(entry.kind)
    .bind(entry.credits)
    .bind(before.credits + before.held + entry.credits)
    .bind(entry.reason)
    .bind(entry.reference)
    .bind(entry.delivery_url_id)
    .bind(entry.corrects)
    .bind(now.0)
    .execute(&mut **tx)
    .await?;
    Ok(inserted.rows_affected() == 1)
}

/// Locks an account's row, so that the values read from it stay true until the transaction ends.
async fn lock(tx: &mut Tx<'_>, account_id: &str) -> Result<Book, LedgerError> {
    add(tx, account_id, 0, 0).await
}

/// Adds to a balance, or takes credits that are known to be there.
async fn add(tx: &mut Tx<'_>, account_id: &str, credits: i64, entries: i64) -> Result<Book, LedgerError> {
    let after = change(tx, account_id, BalanceChange { credits, held: 0, entries }).await?;
    after.ok_or_else(|| LedgerError::UnknownAccount(account_id.to_owned()))
}

/// Changes an account's row, locks it and returns the row after the change. Returns `None` if the
/// balance does not cover the change, or there is no such account.
pub(super) async fn change(
    tx: &mut Tx<'_>,
    account_id: &str,
    movement: BalanceChange,
) -> Result<Option<Book>, sqlx::Error> {
    let row = sqlx::query(
        "update balances set credits = credits + $2, held = held + $3, entries = entries + $4
         where account_id = $1 and credits + $2 >= 0 returning credits, held, entries",
    )
    .bind(account_id)
    .bind(movement.credits)
    .bind(movement.held)
    .bind(movement.entries)
    .fetch_optional(&mut **tx)
    .await?;
    row.as_ref().map(Book::read).transpose()
}

/// Reads an account's row without locking it.
pub(super) async fn read(tx: &mut Tx<'_>, account_id: &str) -> Result<Option<Book>, sqlx::Error> {
    let row = sqlx::query("select credits, held, entries from balances where account_id = $1")
        .bind(account_id)
        .fetch_optional(&mut **tx)
        .await?;
    row.as_ref().map(Book::read).transpose()
}

impl Book {
    fn read(row: &AnyRow) -> Result<Self, sqlx::Error> {
        Ok(Book { credits: row.try_get(0)?, held: row.try_get(1)?, entries: row.try_get(2)? })
    }
}

/// Returns the credits that the account can spend now.
pub async fn balance(pool: &AnyPool, account_id: &str) -> Result<Credits, LedgerError> {
    Ok(account_credits(pool, account_id).await?.credits)
}

/// An account's credits, and the number of images that it received for those already spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountCredits {
    /// Credits that the account can spend now.
    pub credits: Credits,
    /// Reserved for deliveries that have not happened yet.
    pub held: Credits,
    /// Images delivered since the account was opened.
    pub deliveries: i64,
}

/// Returns an account's credits and its number of deliveries. Fails with
/// [`LedgerError::UnknownAccount`] if there is no such account.
pub async fn account_credits(pool: &AnyPool, account_id: &str) -> Result<AccountCredits, LedgerError> {
    // Images are counted from the daily sums: an account may have millions of deliveries.
    let row = sqlx::query(
        "select b.credits, b.held,
            cast(coalesce((select sum(u.images) from usage_daily u where u.account_id = b.account_id), 0) as bigint)
         from balances b where b.account_id = $1",
    )
    .bind(account_id)
    .fetch_optional(pool)
    .await?
    .ok_or_else(|| LedgerError::UnknownAccount(account_id.to_owned()))?;
    Ok(AccountCredits {
        credits: Credits(row.try_get(0)?),
        held: Credits(row.try_get(1)?),
        deliveries: row.try_get(2)?,
    })
}

/// An account whose ledger is inconsistent: its entries do not add up to its balance plus its
/// credits on hold, or its open holds do not add up to its credits on hold.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Mismatch {
    pub account_id: String,
    /// Credits that the account can spend.
    pub balance: Credits,
    /// Credits that the account has on hold.
    pub held: Credits,
    /// Sum of the account's entries; must equal `balance` plus `held`.
    pub entries: Credits,
    /// Credits of the account's open holds; must equal `held`.
    pub open_holds: Credits,
    /// Number of entries whose number or balance does not follow from the entries before.
    pub out_of_line: i64,
}

/// Adds up the entries of every account and returns the accounts that are inconsistent. The result
/// is empty if the ledger is sound.
pub async fn verify(pool: &AnyPool) -> Result<Vec<Mismatch>, LedgerError> {
    let rows = sqlx::query(
        "with lines as (
            select account_id, credits, number, balance,
                row_number() over (partition by account_id order by number) as place,
                sum(credits) over (partition by account_id order by number) as total
            from ledger_entries),
         sums as (
            select account_id, count(*) as entries, cast(sum(credits) as bigint) as credits,
                count(case when number <> place or balance <> total then 1 end) as out_of_line
            from lines group by account_id),
         opened as (
            select account_id, cast(sum(credits) as bigint) as credits from holds where state = 'open' group by account_id),
         found as (
            select b.account_id, b.credits as balance, b.held as held, coalesce(s.credits, 0) as entered,
                coalesce(o.credits, 0) as open_holds,
                coalesce(s.out_of_line, 0) + case when coalesce(s.entries, 0) <> b.entries then 1 else 0 end as out_of_line
            from balances b left join sums s on s.account_id = b.account_id left join opened o on o.account_id = b.account_id)
         select account_id, balance, held, entered, open_holds, out_of_line from found
         where entered <> balance + held or open_holds <> held or out_of_line > 0",
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Mismatch {
                account_id: row.try_get(0)?,
                balance: Credits(row.try_get(1)?),
                held: Credits(row.try_get(2)?),
                entries: Credits(row.try_get(3)?),
                open_holds: Credits(row.try_get(4)?),
                out_of_line: row.try_get(5)?,
            })
        })
        .collect()
}

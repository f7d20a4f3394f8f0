//! An account's entries as the API lists them: what changed, when, and the balance after each.

use super::LedgerError;
use crate::clock::UnixMs;
use serde::Serialize;
use sqlx::any::AnyRow;
use sqlx::{AnyPool, Row};

/// Maximum number of entries in one page.
pub const PAGE_MAX: i64 = 1000;

/// One entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct StatementLine {
    /// Id of the entry. Send it as `after` to get the entries that follow it.
    pub id: String,
    /// Time of the entry, as RFC 3339 in UTC.
    #[schema(format = DateTime)]
    pub at: String,
    /// grant, purchase, reversal, debit, settle, refund or correction; older statements also
    /// have hold and release.
    pub kind: String,
    /// Credits that the entry added, negative for those that it removed. A settle removes the
    /// credits that were on hold; in older statements, where the hold is an entry, it is 0.
    pub credits: i64,
    /// Sum of all entries up to this one. It includes credits that are on hold.
    pub balance: i64,
    /// The reason of a grant, purchase or reversal; for debits and settles the vehicle, view and
    /// color that were paid for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The hold that the entry settled; in older statements also the one that it opened or
    /// released.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_id: Option<String>,
    /// The signed URL whose credit was given back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_url_id: Option<String>,
    /// The payment, for purchases and reversals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The entry that a correction gives back: a charge whose answer was not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrects: Option<String>,
}

/// Returns true if the account has ever bought credits, in whatever way the purchase was entered.
pub async fn has_purchase(pool: &AnyPool, account_id: &str) -> Result<bool, sqlx::Error> {
    let row = sqlx::query("select 1 from ledger_entries where account_id = $1 and kind = 'purchase' limit 1")
        .bind(account_id)
        .fetch_optional(pool)
        .await?;
    Ok(row.is_some())
}

const COLUMNS: &str = "id, at_ms, kind, credits, balance, reason, hold_id, delivery_url_id, reference, corrects";

impl StatementLine {
    fn read(row: &AnyRow) -> Result<Self, sqlx::Error> {
        Ok(StatementLine {
            id: row.try_get("id")?,
            at: UnixMs(row.try_get("at_ms")?).rfc3339(),
            kind: row.try_get("kind")?,
            credits: row.try_get("credits")?,
            balance: row.try_get("balance")?,
            reason: row.try_get("reason")?,
            hold_id: row.try_get("hold_id")?,
            delivery_url_id: row.try_get("delivery_url_id")?,
            reference: row.try_get("reference")?,
            corrects: row.try_get("corrects")?,
        })
    }
}

/// Returns the newest `limit` entries, newest first.
pub async fn newest_entries(pool: &AnyPool, account_id: &str, limit: i64) -> Result<Vec<StatementLine>, LedgerError> {
    let sql = format!("select {COLUMNS} from ledger_entries where account_id = $1 order by number desc limit $2");
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(account_id).bind(limit).fetch_all(pool).await?;
    Ok(rows.iter().map(StatementLine::read).collect::<Result<_, _>>()?)
}

/// Returns up to `limit` entries, oldest first, starting after the entry `after` or with the first
/// one. Reads only those entries, however many the account has. Fails with
/// `LedgerError::UnknownEntry` if the account has no entry `after`.
pub async fn statement(
    pool: &AnyPool,
    account_id: &str,
    after: Option<&str>,
    limit: i64,
) -> Result<Vec<StatementLine>, LedgerError> {
    let after_number: i64 = match after {
        None => 0,
        Some(id) => sqlx::query("select number from ledger_entries where id = $1 and account_id = $2")
            .bind(id)
            .bind(account_id)
            .fetch_optional(pool)
            .await?
            .ok_or_else(|| LedgerError::UnknownEntry(id.to_owned()))?
            .try_get(0)?,
    };
    let sql =
        format!("select {COLUMNS} from ledger_entries where account_id = $1 and number > $2 order by number limit $3");
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(account_id).bind(after_number).bind(limit).fetch_all(pool);
    Ok(rows.await?.iter().map(StatementLine::read).collect::<Result<_, _>>()?)
}

/// Returns the id of the entry after which the newest `limit` entries begin, or `None` if there are
/// no more entries than those.
pub async fn before_newest(pool: &AnyPool, account_id: &str, limit: i64) -> Result<Option<String>, LedgerError> {
    let sql = "select e.id from ledger_entries e join balances b on b.account_id = e.account_id
               where e.account_id = $1 and e.number = b.entries - $2";
    let row = sqlx::query(sql).bind(account_id).bind(limit).fetch_optional(pool).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

//! An account's entries as it reads them: what happened, when, and the balance after each.

use super::LedgerError;
use crate::clock::UnixMs;
use serde::Serialize;
use sqlx::any::AnyRow;
use sqlx::{AnyPool, Row};

/// Entries of one page at most.
pub const PAGE_MAX: i64 = 1000;

/// One entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct StatementLine {
    /// Names the entry; a page that continues this one starts after it.
    pub id: String,
    /// RFC 3339, UTC.
    #[schema(format = DateTime)]
    pub at: String,
    /// grant, purchase, reversal, debit, settle, refund or correction; in older statements also hold and release.
    pub kind: String,
    /// What it added, or took. A settle takes what was on hold; after a hold entry, in older statements, it is 0.
    pub credits: i64,
    /// What all entries up to this one come to. Credits that are on hold are still in it.
    pub balance: i64,
    /// Why, for grants, purchases and reversals; what for, for debits and settles: the vehicle, view and colour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The hold that it settled; in older statements also the one that it opened or released.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_id: Option<String>,
    /// The signed address whose credit came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_url_id: Option<String>,
    /// The payment, for purchases and reversals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The entry that a correction gives back: a charge whose answer did not go out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrects: Option<String>,
}

/// Whether the account has ever bought credits, by whichever way it was entered.
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

/// The newest entries, the newest first.
pub async fn newest_entries(pool: &AnyPool, account_id: &str, limit: i64) -> Result<Vec<StatementLine>, LedgerError> {
    let sql = format!("select {COLUMNS} from ledger_entries where account_id = $1 order by number desc limit $2");
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(account_id).bind(limit).fetch_all(pool).await?;
    Ok(rows.iter().map(StatementLine::read).collect::<Result<_, _>>()?)
}

/// Up to `limit` entries, oldest first, after the entry `after` or from the first one. Reads no others, however many there are.
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

/// The entry after which the newest `limit` entries begin; `None`: there are no more than those.
pub async fn before_newest(pool: &AnyPool, account_id: &str, limit: i64) -> Result<Option<String>, LedgerError> {
    let sql = "select e.id from ledger_entries e join balances b on b.account_id = e.account_id
               where e.account_id = $1 and e.number = b.entries - $2";
    let row = sqlx::query(sql).bind(account_id).bind(limit).fetch_optional(pool).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

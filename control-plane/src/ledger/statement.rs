//! An account's entries as it reads them: what happened, when, and the balance after each.

use super::{Credits, LedgerError};
use crate::clock::UnixMs;
use serde::Serialize;
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
    /// grant, purchase, reversal, debit, hold, settle, release or refund.
    pub kind: String,
    /// What the balance changed by; 0 for a settle, which only says that its hold was kept.
    pub credits: i64,
    /// The balance after this entry.
    pub balance: i64,
    /// Why, for grants, purchases and reversals; what for, for debits and settles: the vehicle, view and colour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The hold that it opened or ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_id: Option<String>,
    /// The signed address whose credit came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_url_id: Option<String>,
    /// The payment, for purchases and reversals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// Whether the account has ever bought credits, by whichever way it was entered.
pub async fn has_purchase(pool: &AnyPool, account_id: &str) -> Result<bool, sqlx::Error> {
    let row = sqlx::query("select 1 from ledger_entries where account_id = $1 and kind = 'purchase' limit 1")
        .bind(account_id)
        .fetch_optional(pool)
        .await?;
    Ok(row.is_some())
}

/// The newest entries, the newest first.
pub async fn newest_entries(pool: &AnyPool, account_id: &str, limit: i64) -> Result<Vec<StatementLine>, LedgerError> {
    let last_before: Option<String> = sqlx::query(
        "select id from ledger_entries where account_id = $1 order by at_ms desc, id desc limit 1 offset $2",
    )
    .bind(account_id)
    .bind(limit)
    .fetch_optional(pool)
    .await?
    .map(|row| row.try_get(0))
    .transpose()?;
    let mut lines = statement(pool, account_id, last_before.as_deref(), limit).await?;
    lines.reverse();
    Ok(lines)
}

/// Up to `limit` entries, oldest first, after the entry `after` or from the first one.
pub async fn statement(
    pool: &AnyPool,
    account_id: &str,
    after: Option<&str>,
    limit: i64,
) -> Result<Vec<StatementLine>, LedgerError> {
    let start_ms: i64 = match after {
        None => -1,
        Some(id) => {
            let row = sqlx::query("select at_ms from ledger_entries where id = $1 and account_id = $2")
                .bind(id)
                .bind(account_id)
                .fetch_optional(pool)
                .await?
                .ok_or_else(|| LedgerError::UnknownEntry(id.to_owned()))?;
            row.try_get(0)?
        }
    };
    let after = after.unwrap_or_default();
    let before: i64 = sqlx::query(
        "select cast(coalesce(sum(credits), 0) as bigint) from ledger_entries
         where account_id = $1 and (at_ms < $2 or (at_ms = $2 and id <= $3))",
    )
    .bind(account_id)
    .bind(start_ms)
    .bind(after)
    .fetch_one(pool)
    .await?
    .try_get(0)?;
    let rows = sqlx::query(
        "select id, at_ms, kind, credits, reason, hold_id, delivery_url_id, reference from ledger_entries
         where account_id = $1 and (at_ms > $2 or (at_ms = $2 and id > $3)) order by at_ms, id limit $4",
    )
    .bind(account_id)
    .bind(start_ms)
    .bind(after)
    .bind(limit)
    .fetch_all(pool)
    .await?;
    let mut balance = Credits(before);
    rows.into_iter()
        .map(|row| {
            let credits: i64 = row.try_get("credits")?;
            balance.0 += credits;
            Ok(StatementLine {
                id: row.try_get("id")?,
                at: UnixMs(row.try_get("at_ms")?).rfc3339(),
                kind: row.try_get("kind")?,
                credits,
                balance: balance.0,
                reason: row.try_get("reason")?,
                hold_id: row.try_get("hold_id")?,
                delivery_url_id: row.try_get("delivery_url_id")?,
                reference: row.try_get("reference")?,
            })
        })
        .collect()
}

//! Accounts: the holders of credits. The credits themselves belong to `ledger`.

use crate::clock::UnixMs;
use crate::db::{self, Database, Tx};
use crate::ledger::{self, Credits, LedgerError};
use sqlx::Row;

#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    #[error("an account with this email exists already")]
    EmailTaken,
    #[error("this network has reached its limit of new accounts for today")]
    NetworkFull,
    #[error("`{0}` is not an email address")]
    InvalidEmail(String),
    #[error("there is no account {0}")]
    Unknown(String),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("accounts could not be read or written")]
    Database(#[from] sqlx::Error),
}

#[derive(Debug, Clone)]
pub struct Account {
    pub id: String,
    /// In lower case.
    pub email: String,
}

/// Creates an account that has `credits` credits in all, and returns its id.
pub async fn open(db: &Database, email: &str, credits: Credits, now: UnixMs) -> Result<String, AccountError> {
    let mut tx = db.begin().await?;
    let account_id = insert(&mut tx, email, now).await?;
    ledger::open_account(&mut tx, &account_id, credits, "opening balance", now).await?;
    tx.commit().await?;
    Ok(account_id)
}

pub async fn find(db: &Database, account_id: &str) -> Result<Account, AccountError> {
    let row = sqlx::query("select id, email from accounts where id = $1")
        .bind(account_id)
        .fetch_optional(&db.readers)
        .await?;
    let row = row.ok_or_else(|| AccountError::Unknown(account_id.to_owned()))?;
    Ok(Account { id: row.try_get("id")?, email: row.try_get("email")? })
}

/// Returns the account with this email address, in any spelling.
pub async fn find_by_email(db: &Database, email: &str) -> Result<Account, AccountError> {
    let normal = normal_email(email).ok_or_else(|| AccountError::InvalidEmail(email.to_owned()))?;
    let row = sqlx::query("select id from accounts where email = $1").bind(&normal).fetch_optional(&db.readers).await?;
    let row = row.ok_or_else(|| AccountError::Unknown(normal.clone()))?;
    Ok(Account { id: row.try_get("id")?, email: normal })
}

/// Locks an account until this transaction ends, so that what is counted under the lock stays true.
pub async fn lock(tx: &mut Tx<'_>, account_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("update accounts set created_at_ms = created_at_ms where id = $1")
        .bind(account_id)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

pub(super) async fn insert(tx: &mut Tx<'_>, email: &str, now: UnixMs) -> Result<String, AccountError> {
    let email = normal_email(email).ok_or_else(|| AccountError::InvalidEmail(email.to_owned()))?;
    let account_id = uuid::Uuid::now_v7().to_string();
    sqlx::query("insert into accounts (id, email, created_at_ms) values ($1, $2, $3)")
        .bind(&account_id)
        .bind(&email)
        .bind(now.0)
        .execute(&mut **tx)
        .await
        .map_err(|error| if db::is_unique_violation(&error) { AccountError::EmailTaken } else { error.into() })?;
    Ok(account_id)
}

/// Returns the normal form of an email address, or `None` if the text is not one. An address is in
/// lower case and has one `@` with something on both sides and no spaces; mail servers may refuse
/// more than that. Before the `@` only ASCII is accepted: the lower case of other letters can be
/// another person's address.
pub fn normal_email(text: &str) -> Option<String> {
    let text = text.trim();
    let (local, host) = text.split_once('@')?;
    let valid = !local.is_empty()
        && !host.is_empty()
        && !host.contains('@')
        && local.is_ascii()
        && text.len() <= 254
        && !text.chars().any(|c| c.is_whitespace() || c.is_control());
    valid.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::normal_email;

    #[test]
    fn emails() {
        for (given, expected) in [
            (" Ada@Example.com ", Some("ada@example.com")),
            ("a@localhost", Some("a@localhost")),
            ("", None),
            ("a", None),
            ("@b", None),
            ("a@", None),
            ("a@b@c", None),
            ("a b@c", None),
            // The Kelvin sign, whose lower case is a k.
            ("\u{212a}ate@example.com", None),
            ("zo\u{eb}@example.com", None),
            ("ada@\u{212a}.example", Some("ada@\u{212a}.example")),
        ] {
            assert_eq!(normal_email(given).as_deref(), expected, "{given}");
        }
    }
}

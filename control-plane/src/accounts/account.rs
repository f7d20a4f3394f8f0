//! Accounts: who pays. Their credits are the ledger's.

use crate::clock::UnixMs;
use crate::db::{self, Tx};

#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    #[error("an account with this email exists already")]
    EmailTaken,
    #[error("`{0}` is no email address")]
    InvalidEmail(String),
    #[error("there is no account {0}")]
    Unknown(String),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Makes an account without credits; answers its id.
pub async fn create(tx: &mut Tx<'_>, email: &str, now: UnixMs) -> Result<String, AccountError> {
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

pub async fn exists(tx: &mut Tx<'_>, account_id: &str) -> Result<bool, sqlx::Error> {
    Ok(sqlx::query("select id from accounts where id = $1").bind(account_id).fetch_optional(&mut **tx).await?.is_some())
}

/// Lower case, one `@` with something on both sides, no spaces: what mail servers refuse beyond that is theirs to say.
fn normal_email(text: &str) -> Option<String> {
    let text = text.trim();
    let (local, host) = text.split_once('@')?;
    let valid = !local.is_empty()
        && !host.is_empty()
        && !host.contains('@')
        && text.len() <= 254
        && !text.chars().any(|c| c.is_whitespace() || c.is_control());
    valid.then(|| text.to_lowercase())
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
        ] {
            assert_eq!(normal_email(given).as_deref(), expected, "{given}");
        }
    }
}

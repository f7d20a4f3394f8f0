//! How often one may try: to sign in to an address, or to have mail sent to it. Counted for addresses without an account as well, so that
//! the answer tells nothing. Limits per client address are counted elsewhere, by the meter.

use crate::clock::UnixMs;
use crate::db::Database;
use sha2::{Digest, Sha256};
use sqlx::Row;

const WINDOW_MS: i64 = 15 * 60_000;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    SignIn,
    Mail,
}

impl Attempt {
    const fn name(self) -> &'static str {
        match self {
            Attempt::SignIn => "sign-in",
            Attempt::Mail => "mail",
        }
    }

    /// In one window: a person who mistypes stays below it, guessing a password takes ages, and a mailbox is not flooded.
    const fn max(self) -> i64 {
        match self {
            Attempt::SignIn => 10,
            Attempt::Mail => 4,
        }
    }

    fn subject(self, email: &str) -> String {
        format!("{} {}", self.name(), hex::encode(Sha256::digest(email.trim().to_lowercase())))
    }
}

/// Counts one; `false` when there have been too many.
pub async fn count(db: &Database, attempt: Attempt, email: &str, now: UnixMs) -> Result<bool, sqlx::Error> {
    let rows = db
        .write_returning(
            sqlx::query(
                "insert into attempts (subject, window_start_ms, attempts) values ($1, $2, 1)
                 on conflict (subject) do update set
                    attempts = case when attempts.window_start_ms <= $3 then 1 else attempts.attempts + 1 end,
                    window_start_ms = case when attempts.window_start_ms <= $3 then $2 else attempts.window_start_ms end
                 returning attempts",
            )
            .bind(attempt.subject(email))
            .bind(now.0)
            .bind(now.0 - WINDOW_MS),
        )
        .await?;
    let attempts: i64 = rows.first().ok_or(sqlx::Error::RowNotFound)?.try_get(0)?;
    Ok(attempts <= attempt.max())
}

/// Forgets the count: the right password was given.
pub async fn forget(db: &Database, attempt: Attempt, email: &str) -> Result<(), sqlx::Error> {
    db.write(sqlx::query("delete from attempts where subject = $1").bind(attempt.subject(email))).await?;
    Ok(())
}

/// Windows that are over.
pub(super) async fn forget_old(db: &Database, now: UnixMs) -> Result<(), sqlx::Error> {
    db.write(sqlx::query("delete from attempts where window_start_ms <= $1").bind(now.0 - WINDOW_MS)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::databases;

    #[tokio::test]
    async fn ten_tries_a_quarter_of_an_hour() {
        for db in databases().await {
            let start = UnixMs(1_000_000);
            let attempt = async |email: &str, at: i64| {
                count(&db, Attempt::SignIn, email, start.plus_ms(at)).await.expect("counts")
            };
            for at in 0..10 {
                assert!(attempt("Ada@example.com", at).await, "{at}");
            }
            assert!(!attempt("ada@EXAMPLE.com ", 10).await, "spelling the address differently does not help");
            assert!(attempt("bob@example.com", 10).await, "another address");
            assert!(!attempt("ada@example.com", WINDOW_MS - 1).await);
            assert!(attempt("ada@example.com", WINDOW_MS).await, "the window is over");
            for at in 0..20 {
                attempt("ada@example.com", WINDOW_MS + at).await;
            }
            forget(&db, Attempt::SignIn, "ada@example.com").await.expect("forgets");
            assert!(attempt("ada@example.com", WINDOW_MS + 30).await);
            forget_old(&db, start.plus_ms(3 * WINDOW_MS)).await.expect("forgets");
            let left: i64 =
                sqlx::query_scalar("select count(*) from attempts").fetch_one(&db.pool).await.expect("counts");
            assert_eq!(left, 0);
        }
    }
}

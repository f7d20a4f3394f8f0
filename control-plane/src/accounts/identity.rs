//! Identities at OpenID providers, and the account that each opens. `openid` finds out the identity
//! of a person at a provider.
//!
//! An identity is the provider's own name for a person, issuer and subject, and never an email
//! address: addresses change hands. An address for which a provider vouches makes a new account and
//! never opens an existing one.
//!
//! Why: `docs/decisions/accounts-and-sign-in.md` (OpenID Connect: which account an identity opens).

use super::account::AccountError;
use super::openid::Identity;
use super::password::PasswordHash;
use super::sign_up_counts::{self, SignUpCount};
use super::user::{self, NO_PASSWORD, User};
use crate::clock::UnixMs;
use crate::db::{self, Database};
use crate::ledger::Credits;
use sqlx::Row;

/// An identity that opens an account, as it is shown to the account's holder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedIdentity {
    pub issuer: String,
    pub linked_at: UnixMs,
}

/// Returns the user of the account that the identity opens.
pub async fn find(db: &Database, identity: &Identity) -> Result<Option<User>, sqlx::Error> {
    let row = sqlx::query("select account_id from identities where issuer = $1 and subject = $2")
        .bind(&identity.issuer)
        .bind(&identity.subject)
        .fetch_optional(&db.readers)
        .await?;
    match row {
        Some(row) => user::find(db, row.try_get(0)?).await,
        None => Ok(None),
    }
}

/// Creates the account of an address for which the provider vouches; only this identity opens it.
/// Fails with [`AccountError::EmailTaken`] if the address has an account. The account is counted
/// for each of `networks`.
pub async fn sign_up(
    db: &Database,
    identity: &Identity,
    email: &str,
    free: Credits,
    networks: &[SignUpCount],
    now: UnixMs,
) -> Result<User, AccountError> {
    let mut tx = db.begin().await?;
    sign_up_counts::count_in(&mut tx, networks, now).await?;
    let password = PasswordHash::from_stored(NO_PASSWORD.to_owned());
    let user = user::make(&mut tx, email, &password, free, now).await?;
    insert(&mut tx, &user.account_id, identity, now)
        .await
        // The same identity signed up a moment earlier, in another window, and has its account.
        .map_err(|error| if db::is_unique_violation(&error) { AccountError::EmailTaken } else { error.into() })?;
    tx.commit().await?;
    Ok(user)
}

/// Lets the identity open the account from now on. Returns false if it opens an account already, or
/// the account has another identity of this provider.
pub async fn link(db: &Database, account_id: &str, identity: &Identity, now: UnixMs) -> Result<bool, sqlx::Error> {
    let mut tx = db.begin().await?;
    match insert(&mut tx, account_id, identity, now).await {
        Ok(()) => {
            tx.commit().await?;
            Ok(true)
        }
        Err(error) if db::is_unique_violation(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

async fn insert(tx: &mut db::Tx<'_>, account_id: &str, identity: &Identity, now: UnixMs) -> Result<(), sqlx::Error> {
    sqlx::query("insert into identities (issuer, subject, account_id, linked_at_ms) values ($1, $2, $3, $4)")
        .bind(&identity.issuer)
        .bind(&identity.subject)
        .bind(account_id)
        .bind(now.0)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

pub async fn list(db: &Database, account_id: &str) -> Result<Vec<LinkedIdentity>, sqlx::Error> {
    let rows = sqlx::query("select issuer, linked_at_ms from identities where account_id = $1 order by linked_at_ms")
        .bind(account_id)
        .fetch_all(&db.readers)
        .await?;
    rows.iter().map(|row| Ok(LinkedIdentity { issuer: row.try_get(0)?, linked_at: UnixMs(row.try_get(1)?) })).collect()
}

/// Removes the account's identity of this provider, unless nothing else would open the account.
/// Every session ends, as with a new password, because one of them may have been started with the
/// identity. Returns `None` if nothing was removed.
pub async fn unlink(db: &Database, user: &User, issuer: &str) -> Result<Option<User>, sqlx::Error> {
    let mut tx = db.begin().await?;
    // Locks the user, so that of two simultaneous removals the last identity stays.
    let ended = sqlx::query(
        "update users set password_version = password_version + 1 where account_id = $1 and password_version = $2
            and (password_hash <> $3 or exists (select 1 from identities where account_id = $1 and issuer <> $4))",
    )
    .bind(&user.account_id)
    .bind(user.password_version)
    .bind(NO_PASSWORD)
    .bind(issuer)
    .execute(&mut *tx)
    .await?;
    let taken = sqlx::query("delete from identities where account_id = $1 and issuer = $2")
        .bind(&user.account_id)
        .bind(issuer)
        .execute(&mut *tx)
        .await?;
    if ended.rows_affected() != 1 || taken.rows_affected() != 1 {
        return Ok(None);
    }
    tx.commit().await?;
    Ok(Some(User { password_version: user.password_version + 1, ..user.clone() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger;
    use crate::test_database::databases;

    const NOW: UnixMs = UnixMs(1_000);
    const FREE: Credits = Credits(100);

    fn of(issuer: &str, subject: &str) -> Identity {
        Identity { issuer: issuer.to_owned(), subject: subject.to_owned(), verified_email: None }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_identity_opens_one_account_and_gets_its_credits_once() {
        for db in databases().await {
            let ada = of("https://one.example", "1");
            let making = (0..8).map(|_| {
                let (db, ada) = (db.clone(), ada.clone());
                tokio::spawn(async move { sign_up(&db, &ada, "Ada@example.com", FREE, &[], NOW).await.ok() })
            });
            let made: Vec<User> =
                futures::future::join_all(making).await.into_iter().filter_map(|made| made.expect("joins")).collect();
            assert_eq!(made.len(), 1);
            assert_eq!(find(&db, &ada).await.expect("finds").as_ref(), Some(&made[0]));
            assert_eq!(ledger::balance(&db.readers, &made[0].account_id).await.expect("balance"), FREE);
            // The same number at another provider is another person; the same address has
            // its account already.
            let other = of("https://two.example", "1");
            assert_eq!(find(&db, &other).await.expect("finds"), None);
            let taken = sign_up(&db, &other, "ada@example.com", FREE, &[], NOW).await;
            assert!(matches!(taken, Err(AccountError::EmailTaken)), "{taken:?}");
            assert_eq!(find(&db, &other).await.expect("finds"), None);
        }
    }

    #[tokio::test]
    async fn linked_and_taken_away_but_never_the_last() {
        for db in databases().await {
            let password = PasswordHash::from_stored("x".to_owned());
            let ada = user::sign_up(&db, "ada@example.com", &password, FREE, &[], NOW).await.expect("signs up");
            let (one, two) = (of("https://one.example", "1"), of("https://two.example", "2"));
            assert!(link(&db, &ada.account_id, &one, NOW).await.expect("links"));
            assert!(!link(&db, &ada.account_id, &one, NOW).await.expect("links"), "once");
            let second = of("https://one.example", "another");
            assert!(!link(&db, &ada.account_id, &second, NOW).await.expect("links"), "one of a provider");
            let bob = sign_up(&db, &two, "bob@example.com", FREE, &[], NOW).await.expect("signs up");
            assert!(!link(&db, &ada.account_id, &two, NOW).await.expect("links"), "it opens bob's account");
            assert_eq!(unlink(&db, &bob, &two.issuer).await.expect("unlinks"), None, "nothing else opens it");
            assert_eq!(unlink(&db, &ada, &two.issuer).await.expect("unlinks"), None, "there is none");
            let after = unlink(&db, &ada, &one.issuer).await.expect("unlinks").expect("taken away");
            assert_eq!(after.password_version, ada.password_version + 1, "every session ends");
            assert_eq!(find(&db, &one).await.expect("finds"), None);
            assert_eq!(list(&db, &bob.account_id).await.expect("lists").len(), 1);
        }
    }
}

//! Users, who sign in to an account by its email address and a password.
//!
//! If mail is configured, an account is created once its address is proven; otherwise at
//! once. Either way it gets the free credits in the transaction that creates it, so that no
//! address gets them twice.

use super::account::{self, Account, AccountError};
use super::password::PasswordHash;
use super::sign_up_counts::{self, SignUpCount};
use super::token::{KeyHash, PlainKey};
use crate::clock::UnixMs;
use crate::db::{self, Database, Tx};
use crate::ledger::{self, Credits};
use sqlx::Row;
use sqlx::any::AnyRow;

/// Prefix of the one-time tokens in the links of emails.
pub const LINK_PREFIX: &str = "cycm_";

/// Lifetime of a link in an email, in milliseconds.
const LINK_LIFETIME_MS: i64 = 2 * 3_600_000;

/// A person who can sign in to an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub account_id: String,
    /// In lower case.
    pub email: String,
    /// Grows with every new password.
    pub password_version: i64,
}

/// Stored in place of a hash if no password has been set; no password matches it.
pub(super) const NO_PASSWORD: &str = "!";

const COLUMNS: &str = "u.account_id, a.email, u.password_version, u.password_hash";

fn read(row: &AnyRow) -> Result<(User, PasswordHash), sqlx::Error> {
    let user = User { account_id: row.try_get(0)?, email: row.try_get(1)?, password_version: row.try_get(2)? };
    Ok((user, PasswordHash::from_stored(row.try_get(3)?)))
}

pub async fn find(db: &Database, account_id: &str) -> Result<Option<User>, sqlx::Error> {
    let sql = format!("select {COLUMNS} from users u join accounts a on a.id = u.account_id where u.account_id = $1");
    let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(account_id).fetch_optional(&db.readers).await?;
    Ok(row.map(|row| read(&row)).transpose()?.map(|(user, _)| user))
}

/// Returns true if a password opens the account.
pub async fn has_password(db: &Database, account_id: &str) -> Result<bool, sqlx::Error> {
    let sql = "select 1 from users where account_id = $1 and password_hash <> $2";
    let row = sqlx::query(sql).bind(account_id).bind(NO_PASSWORD).fetch_optional(&db.readers).await?;
    Ok(row.is_some())
}

/// Returns the user of an email address, in any spelling of it.
pub async fn find_by_email(db: &Database, email: &str) -> Result<Option<(User, PasswordHash)>, sqlx::Error> {
    let Some(email) = account::normal_email(email) else { return Ok(None) };
    let sql = format!("select {COLUMNS} from users u join accounts a on a.id = u.account_id where a.email = $1");
    let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(email).fetch_optional(&db.readers).await?;
    row.map(|row| read(&row)).transpose()
}

/// Returns the user of an account. If the operator made the account and it has no user yet, creates
/// one whose password is still to be set.
pub async fn of_account(db: &Database, account: &Account, now: UnixMs) -> Result<User, sqlx::Error> {
    let insert = sqlx::query(
        "insert into users (account_id, password_hash, password_version, created_at_ms) values ($1, $2, 0, $3) on conflict do nothing",
    )
    .bind(account.id.clone())
    .bind(NO_PASSWORD)
    .bind(now.0);
    db.write(insert).await?;
    find(db, &account.id).await?.ok_or(sqlx::Error::RowNotFound)
}

/// Creates an account and its user at once, for a service without mail. Fails with
/// [`AccountError::EmailTaken`] if the address already has an account, even if that account has no
/// user yet: without mail, the caller cannot prove that the address is theirs. The account is
/// counted for each of `networks`.
pub async fn sign_up(
    db: &Database,
    email: &str,
    password: &PasswordHash,
    free: Credits,
    networks: &[SignUpCount],
    now: UnixMs,
) -> Result<User, AccountError> {
    let mut tx = db.begin().await?;
    sign_up_counts::count_in(&mut tx, networks, now).await?;
    let user = make(&mut tx, email, password, free, now).await?;
    tx.commit().await?;
    Ok(user)
}

pub(super) async fn make(
    tx: &mut Tx<'_>,
    email: &str,
    password: &PasswordHash,
    free: Credits,
    now: UnixMs,
) -> Result<User, AccountError> {
    let account_id = account::insert(tx, email, now).await?;
    ledger::open_free_account(tx, &account_id, free, now).await?;
    let email = account::normal_email(email).unwrap_or_default();
    insert(tx, &account_id, password, now).await?;
    Ok(User { account_id, email, password_version: 1 })
}

async fn insert(tx: &mut Tx<'_>, account_id: &str, password: &PasswordHash, now: UnixMs) -> Result<(), sqlx::Error> {
    let sql = "insert into users (account_id, password_hash, password_version, created_at_ms) values ($1, $2, 1, $3)";
    sqlx::query(sql).bind(account_id).bind(password.as_str()).bind(now.0).execute(&mut **tx).await?;
    Ok(())
}

/// Returns the number of users that were created since then.
pub async fn made_since(db: &Database, since: UnixMs) -> Result<i64, sqlx::Error> {
    let sql = "select count(*) from users where created_at_ms >= $1";
    sqlx::query_scalar(sql).bind(since.0).fetch_one(&db.readers).await
}

/// Stores a sign-up until its address is proven by `link`.
pub async fn keep_sign_up(
    db: &Database,
    email: &str,
    password: &PasswordHash,
    link: &PlainKey,
    now: UnixMs,
) -> Result<(), AccountError> {
    let email = account::normal_email(email).ok_or_else(|| AccountError::InvalidEmail(email.to_owned()))?;
    let sql = "insert into sign_ups (token_sha256, email, password_hash, expires_at_ms) values ($1, $2, $3, $4)";
    let query = sqlx::query(sql)
        .bind(link.hash().as_str().to_owned())
        .bind(email)
        .bind(password.as_str().to_owned())
        .bind(now.0 + LINK_LIFETIME_MS);
    db.write(query).await?;
    Ok(())
}

/// A sign-up that waits for its address to be proven.
#[derive(Debug, Clone)]
pub struct SignUp {
    pub email: String,
    pub password: PasswordHash,
}

pub async fn find_sign_up(db: &Database, link: &KeyHash, now: UnixMs) -> Result<Option<SignUp>, sqlx::Error> {
    let row = sqlx::query("select email, password_hash from sign_ups where token_sha256 = $1 and expires_at_ms > $2")
        .bind(link.as_str())
        .bind(now.0)
        .fetch_optional(&db.readers)
        .await?;
    row.map(|row| Ok(SignUp { email: row.try_get(0)?, password: PasswordHash::from_stored(row.try_get(1)?) }))
        .transpose()
}

/// Creates the account of a sign-up whose address has been proven, or creates the user of an
/// account that the operator made for this address. Returns `None` if the link is used up, or its
/// address has a user already.
pub async fn confirm(db: &Database, link: &KeyHash, free: Credits, now: UnixMs) -> Result<Option<User>, AccountError> {
    let mut tx = db.begin().await?;
    let row = sqlx::query(
        "delete from sign_ups where token_sha256 = $1 and expires_at_ms > $2 returning email, password_hash",
    )
    .bind(link.as_str())
    .bind(now.0)
    .fetch_optional(&mut *tx)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let email: String = row.try_get(0)?;
    let password = PasswordHash::from_stored(row.try_get(1)?);
    let known = sqlx::query(
        "select a.id, u.account_id from accounts a left join users u on u.account_id = a.id where a.email = $1",
    )
    .bind(&email)
    .fetch_optional(&mut *tx)
    .await?;
    let user = match known {
        None => match make(&mut tx, &email, &password, free, now).await {
            Ok(user) => user,
            // Another link of the same address was a moment faster.
            Err(AccountError::EmailTaken) => return Ok(None),
            Err(error) => return Err(error),
        },
        Some(row) => {
            let account_id: String = row.try_get(0)?;
            if row.try_get::<Option<String>, _>(1)?.is_some() {
                return Ok(None);
            }
            match insert(&mut tx, &account_id, &password, now).await {
                Ok(()) => User { account_id, email: email.clone(), password_version: 1 },
                Err(error) if db::is_unique_violation(&error) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    };
    // Other links of the address stay until they expire: they find a user, and open nothing.
    // (Deleting them here could wait for a transaction that is confirming one of them and
    // waits for this one.)
    tx.commit().await?;
    Ok(Some(user))
}

/// Stores a link that sets a new password for the user, until the password changes.
pub async fn keep_reset(db: &Database, user: &User, link: &PlainKey, now: UnixMs) -> Result<(), sqlx::Error> {
    let sql = "insert into password_resets (token_sha256, account_id, password_version, expires_at_ms) values ($1, $2, $3, $4)";
    let query = sqlx::query(sql)
        .bind(link.hash().as_str().to_owned())
        .bind(user.account_id.clone())
        .bind(user.password_version)
        .bind(now.0 + LINK_LIFETIME_MS);
    db.write(query).await?;
    Ok(())
}

/// Returns the user whose password a link sets, or `None` if the link is used up or the
/// password has changed since.
pub async fn find_reset(db: &Database, link: &KeyHash, now: UnixMs) -> Result<Option<User>, sqlx::Error> {
    let sql = format!(
        "select {COLUMNS} from password_resets r join users u on u.account_id = r.account_id and u.password_version = r.password_version
         join accounts a on a.id = u.account_id where r.token_sha256 = $1 and r.expires_at_ms > $2"
    );
    let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(link.as_str()).bind(now.0).fetch_optional(&db.readers).await?;
    Ok(row.map(|row| read(&row)).transpose()?.map(|(user, _)| user))
}

/// Sets a new password in place of the one that `user` was read with. Returns `None` if the
/// password has changed since. Every session and link of the old password ends. The identities of
/// the providers `end_issuers` are removed with it; the new password replaces them.
pub async fn set_password(
    db: &Database,
    user: &User,
    password: &PasswordHash,
    end_issuers: &[&str],
) -> Result<Option<User>, sqlx::Error> {
    let mut tx = db.begin().await?;
    let changed = sqlx::query(
        "update users set password_hash = $1, password_version = password_version + 1 where account_id = $2 and password_version = $3",
    )
    .bind(password.as_str())
    .bind(&user.account_id)
    .bind(user.password_version)
    .execute(&mut *tx)
    .await?;
    if changed.rows_affected() != 1 {
        return Ok(None);
    }
    sqlx::query("delete from password_resets where account_id = $1").bind(&user.account_id).execute(&mut *tx).await?;
    for issuer in end_issuers {
        sqlx::query("delete from identities where account_id = $1 and issuer = $2")
            .bind(&user.account_id)
            .bind(*issuer)
            .execute(&mut *tx)
            .await?;
    }
    tx.commit().await?;
    Ok(Some(User { password_version: user.password_version + 1, ..user.clone() }))
}

/// Deletes expired links.
pub(super) async fn forget_expired(db: &Database, now: UnixMs) -> Result<(), sqlx::Error> {
    for sql in
        ["delete from sign_ups where expires_at_ms <= $1", "delete from password_resets where expires_at_ms <= $1"]
    {
        db.write(sqlx::query(sql).bind(now.0)).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::databases;

    const NOW: UnixMs = UnixMs(1_000);
    const FREE: Credits = Credits(100);

    fn hash(text: &str) -> PasswordHash {
        PasswordHash::from_stored(text.to_owned())
    }

    fn link() -> PlainKey {
        PlainKey::generate(LINK_PREFIX, &mut rand::rng())
    }

    async fn balance(db: &Database, user: &User) -> i64 {
        ledger::balance(&db.readers, &user.account_id).await.expect("balance").0
    }

    #[tokio::test]
    async fn an_address_is_confirmed_once_and_gets_its_credits_once() {
        for db in databases().await {
            let (first, second) = (link(), link());
            for (link, password) in [(&first, "one"), (&second, "two")] {
                keep_sign_up(&db, "Ada@Example.com", &hash(password), link, NOW).await.expect("keeps");
            }
            assert!(find_by_email(&db, "ada@example.com").await.expect("finds").is_none(), "nothing exists yet");
            let late = NOW.plus_ms(LINK_LIFETIME_MS);
            assert!(confirm(&db, &second.hash(), FREE, late).await.expect("confirms").is_none(), "too late");
            let links = [first.hash(), second.hash()];
            let (one, other) = tokio::join!(confirm(&db, &links[0], FREE, NOW), confirm(&db, &links[1], FREE, NOW));
            let made: Vec<User> = [one, other].into_iter().filter_map(|made| made.expect("confirms")).collect();
            assert_eq!(made.len(), 1, "one of two links makes the account");
            assert_eq!(balance(&db, &made[0]).await, 100);
            for used in [&first, &second] {
                assert!(confirm(&db, &used.hash(), FREE, NOW).await.expect("confirms").is_none());
            }
            let again = link();
            keep_sign_up(&db, "ada@example.com", &hash("three"), &again, NOW).await.expect("keeps");
            assert!(confirm(&db, &again.hash(), FREE, NOW).await.expect("confirms").is_none(), "it has a user");
            let (_, password) = find_by_email(&db, "ADA@example.com").await.expect("finds").expect("there");
            assert_ne!(password.as_str(), "three", "nobody takes an account over by signing up again");
        }
    }

    #[tokio::test]
    async fn an_operators_account_is_claimed_by_mail_only_and_keeps_its_credits() {
        for db in databases().await {
            let account_id = account::open(&db, "demo@example.com", Credits(7), NOW).await.expect("account");
            let taken = sign_up(&db, "demo@example.com", &hash("x"), FREE, &[], NOW).await;
            assert!(matches!(taken, Err(AccountError::EmailTaken)), "{taken:?}");
            let link = link();
            keep_sign_up(&db, "demo@example.com", &hash("mine"), &link, NOW).await.expect("keeps");
            let user = confirm(&db, &link.hash(), FREE, NOW).await.expect("confirms").expect("confirmed");
            assert_eq!((user.account_id.as_str(), balance(&db, &user).await), (account_id.as_str(), 7));
        }
    }

    #[tokio::test]
    async fn a_new_password_ends_what_the_old_one_opened() {
        for db in databases().await {
            let user = sign_up(&db, "ada@example.com", &hash("old"), FREE, &[], NOW).await.expect("signs up");
            let links = [link(), link()];
            for link in &links {
                keep_reset(&db, &user, link, NOW).await.expect("keeps");
            }
            assert_eq!(find_reset(&db, &links[0].hash(), NOW).await.expect("finds"), Some(user.clone()));
            assert_eq!(find_reset(&db, &links[0].hash(), NOW.plus_ms(LINK_LIFETIME_MS)).await.expect("finds"), None);
            let hashes = [hash("a"), hash("b")];
            let (one, other) =
                tokio::join!(set_password(&db, &user, &hashes[0], &[]), set_password(&db, &user, &hashes[1], &[]));
            let set: Vec<User> = [one, other].into_iter().filter_map(|set| set.expect("sets")).collect();
            assert_eq!(set.iter().map(|user| user.password_version).collect::<Vec<_>>(), [2], "one of two wins");
            for link in &links {
                assert_eq!(find_reset(&db, &link.hash(), NOW).await.expect("finds"), None, "used up");
            }
            assert_eq!(find(&db, &user.account_id).await.expect("finds").expect("there").password_version, 2);
        }
    }
}

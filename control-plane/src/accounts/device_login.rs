//! Device logins, for instance of a command-line tool (in the spirit of RFC 8628): the device shows
//! a code, a person approves it in a browser, and the device's next poll gets an API key, once. The
//! key is created in that poll, so it is stored nowhere in plain text.

use super::api_key::{self, NewKey};
use super::token::{KeyHash, PlainKey};
use super::{Scope, UserCode};
use crate::clock::UnixMs;
use crate::db::{self, Database};
use sqlx::Row;

pub const PREFIX: &str = "cycd_";
pub const LIFETIME_SECONDS: i64 = 600;
pub const INTERVAL_SECONDS: i64 = 3;
pub const CLIENT_NAME_CHARS_MAX: usize = 80;

/// The scopes of a device's key if the device did not request particular ones.
pub const SCOPES: [Scope; 3] = Scope::ALL;

/// Tolerance for early polls, in milliseconds: a device that keeps to the interval by its own clock
/// now and then arrives a little early by ours.
const EARLY_MS: i64 = 250;

/// Time for which rows are kept after their end, in milliseconds, so that a late poll gets an
/// answer that says what happened.
const KEPT_MS: i64 = 3_600_000;

/// Maximum number of draws of a user code, if codes are taken. There are 17 thousand million codes,
/// so that a second draw is already never needed.
const DRAWS_MAX: usize = 5;

/// The codes that a device gets: one to show, one to poll with.
#[derive(Debug)]
pub struct DeviceCode {
    pub device_code: PlainKey,
    pub user_code: UserCode,
}

/// Starts a login. `scopes` are the scopes that its key gets if a person approves it.
pub async fn start(db: &Database, client_name: &str, scopes: &[Scope], now: UnixMs) -> Result<DeviceCode, sqlx::Error> {
    let device_code = PlainKey::generate(PREFIX, &mut rand::rng());
    for draw in 1.. {
        let user_code = UserCode::generate(&mut rand::rng());
        let insert = sqlx::query(
            "insert into device_logins (device_code_sha256, user_code, client_name, state, created_at_ms, expires_at_ms, scopes)
             values ($1, $2, $3, 'pending', $4, $5, $6)",
        )
        .bind(device_code.hash().as_str().to_owned())
        .bind(user_code.as_str().to_owned())
        .bind(client_name)
        .bind(now.0)
        .bind(now.0 + LIFETIME_SECONDS * 1000)
        .bind(Scope::print_list(scopes));
        match db.write(insert).await {
            Ok(_) => return Ok(DeviceCode { device_code, user_code }),
            Err(error) if db::is_unique_violation(&error) && draw < DRAWS_MAX => {}
            Err(error) => return Err(error),
        }
    }
    Err(sqlx::Error::RowNotFound)
}

/// The answer to a poll.
#[derive(Debug)]
pub enum PollOutcome {
    /// No decision has been made yet.
    Pending,
    /// No decision has been made yet, and the poll came too soon.
    TooSoon { retry_after_seconds: i64 },
    /// The login is approved. The key is returned here and never again.
    Key { key: PlainKey, key_id: String, account_id: String, scopes: Vec<Scope> },
    /// The login has expired, was denied, was redeemed before or was never started; it
    /// will not give a key.
    Over,
}

pub async fn poll(db: &Database, device_code: &KeyHash, now: UnixMs) -> Result<PollOutcome, sqlx::Error> {
    let row = sqlx::query("select state, expires_at_ms, polled_at_ms from device_logins where device_code_sha256 = $1")
        .bind(device_code.as_str())
        .fetch_optional(&db.readers)
        .await?;
    let Some(row) = row else { return Ok(PollOutcome::Over) };
    let (state, expires_at_ms): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
    match state.as_str() {
        _ if expires_at_ms <= now.0 => Ok(PollOutcome::Over),
        "approved" => redeem(db, device_code, now).await,
        "pending" => count_poll(db, device_code, row.try_get(2)?, now).await,
        _ => Ok(PollOutcome::Over),
    }
}

/// Records a poll that keeps to the interval; the next one is measured from it.
async fn count_poll(
    db: &Database,
    device_code: &KeyHash,
    polled_at_ms: Option<i64>,
    now: UnixMs,
) -> Result<PollOutcome, sqlx::Error> {
    let latest_ms = now.0 - INTERVAL_SECONDS * 1000 + EARLY_MS;
    let counted = db
        .write(
            sqlx::query(
                "update device_logins set polled_at_ms = $1
                 where device_code_sha256 = $2 and (polled_at_ms is null or polled_at_ms <= $3)",
            )
            .bind(now.0)
            .bind(device_code.as_str().to_owned())
            .bind(latest_ms),
        )
        .await?;
    if counted == 1 {
        return Ok(PollOutcome::Pending);
    }
    let left_ms = polled_at_ms.unwrap_or(now.0) + INTERVAL_SECONDS * 1000 - now.0;
    Ok(PollOutcome::TooSoon { retry_after_seconds: (left_ms + 999).div_euclid(1000).clamp(1, INTERVAL_SECONDS) })
}

/// Creates the key, in the transaction that closes the login, so that of two simultaneous
/// polls only one gets it.
async fn redeem(db: &Database, device_code: &KeyHash, now: UnixMs) -> Result<PollOutcome, sqlx::Error> {
    let mut tx = db.begin().await?;
    let row = sqlx::query(
        "update device_logins set state = 'redeemed'
         where device_code_sha256 = $1 and state = 'approved' and expires_at_ms > $2 returning account_id, client_name, scopes",
    )
    .bind(device_code.as_str())
    .bind(now.0)
    .fetch_optional(&mut *tx)
    .await?;
    let Some(row) = row else { return Ok(PollOutcome::Over) };
    let (account_id, name): (String, String) = (row.try_get(0)?, row.try_get(1)?);
    let scopes = scopes_of(row.try_get(2)?)?;
    let key = PlainKey::generate(api_key::PREFIX, &mut rand::rng());
    let new = NewKey {
        account_id: &account_id,
        name: &name,
        scopes: &scopes,
        rate_limit_per_minute: None,
        monthly_cap: None,
    };
    // If the account has its maximum number of keys, nothing is redeemed: the rollback leaves the
    // login until it expires.
    let Some(key_id) = api_key::create_within_cap(&mut tx, new, &key, now).await? else { return Ok(PollOutcome::Over) };
    tx.commit().await?;
    Ok(PollOutcome::Key { key, key_id, account_id, scopes })
}

/// Parses the stored scopes. A login from before scopes could be requested has none stored.
fn scopes_of(stored: Option<String>) -> Result<Vec<Scope>, sqlx::Error> {
    let Some(stored) = stored else { return Ok(SCOPES.into()) };
    Scope::parse_list(&stored).map_err(|name| sqlx::Error::Decode(format!("device_logins.scopes has `{name}`").into()))
}

/// A login that waits for a person's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    pub user_code: UserCode,
    pub client_name: String,
    pub scopes: Vec<Scope>,
}

pub async fn find_pending(db: &Database, user_code: &UserCode, now: UnixMs) -> Result<Option<Pending>, sqlx::Error> {
    let row = sqlx::query(
        "select client_name, scopes from device_logins where user_code = $1 and state = 'pending' and expires_at_ms > $2",
    )
    .bind(user_code.as_str())
    .bind(now.0)
    .fetch_optional(&db.readers)
    .await?;
    row.map(|row| {
        Ok(Pending { user_code: user_code.clone(), client_name: row.try_get(0)?, scopes: scopes_of(row.try_get(1)?)? })
    })
    .transpose()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Approve,
    Deny,
}

/// Stores a person's decision. Returns false if there is nothing left to decide.
pub async fn decide(
    db: &Database,
    user_code: &UserCode,
    account_id: &str,
    decision: Decision,
    now: UnixMs,
) -> Result<bool, sqlx::Error> {
    let (state, account_id) = match decision {
        Decision::Approve => ("approved", Some(account_id.to_owned())),
        Decision::Deny => ("denied", None),
    };
    let decided = sqlx::query(
        "update device_logins set state = $1, account_id = $2 where user_code = $3 and state = 'pending' and expires_at_ms > $4",
    )
    .bind(state)
    .bind(account_id)
    .bind(user_code.as_str().to_owned())
    .bind(now.0);
    Ok(db.write(decided).await? == 1)
}

/// Deletes logins that have been over for a while.
pub(super) async fn forget_old(db: &Database, now: UnixMs) -> Result<(), sqlx::Error> {
    db.write(sqlx::query("delete from device_logins where expires_at_ms <= $1").bind(now.0 - KEPT_MS)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::account;
    use crate::ledger::Credits;
    use crate::test_database::databases;

    const START: UnixMs = UnixMs(1_000_000);

    async fn told(db: &Database, started: &DeviceCode, seconds: f64) -> String {
        let at = START.plus_ms((seconds * 1000.0) as i64);
        match poll(db, &started.device_code.hash(), at).await.expect("polls") {
            PollOutcome::Pending => "pending".to_owned(),
            PollOutcome::TooSoon { retry_after_seconds } => format!("too soon, {retry_after_seconds}"),
            PollOutcome::Key { .. } => "key".to_owned(),
            PollOutcome::Over => "over".to_owned(),
        }
    }

    #[tokio::test]
    async fn polls_of_a_login_that_nobody_decides() {
        for db in databases().await {
            let started = start(&db, "tool", &SCOPES, START).await.expect("starts");
            for (seconds, expected) in [
                (0.0, "pending"),
                (0.1, "too soon, 3"),
                (2.0, "too soon, 1"),
                (2.9, "pending"),
                (4.0, "too soon, 2"),
                (599.9, "pending"),
                (600.0, "over"),
            ] {
                assert_eq!(told(&db, &started, seconds).await, expected, "{seconds}");
            }
            let late = START.plus_ms(LIFETIME_SECONDS * 1000);
            assert_eq!(find_pending(&db, &started.user_code, late).await.expect("finds"), None);
            forget_old(&db, late.plus_ms(KEPT_MS)).await.expect("forgets");
            assert_eq!(told(&db, &started, 1.0).await, "over", "unknown by now");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_key_is_handed_over_once_however_many_polls_come_at_once() {
        for db in databases().await {
            let account_id = account::open(&db, "ada@example.com", Credits(1), START).await.expect("account");
            let started = start(&db, "Ada's laptop", &SCOPES, START).await.expect("starts");
            let pending = find_pending(&db, &started.user_code, START).await.expect("finds").expect("pending");
            assert_eq!(pending.client_name, "Ada's laptop");
            assert_eq!(told(&db, &started, 0.0).await, "pending");
            assert!(decide(&db, &started.user_code, &account_id, Decision::Approve, START).await.expect("decides"));
            for decision in [Decision::Approve, Decision::Deny] {
                let again = decide(&db, &started.user_code, "other", decision, START).await.expect("decides");
                assert!(!again, "decided once");
            }
            let mut polls = Vec::new();
            for _ in 0..20 {
                let (db, code) = (db.clone(), started.device_code.hash());
                polls.push(tokio::spawn(async move { poll(&db, &code, START.plus_ms(1)).await.expect("polls") }));
            }
            let mut keys = Vec::new();
            for polled in polls {
                match polled.await.expect("task") {
                    PollOutcome::Key { key, key_id, account_id: of, .. } => {
                        assert_eq!(of, account_id);
                        keys.push((key, key_id));
                    }
                    PollOutcome::Over => {}
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(keys.len(), 1);
            let found = api_key::ApiKeys::default().find(&db, &keys[0].0.hash()).await.expect("finds").expect("there");
            assert_eq!((found.key_id, found.scopes), (keys[0].1.clone(), Scope::ALL.to_vec()));
            assert_eq!(told(&db, &started, 9.0).await, "over");
        }
    }

    #[tokio::test]
    async fn an_account_with_a_hundred_keys_gets_none_by_a_device() {
        for db in databases().await {
            let account_id = account::open(&db, "ada@example.com", Credits(1), START).await.expect("account");
            let mut tx = db.begin().await.expect("begin");
            for _ in 0..api_key::IN_USE_MAX {
                let key = PlainKey::generate(api_key::PREFIX, &mut rand::rng());
                let new = NewKey {
                    account_id: &account_id,
                    name: "",
                    scopes: &SCOPES,
                    rate_limit_per_minute: None,
                    monthly_cap: None,
                };
                api_key::create(&mut tx, new, &key, START).await.expect("creates");
            }
            tx.commit().await.expect("commit");
            let started = start(&db, "tool", &SCOPES, START).await.expect("starts");
            assert!(decide(&db, &started.user_code, &account_id, Decision::Approve, START).await.expect("decides"));
            assert_eq!(told(&db, &started, 0.0).await, "over");
        }
    }

    #[tokio::test]
    async fn what_was_denied_or_approved_too_late_gives_no_key() {
        for db in databases().await {
            let account_id = account::open(&db, "ada@example.com", Credits(1), START).await.expect("account");
            let denied = start(&db, "", &SCOPES, START).await.expect("starts");
            assert!(decide(&db, &denied.user_code, &account_id, Decision::Deny, START).await.expect("decides"));
            assert_eq!(told(&db, &denied, 0.0).await, "over");
            let late = start(&db, "", &SCOPES, START).await.expect("starts");
            let end = START.plus_ms(LIFETIME_SECONDS * 1000);
            assert!(!decide(&db, &late.user_code, &account_id, Decision::Approve, end).await.expect("decides"));
            let unredeemed = start(&db, "", &SCOPES, START).await.expect("starts");
            assert!(decide(&db, &unredeemed.user_code, &account_id, Decision::Approve, START).await.expect("decides"));
            assert_eq!(told(&db, &unredeemed, 600.0).await, "over", "approved, and never asked for in time");
        }
    }
}

//! API keys: creating them, finding them by hash, and revoking them at once.

use super::account;
use super::scope::Scope;
use super::token::{KeyHash, PlainKey};
use crate::clock::{DAY_MS, UnixMs};
use crate::db::{Database, DatabaseKind, Tx};
use crate::ledger::{self, Credits, KeyCap, LedgerError};
use moka::sync::Cache;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};
use std::sync::atomic::{AtomicU64, Ordering};

pub const PREFIX: &str = "cyc_";

/// A key in use.
#[derive(Debug, Clone)]
pub struct ActiveKey {
    pub key_id: String,
    pub account_id: String,
    pub scopes: Vec<Scope>,
    /// `None` if the service's default limit applies.
    pub rate_limit_per_minute: Option<i64>,
    /// True if the key has a monthly cap. The cap itself is read when the key is charged.
    pub is_capped: bool,
}

/// The contents and permissions of a new key.
#[derive(Debug)]
pub struct NewKey<'a> {
    pub account_id: &'a str,
    pub name: &'a str,
    pub scopes: &'a [Scope],
    pub rate_limit_per_minute: Option<i64>,
    /// Credits that the key may take in a UTC month. `None` if only the
    /// account's balance limits it.
    pub monthly_cap: Option<Credits>,
}

/// Stores a key that was made with [`PREFIX`], and returns its id. Only the hash is stored.
pub async fn create(tx: &mut Tx<'_>, new: NewKey<'_>, key: &PlainKey, now: UnixMs) -> Result<String, sqlx::Error> {
    let key_id = uuid::Uuid::now_v7().to_string();
    sqlx::query(
        "insert into api_keys (id, account_id, name, key_sha256, scopes, rate_limit_per_minute, monthly_cap_credits, created_at_ms)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(&key_id)
    .bind(new.account_id)
    .bind(new.name)
    .bind(key.hash().as_str())
    .bind(Scope::print_list(new.scopes))
    .bind(new.rate_limit_per_minute)
    .bind(new.monthly_cap.map(|cap| cap.0))
    .bind(now.0)
    .execute(&mut **tx)
    .await?;
    Ok(key_id)
}

/// Maximum length of a key's name, in characters: one line on a screen.
pub const NAME_CHARS_MAX: usize = 80;

/// Maximum number of keys in use per account.
pub const IN_USE_MAX: i64 = 100;

/// Maximum number of keys that the owner of an account may make in 24 hours, rotations included:
/// the rows of revoked keys stay, because deliveries refer to them.
pub const MADE_PER_DAY_MAX: i64 = 200;

/// A key as it is shown to the owner of its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    pub id: String,
    pub name: String,
    pub scopes: Vec<Scope>,
    pub rate_limit_per_minute: Option<i64>,
    pub monthly_cap: Option<KeyCap>,
    pub created_at: UnixMs,
    pub is_revoked: bool,
    /// The minute of the key's last request.
    pub used_at: Option<UnixMs>,
}

const REVOKED_SHOWN: i64 = 10;

const COLUMNS: &str = "k.id, k.name, k.scopes, k.rate_limit_per_minute, k.created_at_ms, k.revoked_at_ms,
    (select w.window_start_ms from rate_windows w where w.counted = k.id),
    k.monthly_cap_credits, k.spent_month, k.spent_credits";

impl KeyInfo {
    fn read(row: &AnyRow, now: UnixMs) -> Result<Self, sqlx::Error> {
        let id: String = row.try_get(0)?;
        let spent_month: Option<String> = row.try_get(8)?;
        Ok(KeyInfo {
            monthly_cap: KeyCap::of(row.try_get(7)?, spent_month.as_deref(), row.try_get(9)?, now),
            name: row.try_get(1)?,
            scopes: parse_scopes(&id, row.try_get(2)?)?,
            rate_limit_per_minute: row.try_get(3)?,
            created_at: UnixMs(row.try_get(4)?),
            is_revoked: row.try_get::<Option<i64>, _>(5)?.is_some(),
            used_at: row.try_get::<Option<i64>, _>(6)?.map(UnixMs),
            id,
        })
    }
}

/// Returns the keys of an account, newest first. Of the revoked ones only the
/// last few are included.
pub async fn list(db: &Database, account_id: &str, now: UnixMs) -> Result<Vec<KeyInfo>, sqlx::Error> {
    let sql = format!(
        "select {COLUMNS} from api_keys k where k.account_id = $1 and (k.revoked_at_ms is null or k.id in
            (select id from api_keys where account_id = $1 and revoked_at_ms is not null order by revoked_at_ms desc, id desc limit $2))
         order by k.created_at_ms desc, k.id desc"
    );
    let rows =
        sqlx::query(sqlx::AssertSqlSafe(sql)).bind(account_id).bind(REVOKED_SHOWN).fetch_all(&db.readers).await?;
    rows.iter().map(|row| KeyInfo::read(row, now)).collect()
}

/// Returns a key in use of the account.
pub async fn find_own(
    db: &Database,
    account_id: &str,
    key_id: &str,
    now: UnixMs,
) -> Result<Option<KeyInfo>, sqlx::Error> {
    // Any other text in a URL is not an id, and some of it is not valid text for PostgreSQL.
    if uuid::Uuid::parse_str(key_id).is_err() {
        return Ok(None);
    }
    let sql =
        format!("select {COLUMNS} from api_keys k where k.account_id = $1 and k.id = $2 and k.revoked_at_ms is null");
    let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(account_id).bind(key_id).fetch_optional(&db.readers).await?;
    row.map(|row| KeyInfo::read(&row, now)).transpose()
}

/// Returns the cap of a key in use, with the credits that count against it.
pub async fn cap(db: &Database, key_id: &str, now: UnixMs) -> Result<Option<KeyCap>, sqlx::Error> {
    let row = sqlx::query("select monthly_cap_credits, spent_month, spent_credits from api_keys where id = $1")
        .bind(key_id)
        .fetch_one(&db.readers)
        .await?;
    let spent_month: Option<String> = row.try_get(1)?;
    Ok(KeyCap::of(row.try_get(0)?, spent_month.as_deref(), row.try_get(2)?, now))
}

/// Returns the number of the account's keys in use.
pub async fn count_in_use(connection: &mut AnyConnection, account_id: &str) -> Result<i64, sqlx::Error> {
    sqlx::query("select count(*) from api_keys where account_id = $1 and revoked_at_ms is null")
        .bind(account_id)
        .fetch_one(connection)
        .await?
        .try_get(0)
}

/// Returns the number of the account's keys that were made in the last 24 hours.
pub async fn count_made(connection: &mut AnyConnection, account_id: &str, now: UnixMs) -> Result<i64, sqlx::Error> {
    sqlx::query("select count(*) from api_keys where account_id = $1 and created_at_ms > $2")
        .bind(account_id)
        .bind(now.0 - DAY_MS)
        .fetch_one(connection)
        .await?
        .try_get(0)
}

/// Like [`create`], for the account's owner. Returns `None` if [`IN_USE_MAX`] keys are in use, or
/// [`MADE_PER_DAY_MAX`] were made in a day.
pub async fn create_within_cap(
    tx: &mut Tx<'_>,
    new: NewKey<'_>,
    key: &PlainKey,
    now: UnixMs,
) -> Result<Option<String>, sqlx::Error> {
    account::lock(tx, new.account_id).await?;
    if count_in_use(tx, new.account_id).await? >= IN_USE_MAX
        || count_made(tx, new.account_id, now).await? >= MADE_PER_DAY_MAX
    {
        return Ok(None);
    }
    create(tx, new, key, now).await.map(Some)
}

fn parse_scopes(key_id: &str, stored: &str) -> Result<Vec<Scope>, sqlx::Error> {
    Scope::parse_list(stored).map_err(|name| {
        sqlx::Error::Decode(format!("api_keys.scopes of {key_id} names `{name}`, which is no scope").into())
    })
}

/// Maximum number of keys that one process caches: about 300 bytes each.
const REMEMBERED_MAX: u64 = 10_000;

/// The keys in use by hash, with a cache in this process.
///
/// On SQLite this process is the only one that can revoke, so keys are cached until it does. On
/// PostgreSQL another process may revoke at any time, and a revocation takes effect at once, so
/// every request queries the database.
#[derive(Debug)]
pub struct ApiKeys {
    remembered: Cache<KeyHash, ActiveKey>,
    /// Grows with every revocation. Without it, a key read before a revocation and cached after
    /// it would stay valid.
    revocations: AtomicU64,
}

impl Default for ApiKeys {
    fn default() -> Self {
        ApiKeys { remembered: Cache::new(REMEMBERED_MAX), revocations: AtomicU64::new(0) }
    }
}

impl ApiKeys {
    /// Returns `None` if the key was never made, or is revoked.
    pub async fn find(&self, db: &Database, hash: &KeyHash) -> Result<Option<ActiveKey>, sqlx::Error> {
        if db.kind == DatabaseKind::Postgres {
            return find(db, hash).await;
        }
        if let Some(key) = self.remembered.get(hash) {
            return Ok(Some(key));
        }
        let revocations_before = self.revocations.load(Ordering::SeqCst);
        let Some(key) = find(db, hash).await? else { return Ok(None) };
        self.remembered.insert(hash.clone(), key.clone());
        if self.revocations.load(Ordering::SeqCst) != revocations_before {
            self.remembered.invalidate(hash);
        }
        Ok(Some(key))
    }

    /// Returns the number of keys that this process has revoked. What was read about a key at
    /// another count may be out of date.
    pub fn revocations(&self) -> u64 {
        self.revocations.load(Ordering::SeqCst)
    }

    /// Revokes a key for good. Returns false if there is no key with this id.
    /// Repeating it changes nothing.
    pub async fn revoke(&self, db: &Database, key_id: &str, now: UnixMs) -> Result<bool, sqlx::Error> {
        db.write(
            sqlx::query("update api_keys set revoked_at_ms = $1 where id = $2 and revoked_at_ms is null")
                .bind(now.0)
                .bind(key_id),
        )
        .await?;
        let row = sqlx::query("select key_sha256 from api_keys where id = $1")
            .bind(key_id)
            .fetch_optional(&db.readers)
            .await?;
        let Some(row) = row else { return Ok(false) };
        self.forget(&KeyHash::from_stored(row.try_get("key_sha256")?));
        Ok(true)
    }
}

impl ApiKeys {
    /// Sets, changes or removes the monthly cap of a key in use, from the next request on. Returns
    /// false if there is no such key.
    pub async fn set_cap(
        &self,
        db: &Database,
        key_id: &str,
        cap: Option<Credits>,
        now: UnixMs,
    ) -> Result<bool, LedgerError> {
        if !ledger::set_key_cap(db, key_id, cap, now).await? {
            return Ok(false);
        }
        let row =
            sqlx::query("select key_sha256 from api_keys where id = $1").bind(key_id).fetch_one(&db.readers).await?;
        self.forget(&KeyHash::from_stored(row.try_get(0)?));
        Ok(true)
    }

    /// Replaces a key in use by a new one, in one transaction: there is always a key that works,
    /// and of two simultaneous rotations only one makes a key. Returns `None` if the old key is no
    /// longer in use. The cap, and what counts against it, moves to the new key.
    pub async fn rotate(
        &self,
        db: &Database,
        old_id: &str,
        new: NewKey<'_>,
        key: &PlainKey,
        now: UnixMs,
    ) -> Result<Option<String>, sqlx::Error> {
        let mut tx = db.begin().await?;
        let revoked = sqlx::query(
            "update api_keys set revoked_at_ms = $1 where id = $2 and account_id = $3 and revoked_at_ms is null
             returning key_sha256, monthly_cap_credits, spent_month, spent_credits",
        )
        .bind(now.0)
        .bind(old_id)
        .bind(new.account_id)
        .fetch_optional(&mut *tx)
        .await?;
        let Some(revoked) = revoked else { return Ok(None) };
        let hash = KeyHash::from_stored(revoked.try_get(0)?);
        let key_id = create(&mut tx, new, key, now).await?;
        let sql = "update api_keys set monthly_cap_credits = $1, spent_month = $2, spent_credits = $3 where id = $4";
        sqlx::query(sql)
            .bind(revoked.try_get::<Option<i64>, _>(1)?)
            .bind(revoked.try_get::<Option<String>, _>(2)?)
            .bind(revoked.try_get::<i64, _>(3)?)
            .bind(&key_id)
            .execute(&mut *tx)
            .await?;
        // Also update the keys that the old one had replaced, so that a single lookup
        // finds the key in use.
        sqlx::query("update api_keys set replaced_by = $1 where id = $2 or replaced_by = $2")
            .bind(&key_id)
            .bind(old_id)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        self.forget(&hash);
        Ok(Some(key_id))
    }

    fn forget(&self, hash: &KeyHash) {
        self.revocations.fetch_add(1, Ordering::SeqCst);
        self.remembered.invalidate(hash);
    }
}

async fn find(db: &Database, hash: &KeyHash) -> Result<Option<ActiveKey>, sqlx::Error> {
    let sql = "select id, account_id, scopes, rate_limit_per_minute, monthly_cap_credits from api_keys
               where key_sha256 = $1 and revoked_at_ms is null";
    let row = sqlx::query(sql).bind(hash.as_str()).fetch_optional(&db.readers).await?;
    let Some(row) = row else { return Ok(None) };
    let key_id: String = row.try_get("id")?;
    let scopes = parse_scopes(&key_id, row.try_get("scopes")?)?;
    Ok(Some(ActiveKey {
        account_id: row.try_get("account_id")?,
        scopes,
        rate_limit_per_minute: row.try_get("rate_limit_per_minute")?,
        is_capped: row.try_get::<Option<i64>, _>("monthly_cap_credits")?.is_some(),
        key_id,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::account;
    use crate::test_database::databases;

    #[tokio::test]
    async fn a_key_is_found_with_what_it_may_do_until_it_is_revoked() {
        for db in databases().await {
            let keys = ApiKeys::default();
            let now = UnixMs(1);
            let account_id = account::open(&db, "A@example.com", Credits(3), now).await.expect("account");
            let again = account::open(&db, "a@EXAMPLE.com", Credits(3), now).await;
            assert!(matches!(again, Err(account::AccountError::EmailTaken)), "{again:?}");

            let key = PlainKey::generate(PREFIX, &mut rand::rng());
            let scopes = [Scope::ImagesRead, Scope::BillingWrite];
            let new = NewKey {
                account_id: &account_id,
                name: "shop",
                scopes: &scopes,
                rate_limit_per_minute: Some(7),
                monthly_cap: None,
            };
            let mut tx = db.begin().await.expect("begin");
            let key_id = create(&mut tx, new, &key, now).await.expect("create");
            tx.commit().await.expect("commit");

            for _ in 0..2 {
                let found = keys.find(&db, &key.hash()).await.expect("find").expect("there");
                assert_eq!((found.key_id.as_str(), found.account_id.as_str()), (key_id.as_str(), account_id.as_str()));
                assert_eq!(found.scopes, scopes);
                assert_eq!(found.rate_limit_per_minute, Some(7));
            }
            let other = PlainKey::generate(PREFIX, &mut rand::rng());
            assert!(keys.find(&db, &other.hash()).await.expect("find").is_none());

            for _ in 0..2 {
                assert!(keys.revoke(&db, &key_id, now).await.expect("revoke"));
                assert!(keys.find(&db, &key.hash()).await.expect("find").is_none(), "refused at once");
            }
            assert!(!keys.revoke(&db, "nobody", now).await.expect("revoke"));
            let row =
                sqlx::query("select key_sha256 from api_keys where id = $1").bind(&key_id).fetch_one(&db.readers).await;
            let stored: String = row.expect("row").try_get(0).expect("text");
            assert!(!stored.contains(key.reveal()) && stored.len() == 64, "only the hash is stored");
        }
    }

    fn new_key(account_id: &str) -> NewKey<'_> {
        NewKey {
            account_id,
            name: "shop",
            scopes: &[Scope::ImagesRead],
            rate_limit_per_minute: None,
            monthly_cap: None,
        }
    }

    async fn make(db: &Database, account_id: &str, now: UnixMs) -> Option<String> {
        let key = PlainKey::generate(PREFIX, &mut rand::rng());
        let mut tx = db.begin().await.expect("begin");
        let made = create_within_cap(&mut tx, new_key(account_id), &key, now).await.expect("creates");
        tx.commit().await.expect("commit");
        made
    }

    /// Creates keys in parallel up to the maximum. Even many revoked keys must not hide one in use.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_hundred_in_use_whoever_asks_at_once_and_all_of_them_listed() {
        for db in databases().await {
            let keys = ApiKeys::default();
            let account_id = account::open(&db, "a@example.com", Credits(3), UnixMs(1)).await.expect("account");
            let oldest = make(&db, &account_id, UnixMs(1)).await.expect("made");
            for at in 2..14 {
                let key_id = make(&db, &account_id, UnixMs(at)).await.expect("made");
                keys.revoke(&db, &key_id, UnixMs(at)).await.expect("revokes");
            }
            let listed = list(&db, &account_id, UnixMs(20)).await.expect("lists");
            assert_eq!(listed.len(), 11, "of revoked ones the last ten");
            assert!(listed.iter().any(|key| key.id == oldest && !key.is_revoked));

            for _ in 1..95 {
                make(&db, &account_id, UnixMs(20)).await.expect("made");
            }
            let tasks: Vec<_> = (0..20)
                .map(|_| {
                    let (db, account_id) = (db.clone(), account_id.clone());
                    tokio::spawn(async move { make(&db, &account_id, UnixMs(21)).await })
                })
                .collect();
            let mut made = 0;
            for task in tasks {
                made += usize::from(task.await.expect("task").is_some());
            }
            assert_eq!(made, 5);

            let (one, other) =
                (PlainKey::generate(PREFIX, &mut rand::rng()), PlainKey::generate(PREFIX, &mut rand::rng()));
            let rotate = |key| keys.rotate(&db, &oldest, new_key(&account_id), key, UnixMs(22));
            let (first, second) = tokio::join!(rotate(&one), rotate(&other));
            let rotated = [first.expect("rotates"), second.expect("rotates")];
            assert_eq!(rotated.iter().flatten().count(), 1, "of two at once one makes a key");
            assert_eq!(
                count_in_use(&mut db.readers.acquire().await.expect("connection"), &account_id).await.expect("counts"),
                100
            );
            assert!(find_own(&db, &account_id, &oldest, UnixMs(22)).await.expect("finds").is_none());
            let new = rotated.iter().flatten().next().expect("one");
            assert!(find_own(&db, &account_id, new, UnixMs(22)).await.expect("finds").is_some());
            for wrong in ["\0", "x"] {
                assert!(find_own(&db, &account_id, wrong, UnixMs(22)).await.expect("finds").is_none());
            }
            assert!(find_own(&db, &oldest, new, UnixMs(22)).await.expect("finds").is_none(), "another account's");
        }
    }
}

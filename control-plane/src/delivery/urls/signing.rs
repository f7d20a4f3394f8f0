//! The ring of signing keys: the newest key signs, and older ones are accepted until the URLs that
//! they signed have expired.
//!
//! Every process reads the ring from the database again once a minute, and at once when a token
//! names a key that it does not know.

use super::token::{self, SigningSecret, UnverifiedToken};
use crate::clock::{Clock, UnixMs};
use crate::db::{self, Database};
use sqlx::Row;
use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};
use uuid::Uuid;

/// Time for which a retired key is accepted, in milliseconds: a day longer than any URL lives (the
/// maximum of `ttl_seconds`).
/// Why: `docs/decisions/signed-urls.md` (Rotating the signing key).
const OVERLAP_MS: i64 = 8 * 24 * 3600 * 1000;

/// Maximum age of a ring before it is read again, in milliseconds.
const AGE_MAX_MS: i64 = 60_000;

/// Minimum age of a ring before an unknown key number causes another read, in milliseconds: forged
/// tokens with such numbers cost nothing to make.
const AGE_MIN_MS: i64 = 1_000;

/// Maximum number of attempts at a rotation. Concurrent rotations are somebody's mistake; more than
/// this many are an error.
const ROTATION_TRIES: usize = 16;

#[derive(Debug)]
struct Ring {
    secrets: BTreeMap<u32, SigningSecret>,
    read_at: UnixMs,
}

/// Signs and verifies delivery tokens.
#[derive(Debug)]
pub struct SigningKeys {
    database: Database,
    clock: Clock,
    ring: RwLock<Arc<Ring>>,
}

impl SigningKeys {
    /// Reads the ring. The first process of all makes the first key.
    pub async fn open(database: Database, clock: Clock) -> Result<Self, sqlx::Error> {
        let secret = SigningSecret::generate(&mut rand::rng()).to_stored();
        database
            .write(
                sqlx::query(
                    "insert into signing_keys (number, secret, created_at_ms) values (1, $1, $2) on conflict do nothing",
                )
                .bind(secret)
                .bind(clock.now().0),
            )
            .await?;
        let ring = read(&database, clock.now()).await?;
        Ok(SigningKeys { database, clock, ring: RwLock::new(Arc::new(ring)) })
    }

    /// Returns the token of the signed URL with this id, signed by the newest key.
    pub async fn sign(&self, id: Uuid) -> Result<String, sqlx::Error> {
        let ring = self.ring(AGE_MAX_MS).await?;
        match ring.secrets.last_key_value() {
            Some((number, secret)) => Ok(token::sign(*number, secret, id)),
            None => Err(sqlx::Error::RowNotFound),
        }
    }

    /// Returns the id of the URL that a token names, if this service signed it.
    pub async fn verify(&self, token: &str) -> Result<Option<Uuid>, sqlx::Error> {
        let Some(claimed) = UnverifiedToken::read(token) else { return Ok(None) };
        let mut ring = self.ring(AGE_MAX_MS).await?;
        if !ring.secrets.contains_key(&claimed.key_number) {
            ring = self.ring(AGE_MIN_MS).await?;
        }
        Ok(ring.secrets.get(&claimed.key_number).and_then(|secret| claimed.verify(secret)))
    }

    /// Makes a new key that signs from now on, and returns its number. Deletes keys whose URLs have
    /// all expired.
    pub async fn rotate(&self) -> Result<u32, sqlx::Error> {
        // Two concurrent rotations want one number, and the primary key lets one of them through:
        // the other one takes the next.
        for _ in 1..ROTATION_TRIES {
            match self.rotate_once().await {
                Err(error) if db::is_unique_violation(&error) => {}
                rotated => return rotated,
            }
        }
        self.rotate_once().await
    }

    async fn rotate_once(&self) -> Result<u32, sqlx::Error> {
        let now = self.clock.now();
        let secret = SigningSecret::generate(&mut rand::rng()).to_stored();
        let mut tx = self.database.begin().await?;
        sqlx::query("delete from signing_keys where retired_at_ms < $1")
            .bind(now.0 - OVERLAP_MS)
            .execute(&mut *tx)
            .await?;
        sqlx::query("update signing_keys set retired_at_ms = $1 where retired_at_ms is null")
            .bind(now.0)
            .execute(&mut *tx)
            .await?;
        let row = sqlx::query(
            "insert into signing_keys (number, secret, created_at_ms) select max(number) + 1, $1, $2 from signing_keys returning number",
        )
        .bind(secret)
        .bind(now.0)
        .fetch_one(&mut *tx)
        .await?;
        tx.commit().await?;
        self.read_again().await?;
        number(row.try_get(0)?)
    }

    /// Returns the ring, read again if it is older than `age_max_ms`.
    async fn ring(&self, age_max_ms: i64) -> Result<Arc<Ring>, sqlx::Error> {
        let known = self.ring.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        match self.clock.now().0 - known.read_at.0 <= age_max_ms {
            true => Ok(known),
            false => self.read_again().await,
        }
    }

    async fn read_again(&self) -> Result<Arc<Ring>, sqlx::Error> {
        let fresh = Arc::new(read(&self.database, self.clock.now()).await?);
        *self.ring.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = fresh.clone();
        Ok(fresh)
    }
}

async fn read(database: &Database, now: UnixMs) -> Result<Ring, sqlx::Error> {
    let rows =
        sqlx::query("select number, secret from signing_keys where retired_at_ms is null or retired_at_ms >= $1")
            .bind(now.0 - OVERLAP_MS)
            .fetch_all(&database.readers)
            .await?;
    let mut secrets = BTreeMap::new();
    for row in rows {
        let number = number(row.try_get(0)?)?;
        let secret = SigningSecret::from_stored(row.try_get(1)?).ok_or_else(|| {
            sqlx::Error::Decode(format!("signing_keys.secret of {number} is not 64 hex digits").into())
        })?;
        secrets.insert(number, secret);
    }
    Ok(Ring { secrets, read_at: now })
}

fn number(stored: i64) -> Result<u32, sqlx::Error> {
    u32::try_from(stored)
        .map_err(|_| sqlx::Error::Decode(format!("signing_keys.number {stored} is out of range").into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::databases;

    #[tokio::test(flavor = "multi_thread")]
    async fn what_an_old_key_signed_is_believed_after_a_rotation_here_and_elsewhere() {
        for database in databases().await {
            let here = SigningKeys::open(database.clone(), Clock::SYSTEM).await.expect("opens");
            let elsewhere = SigningKeys::open(database.clone(), Clock::SYSTEM).await.expect("opens");
            let id = Uuid::now_v7();
            let before = here.sign(id).await.expect("signs");
            assert_eq!(elsewhere.verify(&before).await.expect("reads"), Some(id));
            assert_eq!(here.rotate().await.expect("rotates"), 2);
            let after = here.sign(id).await.expect("signs");
            assert_ne!(before, after);
            // The other process does not know the new key yet and reads again once its ring is a
            // second old.
            tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
            for process in [&here, &elsewhere] {
                for token in [&before, &after] {
                    assert_eq!(process.verify(token).await.expect("reads"), Some(id));
                }
            }
            let secrets = sqlx::query("update signing_keys set retired_at_ms = 0 where number = 1");
            database.write(secrets).await.expect("writes");
            assert_eq!(here.rotate().await.expect("rotates"), 3);
            assert_eq!(here.verify(&before).await.expect("reads"), None, "its addresses have all expired");
            assert_eq!(here.verify(&after).await.expect("reads"), Some(id));
        }
    }
}

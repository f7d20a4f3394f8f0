//! Partner secrets: the secrets with which partners sign URLs of `/images/car.png`.
//!
//! A signed URL does not contain its account, so a signature is tried with every secret in
//! use: a microsecond each.
//!
//! Why: `docs/decisions/signed-urls.md` (Partner secrets are stored in plain text).

use super::token::PlainKey;
use crate::clock::{Clock, UnixMs};
use crate::db::{Database, Tx};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use sqlx::Row;
use std::sync::{Arc, RwLock};

pub const PREFIX: &str = "cycp_";

/// Minimum time between two reads of the secrets, in milliseconds. A signature that matches none of
/// the secrets in memory triggers a read, and forged signatures cost nothing to send.
const READ_AGAIN_MS: i64 = 1000;

/// Stores a secret that was made with [`PREFIX`], and returns its id. Returns `None` if there
/// is no such key in use.
pub async fn create(
    tx: &mut Tx<'_>,
    key_id: &str,
    secret: &PlainKey,
    now: UnixMs,
) -> Result<Option<String>, sqlx::Error> {
    let id = uuid::Uuid::now_v7().to_string();
    let made = sqlx::query(
        "insert into partner_secrets (id, key_id, secret, created_at_ms)
         select $1, k.id, $2, $3 from api_keys k where k.id = $4 and k.revoked_at_ms is null",
    )
    .bind(&id)
    .bind(secret.reveal())
    .bind(now.0)
    .bind(key_id)
    .execute(&mut **tx)
    .await?;
    Ok((made.rows_affected() == 1).then_some(id))
}

/// Refuses a secret's signatures from now on. Returns false if there is no secret with this id.
/// Repeating it changes nothing.
pub async fn revoke(db: &Database, id: &str, now: UnixMs) -> Result<bool, sqlx::Error> {
    let sql = "update partner_secrets set revoked_at_ms = coalesce(revoked_at_ms, $1) where id = $2";
    Ok(db.write(sqlx::query(sql).bind(now.0).bind(id)).await? == 1)
}

/// A secret in use, as it is shown to the owner of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartnerSecretInfo {
    pub id: String,
    pub key_id: String,
    pub created_at: UnixMs,
}

/// Returns the secrets in use that belong to the account's keys in use, newest first.
pub async fn list(db: &Database, account_id: &str) -> Result<Vec<PartnerSecretInfo>, sqlx::Error> {
    let rows = sqlx::query(
        "select s.id, s.key_id, s.created_at_ms from partner_secrets s join api_keys k on k.id = s.key_id
         where k.account_id = $1 and s.revoked_at_ms is null and k.revoked_at_ms is null order by s.created_at_ms desc, s.id desc limit 1000",
    )
    .bind(account_id)
    .fetch_all(&db.readers)
    .await?;
    let read = |row: &sqlx::any::AnyRow| {
        Ok(PartnerSecretInfo { id: row.try_get(0)?, key_id: row.try_get(1)?, created_at: UnixMs(row.try_get(2)?) })
    };
    rows.iter().map(read).collect()
}

struct KnownSecret {
    id: String,
    secret: String,
}

#[derive(Default)]
struct SecretList {
    secrets: Vec<KnownSecret>,
    read_at_ms: i64,
}

/// The secrets in use, as this process last read them. A match is checked in the database, so that
/// a revoked secret is refused at once everywhere.
#[derive(Default)]
pub struct PartnerSecrets {
    list: RwLock<Arc<SecretList>>,
}

impl PartnerSecrets {
    /// Returns the account under whose secret in use `signature` is the HMAC-SHA256
    /// (RFC 2104) of `text`.
    pub async fn verify(
        &self,
        db: &Database,
        clock: Clock,
        text: &str,
        signature: &[u8],
    ) -> Result<Option<String>, sqlx::Error> {
        let list = self.list.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        if let Some(id) = signer(&list, text, signature) {
            return account_of(db, id).await;
        }
        let now = clock.now();
        if now.0 - list.read_at_ms < READ_AGAIN_MS {
            return Ok(None);
        }
        let list = Arc::new(SecretList { secrets: read(db).await?, read_at_ms: now.0 });
        *self.list.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = list.clone();
        match signer(&list, text, signature) {
            Some(id) => account_of(db, id).await,
            None => Ok(None),
        }
    }

    /// Must be called after a secret was made in this process, so that the secret works at once.
    pub fn made(&self) {
        *self.list.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = Arc::default();
    }
}

/// Returns the id of the secret that made the signature. Compares in constant time.
fn signer<'a>(list: &'a SecretList, text: &str, signature: &[u8]) -> Option<&'a str> {
    let made = |known: &&KnownSecret| {
        Hmac::<Sha256>::new_from_slice(known.secret.as_bytes())
            .is_ok_and(|mac| mac.chain_update(text).verify_slice(signature).is_ok())
    };
    list.secrets.iter().find(made).map(|known| known.id.as_str())
}

async fn read(db: &Database) -> Result<Vec<KnownSecret>, sqlx::Error> {
    let rows = sqlx::query(
        "select s.id, s.secret from partner_secrets s join api_keys k on k.id = s.key_id
         where s.revoked_at_ms is null and k.revoked_at_ms is null",
    )
    .fetch_all(&db.readers)
    .await?;
    rows.into_iter().map(|row| Ok(KnownSecret { id: row.try_get(0)?, secret: row.try_get(1)? })).collect()
}

/// Returns the account of a secret, or `None` if the secret is no longer in use.
async fn account_of(db: &Database, id: &str) -> Result<Option<String>, sqlx::Error> {
    let row = sqlx::query(
        "select k.account_id from partner_secrets s join api_keys k on k.id = s.key_id
         where s.id = $1 and s.revoked_at_ms is null and k.revoked_at_ms is null",
    )
    .bind(id)
    .fetch_optional(&db.readers)
    .await?;
    row.map(|row| row.try_get(0)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_secret_in_the_list_signs() {
        let known = |id: &str, secret: &str| KnownSecret { id: id.to_owned(), secret: secret.to_owned() };
        let list = SecretList { secrets: vec![known("a", "cycp_one"), known("b", "cycp_two")], read_at_ms: 0 };
        // printf '/images/car.png?exp=1' | openssl dgst -sha256 -hmac cycp_two
        let signature = hex::decode("31a59586061bb0ed1f7f4c0f9f829066a1322fccd1abaec6ccc0d6ff9444fd42").expect("hex");
        assert_eq!(signer(&list, "/images/car.png?exp=1", &signature), Some("b"));
        assert_eq!(signer(&list, "/images/car.png?exp=2", &signature), None);
        assert_eq!(signer(&list, "/images/car.png?exp=1", &signature[..31]), None);
        assert_eq!(signer(&list, "/images/car.png?exp=1", &[]), None);
    }
}

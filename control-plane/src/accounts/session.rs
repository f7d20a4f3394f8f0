//! The store of browser sessions for `tower-sessions`, on our own pool, which has one set of
//! queries for both databases.
//!
//! The cookie holds the session's id and the table only its hash, so that reading the
//! table opens no session.

use crate::clock::{Clock, UnixMs};
use crate::db::{self, Database};
use async_trait::async_trait;
use sha2::{Digest, Sha256};
use sqlx::Row;
use tower_sessions::session::{Id, Record};
use tower_sessions::session_store::{Error, Result, SessionStore};

/// Maximum number of draws of a new id, if ids are taken. There are 2^128 ids, so that one
/// draw is always enough.
const DRAWS_MAX: usize = 3;

/// Stores sessions in the database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sessions {
    db: Database,
    clock: Clock,
}

impl Sessions {
    pub fn new(db: Database, clock: Clock) -> Self {
        Sessions { db, clock }
    }
}

fn hash(id: &Id) -> String {
    hex::encode(Sha256::digest(id.to_string()))
}

fn expires_at_ms(record: &Record) -> i64 {
    (record.expiry_date.unix_timestamp_nanos() / 1_000_000) as i64
}

fn data(record: &Record) -> Result<String> {
    serde_json::to_string(&record.data).map_err(|error| Error::Encode(error.to_string()))
}

/// Converts a database error for the library, which logs its text.
fn failed(error: sqlx::Error) -> Error {
    Error::Backend(error.to_string())
}

#[async_trait]
impl SessionStore for Sessions {
    async fn create(&self, record: &mut Record) -> Result<()> {
        let data = data(record)?;
        for _ in 0..DRAWS_MAX {
            let insert = sqlx::query("insert into sessions (id_sha256, data, expires_at_ms) values ($1, $2, $3)")
                .bind(hash(&record.id))
                .bind(&data)
                .bind(expires_at_ms(record));
            match self.db.write(insert).await {
                Ok(_) => return Ok(()),
                Err(error) if db::is_unique_violation(&error) => record.id = Id::default(),
                Err(error) => return Err(failed(error)),
            }
        }
        Err(Error::Backend("no session id is free".to_owned()))
    }

    async fn save(&self, record: &Record) -> Result<()> {
        let update = sqlx::query("update sessions set data = $1, expires_at_ms = $2 where id_sha256 = $3")
            .bind(data(record)?)
            .bind(expires_at_ms(record))
            .bind(hash(&record.id));
        // A session that was deleted meanwhile (the user signed out in another
        // window) stays deleted.
        self.db.write(update).await.map(drop).map_err(failed)
    }

    async fn load(&self, id: &Id) -> Result<Option<Record>> {
        let row = sqlx::query("select data, expires_at_ms from sessions where id_sha256 = $1 and expires_at_ms > $2")
            .bind(hash(id))
            .bind(self.clock.now().0)
            .fetch_optional(&self.db.readers)
            .await
            .map_err(failed)?;
        let Some(row) = row else { return Ok(None) };
        let data: String = row.try_get(0).map_err(failed)?;
        let expires_at_ms: i64 = row.try_get(1).map_err(failed)?;
        let decode = |text: String| Error::Decode(text);
        Ok(Some(Record {
            id: *id,
            data: serde_json::from_str(&data).map_err(|error| decode(error.to_string()))?,
            expiry_date: time::OffsetDateTime::from_unix_timestamp_nanos(i128::from(expires_at_ms) * 1_000_000)
                .map_err(|error| decode(error.to_string()))?,
        }))
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        let delete = sqlx::query("delete from sessions where id_sha256 = $1").bind(hash(id));
        self.db.write(delete).await.map(drop).map_err(failed)
    }
}

/// Deletes expired sessions.
pub(super) async fn forget_expired(db: &Database, now: UnixMs) -> std::result::Result<(), sqlx::Error> {
    db.write(sqlx::query("delete from sessions where expires_at_ms <= $1").bind(now.0)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::databases;
    use time::{Duration, OffsetDateTime};

    /// Returns the end of a session that ends this long after now.
    fn ends_in(time: Duration) -> OffsetDateTime {
        let now = OffsetDateTime::from_unix_timestamp(Clock::SYSTEM.now().0 / 1000).expect("a time");
        now + time
    }

    #[tokio::test]
    async fn kept_changed_and_forgotten() {
        for db in databases().await {
            let sessions = Sessions::new(db.clone(), Clock::SYSTEM);
            let mut record = Record {
                id: Id::default(),
                data: [("who".to_owned(), "ada".into())].into(),
                expiry_date: ends_in(Duration::minutes(1)),
            };
            sessions.create(&mut record).await.expect("creates");
            let id = record.id;
            let mut other = record.clone();
            sessions.create(&mut other).await.expect("creates");
            assert_ne!(other.id, id, "an id that is taken is not taken over");

            record.data.insert("who".to_owned(), "bob".into());
            sessions.save(&record).await.expect("saves");
            assert_eq!(sessions.load(&id).await.expect("loads").expect("there").data["who"], "bob");
            assert_eq!(sessions.load(&other.id).await.expect("loads").expect("there").data["who"], "ada");
            let stored: Vec<String> =
                sqlx::query_scalar("select id_sha256 from sessions").fetch_all(&db.readers).await.expect("reads");
            assert!(stored.iter().all(|stored| !stored.contains(&id.to_string())), "the cookie's value is not stored");

            sessions.delete(&id).await.expect("deletes");
            sessions.save(&record).await.expect("saves");
            assert!(sessions.load(&id).await.expect("loads").is_none(), "it does not come back");
            other.expiry_date = ends_in(Duration::seconds(-1));
            sessions.save(&other).await.expect("saves");
            assert!(sessions.load(&other.id).await.expect("loads").is_none(), "its time is over");
            forget_expired(&db, Clock::SYSTEM.now()).await.expect("forgets");
            let left: i64 =
                sqlx::query_scalar("select count(*) from sessions").fetch_one(&db.readers).await.expect("counts");
            assert_eq!(left, 0);
        }
    }
}

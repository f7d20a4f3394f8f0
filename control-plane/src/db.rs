//! The database: one set of queries for SQLite and PostgreSQL through `sqlx::Any`.
//!
//! Rules for SQL everywhere: `$1` placeholders (never `QueryBuilder::push_bind`, which writes `?`;
//! the ledger's long inserts do on SQLite, for speed), ids as UUIDv7 text, times as Unix
//! milliseconds BIGINT, guarded updates (`... and available >= $1`, one row changed) instead of
//! read-then-write. Functions that write take the open transaction, so that the caller decides
//! what commits together.
//!
//! Everything that writes goes through [`Database::begin`] or [`Database::write`]. SQLite has
//! one writer at a time and grants the lock to whichever connection requests it at the right
//! moment, so writers of this process queue for one connection, first come, first served.
//! Without that, a busy meter left others waiting for seconds (measured: 15 to 30 writes in 20
//! s, some failed with "database is locked"); and a connection drops its cached pages as soon as
//! another one has written.
//!
//! Why: `docs/decisions/operations.md` (SQLite: writers take turns at one connection).

mod health;
mod kind;
mod probe;
#[cfg(test)]
mod schema_page;

use crate::clock;
use crate::secret::Secret;
use health::DatabaseHealth;
pub use kind::DatabaseKind;
use probe::Probe;
use sqlx::any::{AnyArguments, AnyPoolOptions, AnyRow};
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::PgListener;
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AnyPool, Connection, Transaction};
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// All migrations of the schema.
pub static MIGRATOR: Migrator = sqlx::migrate!("./migrations");

/// Longest time that a statement waits for a connection or for its turn to write.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// Longest time that a probe waits for an answer: those who probe give up after
/// two or three seconds.
const PING_MAX: Duration = Duration::from_millis(1500);

/// Number of connections that read a SQLite file.
const READERS: u32 = 8;
/// Maximum size of a connection's page cache. A reader's cache is dropped with the next write.
const READER_CACHE_KIB: u32 = 2 * 1024;
const WRITER_CACHE_KIB: u32 = 32 * 1024;

/// Maximum duration of a query for the database's time, in milliseconds. A slower answer says too
/// little about the moment at which it was given.
const TELLING_MS_MAX: i64 = 400;
const CLOCK_READ_EVERY: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub struct Database {
    /// For statements that only read; on SQLite these connections cannot write.
    pub readers: AnyPool,
    pub kind: DatabaseKind,
    url: Secret,
    health: DatabaseHealth,
    probe: Probe,
    /// On SQLite one connection; on PostgreSQL the readers' pool.
    writers: AnyPool,
}

/// An open transaction; on SQLite the only one that may write. Statements run on `&mut *tx`.
/// Dropping it rolls back.
pub struct Tx<'a>(Transaction<'a, Any>);

impl Tx<'_> {
    pub async fn commit(self) -> Result<(), sqlx::Error> {
        self.0.commit().await
    }

    pub async fn rollback(self) -> Result<(), sqlx::Error> {
        self.0.rollback().await
    }
}

impl Deref for Tx<'_> {
    type Target = AnyConnection;

    fn deref(&self) -> &AnyConnection {
        &self.0
    }
}

impl DerefMut for Tx<'_> {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        &mut self.0
    }
}

impl Database {
    /// Opens `sqlite:PATH?mode=rwc` or `postgres://...` and brings the schema up to date.
    pub async fn open(url: &str) -> Result<Self, sqlx::Error> {
        let database = Self::connect(url).await?;
        database.migrate(&MIGRATOR).await?;
        Ok(database)
    }

    /// Runs the migrations that are missing.
    pub async fn migrate(&self, migrator: &Migrator) -> Result<(), MigrateError> {
        migrator.run(&self.writers).await
    }

    /// Opens the database without migrating its schema.
    pub async fn connect(url: &str) -> Result<Self, sqlx::Error> {
        sqlx::any::install_default_drivers();
        let kind = if url.starts_with("postgres") { DatabaseKind::Postgres } else { DatabaseKind::Sqlite };
        // A pool retries until its time is up and then reports only that; a single connection
        // reports the actual error.
        AnyConnection::connect(url).await?.close().await?;
        let health = DatabaseHealth::default();
        let (readers, writers) = match kind {
            DatabaseKind::Sqlite => {
                let writer = sqlite_pool(url, 1, WRITER_CACHE_KIB, "query_only = OFF", health.clone()).await?;
                (sqlite_pool(url, READERS, READER_CACHE_KIB, "query_only = ON", health.clone()).await?, writer)
            }
            DatabaseKind::Postgres => {
                let pool = postgres_pool(url, health.clone()).await?;
                (pool.clone(), pool)
            }
        };
        Ok(Self { readers, kind, url: Secret::new(url), health, probe: Probe::default(), writers })
    }

    /// Begins a transaction that may write. On SQLite it takes the write lock at once, because a
    /// transaction that reads first and writes later fails with "database is locked" under load. A
    /// task that begins a second transaction while holding one waits for itself.
    #[expect(clippy::disallowed_methods, reason = "the one place that begins what may write")]
    pub async fn begin(&self) -> Result<Tx<'_>, sqlx::Error> {
        Ok(Tx(match self.kind {
            DatabaseKind::Sqlite => self.writers.begin_with("BEGIN IMMEDIATE").await?,
            DatabaseKind::Postgres => self.writers.begin().await?,
        }))
    }

    /// Closes every connection.
    pub async fn close(&self) {
        tokio::join!(self.readers.close(), self.writers.close());
    }

    /// Runs a single writing statement and returns the number of rows that it changed.
    pub async fn write(&self, query: Query<'_, Any, AnyArguments>) -> Result<u64, sqlx::Error> {
        let mut tx = match self.kind {
            DatabaseKind::Sqlite => self.begin().await?,
            DatabaseKind::Postgres => return Ok(query.execute(&self.writers).await?.rows_affected()),
        };
        let changed = query.execute(&mut *tx).await?.rows_affected();
        tx.commit().await?;
        Ok(changed)
    }

    /// Runs a single writing statement and returns the rows that it returns.
    pub async fn write_returning(&self, query: Query<'_, Any, AnyArguments>) -> Result<Vec<AnyRow>, sqlx::Error> {
        let mut tx = match self.kind {
            DatabaseKind::Sqlite => self.begin().await?,
            DatabaseKind::Postgres => return query.fetch_all(&self.writers).await,
        };
        let rows = query.fetch_all(&mut *tx).await?;
        tx.commit().await?;
        Ok(rows)
    }

    /// Returns how far the database's clock is ahead of this machine's, in milliseconds, give or
    /// take half the duration of the query. Returns `None` if the query took too long. SQLite has
    /// the machine's clock.
    pub async fn ahead_ms(&self) -> Result<Option<i64>, sqlx::Error> {
        if self.kind == DatabaseKind::Sqlite {
            return Ok(Some(0));
        }
        let mut connection = self.readers.acquire().await?;
        let before = clock::machine_ms();
        let sql = "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";
        let there: i64 = sqlx::query_scalar(sql).fetch_one(&mut *connection).await?;
        let after = clock::machine_ms();
        Ok((after - before <= TELLING_MS_MAX).then(|| there - (before + after) / 2))
    }

    /// Makes this process follow the database's clock, now and for as long as
    /// the returned task runs.
    pub async fn follow_clock(&self) -> Result<JoinHandle<()>, sqlx::Error> {
        clock::follow_database(self.ahead_ms().await?.unwrap_or(0));
        let database = self.clone();
        Ok(tokio::spawn(async move {
            let mut ticks = clock::ticks(CLOCK_READ_EVERY);
            loop {
                ticks.tick().await;
                match database.ahead_ms().await {
                    Ok(Some(ahead_ms)) => clock::follow_database(ahead_ms),
                    Ok(None) => {}
                    Err(error) => tracing::debug!(%error, "the database's clock could not be read"),
                }
            }
        }))
    }

    /// Opens a separate connection that receives PostgreSQL's NOTIFY messages.
    pub async fn listener(&self) -> Result<PgListener, sqlx::Error> {
        PgListener::connect(self.url.reveal()).await
    }

    /// Connects once, changes nothing, and returns the database's product and version.
    pub async fn probe(url: &str) -> Result<String, sqlx::Error> {
        sqlx::any::install_default_drivers();
        let mut connection = AnyConnection::connect(url).await?;
        let sql = if url.starts_with("postgres") { "select version()" } else { "select 'SQLite ' || sqlite_version()" };
        let version: String = sqlx::query_scalar(sql).fetch_one(&mut connection).await?;
        connection.close().await?;
        Ok(version)
    }

    /// Runs a writing statement whose result shows whether the database can be written: see
    /// [`Database::is_ready`]. Must be called every few seconds.
    pub async fn write_to_learn(&self, query: Query<'_, Any, AnyArguments>) -> Result<u64, sqlx::Error> {
        let written = self.write(query).await;
        self.health.note(written.is_ok(), Instant::now());
        written
    }

    /// Returns true if the database answers and the last write succeeded: a process that
    /// cannot charge is not ready. However many callers there are, only one at a time
    /// queries the database.
    pub async fn is_ready(&self) -> bool {
        if !self.health.is_writable(Instant::now()) {
            return false;
        }
        let database = self.clone();
        let ping = async move { matches!(tokio::time::timeout(PING_MAX, database.ping()).await, Ok(Ok(()))) };
        self.probe.ask(ping).await
    }

    /// Runs one statement, and on SQLite takes one turn as its writer.
    async fn ping(&self) -> Result<(), sqlx::Error> {
        sqlx::query("select 1").execute(&self.readers).await?;
        match self.kind {
            DatabaseKind::Sqlite => self.begin().await?.rollback().await,
            DatabaseKind::Postgres => Ok(()),
        }
    }
}

async fn postgres_pool(url: &str, health: DatabaseHealth) -> Result<AnyPool, sqlx::Error> {
    AnyPoolOptions::new()
        .max_connections(16)
        .acquire_timeout(WAIT_MAX)
        .test_before_acquire(false)
        .before_acquire(move |connection, about| {
            let health = health.clone();
            Box::pin(async move { health.is_usable(DatabaseKind::Postgres, connection, &about).await })
        })
        .connect(url)
        .await
}

/// Opens a pool of connections to a SQLite file.
async fn sqlite_pool(
    url: &str,
    connections: u32,
    cache_kib: u32,
    query_only: &'static str,
    health: DatabaseHealth,
) -> Result<AnyPool, sqlx::Error> {
    AnyPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(WAIT_MAX)
        // A connection to a file is never closed by the other side.
        .test_before_acquire(false)
        // A full disk or a failed write makes SQLite roll back by itself (its documentation, "Error
        // Handling" of transactions). sqlx still counts the transaction as open, so that no
        // transaction could ever begin again on this connection.
        .before_acquire(move |connection, about| {
            let health = health.clone();
            Box::pin(async move {
                Ok(!connection.is_in_transaction()
                    && health.is_usable(DatabaseKind::Sqlite, connection, &about).await?)
            })
        })
        .after_connect(move |connection, _| {
            Box::pin(async move {
                let cache_size = format!("cache_size = -{cache_kib}");
                for pragma in [
                    "journal_mode = WAL",
                    "synchronous = FULL",
                    "busy_timeout = 5000",
                    "foreign_keys = ON",
                    &cache_size,
                    query_only,
                ] {
                    sqlx::Executor::execute(&mut *connection, sqlx::AssertSqlSafe(format!("pragma {pragma}"))).await?;
                }
                Ok(())
            })
        })
        .connect(url)
        .await
}

/// Returns true if the same statement may succeed later: no connection, a locked, full or read-only
/// database, or a server that is shutting down.
pub fn may_pass(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Tls(_) => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| code_may_pass(&code)),
        _ => false,
    }
}

/// Returns true for an error code of a temporary failure. PostgreSQL's codes have five characters,
/// SQLite's are numbers of at most four digits.
fn code_may_pass(code: &str) -> bool {
    if code.len() == 5 {
        // Classes: connection, resources, serialisation, operator intervention, system.
        let class_may_pass = ["08", "53", "40", "57", "58"].iter().any(|class| code.starts_with(class));
        // A read-only transaction, two kinds of transactions that the server ended because of a
        // timeout, a lock that was not available.
        return class_may_pass || ["25006", "25P03", "25P04", "55P03"].contains(&code);
    }
    // The lowest byte is the kind: busy, locked, no memory, read-only, I/O, full, cannot open.
    code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 5 | 6 | 7 | 8 | 10 | 13 | 14))
}

/// Returns true if PostgreSQL has ended the transaction because of another one, for which it waited
/// in a circle or whose changes it did not see. Repeated from its beginning, it may well succeed.
pub fn is_lost_race(error: &sqlx::Error) -> bool {
    // serialization_failure, deadlock_detected
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| ["40001", "40P01"].contains(&&*code))
}

/// Returns true if a unique index refused the row.
pub fn is_unique_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.is_unique_violation())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::{databases, sqlite};
    use sqlx::Row;

    #[test]
    fn codes_that_may_pass() {
        for (code, expected) in [
            ("5", true),      // SQLITE_BUSY
            ("517", true),    // SQLITE_BUSY_SNAPSHOT
            ("13", true),     // SQLITE_FULL
            ("2067", false),  // SQLITE_CONSTRAINT_UNIQUE
            ("1", false),     // SQLITE_ERROR
            ("08006", true),  // connection_failure
            ("53100", true),  // disk_full
            ("57P01", true),  // admin_shutdown
            ("40001", true),  // serialization_failure
            ("25006", true),  // read_only_sql_transaction
            ("57P03", true),  // cannot_connect_now
            ("25P02", false), // in_failed_sql_transaction
            ("8", true),      // SQLITE_READONLY
            ("1032", true),   // SQLITE_READONLY_DBMOVED
            ("10", true),     // SQLITE_IOERR
            ("778", true),    // SQLITE_IOERR_WRITE
            ("23505", false), // unique_violation
            ("42601", false), // syntax_error
        ] {
            assert_eq!(code_may_pass(code), expected, "{code}");
        }
    }

    /// The features on which every module relies: parameters, typed nulls, bytes, `returning`, `on
    /// conflict`, and write transactions that do not fail because of each other.
    #[tokio::test(flavor = "multi_thread")]
    async fn both_databases_do_what_queries_rely_on() {
        for db in databases().await {
            db.write(sqlx::query("create table probe (id text primary key, n bigint, b text)")).await.expect("create");
            let upsert = "insert into probe (id, n, b) values ($1, $2, $3) on conflict (id) do update set n = probe.n + 1 returning n, b";
            for expected in [1, 2] {
                let upsert = sqlx::query(upsert).bind("a").bind(1i64).bind(None::<String>);
                let row = db.write_returning(upsert).await.expect("upsert").remove(0);
                assert_eq!(row.try_get::<i64, _>("n").expect("n"), expected);
                assert_eq!(row.try_get::<Option<String>, _>("b").expect("b"), None);
            }
            let mut writers = Vec::new();
            for _ in 0..40 {
                let db = db.clone();
                writers.push(tokio::spawn(async move {
                    let mut tx = db.begin().await?;
                    sqlx::query("select n from probe where id = 'a'").fetch_one(&mut *tx).await?;
                    let taken =
                        sqlx::query("update probe set n = n - 1 where id = 'a' and n >= -7").execute(&mut *tx).await?;
                    tx.commit().await?;
                    Ok::<u64, sqlx::Error>(taken.rows_affected())
                }));
            }
            let mut taken = 0;
            for writer in writers {
                taken += writer.await.expect("task").expect("transaction");
            }
            assert_eq!(taken, 10, "{:?}", db.kind);
            let insert = "insert into probe (id, n) values ('a', 1)";
            let twice = db.write(sqlx::query(insert)).await.expect_err("unique");
            assert!(is_unique_violation(&twice) && !may_pass(&twice), "{:?}", db.kind);
        }
    }

    /// There is only one connection that writes, so one that sqlx counts wrongly
    /// would end all writing.
    #[tokio::test]
    async fn after_a_full_disk_sqlite_is_written_again() {
        let db = sqlite().await;
        db.write(sqlx::query("create table probe (b text)")).await.expect("create");
        let pages: i64 = sqlx::query_scalar("pragma page_count").fetch_one(&db.readers).await.expect("pages");
        let limit = |pages: i64| sqlx::query(sqlx::AssertSqlSafe(format!("pragma max_page_count = {pages}")));
        limit(pages + 2).fetch_all(&db.writers).await.expect("limits");
        let insert = || sqlx::query("insert into probe (b) values ($1)").bind("b".repeat(100_000));
        let mut tx = db.begin().await.expect("begins");
        let full = insert().execute(&mut *tx).await.expect_err("full");
        assert!(may_pass(&full), "{full}");
        assert!(tx.rollback().await.is_err(), "SQLite did so by itself");
        limit(pages + 1_000).fetch_all(&db.writers).await.expect("limits");
        db.ping().await.expect("is ready");
        assert_eq!(db.write(insert()).await.expect("writes"), 1);
    }

    /// The writer's connection is made read-only, like one whose file system has become read-only.
    #[tokio::test]
    async fn a_sqlite_that_cannot_be_written_is_not_ready_until_it_can() {
        let db = sqlite().await;
        db.write(sqlx::query("create table probe (n bigint)")).await.expect("create");
        let insert = || sqlx::query("insert into probe (n) values (1)");
        assert_eq!(db.write_to_learn(insert()).await.expect("writes"), 1);
        assert!(db.is_ready().await);
        sqlx::query("pragma query_only = ON").execute(&db.writers).await.expect("reads only");
        let refused = db.write_to_learn(insert()).await.expect_err("reads only");
        assert!(may_pass(&refused), "{refused}");
        assert!(!db.is_ready().await);
        // The connection that reported the failure is not used again.
        assert_eq!(db.write_to_learn(insert()).await.expect("writes"), 1);
        assert!(db.is_ready().await);
    }

    #[tokio::test]
    async fn who_reads_cannot_write() {
        let db = sqlite().await;
        let refused = sqlx::query("create table probe (n bigint)").execute(&db.readers).await.expect_err("reads only");
        assert!(refused.to_string().contains("readonly"), "{refused}");
    }
}

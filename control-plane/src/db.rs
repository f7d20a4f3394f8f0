//! The database: one set of queries for SQLite and PostgreSQL through `sqlx::Any`.
//!
//! Rules for SQL everywhere: `$1` placeholders (never `QueryBuilder::push_bind`, which writes `?`), ids as UUIDv7 text,
//! times as unix milliseconds BIGINT, guarded updates (`... and available >= $1`, one row changed) instead of
//! read-then-write. Functions that write take the open transaction, so the caller decides what commits together.

use sqlx::any::AnyPoolOptions;
use sqlx::{Any, AnyPool, Transaction};

/// Which database answers: only the queue's claim and cross-process wake-up may differ by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    Sqlite,
    Postgres,
}

#[derive(Debug, Clone)]
pub struct Database {
    pub pool: AnyPool,
    pub kind: DatabaseKind,
}

pub type Tx<'a> = Transaction<'a, Any>;

impl Database {
    /// Opens `sqlite:PATH?mode=rwc` or `postgres://...` and brings the schema up to date.
    pub async fn open(url: &str) -> Result<Self, sqlx::Error> {
        sqlx::any::install_default_drivers();
        let kind = if url.starts_with("postgres") { DatabaseKind::Postgres } else { DatabaseKind::Sqlite };
        let connections = match kind {
            DatabaseKind::Sqlite => 8,
            DatabaseKind::Postgres => 16,
        };
        let pool = AnyPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(std::time::Duration::from_secs(5))
            .after_connect(move |connection, _| {
                Box::pin(async move {
                    if kind == DatabaseKind::Sqlite {
                        for pragma in
                            ["journal_mode = WAL", "synchronous = FULL", "busy_timeout = 5000", "foreign_keys = ON"]
                        {
                            sqlx::Executor::execute(&mut *connection, sqlx::AssertSqlSafe(format!("pragma {pragma}")))
                                .await?;
                        }
                    }
                    Ok(())
                })
            })
            .connect(url)
            .await?;
        sqlx::migrate!("./migrations").run(&pool).await?;
        Ok(Self { pool, kind })
    }

    /// Begins a transaction that may write. On SQLite it takes the write lock at once: a transaction that reads first and
    /// writes later fails with "database is locked" under load.
    pub async fn begin(&self) -> Result<Tx<'_>, sqlx::Error> {
        match self.kind {
            DatabaseKind::Sqlite => self.pool.begin_with("BEGIN IMMEDIATE").await,
            DatabaseKind::Postgres => self.pool.begin().await,
        }
    }

    /// Connects once, changes nothing, and answers which database it is.
    pub async fn probe(url: &str) -> Result<String, sqlx::Error> {
        sqlx::any::install_default_drivers();
        let pool = AnyPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(std::time::Duration::from_secs(5))
            .connect(url)
            .await?;
        let sql = if url.starts_with("postgres") { "select version()" } else { "select 'SQLite ' || sqlite_version()" };
        let version: String = sqlx::query_scalar(sql).fetch_one(&pool).await?;
        pool.close().await;
        Ok(version)
    }

    /// One statement to the database and back.
    pub async fn ping(&self) -> Result<(), sqlx::Error> {
        sqlx::query("select 1").execute(&self.pool).await.map(|_| ())
    }
}

/// Whether the same statement may work later: no connection, a locked or full database, a server on its way down.
pub fn may_pass(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Tls(_) => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| match code.parse::<u32>() {
            // SQLite extends its codes above the lowest byte: busy, locked, no memory, read-only, I/O, full, cannot open.
            Ok(code) if code < 10_000 => matches!(code & 0xff, 5 | 6 | 7 | 8 | 10 | 13 | 14),
            // PostgreSQL classes: connection, resources, serialisation, operator intervention, system.
            _ => ["08", "53", "40", "57", "58"].iter().any(|class| code.starts_with(class)),
        }),
        _ => false,
    }
}

/// Whether a unique index refused the row.
pub fn is_unique_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.is_unique_violation())
}

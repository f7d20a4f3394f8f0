//! One reload for all processes on a database: who is asked to reload counts a number up, the others see it and read their own files again.
//! What each came to is in the database, so that whoever was asked can tell the operator.
//!
//! A process looks once a second rather than waiting to be woken: a reload is rare, and must not be missed.

use super::{Catalog, CurrentCatalog, ReloadError};
use crate::clock::{Clock, UnixMs};
use crate::db::Database;
use crate::ledger::{PROCESS_SILENCE_MS, ProcessId};
use crate::logs::causes;
use crate::tasks::every;
use sqlx::Row;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A process that died a moment ago is not waited for any longer by then; one that lives has other troubles, and is told as it is.
const FOLLOWED_WITHIN: Duration = Duration::from_millis(PROCESS_SILENCE_MS as u64 + 1_000);

/// A process that answers, and the release that it answers from.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Holder {
    /// `None`: it has not said.
    pub host: Option<String>,
    pub sha256: Option<String>,
    /// Whether it has read its file since it was asked to.
    pub is_current: bool,
    /// Why its file was not good; then it answers from the release before.
    pub refused: Option<String>,
}

/// How often a reload has been asked for.
pub async fn number(database: &Database) -> Result<i64, sqlx::Error> {
    let row = sqlx::query("select number from catalog_reload where id = 1").fetch_optional(&database.readers).await?;
    row.map_or(Ok(0), |row| row.try_get(0))
}

/// The reading panicked; its place is in the log.
#[derive(Debug, thiserror::Error)]
#[error("reading it broke off")]
pub struct BrokenOff;

/// What a process reads its catalog again with, and tells the others by. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Reload {
    pub db: Database,
    pub catalog: Arc<CurrentCatalog>,
    pub process: ProcessId,
    pub clock: Clock,
}

impl Reload {
    /// Has this process alone read its file again.
    pub async fn read(&self) -> Result<Result<Arc<Catalog>, ReloadError>, BrokenOff> {
        let catalog = self.catalog.clone();
        tokio::task::spawn_blocking(move || catalog.reload()).await.map_err(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "reading the catalog broke off");
            BrokenOff
        })
    }

    /// Asks every process for a reload; this one's own has happened. Answers with what each of them holds once all have followed, or after
    /// [`FOLLOWED_WITHIN`].
    pub async fn ask_all(&self) -> Result<Vec<Holder>, sqlx::Error> {
        let mut tx = self.db.begin().await?;
        let row = sqlx::query(
            "insert into catalog_reload (id, number) values (1, 1)
             on conflict (id) do update set number = catalog_reload.number + 1 returning number",
        )
        .fetch_one(&mut *tx)
        .await?;
        let number: i64 = row.try_get(0)?;
        tx.commit().await?;
        // Has another operator asked in between, this process reads once more, as the others do.
        if number == self.catalog.number() + 1 {
            self.note(number, None).await?;
        }
        let until = Instant::now() + FOLLOWED_WITHIN;
        loop {
            let holders = holders(&self.db, self.clock.now(), number).await?;
            if holders.iter().all(|holder| holder.is_current) || Instant::now() >= until {
                return Ok(holders);
            }
            tokio::time::sleep(LOOK_EVERY / 4).await;
        }
    }

    /// Reloads whenever another process was asked to, until the task is aborted.
    pub fn start(self) -> JoinHandle<()> {
        let is_noted = Arc::new(AtomicBool::new(false));
        every(
            LOOK_EVERY,
            "whether another catalog is wanted could not be looked up",
            (self, is_noted),
            |(reload, is_noted)| async move {
                reload.follow(is_noted.load(Ordering::Relaxed)).await?;
                is_noted.store(true, Ordering::Relaxed);
                Ok::<(), sqlx::Error>(())
            },
        )
    }

    async fn follow(&self, is_noted: bool) -> Result<(), sqlx::Error> {
        let number = number(&self.db).await?;
        if number <= self.catalog.number() {
            return if is_noted { Ok(()) } else { self.note(self.catalog.number(), None).await };
        }
        let refused = match self.read().await {
            Ok(Ok(catalog)) => {
                let (package, sha256) = (catalog.package(), catalog.digest());
                tracing::info!(package, sha256, "catalog reloaded with the others");
                None
            }
            Ok(Err(error)) => {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, "the catalog was not reloaded with the others");
                Some(causes(error))
            }
            Err(error) => Some(error.to_string()),
        };
        self.note(number, refused.as_deref()).await
    }

    /// Writes down what this process holds after the reload of this number, and forgets what processes held that are
    /// gone. Until that is done, the reload counts as not followed.
    async fn note(&self, number: i64, refused: Option<&str>) -> Result<(), sqlx::Error> {
        let mut tx = self.db.begin().await?;
        sqlx::query(
            "delete from catalog_holders where process_id <> $1 and process_id not in (select id from processes)",
        )
        .bind(self.process.as_str())
        .execute(&mut *tx)
        .await?;
        sqlx::query(
            "insert into catalog_holders (process_id, host, number, sha256, refused) values ($1, $2, $3, $4, $5)
             on conflict (process_id) do update set number = excluded.number, sha256 = excluded.sha256, refused = excluded.refused",
        )
        .bind(self.process.as_str())
        .bind(rustix::system::uname().nodename().to_string_lossy().into_owned())
        .bind(number)
        .bind(self.catalog.now().digest())
        .bind(refused)
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        self.catalog.followed(number);
        Ok(())
    }
}

/// Every process that is heard of, in the order they began. One that has not said what it holds has only just begun, or
/// is of a release of the program that does not follow.
async fn holders(database: &Database, now: UnixMs, number: i64) -> Result<Vec<Holder>, sqlx::Error> {
    let rows = sqlx::query(
        "select h.host, h.sha256, coalesce(h.number, -1), h.refused
         from processes p left join catalog_holders h on h.process_id = p.id where p.seen_at_ms >= $1 order by p.id",
    )
    .bind(now.0 - PROCESS_SILENCE_MS)
    .fetch_all(&database.readers)
    .await?;
    let holder = |row: &sqlx::any::AnyRow| {
        Ok(Holder {
            host: row.try_get(0)?,
            sha256: row.try_get(1)?,
            is_current: row.try_get::<i64, _>(2)? >= number,
            refused: row.try_get(3)?,
        })
    };
    rows.iter().map(holder).collect()
}

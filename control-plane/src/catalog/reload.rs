//! One reload for all processes on a database. The process that is told to reload increments a
//! number; the others see the new number and read their own files again. The result of each process
//! is in the database, so that the first process can report all of them to the operator.
//!
//! A process polls once a second rather than waiting for a signal: a reload is rare, and must not
//! be missed.

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

/// The longest wait for the other processes. After it, a process that died just before the reload
/// no longer counts as alive; a live process that has not followed is reported as it is.
const FOLLOWED_WITHIN: Duration = Duration::from_millis(PROCESS_SILENCE_MS as u64 + 1_000);

/// A process that answers requests, and the catalog release from which it answers.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Holder {
    /// `None` if the process has not recorded it.
    pub host: Option<String>,
    pub sha256: Option<String>,
    /// True if the process has read its file since the reload was requested.
    pub is_current: bool,
    /// Why the process rejected its file, if it did; it then answers from the release before.
    pub refused: Option<String>,
}

/// Returns how many reloads have been requested.
pub async fn number(database: &Database) -> Result<i64, sqlx::Error> {
    let row = sqlx::query("select number from catalog_reload where id = 1").fetch_optional(&database.readers).await?;
    row.map_or(Ok(0), |row| row.try_get(0))
}

/// The reading panicked; the log says where.
#[derive(Debug, thiserror::Error)]
#[error("reading it was interrupted")]
pub struct BrokenOff;

/// Reloads this process's catalog, and exchanges the results with the other processes. Cheap to
/// clone.
#[derive(Debug, Clone)]
pub struct Reload {
    pub db: Database,
    pub catalog: Arc<CurrentCatalog>,
    pub process: ProcessId,
    pub clock: Clock,
}

impl Reload {
    /// Makes this process alone read its file again.
    pub async fn read(&self) -> Result<Result<Arc<Catalog>, ReloadError>, BrokenOff> {
        let catalog = self.catalog.clone();
        tokio::task::spawn_blocking(move || catalog.reload()).await.map_err(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "the catalog could not be read");
            BrokenOff
        })
    }

    /// Requests a reload from every process, after this one has done its own. Returns the state of
    /// each process once all have followed, or after [`FOLLOWED_WITHIN`].
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
        // If another operator requested a reload in between, this process reads once more, as the
        // others do.
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

    /// Reloads whenever another process has requested a reload, until the task is aborted.
    pub fn start(self) -> JoinHandle<()> {
        let is_noted = Arc::new(AtomicBool::new(false));
        every(
            LOOK_EVERY,
            "the catalog that other processes use could not be read",
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
                tracing::info!(package, sha256, "the catalog was reloaded, as other processes had done");
                None
            }
            Ok(Err(error)) => {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, "the catalog could not be reloaded, as other processes had done");
                Some(causes(error))
            }
            Err(error) => Some(error.to_string()),
        };
        self.note(number, refused.as_deref()).await
    }

    /// Records the state of this process after the reload of this number, and deletes the rows of
    /// processes that are gone. Until this is done, the reload counts as not followed.
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

/// Returns every live process, in the order in which they started. A process that has not recorded
/// its state has only just started, or is of a release of the program that does not follow reloads.
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

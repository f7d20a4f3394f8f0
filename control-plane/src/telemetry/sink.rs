//! From accepted events to rows: a bounded buffer, one writing task, and the end of what is too old.

use super::Event;
use crate::clock::{self, Clock, DAY_MS, UnixMs};
use crate::db::Database;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Events that wait to be written; more than this is refused. At most 32 KiB each, and some hundred bytes as a rule.
const BUFFER_MAX: usize = 10_000;

/// Events in one transaction.
const BATCH_MAX: usize = 256;

/// Between tries while the database does not answer: the buffer holds what comes meanwhile.
const RETRY: Duration = Duration::from_secs(1);

/// Old events go this often, and this many at a time.
const FORGET_EVERY: Duration = Duration::from_secs(600);
const FORGET_MAX: i64 = 10_000;

/// The buffer is full: the database is behind.
#[derive(Debug)]
pub struct Full;

/// Handle of the writing task.
#[derive(Debug, Clone)]
pub struct Sink {
    buffer: mpsc::Sender<Accepted>,
    /// Accepted and not yet written or given up.
    pending: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Accepted {
    event: Event,
    at: UnixMs,
}

impl Sink {
    /// Starts the writing task, which ends when every handle is gone, and the one that forgets, which runs until it is aborted.
    pub fn start(database: Database, clock: Clock, kept_days: i64) -> (Self, [JoinHandle<()>; 2]) {
        let (buffer, accepted) = mpsc::channel(BUFFER_MAX);
        let pending = Arc::new(AtomicUsize::new(0));
        let writing = tokio::spawn(write_all(database.clone(), accepted, pending.clone()));
        let forgetting = tokio::spawn(forget_old(database, clock, kept_days));
        (Sink { buffer, pending }, [writing, forgetting])
    }

    /// Takes all of the events, or none.
    pub fn accept(&self, events: Vec<Event>, at: UnixMs) -> Result<(), Full> {
        let places = self.buffer.try_reserve_many(events.len()).map_err(|_| Full)?;
        self.pending.fetch_add(events.len(), Ordering::SeqCst);
        for (place, event) in places.zip(events) {
            place.send(Accepted { event, at });
        }
        Ok(())
    }

    /// Waits until everything accepted so far is written, for as long as `bound`.
    pub async fn flush(&self, bound: Duration) {
        let written = async {
            while self.pending.load(Ordering::SeqCst) > 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(bound, written).await.is_err() {
            tracing::warn!(events = self.pending.load(Ordering::SeqCst), "events were not written");
        }
    }
}

async fn write_all(database: Database, mut accepted: mpsc::Receiver<Accepted>, pending: Arc<AtomicUsize>) {
    let mut batch = Vec::with_capacity(BATCH_MAX);
    while accepted.recv_many(&mut batch, BATCH_MAX).await > 0 {
        while let Err(error) = write(&database, &batch).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "events could not be written");
            if !crate::db::may_pass(&error) {
                break;
            }
            tokio::time::sleep(RETRY).await;
        }
        pending.fetch_sub(batch.len(), Ordering::SeqCst);
        batch.clear();
    }
}

async fn write(database: &Database, batch: &[Accepted]) -> Result<(), sqlx::Error> {
    let json = |value: Result<String, serde_json::Error>| value.map_err(|error| sqlx::Error::Encode(error.into()));
    let mut tx = database.begin().await?;
    for Accepted { event, at } in batch {
        sqlx::query(
            "insert into events (id, event, source, anonymous_id, session_id, properties, url, referrer, utm, at_ms)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        )
        .bind(uuid::Uuid::now_v7().to_string())
        .bind(&event.event)
        .bind(event.source.as_deref())
        .bind(event.anonymous_id.as_deref())
        .bind(event.session_id.as_deref())
        .bind(event.properties.as_ref().map(|p| json(serde_json::to_string(p))).transpose()?)
        .bind(event.url.as_deref())
        .bind(event.referrer.as_deref())
        .bind(event.utm.as_ref().map(|utm| json(serde_json::to_string(utm))).transpose()?)
        .bind(at.0)
        .execute(&mut *tx)
        .await?;
    }
    tx.commit().await
}

async fn forget_old(database: Database, clock: Clock, kept_days: i64) {
    let mut ticks = clock::ticks(FORGET_EVERY);
    loop {
        ticks.tick().await;
        let oldest = clock.now().plus_ms(-kept_days * DAY_MS);
        loop {
            match forget(&database, oldest).await {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "old events could not be removed");
                    break;
                }
            }
        }
    }
}

/// Removes a bounded number of events from before `oldest`.
async fn forget(database: &Database, oldest: UnixMs) -> Result<u64, sqlx::Error> {
    let sql = "delete from events where id in (select id from events where at_ms < $1 order by at_ms limit $2)";
    database.write(sqlx::query(sql).bind(oldest.0).bind(FORGET_MAX)).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::databases;
    use sqlx::Row;

    fn event(name: &str) -> Event {
        serde_json::from_value(serde_json::json!({ "event": name, "properties": { "n": 1 } })).expect("an event")
    }

    async fn names(database: &Database) -> Vec<String> {
        let rows =
            sqlx::query("select event from events order by event").fetch_all(&database.readers).await.expect("reads");
        rows.iter().map(|row| row.try_get(0).expect("text")).collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn accepted_events_are_written_and_old_ones_forgotten() {
        for database in databases().await {
            let (sink, [writing, forgetting]) = Sink::start(database.clone(), Clock::SYSTEM, 90);
            sink.accept(vec![event("new"), event("old")], Clock::SYSTEM.now()).expect("fits");
            sink.accept(vec![event("ancient")], UnixMs(1)).expect("fits");
            forgetting.abort();
            drop(sink);
            writing.await.expect("writes what it has");
            assert_eq!(names(&database).await, ["ancient", "new", "old"]);
            assert_eq!(forget(&database, UnixMs(2)).await.expect("forgets"), 1);
            assert_eq!(forget(&database, UnixMs(2)).await.expect("forgets"), 0);
            assert_eq!(names(&database).await, ["new", "old"]);
        }
    }

    #[tokio::test]
    async fn a_full_buffer_takes_nothing_of_a_batch() {
        let (buffer, mut accepted) = mpsc::channel(3);
        let sink = Sink { buffer, pending: Arc::default() };
        sink.accept(vec![event("a"), event("b")], UnixMs(1)).expect("fits");
        assert!(sink.accept(vec![event("c"), event("d")], UnixMs(1)).is_err());
        sink.accept(vec![event("e")], UnixMs(1)).expect("fits");
        let mut batch = Vec::new();
        accepted.recv_many(&mut batch, 10).await;
        assert_eq!(batch.iter().map(|a| a.event.event.as_str()).collect::<Vec<_>>(), ["a", "b", "e"]);
    }
}

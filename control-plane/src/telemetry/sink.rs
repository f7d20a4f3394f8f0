//! Writes accepted events to the database: a bounded buffer, one writing
//! task, and the deletion of old events.

use super::Event;
use crate::clock::{Clock, DAY_MS, UnixMs};
use crate::config::limits::Events;
use crate::db::Database;
use crate::tasks::every;
use sqlx::Row;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Maximum number of events that wait to be written; more are refused. An event has at most 32 KiB,
/// and usually some hundred bytes.
const BUFFER_MAX: usize = 10_000;

/// Maximum number of events in one transaction.
const BATCH_MAX: usize = 256;

/// Time between two tries while the database does not answer. The buffer holds the
/// events that come in the meantime.
const RETRY: Duration = Duration::from_secs(1);

/// Time between two deletions of old events. `FORGET_MAX` is the number of events in one statement.
const FORGET_EVERY: Duration = Duration::from_secs(600);
const FORGET_MAX: i64 = 10_000;

/// Approximate size of a row and its index entries beside its texts, in bytes.
const ROW_BYTES: usize = 150;

/// The reason why events are not accepted.
#[derive(Debug, PartialEq, Eq)]
pub enum Full {
    /// The buffer is full, because the database is behind.
    Buffer,
    /// The bytes of the day are used up.
    Day { ends_at: UnixMs },
}

/// A handle of the writing task.
#[derive(Debug, Clone)]
pub struct Sink {
    buffer: mpsc::Sender<AcceptedEvent>,
    /// Number of events that are accepted and not yet written or given up.
    pending: Arc<AtomicUsize>,
    today: Arc<Mutex<Today>>,
    bytes_per_day: i64,
}

#[derive(Debug)]
struct AcceptedEvent {
    event: Event,
    bytes: i64,
    at: UnixMs,
}

/// The bytes of the current UTC day, as far as this process knows them. It learns of those that
/// other processes have written with each write of its own.
#[derive(Debug, Default)]
struct Today {
    day: String,
    written_bytes: i64,
    /// Bytes that this process has accepted and not yet written.
    pending_bytes: i64,
}

impl Today {
    /// Adds `bytes` to the pending ones, if the limit allows it.
    fn take(&mut self, bytes: i64, limit: i64, at: UnixMs) -> Result<(), Full> {
        let day = at.utc_day();
        if self.day != day {
            *self = Today { day, written_bytes: 0, pending_bytes: 0 };
        }
        if self.written_bytes + self.pending_bytes + bytes > limit {
            return Err(Full::Day { ends_at: at.utc_day_end() });
        }
        self.pending_bytes += bytes;
        Ok(())
    }

    /// Removes `bytes` of the day from the pending ones. `written_bytes` is the day's total from
    /// all processes, if it is known.
    fn settle(&mut self, day: &str, bytes: i64, written_bytes: Option<i64>) {
        if self.day == day {
            self.pending_bytes = (self.pending_bytes - bytes).max(0);
            self.written_bytes = written_bytes.unwrap_or(self.written_bytes);
        }
    }
}

impl Sink {
    /// Starts the writing task, which ends when every handle is dropped, and the task that deletes
    /// old events, which runs until it is aborted.
    pub fn start(database: Database, clock: Clock, limits: Events) -> (Self, [JoinHandle<()>; 2]) {
        let (buffer, accepted) = mpsc::channel(BUFFER_MAX);
        let (pending, today) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Today::default())));
        let writing = tokio::spawn(write_all(database.clone(), accepted, pending.clone(), today.clone()));
        let forgetting = every(
            FORGET_EVERY,
            "old events could not be removed",
            (database, today.clone()),
            move |(database, today)| async move { forget_old(&database, &clock, limits, &today).await },
        );
        (Sink { buffer, pending, today, bytes_per_day: limits.bytes_per_day }, [writing, forgetting])
    }

    /// Accepts all of the events, or none.
    pub fn accept(&self, events: Vec<Event>, at: UnixMs) -> Result<(), Full> {
        let sizes: Vec<i64> = events.iter().map(bytes_of).collect();
        let places = self.buffer.try_reserve_many(events.len()).map_err(|_| Full::Buffer)?;
        lock(&self.today).take(sizes.iter().sum(), self.bytes_per_day, at)?;
        self.pending.fetch_add(events.len(), Ordering::SeqCst);
        for (place, (event, bytes)) in places.zip(events.into_iter().zip(sizes)) {
            place.send(AcceptedEvent { event, bytes, at });
        }
        Ok(())
    }

    /// Waits until everything accepted so far is written, at most for `bound`.
    pub async fn flush(&self, bound: Duration) {
        let written = async {
            while self.pending.load(Ordering::SeqCst) > 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(bound, written).await.is_err() {
            tracing::warn!(
                events = self.pending.load(Ordering::SeqCst),
                "the service stopped before these events were written"
            );
        }
    }
}

fn lock(today: &Mutex<Today>) -> MutexGuard<'_, Today> {
    today.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the approximate size of an event in the database, in bytes.
fn bytes_of(event: &Event) -> i64 {
    serde_json::to_vec(event).map_or(0, |text| text.len() + ROW_BYTES) as i64
}

async fn write_all(
    database: Database,
    mut accepted: mpsc::Receiver<AcceptedEvent>,
    pending: Arc<AtomicUsize>,
    today: Arc<Mutex<Today>>,
) {
    let mut batch = Vec::with_capacity(BATCH_MAX);
    while accepted.recv_many(&mut batch, BATCH_MAX).await > 0 {
        let mut days: BTreeMap<String, i64> = BTreeMap::new();
        for AcceptedEvent { bytes, at, .. } in &batch {
            *days.entry(at.utc_day()).or_default() += bytes;
        }
        let written = loop {
            match write(&database, &batch, &days).await {
                Ok(totals) => break Some(totals),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "events could not be written");
                    if !crate::db::may_pass(&error) {
                        break None;
                    }
                    tokio::time::sleep(RETRY).await;
                }
            }
        };
        for (day, bytes) in &days {
            lock(&today).settle(day, *bytes, written.as_ref().and_then(|totals| totals.get(day)).copied());
        }
        pending.fetch_sub(batch.len(), Ordering::SeqCst);
        batch.clear();
    }
}

/// Writes the events. Returns the total bytes of each of their days, from all processes.
async fn write(
    database: &Database,
    batch: &[AcceptedEvent],
    days: &BTreeMap<String, i64>,
) -> Result<BTreeMap<String, i64>, sqlx::Error> {
    let json = |value: Result<String, serde_json::Error>| value.map_err(|error| sqlx::Error::Encode(error.into()));
    let mut tx = database.begin().await?;
    for AcceptedEvent { event, at, .. } in batch {
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
    let mut totals = BTreeMap::new();
    for (day, bytes) in days {
        let sql = "insert into event_days (day, bytes) values ($1, $2)
             on conflict (day) do update set bytes = event_days.bytes + excluded.bytes returning bytes";
        let total: i64 = sqlx::query_scalar(sql).bind(day).bind(*bytes).fetch_one(&mut *tx).await?;
        totals.insert(day.clone(), total);
    }
    tx.commit().await?;
    Ok(totals)
}

async fn forget_old(
    database: &Database,
    clock: &Clock,
    limits: Events,
    today: &Mutex<Today>,
) -> Result<(), sqlx::Error> {
    hear_of_today(database, clock, today).await?;
    let oldest = clock.now().plus_ms(-limits.kept_days * DAY_MS);
    forget_before(database, oldest).await?;
    forget_beyond(database, limits.kept_bytes, clock.now()).await
}

/// Reads the bytes of the day so far, also those from before this process was started.
async fn hear_of_today(database: &Database, clock: &Clock, today: &Mutex<Today>) -> Result<(), sqlx::Error> {
    let day = clock.now().utc_day();
    let sql = "select bytes from event_days where day = $1";
    let bytes: Option<i64> = sqlx::query_scalar(sql).bind(&day).fetch_optional(&database.readers).await?;
    let mut today = lock(today);
    if today.day != day {
        *today = Today { day: day.clone(), ..Today::default() };
    }
    today.settle(&day, 0, bytes);
    Ok(())
}

/// Deletes all events from before `oldest`, and the totals of days that were over by then.
async fn forget_before(database: &Database, oldest: UnixMs) -> Result<(), sqlx::Error> {
    while forget(database, oldest).await? > 0 {}
    database.write(sqlx::query("delete from event_days where day < $1").bind(oldest.utc_day())).await?;
    Ok(())
}

/// Deletes the oldest days until at most `kept_bytes` are left. The current day stays.
async fn forget_beyond(database: &Database, kept_bytes: i64, now: UnixMs) -> Result<(), sqlx::Error> {
    let rows = sqlx::query("select day, bytes from event_days order by day desc").fetch_all(&database.readers).await?;
    let (mut sum, today) = (0, now.utc_day());
    for row in rows {
        let (day, bytes): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
        sum += bytes;
        if sum > kept_bytes && day < today {
            // Everything up to the end of this day is deleted.
            let mut ends = now.utc_day_start();
            while ends.plus_ms(-1).utc_day() > day {
                ends = ends.plus_ms(-DAY_MS);
            }
            tracing::warn!(kept_bytes, "events passed their size limit; the oldest days were removed");
            return forget_before(database, ends).await;
        }
    }
    Ok(())
}

/// Deletes a bounded number of events from before `oldest`.
async fn forget(database: &Database, oldest: UnixMs) -> Result<u64, sqlx::Error> {
    let sql = "delete from events where id in (select id from events where at_ms < $1 order by at_ms limit $2)";
    database.write(sqlx::query(sql).bind(oldest.0).bind(FORGET_MAX)).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::databases;

    const LIMITS: Events = Events { kept_days: 90, bytes_per_day: 1_000_000, kept_bytes: 1_000_000 };

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
            let (sink, [writing, forgetting]) = Sink::start(database.clone(), Clock::SYSTEM, LIMITS);
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
        let sink = Sink { buffer, pending: Arc::default(), today: Arc::default(), bytes_per_day: 1_000_000 };
        sink.accept(vec![event("a"), event("b")], UnixMs(1)).expect("fits");
        assert!(sink.accept(vec![event("c"), event("d")], UnixMs(1)).is_err());
        sink.accept(vec![event("e")], UnixMs(1)).expect("fits");
        let mut batch = Vec::new();
        accepted.recv_many(&mut batch, 10).await;
        assert_eq!(batch.iter().map(|a| a.event.event.as_str()).collect::<Vec<_>>(), ["a", "b", "e"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_day_brings_so_many_bytes_and_the_oldest_days_go_first() {
        for database in databases().await {
            let one = bytes_of(&event("new"));
            let limits = Events { bytes_per_day: 3 * one, ..LIMITS };
            let noon = |day: i64| UnixMs(day * DAY_MS + DAY_MS / 2);
            let (sink, [writing, forgetting]) = Sink::start(database.clone(), Clock::SYSTEM, limits);
            forgetting.abort();
            for day in 10..13 {
                sink.accept(vec![event("new"), event("new")], noon(day)).expect("fits");
                let full = sink.accept(vec![event("new"), event("new")], noon(day)).expect_err("too much");
                assert_eq!(full, Full::Day { ends_at: UnixMs((day + 1) * DAY_MS) });
                sink.accept(vec![event("new")], noon(day)).expect("fits");
                sink.flush(Duration::from_secs(10)).await;
                // Written bytes count as pending ones did.
                sink.accept(vec![event("new")], noon(day)).expect_err("too much");
            }
            drop(sink);
            writing.await.expect("writes what it has");
            let today = Mutex::default();
            let (clock, _) = Clock::simulated(noon(12));
            hear_of_today(&database, &clock, &today).await.expect("reads");
            assert_eq!(lock(&today).written_bytes, 3 * one, "a process that starts later knows");
            forget_beyond(&database, 9 * one, noon(12)).await.expect("forgets");
            assert_eq!(names(&database).await.len(), 9);
            forget_beyond(&database, 7 * one, noon(12)).await.expect("forgets");
            assert_eq!(names(&database).await.len(), 6, "a day less");
            forget_beyond(&database, one, noon(12)).await.expect("forgets");
            assert_eq!(names(&database).await.len(), 3, "the current day stays");
        }
    }
}

//! The meter: one task per process that commits whatever has come in since its last commit, in one transaction.
//!
//! Exact, not sampled: nobody is answered before the commit. One statement per request gives one or two thousand durable debits a
//! second; a group shares one commit. It never waits for a group to grow: a lone entry is committed at once, and under load the
//! group is what came during the last commit (waiting a millisecond more was measured: fewer commits, idle cores, fewer debits). What a batch does inside its transaction is in `batch`.

use super::batch::{self, Applied, BatchError};
use super::unanswered::{self, BatchId};
use super::{Charge, Entry, LedgerError, Metered, Outcome, ProcessId, undo};
use crate::clock::{Clock, UnixMs};
use crate::db::{Database, DatabaseKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

/// Entries waiting for the next batch. More would mean that the database is seconds behind, and an answer by then is worth less
/// than an honest 503.
const QUEUE_MAX: usize = 4096;

/// Entries in one transaction: bounds how long a commit can take, and so the wait of the first in it.
const BATCH_MAX: usize = 512;

/// How many batches may be between their commit and their answers. A batch whose commit broke off counts until it is known whether it was
/// committed, and uses a connection of the pool now and then. While there are this many, nothing more is charged.
const UNANSWERED_MAX: usize = 8;

/// How long callers wait to hear whether they were charged, when a commit broke off: as long as anybody waits for a connection.
const UNKNOWN_FOR: Duration = Duration::from_secs(5);

/// Between two looks at what became of a commit.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, thiserror::Error)]
pub enum MeterError {
    #[error("too many requests wait for the ledger")]
    Full,
    #[error("the service is stopping")]
    Stopping,
    /// Nothing was charged.
    #[error("the ledger could not be written")]
    Database(#[source] Arc<sqlx::Error>),
    /// What was charged, if anything was, is given back as soon as the database can say so.
    #[error("the connection broke while the ledger was written")]
    Unknown(#[source] Arc<sqlx::Error>),
}

struct Waiting {
    entry: Entry,
    answer: oneshot::Sender<Result<Metered, MeterError>>,
}

/// Handle of the meter task. The task ends, after committing what it has, when the last handle is dropped.
#[derive(Debug, Clone)]
pub struct Meter {
    queue: mpsc::Sender<Waiting>,
    desk: Arc<Desk>,
}

/// For each name whose window is known to be full, when that window ends, in unix milliseconds. A window that is not listed may be full as
/// well.
type FullWindows = moka::sync::Cache<String, i64>;

/// Some 100 bytes each.
const FULL_WINDOWS_MAX: u64 = 10_000;

/// A window that ends within this is left to the database, whose clock decides.
const NEARLY_OVER_MS: i64 = 1_000;

impl Meter {
    /// Whether the window of `counted` (see [`RateCount`](super::RateCount)) is known to be full, so that nothing need be done for a request before it
    /// is counted and refused.
    pub fn is_full(&self, counted: &str, now: UnixMs) -> bool {
        self.desk.full.get(counted).is_some_and(|ends_ms| now.0 < ends_ms - NEARLY_OVER_MS)
    }

    /// Starts the task. `owner` is written into the holds it opens.
    pub fn start(database: Database, clock: Clock, owner: ProcessId) -> Self {
        let (queue, entries) = mpsc::channel(QUEUE_MAX);
        let batches = Batches { last: BatchId::new(), unanswered: BTreeSet::new() };
        let full = FullWindows::builder().max_capacity(FULL_WINDOWS_MAX).build();
        let permits = Arc::new(Semaphore::new(UNANSWERED_MAX));
        let desk = Arc::new(Desk { database, clock, owner, permits, batches: Mutex::new(batches), full });
        tokio::spawn(run(desk.clone(), entries));
        Meter { queue, desk }
    }

    /// Hands an entry in and waits for its commit. A caller that stops waiting before its batch begins is not charged; one that stops later
    /// is given back what it was charged.
    pub async fn submit(&self, entry: Entry) -> Result<Metered, MeterError> {
        let (answer, answered) = oneshot::channel();
        self.queue.try_send(Waiting { entry, answer }).map_err(|e| match e {
            mpsc::error::TrySendError::Full(_) => MeterError::Full,
            mpsc::error::TrySendError::Closed(_) => MeterError::Stopping,
        })?;
        answered.await.map_err(|_| MeterError::Stopping)?
    }

    /// Entries that wait for a commit, up to what the queue holds: the ledger's lag.
    pub fn waiting(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// Gives back what was charged for something that did not reach its client, by [`Metered::entry_id`]; tried until the database answers.
    pub fn give_back(&self, entry_id: String) {
        self.desk.give_back(entry_id);
    }

    /// Submits an entry that gives something back, which may be done twice without harm; tried beside its caller until the ledger takes it.
    pub fn submit_until_done(&self, entry: Entry) {
        let meter = self.clone();
        tokio::spawn(async move {
            let mut pause = LOOK_AGAIN;
            while let Err(error) = meter.submit(entry.clone()).await {
                if matches!(error, MeterError::Stopping) {
                    return;
                }
                tracing::warn!(error = &error as &dyn std::error::Error, "a charge could not be given back yet");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(UNKNOWN_FOR);
            }
        });
    }

    /// Forgets the rows of batches that have been answered.
    pub(super) async fn forget_answered(&self) -> Result<(), sqlx::Error> {
        let before = self.desk.oldest_unanswered();
        unanswered::forget(&self.desk.database, &self.desk.owner, &before).await
    }
}

/// What the meter works with.
#[derive(Debug)]
struct Desk {
    database: Database,
    clock: Clock,
    owner: ProcessId,
    permits: Arc<Semaphore>,
    batches: Mutex<Batches>,
    full: FullWindows,
}

#[derive(Debug)]
struct Batches {
    last: BatchId,
    unanswered: BTreeSet<BatchId>,
}

impl Desk {
    fn begin(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> Unanswered {
        let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        let id = BatchId::new();
        batches.last = id.clone();
        batches.unanswered.insert(id.clone());
        Unanswered { desk: self.clone(), id, _permit: permit }
    }

    /// Whatever lies before this one has been answered.
    fn oldest_unanswered(&self) -> BatchId {
        let batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        batches.unanswered.first().unwrap_or(&batches.last).clone()
    }

    fn remember_full(&self, entries: &[&Entry], answers: &[Metered]) {
        // What an account's window refused says nothing about the window of the key.
        let refused = entries
            .iter()
            .zip(answers)
            .filter(|(_, answer)| matches!(answer.outcome, Outcome::RateLimited { of_account: false, .. }));
        for (entry, answer) in refused {
            if let (Some(count), Some(window)) = (&entry.count, answer.window) {
                self.full.insert(count.counted.clone(), self.clock.now().0 + window.reset_seconds * 1000);
            }
        }
    }

    /// Tries until the database answers, in a task of its own.
    fn give_back(self: &Arc<Self>, entry_id: String) {
        let desk = self.clone();
        tokio::spawn(async move {
            until_done(|| async { undo::give_back(&desk.database, &entry_id, desk.clock.now()).await.map(drop) }).await;
        });
    }
}

/// Tries until the database does it; a charge that should not stay is worth a task that waits.
async fn until_done<F: Future<Output = Result<(), LedgerError>>>(work: impl Fn() -> F) {
    let mut pause = LOOK_AGAIN;
    while let Err(error) = work().await {
        tracing::warn!(error = &error as &dyn std::error::Error, "a charge could not be given back yet");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(UNKNOWN_FOR);
    }
}

/// A batch until everybody in it has been told.
struct Unanswered {
    desk: Arc<Desk>,
    id: BatchId,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        let mut batches = self.desk.batches.lock().unwrap_or_else(PoisonError::into_inner);
        batches.unanswered.remove(&self.id);
    }
}

impl Unanswered {
    /// Tells the callers of a batch that was committed, once their row says so.
    async fn tell(self, group: Vec<Waiting>, applied: Applied) {
        if !applied.has_charged {
            return self.answer(group, applied);
        }
        match unanswered::confirm(&self.desk.database, &self.id).await {
            Ok(true) => self.answer(group, applied),
            Ok(false) => refuse(group, MeterError::Unknown(Arc::new(sqlx::Error::RowNotFound))),
            Err(error) => self.find_out(group, applied, error, true).await,
        }
    }

    /// Finds out what became of a batch whose commit, or whose confirmation, broke off. Its callers wait for a while; what was charged to
    /// those who were sent away is given back.
    async fn find_out(self, group: Vec<Waiting>, applied: Applied, error: sqlx::Error, mut is_committed: bool) {
        let began = Instant::now();
        let error = Arc::new(error);
        let waiting = loop {
            let database = &self.desk.database;
            let known = match is_committed {
                true => Ok(true),
                false => unanswered::was_committed(database, &self.id).await,
            };
            let confirmed = match known {
                Ok(false) => return refuse(group, MeterError::Database(error)),
                Ok(true) => {
                    is_committed = true;
                    unanswered::confirm(database, &self.id).await
                }
                Err(error) => Err(error),
            };
            match confirmed {
                Ok(true) => return self.answer(group, applied),
                // Another process has taken this one for dead and gives it back.
                Ok(false) => return refuse(group, MeterError::Unknown(error)),
                Err(_) if began.elapsed() >= UNKNOWN_FOR => break group,
                Err(_) => tokio::time::sleep(LOOK_AGAIN).await,
            }
        };
        tracing::error!(
            error = &*error as &dyn std::error::Error,
            entries = waiting.len(),
            "a commit broke off and its outcome is unknown: what it charged will be given back"
        );
        metrics::counter!("cyclorama_meter_unknown_commits_total").increment(1);
        refuse(waiting, MeterError::Unknown(error));
        until_done(|| async {
            let database = &self.desk.database;
            match is_committed || unanswered::was_committed(database, &self.id).await? {
                true => unanswered::undo(database, &self.id, self.desk.clock.now()).await,
                false => Ok(()),
            }
        })
        .await;
        tracing::info!("a commit whose outcome was unknown has been settled");
    }

    /// Answers everybody; who has left meanwhile is given back what he paid.
    fn answer(self, group: Vec<Waiting>, applied: Applied) {
        let entries: Vec<&Entry> = group.iter().map(|waiting| &waiting.entry).collect();
        count(&entries, &applied.answers);
        self.desk.remember_full(&entries, &applied.answers);
        for (waiting, answer) in group.into_iter().zip(applied.answers) {
            if let Err(Ok(Metered { entry_id: Some(entry_id), .. })) = waiting.answer.send(Ok(answer)) {
                self.desk.give_back(entry_id);
            }
        }
    }
}

/// Tells a group that it was not done.
fn refuse(group: Vec<Waiting>, error: MeterError) {
    metrics::counter!("cyclorama_meter_refused_entries_total").increment(group.len() as u64);
    for waiting in group {
        let _ = waiting.answer.send(Err(error.clone()));
    }
}

async fn run(desk: Arc<Desk>, mut entries: mpsc::Receiver<Waiting>) {
    let mut batch = Vec::new();
    while entries.recv_many(&mut batch, BATCH_MAX).await > 0 {
        commit(&desk, std::mem::take(&mut batch)).await;
    }
}

/// What a batch came to, for `/metrics`: added up first, because a busy meter commits tens of thousands of entries a second.
fn count(entries: &[&Entry], answers: &[Metered]) {
    let mut done: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut credits = 0;
    let all = entries.iter().zip(answers);
    for (entry, _) in all.filter(|(_, answer)| matches!(answer.outcome, Outcome::Done { .. })) {
        *done.entry(entry.charge.name()).or_default() += 1;
        credits += entry.charge.asks().0;
    }
    for (charge, entries) in done {
        metrics::counter!("cyclorama_meter_entries_total", "charge" => charge).increment(entries);
    }
    metrics::counter!("cyclorama_credits_taken_total").increment(credits.max(0) as u64);
}

/// A hold is ended, and a credit given back, even when nobody listens for the answer.
fn must_happen(entry: &Entry) -> bool {
    matches!(entry.charge, Charge::Settle { .. } | Charge::Release { .. } | Charge::Refund { .. })
}

/// Commits a batch; everybody in it is answered once it is committed. When the database refuses the batch for what is in it, the halves are
/// tried apart, so one bad entry fails alone.
async fn commit(desk: &Arc<Desk>, batch: Vec<Waiting>) {
    let mut groups = vec![batch];
    while let Some(mut group) = groups.pop() {
        let permit = tokio::time::timeout(UNKNOWN_FOR, desk.permits.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            tracing::error!(
                entries = group.len(),
                "the outcome of too many commits is unknown: nothing more is charged"
            );
            refuse(group, MeterError::Full);
            continue;
        };
        group.retain(|waiting| !waiting.answer.is_closed() || must_happen(&waiting.entry));
        if group.is_empty() {
            continue;
        }
        let unanswered = desk.begin(permit);
        let entries: Vec<&Entry> = group.iter().map(|waiting| &waiting.entry).collect();
        let started = Instant::now();
        match batch::apply(&desk.database, desk.clock.now(), &desk.owner, &unanswered.id, &entries).await {
            Ok(applied) => {
                metrics::counter!("cyclorama_meter_commits_total").increment(1);
                metrics::histogram!("cyclorama_meter_commit_seconds").record(started.elapsed().as_secs_f64());
                match desk.database.kind {
                    // The next batch need not wait for the row of this one to say that it is answered.
                    DatabaseKind::Postgres => drop(tokio::spawn(unanswered.tell(group, applied))),
                    // It says so already.
                    DatabaseKind::Sqlite => unanswered.answer(group, applied),
                }
            }
            Err(BatchError::Unknown(error, applied)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, entries = group.len(), "a commit broke off");
                tokio::spawn(unanswered.find_out(group, applied, error, false));
            }
            Err(BatchError::Refused(_)) if group.len() > 1 => {
                let second_half = group.split_off(group.len() / 2);
                groups.push(second_half);
                groups.push(group);
            }
            Err(BatchError::Refused(error) | BatchError::Unavailable(error)) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    entries = group.len(),
                    "the meter could not commit"
                );
                refuse(group, MeterError::Database(Arc::new(error)));
            }
        }
    }
}

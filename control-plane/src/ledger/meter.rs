//! The meter: one task per process that commits everything that has arrived since its last commit,
//! in one transaction, which is called a batch.
//!
//! It is exact, not sampled: no waiting request gets an answer before the commit. One transaction
//! per request gives one or two thousand durable debits a second, because each waits for the disk;
//! a batch shares that wait. The meter never waits for a batch to grow: a lone request is committed
//! at once, and under load the batch is what arrived during the last commit (waiting a millisecond
//! more was measured: fewer commits, idle cores, fewer debits). `batch` contains what happens
//! inside the transaction.
//!
//! Why: `docs/decisions/credits-and-ledger.md` (Charges are committed in batches).

use super::batch::{self, AppliedBatch, MeterBatchError};
use super::unanswered::{self, BatchId};
use super::{Charge, ChargeOutcome, LedgerError, MeterAnswer, MeterRequest, ProcessId, undo};
use crate::clock::{Clock, UnixMs};
use crate::db::{Database, DatabaseKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

/// Maximum number of requests that wait for the next batch. More would mean that the database is
/// seconds behind, and an answer by then is worth less than an honest 503.
const QUEUE_MAX: usize = 4096;

/// Maximum number of requests in one transaction: bounds how long a commit can take, and so the
/// wait of the first request in it.
const BATCH_MAX: usize = 512;

/// Maximum number of batches that are being committed or have not been answered. A batch takes one
/// of these permits before its commit and keeps it until its requests are answered. After a commit
/// that broke off it keeps the permit until its charges are given back, or it is known that there
/// were none; it uses a connection of the pool now and then meanwhile. While no permit is free, the
/// next batch waits for [`UNKNOWN_FOR`] and is then refused, so that nothing more is charged.
const UNANSWERED_MAX: usize = 8;

/// Longest time that the requests of a batch wait to learn whether they were charged, if its commit
/// broke off, and longest time that a batch waits for a permit: as long as the longest wait for a
/// connection of the pool.
const UNKNOWN_FOR: Duration = Duration::from_secs(5);

/// Pause between two checks of whether a broken-off commit went through, and the first pause
/// between two tries to give something back.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// The reason why a request got no answer from the ledger.
#[derive(Debug, Clone, thiserror::Error)]
pub enum MeterError {
    #[error("too many requests wait for the ledger")]
    Full,
    #[error("the service is stopping")]
    Stopping,
    /// Nothing was charged.
    #[error("the ledger could not be written")]
    Database(#[source] Arc<sqlx::Error>),
    /// It is not known whether anything was charged. If it was, it is given back as soon as
    /// the database answers.
    #[error("the connection broke while the ledger was written")]
    Unknown(#[source] Arc<sqlx::Error>),
}

struct WaitingRequest {
    request: MeterRequest,
    answer: oneshot::Sender<Result<MeterAnswer, MeterError>>,
}

/// Handle of the meter task. When the last handle is dropped, the task commits what it has and
/// ends.
#[derive(Debug, Clone)]
pub struct Meter {
    queue: mpsc::Sender<WaitingRequest>,
    state: Arc<MeterState>,
}

/// For each name whose window is known to be full, the time when that window ends, in Unix
/// milliseconds. A window that is not listed may be full as well.
type FullWindows = moka::sync::Cache<String, i64>;

/// Bounds the memory of the cache: an entry takes about 100 bytes.
const FULL_WINDOWS_MAX: u64 = 10_000;

/// A window that ends within this many milliseconds is left to the transaction: the clock of
/// another process may already have begun the next window.
const NEARLY_OVER_MS: i64 = 1_000;

impl Meter {
    /// Returns true if the window of `counted` (see [`RateCount`](super::RateCount)) is known to be
    /// full. The request can then be counted and refused before any other work is done for it.
    pub fn is_full(&self, counted: &str, now: UnixMs) -> bool {
        self.state.full.get(counted).is_some_and(|ends_ms| now.0 < ends_ms - NEARLY_OVER_MS)
    }

    /// Starts the task. `owner` is written into the holds that it opens.
    pub fn start(database: Database, clock: Clock, owner: ProcessId) -> Self {
        let (queue, requests) = mpsc::channel(QUEUE_MAX);
        let batches = Batches { last: BatchId::new(), unanswered: BTreeSet::new() };
        let full = FullWindows::builder().max_capacity(FULL_WINDOWS_MAX).build();
        let permits = Arc::new(Semaphore::new(UNANSWERED_MAX));
        let state = Arc::new(MeterState { database, clock, owner, permits, batches: Mutex::new(batches), full });
        tokio::spawn(run(state.clone(), requests));
        Meter { queue, state }
    }

    /// Submits a request and waits for its commit. If the request stops waiting before its batch
    /// begins, the request is dropped, unless it ends a hold or refunds. If it stops waiting later,
    /// a debit, a settlement or a mint is given back. A load of a signed URL stays counted, and an
    /// open hold expires.
    pub async fn submit(&self, request: MeterRequest) -> Result<MeterAnswer, MeterError> {
        let (answer, answered) = oneshot::channel();
        self.queue.try_send(WaitingRequest { request, answer }).map_err(|e| match e {
            mpsc::error::TrySendError::Full(_) => MeterError::Full,
            mpsc::error::TrySendError::Closed(_) => MeterError::Stopping,
        })?;
        answered.await.map_err(|_| MeterError::Stopping)?
    }

    /// Returns the number of requests that wait for a commit, at most the capacity of the queue:
    /// the ledger's lag.
    pub fn waiting(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// Gives back a charge for something that did not reach its client, by
    /// [`MeterAnswer::entry_id`]. Retries until the database answers.
    pub fn give_back(&self, entry_id: String) {
        self.state.give_back(entry_id);
    }

    /// Submits a request that gives something back, and that may be done twice without harm.
    /// Retries in a separate task until the ledger takes it.
    pub fn submit_until_done(&self, request: MeterRequest) {
        let meter = self.clone();
        tokio::spawn(async move {
            let mut pause = LOOK_AGAIN;
            while let Err(error) = meter.submit(request.clone()).await {
                if matches!(error, MeterError::Stopping) {
                    return;
                }
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "a charge could not be refunded; it is retried"
                );
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(UNKNOWN_FOR);
            }
        });
    }

    /// Deletes the rows of batches that have been answered.
    pub(super) async fn forget_answered(&self) -> Result<(), sqlx::Error> {
        let before = self.state.oldest_unanswered();
        unanswered::forget(&self.state.database, &self.state.owner, &before).await
    }
}

/// The state that the meter's task and its handles share.
#[derive(Debug)]
struct MeterState {
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

impl MeterState {
    fn begin(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> UnansweredBatch {
        let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        let id = BatchId::new();
        batches.last = id.clone();
        batches.unanswered.insert(id.clone());
        UnansweredBatch { state: self.clone(), id, _permit: permit }
    }

    /// Returns the oldest batch that has not been answered: all batches before it have been.
    fn oldest_unanswered(&self) -> BatchId {
        let batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        batches.unanswered.first().unwrap_or(&batches.last).clone()
    }

    fn remember_full(&self, requests: &[&MeterRequest], answers: &[MeterAnswer]) {
        // A refusal by an account's window says nothing about the window of the key.
        let refused = requests
            .iter()
            .zip(answers)
            .filter(|(_, answer)| matches!(answer.outcome, ChargeOutcome::RateLimited { of_account: false, .. }));
        for (request, answer) in refused {
            if let (Some(count), Some(window)) = (&request.count, answer.window) {
                self.full.insert(count.counted.clone(), self.clock.now().0 + window.reset_seconds * 1000);
            }
        }
    }

    /// Gives a charge back in a separate task, which retries until the database answers.
    fn give_back(self: &Arc<Self>, entry_id: String) {
        let state = self.clone();
        tokio::spawn(async move {
            until_done(|| async { undo::give_back(&state.database, &entry_id, state.clock.now()).await.map(drop) })
                .await;
        });
    }
}

/// Repeats `work` until the database carries it out: a charge that should not stay is worth a task
/// that waits.
async fn until_done<F: Future<Output = Result<(), LedgerError>>>(work: impl Fn() -> F) {
    let mut pause = LOOK_AGAIN;
    while let Err(error) = work().await {
        tracing::warn!(error = &error as &dyn std::error::Error, "a charge could not be refunded; it is retried");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(UNKNOWN_FOR);
    }
}

/// A batch until all its waiting requests have been answered.
struct UnansweredBatch {
    state: Arc<MeterState>,
    id: BatchId,
    _permit: OwnedSemaphorePermit,
}

impl Drop for UnansweredBatch {
    fn drop(&mut self) {
        let mut batches = self.state.batches.lock().unwrap_or_else(PoisonError::into_inner);
        batches.unanswered.remove(&self.id);
    }
}

impl UnansweredBatch {
    /// Answers the waiting requests of a batch that was committed, once the batch's row is marked
    /// as answered.
    async fn tell(self, group: Vec<WaitingRequest>, applied: AppliedBatch) {
        if !applied.has_charged {
            return self.answer(group, applied);
        }
        match unanswered::confirm(&self.state.database, &self.id).await {
            Ok(true) => self.answer(group, applied),
            Ok(false) => refuse(group, MeterError::Unknown(Arc::new(sqlx::Error::RowNotFound))),
            Err(error) => self.find_out(group, applied, error, true).await,
        }
    }

    /// Finds out whether a batch was committed whose commit, or whose confirmation, broke off. Its
    /// requests wait for [`UNKNOWN_FOR`]; after that they get an error, and what they were charged
    /// is given back.
    async fn find_out(
        self,
        group: Vec<WaitingRequest>,
        applied: AppliedBatch,
        error: sqlx::Error,
        mut is_committed: bool,
    ) {
        let began = Instant::now();
        let error = Arc::new(error);
        let waiting = loop {
            let database = &self.state.database;
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
                // Another process has taken this one for dead and gives the charges back.
                Ok(false) => return refuse(group, MeterError::Unknown(error)),
                Err(_) if began.elapsed() >= UNKNOWN_FOR => break group,
                Err(_) => tokio::time::sleep(LOOK_AGAIN).await,
            }
        };
        tracing::error!(
            error = &*error as &dyn std::error::Error,
            entries = waiting.len(),
            "a commit broke off with an unknown outcome; its charges will be refunded"
        );
        metrics::counter!("cyclorama_meter_unknown_commits_total").increment(1);
        refuse(waiting, MeterError::Unknown(error));
        until_done(|| async {
            let database = &self.state.database;
            match is_committed || unanswered::was_committed(database, &self.id).await? {
                true => unanswered::undo(database, &self.id, self.state.clock.now()).await,
                false => Ok(()),
            }
        })
        .await;
        tracing::info!("a commit with an unknown outcome was resolved");
    }

    /// Answers all waiting requests, and gives back the charges of those that have stopped waiting
    /// in the meantime.
    fn answer(self, group: Vec<WaitingRequest>, applied: AppliedBatch) {
        let requests: Vec<&MeterRequest> = group.iter().map(|waiting| &waiting.request).collect();
        count(&requests, &applied.answers);
        self.state.remember_full(&requests, &applied.answers);
        for (waiting, answer) in group.into_iter().zip(applied.answers) {
            if let Err(Ok(MeterAnswer { entry_id: Some(entry_id), .. })) = waiting.answer.send(Ok(answer)) {
                self.state.give_back(entry_id);
            }
        }
    }
}

/// Answers all waiting requests of a batch with an error.
fn refuse(group: Vec<WaitingRequest>, error: MeterError) {
    metrics::counter!("cyclorama_meter_refused_entries_total").increment(group.len() as u64);
    for waiting in group {
        let _ = waiting.answer.send(Err(error.clone()));
    }
}

async fn run(state: Arc<MeterState>, mut requests: mpsc::Receiver<WaitingRequest>) {
    let mut batch = Vec::new();
    while requests.recv_many(&mut batch, BATCH_MAX).await > 0 {
        commit(&state, std::mem::take(&mut batch)).await;
    }
}

/// Records the outcomes of a batch for `/metrics`. They are added up first, because a busy meter
/// commits tens of thousands of requests a second.
fn count(requests: &[&MeterRequest], answers: &[MeterAnswer]) {
    let mut done: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut credits = 0;
    let all = requests.iter().zip(answers);
    for (request, _) in all.filter(|(_, answer)| matches!(answer.outcome, ChargeOutcome::Done { .. })) {
        *done.entry(request.charge.name()).or_default() += 1;
        credits += request.charge.asks().0;
    }
    for (charge, entries) in done {
        metrics::counter!("cyclorama_meter_entries_total", "charge" => charge).increment(entries);
    }
    metrics::counter!("cyclorama_credits_taken_total").increment(credits.max(0) as u64);
}

/// True for a request that ends a hold or gives a credit back: it is committed even if no request
/// waits for the answer.
fn must_happen(request: &MeterRequest) -> bool {
    matches!(request.charge, Charge::Settle { .. } | Charge::Release { .. } | Charge::Refund { .. })
}

/// Commits a batch and answers all its waiting requests after the commit. If the database refuses
/// the batch for what is in it, its halves are tried separately, as batches of their own, so that
/// one bad request fails alone.
async fn commit(state: &Arc<MeterState>, batch: Vec<WaitingRequest>) {
    let mut groups = vec![batch];
    while let Some(mut group) = groups.pop() {
        let permit = tokio::time::timeout(UNKNOWN_FOR, state.permits.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            tracing::error!(entries = group.len(), "too many commits broke off; nothing more is charged");
            refuse(group, MeterError::Full);
            continue;
        };
        group.retain(|waiting| !waiting.answer.is_closed() || must_happen(&waiting.request));
        if group.is_empty() {
            continue;
        }
        let unanswered = state.begin(permit);
        let requests: Vec<&MeterRequest> = group.iter().map(|waiting| &waiting.request).collect();
        let started = Instant::now();
        match batch::apply(&state.database, state.clock.now(), &state.owner, &unanswered.id, &requests).await {
            Ok(applied) => {
                metrics::counter!("cyclorama_meter_commits_total").increment(1);
                metrics::histogram!("cyclorama_meter_commit_seconds").record(started.elapsed().as_secs_f64());
                match state.database.kind {
                    // The next batch need not wait until this one's row is marked as answered.
                    DatabaseKind::Postgres => drop(tokio::spawn(unanswered.tell(group, applied))),
                    // The row was written as answered.
                    DatabaseKind::Sqlite => unanswered.answer(group, applied),
                }
            }
            Err(MeterBatchError::Unknown(error, applied)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, entries = group.len(), "a commit broke off");
                tokio::spawn(unanswered.find_out(group, applied, error, false));
            }
            Err(MeterBatchError::Refused(_)) if group.len() > 1 => {
                let second_half = group.split_off(group.len() / 2);
                groups.push(second_half);
                groups.push(group);
            }
            Err(MeterBatchError::Refused(error) | MeterBatchError::Unavailable(error)) => {
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

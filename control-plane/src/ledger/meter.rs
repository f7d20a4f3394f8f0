//! The meter: one task per process that commits whatever has come in since its last commit, in one transaction.
//!
//! Exact, not sampled: nobody is answered before the commit. One statement per request gives one or two thousand durable debits a
//! second; a group shares one commit. It never waits for a group to grow: a lone entry is committed at once, and under load the
//! group is what came during the last commit (waiting a millisecond more was measured: fewer commits, idle cores, fewer debits). What a batch does inside its transaction is in `batch`.

use super::batch::{self, BatchError};
use super::{Charge, Entry, Metered, Outcome, ProcessId};
use crate::clock::Clock;
use crate::db::Database;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};

/// Entries waiting for the next batch. More would mean that the database is seconds behind, and an answer by then is worth less
/// than an honest 503.
const QUEUE_MAX: usize = 4096;

/// Entries in one transaction: bounds how long a commit can take, and so the wait of the first in it.
const BATCH_MAX: usize = 512;

#[derive(Debug, Clone, thiserror::Error)]
pub enum MeterError {
    #[error("too many requests wait for the ledger")]
    Full,
    #[error("the service is stopping")]
    Stopping,
    #[error("the ledger could not be written")]
    Database(#[source] Arc<sqlx::Error>),
}

struct Waiting {
    entry: Entry,
    answer: oneshot::Sender<Result<Metered, MeterError>>,
}

/// Handle of the meter task. The task ends, after committing what it has, when the last handle is dropped.
#[derive(Debug, Clone)]
pub struct Meter {
    queue: mpsc::Sender<Waiting>,
}

impl Meter {
    /// Starts the task. `owner` is written into the holds it opens.
    pub fn start(database: Database, clock: Clock, owner: ProcessId) -> Self {
        let (queue, entries) = mpsc::channel(QUEUE_MAX);
        tokio::spawn(run(database, clock, owner, entries));
        Meter { queue }
    }

    /// Hands an entry in and waits for its commit. A caller that stops waiting before its batch begins is not charged.
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
}

async fn run(database: Database, clock: Clock, owner: ProcessId, mut entries: mpsc::Receiver<Waiting>) {
    let mut batch = Vec::new();
    while entries.recv_many(&mut batch, BATCH_MAX).await > 0 {
        batch.retain(|waiting| !waiting.answer.is_closed() || must_happen(&waiting.entry));
        commit(&database, &clock, &owner, std::mem::take(&mut batch)).await;
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

/// Commits a batch and answers everybody in it. When the database refuses the batch for what is in it, the halves are tried apart,
/// so one bad entry fails alone.
async fn commit(database: &Database, clock: &Clock, owner: &ProcessId, batch: Vec<Waiting>) {
    let mut groups = vec![batch];
    while let Some(mut group) = groups.pop() {
        if group.is_empty() {
            continue;
        }
        let entries: Vec<&Entry> = group.iter().map(|waiting| &waiting.entry).collect();
        let started = Instant::now();
        match batch::apply(database, clock.now(), owner, &entries).await {
            Ok(answers) => {
                metrics::counter!("cyclorama_meter_commits_total").increment(1);
                metrics::histogram!("cyclorama_meter_commit_seconds").record(started.elapsed().as_secs_f64());
                count(&entries, &answers);
                for (waiting, answer) in group.into_iter().zip(answers) {
                    // A caller that has left meanwhile does not read its answer.
                    let _ = waiting.answer.send(Ok(answer));
                }
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
                metrics::counter!("cyclorama_meter_refused_entries_total").increment(group.len() as u64);
                let error = Arc::new(error);
                for waiting in group {
                    let _ = waiting.answer.send(Err(MeterError::Database(error.clone())));
                }
            }
        }
    }
}

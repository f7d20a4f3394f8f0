//! Owners of holds: each process keeps a heartbeat row, and any process releases the holds
//! whose owner is gone.
//!
//! This corrects balances after a crash without a person's help.

use super::process::{ProcessId, SILENCE_MS};
use super::{Charge, LedgerError, Meter, MeterRequest, unanswered};
use crate::clock::{Clock, UnixMs};
use crate::db::{Database, DatabaseKind};
use crate::tasks::every;
use sqlx::Row;
use std::time::Duration;

const HEARTBEAT: Duration = Duration::from_secs(2);

/// Maximum number of holds released in one sweep; the rest follows two seconds later.
const SWEEP_MAX: i64 = 256;

/// Registers the process, and keeps its heartbeat and the sweep running until the task is aborted.
///
/// SQLite belongs to one process, so every other process registered there is from before a crash
/// and is deleted at once.
pub async fn start_sweeper(
    database: Database,
    clock: Clock,
    process: ProcessId,
    meter: Meter,
) -> Result<tokio::task::JoinHandle<()>, LedgerError> {
    if database.kind == DatabaseKind::Sqlite {
        database.write(sqlx::query("delete from processes")).await?;
    }
    beat(&database, &process, clock.now()).await?;
    sweep(&database, &meter, clock.now()).await?;
    Ok(every(HEARTBEAT, "abandoned holds could not be released", (database, process, meter), move |state| async move {
        let (database, process, meter) = state;
        let now = clock.now();
        beat(&database, &process, now).await?;
        match sweep(&database, &meter, now).await? {
            0 => {}
            released => tracing::info!(released, "holds of ended processes and abandoned requests were released"),
        }
        Ok::<(), LedgerError>(())
    }))
}

/// Writes the heartbeat. Its success or failure also tells whether the database can be written.
async fn beat(database: &Database, process: &ProcessId, now: UnixMs) -> Result<(), LedgerError> {
    database
        .write_to_learn(
            sqlx::query(
                "insert into processes (id, started_at_ms, seen_at_ms) values ($1, $2, $2)
         on conflict (id) do update set seen_at_ms = excluded.seen_at_ms",
            )
            .bind(process.as_str())
            .bind(now.0),
        )
        .await?;
    Ok(())
}

/// Gives back what silent processes had charged without answering anybody, then releases open holds
/// that have expired or whose owner is silent. Returns how many holds this call released.
pub(super) async fn sweep(database: &Database, meter: &Meter, now: UnixMs) -> Result<usize, LedgerError> {
    let silent_since_ms = now.0 - SILENCE_MS;
    meter.forget_answered().await?;
    unanswered::sweep(database, now, silent_since_ms).await?;
    let orphans = sqlx::query(
        "select id from holds where state = 'open' and (expires_at_ms < $1
            or not exists (select 1 from processes p where p.id = holds.owner and p.seen_at_ms >= $2))
         order by expires_at_ms limit $3",
    )
    .bind(now.0)
    .bind(silent_since_ms)
    .bind(SWEEP_MAX)
    .fetch_all(&database.readers)
    .await?;
    let mut releases = Vec::with_capacity(orphans.len());
    for row in orphans {
        let hold_id = row.try_get(0)?;
        releases.push(meter.submit(MeterRequest::uncounted(Charge::Release { hold_id })));
    }
    let answers = futures::future::join_all(releases).await;
    let released =
        answers.iter().flatten().filter(|answer| matches!(answer.outcome, super::ChargeOutcome::Done { .. })).count();
    // Rows of processes that are long gone and have no open hold left.
    database.write(sqlx::query("delete from processes where seen_at_ms < $1 and not exists (select 1 from holds where owner = processes.id and state = 'open')")
        .bind(now.0 - 100 * SILENCE_MS)
        ).await?;
    Ok(released)
}

//! Batches that charged requests which may not have been answered: rows of `meter_batches`.
//!
//! A batch that charges writes its row in its own transaction. On PostgreSQL the process sets the
//! row to `answered` before it answers any request. If a row is `open` and its process is gone, no
//! request of that batch was answered, and any other process gives its charges back. The update to
//! `answered` needs no disk flush of its own: it is lost only if the database itself fails, and
//! then the process that is still running knows the true state. On SQLite the row begins as
//! `answered`: the database lives and dies with its one process, which can read after a failed
//! commit whether the row is there.
//!
//! Why: `docs/decisions/credits-and-ledger.md` (A commit whose outcome is unknown).

use super::{LedgerError, ProcessId, undo};
use crate::clock::UnixMs;
use crate::db::{Database, DatabaseKind, Tx};
use sqlx::Row;
use uuid::Uuid;

/// Maximum number of batches settled in one sweep; the rest follows with the next.
const SWEEP_MAX: i64 = 16;

/// Id of a batch. The ids of its entries and deliveries begin with it and end with their position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BatchId(String);

impl BatchId {
    /// Returns a new id. Ids that a process creates later are greater.
    pub fn new() -> Self {
        let mut bytes = Uuid::now_v7().into_bytes();
        bytes[14..].fill(0);
        BatchId(Uuid::from_bytes(bytes).to_string())
    }

    fn read(text: String) -> Self {
        BatchId(text)
    }

    /// Returns the id of an entry's rows, given the entry's position in the batch.
    pub fn entry(&self, place: usize) -> String {
        format!("{}{:04x}", &self.0[..self.0.len() - 4], place + 1)
    }

    /// Returns an id that is not less than that of any entry in the batch.
    fn end(&self) -> String {
        format!("{}ffff", &self.0[..self.0.len() - 4])
    }
}

/// Writes the row of a batch into its transaction.
pub(super) async fn begin(
    tx: &mut Tx<'_>,
    kind: DatabaseKind,
    now: UnixMs,
    owner: &ProcessId,
    batch: &BatchId,
    loads: &[&str],
) -> Result<(), sqlx::Error> {
    let state = match kind {
        DatabaseKind::Sqlite => "answered",
        DatabaseKind::Postgres => "open",
    };
    sqlx::query("insert into meter_batches (id, owner, state, loads, at_ms) values ($1, $2, $3, $4, $5)")
        .bind(&batch.0)
        .bind(owner.as_str())
        .bind(state)
        .bind(loads.join(" "))
        .bind(now.0)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Marks a batch as answered. Returns false if another process has taken this one for dead and
/// gives the charges back.
pub(super) async fn confirm(database: &Database, batch: &BatchId) -> Result<bool, sqlx::Error> {
    let sql = match database.kind {
        DatabaseKind::Sqlite => "update meter_batches set state = 'answered' where id = $1 and state <> 'undo'",
        DatabaseKind::Postgres => {
            "with relaxed as (select set_config('synchronous_commit', 'off', true))
             update meter_batches set state = 'answered' from relaxed where id = $1 and state <> 'undo'"
        }
    };
    Ok(database.write(sqlx::query(sql).bind(&batch.0)).await? == 1)
}

/// Returns true if a batch whose commit broke off was committed. The answer is final.
///
/// On PostgreSQL, inserting a row with the same key waits for a transaction that is still in
/// flight with it. If the row is not there after that, the transaction has been rolled back and
/// cannot commit any more.
pub(super) async fn was_committed(database: &Database, batch: &BatchId) -> Result<bool, sqlx::Error> {
    let mut tx = database.begin().await?;
    if database.kind == DatabaseKind::Postgres {
        sqlx::query("set local lock_timeout = '2s'").execute(&mut *tx).await?;
    }
    let probe = sqlx::query(
        "insert into meter_batches (id, owner, state, loads, at_ms) values ($1, '', 'answered', '', 0) on conflict (id) do nothing",
    );
    let inserted = probe.bind(&batch.0).execute(&mut *tx).await?.rows_affected();
    tx.rollback().await?;
    Ok(inserted == 0)
}

/// Gives back what a committed batch charged, after its requests were answered that a charge will
/// be given back. May be repeated until it succeeds.
pub(super) async fn undo(database: &Database, batch: &BatchId, now: UnixMs) -> Result<(), LedgerError> {
    database.write(sqlx::query("update meter_batches set state = 'undo' where id = $1").bind(&batch.0)).await?;
    carry_out(database, batch, now).await
}

/// Gives back everything that a batch in state `undo` charged, in steps that each take effect once,
/// whichever process takes them.
async fn carry_out(database: &Database, batch: &BatchId, now: UnixMs) -> Result<(), LedgerError> {
    let entries: Vec<String> = sqlx::query_scalar(
        "select id from ledger_entries where id > $1 and id <= $2 and kind in ('debit', 'settle') and credits < 0 order by id",
    )
    .bind(&batch.0)
    .bind(batch.end())
    .fetch_all(&database.readers)
    .await?;
    for entry_id in entries {
        undo::give_back(database, &entry_id, now).await?;
    }
    let mut tx = database.begin().await?;
    let gone = sqlx::query("delete from meter_batches where id = $1 and state = 'undo' returning loads")
        .bind(&batch.0)
        .fetch_optional(&mut *tx)
        .await?;
    if let Some(row) = gone {
        let loads: String = row.try_get(0)?;
        let loads: Vec<&str> = loads.split_whitespace().collect();
        undo::uncount_loads(&mut tx, &loads, &batch.0, &batch.end()).await?;
    }
    Ok(tx.commit().await?)
}

/// Settles the batches of processes that are gone. Returns how many batches were given back.
pub(super) async fn sweep(database: &Database, now: UnixMs, silent_since_ms: i64) -> Result<usize, LedgerError> {
    const GONE: &str = "not exists (select 1 from processes p where p.id = meter_batches.owner and p.seen_at_ms >= $1)";
    let left = format!(
        "select id from meter_batches where state = 'undo' or (state = 'open' and {GONE}) order by id limit $2"
    );
    let left: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(left))
        .bind(silent_since_ms)
        .bind(SWEEP_MAX)
        .fetch_all(&database.readers)
        .await?;
    let mut undone = 0;
    for id in left {
        let sql = format!(
            "update meter_batches set state = 'undo' where id = $2 and (state = 'undo' or (state = 'open' and {GONE}))"
        );
        let ours = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(silent_since_ms).bind(&id);
        if database.write(ours).await? == 1 {
            carry_out(database, &BatchId::read(id), now).await?;
            undone += 1;
        }
    }
    let told = format!("delete from meter_batches where state = 'answered' and {GONE}");
    database.write(sqlx::query(sqlx::AssertSqlSafe(told)).bind(silent_since_ms)).await?;
    Ok(undone)
}

/// Deletes the rows of batches of this process whose requests have all been answered: those before
/// `before`.
pub(super) async fn forget(database: &Database, owner: &ProcessId, before: &BatchId) -> Result<(), sqlx::Error> {
    let sql = "delete from meter_batches where owner = $1 and id < $2 and state <> 'undo'";
    database.write(sqlx::query(sql).bind(owner.as_str()).bind(&before.0)).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_entries_follow_their_batch() {
        let (batch, next) = (BatchId::new(), BatchId::new());
        let ids = [0, 1, 9, 511].map(|place| batch.entry(place));
        assert!(
            ids.is_sorted() && batch.0 < ids[0] && ids[3] < batch.end() && batch.end() < next.0,
            "{batch:?} {ids:?}"
        );
        assert!(ids.iter().all(|id| Uuid::parse_str(id).is_ok()));
    }
}

//! Batches and their rows in the database.

use super::PrewarmItem;
use crate::catalog::Catalog;
use crate::clock::UnixMs;
use crate::db::{Database, Tx};
use crate::renders::{colours_of, print_colours};
use cyclorama_core::{Paint, View};
use sqlx::Row as _;
use sqlx::any::AnyRow;

/// Rows of one insert statement: each has five parameters, and SQLite accepts 32,766.
const INSERT_ROWS: usize = 500;

cyclorama_core::named_enum! {
    pub enum BatchState { Running = "running", Paused = "paused", Cancelled = "cancelled", Done = "done" }
}

/// An operator's order to a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchOrder {
    Pause,
    Resume,
    Cancel,
}

impl BatchOrder {
    /// Returns the states in which the order is accepted, and the state that it leads to.
    const fn step(self) -> (&'static [BatchState], BatchState) {
        match self {
            BatchOrder::Pause => (&[BatchState::Running, BatchState::Paused], BatchState::Paused),
            BatchOrder::Resume => (&[BatchState::Paused, BatchState::Running], BatchState::Running),
            BatchOrder::Cancel => {
                (&[BatchState::Running, BatchState::Paused, BatchState::Cancelled], BatchState::Cancelled)
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PrewarmBatchError {
    #[error("there is no batch `{0}`")]
    Unknown(String),
    #[error("the batch is {0} and cannot be changed any more")]
    Over(BatchState),
    #[error("the database did not respond")]
    Database(#[from] sqlx::Error),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrewarmBatch {
    pub id: String,
    pub name: String,
    pub state: BatchState,
    pub budget_percent: i64,
    pub created_at_ms: i64,
    pub changed_at_ms: i64,
    pub waiting: i64,
    pub queued: i64,
    pub done: i64,
    pub failed: i64,
}

impl PrewarmBatch {
    pub fn rows(&self) -> i64 {
        self.waiting + self.queued + self.done + self.failed
    }

    /// Returns the percentage of rows that are done or failed.
    pub fn percent(&self) -> i64 {
        (self.done + self.failed) * 100 / self.rows().max(1)
    }
}

/// A row as the batch's report shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrewarmRow {
    pub position: i64,
    pub vehicle_key: String,
    pub view: String,
    pub colors: String,
    pub state: String,
    pub failure: Option<(String, String)>,
}

/// A row that the feeder works on.
pub(super) struct OpenRow {
    pub batch_id: String,
    pub position: i64,
    pub wish: PrewarmItem,
}

const BATCH_SELECT: &str = "select b.id, b.name, b.state, b.budget_percent, b.created_at_ms, b.changed_at_ms,
        count(case when r.state = 'waiting' then 1 end) as waiting, count(case when r.state = 'queued' then 1 end) as queued,
        count(case when r.state = 'done' then 1 end) as done, count(case when r.state = 'failed' then 1 end) as failed
     from";
const BATCH_JOIN: &str = "b left join prewarm_rows r on r.batch_id = b.id";
const BATCH_GROUP: &str = "group by b.id, b.name, b.state, b.budget_percent, b.created_at_ms, b.changed_at_ms";

impl PrewarmBatch {
    fn read(row: &AnyRow) -> Result<Self, sqlx::Error> {
        let id: String = row.try_get("id")?;
        let state: &str = row.try_get("state")?;
        let unreadable = |error| sqlx::Error::Decode(format!("prewarm_batches.state of {id}: {error}").into());
        Ok(PrewarmBatch {
            state: state.parse().map_err(unreadable)?,
            name: row.try_get("name")?,
            budget_percent: row.try_get("budget_percent")?,
            created_at_ms: row.try_get("created_at_ms")?,
            changed_at_ms: row.try_get("changed_at_ms")?,
            waiting: row.try_get("waiting")?,
            queued: row.try_get("queued")?,
            done: row.try_get("done")?,
            failed: row.try_get("failed")?,
            id,
        })
    }

    /// Creates a running batch of these wishes and returns its id.
    pub async fn create(
        database: &Database,
        catalog: &Catalog,
        name: &str,
        wishes: &[PrewarmItem],
        budget_percent: i64,
        now: UnixMs,
    ) -> Result<String, sqlx::Error> {
        let id = uuid::Uuid::now_v7().to_string();
        let mut tx = database.begin().await?;
        sqlx::query(
            "insert into prewarm_batches (id, name, state, budget_percent, created_at_ms, changed_at_ms) values ($1, $2, 'running', $3, $4, $4)",
        )
        .bind(&id)
        .bind(name)
        .bind(budget_percent)
        .bind(now.0)
        .execute(&mut *tx)
        .await?;
        for (chunk, wishes) in wishes.chunks(INSERT_ROWS).enumerate() {
            insert_rows(&mut tx, catalog, &id, chunk * INSERT_ROWS, wishes, now).await?;
        }
        tx.commit().await?;
        Ok(id)
    }

    /// Returns up to `limit` batches, newest first.
    pub async fn list(database: &Database, limit: i64) -> Result<Vec<PrewarmBatch>, sqlx::Error> {
        // Select the batches before counting their rows, because the console
        // polls every few seconds.
        let latest = "(select * from prewarm_batches order by created_at_ms desc, id desc limit $1)";
        let sql =
            format!("{BATCH_SELECT} {latest} {BATCH_JOIN} {BATCH_GROUP} order by b.created_at_ms desc, b.id desc");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(limit).fetch_all(&database.readers).await?;
        rows.iter().map(PrewarmBatch::read).collect()
    }

    pub async fn find(database: &Database, id: &str) -> Result<PrewarmBatch, PrewarmBatchError> {
        let sql = format!("{BATCH_SELECT} prewarm_batches {BATCH_JOIN} where b.id = $1 {BATCH_GROUP}");
        let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(&database.readers).await?;
        row.map(|row| PrewarmBatch::read(&row))
            .transpose()?
            .ok_or_else(|| PrewarmBatchError::Unknown(id.chars().take(60).collect()))
    }

    /// Pauses, resumes or cancels a batch. Fails with [`BatchError::Over`] if the batch's state
    /// does not allow the order.
    pub async fn order(
        database: &Database,
        id: &str,
        order: BatchOrder,
        now: UnixMs,
    ) -> Result<PrewarmBatch, PrewarmBatchError> {
        let (from, to) = order.step();
        let from: Vec<String> = from.iter().map(|state| format!("'{state}'")).collect();
        let sql = format!(
            "update prewarm_batches set state = $1, changed_at_ms = $2 where id = $3 and state in ({})",
            from.join(", ")
        );
        let changed =
            database.write(sqlx::query(sqlx::AssertSqlSafe(sql)).bind(to.as_str()).bind(now.0).bind(id)).await?;
        let batch = PrewarmBatch::find(database, id).await?;
        match changed {
            0 => Err(PrewarmBatchError::Over(batch.state)),
            _ => Ok(batch),
        }
    }

    /// Returns up to `limit` rows after the position `after`, in order.
    pub async fn report(database: &Database, id: &str, after: i64, limit: i64) -> Result<Vec<PrewarmRow>, sqlx::Error> {
        let rows = sqlx::query(
            "select position, vehicle_key, view, colors, state, failure_kind, failure_detail from prewarm_rows
             where batch_id = $1 and position > $2 order by position limit $3",
        )
        .bind(id)
        .bind(after)
        .bind(limit)
        .fetch_all(&database.readers)
        .await?;
        let read = |row: &AnyRow| -> Result<PrewarmRow, sqlx::Error> {
            let kind: Option<String> = row.try_get("failure_kind")?;
            let detail: Option<String> = row.try_get("failure_detail")?;
            Ok(PrewarmRow {
                position: row.try_get("position")?,
                vehicle_key: row.try_get("vehicle_key")?,
                view: row.try_get("view")?,
                colors: row.try_get("colors")?,
                state: row.try_get("state")?,
                failure: kind.zip(detail),
            })
        };
        rows.iter().map(read).collect()
    }

    /// Returns the ids and budget percentages of the running batches, oldest first.
    pub(super) async fn running(database: &Database) -> Result<Vec<(String, i64)>, sqlx::Error> {
        let rows = sqlx::query(
            "select id, budget_percent from prewarm_batches where state = 'running' order by created_at_ms, id",
        )
        .fetch_all(&database.readers)
        .await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    /// Marks the running batches as done that have no waiting or queued row.
    pub(super) async fn finish(database: &Database, now: UnixMs) -> Result<(), sqlx::Error> {
        let sql = "update prewarm_batches set state = 'done', changed_at_ms = $1 where state = 'running' and not exists (
                       select 1 from prewarm_rows r where r.batch_id = prewarm_batches.id and r.state in ('waiting', 'queued'))";
        database.write(sqlx::query(sql).bind(now.0)).await.map(drop)
    }
}

async fn insert_rows(
    tx: &mut Tx<'_>,
    catalog: &Catalog,
    batch_id: &str,
    first: usize,
    wishes: &[PrewarmItem],
    now: UnixMs,
) -> Result<(), sqlx::Error> {
    // $1 to $3 are the same for every row.
    let values = (0..wishes.len()).map(|place| {
        let [a, b, c, d, e] = [4, 5, 6, 7, 8].map(|parameter| place * 5 + parameter);
        format!("($1, ${a}, ${b}, ${c}, ${d}, ${e}, $2, $3)")
    });
    let sql = format!(
        "insert into prewarm_rows (batch_id, position, vehicle_key, view, vehicle, colors, state, changed_at_ms) values {}",
        values.collect::<Vec<_>>().join(", ")
    );
    let mut insert = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(batch_id).bind("waiting").bind(now.0);
    for (place, wish) in wishes.iter().enumerate() {
        let vehicle = serde_json::to_string(&wish.vehicle).map_err(|error| sqlx::Error::Encode(error.into()))?;
        insert = insert
            .bind((first + place) as i64)
            .bind(catalog.key_of(&wish.vehicle).to_string())
            .bind(wish.view.as_str())
            .bind(vehicle)
            .bind(print_colours(&wish.colours));
    }
    insert.execute(&mut **tx).await?;
    Ok(())
}

/// Returns up to `limit` rows in a state, of one batch or of all batches.
pub(super) async fn open_rows(
    database: &Database,
    state: &str,
    batch_id: Option<&str>,
    limit: i64,
) -> Result<Vec<OpenRow>, sqlx::Error> {
    let of_batch = if batch_id.is_some() { "and batch_id = $3" } else { "" };
    let sql = format!(
        "select batch_id, position, vehicle, view, colors from prewarm_rows where state = $1 {of_batch}
         order by batch_id, position limit $2"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(state.to_owned()).bind(limit);
    let query = match batch_id {
        Some(batch_id) => query.bind(batch_id.to_owned()),
        None => query,
    };
    let rows = query.fetch_all(&database.readers).await?;
    rows.iter()
        .map(|row| {
            let batch_id: String = row.try_get("batch_id")?;
            let unreadable = |column: &str, error: String| {
                sqlx::Error::Decode(format!("prewarm_rows.{column} of {batch_id}: {error}").into())
            };
            let view: &str = row.try_get("view")?;
            let view: View =
                view.parse().map_err(|error: cyclorama_core::UnknownName| unreadable("view", error.to_string()))?;
            let vehicle = serde_json::from_str(row.try_get("vehicle")?)
                .map_err(|error| unreadable("vehicle", error.to_string()))?;
            let colours: Vec<Paint> = colours_of(row.try_get("colors")?, "prewarm_rows.colors", &batch_id)?;
            let position = row.try_get("position")?;
            Ok(OpenRow { batch_id, position, wish: PrewarmItem { vehicle, view, colours } })
        })
        .collect()
}

/// Moves a row from state `from` to state `to`, if it is still in `from`.
/// `failure` is kind and detail.
pub(super) async fn step(
    database: &Database,
    row: &OpenRow,
    from: &str,
    to: &str,
    failure: Option<(String, String)>,
    now: UnixMs,
) -> Result<(), sqlx::Error> {
    let (kind, detail) = failure.unzip();
    database
        .write(
            sqlx::query(
                "update prewarm_rows set state = $1, failure_kind = $2, failure_detail = $3, changed_at_ms = $4
                 where batch_id = $5 and position = $6 and state = $7",
            )
            .bind(to.to_owned())
            .bind(kind)
            .bind(detail)
            .bind(now.0)
            .bind(row.batch_id.clone())
            .bind(row.position)
            .bind(from.to_owned()),
        )
        .await
        .map(drop)
}

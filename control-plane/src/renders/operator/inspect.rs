//! One render with the job that made it, as operators see it.

use crate::renders::Renders;
use crate::renders::state::{RenderState, column};
use cyclorama_core::wire::{Receipt, Unparsed};
use sqlx::Row;
use sqlx::any::AnyRow;

/// A variant's row, with the record of the job that made its image. Fields of the job are `None`
/// until there is an image.
#[derive(Debug, Clone)]
pub struct Inspection {
    pub id: String,
    pub vehicle_key: String,
    pub view: String,
    pub colour: String,
    pub state: RenderState,
    pub changed_at_ms: i64,
    pub revision: Option<i64>,
    pub master_sha256: Option<String>,
    pub failure_kind: Option<String>,
    pub failure_detail: Option<String>,
    pub job_id: Option<String>,
    pub node_id: Option<String>,
    pub attempt: Option<i64>,
    pub pipeline: Option<String>,
    /// The receipt as the node sent it; null without one.
    pub receipt: Unparsed<Receipt>,
}

/// Numbers of jobs that wait and of jobs that nodes are working on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    pub queued: i64,
    pub leased: i64,
}

impl Renders {
    /// Returns the numbers of queued and of leased jobs.
    pub async fn backlog(&self) -> Result<Backlog, sqlx::Error> {
        let row = sqlx::query(
            "select (select count(*) from jobs where state = 'queued'), (select count(*) from jobs where state = 'leased')",
        )
        .fetch_one(&self.0.database.readers)
        .await?;
        Ok(Backlog { queued: row.try_get(0)?, leased: row.try_get(1)? })
    }

    /// Returns the number of jobs in each state.
    pub async fn jobs_by_state(&self) -> Result<Vec<(String, u64)>, sqlx::Error> {
        let rows =
            sqlx::query("select state, count(*) from jobs group by state").fetch_all(&self.0.database.readers).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get::<i64, _>(1)?.unsigned_abs()))).collect()
    }

    /// Returns the render with this id, or `None` when there is none.
    pub async fn inspect(&self, render_id: &str) -> Result<Option<Inspection>, sqlx::Error> {
        let row = sqlx::query(
            "select r.*, j.node_id, j.attempt, j.pipeline, j.receipt
             from renders r left join jobs j on j.id = r.job_id where r.id = $1",
        )
        .bind(render_id)
        .fetch_optional(&self.0.database.readers)
        .await?;
        row.as_ref().map(read).transpose()
    }

    /// Returns the renders whose state changed last, the newest first.
    pub async fn latest(&self, limit: i64) -> Result<Vec<Inspection>, sqlx::Error> {
        let rows = sqlx::query(
            "select r.*, j.node_id, j.attempt, j.pipeline, j.receipt
             from renders r left join jobs j on j.id = r.job_id order by r.changed_at_ms desc, r.id desc limit $1",
        )
        .bind(limit)
        .fetch_all(&self.0.database.readers)
        .await?;
        rows.iter().map(read).collect()
    }
}

fn read(row: &AnyRow) -> Result<Inspection, sqlx::Error> {
    let id: String = row.try_get("id")?;
    let receipt: Option<String> = row.try_get("receipt")?;
    Ok(Inspection {
        vehicle_key: row.try_get("vehicle_key")?,
        view: row.try_get("view")?,
        colour: row.try_get("color")?,
        state: column(row.try_get("state")?, "renders.state", &id)?,
        changed_at_ms: row.try_get("changed_at_ms")?,
        revision: row.try_get("revision")?,
        master_sha256: row.try_get("master_sha256")?,
        failure_kind: row.try_get("failure_kind")?,
        failure_detail: row.try_get("failure_detail")?,
        job_id: row.try_get("job_id")?,
        node_id: row.try_get("node_id")?,
        attempt: row.try_get("attempt")?,
        pipeline: row.try_get("pipeline")?,
        receipt: receipt.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        id,
    })
}

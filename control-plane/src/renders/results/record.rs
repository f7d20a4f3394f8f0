//! The rows that change when a result is accepted: renders, layers, candidates, and paints that
//! were wanted meanwhile.

use super::accepting::Accepting;
use super::candidates;
use super::custom_paints;
use super::error::ResultError;
use super::layer_rows::insert_layers;
use super::verify::VerifiedUpload;
use crate::clock::UnixMs;
use crate::db::Tx;
use crate::renders::budget::{Reservation, SPENT_NOW};
use crate::renders::queue::{ENDED_COLUMNS, EndedAttempt, NewJob, count_success, insert_job, next_turn};
use crate::renders::revision::FIRST_REVISION;
use crate::renders::state::column;
use crate::renders::{Renders, Stale};
use cyclorama_core::Paint;
use cyclorama_core::wire::{JobKind, ObjectName};
use sqlx::Row;
use std::collections::HashMap;

/// Lifetime of a paint job for paints that were wanted during the render, in milliseconds. The
/// requests that wait for those paints extend it themselves.
const LEFTOVER_MS: i64 = 30_000;

/// The outcome of recording a result, beside its images.
pub struct ResultOutcome {
    /// True if a paint job was queued for paints that were wanted meanwhile.
    pub leftovers: bool,
    /// True if older revisions were replaced.
    pub replaced: bool,
}

impl Renders {
    /// Changes the rows, if the lease still lives. Fails with [`Stale`] otherwise.
    pub(in crate::renders) async fn record(
        &self,
        job: &Accepting,
        verified: &HashMap<ObjectName, VerifiedUpload>,
        receipt: &str,
    ) -> Result<ResultOutcome, ResultError> {
        let now = self.0.clock.now();
        let mut tx = self.0.database.begin().await?;
        let row = sqlx::query(sqlx::AssertSqlSafe(format!(
            "update jobs set state = 'done', spent_microusd = {SPENT_NOW}, ended_at_ms = $1, lease_until_ms = null,
                             lease_secret_sha256 = null, receipt = $2,
                             failure_kind = null, failure_detail = null
             where id = $3 and fence = $4 and state = 'leased' returning {ENDED_COLUMNS}"
        )))
        .bind(now.0)
        .bind(receipt)
        .bind(&job.job_id)
        .bind(job.fence)
        .fetch_optional(&mut *tx)
        .await?
        .ok_or(Stale)?;
        let replaced = match job.is_candidate {
            true => record_candidates(&mut tx, now, job, verified).await?,
            false => record_revision(&mut tx, now, job, verified).await?,
        };
        let leftovers = queue_leftovers(&mut tx, now, job).await?;
        EndedAttempt::read(&row, false)?.pay(&mut tx).await?;
        count_success(&mut tx, &job.node_id).await?;
        tx.commit().await?;
        Ok(ResultOutcome { leftovers, replaced })
    }
}

/// Changes the rows of the renders, and of the layers from which further paints are made. Returns
/// true if older revisions were replaced.
async fn record_revision(
    tx: &mut Tx<'_>,
    now: UnixMs,
    job: &Accepting,
    verified: &HashMap<ObjectName, VerifiedUpload>,
) -> Result<bool, sqlx::Error> {
    let mut replaced = false;
    for colour in &job.colours {
        let Some(master) = verified.get(&ObjectName::Master(*colour)) else { continue };
        replaced |= end_review(tx, now, job, *colour).await?;
        sqlx::query(
            "update renders set state = 'done', revision = $1, master_sha256 = $2, job_id = $3, changed_at_ms = $4,
                                failure_kind = null, failure_detail = null
             where vehicle_key = $5 and view = $6 and color = $7 and (state in ('wanted', 'lapsed', 'failed') or revision < $1)",
        )
        .bind(job.revision)
        .bind(&master.sha256)
        .bind(&job.job_id)
        .bind(now.0)
        .bind(&job.vehicle_key)
        .bind(job.view.as_str())
        .bind(colour.to_string())
        .execute(&mut **tx)
        .await?;
    }
    if let Some(stored) = verified.get(&ObjectName::Layers) {
        // Candidates that wait for a decision are older than this revision.
        if job.revision > FIRST_REVISION {
            candidates::forget(tx, &job.vehicle_key, job.view).await?;
            custom_paints::forget_older(tx, &job.vehicle_key, job.view, job.revision, now).await?;
        }
        insert_layers(tx, "layers", job, stored, now).await?;
    }
    Ok(replaced)
}

/// Writes candidates, which an operator compares with the served images, and their layers, in place
/// of earlier ones.
async fn record_candidates(
    tx: &mut Tx<'_>,
    now: UnixMs,
    job: &Accepting,
    verified: &HashMap<ObjectName, VerifiedUpload>,
) -> Result<bool, sqlx::Error> {
    candidates::forget(tx, &job.vehicle_key, job.view).await?;
    for colour in &job.colours {
        let Some(master) = verified.get(&ObjectName::Master(*colour)) else { continue };
        // A paint that a request began to wait for meanwhile is painted from the served layers, in
        // `queue_leftovers`.
        sqlx::query(
            "insert into candidates (render_id, vehicle_key, view, revision, master_sha256, job_id, made_at_ms)
             select id, vehicle_key, view, $1, $2, $3, $4 from renders
             where vehicle_key = $5 and view = $6 and color = $7 and state = 'done'",
        )
        .bind(job.revision)
        .bind(&master.sha256)
        .bind(&job.job_id)
        .bind(now.0)
        .bind(&job.vehicle_key)
        .bind(job.view.as_str())
        .bind(colour.to_string())
        .execute(&mut **tx)
        .await?;
    }
    if let Some(stored) = verified.get(&ObjectName::Layers) {
        insert_layers(tx, "candidate_layers", job, stored, now).await?;
    }
    Ok(false)
}

/// Ends the review of an older revision, because a newer one answers the reports about it. Returns
/// true if there is an older revision.
async fn end_review(tx: &mut Tx<'_>, now: UnixMs, job: &Accepting, colour: Paint) -> Result<bool, sqlx::Error> {
    if job.revision == FIRST_REVISION {
        return Ok(false);
    }
    let older = sqlx::query(
        "select id from renders where vehicle_key = $1 and view = $2 and color = $3 and state = 'done' and revision < $4",
    )
    .bind(&job.vehicle_key)
    .bind(job.view.as_str())
    .bind(colour.to_string())
    .bind(job.revision)
    .fetch_optional(&mut **tx)
    .await?;
    let Some(older) = older else { return Ok(false) };
    end_replaced(tx, older.try_get(0)?, job.revision, now).await?;
    Ok(true)
}

/// Ends the review of older revisions, because a newer one answers the reports about them.
pub async fn end_replaced(tx: &mut Tx<'_>, render_id: &str, revision: i64, now: UnixMs) -> Result<(), sqlx::Error> {
    let sql = "update reviews set state = 'replaced', ended_at_ms = $1
               where render_id = $2 and state = 'flagged' and revision < $3";
    sqlx::query(sql).bind(now.0).bind(render_id).bind(revision).execute(&mut **tx).await?;
    Ok(())
}

/// Queues a paint job for paints that were wanted while the job was leased. Returns true if one was
/// queued.
async fn queue_leftovers(tx: &mut Tx<'_>, now: UnixMs, job: &Accepting) -> Result<bool, sqlx::Error> {
    let rows = sqlx::query(
        "select id, color from renders where vehicle_key = $1 and view = $2 and state = 'wanted' order by color",
    )
    .bind(&job.vehicle_key)
    .bind(job.view.as_str())
    .fetch_all(&mut **tx)
    .await?;
    let mut wanted = Vec::with_capacity(rows.len());
    for row in rows {
        wanted.push(column(row.try_get("color")?, "renders.color", row.try_get("id")?)?);
    }
    if wanted.is_empty() {
        return Ok(false);
    }
    // The layers of a candidate are not those that are served.
    let revision = match job.is_candidate {
        false => job.revision,
        true => {
            let sql = "select revision from layers where vehicle_key = $1 and view = $2";
            let row = sqlx::query(sql).bind(&job.vehicle_key).bind(job.view.as_str()).fetch_optional(&mut **tx).await?;
            // Without layers, the waiting requests enqueue a render themselves.
            let Some(row) = row else { return Ok(false) };
            row.try_get(0)?
        }
    };
    let paint = NewJob {
        kind: JobKind::Paint,
        vehicle_key: job.vehicle_key.clone(),
        vehicle_json: job.vehicle_json.clone(),
        view: job.view,
        colours: &wanted,
        revision,
        reserved: Reservation::nothing(),
        is_candidate: false,
        requester: job.requester.clone(),
        begun_by: None,
        turn: next_turn(tx, &job.requester).await?,
    };
    insert_job(tx, now, paint, now.0 + LEFTOVER_MS).await
}

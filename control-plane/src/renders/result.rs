//! Accepting a node's result: everything is verified, then the objects get their names (`publish`), then the rows change.
//!
//! In that order, so a row never names an object that was not fully written. A crash in between leaves objects that no row names.

use super::budget::Reserved;
use super::candidate;
use super::cost::SPENT_NOW;
use super::layers;
use super::lease::{ENDED_COLUMNS, Ended, LEASED_BY_TOKEN};
use super::order::NewJob;
use super::publish::Verified;
use super::signals::Signal;
use super::state::{colours_of, column};
use super::uploads::{LAYERS, master_name};
use super::{Asker, Lane, Renders, Stale, paints, review};
use crate::db::Tx;
use crate::objects::{InvalidKey, ObjectError};
use cyclorama_core::wire::{JobKind, ResultRequest};
use cyclorama_core::{Paint, View};
use sqlx::Row;
use std::collections::HashMap;

/// Longest receipt that is stored, in bytes. A receipt names digests and timings: a few kilobytes.
const RECEIPT_BYTES_MAX: usize = 64 * 1024;

/// How long a paint job for colours asked for during the render may wait: those requests push it on themselves.
const LEFTOVER_MS: i64 = 30_000;

/// Of a render's pictures where a vehicle and view have no layers. Without layers there is neither a picture nor a candidate: nothing older.
pub(super) const FIRST_REVISION: i64 = 1;

/// An object that is missing or not what was asked for. The same addresses take it again until the lease ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("object `{name}`: {reason}")]
pub struct Rejected {
    pub name: String,
    pub reason: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    #[error(transparent)]
    Stale(#[from] Stale),
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("the object store failed")]
    Store(#[from] ObjectError),
    #[error("the database does not answer")]
    Database(#[from] sqlx::Error),
}

impl From<InvalidKey> for ResultError {
    fn from(error: InvalidKey) -> Self {
        ResultError::Store(error.into())
    }
}

const ACCEPTING_COLUMNS: &str =
    "kind, vehicle_key, vehicle, view, colors, revision, priority, account_id, node_id, pipeline, is_candidate, lease_until_ms, leased_at_ms,
    rate_microusd_per_hour, spent_microusd, cost_microusd, budget_day";

/// A live lease whose result is being accepted.
pub(super) struct Accepting {
    pub job_id: String,
    pub fence: i64,
    /// Names this look at the result: another one of the same lease has another name.
    pub attempt: String,
    pub kind: JobKind,
    pub vehicle_key: String,
    vehicle_json: String,
    pub view: View,
    pub colours: Vec<Paint>,
    pub revision: i64,
    asker: Asker,
    node_id: String,
    pub pipeline: String,
    /// Its pictures wait for an operator.
    is_candidate: bool,
}

/// What a result came to beside its pictures.
pub(super) struct Recorded {
    /// A paint job was queued for colours asked for meanwhile.
    leftovers: bool,
    /// Older revisions were replaced.
    replaced: bool,
}

impl Renders {
    /// `true`: pictures that were there before have been replaced by a newer revision.
    pub async fn accept(&self, token_id: &str, job_id: &str, result: &ResultRequest) -> Result<bool, ResultError> {
        let job = self.begin_accepting(token_id, job_id, result.fence).await?;
        let closed = self.close_uploads(&job.job_id, job.fence);
        let accepted = self.accept_objects(&job, result).await;
        // A node whose result is refused may upload again; a lease that has ended needs nothing any more.
        let is_over = matches!(accepted, Ok(_) | Err(ResultError::Stale(_)));
        self.clear_pinned(&job, is_over).await;
        drop(closed);
        accepted
    }

    async fn accept_objects(&self, job: &Accepting, result: &ResultRequest) -> Result<bool, ResultError> {
        let verified = self.verify_uploads(job, result).await?;
        self.publish(job, &verified).await?;
        let receipt = serde_json::to_string(&result.receipt).unwrap_or_default();
        let receipt =
            if receipt.len() > RECEIPT_BYTES_MAX { "{\"dropped\":\"too large\"}".to_owned() } else { receipt };
        let Recorded { leftovers, replaced } = self.record(job, &verified, &receipt).await?;
        let (vehicle_key, view) = (job.vehicle_key.clone(), job.view.as_str().to_owned());
        self.0.signals.give(Signal::Ended { vehicle_key, view });
        if leftovers {
            self.0.signals.give(Signal::Queued);
        }
        tracing::info!(job_id = job.job_id, kind = %job.kind, vehicle = job.vehicle_key, view = %job.view, node_id = job.node_id, "a result was accepted");
        Ok(replaced)
    }

    /// Sees to it that nobody else gets the job, and nobody gives it up, while its objects are checked and moved: where the lease, or those who
    /// wait, have less than half of a lease's time left, both get all of it. Heartbeats keep leases and polls keep waiters above that, so nearly
    /// every result begins without a write.
    pub(super) async fn begin_accepting(
        &self,
        token_id: &str,
        job_id: &str,
        fence: i64,
    ) -> Result<Accepting, ResultError> {
        let now = self.0.clock.now();
        let lease_until_ms = self.lease_until_ms(now);
        let half_way_ms = now.0 + (lease_until_ms - now.0) / 2;
        let long_enough = sqlx::query(sqlx::AssertSqlSafe(format!(
            "select {ACCEPTING_COLUMNS} from jobs where {LEASED_BY_TOKEN} and lease_until_ms >= $4 and deadline_ms >= $4",
        )))
        .bind(job_id)
        .bind(fence)
        .bind(token_id)
        .bind(half_way_ms)
        .fetch_optional(&self.0.database.readers)
        .await?;
        let row = match long_enough {
            Some(row) => row,
            None => {
                let renewing = sqlx::query(sqlx::AssertSqlSafe(format!(
                    "update jobs set lease_until_ms = $4, deadline_ms = case when deadline_ms < $4 then $4 else deadline_ms end
                     where {LEASED_BY_TOKEN} returning {ACCEPTING_COLUMNS}",
                )))
                .bind(job_id)
                .bind(fence)
                .bind(token_id)
                .bind(lease_until_ms);
                let mut tx = self.0.database.begin().await?;
                let renewed = renewing.fetch_optional(&mut *tx).await?.ok_or(Stale)?;
                self.cover_result(&mut tx, job_id, &renewed).await?;
                tx.commit().await?;
                renewed
            }
        };
        Ok(Accepting {
            job_id: job_id.to_owned(),
            fence,
            attempt: uuid::Uuid::now_v7().to_string(),
            kind: column(row.try_get("kind")?, "jobs.kind", job_id)?,
            vehicle_key: row.try_get("vehicle_key")?,
            vehicle_json: row.try_get("vehicle")?,
            view: column(row.try_get("view")?, "jobs.view", job_id)?,
            colours: colours_of(row.try_get("colors")?, "jobs.colors", job_id)?,
            revision: row.try_get("revision")?,
            asker: Asker { lane: Lane::of(row.try_get("priority")?), account_id: row.try_get("account_id")? },
            node_id: row.try_get("node_id")?,
            pipeline: row.try_get("pipeline")?,
            is_candidate: row.try_get::<i64, _>("is_candidate")? == 1,
        })
    }

    /// Changes the rows, if the lease still lives.
    pub(super) async fn record(
        &self,
        job: &Accepting,
        verified: &HashMap<String, Verified>,
        receipt: &str,
    ) -> Result<Recorded, ResultError> {
        let now = self.0.clock.now();
        let mut tx = self.0.database.begin().await?;
        let row = sqlx::query(sqlx::AssertSqlSafe(format!(
            "update jobs set state = 'done', spent_microusd = {SPENT_NOW}, ended_at_ms = $1, lease_until_ms = null, lease_secret_sha256 = null, receipt = $2,
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
            true => self.record_candidates(&mut tx, job, verified).await?,
            false => self.record_revision(&mut tx, job, verified).await?,
        };
        let leftovers = self.queue_leftovers(&mut tx, job).await?;
        Ended::read(&row, false)?.pay(&mut tx).await?;
        self.count_success(&mut tx, &job.node_id).await?;
        tx.commit().await?;
        Ok(Recorded { leftovers, replaced })
    }

    /// The renders' rows, and the layers that further colours are painted from. Whether older revisions were replaced.
    async fn record_revision(
        &self,
        tx: &mut Tx<'_>,
        job: &Accepting,
        verified: &HashMap<String, Verified>,
    ) -> Result<bool, sqlx::Error> {
        let now = self.0.clock.now();
        let mut replaced = false;
        for colour in &job.colours {
            let Some(master) = verified.get(&master_name(*colour)) else { continue };
            replaced |= self.end_review(tx, job, *colour).await?;
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
        if let Some(stored) = verified.get(LAYERS) {
            // What was made to be looked at is older than this.
            if job.revision > FIRST_REVISION {
                candidate::forget(tx, &job.vehicle_key, job.view).await?;
                paints::forget_older(tx, &job.vehicle_key, job.view, job.revision, now).await?;
            }
            layers::insert(tx, "layers", job, stored, now).await?;
        }
        Ok(replaced)
    }

    /// Pictures to be looked at beside those that are served, and their layers, in the place of earlier ones.
    async fn record_candidates(
        &self,
        tx: &mut Tx<'_>,
        job: &Accepting,
        verified: &HashMap<String, Verified>,
    ) -> Result<bool, sqlx::Error> {
        let now = self.0.clock.now();
        candidate::forget(tx, &job.vehicle_key, job.view).await?;
        for colour in &job.colours {
            let Some(master) = verified.get(&master_name(*colour)) else { continue };
            // A colour that somebody began to wait for meanwhile is painted in the present light, below.
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
        if let Some(stored) = verified.get(LAYERS) {
            layers::insert(tx, "candidate_layers", job, stored, now).await?;
        }
        Ok(false)
    }

    /// A newer revision answers what was said of the older one. Whether there is an older one.
    async fn end_review(&self, tx: &mut Tx<'_>, job: &Accepting, colour: Paint) -> Result<bool, sqlx::Error> {
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
        review::end_replaced(tx, older.try_get(0)?, job.revision, self.0.clock.now()).await?;
        Ok(true)
    }

    /// Colours that were asked for while the job was leased are painted from its layers.
    async fn queue_leftovers(&self, tx: &mut Tx<'_>, job: &Accepting) -> Result<bool, sqlx::Error> {
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
        // A candidate's light is not the view's.
        let revision = match job.is_candidate {
            false => job.revision,
            true => {
                let sql = "select revision from layers where vehicle_key = $1 and view = $2";
                let row =
                    sqlx::query(sql).bind(&job.vehicle_key).bind(job.view.as_str()).fetch_optional(&mut **tx).await?;
                // Without any, those who wait push a render on themselves.
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
            reserved: Reserved::nothing(),
            is_candidate: false,
            asker: job.asker.clone(),
            begun_by: None,
            turn: self.next_turn(tx, &job.asker).await?,
        };
        self.insert_job(tx, paint, self.0.clock.now().0 + LEFTOVER_MS).await
    }
}

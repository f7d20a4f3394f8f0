//! Candidates: rerenders of a flagged render's vehicle and view. An operator compares each with the
//! flagged one, and accepts or rejects it.
//!
//! The keys of a candidate's objects contain their digests, as all others do. Its rows are in
//! tables of their own, so that nothing that is served refers to the candidate until it is
//! accepted. Accepting it changes the same rows as any newer revision.
//!
//!
//! Why: `docs/decisions/render-queue.md` (A flagged render that is rerendered from the console is a
//! candidate).

use super::decisions::keep_decision;
use super::error::ReviewError;
use crate::clock::UnixMs;
use crate::db::Tx;
use crate::renders::Renders;
use crate::renders::budget::Reservation;
use crate::renders::lane::{Lane, Requester};
use crate::renders::queue::{NewJob, insert_job, next_turn};
use crate::renders::results::{
    REPLACES_LAYERS, end_replaced, forget_candidate_layers, forget_candidates, forget_older_paints,
};
use crate::renders::signals::Signal;
use crate::renders::state::{IS_CUSTOM, column};
use cyclorama_core::wire::JobKind;
use cyclorama_core::{Paint, View};
use sqlx::Row;

/// Lifetime of the job that paints, from the layers of an accepted candidate, paints that were made
/// while the candidate was rendered. No request waits for it.
const REPAINT_WAITS_MS: i64 = crate::clock::DAY_MS;

/// A candidate of one render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub revision: i64,
    pub master_sha256: String,
}

impl Renders {
    /// Returns the candidate of a render, if one waits for a decision.
    pub async fn candidate(&self, render_id: &str) -> Result<Option<Candidate>, sqlx::Error> {
        let row = sqlx::query("select revision, master_sha256 from candidates where render_id = $1")
            .bind(render_id)
            .fetch_optional(&self.0.database.readers)
            .await?;
        row.map(|row| Ok(Candidate { revision: row.try_get(0)?, master_sha256: row.try_get(1)? })).transpose()
    }

    /// Replaces the served images of a render's vehicle and view with the candidates. Repeating the
    /// call changes nothing. Fails with [`ReviewError::NoCandidate`] if there is no such candidate,
    /// and with [`ReviewError::Busy`] while a job of the vehicle and view is live.
    pub async fn accept_candidate(&self, render_id: &str, revision: i64) -> Result<(), ReviewError> {
        let now = self.0.clock.now();
        let mut tx = self.0.database.begin().await?;
        let Some(place) = place_of_candidate(&mut tx, render_id, revision, "accepted").await? else {
            return Ok(());
        };
        if place.is_busy {
            return Err(ReviewError::Busy);
        }
        let taken = sqlx::query(
            "delete from candidates where vehicle_key = $1 and view = $2 and revision = $3
             returning render_id, master_sha256, job_id",
        )
        .bind(&place.vehicle_key)
        .bind(place.view.as_str())
        .bind(revision)
        .fetch_all(&mut *tx)
        .await?;
        for row in &taken {
            let id: &str = row.try_get(0)?;
            sqlx::query(
                "update renders set revision = $1, master_sha256 = $2, job_id = $3, changed_at_ms = $4
                 where id = $5 and state = 'done' and revision < $1",
            )
            .bind(revision)
            .bind(row.try_get::<&str, _>(1)?)
            .bind(row.try_get::<&str, _>(2)?)
            .bind(now.0)
            .bind(id)
            .execute(&mut *tx)
            .await?;
            end_replaced(&mut tx, id, revision, now).await?;
        }
        let sql = format!(
            "insert into layers (vehicle_key, view, revision, sha256, named_by_sha256, bytes, pipeline, job_id, made_at_ms)
             select vehicle_key, view, revision, sha256, named_by_sha256, bytes, pipeline, job_id, made_at_ms from candidate_layers
                where vehicle_key = $1 and view = $2 and revision = $3 {REPLACES_LAYERS}"
        );
        sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(&place.vehicle_key)
            .bind(place.view.as_str())
            .bind(revision)
            .execute(&mut *tx)
            .await?;
        forget_candidate_layers(&mut tx, &place.vehicle_key, place.view).await?;
        let is_repainted = repaint_others(&mut tx, now, &place, revision, taken.first()).await?;
        keep_decision(&mut tx, now, render_id, "accepted", revision).await?;
        tx.commit().await?;
        if is_repainted {
            self.0.signals.give(Signal::Queued);
        }
        Ok(())
    }

    /// Keeps the served images: deletes the candidates, and approves the flagged revision.
    /// Repeating the call changes nothing. Fails with [`ReviewError::NoCandidate`] if there is no
    /// such candidate.
    pub async fn reject_candidate(&self, render_id: &str, revision: i64) -> Result<(), ReviewError> {
        let now = self.0.clock.now();
        let mut tx = self.0.database.begin().await?;
        let Some(place) = place_of_candidate(&mut tx, render_id, revision, "rejected").await? else {
            return Ok(());
        };
        forget_candidates(&mut tx, &place.vehicle_key, place.view).await?;
        let sql = "update reviews set state = 'approved', ended_at_ms = $1 where render_id = $2 and state = 'flagged'";
        sqlx::query(sql).bind(now.0).bind(render_id).execute(&mut *tx).await?;
        keep_decision(&mut tx, now, render_id, "rejected", revision).await?;
        tx.commit().await?;
        Ok(())
    }
}

struct CandidateImage {
    vehicle_key: String,
    view: View,
    /// True if a job of the vehicle and view is live.
    is_busy: bool,
}

/// Returns the vehicle and view of a candidate, or `None` if the same decision was made before.
async fn place_of_candidate(
    tx: &mut Tx<'_>,
    render_id: &str,
    revision: i64,
    decision: &str,
) -> Result<Option<CandidateImage>, ReviewError> {
    // Locks the candidate, so that of two concurrent decisions one takes effect.
    let row = sqlx::query(
        "update candidates set made_at_ms = made_at_ms where render_id = $1 and revision = $2 returning vehicle_key, view",
    )
    .bind(render_id)
    .bind(revision)
    .fetch_optional(&mut **tx)
    .await?;
    let Some(row) = row else {
        let sql = "select 1 from render_decisions where render_id = $1 and decision = $2 and revision = $3";
        let before = sqlx::query(sql).bind(render_id).bind(decision).bind(revision).fetch_optional(&mut **tx).await?;
        return match before {
            Some(_) => Ok(None),
            None => Err(ReviewError::NoCandidate(render_id.to_owned())),
        };
    };
    let vehicle_key: String = row.try_get(0)?;
    let view: View = column(row.try_get(1)?, "candidates.view", render_id)?;
    let live = sqlx::query("select 1 from jobs where vehicle_key = $1 and view = $2 and state in ('queued', 'leased')")
        .bind(&vehicle_key)
        .bind(view.as_str())
        .fetch_optional(&mut **tx)
        .await?;
    Ok(Some(CandidateImage { vehicle_key, view, is_busy: live.is_some() }))
}

/// Queues a paint job for the paints of the view that the candidates lack, from the layers that are
/// now the view's. Returns true if it was queued.
async fn repaint_others(
    tx: &mut Tx<'_>,
    now: UnixMs,
    place: &CandidateImage,
    revision: i64,
    taken: Option<&sqlx::any::AnyRow>,
) -> Result<bool, sqlx::Error> {
    let rows = sqlx::query(sqlx::AssertSqlSafe(format!(
        "select id, color from renders
         where vehicle_key = $1 and view = $2 and state = 'done' and revision < $3 and not {IS_CUSTOM} order by color"
    )))
    .bind(&place.vehicle_key)
    .bind(place.view.as_str())
    .bind(revision)
    .fetch_all(&mut **tx)
    .await?;
    forget_older_paints(tx, &place.vehicle_key, place.view, revision, now).await?;
    let (Some(taken), false) = (taken, rows.is_empty()) else { return Ok(false) };
    let others = rows
        .iter()
        .map(|row| column(row.try_get(1)?, "renders.color", row.try_get(0)?))
        .collect::<Result<Vec<Paint>, sqlx::Error>>()?;
    let vehicle_json: String = sqlx::query("select vehicle from jobs where id = $1")
        .bind(taken.try_get::<&str, _>(2)?)
        .fetch_one(&mut **tx)
        .await?
        .try_get(0)?;
    let requester = Requester::without_account(Lane::Rerender);
    let paint = NewJob {
        kind: JobKind::Paint,
        vehicle_key: place.vehicle_key.clone(),
        vehicle_json,
        view: place.view,
        colours: &others,
        revision,
        reserved: Reservation::nothing(),
        is_candidate: false,
        turn: next_turn(tx, &requester).await?,
        requester,
        begun_by: None,
    };
    insert_job(tx, now, paint, now.0 + REPAINT_WAITS_MS).await
}

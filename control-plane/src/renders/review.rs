//! Renders in review, and rendering one anew: a new revision from new noise. The old picture is served until the new one is good.

use super::order::NewJob;
use super::paints::IS_CUSTOM;
use super::signals::Signal;
use super::state::{RenderState, column};
use super::{Asker, Lane, RenderError, Renders};
use crate::clock::{DAY_MS, UnixMs};
use crate::db::Tx;
use cyclorama_core::wire::JobKind;
use cyclorama_core::{Paint, Vehicle, View};
use sqlx::Row;

/// Nobody waits for a new revision, so only a day without a node lets it lapse.
const WAITS_MS: i64 = DAY_MS;

/// Reasons shown with a flagged render.
const REASONS_MAX: i64 = 5;

/// A revision that enough accounts called bad.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Flagged {
    pub render_id: String,
    pub vehicle: String,
    pub view: String,
    pub color: String,
    pub revision: i64,
    #[serde(skip)]
    pub flagged_at_ms: i64,
    pub bad_reports: i64,
    pub good_reports: i64,
    /// The newest.
    pub reasons: Vec<String>,
    /// The revision of the candidate that waits beside it.
    pub candidate_revision: Option<i64>,
    /// A job of its vehicle and view is at work.
    pub is_in_the_making: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    #[error("there is no render {0}")]
    Unknown(String),
    #[error("the render {0} is not in review")]
    NotFlagged(String),
    #[error("the render {0} has no picture yet")]
    NotRendered(String),
    #[error("the render {0} has no such candidate")]
    NoCandidate(String),
    #[error("a job of this vehicle and view is at work already")]
    Busy,
    #[error(transparent)]
    Render(#[from] RenderError),
}

impl From<sqlx::Error> for ReviewError {
    fn from(error: sqlx::Error) -> Self {
        ReviewError::Render(error.into())
    }
}

/// What is rendered anew.
#[derive(Debug, Clone)]
pub struct Anew {
    /// The revision it will be.
    pub revision: i64,
    pub colours: Vec<Paint>,
}

impl Renders {
    /// The renders in review, those that wait longest first.
    pub async fn flagged(&self, limit: i64) -> Result<Vec<Flagged>, sqlx::Error> {
        let pool = &self.0.database.readers;
        let rows = sqlx::query(
            "select r.id, r.vehicle_key, r.view, r.color, w.revision, w.flagged_at_ms,
                (select count(*) from feedback f where f.render_id = w.render_id and f.revision = w.revision and f.is_bad = 1) as bad,
                (select count(*) from feedback f where f.render_id = w.render_id and f.revision = w.revision and f.is_bad = 0) as good,
                (select c.revision from candidates c where c.render_id = w.render_id) as candidate,
                (select count(*) from jobs j where j.vehicle_key = r.vehicle_key and j.view = r.view and j.state in ('queued', 'leased')) as live
             from reviews w join renders r on r.id = w.render_id where w.state = 'flagged' order by w.flagged_at_ms, r.id limit $1",
        )
        .bind(limit)
        .fetch_all(pool)
        .await?;
        let mut flagged = Vec::with_capacity(rows.len());
        for row in rows {
            let (render_id, revision): (String, i64) = (row.try_get("id")?, row.try_get("revision")?);
            let reasons = sqlx::query(
                "select reason from feedback where render_id = $1 and revision = $2 and is_bad = 1 and reason is not null
                 order by at_ms desc limit $3",
            )
            .bind(&render_id)
            .bind(revision)
            .bind(REASONS_MAX)
            .fetch_all(pool)
            .await?;
            flagged.push(Flagged {
                vehicle: row.try_get("vehicle_key")?,
                view: row.try_get("view")?,
                color: row.try_get("color")?,
                flagged_at_ms: row.try_get("flagged_at_ms")?,
                bad_reports: row.try_get("bad")?,
                good_reports: row.try_get("good")?,
                candidate_revision: row.try_get("candidate")?,
                is_in_the_making: row.try_get::<i64, _>("live")? > 0,
                reasons: reasons.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?,
                render_id,
                revision,
            });
        }
        Ok(flagged)
    }

    /// The operator keeps a flagged picture: this revision is not put into review again.
    pub async fn approve(&self, render_id: &str) -> Result<(), ReviewError> {
        let mut tx = self.0.database.begin().await?;
        let approved = sqlx::query(
            "update reviews set state = 'approved', ended_at_ms = $1 where render_id = $2 and state = 'flagged' returning revision",
        )
        .bind(self.0.clock.now().0)
        .bind(render_id)
        .fetch_optional(&mut *tx)
        .await?
        .ok_or_else(|| ReviewError::NotFlagged(render_id.to_owned()))?;
        self.decide(&mut tx, render_id, "approved", approved.try_get(0)?).await?;
        tx.commit().await?;
        Ok(())
    }

    /// `make/model/year` of a render.
    pub async fn vehicle_key(&self, render_id: &str) -> Result<Option<String>, sqlx::Error> {
        let row = sqlx::query("select vehicle_key from renders where id = $1")
            .bind(render_id)
            .fetch_optional(&self.0.database.readers)
            .await?;
        row.map(|row| row.try_get(0)).transpose()
    }

    /// Queues a new revision of a render's vehicle and view, with every preset colour that exists: colours share their light. Other paints
    /// are painted again when they are asked for. It takes the place of
    /// the present one by itself, or as a candidate when an operator takes it.
    pub async fn render_anew(
        &self,
        vehicle: &Vehicle,
        vehicle_key: &str,
        render_id: &str,
        is_candidate: bool,
    ) -> Result<Anew, ReviewError> {
        let mut tx = self.0.database.begin().await?;
        let row = sqlx::query("select view, state from renders where id = $1 and vehicle_key = $2")
            .bind(render_id)
            .bind(vehicle_key)
            .fetch_optional(&mut *tx)
            .await?
            .ok_or_else(|| ReviewError::Unknown(render_id.to_owned()))?;
        let view: View = column(row.try_get("view")?, "renders.view", render_id)?;
        let state: RenderState = column(row.try_get("state")?, "renders.state", render_id)?;
        if state != RenderState::Done {
            return Err(ReviewError::NotRendered(render_id.to_owned()));
        }
        let rows = sqlx::query(sqlx::AssertSqlSafe(format!(
            "select id, color, revision from renders
             where vehicle_key = $1 and view = $2 and state = 'done' and (id = $3 or not {IS_CUSTOM}) order by color"
        )))
        .bind(vehicle_key)
        .bind(view.as_str())
        .bind(render_id)
        .fetch_all(&mut *tx)
        .await?;
        let mut colours = Vec::with_capacity(rows.len());
        let mut newest = 0;
        for row in &rows {
            colours.push(column(row.try_get("color")?, "renders.color", row.try_get("id")?)?);
            newest = newest.max(row.try_get("revision")?);
        }
        // No revision is ever made twice, also where a candidate was turned down.
        let known: i64 = sqlx::query(
            "select coalesce(max(revision), 0) from (
                select revision from layers where vehicle_key = $1 and view = $2
                union all select revision from jobs where vehicle_key = $1 and view = $2 and kind = 'render' and state = 'done') made",
        )
        .bind(vehicle_key)
        .bind(view.as_str())
        .fetch_one(&mut *tx)
        .await?
        .try_get(0)?;
        newest = newest.max(known);
        let asker = Asker::nobody(Lane::Anew);
        let reserved = self.reserve(&mut tx, &asker, 100).await?;
        let job = NewJob {
            kind: JobKind::Render,
            vehicle_key: vehicle_key.to_owned(),
            vehicle_json: serde_json::to_string(vehicle).map_err(|error| sqlx::Error::Encode(error.into()))?,
            view,
            colours: &colours,
            revision: newest + 1,
            reserved,
            is_candidate,
            turn: self.next_turn(&mut tx, &asker).await?,
            asker,
            begun_by: None,
        };
        let revision = job.revision;
        if !self.insert_job(&mut tx, job, self.0.clock.now().0 + WAITS_MS).await? {
            return Err(ReviewError::Busy);
        }
        tx.commit().await?;
        self.0.signals.give(Signal::Queued);
        Ok(Anew { revision, colours })
    }
}
/// A newer revision answers what was said of the older ones.
pub(super) async fn end_replaced(
    tx: &mut Tx<'_>,
    render_id: &str,
    revision: i64,
    now: UnixMs,
) -> Result<(), sqlx::Error> {
    let sql = "update reviews set state = 'replaced', ended_at_ms = $1
               where render_id = $2 and state = 'flagged' and revision < $3";
    sqlx::query(sql).bind(now.0).bind(render_id).bind(revision).execute(&mut **tx).await?;
    Ok(())
}

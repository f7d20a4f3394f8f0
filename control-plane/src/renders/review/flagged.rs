//! Renders in review: those that enough accounts reported as bad.

use super::decisions::keep_decision;
use super::error::ReviewError;
use crate::renders::Renders;
use sqlx::Row;

/// Maximum number of reasons shown with a flagged render.
const REASONS_MAX: i64 = 5;

/// A revision that enough accounts reported as bad.
#[derive(Debug, Clone, serde::Serialize)]
pub struct FlaggedRevision {
    pub render_id: String,
    pub vehicle: String,
    pub view: String,
    pub color: String,
    pub revision: i64,
    #[serde(skip)]
    pub flagged_at_ms: i64,
    pub bad_reports: i64,
    pub good_reports: i64,
    /// The newest reasons of bad reports.
    pub reasons: Vec<String>,
    /// The revision of the candidate that waits beside the flagged one.
    pub candidate_revision: Option<i64>,
    /// True if a job of its vehicle and view is live.
    pub is_in_the_making: bool,
}

impl Renders {
    /// Returns the renders in review, those that have waited longest first.
    pub async fn flagged(&self, limit: i64) -> Result<Vec<FlaggedRevision>, sqlx::Error> {
        let pool = &self.0.database.readers;
        let rows = sqlx::query(
            "select r.id, r.vehicle_key, r.view, r.color, w.revision, w.flagged_at_ms,
                (select count(*) from feedback f where f.render_id = w.render_id and f.revision = w.revision and f.is_bad = 1) as bad,
                (select count(*) from feedback f where f.render_id = w.render_id and f.revision = w.revision and f.is_bad = 0) as good,
                (select c.revision from candidates c where c.render_id = w.render_id) as candidate,
                (select count(*) from jobs j where j.vehicle_key = r.vehicle_key and j.view = r.view
                    and j.state in ('queued', 'leased')) as live
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
            flagged.push(FlaggedRevision {
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

    /// Approves a flagged image: this revision is not put into review again. Fails with
    /// [`ReviewError::NotFlagged`] if the render is not in review.
    pub async fn approve(&self, render_id: &str) -> Result<(), ReviewError> {
        let now = self.0.clock.now();
        let mut tx = self.0.database.begin().await?;
        let approved = sqlx::query(
            "update reviews set state = 'approved', ended_at_ms = $1 where render_id = $2 and state = 'flagged' returning revision",
        )
        .bind(now.0)
        .bind(render_id)
        .fetch_optional(&mut *tx)
        .await?
        .ok_or_else(|| ReviewError::NotFlagged(render_id.to_owned()))?;
        keep_decision(&mut tx, now, render_id, "approved", approved.try_get(0)?).await?;
        tx.commit().await?;
        Ok(())
    }
}

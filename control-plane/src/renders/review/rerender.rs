//! Rerenders of a vehicle and view: a new revision from new noise. The old image is served until
//! the new one is accepted.

use super::error::ReviewError;
use crate::clock::DAY_MS;
use crate::renders::Renders;
use crate::renders::budget::reserve;
use crate::renders::lane::{Lane, Requester};
use crate::renders::queue::{NewJob, insert_job, next_turn};
use crate::renders::signals::Signal;
use crate::renders::state::{IS_CUSTOM, RenderState, column};
use cyclorama_core::wire::JobKind;
use cyclorama_core::{Paint, Vehicle, View};
use sqlx::Row;

/// Lifetime of a rerender's job. No request waits for a new revision, so only a day without a node
/// lets the job expire.
const WAITS_MS: i64 = DAY_MS;

/// A rerender that was queued.
#[derive(Debug, Clone)]
pub struct RerenderRequest {
    /// The revision that the rerender will have.
    pub revision: i64,
    pub colours: Vec<Paint>,
}

impl Renders {
    /// Returns the key `make/model/year` of a render's vehicle.
    pub async fn vehicle_key(&self, render_id: &str) -> Result<Option<String>, sqlx::Error> {
        let row = sqlx::query("select vehicle_key from renders where id = $1")
            .bind(render_id)
            .fetch_optional(&self.0.database.readers)
            .await?;
        row.map(|row| row.try_get(0)).transpose()
    }

    /// Queues a new revision of a render's vehicle and view, with every preset paint that exists,
    /// because all paints share the layers. Other paints are painted again when a request wants
    /// them. The new revision replaces the present one by itself or, if `is_candidate`, when an
    /// operator accepts it. Fails with [`ReviewError`] if there is no such render, if it has no
    /// image, if a job of the vehicle and view is live, or if the budget is spent.
    pub async fn render_anew(
        &self,
        vehicle: &Vehicle,
        vehicle_key: &str,
        render_id: &str,
        is_candidate: bool,
    ) -> Result<RerenderRequest, ReviewError> {
        let now = self.0.clock.now();
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
        // No revision number is ever used twice, even where a candidate was rejected.
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
        let requester = Requester::without_account(Lane::Rerender);
        let reserved = reserve(&mut tx, self.settings(), now, &requester, self.render_cost_microusd(), 100).await?;
        let job = NewJob {
            kind: JobKind::Render,
            vehicle_key: vehicle_key.to_owned(),
            vehicle_json: serde_json::to_string(vehicle).map_err(|error| sqlx::Error::Encode(error.into()))?,
            view,
            colours: &colours,
            revision: newest + 1,
            reserved,
            is_candidate,
            turn: next_turn(&mut tx, &requester).await?,
            requester,
            begun_by: None,
        };
        let revision = job.revision;
        if !insert_job(&mut tx, now, job, now.0 + WAITS_MS).await? {
            return Err(ReviewError::Busy);
        }
        tx.commit().await?;
        self.0.signals.give(Signal::Queued);
        Ok(RerenderRequest { revision, colours })
    }
}

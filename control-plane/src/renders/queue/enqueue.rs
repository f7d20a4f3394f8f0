//! From a wanted variant to a queued job. Concurrent requests for one variant share one job (single
//! flight).
//!
//! Rows are locked in the order job, render, budget. `lease` and `results` keep to the same order,
//! so that two processes hardly ever deadlock. A deadlock is still possible, because a job that is
//! inserted waits for a transaction that changes a job inserted a moment before. PostgreSQL then
//! aborts one of the two, and that one starts again.

use super::new_job::{NewJob, insert_job, next_turn};
use super::variants::{EnqueueOutcome, want_rows};
use crate::clock::UnixMs;
use crate::db::{Tx, is_lost_race};
use crate::renders::budget::{Reservation, may_take_over, reserve};
use crate::renders::lane::{Lane, Requester};
use crate::renders::revision::FIRST_REVISION;
use crate::renders::signals::Signal;
use crate::renders::state::{JobState, colours_of, column, print_colours};
use crate::renders::{RenderError, RenderSettings, Renders};
use cyclorama_core::wire::JobKind;
use cyclorama_core::{Paint, Variant, Vehicle, View};
use sqlx::Row;
use sqlx::any::AnyRow;

/// Maximum number of attempts after a lost race between processes. In each attempt that fails
/// another process has succeeded, so even two are rare.
const RACES_MAX: usize = 8;

/// The answer after [`RACES_MAX`] lost races in a row: the load is too high.
const RACES_LOST: RenderError = RenderError::AtCapacity { retry_after_seconds: 1 };

/// The terms on which variants are enqueued.
#[derive(Debug, Clone, Copy)]
pub struct EnqueueTerms<'a> {
    pub requester: &'a Requester,
    /// The time until which the job lives, in Unix milliseconds.
    pub deadline_ms: i64,
    /// A cold render is queued only while the day's spend stays within this percentage of the day's
    /// budget.
    pub budget_percent: i64,
}

/// The vehicle and view that a job renders, with the key under which they are stored.
struct Subject<'a> {
    vehicle: &'a Vehicle,
    vehicle_key: String,
    view: View,
}

impl Renders {
    /// Makes sure that the variant is being made, and that its job lives until `deadline_ms`.
    /// Returns the image if it exists already. Fails with [`RenderError::AtCapacity`] if the queue
    /// has no room, and with [`RenderError::BudgetSpent`] if the budget does not cover a cold
    /// render.
    pub async fn request(
        &self,
        vehicle: &Vehicle,
        variant: &Variant,
        requester: &Requester,
        deadline_ms: i64,
    ) -> Result<EnqueueOutcome, RenderError> {
        let terms = EnqueueTerms { requester, deadline_ms, budget_percent: 100 };
        let mut wanted = self.want_all(vehicle, std::slice::from_ref(variant), terms).await?;
        wanted.pop().ok_or(RACES_LOST)
    }

    /// Does the same as [`Renders::request`] for several paints of one vehicle and view, with one
    /// job. Returns the outcomes in the order of `variants`.
    pub(in crate::renders) async fn want_all(
        &self,
        vehicle: &Vehicle,
        variants: &[Variant],
        terms: EnqueueTerms<'_>,
    ) -> Result<Vec<EnqueueOutcome>, RenderError> {
        for _ in 0..RACES_MAX {
            let mut tx = self.0.database.begin().await?;
            let (all, is_queued) = match self.want_in(&mut tx, vehicle, variants, terms).await {
                Ok(Some(wanted)) => wanted,
                Ok(None) => {
                    tx.rollback().await?;
                    continue;
                }
                Err(RenderError::Database(error)) if is_lost_race(&error) => {
                    tx.rollback().await?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            tx.commit().await?;
            if is_queued {
                self.0.signals.give(Signal::Queued);
            }
            return Ok(all);
        }
        Err(RACES_LOST)
    }

    /// Returns the outcome of each variant, in their order, and true if a job was queued for them.
    /// Returns `None` if another process was quicker; then the transaction must be rolled back.
    ///
    /// All rows of renders are locked before the budget's row, so that a transaction that holds the
    /// budget's row waits for no render.
    async fn want_in(
        &self,
        tx: &mut Tx<'_>,
        vehicle: &Vehicle,
        variants: &[Variant],
        terms: EnqueueTerms<'_>,
    ) -> Result<Option<(Vec<EnqueueOutcome>, bool)>, RenderError> {
        let now = self.0.clock.now();
        let Some(first) = variants.first() else { return Ok(Some((Vec::new(), false))) };
        let (view, vehicle_key) = (first.view, first.vehicle_key());
        // The update also takes the job's row lock. Either a result that is being accepted now sees
        // our wanted row, or we see no live job.
        let live = sqlx::query(
            "update jobs set deadline_ms = case when deadline_ms < $1 then $1 else deadline_ms end
             where vehicle_key = $2 and view = $3 and state in ('queued', 'leased') returning id, state, colors, priority",
        )
        .bind(terms.deadline_ms)
        .bind(&vehicle_key)
        .bind(view.as_str())
        .fetch_optional(&mut **tx)
        .await?;
        let Some(all) = want_rows(tx, now, variants).await? else { return Ok(None) };
        let mut colours = Vec::with_capacity(variants.len());
        for (variant, wanted) in variants.iter().zip(&all) {
            if matches!(wanted, EnqueueOutcome::Waiting { .. }) && !colours.contains(&variant.paint) {
                colours.push(variant.paint);
            }
        }
        let (is_done, is_queued) = match live {
            _ if colours.is_empty() => (true, false),
            Some(live) => (join_job(tx, self.settings(), &live, &colours, terms.requester).await?, false),
            None => (self.queue_job(tx, now, Subject { vehicle, vehicle_key, view }, &colours, terms).await?, true),
        };
        Ok(is_done.then_some((all, is_queued)))
    }

    /// Queues a job: `paint` where layers exist, else `render`. Returns false if another process
    /// queued a job at the same moment.
    async fn queue_job(
        &self,
        tx: &mut Tx<'_>,
        now: UnixMs,
        Subject { vehicle, vehicle_key, view }: Subject<'_>,
        colours: &[Paint],
        terms: EnqueueTerms<'_>,
    ) -> Result<bool, RenderError> {
        let EnqueueTerms { requester, deadline_ms, budget_percent } = terms;
        let turn = self.admit(tx, requester).await?;
        let layers = sqlx::query("select revision from layers where vehicle_key = $1 and view = $2")
            .bind(&vehicle_key)
            .bind(view.as_str())
            .fetch_optional(&mut **tx)
            .await?;
        let (kind, revision, reserved) = match layers {
            Some(row) => (JobKind::Paint, row.try_get(0)?, Reservation::nothing()),
            None => (
                JobKind::Render,
                FIRST_REVISION,
                reserve(tx, self.settings(), now, requester, self.render_cost_microusd(), budget_percent).await?,
            ),
        };
        // This transaction may have waited for the budget's row, and another job may have been
        // queued meanwhile. Inserting a second job would wait for the transaction that holds the
        // live job's row, which may itself wait for our rows of renders.
        let sql = "select 1 from jobs where vehicle_key = $1 and view = $2 and state in ('queued', 'leased')";
        let live = sqlx::query(sql).bind(&vehicle_key).bind(view.as_str()).fetch_optional(&mut **tx).await?;
        if live.is_some() {
            return Ok(false);
        }
        let vehicle_json = serde_json::to_string(vehicle).map_err(|error| sqlx::Error::Encode(error.into()))?;
        let job = NewJob {
            kind,
            vehicle_key,
            vehicle_json,
            view,
            colours,
            revision,
            reserved,
            is_candidate: false,
            requester: requester.clone(),
            begun_by: (requester.lane == Lane::Interactive).then(|| requester.account_id.clone()),
            turn,
        };
        Ok(insert_job(tx, now, job, deadline_ms).await?)
    }
}

/// Adds these paints to a live job, whose row is locked. Returns false if another process was
/// quicker.
async fn join_job(
    tx: &mut Tx<'_>,
    settings: &RenderSettings,
    live: &AnyRow,
    colours: &[Paint],
    requester: &Requester,
) -> Result<bool, sqlx::Error> {
    let job_id: String = live.try_get("id")?;
    let state: JobState = column(live.try_get("state")?, "jobs.state", &job_id)?;
    if live.try_get::<i64, _>("priority")? < requester.lane.number() {
        raise(tx, settings, &job_id, requester).await?;
    }
    let mut job_colours = colours_of(live.try_get("colors")?, "jobs.colors", &job_id)?;
    let known = job_colours.len();
    for colour in colours {
        if !job_colours.contains(colour) {
            job_colours.push(*colour);
        }
    }
    // A leased job is not changed. When it has ended, paints that are still wanted are made from
    // its layers.
    if state != JobState::Queued || job_colours.len() == known {
        return Ok(true);
    }
    let changed = sqlx::query("update jobs set colors = $1 where id = $2 and state = 'queued'")
        .bind(print_colours(&job_colours))
        .bind(&job_id)
        .execute(&mut **tx)
        .await?;
    Ok(changed.rows_affected() == 1)
}

/// Raises a job to the lane of a requester who waits for it now. The job's cost then counts against
/// the requester's part of the budget. If that has no room, the job stays with the account that had
/// it queued: the first requester pays, as always when a request joins a wait.
async fn raise(
    tx: &mut Tx<'_>,
    settings: &RenderSettings,
    job_id: &str,
    requester: &Requester,
) -> Result<(), sqlx::Error> {
    let turn = next_turn(tx, requester).await?;
    let takes_over = may_take_over(tx, settings, job_id, requester).await?;
    sqlx::query(
        "update jobs set priority = $1, turn = $2, account_id = case when $3 = 1 then $4 else account_id end,
            of_free_account = case when $3 = 1 then $5 else of_free_account end
         where id = $6 and priority < $1",
    )
    .bind(requester.lane.number())
    .bind(turn)
    .bind(i64::from(takes_over.is_some()))
    .bind(&requester.account_id)
    .bind(i64::from(takes_over == Some(true)))
    .bind(job_id)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

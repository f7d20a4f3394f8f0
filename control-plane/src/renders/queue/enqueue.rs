//! From a wanted variant to a queued job: single flight, whoever asks and however often.
//!
//! Rows are locked in the order job, render, budget; `lease` and `result` keep to it, so that two processes hardly
//! ever wait for each other in a circle. Where they do, because a job that is inserted waits for whoever changes one
//! that was inserted a moment before, PostgreSQL ends one of them, which begins again.

use super::new_job::{NewJob, insert_job, next_turn};
use super::variants::{Wanted, want_rows};
use crate::clock::UnixMs;
use crate::db::{Tx, is_lost_race};
use crate::renders::budget::{Reserved, may_take_over, reserve};
use crate::renders::lane::{Asker, Lane};
use crate::renders::revision::FIRST_REVISION;
use crate::renders::signals::Signal;
use crate::renders::state::{JobState, colours_of, column, print_colours};
use crate::renders::{RenderError, Renders, Settings};
use cyclorama_core::wire::JobKind;
use cyclorama_core::{Paint, Variant, Vehicle, View};
use sqlx::Row;
use sqlx::any::AnyRow;

/// How often a lost race between processes is run again. Each round another process has succeeded, so even two are rare.
const RACES_MAX: usize = 8;

/// Eight processes in a row came first: there is too much going on.
const RACES_LOST: RenderError = RenderError::AtCapacity { retry_after_seconds: 1 };

/// On what terms something is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    pub asker: &'a Asker,
    /// Its job lives until then.
    pub deadline_ms: i64,
    /// A cold render is queued only while it keeps the day's spend within this share of its budget.
    pub budget_percent: i64,
}

/// What a job draws, and the name under which it is kept.
struct Subject<'a> {
    vehicle: &'a Vehicle,
    vehicle_key: String,
    view: View,
}

impl Renders {
    /// Makes sure that the variant is being made, and that its job lives until `deadline_ms`.
    pub async fn want(
        &self,
        vehicle: &Vehicle,
        variant: &Variant,
        asker: &Asker,
        deadline_ms: i64,
    ) -> Result<Wanted, RenderError> {
        let terms = Terms { asker, deadline_ms, budget_percent: 100 };
        let mut wanted = self.want_all(vehicle, std::slice::from_ref(variant), terms).await?;
        wanted.pop().ok_or(RACES_LOST)
    }

    /// The same for several colours of one vehicle and view, by one job. What each came to, in their order.
    pub(in crate::renders) async fn want_all(
        &self,
        vehicle: &Vehicle,
        variants: &[Variant],
        terms: Terms<'_>,
    ) -> Result<Vec<Wanted>, RenderError> {
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

    /// What wanting each of the variants came to, in their order, and whether a job was queued for them. `None`:
    /// another process was quicker; nothing of this transaction may stay.
    ///
    /// All rows of renders are locked before the budget's: whoever holds the budget's row waits for no render.
    async fn want_in(
        &self,
        tx: &mut Tx<'_>,
        vehicle: &Vehicle,
        variants: &[Variant],
        terms: Terms<'_>,
    ) -> Result<Option<(Vec<Wanted>, bool)>, RenderError> {
        let now = self.0.clock.now();
        let Some(first) = variants.first() else { return Ok(Some((Vec::new(), false))) };
        let (view, vehicle_key) = (first.view, first.vehicle_key());
        // Also takes the job's row lock: a result that is being accepted now either sees our wanted row, or we see no live job.
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
            if matches!(wanted, Wanted::Waiting { .. }) && !colours.contains(&variant.paint) {
                colours.push(variant.paint);
            }
        }
        let (is_done, is_queued) = match live {
            _ if colours.is_empty() => (true, false),
            Some(live) => (join_job(tx, self.settings(), &live, &colours, terms.asker).await?, false),
            None => (self.queue_job(tx, now, Subject { vehicle, vehicle_key, view }, &colours, terms).await?, true),
        };
        Ok(is_done.then_some((all, is_queued)))
    }

    /// Queues a job: `paint` where layers exist, else `render`. `false`: another process queued one at the same moment.
    async fn queue_job(
        &self,
        tx: &mut Tx<'_>,
        now: UnixMs,
        Subject { vehicle, vehicle_key, view }: Subject<'_>,
        colours: &[Paint],
        terms: Terms<'_>,
    ) -> Result<bool, RenderError> {
        let Terms { asker, deadline_ms, budget_percent } = terms;
        let turn = self.admit(tx, asker).await?;
        let layers = sqlx::query("select revision from layers where vehicle_key = $1 and view = $2")
            .bind(&vehicle_key)
            .bind(view.as_str())
            .fetch_optional(&mut **tx)
            .await?;
        let (kind, revision, reserved) = match layers {
            Some(row) => (JobKind::Paint, row.try_get(0)?, Reserved::nothing()),
            None => (
                JobKind::Render,
                FIRST_REVISION,
                reserve(tx, self.settings(), now, asker, self.render_cost_microusd(), budget_percent).await?,
            ),
        };
        // The budget may have been waited for, and a job been queued meanwhile. To insert another would wait for
        // whoever holds the live one's row, who may wait for our rows of renders.
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
            asker: asker.clone(),
            begun_by: (asker.lane == Lane::Interactive).then(|| asker.account_id.clone()),
            turn,
        };
        Ok(insert_job(tx, now, job, deadline_ms).await?)
    }
}

/// Has a live job, whose row is locked, make these colours as well. `false`: another process was quicker.
async fn join_job(
    tx: &mut Tx<'_>,
    settings: &Settings,
    live: &AnyRow,
    colours: &[Paint],
    asker: &Asker,
) -> Result<bool, sqlx::Error> {
    let job_id: String = live.try_get("id")?;
    let state: JobState = column(live.try_get("state")?, "jobs.state", &job_id)?;
    if live.try_get::<i64, _>("priority")? < asker.lane.number() {
        raise(tx, settings, &job_id, asker).await?;
    }
    let mut job_colours = colours_of(live.try_get("colors")?, "jobs.colors", &job_id)?;
    let known = job_colours.len();
    for colour in colours {
        if !job_colours.contains(colour) {
            job_colours.push(*colour);
        }
    }
    // A leased job is left alone: when it has ended, what is still wanted is painted from its layers.
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

/// Somebody of a higher lane waits for the job now. From then on it is of their account's share of the budget; where that has no room,
/// it stays with whoever had it queued: who asked first pays, as for everybody who joins a wait.
async fn raise(tx: &mut Tx<'_>, settings: &Settings, job_id: &str, asker: &Asker) -> Result<(), sqlx::Error> {
    let turn = next_turn(tx, asker).await?;
    let takes_over = may_take_over(tx, settings, job_id, asker).await?;
    sqlx::query(
        "update jobs set priority = $1, turn = $2, account_id = case when $3 = 1 then $4 else account_id end,
            of_free_account = case when $3 = 1 then $5 else of_free_account end
         where id = $6 and priority < $1",
    )
    .bind(asker.lane.number())
    .bind(turn)
    .bind(i64::from(takes_over.is_some()))
    .bind(&asker.account_id)
    .bind(i64::from(takes_over == Some(true)))
    .bind(job_id)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

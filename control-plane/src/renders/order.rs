//! From a wanted variant to a queued job: single flight, whoever asks and however often.
//!
//! Rows are locked in the order job, render, budget; `lease` and `result` keep to it, so that two processes hardly ever wait for each
//! other in a circle. Where they do, because a job that is inserted waits for whoever changes one that was inserted a moment before, PostgreSQL ends
//! one of them, which begins again.

use super::budget::Reserved;
use super::lane::{Asker, Lane, Waiting};
use super::pace::RETRY_AFTER_SECONDS_USUAL;
use super::result::FIRST_REVISION;
use super::signals::Signal;
use super::state::{JobState, RenderState, colours_of, column, print_colours};
use super::{Picture, RenderError, Renders, seed};
use crate::clock::UnixMs;
use crate::db::{Tx, is_lost_race};
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::JobKind;
use cyclorama_core::{Paint, Variant, Vehicle, View};
use sqlx::Row;
use sqlx::any::AnyRow;

/// How often a lost race between processes is run again. Each round another process has succeeded, so even two are rare.
const RACES_MAX: usize = 8;

/// Eight processes in a row came first: there is too much going on.
const RACES_LOST: RenderError = RenderError::AtCapacity { retry_after_seconds: 1 };

/// What wanting a variant came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    Done(Picture),
    /// A live job makes it, or the one after it will. `round` tells this wait from earlier ones.
    Waiting {
        render_id: String,
        round: i64,
    },
}

/// On what terms something is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms<'a> {
    pub asker: &'a Asker,
    /// Its job lives until then.
    pub deadline_ms: i64,
    /// A cold render is queued only while it keeps the day's spend within this share of its budget.
    pub budget_percent: i64,
}

/// A variant's row.
pub(super) struct VariantRow {
    pub render_id: String,
    pub state: RenderState,
    pub round: i64,
    pub picture: Option<Picture>,
    pub failure: Option<(String, String)>,
}

const RENDER_COLUMNS: &str = "id, state, round, revision, master_sha256, failure_kind, failure_detail";

/// What a job draws, and the name under which it is kept.
struct Subject<'a> {
    vehicle: &'a Vehicle,
    vehicle_key: String,
    view: View,
}

impl VariantRow {
    fn read(row: &AnyRow) -> Result<Self, sqlx::Error> {
        let render_id: String = row.try_get("id")?;
        let state = column(row.try_get("state")?, "renders.state", &render_id)?;
        let picture = match state {
            RenderState::Done => Some(Picture {
                render_id: render_id.clone(),
                revision: row.try_get("revision")?,
                master_sha256: row.try_get("master_sha256")?,
            }),
            _ => None,
        };
        let failure = match state {
            RenderState::Failed => Some((row.try_get("failure_kind")?, row.try_get("failure_detail")?)),
            _ => None,
        };
        Ok(VariantRow { render_id, state, round: row.try_get("round")?, picture, failure })
    }
}

impl Renders {
    /// The variant's picture, if there is one.
    pub async fn find(&self, variant: &Variant) -> Result<Option<Picture>, sqlx::Error> {
        let row = sqlx::query(sqlx::AssertSqlSafe(format!(
            "select {RENDER_COLUMNS} from renders where vehicle_key = $1 and view = $2 and color = $3"
        )))
        .bind(variant.vehicle_key())
        .bind(variant.view.as_str())
        .bind(variant.paint.to_string())
        .fetch_optional(&self.0.database.readers)
        .await?;
        Ok(row.map(|row| VariantRow::read(&row)).transpose()?.and_then(|row| row.picture))
    }

    /// Whether the variant is in the making already.
    pub async fn is_in_the_making(&self, variant: &Variant) -> Result<bool, sqlx::Error> {
        let sql = "select 1 from renders where vehicle_key = $1 and view = $2 and color = $3 and state = 'wanted'";
        let found = sqlx::query(sql)
            .bind(variant.vehicle_key())
            .bind(variant.view.as_str())
            .bind(variant.paint.to_string())
            .fetch_optional(&self.0.database.readers)
            .await?;
        Ok(found.is_some())
    }

    pub(super) async fn look(&self, render_id: &str) -> Result<Option<VariantRow>, sqlx::Error> {
        let row = sqlx::query(sqlx::AssertSqlSafe(format!("select {RENDER_COLUMNS} from renders where id = $1")))
            .bind(render_id)
            .fetch_optional(&self.0.database.readers)
            .await?;
        row.map(|row| VariantRow::read(&row)).transpose()
    }

    /// Makes sure that the variant is being made, and that its job lives until `deadline_ms`.
    pub(super) async fn want(
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
    pub(super) async fn want_all(
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

    /// What wanting each of the variants came to, in their order, and whether a job was queued for them. `None`: another process was quicker;
    /// nothing of this transaction may stay.
    ///
    /// All rows of renders are locked before the budget's: whoever holds the budget's row waits for no render.
    async fn want_in(
        &self,
        tx: &mut Tx<'_>,
        vehicle: &Vehicle,
        variants: &[Variant],
        terms: Terms<'_>,
    ) -> Result<Option<(Vec<Wanted>, bool)>, RenderError> {
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
        let Some(all) = self.want_rows(tx, variants).await? else { return Ok(None) };
        let mut colours = Vec::with_capacity(variants.len());
        for (variant, wanted) in variants.iter().zip(&all) {
            if matches!(wanted, Wanted::Waiting { .. }) && !colours.contains(&variant.paint) {
                colours.push(variant.paint);
            }
        }
        let (is_done, is_queued) = match live {
            _ if colours.is_empty() => (true, false),
            Some(live) => (self.join_job(tx, &live, &colours, terms.asker).await?, false),
            None => (self.queue_job(tx, Subject { vehicle, vehicle_key, view }, &colours, terms).await?, true),
        };
        Ok(is_done.then_some((all, is_queued)))
    }

    /// Makes the rows of variants wanted that are neither done nor wanted; what each came to, in their order. `None`: another process was quicker.
    async fn want_rows(&self, tx: &mut Tx<'_>, variants: &[Variant]) -> Result<Option<Vec<Wanted>>, sqlx::Error> {
        // In one order everywhere, so that two who want several colours do not wait for each other in a circle.
        let mut in_order: Vec<(usize, &Variant)> = variants.iter().enumerate().collect();
        in_order.sort_by_key(|(_, variant)| variant.paint.to_string());
        let mut all = Vec::with_capacity(variants.len());
        for (place, variant) in in_order {
            match self.want_row(tx, variant).await? {
                Some(wanted) => all.push((place, wanted)),
                None => return Ok(None),
            }
        }
        all.sort_by_key(|(place, _)| *place);
        Ok(Some(all.into_iter().map(|(_, wanted)| wanted).collect()))
    }

    async fn want_row(&self, tx: &mut Tx<'_>, variant: &Variant) -> Result<Option<Wanted>, sqlx::Error> {
        let (render_id, now) = (uuid::Uuid::now_v7().to_string(), self.0.clock.now());
        let inserted = sqlx::query(
            "insert into renders (id, vehicle_key, view, color, state, round, changed_at_ms) values ($1, $2, $3, $4, 'wanted', 1, $5)
             on conflict do nothing",
        )
        .bind(&render_id)
        .bind(variant.vehicle_key())
        .bind(variant.view.as_str())
        .bind(variant.paint.to_string())
        .bind(now.0)
        .execute(&mut **tx)
        .await?;
        match inserted.rows_affected() {
            0 => self.want_again(tx, variant, now).await,
            _ => Ok(Some(Wanted::Waiting { render_id, round: 1 })),
        }
    }

    /// Has a live job, whose row is locked, make these colours as well. `false`: another process was quicker.
    async fn join_job(
        &self,
        tx: &mut Tx<'_>,
        live: &AnyRow,
        colours: &[Paint],
        asker: &Asker,
    ) -> Result<bool, sqlx::Error> {
        let job_id: String = live.try_get("id")?;
        let state: JobState = column(live.try_get("state")?, "jobs.state", &job_id)?;
        if live.try_get::<i64, _>("priority")? < asker.lane.number() {
            self.raise(tx, &job_id, asker).await?;
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

    /// Of a variant that has a row: its picture, or a wait for it. `None`: another process was quicker.
    async fn want_again(&self, tx: &mut Tx<'_>, variant: &Variant, now: UnixMs) -> Result<Option<Wanted>, sqlx::Error> {
        let row = sqlx::query(sqlx::AssertSqlSafe(format!(
            "select {RENDER_COLUMNS} from renders where vehicle_key = $1 and view = $2 and color = $3"
        )))
        .bind(variant.vehicle_key())
        .bind(variant.view.as_str())
        .bind(variant.paint.to_string())
        .fetch_one(&mut **tx)
        .await?;
        let row = VariantRow::read(&row)?;
        let round = match row.state {
            RenderState::Done => return Ok(row.picture.map(Wanted::Done)),
            RenderState::Wanted => row.round,
            RenderState::Lapsed | RenderState::Failed => {
                let changed = sqlx::query(
                    "update renders set state = 'wanted', round = round + 1, failure_kind = null, failure_detail = null, changed_at_ms = $1
                     where id = $2 and state = $3 and round = $4",
                )
                .bind(now.0)
                .bind(&row.render_id)
                .bind(row.state.as_str())
                .bind(row.round)
                .execute(&mut **tx)
                .await?;
                if changed.rows_affected() != 1 {
                    return Ok(None);
                }
                row.round + 1
            }
        };
        Ok(Some(Wanted::Waiting { render_id: row.render_id, round }))
    }

    /// Queues a job: `paint` where layers exist, else `render`. `false`: another process queued one at the same moment.
    async fn queue_job(
        &self,
        tx: &mut Tx<'_>,
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
            None => (JobKind::Render, FIRST_REVISION, self.reserve(tx, asker, budget_percent).await?),
        };
        // The budget may have been waited for, and a job been queued meanwhile. To insert another would wait for whoever holds the live one's row,
        // who may wait for our rows of renders.
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
        Ok(self.insert_job(tx, job, deadline_ms).await?)
    }

    /// The turn of a new job, if it finds room and would be done in time.
    async fn admit(&self, tx: &mut Tx<'_>, asker: &Asker) -> Result<i64, RenderError> {
        let turn = self.next_turn(tx, asker).await?;
        let row = sqlx::query(
            "select count(*), count(case when priority = $1 then 1 end), count(case when account_id = $2 then 1 end),
                    count(case when priority > $1 or (priority = $1 and turn <= $3) then 1 end)
             from jobs where state = 'queued'",
        )
        .bind(asker.lane.number())
        .bind(&asker.account_id)
        .bind(turn)
        .fetch_one(&mut **tx)
        .await?;
        let waiting = Waiting { all: row.try_get(0)?, in_lane: row.try_get(1)?, of_account: row.try_get(2)? };
        match self.late(asker.lane, row.try_get(3)?) {
            Some(retry_after_seconds) => Err(RenderError::AtCapacity { retry_after_seconds }),
            None if waiting.has_room(asker, self.queue_max()) => Ok(turn),
            None => Err(RenderError::AtCapacity { retry_after_seconds: RETRY_AFTER_SECONDS_USUAL }),
        }
    }

    /// After the account's last job in the lane, and not before the turn that is being served there (start-time fair queueing with jobs of
    /// equal size; P. Goyal, H. Vin, H. Cheng, 1996).
    pub(super) async fn next_turn(&self, tx: &mut Tx<'_>, asker: &Asker) -> Result<i64, sqlx::Error> {
        sqlx::query(
            "select coalesce(min(turn), 0) as turn from jobs where state = 'queued' and priority = $1
             union all
             select coalesce(max(turn) + 1, 0) from jobs where state = 'queued' and priority = $1 and account_id = $2
             order by turn desc limit 1",
        )
        .bind(asker.lane.number())
        .bind(&asker.account_id)
        .fetch_one(&mut **tx)
        .await?
        .try_get(0)
    }

    /// Somebody of a higher lane waits for the job now. From then on it is of their account's share of the budget; where that has no room,
    /// it stays with whoever had it queued: who asked first pays, as for everybody who joins a wait.
    async fn raise(&self, tx: &mut Tx<'_>, job_id: &str, asker: &Asker) -> Result<(), sqlx::Error> {
        let turn = self.next_turn(tx, asker).await?;
        let takes_over = self.may_take_over(tx, job_id, asker).await?;
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

    /// Inserts a queued job unless the vehicle and view has a live one. It belongs to the running request's trace.
    pub(super) async fn insert_job(
        &self,
        tx: &mut Tx<'_>,
        job: NewJob<'_>,
        deadline_ms: i64,
    ) -> Result<bool, sqlx::Error> {
        let inserted = sqlx::query(
            "insert into jobs (id, kind, vehicle_key, view, vehicle, colors, revision, seed, priority, state, fence, attempt,
                               deadline_ms, queued_at_ms, cost_microusd, budget_day, is_candidate, account_id, turn, traceparent,
                               of_free_account, begun_by)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'queued', 0, 0, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
             on conflict do nothing",
        )
        .bind(uuid::Uuid::now_v7().to_string())
        .bind(job.kind.as_str())
        .bind(&job.vehicle_key)
        .bind(job.view.as_str())
        .bind(&job.vehicle_json)
        .bind(print_colours(job.colours))
        .bind(job.revision)
        .bind(seed(&job.vehicle_key, job.revision))
        .bind(job.asker.lane.number())
        .bind(deadline_ms)
        .bind(self.0.clock.now().0)
        .bind(job.reserved.cost_microusd)
        .bind(&job.reserved.day)
        .bind(i64::from(job.is_candidate))
        .bind(&job.asker.account_id)
        .bind(job.turn)
        .bind(Trace::current().traceparent())
        .bind(i64::from(job.reserved.of_free_account))
        .bind(job.begun_by)
        .execute(&mut **tx)
        .await?;
        Ok(inserted.rows_affected() == 1)
    }
}

pub(super) struct NewJob<'a> {
    pub kind: JobKind,
    pub vehicle_key: String,
    pub vehicle_json: String,
    pub view: View,
    pub colours: &'a [Paint],
    pub revision: i64,
    pub reserved: Reserved,
    /// Its pictures are served to nobody until an operator takes them.
    pub is_candidate: bool,
    pub asker: Asker,
    /// The account whose request, which it pays for, begins this job.
    pub begun_by: Option<String>,
    /// Of its asker: [`Renders::next_turn`].
    pub turn: i64,
}

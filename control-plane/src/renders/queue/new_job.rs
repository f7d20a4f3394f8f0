//! Inserting the row of a new job, and computing its `turn`.

use crate::clock::UnixMs;
use crate::db::Tx;
use crate::renders::budget::Reservation;
use crate::renders::lane::Requester;
use crate::renders::revision::seed;
use crate::renders::state::print_colours;
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::JobKind;
use cyclorama_core::{Paint, View};
use sqlx::Row;

/// A job that is to be queued.
pub struct NewJob<'a> {
    pub kind: JobKind,
    pub vehicle_key: String,
    pub vehicle_json: String,
    pub view: View,
    pub colours: &'a [Paint],
    pub revision: i64,
    pub reserved: Reservation,
    /// True if the job's images are served to no client until an operator accepts them.
    pub is_candidate: bool,
    pub requester: Requester,
    /// The account whose request begins this job and pays for it.
    pub begun_by: Option<String>,
    /// The requester's next `turn`, see [`next_turn`].
    pub turn: i64,
}

/// Returns the `turn` of the requester's next job: after the account's last job in the lane, and
/// not before the `turn` that is being served there (start-time fair queueing with jobs of equal
/// size; P. Goyal, H. Vin, H. Cheng, 1996).
pub async fn next_turn(tx: &mut Tx<'_>, requester: &Requester) -> Result<i64, sqlx::Error> {
    sqlx::query(
        "select coalesce(min(turn), 0) as turn from jobs where state = 'queued' and priority = $1
         union all
         select coalesce(max(turn) + 1, 0) from jobs where state = 'queued' and priority = $1 and account_id = $2
         order by turn desc limit 1",
    )
    .bind(requester.lane.number())
    .bind(&requester.account_id)
    .fetch_one(&mut **tx)
    .await?
    .try_get(0)
}

/// Inserts a queued job unless the vehicle and view has a live one, and returns true if it was
/// inserted. The job belongs to the trace of the running request.
pub async fn insert_job(tx: &mut Tx<'_>, now: UnixMs, job: NewJob<'_>, deadline_ms: i64) -> Result<bool, sqlx::Error> {
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
    .bind(job.requester.lane.number())
    .bind(deadline_ms)
    .bind(now.0)
    .bind(job.reserved.cost_microusd)
    .bind(&job.reserved.day)
    .bind(i64::from(job.is_candidate))
    .bind(&job.requester.account_id)
    .bind(job.turn)
    .bind(Trace::current().traceparent())
    .bind(i64::from(job.reserved.of_free_account))
    .bind(job.begun_by)
    .execute(&mut **tx)
    .await?;
    Ok(inserted.rows_affected() == 1)
}

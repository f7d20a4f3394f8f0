//! A lease from its beginning to its end. A claim begins it and gives it a fence. Heartbeats renew
//! it, and so does the check of its result (`results::accepting`). It ends by a result, a failure,
//! a loss, the end of the day's budget, or when no request waits any more. Every later change names
//! the fence.
//!
//! Before an attempt begins, and with each renewal of its lease, the job's reservation covers the
//! lease to its end. An attempt that the budget cannot cover any further is ended. So is a running
//! one once a lowered budget is passed, if `budget_at_limit` is `stop`. So the amount that is
//! settled afterwards was reserved before, and the day's budget is not exceeded. There is one
//! exception: a result that came in time, but took so long to be accepted that its lease was
//! renewed. The cost of that time is booked even where the budget does not cover it, and a warning
//! is logged.

use super::faults::{self, Silent};
use super::node_error::NodeError;
use crate::clock::UnixMs;
use crate::db::Tx;
use crate::logs::causes;
use crate::plain_text;
use crate::renders::budget::{self, BUDGET_SPENT, CostCover, SPENT_NOW, cover, is_passed, microusd};
use crate::renders::lane::Lane;
use crate::renders::rules::AtLimit;
use crate::renders::signals::Signal;
use crate::renders::staging::LeasePlace;
use crate::renders::state::{colours_of, column};
use crate::renders::{LEASE_MS_MAX, RenderSettings, Renders, Stale, layers};
use cyclorama_core::View;
use cyclorama_core::wire::{FailureKind, Job, JobKind, JobProgress};
use sha2::{Digest, Sha256};
use sqlx::Row;
use sqlx::any::AnyRow;

/// Maximum number of attempts at a job before it fails for its waiting requests.
const ATTEMPTS_MAX: i64 = 3;

/// Maximum number of leases of a job, including those that ended because the service itself was
/// restarted and so count as no attempt: a job that takes the service down with it ends as well.
/// Why: `docs/decisions/render-queue.md` (What counts as an attempt of a job).
pub const LEASES_MAX: i64 = 12;

/// Maximum length of a failure's detail that is stored, in characters.
const DETAIL_CHARS_MAX: usize = 500;

/// SQL condition on a job: it is job `$1` under fence `$2`, leased by a node of token `$3`.
pub const LEASED_BY_TOKEN: &str =
    "id = $1 and fence = $2 and state = 'leased' and node_id in (select id from nodes where token_id = $3)";

/// An attempt that has just ended.
pub struct EndedAttempt {
    pub job_id: String,
    pub vehicle_key: String,
    pub view: String,
    pub attempt: i64,
    /// The amount that the budget reserves for the job.
    pub cost_microusd: i64,
    pub budget_day: String,
    pub rate_microusd_per_hour: Option<i64>,
    /// The cost of all attempts on nodes with a price.
    pub spent_microusd: i64,
    /// True if the job is back in the queue.
    pub again: bool,
}

/// The columns of `jobs` that [`EndedAttempt::read`] reads.
pub const ENDED_COLUMNS: &str =
    "id, vehicle_key, view, attempt, cost_microusd, budget_day, rate_microusd_per_hour, spent_microusd";

impl EndedAttempt {
    pub fn read(row: &AnyRow, again: bool) -> Result<Self, sqlx::Error> {
        Ok(EndedAttempt {
            job_id: row.try_get("id")?,
            vehicle_key: row.try_get("vehicle_key")?,
            view: row.try_get("view")?,
            attempt: row.try_get("attempt")?,
            cost_microusd: row.try_get("cost_microusd")?,
            budget_day: row.try_get("budget_day")?,
            rate_microusd_per_hour: row.try_get("rate_microusd_per_hour")?,
            spent_microusd: row.try_get("spent_microusd")?,
            again,
        })
    }

    /// Settles the job's cost, and frees the rest of what the budget reserved for it. A job without
    /// a counted attempt costs nothing. A job whose last attempt was on a node without a price
    /// costs what was reserved.
    pub async fn pay(&self, tx: &mut Tx<'_>) -> Result<(), sqlx::Error> {
        if self.cost_microusd == 0 {
            return Ok(());
        }
        let settled = match (self.attempt, self.rate_microusd_per_hour) {
            (0, _) => 0,
            (_, Some(_)) => self.spent_microusd,
            (_, None) => self.cost_microusd,
        };
        if settled > self.cost_microusd {
            let job_id = &self.job_id;
            tracing::warn!(
                job_id,
                settled_microusd = settled,
                reserved_microusd = self.cost_microusd,
                "a render cost more than the budget had reserved for it"
            );
        }
        budget::settle(tx, &self.budget_day, self.cost_microusd, settled).await?;
        if settled == self.cost_microusd {
            return Ok(());
        }
        sqlx::query("update jobs set cost_microusd = $1 where id = $2")
            .bind(settled)
            .bind(&self.job_id)
            .execute(&mut **tx)
            .await?;
        Ok(())
    }
}

/// Returns the SQL condition on a leased job that no request waits for it any more. `now` is the
/// SQL parameter with the present time in Unix milliseconds. Jobs of the prewarm and rerender lanes
/// are wanted until they are done. So are paint jobs, which cost nothing and take no longer than
/// stopping them would.
pub fn unwanted(now: &str) -> String {
    let waited_for: Vec<String> =
        Lane::ALL.into_iter().filter(|lane| lane.is_waited_for()).map(|lane| lane.number().to_string()).collect();
    format!("(deadline_ms < {now} and kind = 'render' and priority in ({}))", waited_for.join(", "))
}

/// A node that requests work.
#[derive(Debug, Clone, Copy)]
pub struct Claimant<'a> {
    pub node_id: &'a str,
    /// The pipeline that the node will use.
    pub pipeline: &'a str,
    /// The URL at which the node reaches this service.
    pub base_url: &'a str,
    /// The price of one of the node's slots, if it has a price.
    pub rate_microusd_per_hour: Option<i64>,
    /// True if the node can read custom paints and images without a ground shadow.
    pub knows_custom_paints: bool,
}

/// A job under one of its leases.
#[derive(Debug, Clone, Copy)]
pub struct LeaseId<'a> {
    pub job_id: &'a str,
    pub fence: i64,
}

/// The reason why a lease is lost. The node of a lost lease sends neither result nor failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The node was silent. This is the only reason that is the node's fault.
    Silence,
    /// The time that a draining node had to finish its jobs is over.
    Drained,
    /// The node has left.
    Left,
    /// The process of the node has ended.
    Ended,
}

impl Loss {
    /// Returns the text that is stored as the job's failure.
    fn as_str(self) -> &'static str {
        match self {
            Loss::Silence => "its node was not heard of",
            Loss::Drained => "the time of its node's drain was over",
            Loss::Left => "its node left",
            Loss::Ended => "its node ended",
        }
    }
}

/// Returns the end of a lease that begins or is renewed now, in Unix milliseconds.
pub fn lease_until_ms(settings: &RenderSettings, now: UnixMs) -> i64 {
    now.0 + settings.lease_seconds as i64 * 1000
}

impl Renders {
    /// Begins a lease of a queued job, and returns the job as the node gets it, with the URLs of
    /// its uploads. Returns `None` if the job is not queued any more, or was ended because the
    /// budget does not cover the lease or because its layers are gone.
    pub(super) async fn begin_lease(
        &self,
        tx: &mut Tx<'_>,
        job_id: &str,
        node: Claimant<'_>,
        now: UnixMs,
    ) -> Result<Option<Job>, NodeError> {
        // The secret names the lease in its upload URLs: two random UUIDs with 122 random bits
        // each.
        let secret = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
        let row = sqlx::query(
            "update jobs set state = 'leased', fence = fence + 1, attempt = attempt + 1, node_id = $1, leased_at_ms = $2,
                             lease_until_ms = $3, lease_secret_sha256 = $4, pipeline = $5, rate_microusd_per_hour = $6,
                             stage = null, progress = null
             where id = $7 and state = 'queued'
             returning kind, vehicle, vehicle_key, view, colors, revision, seed, fence, attempt, deadline_ms, cost_microusd, budget_day,
                spent_microusd, traceparent",
        )
        .bind(node.node_id)
        .bind(now.0)
        .bind(lease_until_ms(self.settings(), now))
        .bind(hex::encode(Sha256::digest(&secret)))
        .bind(node.pipeline)
        .bind(node.rate_microusd_per_hour)
        .bind(job_id)
        .fetch_optional(&mut **tx)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let fence: i64 = row.try_get("fence")?;
        let (cost_microusd, spent): (i64, i64) = (row.try_get("cost_microusd")?, row.try_get("spent_microusd")?);
        // Paint jobs cost nothing.
        if cost_microusd > 0 {
            let lease_ms = lease_until_ms(self.settings(), now) - now.0;
            let needed = node
                .rate_microusd_per_hour
                .map_or(self.settings().render_cost_microusd, |rate| microusd(rate, lease_ms));
            let budget_day = row.try_get("budget_day")?;
            let covered = CostCover { job_id, budget_day, cost_microusd, needed_microusd: spent + needed };
            if !cover(tx, self.settings(), covered).await? {
                end_for_budget(tx, now, LeaseId { job_id, fence }).await?;
                return Ok(None);
            }
        }
        let place = LeasePlace { job_id, fence, base_url: node.base_url, secret: &secret };
        self.leased_job(tx, &row, node, place, now).await
    }

    /// Returns the job of a lease that has just begun, as it is sent to the node. Returns `None` if
    /// its layers are gone; then the job was ended.
    async fn leased_job(
        &self,
        tx: &mut Tx<'_>,
        row: &AnyRow,
        node: Claimant<'_>,
        place: LeasePlace<'_>,
        now: UnixMs,
    ) -> Result<Option<Job>, NodeError> {
        let LeasePlace { job_id, fence, .. } = place;
        let kind: JobKind = column(row.try_get("kind")?, "jobs.kind", job_id)?;
        let view: View = column(row.try_get("view")?, "jobs.view", job_id)?;
        let colours = colours_of(row.try_get("colors")?, "jobs.colors", job_id)?;
        let (layers_url, layers_sha256) = match kind {
            JobKind::Render => (None, None),
            JobKind::Paint => {
                let (vehicle_key, revision) = (row.try_get("vehicle_key")?, row.try_get("revision")?);
                let Some(stored) = layers::find(tx, vehicle_key, view, revision).await? else {
                    tracing::error!(job_id, vehicle_key, %view, revision, "the layers of a paint job were missing");
                    let lease = LeaseId { job_id, fence };
                    fail_for_good(tx, now, lease, FailureKind::Internal.as_str(), "its layers are gone").await?;
                    return Ok(None);
                };
                (Some(self.layers_address(place, &stored.key).await?), Some(stored.sha256))
            }
        };
        let vehicle = serde_json::from_str(row.try_get("vehicle")?);
        let vehicle =
            vehicle.map_err(|error| sqlx::Error::Decode(format!("jobs.vehicle of {job_id}: {error}").into()))?;
        Ok(Some(Job {
            job_id: job_id.to_owned(),
            fence,
            deadline: row.try_get("deadline_ms")?,
            attempt: row.try_get::<i64, _>("attempt")? as u32,
            kind,
            vehicle,
            view,
            pipeline: node.pipeline.to_owned(),
            seed: row.try_get::<i64, _>("seed")? as u64,
            uploads: self.upload_addresses(place, kind, &colours).await?,
            colours,
            layers_url,
            layers_sha256,
            traceparent: row.try_get("traceparent")?,
        }))
    }

    /// Renews each lease that a node reports, unless it is 15 minutes old, its fence is stale, no
    /// request waits, or the budget does not cover it. Returns the jobs whose leases the node no
    /// longer has.
    pub(in crate::renders) async fn renew(
        &self,
        node_id: &str,
        jobs: &[JobProgress],
    ) -> Result<Vec<String>, sqlx::Error> {
        let mut cancel = Vec::new();
        for job in jobs {
            if !self.renew_one(node_id, job).await? {
                cancel.push(job.job_id.clone());
            }
        }
        Ok(cancel)
    }

    async fn renew_one(&self, node_id: &str, job: &JobProgress) -> Result<bool, sqlx::Error> {
        let now = self.0.clock.now();
        let until_ms = lease_until_ms(self.settings(), now);
        let mut tx = self.0.database.begin().await?;
        let row = sqlx::query(sqlx::AssertSqlSafe(format!(
            "update jobs set lease_until_ms = $1, stage = $2, progress = $3
             where id = $4 and fence = $5 and node_id = $6 and state = 'leased' and leased_at_ms > $7 and not {}
             returning leased_at_ms, rate_microusd_per_hour, spent_microusd, cost_microusd, budget_day",
            unwanted("$8")
        )))
        .bind(until_ms)
        .bind(plain_text::readable(&job.stage.to_string(), 80))
        .bind(f64::from(job.progress))
        .bind(&job.job_id)
        .bind(job.fence)
        .bind(node_id)
        .bind(now.0 - LEASE_MS_MAX)
        .bind(now.0)
        .fetch_optional(&mut *tx)
        .await?;
        let Some(row) = row else {
            let lapsed = expire(&mut tx, self.settings(), now, &job.job_id, Some((job.fence, node_id))).await?;
            tx.commit().await?;
            if let Some(lapsed) = lapsed {
                tracing::info!(
                    job_id = job.job_id,
                    stage = %job.stage,
                    "a render was cancelled because no request waits for it"
                );
                self.attempt_ended(&job.job_id, job.fence, &lapsed);
            }
            return Ok(false);
        };
        let (rate, cost_microusd): (Option<i64>, i64) =
            (row.try_get("rate_microusd_per_hour")?, row.try_get("cost_microusd")?);
        // Paint jobs cost nothing.
        if cost_microusd > 0 {
            let leased_ms = until_ms - row.try_get::<i64, _>("leased_at_ms")?;
            let spent: i64 = row.try_get("spent_microusd")?;
            let covered = CostCover {
                job_id: &job.job_id,
                budget_day: row.try_get("budget_day")?,
                cost_microusd,
                needed_microusd: rate.map_or(cost_microusd, |rate| spent + microusd(rate, leased_ms)),
            };
            let is_cut_short = self.settings().rules.at_limit == AtLimit::Stop
                && is_passed(&mut tx, self.settings(), covered.budget_day).await?;
            if is_cut_short || !cover(&mut tx, self.settings(), covered).await? {
                let ended = end_for_budget(&mut tx, now, LeaseId { job_id: &job.job_id, fence: job.fence }).await?;
                tx.commit().await?;
                if let Some(ended) = ended {
                    self.attempt_ended(&job.job_id, job.fence, &ended);
                }
                return Ok(false);
            }
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Ends an attempt that its node reports as failed. Returns [`Stale`] if the fence is not that
    /// of the job's live lease.
    pub async fn fail(
        &self,
        token_id: &str,
        job_id: &str,
        fence: i64,
        kind: FailureKind,
        detail: &str,
    ) -> Result<Result<(), Stale>, sqlx::Error> {
        let detail = plain_text::readable(detail, DETAIL_CHARS_MAX);
        let (now, lease) = (self.0.clock.now(), LeaseId { job_id, fence });
        let mut tx = self.0.database.begin().await?;
        let node = sqlx::query(sqlx::AssertSqlSafe(format!("select node_id from jobs where {LEASED_BY_TOKEN}")))
            .bind(job_id)
            .bind(fence)
            .bind(token_id)
            .fetch_optional(&mut *tx)
            .await?;
        let Some(node) = node else { return Ok(Err(Stale)) };
        let node_id: String = node.try_get(0)?;
        let Some(ended) = end_attempt(&mut tx, now, self.0.began_at, lease, kind, &detail).await? else {
            return Ok(Err(Stale));
        };
        // A vehicle that cannot be drawn says nothing about the node. A store that accepts no
        // upload from any node would have all of them quarantined by the time it works again.
        if !matches!(kind, FailureKind::Model | FailureKind::Upload) {
            faults::count_failure(&mut tx, &node_id, job_id).await?;
        }
        tx.commit().await?;
        tracing::warn!(job_id, fence, %kind, detail, node_id, again = ended.again, "a node reported a failure");
        self.attempt_ended(job_id, fence, &ended);
        Ok(Ok(()))
    }

    /// Ends an attempt whose node is gone. Does nothing if the lease has ended or was replaced
    /// meanwhile.
    pub(in crate::renders) async fn lose(&self, job_id: &str, fence: i64, why: Loss) -> Result<(), sqlx::Error> {
        let (now, began_at) = (self.0.clock.now(), self.0.began_at);
        let mut tx = self.0.database.begin().await?;
        let sql = "select node_id, leased_at_ms from jobs where id = $1 and fence = $2 and state = 'leased'";
        let held = match why {
            Loss::Silence => sqlx::query(sql).bind(job_id).bind(fence).fetch_optional(&mut *tx).await?,
            Loss::Drained | Loss::Left | Loss::Ended => None,
        };
        let ended =
            end_attempt(&mut tx, now, began_at, LeaseId { job_id, fence }, FailureKind::Internal, why.as_str()).await?;
        if let (Some(held), Some(_)) = (held, &ended) {
            let lease = Silent { node_id: held.try_get(0)?, job_id, leased_at_ms: held.try_get(1)? };
            faults::count_lost(&mut tx, now, began_at, lease).await?;
        }
        tx.commit().await?;
        if let Some(ended) = ended {
            tracing::warn!(job_id, fence, again = ended.again, why = why.as_str(), "a lease was lost");
            self.attempt_ended(job_id, fence, &ended);
        }
        Ok(())
    }

    /// Signals the end of an attempt, in every process: to the nodes that poll for jobs if the job
    /// is queued again, otherwise to the requests that wait for the vehicle and view. Deletes the
    /// attempt's uploads in a separate task.
    pub(in crate::renders) fn attempt_ended(&self, job_id: &str, fence: i64, ended: &EndedAttempt) {
        self.0.signals.give(match ended.again {
            // The node that had the job does not get it next, so waking one node is not enough.
            true => Signal::Anew,
            false => Signal::Ended { vehicle_key: ended.vehicle_key.clone(), view: ended.view.clone() },
        });
        // Runs in its own task: a store that does not answer must not hold up nodes and sweeps.
        let (renders, job_id) = (self.clone(), job_id.to_owned());
        tokio::spawn(async move {
            if let Err(error) = renders.clear_staging(&job_id, fence).await {
                tracing::warn!(job_id, error = causes(&*error), "uploads of an ended attempt could not be removed");
            }
        });
    }
}

/// Ends the attempt of a live lease: the job goes back into the queue, or fails for good together
/// with every request that waits. Returns `None` if the fence is stale.
async fn end_attempt(
    tx: &mut Tx<'_>,
    now: UnixMs,
    began_at: UnixMs,
    lease: LeaseId<'_>,
    kind: FailureKind,
    detail: &str,
) -> Result<Option<EndedAttempt>, sqlx::Error> {
    if kind != FailureKind::Model {
        // A lease given before this process started ended because the service was down; it is no
        // attempt.
        let excused = "leased_at_ms < $7";
        let requeued = sqlx::query(sqlx::AssertSqlSafe(format!(
            "update jobs set state = 'queued', spent_microusd = {SPENT_NOW}, last_node_id = node_id, node_id = null,
                             leased_at_ms = null, lease_until_ms = null, lease_secret_sha256 = null, stage = null, progress = null,
                             attempt = case when {excused} then attempt - 1 else attempt end,
                             failure_kind = $2, failure_detail = $3
             where id = $4 and fence = $5 and state = 'leased' and fence < $8 and (attempt < $6 or {excused})
             returning {ENDED_COLUMNS}"
        )))
        .bind(now.0)
        .bind(kind.as_str())
        .bind(detail)
        .bind(lease.job_id)
        .bind(lease.fence)
        .bind(ATTEMPTS_MAX)
        .bind(began_at.0)
        .bind(LEASES_MAX)
        .fetch_optional(&mut **tx)
        .await?;
        if let Some(row) = requeued {
            return Ok(Some(EndedAttempt::read(&row, true)?));
        }
    }
    fail_for_good(tx, now, lease, kind.as_str(), detail).await
}

/// Fails a leased job for good, together with every request that waits. Returns `None` if the fence
/// is stale.
async fn fail_for_good(
    tx: &mut Tx<'_>,
    now: UnixMs,
    lease: LeaseId<'_>,
    kind: &str,
    detail: &str,
) -> Result<Option<EndedAttempt>, sqlx::Error> {
    let failed = sqlx::query(sqlx::AssertSqlSafe(format!(
        "update jobs set state = 'failed', spent_microusd = {SPENT_NOW}, last_node_id = node_id, node_id = null,
                         leased_at_ms = null, lease_until_ms = null, lease_secret_sha256 = null, ended_at_ms = $1,
                         failure_kind = $2, failure_detail = $3
         where id = $4 and fence = $5 and state = 'leased' returning {ENDED_COLUMNS}"
    )))
    .bind(now.0)
    .bind(kind)
    .bind(detail)
    .bind(lease.job_id)
    .bind(lease.fence)
    .fetch_optional(&mut **tx)
    .await?;
    let Some(row) = failed else { return Ok(None) };
    let ended = EndedAttempt::read(&row, false)?;
    sqlx::query(
        "update renders set state = 'failed', failure_kind = $1, failure_detail = $2, changed_at_ms = $3
         where vehicle_key = $4 and view = $5 and state = 'wanted'",
    )
    .bind(kind)
    .bind(detail)
    .bind(now.0)
    .bind(&ended.vehicle_key)
    .bind(&ended.view)
    .execute(&mut **tx)
    .await?;
    ended.pay(tx).await?;
    Ok(Some(ended))
}

/// Ends a leased job that the budget does not cover. Every request that waits fails with
/// [`BUDGET_SPENT`].
async fn end_for_budget(tx: &mut Tx<'_>, now: UnixMs, lease: LeaseId<'_>) -> Result<Option<EndedAttempt>, sqlx::Error> {
    tracing::warn!(
        job_id = lease.job_id,
        fence = lease.fence,
        "a render was ended because the day's budget does not cover it"
    );
    fail_for_good(tx, now, lease, BUDGET_SPENT, "the day's budget does not cover it").await
}

/// Expires a job that no request waits for any more: a queued job, or one that is leased under the
/// fence and to the node in `leased`. Returns `None` if a request still waits, or if the job's
/// state has changed meanwhile.
pub async fn expire(
    tx: &mut Tx<'_>,
    settings: &RenderSettings,
    now: UnixMs,
    job_id: &str,
    leased: Option<(i64, &str)>,
) -> Result<Option<EndedAttempt>, sqlx::Error> {
    let (fence, node_id) = leased.unwrap_or((0, ""));
    let held = match leased {
        Some(_) => {
            let sql =
                "select leased_at_ms from jobs where id = $1 and fence = $2 and node_id = $3 and state = 'leased'";
            sqlx::query(sql).bind(job_id).bind(fence).bind(node_id).fetch_optional(&mut **tx).await?
        }
        None => None,
    };
    let lapsed = sqlx::query(sqlx::AssertSqlSafe(format!(
        "update jobs set state = 'lapsed', spent_microusd = {SPENT_NOW}, node_id = null, leased_at_ms = null, lease_until_ms = null,
                         lease_secret_sha256 = null, ended_at_ms = $1
         where id = $2 and ((state = 'queued' and $3 = 0 and deadline_ms < $1)
                            or (state = 'leased' and fence = $3 and node_id = $4 and {}))
         returning {ENDED_COLUMNS}",
        unwanted("$1")
    )))
    .bind(now.0)
    .bind(job_id)
    .bind(fence)
    .bind(node_id)
    .fetch_optional(&mut **tx)
    .await?;
    let Some(row) = lapsed else { return Ok(None) };
    let ended = EndedAttempt::read(&row, false)?;
    sqlx::query("update renders set state = 'lapsed', changed_at_ms = $1 where vehicle_key = $2 and view = $3 and state = 'wanted'")
        .bind(now.0)
        .bind(&ended.vehicle_key)
        .bind(&ended.view)
        .execute(&mut **tx)
        .await?;
    ended.pay(tx).await?;
    if let Some(held) = held {
        faults::count_lapsed(tx, settings, now, Silent { node_id, job_id, leased_at_ms: held.try_get(0)? }).await?;
    }
    Ok(Some(ended))
}

/// Raises the budget's reservation for a job whose lease has just been renewed because its result
/// is being accepted (`renewed` is the job's row). If the budget has not that much left, a warning
/// is logged, the result is accepted all the same, and its cost is booked when it is recorded.
pub async fn cover_result(
    tx: &mut Tx<'_>,
    settings: &RenderSettings,
    job_id: &str,
    renewed: &AnyRow,
) -> Result<(), sqlx::Error> {
    let (rate, cost_microusd): (Option<i64>, i64) =
        (renewed.try_get("rate_microusd_per_hour")?, renewed.try_get("cost_microusd")?);
    let Some(rate) = rate.filter(|_| cost_microusd > 0) else { return Ok(()) };
    let leased_ms: i64 = renewed.try_get::<i64, _>("lease_until_ms")? - renewed.try_get::<i64, _>("leased_at_ms")?;
    let needed_microusd = renewed.try_get::<i64, _>("spent_microusd")? + microusd(rate, leased_ms);
    let budget_day: String = renewed.try_get("budget_day")?;
    let covered = CostCover { job_id, budget_day: &budget_day, cost_microusd, needed_microusd };
    if !cover(tx, settings, covered).await? {
        tracing::warn!(
            job_id,
            needed_microusd,
            "a result was accepted although the day's budget does not cover its time"
        );
    }
    Ok(())
}

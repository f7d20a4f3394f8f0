//! Handing jobs to nodes and taking lost ones back. The one module that knows which database it is: PostgreSQL claims with
//! `skip locked`, SQLite has one writer at a time anyway.

use super::cost::{self, Covered};
use super::fault::Silent;
use super::lane::{Lane, PREWARM_EVERY};
use super::state::colours_of;
use super::uploads::Place;
use super::{NodeError, Renders, layers};
use crate::clock::UnixMs;
use crate::db::{DatabaseKind, Tx};
use cyclorama_core::View;
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::{FailureKind, Job, JobKind};
use sha2::{Digest, Sha256};
use sqlx::Row;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Jobs taken back in one sweep; the rest follows a second later.
const SWEEP_MAX: i64 = 64;

/// A node is alive for the queue while it was heard of within this many heartbeats.
pub(super) const HEARTBEATS_MISSED_MAX: i64 = 3;

/// A node that asks for work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claimant<'a> {
    pub node_id: &'a str,
    /// The pipeline it will use.
    pub pipeline: &'a str,
    /// What it reaches this service by.
    pub base_url: &'a str,
    /// Price of one of its slots, where it has one.
    pub rate_microusd_per_hour: Option<i64>,
    /// Whether it can read paints that are not presets with their shadow.
    pub knows_custom_paints: bool,
}

impl Renders {
    /// Leases up to `free` jobs to the node: by lane, inside one by turn, and now and then one of prewarming before all.
    ///
    /// A job is not given twice in a row to the same node while another one is alive.
    pub(super) async fn claim(&self, node: Claimant<'_>, free: i64) -> Result<Vec<Job>, NodeError> {
        let now = self.0.clock.now();
        let sql = match self.0.database.kind {
            DatabaseKind::Sqlite => CLAIM,
            DatabaseKind::Postgres => CLAIM_SKIP_LOCKED,
        };
        // Idle nodes ask twice a second: they take no write lock.
        let some = sqlx::query("select 1 from jobs where state = 'queued' limit 1")
            .fetch_optional(&self.0.database.readers)
            .await?;
        if some.is_none() {
            return Ok(Vec::new());
        }
        self.ready_to_sign().await?;
        let mut tx = self.0.database.begin().await?;
        let mut jobs = Vec::new();
        let mut queued = Vec::new();
        let mut prewarmed = 0;
        let is_prewarms_turn = self.0.since_prewarm.load(Ordering::Relaxed) + 1 >= PREWARM_EVERY;
        let lanes = [(Lane::Prewarm, if is_prewarms_turn { 1 } else { 0 }), (Lane::Interactive, free)];
        for (highest, most) in lanes {
            let most = most.min(free - jobs.len() as i64);
            if most == 0 {
                continue;
            }
            let rows = sqlx::query(sql)
                .bind(now.0)
                .bind(node.node_id)
                .bind(self.silent_since_ms(now))
                .bind(self.settings().daily_budget_microusd)
                .bind(highest.number())
                .bind(most)
                .bind(i64::from(node.knows_custom_paints))
                .fetch_all(&mut *tx)
                .await?;
            for row in rows {
                let (job_id, lane): (String, Lane) = (row.try_get(0)?, Lane::of(row.try_get(1)?));
                let leased = self.lease(&mut tx, &job_id, node, now).await?;
                let Some(job) = leased else { continue };
                self.given().note(lane, now);
                prewarmed += u64::from(lane == Lane::Prewarm);
                if job.fence == 1 {
                    queued.push((job.traceparent.clone(), now.0 - row.try_get::<i64, _>(2)?));
                }
                jobs.push(job);
            }
        }
        tx.commit().await?;
        for (traceparent, queued_ms) in queued {
            Trace::named(traceparent.as_deref()).past("queued", Duration::from_millis(queued_ms.max(0) as u64));
        }
        // Two claims at the same moment may both find it prewarming's turn, or neither: it is a share, not a schedule.
        match prewarmed {
            0 => self.0.since_prewarm.fetch_add(jobs.len() as u64, Ordering::Relaxed),
            _ => self.0.since_prewarm.swap(0, Ordering::Relaxed),
        };
        Ok(jobs)
    }

    pub(super) fn silent_since_ms(&self, now: UnixMs) -> i64 {
        now.0 - HEARTBEATS_MISSED_MAX * self.settings().heartbeat_seconds as i64 * 1000
    }

    async fn lease(
        &self,
        tx: &mut Tx<'_>,
        job_id: &str,
        node: Claimant<'_>,
        now: UnixMs,
    ) -> Result<Option<Job>, NodeError> {
        // Names the lease in its upload addresses; 128 random bits each, as a session would have.
        let secret = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
        let row = sqlx::query(
            "update jobs set state = 'leased', fence = fence + 1, attempt = attempt + 1, node_id = $1, leased_at_ms = $2,
                             lease_until_ms = $3, lease_secret_sha256 = $4, pipeline = $5, rate_microusd_per_hour = $6, stage = null, progress = null
             where id = $7 and state = 'queued'
             returning kind, vehicle, vehicle_key, view, colors, revision, seed, fence, attempt, deadline_ms, cost_microusd, budget_day,
                spent_microusd, traceparent",
        )
        .bind(node.node_id)
        .bind(now.0)
        .bind(self.lease_until_ms(now))
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
            let lease_ms = self.lease_until_ms(now) - now.0;
            let needed = node
                .rate_microusd_per_hour
                .map_or(self.settings().render_cost_microusd, |rate| cost::microusd(rate, lease_ms));
            let budget_day = row.try_get("budget_day")?;
            let covered = Covered { job_id, budget_day, cost_microusd, needed_microusd: spent + needed };
            if !self.cover(tx, covered).await? {
                self.end_for_budget(tx, job_id, fence).await?;
                return Ok(None);
            }
        }
        let unreadable =
            |column: &str, error: String| sqlx::Error::Decode(format!("jobs.{column} of {job_id}: {error}").into());
        let kind: JobKind = row
            .try_get::<&str, _>("kind")?
            .parse()
            .map_err(|e: cyclorama_core::UnknownName| unreadable("kind", e.to_string()))?;
        let view: View = row
            .try_get::<&str, _>("view")?
            .parse()
            .map_err(|e: cyclorama_core::UnknownName| unreadable("view", e.to_string()))?;
        let colours = colours_of(row.try_get("colors")?, "jobs.colors", job_id)?;
        let place = Place { job_id, fence, base_url: node.base_url, secret: &secret };
        let (layers_url, layers_sha256) = match kind {
            JobKind::Render => (None, None),
            JobKind::Paint => {
                let (vehicle_key, revision) = (row.try_get("vehicle_key")?, row.try_get("revision")?);
                let Some(stored) = layers::find(tx, vehicle_key, view, revision).await? else {
                    tracing::error!(job_id, vehicle_key, %view, revision, "a paint job's layers are not on record");
                    self.fail_for_good(tx, job_id, fence, FailureKind::Internal.as_str(), "its layers are gone")
                        .await?;
                    return Ok(None);
                };
                (Some(self.layers_address(place, &stored.key).await?), Some(stored.sha256))
            }
        };
        Ok(Some(Job {
            job_id: job_id.to_owned(),
            fence,
            deadline: row.try_get("deadline_ms")?,
            attempt: row.try_get::<i64, _>("attempt")? as u32,
            kind,
            vehicle: serde_json::from_str(row.try_get("vehicle")?).map_err(|e| unreadable("vehicle", e.to_string()))?,
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

    pub(super) fn lease_until_ms(&self, now: UnixMs) -> i64 {
        now.0 + self.settings().lease_seconds as i64 * 1000
    }

    /// Takes lost leases back and drops queued jobs that nobody waits for.
    pub(super) async fn sweep(&self) -> Result<(), sqlx::Error> {
        let now = self.0.clock.now();
        let pool = &self.0.database.readers;
        let lost = sqlx::query("select id, fence from jobs where state = 'leased' and lease_until_ms < $1 order by lease_until_ms limit $2")
            .bind(now.0)
            .bind(SWEEP_MAX)
            .fetch_all(pool)
            .await?;
        for row in lost {
            let (job_id, fence): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
            self.lose(&job_id, fence, Loss::Silence).await?;
        }
        let lapsed = sqlx::query(
            "select id from jobs where state = 'queued' and deadline_ms < $1 order by deadline_ms limit $2",
        )
        .bind(now.0)
        .bind(SWEEP_MAX)
        .fetch_all(pool)
        .await?;
        for row in lapsed {
            let job_id: String = row.try_get(0)?;
            let mut tx = self.0.database.begin().await?;
            self.lapse(&mut tx, &job_id, None).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// Ends an attempt whose node is gone. A lease that has moved on meanwhile is left alone.
    pub(super) async fn lose(&self, job_id: &str, fence: i64, why: Loss) -> Result<(), sqlx::Error> {
        let mut tx = self.0.database.begin().await?;
        let sql = "select node_id, leased_at_ms from jobs where id = $1 and fence = $2 and state = 'leased'";
        let held = match why {
            Loss::Silence => sqlx::query(sql).bind(job_id).bind(fence).fetch_optional(&mut *tx).await?,
            Loss::Drained | Loss::Left | Loss::Ended => None,
        };
        let ended = self.end_attempt(&mut tx, job_id, fence, FailureKind::Internal, why.as_str()).await?;
        if let (Some(held), Some(_)) = (held, &ended) {
            let lease = Silent { node_id: held.try_get(0)?, job_id, leased_at_ms: held.try_get(1)? };
            self.count_lost(&mut tx, lease).await?;
        }
        tx.commit().await?;
        if let Some(ended) = ended {
            tracing::warn!(job_id, fence, again = ended.again, why = why.as_str(), "a lease was lost");
            self.attempt_ended(job_id, fence, &ended);
        }
        Ok(())
    }
}

/// Why a lease is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    /// Its node's fault; everything else is not.
    Silence,
    Drained,
    Left,
    Ended,
}

impl Loss {
    /// In the words of the job's failure.
    fn as_str(self) -> &'static str {
        match self {
            Loss::Silence => "its node was not heard of",
            Loss::Drained => "the time of its node's drain was over",
            Loss::Left => "its node left",
            Loss::Ended => "its node ended",
        }
    }
}

/// `jobs.colors` is a JSON list of paints in their text form: only those that are not presets with their shadow have a `#` or end so.
macro_rules! job_has_custom_paints {
    () => {
        "(jobs.colors like '%#%' or jobs.colors like '%-no-shadow%')"
    };
}

/// Shared by both databases; `skip locked` lets several processes claim side by side on PostgreSQL.
macro_rules! claim {
    ($locking:literal) => {
        concat!(
            "select id, priority, queued_at_ms from jobs where state = 'queued' and deadline_ms >= $1 and priority <= $5
                and (last_node_id is null or last_node_id <> $2 or not exists (
                    select 1 from nodes n where n.id <> $2 and n.standing = 'active' and n.reported_state in ('ready', 'busy')
                        and n.seen_at_ms >= $3
                        and (n.custom_paints = 1 or not ", job_has_custom_paints!(), ")))
                and ($7 = 1 or not ", job_has_custom_paints!(), ")
                and (kind = 'paint' or coalesce((select microusd_per_day from budget where id = 1), $4)
                    > coalesce((select settled_microusd from budget_days where day = budget_day), 0))
             order by priority desc, turn, queued_at_ms, id
             limit $6",
            $locking
        )
    };
}
const CLAIM: &str = claim!("");
const CLAIM_SKIP_LOCKED: &str = claim!(" for update of jobs skip locked");

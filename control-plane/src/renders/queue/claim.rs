//! Claims jobs for a node that requests work: selects them and begins a lease of each. PostgreSQL
//! selects with `skip locked`, so that several processes can claim at once; SQLite has one writer
//! at a time anyway.

use super::lease::Claimant;
use super::node_error::NodeError;
use crate::clock::UnixMs;
use crate::db::DatabaseKind;
use crate::renders::Renders;
use crate::renders::lane::{Lane, PREWARM_EVERY};
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::Job;
use sqlx::Row;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A node counts as alive for the queue if it was seen within this many heartbeats.
pub const HEARTBEATS_MISSED_MAX: i64 = 3;

impl Renders {
    /// Leases up to `free` jobs to the node: in the order of lanes, by `turn` inside a lane, and
    /// one job of the prewarm lane before all others when it is due ([`PREWARM_EVERY`]).
    ///
    /// A job is not given twice in a row to the same node while another node is alive that can do
    /// it.
    pub(in crate::renders) async fn claim(&self, node: Claimant<'_>, free: i64) -> Result<Vec<Job>, NodeError> {
        let now = self.0.clock.now();
        let sql = match self.0.database.kind {
            DatabaseKind::Sqlite => CLAIM,
            DatabaseKind::Postgres => CLAIM_SKIP_LOCKED,
        };
        // Idle nodes poll twice a second, so this check takes no write lock.
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
                let leased = self.begin_lease(&mut tx, &job_id, node, now).await?;
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
        // Two concurrent claims may both find that a prewarm job is due, or neither:
        // `PREWARM_EVERY` is an average, not a schedule.
        match prewarmed {
            0 => self.0.since_prewarm.fetch_add(jobs.len() as u64, Ordering::Relaxed),
            _ => self.0.since_prewarm.swap(0, Ordering::Relaxed),
        };
        Ok(jobs)
    }

    /// Returns the time before which a node must not have been seen last to count as alive.
    pub(in crate::renders) fn silent_since_ms(&self, now: UnixMs) -> i64 {
        now.0 - HEARTBEATS_MISSED_MAX * self.settings().heartbeat_seconds as i64 * 1000
    }
}

/// SQL condition that a job has a paint that is not a preset with its shadow. `jobs.colors` is a
/// comma-separated list of paints in their text form; only such paints contain a `#` or end with
/// `-no-shadow`.
macro_rules! job_has_custom_paints {
    () => {
        "(jobs.colors like '%#%' or jobs.colors like '%-no-shadow%')"
    };
}

/// The claim's query, shared by both databases. `skip locked` lets several processes claim side by
/// side on PostgreSQL.
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

//! The life of a lease: renewed by heartbeats, ended by a failure, a loss or (in `result`) a result. Every change names the fence.

use super::budget;
use super::{ATTEMPTS_MAX, Renders, Stale};
use crate::db::Tx;
use cyclorama_core::objects::keys;
use cyclorama_core::wire::{FailureKind, JobKind, JobProgress};
use sqlx::Row;
use sqlx::any::AnyRow;

/// A lease is renewed for no longer than this in all: a node whose engine hangs while its heart beats would keep a job for ever.
const LEASE_MS_MAX: i64 = 15 * 60_000;

/// Longest detail of a failure that is kept, in characters.
const DETAIL_CHARS_MAX: usize = 500;

/// An attempt that has just ended.
pub(super) struct Ended {
    pub vehicle_key: String,
    pub view: String,
    attempt: i64,
    cost_microusd: i64,
    budget_day: String,
    /// Back in the queue.
    pub again: bool,
}

impl Ended {
    pub(super) fn read(row: &AnyRow, again: bool) -> Result<Self, sqlx::Error> {
        Ok(Ended {
            vehicle_key: row.try_get("vehicle_key")?,
            view: row.try_get("view")?,
            attempt: row.try_get("attempt")?,
            cost_microusd: row.try_get("cost_microusd")?,
            budget_day: row.try_get("budget_day")?,
            again,
        })
    }

    /// Counts the job's cost as spent when it ran at least once, and frees it otherwise.
    pub(super) async fn pay(&self, tx: &mut Tx<'_>) -> Result<(), sqlx::Error> {
        match (self.cost_microusd, self.attempt) {
            (0, _) => Ok(()),
            (cost, 0) => budget::free(tx, &self.budget_day, cost).await,
            (cost, _) => budget::settle(tx, &self.budget_day, cost).await,
        }
    }
}

impl Renders {
    /// Renews the leases a node reports. Returns the jobs it holds no lease of any more.
    pub(super) async fn renew(&self, node_id: &str, jobs: &[JobProgress]) -> Result<Vec<String>, sqlx::Error> {
        let now = self.0.clock.now();
        let mut cancel = Vec::new();
        for job in jobs {
            let renewed = self
                .0
                .database
                .write(
                    sqlx::query(
                        "update jobs set lease_until_ms = $1, stage = $2, progress = $3
                 where id = $4 and fence = $5 and node_id = $6 and state = 'leased' and leased_at_ms > $7",
                    )
                    .bind(self.lease_until_ms(now))
                    .bind(job.stage.chars().take(80).collect::<String>())
                    .bind(f64::from(job.progress))
                    .bind(&job.job_id)
                    .bind(job.fence)
                    .bind(node_id)
                    .bind(now.0 - LEASE_MS_MAX),
                )
                .await?;
            if renewed != 1 {
                cancel.push(job.job_id.clone());
            }
        }
        Ok(cancel)
    }

    /// A node reports that its attempt failed.
    pub async fn fail(
        &self,
        token_id: &str,
        job_id: &str,
        fence: i64,
        kind: FailureKind,
        detail: &str,
    ) -> Result<Result<(), Stale>, sqlx::Error> {
        let detail: String = detail.chars().take(DETAIL_CHARS_MAX).collect();
        let mut tx = self.0.database.begin().await?;
        let node = sqlx::query(
            "select node_id from jobs where id = $1 and fence = $2 and state = 'leased'
                and node_id in (select id from nodes where token_id = $3)",
        )
        .bind(job_id)
        .bind(fence)
        .bind(token_id)
        .fetch_optional(&mut *tx)
        .await?;
        let Some(node) = node else { return Ok(Err(Stale)) };
        let node_id: String = node.try_get(0)?;
        let Some(ended) = self.end_attempt(&mut tx, job_id, fence, kind, &detail).await? else { return Ok(Err(Stale)) };
        // A vehicle that cannot be drawn says nothing about the node.
        if kind != FailureKind::Model {
            self.count_failure(&mut tx, &node_id, job_id).await?;
        }
        tx.commit().await?;
        tracing::warn!(job_id, fence, %kind, detail, node_id, again = ended.again, "a node reported a failure");
        self.attempt_ended(job_id, fence, &ended).await;
        Ok(Ok(()))
    }

    /// Ends the attempt of a live lease: back into the queue, or failed for good, with everybody who waits. `None`: stale.
    pub(super) async fn end_attempt(
        &self,
        tx: &mut Tx<'_>,
        job_id: &str,
        fence: i64,
        kind: FailureKind,
        detail: &str,
    ) -> Result<Option<Ended>, sqlx::Error> {
        let now = self.0.clock.now();
        if kind != FailureKind::Model {
            let requeued = sqlx::query(
                "update jobs set state = 'queued', last_node_id = node_id, node_id = null, leased_at_ms = null, lease_until_ms = null,
                                 lease_secret_sha256 = null, stage = null, progress = null, failure_kind = $1, failure_detail = $2
                 where id = $3 and fence = $4 and state = 'leased' and attempt < $5
                 returning vehicle_key, view, attempt, cost_microusd, budget_day",
            )
            .bind(kind.as_str())
            .bind(detail)
            .bind(job_id)
            .bind(fence)
            .bind(ATTEMPTS_MAX)
            .fetch_optional(&mut **tx)
            .await?;
            if let Some(row) = requeued {
                return Ok(Some(Ended::read(&row, true)?));
            }
        }
        let failed = sqlx::query(
            "update jobs set state = 'failed', last_node_id = node_id, node_id = null, leased_at_ms = null, lease_until_ms = null,
                             lease_secret_sha256 = null, ended_at_ms = $1, failure_kind = $2, failure_detail = $3
             where id = $4 and fence = $5 and state = 'leased'
             returning vehicle_key, view, attempt, cost_microusd, budget_day",
        )
        .bind(now.0)
        .bind(kind.as_str())
        .bind(detail)
        .bind(job_id)
        .bind(fence)
        .fetch_optional(&mut **tx)
        .await?;
        let Some(row) = failed else { return Ok(None) };
        let ended = Ended::read(&row, false)?;
        sqlx::query(
            "update renders set state = 'failed', failure_kind = $1, failure_detail = $2, changed_at_ms = $3
             where vehicle_key = $4 and view = $5 and state = 'wanted'",
        )
        .bind(kind.as_str())
        .bind(detail)
        .bind(now.0)
        .bind(&ended.vehicle_key)
        .bind(&ended.view)
        .execute(&mut **tx)
        .await?;
        ended.pay(tx).await?;
        Ok(Some(ended))
    }

    /// Wakes whom it concerns and clears what the attempt had uploaded.
    pub(super) async fn attempt_ended(&self, job_id: &str, fence: i64, ended: &Ended) {
        if ended.again {
            self.0.queued.notify_waiters();
        } else {
            self.0.ended.notify_waiters();
        }
        if let Err(error) = self.clear_staging(job_id, fence).await {
            tracing::warn!(
                job_id,
                error = &*error as &dyn std::error::Error,
                "uploads of an ended attempt could not be removed"
            );
        }
    }

    async fn clear_staging(&self, job_id: &str, fence: i64) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let row = sqlx::query("select kind, colors from jobs where id = $1")
            .bind(job_id)
            .fetch_one(&self.0.database.pool)
            .await?;
        let kind: JobKind = row.try_get::<&str, _>(0)?.parse()?;
        let colours = super::state::colours_of(row.try_get(1)?, "jobs.colors", job_id)?;
        for upload in super::uploads::owed(kind, &colours, "") {
            self.0.store.delete(&keys::staging(job_id, fence, &upload.name)?).await?;
        }
        Ok(())
    }
}

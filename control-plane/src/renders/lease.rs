//! How a lease ends: by a failure, a loss, because nobody waits any more, or (in `result`) by a result. Every change of a lease names its fence. What renews it is `cost`.

use super::cost::SPENT_NOW;
use super::fault::Silent;
use super::lane::Lane;
use super::signals::Signal;
use super::{ATTEMPTS_MAX, LEASES_MAX, Renders, Stale};
use crate::db::Tx;
use crate::logs::causes;
use crate::plain_text;
use cyclorama_core::wire::FailureKind;
use sqlx::Row;
use sqlx::any::AnyRow;

/// How long a job is kept that lapsed before any node had it: an operator may look at what has just happened.
const LAPSED_KEPT_MS: i64 = 60 * 60_000;

/// Longest detail of a failure that is kept, in characters.
const DETAIL_CHARS_MAX: usize = 500;

/// In SQL: job `$1` under fence `$2`, leased by a node of token `$3`.
pub(super) const LEASED_BY_TOKEN: &str =
    "id = $1 and fence = $2 and state = 'leased' and node_id in (select id from nodes where token_id = $3)";

/// An attempt that has just ended.
pub(super) struct Ended {
    pub job_id: String,
    pub vehicle_key: String,
    pub view: String,
    pub attempt: i64,
    /// What the budget holds for the job.
    pub cost_microusd: i64,
    pub budget_day: String,
    pub rate_microusd_per_hour: Option<i64>,
    /// By all attempts on nodes with a price.
    pub spent_microusd: i64,
    /// Back in the queue.
    pub again: bool,
}

/// What [`Ended::read`] reads, of `jobs`.
pub(super) const ENDED_COLUMNS: &str =
    "id, vehicle_key, view, attempt, cost_microusd, budget_day, rate_microusd_per_hour, spent_microusd";

impl Ended {
    pub(super) fn read(row: &AnyRow, again: bool) -> Result<Self, sqlx::Error> {
        Ok(Ended {
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
}

/// In SQL, of a leased job: whether nobody waits for it any more at the moment that parameter `now` holds. Prewarming and renders made anew are
/// wanted until they are done. So is paint, which costs nothing and takes no longer than to stop it.
pub(super) fn unwanted(now: &str) -> String {
    let waited_for: Vec<String> =
        Lane::ALL.into_iter().filter(|lane| lane.is_waited_for()).map(|lane| lane.number().to_string()).collect();
    format!("(deadline_ms < {now} and kind = 'render' and priority in ({}))", waited_for.join(", "))
}

impl Renders {
    /// A node reports that its attempt failed.
    pub async fn fail(
        &self,
        token_id: &str,
        job_id: &str,
        fence: i64,
        kind: FailureKind,
        detail: &str,
    ) -> Result<Result<(), Stale>, sqlx::Error> {
        let detail = plain_text::readable(detail, DETAIL_CHARS_MAX);
        let mut tx = self.0.database.begin().await?;
        let node = sqlx::query(sqlx::AssertSqlSafe(format!("select node_id from jobs where {LEASED_BY_TOKEN}")))
            .bind(job_id)
            .bind(fence)
            .bind(token_id)
            .fetch_optional(&mut *tx)
            .await?;
        let Some(node) = node else { return Ok(Err(Stale)) };
        let node_id: String = node.try_get(0)?;
        let Some(ended) = self.end_attempt(&mut tx, job_id, fence, kind, &detail).await? else { return Ok(Err(Stale)) };
        // A vehicle that cannot be drawn says nothing about the node, and a store that takes nothing from any of them would have all of them
        // locked out by the time it is well again.
        if !matches!(kind, FailureKind::Model | FailureKind::Upload) {
            self.count_failure(&mut tx, &node_id, job_id).await?;
        }
        tx.commit().await?;
        tracing::warn!(job_id, fence, %kind, detail, node_id, again = ended.again, "a node reported a failure");
        self.attempt_ended(job_id, fence, &ended);
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
        if kind != FailureKind::Model {
            // A lease from before this process began ended because nodes could not reach the service: not the job's doing.
            let excused = "leased_at_ms < $7";
            let requeued = sqlx::query(sqlx::AssertSqlSafe(format!(
                "update jobs set state = 'queued', spent_microusd = {SPENT_NOW}, last_node_id = node_id, node_id = null,
                                 leased_at_ms = null, lease_until_ms = null, lease_secret_sha256 = null, stage = null, progress = null,
                                 attempt = case when {excused} then attempt - 1 else attempt end,
                                 failure_kind = $2, failure_detail = $3
                 where id = $4 and fence = $5 and state = 'leased' and fence < $8 and (attempt < $6 or {excused})
                 returning {ENDED_COLUMNS}"
            )))
            .bind(self.0.clock.now().0)
            .bind(kind.as_str())
            .bind(detail)
            .bind(job_id)
            .bind(fence)
            .bind(ATTEMPTS_MAX)
            .bind(self.0.began_at.0)
            .bind(LEASES_MAX)
            .fetch_optional(&mut **tx)
            .await?;
            if let Some(row) = requeued {
                return Ok(Some(Ended::read(&row, true)?));
            }
        }
        self.fail_for_good(tx, job_id, fence, kind.as_str(), detail).await
    }

    /// Ends a leased job, with everybody who waits. `None`: stale.
    pub(super) async fn fail_for_good(
        &self,
        tx: &mut Tx<'_>,
        job_id: &str,
        fence: i64,
        kind: &str,
        detail: &str,
    ) -> Result<Option<Ended>, sqlx::Error> {
        let now = self.0.clock.now();
        let failed = sqlx::query(sqlx::AssertSqlSafe(format!(
            "update jobs set state = 'failed', spent_microusd = {SPENT_NOW}, last_node_id = node_id, node_id = null,
                             leased_at_ms = null, lease_until_ms = null, lease_secret_sha256 = null, ended_at_ms = $1,
                             failure_kind = $2, failure_detail = $3
             where id = $4 and fence = $5 and state = 'leased' returning {ENDED_COLUMNS}"
        )))
        .bind(now.0)
        .bind(kind)
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

    /// Ends a job that nobody waits for any more: a queued one, or one that is `leased` under this fence to this node. `None`: somebody does, or
    /// it has moved on.
    pub(super) async fn lapse(
        &self,
        tx: &mut Tx<'_>,
        job_id: &str,
        leased: Option<(i64, &str)>,
    ) -> Result<Option<Ended>, sqlx::Error> {
        let now = self.0.clock.now();
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
        let ended = Ended::read(&row, false)?;
        sqlx::query("update renders set state = 'lapsed', changed_at_ms = $1 where vehicle_key = $2 and view = $3 and state = 'wanted'")
            .bind(now.0)
            .bind(&ended.vehicle_key)
            .bind(&ended.view)
            .execute(&mut **tx)
            .await?;
        ended.pay(tx).await?;
        if let Some(held) = held {
            self.count_lapsed(tx, Silent { node_id, job_id, leased_at_ms: held.try_get(0)? }).await?;
        }
        Ok(Some(ended))
    }

    /// Forgets jobs that lapsed an hour ago before any node had them. Whoever asks and hangs up makes one for nothing, as often as he likes.
    pub(super) async fn forget_lapsed(&self) -> Result<u64, sqlx::Error> {
        let forgetting =
            sqlx::query("delete from jobs where state = 'lapsed' and attempt = 0 and fence = 0 and ended_at_ms < $1");
        self.0.database.write(forgetting.bind(self.0.clock.now().0 - LAPSED_KEPT_MS)).await
    }

    /// Wakes whom it concerns and clears what the attempt had uploaded.
    pub(super) fn attempt_ended(&self, job_id: &str, fence: i64, ended: &Ended) {
        self.0.signals.give(match ended.again {
            // Not for the node that had it, so one is not enough.
            true => Signal::Anew,
            false => Signal::Ended { vehicle_key: ended.vehicle_key.clone(), view: ended.view.clone() },
        });
        // Beside whoever ended it: a store that does not answer must not hold up nodes and sweeps.
        let (renders, job_id) = (self.clone(), job_id.to_owned());
        tokio::spawn(async move {
            if let Err(error) = renders.clear_staging(&job_id, fence).await {
                tracing::warn!(job_id, error = causes(&*error), "uploads of an ended attempt could not be removed");
            }
        });
    }
}

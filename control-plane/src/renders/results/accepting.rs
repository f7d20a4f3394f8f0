//! The lease whose result is being accepted.

use super::error::ResultError;
use crate::renders::lane::{Lane, Requester};
use crate::renders::queue::{LEASED_BY_TOKEN, cover_result, lease_until_ms};
use crate::renders::state::{colours_of, column};
use crate::renders::{Renders, Stale};
use cyclorama_core::wire::JobKind;
use cyclorama_core::{Paint, View};
use sqlx::Row;

const ACCEPTING_COLUMNS: &str =
    "kind, vehicle_key, vehicle, view, colors, revision, priority, account_id, node_id, pipeline, is_candidate,
    lease_until_ms, leased_at_ms, rate_microusd_per_hour, spent_microusd, cost_microusd, budget_day";

/// A live lease whose result is being accepted.
pub struct Accepting {
    pub job_id: String,
    pub fence: i64,
    /// Identifies this check of the result: another check under the same lease has another name.
    pub attempt: String,
    pub kind: JobKind,
    pub vehicle_key: String,
    pub vehicle_json: String,
    pub view: View,
    pub colours: Vec<Paint>,
    pub revision: i64,
    pub requester: Requester,
    pub node_id: String,
    pub pipeline: String,
    /// True if the job's images wait for an operator's decision.
    pub is_candidate: bool,
}

impl Renders {
    /// Makes sure that no other node gets the job, and that the job does not expire, while its
    /// objects are checked and moved. Where the lease or the job's deadline has less than half of a
    /// lease's time left, both get a full one. Heartbeats keep leases above that, and polls keep
    /// deadlines above it, so nearly every result begins without a write. Fails with [`Stale`] if
    /// the lease is over.
    pub(in crate::renders) async fn begin_accepting(
        &self,
        token_id: &str,
        job_id: &str,
        fence: i64,
    ) -> Result<Accepting, ResultError> {
        let now = self.0.clock.now();
        let lease_until_ms = lease_until_ms(self.settings(), now);
        let half_way_ms = now.0 + (lease_until_ms - now.0) / 2;
        let long_enough = sqlx::query(sqlx::AssertSqlSafe(format!(
            "select {ACCEPTING_COLUMNS} from jobs where {LEASED_BY_TOKEN} and lease_until_ms >= $4 and deadline_ms >= $4",
        )))
        .bind(job_id)
        .bind(fence)
        .bind(token_id)
        .bind(half_way_ms)
        .fetch_optional(&self.0.database.readers)
        .await?;
        let row = match long_enough {
            Some(row) => row,
            None => {
                let renewing = sqlx::query(sqlx::AssertSqlSafe(format!(
                    "update jobs set lease_until_ms = $4, deadline_ms = case when deadline_ms < $4 then $4 else deadline_ms end
                     where {LEASED_BY_TOKEN} returning {ACCEPTING_COLUMNS}",
                )))
                .bind(job_id)
                .bind(fence)
                .bind(token_id)
                .bind(lease_until_ms);
                let mut tx = self.0.database.begin().await?;
                let renewed = renewing.fetch_optional(&mut *tx).await?.ok_or(Stale)?;
                cover_result(&mut tx, self.settings(), job_id, &renewed).await?;
                tx.commit().await?;
                renewed
            }
        };
        Ok(Accepting {
            job_id: job_id.to_owned(),
            fence,
            attempt: uuid::Uuid::now_v7().to_string(),
            kind: column(row.try_get("kind")?, "jobs.kind", job_id)?,
            vehicle_key: row.try_get("vehicle_key")?,
            vehicle_json: row.try_get("vehicle")?,
            view: column(row.try_get("view")?, "jobs.view", job_id)?,
            colours: colours_of(row.try_get("colors")?, "jobs.colors", job_id)?,
            revision: row.try_get("revision")?,
            requester: Requester { lane: Lane::of(row.try_get("priority")?), account_id: row.try_get("account_id")? },
            node_id: row.try_get("node_id")?,
            pipeline: row.try_get("pipeline")?,
            is_candidate: row.try_get::<i64, _>("is_candidate")? == 1,
        })
    }
}

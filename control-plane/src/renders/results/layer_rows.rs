//! Rows of layers, both of those that are served and of candidates.

use super::accepting::Accepting;
use super::verify::VerifiedUpload;
use crate::clock::UnixMs;
use crate::db::Tx;

/// SQL clause with which a row of layers replaces the one before it.
pub const REPLACES_LAYERS: &str = "on conflict (vehicle_key, view) do update set revision = excluded.revision,
    sha256 = excluded.sha256, bytes = excluded.bytes, pipeline = excluded.pipeline, job_id = excluded.job_id,
    made_at_ms = excluded.made_at_ms, named_by_sha256 = excluded.named_by_sha256";

/// Writes the row of a vehicle and view in `layers`, or in `candidate_layers`, in place of an
/// earlier one.
pub async fn insert_layers(
    tx: &mut Tx<'_>,
    table: &'static str,
    job: &Accepting,
    layers: &VerifiedUpload,
    now: UnixMs,
) -> Result<(), sqlx::Error> {
    let sql = format!(
        "insert into {table} (vehicle_key, view, revision, sha256, named_by_sha256, bytes, pipeline, job_id, made_at_ms)
         values ($1, $2, $3, $4, $4, $5, $6, $7, $8) {REPLACES_LAYERS}"
    );
    sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(&job.vehicle_key)
        .bind(job.view.as_str())
        .bind(job.revision)
        .bind(&layers.sha256)
        .bind(layers.bytes as i64)
        .bind(&job.pipeline)
        .bind(&job.job_id)
        .bind(now.0)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

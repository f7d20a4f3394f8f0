//! The light layers of a vehicle and view: their row, and the object that it names.

use super::publish::Verified;
use super::result::Accepting;
use crate::clock::UnixMs;
use crate::db::Tx;
use crate::objects::{InvalidKey, ObjectKey, keys};
use cyclorama_core::View;
use sqlx::{AnyConnection, Row};

/// How a row of layers takes the place of the one before it.
pub(super) const REPLACES_LAYERS: &str = "on conflict (vehicle_key, view) do update set revision = excluded.revision,
    sha256 = excluded.sha256, bytes = excluded.bytes, pipeline = excluded.pipeline, job_id = excluded.job_id,
    made_at_ms = excluded.made_at_ms, named_by_sha256 = excluded.named_by_sha256";

/// What is stored of a vehicle and view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredLayers {
    pub key: ObjectKey,
    /// Of the object's bytes, lower-case hex.
    pub sha256: String,
}

/// The layers of a vehicle and view in a revision; `None` when those are not the ones that are kept.
pub(super) async fn find(
    connection: &mut AnyConnection,
    vehicle_key: &str,
    view: View,
    revision: i64,
) -> Result<Option<StoredLayers>, sqlx::Error> {
    let sql = "select sha256, named_by_sha256 from layers where vehicle_key = $1 and view = $2 and revision = $3";
    let row = sqlx::query(sql).bind(vehicle_key).bind(view.as_str()).bind(revision).fetch_optional(connection).await?;
    let Some(row) = row else { return Ok(None) };
    let (sha256, named_by): (String, Option<String>) = (row.try_get(0)?, row.try_get(1)?);
    let key = key(vehicle_key, view, revision, &sha256, named_by.as_deref());
    let key = key.map_err(|error| sqlx::Error::Decode(format!("layers of {vehicle_key} {view}: {error}").into()))?;
    Ok(Some(StoredLayers { key, sha256 }))
}

/// The name of a row's object. Rows that an older version wrote name theirs by revision alone.
fn key(
    vehicle_key: &str,
    view: View,
    revision: i64,
    sha256: &str,
    named_by: Option<&str>,
) -> Result<ObjectKey, InvalidKey> {
    match named_by {
        Some(named_by) if named_by == sha256 => keys::layers(vehicle_key, view, revision as u64, sha256),
        _ => keys::layers_by_revision(vehicle_key, view, revision as u64),
    }
}

/// Writes the row of a vehicle and view in `layers`, or in `candidate_layers`, in the place of an earlier one.
pub(super) async fn insert(
    tx: &mut Tx<'_>,
    table: &'static str,
    job: &Accepting,
    layers: &Verified,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_older_versions_name_their_object_by_revision() {
        let (sha256, other) = ("a".repeat(64), "b".repeat(64));
        let of = |named_by: Option<&str>| {
            key("bmw/x5/2020", View::Side, 2, &sha256, named_by).expect("a key").as_str().to_owned()
        };
        assert_eq!(of(Some(&sha256)), format!("layers/bmw/x5/2020/side/2-{sha256}"));
        // An older process beside a newer one leaves the column as it found it.
        for named_by in [None, Some(other.as_str()), Some("")] {
            assert_eq!(of(named_by), "layers/bmw/x5/2020/side/2", "{named_by:?}");
        }
    }
}

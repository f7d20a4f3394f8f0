//! The layers of a vehicle and view: their row, and the object that the row names.

use crate::objects::{InvalidKey, ObjectKey, keys};
use cyclorama_core::View;
use sqlx::{AnyConnection, Row};

/// The stored layers of a vehicle and view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredLayers {
    pub key: ObjectKey,
    /// SHA-256 of the object's bytes, in lower-case hex.
    pub sha256: String,
}

/// Returns the layers of a vehicle and view in a revision, or `None` when other layers, or none,
/// are stored.
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

/// Returns the key of a row's object. A row that an older version wrote names its object by
/// revision alone.
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

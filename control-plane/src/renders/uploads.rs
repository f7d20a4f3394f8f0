//! What a job's node owes, and the one-time addresses it is uploaded to when the store is files.
//!
//! An address holds a secret of the lease, so it opens one job's staging area for as long as the lease lives and nothing else.
//! What was uploaded becomes visible only through `result`.

use super::Renders;
use bytes::Bytes;
use cyclorama_core::objects::{OBJECT_BYTES_MAX, ObjectError, ObjectKey, keys};
use cyclorama_core::wire::{JobKind, Upload};
use cyclorama_core::{Colour, Format, MASTER_SIDE_PX, SizePreset};
use sha2::{Digest, Sha256};
use sqlx::Row;

pub(super) const LAYERS: &str = "layers";

/// A 1024 px RGBA picture is 4 MiB before compression, and no encoder makes it twice as large.
const PICTURE_BYTES_MAX: usize = 8 << 20;

#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    #[error("this address is not, or no longer, open for uploads")]
    Closed,
    #[error("the object store failed")]
    Store(#[from] ObjectError),
    #[error("the database does not answer")]
    Database(#[from] sqlx::Error),
}

/// An upload address that is open now.
#[derive(Debug)]
pub struct OpenUpload {
    staging: ObjectKey,
    /// Largest body it takes.
    pub bytes_max: usize,
}

/// Every object the node of a job owes, uploaded to `{address}/{name}`.
pub(super) fn owed(kind: JobKind, colours: &[Colour], address: &str) -> Vec<Upload> {
    let upload = |name: String, media_type: &str, side_px: u32| Upload {
        url: format!("{address}/{name}"),
        headers: vec![("content-type".to_owned(), media_type.to_owned())],
        media_type: media_type.to_owned(),
        width: side_px,
        height: side_px,
        name,
    };
    let mut owed = Vec::new();
    if kind == JobKind::Render {
        owed.push(upload(LAYERS.to_owned(), "application/octet-stream", 0));
    }
    for colour in colours {
        owed.push(upload(master_name(*colour), Format::Png.media_type(), MASTER_SIDE_PX));
        for size in SizePreset::ALL {
            for format in Format::ALL {
                owed.push(upload(preset_name(*colour, *size, *format), format.media_type(), size.side_px()));
            }
        }
    }
    owed
}

pub(super) fn master_name(colour: Colour) -> String {
    format!("master.{colour}.png")
}

pub(super) fn preset_name(colour: Colour, size: SizePreset, format: Format) -> String {
    format!("{}.{colour}.{format}", size.side_px())
}

impl Renders {
    /// The staging place of one object of the lease that the secret belongs to.
    pub async fn open_upload(&self, secret: &str, name: &str) -> Result<OpenUpload, UploadError> {
        let row = self.leased_by(secret, "kind, colors").await?.ok_or(UploadError::Closed)?;
        let (job_id, fence): (String, i64) = (row.try_get("id")?, row.try_get("fence")?);
        let kind: JobKind = super::state::column(row.try_get("kind")?, "jobs.kind", &job_id)?;
        let colours = super::state::colours_of(row.try_get("colors")?, "jobs.colors", &job_id)?;
        if !owed(kind, &colours, "").iter().any(|upload| upload.name == name) {
            return Err(UploadError::Closed);
        }
        let staging = keys::staging(&job_id, fence, name).map_err(ObjectError::from)?;
        let bytes_max = if name == LAYERS { OBJECT_BYTES_MAX as usize } else { PICTURE_BYTES_MAX };
        Ok(OpenUpload { staging, bytes_max })
    }

    /// Stores what was uploaded; sending it again replaces it.
    pub async fn take_upload(&self, upload: &OpenUpload, bytes: Bytes) -> Result<(), UploadError> {
        Ok(self.0.store.put(&upload.staging, bytes).await?)
    }

    /// The stored layers that a paint job works from.
    pub async fn layers_for(&self, secret: &str) -> Result<Bytes, UploadError> {
        let row = self.leased_by(secret, "vehicle_key, view, revision").await?.ok_or(UploadError::Closed)?;
        let view = super::state::column(row.try_get("view")?, "jobs.view", row.try_get("id")?)?;
        let revision: i64 = row.try_get("revision")?;
        let key = keys::layers_of(row.try_get("vehicle_key")?, view, revision as u64).map_err(ObjectError::from)?;
        Ok(self.0.store.get(&key).await?)
    }

    async fn leased_by(&self, secret: &str, columns: &'static str) -> Result<Option<sqlx::any::AnyRow>, sqlx::Error> {
        // The columns are named by this module.
        sqlx::query(sqlx::AssertSqlSafe(format!(
            "select id, fence, {columns} from jobs where lease_secret_sha256 = $1 and state = 'leased' and lease_until_ms >= $2"
        )))
        .bind(hex::encode(Sha256::digest(secret)))
        .bind(self.0.clock.now().0)
        .fetch_optional(&self.0.database.pool)
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_render_owes_layers_and_a_paint_job_does_not() {
        let colours = [Colour::Red, Colour::Blue];
        for (kind, objects) in [(JobKind::Render, 1 + 2 * 13), (JobKind::Paint, 2 * 13)] {
            let owed = owed(kind, &colours, "http://x/u/s");
            assert_eq!(owed.len(), objects);
            let mut names: Vec<&str> = owed.iter().map(|upload| upload.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), objects);
        }
        let owed = owed(JobKind::Render, &[Colour::Red], "http://x/u/s");
        let jpg = owed.iter().find(|upload| upload.name == "768.red.jpg").expect("a preset");
        assert_eq!(
            (jpg.url.as_str(), jpg.media_type.as_str(), jpg.width),
            ("http://x/u/s/768.red.jpg", "image/jpeg", 768)
        );
    }
}

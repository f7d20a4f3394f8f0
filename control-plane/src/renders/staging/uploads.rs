//! The addresses to which a job's node uploads its objects: presigned ones of the bucket, or the
//! control plane's own when the store is files.
//!
//! An own address contains a secret of the lease, so it opens the staging area of one lease for as
//! long as the lease lives, and nothing else. It is closed while a result is checked; when the
//! result is refused, it accepts objects again. A presigned address opens one object of that area,
//! for a little longer than any lease can live; an object that is uploaded late is never served.
//! Uploaded objects become visible only through `results`.

use super::owed::{RequiredObject, owed};
use crate::objects::{ObjectError, ObjectKey, keys};
use crate::renders::receiving::NoPlace;
use crate::renders::state::{colours_of, column};
use crate::renders::{LEASE_MS_MAX, Renders, layers};
use bytes::Bytes;
use cyclorama_core::Paint;
use cyclorama_core::wire::{JobKind, ObjectName, Upload};
use futures::{Stream, StreamExt};
use sha2::{Digest, Sha256};
use sqlx::Row;
use std::collections::HashSet;
use std::pin::pin;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

/// The errors with which an upload is refused.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    #[error("this URL is not open for uploads, or not any more")]
    Closed,
    #[error("a newer upload of this object has begun")]
    Replaced,
    #[error("too many uploads are under way")]
    TooMany,
    #[error("the object is larger than {bytes_max} bytes")]
    TooLarge { bytes_max: usize },
    #[error("the body could not be read to its end")]
    Unreadable,
    #[error("the object store failed")]
    Store(#[from] ObjectError),
    #[error("the database did not answer")]
    Database(#[from] sqlx::Error),
}

/// Time for which a presigned address outlives its lease, because the last upload of a lease may
/// still be under way.
const PRESIGNED_AFTER_LEASE: Duration = Duration::from_secs(60);

/// A lease for whose node addresses are made.
#[derive(Debug, Clone, Copy)]
pub struct LeasePlace<'a> {
    pub job_id: &'a str,
    pub fence: i64,
    /// The beginning of the control plane's own addresses.
    pub base_url: &'a str,
    /// The secret that names the lease in those addresses.
    pub secret: &'a str,
}

/// An upload address that is open now.
#[derive(Debug)]
pub struct OpenUpload {
    job_id: String,
    /// The token of the node that has the lease.
    token_id: String,
    fence: i64,
    staging: ObjectKey,
    /// Maximum size of the body, in bytes.
    pub bytes_max: usize,
}

/// Keeps the lease's own upload addresses closed until it is dropped.
pub struct ClosedUploads {
    renders: Renders,
    /// `None` if another value closed them already.
    lease: Option<(String, i64)>,
}

impl Drop for ClosedUploads {
    fn drop(&mut self) {
        if let Some(lease) = &self.lease {
            self.renders.accepting().remove(lease);
        }
    }
}

impl From<NoPlace> for UploadError {
    fn from(why: NoPlace) -> Self {
        match why {
            NoPlace::TooMany => UploadError::TooMany,
            NoPlace::Replaced => UploadError::Replaced,
        }
    }
}

impl Renders {
    /// Returns the addresses to which the node of a lease uploads its objects.
    pub(in crate::renders) async fn upload_addresses(
        &self,
        place: LeasePlace<'_>,
        kind: JobKind,
        colours: &[Paint],
    ) -> Result<Vec<Upload>, ObjectError> {
        let mut uploads = Vec::new();
        for RequiredObject { name, media_type, side_px } in owed(kind, colours) {
            let staged = keys::staging(place.job_id, place.fence, &name)?;
            let now = self.0.clock.now();
            let presigned = self.0.store.presigned_put(&staged, media_type, now, self.presigned_for()).await?;
            let (url, headers) = match presigned {
                Some(presigned) => (presigned.url, presigned.headers),
                None => (
                    format!("{}/node/v1/uploads/{}/{name}", place.base_url, place.secret),
                    vec![("content-type".to_owned(), media_type.to_owned())],
                ),
            };
            let media_type = media_type.to_owned();
            uploads.push(Upload { name, url, headers, media_type, width: side_px, height: side_px });
        }
        Ok(uploads)
    }

    /// Returns the address from which the node of a paint job's lease reads the layers.
    pub(in crate::renders) async fn layers_address(
        &self,
        place: LeasePlace<'_>,
        layers: &ObjectKey,
    ) -> Result<String, ObjectError> {
        match self.0.store.presigned_get(layers, self.0.clock.now(), self.presigned_for()).await? {
            Some(presigned) => Ok(presigned.url),
            None => Ok(format!("{}/node/v1/layers/{}", place.base_url, place.secret)),
        }
    }

    /// Fetches the credentials that sign addresses, if they have expired. Call this before a
    /// transaction, because other transactions wait behind it.
    pub(in crate::renders) async fn ready_to_sign(&self) -> Result<(), ObjectError> {
        self.0
            .store
            .presigned_get(&ObjectKey::new("probe/none")?, self.0.clock.now(), self.presigned_for())
            .await
            .map(drop)
    }

    /// Returns how long a presigned address is valid: until the longest lease is over, and a little
    /// longer.
    fn presigned_for(&self) -> Duration {
        let lease = Duration::from_millis(LEASE_MS_MAX.unsigned_abs());
        lease + Duration::from_secs(self.settings().lease_seconds) + PRESIGNED_AFTER_LEASE
    }

    /// Returns the upload address of one object of the lease that the secret belongs to. Fails with
    /// [`UploadError::Closed`] if the lease is over, if its result is being checked, or if the job
    /// requires no such object.
    pub async fn open_upload(&self, secret: &str, name: &ObjectName) -> Result<OpenUpload, UploadError> {
        let row = self
            .leased_by(secret, "kind, colors, (select token_id from nodes where nodes.id = jobs.node_id) as token_id")
            .await?
            .ok_or(UploadError::Closed)?;
        let (job_id, fence): (String, i64) = (row.try_get("id")?, row.try_get("fence")?);
        self.is_open(&job_id, fence)?;
        let kind: JobKind = column(row.try_get("kind")?, "jobs.kind", &job_id)?;
        let colours = colours_of(row.try_get("colors")?, "jobs.colors", &job_id)?;
        let Some(owed) = owed(kind, &colours).into_iter().find(|owed| owed.name == *name) else {
            return Err(UploadError::Closed);
        };
        let staging = keys::staging(&job_id, fence, name).map_err(ObjectError::from)?;
        let bytes_max = owed.bytes_max() as usize;
        let token_id = row.try_get::<Option<String>, _>("token_id")?.ok_or(UploadError::Closed)?;
        Ok(OpenUpload { job_id, token_id, fence, staging, bytes_max })
    }

    /// Stores an upload, piece by piece. A repeated upload of the object replaces the earlier one,
    /// and ends it if it is still under way.
    pub async fn take_upload<E>(
        &self,
        upload: &OpenUpload,
        pieces: impl Stream<Item = Result<Bytes, E>>,
    ) -> Result<(), UploadError> {
        let place = self.0.receiving.begin(&upload.token_id, &upload.staging).await?;
        // Objects of a bucket are uploaded to the bucket and not here.
        let mut incoming = self.0.store.receive(&upload.staging).await?.ok_or(UploadError::Closed)?;
        let mut pieces = pin!(pieces);
        let mut room = upload.bytes_max;
        loop {
            let piece = tokio::select! {
                piece = pieces.next() => piece,
                () = place.replaced() => return Err(UploadError::Replaced),
            };
            let Some(piece) = piece else { break };
            let piece = piece.map_err(|_| UploadError::Unreadable)?;
            room = room.checked_sub(piece.len()).ok_or(UploadError::TooLarge { bytes_max: upload.bytes_max })?;
            incoming.write(&piece).await?;
        }
        // The body may have taken long, so the address may be closed now.
        self.is_open(&upload.job_id, upload.fence)?;
        Ok(incoming.finish().await?)
    }

    /// Closes this process's own addresses of a lease while its result is checked, until the
    /// returned value is dropped. Other processes that share a folder may each accept an upload
    /// meanwhile; that changes nothing that is being checked.
    pub(in crate::renders) fn close_uploads(&self, job_id: &str, fence: i64) -> ClosedUploads {
        let lease = (job_id.to_owned(), fence);
        let is_first = self.accepting().insert(lease.clone());
        ClosedUploads { renders: self.clone(), lease: is_first.then_some(lease) }
    }

    fn is_open(&self, job_id: &str, fence: i64) -> Result<(), UploadError> {
        match self.accepting().contains(&(job_id.to_owned(), fence)) {
            true => Err(UploadError::Closed),
            false => Ok(()),
        }
    }

    fn accepting(&self) -> MutexGuard<'_, HashSet<(String, i64)>> {
        self.0.accepting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the bytes of the stored layers that a paint job works from, after their digest was
    /// verified. Fails with [`UploadError::Closed`] if the lease is over or the layers are gone.
    pub async fn layers_for(&self, secret: &str) -> Result<Bytes, UploadError> {
        let row = self.leased_by(secret, "vehicle_key, view, revision").await?.ok_or(UploadError::Closed)?;
        let view = column(row.try_get("view")?, "jobs.view", row.try_get("id")?)?;
        let mut connection = self.0.database.readers.acquire().await?;
        let stored = layers::find(&mut connection, row.try_get("vehicle_key")?, view, row.try_get("revision")?).await?;
        drop(connection);
        let stored = stored.ok_or(UploadError::Closed)?;
        let bytes = self.0.store.get(&stored.key).await?;
        if hex::encode(Sha256::digest(&bytes)) != stored.sha256 {
            return Err(ObjectError::Altered { key: stored.key }.into());
        }
        Ok(bytes)
    }

    async fn leased_by(&self, secret: &str, columns: &'static str) -> Result<Option<sqlx::any::AnyRow>, sqlx::Error> {
        // The columns are named by this module, so the statement is safe.
        sqlx::query(sqlx::AssertSqlSafe(format!(
            "select id, fence, {columns} from jobs where lease_secret_sha256 = $1 and state = 'leased' and lease_until_ms >= $2"
        )))
        .bind(hex::encode(Sha256::digest(secret)))
        .bind(self.0.clock.now().0)
        .fetch_optional(&self.0.database.readers)
        .await
    }
}

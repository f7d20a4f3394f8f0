//! The objects of a result: they are pinned, verified, and then given the keys that readers know.
//!
//! A node keeps the addresses of its uploads for a while, so the object under an upload's key may
//! change at any moment. Each upload is therefore first given a second key that no address leads
//! to. The object under the second key is verified, and the verified object is published. (A
//! bucket's ETag would not do: it is an MD5 digest, and two objects with the same one can be made.)
//!
//!
//! Why: `docs/decisions/object-store.md` (Publishing a result: verified under a second name).

use super::accepting::Accepting;
use super::error::{RejectedObject, ResultError};
use crate::objects::{ObjectError, ObjectKey, keys};
use crate::renders::staging::{RequiredObject, owed};
use crate::renders::{Renders, Stale};
use bytes::Bytes;
use cyclorama_core::encoding::{decode_master, probe};
use cyclorama_core::wire::{JobKind, ObjectName, ResultRequest};
use cyclorama_core::{Format, MASTER_SIDE_PX, SizePreset};
use futures::{StreamExt, TryStreamExt, stream};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Maximum number of objects of one result that are read or moved at once: enough to hide a
/// bucket's latency, few enough to hold in memory.
const OBJECTS_AT_ONCE: usize = 6;

/// An upload that was verified.
pub struct VerifiedUpload {
    pub sha256: String,
    pub bytes: u64,
}

impl Renders {
    /// Pins and verifies every object that the job requires. Fails with [`RejectedObject`] for the
    /// first one that is missing or wrong.
    pub(in crate::renders) async fn verify_uploads(
        &self,
        job: &Accepting,
        result: &ResultRequest,
    ) -> Result<HashMap<ObjectName, VerifiedUpload>, ResultError> {
        let checks = owed(job.kind, &job.colours).into_iter().map(|owed| self.verify_upload(job, result, owed));
        // In order, so that of several wrong objects the error always names the same one.
        stream::iter(checks).buffered(OBJECTS_AT_ONCE).try_collect().await
    }

    async fn verify_upload(
        &self,
        job: &Accepting,
        result: &ResultRequest,
        owed: RequiredObject,
    ) -> Result<(ObjectName, VerifiedUpload), ResultError> {
        let name = owed.name.clone();
        let rejected = |reason: &str| RejectedObject { name: name.to_string(), reason: reason.to_owned() };
        let reported = result.objects.iter().find(|object| object.name == name);
        let reported = reported.ok_or_else(|| rejected("is not in the result"))?;
        if reported.bytes > owed.bytes_max() {
            return Err(rejected(&format!("may have at most {} bytes", owed.bytes_max())).into());
        }
        let bytes = match self.pinned(job, &name).await {
            Ok(bytes) => bytes,
            Err(ObjectError::Missing { .. }) => return Err(rejected("was not uploaded").into()),
            // A presigned upload to a bucket has no limit of size.
            Err(error @ ObjectError::TooLarge { .. }) => return Err(rejected(&error.to_string()).into()),
            Err(error) => return Err(error.into()),
        };
        let claimed = (reported.sha256.to_ascii_lowercase(), reported.bytes);
        // Hashing and decoding take milliseconds of processor time each.
        let checked = tokio::task::spawn_blocking(move || check(&owed, &claimed.0, claimed.1, &bytes))
            .await
            .map_err(|_| rejected("could not be read"))?;
        let verified = checked.map_err(|reason| rejected(&reason))?;
        Ok((name, verified))
    }

    /// Pins the object that was uploaded under a name, and reads the pinned one.
    async fn pinned(&self, job: &Accepting, name: &ObjectName) -> Result<Bytes, ObjectError> {
        let pinned = keys::pinned(&job.job_id, job.fence, &job.attempt, name)?;
        self.0.store.pin(&keys::staging(&job.job_id, job.fence, name)?, &pinned).await?;
        self.0.store.get(&pinned).await
    }

    /// Gives the verified objects the keys under which readers find them, if the lease still lives.
    /// All keys contain the digest of the object's content, and an object that already has such a
    /// key keeps it. Should the lease end just then, one more object exists that no row names.
    pub(in crate::renders) async fn publish(
        &self,
        job: &Accepting,
        verified: &HashMap<ObjectName, VerifiedUpload>,
    ) -> Result<(), ResultError> {
        let lives = sqlx::query("select 1 from jobs where id = $1 and fence = $2 and state = 'leased'")
            .bind(&job.job_id)
            .bind(job.fence)
            .fetch_optional(&self.0.database.readers)
            .await?;
        lives.ok_or(Stale)?;
        let mut names = Vec::new();
        if job.kind == JobKind::Render
            && let Some(layers) = verified.get(&ObjectName::Layers)
        {
            let key = keys::layers(&job.vehicle_key, job.view, job.revision as u64, &layers.sha256)?;
            names.push((ObjectName::Layers, key));
        }
        for colour in &job.colours {
            let master_name = ObjectName::Master(*colour);
            let Some(master) = verified.get(&master_name) else { continue };
            for size in SizePreset::ALL.iter().filter(|_| colour.is_preset()) {
                for format in &Format::UPLOADED {
                    let side_px = size.side_px();
                    let derived = keys::derived(&master.sha256, side_px, side_px, *format)?;
                    names.push((ObjectName::Preset { side_px, paint: *colour, format: *format }, derived));
                }
            }
            let name = if colour.is_preset() { keys::master } else { keys::custom_master };
            names.push((master_name, name(&master.sha256)?));
        }
        let moves = names.into_iter().map(|(name, to)| self.publish_one(job, name, to));
        stream::iter(moves).buffered(OBJECTS_AT_ONCE).try_collect().await
    }

    async fn publish_one(&self, job: &Accepting, name: ObjectName, to: ObjectKey) -> Result<(), ResultError> {
        let pinned = keys::pinned(&job.job_id, job.fence, &job.attempt, &name)?;
        self.0.store.publish(&pinned, &to).await?;
        Ok(())
    }
}

/// Verifies that the bytes are those that the node reported, and what the job requires.
fn check(
    owed: &RequiredObject,
    claimed_sha256: &str,
    claimed_bytes: u64,
    bytes: &Bytes,
) -> Result<VerifiedUpload, String> {
    if bytes.len() as u64 != claimed_bytes {
        return Err(format!("has {} bytes, but the result says {claimed_bytes}", bytes.len()));
    }
    let sha256 = hex::encode(Sha256::digest(bytes));
    if sha256 != claimed_sha256 {
        return Err("does not have the digest that the result says".to_owned());
    }
    if owed.name != ObjectName::Layers {
        let found = probe(bytes).map_err(|error| error.to_string())?;
        if (found.format.media_type(), found.width, found.height) != (owed.media_type, owed.side_px, owed.side_px) {
            return Err(format!(
                "is {} of {}x{}, not {} of {}x{}",
                found.format.media_type(),
                found.width,
                found.height,
                owed.media_type,
                owed.side_px,
                owed.side_px
            ));
        }
        // Every other size is made from the master later, so the master must be readable to the
        // last pixel.
        if matches!(owed.name, ObjectName::Master(_)) {
            decode_master(bytes, MASTER_SIDE_PX).map_err(|error| error.to_string())?;
        }
    }
    Ok(VerifiedUpload { sha256, bytes: claimed_bytes })
}

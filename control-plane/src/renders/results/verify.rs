//! The objects of a result: pinned, verified, then given the names that readers know.
//!
//! A node keeps the addresses of its uploads for a while, so what an upload's name holds may change at any moment. Each upload is therefore
//! given a second name first that no address leads to; what has that name is verified, and what was verified is what is published. (A
//! bucket's ETag would not do: it is an MD5 digest, and two objects with the same one can be made.)
//!
//! Why: `docs/decisions/object-store.md` (Publishing a result: verified under a second name).

use super::accepting::Accepting;
use super::error::{Rejected, ResultError};
use crate::objects::{ObjectError, ObjectKey, keys};
use crate::renders::staging::{Owed, owed};
use crate::renders::{Renders, Stale};
use bytes::Bytes;
use cyclorama_core::encoding::{decode_master, probe};
use cyclorama_core::wire::{JobKind, ObjectName, ResultRequest};
use cyclorama_core::{Format, MASTER_SIDE_PX, SizePreset};
use futures::{StreamExt, TryStreamExt, stream};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Objects of one result that are read or moved at once: enough to hide a bucket's distance, few enough to hold in memory.
const OBJECTS_AT_ONCE: usize = 6;

/// An upload that is what was asked for.
pub struct Verified {
    pub sha256: String,
    pub bytes: u64,
}

impl Renders {
    /// Pins and verifies every object that the job owes.
    pub(in crate::renders) async fn verify_uploads(
        &self,
        job: &Accepting,
        result: &ResultRequest,
    ) -> Result<HashMap<ObjectName, Verified>, ResultError> {
        let checks = owed(job.kind, &job.colours).into_iter().map(|owed| self.verify_upload(job, result, owed));
        // In order, so that of several that are wrong it is always the same that is named.
        stream::iter(checks).buffered(OBJECTS_AT_ONCE).try_collect().await
    }

    async fn verify_upload(
        &self,
        job: &Accepting,
        result: &ResultRequest,
        owed: Owed,
    ) -> Result<(ObjectName, Verified), ResultError> {
        let name = owed.name.clone();
        let rejected = |reason: &str| Rejected { name: name.to_string(), reason: reason.to_owned() };
        let reported = result.objects.iter().find(|object| object.name == name);
        let reported = reported.ok_or_else(|| rejected("is not in the result"))?;
        if reported.bytes > owed.bytes_max() {
            return Err(rejected(&format!("may have at most {} bytes", owed.bytes_max())).into());
        }
        let bytes = match self.pinned(job, &name).await {
            Ok(bytes) => bytes,
            Err(ObjectError::Missing { .. }) => return Err(rejected("was not uploaded").into()),
            // A bucket takes what it is given.
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

    /// Pins what was uploaded under a name, and reads what it pinned.
    async fn pinned(&self, job: &Accepting, name: &ObjectName) -> Result<Bytes, ObjectError> {
        let pinned = keys::pinned(&job.job_id, job.fence, &job.attempt, name)?;
        self.0.store.pin(&keys::staging(&job.job_id, job.fence, name)?, &pinned).await?;
        self.0.store.get(&pinned).await
    }

    /// Gives the verified objects the names where readers find them, if the lease still lives. All names are those of what the objects
    /// hold, and what has such a name keeps it: should the lease end just then, there is an object more that no row names.
    pub(in crate::renders) async fn publish(
        &self,
        job: &Accepting,
        verified: &HashMap<ObjectName, Verified>,
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

/// Whether the bytes are what the node says and what was asked for.
fn check(owed: &Owed, claimed_sha256: &str, claimed_bytes: u64, bytes: &Bytes) -> Result<Verified, String> {
    if bytes.len() as u64 != claimed_bytes {
        return Err(format!("has {} bytes, the result says {claimed_bytes}", bytes.len()));
    }
    let sha256 = hex::encode(Sha256::digest(bytes));
    if sha256 != claimed_sha256 {
        return Err("has another digest than the result says".to_owned());
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
        // Every other size is made from the master later: it must be readable to the last pixel.
        if matches!(owed.name, ObjectName::Master(_)) {
            decode_master(bytes, MASTER_SIDE_PX).map_err(|error| error.to_string())?;
        }
    }
    Ok(Verified { sha256, bytes: claimed_bytes })
}

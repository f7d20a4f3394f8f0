//! The store of images' bytes: named objects, written whole or not at all, and never changed once
//! they are visible. They are files in a folder (`files`) or objects of a bucket (`s3`).
//!
//! `keys` defines the names; the callers define what the bytes under a name mean (a master, a
//! derivative, layers).

mod error;
mod files;
pub mod keys;
mod listing;
mod s3;

#[cfg(test)]
pub(crate) mod s3_tests;
#[cfg(test)]
mod tests;

pub use cyclorama_core::wire::OBJECT_BYTES_MAX;
pub use error::ObjectError;
pub use keys::{InvalidKey, ObjectKey, SizePart};
pub use listing::ListedObject;
pub use s3::PresignedUrl;

use crate::clock::UnixMs;
use crate::config::objects::Objects;
use bytes::Bytes;
use error::check_size;
use files::FileStore;
pub use files::Incoming;
use futures::{StreamExt, TryStreamExt, stream};
use s3::{Patience, S3Store};
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;

/// Maximum number of objects that are removed concurrently.
const REMOVED_AT_ONCE: usize = 8;

/// Maximum number of entries of a listing that wait for their reader.
const LISTED_AHEAD: usize = 1_000;

/// The store: files on one machine, or a bucket for several.
#[derive(Debug, Clone)]
pub enum ObjectStore {
    Files(FileStore),
    S3(S3Store),
}

impl ObjectStore {
    /// Opens the store that the settings name, and proves that it can be used.
    pub async fn open(objects: &Objects) -> Result<Self, ObjectError> {
        match objects {
            Objects::Files(folder) => Self::open_files(folder.clone()),
            Objects::S3(bucket) => Ok(Self::S3(S3Store::open(bucket, Patience::default(), s3::aws_chain()).await?)),
        }
    }

    /// Opens a store of files under `folder`, which is made if it is absent. Proves that it can be
    /// written.
    pub fn open_files(folder: PathBuf) -> Result<Self, ObjectError> {
        Ok(Self::Files(FileStore::open(folder)?))
    }

    /// Stores `bytes` durably under `key`, replacing an earlier object. A reader sees the old
    /// object, the new one or none, never a part, also after a crash.
    pub async fn put(&self, key: &ObjectKey, bytes: Bytes) -> Result<(), ObjectError> {
        check_size(key, bytes.len() as u64)?;
        match self {
            Self::Files(files) => {
                let key = key.clone();
                files.run(move |files| files.put(&key, &bytes)).await
            }
            Self::S3(s3) => s3.put(key, bytes).await,
        }
    }

    /// Begins to store an object whose bytes come in pieces. Until the object is finished, and if
    /// it never is, the key names the earlier object. Returns `None` if objects are in a bucket, to
    /// which they are uploaded directly.
    pub async fn receive(&self, key: &ObjectKey) -> Result<Option<Incoming>, ObjectError> {
        match self {
            Self::Files(files) => files.receive(key).await.map(Some),
            Self::S3(_) => Ok(None),
        }
    }

    /// Stores `bytes` just as durably, unless an object exists under the key, which then stays. Of
    /// several concurrent calls one succeeds. Returns true if this call stored its bytes.
    pub async fn put_new(&self, key: &ObjectKey, bytes: Bytes) -> Result<bool, ObjectError> {
        check_size(key, bytes.len() as u64)?;
        match self {
            Self::Files(files) => {
                let key = key.clone();
                files.run(move |files| files.put_new(&key, &bytes)).await
            }
            Self::S3(s3) => s3.put_new(key, bytes).await,
        }
    }

    /// Returns the object's bytes. Fails with [`ObjectError::Missing`] if there is no such object.
    pub async fn get(&self, key: &ObjectKey) -> Result<Bytes, ObjectError> {
        self.get_with_file(key).await.map(|(bytes, _)| bytes)
    }

    /// Returns the object, and the file that holds it if objects are files. The file never changes:
    /// an object is replaced by a new file, never written into.
    pub async fn get_with_file(&self, key: &ObjectKey) -> Result<(Bytes, Option<File>), ObjectError> {
        match self {
            Self::Files(files) => {
                let key = key.clone();
                files.run(move |files| files.get(&key)).await.map(|(bytes, file)| (bytes, Some(file)))
            }
            Self::S3(s3) => Ok((s3.get(key).await?, None)),
        }
    }

    /// True if reading an object also returns the file that holds it.
    pub fn has_files(&self) -> bool {
        matches!(self, Self::Files(_))
    }

    /// Returns the object's size in bytes, or `None` when there is no such object.
    pub async fn size(&self, key: &ObjectKey) -> Result<Option<u64>, ObjectError> {
        match self {
            Self::Files(files) => {
                let key = key.clone();
                files.run(move |files| files.size(&key)).await
            }
            Self::S3(s3) => s3.size(key).await,
        }
    }

    /// Lists every object that is kept for good, in no order: all but staged uploads and images of
    /// sizes that are not presets.
    pub fn lasting(&self) -> mpsc::Receiver<Result<ListedObject, ObjectError>> {
        self.below(&keys::LASTING)
    }

    /// Lists every object below these folders, in no order. Objects that are stored or removed
    /// meanwhile may or may not be listed. After an error nothing follows.
    pub fn below(&self, folders: &'static [&'static str]) -> mpsc::Receiver<Result<ListedObject, ObjectError>> {
        let (listener, listed) = mpsc::channel(LISTED_AHEAD);
        match self {
            Self::Files(files) => {
                let files = files.clone();
                tokio::task::spawn_blocking(move || files.list(folders, &listener));
            }
            Self::S3(s3) => {
                let s3 = s3.clone();
                tokio::spawn(async move { s3.list(folders, &listener).await });
            }
        }
        listed
    }

    /// Removes the object. Removing an object that does not exist is a success.
    pub async fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError> {
        match self {
            Self::Files(files) => {
                let key = key.clone();
                files.run(move |files| files.delete(&key)).await
            }
            Self::S3(s3) => s3.delete(key).await,
        }
    }

    /// Gives the present object under `from` the second key `to`, to which no upload address leads.
    /// Later writes to `from` do not change the object under `to`. An object that is to be verified
    /// and then published is pinned first.
    pub async fn pin(&self, from: &ObjectKey, to: &ObjectKey) -> Result<(), ObjectError> {
        match self {
            Self::Files(files) => {
                let (from, to) = (from.clone(), to.clone());
                files.run(move |files| files.pin(&from, &to)).await
            }
            Self::S3(s3) => s3.copy(from, to).await,
        }
    }

    /// Durably moves an object to the key that readers know, unless an object with that key exists,
    /// which then stays. In both cases `from` is gone afterwards. Returns true if the object was
    /// moved. In a bucket it may have both keys for a moment, or after a failure.
    pub async fn publish(&self, from: &ObjectKey, to: &ObjectKey) -> Result<bool, ObjectError> {
        match self {
            Self::Files(files) => {
                let (from, to) = (from.clone(), to.clone());
                files.run(move |files| files.publish(&from, &to)).await
            }
            Self::S3(s3) => {
                let is_new = s3.size(to).await?.is_none();
                if is_new {
                    s3.copy(from, to).await?;
                }
                s3.delete(from).await?;
                Ok(is_new)
            }
        }
    }

    /// Removes at most `most` staged objects that were stored before a time, and returns how many
    /// it removed.
    pub async fn remove_staged_before(&self, before: UnixMs, most: usize) -> Result<usize, ObjectError> {
        self.remove_below(&[keys::STAGING], most, |entry| entry.stored_at < before).await
    }

    /// Removes at most `most` of the objects below these folders for which `is_removed` holds.
    /// Returns how many it removed.
    pub async fn remove_below(
        &self,
        folders: &'static [&'static str],
        most: usize,
        is_removed: impl Fn(&ListedObject) -> bool,
    ) -> Result<usize, ObjectError> {
        let entries = stream::unfold(self.below(folders), |mut listed| async move {
            let entry = listed.recv().await?;
            Some((entry, listed))
        });
        let removed = entries
            .try_filter(|entry| std::future::ready(is_removed(entry)))
            .take(most)
            .map_ok(|entry| async move { self.delete(&entry.key).await })
            .try_buffer_unordered(REMOVED_AT_ONCE);
        removed.try_fold(0, |count, ()| std::future::ready(Ok(count + 1))).await
    }

    /// Returns an address that accepts one object by PUT, from anyone who knows it, from `now` on
    /// for as long as `valid`. Returns `None` if objects are files, which have no addresses.
    pub async fn presigned_put(
        &self,
        key: &ObjectKey,
        media_type: &str,
        now: UnixMs,
        valid: Duration,
    ) -> Result<Option<PresignedUrl>, ObjectError> {
        match self {
            Self::Files(_) => Ok(None),
            Self::S3(s3) => s3.presigned_put(key, media_type, now, valid).await.map(Some),
        }
    }

    /// Returns such an address for reading an object by GET.
    pub async fn presigned_get(
        &self,
        key: &ObjectKey,
        now: UnixMs,
        valid: Duration,
    ) -> Result<Option<PresignedUrl>, ObjectError> {
        match self {
            Self::Files(_) => Ok(None),
            Self::S3(s3) => s3.presigned_get(key, now, valid).await.map(Some),
        }
    }
}

//! Where a picture's bytes are kept: named objects, written whole or not at all, never changed once visible. Files in a folder
//! (`files`) or objects of a bucket (`s3`).
//!
//! What the names are is `keys`; what a name's bytes mean (a master, a derivative, layers) is its caller's affair.

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
pub use listing::Listed;
pub use s3::Presigned;

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

/// Objects that are removed at once.
const REMOVED_AT_ONCE: usize = 8;

/// Entries of a list that wait for whoever reads it.
const LISTED_AHEAD: usize = 1_000;

/// The store: files on one machine, a bucket for several.
#[derive(Debug, Clone)]
pub enum ObjectStore {
    Files(FileStore),
    S3(S3Store),
}

impl ObjectStore {
    /// The store that the settings name, proved usable.
    pub async fn open(objects: &Objects) -> Result<Self, ObjectError> {
        match objects {
            Objects::Files(folder) => Self::open_files(folder.clone()),
            Objects::S3(bucket) => Ok(Self::S3(S3Store::open(bucket, Patience::default(), s3::aws_chain()).await?)),
        }
    }

    /// A store of files under `folder`, which is made if it is absent and is proved writable.
    pub fn open_files(folder: PathBuf) -> Result<Self, ObjectError> {
        Ok(Self::Files(FileStore::open(folder)?))
    }

    /// Stores `bytes` durably under `key`, replacing what was there. A reader sees the old object, the new one or none,
    /// never a part, also after a crash.
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

    /// Begins to store an object whose bytes come one piece after the other. Until it is finished, and when it never
    /// is, the key names what it named before. `None`: objects are in a bucket, which takes them itself.
    pub async fn receive(&self, key: &ObjectKey) -> Result<Option<Incoming>, ObjectError> {
        match self {
            Self::Files(files) => files.receive(key).await.map(Some),
            Self::S3(_) => Ok(None),
        }
    }

    /// Stores `bytes` as durably, unless something is there already, which stays. Of several at once one is kept. Whether it was this.
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

    pub async fn get(&self, key: &ObjectKey) -> Result<Bytes, ObjectError> {
        self.get_with_file(key).await.map(|(bytes, _)| bytes)
    }

    /// The object, and the file that holds it where objects are files. The file never changes: an object is replaced by a new file,
    /// never written into.
    pub async fn get_with_file(&self, key: &ObjectKey) -> Result<(Bytes, Option<File>), ObjectError> {
        match self {
            Self::Files(files) => {
                let key = key.clone();
                files.run(move |files| files.get(&key)).await.map(|(bytes, file)| (bytes, Some(file)))
            }
            Self::S3(s3) => Ok((s3.get(key).await?, None)),
        }
    }

    /// Whether reading an object brings the file that holds it.
    pub fn has_files(&self) -> bool {
        matches!(self, Self::Files(_))
    }

    /// Size in bytes; `None` when there is no such object.
    pub async fn size(&self, key: &ObjectKey) -> Result<Option<u64>, ObjectError> {
        match self {
            Self::Files(files) => {
                let key = key.clone();
                files.run(move |files| files.size(&key)).await
            }
            Self::S3(s3) => s3.size(key).await,
        }
    }

    /// Every object that lasts, in no order: all but staged uploads and pictures of sizes that no preset names.
    pub fn lasting(&self) -> mpsc::Receiver<Result<Listed, ObjectError>> {
        self.below(&keys::LASTING)
    }

    /// Every object below these folders, in no order. What is stored or removed meanwhile may be among them or not. After an error nothing
    /// follows.
    pub fn below(&self, folders: &'static [&'static str]) -> mpsc::Receiver<Result<Listed, ObjectError>> {
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

    /// Removes the object. Removing what is not there is success: the state asked for is reached.
    pub async fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError> {
        match self {
            Self::Files(files) => {
                let key = key.clone();
                files.run(move |files| files.delete(&key)).await
            }
            Self::S3(s3) => s3.delete(key).await,
        }
    }

    /// Gives what `from` holds at this moment the further name `to`, which nobody has an address for. Whatever is put under `from`
    /// afterwards does not change what `to` names: what is to be verified and then published is pinned first.
    pub async fn pin(&self, from: &ObjectKey, to: &ObjectKey) -> Result<(), ObjectError> {
        match self {
            Self::Files(files) => {
                let (from, to) = (from.clone(), to.clone());
                files.run(move |files| files.pin(&from, &to)).await
            }
            Self::S3(s3) => s3.copy(from, to).await,
        }
    }

    /// Moves an object to the name that readers know, durably, unless something has that name already, which stays. Either way `from` is
    /// gone afterwards. Whether it is the object that was moved. In a bucket it may have both names for a moment, or after a failure.
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

    /// Removes staged objects that were put before a moment, at most `most` of them. How many it removed.
    pub async fn remove_staged_before(&self, before: UnixMs, most: usize) -> Result<usize, ObjectError> {
        self.remove_below(&[keys::STAGING], most, |entry| entry.stored_at < before).await
    }

    /// Removes at most `most` of the objects below these folders for which `is_removed` holds. How many it removed.
    pub async fn remove_below(
        &self,
        folders: &'static [&'static str],
        most: usize,
        is_removed: impl Fn(&Listed) -> bool,
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

    /// An address that takes one object by PUT from `now` on for as long as `valid`, from whoever knows it. `None`: objects are
    /// files, and have no addresses.
    pub async fn presigned_put(
        &self,
        key: &ObjectKey,
        media_type: &str,
        now: UnixMs,
        valid: Duration,
    ) -> Result<Option<Presigned>, ObjectError> {
        match self {
            Self::Files(_) => Ok(None),
            Self::S3(s3) => s3.presigned_put(key, media_type, now, valid).await.map(Some),
        }
    }

    /// The same for reading it by GET.
    pub async fn presigned_get(
        &self,
        key: &ObjectKey,
        now: UnixMs,
        valid: Duration,
    ) -> Result<Option<Presigned>, ObjectError> {
        match self {
            Self::Files(_) => Ok(None),
            Self::S3(s3) => s3.presigned_get(key, now, valid).await.map(Some),
        }
    }
}

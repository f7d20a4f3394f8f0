//! Where a picture's bytes are kept: named objects, written whole or not at all, never changed once visible.
//!
//! What the names are is `keys`; what a name's bytes mean (a master, a derivative, layers) is its caller's affair.

mod files;
pub mod keys;

#[cfg(test)]
mod tests;

pub use keys::{InvalidKey, ObjectKey};

use bytes::Bytes;
use files::FileStore;
use std::path::PathBuf;

/// Largest object that is stored or read, in bytes. Layers are the largest: six half-float planes of 1024x1024 are
/// 25 MB before compression.
pub const OBJECT_BYTES_MAX: u64 = 64 << 20;

/// The store. One backend today; the enum keeps callers free of type parameters when there are two.
#[derive(Debug, Clone)]
pub enum ObjectStore {
    Files(FileStore),
}

/// What went wrong, in the terms a caller decides by.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// Nothing is stored under the key. An answer, not an incident.
    #[error("no object `{key}`")]
    Missing { key: ObjectKey },
    /// The disk or the quota is full: nothing can be stored until an operator makes room.
    #[error("no room to store `{key}`")]
    Full {
        key: ObjectKey,
        #[source]
        source: std::io::Error,
    },
    /// The store cannot be read or written at all.
    #[error("the object store failed on `{key}`")]
    Unreachable {
        key: ObjectKey,
        #[source]
        source: std::io::Error,
    },
    #[error("object `{key}` has {bytes} bytes, more than the {OBJECT_BYTES_MAX} allowed")]
    TooLarge { key: ObjectKey, bytes: u64 },
    #[error("cannot use {} as the object store", folder.display())]
    Open {
        folder: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Key(#[from] InvalidKey),
}

impl ObjectStore {
    /// A store of files under `folder`, which is made if it is absent and is proved writable.
    pub fn open_files(folder: PathBuf) -> Result<Self, ObjectError> {
        Ok(Self::Files(FileStore::open(folder)?))
    }

    /// Stores `bytes` durably under `key`, replacing what was there. A reader sees the old object, the new one or none,
    /// never a part, also after a crash.
    pub async fn put(&self, key: &ObjectKey, bytes: Bytes) -> Result<(), ObjectError> {
        let Self::Files(files) = self;
        let key = key.clone();
        files.run(move |files| files.put(&key, &bytes)).await
    }

    /// Stores `bytes` as durably, unless something is there already, which stays. Of several at once one is kept. Whether it was this.
    pub async fn put_new(&self, key: &ObjectKey, bytes: Bytes) -> Result<bool, ObjectError> {
        let Self::Files(files) = self;
        let key = key.clone();
        files.run(move |files| files.put_new(&key, &bytes)).await
    }

    pub async fn get(&self, key: &ObjectKey) -> Result<Bytes, ObjectError> {
        self.get_with_file(key).await.map(|(bytes, _)| bytes)
    }

    /// The object and the file that holds it. The file never changes: an object is replaced by a new file, never written into.
    pub async fn get_with_file(&self, key: &ObjectKey) -> Result<(Bytes, std::fs::File), ObjectError> {
        let Self::Files(files) = self;
        let key = key.clone();
        files.run(move |files| files.get(&key)).await
    }

    /// Size in bytes; `None` when there is no such object.
    pub async fn size(&self, key: &ObjectKey) -> Result<Option<u64>, ObjectError> {
        let Self::Files(files) = self;
        let key = key.clone();
        files.run(move |files| files.size(&key)).await
    }

    /// Removes the object. Removing what is not there is success: the state asked for is reached.
    pub async fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError> {
        let Self::Files(files) = self;
        let key = key.clone();
        files.run(move |files| files.delete(&key)).await
    }

    /// Gives an object another name in one step, replacing what had it: how an upload leaves the staging area.
    pub async fn rename(&self, from: &ObjectKey, to: &ObjectKey) -> Result<(), ObjectError> {
        let Self::Files(files) = self;
        let (from, to) = (from.clone(), to.clone());
        files.run(move |files| files.rename(&from, &to)).await
    }
}

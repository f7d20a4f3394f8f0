//! The errors with which an object is not stored or not found.

use super::keys::{InvalidKey, ObjectKey};
use cyclorama_core::wire::OBJECT_BYTES_MAX;

/// The store's own error, or the reason why it did not answer.
pub(super) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// An error of the store, by the kinds that callers distinguish.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// Nothing is stored under the key. This is an answer and no incident.
    #[error("no object `{key}`")]
    Missing { key: ObjectKey },
    /// The disk or the quota is full: nothing can be stored until an operator makes room.
    #[error("no space to store `{key}`")]
    Full {
        key: ObjectKey,
        #[source]
        source: Cause,
    },
    /// The store cannot be read or written at all.
    #[error("the object store failed on `{key}`")]
    Unreachable {
        key: ObjectKey,
        #[source]
        source: Cause,
    },
    #[error("object `{key}` has {bytes} bytes or more; at most {OBJECT_BYTES_MAX} are allowed")]
    TooLarge { key: ObjectKey, bytes: u64 },
    /// The object's bytes are not those that were stored under the key.
    #[error("object `{key}` has another digest than when it was stored")]
    Altered { key: ObjectKey },
    /// The store cannot be used. `store` is a folder or an `s3://` address.
    #[error("cannot use {store} as the object store")]
    Open {
        store: String,
        #[source]
        source: Cause,
    },
    #[error(transparent)]
    Key(#[from] InvalidKey),
}

/// Fails with [`ObjectError::TooLarge`] for more bytes than an object may have.
pub(super) fn check_size(key: &ObjectKey, bytes: u64) -> Result<(), ObjectError> {
    if bytes > OBJECT_BYTES_MAX {
        return Err(ObjectError::TooLarge { key: key.clone(), bytes });
    }
    Ok(())
}

//! Why an object is not stored, or not found.

use super::keys::{InvalidKey, ObjectKey};
use cyclorama_core::wire::OBJECT_BYTES_MAX;

/// What a store said, or what kept it from answering.
pub(super) type Cause = Box<dyn std::error::Error + Send + Sync>;

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
        source: Cause,
    },
    /// The store cannot be read or written at all.
    #[error("the object store failed on `{key}`")]
    Unreachable {
        key: ObjectKey,
        #[source]
        source: Cause,
    },
    #[error("object `{key}` has {bytes} bytes or more, and {OBJECT_BYTES_MAX} are allowed")]
    TooLarge { key: ObjectKey, bytes: u64 },
    /// Its bytes are not those that were stored under the key.
    #[error("object `{key}` is not what was stored: its digest is another one")]
    Altered { key: ObjectKey },
    /// `store` is a folder or an `s3://` address.
    #[error("cannot use {store} as the object store")]
    Open {
        store: String,
        #[source]
        source: Cause,
    },
    #[error(transparent)]
    Key(#[from] InvalidKey),
}

/// Refuses more bytes than an object may have.
pub(super) fn check_size(key: &ObjectKey, bytes: u64) -> Result<(), ObjectError> {
    if bytes > OBJECT_BYTES_MAX {
        return Err(ObjectError::TooLarge { key: key.clone(), bytes });
    }
    Ok(())
}

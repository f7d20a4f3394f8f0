//! Listed objects.

use super::error::ObjectError;
use super::keys::ObjectKey;
use crate::clock::UnixMs;
use tokio::sync::mpsc;

/// An entry of a listing of objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedObject {
    pub key: ObjectKey,
    pub bytes: u64,
    /// The time at which it was stored, by the store's clock.
    pub stored_at: UnixMs,
}

/// The channel to which listed objects are sent.
pub(super) type ListingSender = mpsc::Sender<Result<ListedObject, ObjectError>>;

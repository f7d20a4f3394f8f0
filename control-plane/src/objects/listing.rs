//! Listed objects.

use super::error::ObjectError;
use super::keys::ObjectKey;
use crate::clock::UnixMs;
use tokio::sync::mpsc;

/// An object as a listing tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub key: ObjectKey,
    pub bytes: u64,
    /// When it was stored, by the store's clock.
    pub stored_at: UnixMs,
}

/// Who hears of listed objects.
pub(super) type Listener = mpsc::Sender<Result<Listed, ObjectError>>;

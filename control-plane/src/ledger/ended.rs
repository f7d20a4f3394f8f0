//! Holds and signed URLs that a batch of the meter ends, and the cap against which
//! their credits count.

use super::Credits;

/// A hold that has ended, or a signed URL that was loaded or whose credit is given back.
pub(super) struct EndedHold {
    pub account_id: String,
    pub credits: Credits,
    /// The cap against which its credits count.
    pub counted: Option<CountedIn>,
}

/// The key and the month whose cap counted the credits of a hold or a signed URL.
#[derive(Debug, Clone)]
pub(super) struct CountedIn {
    pub key_id: String,
    pub month: String,
}

impl CountedIn {
    pub fn read(key_id: Option<String>, month: Option<String>) -> Option<Self> {
        Some(CountedIn { key_id: key_id?, month: month? })
    }
}

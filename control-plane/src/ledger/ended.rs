//! What a batch of the meter has ended, and the cap that its credits count against.

use super::Credits;

/// A hold that has ended, or a signed address that was loaded or whose credit is given back.
pub(super) struct Ended {
    pub account_id: String,
    pub credits: Credits,
    /// The cap that its credits count against.
    pub counted: Option<CountedIn>,
}

/// Where credits that are on hold, or of an address, were counted.
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

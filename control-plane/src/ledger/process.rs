//! The identity of a run of the service, and how long it may be silent before it is taken for dead.

/// A process that is silent for this long is taken for dead. If it was only slow, its settle finds
/// the hold closed and the image is not delivered, so a late settle is safe.
/// Why: `docs/decisions/credits-and-ledger.md` (Holds of a process that died).
pub const SILENCE_MS: i64 = 15_000;

/// Identity of this run of the service; a restarted service is another process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessId(String);

impl ProcessId {
    pub fn new() -> Self {
        ProcessId(uuid::Uuid::now_v7().to_string())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for ProcessId {
    fn default() -> Self {
        Self::new()
    }
}

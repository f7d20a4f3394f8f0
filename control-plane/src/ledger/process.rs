//! Identity of a run of the service, and when it is taken for dead.

/// A process silent for this long is taken for dead. If it was only slow, its settle finds the hold closed and the picture is not
/// delivered: late is safe.
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

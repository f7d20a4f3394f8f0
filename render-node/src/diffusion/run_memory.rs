//! Defines how a session treats the memory of a run.

/// Treatment of the memory of a run on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunMemory {
    /// Returned to the system after each run: for a graph that runs once in a render.
    GivenBack,
    /// Kept for the next run, which follows at once: requesting the memory from the system in every
    /// step costs a twelfth of the time. Weights are not allocated from this memory, and a run's
    /// memory is not laid out as a whole beforehand; either would take a quarter more memory.
    Kept,
}

//! What becomes of the memory of a run.

/// What becomes of the memory of a run on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunMemory {
    /// Given back: for a graph that runs once in a render.
    GivenBack,
    /// Kept for the next run, which comes at once: to ask the system for it in every step costs a twelfth of the
    /// time. Weights are not put among it, nor is the whole of a run laid out beforehand, either of which would take
    /// a quarter more.
    Kept,
}

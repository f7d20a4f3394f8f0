//! The life of a node: it joins, claims jobs, sends heartbeats, and leaves.

pub mod heartbeat;
pub mod join;
pub mod lease;
pub mod leave;

//! A node: joins, asks for work, reports that it lives, leaves.

pub mod heartbeat;
pub mod join;
pub mod lease;
pub mod leave;

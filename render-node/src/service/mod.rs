//! The node's life with a control plane: joining, leases, heartbeats, results; and a process for each of several graphics cards.

pub mod agent;
pub mod control_plane;
mod heart;
mod held_jobs;
pub mod processes;
mod publish;

//! Connects the node to a control plane: joining, leases, heartbeats, results; and one process for
//! each of several graphics cards.

pub mod agent;
pub mod control_plane;
mod heartbeat;
mod held_jobs;
pub mod processes;
mod publish;

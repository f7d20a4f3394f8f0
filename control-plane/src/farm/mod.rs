//! Render nodes as processes: the one this service runs itself. Nodes as workers (leases, orders) belong to `renders`.

pub mod embedded;
pub mod program;

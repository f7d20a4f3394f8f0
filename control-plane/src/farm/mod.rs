//! The parts of the farm beside the queue: the node process that this service runs itself, and
//! the watch over the day's budget. Nodes as workers (leases, orders) and the budget itself
//! belong to `renders`.

pub mod budget_watch;
pub mod embedded;
pub mod program;

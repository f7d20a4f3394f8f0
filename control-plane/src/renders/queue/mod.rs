//! The render queue: wanted variants, jobs, admission, leases, nodes, and waiting requests.

mod abandoned;
mod admission;
mod claim;
mod enqueue;
mod faults;
mod join;
mod lease;
mod new_job;
mod node_error;
mod nodes;
mod prewarm;
mod sweep;
mod variants;
mod wait;

pub use admission::MEASURED_EVERY;
pub use faults::count_success;
pub use join::JoinError;
pub use lease::{ENDED_COLUMNS, EndedAttempt, LEASED_BY_TOKEN, cover_result, lease_until_ms};
pub use new_job::{NewJob, insert_job, next_turn};
pub use node_error::NodeError;
pub use nodes::pipelines;
pub use prewarm::{Existing, PaintProgress};
#[cfg(test)]
pub use {enqueue::EnqueueTerms, lease::LEASES_MAX, lease::Loss, variants::EnqueueOutcome, wait::LINGER_MAX};

//! Prewarming: images that an operator wants rendered before anybody requests them. A batch is a
//! list of rows, one for each vehicle and view with its colours. The `feeder` gives a few at a
//! time to the render queue, behind all requests that somebody waits for, and within a percentage
//! of the day's budget.
//!
//! All state is in the database, so that a batch survives restarts of everything. Existing images
//! are never rendered again, because the queue takes variants, not jobs (`renders::queue`).

mod batches;
mod feeder;
mod looks;
mod plan;
mod request;

pub use batches::{BatchOrder, PrewarmBatch, PrewarmBatchError};
pub use feeder::start;
pub use plan::{Plan, PlanError, wishes};
pub use request::Request;

use cyclorama_core::{Paint, Vehicle, View};

/// Maximum number of rows in one batch: a hundred thousand diffusion passes are more than a
/// day of a large farm.
pub const ROWS_MAX: usize = 100_000;

/// A vehicle and view in some colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrewarmItem {
    pub vehicle: Vehicle,
    pub view: View,
    /// In the order of the specification, without duplicates.
    pub colours: Vec<Paint>,
}

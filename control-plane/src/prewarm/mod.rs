//! Prewarming: pictures that an operator wants rendered before anybody asks. A batch is a list of rows, one for each vehicle and view with
//! its colours; the `feeder` hands a few at a time to the render queue, behind everybody who waits, and inside a share of the day's budget.
//!
//! All state is in the database, so a batch survives restarts of everything. What exists is never rendered again, because the queue is
//! asked for variants, not for jobs (`renders::queue`).

mod batches;
mod feeder;
mod looks;
mod plan;
mod request;

pub use batches::{Batch, BatchError, Order};
pub use feeder::start;
pub use plan::{Plan, PlanError, wishes};
pub use request::Request;

use cyclorama_core::{Paint, Vehicle, View};

/// Rows of one batch: a hundred thousand diffusion passes are more than a day of a large farm.
pub const ROWS_MAX: usize = 100_000;

/// A vehicle and view in some colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    pub vehicle: Vehicle,
    pub view: View,
    /// In the order of the specification, each once.
    pub colours: Vec<Paint>,
}

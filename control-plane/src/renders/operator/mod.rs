//! The operators' view of renders, jobs and nodes, and the orders that operators give.

mod inspect;
mod nodes;
mod overview;

pub use inspect::Inspection;
pub use nodes::Node;
pub use overview::{FarmOverview, Hour};

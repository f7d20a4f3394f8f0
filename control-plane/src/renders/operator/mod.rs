//! What operators see of renders, jobs and nodes, and the orders they give.

mod inspect;
mod nodes;
mod overview;

pub use inspect::Inspection;
pub use nodes::Node;
pub use overview::{Hour, Overview};

//! `/admin/nodes`: render nodes and their status.

pub mod list;
pub mod order;

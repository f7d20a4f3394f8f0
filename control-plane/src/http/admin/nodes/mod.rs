//! `/admin/nodes`

pub mod list;
pub mod order;

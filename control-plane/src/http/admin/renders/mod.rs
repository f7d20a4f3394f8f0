//! `/admin/renders`

pub mod list;
pub mod show;

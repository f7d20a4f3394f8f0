//! `/admin/renders`

pub mod list;
pub mod review;
pub mod show;

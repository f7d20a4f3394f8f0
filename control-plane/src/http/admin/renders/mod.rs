//! `/admin/renders`

pub mod show;

//! `/admin/renders`: renders and their review.

pub mod list;
pub mod review;
pub mod show;

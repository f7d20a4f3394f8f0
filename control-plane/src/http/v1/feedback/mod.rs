//! `/api/v1/feedback`

pub mod post;

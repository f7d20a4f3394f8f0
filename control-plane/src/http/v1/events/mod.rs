//! `/api/v1/events`

pub mod post;

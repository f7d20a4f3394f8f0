//! `/api/v1/feedback`: ratings of images.

pub mod post;

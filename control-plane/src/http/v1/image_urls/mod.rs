//! `/api/v1/image-urls`

pub mod post;

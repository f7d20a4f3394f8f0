//! `/api/v1/image-urls`: signed URLs.

pub mod post;

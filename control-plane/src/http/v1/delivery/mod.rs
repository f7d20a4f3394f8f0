//! `/api/v1/delivery/{token}`: images by their signed URLs.

pub mod get;

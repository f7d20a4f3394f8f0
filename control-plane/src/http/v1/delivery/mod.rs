//! `/api/v1/delivery/{token}`

pub mod get;

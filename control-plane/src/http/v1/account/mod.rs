//! `/api/v1/account`

pub mod get;
pub mod statement;

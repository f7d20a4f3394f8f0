//! `/api/v1/account`: the account of a key.

pub mod get;
pub mod statement;

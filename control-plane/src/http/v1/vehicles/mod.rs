//! The vehicles that can be asked for.

pub mod get;
pub mod query;

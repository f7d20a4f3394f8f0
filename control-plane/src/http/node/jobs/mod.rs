//! How a leased job ended.

pub mod failure;
pub mod receipt;
pub mod result;

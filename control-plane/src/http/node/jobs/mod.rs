//! Reports of nodes about the end of a leased job.

pub mod failure;
pub mod receipt;
pub mod result;

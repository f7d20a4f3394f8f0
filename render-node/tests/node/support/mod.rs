//! Helpers that several test files share.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail it by panicking")]

pub mod folders;
pub mod runtime;

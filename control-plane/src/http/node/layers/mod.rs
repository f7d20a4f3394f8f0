//! Stored layers, for paint jobs.

pub mod get;

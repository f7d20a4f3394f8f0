//! The catalog release.

pub mod reload;

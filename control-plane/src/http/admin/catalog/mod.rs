//! The catalog release.

pub mod reload;
pub mod wanted;

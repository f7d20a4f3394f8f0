//! The vehicles that can be asked for.

pub mod check;
pub mod get;
pub mod show;
pub mod vin;

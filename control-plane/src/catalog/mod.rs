//! The catalog of vehicles (the crate `cyclorama-catalog`), how all processes on a database read theirs again, and what of it is
//! asked for.

pub mod reload;
pub mod vin;
pub mod wanted;

pub use cyclorama_catalog::*;

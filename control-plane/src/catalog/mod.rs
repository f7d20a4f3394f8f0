//! The catalog of vehicles (the crate `cyclorama-catalog`): its reload in all processes on a
//! database, its vehicle of an identification number, and statistics of the vehicles that requests
//! name.

pub mod reload;
pub mod vin;
pub mod wanted;

pub use cyclorama_catalog::*;

//! The catalog of vehicles (the crate `cyclorama-catalog`), and how all processes on a database read theirs again.

pub mod reload;

pub use cyclorama_catalog::*;

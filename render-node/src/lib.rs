//! The render node: vehicle geometry, G-buffer, diffusion, paint, encoding, and the agent that
//! pulls work for them.
//!
//! Only items that the program, its tests, measurements and examples use are public, so that the
//! compiler reports unused ones.

// `println!` and `eprintln!` panic when their output is closed or full; commands print through
// `cyclorama_core::output`, the agent logs.
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod causes;
pub mod check;
pub mod commands;
pub mod config;
pub mod diffusion;
pub mod engine;
pub mod finish;
pub mod gate;
pub mod gpu;
mod resident_memory;
pub mod service;
pub mod studio;
pub mod vehicle;

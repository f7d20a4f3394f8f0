//! The render node: vehicle geometry, G-buffer, diffusion, paint, encoding, and the agent that pulls work for them.
//!
//! Public is what the program, its tests, measurements and examples use, and nothing else: so the compiler tells what nobody uses.

// Both panic when their output is closed or full; commands print through `cyclorama_core::output`, the agent logs.
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod agent;
mod backoff;
mod batches;
pub mod bench;
pub mod check;
pub mod config;
pub mod contact_sheet;
pub mod control_plane;
pub mod diffusion;
pub mod doctor;
pub mod engine;
pub mod finish;
pub mod gate;
pub mod gpu;
mod heart;
pub mod held_jobs;
mod memory_ladder;
mod memory_watermark;
pub mod model_add;
mod models;
pub mod processes;
mod publish;
pub mod renderer;
mod self_test;
pub mod studio;
pub mod vehicle;

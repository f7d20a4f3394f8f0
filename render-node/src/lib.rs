//! The render node: vehicle geometry, G-buffer, diffusion, paint, encoding, and the agent that pulls work for them.

// Both panic when their output is closed or full; commands print through `cyclorama_core::output`, the agent logs.
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod agent;
pub mod backoff;
pub mod batches;
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
pub mod heart;
pub mod held_jobs;
mod memory_ladder;
mod memory_watermark;
pub mod model_add;
pub mod models;
pub mod processes;
pub mod publish;
pub mod renderer;
pub mod self_test;
pub mod studio;
pub mod vehicle;

//! The render node: vehicle geometry, G-buffer, diffusion, paint, encoding, and the agent that pulls work for them.

pub mod diffusion;
pub mod finish;
pub mod gpu;
pub mod studio;
pub mod vehicle;

//! The node's parts through their public interfaces. One program, so that wgpu, ONNX Runtime and
//! the tokenizers are linked once; `occupancy`, which counts the threads of its process, is a
//! program of its own.

mod agent;
mod batches;
mod diffusion;
mod gate;
mod hidden;
mod lights;
mod model_add;
// The build of ONNX Runtime for this test exists only for this processor.
#[cfg(target_arch = "x86_64")]
mod providers;
mod stable_diffusion;
mod studio;
mod support;

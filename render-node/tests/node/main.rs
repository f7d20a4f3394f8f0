//! The node's parts through their public faces. One program, so that wgpu, ONNX Runtime and the tokenizers are linked once;
//! `occupancy`, which counts the threads of its process, is one of its own.

mod agent;
mod batches;
mod diffusion;
mod gate;
mod hidden;
mod lights;
mod model_add;
// Its build of ONNX Runtime is there for this processor only.
#[cfg(target_arch = "x86_64")]
mod providers;
mod stable_diffusion;
mod studio;
mod support;

//! The studio: camera, light rig, G-buffer and base shading in wgpu. `Studio::shoot` is the entry
//! point.

pub(crate) mod camera;
pub mod conditioning;
mod distance_field;
mod frame_buffers;
mod gpu_data;
pub(crate) mod layers;
pub mod optics;
mod passes;
mod recorder;
pub mod rig;
mod shoot;
mod stage;
mod steps;
mod studio_error;
mod targets;
#[cfg(test)]
mod twins;
mod visible;

pub use camera::Camera;
pub use conditioning::{CONDITIONING_CHANNELS, Channel, Conditioning};
pub use layers::Layers;
pub use shoot::{Exposure, ShootSettings, Studio, StudioOutput};
pub use studio_error::StudioError;

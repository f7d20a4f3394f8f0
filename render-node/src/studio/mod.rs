//! The studio: camera, light rig, G-buffer and base shading in wgpu.

pub mod layers;

pub use layers::Layers;

//! The graphics device: finding an adapter, asking for a device, reading results back, and errors instead of panics.
//!
//! What is drawn with it is the business of `studio` and `finish`.

mod device;
mod readback;

pub use device::{AdapterChoice, Gpu, GpuError, Tier};
pub use readback::{read_buffer, read_texture};

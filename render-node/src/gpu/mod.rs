//! The graphics device: finding an adapter, asking for a device, reading results back, how busy the card is, and errors instead of panics.
//!
//! What is drawn with it is the business of `studio` and `finish`.

mod device;
mod meter;
mod readback;

pub use device::{AdapterChoice, Gpu, GpuError, Tier};
pub use meter::{CardLoad, Meter};
pub use readback::{read_buffer, read_texture};

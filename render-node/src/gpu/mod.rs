//! The graphics device: finding an adapter, asking for a device, reading results back, how busy the card is, and errors instead of panics.
//!
//! What is drawn with it is the business of `studio` and `finish`.

mod device;
mod meter;
mod readback;

pub use device::{Adapter, AdapterChoice, Gpu, GpuError, Tier, adapters};
pub use meter::{Meter, nvidia_uuid};
pub use readback::{ask_for, read_buffer, read_texture};

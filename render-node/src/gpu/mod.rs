//! The graphics device: finding an adapter, opening a device, reading results back, measuring how
//! busy the card is, and errors instead of panics.
//!
//! `studio` and `finish` draw with it.

mod device;
mod meter;
mod readback;

pub use device::{Adapter, AdapterChoice, Gpu, GpuError, Tier, adapters};
pub use meter::{Meter, nvidia_uuid};
pub use readback::{ask_for, read_buffer, read_texture};

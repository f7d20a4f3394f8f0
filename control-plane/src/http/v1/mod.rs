//! The client API, version 1.

pub mod account;
pub mod billing;
mod cacheable;
pub mod delivery;
pub mod events;
pub mod feedback;
pub mod image_urls;
pub mod images;
pub mod vehicles;

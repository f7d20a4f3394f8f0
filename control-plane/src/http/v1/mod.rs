//! The client API, version 1 (specification section 4).

pub mod answer;
pub mod delivery;
pub mod image_urls;
pub mod images;
mod vehicle_params;

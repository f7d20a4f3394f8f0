//! `/admin/catalog`: the catalog release, and the vehicles that it should have next.

pub mod reload;
pub mod wanted;

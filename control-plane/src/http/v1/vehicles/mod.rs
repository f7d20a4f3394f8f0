//! `/api/v1/vehicles`: the vehicles of the catalog.

pub mod check;
pub mod get;
pub mod show;
pub mod vin;

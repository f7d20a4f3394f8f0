//! From a vehicle of the catalog to its triangle mesh: sheets of numbers, fields of primary sheets, meshing, parts.

pub mod mesh;

pub use mesh::{Material, Surface, VehicleMesh};

//! From a vehicle of the catalog to its triangle mesh: sheets of numbers, fields of primary sheets, meshing, parts.

pub mod blend;
pub mod body_field;
pub mod build;
pub mod catalog_line;
pub mod curve;
pub mod depth;
pub mod drawing;
pub mod dress;
pub mod exported;
pub mod face;
pub mod library;
pub mod machine;
pub mod mesh;
pub mod morph;
pub mod motorcycle;
pub mod open_top;
pub mod outline;
pub mod parts;
pub mod regions;
pub mod sheet;
pub mod skin;
pub mod surface_net;
pub mod typical;
mod variation;

pub use build::{VehicleError, build, build_and_judge};
pub use library::{Library, LibraryError};
pub use mesh::{Material, Surface, VehicleMesh};
pub use regions::EdgeStray;

//! From a vehicle of the catalog to its triangle mesh: sheets of numbers, fields of primary sheets, meshing, parts.

pub(crate) mod blend;
pub(crate) mod body_field;
pub(crate) mod build;
pub mod catalog_line;
pub(crate) mod curve;
pub(crate) mod depth;
pub(crate) mod drawing;
pub(crate) mod dress;
pub mod exported;
pub(crate) mod face;
mod fitting_years;
pub(crate) mod flank_lines;
pub(crate) mod lamp_years;
mod library;
pub(crate) mod machine;
pub(crate) mod marque;
mod mesh;
pub(crate) mod morph;
pub(crate) mod motorcycle;
pub(crate) mod open_top;
pub(crate) mod outline;
mod panel_map;
pub(crate) mod panels;
pub(crate) mod parts;
pub(crate) mod regions;
pub(crate) mod sheet;
pub(crate) mod skin;
pub(crate) mod surface_net;
pub mod typical;
mod variation;

pub use build::{VehicleError, build, build_and_judge};
pub use library::{Library, LibraryError};
pub use mesh::{Material, Surface, VehicleMesh};
pub use regions::EdgeStray;

//! Builds the triangle mesh of a vehicle of the catalog: sheets of numbers, the field of the
//! body, meshing, and parts.
//!
//! Axes, in sheet space (a sheet's own dimensions) and in real space (the vehicle's dimensions):
//! x = 0 is the front bumper and x grows to the rear, y = 0 is the centre plane and y grows to the
//! vehicle's right, z = 0 is the ground and z grows upwards. All lengths are in metres unless a
//! name says otherwise. Sheets draw only y >= 0, and the other half is the mirror image.

pub(crate) mod applies_to;
pub(crate) mod badges;
pub(crate) mod bend;
pub(crate) mod blend;
pub(crate) mod body_field;
pub(crate) mod bonnet_lines;
pub(crate) mod build;
mod bumper;
pub mod catalog_line;
pub(crate) mod chance;
pub mod close_up;
pub(crate) mod curve;
pub(crate) mod depth;
pub(crate) mod drawing;
pub(crate) mod dress;
pub mod exported;
pub(crate) mod face;
pub mod facts;
mod fitting_years;
mod flank_form;
pub(crate) mod flank_line;
pub(crate) mod flank_lines;
pub(crate) mod growth;
pub(crate) mod islands;
mod lamp_designs;
mod lamp_years;
mod library;
pub(crate) mod machine;
pub(crate) mod marque;
mod mesh;
pub mod morph;
pub(crate) mod motorcycle;
pub(crate) mod open_top;
mod opened;
pub(crate) mod outline;
mod panel_map;
pub(crate) mod panels;
pub(crate) mod part;
pub(crate) mod parts;
pub(crate) mod proportions;
pub(crate) mod regions;
mod relative;
pub(crate) mod sheet;
pub(crate) mod skin;
pub(crate) mod small_parts;
pub(crate) mod surface_net;
pub(crate) mod truck;
pub mod typical;
mod variation;
pub(crate) mod wheel_fit;

pub use build::{VehicleError, build, build_and_judge, measured};
pub use library::{Library, LibraryError};
pub use mesh::{Material, Surface, VehicleMesh};
pub use regions::EdgeStray;

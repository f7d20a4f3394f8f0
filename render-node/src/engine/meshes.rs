//! A cache of the vehicles that the renderer built last.

use crate::vehicle::{self, Library, VehicleError, VehicleMesh};
use cyclorama_core::Vehicle;

/// Maximum number of cached meshes; each takes about 10 MB.
const MESHES_KEPT: usize = 4;

/// The vehicles built last, the most recently used first. A client mostly requests several views of
/// one vehicle.
#[derive(Default)]
pub struct Meshes(Vec<(Vehicle, VehicleMesh)>);

impl Meshes {
    /// Returns the mesh of a vehicle, building it if it is not cached.
    pub fn get(&mut self, library: &Library, vehicle: &Vehicle) -> Result<&VehicleMesh, VehicleError> {
        let place = match self.0.iter().position(|(known, _)| known == vehicle) {
            Some(place) => place,
            None => {
                let mesh = vehicle::build(library, vehicle)?;
                self.0.truncate(MESHES_KEPT - 1);
                self.0.push((vehicle.clone(), mesh));
                self.0.len() - 1
            }
        };
        // The one used last comes first, and the one not used for longest is dropped.
        self.0[..=place].rotate_right(1);
        Ok(&self.0[0].1)
    }
}

//! Which vehicles an entry of a table is for.

use cyclorama_core::vehicle::{BodyClass, Vehicle};

/// Whether an entry of a table is for a vehicle. No makes or bodies stand for any, years are the first and the last.
pub fn is_for(vehicle: &Vehicle, makes: &[String], years: Option<[u16; 2]>, bodies: &[BodyClass]) -> bool {
    let [first, last] = years.unwrap_or([0, u16::MAX]);
    (makes.is_empty() || makes.contains(&vehicle.make))
        && (first..=last).contains(&vehicle.year)
        && (bodies.is_empty() || bodies.contains(&vehicle.body))
}

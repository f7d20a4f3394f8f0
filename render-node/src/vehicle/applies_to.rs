//! The rule by which an entry of a table names the vehicles that it is for.

use cyclorama_core::vehicle::{BodyClass, Vehicle};

/// True if an entry of a table is for `vehicle`. An empty list of makes or bodies allows any.
/// `years` are the first and the last model year, both included; `None` allows all.
pub fn is_for(vehicle: &Vehicle, makes: &[String], years: Option<[u16; 2]>, bodies: &[BodyClass]) -> bool {
    let [first, last] = years.unwrap_or([0, u16::MAX]);
    (makes.is_empty() || makes.contains(&vehicle.make))
        && (first..=last).contains(&vehicle.year)
        && (bodies.is_empty() || bodies.contains(&vehicle.body))
}

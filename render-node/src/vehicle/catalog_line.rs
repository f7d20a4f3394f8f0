//! Reads vehicles in the form that `cyclorama catalog list` prints, for commands that work on many
//! vehicles. A line holds make, model, year, type, body, and then length, width, height and
//! wheelbase in millimetres, separated by tabs. Further fields are ignored.

use cyclorama_core::{Dimensions, Vehicle};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a vehicle line: `{0}`")]
pub struct NoVehicle(String);

/// Parses the vehicle of every line. Returns the first line that is not a vehicle as an error.
pub fn vehicles_of(text: &str) -> Result<Vec<Vehicle>, NoVehicle> {
    text.lines().map(|line| vehicle_of(line).ok_or_else(|| NoVehicle(line.to_owned()))).collect()
}

/// Parses one line, or returns `None` if it is not a vehicle.
fn vehicle_of(line: &str) -> Option<Vehicle> {
    let fields: Vec<&str> = line.trim_end().split('\t').collect();
    let &[make, model, year, vehicle_type, body, length, width, height, wheelbase, ..] = fields.as_slice() else {
        return None;
    };
    let width_mm = width.parse().ok()?;
    Some(Vehicle {
        make: make.to_owned(),
        model: model.to_owned(),
        year: year.parse().ok()?,
        vehicle_type: vehicle_type.parse().ok()?,
        body: body.parse().ok()?,
        dimensions: Dimensions {
            length_mm: length.parse().ok()?,
            width_mm,
            height_mm: height.parse().ok()?,
            wheelbase_mm: wheelbase.parse().ok()?,
            // The track is not printed, and nothing is drawn from it.
            front_track_mm: 0,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclorama_core::{BodyClass, VehicleType};

    #[test]
    fn a_line_of_the_catalog_is_a_vehicle() {
        let golf =
            vehicle_of("volkswagen\tgolf\t2015\tpassenger-car\thatchback\t4249\t1791\t1440\t2629\tmodel\n").unwrap();
        assert_eq!((golf.key().as_str(), golf.body), ("volkswagen/golf/2015", BodyClass::Hatchback));
        assert_eq!((golf.vehicle_type, golf.dimensions.wheelbase_mm), (VehicleType::PassengerCar, 2629));
        for wrong in ["", "volkswagen\tgolf", "a\tb\tc\tpassenger-car\thatchback\t1\t2\t3\t4"] {
            assert!(vehicle_of(wrong).is_none(), "{wrong}");
        }
    }
}

//! Which sheet a vehicle is built from: by make and model for the icons, then by body class. The sheets' texts.

use cyclorama_core::{vehicle::BodyClass, vehicle::Vehicle};

/// Every sheet, by name.
const SHEETS: &[(&str, &str)] = &[
    ("hatchback", include_str!("sheets/hatchback.toml")),
    ("sedan", include_str!("sheets/sedan.toml")),
    ("small-hatch", include_str!("sheets/small-hatch.toml")),
];

pub fn text_of(name: &str) -> Option<&'static str> {
    SHEETS.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// The name of the sheet for a vehicle; none for types that have no template yet.
pub fn sheet_for(vehicle: &Vehicle) -> Option<&'static str> {
    match vehicle.body {
        BodyClass::Truck
        | BodyClass::Bus
        | BodyClass::Motorcycle
        | BodyClass::Scooter
        | BodyClass::Trailer
        | BodyClass::Rickshaw
        | BodyClass::Other => None,
        BodyClass::Hatchback if vehicle.dimensions.length_mm < 3_900 => Some("small-hatch"),
        BodyClass::Sedan | BodyClass::Coupe | BodyClass::Fastback | BodyClass::Convertible => Some("sedan"),
        _ => Some("hatchback"),
    }
}

/// Names of all sheets.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHEETS.iter().map(|(name, _)| *name)
}

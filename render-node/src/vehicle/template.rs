//! Which sheet a vehicle is built from: by make and model for the icons, then by body class and size. The sheets' texts.

use cyclorama_core::vehicle::{BodyClass, Vehicle};

/// Every sheet, by name.
const SHEETS: &[(&str, &str)] = &[
    ("convertible", include_str!("sheets/convertible.toml")),
    ("coupe", include_str!("sheets/coupe.toml")),
    ("fastback", include_str!("sheets/fastback.toml")),
    ("hatchback", include_str!("sheets/hatchback.toml")),
    ("minivan", include_str!("sheets/minivan.toml")),
    ("off-roader", include_str!("sheets/off-roader.toml")),
    ("pickup", include_str!("sheets/pickup.toml")),
    ("rear-engine-coupe", include_str!("sheets/rear-engine-coupe.toml")),
    ("sedan", include_str!("sheets/sedan.toml")),
    ("small-hatch", include_str!("sheets/small-hatch.toml")),
    ("suv", include_str!("sheets/suv.toml")),
    ("suv-large", include_str!("sheets/suv-large.toml")),
    ("van", include_str!("sheets/van.toml")),
    ("wagon", include_str!("sheets/wagon.toml")),
];

/// Make, start of the model's slug, sheet: vehicles everyone knows by their shape, whatever class the catalog gives them.
const ICONS: &[(&str, &str, &str)] = &[
    ("porsche", "911", "rear-engine-coupe"),
    ("volkswagen", "golf", "hatchback"),
    ("ford", "f-150", "pickup"),
    ("jeep", "wrangler", "off-roader"),
    ("mini", "", "small-hatch"),
    ("tesla", "model-3", "fastback"),
    ("bmw", "3-series", "sedan"),
    ("ford", "transit", "van"),
];

pub fn text_of(name: &str) -> Option<&'static str> {
    SHEETS.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// Names of all sheets.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHEETS.iter().map(|(name, _)| *name)
}

/// Below this a hatchback is a small one.
const SMALL_HATCH_MM: u32 = 3_900;
/// From here on a sport utility has the long hood and three side windows of the large ones.
const LARGE_SUV_MM: u32 = 4_780;

/// The name of the sheet for a vehicle; none for bodies that have no template yet.
pub fn sheet_for(vehicle: &Vehicle) -> Option<&'static str> {
    let class = match vehicle.body {
        BodyClass::Hatchback if vehicle.dimensions.length_mm < SMALL_HATCH_MM => "small-hatch",
        BodyClass::Hatchback => "hatchback",
        BodyClass::Sedan => "sedan",
        BodyClass::Coupe => "coupe",
        BodyClass::Convertible => "convertible",
        BodyClass::Wagon => "wagon",
        BodyClass::Suv if vehicle.dimensions.length_mm >= LARGE_SUV_MM => "suv-large",
        BodyClass::Suv => "suv",
        BodyClass::Minivan => "minivan",
        BodyClass::Fastback => "fastback",
        BodyClass::OffRoader => "off-roader",
        BodyClass::Pickup => "pickup",
        BodyClass::Van => "van",
        BodyClass::Truck
        | BodyClass::Bus
        | BodyClass::Motorcycle
        | BodyClass::Scooter
        | BodyClass::Trailer
        | BodyClass::Rickshaw
        | BodyClass::Other => return None,
    };
    let icon = ICONS.iter().find(|(make, model, _)| vehicle.make == *make && vehicle.model.starts_with(model));
    // A Transit Connect or a Golf convertible is another body: an icon's shape is for its own class.
    Some(icon.filter(|(_, _, sheet)| fits(sheet, vehicle.body)).map_or(class, |(_, _, sheet)| *sheet))
}

fn fits(icon_sheet: &str, body: BodyClass) -> bool {
    match icon_sheet {
        "rear-engine-coupe" => matches!(body, BodyClass::Coupe | BodyClass::Fastback),
        "hatchback" | "small-hatch" => body == BodyClass::Hatchback,
        "pickup" => body == BodyClass::Pickup,
        "off-roader" => matches!(body, BodyClass::OffRoader | BodyClass::Suv),
        "fastback" => matches!(body, BodyClass::Sedan | BodyClass::Fastback),
        "sedan" => body == BodyClass::Sedan,
        "van" => body == BodyClass::Van,
        _ => false,
    }
}

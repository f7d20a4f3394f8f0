//! Which sheet a vehicle is built from: by make and model for the icons, then by body class and size. The sheets' texts.

use cyclorama_core::vehicle::{BodyClass, Vehicle};

/// Every sheet, by name.
const SHEETS: &[(&str, &str)] = &[
    ("bus", include_str!("sheets/bus.toml")),
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
    ("truck", include_str!("sheets/truck.toml")),
    ("van", include_str!("sheets/van.toml")),
    ("wagon", include_str!("sheets/wagon.toml")),
];

/// Every face, by name.
const FACES: &[(&str, &str)] = &[
    ("audi", include_str!("sheets/faces/audi.toml")),
    ("bare", include_str!("sheets/faces/bare.toml")),
    ("bmw", include_str!("sheets/faces/bmw.toml")),
    ("boxy", include_str!("sheets/faces/boxy.toml")),
    ("cadillac", include_str!("sheets/faces/cadillac.toml")),
    ("chevrolet", include_str!("sheets/faces/chevrolet.toml")),
    ("classic", include_str!("sheets/faces/classic.toml")),
    ("dodge", include_str!("sheets/faces/dodge.toml")),
    ("ford", include_str!("sheets/faces/ford.toml")),
    ("honda", include_str!("sheets/faces/honda.toml")),
    ("hyundai", include_str!("sheets/faces/hyundai.toml")),
    ("jeep", include_str!("sheets/faces/jeep.toml")),
    ("kia", include_str!("sheets/faces/kia.toml")),
    ("lexus", include_str!("sheets/faces/lexus.toml")),
    ("mazda", include_str!("sheets/faces/mazda.toml")),
    ("mercedes-benz", include_str!("sheets/faces/mercedes-benz.toml")),
    ("modern", include_str!("sheets/faces/modern.toml")),
    ("nissan", include_str!("sheets/faces/nissan.toml")),
    ("round-eyes", include_str!("sheets/faces/round-eyes.toml")),
    ("subaru", include_str!("sheets/faces/subaru.toml")),
    ("toyota", include_str!("sheets/faces/toyota.toml")),
    ("two-thousands", include_str!("sheets/faces/two-thousands.toml")),
    ("upright", include_str!("sheets/faces/upright.toml")),
    ("volkswagen", include_str!("sheets/faces/volkswagen.toml")),
    ("volvo", include_str!("sheets/faces/volvo.toml")),
];

/// Makes with a face of their own, the year from which it is worn, and the face.
const MAKES: &[(&str, u16, &str)] = &[
    ("acura", 2009, "honda"),
    ("alpina", 1976, "bmw"),
    ("audi", 2004, "audi"),
    ("bentley", 1990, "upright"),
    ("bmw", 1976, "bmw"),
    ("buick", 2008, "nissan"),
    ("byd", 2012, "bare"),
    ("cadillac", 2003, "cadillac"),
    ("chevrolet", 2004, "chevrolet"),
    ("dodge", 1994, "dodge"),
    ("ferrari", 1976, "bare"),
    ("fiat", 2007, "round-eyes"),
    ("ford", 2008, "ford"),
    ("genesis", 2015, "hyundai"),
    ("gmc", 2007, "ford"),
    ("honda", 2008, "honda"),
    ("hyundai", 2009, "hyundai"),
    ("infiniti", 2008, "mazda"),
    ("jaguar", 2008, "hyundai"),
    ("jeep", 1984, "jeep"),
    ("kia", 2009, "kia"),
    ("lamborghini", 1976, "bare"),
    ("lancia", 1990, "upright"),
    ("lexus", 2012, "lexus"),
    ("lincoln", 2013, "hyundai"),
    ("lotus", 1976, "bare"),
    ("lucid", 2020, "bare"),
    ("maserati", 2008, "hyundai"),
    ("mazda", 2010, "mazda"),
    ("mclaren", 1990, "bare"),
    ("mercedes-benz", 1995, "mercedes-benz"),
    ("mercedes-maybach", 1995, "mercedes-benz"),
    ("nio", 2014, "bare"),
    ("nissan", 2012, "nissan"),
    ("polestar", 2018, "bare"),
    ("porsche", 1976, "bare"),
    ("ram", 1994, "dodge"),
    ("rivian", 2020, "bare"),
    ("rolls-royce", 1976, "upright"),
    ("scion", 2010, "toyota"),
    ("seat", 2012, "audi"),
    ("skoda", 2008, "mercedes-benz"),
    ("smart", 2007, "round-eyes"),
    ("subaru", 2008, "subaru"),
    ("tesla", 2008, "bare"),
    ("toyota", 2011, "toyota"),
    ("volkswagen", 2008, "volkswagen"),
    ("volvo", 1990, "volvo"),
];

/// Make, start of the model's slug, sheet: vehicles everyone knows by their shape, whatever class the catalog gives them.
const ICONS: &[(&str, &str, &str)] = &[
    ("porsche", "911", "rear-engine-coupe"),
    ("volkswagen", "golf", "hatchback"),
    ("ford", "f-150", "pickup"),
    ("jeep", "wrangler", "off-roader"),
    ("mini", "", "small-hatch"),
    ("bmw", "mini", "small-hatch"),
    ("tesla", "model-3", "fastback"),
    ("bmw", "3-series", "sedan"),
    ("ford", "transit", "van"),
];

pub fn text_of(name: &str) -> Option<&'static str> {
    SHEETS.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

pub fn face_text_of(name: &str) -> Option<&'static str> {
    FACES.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// Names of all faces.
#[cfg(test)]
pub fn face_names() -> impl Iterator<Item = &'static str> {
    FACES.iter().map(|(name, _)| *name)
}

/// Names of all sheets.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHEETS.iter().map(|(name, _)| *name)
}

/// From here on a sport utility has the long hood and three side windows of the large ones.
const LARGE_SUV_MM: u32 = 4_780;

/// The name of the sheet for a vehicle; none for bodies that have no template yet.
pub fn sheet_for(vehicle: &Vehicle) -> Option<&'static str> {
    let class = match vehicle.body {
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
        BodyClass::Truck => "truck",
        BodyClass::Bus => "bus",
        BodyClass::Motorcycle | BodyClass::Scooter | BodyClass::Trailer | BodyClass::Rickshaw | BodyClass::Other => {
            return None;
        }
    };
    Some(icon_sheet(vehicle).unwrap_or(class))
}

/// The icon's own sheet. A Transit Connect or an open Golf is another body: an icon's shape is for its own class.
fn icon_sheet(vehicle: &Vehicle) -> Option<&'static str> {
    ICONS
        .iter()
        .find(|(make, model, sheet)| {
            vehicle.make == *make && vehicle.model.starts_with(model) && fits(sheet, vehicle.body)
        })
        .map(|(_, _, sheet)| *sheet)
}

/// The face a vehicle's sheet gets in place of its own; none where the sheet's own is right. Old cars of any make wear the
/// face of their time.
pub fn face_for(vehicle: &Vehicle) -> Option<&'static str> {
    if icon_sheet(vehicle).is_some() {
        return None;
    }
    if vehicle.body == BodyClass::OffRoader {
        return (vehicle.make != "jeep").then_some("boxy");
    }
    if matches!(vehicle.body, BodyClass::Pickup | BodyClass::Van | BodyClass::Truck | BodyClass::Bus) {
        return None;
    }
    let own = MAKES.iter().find(|(make, from, _)| vehicle.make == *make && vehicle.year >= *from);
    if let Some((_, _, face)) = own {
        return Some(face);
    }
    match vehicle.year {
        ..1998 => Some("classic"),
        1998..2009 => Some("two-thousands"),
        // The sheets of these classes are drawn without a make in mind.
        _ if matches!(vehicle.body, BodyClass::Wagon | BodyClass::Suv | BodyClass::Minivan) => None,
        _ => Some("modern"),
    }
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

//! Adapts the mirrors and the rear wiper of a sheet to the vehicle's year and body, whatever
//! sheet they were drawn on.

use cyclorama_core::vehicle::{BodyClass, Vehicle};

use super::mesh::Material;
use super::parts::mirror::{Mirror, MirrorMount};
use super::sheet::Sheet;

/// Before `FIRST_PLASTIC`, a mirror of a car was a small chrome or black shell on a foot. Painted
/// caps came with the second year, and indicators in mirrors became usual with the third.
const FIRST_PLASTIC: u16 = 1978;
const FIRST_PAINTED: u16 = 1994;
const FIRST_INDICATORS: u16 = 2009;
/// First year in which the law asks for more glass. Mirrors have had about today's size since.
const FIRST_LARGE: u16 = 2002;

/// Smallest and largest width and height of a housing, in metres.
struct Sizes {
    width: [f32; 2],
    height: [f32; 2],
}

fn sizes(body: BodyClass, year: u16) -> Option<Sizes> {
    use BodyClass as Body;
    let sizes = |width, height| Some(Sizes { width, height });
    match body {
        Body::Suv | Body::OffRoader | Body::Minivan if year >= FIRST_LARGE => sizes([0.225, 0.27], [0.145, 0.20]),
        Body::Pickup if year >= FIRST_LARGE => sizes([0.235, 0.30], [0.175, 0.25]),
        Body::Pickup => sizes([0.20, 0.28], [0.14, 0.22]),
        Body::Sedan
        | Body::Hatchback
        | Body::Fastback
        | Body::Wagon
        | Body::Coupe
        | Body::Convertible
        | Body::Suv
        | Body::OffRoader
        | Body::Minivan => Some(match year {
            ..FIRST_PLASTIC => Sizes { width: [0.11, 0.16], height: [0.085, 0.11] },
            FIRST_PLASTIC..FIRST_PAINTED => Sizes { width: [0.165, 0.20], height: [0.10, 0.125] },
            FIRST_PAINTED..FIRST_LARGE => Sizes { width: [0.185, 0.215], height: [0.115, 0.135] },
            _ => Sizes { width: [0.21, 0.235], height: [0.13, 0.148] },
        }),
        _ => None,
    }
}

/// Adapts the fittings of a sheet to the time of a vehicle.
pub fn date_fittings(sheet: &mut Sheet, vehicle: &Vehicle) {
    use BodyClass as Body;
    let lid_with_window = [Body::Hatchback, Body::Suv, Body::OffRoader, Body::Wagon, Body::Minivan];
    sheet.fittings.rear_wiper = lid_with_window.contains(&vehicle.body) && sheet.fittings.wipers;
    date_mirror(sheet, vehicle);
}

/// Adapts the mirror. Vans, trucks and buses keep the drawn one.
fn date_mirror(sheet: &mut Sheet, vehicle: &Vehicle) {
    let (year, body) = (vehicle.year, vehicle.body);
    let (Some(fitting), Some(sizes)) = (&mut sheet.fittings.mirror, sizes(body, year)) else { return };
    let look: &mut Mirror = &mut fitting.look;
    if look.mount == MirrorMount::Arms {
        return;
    }
    look.width = look.width.clamp(sizes.width[0], sizes.width[1]);
    look.height = look.height.clamp(sizes.height[0], sizes.height[1]);
    look.reach = look.reach.min(0.045);
    look.indicator = match year {
        FIRST_INDICATORS.. => true,
        ..FIRST_LARGE => false,
        _ => look.indicator,
    };
    if year < FIRST_PAINTED && look.cap == Material::Paint {
        look.cap = if year < FIRST_PLASTIC { Material::Chrome } else { Material::MattBlack };
    }
    if look.cap == Material::Chrome && year < FIRST_PLASTIC {
        look.black_ratio = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::*;
    use cyclorama_core::vehicle::{Dimensions, VehicleType};

    fn mirror_of(year: u16) -> Mirror {
        let mut sheet = Library::embedded().unwrap().sheet("sedan").unwrap();
        let dimensions =
            Dimensions { length_mm: 4600, width_mm: 1800, height_mm: 1430, wheelbase_mm: 2700, front_track_mm: 1500 };
        let vehicle = Vehicle {
            make: "bmw".to_owned(),
            model: "3-series".to_owned(),
            year,
            vehicle_type: VehicleType::PassengerCar,
            body: BodyClass::Sedan,
            dimensions,
        };
        date_fittings(&mut sheet, &vehicle);
        sheet.fittings.mirror.unwrap().look
    }

    #[test]
    fn mirrors_grow_with_the_years_and_get_paint_and_indicators() {
        let [old, middle, new] = [1985, 1998, 2018].map(mirror_of);
        assert!(old.width < middle.width && middle.width <= new.width && old.height < new.height);
        assert_eq!((old.cap, old.indicator), (Material::MattBlack, false));
        assert_eq!((middle.cap, middle.indicator), (Material::Paint, false));
        assert!(new.indicator);
    }
}

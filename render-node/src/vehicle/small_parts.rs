//! Handles, antennas and spare wheels by make and time, for all sheets that do not define them.

use cyclorama_core::vehicle::{BodyClass, Vehicle};

use super::chance::chances;
use super::mesh::Material;
use super::parts::handle::HandleKind;
use super::sheet::{FinFitting, Sheet};

/// Last year of handles with a lock of their own, before keyless entry.
const LOCKS_UNTIL: u16 = 2006;
/// Makes, and the first year, of cars whose handles come out of a level door.
const LEVEL_DOORS: [&str; 5] = ["tesla", "lucid", "polestar", "xpeng", "nio"];
const LEVEL_FROM: u16 = 2012;
/// Makes that plate the handles of most of their cars, and below those that plate the handles of
/// some, with the ratios.
const PLATED: ([&str; 8], f32) =
    (["rolls-royce", "bentley", "lincoln", "cadillac", "buick", "genesis", "infiniti", "chrysler"], 0.65);
const SOME_PLATED: ([&str; 6], f32) = (["kia", "hyundai", "nissan", "mercedes-benz", "lexus", "volvo"], 0.25);
/// First and last year of whips on the roof, which came after rods on the wing and before fins.
/// Small cars of some makes kept them longer.
const WHIPS: [u16; 2] = [1993, 2009];
const KEPT_UNTIL: u16 = 2019;
const KEPT: [&str; 9] = ["fiat", "dacia", "renault", "peugeot", "citroen", "suzuki", "toyota", "opel", "ford"];
const WHIP_M: f32 = 0.20;
/// Distance of a whip behind the top of the windscreen, or in front of that of the rear window.
const WHIP_FROM_EDGE_M: f32 = 0.13;
/// Makes whose spare wheels have no cover.
const BARE_SPARES: [&str; 3] = ["jeep", "hummer", "willys"];
const PAINTED_COVERS_FROM: u16 = 2004;

/// Gives a sheet the small parts of its time.
pub fn date_small_parts(sheet: &mut Sheet, vehicle: &Vehicle) {
    let (make, year) = (vehicle.make.as_str(), vehicle.year);
    let mut either = chances(&format!("{make}/{}/handles", vehicle.model));
    let ratio = 0.5 + 0.5 * either();
    if let Some(handle) = &mut sheet.fittings.handle {
        let look = &mut handle.look;
        look.lock = year <= LOCKS_UNTIL;
        if LEVEL_DOORS.contains(&make) && year >= LEVEL_FROM {
            look.kind = HandleKind::Flush;
        }
        let plated = [(&PLATED.0[..], PLATED.1), (&SOME_PLATED.0[..], SOME_PLATED.1)];
        let is_plated = plated.iter().any(|(makes, limit)| makes.contains(&make) && ratio < *limit);
        if is_plated && look.kind == HandleKind::Bar && look.material == Material::Paint {
            look.material = Material::Chrome;
        }
    }
    give_whip(sheet, vehicle);
    if let Some(spare) = &mut sheet.fittings.spare
        && spare.cover.is_none()
        && !BARE_SPARES.contains(&make)
    {
        spare.cover = Some(if year < PAINTED_COVERS_FROM { Material::MattBlack } else { Material::Paint });
    }
}

fn give_whip(sheet: &mut Sheet, vehicle: &Vehicle) {
    let (make, year) = (vehicle.make.as_str(), vehicle.year);
    let has_roof = matches!(
        vehicle.body,
        BodyClass::Hatchback
            | BodyClass::Wagon
            | BodyClass::Suv
            | BodyClass::Minivan
            | BodyClass::Sedan
            | BodyClass::Van
    );
    let small = vehicle.body == BodyClass::Hatchback && vehicle.dimensions.length_mm < 4150;
    let of_the_time = (WHIPS[0]..=WHIPS[1]).contains(&year) && (small || vehicle.body != BodyClass::Sedan);
    let kept = small && KEPT.contains(&make) && (WHIPS[0]..=KEPT_UNTIL).contains(&year);
    if !has_roof || !(of_the_time || kept) || sheet.greenhouse.open.is_some() {
        return;
    }
    // Small cars and vans have the whip at the front; others have it at the rear.
    let front = sheet.glass.windscreen.as_ref().map(|glass| glass.header + WHIP_FROM_EDGE_M);
    let rear = sheet.glass.backlight.as_ref().map(|glass| glass.top - WHIP_FROM_EDGE_M);
    let x = if small || vehicle.body == BodyClass::Van { front } else { rear.or(front) };
    if let Some(x) = x {
        sheet.fittings.fin = Some(FinFitting { x, height: WHIP_M, whip: true });
    }
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::super::typical::typical;
    use super::*;

    #[test]
    fn antennas_and_locks_are_of_their_time() {
        let library = Library::embedded().unwrap();
        let dressed = |year: u16| {
            let mut vehicle = typical(BodyClass::Hatchback);
            (vehicle.make, vehicle.model, vehicle.year) = ("nobody".to_owned(), "thing".to_owned(), year);
            library.dressed(&vehicle).unwrap().unwrap()
        };
        let (old, new) = (dressed(2000), dressed(2023));
        assert!(old.fittings.fin.is_some_and(|fin| fin.whip));
        assert!(new.fittings.fin.is_none_or(|fin| !fin.whip));
        assert!(old.fittings.handle.unwrap().look.lock && !new.fittings.handle.unwrap().look.lock);
    }

    #[test]
    fn spare_wheels_have_covers_where_the_make_gives_them() {
        let library = Library::embedded().unwrap();
        let mut vehicle = typical(BodyClass::OffRoader);
        for (make, covered) in [("suzuki", true), ("jeep", false)] {
            (vehicle.make, vehicle.model, vehicle.year) = (make.to_owned(), "thing".to_owned(), 2012);
            let mut sheet = library.sheet("off-roader").unwrap();
            date_small_parts(&mut sheet, &vehicle);
            if let Some(spare) = sheet.fittings.spare {
                assert_eq!(spare.cover.is_some(), covered, "{make}");
            }
        }
    }
}

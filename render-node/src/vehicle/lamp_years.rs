//! What the year and the make of a vehicle say about its lamps, whatever sheet they were drawn on.

use cyclorama_core::Vehicle;

use super::parts::lamp::{MainLight, RunningLight};
use super::sheet::{Lamp, RegionKind, Sheet};

/// No car had lit running lights of their own before; some had rings that are left unlit.
const FIRST_RUNNING_LIGHTS: u16 = 2008;
/// Before, a lamp was one reflector: no projectors, and no modules before the second year.
const FIRST_PROJECTORS: u16 = 1994;
const FIRST_MODULES: u16 = 2009;
/// Makes whose lamps carry an amber reflector on the flank.
const AMBER_MARKERS: [&str; 20] = [
    "acura", "buick", "cadillac", "chevrolet", "chrysler", "dodge", "ford", "gmc", "hummer", "infiniti", "jeep", "lincoln",
    "mercury", "oldsmobile", "plymouth", "pontiac", "ram", "rivian", "saturn", "scion",
];

/// Tells every lamp of a sheet its year and takes away what that year did not know.
pub fn date_lamps(sheet: &mut Sheet, vehicle: &Vehicle) {
    let has_markers = AMBER_MARKERS.contains(&vehicle.make.as_str());
    let regions = sheet.region.iter_mut().chain(&mut sheet.front.region).chain(&mut sheet.rear.region);
    for region in regions {
        if let RegionKind::Lamp(lamp) = &mut region.kind {
            date(lamp, vehicle.year, has_markers && region.name == "head lamp");
        }
    }
}

fn date(lamp: &mut Lamp, year: u16, has_marker: bool) {
    lamp.year = year;
    let Some(head) = &mut lamp.head else { return };
    if year < FIRST_RUNNING_LIGHTS && !(head.running == RunningLight::Rings && year >= 2000) {
        head.running = RunningLight::None;
    }
    let is_modern = matches!(head.main, MainLight::Modules | MainLight::Matrix | MainLight::Slits);
    if is_modern && year < FIRST_MODULES {
        head.main = MainLight::Projectors;
    }
    if head.main == MainLight::Projectors && year < FIRST_PROJECTORS {
        head.main = MainLight::Bowl;
    }
    head.marker |= has_marker;
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::super::typical::typical;
    use super::*;

    #[test]
    fn no_lamp_glows_before_there_were_running_lights() {
        let library = Library::embedded().unwrap();
        for name in library.face_names() {
            for year in [1995, 2006, 2020] {
                let mut sheet = library.sheet("sedan").unwrap();
                library.face(name).unwrap().put_on(&mut sheet);
                let vehicle = Vehicle { year, ..typical(cyclorama_core::BodyClass::Sedan) };
                date_lamps(&mut sheet, &vehicle);
                for region in &sheet.front.region {
                    let RegionKind::Lamp(lamp) = &region.kind else { continue };
                    assert_eq!(lamp.year, year);
                    let Some(head) = &lamp.head else { continue };
                    assert!(year > 2000 || head.running == RunningLight::None, "{name} in {year}: {head:?}");
                    assert!(year > 2009 || head.main != MainLight::Modules, "{name} in {year}: {head:?}");
                }
            }
        }
    }
}

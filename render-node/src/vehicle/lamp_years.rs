//! Adapts lamps to the year and the make of a vehicle, whatever sheet they were drawn on.

use cyclorama_core::{Vehicle, VehicleType};
use glam::Vec2;

use super::lamp_designs;
use super::mesh::Material;
use super::parts::lamp::{HeadLamp, MainLight, RunningLight, TailLamp, TailMotif};
use super::sheet::{DrawnIn, Lamp, Region, RegionKind, Sheet};

/// First year in which cars had lit running lights of their own. Some earlier cars had
/// rings, which are left unlit.
const FIRST_RUNNING_LIGHTS: u16 = 2008;
/// Before `FIRST_PROJECTORS`, a lamp was one reflector without projectors. Modules
/// came with `FIRST_MODULES`.
const FIRST_PROJECTORS: u16 = 1994;
const FIRST_MODULES: u16 = 2009;
/// First years in which flat white and red areas, respectively, are lamps. On earlier vehicles
/// they are painted bands.
const FIRST_FLAT_FIELDS: [u16; 2] = [2000, 1980];
/// Years in which the inside of lamps was bright.
const BRIGHT_INSIDES: std::ops::RangeInclusive<u16> = 1999..=2007;
/// Makes whose lamps have an amber reflector on the flank.
const AMBER_MARKERS: [&str; 20] = [
    "acura",
    "buick",
    "cadillac",
    "chevrolet",
    "chrysler",
    "dodge",
    "ford",
    "gmc",
    "hummer",
    "infiniti",
    "jeep",
    "lincoln",
    "mercury",
    "oldsmobile",
    "plymouth",
    "pontiac",
    "ram",
    "rivian",
    "saturn",
    "scion",
];

/// Sets the year and the make's design of every lamp of a sheet, and removes what did
/// not exist in that year.
pub fn date_lamps(sheet: &mut Sheet, vehicle: &Vehicle) {
    let is_car = !matches!(vehicle.vehicle_type, VehicleType::Truck | VehicleType::Bus);
    let has_markers = AMBER_MARKERS.contains(&vehicle.make.as_str());
    let regions = sheet.region.iter_mut().chain(&mut sheet.front.region).chain(&mut sheet.rear.region);
    for region in regions {
        light_up(region, vehicle.year);
        let is_round = is_round(region);
        let (low, high) = region.bounds();
        let size = high - low;
        let is_wide = size.x > WIDE * size.y;
        let RegionKind::Lamp(lamp) = &mut region.kind else { continue };
        if is_car {
            lamp_designs::complete(lamp, &region.name, is_wide, vehicle);
        }
        date(lamp, vehicle.year, has_markers && region.name == "head lamp");
        if is_round && let Some(head) = &mut lamp.head {
            // The ring of its can is the frame that was drawn around the lamp.
            lamp.is_round = true;
            let frame = region.edge.take().map(|edge| edge.material);
            head.ring = head.ring.or(frame.filter(|material| *material != Material::PanelGap));
        }
    }
}

/// A lamp this many times as wide as tall has room for lights side by side.
const WIDE: f32 = 1.45;

/// True if a head lamp was drawn round.
fn is_round(region: &Region) -> bool {
    const ROUND: std::ops::RangeInclusive<f32> = 0.84..=1.19;
    const LEAST_M: f32 = 0.11;
    let is_head = matches!(&region.kind, RegionKind::Lamp(lamp) if lamp.head.is_some_and(|head| {
        matches!(head.main, MainLight::Bowl | MainLight::Sealed | MainLight::Projectors)
    }));
    if !is_head || region.at.view != DrawnIn::Front || !region.name.contains("lamp") || region.name.contains("fog") {
        return false;
    }
    let points = region.at.curve.iter().map(|point| point.at);
    let (low, high) = points.clone().fold((Vec2::INFINITY, Vec2::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
    let (size, middle) = (high - low, (low + high) * 0.5);
    let is_on_circle = |p: Vec2| ((p - middle) / (0.5 * size)).length() < 1.14;
    region.at.curve.len() >= 6 && size.y > LEAST_M && ROUND.contains(&(size.x / size.y.max(1e-3))) && { points }
        .all(is_on_circle)
}

/// Turns white and red areas that were drawn flat on the skin into lamps with a
/// lens, a frame and depth.
fn light_up(region: &mut Region, year: u16) {
    let RegionKind::Skin(material) = region.kind else { return };
    if !matches!(region.at.view, DrawnIn::Front | DrawnIn::Rear)
        || year < FIRST_FLAT_FIELDS[usize::from(material == Material::LampRed)]
    {
        return;
    }
    let heights = region.at.curve.iter().map(|point| point.at.y);
    let tall = heights.clone().fold(f32::MIN, f32::max) - heights.fold(f32::MAX, f32::min);
    let none = HeadLamp { main: MainLight::None, fins: 0, running: RunningLight::Fill, ..HeadLamp::default() };
    let lamp = Lamp {
        depth: 0.028,
        bowl: Material::LampHousing,
        lens: Material::LampLens,
        head: None,
        tail: None,
        year,
        is_round: false,
    };
    let motif = if tall < 0.07 { TailMotif::Bar } else { TailMotif::Panel };
    region.kind = match (material, region.at.view) {
        (Material::LampWhite, DrawnIn::Front) => RegionKind::Lamp(Lamp { head: Some(none), ..lamp }),
        (Material::LampRed, DrawnIn::Rear) => {
            RegionKind::Lamp(Lamp { tail: Some(TailLamp { motif, reverse_ratio: 0.0, ..TailLamp::default() }), ..lamp })
        }
        _ => return,
    };
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
    if lamp.bowl == Material::LampHousing && BRIGHT_INSIDES.contains(&year) {
        lamp.bowl = Material::LampReflector;
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

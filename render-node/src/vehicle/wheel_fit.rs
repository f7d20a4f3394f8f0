//! The wheels of a vehicle, from `wheels.toml`: tyres and rims of its class and time, the design of
//! the rim, and the gap to the arch.

use std::sync::LazyLock;

use cyclorama_core::vehicle::{BodyClass, Vehicle};
use serde::Deserialize;

use super::chance::{chances, pick};
use super::growth::tyre_growth;
use super::parts::wheel::spec::{Motif, RimClass, RimFinish};
use super::parts::wheel::styles;
use super::sheet::Sheet;

const TABLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sheets/tables/wheels.toml"));

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    size: Vec<WheelSize>,
    look: Vec<WheelLook>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WheelSize {
    class: RimClass,
    /// Smallest and largest length of the vehicle, in millimetres.
    #[serde(default = "any_length")]
    length: [u32; 2],
    #[serde(default = "any_year")]
    years: [u16; 2],
    overall: [f32; 2],
    width: f32,
    rim: f32,
    gap: [f32; 2],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WheelLook {
    #[serde(default)]
    makes: Vec<String>,
    #[serde(default)]
    classes: Vec<RimClass>,
    #[serde(default = "any_year")]
    years: [u16; 2],
    families: Vec<Motif>,
    finishes: Vec<RimFinish>,
}

fn any_length() -> [u32; 2] {
    [0, u32::MAX]
}

fn any_year() -> [u16; 2] {
    [0, u16::MAX]
}

static WHEELS: LazyLock<Table> = LazyLock::new(|| toml::from_str(TABLE).unwrap_or_default());

const INCH_M: f32 = 0.0254;
/// Ratio by which a drawn tyre may lie outside the range of its class.
const DRAWN_TOLERANCE: f32 = 0.03;
/// Inches by which a model's rims are larger than usual. Makers show their cars on larger rims
/// rather than smaller ones.
const LARGER_RIMS: [f32; 4] = [-0.5, 0.0, 0.5, 1.0];
/// Diameter of the largest rim as a ratio of the tyre's.
const LARGEST_RIM: f32 = 0.735;
/// Minimum distance of the tyre's wall inside the lip of the arch, if the wall is inside at all.
const TUCK_M: f32 = 0.012;
/// Lengths that separate small, medium and large classes, in millimetres.
const SMALL_MM: u32 = 4150;
const LARGE_MM: u32 = 4720;
/// First year in which rims that are lathed after painting are common, and the
/// ratio of rims that are.
const TURNED_FROM: u16 = 2015;
const TURNED_RATIO: f32 = 0.45;

/// Returns the class of rims, or `None` for a vehicle that has wheels of its own kind.
fn class_of(vehicle: &Vehicle) -> Option<RimClass> {
    let length = vehicle.dimensions.length_mm;
    Some(match vehicle.body {
        BodyClass::Coupe | BodyClass::Convertible => RimClass::Sport,
        BodyClass::Suv => RimClass::Suv,
        BodyClass::OffRoader => RimClass::OffRoad,
        BodyClass::Pickup => RimClass::Pickup,
        BodyClass::Van => RimClass::Van,
        BodyClass::Hatchback | BodyClass::Sedan | BodyClass::Fastback | BodyClass::Wagon | BodyClass::Minivan => {
            if length < SMALL_MM {
                RimClass::Small
            } else if length < LARGE_MM {
                RimClass::Compact
            } else {
                RimClass::Large
            }
        }
        _ => return None,
    })
}

/// Gives a sheet the wheels of its class and time. A sheet that was drawn for the model keeps its
/// own wheels within the likely range.
pub fn fit(sheet: &mut Sheet, vehicle: &Vehicle, is_drawn: bool) {
    let Some(class) = class_of(vehicle) else { return };
    let (year, length) = (vehicle.year, vehicle.dimensions.length_mm);
    let within = |[first, last]: [u16; 2]| (first..=last).contains(&year);
    let mut either = chances(&format!("{}/{}/wheel", vehicle.make, vehicle.model));
    let size = WHEELS
        .size
        .iter()
        .find(|size| size.class == class && within(size.years) && (size.length[0]..=size.length[1]).contains(&length));
    if let Some(size) = size {
        fit_size(sheet, vehicle, size, is_drawn, either());
    }
    let wheels = &mut sheet.wheels;
    if (0.0..TUCK_M).contains(&wheels.tuck) {
        wheels.tuck = TUCK_M;
    }
    let wheel = &mut sheet.fittings.wheel;
    let look = WHEELS.look.iter().find(|look| {
        (look.makes.is_empty() || look.makes.contains(&vehicle.make))
            && (look.classes.is_empty() || look.classes.contains(&class))
            && within(look.years)
    });
    let (family, finish, style, turned) = (either(), either(), either(), either());
    if let Some(look) = look.filter(|look| !is_drawn && !look.families.is_empty() && !look.finishes.is_empty()) {
        wheel.motif = pick(&look.families, family);
        wheel.finish = pick(&look.finishes, finish);
    } else if wheel.finish == RimFinish::Bright && year >= TURNED_FROM && turned < 2.0 * TURNED_RATIO - 1.0 {
        wheel.finish = RimFinish::TwoTone;
    }
    if matches!(wheel.motif, Motif::Steel | Motif::Cover) && wheel.finish == RimFinish::TwoTone {
        wheel.finish = RimFinish::Bright;
    }
    wheel.style = pick(&styles(wheel.motif, class, year), style);
}

fn fit_size(sheet: &mut Sheet, vehicle: &Vehicle, size: &WheelSize, is_drawn: bool, chance: f32) {
    let growth = tyre_growth(&sheet.size, vehicle);
    let wheels = &mut sheet.wheels;
    let [least, most] = size.overall;
    let slack = if is_drawn { DRAWN_TOLERANCE } else { 0.0 };
    let real = (wheels.tyre_diameter * growth).clamp(least * (1.0 - slack), most * (1.0 + slack));
    let own_ratio = wheels.rim_diameter / wheels.tyre_diameter;
    let inches = size.rim + if is_drawn { 0.0 } else { pick(&LARGER_RIMS, chance) };
    let usual = inches * INCH_M / real;
    let ratio = if is_drawn { own_ratio.max(usual) } else { usual };
    if !is_drawn {
        wheels.tyre_width = size.width;
    }
    wheels.tyre_diameter = real / growth;
    wheels.rim_diameter = ratio.min(LARGEST_RIM) * wheels.tyre_diameter;
    let [least, most] = size.gap;
    wheels.arch_gap = wheels.arch_gap.max(least).min(if is_drawn { wheels.arch_gap.max(most) } else { most });
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::super::typical::typical;
    use super::*;

    #[test]
    fn the_table_reads_and_every_class_and_year_has_a_size_and_a_look() {
        let table: Table = toml::from_str(TABLE).unwrap();
        let classes = [
            RimClass::Small,
            RimClass::Compact,
            RimClass::Large,
            RimClass::Sport,
            RimClass::Suv,
            RimClass::OffRoad,
            RimClass::Pickup,
            RimClass::Van,
        ];
        for class in classes {
            for year in [1980, 1995, 2010, 2026] {
                let fits = |size: &&WheelSize| {
                    size.class == class && (size.years[0]..=size.years[1]).contains(&year) && size.length[1] >= 4400
                };
                let size = table.size.iter().find(fits).unwrap();
                assert!(size.overall[0] < size.overall[1] && size.gap[0] < size.gap[1]);
                assert!(size.rim * INCH_M < LARGEST_RIM * size.overall[1]);
            }
        }
        let last = table.look.last().unwrap();
        assert!(last.makes.is_empty() && last.classes.is_empty() && last.years == any_year());
    }

    #[test]
    fn tyres_are_of_their_class_and_models_wear_different_rims() {
        let library = Library::embedded().unwrap();
        let mut seen = std::collections::HashSet::new();
        for (body, low, high) in [
            (BodyClass::Hatchback, 0.57, 0.67),
            (BodyClass::Sedan, 0.62, 0.71),
            (BodyClass::Suv, 0.66, 0.82),
            (BodyClass::Pickup, 0.74, 0.84),
        ] {
            for number in 0..12 {
                let mut vehicle = typical(body);
                (vehicle.make, vehicle.model) = ("nobody".to_owned(), format!("model-{number}"));
                vehicle.year = 2018;
                let sheet = library.dressed(&vehicle).unwrap().unwrap();
                let real = sheet.wheels.tyre_diameter * tyre_growth(&sheet.size, &vehicle);
                assert!((low..high).contains(&real), "{body:?}: {real}");
                let wheel = sheet.fittings.wheel;
                seen.insert(format!("{:?} {} {:?}", wheel.motif, wheel.style, wheel.finish));
            }
        }
        assert!(seen.len() >= 20, "{}", seen.len());
    }
}

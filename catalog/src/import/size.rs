//! Decides which dimensions a model has in a year.

use super::evidence::{Publisher, Sightings, SizeSighting};
use super::rules::Rules;
use cyclorama_core::{BodyClass, Dimensions};

/// True if a sighting is the kind of evidence that a step looks for, for a model year.
type Fits = fn(&SizeSighting, u16) -> bool;

/// The origin that [`of`] returns where no source and no rule knows the model.
pub const TEMPLATE: &str = "class template";

/// Maximum distance, in years, of a measured year. Generations last longer than this, so a car of
/// this many years before or after is nearly the same.
const NEAR_YEARS: u16 = 4;

/// Lower than any truck or bus. A smaller height that a source has for one is that of a car with
/// the same name.
const HEAVY_HEIGHT_MM_MIN: u32 = 1900;

/// A model as the sources write it: the slug of its make, the key of its name, and the measurements
/// under names like it, the nearest first.
#[derive(Debug, Clone, Copy)]
pub struct Nameplate<'a> {
    pub make: &'a str,
    pub key: &'a str,
    pub sightings: &'a [&'a Sightings],
}

/// Returns the dimensions of a model and their origin. The order is: a correction; then by nearness
/// of the name: CVS of the year, open-ev, OMEGA of the year, OMEGA's generation, the nearest
/// measured year within four; published figures of the rules; any year of the model; the class
/// template. A nameplate may be sold as a low car and as a tall one (the EQS and its SUV): a
/// measurement of the other of the two counts only where nothing near was measured on this one.
pub fn of(
    rules: &Rules,
    Nameplate { make, key, sightings }: Nameplate<'_>,
    year: u16,
    body: BodyClass,
    with_share_alike: bool,
) -> (Dimensions, &'static str) {
    let template = rules.template(body, year);
    if let Some(mm) = rules.size(make, key, year, body, true) {
        return (published(mm, template), "published figures");
    }
    // The sources measure cars. A motorcycle of the same name is a different vehicle.
    let is_measured =
        !body.is_two_wheeler() && !matches!(body, BodyClass::Rickshaw | BodyClass::Trailer | BodyClass::Other);
    let is_heavy = matches!(body, BodyClass::Truck | BodyClass::Bus);
    let usable = |sightings: &Sightings| -> Vec<SizeSighting> {
        let is_usable = |one: &&SizeSighting| {
            is_measured
                && (with_share_alike || one.publisher != Publisher::Cvs)
                && (!is_heavy || one.height_mm >= HEAVY_HEIGHT_MM_MIN)
        };
        sightings.sizes.iter().filter(is_usable).copied().collect()
    };
    let sizes: Vec<Vec<SizeSighting>> = sightings.iter().map(|one| usable(one)).collect();
    let steps: [(&'static str, Fits); 5] = [
        ("CVS, exact year", |one, year| one.publisher == Publisher::Cvs && one.from == year),
        ("open-ev-data", |one, year| one.publisher == Publisher::OpenEv && one.contains(year)),
        ("OMEGA, exact year", |one, year| one.publisher == Publisher::Omega && one.from == year && one.to == year),
        ("OMEGA, generation", |one, year| one.publisher == Publisher::Omega && one.contains(year)),
        ("nearest year within four", |one, year| one.distance(year) <= NEAR_YEARS),
    ];
    // A car shape is never sized from a van or pickup of the same name, nor the other way round. An
    // estate car may be either, because sources call early SUVs wagons.
    let is_as_tall = |one: &SizeSighting| {
        let either = |other| other == BodyClass::Wagon || body == BodyClass::Wagon;
        one.body.is_none_or(|other| either(other) || is_tall(other) == is_tall(body))
    };
    let of_any: fn(&SizeSighting) -> bool = |_| true;
    for is_like in [&is_as_tall as &dyn Fn(&SizeSighting) -> bool, &of_any] {
        for known in &sizes {
            for (name, applies) in steps {
                let near: Vec<SizeSighting> =
                    known.iter().filter(|one| applies(one, year) && is_like(one)).copied().collect();
                if let Some(chosen) = choose(&near, year, body) {
                    return (complete(chosen, &sizes, template), name);
                }
            }
        }
    }
    if let Some(mm) = rules.size(make, key, year, body, false) {
        return (published(mm, template), "published figures");
    }
    for known in &sizes {
        if let Some(chosen) = choose(known, year, body) {
            return (complete(chosen, &sizes, template), "another year of the model");
        }
    }
    (template, TEMPLATE)
}

/// Chooses among several configurations: the nearest year's, with the requested body, and there the
/// base one. That is the shortest, or for a pickup the shortest with a crew cab, since most are
/// sold with it.
fn choose(candidates: &[SizeSighting], year: u16, body: BodyClass) -> Option<SizeSighting> {
    let fits: Vec<&SizeSighting> =
        candidates.iter().filter(|one| one.body.is_none_or(|other| family(other) == family(body))).collect();
    let nearest = fits.iter().map(|one| one.distance(year)).min()?;
    let rank = |one: &&&SizeSighting| {
        let other_body = one.body.is_none_or(|other| other != body);
        let cab = body == BodyClass::Pickup && !one.four_door_cab;
        // All other measures are compared too, so that the choice between equal sightings does not
        // depend on the order in which a source was read.
        let rest = (one.wheelbase_mm, one.width_mm, one.front_track_mm);
        (other_body, cab, one.publisher, one.length_mm, one.height_mm, rest)
    };
    fits.iter().filter(|one| one.distance(year) == nearest).min_by_key(rank).map(|one| **one)
}

/// True for bodies that stand higher than a car of the same name.
fn is_tall(body: BodyClass) -> bool {
    matches!(body, BodyClass::Suv | BodyClass::OffRoader)
}

/// Groups bodies whose sizes stand for one another.
fn family(body: BodyClass) -> u8 {
    match body {
        BodyClass::Pickup => 1,
        BodyClass::Van | BodyClass::Minivan => 2,
        BodyClass::Truck | BodyClass::Bus => 3,
        _ => 0,
    }
}

/// Fills in the dimensions that a source leaves out. The width comes from the nearest sighting of
/// about the same length, else from the template in proportion to the length (half of it: longer
/// cars are only a little wider). The track is in proportion to the width.
fn complete(chosen: SizeSighting, sizes: &[Vec<SizeSighting>], template: Dimensions) -> Dimensions {
    let alike = sizes
        .iter()
        .flatten()
        .filter(|one| one.width_mm.is_some() && one.length_mm.abs_diff(chosen.length_mm) * 20 < chosen.length_mm)
        .min_by_key(|one| (one.distance(chosen.from), one.length_mm.abs_diff(chosen.length_mm), one.width_mm));
    let width_mm = chosen.width_mm.or(alike.and_then(|one| one.width_mm)).unwrap_or_else(|| {
        let longer = f64::from(chosen.length_mm) / f64::from(template.length_mm);
        (f64::from(template.width_mm) * (1.0 + 0.5 * (longer - 1.0))).round() as u32
    });
    let front_track_mm =
        chosen.front_track_mm.filter(|track| *track < width_mm).unwrap_or_else(|| track(width_mm, template));
    Dimensions {
        length_mm: chosen.length_mm,
        width_mm,
        height_mm: chosen.height_mm,
        wheelbase_mm: chosen.wheelbase_mm,
        front_track_mm,
    }
}

fn published([length_mm, width_mm, height_mm, wheelbase_mm]: [u32; 4], template: Dimensions) -> Dimensions {
    Dimensions { length_mm, width_mm, height_mm, wheelbase_mm, front_track_mm: track(width_mm, template) }
}

fn track(width_mm: u32, template: Dimensions) -> u32 {
    (f64::from(width_mm) * f64::from(template.front_track_mm) / f64::from(template.width_mm)).round() as u32
}

//! The fillings of a make's grilles and the mounts of its badges, by year, for all sheets and faces
//! that do not define them.

use std::sync::LazyLock;

use cyclorama_core::vehicle::{BodyClass, Vehicle};
use glam::Vec2;
use serde::Deserialize;

use super::applies_to::is_for;
use super::drawing::outline_of;
use super::mesh::Material;
use super::parts::emblem::Emblem;
use super::parts::grille::{Fill, Pattern};
use super::sheet::{DrawnIn, EdgeBand, EmblemFitting, Region, RegionKind, Sheet};

const TABLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sheets/tables/marque.toml"));

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// The first entry that fits counts; the last fits everything.
    marque: Vec<Marque>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Marque {
    /// Makes that the entry is for; an empty list allows any.
    #[serde(default)]
    makes: Vec<String>,
    /// First and last model year.
    #[serde(default)]
    years: Option<[u16; 2]>,
    #[serde(default)]
    bodies: Vec<BodyClass>,
    /// Fillings of the grille, of the intakes below it, and of those at the corners.
    main: Fill,
    lower: Fill,
    #[serde(default = "side")]
    side: Fill,
    /// Filling that is visible between bars which a sheet draws over its grille.
    #[serde(default = "behind")]
    behind: Fill,
    #[serde(default)]
    emblem: Option<Emblem>,
    #[serde(default)]
    place: BadgePosition,
    #[serde(default = "on_tail")]
    on_tail: bool,
}

fn side() -> Fill {
    Fill::dark(Pattern::Blades)
}

fn behind() -> Fill {
    Fill::dark(Pattern::Honeycomb)
}

fn on_tail() -> bool {
    true
}

/// Position of the badge on the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BadgePosition {
    /// In the middle of the grille, if there is room.
    Grille,
    /// Between the grille and the edge of the hood.
    #[default]
    Hood,
    /// On the bonnet, above its edge or the grille's.
    Bonnet,
}

static MARQUES: LazyLock<Vec<Marque>> =
    LazyLock::new(|| toml::from_str::<Table>(TABLE).map(|table| table.marque).unwrap_or_default());

fn marque_of(vehicle: &Vehicle) -> Option<&'static Marque> {
    MARQUES.iter().find(|marque| is_for(vehicle, &marque.makes, marque.years, &marque.bodies))
}

/// Names of openings whose floor is plain trim, which distinguishes them from recesses of
/// lamps, plates and beds.
const OPENINGS: [&str; 8] = ["intake", "grille", "slot", "nostril", "mouth", "scoop", "shield", "kidney"];
/// Names of openings on flanks.
const VENTS: [&str; 5] = ["intake", "vent", "gill", "scoop", "grille"];
/// Names of regions that may be drawn as a mere colour of the skin, and their depth in that case.
const FLAT_MESHES: [&str; 7] = ["grille", "mesh", "tail panel", "tail vent", "louvre", "air slot", "intake"];
const FLAT_MESH_DEPTH_M: f32 = 0.03;
/// Names of dark areas of a nose that stand for an opening, though only a colour of the
/// skin was drawn, and names of what lies in or around an opening and is none. Below is the
/// depth of such an opening.
const FLAT_OPENINGS: [&str; 4] = ["grille", "slot", "nose", "kidney"];
const NO_OPENINGS: [&str; 8] = ["bar", "frame", "wing", "post", "band", "panel", "plane", "surround"];
const FLAT_OPENING_DEPTH_M: f32 = 0.03;
/// Name of regions that stand for a badge.
const BADGE: &str = "badge";
/// Openings narrower than this are slots of a row, with a mesh far behind each.
const SLOT_M: f32 = 0.09;
/// Width of the frame that intakes get if they are drawn without one, width of the bezel of a fog
/// lamp, and the year from which such frames shine.
const INTAKE_FRAME_M: f32 = 0.009;
const FOG_BEZEL_M: f32 = 0.010;
const FRAMES_SHINE_FROM: u16 = 2012;
/// Number of bars over a grille that leave nothing visible between them.
const DENSE_BARS: usize = 6;

/// Gives every opening of the front without a filling that of the make, and
/// adds the vehicle's badges.
pub fn complete(sheet: &mut Sheet, vehicle: &Vehicle) {
    let Some(marque) = marque_of(vehicle) else { return };
    let [low, high] = sheet.front.anchors;
    let half_width = 0.5 * sheet.size.width;
    let bars: Vec<(Vec2, Vec2)> = sheet.front.region.iter().filter(|r| is_bar(r)).map(Region::bounds).collect();
    let mut highest: Option<HeightRange> = None;
    let mut top = f32::MIN;
    // The edge of a hood that lies under the windscreen does not limit the grille below it.
    let is_cab = matches!(vehicle.body, BodyClass::Truck | BodyClass::Bus);
    sheet.front.region.iter_mut().for_each(open_up);
    for region in &mut sheet.front.region {
        let (least, most) = region.bounds();
        let at_middle = region.at.mirror || least.x < 0.1 * half_width;
        let ratio = |z: f32| (z - low) / (high - low);
        let is_main = at_middle && (ratio(most.y) > 0.62 || is_cab);
        let span = middle_span(region);
        if matches!(region.kind, RegionKind::Lamp(_)) && region.edge.is_none() && region.name.contains("fog") {
            region.edge = Some(EdgeBand { width: FOG_BEZEL_M, material: Material::MattBlack });
        }
        let RegionKind::Inset { floor, fill, .. } = &mut region.kind else { continue };
        if region.at.view != DrawnIn::Front || !is_opening(&region.name, *floor) {
            continue;
        }
        if is_main {
            top = top.max(most.y + region.edge.map_or(0.0, |edge| edge.width));
        }
        if is_main && let Some(span) = span {
            highest = Some(highest.map_or(span, |other| if other.high > span.high { other } else { span }));
        }
        if !is_main && region.edge.is_none() {
            let material = if vehicle.year < FRAMES_SHINE_FROM { Material::MattBlack } else { Material::GlossBlack };
            region.edge = Some(EdgeBand { width: INTAKE_FRAME_M, material });
        }
        if fill.is_some() {
            continue;
        }
        let over = |(from, to): &&(Vec2, Vec2)| from.cmplt(most).all() && least.cmplt(*to).all();
        let bars = bars.iter().filter(over).count();
        let narrow = (most.x - least.x) * if region.at.mirror { 2.0 } else { 1.0 } < SLOT_M;
        *fill = Some(if *floor == Material::GlossBlack && is_main {
            Fill { material: Material::GlossBlack, ..Fill::dark(Pattern::Closed) }
        } else if is_main && bars >= DENSE_BARS {
            Fill::dark(Pattern::Empty)
        } else if is_main && bars > 0 {
            marque.behind
        } else if narrow {
            Fill::dark(Pattern::Mesh)
        } else if is_main {
            marque.main
        } else if at_middle {
            marque.lower
        } else {
            marque.side
        });
    }
    let ends = [&mut sheet.region, &mut sheet.front.region, &mut sheet.rear.region].into_iter().flatten();
    ends.filter(|region| is_flat_mesh(region)).for_each(|region| {
        let (floor, wall) = (Material::Grille, Material::MattBlack);
        let fill = Some(Fill::dark(Pattern::Mesh));
        region.kind = RegionKind::Inset { depth: FLAT_MESH_DEPTH_M, floor, wall, fill };
    });
    for region in sheet.region.iter_mut().filter(|region| region.at.view == DrawnIn::Side) {
        let name = &region.name;
        let RegionKind::Inset { floor, fill, .. } = &mut region.kind else { continue };
        let is_trim = matches!(floor, Material::Grille | Material::MattBlack | Material::GlossBlack);
        if fill.is_none() && is_trim && VENTS.iter().any(|word| name.contains(word)) {
            *fill = Some(side());
        }
    }
    add_emblems(sheet, vehicle, marque, highest, top);
}

fn is_opening(name: &str, floor: Material) -> bool {
    match floor {
        Material::Grille => true,
        Material::MattBlack | Material::GlossBlack => OPENINGS.iter().any(|word| name.contains(word)),
        _ => false,
    }
}

/// Turns a dark area that stands for an opening into one, with a floor and, later, bars.
/// Closed kidneys stay a panel.
fn open_up(region: &mut Region) {
    let RegionKind::Skin(material @ (Material::GlossBlack | Material::MattBlack)) = region.kind else { return };
    let has = |words: &[&str]| words.iter().any(|word| region.name.contains(word));
    if region.at.view != DrawnIn::Front
        || region.over.contains(&Material::Grille)
        || !has(&FLAT_OPENINGS)
        || has(&NO_OPENINGS)
    {
        return;
    }
    let is_closed = region.name.contains("kidney");
    let floor = if is_closed { material } else { Material::Grille };
    region.kind = RegionKind::Inset { depth: FLAT_OPENING_DEPTH_M, floor, wall: Material::GlossBlack, fill: None };
}

/// True for a grille that was drawn as a mere colour of the skin.
fn is_flat_mesh(region: &Region) -> bool {
    matches!(region.kind, RegionKind::Skin(Material::Grille))
        && matches!(region.at.view, DrawnIn::Front | DrawnIn::Rear)
        && FLAT_MESHES.iter().any(|word| region.name.contains(word))
        && !region.name.contains("frame")
}

fn is_bar(region: &Region) -> bool {
    matches!(region.kind, RegionKind::Skin(_)) && region.over.contains(&Material::Grille) && region.name != BADGE
}

/// A range of heights in the centre plane.
#[derive(Debug, Clone, Copy)]
struct HeightRange {
    low: f32,
    high: f32,
}

impl HeightRange {
    /// Returns the height of a badge: in the middle of a low grille, or in the upper third of a
    /// tall one, clear of the plate.
    fn badge_height(self) -> f32 {
        let tall = self.high - self.low;
        self.high - tall * if tall > TALL_GRILLE_M { 0.32 } else { 0.5 }
    }
}

/// Returns the heights between which a drawing crosses the centre plane, if it does.
fn middle_span(region: &Region) -> Option<HeightRange> {
    let outline = outline_of(&region.at, 0.01);
    let drawn = outline.points();
    let crossings = (0..drawn.len()).filter_map(|i| {
        let (a, b) = (drawn[i], drawn[(i + 1) % drawn.len()]);
        ((a.x < 0.001) != (b.x < 0.001)).then(|| a.y + (b.y - a.y) * (0.001 - a.x) / (b.x - a.x))
    });
    let (low, high) = crossings.fold((f32::MAX, f32::MIN), |(low, high), z| (low.min(z), high.max(z)));
    (high > low).then_some(HeightRange { low, high })
}

/// How far a badge in a grille stands in front of the skin, because the grille's
/// bars stand out as well.
const BEFORE_BARS_M: f32 = 0.0045;
const TALL_GRILLE_M: f32 = 0.3;
/// Room above a grille or below the edge of the hood around the badge, and above a plate
/// or a bumper of the tail.
const HOOD_ROOM_M: f32 = 0.012;
const TAIL_ROOM_M: f32 = 0.055;
/// Size of the tail's badge relative to the front's.
const TAIL_SIZE: f32 = 0.85;
/// Position of the badge between the tail's anchors, and the limits beyond which
/// there is no room for one.
const TAIL_RATIO: f32 = 0.84;
const TAIL_LIMITS: [f32; 2] = [0.6, 0.93];

fn add_emblems(sheet: &mut Sheet, vehicle: &Vehicle, marque: &Marque, grille: Option<HeightRange>, top: f32) {
    let drawn = |regions: &mut Vec<Region>| -> Option<f32> {
        let found = regions.iter().find(|region| region.name == BADGE && region.at.curve.len() > 2).map(|region| {
            let (low, high) = region.bounds();
            0.5 * (low.y + high.y)
        });
        regions.retain(|region| region.name != BADGE);
        found
    };
    let (front, rear) = (drawn(&mut sheet.front.region), drawn(&mut sheet.rear.region));
    let Some(mut look) = marque.emblem else { return };
    if !sheet.fittings.emblem.is_empty() {
        return;
    }
    if matches!(vehicle.body, BodyClass::Truck | BodyClass::Bus | BodyClass::Van) {
        look.width *= 1.3;
    }
    let height = look.height();
    let doors = matches!(vehicle.body, BodyClass::Truck | BodyClass::Bus | BodyClass::Van | BodyClass::Other);
    let edge = sheet.front.anchors[1];
    let in_grille = grille.filter(|span| marque.place == BadgePosition::Grille && span.high - span.low > 0.9 * height);
    let bare = edge - HOOD_ROOM_M - 0.6 * height;
    let on_hood = if top > edge - 3.0 * height { top + HOOD_ROOM_M + 0.5 * height } else { bare };
    let z = front.or(in_grille.map(HeightRange::badge_height)).unwrap_or(on_hood);
    let is_cab = matches!(vehicle.body, BodyClass::Truck | BodyClass::Bus);
    // Cabs have their badge in the grille or nowhere, because the windscreen is above the grille.
    let has_front = !is_cab || front.is_some() || in_grille.is_some();
    if has_front {
        let out = if front.is_some() || in_grille.is_some() { BEFORE_BARS_M } else { 0.0 };
        // A badge on a bonnet is drawn at the bonnet's edge or above the grille; it
        // begins where that ends.
        let on_bonnet = marque.place == BadgePosition::Bonnet && !doors;
        let z = if on_bonnet { if top > edge - 2.0 * height { top.max(edge) } else { edge } } else { z };
        let out = if on_bonnet { 0.0 } else { out };
        sheet.fittings.emblem.push(EmblemFitting { z, at_rear: false, out, on_bonnet, look });
    }
    if !marque.on_tail || (doors && rear.is_none()) {
        return;
    }
    let [low, high] = sheet.rear.anchors;
    let above_plate = sheet.fittings.plate.as_ref().map_or(low, |plate| plate.z + 0.5 * plate.height + TAIL_ROOM_M);
    let z = rear.unwrap_or((low + (high - low) * TAIL_RATIO).max(above_plate));
    let [least, most] = TAIL_LIMITS.map(|ratio| low + (high - low) * ratio);
    let below_glass = sheet.glass.backlight.as_ref().map_or(f32::MAX, |glass| glass.bottom - 0.5 * height - 0.02);
    let z = z.min(most.min(below_glass));
    let (spare, bar) = (sheet.fittings.spare.is_some(), sheet.fittings.step.is_some());
    if z > least && !spare && (rear.is_some() || !bar || vehicle.body != BodyClass::Other) {
        let look = Emblem { width: look.width * TAIL_SIZE, ..look };
        sheet.fittings.emblem.push(EmblemFitting { z, at_rear: true, out: 0.0, on_bonnet: false, look });
    }
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::super::typical::typical;
    use super::*;

    #[test]
    fn the_table_reads_and_its_last_entry_fits_everything() {
        let table: Table = toml::from_str(TABLE).unwrap();
        let last = table.marque.last().unwrap();
        assert!(last.makes.is_empty() && last.years.is_none() && last.bodies.is_empty());
        let slugs = table.marque.iter().flat_map(|marque| &marque.makes);
        for slug in slugs {
            assert!(slug.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{slug}");
        }
    }

    #[test]
    fn every_grille_of_the_front_gets_a_fill_and_drawn_badges_give_way_to_mounts() {
        let library = Library::embedded().unwrap();
        let mut vehicle = typical(BodyClass::Sedan);
        for make in ["bmw", "lexus", "nobody"] {
            vehicle.make = make.to_owned();
            let mut sheet = library.sheet("sedan").unwrap();
            complete(&mut sheet, &vehicle);
            assert!(sheet.front.region.iter().all(|region| region.name != BADGE));
            assert!(!sheet.fittings.emblem.is_empty(), "{make}");
            for region in &sheet.front.region {
                if let RegionKind::Inset { floor: Material::Grille, fill, .. } = &region.kind {
                    assert!(fill.is_some(), "{make}: {}", region.name);
                }
            }
        }
    }

    #[test]
    fn a_dark_field_that_stands_for_an_opening_becomes_one() {
        let library = Library::embedded().unwrap();
        let vehicle = Vehicle { make: "renault".to_owned(), ..typical(BodyClass::Hatchback) };
        for (name, is_opened) in [("upper slot", true), ("grille bar", false), ("hood", false)] {
            let mut sheet = library.sheet("hatchback").unwrap();
            let region = sheet.front.region.iter_mut().find(|region| region.name.contains("grille")).unwrap();
            (region.name, region.kind) = (name.to_owned(), RegionKind::Skin(Material::GlossBlack));
            region.over.clear();
            complete(&mut sheet, &vehicle);
            let region = sheet.front.region.iter().find(|region| region.name == name).unwrap();
            let opened = matches!(region.kind, RegionKind::Inset { fill: Some(_), .. });
            assert_eq!(opened, is_opened, "{name}");
        }
    }
}

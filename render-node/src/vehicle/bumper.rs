//! Bumpers in layers: a beam that steps out under lamps and lid, a lower part of another material
//! that is set back under it, openings with bevelled surrounds, pockets with fog lamps at the
//! corners, skid plates and rub strips.
//!
//! `bumpers.toml` says, by class and year, which of these a vehicle has. Their positions follow
//! from what the vehicle's sheet draws. All of them become reliefs and regions of the sheet.

use std::sync::LazyLock;

use cyclorama_core::vehicle::{BodyClass, Vehicle};
use glam::Vec2;
use serde::Deserialize;

use super::applies_to::is_for;
use super::curve::ControlPoint;
use super::drawing;
use super::mesh::Material;
use super::outline::Outline;
use super::parts::grille::{Fill, Pattern};
use super::parts::lamp::{HeadLamp, MainLight, RunningLight};
use super::sheet::{Curve, Drawing, DrawnIn, EdgeBand, Face, Lamp, Region, RegionKind, ReliefForm, Sheet, SkinRelief};

const TABLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sheets/tables/bumpers.toml"));

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    front: Vec<BumperLayout>,
    rear: Vec<BumperLayout>,
}

/// The parts of one bumper.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct BumperLayout {
    bodies: Vec<BodyClass>,
    /// Makes that the layout is for; an empty list allows any.
    #[serde(default)]
    makes: Vec<String>,
    /// First and last model year.
    #[serde(default)]
    years: Option<[u16; 2]>,
    #[serde(default)]
    step: Option<BeamStep>,
    #[serde(default)]
    chamfer: Option<Chamfer>,
    #[serde(default)]
    valance: Option<Valance>,
    /// Depth by which the face below the beam's upright band is drawn in.
    #[serde(default)]
    lower_face: Option<f32>,
    #[serde(default)]
    strip: Option<Strip>,
    #[serde(default)]
    skid: Option<Curve>,
    #[serde(default)]
    intake: Option<Curve>,
    #[serde(default)]
    pocket: Option<Pocket>,
    /// Other areas of plastic or metal.
    #[serde(default)]
    trim: Vec<Trim>,
}

/// An area of another material. `height` is negative if the area is set back.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trim {
    name: String,
    curve: Curve,
    material: Material,
    height: f32,
}

/// The upper edge of the beam, under the lamps and the lid.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct BeamStep {
    height: f32,
    bevel: f32,
}

/// A bevelled surround of openings.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chamfer {
    width: f32,
    depth: f32,
}

/// The lowest part, of plastic.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Valance {
    /// Height of the upper edge, as a ratio of the height between the anchors.
    top: f32,
    depth: f32,
}

/// A rub strip round the beam.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strip {
    height: f32,
    stands_out: f32,
}

/// A pocket at a corner of the front: with a fog lamp of radius `fog` in it, or an open
/// slot if there is none.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pocket {
    curve: Curve,
    #[serde(default)]
    fog: Option<f32>,
}

static LAYOUTS: LazyLock<Option<Table>> = LazyLock::new(|| toml::from_str(TABLE).ok());

fn layout_of<'t>(layouts: &'t [BumperLayout], vehicle: &Vehicle) -> Option<&'t BumperLayout> {
    layouts.iter().find(|layout| is_for(vehicle, &layout.makes, layout.years, &layout.bodies))
}

/// Adds to the sheet the bumpers of its class and year.
pub fn shape(sheet: &mut Sheet, vehicle: &Vehicle) {
    let Some(table) = LAYOUTS.as_ref() else { return };
    show_exhaust_of_its_time(sheet, vehicle);
    if is_car(vehicle.body) {
        flatten_tail_ledge(sheet);
        sheet.body.k_front *= CORNER_RATIO;
        sheet.body.k_rear *= CORNER_RATIO;
    }
    for (layouts, view) in [(&table.front, DrawnIn::Front), (&table.rear, DrawnIn::Rear)] {
        let has_bar = match view {
            DrawnIn::Front => sheet.fittings.front_bar.is_some(),
            _ => sheet.fittings.rear_bar.is_some(),
        };
        let is_heavy = matches!(vehicle.body, BodyClass::Truck | BodyClass::Bus | BodyClass::Trailer);
        if has_bar || is_heavy {
            continue;
        }
        let end = End::new(sheet, view, vehicle.year);
        let (mut regions, mut reliefs) = (Vec::new(), Vec::new());
        end.layer_trim(&mut reliefs);
        let layout = layout_of(layouts, vehicle);
        let has_beam = layout.is_some_and(|layout| end.add(layout, &mut regions, &mut reliefs));
        let has_fields = regions.iter().any(|region| region.name == FOG_FIELD);
        let face = face_mut(sheet, view);
        for fog in face.region.iter_mut().filter(|region| has_fields && region.name.contains("fog")) {
            if fog.over.is_empty() {
                fog.over.push(Material::Paint);
            }
            fog.over.push(Material::MattBlack);
        }
        for pressed in face.relief.iter_mut().filter(|relief| relief.name == "tailgate panel") {
            *pressed = SkinRelief { ramp: PRESSED_BEVEL_M, form: ReliefForm::Bevel, ..pressed.clone() };
        }
        // The beam is the form of the bumper, and a soft wave beside it would make a second ledge.
        let is_wave = |relief: &SkinRelief| relief.form == ReliefForm::Soft && relief.height.abs() < HIGHEST_WAVE_M;
        face.relief.retain(|relief| !(has_beam && is_wave(relief) && WAVES.contains(&relief.name.as_str())));
        face.region.extend(regions);
        face.relief.extend(reliefs);
    }
}

/// True if the body is a passenger car's, with bumpers, sensors and plates of its time. Pickups,
/// vans and heavy vehicles are not cars.
pub(super) fn is_car(body: BodyClass) -> bool {
    use BodyClass as Body;
    matches!(
        body,
        Body::Sedan
            | Body::Hatchback
            | Body::Coupe
            | Body::Fastback
            | Body::Convertible
            | Body::Wagon
            | Body::Suv
            | Body::OffRoader
            | Body::Minivan
    )
}

/// Ratio to which the radius of bumpers' corners is reduced, because sheets draw them too round.
const CORNER_RATIO: f32 = 0.84;

/// A tip smaller than this is meant as no tip.
const SMALLEST_TIP_M: f32 = 0.03;
/// First years in which single pipes, and then pairs of pipes, of everyday cars end out of
/// sight behind the bumper.
const FIRST_HIDDEN_SINGLE: u16 = 2012;
const FIRST_HIDDEN_PAIR: u16 = 2017;
/// Tips of this width are a feature, and stay.
const SHOWN_TIP_M: f32 = 0.14;

/// Removes exhausts that are not visible on cars of the time.
fn show_exhaust_of_its_time(sheet: &mut Sheet, vehicle: &Vehicle) {
    use BodyClass as Body;
    let everyday = is_car(vehicle.body) && !matches!(vehicle.body, Body::Coupe | Body::Convertible | Body::OffRoader);
    let Some(tip) = &sheet.fittings.exhaust else { return };
    let first = if tip.both_sides { FIRST_HIDDEN_PAIR } else { FIRST_HIDDEN_SINGLE };
    let is_hidden = everyday && vehicle.year >= first && tip.look.width < SHOWN_TIP_M && tip.look.pipes < 2;
    if is_hidden || tip.look.width.min(tip.look.height) < SMALLEST_TIP_M {
        sheet.fittings.exhaust = None;
    }
}

/// Straightens a ledge under the lid that is drawn in the profile, because such a ledge follows the
/// crown of the body, not the lid, and swells. The lower tailgate runs down to the bumper instead,
/// whose beam makes the step along the lid.
fn flatten_tail_ledge(sheet: &mut Sheet) {
    /// Depth to which the ledge is reduced.
    const LEFT_M: f32 = 0.014;
    const LEAST_LEDGE_M: f32 = 0.03;
    /// Height above the ledge up to which the tailgate is moved.
    const RUN_OUT_M: f32 = 0.34;
    let from = 0.88 * sheet.size.length;
    let [low, high] = sheet.rear.anchors;
    let (least, most) = (low + 0.2 * (high - low), low + 0.82 * (high - low));
    let profile = &mut sheet.body.profile;
    let is_ledge = |pair: &[ControlPoint]| {
        let [above, below] = [pair[0].at, pair[1].at];
        let (out, down) = (below.x - above.x, above.y - below.y);
        let lies_there = above.x > from && below.y > least && above.y < most;
        lies_there && out > LEAST_LEDGE_M && (0.0..1.6 * out).contains(&down)
    };
    let Some(index) = profile.windows(2).position(is_ledge) else { return };
    let foot = profile[index].at.y;
    let shift = profile[index + 1].at.x - profile[index].at.x - LEFT_M;
    for point in profile[..=index].iter_mut().filter(|point| point.at.x > from && point.at.y >= foot) {
        let ratio = 1.0 - (point.at.y - foot) / RUN_OUT_M;
        point.at.x += shift * ratio.max(0.0);
    }
}

fn face_mut(sheet: &mut Sheet, view: DrawnIn) -> &mut Face {
    if view == DrawnIn::Front { &mut sheet.front } else { &mut sheet.rear }
}

/// Spacing of the points of outlines.
const OUTLINE_STEP_M: f32 = 0.01;
/// Where the joint to the wing leaves the wheel arch, as a ratio of the
/// arch's radius from the axle.
const TO_JOINT: f32 = 0.70;
/// Room between the edge of a part and the lamps or openings beside it.
const ROOM_M: f32 = 0.018;
/// Distance below the lamps, and below the lid, at which the beam begins.
const UNDER_LAMP_M: f32 = 0.034;
const UNDER_LID_M: f32 = 0.016;
/// Minimum height of a beam above the valance.
const LEAST_BEAM_M: f32 = 0.07;
/// Parts of other materials: depth of those set back, height of those that stand out, and
/// width of the bevel between.
const TRIM_DEPTH_M: f32 = 0.008;
const SKID_HEIGHT_M: f32 = 0.010;
const TRIM_BEVEL_M: f32 = 0.008;
/// Drawings narrower than this are strokes, not parts.
const STROKE_M: f32 = 0.06;
/// Bumpers that are drawn as an area of their own stand out by this height, and
/// strips on them by less.
const BUMPER_HEIGHT_M: f32 = 0.016;
const BUMPER_BEVEL_M: f32 = 0.012;
const STRIP_HEIGHT_M: f32 = 0.005;
/// Names of soft reliefs in sheets that stand for a bumper's form, and the maximum height of such a
/// relief. Higher ones are bodies of their own.
const WAVES: [&str; 4] = ["bumper", "bumper plane", "bumper upper plane", "lower bumper"];
const HIGHEST_WAVE_M: f32 = 0.025;
/// First year of plastic bumpers as wide as the body. They run out in front of the joint to the
/// wing, at this many radii from the axle, over the length below.
const FIRST_PLASTIC: u16 = 1997;
const BEFORE_JOINT: f32 = 1.06;
const BEAM_FADE_M: f32 = 0.26;
/// Width of the upright band of a beam above its lower face, the minimum height of that face, and
/// the reach of its slope.
const BAND_M: f32 = 0.085;
const LEAST_LOWER_FACE_M: f32 = 0.06;
const LOWER_FACE_SLOPE_M: f32 = 0.11;
/// Bright trim at least this high is a blade, and stands out by the height below.
const BLADE_M: f32 = 0.12;
const BLADE_HEIGHT_M: f32 = 0.007;
/// Bevel of the edge of a panel that is pressed into a tailgate.
const PRESSED_BEVEL_M: f32 = 0.014;
/// Room around a fog lamp in its area, and around an exhaust's tip.
const FOG_ROOM_M: f32 = 0.034;
const TIP_ROOM_M: f32 = 0.013;
/// Depth of the cut-out that a tip comes out of.
const TIP_POCKET_M: f32 = 0.030;
/// Room between a badge and a part that is moved out of its way.
const BADGE_ROOM_M: f32 = 0.014;

/// Name of the area around a fog lamp.
const FOG_FIELD: &str = "fog field";
/// Names of areas that are a whole bumper.
const BUMPERS: [&str; 6] =
    ["bumper", "front bumper", "rear bumper", "chrome bumper", "front bumper side", "rear bumper side"];

/// The kind of a region, as far as bumpers have to keep clear of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BumperRegion {
    Lamp,
    Opening,
    Trim(Material),
}

struct DrawnRegion {
    kind: BumperRegion,
    outline: Outline,
    /// Width of the band around it.
    band: f32,
    index: usize,
}

impl DrawnRegion {
    fn bounds(&self) -> (Vec2, Vec2) {
        self.outline.bounds()
    }
}

/// One end of a sheet, as it is drawn.
struct End<'a> {
    view: DrawnIn,
    face: &'a Face,
    half_width: f32,
    anchors: [f32; 2],
    /// Model year.
    year: u16,
    /// Limits along the vehicle, from its end to the wheel.
    range: [f32; 2],
    /// Limits along the vehicle, from its end to the joint to the wing.
    beam_range: [f32; 2],
    drawn: Vec<DrawnRegion>,
    /// Height of the lower edge of the lid.
    lid: Option<f32>,
    /// Lowest and highest point of each badge.
    badges: Vec<[f32; 2]>,
    /// Middle and half sides of an exhaust's tip, in (y, z).
    tip: Option<(Vec2, Vec2)>,
}

impl<'a> End<'a> {
    fn new(sheet: &'a Sheet, view: DrawnIn, year: u16) -> Self {
        let (size, wheels) = (sheet.size, &sheet.wheels);
        let to_arch = 0.5 * wheels.tyre_diameter + wheels.arch_gap + wheels.cladding;
        let limits = |radii: f32| {
            if view == DrawnIn::Front {
                return [-1.0, (size.front_overhang - radii * to_arch).max(0.25)];
            }
            let axle = size.front_overhang + size.wheelbase;
            [(axle + radii * to_arch).min(size.length - 0.25), size.length + 1.0]
        };
        let face = if view == DrawnIn::Front { &sheet.front } else { &sheet.rear };
        let range = limits(TO_JOINT);
        let beam_range = if year < FIRST_PLASTIC { range } else { limits(BEFORE_JOINT) };
        let drawn = face.region.iter().enumerate().filter_map(|(index, region)| {
            let kind = match &region.kind {
                RegionKind::Lamp(_) => BumperRegion::Lamp,
                RegionKind::Inset { .. } => BumperRegion::Opening,
                RegionKind::Skin(material) => BumperRegion::Trim(*material),
                _ => return None,
            };
            let outline = outline_of(&region.at).filter(|_| region.at.view == view)?;
            Some(DrawnRegion { kind, outline, band: region.edge.map_or(0.0, |edge| edge.width), index })
        });
        let lid = face.region.iter().filter(|region| region.at.view == view && is_shut_line(&region.kind));
        let lid = lid.filter_map(|region| outline_of(&region.at)).map(|outline| outline.bounds());
        let lid = lid.filter(|(low, high)| high.x - low.x > 0.5 * size.width && high.y - low.y > 0.2);
        let lid = lid.map(|(low, _)| low.y).reduce(f32::min);
        let from_rear = view == DrawnIn::Rear;
        let badges = sheet.fittings.emblem.iter().filter(|badge| badge.at_rear == from_rear);
        let badges = badges.map(|badge| [-0.5, 0.5].map(|ratio| badge.z + ratio * badge.look.height()));
        let tip = sheet
            .fittings
            .exhaust
            .as_ref()
            .filter(|_| from_rear)
            .map(|exhaust| (Vec2::from(exhaust.at), 0.5 * Vec2::new(exhaust.look.width, exhaust.look.height)));
        Self {
            view,
            face,
            half_width: 0.5 * size.width,
            anchors: face.anchors,
            year,
            range,
            beam_range,
            drawn: drawn.collect(),
            lid,
            badges: badges.collect(),
            tip,
        }
    }

    fn height(&self) -> f32 {
        self.anchors[1] - self.anchors[0]
    }

    /// Converts a curve of the table from ratios to metres.
    fn fit(&self, curve: &Curve) -> Curve {
        let place = |at: Vec2| Vec2::new(at.x * self.half_width, self.anchors[0] + at.y * self.height());
        curve.iter().map(|point| ControlPoint { at: place(point.at), ..*point }).collect()
    }

    fn drawing(&self, curve: Curve, mirror: bool) -> Drawing {
        Drawing { view: self.view, curve, mirror, range: Some(self.range), bowed: false }
    }

    /// Returns the lamps in the corners, which are those that reach farthest out.
    fn lamps(&self) -> impl Iterator<Item = &DrawnRegion> {
        let main = self.anchors[0] + 0.45 * self.height();
        self.drawn.iter().filter(move |drawn| {
            let (low, high) = drawn.bounds();
            drawn.kind == BumperRegion::Lamp && high.x > 0.7 * self.half_width && 0.5 * (low.y + high.y) > main
        })
    }

    /// Returns the minimum distance between an outline and any lamp or opening.
    fn room_of(&self, outline: &Outline) -> f32 {
        let solid = self.drawn.iter().filter(|drawn| !matches!(drawn.kind, BumperRegion::Trim(_)));
        let distances = solid.flat_map(|drawn| {
            let band = drawn.band;
            let to_it = outline.points().iter().map(move |p| drawn.outline.distance(*p) - band);
            let from_it = drawn.outline.points().iter().map(|p| outline.distance(*p));
            to_it.chain(from_it)
        });
        distances.fold(1.0, f32::min)
    }

    /// Turns trim that the sheet draws low down into parts of their own: black trim is set back,
    /// bright plates and whole bumpers stand out.
    fn layer_trim(&self, reliefs: &mut Vec<SkinRelief>) {
        let top = self.anchors[0] + 0.55 * self.height();
        for drawn in &self.drawn {
            let region = &self.face.region[drawn.index];
            let (low, high) = drawn.bounds();
            let BumperRegion::Trim(material) = drawn.kind else { continue };
            let is_blade = self.is_blade(drawn) && self.view == DrawnIn::Front && region.within.is_none();
            if is_blade && !region.over.contains(&Material::Grille) {
                reliefs.push(relief(&region.name, region.at.clone(), BLADE_HEIGHT_M, BLADE_HEIGHT_M, 0.0));
                continue;
            }
            let is_wide = high.x - low.x > 0.25 * self.half_width;
            let is_bar = region.over.contains(&Material::Grille);
            if !is_wide || is_bar || 0.5 * (low.y + high.y) > top || region.within.is_some() {
                continue;
            }
            let is_bumper = BUMPERS.contains(&region.name.as_str());
            let is_stroke = (high - low).min_element() < STROKE_M;
            let (height, bevel) = match material {
                _ if is_bumper => (BUMPER_HEIGHT_M, BUMPER_BEVEL_M),
                Material::Paint => continue,
                _ if is_stroke && region.name.contains("strip") => (STRIP_HEIGHT_M, STRIP_HEIGHT_M),
                _ if is_stroke => continue,
                Material::MattBlack | Material::GlossBlack => (-TRIM_DEPTH_M, TRIM_BEVEL_M),
                Material::Satin | Material::Chrome => (SKID_HEIGHT_M, TRIM_BEVEL_M),
                _ => continue,
            };
            let mut at = region.at.clone();
            at.range =
                Some(at.range.map_or(self.range, |range| [range[0].max(self.range[0]), range[1].min(self.range[1])]));
            // The edge of the paint goes down into a part that is set back.
            let grow = if height < 0.0 { 0.002 } else { 0.0 };
            reliefs.push(relief(&region.name, at, height, bevel, grow));
        }
    }

    /// Adds the parts of a layout. Returns true if the bumper has a beam.
    fn add(&self, layout: &BumperLayout, regions: &mut Vec<Region>, reliefs: &mut Vec<SkinRelief>) -> bool {
        if let Some(curve) = layout.intake.as_ref().filter(|_| !self.has_low_opening()) {
            regions.extend(self.intake(curve, reliefs, layout.chamfer));
        }
        if let Some(pocket) = &layout.pocket {
            self.add_pocket(pocket, layout.chamfer, regions, reliefs);
        }
        if let Some(chamfer) = layout.chamfer {
            self.add_chamfers(chamfer, reliefs);
        }
        let valance_top = layout.valance.and_then(|valance| self.add_valance(valance, regions, reliefs));
        if let Some(curve) = layout.skid.as_ref().filter(|_| valance_top.is_some()) {
            self.add_skid(curve, regions, reliefs);
        }
        for trim in &layout.trim {
            self.add_trim(trim, regions, reliefs);
        }
        if let Some(tip) = self.tip {
            self.add_tip_pocket(tip, regions, reliefs);
        }
        let foot = valance_top.unwrap_or(self.anchors[0]);
        let beam = layout.step.and_then(|step| self.add_step(step, foot, reliefs));
        if let (Some(strip), Some(top)) = (layout.strip, beam) {
            self.add_strip(strip, top, foot, regions, reliefs);
        }
        if let (Some(depth), Some(top)) = (layout.lower_face, beam) {
            self.add_lower_face(depth, top - BAND_M, foot, reliefs);
        }
        beam.is_some()
    }

    /// Draws a bumper in towards the road below its upright band, behind a crisp edge.
    fn add_lower_face(&self, depth: f32, top: f32, foot: f32, reliefs: &mut Vec<SkinRelief>) {
        let height = top - foot;
        if height < LEAST_LOWER_FACE_M {
            return;
        }
        let (out, low) = (1.4 * self.half_width, self.anchors[0] - 0.5);
        let corners = [(0.0, top), (out, top), (out, low), (0.0, low)];
        let curve = corners.map(|(y, z)| ControlPoint { at: Vec2::new(y, z), radius: 0.0 });
        let slope = height.min(LOWER_FACE_SLOPE_M);
        let depth = depth * slope / LOWER_FACE_SLOPE_M;
        reliefs.push(relief("lower face", self.drawing(curve.to_vec(), true), -depth, slope, 0.0));
    }

    /// Adds trim where lamps, openings and badges leave room, lower than drawn if necessary.
    fn add_trim(&self, trim: &Trim, regions: &mut Vec<Region>, reliefs: &mut Vec<SkinRelief>) {
        let drawn = self.fit(&trim.curve);
        for lower in (0..14).map(|i| 0.01 * i as f32) {
            let curve: Curve = drawn.iter().map(|p| ControlPoint { at: p.at - Vec2::Y * lower, ..*p }).collect();
            let at = self.drawing(curve, true);
            let Some(outline) = outline_of(&at) else { return };
            let (low, high) = outline.bounds();
            let meets_badge = |badge: &[f32; 2]| high.y + BADGE_ROOM_M > badge[0] && low.y - BADGE_ROOM_M < badge[1];
            if self.badges.iter().any(meets_badge) || self.room_of(&outline) < 0.008 {
                continue;
            }
            let bevel = trim.height.abs().max(TRIM_BEVEL_M);
            let grow = if trim.height < 0.0 { bevel } else { 0.0 };
            reliefs.push(relief(&trim.name, at.clone(), trim.height, bevel, grow));
            let mut field = region(&trim.name, at, RegionKind::Skin(trim.material));
            field.over = vec![Material::Paint, Material::Chrome, Material::MattBlack, Material::Satin];
            regions.push(field);
            return;
        }
    }

    /// Adds the dark cut-out that the tip of an exhaust comes out of. It is open below if
    /// the bumper ends there.
    fn add_tip_pocket(&self, (at, half): (Vec2, Vec2), regions: &mut Vec<Region>, reliefs: &mut Vec<SkinRelief>) {
        let room = half + Vec2::splat(TIP_ROOM_M);
        if at.x < room.x || at.y + room.y < self.anchors[0] + 0.01 {
            return;
        }
        let is_open = at.y - room.y < self.anchors[0] + 0.05;
        let low = if is_open { self.anchors[0] - 0.4 } else { at.y - room.y };
        let high = at.y + room.y;
        let radius = 0.55 * room.y;
        let foot_radius = if is_open { 0.0 } else { radius };
        let corners =
            [(-room.x, low, foot_radius), (-room.x, high, radius), (room.x, high, radius), (room.x, low, foot_radius)];
        let curve = corners.map(|(y, z, radius)| ControlPoint { at: Vec2::new(at.x + y, z), radius });
        let drawing = self.drawing(curve.to_vec(), false);
        reliefs.push(relief("exhaust pocket", drawing.clone(), -TIP_POCKET_M, 0.012, 0.002));
        let mut pocket = region("exhaust pocket", drawing, RegionKind::Skin(Material::Underbody));
        pocket.over = vec![Material::Paint, Material::Satin, Material::GlossBlack, Material::MattBlack];
        regions.push(pocket);
    }

    /// True if there is an opening in the lower half of the middle.
    fn has_low_opening(&self) -> bool {
        let top = self.anchors[0] + 0.42 * self.height();
        self.drawn.iter().any(|drawn| {
            let (low, high) = drawn.bounds();
            drawn.kind == BumperRegion::Opening
                && low.x < 0.3 * self.half_width
                && low.y < top
                && high.y > self.anchors[0]
        })
    }

    fn intake(&self, curve: &Curve, reliefs: &mut Vec<SkinRelief>, chamfer: Option<Chamfer>) -> Option<Region> {
        let at = self.drawing(self.fit(curve), true);
        let outline = outline_of(&at)?;
        if self.room_of(&outline) < ROOM_M {
            return None;
        }
        if let Some(chamfer) = chamfer {
            reliefs.push(relief("intake", at.clone(), -chamfer.depth, chamfer.width, chamfer.width));
        }
        Some(opening("lower intake", at, Pattern::Honeycomb))
    }

    /// Adds a pocket at the corner, unless something is there already.
    fn add_pocket(
        &self,
        pocket: &Pocket,
        chamfer: Option<Chamfer>,
        regions: &mut Vec<Region>,
        reliefs: &mut Vec<SkinRelief>,
    ) {
        let at = self.drawing(self.fit(&pocket.curve), false);
        let Some(outline) = outline_of(&at) else { return };
        let middle = self.anchors[0] + 0.5 * self.height();
        let is_taken = self.drawn.iter().any(|drawn| {
            let (low, high) = drawn.bounds();
            !matches!(drawn.kind, BumperRegion::Trim(_))
                && high.x > 0.62 * self.half_width
                && 0.5 * (low.y + high.y) < middle
        });
        if is_taken {
            self.add_fog_fields(regions, reliefs);
            return;
        }
        if self.room_of(&outline) < ROOM_M {
            return;
        }
        let chamfer = chamfer.unwrap_or(Chamfer { width: 0.014, depth: 0.01 });
        reliefs.push(relief("corner pocket", at.clone(), -chamfer.depth, chamfer.width, chamfer.width));
        let Some(radius) = pocket.fog else {
            regions.push(opening("corner intake", at, Pattern::Blades));
            return;
        };
        let (low, high) = outline.bounds();
        let centre = 0.5 * (low + high);
        regions.push(region("fog lamp bezel", at, RegionKind::Skin(Material::MattBlack)));
        let square = [(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (1.0, -1.0)];
        // Control points of a spline that runs round at the radius.
        let corners = square.map(|(y, z)| ControlPoint { at: centre + Vec2::new(y, z) * 1.22 * radius, radius: 0.0 });
        let head = HeadLamp {
            main: MainLight::Bowl,
            count: 1,
            from: 0.5,
            to: 0.5,
            size: 0.85,
            running: RunningLight::None,
            ..HeadLamp::default()
        };
        let lamp = Lamp {
            depth: 0.035,
            bowl: Material::LampHousing,
            lens: Material::LampLens,
            head: Some(head),
            tail: None,
            year: self.year,
            is_round: true,
        };
        let mut fog = region("fog lamp", self.drawing(corners.to_vec(), false), RegionKind::Lamp(lamp));
        fog.over = vec![Material::Paint, Material::MattBlack];
        fog.edge = Some(EdgeBand { width: 0.010, material: Material::GlossBlack });
        regions.push(fog);
    }

    /// Adds a black area around each fog lamp that stands alone in the paint.
    fn add_fog_fields(&self, regions: &mut Vec<Region>, reliefs: &mut Vec<SkinRelief>) {
        let top = self.anchors[0] + 0.5 * self.height();
        for lamp in self.drawn.iter().filter(|drawn| drawn.kind == BumperRegion::Lamp) {
            let (low, high) = lamp.bounds();
            let is_fog = self.face.region[lamp.index].name.contains("fog");
            if !is_fog || high.y > top || low.x < 0.4 * self.half_width || (high - low).max_element() > 0.16 {
                continue;
            }
            let (low, high) = (low - Vec2::splat(FOG_ROOM_M), high + Vec2::splat(FOG_ROOM_M));
            let point = |y: f32, z: f32, radius: f32| ControlPoint { at: Vec2::new(y, z), radius };
            // A wedge that opens outwards and reaches round the corner.
            let curve = vec![
                point(low.x - 0.085, 0.4 * low.y + 0.6 * high.y, 0.012),
                point(low.x + 0.02, high.y + 0.004, 0.03),
                point(high.x + 0.06, high.y + 0.016, 0.02),
                point(high.x + 0.035, low.y + 0.004, 0.03),
                point(low.x - 0.01, low.y, 0.03),
            ];
            let at = self.drawing(curve, false);
            let Some(outline) = outline_of(&at) else { continue };
            let others = self.drawn.iter().filter(|other| other.index != lamp.index);
            let near = others.flat_map(|other| {
                let to_it = outline.points().iter().map(|p| other.outline.distance(*p) - other.band);
                to_it.chain(other.outline.points().iter().map(|p| outline.distance(*p) - other.band))
            });
            if near.fold(1.0, f32::min) < 0.012 {
                continue;
            }
            reliefs.push(relief("fog field", at.clone(), -0.011, 0.014, 0.014));
            // The area lies under the lamp, which is cut out of it.
            regions.push(Region { layer: -1, ..region(FOG_FIELD, at, RegionKind::Skin(Material::MattBlack)) });
        }
    }

    /// Adds bevels around the openings of the bumper, as wide as lamps beside them allow.
    fn add_chamfers(&self, chamfer: Chamfer, reliefs: &mut Vec<SkinRelief>) {
        let most = self.anchors[0] + 0.58 * self.height();
        for drawn in self.drawn.iter().filter(|drawn| drawn.kind == BumperRegion::Opening) {
            let region = &self.face.region[drawn.index];
            let (low, high) = drawn.bounds();
            if 0.5 * (low.y + high.y) > most || (high - low).min_element() < 0.04 || region.within.is_some() {
                continue;
            }
            let others =
                self.drawn.iter().filter(|other| other.index != drawn.index && other.kind == BumperRegion::Lamp);
            let near = others.flat_map(|other| {
                other.outline.points().iter().map(|p| drawn.outline.distance(*p) - drawn.band - other.band)
            });
            let width = chamfer.width.min(near.fold(1.0, f32::min) - 0.008);
            if width < 0.008 {
                continue;
            }
            let depth = chamfer.depth * width / chamfer.width;
            let mut at = region.at.clone();
            at.range.get_or_insert(self.range);
            reliefs.push(relief(&region.name, at, -depth, width, drawn.band + width));
        }
    }

    /// Adds a lower part of black plastic, set back under the beam. Returns the height of its upper
    /// edge, or `None` if there is no room for it.
    fn add_valance(&self, valance: Valance, regions: &mut Vec<Region>, reliefs: &mut Vec<SkinRelief>) -> Option<f32> {
        let low = self.anchors[0];
        let drawn = self.drawn.iter().filter(|drawn| {
            let (lowest, highest) = drawn.bounds();
            matches!(drawn.kind, BumperRegion::Trim(Material::MattBlack | Material::GlossBlack))
                && lowest.y < low + 0.1 * self.height()
                && highest.x > 0.5 * self.half_width
                && lowest.x < 0.1 * self.half_width
        });
        // The sheet already draws a lower part: no second one is added.
        if let Some(top) = drawn.map(|drawn| drawn.bounds().1.y).reduce(f32::max) {
            return Some(top);
        }
        let wanted = low + valance.top * self.height();
        // The edge must not cross an opening in the middle or a lamp at a corner.
        let meets = |z: f32| {
            self.drawn.iter().filter(|drawn| !matches!(drawn.kind, BumperRegion::Trim(_))).any(|drawn| {
                let (lowest, highest) = drawn.bounds();
                let band = drawn.band + 0.012;
                z > lowest.y - band && z < highest.y + band
            })
        };
        let top = (0..=16).map(|i| wanted - 0.01 * i as f32).find(|z| !meets(*z)).filter(|z| *z > low + 0.028)?;
        let out = 1.4 * self.half_width;
        let rise = 0.10 * self.height();
        // The edge rises towards the wheels.
        let edge = |up: f32| -> Curve {
            let point = |y: f32, z: f32, radius: f32| ControlPoint { at: Vec2::new(y, z + up), radius };
            let corner = 0.80 * self.half_width;
            let side = if meets(top + rise) { top } else { top + 0.5 * rise };
            vec![
                point(0.0, top, 0.0),
                point(0.66 * self.half_width, top, 0.02),
                point(corner, side, 0.02),
                point(out, side, 0.0),
                point(out, low - 0.4, 0.0),
                point(0.0, low - 0.4, 0.0),
            ]
        };
        reliefs.push(relief("valance", self.drawing(edge(0.0), true), -valance.depth, 0.009, 0.0));
        let at = self.drawing(edge(-0.002), true);
        regions.push(region("valance", at, RegionKind::Skin(Material::MattBlack)));
        Some(top)
    }

    fn add_skid(&self, curve: &Curve, regions: &mut Vec<Region>, reliefs: &mut Vec<SkinRelief>) {
        let is_bright =
            |drawn: &DrawnRegion| matches!(drawn.kind, BumperRegion::Trim(Material::Satin | Material::Chrome));
        let at = self.drawing(self.fit(curve), true);
        let Some(outline) = outline_of(&at) else { return };
        let low = self.anchors[0] + 0.3 * self.height();
        let has_one = self.drawn.iter().any(|drawn| is_bright(drawn) && drawn.bounds().0.y < low);
        if has_one || self.room_of(&outline) < 0.5 * ROOM_M {
            return;
        }
        reliefs.push(relief("skid plate", at.clone(), SKID_HEIGHT_M, TRIM_BEVEL_M, 0.0));
        let mut plate = region("skid plate", at, RegionKind::Skin(Material::Satin));
        plate.over = vec![Material::MattBlack, Material::Paint];
        regions.push(plate);
    }

    /// Adds the beam under lamps and lid. Returns the height of its upper edge at the side, or
    /// `None` if there is no room for a beam.
    fn add_step(&self, step: BeamStep, valance_top: f32, reliefs: &mut Vec<SkinRelief>) -> Option<f32> {
        let under_lamps = self.lamps().map(|lamp| lamp.bounds().0.y - lamp.band - UNDER_LAMP_M).reduce(f32::min);
        let under_lid = self.lid.filter(|_| self.view == DrawnIn::Rear).map(|lid| lid - UNDER_LID_M);
        let side = match (under_lamps, under_lid) {
            (Some(lamps), Some(lid)) => lamps.min(lid),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return None,
        };
        let side = side.min(self.anchors[0] + 0.80 * self.height());
        if side < valance_top + LEAST_BEAM_M {
            return None;
        }
        // In the middle the edge runs between the openings. If there is no room,
        // the middle has no beam.
        let middle = self.free_level(side, valance_top + 0.03);
        let out = 1.4 * self.half_width;
        let foot = self.anchors[0] - 0.4;
        let point = |y: f32, z: f32, radius: f32| ControlPoint { at: Vec2::new(y, z), radius };
        let inner = self.lamps().map(|lamp| lamp.bounds().0.x).fold(f32::MAX, f32::min).min(0.6 * self.half_width);
        if let Some(z) = middle {
            let from = inner.max(0.3 * self.half_width);
            let curve = vec![
                point(0.0, z, 0.0),
                point(from, z, 0.03),
                point(from + 0.16 * self.half_width, side, 0.03),
                point(out, side, 0.0),
                point(out, foot, 0.0),
                point(0.0, foot, 0.0),
            ];
            let at = Drawing { range: Some(self.beam_range), ..self.drawing(curve, true) };
            reliefs.push(SkinRelief { fade: self.beam_fade(), ..relief("beam", at, step.height, step.bevel, 0.0) });
        } else {
            // A pod at each corner, beside the opening.
            let reach = |z: f32| {
                let wide = self.drawn.iter().filter(|drawn| self.breaks_a_beam(drawn));
                let (low, high) = (z - 0.04, z + 0.04);
                let at = wide.flat_map(|drawn| drawn.outline.points().iter().map(|p| (*p, drawn.band)));
                at.filter(|(p, _)| (low..=high).contains(&p.y) && p.x < 0.8 * self.half_width)
                    .map(|(p, band)| p.x + band)
                    .fold(0.3 * self.half_width, f32::max)
            };
            let lower = valance_top.max(self.anchors[0] + 0.1 * self.height());
            // The pod begins under the lamp's inner end.
            let lamp_end = self.lamps().map(|lamp| lamp.bounds().0.x).fold(f32::MAX, f32::min);
            let from_lamp = if lamp_end < self.half_width { lamp_end + 0.03 } else { 0.0 };
            let (upper_y, lower_y) = ((reach(side) + 0.05).max(from_lamp), reach(lower) + 0.05);
            if upper_y > 0.86 * self.half_width {
                return None;
            }
            let curve = vec![
                point(upper_y, side, 0.02),
                point(out, side, 0.0),
                point(out, foot, 0.0),
                point(lower_y.min(0.86 * self.half_width), foot, 0.0),
                point(lower_y.min(0.86 * self.half_width), lower, 0.03),
            ];
            let at = Drawing { range: Some(self.beam_range), ..self.drawing(curve, false) };
            reliefs
                .push(SkinRelief { fade: self.beam_fade(), ..relief("corner pod", at, step.height, step.bevel, 0.0) });
        }
        Some(side)
    }

    /// Returns the length over which the step of a plastic bumper dissolves in front of the wheel.
    /// Older bumpers end there, so they have none.
    fn beam_fade(&self) -> Option<f32> {
        (self.year >= FIRST_PLASTIC).then_some(BEAM_FADE_M)
    }

    /// True for an opening, and for a bright blade that stands upright, which would look torn if it
    /// were bent over a step.
    fn breaks_a_beam(&self, drawn: &DrawnRegion) -> bool {
        drawn.kind == BumperRegion::Opening || self.is_blade(drawn)
    }

    fn is_blade(&self, drawn: &DrawnRegion) -> bool {
        let (low, high) = drawn.bounds();
        let is_bright = matches!(drawn.kind, BumperRegion::Trim(Material::Chrome | Material::Satin));
        let name = self.face.region[drawn.index].name.as_str();
        is_bright && high.y - low.y > BLADE_M && high.x < 0.8 * self.half_width && !BUMPERS.contains(&name)
    }

    /// Returns the height nearest to `wanted` at which no opening in the middle
    /// crosses a beam's edge.
    fn free_level(&self, wanted: f32, least: f32) -> Option<f32> {
        let is_free = |z: f32| {
            !self.drawn.iter().filter(|drawn| self.breaks_a_beam(drawn)).any(|drawn| {
                let (low, high) = drawn.bounds();
                let room = drawn.band + 0.022;
                low.x < 0.6 * self.half_width && z > low.y - room && z < high.y + room
            })
        };
        let most = wanted + 0.06;
        let levels = (0..60).map(|i| least + 0.01 * i as f32).filter(|z| *z <= most && is_free(*z));
        let nearest = levels.min_by(|a, b| (a - wanted).abs().total_cmp(&(b - wanted).abs()))?;
        ((nearest - wanted).abs() < 0.16).then_some(nearest)
    }

    /// Adds a rub strip along the beam, where there are no openings.
    fn add_strip(&self, strip: Strip, top: f32, bottom: f32, regions: &mut Vec<Region>, reliefs: &mut Vec<SkinRelief>) {
        let (out, half) = (1.4 * self.half_width, 0.5 * strip.height);
        let band = |z: f32| -> Curve {
            let point = |y: f32, z: f32| ControlPoint { at: Vec2::new(y, z), radius: 0.0 };
            vec![point(0.0, z + half), point(out, z + half), point(out, z - half), point(0.0, z - half)]
        };
        let levels = (0..12).map(|i| 0.55 * top + 0.45 * bottom + 0.01 * if i % 2 == 0 { i } else { -i } as f32);
        let is_free = |z: &f32| outline_of(&self.drawing(band(*z), true)).is_some_and(|o| self.room_of(&o) > 0.01);
        let Some(z) = levels.filter(|z| *z + half < top - 0.03 && *z - half > bottom + 0.02).find(is_free) else {
            return;
        };
        let at = self.drawing(band(z), true);
        reliefs.push(relief("rub strip", at.clone(), strip.stands_out, 0.008, 0.0));
        regions.push(region("rub strip", at, RegionKind::Skin(Material::MattBlack)));
    }
}

fn relief(name: &str, at: Drawing, height: f32, ramp: f32, grow: f32) -> SkinRelief {
    SkinRelief { name: format!("{name} edge"), at, height, ramp, form: ReliefForm::Bevel, grow, fade: None }
}

fn region(name: &str, at: Drawing, kind: RegionKind) -> Region {
    Region { name: name.to_owned(), at, kind, over: Vec::new(), edge: None, within: None, layer: 0 }
}

fn opening(name: &str, at: Drawing, pattern: Pattern) -> Region {
    let kind = RegionKind::Inset {
        depth: 0.04,
        floor: Material::Grille,
        wall: Material::MattBlack,
        fill: Some(Fill::dark(pattern)),
    };
    Region { edge: Some(EdgeBand { width: 0.009, material: Material::GlossBlack }), ..region(name, at, kind) }
}

fn outline_of(drawing: &Drawing) -> Option<Outline> {
    (drawing.curve.len() >= 3).then(|| drawing::outline_of(drawing, OUTLINE_STEP_M))
}

fn is_shut_line(kind: &RegionKind) -> bool {
    matches!(kind, RegionKind::Gap { material: Material::PanelGap, .. })
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::super::parts::exhaust::ExhaustTip;
    use super::super::sheet::ExhaustFitting;
    use super::super::typical::typical;
    use super::*;

    fn shaped(body: BodyClass, year: u16, name: &str) -> Sheet {
        let mut sheet = Library::embedded().unwrap().sheet(name).unwrap();
        shape(&mut sheet, &Vehicle { year, ..typical(body) });
        sheet
    }

    fn bevels(face: &Face) -> Vec<&SkinRelief> {
        face.relief.iter().filter(|relief| relief.form == ReliefForm::Bevel).collect()
    }

    #[test]
    fn the_table_reads_and_every_car_of_any_year_has_a_layout() {
        let table = LAYOUTS.as_ref().unwrap();
        for body in [BodyClass::Sedan, BodyClass::Hatchback, BodyClass::Suv, BodyClass::Wagon, BodyClass::Minivan] {
            for year in [1980, 1996, 1997, 2012, 2013, 2026] {
                let vehicle = Vehicle { year, ..typical(body) };
                assert!(layout_of(&table.front, &vehicle).is_some(), "{body} {year}");
                assert!(layout_of(&table.rear, &vehicle).is_some(), "{body} {year}");
            }
        }
    }

    #[test]
    fn a_beam_runs_under_lamps_and_lid() {
        let mut beams = 0;
        for (body, name) in [(BodyClass::Hatchback, "hatchback"), (BodyClass::Sedan, "sedan"), (BodyClass::Suv, "suv")]
        {
            let sheet = shaped(body, 2015, name);
            let end = End::new(&sheet, DrawnIn::Rear, 2015);
            // The edge of the beam or, where an opening is in its way, of the pods beside it.
            let is_beam = |relief: &&SkinRelief| matches!(relief.name.as_str(), "beam" | "beam edge" | "corner pod");
            for beam in sheet.rear.relief.iter().filter(is_beam) {
                let top = beam.at.curve.iter().map(|point| point.at.y).fold(f32::MIN, f32::max);
                assert!(end.lid.is_some_and(|lid| top < lid), "{name}");
                assert!(end.lamps().all(|lamp| top < lamp.bounds().0.y), "{name}");
                beams += 1;
            }
            assert!(bevels(&sheet.front).len() > 1, "{name}");
        }
        assert!(beams >= 2, "{beams}");
    }

    #[test]
    fn nothing_that_is_added_meets_a_lamp_or_an_opening() {
        for (body, year, name) in [
            (BodyClass::Hatchback, 1990, "hatchback-1990s"),
            (BodyClass::Sedan, 2005, "sedan-2000s"),
            (BodyClass::Hatchback, 2015, "hatchback"),
            (BodyClass::Suv, 2022, "suv-2020s"),
        ] {
            let plain = Library::embedded().unwrap().sheet(name).unwrap();
            let end = End::new(&plain, DrawnIn::Front, year);
            let sheet = shaped(body, year, name);
            for added in &sheet.front.region[plain.front.region.len()..] {
                let is_field = ["fog field", "skid plate", "valance"].contains(&added.name.as_str());
                let room = end.room_of(&outline_of(&added.at).unwrap());
                assert!(is_field || room > 0.0, "{name}: {} is {room} from what is drawn", added.name);
            }
        }
    }

    #[test]
    fn a_tailgate_is_led_down_to_the_bumper() {
        let plain = Library::embedded().unwrap().sheet("suv").unwrap();
        let sheet = shaped(BodyClass::Suv, 2015, "suv");
        let ledge = |sheet: &Sheet| {
            let tail = sheet.body.profile.iter().filter(|p| p.at.x > 0.95 * sheet.size.length && p.at.y > 0.7);
            let points: Vec<Vec2> = tail.map(|p| p.at).collect();
            points.windows(2).map(|pair| pair[1].x - pair[0].x).fold(0.0, f32::max)
        };
        assert!(ledge(&plain) > 0.08 && ledge(&sheet) < 0.07, "{} {}", ledge(&plain), ledge(&sheet));
        let ends = |sheet: &Sheet| sheet.body.profile.iter().map(|p| p.at.x).fold(0.0, f32::max);
        assert_eq!(ends(&plain), ends(&sheet));
    }

    #[test]
    fn pipes_of_everyday_cars_of_today_are_hidden() {
        let of = |body: BodyClass, year: u16| {
            let mut sheet = Library::embedded().unwrap().sheet("hatchback").unwrap();
            let tip = ExhaustTip::default();
            sheet.fittings.exhaust = Some(ExhaustFitting { at: [0.5, 0.3], both_sides: false, look: tip });
            shape(&mut sheet, &Vehicle { year, ..typical(body) });
            sheet.fittings.exhaust.is_some()
        };
        assert!(of(BodyClass::Hatchback, 2005) && !of(BodyClass::Hatchback, 2018) && of(BodyClass::Coupe, 2018));
    }

    #[test]
    fn heavy_vehicles_and_bars_keep_what_is_drawn() {
        let plain = Library::embedded().unwrap().sheet("truck").unwrap();
        let sheet = shaped(BodyClass::Truck, 2015, "truck");
        assert_eq!(sheet.front.relief.len(), plain.front.relief.len());
        assert_eq!(sheet.rear.region.len(), plain.rear.region.len());
    }
}

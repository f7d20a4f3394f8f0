//! The readable description of one body: a sheet of numbers, its inheritance, and its checks.
//! `body_field` and `regions` turn the numbers into space.
//!
//! Lengths are metres in the sheet's own dimensions (`[size]`); a vehicle's real ones come by
//! morphing. A curve is a list of control points `[a, b]` or, for a corner, `[a, b, radius]`; it
//! bends like a B-spline, so it is pulled towards its points without passing through them. x counts
//! from the nose, y from the centre plane (only y >= 0 is built), z from the ground.
//!
//! `base = "other"` first takes every number of another sheet, except the vehicles
//! that the other sheet applies to and its `[facts]`. Tables merge; lists are
//! replaced, except lists of named things (`[[region]]`, `[[relief]]`, ...), which
//! merge by `name`. `{ name = "...", remove = true }` removes one of them, and
//! `exhaust = false` removes a table or list.

pub mod bus;
pub mod facts;
pub mod panels;
pub mod tables;
pub mod truck;

use glam::Vec2;
use serde::Deserialize;

use super::curve::ControlPoint;
use super::mesh::Material;
use super::morph::Stance;
use super::outline::Outline;
use super::parts::bars::BumperBar;
use super::parts::emblem::Emblem;
use super::parts::exhaust::ExhaustTip;
use super::parts::grille::Fill;
use super::parts::handle::Handle;
use super::parts::lamp::{HeadLamp, TailLamp};
use super::parts::mirror::Mirror;
use super::parts::roof::RoofRail;
use super::parts::soft_top::StowedTop;
use super::parts::spoiler::Spoiler;
use crate::vehicle::parts::cabin::space::Rear;
use crate::vehicle::parts::wheel::spec::Wheel;
use bus::Bus;
use facts::Facts;
use panels::Panels;
use tables::{SheetError, Tables, merged_table};
use truck::Truck;

pub type Curve = Vec<ControlPoint>;

/// One body with everything that is drawn on it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    /// Description of the drawing in words.
    pub about: String,
    /// Name of the generation as the maker or people call it: `Mk7`, `E46`.
    #[serde(default)]
    pub generation: Option<String>,
    /// Name of the face. `own` is the sheet's own front and rear, `make` those of the make and
    /// year. Any other value is the name of a face.
    #[serde(default = "own")]
    pub face: String,
    pub size: DrawingSize,
    pub body: Body,
    pub greenhouse: Greenhouse,
    #[serde(default)]
    pub glass: Glass,
    pub wheels: Wheels,
    #[serde(default)]
    pub relief: Vec<SkinRelief>,
    #[serde(default)]
    pub crease: Vec<Crease>,
    #[serde(default)]
    pub solid: Vec<DrawnSolid>,
    /// Regions of flanks, roof and floor. Lamps and grilles belong to the faces.
    #[serde(default)]
    pub region: Vec<Region>,
    pub front: Face,
    pub rear: Face,
    #[serde(default)]
    pub fittings: Fittings,
    /// Panels that every body of its time has by rule, where this sheet differs from the rule.
    #[serde(default)]
    pub panels: Panels,
    /// Measurements of the real vehicle. The drawing is bent to match them.
    #[serde(default)]
    pub facts: Option<Facts>,
    /// Typical proportions of cars of this kind, if nothing was drawn for the model. The
    /// drawing is bent to match them too.
    #[serde(skip)]
    pub proportions: Option<Facts>,
    /// Frame, wheels, load and fittings of a truck. The truck's body in
    /// this sheet is the cab alone.
    #[serde(default)]
    pub truck: Option<Truck>,
    /// Seats, panes and roof units of a bus, which also has a `truck` table.
    #[serde(default)]
    pub bus: Option<Bus>,
}

fn own() -> String {
    "own".to_owned()
}

/// The dimensions of the drawing.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawingSize {
    pub length: f32,
    /// Width without mirrors.
    pub width: f32,
    pub height: f32,
    pub wheelbase: f32,
    /// Distance from the nose to the front axle.
    pub front_overhang: f32,
}

/// The lower body: a blend of a closed side profile and a side sheet.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Closed side profile (x, z) in the centre plane, clockwise from the chin: nose, hood, cowl,
    /// under the cabin, deck, tail, floor. It is stretched afterwards to fill `span`.
    pub profile: Curve,
    /// x of the profile's start and end. The whole length if absent; shorter where bumper bars or a
    /// spare wheel stand beyond the body.
    #[serde(default)]
    pub span: Option<[f32; 2]>,
    /// (x, ratio of half the width): the outline from above.
    pub plan: Curve,
    /// (x, z): upper edge of the flank.
    pub belt: Curve,
    /// z of the flank's lower end.
    pub sill: f32,
    /// (t, inset): section of the flank, with t = 0 at the sill and 1 at the belt.
    pub section: Curve,
    /// Distance of the nose's corners behind the centre line.
    pub bow_front: f32,
    /// Distance of the tail's corners in front of the centre line.
    pub bow_rear: f32,
    /// Length over which the bows of nose and tail fade.
    #[serde(default = "bow_reach")]
    pub bow_reach: f32,
    /// (x, drop at full width) of hood and deck.
    pub crown: Curve,
    /// Blend radius along hood edge and belt.
    pub k_top: f32,
    /// Blend radius at the lower front corner.
    pub k_front: f32,
    /// Blend radius at the lower rear corner.
    pub k_rear: f32,
    /// Distance by which the flank swells over the front wheels.
    #[serde(default = "haunch_front")]
    pub haunch_front: f32,
    /// Distance by which the flank swells over the rear wheels.
    #[serde(default = "haunch_rear")]
    pub haunch_rear: f32,
    /// Distance by which the flank is drawn in between the wheels.
    #[serde(default = "waist")]
    pub waist: f32,
    /// Height by which the flank's section stands higher at the rear axle than at the front one, as
    /// a ratio of the flank's height.
    #[serde(default)]
    pub rise: f32,
    /// Ratio by which the section is rounder over the rear axle, and flatter over the front
    /// one, than half way between them.
    #[serde(default)]
    pub swell: f32,
    /// Lengthwise swellings of hood and wings. Low ones of the hood are built as edges.
    #[serde(default)]
    pub ridge: Vec<Ridge>,
    /// Angle by which the hood turns at its edges, in radians.
    #[serde(default = "bonnet_turn")]
    pub bonnet_turn: f32,
}

fn bonnet_turn() -> f32 {
    0.12
}

fn bow_reach() -> f32 {
    1.1
}

fn haunch_front() -> f32 {
    0.026
}

fn haunch_rear() -> f32 {
    0.034
}

fn waist() -> f32 {
    0.03
}

/// A lengthwise swelling.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ridge {
    pub name: String,
    pub y: f32,
    /// Half width.
    pub reach: f32,
    /// Height. Negative for a valley.
    pub height: f32,
    /// x of the start, of the start and the end of the full height, and of the end.
    pub x: [f32; 4],
}

/// The cabin: one closed side profile for windscreen, roof and backlight, and a side sheet.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Greenhouse {
    /// Closed side profile (x, z). Its base lies below the belt. Its top is brought to `top`.
    pub profile: Curve,
    /// z of the top. The drawn height if absent; lower where a load box stands above the cab.
    #[serde(default)]
    pub top: Option<f32>,
    /// (x, ratio of half the width) at the belt.
    pub width: Curve,
    /// Inward lean of the side windows, as a tangent.
    pub tumblehome: f32,
    /// Growth of `tumblehome` per metre above the belt.
    #[serde(default)]
    pub tumblehome_growth: f32,
    /// Drop of the roof at full width.
    pub crown: f32,
    pub windscreen_bow: f32,
    #[serde(default)]
    pub backlight_bow: f32,
    /// (x, k): blend of roof and sides.
    pub k_rail: Curve,
    /// (x, k): blend of greenhouse and body.
    pub k_body: Curve,
    /// Set for a convertible with its top down, which has no roof.
    #[serde(default)]
    pub open: Option<OpenTop>,
}

/// The rest of an open car's greenhouse: the windscreen in its frame. The
/// cockpit is a cut `[[solid]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenTop {
    /// x of the rear edge of the windscreen frame, in the centre plane.
    pub header: f32,
    /// Thickness of the frame.
    #[serde(default = "frame")]
    pub frame: f32,
}

fn frame() -> f32 {
    0.03
}

/// The windows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Glass {
    /// Width of the band around every window.
    #[serde(default)]
    pub band: f32,
    #[serde(default)]
    pub band_material: Option<Material>,
    /// Material of the band around the side windows, where it differs (chrome).
    #[serde(default)]
    pub side_band_material: Option<Material>,
    #[serde(default)]
    pub windscreen: Option<Windscreen>,
    #[serde(default)]
    pub backlight: Option<Backlight>,
    #[serde(default)]
    pub side: Option<SideGlass>,
    #[serde(default)]
    pub pillar: Vec<Pillar>,
}

impl Glass {
    /// Returns the lower and the upper point (x, z) of the line where the windows of the front
    /// doors end. That is the pillar called `B`, or else the first pillar that is an arm's length
    /// behind the front edge, or else the middle of the side windows' length.
    pub fn front_doors_end(&self) -> Option<[[f32; 2]; 2]> {
        let side = self.side.as_ref()?;
        let least_x = side.front[0][0] + LEAST_DOOR_WINDOW_M;
        let behind = |pillar: &&Pillar| pillar.line[0][0] > least_x;
        let first = self.pillar.iter().filter(behind).min_by(|a, b| a.line[0][0].total_cmp(&b.line[0][0]));
        let named = self.pillar.iter().find(|pillar| pillar.name == "B");
        let middle = [0, 1].map(|end| [0, 1].map(|axis| 0.5 * (side.front[end][axis] + side.rear[end][axis])));
        Some(named.or(first).map_or(middle, |pillar| pillar.line))
    }
}

/// Least length of a front door's window.
const LEAST_DOOR_WINDOW_M: f32 = 0.45;

/// The windscreen.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Windscreen {
    /// Width of the A-pillar seen from the front.
    pub pillar: f32,
    /// x of the upper edge in the centre plane.
    pub header: f32,
    /// Distance of the lower edge from the hood.
    pub cowl: f32,
    #[serde(default = "corner")]
    pub corner: f32,
}

/// The rear window.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backlight {
    pub pillar: f32,
    /// x of the upper edge in the centre plane.
    pub top: f32,
    /// z of the lower edge in the centre plane.
    pub bottom: f32,
    /// z of the upper edge, for upright tails where x alone is too imprecise.
    #[serde(default)]
    pub top_z: Option<f32>,
    #[serde(default = "corner")]
    pub corner: f32,
}

fn corner() -> f32 {
    0.08
}

/// The windows of one side.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideGlass {
    /// Distance of the glass below the roof line.
    pub rail: f32,
    /// Distance of the glass above the belt.
    pub sill: f32,
    /// Lower and upper point of the front edge, (x, z).
    pub front: [[f32; 2]; 2],
    /// Lower and upper point of the rear edge, (x, z).
    pub rear: [[f32; 2]; 2],
    #[serde(default = "corner")]
    pub corner: f32,
    /// Drawn outline (x, z) that limits the glass further.
    #[serde(default)]
    pub outline: Option<Curve>,
}

/// A pillar across the side windows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pillar {
    pub name: String,
    /// Lower and upper point of its middle, (x, z).
    pub line: [[f32; 2]; 2],
    pub width: f32,
    #[serde(default = "pane_border")]
    pub material: Material,
}

/// Returns the black film on a pillar, as dark as the print along the panes beside it.
fn pane_border() -> Material {
    Material::PaneBorder
}

/// Sizes of the wheels and their arches.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheels {
    pub tyre_diameter: f32,
    pub tyre_width: f32,
    pub rim_diameter: f32,
    /// Gap between tyre and arch.
    pub arch_gap: f32,
    /// Exponent of the arch: 2 is round, more is squarer.
    #[serde(default = "round")]
    pub arch_power: f32,
    /// Height of a flare around the arch.
    #[serde(default)]
    pub lip_height: f32,
    /// Width of a flare around the arch.
    #[serde(default = "lip_width")]
    pub lip_width: f32,
    /// Width of cladding around the arch. There is none if 0.
    #[serde(default)]
    pub cladding: f32,
    #[serde(default = "matt_black")]
    pub cladding_material: Material,
    /// Distance of the tyre's face inside the flank.
    #[serde(default = "tuck")]
    pub tuck: f32,
}

fn round() -> f32 {
    2.0
}

fn lip_width() -> f32 {
    0.05
}

fn matt_black() -> Material {
    Material::MattBlack
}

fn tuck() -> f32 {
    0.008
}

/// View that a curve is drawn in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrawnIn {
    /// (y, z), seen along x from the front. In this view, from the rear and from the top, the curve
    /// is drawn for y >= 0 and mirrored when `mirror` is set.
    Front,
    /// (y, z), seen along x from the rear.
    Rear,
    /// (x, z), seen along y.
    Side,
    /// (x, y), seen along z.
    Top,
}

/// A closed curve in one view, carried through the body along the view's axis.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    pub view: DrawnIn,
    pub curve: Curve,
    /// True if the curve's points are followed by their mirror image in y, in reverse order:
    /// for shapes across the middle.
    #[serde(default)]
    pub mirror: bool,
    /// Limits along the axis of the view. If absent, the front view reaches to x = 35% of the
    /// length, and the rear view begins at 65%.
    #[serde(default)]
    pub range: Option<[f32; 2]>,
    /// True if the limits follow the bow of nose and tail.
    #[serde(default)]
    pub bowed: bool,
}

/// Raises (or sinks) the skin inside a curve by a fixed height, over a soft ramp: bumper
/// planes, plate recesses, domes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkinRelief {
    pub name: String,
    pub at: Drawing,
    pub height: f32,
    /// Width of the ramp, inside the curve.
    pub ramp: f32,
    #[serde(default)]
    pub form: ReliefForm,
    /// Distance outside the curve at which the ramp begins.
    #[serde(default)]
    pub grow: f32,
    /// Length over which the relief fades before its limits, if not the usual one.
    #[serde(default)]
    pub fade: Option<f32>,
}

/// The section of a relief's ramp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReliefForm {
    /// A wave that light follows without a break. It is made as wide as that needs.
    #[default]
    Soft,
    /// A plane of just this width between two edges with a radius of a few
    /// millimetres: the edge of a part.
    Bevel,
}

/// A line pressed into the flank, highest at the line.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crease {
    pub name: String,
    /// (x, z), an open curve.
    pub line: Curve,
    /// Height outward. Negative for a groove.
    pub height: f32,
    /// Reach of the slope above the line.
    pub above: f32,
    /// Reach of the slope below the line.
    pub below: f32,
    /// Length over which both ends fade.
    #[serde(default = "crease_fade")]
    pub fade: f32,
    /// Sharpness at the front and at the rear end, as ratios of the sharpness that `height` gives.
    #[serde(default = "even")]
    pub along: [f32; 2],
    /// Greatest reach of the slopes above and below the line. If absent, they reach
    /// as far as the flank has room.
    #[serde(default)]
    pub reach: Option<[f32; 2]>,
}

fn even() -> [f32; 2] {
    [1.0, 1.0]
}

fn crease_fade() -> f32 {
    0.4
}

/// Relation of a solid to the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolidRole {
    /// Blended into the body.
    Add,
    /// Taken out of the body: a bed, a step.
    Cut,
    /// Meshed separately.
    Apart,
}

/// A drawn curve carried between the two limits of its `range`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnSolid {
    pub name: String,
    pub at: Drawing,
    pub role: SolidRole,
    /// Rounding of the solid's own edges.
    #[serde(default = "solid_edge")]
    pub edge: f32,
    /// Radius of the blend with the body.
    #[serde(default = "solid_edge")]
    pub blend: f32,
    /// Material of a solid that is meshed separately, or of the walls of a cut.
    #[serde(default)]
    pub material: Option<Material>,
}

fn solid_edge() -> f32 {
    0.02
}

/// A part of the skin with its own material.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    pub name: String,
    pub at: Drawing,
    pub kind: RegionKind,
    /// Materials that the region may cover. Paint if empty.
    #[serde(default)]
    pub over: Vec<Material>,
    /// A band around the region.
    #[serde(default)]
    pub edge: Option<EdgeBand>,
    /// A second drawing that limits it, in another view: the side of a lamp
    /// that is drawn from the front.
    #[serde(default)]
    pub within: Option<Drawing>,
    /// Order of regions: a higher layer lies on top, and within a layer the later region. Regions
    /// of front and rear come after the sheet's.
    #[serde(default)]
    pub layer: i8,
}

impl Region {
    /// Returns the lowest and the highest corner of the box around the
    /// points of the region's curve.
    pub fn bounds(&self) -> (Vec2, Vec2) {
        let points = self.at.curve.iter().map(|point| point.at);
        points.fold((Vec2::INFINITY, Vec2::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)))
    }
}

/// A band around a region.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeBand {
    pub width: f32,
    pub material: Material,
}

/// Change of the skin in a region.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum RegionKind {
    /// Another material on the same skin.
    Skin(Material),
    /// A shut line along the curve. With another material it is a stroke:
    /// a light bar, a bright strip.
    Gap {
        #[serde(default = "gap_width")]
        width: f32,
        #[serde(default = "panel_gap")]
        material: Material,
    },
    /// Set back by `depth`, with walls. A grille or intake at the front or rear has a fill
    /// between its walls and a dark duct behind the fill. If `fill` is absent, it gets the usual
    /// one for its make, year and place.
    Inset {
        depth: f32,
        floor: Material,
        #[serde(default = "matt_black")]
        wall: Material,
        #[serde(default)]
        fill: Option<Fill>,
    },
    /// A clear lens in the skin with a bowl behind it.
    Lamp(Lamp),
}

fn gap_width() -> f32 {
    0.006
}

fn panel_gap() -> Material {
    Material::PanelGap
}

/// A lens and the space behind it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lamp {
    pub depth: f32,
    /// Material of the bowl.
    #[serde(default = "housing")]
    pub bowl: Material,
    /// Material of the lens: clear, or red for simple tail lamps.
    #[serde(default = "lens")]
    pub lens: Material,
    /// Inside of a head lamp.
    #[serde(default)]
    pub head: Option<HeadLamp>,
    /// Inside of a tail lamp.
    #[serde(default)]
    pub tail: Option<TailLamp>,
    /// Model year, on which the lamp's design depends. 0 until a vehicle is known.
    #[serde(skip)]
    pub year: u16,
    /// True if the lamp stands in a can of its own and faces ahead.
    #[serde(skip)]
    pub is_round: bool,
}

fn housing() -> Material {
    Material::LampHousing
}

fn lens() -> Material {
    Material::LampLens
}

/// Front or rear end, which carries the character of a make. Its regions can be put on another
/// sheet's body, stretched between the two anchor heights.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Face {
    /// z of two heights that every face has: the underside of the bumper, and the hood
    /// edge (front) or the belt (rear).
    pub anchors: [f32; 2],
    #[serde(default)]
    pub region: Vec<Region>,
    #[serde(default)]
    pub relief: Vec<SkinRelief>,
}

/// The parts that a body is dressed with, and their positions (in the sheet's own
/// metres, like everything else).
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fittings {
    /// Design of the wheels. Their sizes are in `[wheels]`.
    #[serde(default)]
    pub wheel: Wheel,
    #[serde(default)]
    pub mirror: Option<MirrorFitting>,
    #[serde(default)]
    pub handle: Option<HandleFitting>,
    #[serde(default)]
    pub cabin: Option<CabinFitting>,
    /// True if the windscreen has wipers.
    #[serde(default)]
    pub wipers: bool,
    /// True if the rear window has a wiper. It follows from the body.
    #[serde(skip)]
    pub rear_wiper: bool,
    #[serde(default)]
    pub exhaust: Option<ExhaustFitting>,
    #[serde(default)]
    pub rails: Option<RailFitting>,
    /// A roof antenna.
    #[serde(default)]
    pub fin: Option<FinFitting>,
    #[serde(default)]
    pub spoiler: Option<SpoilerFitting>,
    #[serde(default)]
    pub front_bar: Option<BarFitting>,
    #[serde(default)]
    pub rear_bar: Option<BarFitting>,
    #[serde(default)]
    pub spare: Option<SpareFitting>,
    /// The empty plate recess on the tail.
    #[serde(default)]
    pub plate: Option<PlateFitting>,
    #[serde(default)]
    pub step: Option<StepFitting>,
    #[serde(default)]
    pub stowed_top: Option<StowedTop>,
    /// The badges. If there are none, the body has those of its make and year.
    #[serde(default)]
    pub emblem: Vec<EmblemFitting>,
}

/// A badge's mount in the centre plane.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmblemFitting {
    pub z: f32,
    /// True if the badge is on the tail.
    #[serde(default)]
    pub at_rear: bool,
    /// Distance in front of the skin, to be clear of the bars of a grille.
    #[serde(default)]
    pub out: f32,
    /// True if the badge lies on the bonnet. `z` is then the height where the bonnet begins, and
    /// the badge lies on the skin behind that.
    #[serde(default)]
    pub on_bonnet: bool,
    pub look: Emblem,
}

/// The outside mirrors.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorFitting {
    /// (x, z) where the mirror's foot meets the skin.
    pub at: [f32; 2],
    #[serde(default)]
    pub look: Mirror,
}

/// The door handles.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandleFitting {
    /// (x, z) of each handle's middle.
    pub at: Vec<[f32; 2]>,
    #[serde(default)]
    pub look: Handle,
}

/// The interior.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CabinFitting {
    /// x where the space for people ends.
    pub x_rear: f32,
    pub rear: Rear,
    #[serde(default)]
    pub upright: bool,
}

/// The exhaust tips.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExhaustFitting {
    /// (y, z) on the tail, for one side or both.
    pub at: [f32; 2],
    #[serde(default)]
    pub both_sides: bool,
    #[serde(default)]
    pub look: ExhaustTip,
}

/// The roof rails.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RailFitting {
    /// x of the front and the rear end.
    pub x: [f32; 2],
    pub y: f32,
    #[serde(default)]
    pub look: RoofRail,
}

/// A roof antenna: a fin of some height at `x`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinFitting {
    pub x: f32,
    pub height: f32,
    /// True for a short whip in place of a fin.
    #[serde(default)]
    pub whip: bool,
}

/// A spoiler or wing.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpoilerFitting {
    /// x, in the centre plane, of the edge that it grows from.
    pub x: f32,
    /// x of the edge at both ends.
    pub x_end: f32,
    /// Half width of the edge.
    pub half_width: f32,
    #[serde(default)]
    pub look: Spoiler,
}

/// A bumper bar.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BarFitting {
    /// x of the bar's outermost point.
    pub x: f32,
    #[serde(default)]
    pub look: BumperBar,
}

/// A spare wheel on the tailgate.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpareFitting {
    /// x of the outer face.
    pub x: f32,
    pub z: f32,
    #[serde(default)]
    pub cover: Option<Material>,
}

/// A plate recess, with the height of its middle and its size.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlateFitting {
    pub z: f32,
    pub width: f32,
    pub height: f32,
}

/// A step along the sill.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepFitting {
    /// x of the front and the rear end.
    pub x: [f32; 2],
    pub z: f32,
    /// Distance by which the step stands out of the flank.
    pub out: f32,
    pub width: f32,
    #[serde(default)]
    pub round: bool,
    #[serde(default = "matt_black")]
    pub material: Material,
}

impl Sheet {
    /// Reads the sheet called `name` from `tables`, which must contain its bases too. Fails
    /// with the name of the sheet and the problem if a table is missing, does not parse or
    /// has numbers that make no sense.
    pub fn read(name: &str, tables: &Tables) -> Result<Self, SheetError> {
        let fail = |problem: String| SheetError { sheet: name.to_owned(), problem };
        let table = merged_table(name, tables, 0)?;
        let sheet: Sheet = toml::Value::Table(table).try_into().map_err(|e: toml::de::Error| fail(e.to_string()))?;
        sheet.check().map_err(fail)?;
        Ok(sheet)
    }

    /// Returns the line up to which the side windows are of clear glass: the end of the front
    /// doors, or the rear edge of the glass in the cab of a truck, which has only front doors.
    /// Returns `None` for buses, because their windows are tinted from front to rear.
    pub fn clear_panes_end(&self) -> Option<[[f32; 2]; 2]> {
        match (&self.bus, &self.truck) {
            (Some(_), _) => None,
            (None, Some(truck)) if !truck.skirted => self.glass.side.as_ref().map(|side| side.rear),
            _ => self.glass.front_doors_end(),
        }
    }

    /// Returns the drawing's dimensions with the positions of its axles.
    pub(super) fn stance(&self) -> Stance {
        let size = self.size;
        Stance {
            length: size.length,
            width: size.width,
            height: size.height,
            front_axle_x: size.front_overhang,
            rear_axle_x: size.front_overhang + size.wheelbase,
            hub_z: self.wheels.tyre_diameter * 0.5,
        }
    }

    /// Returns the side profiles of body and greenhouse (x, z), as long and high as the sheet says.
    pub(super) fn side_outlines(&self) -> (Outline, Outline) {
        // Longer pieces would be seen as ripples where a bonnet mirrors
        // the lights at a grazing angle.
        const STEP_M: f32 = 0.005;
        let [from, to] = self.body.span.unwrap_or([0.0, self.size.length]);
        let drawn = Outline::drawn(&self.body.profile, STEP_M);
        let (low, high) = drawn.bounds();
        let body = drawn.fitted(Vec2::new(from, low.y), Vec2::new(to, high.y));
        let drawn = Outline::drawn(&self.greenhouse.profile, STEP_M);
        let (low, high) = drawn.bounds();
        let roof = drawn.fitted(low, Vec2::new(high.x, self.greenhouse.top.unwrap_or(self.size.height)));
        (body, roof)
    }

    fn check(&self) -> Result<(), String> {
        let closed = |field: String, curve: &Curve| {
            if curve.len() < 3 { Err(format!("{field}: a closed curve needs at least three points")) } else { Ok(()) }
        };
        let rising = |field: &str, curve: &Curve| {
            if curve.is_empty() {
                Err(format!("{field}: needs at least one point"))
            } else if curve.windows(2).any(|w| w[0].at.x >= w[1].at.x) {
                Err(format!("{field}: the first numbers must rise"))
            } else {
                Ok(())
            }
        };
        let size = self.size;
        for (field, value) in [
            ("size.length", size.length),
            ("size.width", size.width),
            ("size.height", size.height),
            ("size.wheelbase", size.wheelbase),
            ("size.front_overhang", size.front_overhang),
            ("wheels.tyre_diameter", self.wheels.tyre_diameter),
            ("body.k_top", self.body.k_top),
            ("body.k_front", self.body.k_front),
            ("body.k_rear", self.body.k_rear),
        ] {
            if !(value.is_finite() && value > 0.0) {
                return Err(format!("{field}: must be above zero, is {value}"));
            }
        }
        if size.front_overhang + size.wheelbase >= size.length {
            return Err("size: front overhang and wheelbase leave no rear overhang".to_owned());
        }
        closed("body.profile".to_owned(), &self.body.profile)?;
        closed("greenhouse.profile".to_owned(), &self.greenhouse.profile)?;
        for (field, curve) in [
            ("body.plan", &self.body.plan),
            ("body.belt", &self.body.belt),
            ("body.section", &self.body.section),
            ("body.crown", &self.body.crown),
            ("greenhouse.width", &self.greenhouse.width),
            ("greenhouse.k_rail", &self.greenhouse.k_rail),
            ("greenhouse.k_body", &self.greenhouse.k_body),
        ] {
            rising(field, curve)?;
        }
        for crease in &self.crease {
            rising(&format!("crease `{}`", crease.name), &crease.line)?;
        }
        let faces = [("front.", &self.front), ("rear.", &self.rear)];
        for (part, face) in faces {
            if face.anchors[1] <= face.anchors[0] {
                return Err(format!("{part}anchors: the second height must lie above the first"));
            }
        }
        let regions = self.region.iter().map(|r| ("", r));
        let face_regions = faces.iter().flat_map(|(part, face)| face.region.iter().map(move |r| (*part, r)));
        for (part, region) in regions.chain(face_regions) {
            for drawing in std::iter::once(&region.at).chain(&region.within) {
                closed(format!("{part}region `{}`", region.name), &drawing.curve)?;
            }
        }
        for (name, at) in
            self.relief.iter().map(|r| (&r.name, &r.at)).chain(self.solid.iter().map(|s| (&s.name, &s.at)))
        {
            closed(format!("`{name}`"), &at.curve)?;
        }
        for solid in &self.solid {
            if solid.at.range.is_none() {
                return Err(format!("solid `{}`: needs a range", solid.name));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::library::SHEETS;
    use super::*;

    const FAULTY: [(&str, &str); 5] = [
        ("wrong-field", "base = \"hatchback\"\n[body]\nsil = 0.2\n"),
        ("wrong-size", "base = \"hatchback\"\n[size]\nlength = -4.0\n"),
        ("falling", "base = \"hatchback\"\n[body]\nbelt = [[1.0, 0.9], [0.5, 0.9]]\n"),
        ("loop", "base = \"loop\"\n"),
        (
            "child",
            "base = \"hatchback\"\nabout = \"child\"\n[[region]]\nname = \"fuel door\"\nremove = true\n\
             [[region]]\nname = \"sill\"\nkind = { skin = \"paint\" }\n[fittings]\nmirror = false\n",
        ),
    ];

    fn tables() -> Tables {
        let table = |(name, text): &(&str, &str)| {
            let mut table: toml::Table = text.parse().unwrap();
            table.remove("applies_to");
            ((*name).to_owned(), table)
        };
        SHEETS.iter().chain(&FAULTY).map(table).collect()
    }

    #[test]
    fn errors_name_the_sheet_and_the_field() {
        for (name, field) in [
            ("wrong-field", "sil"),
            ("wrong-size", "size.length"),
            ("falling", "body.belt"),
            ("loop", "base"),
            ("none", "no sheet"),
        ] {
            let error = Sheet::read(name, &tables()).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(field), "{error}");
        }
    }

    #[test]
    fn a_sheet_takes_over_changes_and_drops_what_its_base_has() {
        let (base, child) = (Sheet::read("hatchback", &tables()).unwrap(), Sheet::read("child", &tables()).unwrap());
        assert_eq!(child.about, "child");
        assert_eq!(child.region.len() + 1, base.region.len());
        let sill = child.region.iter().find(|r| r.name == "sill").unwrap();
        assert!(matches!(sill.kind, RegionKind::Skin(Material::Paint)));
        assert!(sill.at.curve.len() > 3);
        assert!(base.fittings.mirror.is_some() && child.fittings.mirror.is_none());
    }
}

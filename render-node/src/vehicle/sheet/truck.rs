//! A sheet's `[truck]` table.

use crate::vehicle::mesh::Material;
use crate::vehicle::truck::wheel::{self, Disc};
use serde::Deserialize;

/// Load body on the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// The sheet's own solids, or none.
    #[default]
    Own,
    Box,
    /// A deck with low hinged sides.
    Dropside,
    /// A deck with stakes and a wall behind the cab.
    Flatbed,
    Tipper,
    /// A fire engine's lockers behind roller shutters, with a pump panel.
    Fire,
    /// A fifth wheel: a tractor unit.
    FifthWheel,
}

/// Position of the cab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A cab behind a hood, with separate wings.
    Conventional,
    /// A cab over the engine.
    #[default]
    CabOver,
}

/// Form of the fuel tanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FuelTankForm {
    None,
    /// A polished cylinder with straps and steps.
    Round,
    #[default]
    Square,
}

/// Bars of a grille.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bars {
    #[default]
    Upright,
    Level,
    Mesh,
}

/// An upright grille in a frame of its own, in front of the hood.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrilleShell {
    /// x of the grille's face.
    pub x: f32,
    /// Half width and height of the lower edge.
    pub low: [f32; 2],
    /// Half width and height of the upper edge.
    pub high: [f32; 2],
    #[serde(default)]
    pub bars: Bars,
    pub count: usize,
    /// True if there is a bright post in the middle.
    #[serde(default)]
    pub post: bool,
    #[serde(default = "chrome")]
    pub frame: Material,
    #[serde(default = "frame_width")]
    pub frame_width: f32,
}

/// A separate bumper across the front.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontBumper {
    /// x of the bumper's foremost place.
    pub x: f32,
    /// z of the lower and the upper edge.
    pub z: [f32; 2],
    #[serde(default = "chrome")]
    pub material: Material,
    /// Distance of the bumper's ends behind its middle.
    #[serde(default = "bumper_bow")]
    pub bow: f32,
}

/// Separate wings beside a hood.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wing {
    /// y of the hood's flank, where the wing begins.
    pub inner: f32,
    /// Height of the wing's top above the tyre.
    #[serde(default = "wing_clear")]
    pub clear: f32,
    /// Reach in front of the axle.
    pub front: f32,
    /// Reach behind the axle.
    pub rear: f32,
}

/// Square or round head lamps that stand on the wings or the bumper.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LampPod {
    /// Middle of the lens.
    pub at: [f32; 3],
    pub width: f32,
    pub height: f32,
    #[serde(default = "chrome")]
    pub material: Material,
    /// Number of lights side by side.
    #[serde(default = "two")]
    pub count: u32,
}

/// The parts of a truck besides its cab. Lengths are in the sheet's metres.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truck {
    #[serde(default)]
    pub class: Class,
    #[serde(default)]
    pub load: Load,
    /// x of the load's front and rear end.
    #[serde(default)]
    pub load_x: [f32; 2],
    /// z of the load's floor and top.
    #[serde(default)]
    pub load_z: [f32; 2],
    #[serde(default = "paint")]
    pub load_material: Material,
    /// Length, width, height and wheelbase of such a truck, used where
    /// the catalog does not know them.
    #[serde(default)]
    pub built_as: Option<[f32; 4]>,
    /// Distance of a second rear axle behind the first. There is none if 0.
    #[serde(default)]
    pub tandem: f32,
    /// True if the rear wheels are single, without twin tyres.
    #[serde(default)]
    pub single: bool,
    #[serde(default)]
    pub disc: Disc,
    #[serde(default = "ten")]
    pub nuts: usize,
    /// z of the frame's upper edge.
    pub frame_z: f32,
    /// True if the body hides the frame. Nothing but wheels is then added below the body.
    #[serde(default)]
    pub skirted: bool,
    #[serde(default)]
    pub tank: FuelTankForm,
    /// x of the tanks' front and rear end.
    #[serde(default)]
    pub tank_x: [f32; 2],
    #[serde(default)]
    pub side_guard: bool,
    /// Exhaust stacks behind the cab: their x, and z of their lower and upper end.
    #[serde(default)]
    pub stacks: Option<[f32; 3]>,
    /// Air cleaners on the cowl's sides: x, y and z.
    #[serde(default)]
    pub air_cleaner: Option<[f32; 3]>,
    #[serde(default)]
    pub bumper: Option<FrontBumper>,
    #[serde(default)]
    pub grille: Option<GrilleShell>,
    #[serde(default)]
    pub wing: Option<Wing>,
    #[serde(default)]
    pub lamp_pod: Option<LampPod>,
    /// Visor over the windscreen: x and z of its front edge, and half its width.
    #[serde(default)]
    pub visor: Option<[f32; 3]>,
    #[serde(default = "gloss_black")]
    pub visor_material: Material,
    /// Marker lamps on the roof: x, z and half the width they are spread over.
    #[serde(default)]
    pub markers: Option<[f32; 3]>,
    /// Tall mirrors on brackets: x, y and z of their middle.
    #[serde(default)]
    pub mirrors: Option<[f32; 3]>,
    /// x of the grab handles before and behind the door, and their lower and upper end.
    #[serde(default)]
    pub grab: Option<[f32; 4]>,
    /// Steps under the door: x of their front and rear end, lowest and highest z.
    #[serde(default)]
    pub steps: Option<[f32; 4]>,
    /// Roof deflector: x of its foot and of its rear edge, z of its foot and of its top.
    #[serde(default)]
    pub deflector: Option<[f32; 4]>,
    #[serde(default)]
    pub wipers: u8,
    /// Model year. 0 until a vehicle is known.
    #[serde(skip)]
    pub year: u16,
}

impl Truck {
    /// Returns the width of the tyres on one end of the front and the rear axle, inside a body over
    /// the wheels. One tyre is `width` metres wide.
    pub fn tyres_across(&self, width: f32) -> [f32; 2] {
        [width, if self.single { width } else { 2.0 * width + wheel::TWIN_GAP_M }]
    }
}

fn chrome() -> Material {
    Material::Chrome
}

fn paint() -> Material {
    Material::Paint
}

fn gloss_black() -> Material {
    Material::GlossBlack
}

fn frame_width() -> f32 {
    0.05
}

fn bumper_bow() -> f32 {
    0.10
}

fn wing_clear() -> f32 {
    0.10
}

fn two() -> u32 {
    2
}

fn ten() -> usize {
    10
}

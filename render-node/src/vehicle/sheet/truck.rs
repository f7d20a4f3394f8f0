//! A sheet's `[truck]` table.

use crate::vehicle::mesh::Material;
use crate::vehicle::truck::wheel::{self, Disc};
use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// The sheet's own solids, or none.
    #[default]
    Own,
    Box,
    /// Deck with low hinged sides.
    Dropside,
    /// Deck with stakes and a wall behind the cab.
    Flatbed,
    Tipper,
    /// Lockers behind roller shutters and a pump panel.
    Fire,
    /// Fifth wheel: a tractor unit.
    FifthWheel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Hood before the cab, wings of their own.
    Conventional,
    #[default]
    CabOver,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tank {
    None,
    /// Polished cylinder with straps and steps.
    Round,
    #[default]
    Square,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bars {
    #[default]
    Upright,
    Level,
    Mesh,
}

/// An upright grille in a frame of its own before the hood.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrilleShell {
    /// x of its face, half widths at its lower and upper edge, heights of both.
    pub x: f32,
    pub low: [f32; 2],
    pub high: [f32; 2],
    #[serde(default)]
    pub bars: Bars,
    pub count: usize,
    /// A bright post in the middle.
    #[serde(default)]
    pub post: bool,
    #[serde(default = "chrome")]
    pub frame: Material,
    #[serde(default = "frame_width")]
    pub frame_width: f32,
}

/// A bumper of its own across the front.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontBumper {
    /// Its foremost place, lower and upper edge.
    pub x: f32,
    pub z: [f32; 2],
    #[serde(default = "chrome")]
    pub material: Material,
    /// How far its ends lie behind its middle.
    #[serde(default = "bumper_bow")]
    pub bow: f32,
}

/// Wings of their own beside a hood.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wing {
    /// Where the hood's flank is.
    pub inner: f32,
    /// How high its top lies above the tyre.
    #[serde(default = "wing_clear")]
    pub clear: f32,
    /// How far it reaches before and behind the axle.
    pub front: f32,
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
    /// How many lights side by side.
    #[serde(default = "two")]
    pub count: u32,
}

/// Lengths in the sheet's metres.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truck {
    #[serde(default)]
    pub class: Class,
    #[serde(default)]
    pub load: Load,
    /// Where the load begins and ends, its floor and its top.
    #[serde(default)]
    pub load_x: [f32; 2],
    #[serde(default)]
    pub load_z: [f32; 2],
    #[serde(default = "paint")]
    pub load_material: Material,
    /// Length, width, height and wheelbase of such a truck where the catalog knows none.
    #[serde(default)]
    pub built_as: Option<[f32; 4]>,
    /// Distance of a second rear axle behind the first; 0 without one.
    #[serde(default)]
    pub tandem: f32,
    /// Without twin tyres behind.
    #[serde(default)]
    pub single: bool,
    #[serde(default)]
    pub disc: Disc,
    #[serde(default = "ten")]
    pub nuts: usize,
    /// Upper edge of the frame.
    pub frame_z: f32,
    /// The body hides the frame: nothing but wheels is added below it.
    #[serde(default)]
    pub skirted: bool,
    #[serde(default)]
    pub tank: Tank,
    /// Front and rear end of the tanks.
    #[serde(default)]
    pub tank_x: [f32; 2],
    #[serde(default)]
    pub side_guard: bool,
    /// Exhaust stacks behind the cab; where they stand and end.
    #[serde(default)]
    pub stacks: Option<[f32; 3]>,
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
    /// Door's steps: front and rear end, lowest height and uppermost.
    #[serde(default)]
    pub steps: Option<[f32; 4]>,
    /// Roof deflector: x of its foot and of its rear edge, z of its foot and of its top.
    #[serde(default)]
    pub deflector: Option<[f32; 4]>,
    #[serde(default)]
    pub wipers: u8,
    /// Model year; 0 until a vehicle is known.
    #[serde(skip)]
    pub year: u16,
}

impl Truck {
    /// Width of what turns on one end of the front and the rear axle inside a body over the wheels, where one tyre is `width` wide.
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

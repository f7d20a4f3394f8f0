//! The sheet of a head lamp: kind and number of main lights, running light, indicator, materials.

use crate::vehicle::mesh::Material;
use serde::{Deserialize, Serialize};

/// Kind of the main lights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MainLight {
    /// Dark glass balls in tubes with a bright ring.
    Projectors,
    /// A bright bowl with a bulb's cap: the whole lamp until about 2003, round
    /// bowls in a dark housing later.
    Bowl,
    /// A round bowl behind a domed glass of its own: round lamps of classics.
    Sealed,
    /// Small square lenses in a row.
    Modules,
    /// One slim row of many small lenses.
    Matrix,
    /// Slits: wide lenses that are no taller than a finger.
    Slits,
    None,
}

/// Form of the running light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunningLight {
    None,
    Lower,
    Upper,
    /// Along the lower edge and up the outer one.
    Hook,
    /// All along the outline.
    Loop,
    /// A ring round each main light.
    Rings,
    /// Two strokes, above and below.
    Twin,
    /// Along the upper edge and down the inner one.
    Brow,
    /// Down from the inner end and up to the outer one.
    Tick,
    /// A stroke across the middle that ends in an upright one.
    Hammer,
    /// A stroke across the middle.
    Blade,
    /// A row of small round lights along the lower edge.
    Dots,
    /// Three slanted strokes at the outer end.
    Claws,
    /// A bracket under each main light.
    Brackets,
    /// Along the upper edge, down the inner one and back along the lower.
    Cee,
    /// Four points about each main light.
    Points,
    /// The whole lamp.
    Fill,
}

/// A head lamp as a sheet describes it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HeadLamp {
    pub main: MainLight,
    /// Number of main lights, side by side (at most 6).
    pub count: u32,
    /// Ratios of the way from the inner to the outer end between which the main lights stand.
    pub from: f32,
    pub to: f32,
    /// Ratio of a light's diameter to the lamp's height there. No light is
    /// larger than its kind is built.
    pub size: f32,
    pub running: RunningLight,
    /// Width of a running light, in metres.
    pub stroke: f32,
    /// True if there is an amber light at the outer end.
    pub indicator: bool,
    /// True if there is an amber reflector on the part that wraps round the corner.
    pub marker: bool,
    /// Number of fins across the outer part of the housing (at most 2: more look like slats).
    pub fins: u32,
    /// Material of the frame inside the lens. Depends on the year if absent.
    pub bezel: Option<Material>,
    /// Material of the ledge inside the frame. Depends on the year if absent.
    pub ledge: Option<Material>,
    /// Material of the ring around a round lamp that stands in a can of its own.
    /// Depends on the year if absent.
    pub ring: Option<Material>,
}

impl Default for HeadLamp {
    fn default() -> HeadLamp {
        HeadLamp {
            main: MainLight::Projectors,
            count: 2,
            from: 0.25,
            to: 0.70,
            size: 0.72,
            running: RunningLight::Lower,
            stroke: 0.009,
            indicator: false,
            marker: false,
            fins: 0,
            bezel: None,
            ledge: None,
            ring: None,
        }
    }
}

/// Indicators are amber panels before this year, amber bulbs in clear chambers from it on.
pub const CLEAR_INDICATORS: u16 = 1998;

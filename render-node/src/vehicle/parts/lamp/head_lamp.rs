//! What a head lamp is made of.

use crate::vehicle::mesh::Material;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MainLight {
    /// Dark glass balls in tubes with a bright ring.
    Projectors,
    /// A bright bowl with a bulb's cap: the whole lamp until about 2003, round bowls in a dark housing later.
    Bowl,
    /// A round bowl behind a domed glass of its own: round lamps of classics.
    Sealed,
    /// Small square lenses in a row.
    Modules,
    /// One slim row of many small lenses.
    Matrix,
    /// Slits: wide lenses not taller than a finger.
    Slits,
    None,
}

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

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HeadLamp {
    pub main: MainLight,
    /// How many main lights, side by side (at most 6).
    pub count: u32,
    /// Where they stand: shares of the way from the inner to the outer end.
    pub from: f32,
    pub to: f32,
    /// Diameter as a share of the lamp's height there; no light is larger than its kind is built.
    pub size: f32,
    pub running: RunningLight,
    /// Width of a running light, metres.
    pub stroke: f32,
    /// An amber light at the outer end.
    pub indicator: bool,
    /// An amber reflector on the part that wraps round the corner.
    pub marker: bool,
    /// Fins across the outer part of the housing (at most 2: more look like slats).
    pub fins: u32,
    /// Of the frame inside the lens; by the year if nothing is said.
    pub bezel: Option<Material>,
    /// Of the ledge inside the frame; by the year if nothing is said.
    pub ledge: Option<Material>,
    /// Of the ring about a round lamp that stands in a can of its own; by the year if nothing is said.
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

/// Indicators are amber panels before this year, amber bulbs in clear chambers after it.
pub const CLEAR_INDICATORS: u16 = 1998;

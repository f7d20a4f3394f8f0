//! The rim designs as numbers, from `rims.toml`: how many blades, how wide, and how they lean.
//!
//! Widths are ratios to the rim's opening radius, and angles are ratios to the pitch between
//! repeats, so a design fits every rim size.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::vehicle::parts::wheel::spec::{Motif, RimClass};

const TABLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sheets/tables/rims.toml"));

/// Contents of `rims.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    rim: Vec<RimDesign>,
}

/// One blade of a repeat, from the hub (0) to the edge (1).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Blade {
    /// Half widths at the hub, in the middle and at the edge.
    w: [f32; 3],
    /// Position of the blade's centre line at the hub, in the middle and at the
    /// edge, as ratios of the pitch.
    #[serde(default)]
    o: [f32; 3],
    /// Beginning of the blade on the way from the hub (0) to the edge (1).
    #[serde(default)]
    pub start: f32,
    /// End of the blade on the way from the hub (0) to the edge (1).
    #[serde(default = "one")]
    pub end: f32,
    /// Greatest width as a ratio of the pitch, so that neighbours stay apart.
    #[serde(default = "one")]
    pub pitch: f32,
    /// Distance behind the other blades, in metres.
    #[serde(default)]
    pub back: f32,
}

fn one() -> f32 {
    1.0
}

/// Ratio of the way to the edge where a blade's flare at the hub ends.
const ROOT_RATIO: f32 = 0.24;
/// Ratio of the way to the edge where a blade's flare at the edge begins.
const TIP_RATIO: f32 = 0.76;

impl Blade {
    /// Returns half the blade's width at a ratio of the way from hub to edge.
    pub fn half_width(&self, ratio: f32, design: &RimDesign) -> f32 {
        let root = ((ROOT_RATIO - ratio) / ROOT_RATIO).max(0.0);
        let tip = ((ratio - TIP_RATIO) / (1.0 - TIP_RATIO)).max(0.0);
        through(self.w, ratio) + design.root * root * root + design.tip * tip * tip * tip
    }

    /// Returns the centre line's offset, as a ratio of the pitch, at a ratio
    /// of the way from hub to edge.
    pub fn offset(&self, ratio: f32) -> f32 {
        through(self.o, ratio)
    }
}

/// Returns the value at `t` of the parabola through values at 0, 1/2 and 1.
fn through([a, b, c]: [f32; 3], t: f32) -> f32 {
    a * (1.0 - t) * (1.0 - 2.0 * t) + 4.0 * b * t * (1.0 - t) + c * t * (2.0 * t - 1.0)
}

/// A rim design: repeats of blades around a hub.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RimDesign {
    pub family: Motif,
    pub repeats: usize,
    pub blades: Vec<Blade>,
    /// Hub radius as a ratio of the opening's radius.
    pub hub: f32,
    pub nuts: usize,
    /// Depth of the flanks, in metres.
    pub depth: f32,
    /// Chamfer of the blades' edges, in metres.
    pub chamfer: f32,
    /// Height of the crown, in metres.
    pub crown: f32,
    /// Depth of the hollow along the middle of a blade, in metres.
    pub groove: f32,
    /// Height difference from the middle to one side of a blade, for turbines.
    pub slant: f32,
    /// Flare of the blades at the hub, as a ratio of the opening's radius.
    pub root: f32,
    /// Flare of the blades at the edge, as a ratio of the opening's radius.
    pub tip: f32,
    /// Exponent of the face's rise from the hub to the edge: 1 is straight, more rises later.
    pub curve: f32,
    /// A ring over the blades, between two ratios of the opening's radius.
    pub ring: Option<[f32; 2]>,
    /// Number of bolts around the edge.
    pub bolts: usize,
    /// Number of points along a blade.
    pub stations: usize,
    /// First and last model year of the cars that have this rim.
    pub years: [u16; 2],
    /// Classes of the cars that have this rim.
    pub classes: Vec<RimClass>,
}

impl Default for RimDesign {
    fn default() -> RimDesign {
        RimDesign {
            family: Motif::DoubleFive,
            repeats: 5,
            blades: Vec::new(),
            hub: 0.34,
            nuts: 5,
            depth: 0.036,
            chamfer: 0.0035,
            crown: 0.001,
            groove: 0.0,
            slant: 0.0,
            root: 0.0,
            tip: 0.0,
            curve: 1.5,
            ring: None,
            bolts: 0,
            stations: 11,
            years: [0, u16::MAX],
            classes: Vec::new(),
        }
    }
}

static DESIGNS: LazyLock<Vec<RimDesign>> =
    LazyLock::new(|| toml::from_str::<Table>(TABLE).map(|table| table.rim).unwrap_or_default());
static PLAIN: LazyLock<RimDesign> = LazyLock::new(RimDesign::default);

impl RimDesign {
    /// Returns the design of a family by its number. Numbers beyond the last begin again.
    pub fn of(family: Motif, style: u8) -> &'static RimDesign {
        let count = family_of(family).count().max(1);
        family_of(family).nth(usize::from(style) % count).unwrap_or(&PLAIN)
    }

    fn fits(&self, class: RimClass, year: u16) -> bool {
        let [first, last] = self.years;
        (first..=last).contains(&year) && (self.classes.is_empty() || self.classes.contains(&class))
    }
}

fn family_of(family: Motif) -> impl Iterator<Item = &'static RimDesign> {
    DESIGNS.iter().filter(move |design| design.family == family)
}

/// Returns the numbers of a family's rims that cars of a class and year have, or
/// the first one if there are none.
pub fn styles(family: Motif, class: RimClass, year: u16) -> Vec<u8> {
    let numbered = family_of(family).enumerate().filter(|(_, design)| design.fits(class, year));
    let found: Vec<u8> = numbered.map(|(number, _)| number as u8).collect();
    if found.is_empty() { vec![0] } else { found }
}

#[cfg(test)]
pub(super) fn table() -> Vec<(Motif, u8)> {
    let table: Table = toml::from_str(TABLE).unwrap();
    let mut counts = std::collections::HashMap::new();
    let numbered = table.rim.iter().map(|design| {
        let count = counts.entry(format!("{:?}", design.family)).or_insert(0_u8);
        *count += 1;
        (design.family, *count - 1)
    });
    numbered.collect()
}

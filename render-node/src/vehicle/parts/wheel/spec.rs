//! The numbers that describe a road wheel.

use serde::{Deserialize, Serialize};

/// A family of rim designs. Each is a way to fill the rim with blades; see `motif`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Motif {
    FiveSpoke,
    DoubleFive,
    /// Five spokes that fork half-way out.
    YSpoke,
    SixSpoke,
    TenSpoke,
    MultiSpoke,
    /// Pairs of thin spokes that lean into each other.
    TwinTwisted,
    /// Pressed steel with round windows and a small cap, unpainted black or silver.
    Steel,
    /// Plastic cover over a steel wheel: broad flat blades, narrow slots.
    Cover,
    /// Short stout spokes, deep dish, a ring of bolts.
    OffRoad,
    /// Closed disc with slots near the edge.
    Aero,
    /// Many curved blades.
    Turbine,
    /// Crossed thin spokes.
    Mesh,
    /// A smooth disc of older cars, with small windows near the edge.
    Dish,
    Wire,
}

/// Kind of car that a rim is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RimClass {
    Small,
    Compact,
    Large,
    Sport,
    Suv,
    OffRoad,
    Pickup,
    Van,
}

/// Materials of a rim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RimFinish {
    Bright,
    Dark,
    /// Bright faces on dark flanks, as turned on a lathe after painting.
    TwoTone,
}

/// Pattern of a tyre.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tread {
    Road,
    /// Coarse shoulder blocks.
    AllTerrain,
}

/// A road wheel. Lengths are in metres.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Wheel {
    /// Outer diameter of the tyre.
    pub diameter: f32,
    /// Section width of the tyre: its sidewalls bulge to exactly this.
    pub width: f32,
    /// Nominal rim diameter, where the tyre's beads sit (17 inch = 0.432).
    pub rim_diameter: f32,
    /// Distance of the hub behind the rim's edge. Negative for hubs that stand out.
    pub dish: f32,
    pub motif: Motif,
    /// Number of the rim within its family.
    pub style: u8,
    pub finish: RimFinish,
    pub tread: Tread,
    /// Angle by which the design is turned about the axle, so that the wheels of one car do not all
    /// stand at the same angle.
    pub turn_degrees: f32,
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel {
            diameter: 0.65,
            width: 0.22,
            rim_diameter: 0.432,
            dish: 0.03,
            motif: Motif::DoubleFive,
            style: 0,
            finish: RimFinish::Bright,
            tread: Tread::Road,
            turn_degrees: 0.0,
        }
    }
}

impl Wheel {
    /// Returns the same wheel with another tyre diameter. The rim keeps its ratio to the tyre.
    pub fn with_diameter(self, diameter: f32) -> Wheel {
        Wheel { rim_diameter: self.rim_diameter * diameter / self.diameter, diameter, ..self }
    }
}

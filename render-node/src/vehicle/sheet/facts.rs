//! A sheet's `[facts]` table: positions that were measured on a real vehicle, seen from the side.

use crate::vehicle::morph::Stance;
use glam::Vec2;
use serde::Deserialize;

/// Measured positions and lengths. Only `from` is required.
///
/// Lengths are multiples of the wheelbase. In a position `[x, z]`, x counts from the front hub (0)
/// to the rear hub (1), and z from the ground.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Source of the measurement: kind of image, width of the vehicle in it in pixels, model year.
    pub from: String,
    /// True if no number was taken from a picture: the drawing is bent to the numbers, but the
    /// vehicle does not count as measured.
    #[serde(default)]
    pub estimated: bool,
    /// Largest error of a number, as a ratio of the wheelbase.
    #[serde(default = "sure")]
    pub within: f32,
    /// Distance from the nose to the front hub.
    #[serde(default)]
    pub front_overhang: Option<f32>,
    /// Distance from the rear hub to the tail.
    #[serde(default)]
    pub rear_overhang: Option<f32>,
    /// Height of the roof's highest point, without rails.
    #[serde(default)]
    pub roof: Option<f32>,
    /// Outer diameter of the tyres.
    #[serde(default)]
    pub tyre: Option<f32>,
    /// Place where the outline turns from the nose to the bonnet: its tangent rises by 45 degrees.
    #[serde(default)]
    pub bonnet_edge: Option<[f32; 2]>,
    /// Points of the bonnet's outline between its edge and the windscreen.
    #[serde(default)]
    pub bonnet: Vec<[f32; 2]>,
    /// Foot of the windscreen: the kink of the outline.
    #[serde(default)]
    pub cowl: Option<[f32; 2]>,
    /// Upper edge of the windscreen's glass on the outline.
    #[serde(default)]
    pub header: Option<[f32; 2]>,
    /// Points of the roof's outline between the windscreen and the rear window.
    #[serde(default)]
    pub roofline: Vec<[f32; 2]>,
    /// Upper edge of the rear window's glass on the outline.
    #[serde(default)]
    pub roof_end: Option<[f32; 2]>,
    /// Foot of the rear window: the kink to the boot lid. Saloons and coupes only.
    #[serde(default)]
    pub deck: Option<[f32; 2]>,
    /// Place where the outline turns from the boot lid to the tail: its tangent falls by 45
    /// degrees. Saloons and coupes only.
    #[serde(default)]
    pub deck_edge: Option<[f32; 2]>,
    /// Foremost point of the side windows' glass, all panes together.
    #[serde(default)]
    pub glass_front: Option<[f32; 2]>,
    /// Rearmost point of the side windows' glass, all panes together.
    #[serde(default)]
    pub glass_rear: Option<[f32; 2]>,
    /// Points of the side windows' lower edge.
    #[serde(default)]
    pub belt: Vec<[f32; 2]>,
    /// x of the middle of the B-pillar at the belt.
    #[serde(default)]
    pub b_pillar: Option<f32>,
}

fn sure() -> f32 {
    0.01
}

/// Greatest difference between the measured and the catalog's height, as a ratio. With a greater
/// one the two are not taken for the same vehicle, and heights are not scaled.
const HEIGHT_TRUST: f32 = 0.06;

/// Least overhang that is used when the catalog's length is divided between front and rear.
const LEAST_OVERHANG: f32 = 0.1;

impl Facts {
    /// Returns the front overhang's ratio of both overhangs, if both were measured.
    pub fn front_ratio(&self) -> Option<f32> {
        let (front, rear) = (self.front_overhang?.max(LEAST_OVERHANG), self.rear_overhang?.max(LEAST_OVERHANG));
        Some(front / (front + rear))
    }

    /// Returns every measured position.
    pub fn places(&self) -> Vec<[f32; 2]> {
        let named = [
            self.bonnet_edge,
            self.cowl,
            self.header,
            self.roof_end,
            self.deck,
            self.deck_edge,
            self.glass_front,
            self.glass_rear,
        ];
        let lines = self.bonnet.iter().chain(&self.roofline).chain(&self.belt);
        named.into_iter().flatten().chain(lines.copied()).collect()
    }

    /// Changes every measured position.
    pub fn for_each_place(&mut self, change: impl FnMut(&mut [f32; 2])) {
        let named = [
            &mut self.bonnet_edge,
            &mut self.cowl,
            &mut self.header,
            &mut self.roof_end,
            &mut self.deck,
            &mut self.deck_edge,
            &mut self.glass_front,
            &mut self.glass_rear,
        ];
        let lines = self.bonnet.iter_mut().chain(&mut self.roofline).chain(&mut self.belt);
        named.into_iter().flatten().chain(lines).for_each(change);
    }

    /// Returns a measured position in the vehicle's metres. Overhangs and height
    /// are scaled to the catalog's.
    pub fn real(&self, [x, z]: [f32; 2], real: Stance) -> Vec2 {
        let wheelbase = real.rear_axle_x - real.front_axle_x;
        let stretched = |beyond: f32, measured: Option<f32>, room: f32| match measured {
            Some(overhang) if overhang > LEAST_OVERHANG => beyond / overhang * room,
            _ => beyond * wheelbase,
        };
        let at_x = if x < 0.0 {
            real.front_axle_x - stretched(-x, self.front_overhang, real.front_axle_x)
        } else if x > 1.0 {
            real.rear_axle_x + stretched(x - 1.0, self.rear_overhang, real.length - real.rear_axle_x)
        } else {
            real.front_axle_x + x * wheelbase
        };
        Vec2::new(at_x, z * wheelbase * self.height_scale(real))
    }

    /// Returns the factor that brings measured heights to the catalog's height: 1 if no roof was
    /// measured, or if the two differ by [`HEIGHT_TRUST`] or more.
    pub fn height_scale(&self, real: Stance) -> f32 {
        let wheelbase = real.rear_axle_x - real.front_axle_x;
        let scale = self.roof.map_or(1.0, |roof| real.height / (roof * wheelbase));
        if (scale - 1.0).abs() < HEIGHT_TRUST { scale } else { 1.0 }
    }
}

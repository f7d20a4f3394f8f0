//! One line of the flank, as it is built.

use crate::vehicle::blend::{plateau, smooth_max};
use crate::vehicle::curve::SampledCurve;
use glam::Vec2;

/// A line along which the flank turns by an angle, with a slope above and below it.
#[derive(Debug, Clone)]
pub struct FlankLine {
    pub line: SampledCurve,
    pub ends: [f32; 4],
    /// Angle by which the flank turns at the line, in radians; negative for a groove.
    pub turn: f32,
    /// Ratios of that angle at both ends.
    pub along: [f32; 2],
    /// Maximum reach of the slopes above and below the line.
    pub reach: [f32; 2],
    /// Power by which the slopes run out. The larger it is, the more hollow they are.
    pub bend: f32,
    pub round: f32,
}

impl FlankLine {
    /// Returns how far the flank stands out at a point of the sheet's side view, between the
    /// heights of sill and belt there.
    pub fn out(&self, at: Vec2, sill: f32, belt: f32) -> f32 {
        let fade = plateau(at.x, self.ends) * self.ratio_at(at.x);
        if fade <= 0.0 {
            return 0.0;
        }
        let line = self.line.at(at.x);
        let (dz, [up, down]) = (at.y - line, self.reach);
        if dz > up || dz < -down {
            return 0.0;
        }
        let least = REACH_M[0];
        let above = (belt + ABOVE_BELT_M - line).clamp(least.min(up), up);
        let below = (TO_SILL_RATIO * (line - sill)).clamp(least.min(down), down);
        let steepness = 1.0 / above + 1.0 / below;
        let t = smooth_max(dz / above, -dz / below, self.round * steepness);
        let s = (1.0 - t).max(0.0);
        self.turn * fade / (self.bend * steepness) * s.powf(self.bend)
    }

    /// Returns the ratio of its angle that the line has at `x`.
    pub fn ratio_at(&self, x: f32) -> f32 {
        let ([front, rear], [from, .., to]) = (self.along, self.ends);
        front + (rear - front) * ((x - from) / (to - from).max(0.1)).clamp(0.0, 1.0)
    }

    /// Returns the height of a point above the line, or `None` where there is no line.
    pub fn above(&self, at: Vec2) -> Option<f32> {
        (plateau(at.x, self.ends) > 0.02).then(|| at.y - self.line.at(at.x))
    }

    /// Returns how far above and below the line its rounding ends.
    pub fn round(&self) -> f32 {
        self.round
    }
}

/// How far a line's upper slope reaches beyond the belt.
pub const ABOVE_BELT_M: f32 = 0.1;

/// Minimum and maximum reach of the slopes beside a line. They are long, so that the line is an
/// edge between two faces and not a rib.
pub const REACH_M: [f32; 2] = [0.16, 0.34];

/// Ratio of the way to the sill that a line's lower slope reaches.
pub const TO_SILL_RATIO: f32 = 0.75;

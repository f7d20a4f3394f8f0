//! One line of the flank as it is built.

use crate::vehicle::blend::{plateau, smooth_max};
use crate::vehicle::curve::Table;
use glam::Vec2;

/// One line of the flank.
#[derive(Debug, Clone)]
pub struct FlankLine {
    pub line: Table,
    pub ends: [f32; 4],
    /// By which angle the flank turns at the line, radians; negative for a groove.
    pub turn: f32,
    /// Shares of that angle at both ends.
    pub along: [f32; 2],
    /// Most that its slopes reach above and below.
    pub reach: [f32; 2],
    /// The power by which they run out: the greater, the more hollow they are.
    pub bend: f32,
    pub round: f32,
}

impl FlankLine {
    /// By how much it stands out at a place of the sheet's side view, between the heights of sill and belt there.
    pub fn out(&self, at: Vec2, sill: f32, belt: f32) -> f32 {
        let fade = plateau(at.x, self.ends) * self.share_at(at.x);
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
        let below = (TO_SILL_SHARE * (line - sill)).clamp(least.min(down), down);
        let steepness = 1.0 / above + 1.0 / below;
        let t = smooth_max(dz / above, -dz / below, self.round * steepness);
        let s = (1.0 - t).max(0.0);
        self.turn * fade / (self.bend * steepness) * s.powf(self.bend)
    }

    /// The share of its angle that the line has at `x`.
    pub fn share_at(&self, x: f32) -> f32 {
        let ([front, rear], [from, .., to]) = (self.along, self.ends);
        front + (rear - front) * ((x - from) / (to - from).max(0.1)).clamp(0.0, 1.0)
    }

    /// Height of a place above the line, where there is one.
    pub fn above(&self, at: Vec2) -> Option<f32> {
        (plateau(at.x, self.ends) > 0.02).then(|| at.y - self.line.at(at.x))
    }

    /// How far above and below the line its rounding ends.
    pub fn round(&self) -> f32 {
        self.round
    }
}

/// How far a line's upper slope reaches beyond the belt, and its lower slope as a share of the way to the sill.
pub const ABOVE_BELT_M: f32 = 0.1;

/// Least and most that the slopes beside a line reach: they are long, so that the line is an edge between two faces and no rib.
pub const REACH_M: [f32; 2] = [0.16, 0.34];

pub const TO_SILL_SHARE: f32 = 0.75;

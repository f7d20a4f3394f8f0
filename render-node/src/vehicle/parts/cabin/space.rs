//! The space that a body leaves for people.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rear {
    /// Two-seater: a shelf or bulkhead behind the front seats.
    None,
    /// Two bucket seats, lower than the front ones.
    PlusTwo,
    Bench,
    /// A bench and a third row behind it.
    TwoBenches,
    /// A dark wall behind the front seats: vans, single-cab trucks.
    Bulkhead,
}

/// The space the body leaves. Metres, vehicle axes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CabinSpace {
    /// Foot of the windscreen on the centre line.
    pub x_cowl: f32,
    pub z_cowl: f32,
    /// Where the space for people ends: rear window's foot, bulkhead, tailgate.
    pub x_rear: f32,
    /// Top of the sill: nothing is built below it.
    pub z_floor: f32,
    /// Belt (lower edge of the side windows) at the front seats.
    pub z_belt: f32,
    /// Upper edge of the doors: lower than the belt where they are cut down for the elbow.
    pub z_door: f32,
    /// Half of the inner width at the belt, and under the roof.
    pub half_width_belt: f32,
    pub half_width_roof: f32,
    /// The same where the dashboard meets the windscreen: a bowed front is narrow there.
    pub half_width_cowl: f32,
    /// Underside of the roof and of both screens along the centre line, (x, z) by growing x. Empty for an open car.
    pub roof: Vec<[f32; 2]>,
    pub rear: Rear,
    /// The closed tail behind that, if there is one.
    pub tail: Option<Tail>,
    /// Where the windows of the front doors end, at the height of a head: front seats are seen before that. Infinite if unknown.
    pub x_front_doors: f32,
    /// Nothing overhead: the rim of the cockpit and door cards are built too.
    pub open: bool,
    /// Upright, high seats: vans, trucks, off-roaders. Otherwise low and laid back.
    pub upright: bool,
}

/// The inner end of a boot or of a load bay below its window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tail {
    pub x: f32,
    /// At the cabin and at the inner end.
    pub half_width: [f32; 2],
    /// Up to where it is filled.
    pub top: f32,
}

pub struct Row {
    pub hip_x: f32,
    pub kind: RowKind,
}

#[derive(Clone, Copy, PartialEq)]
pub enum RowKind {
    Front,
    PlusTwo,
    Bench,
}

/// Hip points of front seats lie so far before the pillar behind them, and never nearer to the windscreen's foot than this.
pub const BEFORE_PILLAR_M: f32 = 0.43;

pub const LEAST_REACH_M: f32 = 0.72;

/// Head room that is never used, metres.
pub const HEAD_CLEARANCE: f32 = 0.055;

impl CabinSpace {
    /// Highest z a part may reach at `x`.
    pub fn ceiling(&self, x: f32) -> f32 {
        let Some((first, last)) = self.roof.first().zip(self.roof.last()) else { return f32::MAX };
        let z = if x <= first[0] {
            first[1]
        } else if x >= last[0] {
            last[1]
        } else {
            self.roof.windows(2).find(|pair| x <= pair[1][0]).map_or(last[1], |pair| {
                let t = (x - pair[0][0]) / (pair[1][0] - pair[0][0]).max(1e-6);
                pair[0][1] + (pair[1][1] - pair[0][1]) * t
            })
        };
        z - HEAD_CLEARANCE
    }

    /// Half of the inner width at height `z`.
    pub fn half_width(&self, z: f32) -> f32 {
        let roof = self.roof.iter().map(|p| p[1]).fold(self.z_belt + 0.3, f32::max);
        let t = ((z - self.z_belt) / (roof - self.z_belt).max(0.05)).clamp(0.0, 1.0);
        self.half_width_belt + (self.half_width_roof - self.half_width_belt) * t
    }

    /// Where a seat's hip point lies, per row, from the windscreen's foot to the rear.
    pub fn rows(&self) -> Vec<Row> {
        let reach = if self.upright { 1.02 } else { 1.18 };
        // Short cabins draw the front seats forward.
        let before_pillar = (self.x_front_doors - BEFORE_PILLAR_M).max(self.x_cowl + LEAST_REACH_M);
        let front = (self.x_cowl + reach).min(before_pillar).min(self.x_rear - 0.50);
        let mut rows = vec![Row { hip_x: front, kind: RowKind::Front }];
        let rest = self.x_rear - front;
        let pitch: f32 = if rest > 2.1 { 0.88 } else { 0.80 };
        match self.rear {
            Rear::None | Rear::Bulkhead => {}
            Rear::PlusTwo => rows.push(Row { hip_x: front + 0.68_f32.min(rest - 0.25), kind: RowKind::PlusTwo }),
            Rear::Bench => rows.push(Row { hip_x: front + pitch.min(rest - 0.30), kind: RowKind::Bench }),
            Rear::TwoBenches => {
                rows.push(Row { hip_x: front + pitch.min(rest * 0.42), kind: RowKind::Bench });
                rows.push(Row { hip_x: front + (2.0 * pitch - 0.04).min(rest - 0.30), kind: RowKind::Bench });
            }
        }
        rows
    }
}

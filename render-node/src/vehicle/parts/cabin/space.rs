//! The space that a body leaves for the interior, and where the rows of seats stand in it.

use serde::{Deserialize, Serialize};

/// The part of the interior behind the front seats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rear {
    /// A two-seater: a shelf or bulkhead behind the front seats.
    None,
    /// Two bucket seats, lower than the front ones.
    PlusTwo,
    Bench,
    /// A bench and a third row behind it.
    TwoBenches,
    /// A dark wall behind the front seats: vans, single-cab trucks.
    Bulkhead,
}

/// The space that the body leaves for the interior. Metres, in vehicle axes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CabinSpace {
    /// x of the windscreen's foot on the centre line.
    pub x_cowl: f32,
    /// z of the windscreen's foot on the centre line.
    pub z_cowl: f32,
    /// x where the space for people ends: the foot of the rear window,
    /// the bulkhead or the tailgate.
    pub x_rear: f32,
    /// z of the sill's top. Nothing is built below it.
    pub z_floor: f32,
    /// z of the belt (the lower edge of the side windows) at the front seats.
    pub z_belt: f32,
    /// z of the doors' upper edge: lower than the belt where they are cut down for the elbow.
    pub z_door: f32,
    /// Half of the inner width at the belt.
    pub half_width_belt: f32,
    /// Half of the inner width under the roof.
    pub half_width_roof: f32,
    /// Half of the inner width where the dashboard meets the windscreen: a
    /// bowed front is narrow there.
    pub half_width_cowl: f32,
    /// Underside of the roof and of both screens along the centre line, as (x, z) by
    /// growing x. Empty for an open car.
    pub roof: Vec<[f32; 2]>,
    pub rear: Rear,
    /// The closed tail behind the space for people, if there is one.
    pub tail: Option<Tail>,
    /// x where the windows of the front doors end, at the height of a head. Front seats stand in
    /// front of it, so that they are seen. Infinite if unknown.
    pub x_front_doors: f32,
    /// True if nothing is overhead. The rim of the cockpit and the door cards are then built too.
    pub open: bool,
    /// True for upright, high seats (vans, trucks, off-roaders). Otherwise the
    /// seats are low and laid back.
    pub upright: bool,
}

/// The inner end of a boot or of a load bay below its window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tail {
    /// x of the tail's inner end.
    pub x: f32,
    /// Half width at the cabin, and at the inner end.
    pub half_width: [f32; 2],
    /// z up to which the tail is filled.
    pub top: f32,
}

/// A row of seats.
pub struct SeatRow {
    pub hip_x: f32,
    pub kind: RowKind,
}

/// Kind of a row of seats.
#[derive(Clone, Copy, PartialEq)]
pub enum RowKind {
    Front,
    PlusTwo,
    Bench,
}

/// Distance of the front seats' hip points in front of the pillar behind them.
pub const BEFORE_PILLAR_M: f32 = 0.43;

/// Least distance of the front seats' hip points behind the windscreen's foot.
pub const LEAST_REACH_M: f32 = 0.72;

/// Head room that is never used, in metres.
pub const HEAD_CLEARANCE: f32 = 0.055;

impl CabinSpace {
    /// Returns the highest z that a part may reach at `x`.
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

    /// Returns half of the inner width at height `z`.
    pub fn half_width(&self, z: f32) -> f32 {
        let roof = self.roof.iter().map(|p| p[1]).fold(self.z_belt + 0.3, f32::max);
        let t = ((z - self.z_belt) / (roof - self.z_belt).max(0.05)).clamp(0.0, 1.0);
        self.half_width_belt + (self.half_width_roof - self.half_width_belt) * t
    }

    /// Returns the rows of seats, from the front to the rear, with the x of their hip points.
    pub fn rows(&self) -> Vec<SeatRow> {
        let reach = if self.upright { 1.02 } else { 1.18 };
        // Short cabins draw the front seats forward.
        let before_pillar = (self.x_front_doors - BEFORE_PILLAR_M).max(self.x_cowl + LEAST_REACH_M);
        let front = (self.x_cowl + reach).min(before_pillar).min(self.x_rear - 0.50);
        let mut rows = vec![SeatRow { hip_x: front, kind: RowKind::Front }];
        let rest = self.x_rear - front;
        let pitch: f32 = if rest > 2.1 { 0.88 } else { 0.80 };
        match self.rear {
            Rear::None | Rear::Bulkhead => {}
            Rear::PlusTwo => rows.push(SeatRow { hip_x: front + 0.68_f32.min(rest - 0.25), kind: RowKind::PlusTwo }),
            Rear::Bench => rows.push(SeatRow { hip_x: front + pitch.min(rest - 0.30), kind: RowKind::Bench }),
            Rear::TwoBenches => {
                rows.push(SeatRow { hip_x: front + pitch.min(rest * 0.42), kind: RowKind::Bench });
                rows.push(SeatRow { hip_x: front + (2.0 * pitch - 0.04).min(rest - 0.30), kind: RowKind::Bench });
            }
        }
        rows
    }
}

//! The interior as seen through tinted glass, or looked into when the car is open. Vehicle space, whole car, left-hand drive.
//!
//! Everything is derived from the space the body leaves: nothing rises above the roof line handed in.

mod dash;
mod seat;

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::solid::Solid;
use crate::vehicle::mesh::{Material, VehicleMesh};

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

/// Hip points of front seats lie so far before the pillar behind them, and never nearer to the windscreen's foot than this.
const BEFORE_PILLAR_M: f32 = 0.43;
const LEAST_REACH_M: f32 = 0.72;
/// Head room that is never used, metres.
const HEAD_CLEARANCE: f32 = 0.055;

impl CabinSpace {
    /// Highest z a part may reach at `x`.
    fn ceiling(&self, x: f32) -> f32 {
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
    fn half_width(&self, z: f32) -> f32 {
        let roof = self.roof.iter().map(|p| p[1]).fold(self.z_belt + 0.3, f32::max);
        let t = ((z - self.z_belt) / (roof - self.z_belt).max(0.05)).clamp(0.0, 1.0);
        self.half_width_belt + (self.half_width_roof - self.half_width_belt) * t
    }

    /// Where a seat's hip point lies, per row, from the windscreen's foot to the rear.
    fn rows(&self) -> Vec<Row> {
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

struct Row {
    hip_x: f32,
    kind: RowKind,
}

#[derive(Clone, Copy, PartialEq)]
enum RowKind {
    Front,
    PlusTwo,
    Bench,
}

/// The whole interior, at most 15,000 triangles.
pub fn cabin(space: &CabinSpace) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    dash::add_floor(&mut mesh, space);
    dash::add_dash(&mut mesh, space);
    dash::add_inner_mirror(&mut mesh, space);
    dash::add_visors(&mut mesh, space);
    for (number, row) in space.rows().iter().enumerate() {
        seat::add_row(&mut mesh, space, row, number);
    }
    if space.rear == Rear::Bulkhead {
        let x = space.rows()[0].hip_x + 0.48;
        let top = space.ceiling(x).min(space.z_belt + 0.9);
        let half = Vec3::new(0.02, space.half_width(space.z_belt) - 0.02, (top - space.z_floor) / 2.0);
        let wall = Solid::rounded_box(half, 0.02).moved(Vec3::new(x, 0.0, space.z_floor + half.z));
        // The wall narrows with the body towards the roof.
        let wall = wall.bent(|p| Vec3::new(p.x, p.y * space.half_width(p.z) / space.half_width_belt, p.z));
        mesh.add(Material::Interior, &wall.surface(60.0));
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    fn saloon() -> CabinSpace {
        CabinSpace {
            x_cowl: 1.25,
            z_cowl: 0.98,
            x_rear: 3.75,
            z_floor: 0.25,
            z_belt: 0.95,
            z_door: 0.95,
            half_width_belt: 0.78,
            half_width_roof: 0.56,
            half_width_cowl: 0.78,
            roof: vec![[1.25, 0.98], [1.95, 1.36], [2.5, 1.42], [3.1, 1.38], [3.75, 1.02]],
            rear: Rear::Bench,
            tail: None,
            x_front_doors: 2.62,
            open: false,
            upright: false,
        }
    }

    #[test]
    fn nothing_pierces_roof_or_sides() {
        let low = CabinSpace {
            roof: vec![[1.25, 0.90], [1.95, 1.18], [2.5, 1.24], [3.1, 1.18], [3.75, 0.92]],
            z_belt: 0.86,
            z_door: 0.86,
            z_cowl: 0.90,
            z_floor: 0.20,
            rear: Rear::PlusTwo,
            ..saloon()
        };
        let tall = CabinSpace {
            upright: true,
            rear: Rear::TwoBenches,
            x_rear: 4.4,
            roof: vec![[1.25, 1.1], [1.9, 1.75], [4.4, 1.78]],
            z_belt: 1.12,
            z_door: 1.12,
            ..saloon()
        };
        let cab = CabinSpace {
            upright: true,
            rear: Rear::Bulkhead,
            x_rear: 3.0,
            roof: vec![[1.25, 1.1], [1.9, 1.85], [4.4, 1.9]],
            z_belt: 1.2,
            z_door: 1.2,
            ..saloon()
        };
        for (name, space) in [("saloon", saloon()), ("low coupe", low), ("people carrier", tall), ("cab", cab)] {
            let mesh = cabin(&space);
            assert_sound(&mesh, name);
            assert!(mesh.triangle_count() < 15_000, "{name}: {}", mesh.triangle_count());
            for (material, surface) in &mesh.surfaces {
                for p in &surface.positions {
                    assert!(p[2] < space.ceiling(p[0]) + HEAD_CLEARANCE, "{name}: {material:?} {p:?} pierces the roof");
                    assert!(p[1].abs() < space.half_width(p[2]) + 0.001, "{name}: {material:?} {p:?} pierces the side");
                    assert!(p[0] < space.x_rear + 0.05, "{name}: {material:?} {p:?} behind the cabin");
                }
            }
        }
    }

    #[test]
    fn the_tail_is_filled_below_the_belt_so_that_nobody_sees_lamps_from_inside() {
        let space = CabinSpace { tail: Some(Tail { x: 4.45, half_width: [0.74, 0.60], top: 0.93 }), ..saloon() };
        let mesh = cabin(&space);
        assert_sound(&mesh, "tail");
        let behind: Vec<_> =
            mesh.surfaces[&Material::Interior].positions.iter().filter(|p| p[0] > space.x_rear + 0.1).collect();
        assert!(behind.iter().any(|p| p[0] > 4.44) && behind.iter().all(|p| p[2] < space.z_belt && p[1].abs() < 0.79));
    }

    #[test]
    fn seats_and_wheel_are_seen_above_the_belt() {
        let space = saloon();
        let mesh = cabin(&space);
        let top = |material| mesh.surfaces[&material].positions.iter().map(|p| p[2]).fold(0.0, f32::max);
        assert!(top(Material::Seat) > space.z_belt + 0.28, "{}", top(Material::Seat));
        let rim = mesh.surfaces[&Material::MattBlack].positions.iter().filter(|p| p[1] < -0.15);
        let rim = rim.map(|p| p[2]).fold(0.0, f32::max);
        assert!(rim > space.z_belt + 0.08, "{rim}");
    }

    #[test]
    fn an_open_car_has_seats_above_its_belt_and_the_wheel_on_the_left() {
        let space = CabinSpace { open: true, roof: Vec::new(), rear: Rear::None, x_rear: 2.9, ..saloon() };
        let mesh = cabin(&space);
        assert_sound(&mesh, "open");
        let top = mesh.surfaces[&Material::Seat].positions.iter().map(|p| p[2]).fold(0.0, f32::max);
        assert!(top > space.z_belt + 0.08 && top < space.z_belt + 0.35, "{top}");
        let chrome = &mesh.surfaces[&Material::Satin].positions;
        assert!(chrome.iter().any(|p| p[1] < -0.2));
    }

    #[test]
    fn the_same_space_gives_the_same_cabin() {
        let [a, b] = [cabin(&saloon()), cabin(&saloon())];
        for (material, surface) in &a.surfaces {
            assert_eq!(surface.positions, b.surfaces[material].positions);
            assert_eq!(surface.indices, b.surfaces[material].indices);
        }
    }
}

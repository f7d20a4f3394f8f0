//! The cab of tractors and loaders: posts with clear panes between them, a roof with work lamps,
//! and the driver's seat, wheel and levers behind the glass.

use std::f32::consts::TAU;

use glam::{Vec2, Vec3};

use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, block, hull, pipe};
use crate::vehicle::parts::solid::{Solid, rounded_rectangle};

/// Measurements of a cab, in metres. The posts lean in from the floor to the roof.
pub(super) struct Cab {
    /// x of the front posts at the floor.
    pub front: f32,
    /// x of the rear posts at the floor.
    pub rear: f32,
    /// Distance by which the front and the rear posts lean in at the roof.
    pub lean: [f32; 2],
    /// Half width at the floor.
    pub half_width: f32,
    /// Half width at the underside of the roof.
    pub half_top: f32,
    /// Height of the floor.
    pub floor: f32,
    /// Height of the lower edge of the glass.
    pub waist: f32,
    /// Height of the underside of the roof.
    pub top: f32,
    /// Height of the top of the roof.
    pub roof: f32,
    /// Position of the door's rear post, as a ratio of the cab's length.
    pub door: f32,
}

const POST_M: f32 = 0.034;
const PANE_M: f32 = 0.006;

impl Cab {
    fn at(&self, ratio_x: f32, z: f32) -> Vec3 {
        let up = (z - self.floor) / (self.top - self.floor);
        let front = self.front + self.lean[0] * up;
        let rear = self.rear - self.lean[1] * up;
        Vec3::new(front + (rear - front) * ratio_x, self.half_width + (self.half_top - self.half_width) * up, z)
    }
}

pub(super) fn add(parts: &mut Assembly, cab: &Cab) {
    let p = Vec3::new;
    // Posts, and the frames at the waist and at the roof.
    let section = |_: usize| rounded_rectangle(POST_M, POST_M * 0.85, 0.014);
    for ratio in [0.0, cab.door, 1.0] {
        parts.add_pair(
            Material::GlossBlack,
            Solid::swept(&[cab.at(ratio, cab.floor), cab.at(ratio, cab.top)], Vec3::Y, section),
        );
    }
    for z in [cab.floor + 0.03, cab.top - 0.03] {
        parts.add_pair(Material::GlossBlack, Solid::swept(&[cab.at(0.0, z), cab.at(1.0, z)], Vec3::Z, section));
        for ratio in [0.0, 1.0] {
            let at = cab.at(ratio, z);
            parts.add(Material::GlossBlack, pipe(&[at, at * p(1.0, -1.0, 1.0)], POST_M * 0.9));
        }
    }
    // Panes: front and rear, door and window on both sides. Each is a plate between four corners.
    let pane = |a: Vec3, b: Vec3, c: Vec3, d: Vec3| {
        let normal = (b - a).cross(d - a).normalize_or(Vec3::X) * PANE_M * 0.5;
        Solid::lofted(&[
            vec![a - normal, b - normal, c - normal, d - normal],
            vec![a + normal, b + normal, c + normal, d + normal],
        ])
    };
    let mirror = |q: Vec3| q * p(1.0, -1.0, 1.0);
    let (low, high) = (cab.floor + 0.06, cab.top - 0.06);
    let front_foot = (cab.floor + 0.28).min(cab.waist);
    for (ratio, from) in [(0.0, front_foot), (1.0, cab.waist)] {
        let (a, d) = (cab.at(ratio, from), cab.at(ratio, high));
        parts.add(Material::ClearGlass, pane(mirror(a), a, d, mirror(d)));
    }
    for (from, to, foot) in [(0.03, cab.door - 0.02, low), (cab.door + 0.02, 0.97, cab.waist)] {
        let side = pane(cab.at(from, foot), cab.at(to, foot), cab.at(to, high), cab.at(from, high));
        parts.add_pair(Material::ClearGlass, side);
    }
    // Painted panels below the waist, behind the door and across front and rear.
    let lower =
        |from: f32, to: f32| [cab.at(from, low), cab.at(to, low), cab.at(to, cab.waist), cab.at(from, cab.waist)];
    let [a, b, c, d] = lower(cab.door, 1.0);
    parts.add_pair(Material::Paint, pane(a, b, c, d));
    for ratio in [0.0, 1.0] {
        let foot = if ratio < 0.5 { front_foot } else { cab.waist };
        let (a, d) = (cab.at(ratio, low), cab.at(ratio, foot));
        parts.add(Material::GlossBlack, pane(mirror(a), a, d, mirror(d)));
    }
    // Door handle and hinges.
    let grip = cab.at(cab.door - 0.06, cab.waist - 0.05) + Vec3::Y * 0.02;
    parts.add_pair(Material::MattBlack, block(grip - p(0.02, 0.012, 0.07), grip + p(0.02, 0.012, 0.07), 0.008));
    for z in [cab.floor + 0.25, cab.top - 0.25] {
        let at = cab.at(0.0, z) + Vec3::Y * 0.02;
        parts.add_pair(Material::MattBlack, block(at - p(0.03, 0.012, 0.035), at + p(0.03, 0.016, 0.035), 0.008));
    }
    add_roof(parts, cab);
    add_inside(parts, cab);
    add_outside(parts, cab);
}

fn add_roof(parts: &mut Assembly, cab: &Cab) {
    let p = Vec3::new;
    let [front, rear] = [cab.at(0.0, cab.top).x, cab.at(1.0, cab.top).x];
    let half = cab.half_top + 0.05;
    parts.add_soft(
        Material::Paint,
        hull(
            &[
                [front - 0.16, half * 0.88, cab.top + 0.02, cab.top + 0.3 * (cab.roof - cab.top)],
                [front - 0.06, half * 0.97, cab.top - 0.005, cab.roof - 0.03],
                [front + 0.16, half, cab.top - 0.01, cab.roof],
                [rear - 0.1, half, cab.top - 0.01, cab.roof],
                [rear + 0.06, half * 0.98, cab.top - 0.005, cab.roof - 0.03],
                [rear + 0.13, half * 0.92, cab.top + 0.01, cab.top + 0.4 * (cab.roof - cab.top)],
            ],
            5.0,
        ),
    );
    parts.add(
        Material::MattBlack,
        block(p(front - 0.05, -half * 0.9, cab.top - 0.02), p(rear + 0.04, half * 0.9, cab.top + 0.01), 0.01),
    );
    // Work lamps at the front and the rear: black housings, bright bowls.
    let middle = cab.top + 0.42 * (cab.roof - cab.top);
    for (x, out) in [(front - 0.155, -1.0), (rear + 0.125, 1.0)] {
        for y in [0.42, 0.78] {
            work_lamp(parts, p(x, half * y, middle), out, 0.055);
        }
    }
    let beacon = p(rear - 0.1, 0.0, cab.roof - 0.02);
    parts.add(Material::MattBlack, Solid::pin(beacon, beacon + Vec3::Z * 0.03, 0.055, 18));
    parts.add(
        Material::LampAmber,
        Solid::tube(&[beacon + Vec3::Z * 0.03, beacon + Vec3::Z * 0.07, beacon + Vec3::Z * 0.09], 18, |i| {
            [0.05, 0.046, 0.02][i]
        }),
    );
}

/// Adds a lamp in a square housing on both sides. It shines along `out` (in x).
pub(super) fn work_lamp(parts: &mut Assembly, at: Vec3, out: f32, half: f32) {
    let reach = Vec3::new(0.045, half, half * 0.8);
    parts.add_pair(Material::MattBlack, block(at - reach, at + reach, 0.018));
    let face = at + Vec3::X * out * 0.040;
    let profile = [(0.0, 1.0), (-0.012, 0.93), (-0.014, 0.9)];
    for (x, ratio) in profile {
        let ring = Vec3::new(0.006, half * 0.86 * ratio, half * 0.66 * ratio);
        let material = if ratio > 0.95 { Material::GlossBlack } else { Material::LampReflector };
        parts.add_pair(
            material,
            block(
                face + Vec3::X * (out * (0.003 - 0.2 * x)) - ring,
                face + Vec3::X * (out * (0.003 - 0.2 * x)) + ring,
                0.005,
            ),
        );
    }
    for y in [-0.42, 0.42] {
        let foot = face + Vec3::new(out * 0.010, y * half, 0.0);
        parts.add_pair(Material::LampGlass, Solid::pin(foot, foot + Vec3::X * out * 0.008, half * 0.24, 14));
    }
    let lens = Vec3::new(0.002, half * 0.84, half * 0.64);
    parts.add_pair(
        Material::LampLens,
        block(face + Vec3::X * out * 0.024 - lens, face + Vec3::X * out * 0.024 + lens, 0.002),
    );
}

fn add_inside(parts: &mut Assembly, cab: &Cab) {
    let p = Vec3::new;
    let seat = cab.front + 0.66 * (cab.rear - cab.front);
    let hip = (cab.floor + 0.46).min(cab.waist + 0.05);
    parts.add(
        Material::Interior,
        block(
            p(cab.front, -cab.half_width + 0.03, cab.floor - 0.02),
            p(cab.rear, cab.half_width - 0.03, cab.floor + 0.03),
            0.01,
        ),
    );
    parts.add(Material::Interior, block(p(seat - 0.18, -0.16, cab.floor), p(seat + 0.16, 0.16, hip - 0.06), 0.04));
    parts.add_soft(Material::Seat, block(p(seat - 0.28, -0.25, hip - 0.07), p(seat + 0.22, 0.25, hip + 0.06), 0.06));
    let back = block(p(seat + 0.14, -0.24, hip), p(seat + 0.27, 0.24, hip + 0.58), 0.06);
    parts.add_soft(Material::Seat, back.bent(|q| p(q.x + 0.16 * (q.z - hip), q.y, q.z)));
    parts.add_pair(Material::Seat, block(p(seat - 0.15, 0.27, hip + 0.16), p(seat + 0.24, 0.33, hip + 0.22), 0.025));
    // Column, wheel, console, levers.
    let hub = p(cab.front + 0.36, 0.0, hip + 0.30);
    parts.add(Material::Interior, pipe(&[p(cab.front + 0.14, 0.0, cab.floor), hub], 0.045));
    let dash = [p(cab.front + 0.05, -0.22, cab.floor + 0.3), p(cab.front + 0.2, 0.22, hip + 0.34)];
    parts.add(Material::Interior, block(dash[0], dash[1], 0.05));
    let tilt = Vec3::new(0.55, 0.0, 0.83).normalize_or(Vec3::Z);
    let across = Vec3::Y;
    let up = tilt.cross(across);
    let rim: Vec<Vec3> = (0..=28)
        .map(|i| {
            let way = Vec2::from_angle(TAU * i as f32 / 28.0) * 0.19;
            hub + across * way.x + up * way.y
        })
        .collect();
    parts.add_soft(Material::MattBlack, pipe(&rim, 0.015));
    for angle in [0.3_f32, 2.4, 4.5] {
        let way = Vec2::from_angle(angle) * 0.185;
        parts.add(Material::MattBlack, pipe(&[hub, hub + across * way.x + up * way.y], 0.012));
    }
    parts.add(
        Material::Interior,
        block(
            p(seat - 0.35, cab.half_width - 0.24, cab.floor),
            p(seat + 0.25, cab.half_width - 0.08, hip + 0.12),
            0.04,
        ),
    );
    for number in 0..3 {
        let foot = p(seat - 0.28 + 0.09 * number as f32, cab.half_width - 0.16, hip + 0.10);
        parts.add(Material::MattBlack, pipe(&[foot, foot + p(-0.03, 0.0, 0.14)], 0.009));
        parts.add_soft(
            Material::MattBlack,
            Solid::superellipsoid(Vec3::splat(0.022), 2.0, 8, 12).moved(foot + p(-0.03, 0.0, 0.15)),
        );
    }
}

/// Adds mirrors, wiper and grab rails.
fn add_outside(parts: &mut Assembly, cab: &Cab) {
    let p = Vec3::new;
    let foot = cab.at(0.0, cab.top - 0.16);
    let tip = foot + p(-0.06, 0.13, 0.02);
    parts.add_pair(Material::MattBlack, pipe(&[foot, foot.lerp(tip, 0.5) + Vec3::Z * 0.02, tip], 0.011));
    parts.add_pair(Material::MattBlack, pipe(&[tip + Vec3::Z * 0.02, tip - Vec3::Z * 0.33], 0.010));
    let shell = Solid::superellipsoid(p(0.05, 0.085, 0.15), 3.6, 12, 24).moved(tip - Vec3::Z * 0.17);
    parts.add_pair(
        Material::MattBlack,
        shell.bent(|q| p(if q.x > tip.x { tip.x + (q.x - tip.x) * 0.3 } else { q.x }, q.y, q.z)),
    );
    let glass = tip - Vec3::Z * 0.17 + Vec3::X * 0.012;
    parts.add_pair(Material::Chrome, block(glass - p(0.0, 0.07, 0.13), glass + p(0.008, 0.07, 0.13), 0.003));
    let pivot = cab.at(0.0, cab.top - 0.08) * p(1.0, 0.0, 1.0) - Vec3::X * 0.03;
    let blade = cab.at(0.0, cab.waist + 0.25) * p(1.0, 0.0, 1.0) + p(-0.03, 0.28, 0.0);
    parts.add(Material::MattBlack, pipe(&[pivot, pivot.lerp(blade, 0.6)], 0.008));
    parts.add(Material::MattBlack, pipe(&[pivot.lerp(blade, 0.3), blade], 0.010));
    let rail = [cab.at(cab.door, cab.floor + 0.2), cab.at(cab.door, cab.top - 0.3)].map(|q| q + p(0.05, 0.05, 0.0));
    parts.add_pair(
        Material::Satin,
        pipe(&[rail[0] - Vec3::Y * 0.05, rail[0], rail[1], rail[1] - Vec3::Y * 0.05], 0.013),
    );
}

/// Adds steps in a ladder beside the machine, from the lowest one up to the floor, on both sides.
pub(super) fn ladder(parts: &mut Assembly, low: Vec3, high: Vec3, width: f32) {
    let count = ((high.z - low.z) / 0.27).ceil().max(1.0) as usize;
    let p = Vec3::new;
    for x in [-0.5, 0.5] {
        let side = [low, high].map(|q| q + p(x * width, -0.02, 0.0));
        parts.add_pair(Material::MattBlack, Solid::swept(&side, Vec3::X, |_| rounded_rectangle(0.008, 0.03, 0.004)));
    }
    for number in 0..count {
        let at = low.lerp(high, number as f32 / count as f32);
        parts.add_pair(
            Material::MattBlack,
            block(at - p(width * 0.5, 0.14, 0.018), at + p(width * 0.5, 0.0, 0.0), 0.006),
        );
        for rib in 0..4 {
            let y = at.y - 0.02 - 0.03 * rib as f32;
            parts.add_pair(
                Material::Satin,
                block(
                    p(at.x - width * 0.42, y - 0.006, at.z - 0.002),
                    p(at.x + width * 0.42, y + 0.006, at.z + 0.006),
                    0.002,
                ),
            );
        }
    }
}

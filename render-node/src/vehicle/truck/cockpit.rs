//! The inside of a cab as seen through its windows: dashboard, the large flat steering wheel, high
//! seats, and a lighter wall with a bunk or a shelf behind them.
//!
//! The driver sits on the left. Buses have only the driver's place.

use std::f32::consts::TAU;

use glam::{Quat, Vec2, Vec3};

use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, block};
use crate::vehicle::parts::solid::{Solid, rounded_rectangle};
use crate::vehicle::sheet::CabinFitting;
use crate::vehicle::truck::site::Site;

/// Distance from the foot of the screen at the belt to the driver's hip.
const REACH_M: f32 = 1.02;
/// Distance from the driver's hip to the wall of a cab without a bunk.
const BEHIND_HIP_M: f32 = 0.42;
/// Distance of the wall beyond [`BEHIND_HIP_M`] from which there is room for a bunk.
const BUNK_M: f32 = 0.55;
/// Distance behind the foot of the screen at which the windows' lower edge is measured.
const BELT_AT_M: f32 = 0.8;
/// Distance of the hip below the lower edge of the windows.
const HIP_BELOW_BELT_M: f32 = 0.26;
/// Distance of the shoulder above the hip.
const BACK_M: f32 = 0.60;
/// Thickness of the lining inside the cab's skin.
const LINING_M: f32 = 0.055;
/// Least distance from the foot of the screen to the driver's hip. A cab with less has no interior.
const LEAST_M: f32 = 0.72;

/// The space between screen and rear wall, in real metres.
struct Space {
    foot: Vec3,
    wall_x: f32,
    hip: Vec3,
    belt: f32,
    floor: f32,
    half_belt: f32,
}

impl Space {
    fn of(site: &Site<'_>, fitting: &CabinFitting) -> Option<Space> {
        let foot = screen_foot(site)?;
        let belt = site.field.surface_point(Vec3::new(foot.x + BELT_AT_M, 0.0, 0.5)).belt;
        let belt = site.field.morph.to_real(Vec3::Z * belt).z;
        let rear = site.real(fitting.x_rear, 0.0, 0.0).x.min(site.cab_rear_x - LINING_M);
        let hip_x = (foot.x + REACH_M).min(rear - BEHIND_HIP_M);
        if hip_x < foot.x + LEAST_M {
            return None;
        }
        let inside = |x: f32, z: f32| site.field.skin_y(x, z).unwrap_or(site.half_width) - LINING_M;
        let half_belt = inside(hip_x, belt - 0.06);
        Some(Space {
            foot,
            wall_x: rear,
            hip: Vec3::new(hip_x, -(half_belt * 0.52), belt - HIP_BELOW_BELT_M),
            belt,
            floor: floor(site, [foot.x, rear], belt),
            half_belt,
        })
    }
}

/// Returns the height of the floor, which is above the wheels that turn under it.
fn floor(site: &Site<'_>, [from, to]: [f32; 2], belt: f32) -> f32 {
    let under = site.field.arches.iter().filter(|arch| arch.x > from - arch.radius && arch.x < to + arch.radius);
    let over_wheels = under.map(|arch| arch.z + arch.radius + 0.04).fold(belt - 0.80, f32::max);
    over_wheels.min(belt - 0.35)
}

pub(super) fn add(parts: &mut Assembly, site: &Site<'_>, fitting: &CabinFitting, is_bus: bool) {
    let Some(space) = Space::of(site, fitting) else { return };
    let wheel = Vec3::new(space.hip.x - 0.44, space.hip.y, space.belt.max(space.foot.z - 0.02) + 0.05);
    add_dash(parts, site, &space, wheel);
    add_wheel(parts, wheel);
    add_seat(parts, space.hip);
    if is_bus {
        add_partition(parts, site, &space);
        return;
    }
    add_seat(parts, space.hip * Vec3::new(1.0, -1.0, 1.0));
    add_walls(parts, site, &space);
}

/// Returns the foot of the windscreen in the centre plane, however far back it is.
fn screen_foot(site: &Site<'_>) -> Option<Vec3> {
    let reach = site.cab_rear_x.min(4.5);
    let is_screen = |z: f32| {
        let p = site.field.hit(Vec3::new(-0.05, 0.0, z), Vec3::X, reach)?;
        let s = site.field.surface_point(p);
        (s.body > 0.03 && s.greenhouse_profile < 0.02).then_some(p)
    };
    let low = site.frame_z.min(0.8);
    let coarse = (0..60).map(|i| low + 0.05 * i as f32).find(|z| is_screen(*z).is_some())?;
    (0..=5).map(|i| coarse - 0.05 + 0.01 * i as f32).find_map(is_screen)
}

/// Adds a deep dashboard under the screen, raised round the dials, with a
/// shelf in front of the co-driver.
fn add_dash(parts: &mut Assembly, site: &Site<'_>, space: &Space, wheel: Vec3) {
    const COLUMNS: usize = 24;
    let face = wheel.x - 0.14;
    let top = space.foot.z - 0.02;
    let beside = site.field.skin_y(face - 0.18, top - 0.20).map_or(space.half_belt, |y| y - LINING_M);
    let half = space.half_belt.min(beside);
    let ring = |ratio: f32| -> Vec<Vec3> {
        let across = ratio * 2.0 - 1.0;
        let y = across * half;
        // The dashboard follows the bow of the screen.
        let skin = site.field.hit(Vec3::new(space.foot.x - 0.3, y, top - 0.08), Vec3::X, 1.2);
        let front = skin.map_or(face, |p| p.x + LINING_M).max(space.foot.x + 0.05).min(face - 0.12);
        let deep = face - front;
        let hood = 0.085 * (-((y - wheel.y) / 0.24).powi(4)).exp();
        let turned = 0.05 * (-((y - wheel.y * 0.25) / 0.22).powi(2)).exp();
        [
            (front, top - 0.16),
            (front, top - 0.02),
            (front + (0.3 * deep).min(0.08), top),
            (face - (0.4 * deep).min(0.10), top + hood * 0.5),
            (face - 0.05, top + hood),
            (face - 0.01, top - 0.03 + hood * 0.8),
            (face - 0.05 + turned, top - 0.20),
            (face - (0.6 * deep).min(0.10) + turned, top - 0.48),
            (front, top - 0.48),
        ]
        .map(|(x, z)| Vec3::new(x, y, z))
        .to_vec()
    };
    let rings: Vec<Vec<Vec3>> = (0..=COLUMNS).map(|i| ring(i as f32 / COLUMNS as f32)).collect();
    parts.add(Material::Seat, Solid::lofted(&rings));
    // The dials under the hood, and the screen in the middle.
    let p = Vec3::new;
    let dials = p(face - 0.02, wheel.y, top + 0.025);
    parts.add(Material::GlossBlack, block(dials - p(0.012, 0.17, 0.05), dials + p(0.012, 0.17, 0.05), 0.01));
    let screen = p(face + 0.01, wheel.y * 0.2, top - 0.06);
    parts.add(Material::GlossBlack, block(screen - p(0.01, 0.13, 0.08), screen + p(0.01, 0.13, 0.08), 0.01));
}

/// Adds a steering wheel of 45 cm that lies flatter than a car's.
fn add_wheel(parts: &mut Assembly, centre: Vec3) {
    const RADIUS_M: f32 = 0.222;
    let turn = Quat::from_rotation_y(-0.82);
    let place = |p: Vec3| centre + turn * p;
    let rim = Solid::grid(40, 8, true, |row, column| {
        let (sin, cos) = (TAU * row as f32 / 39.0).sin_cos();
        let (out, along) = (TAU * column as f32 / 8.0).sin_cos();
        let radius = RADIUS_M + 0.016 * along;
        place(Vec3::new(0.016 * out, radius * cos, radius * sin))
    });
    parts.add_soft(Material::Interior, rim.facing_out());
    let boss = Solid::superellipsoid(Vec3::new(0.03, 0.085, 0.075), 3.0, 10, 20);
    parts.add_soft(Material::Interior, boss.bent(place));
    for (y, z) in [(-1.0, 0.1), (1.0, 0.1), (-0.5, -0.86), (0.5, -0.86)] {
        let path = [place(Vec3::new(-0.01, 0.0, 0.0)), place(Vec3::new(0.0, y * RADIUS_M, z * RADIUS_M))];
        parts.add(Material::Interior, Solid::swept(&path, Vec3::X, |_| rounded_rectangle(0.018, 0.008, 0.006)));
    }
    let column = Solid::pin(place(Vec3::new(-0.02, 0.0, 0.0)), place(Vec3::new(-0.32, 0.0, 0.0)), 0.045, 12);
    parts.add(Material::Interior, column);
}

/// Adds cushion, back with bolsters, head restraint and arm rest on a suspended foot.
fn add_seat(parts: &mut Assembly, hip: Vec3) {
    const HALF_M: f32 = 0.255;
    let lean = 0.16_f32;
    let along = Vec3::new(lean.sin(), 0.0, lean.cos());
    let p = Vec3::new;
    let foot = hip + p(0.13, 0.0, -0.08);
    let rings: Vec<Vec<Vec3>> = (0..=8)
        .map(|row| {
            let t = row as f32 / 8.0;
            let round = (1.0 - (2.0 * t - 1.0).abs().powi(6)).max(0.12).sqrt();
            let half = HALF_M * (1.0 - 0.20 * t * t) * (0.9 + 0.1 * round);
            (0..16)
                .map(|i| {
                    let way = Vec2::from_angle(TAU * i as f32 / 16.0);
                    let square = (way.x.abs().powf(3.0) + way.y.abs().powf(3.0)).powf(-1.0 / 3.0);
                    let bolster = 0.03 * (way.x * square).powi(4) * (-way.y).max(0.0);
                    let depth = (0.075 * way.y * square - bolster) * round;
                    foot + along * (BACK_M * t) + p(depth, way.x * square * half, 0.0)
                })
                .collect()
        })
        .collect();
    parts.add_soft(Material::Seat, Solid::lofted(&rings));
    parts.add_soft(
        Material::Seat,
        Solid::superellipsoid(p(0.27, HALF_M, 0.08), 4.0, 10, 20).moved(hip + p(-0.12, 0.0, -0.12)),
    );
    let head = foot + along * (BACK_M + 0.11) - Vec3::X * 0.02;
    parts.add_soft(Material::Seat, Solid::superellipsoid(p(0.05, 0.13, 0.085), 3.4, 10, 20).moved(head));
    for y in [-0.06, 0.06] {
        let from = foot + along * (BACK_M - 0.03) + Vec3::Y * y;
        parts.add(Material::Interior, Solid::pin(from, from + along * 0.12, 0.008, 8));
    }
    parts.add(Material::Interior, block(hip + p(-0.30, -0.18, -0.52), hip + p(0.10, 0.18, -0.19), 0.03));
    for y in [-HALF_M - 0.02, HALF_M + 0.02] {
        let rest = hip + p(0.02, y, 0.17);
        parts.add(Material::Seat, block(rest - p(0.19, 0.028, 0.03), rest + p(0.14, 0.028, 0.03), 0.025));
    }
}

/// Adds the rear wall in upholstered fields, bunk, door cards, head lining, floor and engine cover.
/// They are lighter than the seats in front of them.
fn add_walls(parts: &mut Assembly, site: &Site<'_>, space: &Space) {
    let p = Vec3::new;
    let ceiling = |x: f32| site.field.skin_z(x, 0.0).unwrap_or(space.belt + 0.7) - LINING_M;
    let top = ceiling(space.wall_x - 0.1);
    let half_at = |z: f32| site.field.skin_y(space.wall_x - 0.1, z).unwrap_or(space.half_belt) - LINING_M;
    let bunk = space.wall_x - space.hip.x > BEHIND_HIP_M + BUNK_M;
    // Fields of the wall, each with soft edges, so that the joints between them are seen.
    let rows = (((top - space.floor) / 0.42).round()).max(2.0) as usize;
    for row in 0..rows {
        let [low, high] = [row, row + 1].map(|n| space.floor + (top - space.floor) * n as f32 / rows as f32);
        let half = half_at(low).min(half_at(high - 0.02));
        for column in 0..3 {
            let [from, to] = [column, column + 1].map(|n| half * (2.0 * n as f32 / 3.0 - 1.0));
            let field = block(
                p(space.wall_x - 0.03, from + 0.006, low + 0.006),
                p(space.wall_x, to - 0.006, high - 0.006),
                0.014,
            );
            parts.add_soft(Material::Lining, field);
        }
    }
    let half = space.half_belt.min(half_at(top - 0.06));
    parts.add(
        Material::Interior,
        block(p(space.wall_x - 0.008, -half, space.floor), p(space.wall_x + 0.008, half, top), 0.004),
    );
    if bunk {
        let from = space.hip.x + 0.36;
        parts.add_soft(
            Material::Seat,
            block(
                p(from, -space.half_belt, space.belt - 0.34),
                p(space.wall_x - 0.04, space.half_belt, space.belt - 0.20),
                0.05,
            ),
        );
    }
    // The floor and the engine cover.
    parts.add(
        Material::Interior,
        block(
            p(space.foot.x + 0.1, -space.half_belt, space.floor - 0.03),
            p(space.wall_x, space.half_belt, space.floor),
            0.01,
        ),
    );
    let cover = space.hip.z - 0.12;
    if cover > space.floor + 0.05 {
        let (from, to) = (space.foot.x + 0.3, space.hip.x + 0.2);
        parts.add(Material::Interior, block(p(from, -0.22, space.floor), p(to, 0.22, cover), 0.05));
    }
    // Door cards end below the windows.
    let card_from = space.foot.x + 0.30;
    if space.hip.x > card_from {
        for side in [-1.0_f32, 1.0] {
            let y = side * (space.half_belt - 0.012);
            let card =
                block(p(card_from, y - 0.02, space.floor), p(space.wall_x - 0.02, y + 0.02, space.belt - 0.02), 0.015);
            parts.add(Material::Lining, card);
        }
    }
    add_head_lining(parts, site, space, &ceiling);
}

/// Adds the lining under the roof, and a shelf over the screen of a tall cab.
fn add_head_lining(parts: &mut Assembly, site: &Site<'_>, space: &Space, ceiling: &impl Fn(f32) -> f32) {
    let p = Vec3::new;
    // The lining begins behind the screen, where the roof is level.
    let level = space.belt + 0.9 * (ceiling(space.wall_x - 0.05) - space.belt);
    let steps = (0..24).map(|i| space.foot.x + 0.30 + 0.05 * i as f32);
    let Some(from) = steps.into_iter().find(|x| ceiling(*x) > level) else { return };
    let stations: Vec<f32> = (0..=5).map(|i| from + (space.wall_x - from) * i as f32 / 5.0).collect();
    let rings: Vec<Vec<Vec3>> = stations
        .iter()
        .map(|x| {
            let z = ceiling(*x).max(space.belt + 0.2);
            let half = (site.field.skin_y(*x, z - 0.10).unwrap_or(space.half_belt) - 0.10).max(0.2);
            vec![
                p(*x, -half, z - 0.07),
                p(*x, half, z - 0.07),
                p(*x, half * 0.96, z - 0.045),
                p(*x, -half * 0.96, z - 0.045),
            ]
        })
        .collect();
    if space.wall_x > from + 0.3 {
        parts.add(Material::Lining, Solid::lofted(&rings));
    }
}

/// Adds a wall of glass and a post behind a bus driver.
fn add_partition(parts: &mut Assembly, site: &Site<'_>, space: &Space) {
    let p = Vec3::new;
    let x = space.hip.x + 0.50;
    let outer = -(site.half_width - 0.14);
    let floor = space.floor.max(site.hub_z);
    parts.add(Material::Lining, block(p(x - 0.02, outer, floor), p(x + 0.02, -0.30, space.belt + 0.12), 0.012));
    let post = p(x, -0.30, floor);
    parts.add(Material::Satin, Solid::pin(post, post + Vec3::Z * 1.75, 0.018, 12));
    parts.add(
        Material::Interior,
        block(p(space.hip.x - 0.45, outer, floor - 0.04), p(x + 0.9, site.half_width - 0.14, floor), 0.01),
    );
}

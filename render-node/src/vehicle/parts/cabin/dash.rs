//! The front of the interior: floor, dashboard, console and steering wheel, and the
//! cockpit's walls in open cars.

use glam::{Quat, Vec3};
use std::f32::consts::TAU;

use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::cabin::space::{CabinSpace, HEAD_CLEARANCE, Rear};
use crate::vehicle::parts::solid::{CREASE_DEGREES, Solid, rounded_rectangle};

/// Distance that the floor keeps from the flanks, to make room for the wheels.
const WHEEL_ROOM_M: f32 = 0.16;
/// Thickness of the parcel shelf, downwards from just below the belt.
const SHELF_M: f32 = 0.20;
/// Height of the door cards of closed cars, downwards from just below the belt.
const CARD_M: f32 = 0.24;

/// Adds the floor, the shelf, the closed tail and the door cards: a dark mass that stops the eye
/// from seeing through the car below its belt.
pub(super) fn add_floor(mesh: &mut VehicleMesh, space: &CabinSpace) {
    let rows = space.rows();
    let last = rows.last().map_or(space.x_rear, |row| row.hip_x);
    let half_width = space.half_width_belt - 0.015;
    // The floor lies between the wheels: where the cabin reaches over the wheels, a wider
    // floor would be pierced by them.
    let floor_half_width = half_width - WHEEL_ROOM_M;
    let slab = |from: f32, to: f32, low: f32, high: f32, half_width: f32| {
        let half = Vec3::new((to - from) / 2.0, half_width, (high - low) / 2.0);
        Solid::rounded_box(half, 0.015).moved(Vec3::new((from + to) / 2.0, 0.0, (low + high) / 2.0))
    };
    let [low, high] = [space.z_floor - 0.02, space.z_floor + 0.03];
    let floor = slab(space.x_cowl + 0.1, space.x_rear - 0.02, low, high, floor_half_width);
    mesh.add(Material::Interior, &floor.surface(CREASE_DEGREES));
    // The parcel shelf or load floor behind the last row.
    let behind = last + 0.36;
    if matches!(space.rear, Rear::Bench | Rear::PlusTwo | Rear::TwoBenches | Rear::None) && space.x_rear - behind > 0.10
    {
        let high = (space.z_belt - 0.06).min(space.ceiling(space.x_rear - 0.05)).max(space.z_floor + 0.1);
        let low = space.z_floor.max(high - SHELF_M);
        let shelf = slab(behind, space.x_rear - 0.03, low, high, half_width);
        let shelf = shelf.bent(|p| Vec3::new(p.x, p.y, p.z.min(space.ceiling(p.x))));
        mesh.add(Material::Interior, &shelf.surface(CREASE_DEGREES));
    }
    // A luggage cover or the boot, so that the lamps are not seen from inside.
    if let Some(tail) = space.tail.filter(|tail| !space.open && tail.x > space.x_rear) {
        let (from, tail_x, [wide, narrow]) = (space.x_rear, tail.x, tail.half_width);
        let top = tail.top.max(space.z_floor + 0.3);
        let low = space.z_floor + 0.15;
        let half = Vec3::new((tail_x - from) / 2.0, 1.0, (top - low) / 2.0);
        let block = Solid::rounded_box(half, 0.01).bent(|p| {
            let x = p.x + half.x + from;
            let half_width = wide + (narrow - wide) * ((x - from) / (tail_x - from)).clamp(0.0, 1.0);
            Vec3::new(x, p.y * half_width, p.z + half.z + low)
        });
        mesh.add(Material::Interior, &block.surface(CREASE_DEGREES));
    }
    // Door cards from the floor to just below the belt. They are seen over the sill of an open car,
    // and through glass otherwise.
    for side in [-1.0, 1.0] {
        let from = space.x_cowl + 0.25;
        let to = space.x_rear - 0.04;
        let top = space.z_door - if space.open { 0.015 } else { 0.04 };
        let bottom = if space.open { space.z_floor } else { space.z_floor.max(top - CARD_M) };
        let half = Vec3::new((to - from) / 2.0, 0.022, (top - bottom) / 2.0);
        let y = side * (half_width - 0.024);
        let card = Solid::rounded_box(half, 0.015).moved(Vec3::new((from + to) / 2.0, y, bottom + half.z));
        mesh.add(Material::Interior, &card.surface(CREASE_DEGREES));
        if space.open {
            // An arm rest and a grip.
            let rest = Solid::rounded_box(Vec3::new(0.26, 0.035, 0.030), 0.022);
            let at = Vec3::new(space.rows()[0].hip_x - 0.28, side * (half_width - 0.07), space.z_door - 0.24);
            mesh.add(Material::Seat, &rest.moved(at).surface(60.0));
            let grip = Solid::rounded_box(Vec3::new(0.06, 0.008, 0.012), 0.006);
            mesh.add(Material::Satin, &grip.moved(at + Vec3::new(-0.30, side * 0.012, 0.13)).surface(60.0));
        }
    }
}

pub(super) fn add_dash(mesh: &mut VehicleMesh, space: &CabinSpace) {
    let hip = space.rows()[0].hip_x;
    // The dashboard ends an arm's length in front of the driver.
    let face = (hip - 0.62).max(space.x_cowl + 0.22).min(hip - 0.45);
    let front = space.x_cowl + 0.06;
    let top = (space.z_cowl - 0.015).min(space.z_belt + 0.02);
    let low = (space.z_floor + 0.30).min(top - 0.15);
    let half_width = space.half_width_belt - 0.045;
    let driver_y = -(half_width * 0.50).min(0.40);
    let columns = 28;
    let narrow = |x: f32| {
        let ratio = ((space.half_width_cowl - 0.045) / half_width).clamp(0.3, 1.0);
        ratio + (1.0 - ratio) * ((x - front) / (face - front)).clamp(0.0, 1.0)
    };
    let loops: Vec<Vec<Vec3>> = (0..=columns)
        .map(|i| {
            let across = 2.0 * i as f32 / columns as f32 - 1.0;
            let y = across * half_width;
            // The middle of the dashboard comes forward a little, and the driver's part
            // carries a hood over the dials.
            let bow = 0.05 * across * across;
            let hood = 0.050 * (-((y - driver_y) / 0.15).powi(4)).exp();
            let profile = [
                (front, top - 0.10),
                (front, top - 0.030),
                (front + (face - front) * 0.45, top - 0.004 + hood * 0.3),
                (face - 0.075, top + hood),
                (face - 0.035, top - 0.006 + hood),
                (face - 0.020, top - 0.030 + hood * 0.7),
                (face - 0.055, top - 0.090),
                (face - 0.030, top - 0.135),
                (face - 0.010, top - 0.160),
                (face - 0.030, top - 0.200),
                (face - 0.14, low),
                (front, low),
            ];
            profile
                .iter()
                .map(|(x, z)| {
                    let y = y * narrow(*x);
                    let x = (x + bow * (*x - front) / (face - front)).min(hip - 0.40);
                    Vec3::new(x, y, z.min(space.ceiling(x) + 0.02))
                })
                .collect()
        })
        .collect();
    mesh.add(Material::Interior, &Solid::lofted(&loops).surface(30.0));
    // A satin line and outlets across the dashboard, and a dark screen in its middle.
    let line: Vec<Vec3> = (0..=10)
        .map(|i| {
            let across = 1.9 * i as f32 / 10.0 - 0.95;
            Vec3::new(face + 0.05 * across * across - 0.006, across * half_width, top - 0.158)
        })
        .collect();
    let bright = if space.open { Material::Satin } else { Material::Interior };
    mesh.add(bright, &Solid::swept(&line, Vec3::Z, |_| rounded_rectangle(0.006, 0.006, 0.004)).surface(60.0));
    let screen = Solid::rounded_box(Vec3::new(0.008, 0.115, 0.060), 0.006).bent(|p| {
        let (sin, cos) = 0.22_f32.sin_cos();
        Vec3::new(p.x * cos + p.z * sin, p.y, p.z * cos - p.x * sin)
    });
    let screen_z = (top - 0.03).min(space.ceiling(face - 0.04) - 0.07);
    mesh.add(Material::GlossBlack, &screen.moved(Vec3::new(face - 0.045, 0.03, screen_z)).surface(CREASE_DEGREES));

    add_console(mesh, space, face, hip, low);
    // Seats stand forward in a studio, so that the steering wheel is seen beside the mirror.
    let reach = if space.open { 0.38 } else { 0.27 };
    add_steering_wheel(
        mesh,
        space,
        Vec3::new((face + 0.13).max(hip - reach), driver_y, top + if space.open { -0.10 } else { 0.02 }),
    );
}

/// Adds the rear-view mirror on its arm below the upper edge of the windscreen.
pub(super) fn add_inner_mirror(mesh: &mut VehicleMesh, space: &CabinSpace) {
    let top = space.roof.iter().map(|p| p[1]).fold(f32::MIN, f32::max);
    let Some([x, z]) = space.roof.iter().find(|p| p[1] > top - 0.12).copied() else { return };
    let below = |p: Vec3| Vec3::new(p.x, p.y, p.z.min(space.ceiling(p.x) + HEAD_CLEARANCE - 0.006));
    let centre = Vec3::new(x + 0.10, 0.0, z - HEAD_CLEARANCE - 0.028);
    let lean = Quat::from_rotation_y(0.15);
    // A slim rounded plate with a soft edge, a little higher in its middle.
    let loops: Vec<Vec<Vec3>> = [(-0.016, 0.80), (-0.012, 0.95), (-0.004, 1.0), (0.009, 1.0), (0.012, 0.97)]
        .into_iter()
        .map(|(depth, size)| {
            (0..40)
                .map(|i| {
                    let (sin, cos) = (TAU * i as f32 / 40.0).sin_cos();
                    let [across, up] = [cos, sin].map(|ratio: f32| ratio.signum() * ratio.abs().powf(0.58));
                    let height = 0.033 * (1.0 - 0.14 * across * across) * (size - 0.35 * (1.0 - size));
                    below(centre + lean * Vec3::new(depth, across * 0.116 * size, up * height))
                })
                .collect()
        })
        .collect();
    mesh.add(Material::MattBlack, &Solid::lofted(&loops).surface(60.0));
    let arm = [Vec3::new(x + 0.02, 0.0, z - 0.030), centre + Vec3::new(-0.03, 0.0, 0.025), centre - Vec3::X * 0.01];
    mesh.add(Material::MattBlack, &Solid::tube(&arm, 10, |_| 0.009).bent(below).surface(60.0));
}

/// Adds the sun visors, folded up under the front edge of the roof.
pub(super) fn add_visors(mesh: &mut VehicleMesh, space: &CabinSpace) {
    let top = space.roof.iter().map(|p| p[1]).fold(f32::MIN, f32::max);
    let Some([x, _]) = space.roof.iter().find(|p| p[1] > top - 0.085).copied() else { return };
    let half = Vec3::new(0.075, (space.half_width_roof * 0.30).min(0.20), 0.008);
    for side in [-1.0, 1.0] {
        let visor = Solid::rounded_box(half, 0.007)
            .moved(Vec3::new(x + half.x, side * (space.half_width_roof * 0.52), 0.0))
            .bent(|p| Vec3::new(p.x, p.y, p.z + space.ceiling(p.x) + HEAD_CLEARANCE - 0.035));
        mesh.add(Material::Seat, &visor.surface(60.0));
    }
}

fn add_console(mesh: &mut VehicleMesh, space: &CabinSpace, face: f32, hip: f32, dash_low: f32) {
    let rear = hip + 0.18;
    let height = |t: f32| {
        let low = space.z_floor + if space.upright { 0.30 } else { 0.33 };
        // The console falls from the dashboard, then rises to the arm rest.
        low + (dash_low + 0.10 - low).max(0.0) * (1.0 - t * 3.0).max(0.0) + 0.05 * ((t - 0.62) / 0.1).clamp(0.0, 1.0)
    };
    let path: Vec<Vec3> =
        (0..=14).map(|i| Vec3::new(face - 0.10 + (rear - face + 0.10) * i as f32 / 14.0, 0.0, 0.0)).collect();
    let loops: Vec<Vec<Vec3>> = path
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let top = height(i as f32 / 14.0);
            [
                (-0.11, space.z_floor),
                (0.11, space.z_floor),
                (0.105, top - 0.03),
                (0.085, top),
                (-0.085, top),
                (-0.105, top - 0.03),
            ]
            .iter()
            .map(|(y, z)| Vec3::new(p.x, *y, *z))
            .collect()
        })
        .collect();
    mesh.add(Material::Interior, &Solid::lofted(&loops).surface(CREASE_DEGREES));
    let lever = Vec3::new(face + 0.17, 0.0, height(0.35));
    // The lever is bright only in open cars. Seen through glass, a bright one
    // would be a stray light spot.
    let bright = if space.open { Material::Satin } else { Material::Interior };
    mesh.add(bright, &Solid::pin(lever - Vec3::Z * 0.02, lever + Vec3::new(0.01, 0.0, 0.07), 0.008, 8).surface(60.0));
    let knob =
        Solid::superellipsoid(Vec3::new(0.024, 0.022, 0.028), 2.2, 8, 14).moved(lever + Vec3::new(0.012, 0.0, 0.085));
    mesh.add(Material::Interior, &knob.surface(60.0));
    let plate = Solid::rounded_box(Vec3::new(0.11, 0.055, 0.006), 0.005).moved(lever);
    mesh.add(Material::GlossBlack, &plate.surface(CREASE_DEGREES));
}

/// Adds the rim, the boss and three spokes. The wheel leans back by the angle of its column.
fn add_steering_wheel(mesh: &mut VehicleMesh, space: &CabinSpace, centre: Vec3) {
    let lean = if space.upright { 0.55_f32 } else { 0.38 };
    // The wheel is built in the (y, z) plane with its axle along x, facing the driver (+x).
    // Its column falls to the front.
    let turn = Quat::from_rotation_y(-lean);
    let radius = 0.182;
    let top_reach = radius * lean.cos() + 0.02;
    let centre =
        Vec3::new(centre.x, centre.y, centre.z.min(space.ceiling(centre.x - 0.05 - radius * lean.sin()) - top_reach));
    let place = |p: Vec3| centre + turn * p;
    let rim = Solid::grid(48, 10, true, |i, j| {
        let (sin, cos) = (TAU * i as f32 / 47.0).sin_cos();
        let (tube_sin, tube_cos) = (TAU * j as f32 / 10.0).sin_cos();
        let r = radius + 0.0155 * tube_cos;
        place(Vec3::new(0.0145 * tube_sin, r * cos, r * sin))
    });
    mesh.add(Material::MattBlack, &rim.facing_out().surface(60.0));
    let boss = Solid::superellipsoid(Vec3::new(0.028, 0.070, 0.060), 2.8, 10, 20)
        .moved(Vec3::new(-0.012, 0.0, -0.004))
        .bent(place);
    mesh.add(Material::Interior, &boss.surface(60.0));
    for (y, z) in [(-1.0, 0.12), (1.0, 0.12), (0.0, -1.0)] {
        let end = Vec3::new(0.0, y * radius, z * radius * if y == 0.0 { 1.0 } else { 0.4 });
        let start = Vec3::new(-0.010, y * 0.05, if y == 0.0 { -0.04 } else { 0.0 });
        let spoke = Solid::swept(&[start, end], Vec3::X, |_| rounded_rectangle(0.020, 0.007, 0.005)).bent(place);
        mesh.add(Material::Interior, &spoke.surface(CREASE_DEGREES));
    }
    let column = Solid::pin(Vec3::new(-0.02, 0.0, 0.0), Vec3::new(-0.34, 0.0, 0.0), 0.035, 12).bent(place);
    mesh.add(Material::Interior, &column.surface(60.0));
    // Stalks.
    for side in [-1.0, 1.0] {
        let stalk =
            Solid::pin(Vec3::new(-0.06, side * 0.03, 0.0), Vec3::new(-0.045, side * 0.145, 0.02), 0.008, 6).bent(place);
        mesh.add(Material::Interior, &stalk.surface(60.0));
    }
}

//! A wheel loader: engine hood at the rear, cab in the middle, arms and
//! bucket in front, four equal wheels.

use glam::Vec3;

use super::cab::{self, Cab, ladder, work_lamp};
use super::size::MachineSize;
use super::traits::Traits;
use super::wheel::{LugWheel, axle};
use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::assembly::{Assembly, block, hull, mudguard, pipe};
use crate::vehicle::parts::solid::{Solid, rounded_rectangle};

pub(super) fn loader(size: MachineSize, traits: Traits) -> VehicleMesh {
    let MachineSize { length, width, height, wheelbase } = size;
    let mut parts = Assembly::default();
    let p = Vec3::new;
    let radius = 0.198 * height * (1.0 + 0.06 * traits.tyres);
    let tyre = 0.22 * width * (1.0 + 0.10 * traits.fittings);
    let rear_x = length - radius - 0.008 * length;
    let front_x = rear_x - wheelbase.min(rear_x - 0.27 * length);
    let disc = if traits.lamps > 0.0 { Material::GlossWhite } else { Material::Paint };
    let wheel = LugWheel { radius, width: tyre, rim: 0.53, lugs: 18, lug_height: 0.055, disc };
    for x in [front_x, rear_x] {
        parts.add_mesh(&axle(&wheel, x, width));
        parts.add(Material::Underbody, pipe(&[p(x, -width * 0.38, radius), p(x, width * 0.38, radius)], 0.10));
        let casing = Solid::superellipsoid(p(0.20, 0.20, 0.19), 2.6, 10, 20);
        parts.add_soft(Material::Underbody, casing.moved(p(x, 0.0, radius)));
        for side in [1.0, -1.0] {
            let over = p(x, side * (width * 0.48 - tyre * 0.5), radius);
            parts.add(Material::MattBlack, mudguard(over, radius + 0.06, tyre * 0.98, 0.018, [35.0, 140.0]));
            let lip = over.with_y(side * (width * 0.48 - 0.012));
            parts.add(Material::MattBlack, mudguard(lip, radius + 0.05, 0.016, 0.035, [35.0, 140.0]));
        }
    }
    let (low, deck) = (radius * 0.75, radius * 1.55);
    // Two halves of the frame and the joint between them.
    let joint = 0.5 * (front_x + rear_x) - 0.08;
    parts.add(
        Material::MattBlack,
        block(p(front_x - 0.24, -0.20 * width, low), p(joint - 0.10, 0.20 * width, deck), 0.03),
    );
    parts.add(
        Material::MattBlack,
        block(p(joint + 0.10, -0.24 * width, low), p(rear_x + 0.3, 0.24 * width, deck), 0.03),
    );
    for z in [low + 0.06, deck - 0.06] {
        parts
            .add(Material::MattBlack, block(p(joint - 0.16, -0.10, z - 0.035), p(joint + 0.16, 0.10, z + 0.035), 0.02));
    }
    parts.add(Material::Satin, pipe(&[p(joint, 0.0, low), p(joint, 0.0, deck)], 0.045));
    for side in [-1.0, 1.0] {
        let ram = [p(joint + 0.3, side * 0.14 * width, low + 0.16), p(joint - 0.2, side * 0.16 * width, low + 0.16)];
        parts.add(Material::MattBlack, pipe(&[ram[0], ram[0].lerp(ram[1], 0.55)], 0.035));
        parts.add(Material::Chrome, pipe(&ram, 0.018));
    }

    let shift = 0.02 * traits.cab * length;
    let (cab_front, cab_rear) = (joint + 0.02 * length + shift, rear_x - 0.02 * length + shift);
    hood(&mut parts, size, traits, [cab_rear, rear_x], [radius, deck]);
    let half = 0.33 * width * (1.0 + 0.05 * traits.cab);
    let cabin = Cab {
        front: cab_front,
        rear: cab_rear,
        lean: [0.05, 0.04],
        half_width: half,
        half_top: half * 0.95,
        floor: deck + 0.02,
        waist: (0.52 + 0.02 * traits.fittings) * height,
        top: (0.91 - 0.010 * traits.lamps) * height,
        roof: height - 0.045,
        door: 0.64,
    };
    parts.add(Material::Paint, block(p(cab_front - 0.02, -half, deck - 0.12), p(cab_rear, half, deck + 0.03), 0.04));
    cab::add(&mut parts, &cabin);
    let step = cab_front + 0.25;
    ladder(&mut parts, p(step, width * 0.5 - 0.06, radius * 0.62), p(step, half + 0.03, deck + 0.02), 0.36);
    front(&mut parts, size, front_x, radius);
    parts.mesh
}

/// Adds the engine hood that falls to the tail, with vents, grille, lamps
/// and the counterweight under it.
fn hood(
    parts: &mut Assembly,
    size: MachineSize,
    traits: Traits,
    [cab_rear, rear_x]: [f32; 2],
    [radius, deck]: [f32; 2],
) {
    let MachineSize { length, width, height, .. } = size;
    let p = Vec3::new;
    let top = 0.565 * height * (1.0 + 0.05 * traits.nose);
    let half = 0.33 * width * (1.0 + 0.05 * traits.lamps);
    let end = length - 0.02;
    parts.add_soft(
        Material::Paint,
        hull(
            &[
                [cab_rear - 0.10, half, deck * 0.95, top],
                [rear_x + 0.02, half, deck * 0.95, top * 0.995],
                [end - 0.16, half * 0.97, deck * 0.95, top * (0.95 + 0.03 * traits.fittings)],
                [end - 0.05, half * 0.93, deck * 0.98, top * 0.90],
                [end, half * 0.86, deck * 1.04, top * 0.82],
            ],
            6.5,
        ),
    );
    // Vents on the flanks.
    let (from, to) = (cab_rear + 0.08, end - 0.26);
    let (low, high) = (deck + 0.10, top * 0.90);
    parts.add_pair(Material::MattBlack, block(p(from, half * 0.9, low), p(to, half + 0.006, high), 0.012));
    let rows = ((high - low) / 0.05) as usize;
    for row in 0..rows {
        let z = low + 0.03 + 0.05 * row as f32;
        parts.add_pair(
            Material::GlossBlack,
            block(p(from + 0.03, half * 0.9, z - 0.012), p(to - 0.03, half + 0.014, z + 0.012), 0.006),
        );
    }
    parts.add_pair(
        Material::PanelGap,
        block(p(to + 0.07, half * 0.9, deck + 0.02), p(to + 0.078, half * 0.985 + 0.003, top * 0.90), 0.001),
    );
    // The grille at the rear.
    let (low, high) = (deck + 0.06, top * 0.76);
    parts.add(Material::MattBlack, block(p(end - 0.06, -half * 0.62, low), p(end + 0.006, half * 0.62, high), 0.015));
    for row in 0..((high - low) / 0.05) as usize {
        let z = low + 0.03 + 0.05 * row as f32;
        parts.add(
            Material::GlossBlack,
            block(p(end - 0.02, -half * 0.58, z - 0.011), p(end + 0.013, half * 0.58, z + 0.011), 0.005),
        );
    }
    // The counterweight with its lamps and a tow pin.
    parts.add(
        Material::Paint,
        block(p(end - 0.24, -half * 1.16, radius * 0.72), p(length - 0.001, half * 1.16, deck * 0.99), 0.05),
    );
    parts.add(Material::MattBlack, block(p(length - 0.05, -0.10, radius * 0.86), p(length, 0.10, radius * 1.12), 0.02));
    let lamp = p(length - 0.012, half * 0.92, deck * 0.80);
    parts.add_pair(Material::MattBlack, block(lamp - p(0.02, 0.12, 0.06), lamp + p(0.006, 0.12, 0.06), 0.012));
    parts.add_pair(Material::LampRed, block(lamp + p(-0.01, 0.0, -0.045), lamp + p(0.012, 0.10, 0.045), 0.010));
    parts.add_pair(Material::LampAmber, block(lamp + p(-0.01, -0.10, -0.045), lamp + p(0.012, -0.01, 0.045), 0.010));
    let side = if traits.tyres > 0.0 { 1.0 } else { -1.0 };
    let foot = p(rear_x + 0.02, side * half * 0.45, top * 0.95);
    parts.add(Material::MattBlack, pipe(&[foot, foot.with_z(top + 0.22)], 0.055));
    parts.add(
        Material::Satin,
        pipe(&[foot.with_z(top + 0.20), foot.with_z(top + 0.36), foot.with_z(top + 0.40) + p(0.05, 0.0, 0.0)], 0.034),
    );
    let intake = p(rear_x - 0.1, -side * half * 0.45, top);
    parts.add(Material::MattBlack, pipe(&[intake, intake + Vec3::Z * 0.16], 0.07));
}

/// Adds a hydraulic ram: sleeve, rod, and pins at both ends.
fn ram(parts: &mut Assembly, from: Vec3, to: Vec3, radius: f32) {
    parts.add(Material::MattBlack, pipe(&[from, from.lerp(to, 0.58)], radius));
    parts.add(Material::Satin, pipe(&[from.lerp(to, 0.56), from.lerp(to, 0.60)], radius * 1.12));
    parts.add(Material::Chrome, pipe(&[from.lerp(to, 0.5), to], radius * 0.55));
    for end in [from, to] {
        parts.add(
            Material::MattBlack,
            pipe(&[end - Vec3::Y * radius * 1.7, end + Vec3::Y * radius * 1.7], radius * 0.85),
        );
    }
}

/// Adds tower, arms, rams, cross tube and lamps.
fn front(parts: &mut Assembly, size: MachineSize, axle_x: f32, radius: f32) {
    let MachineSize { length, width, height, .. } = size;
    let p = Vec3::new;
    let (pivot, elbow, hinge) = (
        p(axle_x + 0.06 * length, 0.0, 0.47 * height),
        p(axle_x - 0.10 * length, 0.0, 0.40 * height),
        p(0.160 * length, 0.0, 0.115 * height),
    );
    let cheek = |y: f32| -> Vec<Vec3> {
        [
            [axle_x - 0.16, radius * 0.8],
            [axle_x - 0.10, radius + 0.26],
            [pivot.x - 0.12, pivot.z + 0.05],
            [pivot.x, pivot.z + 0.11],
            [pivot.x + 0.12, pivot.z + 0.04],
            [axle_x + 0.30, radius + 0.2],
            [axle_x + 0.32, radius * 0.8],
        ]
        .map(|[x, z]| p(x, y, z))
        .to_vec()
    };
    for y in [0.075, 0.165] {
        parts.add_pair(Material::Paint, Solid::lofted(&[cheek(y * width), cheek(y * width + 0.022)]));
    }
    let arm_y = Vec3::Y * 0.215 * width;
    // The arms are plates with a belly, highest at the elbow.
    let stations = [
        (pivot, 0.085),
        (pivot.lerp(elbow, 0.5), 0.115),
        (elbow, 0.135),
        (elbow.lerp(hinge, 0.5), 0.11),
        (hinge, 0.075),
    ];
    let path: Vec<Vec3> = stations.iter().map(|(at, _)| *at + arm_y).collect();
    parts.add_pair(Material::Paint, Solid::swept(&path, Vec3::Z, |i| rounded_rectangle(0.032, stations[i].1, 0.012)));
    for at in [pivot, hinge] {
        let pin = at + arm_y;
        parts.add_pair(Material::Satin, Solid::pin(pin - Vec3::Y * 0.05, pin + Vec3::Y * 0.05, 0.055, 18));
    }
    parts.add(Material::Paint, pipe(&[elbow - arm_y, elbow + arm_y], 0.075));
    for side in [-1.0, 1.0] {
        let y = Vec3::Y * side * 0.125 * width;
        ram(parts, p(axle_x + 0.22, 0.0, radius + 0.08) + y, elbow.lerp(hinge, 0.12) - Vec3::Z * 0.08 + y, 0.052);
    }
    // The bell crank, and the bucket's ram in the middle.
    let crank = elbow.lerp(hinge, 0.15) + Vec3::Z * 0.02;
    ram(parts, p(pivot.x - 0.02, 0.0, pivot.z - 0.02), crank + p(-0.06, 0.0, 0.16), 0.055);
    let lever = |y: f32| {
        [
            crank + p(-0.13, y, 0.20),
            crank + p(0.0, y, 0.19),
            crank + p(0.06, y, -0.02),
            crank + p(-0.02, y, -0.16),
            crank + p(-0.12, y, -0.14),
        ]
        .to_vec()
    };
    parts.add(Material::Paint, Solid::lofted(&[lever(-0.035), lever(0.035)]));
    let back = p(0.150 * length, 0.0, 0.20 * height);
    parts.add(Material::MattBlack, pipe(&[crank + p(-0.06, 0.0, -0.14), back], 0.04));
    work_lamp(parts, p(axle_x - 0.06, 0.29 * width, pivot.z + 0.10), -1.0, 0.075);
    parts.add_pair(
        Material::MattBlack,
        pipe(&[p(axle_x + 0.02, 0.16 * width, pivot.z - 0.02), p(axle_x - 0.02, 0.29 * width, pivot.z + 0.05)], 0.02),
    );
    bucket(parts, size, hinge);
}

/// Adds a bucket of plate with cheeks, a cutting edge, teeth, and ribs behind.
fn bucket(parts: &mut Assembly, size: MachineSize, hinge: Vec3) {
    let MachineSize { length, width, height, .. } = size;
    let p = Vec3::new;
    let half = width * 0.5;
    let floor = 0.030;
    let (deep, tall) = (0.125 * length, 0.27 * height);
    // The profile runs from the upper lip down the back, round to the
    // floor and forward to the edge.
    let profile: Vec<Vec3> =
        [[0.80, 1.0], [0.94, 0.86], [1.0, 0.62], [0.98, 0.36], [0.88, 0.15], [0.70, 0.04], [0.45, 0.0], [0.10, 0.0]]
            .iter()
            .map(|[x, z]| p(0.02 * length + deep * x, 0.0, floor + tall * z))
            .collect();
    let plate = 0.022;
    let loops: Vec<Vec<Vec3>> = profile
        .iter()
        .enumerate()
        .map(|(index, at)| {
            let next = profile[(index + 1).min(profile.len() - 1)];
            let before = profile[index.saturating_sub(1)];
            let along = (next - before).normalize_or(Vec3::X);
            let up = Vec3::new(along.z, 0.0, -along.x) * plate * 0.5;
            let side = Vec3::Y * (half - 0.01);
            vec![*at - side - up, *at + side - up, *at + side + up, *at - side + up]
        })
        .collect();
    parts.add_soft(Material::Paint, Solid::lofted(&loops));
    let cheek = |y: f32| -> Vec<Vec3> {
        let mut outline: Vec<Vec3> = profile.iter().map(|at| at.with_y(y)).collect();
        outline.push(p(0.02 * length + deep * 0.16, y, floor + tall * 0.14));
        outline.push(p(0.02 * length + deep * 0.52, y, floor + tall * 0.74));
        outline
    };
    parts.add_pair(Material::Paint, Solid::lofted(&[cheek(half - plate), cheek(half - 0.001)]));
    // The worn edge and the teeth.
    let edge = profile[profile.len() - 1];
    parts.add(
        Material::BrakeDisc,
        block(p(edge.x - 0.05, -half, floor - 0.014), p(edge.x + 0.10, half, floor + 0.012), 0.006),
    );
    let teeth = ((width - 0.1) / 0.24) as usize;
    for number in 0..=teeth {
        let y = -half + 0.05 + (width - 0.1) * number as f32 / teeth as f32;
        let ring = |x: f32, wide: f32, thick: f32| {
            [[-wide, -thick], [wide, -thick], [wide, thick], [-wide, thick]]
                .map(|[across, up]| p(x, y + across, floor + up * 1.0))
                .to_vec()
        };
        let tooth = [ring(edge.x + 0.06, 0.038, 0.026), ring(edge.x - 0.05, 0.036, 0.024), ring(0.001, 0.026, 0.008)];
        parts.add(Material::BrakeDisc, Solid::lofted(&tooth));
    }
    // The upper lip's stiffener, and the brackets to the arms.
    parts.add(
        Material::Paint,
        block(
            p(profile[0].x - 0.03, -half + 0.01, profile[0].z - 0.03),
            p(profile[0].x + 0.05, half - 0.01, profile[0].z + 0.03),
            0.015,
        ),
    );
    for y in [0.17 * width, 0.255 * width] {
        let outline = |across: f32| {
            [
                p(profile[1].x - 0.01, across, profile[1].z),
                p(hinge.x + 0.07, across, hinge.z + 0.12),
                p(hinge.x + 0.08, across, hinge.z - 0.05),
                p(profile[4].x, across, profile[4].z),
                p(profile[2].x - 0.01, across, profile[2].z),
            ]
            .to_vec()
        };
        parts.add_pair(Material::Paint, Solid::lofted(&[outline(y - 0.012), outline(y + 0.012)]));
    }
}

//! A wheel loader: engine hood behind, cab in the middle, arms and bucket in front, four equal wheels.

use glam::Vec3;

use super::{Size, Traits};
use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::assembly::{Assembly, bar, block, hull, mudguard};
use crate::vehicle::parts::solid::Solid;
use crate::vehicle::parts::wheel::{Motif, RimFinish, Tread, Wheel, axle};

pub(super) fn loader(size: Size, traits: Traits) -> VehicleMesh {
    let Size { length, width, height, wheelbase } = size;
    let mut parts = Assembly::default();
    let p = Vec3::new;
    let radius = 0.215 * height * (1.0 + 0.09 * traits.tyres);
    let tyre = 0.21 * width * (1.0 + 0.10 * traits.fittings);
    let rear_x = length - radius - 0.02 * length;
    let front_x = rear_x - wheelbase.min(rear_x - 0.26 * length);
    let wheel = Wheel {
        diameter: radius * 2.0,
        width: tyre,
        rim_diameter: radius * 1.06,
        dish: 0.04,
        motif: Motif::Steel,
        style: 0,
        finish: if traits.lamps > 0.3 { RimFinish::Dark } else { RimFinish::Bright },
        tread: Tread::AllTerrain,
        turn_degrees: 0.0,
    };
    for x in [front_x, rear_x] {
        parts.add_mesh(&axle(&wheel, x, width));
        parts.add(
            Material::Underbody,
            block(p(x - 0.12, -width * 0.38, radius - 0.12), p(x + 0.12, width * 0.38, radius + 0.12), 0.06),
        );
        for side in [1.0, -1.0] {
            let over = p(x, side * (width * 0.48 - tyre * 0.5), radius);
            parts.add(Material::MattBlack, mudguard(over, radius + 0.07, tyre * 0.98, 0.03, [40.0, 140.0]));
        }
    }
    let (low, deck) = (radius * 0.75, radius * 1.55);
    parts.add(
        Material::Underbody,
        block(p(front_x - 0.3, -0.22 * width, low), p(rear_x + 0.3, 0.22 * width, deck), 0.05),
    );

    // Hood behind, falling to the tail.
    let shift = 0.03 * traits.cab * length;
    let (cab_front, cab_rear) = (front_x + 0.10 * length + shift, rear_x - 0.02 * length + shift);
    let hood = 0.58 * height * (1.0 + 0.07 * traits.nose);
    let half = 0.33 * width * (1.0 + 0.05 * traits.lamps);
    parts.add_soft(
        Material::Paint,
        hull(
            &[
                [cab_rear - 0.15, half, deck * 0.9, hood],
                [rear_x + 0.10, half, deck * 0.9, hood * 0.985],
                [length - 0.10, half * 0.97, deck * 0.9, hood * (0.93 + 0.04 * traits.fittings)],
                [length - 0.015, half * 0.90, deck * 0.95, hood * 0.86],
            ],
            6.0,
        ),
    );
    parts.add(Material::Grille, block(p(length - 0.06, -half * 0.6, deck), p(length, half * 0.6, hood * 0.80), 0.01));
    parts.add_pair(
        Material::LampRed,
        block(p(length - 0.07, half * 0.68, hood * 0.70), p(length - 0.005, half * 0.86, hood * 0.80), 0.02),
    );
    parts.add(Material::MattBlack, block(p(length - 0.20, -half, radius * 0.8), p(length - 0.02, half, deck), 0.04));
    let stack = p(rear_x + 0.05, half * 0.35, hood * 0.9);
    let stack = stack * p(1.0, if traits.tyres > 0.0 { 1.0 } else { -1.0 }, 1.0);
    parts.add(Material::MattBlack, bar(&[stack, stack.with_z(0.80 * height)], 0.05));

    cab(&mut parts, size, traits, [cab_front, cab_rear], deck);
    front(&mut parts, size, front_x, radius);
    parts.mesh
}

fn cab(parts: &mut Assembly, size: Size, traits: Traits, [front, rear]: [f32; 2], deck: f32) {
    let Size { width, height, .. } = size;
    let p = Vec3::new;
    let half = 0.31 * width * (1.0 + 0.06 * traits.cab);
    let (top, waist) = ((0.945 - 0.015 * traits.lamps) * height, (0.50 + 0.04 * traits.fittings) * height);
    parts.add_soft(
        Material::Paint,
        hull(
            &[
                [front, half * 0.95, deck * 0.8, waist],
                [front + 0.05, half, deck * 0.8, waist],
                [rear, half, deck * 0.8, waist],
            ],
            10.0,
        ),
    );
    parts.add_soft(
        Material::Glass,
        hull(
            &[
                [front - 0.02, half * 0.95, waist - 0.03, top],
                [front + 0.04, half * 0.985, waist - 0.03, top],
                [rear - 0.05, half * 0.985, waist - 0.03, top],
                [rear, half * 0.95, waist - 0.03, top],
            ],
            14.0,
        ),
    );
    for x in [front + 0.02, (front + rear) * 0.5, rear - 0.03] {
        parts.add_pair(Material::GlossBlack, bar(&[p(x, half * 0.98, waist - 0.02), p(x, half * 0.97, top)], 0.035));
    }
    parts.add_soft(
        Material::Paint,
        hull(
            &[
                [front - 0.10, half * 0.94, top, height - 0.02],
                [front + 0.08, half * 1.05, top - 0.01, height],
                [rear, half * 1.05, top - 0.01, height],
                [rear + 0.08, half * 0.95, top, height - 0.02],
            ],
            6.0,
        ),
    );
    parts.add_pair(
        Material::LampWhite,
        block(p(front - 0.11, half * 0.5, top + 0.02), p(front - 0.05, half * 0.8, height - 0.04), 0.02),
    );
    parts.add(Material::Seat, block(p(rear - 0.5, -0.24, waist - 0.1), p(rear - 0.16, 0.24, waist + 0.08), 0.05));
    parts.add(Material::Seat, block(p(rear - 0.24, -0.22, waist), p(rear - 0.14, 0.22, waist + 0.5), 0.04));
    parts.add(Material::Interior, bar(&[p(front + 0.2, 0.0, waist - 0.1), p(front + 0.36, 0.0, waist + 0.2)], 0.03));
    parts.add_pair(
        Material::MattBlack,
        block(p(front + 0.1, half, deck - 0.35), p(front + 0.5, width * 0.40, deck - 0.28), 0.02),
    );
}

/// Tower, arms, ram and bucket.
fn front(parts: &mut Assembly, size: Size, axle_x: f32, radius: f32) {
    let Size { length, width, height, .. } = size;
    let p = Vec3::new;
    let (pivot, elbow, hinge) = (
        p(axle_x + 0.05 * length, 0.0, 0.50 * height),
        p(axle_x - 0.09 * length, 0.0, 0.42 * height),
        p(0.17 * length, 0.0, 0.115 * height),
    );
    parts.add_pair(
        Material::Paint,
        block(p(axle_x - 0.12, 0.10 * width, radius), p(axle_x + 0.22, 0.15 * width, pivot.z + 0.08), 0.03),
    );
    let arm_y = Vec3::Y * 0.20 * width;
    let section = |_: usize| crate::vehicle::parts::solid::rounded_rectangle(0.04, 0.085, 0.02);
    parts.add_pair(Material::Paint, Solid::swept(&[pivot + arm_y, elbow + arm_y, hinge + arm_y], Vec3::Z, section));
    parts.add(Material::MattBlack, bar(&[p(pivot.x, 0.0, radius + 0.1), (elbow + hinge) * 0.5 + Vec3::Z * 0.06], 0.05));
    parts.add(Material::Chrome, bar(&[(elbow + hinge) * 0.5 + Vec3::Z * 0.06, hinge + Vec3::Z * 0.16], 0.03));
    parts.add(Material::Paint, bar(&[elbow - arm_y, elbow + arm_y], 0.05));
    parts.add_pair(
        Material::LampWhite,
        block(p(axle_x - 0.16, 0.13 * width, pivot.z - 0.06), p(axle_x - 0.1, 0.22 * width, pivot.z + 0.06), 0.02),
    );

    // Bucket: back, floor and sides of plate, as wide as the machine.
    let half = width * 0.5;
    let profile = [
        p(0.175 * length, 0.0, 0.235 * height),
        p(0.185 * length, 0.0, 0.13 * height),
        p(0.165 * length, 0.0, 0.045 * height),
        p(0.10 * length, 0.0, 0.018 * height),
        p(0.0, 0.0, 0.014 * height),
    ];
    let plate = 0.018;
    let loops: Vec<Vec<Vec3>> = profile
        .iter()
        .enumerate()
        .map(|(index, at)| {
            let next = profile[(index + 1).min(profile.len() - 1)];
            let before = profile[index.saturating_sub(1)];
            let along = (next - before).normalize_or(Vec3::X);
            let up = Vec3::new(along.z, 0.0, -along.x) * plate * 0.5;
            let side = Vec3::Y * half;
            vec![*at - side - up, *at + side - up, *at + side + up, *at - side + up]
        })
        .collect();
    parts.add(Material::Satin, Solid::lofted(&loops));
    let middle = p(0.105 * length, 0.0, 0.12 * height);
    let cheek = |y: f32| -> Vec<Vec3> {
        let mut outline: Vec<Vec3> = profile.iter().map(|at| at.with_y(y)).collect();
        outline.push(p(0.06 * length, y, 0.12 * height));
        outline
    };
    parts.add_pair(Material::Satin, Solid::lofted(&[cheek(half - plate), cheek(half)]));
    parts.add(
        Material::MattBlack,
        bar(&[middle.with_x(0.185 * length) - arm_y, middle.with_x(0.185 * length) + arm_y], 0.05),
    );
}

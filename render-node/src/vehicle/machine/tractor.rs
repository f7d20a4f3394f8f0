//! A farm tractor: hood over the engine, small front wheels, large rear wheels
//! under mudguards, a glass cab.

use glam::Vec3;

use super::cab::{self, Cab, ladder, work_lamp};
use super::size::MachineSize;
use super::traits::Traits;
use super::wheel::{LugWheel, axle};
use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::assembly::{Assembly, block, hull, mudguard, pipe};
use crate::vehicle::parts::solid::{Solid, curve_through};

pub(super) fn tractor(size: MachineSize, traits: Traits) -> VehicleMesh {
    let MachineSize { length, width, height, wheelbase } = size;
    let mut parts = Assembly::default();
    let rear_radius = 0.30 * height * (1.0 + 0.06 * traits.tyres);
    let front_radius = 0.205 * height * (1.0 + 0.09 * traits.tyres + 0.05 * traits.fittings);
    let rear_x = length - rear_radius - 0.09 * length;
    let front_x = rear_x - wheelbase;
    let disc = if traits.lamps > 0.3 {
        Material::GlossWhite
    } else if traits.lamps > -0.4 {
        Material::RimBright
    } else {
        Material::Paint
    };
    let (rear_width, front_width) = (0.23 * width, 0.17 * width);
    let rear = LugWheel { radius: rear_radius, width: rear_width, rim: 0.56, lugs: 20, lug_height: 0.05, disc };
    let front = LugWheel { radius: front_radius, width: front_width, rim: 0.54, lugs: 17, lug_height: 0.055, disc };
    parts.add_mesh(&axle(&rear, rear_x, width));
    parts.add_mesh(&axle(&front, front_x, width * 0.94));

    let deck = 0.36 * height;
    let back = (0.47 + 0.025 * traits.cab) * length;
    under(&mut parts, size, [front_x, rear_x], [front_radius, rear_radius]);
    hood(&mut parts, size, traits, deck, back);
    let (floor, half) = (deck + 0.02, 0.30 * width * (1.0 + 0.07 * traits.cab));
    let top = (0.91 - 0.012 * traits.lamps) * height;
    let cabin = Cab {
        front: back - 0.02,
        rear: rear_x + rear_radius * 0.36,
        lean: [0.10, 0.06],
        half_width: half,
        half_top: half * 0.93,
        floor,
        waist: (0.545 + 0.02 * traits.nose) * height,
        top,
        roof: height - 0.045,
        door: 0.58,
    };
    cab::add(&mut parts, &cabin);
    let step = cabin.front + 0.24;
    ladder(&mut parts, Vec3::new(step, half + 0.14, 0.42), Vec3::new(step, half + 0.06, floor), 0.34);
    for side in [1.0, -1.0] {
        let over = Vec3::new(rear_x, side * (width * 0.5 - rear_width * 0.60), rear_radius);
        parts.add(Material::Paint, mudguard(over, rear_radius + 0.07, rear_width * 0.92, 0.03, [22.0, 146.0]));
        let lip = over.with_y(side * (width * 0.5 - rear_width * 0.13));
        parts.add(Material::MattBlack, mudguard(lip, rear_radius + 0.066, 0.05, 0.045, [22.0, 146.0]));
        let front = Vec3::new(front_x, side * (width * 0.47 - front_width * 0.5), front_radius);
        parts.add(Material::MattBlack, mudguard(front, front_radius + 0.05, front_width * 0.95, 0.016, [58.0, 152.0]));
        let stay = front + Vec3::new(0.05, -side * front_width * 0.6, 0.0);
        parts.add(
            Material::MattBlack,
            pipe(&[stay, stay + Vec3::Z * (front_radius + 0.04), front + Vec3::Z * (front_radius + 0.04)], 0.016),
        );
    }
    tail_lamps(&mut parts, Vec3::new(rear_x + rear_radius * 0.80, width * 0.5 - rear_width * 0.62, rear_radius * 1.68));
    parts.mesh
}

/// Adds two lamp chambers in a black box over each rear mudguard.
fn tail_lamps(parts: &mut Assembly, at: Vec3) {
    let p = Vec3::new;
    parts.add_pair(Material::MattBlack, block(at - p(0.05, 0.15, 0.06), at + p(0.03, 0.15, 0.06), 0.015));
    parts.add_pair(Material::LampRed, block(at + p(0.02, -0.13, -0.045), at + p(0.042, 0.02, 0.045), 0.012));
    parts.add_pair(Material::LampAmber, block(at + p(0.02, 0.03, -0.045), at + p(0.042, 0.13, 0.045), 0.012));
}

/// Adds engine, gearbox, axles, ballast and links.
fn under(parts: &mut Assembly, size: MachineSize, [front_x, rear_x]: [f32; 2], [front_radius, rear_radius]: [f32; 2]) {
    let MachineSize { length, width, height, .. } = size;
    let p = Vec3::new;
    let (low, deck) = (0.20 * height, 0.36 * height);
    let dark = Material::Underbody;
    parts.add(dark, block(p(0.12 * length, -0.15, low + 0.05), p(0.45 * length, 0.15, deck), 0.04));
    parts.add(dark, block(p(0.42 * length, -0.20, low), p(rear_x + 0.25, 0.20, deck), 0.05));
    for number in 0..5 {
        let x = (0.19 + 0.05 * number as f32) * length;
        parts.add_pair(Material::MattBlack, block(p(x, 0.14, low + 0.12), p(x + 0.09, 0.19, deck - 0.02), 0.02));
    }
    parts.add(dark, pipe(&[p(front_x, -width * 0.40, front_radius), p(front_x, width * 0.40, front_radius)], 0.075));
    let casing = Solid::superellipsoid(p(0.17, 0.17, 0.15), 2.6, 10, 20);
    parts.add_soft(dark, casing.moved(p(front_x, 0.0, front_radius)));
    parts.add(dark, pipe(&[p(rear_x, -width * 0.36, rear_radius), p(rear_x, width * 0.36, rear_radius)], 0.14));
    parts.add_soft(dark, Solid::superellipsoid(p(0.34, 0.26, 0.26), 3.0, 12, 24).moved(p(rear_x, 0.0, rear_radius)));
    // Under the cab: a fuel tank with a step on the left, a battery box on the right.
    parts.add_pair(
        Material::MattBlack,
        block(
            p(0.50 * length, 0.22, low + 0.02),
            p(rear_x - rear_radius - 0.06, 0.30 * width + 0.06, deck - 0.02),
            0.07,
        ),
    );
    // The ballast: plates side by side, and their holder.
    for number in -4_i32..=4 {
        let y = number as f32 * 0.062;
        parts.add(
            Material::MattBlack,
            block(p(0.0, y - 0.027, low - 0.04), p(0.085 * length, y + 0.027, low + 0.115 * height), 0.022),
        );
    }
    parts.add(Material::MattBlack, block(p(0.05 * length, -0.18, low), p(0.16 * length, 0.18, low + 0.12), 0.02));
    // Lower links, top link, hitch.
    let links = [p(rear_x, 0.22, low + 0.16), p(length - 0.12, 0.34, low + 0.06), p(length - 0.02, 0.34, low + 0.06)];
    parts.add_pair(Material::MattBlack, pipe(&links, 0.028));
    parts.add_pair(Material::MattBlack, pipe(&[links[1], p(rear_x + 0.12, 0.30, deck + 0.16)], 0.020));
    parts.add(Material::MattBlack, block(p(rear_x + 0.2, -0.10, low - 0.02), p(length - 0.03, 0.10, low + 0.05), 0.02));
    parts.add(Material::MattBlack, pipe(&[p(rear_x + 0.2, 0.0, deck + 0.1), p(length - 0.06, 0.0, low + 0.32)], 0.022));
    parts.add(
        Material::Satin,
        pipe(&[p(rear_x + 0.2, 0.0, rear_radius - 0.12), p(length - 0.2, 0.0, rear_radius - 0.12)], 0.03),
    );
}

/// Adds the hood with its grille, lamps and vents, and the exhaust beside it.
fn hood(parts: &mut Assembly, size: MachineSize, traits: Traits, deck: f32, back: f32) {
    let MachineSize { length, width, height, .. } = size;
    let p = Vec3::new;
    let nose = 0.058 * length;
    let top = 0.64 * height * (1.0 + 0.04 * traits.nose);
    let half = 0.165 * width * (1.0 + 0.13 * traits.nose);
    // Ratio by which the hood falls to the nose.
    let fall = 0.05 * traits.lamps;
    parts.add_soft(
        Material::Paint,
        hull(
            &[
                [nose + 0.015, half * 0.80, deck + 0.10, top * (0.78 - fall)],
                [nose + 0.05, half * 0.93, deck + 0.06, top * (0.87 - fall)],
                [nose + 0.20, half * 0.98, deck + 0.03, top * (0.93 - fall)],
                [nose + 0.60, half, deck + 0.02, top * (0.97 - 0.6 * fall)],
                [back - 0.10, half * 1.08, deck, top],
                [back, half * 1.10, deck, top],
            ],
            5.5,
        ),
    );
    // The nose: a black mask with slats and lamps let into it.
    let (mask_low, mask_high) = (deck + 0.10, top * (0.76 - fall));
    parts.add(
        Material::GlossBlack,
        block(p(nose - 0.004, -half * 0.74, mask_low), p(nose + 0.08, half * 0.74, mask_high), 0.03),
    );
    for number in 0..7 {
        let z = mask_low + 0.04 + (mask_high - mask_low - 0.20) * number as f32 / 6.0;
        parts.add(
            Material::MattBlack,
            block(p(nose - 0.018, -half * 0.64, z - 0.010), p(nose + 0.02, half * 0.64, z + 0.010), 0.006),
        );
    }
    work_lamp(parts, p(nose + 0.035, half * 0.42, mask_high - 0.075), -1.0, 0.075);
    parts.add(
        Material::Chrome,
        block(p(nose - 0.012, -half * 0.13, mask_high - 0.10), p(nose + 0.01, half * 0.13, mask_high - 0.05), 0.006),
    );
    // The flank: a vent of slats, and the joints of the hood.
    let (from, to) = (nose + 0.42, back - 0.32);
    let side = |x: f32| half * (1.0 + 0.08 * ((x - nose - 0.6) / (back - nose - 0.7)).clamp(0.0, 1.0));
    let level = deck + (top - deck) * 0.58;
    let rows = ((level - deck - 0.10) / 0.045).max(1.0) as usize;
    parts.add_pair(
        Material::MattBlack,
        block(p(from, half * 0.9, deck + 0.06), p(to, side(to) + 0.004, level + 0.02), 0.012),
    );
    for row in 0..rows {
        let z = deck + 0.085 + 0.045 * row as f32;
        let slat = block(p(from + 0.03, half * 0.9, z - 0.010), p(to - 0.03, side(to) + 0.012, z + 0.010), 0.005);
        parts.add_pair(Material::GlossBlack, slat);
    }
    parts.add_pair(
        Material::PanelGap,
        block(p(nose + 0.25, half * 0.9, top * 0.80), p(back, side(back) * 1.0 + 0.002, top * 0.80 + 0.007), 0.001),
    );
    // The exhaust in front of the cab: guard and pipe.
    let stack_side = if traits.fittings > 0.0 { 1.12 } else { -1.12 };
    let foot = p(back - 0.10, half * stack_side + 0.06 * stack_side.signum(), top * 0.72);
    parts.add(
        Material::MattBlack,
        pipe(
            &curve_through(&[foot - p(0.0, 0.14 * stack_side.signum(), 0.05), foot, foot.with_z(0.60 * height)], 5),
            0.05,
        ),
    );
    parts.add(Material::MattBlack, pipe(&[foot.with_z(0.58 * height), foot.with_z(0.80 * height)], 0.062));
    let tail =
        [foot.with_z(0.79 * height), foot.with_z(0.90 * height), foot.with_z(0.93 * height) + p(0.035, 0.0, 0.0)];
    parts.add(Material::Chrome, pipe(&tail, 0.036));
    for number in 0..6 {
        let z = 0.60 * height + 0.026 * height * number as f32;
        parts.add(Material::Underbody, pipe(&[foot.with_z(z), foot.with_z(z + 0.012)], 0.065));
    }
}

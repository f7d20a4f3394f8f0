//! A farm tractor: hood over the engine, small front wheels, large rear ones under mudguards, a glass cab.

use glam::Vec3;

use super::{Size, Traits};
use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::assembly::{Assembly, bar, block, hull, mudguard};
use crate::vehicle::parts::wheel::{Motif, RimFinish, Tread, Wheel, axle};

pub(super) fn tractor(size: Size, traits: Traits) -> VehicleMesh {
    let Size { length, width, height, wheelbase } = size;
    let mut parts = Assembly::default();
    let rear_radius = 0.30 * height * (1.0 + 0.06 * traits.tyres);
    let front_radius = 0.205 * height * (1.0 + 0.09 * traits.tyres + 0.05 * traits.fittings);
    let rear_x = length - rear_radius - 0.09 * length;
    let front_x = rear_x - wheelbase;
    let wheel = |radius: f32, width: f32, share: f32| Wheel {
        diameter: radius * 2.0,
        width,
        rim_diameter: radius * 2.0 * share,
        dish: 0.05,
        motif: Motif::Steel,
        style: 0,
        finish: if traits.lamps > 0.3 { RimFinish::Dark } else { RimFinish::Bright },
        tread: Tread::AllTerrain,
        turn_degrees: 0.0,
    };
    let (rear_width, front_width) = (0.23 * width, 0.17 * width);
    parts.add_mesh(&axle(&wheel(rear_radius, rear_width, 0.58), rear_x, width));
    parts.add_mesh(&axle(&wheel(front_radius, front_width, 0.56), front_x, width * 0.94));

    // Frame, engine, gearbox, axles.
    let p = Vec3::new;
    let (low, deck) = (0.20 * height, 0.36 * height);
    parts.add(Material::Underbody, block(p(0.10 * length, -0.16, low), p(rear_x + 0.25, 0.16, deck), 0.04));
    parts.add(
        Material::Underbody,
        block(
            p(front_x - 0.11, -width * 0.40, front_radius - 0.10),
            p(front_x + 0.11, width * 0.40, front_radius + 0.10),
            0.05,
        ),
    );
    parts.add(
        Material::Underbody,
        block(
            p(rear_x - 0.2, -width * 0.36, rear_radius - 0.17),
            p(rear_x + 0.2, width * 0.36, rear_radius + 0.17),
            0.08,
        ),
    );
    // Weights in front, lower links behind.
    parts.add(Material::MattBlack, block(p(0.0, -0.24, low), p(0.11 * length, 0.24, low + 0.16 * height), 0.03));
    parts.add_pair(
        Material::MattBlack,
        bar(
            &[p(rear_x, 0.22, low + 0.14), p(length - 0.06, 0.30, low + 0.05), p(length - 0.03, 0.30, low + 0.05)],
            0.03,
        ),
    );
    parts.add(Material::MattBlack, block(p(rear_x, -0.05, low), p(length, 0.05, low + 0.1), 0.02));

    // Hood, its grille and lamps.
    let (nose, back) = (0.055 * length, (0.47 + 0.025 * traits.cab) * length);
    let hood_top = 0.60 * height * (1.0 + 0.05 * traits.nose);
    let half = 0.165 * width * (1.0 + 0.13 * traits.nose);
    // How far the hood falls to the nose.
    let fall = 0.05 * traits.lamps;
    parts.add_soft(
        Material::Paint,
        hull(
            &[
                [nose, half * 0.86, deck + 0.02, hood_top * (0.84 - fall)],
                [nose + 0.05, half * 0.96, deck, hood_top * (0.90 - fall)],
                [nose + 0.45, half, deck, hood_top * (0.96 - 0.6 * fall)],
                [back, half * 1.10, deck, hood_top],
            ],
            4.5,
        ),
    );
    parts.add(
        Material::Grille,
        block(p(nose - 0.012, -half * 0.66, deck + 0.08), p(nose + 0.05, half * 0.66, hood_top * (0.72 - fall)), 0.012),
    );
    parts.add_pair(
        Material::LampWhite,
        block(
            p(nose - 0.016, half * (0.22 + 0.12 * traits.fittings), hood_top * (0.735 - fall - 0.02 * traits.cab)),
            p(nose + 0.04, half * 0.76, hood_top * (0.80 - fall)),
            0.02,
        ),
    );
    parts.add_pair(
        Material::MattBlack,
        block(p(nose + 0.25, half * 0.94, deck + 0.06), p(back - 0.25, half * 1.075, hood_top * 0.80), 0.03),
    );
    let stack_side = if traits.fittings > 0.0 { 1.15 } else { -1.15 };
    let stack_foot = p(back - 0.12, half * stack_side, hood_top * 0.7);
    parts.add(Material::MattBlack, bar(&[stack_foot, stack_foot.with_z(0.80 * height)], 0.055));
    parts.add(Material::Chrome, bar(&[stack_foot.with_z(0.79 * height), stack_foot.with_z(0.93 * height)], 0.036));

    cab(&mut parts, size, traits, [back - 0.03, rear_x + rear_radius * 0.42], deck);
    for side in [1.0, -1.0] {
        let over = p(rear_x, side * (width * 0.5 - rear_width * 0.56), rear_radius);
        parts.add(Material::Paint, mudguard(over, rear_radius + 0.06, rear_width * 0.98, 0.03, [28.0, 150.0]));
        let front = p(front_x, side * (width * 0.47 - front_width * 0.5), front_radius);
        parts.add(Material::MattBlack, mudguard(front, front_radius + 0.05, front_width * 0.95, 0.02, [60.0, 150.0]));
    }
    parts.add_pair(
        Material::LampRed,
        block(
            p(rear_x + rear_radius * 0.86, width * 0.5 - rear_width * 0.9, rear_radius * 1.58),
            p(rear_x + rear_radius * 0.93, width * 0.5 - rear_width * 0.4, rear_radius * 1.66),
            0.02,
        ),
    );
    parts.mesh
}

/// A glass box on posts with a painted roof, seat and wheel inside.
fn cab(parts: &mut Assembly, size: Size, traits: Traits, [front, rear]: [f32; 2], deck: f32) {
    let Size { width, height, .. } = size;
    let p = Vec3::new;
    let (half, top) = (0.30 * width * (1.0 + 0.07 * traits.cab), (0.945 - 0.015 * traits.lamps) * height);
    let waist = (0.56 + 0.03 * traits.nose) * height;
    parts.add(Material::GlossBlack, block(p(front, -half * 0.92, deck), p(rear, half * 0.92, waist), 0.06));
    parts.add_soft(
        Material::Glass,
        hull(
            &[
                [front + 0.03, half * 0.93, waist - 0.05, top],
                [front + 0.06, half, waist - 0.05, top],
                [rear - 0.06, half, waist - 0.05, top],
                [rear, half * 0.93, waist - 0.05, top],
            ],
            14.0,
        ),
    );
    for x in [front + 0.04, (front + rear) * 0.53, rear - 0.04] {
        parts.add_pair(Material::GlossBlack, bar(&[p(x, half, waist - 0.02), p(x, half * 0.985, top)], 0.032));
    }
    parts.add_soft(
        Material::Paint,
        hull(
            &[
                [front - 0.14, half * 0.86, top + 0.01, height - 0.02],
                [front + 0.1, half * 1.06, top - 0.01, height],
                [rear - 0.05, half * 1.06, top - 0.01, height],
                [rear + 0.12, half * 0.92, top + 0.01, height - 0.02],
            ],
            5.0,
        ),
    );
    parts.add_pair(
        Material::LampWhite,
        block(p(front - 0.15, half * 0.4, top + 0.02), p(front - 0.1, half * 0.75, height - 0.04), 0.02),
    );
    parts.add(Material::Seat, block(p(rear - 0.55, -0.24, waist - 0.05), p(rear - 0.2, 0.24, waist + 0.12), 0.05));
    parts.add(Material::Seat, block(p(rear - 0.28, -0.22, waist + 0.05), p(rear - 0.18, 0.22, waist + 0.55), 0.04));
    parts.add(Material::Interior, bar(&[p(front + 0.25, 0.0, waist - 0.1), p(front + 0.42, 0.0, waist + 0.22)], 0.03));
    // Mirrors on arms; inside the tyres' width.
    parts.add_pair(
        Material::MattBlack,
        bar(&[p(front + 0.04, half, top - 0.1), p(front - 0.04, width * 0.46, top - 0.14)], 0.012),
    );
    parts.add_pair(
        Material::MattBlack,
        block(p(front - 0.06, width * 0.41, top - 0.42), p(front - 0.01, width * 0.485, top - 0.12), 0.02),
    );
    parts.add_pair(
        Material::MattBlack,
        block(p(front + 0.1, half * 0.8, deck - 0.28), p(front + 0.45, half * 1.15, deck - 0.22), 0.02),
    );
}

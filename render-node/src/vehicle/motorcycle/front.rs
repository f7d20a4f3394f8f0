//! What stands before the handlebar, as far as it is no fairing: lamps, small cowls, beaks, masks, plates.

use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use glam::Vec3;

use super::design::{Eyes, Luggage, Nose, Tank};
use super::lamps::{add_broad_lamp, add_indicators, add_lamp_pair, add_round_lamp, add_tall_lamp};
use super::shapes::screen;
use super::{Joints, fairing};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::{Solid, curve_through};

pub(super) fn add_nose(bike: &mut Assembly, joints: &Joints) {
    match joints.design.nose {
        Nose::RoundLamp => add_lamp_on_fork(bike, joints),
        Nose::Bikini => add_bikini(bike, joints),
        Nose::Wedge => add_wedge(bike, joints),
        Nose::Sport => fairing::add_sport(bike, joints),
        Nose::SportTouring => fairing::add_sport_touring(bike, joints),
        Nose::Touring => fairing::add_touring(bike, joints),
        Nose::Batwing => fairing::add_batwing(bike, joints),
        Nose::Shark => fairing::add_shark(bike, joints),
        Nose::Beak => add_beak(bike, joints),
        Nose::Mask => add_mask(bike, joints),
        Nose::Plate => add_plate(bike, joints),
        Nose::None => {}
    }
}

/// A strut from the steering head to what stands before it.
pub(super) fn add_bracket(bike: &mut Assembly, joints: &Joints, to: Vec3, radius: f32) {
    let foot = joints.head - Vec3::new(-0.01, 0.0, 0.06);
    bike.add_soft(Material::GlossBlack, Solid::pin(foot, to, radius, 12));
}

fn add_lamp_on_fork(bike: &mut Assembly, joints: &Joints) {
    let (head, design) = (joints.head, &joints.design);
    let cruiser = design.tank == Tank::Drop;
    let radius = if cruiser { 0.090 } else { 0.094 };
    let at = Vec3::new(head.x - 0.14, 0.0, head.z - 0.035);
    let bowl = match () {
        _ if design.details.painted_lamp => Material::Paint,
        _ if design.bright => Material::Chrome,
        _ => Material::GlossBlack,
    };
    add_round_lamp(bike, at, radius, bowl);
    let ear =
        Solid::pin(at + Vec3::new(0.02, radius * 0.8, 0.0), Vec3::new(head.x - 0.03, 0.085, head.z - 0.05), 0.010, 8);
    bike.add_pair(Material::GlossBlack, ear);
    add_indicators(bike, at + Vec3::new(0.06, radius * 0.9, -0.05));
    if design.luggage == Luggage::Bags || cruiser && design.luggage != Luggage::None {
        // A tall screen on the fork.
        bike.add_soft(
            Material::LampLens,
            screen([head.x - 0.16, head.z + 0.02], [head.x + 0.06, head.z + 0.40], [0.20, 0.24], 0.07),
        );
        for y in [0.07, 0.13] {
            let stay =
                [Vec3::new(head.x - 0.02, 0.08, head.z - 0.02), Vec3::new(head.x - 0.125 + y * 0.3, y, head.z + 0.075)];
            bike.add_pair(Material::Chrome, Solid::tube(&stay, 8, |_| 0.008));
        }
    }
}

fn add_bikini(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = head.x - 0.20;
    let cowl = hull_in_steps(
        &[
            [nose + 0.025, 0.100, head.z - 0.130, head.z + 0.060],
            [nose + 0.07, 0.135, head.z - 0.140, head.z + 0.105],
            [nose + 0.15, 0.160, head.z - 0.125, head.z + 0.125],
            [nose + 0.23, 0.165, head.z - 0.090, head.z + 0.120],
        ],
        2.3,
        6,
    );
    bike.add_soft(Material::Paint, cowl);
    add_round_lamp(bike, Vec3::new(nose - 0.014, 0.0, head.z - 0.035), 0.085, Material::GlossBlack);
    bike.add_soft(
        Material::Glass,
        screen([nose + 0.10, head.z + 0.105], [nose + 0.24, head.z + 0.200], [0.105, 0.125], 0.05),
    );
    add_indicators(bike, Vec3::new(nose + 0.14, 0.14, head.z - 0.09));
}

fn add_wedge(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = head.x - 0.225;
    add_bracket(bike, joints, Vec3::new(nose + 0.12, 0.0, head.z - 0.06), 0.040);
    // A visor over a slim lamp, and a chin below it.
    let visor = hull_in_steps(
        &[
            [nose + 0.015, 0.050, head.z - 0.075, head.z - 0.045],
            [nose + 0.05, 0.100, head.z - 0.080, head.z + 0.005],
            [nose + 0.12, 0.122, head.z - 0.070, head.z + 0.065],
            [nose + 0.19, 0.110, head.z - 0.045, head.z + 0.105],
        ],
        2.7,
        6,
    );
    bike.add_soft(Material::Paint, visor);
    let chin = hull_in_steps(
        &[
            [nose + 0.00, 0.055, head.z - 0.125, head.z - 0.070],
            [nose + 0.05, 0.098, head.z - 0.175, head.z - 0.060],
            [nose + 0.12, 0.105, head.z - 0.190, head.z - 0.060],
            [nose + 0.18, 0.085, head.z - 0.170, head.z - 0.060],
        ],
        2.8,
        6,
    );
    bike.add_soft(Material::GlossBlack, chin);
    match joints.design.details.eyes {
        Eyes::Slits => {
            add_lamp_pair(bike, Vec3::new(nose + 0.018, 0.046, head.z - 0.105), Vec3::new(0.026, 0.036, 0.024), 0.55);
            let brow = [
                Vec3::new(nose + 0.000, 0.008, head.z - 0.073),
                Vec3::new(nose + 0.018, 0.055, head.z - 0.068),
                Vec3::new(nose + 0.055, 0.100, head.z - 0.052),
            ];
            bike.add_pair(Material::LampWhite, Solid::tube(&curve_through(&brow, 5), 8, |_| 0.0065));
        }
        // Two round lamps, side by side.
        Eyes::Twins => add_round_pair(bike, Vec3::new(nose - 0.020, 0.076, head.z - 0.090), 0.066),
        Eyes::Broad => {
            add_broad_lamp(bike, Vec3::new(nose + 0.014, 0.0, head.z - 0.108), Vec3::new(0.040, 0.105, 0.046), 0.05);
        }
        Eyes::Tall => {
            add_tall_lamp(bike, Vec3::new(nose + 0.020, 0.0, head.z - 0.100), Vec3::new(0.044, 0.066, 0.086), 0.30);
        }
    }
    add_indicators(bike, Vec3::new(nose + 0.16, 0.09, head.z - 0.12));
}

/// Two round lamps, `at.y` from the centre plane.
fn add_round_pair(bike: &mut Assembly, at: Vec3, radius: f32) {
    for side in [-1.0, 1.0] {
        add_round_lamp(bike, Vec3::new(at.x, at.y * side, at.z), radius, Material::GlossBlack);
    }
}

fn add_beak(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = joints.front_axle.x - 0.06;
    let over = joints.front_axle.z * 2.0 + 0.075;
    let beak = hull_in_steps(
        &[
            [nose - 0.02, 0.028, over - 0.010, over + 0.010],
            [nose + 0.10, 0.070, over + 0.000, over + 0.055],
            [nose + 0.22, 0.110, over + 0.005, over + 0.110],
            [head.x - 0.10, 0.150, over + 0.010, head.z - 0.060],
            [head.x + 0.06, 0.165, over + 0.010, head.z - 0.050],
            [head.x + 0.16, 0.130, over + 0.040, head.z - 0.080],
        ],
        2.8,
        6,
    );
    bike.add_soft(Material::Paint, beak);
    let face = hull_in_steps(
        &[
            [head.x - 0.25, 0.075, over + 0.085, head.z - 0.005],
            [head.x - 0.20, 0.130, over + 0.080, head.z + 0.045],
            [head.x - 0.10, 0.140, over + 0.085, head.z + 0.085],
            [head.x - 0.04, 0.120, over + 0.095, head.z + 0.090],
        ],
        3.0,
        6,
    );
    bike.add_soft(Material::MattBlack, face);
    match joints.design.details.eyes {
        Eyes::Broad | Eyes::Slits => {
            add_broad_lamp(bike, Vec3::new(head.x - 0.238, 0.0, head.z - 0.066), Vec3::new(0.042, 0.112, 0.040), 0.05);
        }
        Eyes::Tall => {
            add_tall_lamp(bike, Vec3::new(head.x - 0.234, 0.0, head.z - 0.050), Vec3::new(0.044, 0.072, 0.080), 0.40);
        }
        Eyes::Twins => {
            add_lamp_pair(bike, Vec3::new(head.x - 0.232, 0.052, head.z - 0.070), Vec3::new(0.034, 0.048, 0.050), 0.35);
        }
    }
    bike.add_soft(
        Material::LampLens,
        screen(
            [head.x - 0.185, head.z + 0.035],
            [head.x - 0.02, head.z + 0.325 * joints.design.details.screen],
            [0.125, 0.155],
            0.07,
        ),
    );
    add_indicators(bike, Vec3::new(head.x - 0.12, 0.11, head.z - 0.075));
    // Guard under the engine, bars beside it.
    let low = joints.design.clearance;
    let skid = hull_in_steps(
        &[
            [joints.engine_front + 0.045, 0.095, low + 0.05, low + 0.13],
            [joints.engine_front + 0.09, 0.115, low - 0.01, low + 0.08],
            [joints.engine_front + 0.18, 0.125, low - 0.035, low + 0.02],
            [joints.pivot.x - 0.10, 0.115, low - 0.035, low + 0.01],
        ],
        4.0,
        5,
    );
    bike.add(Material::Satin, skid);
}

fn add_mask(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let tilt = joints.design.rake.tan() * 0.5;
    let lean = |x: f32, z: f32| head.x - 0.165 + x + (z - head.z) * tilt;
    let mask = hull_in_steps(
        &[
            [0.000, 0.030, head.z - 0.100, head.z - 0.010],
            [0.012, 0.090, head.z - 0.195, head.z + 0.065],
            [0.040, 0.112, head.z - 0.205, head.z + 0.095],
            [0.085, 0.104, head.z - 0.180, head.z + 0.105],
        ],
        3.0,
        6,
    );
    bike.add_soft(Material::Paint, mask.bent(|p| Vec3::new(lean(p.x, p.z), p.y, p.z)));
    let lamp = |half: Vec3, out: f32| {
        let at = head.z - 0.085;
        Solid::superellipsoid(half, 3.0, 12, 28).bent(|p| Vec3::new(lean(p.x + 0.010 - out, at + p.z), p.y, at + p.z))
    };
    bike.add_soft(Material::LampHousing, lamp(Vec3::new(0.030, 0.078, 0.066), 0.0));
    bike.add_soft(Material::LampWhite, lamp(Vec3::new(0.022, 0.060, 0.049), 0.014));
    add_bracket(bike, joints, Vec3::new(head.x - 0.09, 0.0, head.z - 0.05), 0.035);
    add_indicators(bike, Vec3::new(head.x - 0.09, 0.09, head.z - 0.10));
}

fn add_plate(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    // Follows the fork: bottom forward.
    let tilt = joints.design.rake.tan() * 0.55;
    let plate = hull_in_steps(
        &[
            [0.000, 0.020, head.z - 0.090, head.z - 0.030],
            [0.010, 0.088, head.z - 0.180, head.z + 0.075],
            [0.030, 0.105, head.z - 0.190, head.z + 0.090],
            [0.055, 0.108, head.z - 0.175, head.z + 0.085],
        ],
        3.2,
        5,
    )
    .bent(|p| Vec3::new(head.x - 0.125 + p.x + (p.z - head.z) * tilt, p.y, p.z));
    bike.add_soft(Material::Paint, plate);
    add_bracket(bike, joints, Vec3::new(head.x - 0.09, 0.0, head.z - 0.04), 0.030);
}

//! Fairings and the cowls of baggers, with their lamps, mirrors and screens.

use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use glam::Vec3;

use super::Joints;
use super::design::{Eyes, Flank};
use super::front::add_bracket;
use super::lamps::{add_broad_lamp, add_indicators, add_lamp_pair, add_round_lamp, add_tall_lamp};
use super::shapes::{panel, screen};
use super::style::Engine;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

/// Mirrors on stalks that stand on a fairing, `out` from the centre plane.
fn add_fairing_mirrors(bike: &mut Assembly, root: Vec3, out: f32, up: f32) {
    let eye = Vec3::new(root.x + 0.06, out - 0.075, root.z + up);
    bike.add_pair(Material::GlossBlack, Solid::tube(&[root, eye], 8, |_| 0.010));
    let shell = Solid::superellipsoid(Vec3::new(0.034, 0.080, 0.042), 2.5, 8, 20)
        .bent(|p| Vec3::new(p.x.min(0.008), p.y, p.z))
        .moved(eye);
    bike.add_pair(Material::Paint, shell);
    let glass = Solid::superellipsoid(Vec3::new(0.002, 0.068, 0.034), 2.5, 6, 20).moved(eye + Vec3::X * 0.0085);
    bike.add_pair(Material::Chrome, glass);
}

/// The panel beside the engine of a faired bike, from the nose's flank to the belly; `full` covers the engine.
fn add_flank(bike: &mut Assembly, joints: &Joints, out: f32, full: bool) {
    let (head, pivot) = (joints.head, joints.pivot);
    let wheel = joints.front_axle.x + joints.front_axle.z;
    let details = &joints.design.details;
    let low = joints.design.clearance + if full { -0.01 } else { 0.16 };
    // A long flank runs straight on to before the rear wheel.
    let reach = details.lean + if full && details.flank == Flank::Long { 0.10 } else { 0.0 };
    let outline = [
        [head.x - 0.18, head.z - 0.055],
        [wheel - 0.055, head.z - 0.215],
        [wheel + 0.020, (head.z + low) * 0.5 - 0.03],
        [wheel + 0.085, low + 0.08],
        [wheel + 0.22, low + 0.005],
        [(wheel + pivot.x) * 0.5 + 0.09, low],
        [pivot.x - 0.02 + reach, low + 0.045 + reach * 0.2],
        [pivot.x - 0.07 + reach, low + 0.14],
        [wheel + 0.345 + details.lean, (head.z + low) * 0.5 + 0.02],
        [head.x + 0.21, head.z - 0.115],
        [head.x + 0.04, head.z - 0.030],
    ];
    let middle = wheel + 0.22;
    let bulge = |x: f32, z: f32| {
        let below = (0.52 - z).max(0.0);
        out - 0.28 * (x - middle).powi(2) - 0.60 * below * below - 0.10 * (middle - 0.10 - x).max(0.0)
    };
    bike.add_pair(Material::Paint, panel(&outline, 0.085, bulge));
    if full && details.accent {
        let lower = [
            [wheel + 0.075, low + 0.200],
            [wheel + 0.110, low + 0.085],
            [wheel + 0.225, low + 0.024],
            [(wheel + pivot.x) * 0.5 + 0.09, low + 0.018],
            [pivot.x - 0.05 + reach, low + 0.060 + reach * 0.2],
            [pivot.x - 0.10 + reach, low + 0.125],
            [(wheel + pivot.x) * 0.5 + 0.02, low + 0.175],
        ];
        bike.add_pair(Material::GlossBlack, panel(&lower, 0.030, |x, z| bulge(x, z) + 0.008));
    }
    if !full {
        add_belly_pan(bike, joints, wheel);
    }
    // The belly joins both flanks.
    if full {
        let belly = hull_in_steps(
            &[
                [wheel + 0.085, 0.100, low + 0.02, low + 0.10],
                [wheel + 0.20, out - 0.07, low - 0.02, low + 0.10],
                [pivot.x - 0.16, out - 0.09, low - 0.02, low + 0.08],
                [pivot.x - 0.02, 0.100, low + 0.01, low + 0.06],
            ],
            3.4,
            5,
        );
        bike.add_soft(Material::Paint, belly);
    }
    // Vents: dark gills.
    let gills: &[(f32, f32)] = match details.eyes {
        Eyes::Slits => &[(0.125, -0.29), (0.165, -0.38)],
        Eyes::Twins => &[(0.110, -0.25), (0.140, -0.315), (0.170, -0.38)],
        Eyes::Broad => &[(0.150, -0.34)],
        Eyes::Tall => &[],
    };
    for (x, z) in gills.iter().copied() {
        let vent = Solid::rounded_box(Vec3::new(0.075, 0.006, 0.018), 0.006).bent(|p| {
            let (px, pz) = (wheel + x + p.x, head.z + z + p.z - p.x * 0.30);
            Vec3::new(px, bulge(px, pz) + p.y, pz)
        });
        bike.add_pair(Material::MattBlack, vent);
    }
}

/// What a sport bike looks out of.
fn add_sport_eyes(bike: &mut Assembly, joints: &Joints, nose: f32) {
    let head = joints.head;
    match joints.design.details.eyes {
        Eyes::Slits => {
            // Air intake between slanted lamps.
            let mouth = Solid::superellipsoid(Vec3::new(0.045, 0.036, 0.020), 2.6, 10, 20);
            bike.add_soft(Material::MattBlack, mouth.moved(Vec3::new(nose + 0.028, 0.0, head.z - 0.118)));
            let slit = |out: f32, thick: f32| {
                let line = [
                    Vec3::new(nose + 0.040 - out, 0.052, head.z - 0.098),
                    Vec3::new(nose + 0.085 - out, 0.105, head.z - 0.078),
                    Vec3::new(nose + 0.165 - out, 0.160, head.z - 0.055),
                ];
                Solid::swept(&curve_through(&line, 5), Vec3::Z, |i| {
                    let slim = 1.0 - 0.5 * (i as f32 / 10.0 - 0.4).abs();
                    rounded_rectangle(thick * slim, thick * 1.5 * slim, thick * 0.6)
                })
            };
            bike.add_pair(Material::LampHousing, slit(0.002, 0.022));
            bike.add_pair(Material::LampWhite, slit(0.0225, 0.0105));
        }
        Eyes::Twins => {
            let at = Vec3::new(nose + 0.055, 0.068, head.z - 0.098);
            add_lamp_pair(bike, at, Vec3::new(0.050, 0.052, 0.034), 0.80);
            let mouth = Solid::superellipsoid(Vec3::new(0.050, 0.060, 0.014), 2.6, 10, 20);
            bike.add_soft(Material::MattBlack, mouth.moved(Vec3::new(nose + 0.050, 0.0, head.z - 0.150)));
        }
        Eyes::Broad => {
            add_broad_lamp(bike, Vec3::new(nose + 0.046, 0.0, head.z - 0.105), Vec3::new(0.050, 0.112, 0.036), 0.085);
        }
        Eyes::Tall => {
            add_tall_lamp(bike, Vec3::new(nose + 0.052, 0.0, head.z - 0.088), Vec3::new(0.052, 0.062, 0.064), 0.62);
            let duct = Solid::superellipsoid(Vec3::new(0.050, 0.026, 0.016), 2.6, 10, 20);
            bike.add_pair(
                Material::MattBlack,
                duct.bent(|p| Vec3::new(nose + 0.090 + p.x + p.y * 0.5, 0.108 + p.y, head.z - 0.125 + p.z + p.y * 0.3)),
            );
        }
    }
}

/// The tray under an engine that a fairing leaves in view.
fn add_belly_pan(bike: &mut Assembly, joints: &Joints, wheel: f32) {
    let (pivot, low) = (joints.pivot, joints.design.clearance - 0.02);
    let pan = hull_in_steps(
        &[
            [wheel + 0.095, 0.070, low + 0.030, low + 0.130],
            [wheel + 0.17, 0.135, low, low + 0.115],
            [pivot.x - 0.20, 0.145, low - 0.005, low + 0.070],
            [pivot.x - 0.06, 0.100, low + 0.010, low + 0.035],
        ],
        3.2,
        5,
    );
    bike.add_soft(Material::Paint, pan);
}

pub(super) fn add_sport(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = joints.front_axle.x - 0.035;
    let screen_share = joints.design.details.screen;
    // Upper part: sharp nose, lamps, cockpit.
    let upper = hull_in_steps(
        &[
            [nose, 0.030, head.z - 0.130, head.z - 0.100],
            [nose + 0.06, 0.100, head.z - 0.165, head.z - 0.055],
            [nose + 0.15, 0.165, head.z - 0.190, head.z + 0.010],
            [nose + 0.25, 0.205, head.z - 0.205, head.z + 0.055],
            [nose + 0.36, 0.220, head.z - 0.215, head.z + 0.045],
            [nose + 0.46, 0.215, head.z - 0.220, head.z - 0.030],
        ],
        2.6,
        6,
    );
    bike.add_soft(Material::Paint, upper);
    add_flank(bike, joints, 0.235, joints.design.details.flank != Flank::Open);
    add_sport_eyes(bike, joints, nose);
    bike.add_soft(
        Material::Glass,
        screen([nose + 0.13, head.z + 0.000], [nose + 0.40, head.z + 0.150 * screen_share], [0.095, 0.140], 0.10),
    );
    add_fairing_mirrors(bike, Vec3::new(nose + 0.25, 0.17, head.z + 0.035), 0.40, 0.10);
}

pub(super) fn add_sport_touring(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = joints.front_axle.x + 0.00;
    let upper = hull_in_steps(
        &[
            [nose, 0.050, head.z - 0.150, head.z - 0.090],
            [nose + 0.05, 0.140, head.z - 0.205, head.z - 0.030],
            [nose + 0.14, 0.210, head.z - 0.240, head.z + 0.050],
            [nose + 0.25, 0.250, head.z - 0.250, head.z + 0.095],
            [nose + 0.38, 0.262, head.z - 0.245, head.z + 0.075],
            [nose + 0.50, 0.245, head.z - 0.230, head.z - 0.010],
        ],
        2.7,
        6,
    );
    bike.add_soft(Material::Paint, upper);
    let open = matches!(joints.design.engine, Engine::Boxer | Engine::CrossVee);
    let details = &joints.design.details;
    add_flank(bike, joints, 0.262, !open && details.flank != Flank::Open);
    match details.eyes {
        Eyes::Broad => {
            add_broad_lamp(bike, Vec3::new(nose + 0.056, 0.0, head.z - 0.100), Vec3::new(0.052, 0.140, 0.044), 0.10);
        }
        Eyes::Tall => {
            add_tall_lamp(bike, Vec3::new(nose + 0.052, 0.0, head.z - 0.095), Vec3::new(0.056, 0.078, 0.066), 0.55);
        }
        _ => add_lamp_pair(bike, Vec3::new(nose + 0.050, 0.078, head.z - 0.105), Vec3::new(0.045, 0.060, 0.042), 0.55),
    }
    bike.add_soft(
        Material::LampLens,
        screen([nose + 0.13, head.z + 0.040], [nose + 0.40, head.z + 0.310 * details.screen], [0.150, 0.190], 0.12),
    );
    add_fairing_mirrors(bike, Vec3::new(nose + 0.27, 0.22, head.z + 0.030), 0.42, 0.045);
}

pub(super) fn add_touring(bike: &mut Assembly, joints: &Joints) {
    let (head, design) = (joints.head, &joints.design);
    let nose = joints.front_axle.x + 0.02;
    let wheel = joints.front_axle.x + joints.front_axle.z;
    let upper = hull_in_steps(
        &[
            [nose, 0.080, head.z - 0.120, head.z - 0.040],
            [nose + 0.04, 0.220, head.z - 0.220, head.z + 0.020],
            [nose + 0.14, 0.320, head.z - 0.275, head.z + 0.085],
            [nose + 0.28, 0.375, head.z - 0.290, head.z + 0.120],
            [nose + 0.42, 0.385, head.z - 0.285, head.z + 0.090],
            [nose + 0.54, 0.350, head.z - 0.270, head.z - 0.010],
            [nose + 0.60, 0.300, head.z - 0.260, head.z - 0.080],
        ],
        2.9,
        6,
    );
    bike.add_soft(Material::Paint, upper);
    // Leg shields from the fairing down to before the engine.
    let low = design.clearance + 0.07;
    let outline = [
        [nose + 0.22, head.z - 0.18],
        [wheel + 0.015, head.z - 0.38],
        [wheel + 0.045, low + 0.10],
        [wheel + 0.12, low],
        [wheel + 0.27, low + 0.03],
        [wheel + 0.25, low + 0.20],
        [wheel + 0.34, head.z - 0.34],
        [nose + 0.58, head.z - 0.18],
    ];
    let out = |x: f32, z: f32| 0.335 + 0.10 * (z - low - 0.2).min(0.0) - 0.25 * (x - wheel - 0.12).powi(2);
    bike.add_pair(Material::Paint, panel(&outline, 0.12, out));
    let grille = Solid::rounded_box(Vec3::new(0.010, 0.110, 0.150), 0.010);
    bike.add_pair(Material::Grille, grille.moved(Vec3::new(wheel + 0.055, 0.160, head.z - 0.46)));
    // Side panels under the rider's knees.
    let knee = [
        [wheel + 0.24, head.z - 0.20],
        [wheel + 0.30, low + 0.33],
        [joints.pivot.x - 0.10, low + 0.28],
        [joints.seat.x - 0.02, joints.seat.z - 0.16],
        [joints.seat.x - 0.12, joints.seat.z - 0.03],
        [head.x + 0.22, head.z - 0.06],
    ];
    bike.add_pair(Material::Paint, panel(&knee, 0.10, |x, _| 0.225 - 0.12 * (x - head.x - 0.15).max(0.0)));
    add_lamp_pair(bike, Vec3::new(nose + 0.055, 0.165, head.z - 0.095), Vec3::new(0.065, 0.095, 0.058), 0.50);
    let lip = Solid::superellipsoid(Vec3::new(0.030, 0.060, 0.050), 2.8, 10, 20);
    bike.add_soft(Material::GlossBlack, lip.moved(Vec3::new(nose + 0.018, 0.0, head.z - 0.130)));
    let vent = Solid::rounded_box(Vec3::new(0.090, 0.008, 0.030), 0.010)
        .bent(|p| Vec3::new(nose + 0.34 + p.x, 0.380 + p.y, head.z - 0.120 + p.z - 0.25 * p.x));
    bike.add_pair(Material::MattBlack, vent);
    bike.add_soft(
        Material::LampLens,
        screen([nose + 0.13, head.z + 0.075], [nose + 0.42, head.z + 0.385], [0.240, 0.255], 0.14),
    );
    add_fairing_mirrors(bike, Vec3::new(nose + 0.26, 0.34, head.z + 0.020), 0.46, 0.035);
    let amber = Solid::superellipsoid(Vec3::new(0.050, 0.020, 0.024), 2.6, 8, 18);
    bike.add_pair(Material::LampAmber, amber.moved(Vec3::new(nose + 0.215, 0.352, head.z - 0.035)));
}

pub(super) fn add_batwing(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = head.x - 0.225;
    // Wide and shallow: its outer ends sweep back and down round the bars.
    let cowl = hull_in_steps(
        &[
            [0.0, 0.110, head.z - 0.095, head.z + 0.060],
            [0.04, 0.200, head.z - 0.115, head.z + 0.110],
            [0.11, 0.285, head.z - 0.120, head.z + 0.150],
            [0.19, 0.360, head.z - 0.105, head.z + 0.155],
            [0.25, 0.405, head.z - 0.080, head.z + 0.120],
            [0.28, 0.395, head.z - 0.060, head.z + 0.080],
        ],
        2.2,
        6,
    )
    .bent(|p| Vec3::new(nose + p.x, p.y, p.z - 0.42 * p.y * p.y));
    bike.add_soft(Material::Paint, cowl);
    let brow = hull_in_steps(
        &[[0.005, 0.10, head.z + 0.02, head.z + 0.062], [0.07, 0.20, head.z + 0.06, head.z + 0.128]],
        2.4,
        5,
    );
    bike.add_soft(Material::Paint, brow.bent(|p| Vec3::new(nose + p.x, p.y, p.z)));
    add_round_lamp(bike, Vec3::new(nose - 0.036, 0.0, head.z - 0.015), 0.090, Material::Chrome);
    add_bracket(bike, joints, Vec3::new(nose + 0.16, 0.0, head.z - 0.02), 0.045);
    // Nacelle: chrome below the lamp, round the fork's clamps.
    let nacelle = hull_in_steps(
        &[
            [nose + 0.07, 0.085, head.z - 0.190, head.z - 0.080],
            [nose + 0.14, 0.120, head.z - 0.205, head.z - 0.070],
            [nose + 0.24, 0.125, head.z - 0.190, head.z - 0.060],
        ],
        2.8,
        5,
    );
    bike.add_soft(Material::Chrome, nacelle);
    // Passing lamps.
    let lamp = Vec3::new(nose + 0.055, 0.185, head.z - 0.165);
    let spot = Solid::superellipsoid(Vec3::new(0.040, 0.052, 0.052), 2.2, 12, 24);
    bike.add_pair(Material::Chrome, spot.moved(lamp + Vec3::X * 0.012));
    let light = Solid::superellipsoid(Vec3::new(0.020, 0.043, 0.043), 2.2, 12, 24);
    bike.add_pair(Material::LampWhite, light.moved(lamp - Vec3::X * 0.018));
    bike.add_pair(Material::Chrome, Solid::pin(lamp, Vec3::new(head.x - 0.04, 0.06, head.z - 0.13), 0.014, 8));
    bike.add_soft(
        Material::LampLens,
        screen([nose + 0.075, head.z + 0.120], [nose + 0.20, head.z + 0.300], [0.205, 0.215], 0.10),
    );
}

pub(super) fn add_shark(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = head.x - 0.40;
    let cowl = hull_in_steps(
        &[
            [nose, 0.110, head.z - 0.085, head.z - 0.015],
            [nose + 0.04, 0.235, head.z - 0.140, head.z + 0.040],
            [nose + 0.13, 0.320, head.z - 0.170, head.z + 0.095],
            [nose + 0.26, 0.385, head.z - 0.180, head.z + 0.125],
            [nose + 0.38, 0.400, head.z - 0.150, head.z + 0.095],
            [nose + 0.46, 0.365, head.z - 0.100, head.z + 0.030],
        ],
        2.5,
        6,
    );
    bike.add_soft(Material::Paint, cowl);
    let face = Solid::superellipsoid(Vec3::new(0.030, 0.190, 0.050), 3.2, 10, 30);
    bike.add_soft(
        Material::GlossBlack,
        face.bent(|p| Vec3::new(nose + 0.018 + p.x + p.y * p.y * 1.4, p.y, head.z - 0.055 + p.z)),
    );
    add_lamp_pair(bike, Vec3::new(nose + 0.004, 0.085, head.z - 0.055), Vec3::new(0.030, 0.062, 0.036), 0.25);
    add_bracket(bike, joints, Vec3::new(nose + 0.22, 0.0, head.z - 0.06), 0.050);
    bike.add_soft(
        Material::LampLens,
        screen([nose + 0.12, head.z + 0.080], [nose + 0.33, head.z + 0.290], [0.230, 0.225], 0.12),
    );
    add_indicators(bike, Vec3::new(head.x - 0.10, 0.10, head.z - 0.19));
}

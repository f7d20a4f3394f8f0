//! Modern scooters: apron, floor board, body over the rear wheel. Long ones have a screen, a spine to step over and a
//! stepped seat; tilting ones two front wheels, and one has a roof.

use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use glam::Vec3;

use super::Joints;
use super::design::{Era, Eyes, Luggage};
use super::exhaust::add_silencer;
use super::lamps::{Opening, set_intake, set_lamp, set_tail_lamp};
use super::seat::{add_plate_holder, add_seat_seams};
use super::shapes::{Skin, add_screen, add_shock, bolt, panel, screen, seam_along, soft_max, tube, turned};
use super::style::Family;
use super::wheel::TILTING_TRACK;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

pub(super) fn add_scooter(bike: &mut Assembly, joints: &Joints) {
    let long = joints.design.family != Family::Scooter;
    add_apron(bike, joints, long);
    let to = add_floor(bike, joints, long);
    add_rear_body(bike, joints, to, long);
    add_drive(bike, joints);
    if joints.design.family == Family::Tilting {
        add_tilting_axle(bike, joints);
    }
    if joints.design.family == Family::Cabin {
        add_cabin(bike, joints);
    }
}

/// What stands before the rider's legs: nose, leg shield, lamps, cover of the bars, screen.
fn add_apron(bike: &mut Assembly, joints: &Joints, long: bool) {
    let head = joints.head;
    let over = joints.front_axle.z * 2.0 + 0.055;
    let details = &joints.design.details;
    let grow = if long { 1.22 } else { 1.0 } * details.apron;
    let nose = joints.axis(head.z - 0.16) - 0.155 * grow;
    // The nose over the wheel.
    let apron = Skin::new(
        &[
            [nose, 0.050 * grow, head.z - 0.238, head.z - 0.188],
            [nose + 0.018, 0.088 * grow, head.z - 0.268, head.z - 0.148],
            [nose + 0.055, 0.126 * grow, head.z - 0.298, head.z - 0.108],
            [nose + 0.115, 0.166 * grow, over + 0.010, head.z - 0.056],
            [nose + 0.155, 0.187 * grow, over - 0.025, head.z - 0.030],
            [nose + 0.200, 0.206 * grow, over - 0.120, head.z - 0.012],
            [nose + 0.270, 0.225 * grow, over - 0.215, head.z - 0.006],
            [nose + 0.330, 0.230 * grow, over - 0.245, head.z - 0.022],
            [nose + 0.352, 0.222 * grow, over - 0.235, head.z - 0.040],
        ],
        2.8,
    );
    let in_cover = lamp_in_cover(joints, long);
    let skin = apron.solid();
    let skin = if in_cover { skin } else { set_apron_lamps(bike, joints, &skin, nose, grow, long) };
    // A slot for the horn under the nose's tip.
    let mouth = [[-0.046, -0.222], [0.046, -0.222], [0.036, -0.238], [-0.036, -0.238]];
    let mouth = mouth.map(|p| [p[0] * grow, head.z + p[1]]);
    let opening = Opening { outline: &mouth, depth: 0.035, lights: 0, pair: false, behind: nose + 0.20 };
    let skin = if in_cover { set_intake(bike, &skin, &opening) } else { skin };
    bike.add_soft(Material::Paint, skin);
    // The nose's upper cover ends along a line from the lamps to its rear edge.
    let line = [
        [nose + 0.060, head.z - 0.122],
        [nose + 0.13, head.z - 0.098],
        [nose + 0.22, head.z - 0.096],
        [nose + 0.348, head.z - 0.115],
    ];
    bike.add_pair(Material::PanelGap, apron.seam(&line));
    // The rider's side of it.
    let inside = Skin::new(
        &[
            [nose + 0.338, 0.200 * grow, over - 0.22, head.z - 0.060],
            [nose + 0.362, 0.208 * grow, over - 0.23, head.z - 0.058],
            [nose + 0.378, 0.190 * grow, over - 0.21, head.z - 0.080],
        ],
        4.5,
    );
    bike.add_soft(Material::MattBlack, inside.solid());
    add_leg_shield(bike, joints, nose, grow);
    add_bar_cover(bike, joints, long, in_cover);
    if long {
        // A cabin has its own, up to the roof.
        if joints.design.family != Family::Cabin {
            let top = [nose + 0.400, head.z + 0.310 * details.screen.min(1.15)];
            add_screen(bike, Material::ClearGlass, [nose + 0.165, head.z - 0.020], top, [0.165, 0.200], 0.11);
        }
        let visor = Skin::new(
            &[
                [nose + 0.125, 0.110, head.z - 0.080, head.z - 0.020],
                [nose + 0.22, 0.175, head.z - 0.060, head.z + 0.026],
                [nose + 0.31, 0.150, head.z - 0.050, head.z + 0.020],
            ],
            3.2,
        );
        bike.add_soft(Material::MattBlack, visor.solid());
    }
    // Indicators flush with the nose.
    let (x, z) = (nose + 0.105, head.z - if in_cover { 0.150 } else { 0.118 });
    let amber = |x: f32, z: f32| apron.out(x, z) + 0.0015;
    let outline = [[x - 0.038, z - 0.012], [x + 0.020, z + 0.018], [x + 0.046, z + 0.016], [x + 0.020, z - 0.010]];
    bike.add_pair(Material::GlossBlack, panel(&grown(&outline, 1.16), 0.008, move |x, z| amber(x, z) - 0.0008));
    bike.add_pair(Material::LampAmber, panel(&outline, 0.008, amber));
}

/// An outline grown about its middle.
fn grown(outline: &[[f32; 2]], by: f32) -> Vec<[f32; 2]> {
    let count = outline.len() as f32;
    let middle = outline.iter().fold([0.0, 0.0], |m, p| [m[0] + p[0] / count, m[1] + p[1] / count]);
    outline.iter().map(|p| [0, 1].map(|k| middle[k] + (p[k] - middle[k]) * by)).collect()
}

/// Whether the head lamp turns with the bars.
fn lamp_in_cover(joints: &Joints, long: bool) -> bool {
    !long && matches!(joints.design.details.eyes, Eyes::Tall | Eyes::Broad)
}

/// The shield before the legs: painted outside, dark towards the rider, with a glove box and a hook.
fn add_leg_shield(bike: &mut Assembly, joints: &Joints, nose: f32, grow: f32) {
    let head = joints.head;
    let wheel = joints.front_axle.x + joints.front_axle.z;
    let floor = 0.195;
    let top = joints.front_axle.z * 2.0 + 0.055 + 0.130;
    const ROWS: usize = 26;
    let middle = |z: f32| soft_max(joints.axis(z) + 0.030, wheel + 0.040, 0.09).max(nose + 0.15);
    let half = |t: f32| grow * (0.214 + 0.012 * (std::f32::consts::PI * t).sin() - 0.036 * t.powi(3));
    let sheet = |back: f32, thick: f32, share: f32, from: f32| -> Vec<Vec<Vec3>> {
        (0..=ROWS)
            .map(|row| {
                let t = from + (1.0 - from) * row as f32 / ROWS as f32;
                let z = top + (floor - top) * t;
                let at = |across: f32, inside: f32| {
                    let x = middle(z) + 0.115 * across.abs().powf(2.4) + back + inside;
                    Vec3::new(x, across * half(t) * share, z)
                };
                (0..=18)
                    .map(|k| at(k as f32 / 9.0 - 1.0, 0.0))
                    .chain((0..=18).rev().map(|k| at(k as f32 / 9.0 - 1.0, thick)))
                    .collect()
            })
            .collect()
    };
    let outer = sheet(0.0, 0.020, 1.0, 0.0);
    let edge: Vec<Vec3> = outer.iter().map(|ring| ring[18] + Vec3::new(0.010, -0.001, 0.0)).collect();
    bike.add_soft(Material::Paint, Solid::lofted_plate(&outer));
    bike.add_pair(Material::Paint, tube(&edge, 12, |_| 0.0105));
    bike.add_soft(Material::MattBlack, Solid::lofted_plate(&sheet(0.024, 0.045, 0.955, 0.015)));
    // The joint of the lower shield.
    let seam: Vec<Vec3> = outer[15].iter().take(19).map(|p| *p - Vec3::X * 0.0004).collect();
    bike.add_soft(Material::PanelGap, seam_along(&seam));
    // Glove box: the line of its lid, and a hook below.
    let z = head.z - 0.205;
    let back = nose + 0.3785;
    let lid = [
        Vec3::new(back, -0.105, z + 0.055),
        Vec3::new(back, 0.105, z + 0.055),
        Vec3::new(back, 0.095, z - 0.055),
        Vec3::new(back, -0.095, z - 0.055),
        Vec3::new(back, -0.105, z + 0.055),
    ];
    bike.add_soft(Material::PanelGap, tube(&lid, 6, |_| 0.0022));
    bike.add(
        Material::Satin,
        turned(&[[-0.004, 0.011], [0.004, 0.011], [0.004, 0.0]], Vec3::new(back, 0.062, z + 0.092), Vec3::X, 20),
    );
    let hook = [
        Vec3::new(back, 0.0, z - 0.075),
        Vec3::new(back + 0.030, 0.0, z - 0.085),
        Vec3::new(back + 0.034, 0.0, z - 0.062),
    ];
    bike.add_soft(Material::Satin, tube(&curve_through(&hook, 6), 10, |_| 0.0045));
}

/// The cover of the bars in two halves, with the head lamp where it is in them.
fn add_bar_cover(bike: &mut Assembly, joints: &Joints, long: bool, lamp: bool) {
    let head = joints.head;
    let cover = Skin::new(
        &[
            [head.x - 0.132, 0.024, head.z + 0.034, head.z + 0.064],
            [head.x - 0.128, 0.050, head.z + 0.022, head.z + 0.078],
            [head.x - 0.116, 0.082, head.z + 0.004, head.z + 0.098],
            [head.x - 0.080, 0.114, head.z - 0.010, head.z + 0.120],
            [head.x - 0.015, 0.142, head.z - 0.008, head.z + 0.142],
            [head.x + 0.045, 0.146, head.z + 0.018, head.z + 0.142],
            [head.x + 0.085, 0.118, head.z + 0.045, head.z + 0.128],
            [head.x + 0.100, 0.085, head.z + 0.062, head.z + 0.112],
        ],
        2.8,
    );
    let mut skin = cover.solid();
    if lamp {
        let outline: &[[f32; 2]] = match joints.design.details.eyes {
            Eyes::Broad => &[
                [-0.050, 0.016],
                [0.050, 0.016],
                [0.078, 0.042],
                [0.066, 0.082],
                [0.0, 0.092],
                [-0.066, 0.082],
                [-0.078, 0.042],
            ],
            _ => &[[-0.036, 0.008], [0.036, 0.008], [0.060, 0.048], [0.044, 0.090], [-0.044, 0.090], [-0.060, 0.048]],
        };
        let outline: Vec<[f32; 2]> = outline.iter().map(|p| [p[0], p[1] + head.z]).collect();
        let lights = if joints.design.details.era == Era::Led { 2 } else { 1 };
        let opening = Opening { outline: &outline, depth: 0.042, lights, pair: false, behind: head.x - 0.03 };
        skin = set_lamp(bike, &skin, &opening, joints.design.details.era);
    }
    bike.add_soft(if long { Material::MattBlack } else { Material::Paint }, skin);
    bike.add_pair(
        Material::PanelGap,
        cover.seam(&[
            [head.x - 0.105, head.z + 0.050],
            [head.x - 0.04, head.z + 0.060],
            [head.x + 0.04, head.z + 0.078],
            [head.x + 0.09, head.z + 0.088],
        ]),
    );
    let neck = [head - Vec3::Z * 0.12, head - Vec3::Z * 0.05, head + Vec3::Z * 0.03];
    bike.add_soft(Material::MattBlack, tube(&neck, 28, |i| [0.090, 0.074, 0.070][i]));
}

/// Sets the lamps into the apron's skin and gives what is left of it.
fn set_apron_lamps(bike: &mut Assembly, joints: &Joints, apron: &Solid, nose: f32, grow: f32, long: bool) -> Solid {
    let (outline, lights, pair): (&[[f32; 2]], usize, bool) = match joints.design.details.eyes {
        Eyes::Broad => (
            &[
                [-0.105, -0.150],
                [0.0, -0.142],
                [0.105, -0.150],
                [0.092, -0.192],
                [0.040, -0.222],
                [-0.040, -0.222],
                [-0.092, -0.192],
            ],
            2,
            false,
        ),
        Eyes::Tall => (
            &[[-0.058, -0.135], [0.058, -0.135], [0.070, -0.175], [0.040, -0.236], [-0.040, -0.236], [-0.070, -0.175]],
            2,
            false,
        ),
        Eyes::Twins => (
            &[[0.016, -0.170], [0.060, -0.150], [0.118, -0.138], [0.122, -0.170], [0.076, -0.212], [0.020, -0.222]],
            1,
            true,
        ),
        Eyes::Slits => (
            &[[0.020, -0.180], [0.070, -0.156], [0.128, -0.140], [0.130, -0.158], [0.082, -0.190], [0.024, -0.206]],
            1,
            true,
        ),
    };
    let size = if long { grow } else { grow * 0.92 };
    let outline: Vec<[f32; 2]> =
        outline.iter().map(|p| [p[0] * size, joints.head.z + (p[1] + 0.18) * size - 0.18]).collect();
    let opening = Opening { outline: &outline, depth: 0.050, lights, pair, behind: nose + 0.22 };
    set_lamp(bike, apron, &opening, joints.design.details.era)
}

/// Floor board, or the spine between two boards of a long scooter. Gives where the body behind begins.
fn add_floor(bike: &mut Assembly, joints: &Joints, long: bool) -> f32 {
    let wheel = joints.front_axle.x + joints.front_axle.z;
    let floor = 0.270;
    let (from, to) = (wheel + 0.07, joints.seat.x - 0.16);
    let grow = if long { 1.12 } else { 1.0 };
    let board = hull_in_steps(
        &[
            [from - 0.03, 0.170 * grow, floor - 0.07, floor + 0.02],
            [from + 0.06, 0.205 * grow, floor - 0.08, floor],
            [(from + to) * 0.5, 0.215 * grow, floor - 0.08, floor - 0.005],
            [to + 0.08, 0.205 * grow, floor - 0.08, floor + 0.01],
        ],
        5.0,
        5,
    );
    bike.add(Material::MattBlack, board);
    for k in 0..5 {
        let y = 0.035 + 0.034 * k as f32;
        let rib = Solid::rounded_box(Vec3::new((to - from) * 0.40, 0.006, 0.004), 0.003);
        if !long || y > 0.13 {
            bike.add_pair(Material::MattBlack, rib.moved(Vec3::new((from + to) * 0.5 + 0.03, y * grow, floor + 0.001)));
        }
    }
    let skirt = hull_in_steps(
        &[
            [from - 0.02, 0.185 * grow, floor - 0.115, floor - 0.035],
            [(from + to) * 0.5, 0.224 * grow, floor - 0.110, floor - 0.025],
            [to + 0.14, 0.212 * grow, floor - 0.10, floor + 0.05],
        ],
        4.0,
        5,
    );
    bike.add_soft(Material::Paint, skirt);
    if long {
        let spine = hull_in_steps(
            &[
                [from - 0.02, 0.110, floor - 0.02, floor + 0.36],
                [from + 0.10, 0.105, floor - 0.02, floor + 0.26],
                [(from + to) * 0.5 + 0.02, 0.110, floor - 0.02, floor + 0.235],
                [to, 0.125, floor - 0.02, floor + 0.31],
                [to + 0.10, 0.140, floor, joints.seat.z - 0.12],
            ],
            3.2,
            5,
        );
        bike.add_soft(Material::MattBlack, spine);
    }
    to
}

fn add_rear_body(bike: &mut Assembly, joints: &Joints, to: f32, long: bool) {
    let (rear, seat, tail) = (joints.rear_axle, joints.seat, joints.tail);
    let grow = if long { 1.15 } else { 1.0 } * joints.design.details.apron;
    let lift = if long { 0.075 } else { 0.020 } + joints.design.details.tail_rise.max(-0.02);
    let body = Skin::new(
        &[
            [to - 0.010, 0.105 * grow, 0.250, seat.z - 0.22],
            [to + 0.030, 0.140 * grow, 0.242, seat.z - 0.130],
            [to + 0.090, 0.166 * grow, 0.238, seat.z - 0.085],
            [seat.x + 0.10, 0.194 * grow, 0.296, seat.z - 0.055],
            [rear.x - 0.08, 0.200 * grow, 0.405, seat.z - 0.030],
            [rear.x + 0.10, 0.172 * grow, 0.500, seat.z + lift - 0.040],
            [tail - 0.12, 0.128 * grow, 0.580, seat.z + lift - 0.038],
            [tail - 0.030, 0.092 * grow, 0.625, seat.z + lift - 0.050],
            [tail, 0.070 * grow, 0.648, seat.z + lift - 0.068],
        ],
        2.9,
    );
    let (low, high) = (0.655, seat.z + lift - 0.074);
    let half = 0.080 * grow;
    let lens = [
        [-half, high - 0.010],
        [0.0, high],
        [half, high - 0.010],
        [half * 0.72, low + 0.012],
        [0.0, low],
        [-half * 0.72, low + 0.012],
    ];
    let skin = set_tail_lamp(bike, &body.solid(), &lens, false, tail - 0.10);
    bike.add_soft(Material::Paint, skin);
    add_body_lines(bike, joints, &body, to, lift);
    add_saddle(bike, joints, to, long);
    let amber = Solid::superellipsoid(Vec3::new(0.026, 0.020, 0.015), 2.6, 12, 24);
    let corner = Vec3::new(tail - 0.050, body.out(tail - 0.050, high - 0.030), high - 0.024);
    bike.add_pair(Material::LampAmber, amber.moved(corner - Vec3::Y * 0.008));
    add_grab_rail(bike, joints, grow, lift, long);
    let holder = Vec3::new(tail - 0.075, 0.0, 0.640);
    add_plate_holder(bike, holder, Vec3::new(tail - 0.010, 0.0, 0.500));
    add_rear_guard(bike, joints);
}

/// The body's shut lines, and a dark band along its flank.
fn add_body_lines(bike: &mut Assembly, joints: &Joints, body: &Skin, to: f32, lift: f32) {
    let (rear, seat, tail) = (joints.rear_axle, joints.seat, joints.tail);
    // Shut lines run under the seat, round the side cover, and along the panel before the rider's heels.
    bike.add_pair(
        Material::PanelGap,
        body.seam(&[
            [to + 0.05, seat.z - 0.175],
            [seat.x + 0.06, seat.z - 0.135],
            [rear.x - 0.02, seat.z - 0.115],
            [rear.x + 0.14, seat.z + lift - 0.105],
            [tail - 0.05, seat.z + lift - 0.095],
        ]),
    );
    bike.add_pair(
        Material::PanelGap,
        body.seam(&[[to + 0.118, seat.z - 0.155], [to + 0.100, 0.48], [to + 0.120, 0.34], [to + 0.150, 0.275]]),
    );
    // A dark band along the lower edge of the flank.
    let dark =
        body.line(&[[seat.x + 0.01, 0.385], [seat.x + 0.14, 0.430], [rear.x + 0.06, 0.520], [tail - 0.09, 0.628]]);
    bike.add_pair(Material::MattBlack, Solid::swept(&dark, Vec3::Y, |_| rounded_rectangle(0.022, 0.005, 0.004)));
    bike.add_pair(
        Material::PanelGap,
        body.seam(&[
            [seat.x + 0.02, seat.z - 0.19],
            [rear.x - 0.06, seat.z - 0.175],
            [rear.x + 0.10, seat.z - 0.150],
            [tail - 0.13, seat.z - 0.105],
        ]),
    );
}

/// The seat: stepped on long scooters.
fn add_saddle(bike: &mut Assembly, joints: &Joints, to: f32, long: bool) {
    let (rear, seat, tail) = (joints.rear_axle, joints.seat, joints.tail);
    let saddle = if long {
        vec![
            [to + 0.02, 0.095, seat.z - 0.145, seat.z - 0.060],
            [to + 0.10, 0.145, seat.z - 0.120, seat.z - 0.005],
            [seat.x + 0.10, 0.175, seat.z - 0.080, seat.z + 0.005],
            [seat.x + 0.21, 0.165, seat.z - 0.060, seat.z + 0.060],
            [seat.x + 0.26, 0.150, seat.z - 0.050, seat.z + 0.108],
            [seat.x + 0.34, 0.155, seat.z - 0.040, seat.z + 0.100],
            [tail - 0.26, 0.130, seat.z - 0.020, seat.z + 0.112],
            [tail - 0.18, 0.080, seat.z - 0.010, seat.z + 0.085],
        ]
    } else {
        vec![
            [to + 0.005, 0.076, seat.z - 0.130, seat.z - 0.050],
            [to + 0.040, 0.108, seat.z - 0.118, seat.z - 0.010],
            [to + 0.100, 0.134, seat.z - 0.105, seat.z + 0.006],
            [seat.x + 0.06, 0.156, seat.z - 0.080, seat.z + 0.006],
            [seat.x + 0.20, 0.160, seat.z - 0.070, seat.z + 0.020],
            [seat.x + 0.28, 0.150, seat.z - 0.060, seat.z + 0.052],
            [rear.x + 0.08, 0.122, seat.z - 0.050, seat.z + 0.054],
            [tail - 0.165, 0.092, seat.z - 0.050, seat.z + 0.034],
            [tail - 0.145, 0.074, seat.z - 0.045, seat.z + 0.012],
        ]
    };
    let cushion = Skin::new(&saddle, 3.2);
    bike.add_soft(Material::Seat, cushion.solid());
    let across: &[f32] = if long { &[seat.x + 0.12, seat.x + 0.30] } else { &[seat.x + 0.03, seat.x + 0.235] };
    add_seat_seams(bike, &cushion, [to + 0.05, tail - 0.20], across);
}

/// The mudguard behind the rear wheel.
fn add_rear_guard(bike: &mut Assembly, joints: &Joints) {
    let (rear, tail) = (joints.rear_axle, joints.tail);
    let guard = [
        Vec3::new(rear.x + 0.10, 0.0, rear.z + 0.275),
        Vec3::new(tail - 0.10, 0.0, rear.z + 0.25),
        Vec3::new(tail - 0.06, 0.0, rear.z + 0.08),
    ];
    bike.add_soft(
        Material::MattBlack,
        Solid::swept(&curve_through(&guard, 8), Vec3::Y, |_| rounded_rectangle(0.006, 0.072, 0.005)),
    );
}

/// What the passenger holds on to, and a top case on it.
fn add_grab_rail(bike: &mut Assembly, joints: &Joints, grow: f32, lift: f32, long: bool) {
    let (rear, seat, tail) = (joints.rear_axle, joints.seat, joints.tail);
    let high = seat.z + lift + if long { 0.020 } else { 0.015 };
    let rail = [
        Vec3::new(rear.x - 0.02, 0.148 * grow, high - 0.045),
        Vec3::new(rear.x + 0.05, 0.152 * grow, high - 0.010),
        Vec3::new(rear.x + 0.15, 0.142 * grow, high + 0.012),
        Vec3::new(tail - 0.03, 0.082, high + 0.015),
        Vec3::new(tail, 0.0, high + 0.015),
    ];
    let metal = if joints.design.details.era == Era::Led { Material::MattBlack } else { Material::Satin };
    bike.add_pair(metal, Solid::swept(&curve_through(&rail, 8), Vec3::Z, |_| rounded_rectangle(0.013, 0.010, 0.008)));
    bike.add_soft(metal, Solid::pin(Vec3::new(tail - 0.06, 0.0, high - 0.10), rail[4] - Vec3::X * 0.01, 0.016, 14));
    if joints.design.luggage != Luggage::None {
        let at = Vec3::new(tail - 0.06, 0.0, high + 0.135);
        let case = Skin::new(
            &[
                [at.x - 0.175, 0.120, at.z - 0.075, at.z + 0.060],
                [at.x - 0.150, 0.170, at.z - 0.105, at.z + 0.095],
                [at.x - 0.060, 0.192, at.z - 0.115, at.z + 0.118],
                [at.x + 0.070, 0.186, at.z - 0.112, at.z + 0.112],
                [at.x + 0.140, 0.150, at.z - 0.090, at.z + 0.080],
                [at.x + 0.165, 0.105, at.z - 0.060, at.z + 0.045],
            ],
            3.2,
        );
        bike.add_soft(Material::Paint, case.solid());
        bike.add_pair(
            Material::PanelGap,
            case.seam(&[[at.x - 0.165, at.z - 0.012], [at.x, at.z - 0.020], [at.x + 0.155, at.z - 0.012]]),
        );
        bike.add_pair(
            Material::MattBlack,
            Solid::swept(
                &case.line(&[[at.x - 0.16, at.z - 0.040], [at.x, at.z - 0.050], [at.x + 0.150, at.z - 0.040]]),
                Vec3::Y,
                |_| rounded_rectangle(0.014, 0.004, 0.003),
            ),
        );
        let lens = Solid::superellipsoid(Vec3::new(0.012, 0.085, 0.014), 3.2, 10, 28);
        bike.add_soft(Material::LampRed, lens.moved(at + Vec3::new(0.152, 0.0, -0.008)));
        let plate = Solid::rounded_box(Vec3::new(0.120, 0.100, 0.010), 0.008);
        bike.add_soft(Material::MattBlack, plate.moved(at - Vec3::Z * 0.122));
    }
}

/// Engine and gear case on the left, silencer on the right, shock absorbers, stand.
fn add_drive(bike: &mut Assembly, joints: &Joints) {
    let (rear, seat) = (joints.rear_axle, joints.seat);
    let aside = joints.design.rear_tyre[1] / 2.0 + 0.060;
    let case = Skin::new(
        &[
            [rear.x - 0.40, 0.030, rear.z + 0.000, rear.z + 0.095],
            [rear.x - 0.375, 0.044, rear.z - 0.035, rear.z + 0.125],
            [rear.x - 0.26, 0.054, rear.z - 0.062, rear.z + 0.122],
            [rear.x - 0.10, 0.046, rear.z - 0.058, rear.z + 0.092],
            [rear.x + 0.02, 0.048, rear.z - 0.072, rear.z + 0.082],
            [rear.x + 0.075, 0.040, rear.z - 0.050, rear.z + 0.060],
            [rear.x + 0.095, 0.026, rear.z - 0.025, rear.z + 0.035],
        ],
        4.2,
    );
    let left = |solid: Solid| solid.bent(|p| Vec3::new(p.x, -p.y - aside, p.z)).flipped();
    bike.add_soft(Material::RimDark, case.solid().moved(-Vec3::Y * aside));
    // The cover's joint, its bolts and the fins of its air duct.
    let joint = [
        [rear.x - 0.385, rear.z + 0.045],
        [rear.x - 0.26, rear.z + 0.100],
        [rear.x - 0.08, rear.z + 0.072],
        [rear.x + 0.07, rear.z + 0.045],
    ];
    bike.add_soft(Material::PanelGap, left(case.seam(&joint)));
    for (x, z) in [
        (-0.37, 0.075),
        (-0.30, 0.108),
        (-0.20, 0.100),
        (-0.09, 0.075),
        (0.02, 0.064),
        (0.065, 0.0),
        (0.01, -0.056),
        (-0.11, -0.044),
        (-0.24, -0.048),
        (-0.36, -0.012),
    ] {
        let (x, z) = (rear.x + x, rear.z + z);
        bike.add(Material::Satin, bolt(Vec3::new(x, -aside - case.out(x, z) - 0.002, z), -Vec3::Y, 0.0060));
    }
    let face = [[0.0, 0.052], [0.006, 0.050], [0.008, 0.044], [0.006, 0.038], [0.006, 0.0]];
    let front = Vec3::new(rear.x - 0.285, -aside - case.out(rear.x - 0.285, rear.z + 0.03) + 0.001, rear.z + 0.03);
    bike.add(Material::Satin, turned(&face, front, -Vec3::Y, 36));
    for k in 0..7 {
        let x = rear.x - 0.185 + 0.020 * k as f32;
        let z = rear.z + 0.012;
        let rib = Solid::rounded_box(Vec3::new(0.004, 0.005, 0.034), 0.003);
        bike.add(Material::RimDark, rib.moved(Vec3::new(x, -aside - case.out(x, z), z)));
    }
    // The air filter's box over it.
    let filter = Solid::superellipsoid(Vec3::new(0.150, 0.045, 0.042), 4.0, 18, 40);
    bike.add_soft(
        Material::MattBlack,
        filter
            .bent(|p| Vec3::new(rear.x - 0.10 + p.x, p.y - aside, rear.z + 0.150 + p.z + 0.12 * (p.x + 0.15).max(0.0))),
    );
    let block = Solid::rounded_box(Vec3::new(0.11, 0.13, 0.075), 0.03);
    bike.add_soft(Material::RimDark, block.moved(Vec3::new(rear.x - rear.z - 0.12, 0.0, rear.z + 0.06)));
    let (from, to) = (
        Vec3::new(rear.x - 0.215, aside + 0.020, rear.z - 0.010),
        Vec3::new(rear.x + 0.275, aside + 0.032, rear.z + 0.085),
    );
    add_silencer(bike, Material::MattBlack, from, to, 0.062);
    let pipe = [
        Vec3::new(rear.x - rear.z - 0.10, 0.06, rear.z),
        Vec3::new(rear.x - 0.32, aside * 0.8, rear.z - 0.05),
        from + Vec3::new(-0.03, 0.0, -0.012),
        from.lerp(to, 0.06),
    ];
    bike.add_soft(Material::Satin, tube(&curve_through(&pipe, 10), 18, |_| 0.018));
    let foot = rear + Vec3::new(0.03, aside - 0.02, 0.02);
    let top = Vec3::new(rear.x - 0.04, 0.110, seat.z - 0.17);
    add_shock(bike, foot, top, 0.025, true, Material::Satin);
    let stand = [
        Vec3::new(rear.x - 0.42, 0.09, 0.20),
        Vec3::new(rear.x - 0.34, 0.12, 0.10),
        Vec3::new(rear.x - 0.24, 0.13, 0.09),
    ];
    bike.add_pair(Material::GlossBlack, tube(&curve_through(&stand, 8), 14, |_| 0.011));
}

/// Arms and legs that carry two front wheels.
fn add_tilting_axle(bike: &mut Assembly, joints: &Joints) {
    let axle = joints.front_axle;
    let hub = Vec3::new(joints.axis(axle.z + 0.28), 0.0, axle.z + 0.26);
    for z in [0.0, 0.10] {
        let arm = [hub + Vec3::new(0.0, 0.0, z), Vec3::new(hub.x - 0.01, TILTING_TRACK - 0.085, hub.z + z)];
        bike.add_pair(Material::GlossBlack, tube(&arm, 12, |_| 0.020));
    }
    bike.add_soft(
        Material::GlossBlack,
        Solid::pin(hub - Vec3::Z * 0.03, Vec3::new(joints.axis(joints.head.z), 0.0, joints.head.z), 0.040, 14),
    );
    let leg = [
        axle + Vec3::new(0.0, TILTING_TRACK - 0.085, 0.0),
        Vec3::new(hub.x - 0.01, TILTING_TRACK - 0.085, hub.z + 0.14),
    ];
    bike.add_pair(Material::Satin, tube(&leg, 14, |_| 0.026));
    let stub = axle + Vec3::Y * (TILTING_TRACK - 0.10);
    bike.add_pair(Material::GlossBlack, Solid::pin(stub, stub + Vec3::Y * 0.10, 0.022, 12));
}

/// The frame that goes over the rider, with roof, windscreen and mirrors.
fn add_cabin(bike: &mut Assembly, joints: &Joints) {
    let (head, seat, rear) = (joints.head, joints.seat, joints.rear_axle);
    let nose = joints.axis(head.z - 0.16) - 0.190;
    let roof = head.z + 0.78;
    let hoop = [
        Vec3::new(nose + 0.17, 0.205, head.z - 0.08),
        Vec3::new(nose + 0.36, 0.238, head.z + 0.34),
        Vec3::new(head.x + 0.28, 0.226, roof - 0.10),
        Vec3::new(seat.x + 0.02, 0.216, roof - 0.005),
        Vec3::new(rear.x - 0.10, 0.216, roof - 0.13),
        Vec3::new(rear.x + 0.04, 0.226, roof - 0.48),
        Vec3::new(rear.x + 0.06, 0.190, seat.z - 0.03),
    ];
    let frame = Solid::swept(&curve_through(&hoop, 8), Vec3::Y, |_| rounded_rectangle(0.030, 0.022, 0.014));
    bike.add_pair(Material::Paint, frame);
    let shell = hull_in_steps(
        &[
            [head.x + 0.20, 0.205, roof - 0.180, roof - 0.135],
            [head.x + 0.34, 0.218, roof - 0.090, roof - 0.045],
            [seat.x + 0.02, 0.214, roof - 0.030, roof + 0.022],
            [rear.x - 0.10, 0.206, roof - 0.155, roof - 0.105],
            [rear.x - 0.05, 0.196, roof - 0.230, roof - 0.200],
        ],
        3.0,
        6,
    );
    bike.add_soft(Material::Paint, shell);
    let foot = [nose + 0.20, head.z - 0.02];
    bike.add_soft(Material::LampLens, screen(foot, [head.x + 0.25, roof - 0.13], [0.200, 0.225], 0.05));
    let back = hull_in_steps(
        &[
            [rear.x - 0.16, 0.150, seat.z + 0.08, seat.z + 0.66],
            [rear.x - 0.10, 0.185, seat.z + 0.05, seat.z + 0.70],
            [rear.x - 0.02, 0.170, seat.z + 0.05, seat.z + 0.62],
        ],
        3.2,
        5,
    );
    bike.add_soft(Material::Seat, back);
    let mirror = Vec3::new(nose + 0.33, 0.415, head.z + 0.20);
    bike.add_pair(
        Material::GlossBlack,
        Solid::superellipsoid(Vec3::new(0.040, 0.085, 0.050), 2.8, 10, 22).moved(mirror),
    );
    bike.add_pair(Material::GlossBlack, Solid::pin(Vec3::new(nose + 0.30, 0.225, head.z + 0.16), mirror, 0.012, 8));
}

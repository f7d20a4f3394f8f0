//! Modern scooters: apron, floor board, body over the rear wheel. Long ones have a screen, a spine to step over and a
//! stepped seat; tilting ones two front wheels, and one has a roof.

use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use glam::Vec3;

use super::Joints;
use super::design::{Eyes, Luggage};
use super::lamps::{Opening, add_indicators, add_tail_lamp, set_lamp};
use super::shapes::{add_shock, panel, screen};
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

/// Where the steering axis is at a height.
fn axis(joints: &Joints, z: f32) -> f32 {
    joints.head.x - (joints.head.z - z) * joints.design.rake.tan()
}

/// What stands before the rider's legs: apron, leg shield, lamps, cover of the bars, screen.
fn add_apron(bike: &mut Assembly, joints: &Joints, long: bool) {
    let head = joints.head;
    let wheel = joints.front_axle.x + joints.front_axle.z;
    let over = joints.front_axle.z * 2.0 + 0.055;
    let grow = if long { 1.22 } else { 1.0 } * joints.design.details.apron;
    let nose = axis(joints, head.z - 0.16) - 0.155 * grow;
    // Beak over the wheel that widens into the leg shield.
    let apron = hull_in_steps(
        &[
            [nose, 0.045 * grow, head.z - 0.245, head.z - 0.205],
            [nose + 0.04, 0.110 * grow, head.z - 0.300, head.z - 0.130],
            [nose + 0.11, 0.170 * grow, over, head.z - 0.055],
            [nose + 0.20, 0.210 * grow, over - 0.02, head.z - 0.010],
            [nose + 0.30, 0.222 * grow, over - 0.04, head.z - 0.020],
            [nose + 0.35, 0.210 * grow, over - 0.03, head.z - 0.060],
        ],
        2.6,
        6,
    );
    let apron = set_apron_lamps(bike, joints, &apron, nose, grow, long);
    bike.add_soft(Material::Paint, apron);
    // Leg shields from the apron to the floor.
    let outline = [
        [nose + 0.14, head.z - 0.10],
        [wheel - 0.015, over - 0.02],
        [wheel + 0.045, 0.330],
        [wheel + 0.090, 0.200],
        [wheel + 0.200, 0.185],
        [wheel + 0.190, 0.330],
        [nose + 0.400, over + 0.06],
        [nose + 0.365, head.z - 0.05],
    ];
    let out = |_: f32, z: f32| 0.228 * grow - 0.10 * (0.42 - z).max(0.0) - 0.06 * (z - 0.50).max(0.0);
    bike.add_pair(Material::Paint, panel(&outline, 0.12, out));
    // Inner wall towards the legs.
    let inner = hull_in_steps(
        &[
            [wheel + 0.005, 0.170, 0.20, over],
            [wheel + 0.055, 0.200, 0.20, over + 0.05],
            [wheel + 0.115, 0.200, 0.20, over + 0.06],
        ],
        4.0,
        4,
    );
    bike.add_soft(Material::MattBlack, inner);
    let upper = hull_in_steps(
        &[
            [nose + 0.28, 0.170 * grow, over - 0.02, head.z - 0.04],
            [nose + 0.385, 0.185 * grow, over - 0.06, head.z - 0.06],
            [nose + 0.410, 0.160 * grow, over - 0.02, head.z - 0.10],
        ],
        4.0,
        4,
    );
    bike.add_soft(Material::MattBlack, upper);
    // Cover of the bars.
    let cover = hull_in_steps(
        &[
            [head.x - 0.115, 0.060, head.z + 0.010, head.z + 0.060],
            [head.x - 0.06, 0.125, head.z - 0.020, head.z + 0.115],
            [head.x + 0.02, 0.165, head.z - 0.020, head.z + 0.145],
            [head.x + 0.09, 0.120, head.z + 0.040, head.z + 0.135],
        ],
        2.5,
        6,
    );
    bike.add_soft(if long { Material::MattBlack } else { Material::Paint }, cover);
    bike.add_soft(Material::GlossBlack, Solid::pin(head - Vec3::Z * 0.12, head + Vec3::Z * 0.03, 0.050, 14));
    if long {
        // A cabin has its own, up to the roof.
        if joints.design.family != Family::Cabin {
            bike.add_soft(
                Material::LampLens,
                screen([nose + 0.175, head.z - 0.020], [nose + 0.400, head.z + 0.310], [0.170, 0.200], 0.10),
            );
        }
        let visor = hull_in_steps(
            &[
                [nose + 0.13, 0.110, head.z - 0.080, head.z - 0.020],
                [nose + 0.22, 0.175, head.z - 0.060, head.z + 0.030],
                [nose + 0.30, 0.150, head.z - 0.050, head.z + 0.020],
            ],
            3.0,
            5,
        );
        bike.add_soft(Material::GlossBlack, visor);
        add_indicators(bike, Vec3::new(nose + 0.19, 0.17, head.z - 0.10));
    } else {
        let lamp = Solid::superellipsoid(Vec3::new(0.020, 0.060, 0.030), 2.8, 10, 22);
        bike.add_soft(Material::LampWhite, lamp.moved(Vec3::new(head.x - 0.092, 0.0, head.z + 0.050)));
        let amber = Solid::superellipsoid(Vec3::new(0.030, 0.030, 0.016), 2.4, 8, 18);
        bike.add_pair(Material::LampAmber, amber.moved(Vec3::new(nose + 0.118, 0.165, head.z - 0.120)));
    }
}

/// Sets the lamps into the apron's skin and gives what is left of it.
fn set_apron_lamps(bike: &mut Assembly, joints: &Joints, apron: &Solid, nose: f32, grow: f32, long: bool) -> Solid {
    let (outline, lights, pair): (&[[f32; 2]], usize, bool) = match joints.design.details.eyes {
        Eyes::Broad => (
            &[[-0.105, -0.150], [0.0, -0.142], [0.105, -0.150], [0.092, -0.192], [0.040, -0.222], [-0.040, -0.222], [-0.092, -0.192]],
            2,
            false,
        ),
        Eyes::Tall => (&[[-0.058, -0.135], [0.058, -0.135], [0.070, -0.175], [0.040, -0.236], [-0.040, -0.236], [-0.070, -0.175]], 2, false),
        Eyes::Twins => (&[[0.016, -0.170], [0.060, -0.150], [0.118, -0.138], [0.122, -0.170], [0.076, -0.212], [0.020, -0.222]], 1, true),
        Eyes::Slits => (&[[0.020, -0.180], [0.070, -0.156], [0.128, -0.140], [0.130, -0.158], [0.082, -0.190], [0.024, -0.206]], 1, true),
    };
    let size = if long { grow } else { grow * 0.92 };
    let outline: Vec<[f32; 2]> = outline.iter().map(|p| [p[0] * size, joints.head.z + (p[1] + 0.18) * size - 0.18]).collect();
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
    let body = hull_in_steps(
        &[
            [to + 0.00, 0.120 * grow, 0.245, seat.z - 0.20],
            [to + 0.08, 0.165 * grow, 0.235, seat.z - 0.085],
            [seat.x + 0.10, 0.200 * grow, 0.290, seat.z - 0.050],
            [rear.x - 0.08, 0.208 * grow, 0.400, seat.z - 0.025],
            [rear.x + 0.10, 0.178 * grow, 0.500, seat.z + lift - 0.040],
            [tail - 0.10, 0.115 * grow, 0.585, seat.z + lift - 0.040],
            [tail, 0.050, 0.660, seat.z + lift - 0.070],
        ],
        2.7,
        6,
    );
    bike.add_soft(Material::Paint, body);
    // A dark swage along the flank.
    let dark = [
        Vec3::new(to + 0.11, 0.172 * grow, 0.345),
        Vec3::new(seat.x + 0.14, 0.205 * grow, 0.430),
        Vec3::new(rear.x + 0.06, 0.188 * grow, 0.560),
        Vec3::new(tail - 0.09, 0.108 * grow, 0.655),
    ];
    bike.add_pair(
        Material::MattBlack,
        Solid::swept(&curve_through(&dark, 6), Vec3::Y, |_| rounded_rectangle(0.016, 0.010, 0.007)),
    );
    let saddle = if long {
        vec![
            [to + 0.02, 0.095, seat.z - 0.145, seat.z - 0.060],
            [to + 0.10, 0.145, seat.z - 0.120, seat.z - 0.005],
            [seat.x + 0.10, 0.175, seat.z - 0.080, seat.z + 0.005],
            [seat.x + 0.21, 0.165, seat.z - 0.060, seat.z + 0.060],
            [seat.x + 0.26, 0.150, seat.z - 0.050, seat.z + 0.115],
            [seat.x + 0.34, 0.155, seat.z - 0.040, seat.z + 0.100],
            [tail - 0.26, 0.130, seat.z - 0.020, seat.z + 0.115],
            [tail - 0.18, 0.080, seat.z - 0.010, seat.z + 0.085],
        ]
    } else {
        vec![
            [to + 0.02, 0.080, seat.z - 0.125, seat.z - 0.040],
            [to + 0.09, 0.125, seat.z - 0.105, seat.z + 0.005],
            [seat.x + 0.06, 0.155, seat.z - 0.080, seat.z + 0.010],
            [seat.x + 0.20, 0.160, seat.z - 0.070, seat.z + 0.022],
            [seat.x + 0.28, 0.150, seat.z - 0.060, seat.z + 0.060],
            [rear.x + 0.08, 0.120, seat.z - 0.050, seat.z + 0.058],
            [tail - 0.14, 0.080, seat.z - 0.050, seat.z + 0.025],
        ]
    };
    bike.add_soft(Material::Seat, hull_in_steps(&saddle, 3.0, 6));
    add_tail_lamp(bike, Vec3::new(tail - 0.024, 0.0, seat.z + lift - 0.115), Vec3::new(0.030, 0.085, 0.034));
    let amber = Solid::superellipsoid(Vec3::new(0.024, 0.024, 0.018), 2.3, 8, 16);
    bike.add_pair(Material::LampAmber, amber.moved(Vec3::new(tail - 0.055, 0.090, seat.z + lift - 0.120)));
    let high = seat.z + lift + if long { 0.020 } else { 0.015 };
    let rail = [
        Vec3::new(rear.x - 0.02, 0.150 * grow, high - 0.030),
        Vec3::new(rear.x + 0.14, 0.145 * grow, high + 0.010),
        Vec3::new(tail - 0.02, 0.070, high + 0.015),
        Vec3::new(tail, 0.0, high + 0.015),
    ];
    bike.add_pair(Material::Satin, Solid::tube(&curve_through(&rail, 6), 10, |_| 0.012));
    bike.add_soft(Material::Satin, Solid::pin(Vec3::new(tail - 0.04, 0.0, high - 0.10), rail[3], 0.014, 8));
    if joints.design.luggage != Luggage::None {
        let case = Solid::superellipsoid(Vec3::new(0.165, 0.185, 0.120), 3.4, 16, 32);
        let at = Vec3::new(tail - 0.06, 0.0, high + 0.125);
        bike.add_soft(Material::Paint, case.moved(at));
        let seam = Solid::superellipsoid(Vec3::new(0.168, 0.188, 0.010), 3.4, 8, 32);
        bike.add_soft(Material::MattBlack, seam.moved(at - Vec3::Z * 0.010));
        let plate = Solid::rounded_box(Vec3::new(0.110, 0.090, 0.012), 0.010);
        bike.add_soft(Material::MattBlack, plate.moved(at - Vec3::Z * 0.116));
    }
    let guard = [
        Vec3::new(rear.x + 0.10, 0.0, rear.z + 0.275),
        Vec3::new(tail - 0.05, 0.0, rear.z + 0.25),
        Vec3::new(tail - 0.01, 0.0, rear.z + 0.06),
    ];
    bike.add_soft(
        Material::MattBlack,
        Solid::swept(&curve_through(&guard, 5), Vec3::Y, |_| rounded_rectangle(0.008, 0.075, 0.006)),
    );
}

/// Engine and gear case on the left, silencer on the right, shock absorbers, stand.
fn add_drive(bike: &mut Assembly, joints: &Joints) {
    let (rear, seat) = (joints.rear_axle, joints.seat);
    let aside = joints.design.rear_tyre[1] / 2.0 + 0.060;
    let case = hull_in_steps(
        &[
            [rear.x - 0.38, 0.045, rear.z - 0.03, rear.z + 0.12],
            [rear.x - 0.24, 0.052, rear.z - 0.06, rear.z + 0.11],
            [rear.x + 0.02, 0.045, rear.z - 0.07, rear.z + 0.08],
            [rear.x + 0.09, 0.030, rear.z - 0.04, rear.z + 0.05],
        ],
        3.4,
        5,
    );
    bike.add_soft(Material::RimDark, case.moved(-Vec3::Y * aside));
    let block = Solid::rounded_box(Vec3::new(0.11, 0.13, 0.075), 0.03);
    bike.add_soft(Material::RimDark, block.moved(Vec3::new(rear.x - rear.z - 0.12, 0.0, rear.z + 0.06)));
    let muffler: Vec<Vec3> =
        (0..=6).map(|i| Vec3::new(rear.x - 0.20 + 0.082 * i as f32, aside + 0.02, rear.z + 0.016 * i as f32)).collect();
    let radii = [0.4, 0.85, 1.0, 1.0, 1.0, 0.95, 0.6];
    bike.add_soft(Material::MattBlack, Solid::tube(&muffler, 20, |i| 0.064 * radii[i]));
    let shield = Solid::superellipsoid(Vec3::new(0.15, 0.012, 0.040), 3.2, 10, 24);
    bike.add_soft(
        Material::Satin,
        shield.bent(|p| Vec3::new(rear.x + 0.03 + p.x, aside + 0.078 + p.y, rear.z + 0.045 + p.z + p.x * 0.19)),
    );
    let pipe =
        [Vec3::new(rear.x - rear.z - 0.10, 0.06, rear.z), Vec3::new(rear.x - 0.26, aside, rear.z - 0.05), muffler[1]];
    bike.add_soft(Material::Satin, Solid::tube(&curve_through(&pipe, 6), 12, |_| 0.018));
    let foot = rear + Vec3::new(0.03, aside - 0.02, 0.02);
    let top = Vec3::new(rear.x - 0.04, 0.110, seat.z - 0.17);
    add_shock(bike, foot, top, 0.025, true, Material::Satin);
    let stand = [
        Vec3::new(rear.x - 0.42, 0.09, 0.20),
        Vec3::new(rear.x - 0.34, 0.12, 0.10),
        Vec3::new(rear.x - 0.24, 0.13, 0.09),
    ];
    bike.add_pair(Material::GlossBlack, Solid::tube(&curve_through(&stand, 5), 8, |_| 0.011));
}

/// Arms and legs that carry two front wheels.
fn add_tilting_axle(bike: &mut Assembly, joints: &Joints) {
    let axle = joints.front_axle;
    let hub = Vec3::new(axis(joints, axle.z + 0.28), 0.0, axle.z + 0.26);
    for z in [0.0, 0.10] {
        let arm = [hub + Vec3::new(0.0, 0.0, z), Vec3::new(hub.x - 0.01, TILTING_TRACK - 0.085, hub.z + z)];
        bike.add_pair(Material::GlossBlack, Solid::tube(&arm, 12, |_| 0.020));
    }
    bike.add_soft(
        Material::GlossBlack,
        Solid::pin(hub - Vec3::Z * 0.03, Vec3::new(axis(joints, joints.head.z), 0.0, joints.head.z), 0.040, 14),
    );
    let leg = [
        axle + Vec3::new(0.0, TILTING_TRACK - 0.085, 0.0),
        Vec3::new(hub.x - 0.01, TILTING_TRACK - 0.085, hub.z + 0.14),
    ];
    bike.add_pair(Material::Satin, Solid::tube(&leg, 14, |_| 0.026));
    let stub = axle + Vec3::Y * (TILTING_TRACK - 0.10);
    bike.add_pair(Material::GlossBlack, Solid::pin(stub, stub + Vec3::Y * 0.10, 0.022, 12));
}

/// The frame that goes over the rider, with roof, windscreen and mirrors.
fn add_cabin(bike: &mut Assembly, joints: &Joints) {
    let (head, seat, rear) = (joints.head, joints.seat, joints.rear_axle);
    let nose = axis(joints, head.z - 0.16) - 0.190;
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

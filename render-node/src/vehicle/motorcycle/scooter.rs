//! Modern scooters: apron, floor board, body over the rear wheel.
//!
//! Long scooters have a screen, a spine to step over and a stepped seat. Tilting scooters have two
//! front wheels, and one family has a roof.

use glam::Vec3;

use super::cowl::{add_apron, add_bar_cover};
use super::design::{LampEra, Luggage};
use super::exhaust::add_silencer;
use super::joints::Joints;
use super::lamps::set_tail_lamp;
use super::seat::{add_plate_holder, add_seat_seams};
use super::shapes::{LoftedSkin, add_screen, add_shock, bolt, screen, tube, turned};
use super::shell::{Net, NetPanel, PanelEnd};
use super::style::Family;
use super::wheel::TILTING_TRACK;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

pub(super) fn add_scooter(bike: &mut Assembly, joints: &Joints) {
    let long = joints.design.family != Family::Scooter;
    add_apron(bike, joints, long);
    add_bar_cover(bike, joints, long);
    if long {
        add_screen_and_dashboard(bike, joints);
    }
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

/// Adds the screen of a long scooter, and the dark dashboard behind it. A cabin has a
/// screen of its own, up to the roof.
fn add_screen_and_dashboard(bike: &mut Assembly, joints: &Joints) {
    let (head, details) = (joints.head, &joints.design.details);
    let grow = details.apron;
    let x = joints.axis(head.z + 0.05);
    if joints.design.family != Family::Cabin {
        let top = [x + 0.095, head.z + 0.100 + 0.300 * details.screen.min(1.15)];
        let foot = [x - 0.205, head.z + 0.052];
        add_screen(bike, Material::ClearGlass, foot, top, [0.112 * grow, 0.185 * grow], 0.10);
    }
    let dashboard = LoftedSkin::new(
        &[
            [x - 0.190, 0.080 * grow, head.z - 0.040, head.z + 0.040],
            [x - 0.130, 0.112 * grow, head.z - 0.060, head.z + 0.084],
            [x - 0.060, 0.126 * grow, head.z - 0.060, head.z + 0.112],
            [x - 0.015, 0.105 * grow, head.z - 0.050, head.z + 0.090],
        ],
        3.2,
    );
    bike.add_soft(Material::MattBlack, dashboard.solid());
}

/// Adds the floor board with its mat and skirts, and the spine between the boards of a long
/// scooter. Returns x where the body behind it begins.
fn add_floor(bike: &mut Assembly, joints: &Joints, long: bool) -> f32 {
    let wheel = joints.front_axle.x + joints.front_axle.z;
    let floor = 0.262;
    let (from, to) = (wheel + 0.060, joints.seat.x - 0.16);
    let grow = if long { 1.12 } else { 1.0 } * joints.design.details.apron;
    // The floor is drawn out to a tip at the front and at the rear.
    let stations = [from - 0.045, from + 0.050, (from + to) * 0.5, to + 0.03, to + 0.15, to + 0.31];
    let line = |widths: [f32; 6], heights: [f32; 6]| -> Vec<Vec3> {
        (0..6).map(|i| Vec3::new(stations[i], widths[i] * grow, floor + heights[i])).collect()
    };
    let net = Net::new(vec![
        line([0.0; 6], [0.020, 0.004, 0.0, 0.004, 0.016, 0.030]),
        line([0.130, 0.164, 0.170, 0.164, 0.150, 0.120], [0.020, 0.004, 0.0, 0.004, 0.016, 0.030]),
        line([0.158, 0.200, 0.210, 0.206, 0.190, 0.148], [0.018, 0.006, 0.002, 0.012, 0.048, 0.110]),
        line([0.164, 0.208, 0.219, 0.215, 0.198, 0.152], [0.000, -0.016, -0.022, -0.008, 0.032, 0.102]),
        line([0.156, 0.192, 0.200, 0.196, 0.180, 0.148], [-0.030, -0.080, -0.094, -0.080, -0.026, 0.084]),
        line([0.110, 0.120, 0.125, 0.120, 0.105, 0.090], [-0.040, -0.096, -0.110, -0.098, -0.044, 0.074]),
        line([0.0; 6], [-0.042, -0.098, -0.112, -0.100, -0.046, 0.072]),
    ]);
    let mut add = |material, lines, sides| net.add(bike, material, &NetPanel { lines, stations: [0, 5], sides });
    add(Material::MattBlack, [0, 1], [PanelEnd::Joined, PanelEnd::Cut, PanelEnd::Free, PanelEnd::Free]);
    add(Material::Paint, [1, 2], [PanelEnd::Cut, PanelEnd::Joined, PanelEnd::Free, PanelEnd::Free]);
    add(Material::Paint, [2, 4], [PanelEnd::Joined, PanelEnd::Free, PanelEnd::Free, PanelEnd::Free]);
    add(Material::MattBlack, [4, 6], [PanelEnd::Free, PanelEnd::Joined, PanelEnd::Free, PanelEnd::Free]);
    // Ribs of the mat.
    for k in 0..6 {
        let y = 0.022 + 0.025 * k as f32;
        let rib = Solid::rounded_box(Vec3::new((to - from) * 0.40, 0.005, 0.003), 0.0025);
        if !long || y > 0.12 {
            bike.add_pair(Material::MattBlack, rib.moved(Vec3::new((from + to) * 0.5 + 0.02, y * grow, floor + 0.003)));
        }
    }
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

/// Adds the body over the rear wheel: two painted panels on each side over a dark one, a front
/// towards the rider's heels, and a tail with the lamp in it.
fn add_rear_body(bike: &mut Assembly, joints: &Joints, to: f32, long: bool) {
    let tail = joints.tail;
    let grow = if long { 1.12 } else { 1.0 } * joints.design.details.apron;
    let lift = if long { 0.075 } else { 0.020 } + joints.design.details.tail_rise.max(-0.02);
    let lines = body_lines(joints, to, grow, lift);
    let net = Net::new(lines.to_vec());
    let last = lines[0].len() - 1;
    let mut add = |material, lines, stations, sides| net.add(bike, material, &NetPanel { lines, stations, sides });
    let lower = if joints.design.details.accent { Material::MattBlack } else { Material::Paint };
    for (stations, front, back) in
        [([0, 1], PanelEnd::Joined, PanelEnd::Cut), ([1, last], PanelEnd::Cut, PanelEnd::Joined)]
    {
        add(Material::Paint, [0, 1], stations, [PanelEnd::Free, PanelEnd::Joined, front, back]);
        add(Material::Paint, [1, 2], stations, [PanelEnd::Joined, PanelEnd::Cut, front, back]);
    }
    add(lower, [2, 3], [0, last], [PanelEnd::Cut, PanelEnd::Free, PanelEnd::Joined, PanelEnd::Joined]);
    add_body_ends(bike, joints, &lines);
    add_body_inside(bike, joints, to);
    add_saddle(bike, joints, to, long);
    let corner = net.line(1, 4)[last * 4 - 2];
    let amber = Solid::superellipsoid(Vec3::new(0.026, 0.020, 0.013), 2.6, 12, 24);
    bike.add_pair(Material::LampAmber, amber.moved(corner - Vec3::new(0.0, 0.010, 0.004)));
    add_grab_rail(bike, joints, grow, lift, long);
    let holder = Vec3::new(tail - 0.075, 0.0, 0.640);
    add_plate_holder(bike, holder, Vec3::new(tail - 0.010, 0.0, 0.500));
    add_rear_guard(bike, joints);
}

/// Returns the feature lines of the rear body's right side: under the seat, its shoulder, over the
/// dark lower panel, lower edge.
fn body_lines(joints: &Joints, to: f32, grow: f32, lift: f32) -> [Vec<Vec3>; 4] {
    let (rear, seat, tail) = (joints.rear_axle, joints.seat, joints.tail);
    let stations = [to - 0.010, to + 0.080, seat.x + 0.10, rear.x - 0.08, rear.x + 0.12, tail - 0.10, tail - 0.006];
    // The front of the body leans back from the floor to the seat.
    let line = |lean: f32, widths: [f32; 7], heights: [f32; 7]| -> Vec<Vec3> {
        let x = |i: usize| stations[i] + lean * [1.0, 0.6, 0.2, 0.0, 0.0, 0.0, 0.0][i];
        (0..7).map(|i| Vec3::new(x(i), widths[i] * grow, heights[i])).collect()
    };
    let ratio = |t: f32| lift * t;
    let under = [-0.128, -0.086, -0.060, -0.044 + ratio(0.3), -0.034 + ratio(0.9), -0.034 + lift, -0.046 + lift];
    let shoulder = [-0.225, -0.160, -0.122, -0.102 + ratio(0.3), -0.086 + ratio(0.9), -0.076 + lift, -0.072 + lift];
    let top = seat.z + lift;
    [
        line(0.034, [0.090, 0.118, 0.142, 0.146, 0.124, 0.090, 0.062], under.map(|z| seat.z + z)),
        line(0.022, [0.116, 0.158, 0.194, 0.202, 0.176, 0.130, 0.080], shoulder.map(|z| seat.z + z)),
        line(
            -0.006,
            [0.124, 0.172, 0.212, 0.213, 0.175, 0.120, 0.072],
            [0.385, 0.390, 0.425, 0.475, 0.535, 0.592, top - 0.135],
        ),
        line(
            -0.022,
            [0.120, 0.168, 0.200, 0.186, 0.138, 0.090, 0.058],
            [0.245, 0.243, 0.285, 0.385, 0.485, 0.572, top - 0.150],
        ),
    ]
}

/// Adds the body's front behind the rider's heels, and its tail.
fn add_body_ends(bike: &mut Assembly, joints: &Joints, lines: &[Vec<Vec3>; 4]) {
    let last = lines[0].len() - 1;
    let ends = |station: usize, out: f32| -> [Vec<Vec3>; 2] {
        let edge: Vec<Vec3> = lines.iter().rev().map(|line| line[station]).collect();
        let middle = edge.iter().map(|p| Vec3::new(p.x + out, 0.0, p.z)).collect();
        [edge, middle]
    };
    // The upper side of the tail, behind the seat.
    let middle = lines[0].iter().map(|p| Vec3::new(p.x, 0.0, p.z + 0.006)).collect();
    let over = NetPanel { lines: [0, 1], stations: [last - 3, last], sides: [PanelEnd::Joined; 4] };
    Net::new(vec![middle, lines[0].clone()]).add(bike, Material::Paint, &over);
    let [edge, middle] = ends(0, -0.016);
    let sides = [PanelEnd::Joined, PanelEnd::Joined, PanelEnd::Free, PanelEnd::Free];
    let front = NetPanel { lines: [0, 1], stations: [0, 3], sides };
    Net::new(vec![middle, edge]).add(bike, Material::Paint, &front);
    let [edge, middle] = ends(last, 0.020);
    let tail = Net::new(vec![edge.clone(), middle]);
    let back = NetPanel { lines: [0, 1], stations: [0, 3], sides };
    let (low, high, half) = (edge[1].z - 0.004, edge[3].z - 0.010, edge[2].y * 0.92);
    let lens = [
        [-half, high - 0.018],
        [0.0, high],
        [half, high - 0.018],
        [half * 0.80, low + 0.010],
        [0.0, low],
        [-half * 0.80, low + 0.010],
    ];
    let skin = set_tail_lamp(bike, &tail.panel(&back), &lens, false, joints.tail - 0.10);
    bike.add_soft(Material::Paint, skin);
}

/// Adds the dark inside of the body, over the wheel.
fn add_body_inside(bike: &mut Assembly, joints: &Joints, to: f32) {
    let (rear, seat, tail) = (joints.rear_axle, joints.seat, joints.tail);
    let over = (rear.z * 2.0 + 0.025).min(seat.z - 0.13);
    let inside = hull_in_steps(
        &[
            [to + 0.034, 0.085, 0.250, seat.z - 0.126],
            [to + 0.100, 0.130, 0.245, seat.z - 0.070],
            [rear.x - rear.z - 0.02, 0.140, 0.330, seat.z - 0.050],
            [rear.x - 0.10, 0.130, over, seat.z - 0.030],
            [rear.x + 0.12, 0.110, over, seat.z - 0.030],
            [tail - 0.08, 0.060, over.max(0.60), seat.z - 0.040],
        ],
        4.0,
        5,
    );
    bike.add_soft(Material::Underbody, inside);
}

/// Adds the seat, which is stepped on long scooters.
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
            [to - 0.006, 0.044, seat.z - 0.112, seat.z - 0.076],
            [to + 0.004, 0.078, seat.z - 0.124, seat.z - 0.050],
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
    let cushion = LoftedSkin::new(&saddle, 3.2);
    bike.add_soft(Material::Seat, cushion.solid());
    let across: &[f32] = if long { &[seat.x + 0.12, seat.x + 0.30] } else { &[seat.x + 0.03, seat.x + 0.235] };
    add_seat_seams(bike, &cushion, [to + 0.05, tail - 0.20], across);
}

/// Adds the mudguard behind the rear wheel.
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

/// Adds the passenger's grab rail, and a top case on it.
fn add_grab_rail(bike: &mut Assembly, joints: &Joints, grow: f32, lift: f32, long: bool) {
    let (rear, seat, tail) = (joints.rear_axle, joints.seat, joints.tail);
    let high = seat.z + lift + if long { 0.020 } else { 0.015 };
    let rail = [
        Vec3::new(rear.x - 0.04, 0.134 * grow, seat.z - 0.072 + lift * 0.4),
        Vec3::new(rear.x + 0.05, 0.152 * grow, high - 0.010),
        Vec3::new(rear.x + 0.15, 0.142 * grow, high + 0.012),
        Vec3::new(tail - 0.03, 0.082, high + 0.015),
        Vec3::new(tail, 0.0, high + 0.015),
    ];
    let metal = if joints.design.details.era == LampEra::Led { Material::MattBlack } else { Material::Satin };
    bike.add_pair(metal, Solid::swept(&curve_through(&rail, 8), Vec3::Z, |_| rounded_rectangle(0.013, 0.010, 0.008)));
    bike.add_soft(metal, Solid::pin(Vec3::new(tail - 0.06, 0.0, high - 0.10), rail[4] - Vec3::X * 0.01, 0.016, 14));
    if joints.design.luggage != Luggage::None {
        let at = Vec3::new(tail - 0.06, 0.0, high + 0.135);
        let case = LoftedSkin::new(
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

/// Adds engine and gear case on the left, silencer on the right, shock absorbers and stand.
fn add_drive(bike: &mut Assembly, joints: &Joints) {
    let (rear, seat) = (joints.rear_axle, joints.seat);
    let aside = joints.design.rear_tyre[1] / 2.0 + 0.045;
    let case = LoftedSkin::new(
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
    // The joint of the cover, its bolts, and the fins of its air duct.
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
    let face = [[0.0, 0.044], [0.004, 0.042], [0.006, 0.037], [0.004, 0.032], [0.004, 0.0]];
    let front = Vec3::new(rear.x - 0.285, -aside - case.out(rear.x - 0.285, rear.z + 0.03) + 0.001, rear.z + 0.03);
    bike.add(Material::Satin, turned(&face, front, -Vec3::Y, 36));
    for k in 0..7 {
        let x = rear.x - 0.185 + 0.020 * k as f32;
        let z = rear.z + 0.012;
        let rib = Solid::rounded_box(Vec3::new(0.004, 0.005, 0.034), 0.003);
        bike.add(Material::RimDark, rib.moved(Vec3::new(x, -aside - case.out(x, z), z)));
    }
    // The box of the air filter over the case.
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

/// Adds arms and legs that carry two front wheels.
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

/// Adds the frame that goes over the rider, with roof, windscreen and mirrors.
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

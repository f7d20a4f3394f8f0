//! The steel scooter: leg shield with its horn cast, flat floor, rounded cowls beside
//! the rear wheel, lamp in the bar.

use glam::{Vec2, Vec3};

use super::exhaust::add_silencer;
use super::joints::Joints;
use super::lamps::{add_round_lamp, add_tail_lamp};
use super::seat::add_seat_seams;
use super::shapes::{LoftedSkin, seam_along, soft_max, tube, turned};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

/// Height of the floor, in metres.
const FLOOR: f32 = 0.265;

pub(super) fn add_vespa(bike: &mut Assembly, joints: &Joints) {
    let wheel = joints.front_axle.x + joints.front_axle.z;
    let (from, to) = (wheel + 0.035, joints.seat.x - 0.13);
    add_leg_shield(bike, joints, wheel);
    add_horn_cast(bike, joints);
    add_mudguard_shell(bike, joints);
    add_bar_cover(bike, joints);
    add_floor(bike, from, to);
    add_rear_body(bike, joints, FLOOR, to);
    add_tail(bike, joints);
    add_indicators(bike, joints);
    add_front_link(bike, joints.front_axle);
    add_engine(bike, joints.rear_axle);
    add_stand(bike, to);
}

/// Adds one sheet from the bar to the floor with a bright bead round
/// it, and the glove box behind it.
fn add_leg_shield(bike: &mut Assembly, joints: &Joints, wheel: f32) {
    let head = joints.head;
    let fork = |z: f32| joints.axis(z);
    // The edges of the shield are swept back.
    let shield: Vec<Vec<Vec3>> = (0..=22)
        .map(|row| {
            let t = row as f32 / 22.0;
            let z = head.z - 0.055 + (FLOOR - head.z + 0.045) * t;
            let x = soft_max(fork(z), wheel + 0.005 - 0.10 * (1.0 - t), 0.12) + 0.020 + 0.045 * t * t;
            let half = 0.085 + 0.185 * (std::f32::consts::PI * (0.06 + 0.62 * t)).sin().powf(0.75);
            let at = |across: f32, back: f32| Vec3::new(x + 0.120 * across.abs().powf(2.2) + back, across * half, z);
            (0..=16)
                .map(|k| at(k as f32 / 8.0 - 1.0, 0.0))
                .chain((0..=16).rev().map(|k| at(k as f32 / 8.0 - 1.0, 0.016)))
                .collect()
        })
        .collect();
    let bead: Vec<Vec3> = shield.iter().map(|ring| ring[16] + Vec3::new(0.006, 0.002, 0.0)).collect();
    // The joint of the floor's panel on the shield's inner side, and a glove box.
    let back: Vec<Vec3> = shield[13].iter().skip(18).map(|p| *p + Vec3::X * 0.0006).collect();
    bike.add_soft(Material::PanelGap, seam_along(&back));
    let chest = LoftedSkin::new(
        &[
            [fork(head.z - 0.20) + 0.020, 0.150, head.z - 0.330, head.z - 0.070],
            [fork(head.z - 0.20) + 0.090, 0.165, head.z - 0.325, head.z - 0.085],
            [fork(head.z - 0.20) + 0.115, 0.150, head.z - 0.300, head.z - 0.110],
        ],
        4.5,
    );
    bike.add_soft(Material::Paint, chest.solid());
    bike.add_soft(Material::PanelGap, chest.ring(fork(head.z - 0.20) + 0.096));
    bike.add_soft(Material::Paint, Solid::lofted_plate(&shield));
    bike.add_pair(Material::Chrome, tube(&bead, 8, |_| 0.008));
}

/// Adds the ridge down the shield's middle, over the steering tube, with the horn's grille.
fn add_horn_cast(bike: &mut Assembly, joints: &Joints) {
    let (head, front_axle) = (joints.head, joints.front_axle);
    let fork = |z: f32| joints.axis(z);
    let cast: Vec<Vec3> = (0..=8)
        .map(|i| head.z - 0.030 + (front_axle.z * 2.0 + 0.045 - head.z + 0.030) * i as f32 / 8.0)
        .map(|z| Vec3::new(fork(z) - 0.005, 0.0, z))
        .collect();
    let widths = [0.066, 0.062, 0.060, 0.062, 0.064, 0.064, 0.060, 0.054, 0.048];
    let oval = |half_long: f32, half_wide: f32| {
        (0..20)
            .map(|i| {
                let (sin, cos) = (std::f32::consts::TAU * i as f32 / 20.0).sin_cos();
                Vec2::new(half_long * cos, half_wide * sin)
            })
            .collect::<Vec<_>>()
    };
    bike.add_soft(Material::Paint, Solid::swept(&cast, Vec3::Y, |i| oval(widths[i] * 0.95, widths[i])));
    let z = head.z - 0.20;
    let grille = Solid::superellipsoid(Vec3::new(0.014, 0.034, 0.060), 2.8, 10, 22);
    bike.add_soft(Material::GlossBlack, grille.bent(|p| Vec3::new(fork(z + p.z) - 0.062 + p.x, p.y, z + p.z)));
    for rib in [-0.028, 0.0, 0.028] {
        let bar = Solid::rounded_box(Vec3::new(0.006, 0.029, 0.005), 0.004);
        bike.add_soft(Material::Chrome, bar.moved(Vec3::new(fork(z + rib) - 0.076, 0.0, z + rib)));
    }
}

/// Adds the bar's cover with the lamp in it, without a screen.
fn add_bar_cover(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let bar = hull_in_steps(
        &[
            [head.x - 0.115, 0.070, head.z - 0.045, head.z + 0.100],
            [head.x - 0.06, 0.105, head.z - 0.055, head.z + 0.135],
            [head.x + 0.02, 0.175, head.z - 0.015, head.z + 0.140],
            [head.x + 0.075, 0.190, head.z + 0.045, head.z + 0.130],
            [head.x + 0.105, 0.120, head.z + 0.070, head.z + 0.115],
        ],
        2.4,
        6,
    );
    bike.add_soft(Material::Paint, bar);
    add_round_lamp(
        bike,
        Vec3::new(head.x - 0.174, 0.0, head.z + 0.026),
        0.080,
        Material::Paint,
        joints.design.details.era,
    );
}

/// Adds the floor between two places, with its rubber strips.
fn add_floor(bike: &mut Assembly, from: f32, to: f32) {
    let floor = FLOOR;
    let board = hull_in_steps(
        &[
            [from - 0.01, 0.150, floor - 0.045, floor + 0.030],
            [from + 0.07, 0.205, floor - 0.060, floor],
            [(from + to) * 0.5, 0.220, floor - 0.060, floor - 0.006],
            [to + 0.05, 0.215, floor - 0.060, floor + 0.005],
            [to + 0.16, 0.160, floor - 0.030, floor + 0.030],
        ],
        5.0,
        5,
    );
    bike.add_soft(Material::Paint, board);
    for y in [0.055, 0.105, 0.155] {
        let strip = Solid::rounded_box(Vec3::new((to - from) * 0.44, 0.009, 0.005), 0.004);
        bike.add_pair(Material::MattBlack, strip.moved(Vec3::new((from + to) * 0.5 + 0.03, y, floor + 0.001)));
    }
}

/// Adds the tail lamp over the number plate.
fn add_tail(bike: &mut Assembly, joints: &Joints) {
    let (seat, tail) = (joints.seat, joints.tail);
    add_tail_lamp(bike, Vec3::new(tail - 0.030, 0.0, seat.z - 0.185), Vec3::new(0.036, 0.052, 0.045));
    let plate = [Vec3::new(tail - 0.06, 0.0, seat.z - 0.24), Vec3::new(tail - 0.015, 0.0, seat.z - 0.36)];
    bike.add_soft(Material::MattBlack, Solid::swept(&plate, Vec3::Y, |_| rounded_rectangle(0.006, 0.070, 0.005)));
}

/// Adds round indicators, each with a foot of bright metal.
fn add_indicators(bike: &mut Assembly, joints: &Joints) {
    let Joints { head, seat, tail, .. } = *joints;
    let fork = |z: f32| joints.axis(z);
    for (x, y, z, way) in [
        (tail - 0.070, 0.115, seat.z - 0.185, Vec3::new(0.85, 0.5, 0.0)),
        (fork(head.z - 0.16) + 0.015, 0.135, head.z - 0.155, Vec3::new(-0.95, 0.3, 0.0)),
    ] {
        let foot = [[-0.02, 0.0], [-0.02, 0.026], [0.004, 0.026], [0.006, 0.022]];
        let lens = [[0.005, 0.0225], [0.014, 0.0205], [0.021, 0.014], [0.024, 0.0]];
        bike.add_pair(Material::Chrome, turned(&foot, Vec3::new(x, y, z), way, 28));
        bike.add_pair(Material::LampAmber, turned(&lens, Vec3::new(x, y, z), way, 28));
    }
}

/// Adds the one link that holds the front wheel, on its left, beside the brake's drum.
fn add_front_link(bike: &mut Assembly, front_axle: Vec3) {
    let link = [
        front_axle + Vec3::new(0.0, -0.085, 0.0),
        front_axle + Vec3::new(0.075, -0.085, 0.055),
        front_axle + Vec3::new(0.045, -0.080, 0.19),
    ];
    bike.add_soft(Material::Satin, tube(&curve_through(&link, 6), 14, |_| 0.026));
    let drum = [(-0.085, 0.0), (-0.085, 0.060), (-0.045, 0.078), (0.0, 0.078)].map(|(a, r)| Vec2::new(a, r));
    bike.add_soft(Material::Satin, Solid::revolved(&drum, 48).moved(front_axle));
}

/// Adds the engine on the right behind the cowl, and its silencer.
fn add_engine(bike: &mut Assembly, rear_axle: Vec3) {
    let unit = hull_in_steps(
        &[
            [rear_axle.x - 0.26, 0.050, 0.17, 0.33],
            [rear_axle.x - 0.10, 0.065, 0.15, 0.36],
            [rear_axle.x + 0.05, 0.055, 0.16, 0.33],
            [rear_axle.x + 0.11, 0.035, 0.19, 0.28],
        ],
        3.0,
        5,
    );
    bike.add_soft(Material::RimDark, unit.moved(Vec3::Y * 0.095));
    let from = Vec3::new(rear_axle.x - 0.20, 0.150, 0.165);
    add_silencer(bike, Material::MattBlack, from, from + Vec3::new(0.43, 0.0, 0.060), 0.050);
}

fn add_stand(bike: &mut Assembly, to: f32) {
    let floor = FLOOR;
    let stand =
        [Vec3::new(to + 0.02, 0.09, floor - 0.04), Vec3::new(to + 0.14, 0.13, 0.09), Vec3::new(to + 0.18, 0.15, 0.09)];
    bike.add_pair(Material::Satin, tube(&curve_through(&stand, 5), 8, |_| 0.011));
}

/// Adds the front wheel's deep shell, which is closed at its sides and turns with the fork.
fn add_mudguard_shell(bike: &mut Assembly, joints: &Joints) {
    let axle = joints.front_axle;
    let loops: Vec<Vec<Vec3>> = (0..=20)
        .map(|i| {
            let angle = 0.30 + 2.42 * i as f32 / 20.0;
            let way = Vec3::new(angle.cos(), 0.0, angle.sin());
            let ends = ((angle - 1.50).abs() / 1.25).powi(4);
            let radius = axle.z + 0.040;
            let across = |k: usize| k as f32 / 6.0 - 1.0;
            let at = |a: f32, inside: f32| {
                let drop = 0.110 * a.abs().powf(2.6) * (1.0 - 0.75 * ends);
                axle + way * (radius - drop - inside) + Vec3::Y * (a * (0.090 - inside) * (1.0 - 0.35 * ends))
            };
            (0..=12).map(|k| at(across(k), 0.0)).chain((0..=12).rev().map(|k| at(across(k), 0.007))).collect()
        })
        .collect();
    bike.add_soft(Material::Paint, Solid::lofted_plate(&loops));
}

/// Adds the central body under the seat, a cowl on each side, and the seat.
fn add_rear_body(bike: &mut Assembly, joints: &Joints, floor: f32, to: f32) {
    let Joints { rear_axle, seat, tail, .. } = *joints;
    let body = LoftedSkin::new(
        &[
            [to - 0.02, 0.090, floor - 0.03, floor + 0.120],
            [to + 0.04, 0.125, floor - 0.02, seat.z - 0.175],
            [to + 0.12, 0.140, floor + 0.02, seat.z - 0.095],
            [seat.x + 0.10, 0.150, 0.360, seat.z - 0.070],
            [rear_axle.x, 0.145, rear_axle.z * 2.0 + 0.02, seat.z - 0.065],
            [rear_axle.x + 0.16, 0.120, rear_axle.z * 2.0 + 0.02, seat.z - 0.085],
            [tail - 0.04, 0.075, 0.440, seat.z - 0.140],
            [tail, 0.045, 0.430, seat.z - 0.210],
        ],
        2.6,
    );
    bike.add_soft(Material::Paint, body.solid());
    // The cowls: drops of steel, blunt in front, pointed behind.
    let cowl = LoftedSkin::new(
        &[
            [rear_axle.x - 0.345, 0.020, 0.375, 0.470],
            [rear_axle.x - 0.310, 0.048, 0.285, 0.575],
            [rear_axle.x - 0.215, 0.070, 0.212, 0.640],
            [rear_axle.x - 0.060, 0.080, 0.186, 0.662],
            [rear_axle.x + 0.080, 0.075, 0.208, 0.650],
            [rear_axle.x + 0.205, 0.054, 0.290, 0.600],
            [tail - 0.030, 0.018, 0.415, 0.500],
        ],
        2.7,
    );
    let lean = |p: Vec3| Vec3::new(p.x, p.y + 0.172 - 0.12 * (p.z - 0.42).max(0.0), p.z);
    bike.add_pair(Material::Paint, cowl.solid().bent(lean));
    // Vents pressed into the front of the cowl.
    for k in 0..5 {
        let x = rear_axle.x - 0.235 + 0.026 * k as f32;
        let slot = cowl.line(&[[x, 0.520], [x + 0.004, 0.485], [x + 0.012, 0.455]]);
        bike.add_pair(Material::PanelGap, tube(&slot, 8, |_| 0.0042).bent(lean));
    }
    // A bright strip along the cowl.
    let strip = [
        [rear_axle.x - 0.27, 0.400],
        [rear_axle.x - 0.06, 0.392],
        [rear_axle.x + 0.10, 0.396],
        [rear_axle.x + 0.20, 0.410],
    ];
    bike.add_pair(Material::Chrome, tube(&cowl.line(&strip), 8, |_| 0.0055).bent(lean));
    let saddle = LoftedSkin::new(
        &[
            [to + 0.075, 0.070, seat.z - 0.105, seat.z - 0.040],
            [to + 0.14, 0.120, seat.z - 0.105, seat.z - 0.005],
            [seat.x + 0.06, 0.150, seat.z - 0.095, seat.z + 0.000],
            [seat.x + 0.22, 0.155, seat.z - 0.090, seat.z + 0.022],
            [rear_axle.x + 0.06, 0.140, seat.z - 0.085, seat.z + 0.030],
            [tail - 0.13, 0.105, seat.z - 0.095, seat.z + 0.010],
            [tail - 0.10, 0.070, seat.z - 0.100, seat.z - 0.040],
        ],
        3.2,
    );
    bike.add_soft(Material::Seat, saddle.solid());
    add_seat_seams(bike, &saddle, [to + 0.11, tail - 0.14], &[seat.x + 0.10, seat.x + 0.17]);
    let rail = [
        Vec3::new(rear_axle.x - 0.02, 0.145, seat.z - 0.055),
        Vec3::new(rear_axle.x + 0.14, 0.140, seat.z - 0.010),
        Vec3::new(tail - 0.06, 0.070, seat.z - 0.010),
        Vec3::new(tail - 0.05, 0.0, seat.z - 0.010),
    ];
    bike.add_pair(Material::Chrome, tube(&curve_through(&rail, 6), 8, |_| 0.010));
}

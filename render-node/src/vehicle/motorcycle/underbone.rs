//! The step-through: a pressed spine between leg shields, and a small lying engine in view.

use glam::Vec3;

use super::engine::{Cover, add_cover};
use super::exhaust::add_silencer;
use super::joints::Joints;
use super::lamps::{add_indicators, add_rear_indicators, add_round_lamp, add_tail_lamp};
use super::seat::add_seat_seams;
use super::shapes::{LoftedSkin, add_shock, soft_max, tube};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

pub(super) fn add_underbone(bike: &mut Assembly, joints: &Joints) {
    let wheel = joints.front_axle.x + joints.front_axle.z;
    let engine = Vec3::new(wheel + 0.33, 0.0, joints.design.clearance + 0.11);
    add_fork_cover(bike, joints);
    add_spine(bike, joints, wheel);
    add_leg_shields(bike, joints, wheel);
    add_engine(bike, joints, engine);
    add_saddle(bike, joints);
    add_carrier(bike, joints);
    add_swing_arm(bike, joints.rear_axle);
    add_lamps(bike, joints);
}

/// Adds the steering head and the cover of the fork, down to the mudguard.
fn add_fork_cover(bike: &mut Assembly, joints: &Joints) {
    let (head, front_axle) = (joints.head, joints.front_axle);
    let fork = |z: f32| joints.axis(z);
    let low = front_axle.z * 2.0 - 0.06;
    let cover: Vec<Vec3> =
        (0..=6).map(|i| low + (head.z - 0.02 - low) * i as f32 / 6.0).map(|z| Vec3::new(fork(z), 0.0, z)).collect();
    let widths = [0.052, 0.056, 0.058, 0.060, 0.066, 0.074, 0.078];
    bike.add_soft(Material::Paint, Solid::swept(&cover, Vec3::Y, |i| rounded_rectangle(0.045, widths[i], 0.036)));
}

/// Adds the spine, which falls from the head, runs level over the engine, and rises under the seat.
fn add_spine(bike: &mut Assembly, joints: &Joints, wheel: f32) {
    let Joints { head, rear_axle, seat, tail, .. } = *joints;
    let fork = |z: f32| joints.axis(z);
    let spine = LoftedSkin::new(
        &[
            [fork(head.z - 0.20) + 0.02, 0.050, head.z - 0.30, head.z - 0.10],
            [fork(head.z - 0.20) + 0.11, 0.055, head.z - 0.40, head.z - 0.235],
            [wheel + 0.14, 0.060, 0.405, 0.520],
            [wheel + 0.28, 0.070, 0.365, 0.475],
            [seat.x - 0.20, 0.090, 0.375, 0.560],
            [seat.x - 0.10, 0.110, 0.430, seat.z - 0.085],
            [seat.x + 0.06, 0.120, 0.490, seat.z - 0.060],
            [rear_axle.x, 0.110, 0.560, seat.z - 0.055],
            [tail - 0.16, 0.085, 0.590, seat.z - 0.070],
            [tail - 0.06, 0.055, 0.600, seat.z - 0.100],
        ],
        2.7,
    );
    bike.add_soft(Material::Paint, spine.solid());
    bike.add_pair(
        Material::PanelGap,
        spine.seam(&[
            [seat.x - 0.08, seat.z - 0.120],
            [seat.x + 0.06, seat.z - 0.110],
            [rear_axle.x, seat.z - 0.105],
            [tail - 0.062, seat.z - 0.122],
        ]),
    );
    bike.add_pair(
        Material::PanelGap,
        spine.seam(&[[seat.x - 0.080, seat.z - 0.120], [seat.x - 0.075, 0.52], [seat.x - 0.045, 0.442]]),
    );
}

/// Adds one curved plate in front of the legs, open in the middle to the rear.
fn add_leg_shields(bike: &mut Assembly, joints: &Joints, wheel: f32) {
    let (head, clearance) = (joints.head, joints.design.clearance);
    let fork = |z: f32| joints.axis(z);
    let shield: Vec<Vec<Vec3>> = (0..=18)
        .map(|row| {
            let t = row as f32 / 18.0;
            let z = head.z - 0.150 + (clearance + 0.035 - head.z + 0.150) * t;
            let x = soft_max(fork(z), wheel + 0.010 - 0.05 * (1.0 - t), 0.10)
                + 0.045
                + 0.075 * (t - 0.55).max(0.0).powi(2) * 4.0;
            let half = 0.075 + 0.170 * (std::f32::consts::PI * (0.10 + 0.66 * t)).sin().powf(0.9);
            let at = |across: f32, back: f32| Vec3::new(x + 0.085 * across * across + back, across * half, z);
            (0..=14)
                .map(|k| at(k as f32 / 7.0 - 1.0, 0.0))
                .chain((0..=14).rev().map(|k| at(k as f32 / 7.0 - 1.0, 0.012)))
                .collect()
        })
        .collect();
    // The shields are pale plastic, whatever the paint.
    bike.add_soft(Material::GlossWhite, Solid::lofted_plate(&shield));
}

/// Adds the rider's saddle.
fn add_saddle(bike: &mut Assembly, joints: &Joints) {
    let seat = joints.seat;
    let saddle = LoftedSkin::new(
        &[
            [seat.x - 0.21, 0.070, seat.z - 0.070, seat.z - 0.010],
            [seat.x - 0.13, 0.110, seat.z - 0.085, seat.z + 0.012],
            [seat.x + 0.03, 0.135, seat.z - 0.080, seat.z + 0.005],
            [seat.x + 0.20, 0.135, seat.z - 0.075, seat.z + 0.020],
            [seat.x + 0.32, 0.110, seat.z - 0.070, seat.z + 0.020],
            [seat.x + 0.36, 0.080, seat.z - 0.065, seat.z - 0.015],
        ],
        3.2,
    );
    bike.add_soft(Material::Seat, saddle.solid());
    add_seat_seams(bike, &saddle, [seat.x - 0.18, seat.x + 0.33], &[seat.x + 0.05, seat.x + 0.18]);
}

/// Adds the carrier behind the saddle.
fn add_carrier(bike: &mut Assembly, joints: &Joints) {
    let (seat, tail) = (joints.seat, joints.tail);
    for y in [0.03, 0.085] {
        let run = [Vec3::new(seat.x + 0.28, y, seat.z - 0.065), Vec3::new(tail - 0.02, y, seat.z - 0.035)];
        bike.add_pair(Material::Chrome, tube(&run, 8, |_| 0.008));
    }
    for x in [0.10, 0.02] {
        let at = Vec3::new(tail - x, 0.0, seat.z - 0.037);
        bike.add_soft(Material::Chrome, Solid::pin(at - Vec3::Y * 0.09, at + Vec3::Y * 0.09, 0.008, 8));
    }
    bike.add_soft(
        Material::Chrome,
        Solid::pin(Vec3::new(tail - 0.10, 0.0, seat.z - 0.11), Vec3::new(tail - 0.08, 0.0, seat.z - 0.037), 0.012, 8),
    );
}

/// Adds swing arm, shock absorbers and chain case.
fn add_swing_arm(bike: &mut Assembly, rear_axle: Vec3) {
    let out = 0.082;
    let pivot = Vec3::new(rear_axle.x - 0.44, 0.0, rear_axle.z + 0.04);
    bike.add_pair(
        Material::Paint,
        Solid::swept(&[pivot + Vec3::Y * out, rear_axle + Vec3::new(0.03, out, 0.0)], Vec3::Y, |_| {
            rounded_rectangle(0.022, 0.012, 0.008)
        }),
    );
    bike.add(Material::GlossBlack, Solid::pin(pivot - Vec3::Y * out, pivot + Vec3::Y * out, 0.022, 12));
    let hang = Vec3::new(pivot.x - 0.02, 0.0, 0.45);
    bike.add_soft(Material::Paint, tube(&[pivot - Vec3::Z * 0.03, hang], 12, |_| 0.045));
    let foot = rear_axle + Vec3::Y * (out + 0.026);
    let top = Vec3::new(rear_axle.x - 0.09, out + 0.030, 0.620);
    add_shock(bike, foot, top, 0.024, true, Material::Chrome);
    bike.add_pair(Material::GlossBlack, Solid::pin(top - Vec3::Y * 0.05, top + Vec3::Y * 0.01, 0.012, 8));
    bike.add_pair(Material::GlossBlack, Solid::pin(foot - Vec3::Y * 0.05, foot + Vec3::Y * 0.01, 0.013, 8));
    let case = hull_in_steps(
        &[
            [pivot.x - 0.10, 0.022, pivot.z - 0.050, pivot.z + 0.040],
            [pivot.x + 0.10, 0.024, pivot.z - 0.075, pivot.z + 0.050],
            [rear_axle.x, 0.024, rear_axle.z - 0.075, rear_axle.z + 0.070],
            [rear_axle.x + 0.07, 0.020, rear_axle.z - 0.035, rear_axle.z + 0.035],
        ],
        3.0,
        5,
    );
    bike.add_soft(Material::Paint, case.moved(-Vec3::Y * (out - 0.012)));
}

/// Adds the handlebar's cover with the head lamp in it, the tail lamp, and the indicators.
fn add_lamps(bike: &mut Assembly, joints: &Joints) {
    let Joints { head, seat, tail, .. } = *joints;
    let bar = hull_in_steps(
        &[
            [head.x - 0.105, 0.070, head.z - 0.050, head.z + 0.085],
            [head.x - 0.06, 0.090, head.z - 0.060, head.z + 0.115],
            [head.x + 0.02, 0.100, head.z - 0.030, head.z + 0.130],
            [head.x + 0.075, 0.070, head.z + 0.020, head.z + 0.120],
        ],
        2.5,
        6,
    );
    bike.add_soft(Material::Paint, bar);
    add_round_lamp(
        bike,
        Vec3::new(head.x - 0.162, 0.0, head.z + 0.018),
        0.075,
        Material::Paint,
        joints.design.details.era,
    );
    add_indicators(bike, Vec3::new(head.x - 0.04, 0.07, head.z + 0.010));
    add_tail_lamp(bike, Vec3::new(tail - 0.045, 0.0, seat.z - 0.150), Vec3::new(0.035, 0.045, 0.038));
    add_rear_indicators(bike, Vec3::new(tail - 0.09, 0.05, seat.z - 0.145));
}

/// Adds the engine. Its cylinder lies forward between the leg shields, and one
/// pipe runs along the right side.
fn add_engine(bike: &mut Assembly, joints: &Joints, at: Vec3) {
    let rear_axle = joints.rear_axle;
    let case = hull_in_steps(
        &[
            [at.x - 0.10, 0.060, at.z - 0.060, at.z + 0.065],
            [at.x - 0.05, 0.105, at.z - 0.100, at.z + 0.095],
            [at.x + 0.08, 0.115, at.z - 0.105, at.z + 0.105],
            [at.x + 0.17, 0.085, at.z - 0.070, at.z + 0.090],
        ],
        3.4,
        5,
    );
    bike.add_soft(Material::Satin, case);
    for (x, radius) in [(0.0, 0.082), (0.115, 0.056)] {
        for side in [-1.0, 1.0] {
            let place = at + Vec3::new(x, 0.105, 0.005);
            let materials = [Material::Satin, Material::Satin];
            add_cover(bike, place, Cover { radius, tall: 0.026, side, materials, bolts: 6 });
        }
    }
    // The engine hangs on the spine.
    bike.add_soft(
        Material::GlossBlack,
        Solid::pin(at + Vec3::new(0.03, 0.0, 0.05), Vec3::new(at.x + 0.04, 0.0, 0.42), 0.040, 12),
    );
    let barrel = Solid::rounded_box(Vec3::new(0.11, 0.055, 0.055), 0.018);
    bike.add(Material::RimDark, barrel.moved(at + Vec3::new(-0.16, 0.0, 0.015)));
    for fin in 0..11 {
        let plate = Solid::superellipsoid(Vec3::new(0.0014, 0.070, 0.070), 3.6, 10, 32);
        bike.add(Material::Satin, plate.moved(at + Vec3::new(-0.108 - 0.0105 * fin as f32, 0.0, 0.015)));
    }
    let cap = Solid::rounded_box(Vec3::new(0.030, 0.062, 0.062), 0.016);
    bike.add_soft(Material::Satin, cap.moved(at + Vec3::new(-0.255, 0.0, 0.015)));
    let pipe = [
        at + Vec3::new(-0.24, 0.02, -0.04),
        at + Vec3::new(-0.22, 0.09, -0.11),
        at + Vec3::new(0.0, 0.135, -0.115),
        Vec3::new(rear_axle.x - 0.30, 0.140, at.z - 0.06),
    ];
    bike.add_soft(Material::Chrome, tube(&curve_through(&pipe, 7), 12, |_| 0.015));
    let from = pipe[3] - Vec3::X * 0.02;
    let to = Vec3::new(rear_axle.x + 0.20, 0.150, at.z + 0.02);
    add_silencer(bike, Material::Chrome, from, to, 0.037);
    // The foot rests.
    let rest = at + Vec3::new(0.03, 0.0, -0.105);
    bike.add(Material::GlossBlack, Solid::pin(rest - Vec3::Y * 0.20, rest + Vec3::Y * 0.20, 0.010, 10));
    for y in [-0.19, 0.19] {
        bike.add_soft(
            Material::MattBlack,
            Solid::pin(rest + Vec3::Y * (y - 0.04), rest + Vec3::Y * (y + 0.04), 0.016, 10),
        );
    }
}

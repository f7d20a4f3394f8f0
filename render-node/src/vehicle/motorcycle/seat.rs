//! Seat, side panels, tail and the high mudguard of off-road bikes.

use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use glam::Vec3;

use super::Joints;
use super::design::{Guard, Luggage, Nose, Seat};
use super::lamps::{add_rear_indicators, add_tail_lamp};
use super::shapes::panel;
use super::style::Family;
use super::tank::tank_span;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

pub(super) fn add_seat_and_tail(bike: &mut Assembly, joints: &Joints) {
    match joints.design.seat {
        Seat::Stepped => add_stepped_seat(bike, joints),
        Seat::Rail => add_rail_seat(bike, joints),
        _ => add_cushions(bike, joints),
    }
    add_side_panels(bike, joints);
}

fn add_stepped_seat(bike: &mut Assembly, joints: &Joints) {
    let (seat, tail) = (joints.seat, joints.tail);
    let end = tank_span(joints).1;
    let sport = joints.design.nose == Nose::Sport;
    let rise = if sport { 0.13 } else { 0.085 } + joints.design.details.tail_rise;
    let saddle = hull_in_steps(
        &[
            [end - 0.02, 0.070, seat.z - 0.06, seat.z + 0.020],
            [seat.x - 0.02, 0.118, seat.z - 0.06, seat.z + 0.004],
            [seat.x + 0.14, 0.145, seat.z - 0.05, seat.z + 0.020],
            [seat.x + 0.21, 0.125, seat.z - 0.03, seat.z + 0.030 + rise * 0.5],
            [seat.x + 0.30, 0.105, seat.z + 0.01, seat.z + 0.040 + rise * 0.9],
            [tail - 0.20, 0.080, seat.z + rise * 0.6, seat.z + 0.040 + rise],
            [tail - 0.16, 0.050, seat.z + rise * 0.6, seat.z + 0.015 + rise],
        ],
        2.8,
        5,
    );
    bike.add_soft(Material::Seat, saddle);
    let shell = hull_in_steps(
        &[
            [seat.x - 0.12, 0.070, seat.z - 0.11, seat.z - 0.035],
            [seat.x + 0.04, 0.120, seat.z - 0.125, seat.z - 0.020],
            [seat.x + 0.22, 0.128, seat.z - 0.075, seat.z + 0.020 + rise * 0.2],
            [tail - 0.22, 0.098, seat.z - 0.01, seat.z + 0.010 + rise * 0.85],
            [tail - 0.07, 0.062, seat.z + rise * 0.55, seat.z + 0.025 + rise * 1.05],
            [tail, 0.026, seat.z + rise * 0.85, seat.z + 0.015 + rise * 1.05],
        ],
        3.0,
        6,
    );
    bike.add_soft(Material::Paint, shell);
    // A cover turns the passenger's seat into a hump.
    if joints.design.details.solo && !joints.design.hand_guards {
        let hump = hull_in_steps(
            &[
                [seat.x + 0.175, 0.090, seat.z - 0.02, seat.z + 0.045 + rise * 0.5],
                [seat.x + 0.235, 0.124, seat.z - 0.01, seat.z + 0.060 + rise * 0.72],
                [seat.x + 0.320, 0.112, seat.z + 0.02, seat.z + 0.056 + rise],
                [tail - 0.17, 0.084, seat.z + rise * 0.6, seat.z + 0.058 + rise],
                [tail - 0.10, 0.050, seat.z + rise * 0.7, seat.z + 0.030 + rise],
            ],
            2.5,
            6,
        );
        bike.add_soft(Material::Paint, hump);
    }
    // Plate holder and rear lamps.
    let holder = [
        Vec3::new(tail - 0.16, 0.0, seat.z + rise * 0.45),
        Vec3::new(tail - 0.05, 0.0, seat.z - 0.08),
        Vec3::new(tail - 0.01, 0.0, seat.z - 0.20),
    ];
    bike.add_soft(
        Material::MattBlack,
        Solid::swept(&curve_through(&holder, 5), Vec3::Y, |_| rounded_rectangle(0.010, 0.050, 0.006)),
    );
    add_tail_lamp(bike, Vec3::new(tail - 0.018, 0.0, seat.z + 0.012 + rise * 0.94), Vec3::new(0.026, 0.048, 0.020));
    add_rear_indicators(bike, Vec3::new(tail - 0.06, 0.04, seat.z - 0.07));
    if joints.design.hand_guards {
        // Carrier behind the seat.
        let rack = hull_in_steps(
            &[
                [tail - 0.24, 0.090, seat.z + rise + 0.020, seat.z + rise + 0.040],
                [tail - 0.02, 0.105, seat.z + rise + 0.030, seat.z + rise + 0.050],
                [tail + 0.03, 0.080, seat.z + rise + 0.032, seat.z + rise + 0.052],
            ],
            5.0,
            4,
        );
        bike.add(Material::MattBlack, rack);
    }
}

fn add_rail_seat(bike: &mut Assembly, joints: &Joints) {
    let (seat, tail) = (joints.seat, joints.tail);
    let end = tank_span(joints).1;
    let trial = joints.design.family == Family::Trial;
    let front = if trial { end } else { end - 0.20 };
    let lift = if trial { 0.0 } else { 0.025 };
    let saddle = hull_in_steps(
        &[
            [front, 0.050, seat.z - 0.04, seat.z + lift * 1.8],
            [front + 0.08, 0.078, seat.z - 0.07, seat.z + lift * 1.9],
            [seat.x - 0.02, 0.088, seat.z - 0.09, seat.z],
            [seat.x + 0.22, 0.088, seat.z - 0.075, seat.z + lift * 0.8],
            [tail - 0.24, 0.060, seat.z - 0.03, seat.z + lift * 1.6],
            [tail - 0.21, 0.040, seat.z - 0.01, seat.z + lift * 1.2],
        ],
        3.2,
        6,
    );
    bike.add_soft(Material::Seat, saddle);
    // Slim tail that is the mudguard as well.
    let guard = hull_in_steps(
        &[
            [seat.x - 0.02, 0.080, seat.z - 0.15, seat.z - 0.065],
            [seat.x + 0.18, 0.096, seat.z - 0.120, seat.z - 0.040],
            [tail - 0.22, 0.088, seat.z - 0.060, seat.z + lift * 0.8],
            [tail - 0.07, 0.072, seat.z - 0.004, seat.z + 0.018 + lift],
            [tail, 0.050, seat.z + 0.018 + lift, seat.z + 0.030 + lift],
        ],
        3.0,
        6,
    );
    bike.add_soft(Material::Paint, guard);
    if joints.design.nose == Nose::Mask {
        add_tail_lamp(bike, Vec3::new(tail - 0.025, 0.0, seat.z - 0.012), Vec3::new(0.028, 0.038, 0.020));
        let plate = [
            Vec3::new(tail - 0.10, 0.0, seat.z - 0.02),
            Vec3::new(tail - 0.03, 0.0, seat.z - 0.10),
            Vec3::new(tail - 0.01, 0.0, seat.z - 0.18),
        ];
        bike.add_soft(
            Material::MattBlack,
            Solid::swept(&curve_through(&plate, 5), Vec3::Y, |_| rounded_rectangle(0.008, 0.055, 0.005)),
        );
        add_rear_indicators(bike, Vec3::new(tail - 0.09, 0.03, seat.z - 0.04));
    }
}

/// Seats of padded cushions over a mudguard: benches, saddles, armchairs.
fn add_cushions(bike: &mut Assembly, joints: &Joints) {
    let (seat, design, rear) = (joints.seat, &joints.design, joints.rear_axle);
    let end = tank_span(joints).1;
    let back = match design.seat {
        Seat::Bench | Seat::Hump => rear.x + design.tail * 0.36,
        _ => rear.x + 0.08,
    };
    let saddle = match design.seat {
        Seat::Bench => vec![
            [end - 0.01, 0.085, seat.z - 0.07, seat.z + 0.025],
            [end + 0.06, 0.115, seat.z - 0.08, seat.z + 0.030],
            [seat.x + 0.12, 0.130, seat.z - 0.08, seat.z + 0.010],
            [back - 0.12, 0.125, seat.z - 0.07, seat.z + 0.035],
            [back - 0.02, 0.110, seat.z - 0.06, seat.z + 0.030],
            [back, 0.090, seat.z - 0.05, seat.z + 0.005],
        ],
        Seat::Hump => vec![
            [end - 0.01, 0.085, seat.z - 0.07, seat.z + 0.020],
            [end + 0.06, 0.112, seat.z - 0.08, seat.z + 0.015],
            [seat.x + 0.12, 0.125, seat.z - 0.08, seat.z + 0.000],
            [back - 0.16, 0.115, seat.z - 0.07, seat.z + 0.020],
        ],
        Seat::Armchair => vec![
            [end - 0.02, 0.085, seat.z - 0.08, seat.z + 0.030],
            [seat.x - 0.02, 0.170, seat.z - 0.10, seat.z + 0.000],
            [seat.x + 0.13, 0.195, seat.z - 0.10, seat.z + 0.025],
            [seat.x + 0.21, 0.185, seat.z - 0.06, seat.z + 0.130],
            [seat.x + 0.29, 0.190, seat.z - 0.05, seat.z + 0.105],
            [back + 0.06, 0.190, seat.z - 0.05, seat.z + 0.110],
            [back + 0.12, 0.150, seat.z - 0.03, seat.z + 0.100],
        ],
        _ => vec![
            [end - 0.02, 0.075, seat.z - 0.07, seat.z + 0.030],
            [seat.x - 0.04, 0.150, seat.z - 0.09, seat.z + 0.000],
            [seat.x + 0.12, 0.178, seat.z - 0.08, seat.z + 0.030],
            [seat.x + 0.20, 0.155, seat.z - 0.05, seat.z + 0.095],
            [seat.x + 0.27, 0.115, seat.z - 0.03, seat.z + 0.080],
            [back + 0.02, 0.095, seat.z - 0.03, seat.z + 0.080],
            [back + 0.10, 0.065, seat.z - 0.03, seat.z + 0.045],
        ],
    };
    bike.add_soft(Material::Seat, hull_in_steps(&saddle, 3.0, 6));
    if design.seat == Seat::Bench {
        let piping = [
            Vec3::new(end + 0.05, 0.117, seat.z - 0.045),
            Vec3::new(seat.x + 0.12, 0.131, seat.z - 0.052),
            Vec3::new(back - 0.04, 0.116, seat.z - 0.035),
        ];
        bike.add_pair(Material::Chrome, Solid::tube(&curve_through(&piping, 6), 8, |_| 0.005));
    }
    if design.seat == Seat::Hump {
        let hump = hull_in_steps(
            &[
                [back - 0.22, 0.112, seat.z - 0.065, seat.z + 0.010],
                [back - 0.14, 0.122, seat.z - 0.075, seat.z + 0.065],
                [back - 0.02, 0.110, seat.z - 0.065, seat.z + 0.075],
                [back + 0.09, 0.050, seat.z - 0.020, seat.z + 0.035],
            ],
            2.6,
            6,
        );
        bike.add_soft(Material::Paint, hump);
    }
    // Under the seat, between the frame's rails, down to the mudguard.
    let pan = hull_in_steps(
        &[
            [end + 0.02, 0.075, seat.z - 0.13, seat.z - 0.05],
            [seat.x + 0.10, 0.095, seat.z - 0.16, seat.z - 0.06],
            [back - 0.04, 0.075, seat.z - 0.13, seat.z - 0.04],
        ],
        4.0,
        4,
    );
    bike.add(Material::MattBlack, pan);
    // The lamp sits on the rear mudguard; bags and trunks have their own.
    let angle = 0.62_f32;
    let radius = rear.z + 0.085;
    let at = Vec3::new(rear.x + radius * angle.cos(), 0.0, rear.z + radius * angle.sin());
    add_tail_lamp(bike, at + Vec3::new(0.0, 0.0, 0.015), Vec3::new(0.034, 0.046, 0.036));
    bike.add_soft(Material::GlossBlack, Solid::pin(at - Vec3::new(0.07, 0.0, 0.05), at, 0.026, 12));
    if design.luggage != Luggage::BagsAndTrunk {
        add_rear_indicators(bike, at - Vec3::new(0.03, 0.0, 0.02));
    }
}

/// Covers below the seat, and the front mudguard of off-road bikes.
fn add_side_panels(bike: &mut Assembly, joints: &Joints) {
    let (seat, pivot, design) = (joints.seat, joints.pivot, &joints.design);
    let outline = match design.seat {
        Seat::Bench | Seat::Hump => vec![
            [pivot.x - 0.10, seat.z - 0.12],
            [pivot.x - 0.04, pivot.z + 0.11],
            [pivot.x + 0.09, pivot.z + 0.10],
            [pivot.x + 0.20, seat.z - 0.14],
            [pivot.x + 0.10, seat.z - 0.095],
        ],
        Seat::Rail if design.family != Family::Trial => vec![
            [pivot.x - 0.06, seat.z - 0.10],
            [pivot.x + 0.02, seat.z - 0.28],
            [pivot.x + 0.17, seat.z - 0.27],
            [joints.tail - 0.34, seat.z - 0.10],
            [joints.tail - 0.22, seat.z - 0.02],
            [seat.x, seat.z - 0.045],
        ],
        Seat::Armchair if design.family == Family::Tourer => vec![
            [pivot.x - 0.20, seat.z - 0.10],
            [pivot.x - 0.10, pivot.z + 0.03],
            [pivot.x + 0.12, pivot.z + 0.02],
            [joints.rear_axle.x - 0.10, seat.z - 0.16],
            [joints.rear_axle.x + 0.10, seat.z - 0.06],
            [joints.rear_axle.x - 0.06, seat.z - 0.02],
            [seat.x, seat.z - 0.045],
        ],
        Seat::Saddle | Seat::Armchair => vec![
            [pivot.x - 0.12, seat.z - 0.08],
            [pivot.x - 0.05, pivot.z + 0.09],
            [pivot.x + 0.10, pivot.z + 0.08],
            [pivot.x + 0.17, seat.z - 0.10],
            [pivot.x + 0.02, seat.z - 0.055],
        ],
        _ => vec![
            [pivot.x - 0.10, seat.z - 0.10],
            [pivot.x - 0.02, pivot.z + 0.14],
            [pivot.x + 0.10, pivot.z + 0.15],
            [pivot.x + 0.22, seat.z - 0.10],
            [pivot.x + 0.06, seat.z - 0.055],
        ],
    };
    let middle = outline.iter().map(|p| p[0]).sum::<f32>() / outline.len() as f32;
    let (out, curve) = match design.seat {
        Seat::Rail => (0.125, 0.55),
        Seat::Armchair if design.family == Family::Tourer => (0.190, 0.10),
        _ => (0.138, 0.55),
    };
    let bulge = move |x: f32, _z: f32| out - curve * (x - middle).powi(2);
    let material = if design.seat == Seat::Stepped { Material::MattBlack } else { Material::Paint };
    bike.add_pair(material, panel(&outline, 0.045, bulge));
    if design.guard == Guard::High {
        add_high_mudguard(bike, joints);
    }
}

/// The long blade under the fork's clamps.
fn add_high_mudguard(bike: &mut Assembly, joints: &Joints) {
    let wheel = joints.front_axle;
    let top = wheel.z * 2.0 + 0.085;
    let root = joints.head.x - (joints.head.z - top) * joints.design.rake.tan();
    let path = [
        Vec3::new(root + 0.22, 0.0, top - 0.09),
        Vec3::new(root + 0.10, 0.0, top - 0.005),
        Vec3::new(root - 0.02, 0.0, top + 0.020),
        Vec3::new(wheel.x - 0.12, 0.0, top + 0.010),
        Vec3::new(wheel.x - 0.34, 0.0, top - 0.045),
    ];
    let curve = curve_through(&path, 6);
    let last = (curve.len() - 1) as f32;
    let loops: Vec<Vec<Vec3>> = curve
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let t = i as f32 / last;
            let half = 0.072 - 0.020 * (2.0 * t - 0.75).powi(2);
            let across = |k: usize| k as f32 / 5.0 - 1.0;
            let upper = (0..=10).map(|k| (across(k), 0.0));
            let lower = (0..=10).rev().map(|k| (across(k), 0.007));
            upper
                .chain(lower)
                .map(|(a, drop)| *p + Vec3::new(0.0, a * half, -0.030 * a.abs().powf(2.5) - drop))
                .collect()
        })
        .collect();
    bike.add_soft(Material::Paint, Solid::lofted_plate(&loops));
    // Fixed to the lower clamp.
    let clamp = Vec3::new(joints.head.x - (joints.head.z - top) * joints.design.rake.tan() + 0.01, 0.0, top);
    bike.add_soft(
        Material::GlossBlack,
        Solid::pin(clamp - Vec3::Z * 0.01, clamp + Vec3::new(0.02, 0.0, 0.10), 0.030, 12),
    );
}

//! Wheels of a two-wheeler: round tyre, rim that can be looked through, spokes or wires, brake disc, mudguards.

use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

use super::{Bike, Joints, Style};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::{Solid, rounded_rectangle};

const SEGMENTS: usize = 72;

struct Looks {
    tyre_width: f32,
    rim_radius: f32,
    spokes: usize,
    /// Wires cross in pairs; blades are straight.
    wires: bool,
    discs: &'static [f32],
}

pub(super) fn add_wheels(bike: &mut Bike, joints: &Joints) {
    let (front, rear) = match joints.style {
        Style::Naked | Style::Sport => (
            Looks { tyre_width: 0.120, rim_radius: 0.222, spokes: 5, wires: false, discs: &[-0.075, 0.075] },
            Looks { tyre_width: 0.180, rim_radius: 0.222, spokes: 5, wires: false, discs: &[0.085] },
        ),
        Style::Cruiser => (
            Looks { tyre_width: 0.120, rim_radius: 0.242, spokes: 20, wires: true, discs: &[0.075] },
            Looks { tyre_width: 0.170, rim_radius: 0.205, spokes: 20, wires: true, discs: &[0.085] },
        ),
        Style::Scooter => (
            Looks { tyre_width: 0.110, rim_radius: 0.160, spokes: 5, wires: false, discs: &[0.065] },
            Looks { tyre_width: 0.130, rim_radius: 0.160, spokes: 5, wires: false, discs: &[] },
        ),
    };
    add_wheel(bike, joints.front_axle, joints.front_axle.z, &front);
    add_wheel(bike, joints.rear_axle, joints.rear_axle.z, &rear);
    let [cover_front, cover_rear] = match joints.style {
        Style::Cruiser => [(0.55, 2.75), (0.25, 2.45)],
        Style::Scooter => [(0.75, 2.65), (0.4, 2.3)],
        _ => [(0.90, 2.60), (1.25, 2.75)],
    };
    add_mudguard(bike, joints.front_axle, joints.front_axle.z + 0.022, front.tyre_width * 0.62, cover_front);
    if joints.style != Style::Scooter {
        let gap = if joints.style == Style::Cruiser { 0.05 } else { 0.025 };
        add_mudguard(bike, joints.rear_axle, joints.rear_axle.z + gap, rear.tyre_width * 0.58, cover_rear);
    }
}

fn add_wheel(bike: &mut Bike, axle: Vec3, radius: f32, looks: &Looks) {
    let half = looks.tyre_width / 2.0;
    let wall = radius - looks.rim_radius;
    // Round from bead to bead: a motorcycle leans on its shoulders.
    let tyre: Vec<Vec2> = (0..=18)
        .map(|i| {
            let turn = -2.5 + 5.0 * i as f32 / 18.0;
            let reach = half * turn.sin().signum() * turn.sin().abs().min(1.0);
            let height = radius - wall * 0.56 + wall * 0.56 * turn.cos() * if turn.cos() < 0.0 { 0.9 } else { 1.0 };
            Vec2::new(reach, height)
        })
        .collect();
    bike.add_soft(Material::Tyre, Solid::revolved(&tyre, SEGMENTS).moved(axle));
    let edge = looks.rim_radius + 0.008;
    let bed = looks.rim_radius - 0.020;
    // The bed looks to the axle; walked from +y to -y outside is to the left.
    let inner: Vec<Vec2> = [
        (half * 0.84, edge),
        (half * 0.82, edge - 0.010),
        (half * 0.55, bed),
        (0.0, bed - 0.006),
        (-half * 0.55, bed),
        (-half * 0.82, edge - 0.010),
        (-half * 0.84, edge),
    ]
    .map(|(a, r)| Vec2::new(a, r))
    .to_vec();
    let rim_material = if looks.wires { Material::Chrome } else { Material::RimDark };
    bike.add(rim_material, Solid::revolved(&inner, SEGMENTS).moved(axle));

    let hub_half = half * 0.75;
    let hub_radius = if looks.wires { 0.045 } else { 0.050 };
    let hub = [
        (-hub_half, 0.0),
        (-hub_half, hub_radius * 0.9),
        (-hub_half * 0.5, hub_radius),
        (hub_half * 0.5, hub_radius),
        (hub_half, hub_radius * 0.9),
        (hub_half, 0.0),
    ]
    .map(|(a, r)| Vec2::new(a, r));
    bike.add(if looks.wires { Material::Chrome } else { Material::RimDark }, Solid::revolved(&hub, 32).moved(axle));
    let pin = Solid::pin(axle - Vec3::Y * (half + 0.07), axle + Vec3::Y * (half + 0.07), 0.012, 12);
    bike.add(Material::Satin, pin);

    for number in 0..looks.spokes {
        let turn = TAU * (number as f32 + 0.25) / looks.spokes as f32;
        let at = |angle: f32, r: f32, y: f32| axle + Vec3::new(r * angle.cos(), y, r * angle.sin());
        if looks.wires {
            for (side, cross) in [(-1.0, 0.32), (1.0, -0.32), (-1.0, -0.32), (1.0, 0.32)] {
                let from = at(turn, hub_radius * 0.95, side * hub_half * 0.8);
                let to = at(turn + cross, bed, side * half * 0.15);
                bike.add_soft(Material::Chrome, Solid::tube(&[from, to], 5, |_| 0.0022));
            }
        } else {
            for lean in [-0.085, 0.085] {
                let path = [
                    at(turn + lean * 0.4, hub_radius * 0.8, 0.0),
                    at(turn + lean * 1.0, (hub_radius + bed) / 2.0, 0.0),
                    at(turn + lean * 1.7, bed + 0.004, 0.0),
                ];
                let widths = [0.020, 0.014, 0.022];
                let spoke = Solid::swept(&path, Vec3::Y, |i| rounded_rectangle(0.010, widths[i], 0.005));
                bike.add_soft(Material::RimDark, spoke);
            }
        }
    }
    for y in looks.discs {
        let outer = (looks.rim_radius - 0.055).min(0.160);
        let ring = [
            (-0.0025, outer * 0.70),
            (-0.0025, outer),
            (0.0025, outer),
            (0.0025, outer * 0.70),
            (-0.0025, outer * 0.70),
        ]
        .map(|(a, r)| Vec2::new(a, r));
        bike.add(Material::BrakeDisc, Solid::revolved(&ring, 56).moved(axle + Vec3::Y * *y));
        let carrier: Vec<Solid> = (0..6)
            .map(|i| {
                let (sin, cos) = (TAU * i as f32 / 6.0).sin_cos();
                let way = Vec3::new(cos, 0.0, sin);
                Solid::pin(axle + Vec3::Y * *y + way * 0.03, axle + Vec3::Y * *y + way * outer * 0.74, 0.007, 6)
            })
            .collect();
        for pin in carrier {
            bike.add_soft(Material::RimDark, pin);
        }
        let caliper = Solid::rounded_box(Vec3::new(0.045, 0.022, 0.032), 0.012)
            .moved(axle + Vec3::new(outer * 0.78, *y, outer * 0.42 + 0.01));
        bike.add_soft(Material::GlossBlack, caliper);
    }
}

/// A band over the tyre between two angles, measured from the rear horizontal upwards and on to the front.
fn add_mudguard(bike: &mut Bike, axle: Vec3, radius: f32, half_width: f32, (from, to): (f32, f32)) {
    let loops: Vec<Vec<Vec3>> = (0..=20)
        .map(|i| {
            let t = i as f32 / 20.0;
            let angle = from + (to - from) * t;
            let narrow = 1.0 - 0.35 * (2.0 * t - 1.0).abs().powi(4);
            let way = Vec3::new(angle.cos(), 0.0, angle.sin());
            // An arch of thin section: outside and back along the inside.
            let across = |k: usize| 2.0 * k as f32 / 10.0 - 1.0;
            (0..=10)
                .map(|k| (across(k), 0.0))
                .chain((0..=10).rev().map(|k| (across(k), 0.006)))
                .map(|(across, drop)| {
                    let fall = 0.055 * across.abs().powi(3) * (half_width / 0.09);
                    axle + way * (radius + 0.010 - fall - drop) + Vec3::Y * (across * half_width * narrow)
                })
                .collect()
        })
        .collect();
    bike.add_soft(Material::Paint, Solid::lofted(&loops));
}

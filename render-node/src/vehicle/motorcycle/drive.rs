//! The drive of the rear wheel and its mount: swing arm, shock absorbers, chain, belt, shaft.

use glam::{Vec2, Vec3};
use std::f32::consts::{PI, TAU};

use super::design::{Nose, TankForm};
use super::engine_kind::EngineKind;
use super::joints::Joints;
use super::shapes::{add_bolt_circle, add_shock, bolt, panel, tube, turned};
use super::style::Family;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::Assembly;
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

/// Radii of the driving and the driven sprocket, in metres.
const SPROCKETS: [f32; 2] = [0.040, 0.098];
const LINK_M: f32 = 0.0172;

/// Adds the swing arm with its shock absorbers and the drive. `upper` is where the frame takes
/// the load of two shock absorbers.
pub(super) fn add_swing_arm(bike: &mut Assembly, joints: &Joints, upper: Vec3) {
    let (pivot, rear) = (joints.pivot, joints.rear_axle);
    let design = &joints.design;
    let out = design.rear_tyre[1] / 2.0 + 0.042;
    let silver = matches!(design.nose, Nose::Sport | Nose::Plate | Nose::SportTouring);
    let metal = if silver { Material::Satin } else { Material::GlossBlack };
    let arch = if design.cradle { 0.0 } else { 0.022 };
    let path = [
        pivot + Vec3::Y * 0.105,
        pivot.lerp(rear, 0.32) + Vec3::new(0.0, (out + 0.105) * 0.5, 0.012 + arch),
        pivot.lerp(rear, 0.68) + Vec3::new(0.0, out, 0.008 + arch * 0.7),
        rear + Vec3::new(-0.045, out, 0.0),
    ];
    let curve = curve_through(&path, 7);
    let last = (curve.len() - 1) as f32;
    let arm = Solid::swept(&curve, Vec3::Y, |i| {
        let t = i as f32 / last;
        let tall = if design.cradle { 0.024 } else { 0.040 - 0.014 * t };
        rounded_rectangle(tall, if design.cradle { 0.016 } else { 0.017 }, 0.009)
    });
    bike.add_pair(metal, arm);
    let brace = pivot.lerp(rear, 0.27) + Vec3::Z * (0.012 + arch * 0.8);
    bike.add(metal, Solid::rounded_box(Vec3::new(0.026, 0.105, 0.026), 0.012).moved(brace));
    // The end of the arm: a fork for the axle, its slot, and the adjuster.
    let end = rear + Vec3::Y * out;
    bike.add_pair(metal, Solid::rounded_box(Vec3::new(0.056, 0.0175, 0.027), 0.010).moved(end + Vec3::X * 0.008));
    bike.add_pair(
        Material::PanelGap,
        Solid::rounded_box(Vec3::new(0.030, 0.0180, 0.0125), 0.010).moved(end + Vec3::X * 0.006),
    );
    bike.add_pair(Material::Satin, Solid::rounded_box(Vec3::new(0.016, 0.0188, 0.0175), 0.003).moved(end));
    bike.add_pair(Material::Satin, Solid::pin(end + Vec3::X * 0.05, end + Vec3::X * 0.082, 0.0045, 8));
    bike.add_pair(Material::Satin, bolt(end + Vec3::X * 0.070, Vec3::X, 0.0085));
    // The bolt of the pivot.
    bike.add_pair(
        Material::Satin,
        turned(&[[-0.03, 0.017], [0.0, 0.017], [0.006, 0.013], [0.006, 0.0]], pivot + Vec3::Y * 0.135, Vec3::Y, 6),
    );
    if design.twin_shocks {
        let y = out + 0.022;
        let foot = rear + Vec3::new(-0.055, y, 0.032);
        let top = Vec3::new(upper.x - 0.03, y.min(0.140), upper.z.max(rear.z + 0.22));
        let spring = if design.bright { Material::Chrome } else { Material::Satin };
        add_shock(bike, foot, top, 0.027, true, spring);
        bike.add_pair(Material::GlossBlack, Solid::pin(top - Vec3::Y * 0.06, top + Vec3::Y * 0.020, 0.0095, 12));
        bike.add_pair(Material::GlossBlack, Solid::pin(foot - Vec3::Y * 0.03, foot + Vec3::Y * 0.020, 0.0095, 12));
        bike.add_pair(Material::Satin, bolt(foot + Vec3::Y * 0.021, Vec3::Y, 0.009));
        bike.add_pair(Material::Satin, bolt(top + Vec3::Y * 0.021, Vec3::Y, 0.009));
    } else {
        let foot = pivot + Vec3::new(0.105, 0.0, 0.015);
        let top = Vec3::new(pivot.x + 0.035, 0.0, joints.seat.z - 0.115);
        add_shock(bike, foot, top, 0.036, false, Material::Satin);
        let link = Solid::pin(foot - Vec3::new(0.0, 0.08, 0.02), foot + Vec3::new(0.0, 0.08, -0.02), 0.016, 12);
        bike.add(Material::GlossBlack, link);
    }
    match design.engine {
        EngineKind::Boxer | EngineKind::FlatSix | EngineKind::CrossVee => add_shaft(bike, pivot, rear, out),
        _ if design.tank == TankForm::Drop || design.family == Family::Bagger => add_belt(bike, joints, out - 0.026),
        _ => add_chain(bike, joints, out - 0.026),
    }
}

/// Adds the shaft in its case on the right, with the bevel gear's housing.
fn add_shaft(bike: &mut Assembly, pivot: Vec3, rear: Vec3, out: f32) {
    let line = out + 0.012;
    let path = [
        pivot + Vec3::new(-0.03, line, -0.005),
        pivot + Vec3::new(0.02, line, -0.005),
        pivot.lerp(rear, 0.55) + Vec3::new(0.0, line, 0.0),
        rear + Vec3::new(-0.10, line, 0.0),
        rear + Vec3::new(0.0, line, 0.0),
    ];
    bike.add_soft(Material::RimDark, tube(&curve_through(&path, 5), 20, |i| if i < 5 { 0.046 } else { 0.036 }));
    let housing = [
        [-0.05, 0.0],
        [-0.05, 0.070],
        [-0.02, 0.094],
        [0.012, 0.096],
        [0.030, 0.086],
        [0.038, 0.060],
        [0.036, 0.052],
        [0.042, 0.046],
        [0.042, 0.0],
    ];
    bike.add(Material::RimDark, turned(&housing, rear + Vec3::Y * out, Vec3::Y, 44));
    add_bolt_circle(bike, rear + Vec3::Y * (out + 0.028), Vec3::Y, 0.079, 8, 0.006);
    add_bolt_circle(bike, rear + Vec3::Y * (out + 0.041), Vec3::Y, 0.030, 5, 0.007);
}

/// Returns the closed path round both sprockets, on the left of the wheel, as points `step` apart.
fn way_round(joints: &Joints, y: f32, [small, large]: [f32; 2], step: f32) -> Vec<Vec3> {
    let (front, rear) = (front_sprocket(joints), joints.rear_axle);
    let between = Vec2::new(rear.x - front.x, rear.z - front.z);
    let reach = between.length();
    let lean = between.y.atan2(between.x);
    // The runs leave both circles at the same angle.
    let open = ((large - small) / reach).clamp(-0.9, 0.9).acos();
    let at = |centre: Vec3, r: f32, turn: f32| Vec3::new(centre.x + r * turn.cos(), -y, centre.z + r * turn.sin());
    let (up, down) = (lean + PI - open, lean + PI + open);
    let arc = |centre: Vec3, r: f32, from: f32, to: f32, whole: &mut Vec<Vec3>| {
        let count = ((to - from).abs() * r / step).ceil().max(2.0) as usize;
        whole.extend((0..count).map(|i| at(centre, r, from + (to - from) * i as f32 / count as f32)));
    };
    let run = |from: Vec3, to: Vec3, whole: &mut Vec<Vec3>| {
        let count = ((to - from).length() / step).round().max(2.0) as usize;
        whole.extend((0..count).map(|i| from.lerp(to, i as f32 / count as f32)));
    };
    let mut whole = Vec::new();
    arc(front, small, down, up, &mut whole);
    run(at(front, small, up), at(rear, large, up), &mut whole);
    arc(rear, large, up, down - TAU, &mut whole);
    run(at(rear, large, down), at(front, small, down), &mut whole);
    whole
}

fn front_sprocket(joints: &Joints) -> Vec3 {
    joints.pivot + Vec3::new(-0.085, 0.0, 0.0)
}

fn add_chain(bike: &mut Assembly, joints: &Joints, y: f32) {
    let centres = way_round(joints, y, SPROCKETS, LINK_M);
    let mut links = Solid::default();
    for (number, from) in centres.iter().enumerate() {
        let to = centres[(number + 1) % centres.len()];
        let along = (to - *from).normalize_or(Vec3::X);
        let up = along.cross(Vec3::Y);
        let half = (to - *from).length() * 0.5;
        // Outer plates stand out over inner ones.
        let aside = if number % 2 == 0 { 0.0078 } else { 0.0056 };
        let outline =
            [(-1.45, 0.0), (-1.25, 0.0072), (-0.7, 0.0084), (0.0, 0.0058), (0.7, 0.0084), (1.25, 0.0072), (1.45, 0.0)];
        let ring = |side: f32| -> Vec<Vec3> {
            let middle = from.lerp(to, 0.5) + Vec3::Y * side;
            let upper = outline.iter().map(|(a, b)| middle + along * (a * half) + up * *b);
            upper
                .chain(outline.iter().rev().skip(1).take(5).map(|(a, b)| middle + along * (a * half) - up * *b))
                .collect()
        };
        links.append(Solid::lofted(&[ring(-aside), ring(aside)]));
    }
    bike.add(Material::Satin, links);
    add_sprocket(bike, joints, y, 42);
    add_sprocket_cover(bike, joints, y);
    // The guard over the upper run.
    let (front, rear) = (front_sprocket(joints), joints.rear_axle);
    let guard: Vec<Vec3> = (0..=12)
        .map(|i| {
            let t = 0.34 + 0.66 * i as f32 / 12.0;
            let drop = 0.010 * (t - 0.75).max(0.0) / 0.25;
            front.lerp(rear, t) + Vec3::new(0.0, -y - 0.004, 0.036 + (SPROCKETS[1] - 0.020) * t - drop)
        })
        .collect();
    bike.add_soft(Material::MattBlack, Solid::swept(&guard, Vec3::Y, |_| rounded_rectangle(0.013, 0.015, 0.004)));
}

/// Adds the cover of the driving sprocket on the gear box's flank. It is closed to the front, and
/// the chain leaves it to the rear.
fn add_sprocket_cover(bike: &mut Assembly, joints: &Joints, y: f32) {
    let at = front_sprocket(joints);
    let half = SPROCKETS[0] + 0.020;
    let outline = [
        [at.x + 0.058, at.z + half * 0.92],
        [at.x - 0.020, at.z + half],
        [at.x - half * 1.02, at.z + half * 0.45],
        [at.x - half * 1.02, at.z - half * 0.45],
        [at.x - 0.020, at.z - half],
        [at.x + 0.058, at.z - half * 0.92],
        [at.x + 0.066, at.z],
    ];
    let metal = if joints.design.bright { Material::Satin } else { Material::RimDark };
    let inward = (y - 0.045).max(0.030);
    for (grow, out, thick) in [(1.0, y + 0.013, y + 0.013 - inward), (0.80, y + 0.020, 0.012)] {
        let scaled: Vec<[f32; 2]> =
            outline.iter().map(|p| [at.x + (p[0] - at.x) * grow, at.z + (p[1] - at.z) * grow]).collect();
        let plate = panel(&scaled, thick, |_, _| out);
        bike.mesh.add(metal, &plate.surface(50.0).mirrored());
    }
    for (x, z) in [(-0.045, 0.032), (-0.045, -0.032), (0.040, 0.044), (0.040, -0.044)] {
        bike.add(Material::Satin, bolt(at + Vec3::new(x, -(y + 0.014), z), -Vec3::Y, 0.0058));
    }
}

/// Adds the driven sprocket: teeth, dark rings of holes, and the bolts on its carrier.
fn add_sprocket(bike: &mut Assembly, joints: &Joints, y: f32, teeth: usize) {
    let at = joints.rear_axle - Vec3::Y * y;
    let ring = |aside: f32| -> Vec<Vec3> {
        (0..teeth * 4)
            .map(|i| {
                let turn = TAU * i as f32 / (teeth * 4) as f32;
                let r = SPROCKETS[1] + [-0.004, 0.003, 0.003, -0.004][i % 4];
                at + Vec3::new(r * turn.cos(), aside, r * turn.sin())
            })
            .collect()
    };
    bike.add(Material::Satin, Solid::lofted(&[ring(-0.0028), ring(0.0028)]));
    for number in 0..6 {
        let (sin, cos) = (TAU * number as f32 / 6.0).sin_cos();
        let place = at + Vec3::new(0.070 * cos, 0.0, 0.070 * sin);
        let hole = turned(&[[0.0, 0.013], [0.0034, 0.013], [0.0034, 0.0]], place, -Vec3::Y, 18);
        bike.add(Material::PanelGap, hole);
    }
    let carrier = [[-0.02, 0.052], [0.006, 0.052], [0.010, 0.046], [0.010, 0.030], [0.018, 0.026], [0.018, 0.0]];
    bike.add(Material::RimDark, turned(&carrier, at, -Vec3::Y, 36));
    add_bolt_circle(bike, at - Vec3::Y * 0.0100, -Vec3::Y, 0.040, 5, 0.0072);
}

fn add_belt(bike: &mut Assembly, joints: &Joints, y: f32) {
    let radii = [0.055, 0.128];
    let mut way = way_round(joints, y, radii, 0.012);
    way.extend(way.first().copied());
    bike.add(Material::MattBlack, Solid::swept(&way, Vec3::Y, |_| rounded_rectangle(0.003, 0.0125, 0.001)));
    let pulley = [
        [-0.014, 0.0],
        [-0.014, 0.126],
        [0.014, 0.126],
        [0.014, 0.112],
        [0.002, 0.106],
        [0.002, 0.060],
        [0.014, 0.052],
        [0.014, 0.0],
    ];
    bike.add(Material::RimDark, turned(&pulley, joints.rear_axle - Vec3::Y * y, -Vec3::Y, 48));
    let at = joints.rear_axle - Vec3::Y * (y + 0.003);
    for number in 0..5 {
        let (sin, cos) = (TAU * (number as f32 + 0.5) / 5.0).sin_cos();
        let window = turned(
            &[[-0.004, 0.019], [0.0, 0.019], [0.0, 0.0]],
            at + Vec3::new(0.083 * cos, 0.0, 0.083 * sin),
            -Vec3::Y,
            18,
        );
        bike.add(Material::PanelGap, window);
    }
    add_bolt_circle(bike, at - Vec3::Y * 0.011, -Vec3::Y, 0.040, 5, 0.008);
    let guard: Vec<Vec3> = (0..=10)
        .map(|i| {
            let t = 0.30 + 0.70 * i as f32 / 10.0;
            front_sprocket(joints).lerp(joints.rear_axle, t) + Vec3::new(0.0, -y - 0.004, 0.052 + 0.082 * t)
        })
        .collect();
    let metal = if joints.design.bright { Material::Chrome } else { Material::GlossBlack };
    bike.add_soft(metal, Solid::swept(&guard, Vec3::Y, |_| rounded_rectangle(0.014, 0.018, 0.006)));
}

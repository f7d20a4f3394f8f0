//! Cases, bags and trunks with their mounts.

use glam::Vec3;

use super::design::{Luggage, SeatForm};
use super::joints::Joints;
use super::shapes::{panel, tube};
use super::style::Family;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use crate::vehicle::parts::solid::{Solid, curve_through};

pub(super) fn add_luggage(bike: &mut Assembly, joints: &Joints) {
    match joints.design.luggage {
        Luggage::None => {}
        Luggage::Boxes => add_boxes(bike, joints),
        Luggage::Cases => add_cases(bike, joints),
        Luggage::Bags => add_bags(bike, joints),
        Luggage::BagsAndTrunk => {
            add_bags(bike, joints);
            add_trunk(bike, joints);
        }
    }
}

/// Adds a loop on each side that carries a case: from the rear frame along the case's inner side,
/// and back to the passenger's foot rest.
fn add_holders(bike: &mut Assembly, joints: &Joints, at: Vec3, half_length: f32) {
    let (seat, rear) = (joints.seat, joints.rear_axle);
    let stepped = joints.design.seat == SeatForm::Stepped;
    let root = if stepped {
        Vec3::new(rear.x - 0.13, 0.070, seat.z - 0.035)
    } else {
        Vec3::new(rear.x - 0.10, 0.080, seat.z - 0.075)
    };
    let end = if stepped { joints.pivot + Vec3::new(0.205, 0.118, 0.150) } else { root - Vec3::new(0.10, 0.0, 0.02) };
    let along = |x: f32, z: f32| Vec3::new(at.x + half_length * x, at.y - 0.040, at.z + z);
    let run = [
        root,
        along(-0.35, 0.060),
        along(0.60, 0.055),
        along(0.72, 0.0),
        along(0.55, -0.050),
        along(-0.30, -0.045),
        end,
    ];
    bike.add_pair(Material::GlossBlack, tube(&curve_through(&run, 7), 12, |_| 0.0085));
    for x in [-0.15, 0.45] {
        let hold = along(x, 0.058);
        bike.add_pair(Material::MattBlack, Solid::pin(hold, hold + Vec3::Y * 0.050, 0.012, 10));
    }
}

fn add_boxes(bike: &mut Assembly, joints: &Joints) {
    let half = Vec3::new(0.205, 0.095, 0.165);
    let at = Vec3::new(joints.rear_axle.x + 0.10, 0.285, joints.rear_axle.z + 0.330);
    add_holders(bike, joints, at, half.x);
    bike.add_pair(Material::Satin, Solid::rounded_box(half, 0.022).moved(at));
    let lid = Solid::rounded_box(Vec3::new(half.x + 0.004, half.y + 0.004, 0.018), 0.012);
    bike.add_pair(Material::Satin, lid.moved(at + Vec3::Z * (half.z - 0.020)));
    let seam = Solid::rounded_box(Vec3::new(half.x + 0.002, half.y + 0.002, 0.004), 0.003);
    bike.add_pair(Material::MattBlack, seam.moved(at + Vec3::Z * (half.z - 0.042)));
    for (x, z) in [(-1.0, -1.0), (-1.0, 0.72), (1.0, -1.0), (1.0, 0.72)] {
        let corner = Solid::rounded_box(Vec3::splat(0.030), 0.012);
        let inset = Vec3::new(x * (half.x - 0.024), half.y - 0.024, z * (half.z - 0.024));
        bike.add_pair(Material::MattBlack, corner.moved(at + inset));
    }
}

fn add_cases(bike: &mut Assembly, joints: &Joints) {
    let (x, z) = (joints.rear_axle.x + 0.10, joints.rear_axle.z + 0.235);
    add_holders(bike, joints, Vec3::new(x, 0.22, z), 0.20);
    let outline = [
        [x - 0.25, z + 0.02],
        [x - 0.20, z - 0.12],
        [x - 0.02, z - 0.155],
        [x + 0.19, z - 0.12],
        [x + 0.255, z + 0.06],
        [x + 0.20, z + 0.155],
        [x - 0.12, z + 0.145],
    ];
    let bulge = |px: f32, pz: f32| 0.365 - 0.5 * (px - x).powi(2) - 1.2 * (pz - z).powi(2);
    bike.add_pair(Material::Paint, panel(&outline, 0.20, bulge));
    let strip = Solid::rounded_box(Vec3::new(0.19, 0.006, 0.016), 0.006).bent(|p| {
        let (px, pz) = (x + p.x, z - 0.005 + p.z + p.x * 0.16);
        Vec3::new(px, bulge(px, pz) + p.y, pz)
    });
    bike.add_pair(Material::MattBlack, strip);
}

fn add_bags(bike: &mut Assembly, joints: &Joints) {
    let (x, z) = (joints.rear_axle.x + 0.09, joints.rear_axle.z + 0.185);
    add_holders(bike, joints, Vec3::new(x - 0.02, 0.215, z - 0.02), 0.20);
    let end = joints.design.tail - 0.09;
    let outline = [
        [x - 0.30, z + 0.055],
        [x - 0.235, z - 0.115],
        [x + 0.02, z - 0.150],
        [x + end - 0.06, z - 0.130],
        [x + end, z + 0.00],
        [x + end - 0.07, z + 0.115],
        [x - 0.05, z + 0.140],
    ];
    let bulge = |px: f32, pz: f32| 0.345 - 0.35 * (px - x).powi(2) - 1.6 * (pz - z).powi(2);
    bike.add_pair(Material::Paint, panel(&outline, 0.185, bulge));
    // The seam and the lock of the lid.
    let seam = Solid::rounded_box(Vec3::new(0.245, 0.005, 0.004), 0.003).bent(|p| {
        let (px, pz) = (x + 0.02 + p.x, z + 0.075 + p.z + p.x * 0.02);
        Vec3::new(px, bulge(px, pz) + p.y, pz)
    });
    bike.add_pair(Material::PanelGap, seam);
    let lock = Solid::rounded_box(Vec3::new(0.022, 0.006, 0.018), 0.006);
    bike.add_pair(Material::Chrome, lock.moved(Vec3::new(x + 0.01, bulge(x, z + 0.06) + 0.003, z + 0.060)));
    let lamp = Solid::rounded_box(Vec3::new(0.022, 0.066, 0.036), 0.016);
    bike.add_pair(Material::LampRed, lamp.moved(Vec3::new(x + end - 0.016, 0.258, z + 0.012)));
    let bumper = Solid::rounded_box(Vec3::new(0.040, 0.070, 0.014), 0.010);
    bike.add_pair(Material::MattBlack, bumper.moved(Vec3::new(x + end - 0.046, 0.258, z - 0.060)));
}

fn add_trunk(bike: &mut Assembly, joints: &Joints) {
    let back = joints.tail - 0.02;
    let front = back - 0.46;
    let base = joints.seat.z + 0.075;
    let chest = hull_in_steps(
        &[
            [front, 0.200, base + 0.02, base + 0.215],
            [front + 0.05, 0.255, base, base + 0.255],
            [(front + back) * 0.5, 0.270, base, base + 0.265],
            [back - 0.06, 0.245, base + 0.01, base + 0.245],
            [back, 0.190, base + 0.05, base + 0.190],
        ],
        4.5,
        5,
    );
    bike.add_soft(Material::Paint, chest);
    let seam = hull_in_steps(
        &[
            [front + 0.03, 0.250, base + 0.112, base + 0.134],
            [(front + back) * 0.5, 0.278, base + 0.112, base + 0.134],
            [back - 0.06, 0.255, base + 0.112, base + 0.134],
            [back + 0.004, 0.205, base + 0.112, base + 0.134],
        ],
        4.5,
        5,
    );
    bike.add_soft(Material::GlossBlack, seam);
    // The base of the trunk: a rack over the mudguard, or the tail of a tourer.
    let tourer = joints.design.family == Family::Tourer;
    let half = if tourer { 0.190 } else { 0.085 };
    let low = joints.rear_axle.z * 2.0 + if tourer { -0.06 } else { 0.02 };
    let rack = hull_in_steps(
        &[
            [front - 0.10, half, low + 0.04, base - 0.01],
            [front + 0.10, half * 1.02, low, base + 0.03],
            [back - 0.16, half, low - 0.06, base + 0.03],
            [back - 0.07, half * 0.9, low - 0.12, base + 0.02],
        ],
        3.6,
        5,
    );
    bike.add_soft(if tourer { Material::Paint } else { Material::GlossBlack }, rack);
    for x in [0.06, 0.34] {
        let run = [Vec3::new(front + x, 0.06, base - 0.012), Vec3::new(front + x, 0.23, base + 0.012)];
        bike.add_pair(Material::Chrome, tube(&run, 10, |_| 0.012));
    }
    // The back rest in front of the trunk.
    let rest = hull_in_steps(
        &[
            [front - 0.075, 0.150, base + 0.04, base + 0.20],
            [front - 0.030, 0.200, base + 0.00, base + 0.265],
            [front + 0.030, 0.200, base + 0.00, base + 0.275],
        ],
        3.2,
        6,
    );
    bike.add_soft(Material::Seat, rest);
    if joints.design.seat == SeatForm::Armchair {
        let arm = Solid::superellipsoid(Vec3::new(0.10, 0.030, 0.035), 3.0, 10, 20);
        bike.add_pair(Material::Seat, arm.moved(Vec3::new(front - 0.05, 0.225, base + 0.075)));
    }
    let lamp = Solid::rounded_box(Vec3::new(0.016, 0.150, 0.022), 0.012);
    bike.add_soft(Material::LampRed, lamp.moved(Vec3::new(back - 0.004, 0.0, base + 0.082)));
    if tourer {
        // The recess for a plate, between two lamps.
        let (tail, middle) = (back - 0.07, (low - 0.12 + base + 0.02) * 0.5);
        let plate = Solid::rounded_box(Vec3::new(0.012, 0.115, 0.075), 0.010);
        bike.add_soft(Material::MattBlack, plate.moved(Vec3::new(tail, 0.0, middle - 0.015)));
        let band = Solid::rounded_box(Vec3::new(0.016, 0.140, 0.020), 0.012);
        bike.add_soft(Material::LampRed, band.moved(Vec3::new(tail, 0.0, middle + 0.092)));
    }
}

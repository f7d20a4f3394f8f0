//! The painted and soft parts: tank, seat, tail, lamps, fairing, screen.

use glam::{Vec2, Vec3};

use super::{Bike, Joints, Style, hull};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

pub(super) fn add_tank_seat_tail(bike: &mut Bike, joints: &Joints) {
    let Joints { head, seat, rear_axle, length, .. } = *joints;
    let cruiser = joints.style == Style::Cruiser;
    let start = head.x + 0.055;
    let end = seat.x - 0.13;
    let reach = end - start;
    let top = head.z + if cruiser { -0.01 } else { 0.085 };
    // Tank: broad shoulders in front, knees' hollows behind, falls to the seat.
    let tank = hull(
        &[
            [start, 0.050, top - 0.15, top - 0.075],
            [start + reach * 0.10, 0.115, top - 0.19, top - 0.020],
            [start + reach * 0.32, 0.165, top - 0.21, top],
            [start + reach * 0.55, 0.160, top - 0.20, top - 0.012],
            [start + reach * 0.80, 0.118, top - 0.19, top - 0.065],
            [end, 0.095, seat.z - 0.075, seat.z + 0.020],
            [end + 0.07, 0.070, seat.z - 0.07, seat.z - 0.01],
        ],
        2.7,
        6,
    );
    bike.add_soft(Material::Paint, tank);
    let cap: Vec<Vec2> =
        [(-0.01, 0.042), (0.004, 0.042), (0.008, 0.036), (0.008, 0.0)].map(|(a, r)| Vec2::new(a, r)).to_vec();
    let cap = Solid::revolved(&cap, 28).bent(|p| Vec3::new(start + reach * 0.36 + p.x, p.z, top + p.y - 0.002));
    bike.add(if cruiser { Material::Chrome } else { Material::GlossBlack }, cap.facing_up());

    let tail = length - if cruiser { 0.06 } else { 0.10 };
    let tail = tail.min(rear_axle.x + rear_axle.z + 0.08);
    if cruiser {
        let saddle = hull(
            &[
                [end - 0.02, 0.085, seat.z - 0.06, seat.z + 0.03],
                [seat.x - 0.02, 0.150, seat.z - 0.07, seat.z + 0.005],
                [seat.x + 0.16, 0.175, seat.z - 0.06, seat.z + 0.035],
                [seat.x + 0.26, 0.150, seat.z - 0.03, seat.z + 0.105],
                [seat.x + 0.42, 0.105, seat.z - 0.02, seat.z + 0.090],
                [seat.x + 0.55, 0.070, seat.z - 0.03, seat.z + 0.035],
            ],
            2.8,
            5,
        );
        bike.add_soft(Material::Seat, saddle);
    } else {
        let rise = if joints.style == Style::Sport { 0.13 } else { 0.08 };
        let saddle = hull(
            &[
                [end - 0.02, 0.075, seat.z - 0.05, seat.z + 0.025],
                [seat.x, 0.125, seat.z - 0.06, seat.z + 0.010],
                [seat.x + 0.17, 0.150, seat.z - 0.05, seat.z + 0.030],
                [seat.x + 0.23, 0.125, seat.z - 0.02, seat.z + 0.030 + rise * 0.6],
                [seat.x + 0.36, 0.100, seat.z + 0.01, seat.z + 0.035 + rise],
                [tail - 0.16, 0.075, seat.z + rise * 0.6, seat.z + 0.035 + rise],
            ],
            2.8,
            5,
        );
        bike.add_soft(Material::Seat, saddle);
        let shell = hull(
            &[
                [seat.x - 0.08, 0.085, seat.z - 0.10, seat.z - 0.02],
                [seat.x + 0.08, 0.125, seat.z - 0.11, seat.z + 0.000],
                [seat.x + 0.26, 0.125, seat.z - 0.06, seat.z + 0.030 + rise * 0.25],
                [tail - 0.20, 0.095, seat.z + rise * 0.20, seat.z + 0.010 + rise * 0.9],
                [tail - 0.05, 0.065, seat.z + rise * 0.60, seat.z + 0.030 + rise * 1.05],
                [tail, 0.040, seat.z + rise * 0.80, seat.z + 0.020 + rise * 1.05],
            ],
            3.2,
            5,
        );
        bike.add_soft(Material::Paint, shell);
        // Plate holder and rear lamps.
        let holder = [
            Vec3::new(tail - 0.14, 0.0, seat.z + rise * 0.45),
            Vec3::new(tail + 0.02, 0.0, seat.z - 0.10),
            Vec3::new(tail + 0.06, 0.0, seat.z - 0.22),
        ];
        bike.add_soft(
            Material::MattBlack,
            Solid::swept(&curve_through(&holder, 5), Vec3::Y, |_| rounded_rectangle(0.010, 0.050, 0.006)),
        );
        let lamp = Solid::superellipsoid(Vec3::new(0.028, 0.052, 0.022), 2.6, 10, 20).moved(Vec3::new(
            tail - 0.012,
            0.0,
            seat.z + 0.01 + rise * 0.92,
        ));
        bike.add_soft(Material::LampRed, lamp);
        add_indicators(bike, Vec3::new(tail - 0.02, 0.05, seat.z - 0.03 + rise * 0.4));
    }
    if cruiser {
        let lamp = Solid::superellipsoid(Vec3::new(0.035, 0.050, 0.035), 2.4, 10, 20).moved(Vec3::new(
            rear_axle.x + 0.33,
            0.0,
            rear_axle.z + 0.30,
        ));
        bike.add_soft(Material::LampRed, lamp);
        add_indicators(bike, Vec3::new(rear_axle.x + 0.28, 0.06, rear_axle.z + 0.28));
    }
}

fn add_indicators(bike: &mut Bike, root: Vec3) {
    let eye = root + Vec3::new(0.01, 0.085, 0.0);
    bike.add_pair(Material::GlossBlack, Solid::pin(root, eye, 0.006, 6));
    bike.add_pair(Material::LampAmber, Solid::superellipsoid(Vec3::new(0.018, 0.028, 0.017), 2.3, 8, 16).moved(eye));
}

pub(super) fn add_front(bike: &mut Bike, joints: &Joints) {
    match joints.style {
        Style::Sport => add_fairing(bike, joints),
        _ => add_round_lamp(bike, joints, if joints.style == Style::Cruiser { 0.088 } else { 0.092 }),
    }
}

/// A round lamp before the fork's clamps.
pub(super) fn add_round_lamp(bike: &mut Bike, joints: &Joints, radius: f32) {
    let head = joints.head;
    let at = Vec3::new(head.x - 0.14, 0.0, head.z - 0.03);
    // Turned about x: the profile's axis y becomes -x, so that the lamp looks forward.
    let forward = |profile: &[(f32, f32)]| {
        let profile: Vec<Vec2> = profile.iter().map(|(a, r)| Vec2::new(*a, r * radius)).collect();
        Solid::revolved(&profile, 40).bent(|p| at + Vec3::new(-p.y, p.x, p.z))
    };
    let shell = forward(&[(-0.105, 0.0), (-0.100, 0.35), (-0.075, 0.72), (-0.035, 0.95), (0.0, 1.0), (0.012, 1.0)]);
    bike.add_soft(if joints.style == Style::Cruiser { Material::Chrome } else { Material::GlossBlack }, shell);
    bike.add(Material::Chrome, forward(&[(0.008, 1.0), (0.016, 1.04), (0.024, 1.0), (0.022, 0.93), (0.012, 0.92)]));
    bike.add_soft(Material::LampReflector, forward(&[(0.012, 0.92), (-0.010, 0.80), (-0.030, 0.50), (-0.038, 0.28)]));
    bike.add_soft(Material::LampWhite, forward(&[(-0.038, 0.30), (-0.012, 0.27), (0.0, 0.16), (0.003, 0.0)]));
    bike.add_soft(Material::LampLens, forward(&[(0.018, 0.94), (0.030, 0.60), (0.034, 0.0)]));
    let ear =
        Solid::pin(at + Vec3::new(0.02, radius * 0.8, 0.0), Vec3::new(head.x - 0.03, 0.10, head.z - 0.05), 0.010, 8);
    bike.add_pair(Material::GlossBlack, ear);
    add_indicators(bike, at + Vec3::new(0.06, radius * 0.9, -0.06));
}

fn add_fairing(bike: &mut Bike, joints: &Joints) {
    let Joints { head, front_axle, pivot, .. } = *joints;
    let nose = front_axle.x - 0.09;
    let behind_wheel = front_axle.x + front_axle.z + 0.045;
    // Upper part: nose, lamps, cockpit.
    let upper = hull(
        &[
            [nose, 0.030, head.z - 0.115, head.z - 0.075],
            [nose + 0.05, 0.105, head.z - 0.155, head.z - 0.025],
            [nose + 0.14, 0.175, head.z - 0.190, head.z + 0.035],
            [nose + 0.26, 0.225, head.z - 0.225, head.z + 0.060],
            [nose + 0.38, 0.240, head.z - 0.260, head.z + 0.020],
            [nose + 0.48, 0.225, head.z - 0.300, head.z - 0.075],
            [head.x + 0.14, 0.190, head.z - 0.300, head.z - 0.160],
        ],
        2.5,
        6,
    );
    bike.add_soft(Material::Paint, upper);
    // Side panels down to the belly, behind the front wheel.
    let lower = hull(
        &[
            [behind_wheel - 0.02, 0.150, 0.50, head.z - 0.16],
            [behind_wheel + 0.03, 0.210, 0.33, head.z - 0.13],
            [behind_wheel + 0.16, 0.232, 0.235, head.z - 0.13],
            [behind_wheel + 0.32, 0.228, 0.215, 0.645],
            [behind_wheel + 0.46, 0.205, 0.225, 0.500],
            [pivot.x + 0.02, 0.165, 0.265, 0.360],
            [pivot.x + 0.12, 0.120, 0.300, 0.340],
        ],
        3.0,
        6,
    );
    bike.add_soft(Material::Paint, lower);
    // Dark mouth between the lamps, and the lamps: slanted slits.
    let mouth = Solid::superellipsoid(Vec3::new(0.055, 0.060, 0.028), 2.4, 10, 20).moved(Vec3::new(
        nose + 0.055,
        0.0,
        head.z - 0.125,
    ));
    bike.add_soft(Material::MattBlack, mouth);
    let slit = |out: f32, thick: f32| {
        let line = [
            Vec3::new(nose + 0.030 - out, 0.060, head.z - 0.085),
            Vec3::new(nose + 0.075 - out, 0.115, head.z - 0.068),
            Vec3::new(nose + 0.150 - out, 0.172, head.z - 0.045),
        ];
        Solid::swept(&curve_through(&line, 5), Vec3::Z, |i| {
            let slim = 1.0 - 0.5 * (i as f32 / 10.0 - 0.4).abs();
            rounded_rectangle(thick * slim, thick * 1.5 * slim, thick * 0.6)
        })
    };
    bike.add_pair(Material::LampHousing, slit(0.000, 0.019));
    bike.add_pair(Material::LampWhite, slit(0.010, 0.010));
    // Vents in the flank.
    for (x, z) in [(0.12, 0.56), (0.16, 0.48)] {
        let vent = Solid::rounded_box(Vec3::new(0.060, 0.008, 0.020), 0.008)
            .bent(|p| Vec3::new(behind_wheel + x + p.x, 0.222 + p.y + 0.004, z + p.z + p.x * 0.35));
        bike.add_pair(Material::MattBlack, vent);
    }
    // Screen: a bubble over the cockpit.
    let screen = Solid::grid(9, 15, false, |row, column| {
        let t = row as f32 / 8.0;
        let across = column as f32 / 7.0 - 1.0;
        let half_width = 0.085 + 0.085 * t - 0.03 * t * t;
        let middle = Vec3::new(nose + 0.115 + 0.24 * t, 0.0, head.z + 0.012 + 0.165 * t - 0.035 * t * t);
        middle + Vec3::new(0.09 * across * across, across * half_width, -0.075 * across * across)
    });
    bike.add_soft(Material::Glass, screen.facing_up());
    // Mirrors stand on the fairing.
    let root = Vec3::new(nose + 0.22, 0.17, head.z + 0.01);
    let eye = root + Vec3::new(0.05, 0.17, 0.10);
    bike.add_pair(Material::GlossBlack, Solid::tube(&[root, eye], 8, |_| 0.009));
    let shell = Solid::superellipsoid(Vec3::new(0.030, 0.075, 0.040), 2.5, 8, 20)
        .bent(|p| Vec3::new(p.x.min(0.008), p.y, p.z))
        .moved(eye);
    bike.add_pair(Material::Paint, shell);
    bike.add_pair(
        Material::Chrome,
        Solid::superellipsoid(Vec3::new(0.002, 0.065, 0.033), 2.5, 6, 20).moved(eye + Vec3::X * 0.0085),
    );
}

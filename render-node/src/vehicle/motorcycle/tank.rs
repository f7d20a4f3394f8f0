//! The tank and what is fixed to its flanks: knee pads, consoles, shrouds, scoops.

use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use glam::{Vec2, Vec3};

use super::Joints;
use super::design::{Nose, Tank};
use super::shapes::panel;
use super::style::Family;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::Solid;

/// Where the tank begins and ends.
pub(super) fn tank_span(joints: &Joints) -> (f32, f32) {
    (joints.head.x + 0.050, joints.seat.x - 0.12)
}

pub(super) fn add_tank(bike: &mut Assembly, joints: &Joints) {
    let (start, end) = tank_span(joints);
    let reach = end - start;
    let (seat, design) = (joints.seat, &joints.design);
    let top = joints.head.z
        + match design.tank {
            Tank::Modern => 0.090,
            Tank::Loaf => 0.070,
            Tank::Drop => 0.045,
            Tank::Slim => 0.030,
        }
        + design.details.tank[1];
    let at = |share: f32| start + reach * share;
    let (stations, power): (Vec<[f32; 4]>, f32) = match design.tank {
        Tank::Modern => (
            vec![
                [start, 0.060, top - 0.17, top - 0.085],
                [at(0.08), 0.125, top - 0.21, top - 0.025],
                [at(0.30), 0.175, top - 0.23, top],
                [at(0.55), 0.170, top - 0.23, top - 0.012],
                [at(0.80), 0.118, top - 0.24, top - 0.065],
                [end, 0.090, seat.z - 0.095, seat.z + 0.020],
                [end + 0.08, 0.070, seat.z - 0.09, seat.z - 0.01],
            ],
            2.7,
        ),
        Tank::Loaf => (
            vec![
                [start - 0.01, 0.070, top - 0.165, top - 0.055],
                [at(0.05), 0.112, top - 0.180, top - 0.018],
                [at(0.30), 0.132, top - 0.190, top],
                [at(0.62), 0.122, top - 0.190, top - 0.010],
                [at(0.88), 0.098, top - 0.185, top - 0.050],
                [end + 0.03, 0.070, seat.z - 0.09, seat.z + 0.025],
            ],
            2.4,
        ),
        Tank::Drop => (
            vec![
                [start - 0.01, 0.060, top - 0.170, top - 0.070],
                [at(0.06), 0.125, top - 0.195, top - 0.022],
                [at(0.28), 0.168, top - 0.200, top],
                [at(0.55), 0.150, top - 0.200, top - 0.035],
                [at(0.82), 0.100, top - 0.210, top - 0.110],
                [end + 0.03, 0.060, seat.z - 0.08, seat.z + 0.030],
            ],
            2.3,
        ),
        Tank::Slim => (
            vec![
                [start, 0.055, top - 0.15, top - 0.060],
                [at(0.10), 0.095, top - 0.19, top - 0.015],
                [at(0.35), 0.110, top - 0.21, top],
                [at(0.65), 0.095, top - 0.22, top - 0.020],
                [at(0.95), 0.080, seat.z - 0.10, seat.z + 0.02],
                [end + 0.08, 0.070, seat.z - 0.09, seat.z - 0.005],
            ],
            2.8,
        ),
    };
    let stations: Vec<[f32; 4]> =
        stations.into_iter().map(|[x, wide, low, high]| [x, wide * design.details.tank[0], low, high]).collect();
    bike.add_soft(Material::Paint, hull_in_steps(&stations, power, 6));
    let cap = [(-0.02, 0.042), (0.004, 0.042), (0.008, 0.036), (0.008, 0.0)].map(|(a, r)| Vec2::new(a, r));
    let cap = Solid::revolved(&cap, 28).bent(|p| Vec3::new(at(0.34) + p.x, p.z, top + p.y - 0.002));
    bike.add(if design.bright { Material::Chrome } else { Material::GlossBlack }, cap.facing_up());
    match design.tank {
        Tank::Loaf => {
            // Rubber for the knees, a little proud of the flank.
            let (low, high) = (top - 0.180, top - 0.035);
            let pad = [
                [at(0.46), low + 0.055],
                [at(0.50), low + 0.030],
                [at(0.80), low + 0.035],
                [at(0.86), low + 0.070],
                [at(0.80), high - 0.020],
                [at(0.52), high - 0.015],
            ];
            let out = |x: f32, z: f32| {
                let [wide, bottom, roof] = section_at(&stations, x);
                let rel = ((z - (bottom + roof) * 0.5) / ((roof - bottom) * 0.5)).abs().min(0.98);
                wide * (1.0 - rel.powf(power)).powf(1.0 / power) + 0.008
            };
            bike.add_pair(Material::MattBlack, panel(&pad, 0.020, out));
        }
        Tank::Drop => {
            // Instruments in a bright console along the ridge.
            let console = hull_in_steps(
                &[
                    [at(0.16), 0.022, top - 0.03, top + 0.002],
                    [at(0.28), 0.040, top - 0.03, top + 0.016],
                    [at(0.58), 0.032, top - 0.06, top - 0.026],
                    [at(0.80), 0.020, top - 0.13, top - 0.095],
                ],
                2.6,
                5,
            );
            bike.add_soft(Material::Chrome, console);
        }
        Tank::Slim => add_shrouds(bike, joints, at(0.0), top),
        Tank::Modern if matches!(design.nose, Nose::Wedge | Nose::Beak) => add_scoops(bike, joints, at(0.0), top),
        Tank::Modern => {}
    }
}

/// Half width, underside and top of a skin's stations at `x`, straight between them.
fn section_at(stations: &[[f32; 4]], x: f32) -> [f32; 3] {
    let next = stations.iter().position(|s| s[0] >= x).unwrap_or(stations.len() - 1).max(1);
    let (from, to) = (stations[next - 1], stations[next]);
    let t = ((x - from[0]) / (to[0] - from[0])).clamp(0.0, 1.0);
    [1, 2, 3].map(|k| from[k] + (to[k] - from[k]) * t)
}

/// Wings of an off-road bike: from the tank's flank down and forward beside the radiators.
fn add_shrouds(bike: &mut Assembly, joints: &Joints, start: f32, top: f32) {
    if joints.design.family == Family::Trial {
        return;
    }
    let outline = [
        [start + 0.30, top - 0.14],
        [start + 0.18, top - 0.045],
        [start + 0.00, top - 0.015],
        [start - 0.075, top - 0.085],
        [start - 0.085, top - 0.190],
        [start - 0.020, top - 0.330],
        [start + 0.060, top - 0.300],
    ];
    let out = |x: f32, z: f32| {
        0.185
            - 0.22 * (x - start - 0.02).max(0.0)
            - 0.35 * (x - start + 0.02).min(0.0).abs()
            - 0.12 * (top - z - 0.12).max(0.0)
    };
    bike.add_pair(Material::Paint, panel(&outline, 0.030, out));
    // Radiators and struts they are fixed with.
    let radiator = Solid::rounded_box(Vec3::new(0.020, 0.050, 0.105), 0.010);
    bike.add_pair(Material::Grille, radiator.moved(Vec3::new(start - 0.010, 0.105, top - 0.185)));
    bike.add_pair(
        Material::GlossBlack,
        Solid::pin(Vec3::new(start + 0.05, 0.04, top - 0.12), Vec3::new(start - 0.01, 0.165, top - 0.12), 0.012, 8),
    );
}

/// Scoops beside a modern naked bike's tank, over the radiator.
fn add_scoops(bike: &mut Assembly, joints: &Joints, start: f32, top: f32) {
    let beak = joints.design.nose == Nose::Beak;
    let forward = if beak { 0.10 } else { 0.02 };
    let outline = [
        [start + 0.34, top - 0.13],
        [start + 0.16, top - 0.045],
        [start - forward, top - 0.085],
        [start - forward - 0.035, top - 0.160],
        [start + 0.02, top - if beak { 0.310 } else { 0.265 }],
        [start + 0.14, top - 0.230],
    ];
    let out = |x: f32, z: f32| 0.222 - 0.30 * (x - start - 0.08).abs() - 0.30 * (top - z - 0.13).abs();
    bike.add_pair(Material::Paint, panel(&outline, 0.055, out));
    let hold = Vec3::new(start + 0.06, 0.05, top - 0.13);
    bike.add_pair(Material::GlossBlack, Solid::pin(hold, hold + Vec3::Y * 0.13, 0.014, 8));
}

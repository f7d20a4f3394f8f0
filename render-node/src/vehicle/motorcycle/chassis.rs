//! The supporting parts of a motorcycle: fork, frame, foot rests, side stand.

use glam::Vec3;

use super::cockpit::{add_bars, add_brake_hoses};
use super::design::{Fork, Frame, Guard, Nose, Rim, SeatForm, TankForm};
use super::drive::add_swing_arm;
use super::engine_kind::EngineKind;
use super::joints::{Joints, fork_spread};
use super::shapes::{bolt, panel, tube, turned};
use super::style::Family;
use super::wheel::{GuardShape, disc_radius, rim_radius};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::Assembly;
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

pub(super) fn add_fork_and_bars(bike: &mut Assembly, joints: &Joints) {
    add_fork(bike, joints);
    add_bars(bike, joints);
}

fn add_fork(bike: &mut Assembly, joints: &Joints) {
    let design = &joints.design;
    if matches!(design.family, Family::Tilting | Family::Vespa) {
        // These families build forks of their own.
        return;
    }
    let spread = fork_spread(joints);
    let axle = joints.front_axle + Vec3::new(-0.005, spread, 0.0);
    let top = joints.head + Vec3::Y * spread;
    let along = (top - axle).normalize_or(Vec3::Z);
    let reach = (top - axle).length();
    let at = |ratio: f32| axle + along * (reach * ratio);
    // A scooter's legs end inside its nose.
    let end = if design.nose == Nose::None { 0.86 } else { 2.0 };
    let mut leg = |material, stations: &[(f32, f32)]| {
        let path: Vec<Vec3> = stations.iter().map(|(ratio, _)| at(ratio.min(end))).collect();
        bike.add_pair(material, tube(&path, 24, |i| stations[i].1));
    };
    let lower = if design.bright { Material::Satin } else { Material::GlossBlack };
    match design.fork {
        Fork::Telescopic => {
            leg(
                lower,
                &[
                    (-0.055, 0.020),
                    (-0.045, 0.028),
                    (0.05, 0.030),
                    (0.09, 0.0275),
                    (0.42, 0.0275),
                    (0.44, 0.0305),
                    (0.475, 0.0305),
                ],
            );
            leg(Material::MattBlack, &[(0.470, 0.029), (0.485, 0.0285), (0.492, 0.025)]);
            leg(Material::Chrome, &[(0.47, 0.0215), (1.02, 0.0215)]);
        }
        Fork::UpsideDown => {
            leg(
                Material::GlossBlack,
                &[(-0.055, 0.020), (-0.045, 0.029), (0.06, 0.031), (0.10, 0.027), (0.135, 0.025)],
            );
            leg(Material::Chrome, &[(0.11, 0.0215), (0.46, 0.0215)]);
            leg(Material::MattBlack, &[(0.435, 0.0245), (0.440, 0.029), (0.452, 0.030)]);
            leg(Material::Satin, &[(0.450, 0.0295), (0.475, 0.0305), (0.50, 0.0290), (0.74, 0.0290), (1.02, 0.0270)]);
        }
        Fork::Covered => {
            leg(
                lower,
                &[(-0.055, 0.020), (-0.045, 0.029), (0.05, 0.031), (0.09, 0.0285), (0.43, 0.0285), (0.46, 0.031)],
            );
            if design.family == Family::Bagger {
                leg(Material::Chrome, &[(0.42, 0.035), (0.44, 0.037), (0.98, 0.039), (1.02, 0.036)]);
            } else {
                // Rubber bellows.
                let bellows: Vec<(f32, f32)> = (0..=26)
                    .map(|i| (0.45 + 0.29 * i as f32 / 26.0, if i % 2 == 0 { 0.0285 } else { 0.0345 }))
                    .collect();
                leg(Material::MattBlack, &bellows);
                leg(lower, &[(0.735, 0.034), (0.76, 0.036), (1.0, 0.036), (1.02, 0.033)]);
            }
        }
        Fork::Hidden => leg(Material::Satin, &[(-0.03, 0.020), (0.80, 0.020)]),
    }
    if design.fork != Fork::Hidden {
        if design.nose != Nose::None {
            add_clamps(bike, joints, at, along, spread);
        }
        add_fork_feet(bike, joints, at, along);
    }
    add_guard_mounts(bike, joints, at, along);
}

/// Adds both clamps of the fork with their rings and bolts, the stem's nut and the legs' caps.
fn add_clamps(bike: &mut Assembly, joints: &Joints, at: impl Fn(f32) -> Vec3, along: Vec3, spread: f32) {
    let rearward = Vec3::new(along.z, 0.0, -along.x);
    let place =
        |middle: Vec3| move |p: Vec3| Vec3::new(middle.x, 0.0, middle.z) + rearward * p.x + Vec3::Y * p.y + along * p.z;
    for (ratio, half_tall, half_deep) in [(0.965, 0.011, 0.021), (0.775, 0.017, 0.026)] {
        let middle = at(ratio);
        // The bridge is narrow between the legs, with the stem in the middle.
        let bridge = Solid::rounded_box(Vec3::new(half_deep, spread, half_tall), 0.008).bent(|p| {
            Vec3::new(
                p.x * (0.72 + 0.28 * (p.y / spread).abs().powi(2)) + 0.020 * (1.0 - (p.y / spread).powi(2)),
                p.y,
                p.z,
            )
        });
        bike.add_soft(Material::GlossBlack, bridge.bent(place(middle)));
        let tall = half_tall + 0.004;
        bike.add_pair(
            Material::GlossBlack,
            tube(
                &[
                    middle - along * tall,
                    middle - along * tall * 0.85,
                    middle + along * tall * 0.85,
                    middle + along * tall,
                ],
                28,
                |i| {
                    if i == 0 || i == 3 { 0.036 } else { 0.0385 }
                },
            ),
        );
        for up in if half_tall > 0.012 { vec![-0.009, 0.009] } else { vec![0.0] } {
            let ear = middle - rearward * 0.034 + along * up + Vec3::Y * -0.012;
            bike.add_pair(Material::Satin, bolt(ear - rearward * 0.006, -rearward, 0.0056));
        }
    }
    let stem = Vec3::new(at(0.965).x, 0.0, at(0.965).z) + rearward * 0.020;
    bike.add(
        Material::Satin,
        turned(
            &[[0.008, 0.023], [0.016, 0.023], [0.016, 0.017], [0.026, 0.017], [0.028, 0.013], [0.020, 0.0]],
            stem,
            along,
            6,
        ),
    );
    let cap = [[0.0, 0.0245], [0.006, 0.0245], [0.008, 0.021], [0.008, 0.012], [0.016, 0.012], [0.017, 0.0]];
    bike.add_pair(Material::Satin, turned(&cap, at(1.02), along, 24));
    let metal = if joints.design.bright { Material::Chrome } else { Material::GlossBlack };
    if joints.design.fork == Fork::Covered {
        bike.add_pair(
            metal,
            turned(&[[-0.01, 0.037], [0.002, 0.037], [0.006, 0.030], [0.006, 0.0]], at(1.0), along, 28),
        );
    }
}

/// Adds the legs' feet: bosses round the axle, pinch bolts, the lugs of the calliper, and its hose.
fn add_fork_feet(bike: &mut Assembly, joints: &Joints, at: impl Fn(f32) -> Vec3, along: Vec3) {
    let design = &joints.design;
    let metal = if design.bright && design.fork != Fork::UpsideDown { Material::Satin } else { Material::GlossBlack };
    let foot = at(0.0) + Vec3::X * 0.005;
    bike.add_pair(metal, Solid::pin(foot - Vec3::Y * 0.022, foot + Vec3::Y * 0.026, 0.027, 24));
    for up in [-0.030, 0.034] {
        bike.add_pair(Material::Satin, bolt(foot + along * up + Vec3::new(-0.016, 0.020, 0.0), Vec3::Y, 0.0056));
    }
    if design.discs == 0 {
        return;
    }
    let outer = disc_radius(rim_radius(design.front_tyre));
    let disc = design.front_tyre[1] / 2.0 + 0.016;
    let calliper = |turn: f32, r: f32| joints.front_axle + Vec3::new(r * turn.cos(), disc + 0.012, r * turn.sin());
    let lugs: Vec<(Vec3, Vec3)> = [(0.10, 0.34), (0.26, 0.30 + 0.090 / outer)]
        .map(|(ratio, turn)| (at(ratio), calliper(turn, outer * 0.90)))
        .to_vec();
    for (from, to) in lugs {
        let lug = tube(&[from, from.lerp(to, 0.5), to], 12, |i| [0.016, 0.0125, 0.011][i]);
        if design.discs > 1 {
            bike.add_pair(metal, lug);
        } else {
            bike.add_soft(metal, lug.bent(|p| Vec3::new(p.x, -p.y, p.z)).flipped());
        }
    }
    add_brake_hoses(bike, joints, at, calliper(0.30 + 0.075 / outer, outer * 0.96));
}

/// Adds the mounts of a front mudguard: wire stays on old bikes, brackets at the legs on others.
fn add_guard_mounts(bike: &mut Assembly, joints: &Joints, at: impl Fn(f32) -> Vec3, along: Vec3) {
    let design = &joints.design;
    let Guard::Hugging(from, to) = design.guard else { return };
    let half = design.front_tyre[1] * if design.rim == Rim::Dish { 0.80 } else { 0.60 };
    let guard =
        GuardShape { axle: joints.front_axle, radius: joints.front_axle.z + 0.018, half_width: half, span: (from, to) };
    if design.cradle || design.fork == Fork::Hidden {
        let metal = if design.bright { Material::Chrome } else { Material::GlossBlack };
        let lean = along.z.atan2(along.x);
        // From the leg's foot up to both flanks. Each end is flat under a bolt.
        for angle in [(lean - 0.46).max(from + 0.14), (lean + 0.52).min(to - 0.16)] {
            let foot = at(0.050) + Vec3::new(0.0, 0.020, 0.0);
            let [tip, way] = guard.at(angle, 0.88);
            let stay = [
                foot,
                foot.lerp(tip, 0.25) + Vec3::Y * 0.004,
                foot.lerp(tip, 0.88) + Vec3::Y * 0.003,
                tip + way * 0.003,
            ];
            bike.add_pair(metal, tube(&curve_through(&stay, 5), 10, |_| 0.0042));
            for (end, out, radius) in [(tip + way * 0.006, way, 0.0068), (foot + Vec3::Y * 0.006, Vec3::Y, 0.0068)] {
                bike.add_pair(Material::Satin, bolt(end, out, radius));
            }
        }
    }
    // A bracket from the mudguard's edge to the leg, with two bolts.
    let lean = along.z.atan2(along.x);
    let [tip, _] = guard.at(lean.clamp(from + 0.1, to - 0.1), 1.0);
    let leg = at((joints.front_axle.z + 0.012) / (at(1.0) - at(0.0)).length());
    let middle = tip.midpoint(Vec3::new(leg.x, leg.y - 0.020, leg.z));
    let rearward = Vec3::new(along.z, 0.0, -along.x);
    let reach = ((leg.y - 0.018 - tip.y) * 0.5).abs() + 0.010;
    let plate = Solid::rounded_box(Vec3::new(0.024, reach, 0.034), 0.008)
        .bent(|p| middle + rearward * p.x + Vec3::Y * p.y + along * p.z);
    bike.add_pair(Material::MattBlack, plate);
}

pub(super) fn add_frame(bike: &mut Assembly, joints: &Joints) {
    let Joints { head, pivot, seat, .. } = *joints;
    let design = &joints.design;
    let low = design.clearance;
    let neck = head - Vec3::new(-0.03, 0.0, 0.13);
    bike.add_soft(Material::GlossBlack, tube(&[head - Vec3::Z * 0.02 + Vec3::X * 0.005, neck], 16, |_| 0.036));
    let slim = if design.tank == TankForm::Slim { 0.72 } else { 1.0 };
    add_beams(bike, joints, neck, slim);
    let electric = design.engine == EngineKind::Electric;
    if design.cradle || (design.tank == TankForm::Slim && !electric) {
        add_cradle(bike, joints, neck);
    }
    // The end of the rear frame, which holds the tail.
    let end = Vec3::new(joints.rear_axle.x - 0.02 + design.tail * 0.25, 0.0, seat.z - 0.075);
    add_rear_frame(bike, joints, neck, slim, end);
    add_swing_arm(bike, joints, Vec3::new(end.x - 0.10, 0.0, end.z));
    // Foot rests: forward on cruisers, floor boards on baggers.
    let relaxed = design.tank == TankForm::Drop;
    let peg = if relaxed {
        Vec3::new(joints.engine_front + 0.13, 0.10, low + 0.10)
    } else {
        pivot + Vec3::new(0.01, 0.11, -0.06)
    };
    if design.family == Family::Bagger || design.family == Family::Tourer {
        add_floor_boards(bike, joints);
    } else {
        add_foot_rests(bike, joints, peg, relaxed);
    }
    if design.seat == SeatForm::Stepped {
        add_pillion_rests(bike, joints);
    }
    add_side_stand(bike, joints);
}

/// Adds side beams, or tubes over a cradle, from the neck to the swing arm's pivot.
fn add_beams(bike: &mut Assembly, joints: &Joints, neck: Vec3, slim: f32) {
    let (pivot, design) = (joints.pivot, &joints.design);
    let beam = [
        neck + Vec3::new(0.01, 0.025, 0.03),
        neck + Vec3::new(0.16, 0.125 * slim, -0.03),
        Vec3::new((neck.x + pivot.x) * 0.5 + 0.07, 0.145 * slim, (neck.z + pivot.z) * 0.5 + 0.08),
        pivot + Vec3::new(-0.02, 0.120, 0.06),
        pivot + Vec3::new(0.0, 0.115, -0.09),
    ];
    let section = |ratio: f32| {
        // A beam is tall at the steering head and at the pivot, and slimmer between them.
        let tall = 0.036 + 0.022 * (2.0 * ratio - 0.75).powi(2);
        if design.cradle { rounded_rectangle(0.017, 0.017, 0.017) } else { rounded_rectangle(tall, 0.017, 0.009) }
    };
    let beam_material = if design.cradle || matches!(design.nose, Nose::Wedge | Nose::Beak) {
        Material::GlossBlack
    } else {
        Material::Satin
    };
    if design.details.frame == Frame::Trellis && !design.cradle && design.tank == TankForm::Modern {
        add_trellis(bike, &beam);
    } else {
        let curve = curve_through(&beam, 9);
        let last = (curve.len() - 1) as f32;
        bike.add_pair(beam_material, Solid::swept(&curve, Vec3::Y, |i| section(i as f32 / last)));
        if !design.cradle {
            add_beam_details(bike, &curve, beam_material);
        }
    }
}

/// Adds tubes from the neck down in front of the engine and under it to the pivot.
fn add_cradle(bike: &mut Assembly, joints: &Joints, neck: Vec3) {
    let (pivot, low) = (joints.pivot, joints.design.clearance);
    let cradle = [
        neck + Vec3::new(0.0, 0.03, -0.02),
        Vec3::new(joints.engine_front + 0.075, 0.07, (neck.z + low) * 0.5),
        Vec3::new(joints.engine_front + 0.17, 0.10, low + 0.01),
        pivot + Vec3::new(-0.06, 0.12, low + 0.03 - pivot.z),
        pivot,
    ];
    bike.add_pair(Material::GlossBlack, tube(&curve_through(&cradle, 10), 16, |_| 0.015));
}

/// Adds the rear frame under the seat, up to `end`, where the tail is held.
fn add_rear_frame(bike: &mut Assembly, joints: &Joints, neck: Vec3, slim: f32, end: Vec3) {
    let (pivot, seat, design) = (joints.pivot, joints.seat, &joints.design);
    let (end, rail_z) = (end.x, end.z);
    let rail = [
        Vec3::new(neck.x + 0.30, 0.085 * slim, seat.z - 0.05),
        seat + Vec3::new(0.0, 0.095 * slim, -0.085),
        // Under a saddle the rail ends in front of the mudguard.
        if design.tank == TankForm::Drop {
            Vec3::new(joints.rear_axle.x - 0.060, 0.078, rail_z - 0.005)
        } else {
            Vec3::new(end, 0.080 * slim, rail_z + 0.02)
        },
    ];
    // Under a stepped tail the rail rises with the tail and ends inside it.
    let stepped = design.seat == SeatForm::Stepped;
    let rail = if stepped {
        let end = joints.rear_axle.x - 0.02;
        [rail[0], rail[1], Vec3::new(end, 0.055, seat.z + 0.020)]
    } else {
        rail
    };
    bike.add_pair(Material::GlossBlack, tube(&curve_through(&rail, 8), 16, |_| 0.014));
    let held = if stepped {
        Vec3::new(joints.rear_axle.x - 0.12, 0.070, seat.z - 0.030)
    } else {
        Vec3::new(end - 0.10, 0.085 * slim, rail_z + 0.01)
    };
    // The lower stay, bolted to the frame beside the pivot.
    let root = pivot + Vec3::new(0.012, 0.112 * slim.max(0.9), 0.075);
    let stay = [root, root.lerp(held, 0.5) + Vec3::Y * 0.004, held];
    bike.add_pair(Material::GlossBlack, tube(&curve_through(&stay, 5), 16, |_| 0.0125));
    bike.add_pair(Material::GlossBlack, Solid::pin(root - Vec3::Y * 0.020, root + Vec3::Y * 0.016, 0.0185, 18));
    bike.add_pair(Material::Satin, bolt(root + Vec3::Y * 0.017, Vec3::Y, 0.0080));
    if !stepped {
        let post = [pivot + Vec3::new(-0.02, 0.10 * slim, 0.04), Vec3::new(seat.x - 0.03, 0.092 * slim, seat.z - 0.08)];
        bike.add_pair(Material::GlossBlack, tube(&post, 16, |_| 0.014));
    }
}

/// Adds the boards for the feet of a bagger's rider.
fn add_floor_boards(bike: &mut Assembly, joints: &Joints) {
    let low = joints.design.clearance;
    let board = Solid::rounded_box(Vec3::new(0.15, 0.050, 0.010), 0.008).bent(|p| {
        Vec3::new(joints.engine_front + 0.26 + p.x, 0.245 + p.y, low + 0.075 + p.z + (p.x * 0.5).min(0.0).abs())
    });
    bike.add_pair(Material::Satin, board);
    for x in [0.18, 0.34] {
        let hold = Vec3::new(joints.engine_front + x, 0.08, low + 0.075);
        bike.add_pair(Material::GlossBlack, Solid::pin(hold, hold + Vec3::Y * 0.16, 0.012, 8));
    }
}

/// Adds the side stand, folded.
fn add_side_stand(bike: &mut Assembly, joints: &Joints) {
    let (pivot, low) = (joints.pivot, joints.design.clearance);
    let stand = [
        Vec3::new(pivot.x - 0.16, -0.055, low + 0.07),
        Vec3::new(pivot.x - 0.08, -0.13, low),
        Vec3::new(pivot.x + 0.14, -0.15, low - 0.01),
    ];
    let curve = curve_through(&stand, 7);
    bike.add_soft(Material::GlossBlack, tube(&curve, 14, |_| 0.0105));
    let foot =
        Solid::rounded_box(Vec3::new(0.030, 0.016, 0.005), 0.004).moved(stand[2] + Vec3::new(0.012, -0.004, -0.008));
    bike.add(Material::GlossBlack, foot);
    let joint = turned(&[[-0.012, 0.020], [0.010, 0.020], [0.014, 0.014], [0.014, 0.0]], stand[0], -Vec3::Y, 20);
    bike.add(Material::GlossBlack, joint);
}

/// Adds pockets and mounting bolts of a beam.
fn add_beam_details(bike: &mut Assembly, curve: &[Vec3], metal: Material) {
    let last = curve.len() - 1;
    for ratio in [0.34, 0.70, 0.86] {
        let at = curve[(last as f32 * ratio) as usize] + Vec3::Y * 0.0165;
        bike.add_pair(
            Material::RimDark,
            turned(&[[-0.004, 0.017], [0.002, 0.017], [0.003, 0.013], [0.003, 0.0]], at, Vec3::Y, 24),
        );
        bike.add_pair(Material::Satin, bolt(at + Vec3::Y * 0.005, Vec3::Y, 0.0085));
    }
    let pocket: Vec<Vec3> = curve[last * 42 / 100..last * 62 / 100].iter().map(|p| *p + Vec3::Y * 0.0155).collect();
    let count = pocket.len().max(2) - 1;
    let recess = Solid::swept(&pocket, Vec3::Y, |i| {
        let ends = 1.0 - (2.0 * i as f32 / count as f32 - 1.0).abs().powi(4) * 0.6;
        rounded_rectangle(0.015 * ends, 0.0022, 0.002)
    });
    bike.add_pair(if metal == Material::Satin { Material::RimDark } else { Material::MattBlack }, recess);
}

/// Adds the rider's foot rests on their plates, with heel guards, gear lever and brake pedal.
fn add_foot_rests(bike: &mut Assembly, joints: &Joints, peg: Vec3, relaxed: bool) {
    let hanger = peg + Vec3::Y * 0.040;
    let metal = if joints.design.bright { Material::Satin } else { Material::GlossBlack };
    if relaxed {
        let arm = [peg + Vec3::new(0.11, -0.04, 0.03), peg + Vec3::new(0.05, 0.0, 0.01), hanger];
        bike.add_pair(Material::GlossBlack, tube(&curve_through(&arm, 5), 14, |_| 0.0135));
    } else {
        // A plate with arms from the pivot's casting to the peg.
        for root in [joints.pivot + Vec3::new(-0.005, 0.130, 0.055), joints.pivot + Vec3::new(0.045, 0.128, -0.005)] {
            let arm = [root, root.lerp(hanger, 0.55) + Vec3::Y * 0.006, hanger];
            bike.add_pair(
                metal,
                Solid::swept(&arm, Vec3::Y, |i| rounded_rectangle([0.015, 0.010, 0.014][i], 0.006, 0.004)),
            );
            bike.add_pair(Material::Satin, bolt(root + Vec3::Y * 0.007, Vec3::Y, 0.0062));
        }
        if joints.design.cradle {
            return add_pegs(bike, joints, hanger, relaxed);
        }
        let heel = panel(
            &[
                [hanger.x + 0.010, hanger.z + 0.005],
                [hanger.x + 0.055, hanger.z + 0.015],
                [hanger.x + 0.075, hanger.z + 0.070],
                [hanger.x + 0.050, hanger.z + 0.115],
                [hanger.x + 0.020, hanger.z + 0.080],
            ],
            0.004,
            |_, _| hanger.y + 0.012,
        );
        bike.add_pair(metal, heel);
    }
    add_pegs(bike, joints, hanger, relaxed);
}

/// Adds the pegs, with gear lever and brake pedal.
fn add_pegs(bike: &mut Assembly, joints: &Joints, hanger: Vec3, relaxed: bool) {
    let boss = Solid::rounded_box(Vec3::new(0.015, 0.014, 0.015), 0.006).moved(hanger);
    bike.add_pair(Material::GlossBlack, boss);
    // The peg is ribbed, and its tip is turned up.
    const RIBS: usize = 14;
    let path: Vec<Vec3> =
        (0..=RIBS).map(|i| hanger + Vec3::new(0.004, 0.012 + 0.088 * i as f32 / RIBS as f32, 0.0)).collect();
    let peg_body = Solid::swept(&path, Vec3::Z, |i| {
        let size = if i % 2 == 0 { 0.0115 } else { 0.0095 };
        rounded_rectangle(size + 0.003, size, 0.006)
    });
    bike.add_pair(if joints.design.bright { Material::MattBlack } else { Material::Satin }, peg_body);
    // The gear lever on the left and the brake pedal on the right: a rod
    // forward to a rubber toe piece.
    let (front, tip) = (hanger + Vec3::new(-0.10, 0.006, -0.006), hanger + Vec3::new(-0.150, 0.012, 0.004));
    let rod = [hanger + Vec3::new(-0.010, 0.004, -0.012), front, tip];
    bike.add_pair(
        Material::Satin,
        Solid::swept(&curve_through(&rod, 5), Vec3::Y, |_| rounded_rectangle(0.0068, 0.0045, 0.003)),
    );
    bike.add_pair(Material::MattBlack, Solid::pin(tip - Vec3::Y * 0.002, tip + Vec3::Y * 0.040, 0.0085, 14));
    if !relaxed && joints.design.engine != EngineKind::Electric {
        // On the left, a link goes up to the gear shaft.
        let shaft = joints.pivot + Vec3::new(-0.105, -0.128, -0.030);
        let foot = Vec3::new(hanger.x - 0.085, -hanger.y - 0.008, hanger.z - 0.006);
        let arm = shaft + Vec3::new(-0.034, 0.0, 0.010);
        bike.add_soft(Material::Satin, tube(&[foot, foot.lerp(arm, 0.5), arm], 10, |_| 0.0040));
        bike.add_soft(Material::Satin, Solid::pin(shaft + Vec3::Y * 0.060, shaft - Vec3::Y * 0.006, 0.0075, 12));
        bike.add_soft(
            Material::Satin,
            Solid::swept(&[shaft, shaft.lerp(arm, 0.5), arm], Vec3::Y, |_| rounded_rectangle(0.007, 0.004, 0.003)),
        );
        for (joint, out) in [(foot, -0.004), (arm, -0.004)] {
            bike.add(Material::RimDark, bolt(joint + Vec3::Y * out, -Vec3::Y, 0.0062));
        }
    }
}

/// Adds the passenger's pegs, each on a cast hanger from the rear frame.
fn add_pillion_rests(bike: &mut Assembly, joints: &Joints) {
    let peg = joints.pivot + Vec3::new(0.195, 0.128, 0.120);
    let top = joints.seat.z - 0.085;
    let outline = [
        [peg.x - 0.120, top + 0.010],
        [peg.x - 0.060, top - 0.055],
        [peg.x - 0.016, peg.z - 0.014],
        [peg.x + 0.014, peg.z - 0.010],
        [peg.x + 0.022, peg.z + 0.060],
        [peg.x + 0.060, top + 0.014],
        [peg.x + 0.020, top + 0.030],
        [peg.x - 0.060, top + 0.026],
    ];
    let out = move |_: f32, z: f32| peg.y - 0.024 * ((z - peg.z) / (top - peg.z).max(0.05)).clamp(0.0, 1.0);
    bike.add_pair(Material::GlossBlack, panel(&outline, 0.009, out));
    // A hollow in the casting, and the bolts that hold the casting.
    let hollow = [
        [peg.x - 0.052, top - 0.012],
        [peg.x - 0.014, top - 0.070],
        [peg.x + 0.006, top - 0.066],
        [peg.x + 0.022, top - 0.012],
    ];
    bike.add_pair(Material::Underbody, panel(&hollow, 0.004, move |x, z| out(x, z) + 0.0006));
    for x in [-0.088, 0.034] {
        let (x, z) = (peg.x + x, top + 0.010);
        bike.add_pair(Material::Satin, bolt(Vec3::new(x, out(x, z) + 0.002, z), Vec3::Y, 0.0062));
    }
    bike.add_pair(Material::GlossBlack, Solid::rounded_box(Vec3::new(0.014, 0.012, 0.014), 0.005).moved(peg));
    // The peg is folded up along the hanger.
    let fold = [peg + Vec3::new(0.0, 0.012, 0.002), peg + Vec3::new(0.062, 0.016, 0.030)];
    bike.add_pair(Material::MattBlack, tube(&fold, 14, |_| 0.0100));
}

/// Adds a lattice of tubes in the place of a beam: one chord above the beam, one
/// below, and struts between them.
fn add_trellis(bike: &mut Assembly, beam: &[Vec3; 5]) {
    // Both chords end in the casting of the swing arm's pivot.
    let chord = |up: f32| -> Vec<Vec3> {
        let ratio = [1.0, 1.0, 1.0, 0.25];
        (0..4).map(|i| beam[i] + Vec3::new(0.0, 0.0, up * ratio[i])).collect()
    };
    let upper = curve_through(&chord(0.030), 8);
    let lower = curve_through(&chord(-0.075), 8);
    for chord in [&upper, &lower] {
        bike.add_pair(Material::Satin, tube(chord, 16, |_| 0.014));
    }
    let last = upper.len() - 5;
    for (number, at) in (1..last).step_by(4).enumerate() {
        let (from, to) = if number % 2 == 0 { (lower[at], upper[at + 3]) } else { (upper[at], lower[at + 3]) };
        bike.add_pair(Material::Satin, Solid::pin(from, to, 0.010, 14));
    }
    // The engine's rear mount and the swing arm's pivot.
    let casting = [beam[3] + Vec3::Z * 0.030, beam[3].lerp(beam[4], 0.4), beam[4] + Vec3::Z * 0.020];
    bike.add_pair(
        Material::GlossBlack,
        Solid::swept(&curve_through(&casting, 6), Vec3::Y, |_| rounded_rectangle(0.030, 0.020, 0.012)),
    );
}

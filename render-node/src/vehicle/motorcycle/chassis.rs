//! What carries a motorcycle: fork, bars, mirrors, frame, swing arm, shock absorbers, foot rests.

use crate::vehicle::parts::assembly::Assembly;
use glam::{Vec2, Vec3};

use super::Joints;
use super::design::{Fork, Frame, Guard, Nose, Tank};
use super::shapes::spring;
use super::style::{Engine, Family};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

pub(super) fn add_fork_and_bars(bike: &mut Assembly, joints: &Joints) {
    add_fork(bike, joints);
    add_bars(bike, joints);
}

/// Half the distance between the fork's legs.
fn fork_spread(joints: &Joints) -> f32 {
    (joints.design.front_tyre[1] / 2.0 + 0.040).max(0.075)
}

fn add_fork(bike: &mut Assembly, joints: &Joints) {
    let design = &joints.design;
    if matches!(design.family, Family::Tilting | Family::Vespa) {
        return; // Bring their own.
    }
    let spread = fork_spread(joints);
    let axle = joints.front_axle + Vec3::new(-0.005, spread, 0.0);
    let top = joints.head + Vec3::Y * spread;
    let along = (top - axle).normalize_or(Vec3::Z);
    let reach = (top - axle).length();
    let at = |share: f32| axle + along * (reach * share);
    let mut leg = |material, from: f32, to: f32, radius: f32| {
        bike.add_pair(material, Solid::tube(&[at(from), at(to)], 16, |_| radius));
    };
    match design.fork {
        Fork::Telescopic => {
            leg(if design.bright { Material::Satin } else { Material::GlossBlack }, -0.05, 0.48, 0.029);
            leg(Material::Chrome, 0.44, 1.03, 0.0225);
        }
        Fork::UpsideDown => {
            leg(Material::GlossBlack, -0.05, 0.12, 0.030);
            leg(Material::Chrome, 0.08, 0.50, 0.021);
            leg(Material::Satin, 0.44, 1.03, 0.030);
        }
        Fork::Covered => {
            leg(Material::Satin, -0.05, 0.46, 0.030);
            leg(
                if design.family == Family::Bagger { Material::Chrome } else { Material::MattBlack },
                0.42,
                1.03,
                0.034,
            );
        }
        Fork::Hidden => leg(Material::Satin, -0.03, 0.80, 0.020),
    }
    if design.fork != Fork::Hidden {
        for share in [0.96, 0.78] {
            let clamp = at(share);
            let plate = Solid::rounded_box(Vec3::new(0.036, spread + 0.034, 0.015), 0.010).moved(Vec3::new(
                clamp.x + 0.006,
                0.0,
                clamp.z,
            ));
            bike.add_soft(Material::GlossBlack, plate);
        }
    }
    if let Guard::Hugging(from, to) = design.guard {
        // Struts from the axle to the mudguard, and a bridge between the legs.
        let radius = joints.front_axle.z + 0.012;
        for angle in [from + 0.12, (from + to) * 0.5] {
            let edge =
                joints.front_axle + Vec3::new(angle.cos() * radius, design.front_tyre[1] * 0.50, angle.sin() * radius);
            let foot = at((angle.sin() * 0.45).clamp(0.02, 0.5));
            bike.add_pair(Material::GlossBlack, Solid::pin(foot, edge, 0.006, 8));
        }
    }
}

fn add_bars(bike: &mut Assembly, joints: &Joints) {
    let design = &joints.design;
    let head = joints.head;
    let [rise, back, bar] = design.bars;
    let clip_on = rise < 0.0;
    let half = [
        Vec3::new(head.x, 0.0, head.z + 0.035),
        Vec3::new(head.x - 0.01, 0.10, head.z + 0.04 + rise.max(-0.02) * 0.4),
        Vec3::new(head.x + back * 0.35, bar * 0.52, head.z + 0.04 + rise),
        Vec3::new(head.x + back, bar, head.z + 0.03 + rise - if clip_on { 0.02 } else { 0.0 }),
    ];
    bike.add_pair(
        if design.bright { Material::Chrome } else { Material::GlossBlack },
        Solid::tube(&curve_through(&half, 6), 10, |_| 0.012),
    );
    // Clamps hold the bar on the fork's bridge.
    bike.add_pair(
        Material::GlossBlack,
        Solid::pin(head + Vec3::Y * 0.045 - Vec3::Z * 0.03, half[0] + Vec3::Y * 0.045, 0.015, 10),
    );
    if !design.mirrors && design.tank == Tank::Slim {
        // The cross bar of off-road bars, padded.
        let brace = |y: f32| Vec3::new(head.x + back * 0.12, y, head.z + 0.045 + rise * 0.72);
        bike.add_soft(Material::MattBlack, Solid::pin(brace(-0.145), brace(0.145), 0.020, 12));
    }
    let end = half[3];
    let inward = (half[2] - end).normalize_or(-Vec3::Y);
    bike.add_pair(Material::MattBlack, Solid::tube(&[end, end + inward * 0.125], 12, |_| 0.018));
    // Levers and their mounts.
    let mount = end + inward * 0.15;
    bike.add_pair(Material::GlossBlack, Solid::rounded_box(Vec3::new(0.022, 0.026, 0.020), 0.008).moved(mount));
    let lever = [
        mount + Vec3::new(-0.02, 0.0, 0.0),
        mount + Vec3::new(-0.055, 0.06, -0.004),
        end + Vec3::new(-0.055, -0.01, -0.008),
    ];
    bike.add_pair(Material::Satin, Solid::tube(&curve_through(&lever, 4), 6, |_| 0.006));
    if design.hand_guards {
        let guard = Solid::superellipsoid(Vec3::new(0.016, 0.085, 0.058), 2.6, 10, 22)
            .bent(|p| end + inward * 0.075 + Vec3::new(-0.075 + p.x + p.y * p.y * 5.0, p.y, p.z + 0.004));
        bike.add_pair(Material::MattBlack, guard);
        bike.add_pair(Material::MattBlack, Solid::pin(end, end + Vec3::new(-0.05, -0.005, 0.0), 0.010, 8));
    }
    if design.mirrors {
        add_mirrors(bike, mount);
    }
    // Instruments.
    let tilt = 0.7_f32.sin_cos();
    let lifted = Vec3::new(-0.05, 0.0, 0.085);
    let dial = Solid::rounded_box(Vec3::new(0.012, 0.065, 0.038), 0.010)
        .bent(|p| head + lifted + Vec3::new(p.x * tilt.1 + p.z * tilt.0, p.y, p.z * tilt.1 - p.x * tilt.0));
    bike.add_soft(Material::GlossBlack, dial);
    bike.add_soft(Material::GlossBlack, Solid::pin(head - Vec3::Z * 0.01, head + lifted, 0.016, 10));
}

fn add_mirrors(bike: &mut Assembly, mount: Vec3) {
    let eye = mount + Vec3::new(0.015, 0.045, 0.098);
    bike.add_pair(
        Material::GlossBlack,
        Solid::tube(&curve_through(&[mount, mount + Vec3::new(-0.02, 0.0, 0.065), eye], 4), 6, |_| 0.0055),
    );
    let shell = Solid::superellipsoid(Vec3::new(0.020, 0.062, 0.042), 2.6, 8, 20)
        .bent(|p| Vec3::new(p.x.min(0.006), p.y, p.z))
        .moved(eye);
    bike.add_pair(Material::GlossBlack, shell);
    let glass = Solid::superellipsoid(Vec3::new(0.0025, 0.054, 0.035), 2.6, 6, 20).moved(eye + Vec3::X * 0.0065);
    bike.add_pair(Material::Chrome, glass);
}

pub(super) fn add_frame(bike: &mut Assembly, joints: &Joints) {
    let Joints { head, pivot, seat, .. } = *joints;
    let design = &joints.design;
    let low = design.clearance;
    let neck = head - Vec3::new(-0.03, 0.0, 0.13);
    bike.add_soft(Material::GlossBlack, Solid::tube(&[head - Vec3::Z * 0.02 + Vec3::X * 0.005, neck], 16, |_| 0.036));
    let slim = if design.tank == Tank::Slim { 0.72 } else { 1.0 };
    // Side beams (tubes with a cradle) from the neck to the swing arm's pivot.
    let beam = [
        neck + Vec3::new(0.01, 0.025, 0.03),
        neck + Vec3::new(0.16, 0.125 * slim, -0.03),
        Vec3::new((neck.x + pivot.x) * 0.5 + 0.07, 0.145 * slim, (neck.z + pivot.z) * 0.5 + 0.08),
        pivot + Vec3::new(-0.02, 0.120, 0.06),
        pivot + Vec3::new(0.0, 0.115, -0.09),
    ];
    let section =
        || if design.cradle { rounded_rectangle(0.017, 0.017, 0.017) } else { rounded_rectangle(0.034, 0.014, 0.011) };
    let beam_material = if design.cradle || matches!(design.nose, Nose::Wedge | Nose::Beak) {
        Material::GlossBlack
    } else {
        Material::Satin
    };
    if design.details.frame == Frame::Trellis && !design.cradle && design.tank == Tank::Modern {
        add_trellis(bike, &beam);
    } else {
        bike.add_pair(beam_material, Solid::swept(&curve_through(&beam, 6), Vec3::Y, |_| section()));
    }
    let electric = design.engine == Engine::Electric;
    if design.cradle || (design.tank == Tank::Slim && !electric) {
        let cradle = [
            neck + Vec3::new(0.0, 0.03, -0.02),
            Vec3::new(joints.engine_front + 0.075, 0.07, (neck.z + low) * 0.5),
            Vec3::new(joints.engine_front + 0.17, 0.10, low + 0.01),
            pivot + Vec3::new(-0.06, 0.12, low + 0.03 - pivot.z),
            pivot,
        ];
        bike.add_pair(Material::GlossBlack, Solid::tube(&curve_through(&cradle, 6), 10, |_| 0.015));
    }
    // Rear frame under the seat, to where the tail is held.
    let end = joints.rear_axle.x - 0.02 + design.tail * 0.25;
    let rail_z = seat.z - 0.075;
    let rail = [
        Vec3::new(neck.x + 0.30, 0.085, seat.z - 0.05),
        seat + Vec3::new(0.0, 0.095, -0.085),
        Vec3::new(end, 0.080, rail_z + 0.02),
    ];
    bike.add_pair(Material::GlossBlack, Solid::tube(&curve_through(&rail, 5), 10, |_| 0.014));
    let stay = [pivot + Vec3::new(0.03, 0.10, 0.05), Vec3::new(end - 0.10, 0.085, rail_z + 0.01)];
    bike.add_pair(Material::GlossBlack, Solid::tube(&stay, 10, |_| 0.012));
    let post = [pivot + Vec3::new(-0.02, 0.10, 0.04), Vec3::new(seat.x - 0.03, 0.092, seat.z - 0.08)];
    bike.add_pair(Material::GlossBlack, Solid::tube(&post, 10, |_| 0.014));
    add_swing_arm(bike, joints, Vec3::new(end - 0.10, 0.0, rail_z));
    // Foot rests: forward on cruisers, floor boards on baggers.
    let relaxed = design.tank == Tank::Drop;
    let peg = if relaxed {
        Vec3::new(joints.engine_front + 0.13, 0.10, low + 0.10)
    } else {
        pivot + Vec3::new(0.01, 0.11, -0.06)
    };
    if design.family == Family::Bagger || design.family == Family::Tourer {
        let board = Solid::rounded_box(Vec3::new(0.15, 0.050, 0.010), 0.008).bent(|p| {
            Vec3::new(joints.engine_front + 0.26 + p.x, 0.245 + p.y, low + 0.075 + p.z + (p.x * 0.5).min(0.0).abs())
        });
        bike.add_pair(Material::Satin, board);
        for x in [0.18, 0.34] {
            let hold = Vec3::new(joints.engine_front + x, 0.08, low + 0.075);
            bike.add_pair(Material::GlossBlack, Solid::pin(hold, hold + Vec3::Y * 0.16, 0.012, 8));
        }
    } else {
        bike.add_pair(Material::Satin, Solid::pin(peg, peg + Vec3::Y * 0.15, 0.011, 10));
        let plate = Solid::rounded_box(Vec3::new(0.032, 0.006, 0.055), 0.006).moved(peg + Vec3::new(0.0, 0.045, 0.01));
        bike.add_pair(Material::GlossBlack, plate);
        if relaxed {
            bike.add_pair(
                Material::GlossBlack,
                Solid::pin(peg - Vec3::Y * 0.05, peg + Vec3::new(0.10, -0.02, 0.02), 0.012, 8),
            );
        }
    }
    // Side stand, folded.
    let stand = [
        Vec3::new(pivot.x - 0.16, -0.055, low + 0.07),
        Vec3::new(pivot.x - 0.08, -0.13, low),
        Vec3::new(pivot.x + 0.14, -0.15, low - 0.01),
    ];
    bike.add(Material::GlossBlack, Solid::tube(&curve_through(&stand, 4), 8, |_| 0.011));
}

/// A lattice of tubes in the place of a beam: one chord above it, one below, struts to and fro.
fn add_trellis(bike: &mut Assembly, beam: &[Vec3; 5]) {
    let chord = |up: f32| beam.map(|p| p + Vec3::Z * up);
    let upper = curve_through(&chord(0.030), 6);
    let lower = curve_through(&chord(-0.075), 6);
    for chord in [&upper, &lower] {
        bike.add_pair(Material::Satin, Solid::tube(chord, 10, |_| 0.014));
    }
    let last = upper.len() - 4;
    for (number, at) in (1..last).step_by(4).enumerate() {
        let (from, to) = if number % 2 == 0 { (lower[at], upper[at + 3]) } else { (upper[at], lower[at + 3]) };
        bike.add_pair(Material::Satin, Solid::pin(from, to, 0.010, 8));
    }
    // The engine's rear mount and the swing arm's pivot.
    bike.add_pair(Material::GlossBlack, Solid::pin(beam[3], beam[4], 0.026, 12));
}

/// Swing arm with its shock absorbers, chain and sprocket; `upper` is where the frame takes the load.
fn add_swing_arm(bike: &mut Assembly, joints: &Joints, upper: Vec3) {
    let (pivot, rear) = (joints.pivot, joints.rear_axle);
    let design = &joints.design;
    let out = design.rear_tyre[1] / 2.0 + 0.030;
    let arm =
        [pivot + Vec3::Y * 0.10, pivot.lerp(rear, 0.5) + Vec3::new(0.0, out, 0.012), rear + Vec3::new(0.03, out, 0.0)];
    let curve = curve_through(&arm, 5);
    let last = (curve.len() - 1) as f32;
    let arm = Solid::swept(&curve, Vec3::Y, |i| {
        let thick = if design.cradle { 0.028 } else { 0.042 };
        rounded_rectangle(thick - 0.012 * i as f32 / last, 0.015, 0.010)
    });
    let silver = design.nose == Nose::Sport || design.nose == Nose::Plate;
    bike.add_pair(if silver { Material::Satin } else { Material::GlossBlack }, arm);
    if design.twin_shocks {
        let y = out + 0.030;
        let foot = rear + Vec3::new(-0.015, y, 0.02);
        let top = Vec3::new(upper.x - 0.02, y.min(0.135), upper.z.max(rear.z + 0.20));
        bike.add_pair(
            if design.bright { Material::Chrome } else { Material::MattBlack },
            spring(foot, foot.lerp(top, 0.92), 0.027),
        );
        bike.add_pair(Material::GlossBlack, Solid::pin(foot - Vec3::Y * 0.04, foot + Vec3::Y * 0.012, 0.014, 10));
        bike.add_pair(Material::GlossBlack, Solid::tube(&[foot.lerp(top, 0.5), top], 10, |_| 0.016));
        bike.add_pair(Material::GlossBlack, Solid::pin(top - Vec3::Y * 0.06, top + Vec3::Y * 0.012, 0.013, 10));
    } else {
        let foot = pivot + Vec3::new(0.11, 0.0, 0.02);
        let top = Vec3::new(pivot.x + 0.02, 0.0, joints.seat.z - 0.09);
        bike.add_soft(Material::MattBlack, spring(foot, foot.lerp(top, 0.9), 0.036));
        bike.add_soft(Material::GlossBlack, Solid::pin(foot - Vec3::Z * 0.05, top, 0.018, 12));
        let link = Solid::pin(foot - Vec3::new(0.0, 0.10, 0.03), foot + Vec3::new(0.0, 0.10, -0.03), 0.020, 10);
        bike.add(Material::GlossBlack, link);
    }
    // Chain and its wheels; shafts and belts run inside the arm.
    let shaft = matches!(design.engine, Engine::Boxer | Engine::FlatSix | Engine::CrossVee);
    if shaft {
        let case =
            Solid::tube(&[pivot + Vec3::new(-0.02, out + 0.012, -0.01), rear + Vec3::Y * (out + 0.012)], 14, |_| 0.034);
        bike.add_soft(Material::Satin, case);
        let bevel = Solid::superellipsoid(Vec3::new(0.085, 0.045, 0.085), 2.6, 12, 24);
        bike.add_soft(Material::Satin, bevel.moved(rear + Vec3::Y * out));
        return;
    }
    let y = out - 0.012;
    let sprocket = [(-0.003, 0.0), (-0.003, 0.105), (0.003, 0.105), (0.003, 0.0)].map(|(a, r)| Vec2::new(a, r));
    bike.add(Material::RimDark, Solid::revolved(&sprocket, 36).moved(rear - Vec3::Y * y));
    for (from, to) in [(0.035, 0.103), (-0.035, -0.103)] {
        let run = [pivot + Vec3::new(-0.06, -y, from), rear + Vec3::new(0.0, -y, to)];
        bike.add(Material::Satin, Solid::swept(&run, Vec3::Z, |_| rounded_rectangle(0.007, 0.008, 0.002)));
    }
}

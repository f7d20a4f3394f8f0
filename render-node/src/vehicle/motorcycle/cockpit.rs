//! The rider's controls and instruments: handlebar, levers, switches, hoses, mirrors, instruments.

use glam::Vec3;

use super::design::{LampEra, Nose, Rim, TankForm};
use super::joints::{Joints, fork_spread};
use super::shapes::{bolt, hose, tube, turned};
use super::style::Family;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::Assembly;
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

/// Returns the points of the bar's right half, from its middle to its end.
fn half_bar(joints: &Joints) -> [Vec3; 4] {
    let (head, [rise, back, bar]) = (joints.head, joints.design.bars);
    let clip_on = rise < 0.0;
    [
        Vec3::new(head.x, 0.0, head.z + 0.035),
        Vec3::new(head.x - 0.01, 0.10, head.z + 0.04 + rise.max(-0.02) * 0.4),
        Vec3::new(head.x + back * 0.35, bar * 0.52, head.z + 0.04 + rise),
        Vec3::new(head.x + back, bar, head.z + 0.03 + rise - if clip_on { 0.02 } else { 0.0 }),
    ]
}

/// The right grip: the end of the bar, the direction inwards from it, and
/// the place of the lever's perch.
struct Grip {
    end: Vec3,
    inward: Vec3,
    mount: Vec3,
}

impl Grip {
    fn of(joints: &Joints) -> Grip {
        let [_, _, bend, end] = half_bar(joints);
        let inward = (bend - end).normalize_or(-Vec3::Y);
        Grip { end, inward, mount: end + inward * 0.165 }
    }
}

pub(super) fn add_bars(bike: &mut Assembly, joints: &Joints) {
    let design = &joints.design;
    let head = joints.head;
    let [rise, back, _] = design.bars;
    let half = half_bar(joints);
    bike.add_pair(
        if design.bright { Material::Chrome } else { Material::GlossBlack },
        tube(&curve_through(&half, 12), 16, |_| 0.0125),
    );
    if !enclosed(joints) {
        add_risers(bike, head, half[0]);
    }
    if !design.mirrors && design.tank == TankForm::Slim {
        // The padded cross bar of off-road handlebars.
        let brace = |y: f32| Vec3::new(head.x + back * 0.12, y, head.z + 0.045 + rise * 0.72);
        bike.add_soft(Material::Satin, Solid::pin(brace(-0.175), brace(0.175), 0.007, 12));
        bike.add_soft(Material::MattBlack, Solid::pin(brace(-0.115), brace(0.115), 0.023, 18));
    }
    let Grip { end, inward, mount } = Grip::of(joints);
    add_grip(bike, end, inward, design.bright);
    add_controls(bike, joints, end, inward, mount);
    if design.hand_guards {
        add_hand_guard(bike, end, inward);
    }
    if design.mirrors {
        let round = design.rim == Rim::Wires && design.tank != TankForm::Slim || design.details.era == LampEra::Bulb;
        add_mirrors(bike, mount, round, design.bright);
    }
    if !matches!(design.nose, Nose::Touring | Nose::Batwing | Nose::Shark) {
        add_instruments(bike, joints);
    }
}

/// Returns true if a cover hides the bar's middle with its cables.
fn enclosed(joints: &Joints) -> bool {
    joints.design.nose == Nose::None
}

/// Adds two clamps that hold the bar on the fork's bridge.
fn add_risers(bike: &mut Assembly, head: Vec3, bar: Vec3) {
    let foot = head + Vec3::new(0.0, 0.045, -0.015);
    let top = bar + Vec3::Y * 0.045;
    bike.add_pair(Material::GlossBlack, tube(&[foot, foot.lerp(top, 0.55), top], 16, |i| [0.019, 0.016, 0.015][i]));
    bike.add_pair(Material::GlossBlack, Solid::rounded_box(Vec3::new(0.024, 0.015, 0.019), 0.008).moved(top));
    for x in [-0.016, 0.016] {
        bike.add_pair(Material::Satin, bolt(top + Vec3::new(x, 0.0, 0.019), Vec3::Z, 0.0048));
    }
}

/// Adds a rubber grip with a flange, and the weight at the bar's end.
pub(in crate::vehicle) fn add_grip(bike: &mut Assembly, end: Vec3, inward: Vec3, bright: bool) {
    const RIBS: usize = 26;
    let path: Vec<Vec3> = (0..=RIBS).map(|i| end + inward * (0.122 * i as f32 / RIBS as f32)).collect();
    bike.add_pair(
        Material::MattBlack,
        tube(&path, 20, |i| match i {
            0 => 0.0165,
            _ if i == RIBS => 0.021,
            _ if i == RIBS - 1 => 0.0225,
            _ if i % 2 == 0 => 0.0158,
            _ => 0.0172,
        }),
    );
    let weight = [end - inward * 0.002, end - inward * 0.012, end - inward * 0.026, end - inward * 0.030];
    let metal = if bright { Material::Chrome } else { Material::Satin };
    bike.add_pair(metal, tube(&weight, 18, |i| [0.0125, 0.0160, 0.0150, 0.0110][i]));
}

/// Adds levers with their perches, switches, the brake's reservoir, cables and hoses.
fn add_controls(bike: &mut Assembly, joints: &Joints, end: Vec3, inward: Vec3, mount: Vec3) {
    let design = &joints.design;
    // Switches beside the grip: two halves round the bar.
    let pod = end + inward * 0.138;
    let shell = Solid::superellipsoid(Vec3::new(0.021, 0.020, 0.024), 4.0, 14, 28);
    bike.add_pair(Material::MattBlack, shell.moved(pod));
    for (z, size) in [(0.011, 0.0055), (-0.004, 0.0045), (-0.013, 0.0035)] {
        let button = Solid::rounded_box(Vec3::new(0.004, 0.0075, size), 0.002);
        bike.add_pair(Material::Satin, button.moved(pod + Vec3::new(0.020, 0.0, z)));
    }
    // The perch, its clamp's bolts, and the lever's joint.
    let perch = Solid::superellipsoid(Vec3::new(0.019, 0.015, 0.018), 3.4, 12, 24).moved(mount + inward * 0.012);
    bike.add_pair(Material::GlossBlack, perch);
    let joint = mount + Vec3::new(-0.034, 0.012, -0.003);
    bike.add_pair(
        Material::GlossBlack,
        tube(&[mount + inward * 0.012, mount.lerp(joint, 0.6), joint], 12, |i| [0.013, 0.011, 0.011][i]),
    );
    bike.add_pair(Material::Satin, bolt(joint + Vec3::Z * 0.010, Vec3::Z, 0.0055));
    let lever = [
        joint,
        joint + Vec3::new(-0.012, 0.035, -0.001),
        end + inward * 0.080 + Vec3::new(-0.050, 0.0, -0.005),
        end + inward * 0.030 + Vec3::new(-0.055, 0.0, -0.008),
        end + inward * 0.002 + Vec3::new(-0.064, 0.0, -0.009),
    ];
    let curve = curve_through(&lever, 7);
    let blade = Solid::swept(&curve, Vec3::Z, |i| {
        let t = i as f32 / (curve.len() - 1) as f32;
        rounded_rectangle(0.0046 + 0.001 * (t - 0.5).abs(), 0.0085 - 0.003 * t, 0.004)
    });
    let metal =
        if design.details.era == LampEra::Led && !design.bright { Material::GlossBlack } else { Material::Satin };
    bike.add_pair(metal, blade);
    bike.add_pair(metal, Solid::superellipsoid(Vec3::splat(0.0078), 2.0, 10, 16).moved(lever[4]));
    // The reservoir of the front brake, on the right.
    if design.discs > 0 && !enclosed(joints) {
        let cup = mount + inward * 0.022 + Vec3::new(-0.022, 0.0, 0.032);
        let body = [[-0.016, 0.0], [-0.016, 0.014], [-0.010, 0.0175], [0.008, 0.0185], [0.008, 0.0]];
        bike.add(Material::Satin, turned(&body, cup, Vec3::Z, 24));
        let lid = [[0.007, 0.0205], [0.012, 0.0205], [0.014, 0.0185], [0.014, 0.0]];
        bike.add(Material::GlossBlack, turned(&lid, cup, Vec3::Z, 24));
    }
    if !enclosed(joints) {
        for aside in [0.0, 0.014] {
            bike.add_pair(Material::MattBlack, hose(&cable(joints, mount, aside), 0.0034));
        }
    }
}

/// Returns the path of a cable from a lever's perch along the bar to the steering head.
/// Where a cowl stands in front of the bar, the cable runs behind the fork's bridge, so
/// that it goes through no panel.
fn cable(joints: &Joints, mount: Vec3, aside: f32) -> [Vec3; 5] {
    let (head, nose) = (joints.head, joints.design.nose);
    let rake = joints.design.rake.tan();
    // The head tube is beside the axis, between the fork's clamps.
    let end = Vec3::new(head.x + 0.024 - 0.01 * rake, 0.029 + aside * 0.3, head.z - 0.075);
    let root = mount + Vec3::new(-0.020, -0.012, 0.004);
    if matches!(nose, Nose::RoundLamp | Nose::Plate) {
        let front = Vec3::new(head.x - 0.060 - aside * 0.8, 0.062 + aside, head.z + 0.018);
        let low = Vec3::new(head.x - 0.058 - aside * 0.5, 0.046 + aside, head.z - 0.060);
        return [root, root.lerp(front, 0.45) + Vec3::new(-0.024 - aside, 0.0, 0.014), front, low, end];
    }
    let over = Vec3::new(head.x + 0.026 + aside, 0.070 + aside, head.z + 0.058);
    let behind = Vec3::new(head.x + 0.050, 0.040 + aside * 0.7, head.z - 0.006);
    [root, root.lerp(over, 0.45) + Vec3::new(-0.006 - aside, 0.0, 0.012), over, behind, end]
}

/// Adds a bowed guard in front of the hand, held at the bar's end and at the perch.
fn add_hand_guard(bike: &mut Assembly, end: Vec3, inward: Vec3) {
    let middle = end + inward * 0.085;
    let bow = |y: f32| -0.085 + y * y * 6.5;
    let shield: Vec<Vec<Vec3>> = (0..=18)
        .map(|i| {
            let y = 0.098 - 0.196 * i as f32 / 18.0;
            let tall = 0.036 * (1.0 - (y / 0.102).powi(4)).max(0.05).sqrt() + 0.010;
            let at = |k: usize, back: f32| {
                let ratio = k as f32 / 4.0 - 1.0;
                let curl = 0.020 * ratio.powi(2);
                middle + Vec3::new(bow(y) + back + curl, y, 0.006 + ratio * tall + 0.012 * (y / 0.1))
            };
            (0..=8).map(|k| at(k, 0.0)).chain((0..=8).rev().map(|k| at(k, 0.005))).collect()
        })
        .collect();
    bike.add_pair(Material::MattBlack, Solid::lofted_plate(&shield));
    let bar = [
        end - inward * 0.018,
        end + Vec3::new(-0.035, 0.010, 0.0),
        middle + Vec3::new(bow(0.05) + 0.014, 0.05, 0.002),
        middle + Vec3::new(bow(-0.02) + 0.014, -0.02, 0.0),
        end + inward * 0.19 + Vec3::X * -0.012,
    ];
    bike.add_pair(
        Material::Satin,
        Solid::swept(&curve_through(&bar, 6), Vec3::Z, |_| rounded_rectangle(0.004, 0.009, 0.003)),
    );
}

/// Adds a mirror's thin shell and its glass. The mirror is round if `round` is true, and
/// otherwise drawn out to the outside.
pub(super) fn add_mirror_head(bike: &mut Assembly, eye: Vec3, half: Vec3, round: bool, shell: Material) {
    let power = if round { 2.0 } else { 2.9 };
    let drawn = move |p: Vec3| {
        if round {
            return p;
        }
        // The mirror is taller at its outer end and rounder at its inner end.
        let out = p.y / half.y;
        Vec3::new(p.x, p.y, p.z * (1.0 + 0.16 * out) + half.z * 0.10 * out)
    };
    let dish = |p: Vec3| {
        let rim = (p.y / half.y).powi(2) + (p.z / half.z).powi(2);
        // Behind the rim the shell is flat, and in front of it a shallow bowl.
        Vec3::new(if p.x > 0.0 { p.x * 0.18 } else { p.x * (1.0 - 0.15 * rim.min(1.0)) }, p.y, p.z)
    };
    let body = Solid::superellipsoid(half, power, 26, 44).bent(dish).bent(drawn).moved(eye);
    bike.add_pair(shell, body);
    let lip = Solid::superellipsoid(Vec3::new(0.005, half.y * 0.995, half.z * 0.995), power, 14, 44).bent(drawn);
    bike.add_pair(Material::MattBlack, lip.moved(eye + Vec3::X * half.x * 0.10));
    let glass = Solid::superellipsoid(Vec3::new(0.0022, half.y * 0.90, half.z * 0.88), power, 12, 44).bent(drawn);
    bike.add_pair(Material::Chrome, glass.moved(eye + Vec3::X * (half.x * 0.10 + 0.0045)));
}

fn add_mirrors(bike: &mut Assembly, mount: Vec3, round: bool, bright: bool) {
    let root = mount + Vec3::new(-0.004, -0.012, 0.014);
    let eye = mount + Vec3::new(0.020, 0.052, if round { 0.135 } else { 0.120 });
    let metal = if bright { Material::Chrome } else { Material::MattBlack };
    let stalk = [
        root,
        root + Vec3::new(-0.012, 0.004, 0.030),
        eye + Vec3::new(-0.026, -0.030, -0.042),
        eye + Vec3::new(-0.012, -0.010, -0.014),
    ];
    bike.add_pair(metal, tube(&curve_through(&stalk, 8), 12, |_| 0.0052));
    let nut = tube(&[root - Vec3::Z * 0.008, root + Vec3::Z * 0.008], 6, |_| 0.0098);
    bike.add_pair(Material::RimDark, nut);
    let ball = Solid::superellipsoid(Vec3::splat(0.010), 2.0, 10, 16).moved(stalk[3] + Vec3::X * 0.002);
    bike.add_pair(metal, ball);
    let half = if round { Vec3::new(0.017, 0.050, 0.050) } else { Vec3::new(0.019, 0.062, 0.037) };
    add_mirror_head(bike, eye, half, round, metal);
}

/// Adds round dials in bright rims, or a flat screen in a dark frame.
fn add_instruments(bike: &mut Assembly, joints: &Joints) {
    let (head, design) = (joints.head, &joints.design);
    let covered = design.nose == Nose::None;
    let way = if covered { Vec3::new(0.44, 0.0, 0.90) } else { Vec3::new(0.62, 0.0, 0.78) };
    let dials =
        matches!(design.family, Family::Classic | Family::Cafe | Family::Scrambler | Family::Cruiser | Family::Mini)
            || design.details.era == LampEra::Bulb && !matches!(design.nose, Nose::Plate | Nose::None);
    let low = matches!(design.nose, Nose::Sport | Nose::SportTouring);
    let lifted = head
        + if matches!(design.family, Family::Vespa | Family::Underbone) {
            Vec3::new(0.036, 0.0, 0.134)
        } else if design.nose == Nose::None {
            // On top of the cover of the bars.
            Vec3::new(0.058, 0.0, 0.166 * (design.bars[0] + 0.04) / 0.17)
        } else if low {
            Vec3::new(-0.075, 0.0, 0.030)
        } else {
            Vec3::new(-0.055, 0.0, 0.078)
        };
    if dials {
        let two = design.tank == TankForm::Loaf && design.family != Family::Mini;
        let metal = if design.bright { Material::Chrome } else { Material::GlossBlack };
        let body = [
            [-0.050, 0.0],
            [-0.050, 0.028],
            [-0.034, 0.040],
            [0.004, 0.041],
            [0.008, 0.040],
            [0.008, 0.037],
            [0.002, 0.036],
        ];
        let face = [[0.002, 0.037], [0.004, 0.020], [0.0045, 0.0]];
        for side in if two { vec![-0.052, 0.052] } else { vec![0.0] } {
            let at = lifted + Vec3::Y * side;
            bike.add(metal, turned(&body, at, way, 36));
            bike.add(Material::LampGlass, turned(&face, at, way, 36));
        }
        bike.add_soft(
            Material::GlossBlack,
            Solid::pin(head + Vec3::new(-0.02, 0.0, -0.01), lifted - way * 0.03, 0.014, 10),
        );
        return;
    }
    let side = Vec3::Y.cross(way);
    let place = |p: Vec3| lifted + side * p.x + Vec3::Y * p.y + way * p.z;
    let frame = Solid::superellipsoid(Vec3::new(0.043, 0.072, 0.014), 4.0, 16, 36);
    bike.add_soft(Material::MattBlack, frame.bent(place).facing_out());
    let screen = Solid::rounded_box(Vec3::new(0.034, 0.061, 0.003), 0.002).moved(Vec3::Z * 0.0125);
    bike.add(Material::LampGlass, screen.bent(place).facing_out());
    for y in if covered { vec![] } else { vec![-0.035, 0.035] } {
        bike.add_soft(
            Material::GlossBlack,
            Solid::pin(head + Vec3::new(-0.02, y, -0.01), place(Vec3::new(0.0, y, -0.008)), 0.008, 10),
        );
    }
}

/// Adds hoses from the lower clamp to the callipers.
pub(super) fn add_brake_hoses(bike: &mut Assembly, joints: &Joints, leg: impl Fn(f32) -> Vec3, calliper: Vec3) {
    let spread = fork_spread(joints);
    let clamp = leg(0.775);
    let fork = leg(0.74) - Vec3::Y * (spread * 0.45);
    let start = Vec3::new(clamp.x - 0.030, 0.016, clamp.z - 0.004);
    let end = calliper + Vec3::new(0.002, 0.006, 0.004);
    let run = [
        start,
        fork + Vec3::new(-0.036, 0.0, 0.010),
        leg(0.58) + Vec3::new(0.020, 0.004, -0.01),
        leg(0.40) + Vec3::new(0.034, 0.004, 0.0),
        end + Vec3::new(0.010, 0.004, 0.045),
        end,
    ];
    // The hose comes out of a block on the lower clamp, and a hollow bolt holds it to the calliper.
    let block = Solid::rounded_box(Vec3::new(0.014, 0.024, 0.010), 0.004);
    bike.add_soft(Material::GlossBlack, block.moved(Vec3::new(clamp.x - 0.024, 0.0, clamp.z)));
    let line = hose(&run, 0.0038);
    let banjo = turned(&[[-0.014, 0.0085], [0.006, 0.0085], [0.008, 0.0065], [0.008, 0.0]], end, Vec3::Y, 12);
    let both = joints.design.discs > 1;
    if both {
        bike.add_pair(Material::MattBlack, line);
        bike.add_pair(Material::Satin, banjo);
    } else {
        // A single disc is on the left.
        bike.add_soft(Material::Satin, banjo.bent(|p| Vec3::new(p.x, -p.y, p.z)).flipped());
        bike.add_soft(Material::MattBlack, line.bent(|p| Vec3::new(p.x, -p.y, p.z)).flipped());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::Library;
    use crate::vehicle::motorcycle::chassis::add_frame;
    use crate::vehicle::motorcycle::engine_kind::EngineKind;
    use crate::vehicle::motorcycle::shapes::distance_to;
    use crate::vehicle::motorcycle::style::Style;

    #[test]
    fn cables_end_at_the_steering_head() {
        let library = Library::embedded().unwrap();
        for family in ["naked", "classic", "sport", "cruiser", "adventure", "enduro"] {
            let joints = Joints::of(library.two_wheelers().layout(&Style::of(family, EngineKind::Inline(2), &[])));
            let mut frame = Assembly::default();
            add_frame(&mut frame, &joints);
            for aside in [0.0, 0.014] {
                let [root, .., end] = cable(&joints, Grip::of(&joints).mount, aside);
                assert!(root.distance(Grip::of(&joints).mount) < 0.030, "{family}: begins at {root}");
                let apart = distance_to(&frame.mesh, end);
                assert!(apart < 0.015, "{family}: ends {apart} m from the frame");
            }
        }
    }
}

//! The parts in front of the handlebar other than fairings: lamps,
//! small cowls, beaks, masks, plates.

use glam::Vec3;

use super::bracket::add_bracket;
use super::design::{Eyes, LampEra, Luggage, Nose, TankForm};
use super::engine_kind::EngineKind;
use super::fairing;
use super::joints::Joints;
use super::lamps::{LampOpening, add_indicators, add_round_lamp, circle, raised, set_lamp};
use super::nose::NoseCowl;
use super::shapes::{LoftedSkin, add_screen, bolt, round, tube, turned};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::Assembly;
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

pub(super) fn add_nose(bike: &mut Assembly, joints: &Joints) {
    match joints.design.nose {
        Nose::RoundLamp => add_lamp_on_fork(bike, joints),
        Nose::Bikini => add_bikini(bike, joints),
        Nose::Wedge => add_wedge(bike, joints),
        Nose::Sport => fairing::add_sport(bike, joints),
        Nose::SportTouring => fairing::add_sport_touring(bike, joints),
        Nose::Touring => fairing::add_touring(bike, joints),
        Nose::Batwing => fairing::add_batwing(bike, joints),
        Nose::Shark => fairing::add_shark(bike, joints),
        Nose::Beak => add_beak(bike, joints),
        Nose::Mask => add_mask(bike, joints),
        Nose::Plate => add_plate(bike, joints),
        Nose::None => {}
    }
}

fn add_lamp_on_fork(bike: &mut Assembly, joints: &Joints) {
    let (head, design) = (joints.head, &joints.design);
    let cruiser = design.tank == TankForm::Drop;
    let radius = if cruiser { 0.088 } else { 0.092 };
    let at = Vec3::new(head.x - 0.145, 0.0, head.z - 0.035);
    let bowl = match () {
        _ if design.details.painted_lamp => Material::Paint,
        _ if design.bright => Material::Chrome,
        _ => Material::GlossBlack,
    };
    add_round_lamp(bike, at, radius, bowl, design.details.era);
    // Ears from both clamps to the lamp's sides, and the bolts that they turn on.
    let hold = at + Vec3::new(0.022, radius * 1.02, 0.0);
    for z in [-0.015, -0.105] {
        let root = Vec3::new(head.x - 0.030 + z * 0.3, 0.088, head.z + z);
        let ear = [root, root.lerp(hold, 0.6) + Vec3::Y * 0.004, hold];
        bike.add_pair(
            Material::GlossBlack,
            Solid::swept(&curve_through(&ear, 5), Vec3::Y, |_| rounded_rectangle(0.010, 0.0035, 0.003)),
        );
    }
    bike.add_pair(Material::Satin, bolt(hold + Vec3::Y * 0.003, Vec3::Y, 0.010));
    add_indicators(bike, at + Vec3::new(0.065, radius * 0.95, -0.060));
    if design.luggage == Luggage::Bags || cruiser && design.luggage != Luggage::None {
        // A tall screen on the fork.
        add_screen(
            bike,
            Material::ClearGlass,
            [head.x - 0.16, head.z + 0.02],
            [head.x + 0.06, head.z + 0.40],
            [0.20, 0.24],
            0.07,
        );
        for y in [0.07, 0.13] {
            let stay =
                [Vec3::new(head.x - 0.02, 0.08, head.z - 0.02), Vec3::new(head.x - 0.125 + y * 0.3, y, head.z + 0.075)];
            bike.add_pair(Material::Chrome, tube(&stay, 12, |_| 0.0075));
        }
    }
}

fn add_bikini(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = head.x - 0.20;
    let cowl = LoftedSkin::new(
        &[
            [nose + 0.030, 0.100, head.z - 0.132, head.z + 0.060],
            [nose + 0.07, 0.132, head.z - 0.140, head.z + 0.105],
            [nose + 0.15, 0.158, head.z - 0.118, head.z + 0.128],
            [nose + 0.225, 0.160, head.z - 0.070, head.z + 0.120],
        ],
        2.3,
    );
    bike.add_soft(Material::Paint, cowl.solid());
    for x in [0.10, 0.18] {
        let at = Vec3::new(nose + x, cowl.out(nose + x, head.z - 0.045), head.z - 0.045);
        bike.add_pair(
            Material::RimDark,
            turned(&[[-0.003, 0.0075], [0.0020, 0.0075], [0.0035, 0.005], [0.0035, 0.0]], at, Vec3::Y, 16),
        );
    }
    add_round_lamp(
        bike,
        Vec3::new(nose - 0.028, 0.0, head.z - 0.035),
        0.085,
        Material::GlossBlack,
        joints.design.details.era,
    );
    add_screen(
        bike,
        Material::Glass,
        [nose + 0.085, head.z + 0.108],
        [nose + 0.235, head.z + 0.215],
        [0.100, 0.122],
        0.055,
    );
    add_indicators(bike, Vec3::new(nose + 0.15, 0.135, head.z - 0.100));
}

/// Returns the opening for the lamps in a mask, seen from the front with the steering head's top as
/// zero: its outline, the number of main lights, and true if there is one opening on each side.
fn mask_eyes(eyes: Eyes) -> (Vec<[f32; 2]>, usize, bool) {
    match eyes {
        Eyes::Slits => (
            vec![[0.012, -0.112], [0.058, -0.086], [0.084, -0.068], [0.082, -0.094], [0.050, -0.128], [0.014, -0.136]],
            2,
            true,
        ),
        Eyes::Twins => (circle([0.047, -0.100], 0.037), 1, true),
        Eyes::Broad => {
            let half = [[0.0, -0.058], [0.060, -0.062], [0.086, -0.082], [0.072, -0.128], [0.0, -0.142]];
            (half.iter().flat_map(|p| [*p, [-p[0], p[1]]]).collect(), 2, false)
        }
        Eyes::Tall => {
            let half = [[0.0, -0.036], [0.046, -0.042], [0.058, -0.095], [0.036, -0.160], [0.0, -0.166]];
            (half.iter().flat_map(|p| [*p, [-p[0], p[1]]]).collect(), 2, false)
        }
    }
}

/// Sets a mask's lamps into its skin and returns the rest of the skin.
fn set_eyes(bike: &mut Assembly, joints: &Joints, skin: &Solid, up: f32, behind: f32) -> Solid {
    let (outline, lights, pair) = mask_eyes(joints.design.details.eyes);
    let outline = raised(&round(outline), joints.head.z + up);
    let opening = LampOpening { outline: &outline, depth: 0.042, lights, pair, behind };
    set_lamp(bike, skin, &opening, joints.design.details.era)
}

fn add_wedge(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = head.x - 0.215;
    add_bracket(bike, joints, Vec3::new(nose + 0.12, 0.0, head.z - 0.06), 0.040);
    // A painted cowl around a dark face with the lamps.
    let mask = NoseCowl::new(
        nose,
        head.z,
        &[
            [0.000, 0.066, -0.034, -0.052, -0.150],
            [0.010, 0.084, -0.016, -0.044, -0.166],
            [0.045, 0.102, 0.012, -0.028, -0.170],
            [0.105, 0.116, 0.046, -0.006, -0.148],
            [0.165, 0.112, 0.074, 0.020, -0.104],
            [0.205, 0.098, 0.086, 0.036, -0.062],
        ],
    );
    let rest = set_eyes(bike, joints, &mask.solid(), 0.0, nose + 0.09);
    for (material, part) in mask.coloured(rest) {
        bike.add_soft(material, part);
    }
    bike.add_soft(Material::MattBlack, mask.back());
    for (x, z) in [(0.085, -0.090), (0.150, -0.050)] {
        let at = Vec3::new(nose + x, mask.out(nose + x, head.z + z), head.z + z);
        let screw = [[-0.003, 0.0085], [0.0020, 0.0085], [0.0035, 0.006], [0.0035, 0.0]];
        bike.add_pair(Material::RimDark, turned(&screw, at, Vec3::Y, 16));
    }
    if joints.design.details.screen > 0.98 {
        add_screen(
            bike,
            Material::Glass,
            [nose + 0.056, head.z + 0.018],
            [nose + 0.150, head.z + 0.142],
            [0.074, 0.096],
            0.045,
        );
    }
    add_indicators(bike, Vec3::new(nose + 0.165, 0.085, head.z - 0.140));
}

fn add_beak(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = joints.front_axle.x - 0.06;
    let over = joints.front_axle.z * 2.0 + 0.075;
    let beak = LoftedSkin::new(
        &[
            [nose - 0.02, 0.022, over - 0.006, over + 0.012],
            [nose + 0.10, 0.064, over + 0.004, over + 0.052],
            [nose + 0.22, 0.106, over + 0.010, over + 0.108],
            [head.x - 0.10, 0.150, over + 0.012, head.z - 0.060],
            [head.x + 0.06, 0.165, over + 0.012, head.z - 0.050],
            [head.x + 0.16, 0.130, over + 0.040, head.z - 0.080],
        ],
        3.0,
    );
    bike.add_soft(Material::Paint, beak.solid());
    // The cowl over the beak reaches from the lamps to the tank's flanks.
    let front = head.x - 0.262;
    let face = NoseCowl::new(
        front,
        head.z,
        &[
            [0.000, 0.070, 0.012, -0.018, -0.146],
            [0.014, 0.106, 0.036, -0.012, -0.164],
            [0.065, 0.140, 0.068, -0.004, -0.178],
            [0.150, 0.166, 0.088, 0.000, -0.190],
            [0.250, 0.184, 0.066, -0.026, -0.204],
            [0.345, 0.186, 0.010, -0.072, -0.216],
            [0.420, 0.168, -0.050, -0.116, -0.226],
        ],
    );
    let rest = set_eyes(bike, joints, &face.solid(), 0.016, head.x - 0.12);
    for (material, part) in face.coloured(rest) {
        bike.add_soft(material, part);
    }
    bike.add_soft(Material::MattBlack, face.back());
    let top = [head.x - 0.02, head.z + 0.325 * joints.design.details.screen];
    add_screen(bike, Material::ClearGlass, [front + 0.072, head.z + 0.060], top, [0.100, 0.150], 0.06);
    // The screen's brackets stand on the cowl.
    let foot = Vec3::new(front + 0.150, 0.062, head.z + 0.070);
    let hold = Vec3::new(front + 0.160, 0.080, head.z + 0.060 + 0.098 * joints.design.details.screen);
    bike.add_pair(Material::MattBlack, tube(&[foot, foot.lerp(hold, 0.5) + Vec3::X * 0.012, hold], 12, |_| 0.0065));
    add_indicators(bike, Vec3::new(head.x - 0.12, 0.125, head.z - 0.100));
    add_skid_plate(bike, joints);
    add_crash_bars(bike, joints);
}

/// Adds the plate under an adventure bike's engine, with ribs and slots.
fn add_skid_plate(bike: &mut Assembly, joints: &Joints) {
    let low = joints.design.clearance;
    let skid = LoftedSkin::new(
        &[
            [joints.engine_front + 0.045, 0.090, low + 0.05, low + 0.13],
            [joints.engine_front + 0.09, 0.112, low - 0.01, low + 0.08],
            [joints.engine_front + 0.18, 0.125, low - 0.035, low + 0.02],
            [joints.pivot.x - 0.10, 0.115, low - 0.035, low + 0.01],
        ],
        5.0,
    );
    bike.add_soft(Material::Satin, skid.solid());
    for k in 0..4 {
        let x = joints.engine_front + 0.16 + 0.052 * k as f32;
        let at = Vec3::new(x, skid.out(x, low - 0.008), low - 0.008);
        let slot = Solid::superellipsoid(Vec3::new(0.017, 0.004, 0.0075), 3.0, 8, 20);
        bike.add_pair(Material::PanelGap, slot.moved(at));
    }
}

/// Adds tubes round the flanks of engine and radiator.
fn add_crash_bars(bike: &mut Assembly, joints: &Joints) {
    if matches!(joints.design.engine, EngineKind::Boxer) {
        return;
    }
    let (x, low, head) = (joints.engine_front, joints.design.clearance, joints.head);
    let hoop = [
        Vec3::new(head.x + 0.07, 0.095, head.z - 0.26),
        Vec3::new(x + 0.045, 0.205, head.z - 0.31),
        Vec3::new(x + 0.050, 0.225, (head.z + low) * 0.5 - 0.01),
        Vec3::new(x + 0.115, 0.190, low + 0.13),
        Vec3::new(x + 0.165, 0.115, low + 0.045),
    ];
    bike.add_pair(Material::GlossBlack, tube(&curve_through(&hoop, 9), 14, |_| 0.0125));
    let cross = [
        hoop[2],
        Vec3::new(x + 0.14, 0.185, (head.z + low) * 0.5 + 0.02),
        Vec3::new(x + 0.235, 0.150, (head.z + low) * 0.5 + 0.01),
    ];
    bike.add_pair(Material::GlossBlack, tube(&curve_through(&cross, 6), 12, |_| 0.0105));
}

fn add_mask(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let tilt = joints.design.rake.tan() * 0.5;
    let lean = |x: f32, z: f32| head.x - 0.165 + x + (z - head.z) * tilt;
    let mask = LoftedSkin::new(
        &[
            [0.000, 0.052, head.z - 0.150, head.z + 0.005],
            [0.010, 0.084, head.z - 0.186, head.z + 0.050],
            [0.030, 0.106, head.z - 0.202, head.z + 0.085],
            [0.060, 0.112, head.z - 0.196, head.z + 0.100],
            [0.088, 0.100, head.z - 0.170, head.z + 0.100],
        ],
        3.4,
    );
    let solid = mask.solid().bent(|p| Vec3::new(lean(p.x, p.z), p.y, p.z));
    let outline = match joints.design.details.era {
        LampEra::Bulb => vec![
            [-0.066, -0.150],
            [0.066, -0.150],
            [0.072, -0.098],
            [0.066, -0.046],
            [-0.066, -0.046],
            [-0.072, -0.098],
        ],
        LampEra::Clear => vec![
            [-0.034, -0.160],
            [0.034, -0.160],
            [0.066, -0.120],
            [0.072, -0.058],
            [0.0, -0.044],
            [-0.072, -0.058],
            [-0.066, -0.120],
        ],
        LampEra::Led => vec![
            [-0.034, -0.128],
            [0.034, -0.128],
            [0.074, -0.092],
            [0.078, -0.062],
            [0.0, -0.056],
            [-0.078, -0.062],
            [-0.074, -0.092],
        ],
    };
    let outline = raised(&round(outline), head.z);
    let lights = if joints.design.details.era == LampEra::Led { 3 } else { 1 };
    let opening = LampOpening { outline: &outline, depth: 0.038, lights, pair: false, behind: head.x + 0.1 };
    let rest = set_lamp(bike, &solid, &opening, joints.design.details.era);
    bike.add_soft(Material::Paint, rest);
    add_bracket(bike, joints, Vec3::new(head.x - 0.09, 0.0, head.z - 0.05), 0.035);
    // Rubber straps round the fork's legs.
    for z in [-0.035, -0.150] {
        let strap = [
            Vec3::new(lean(0.075, head.z + z), 0.098, head.z + z),
            Vec3::new(lean(0.115, head.z + z), 0.118, head.z + z - 0.004),
            Vec3::new(lean(0.160, head.z + z), 0.108, head.z + z - 0.010),
        ];
        bike.add_pair(
            Material::MattBlack,
            Solid::swept(&curve_through(&strap, 6), Vec3::Y, |_| rounded_rectangle(0.010, 0.003, 0.002)),
        );
    }
    add_indicators(bike, Vec3::new(head.x - 0.085, 0.085, head.z - 0.115));
}

fn add_plate(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    // The plate follows the fork: its bottom is forward.
    let tilt = joints.design.rake.tan() * 0.55;
    let plate = LoftedSkin::new(
        &[
            [0.000, 0.045, head.z - 0.140, head.z - 0.000],
            [0.008, 0.084, head.z - 0.178, head.z + 0.060],
            [0.022, 0.104, head.z - 0.192, head.z + 0.088],
            [0.048, 0.108, head.z - 0.178, head.z + 0.085],
        ],
        3.4,
    );
    let lean = |p: Vec3| Vec3::new(head.x - 0.125 + p.x + (p.z - head.z) * tilt, p.y, p.z);
    bike.add_soft(Material::Paint, plate.solid().bent(lean));
    for (y, z) in [(0.0, 0.045), (0.045, -0.135)] {
        let at = lean(Vec3::new(0.004, y, head.z + z));
        bike.add_pair(
            Material::RimDark,
            turned(&[[-0.004, 0.009], [0.003, 0.009], [0.005, 0.006], [0.005, 0.0]], at, Vec3::NEG_X, 16),
        );
    }
    add_bracket(bike, joints, Vec3::new(head.x - 0.09, 0.0, head.z - 0.04), 0.030);
}

//! The front of modern scooters: apron with its lamps, leg shield, cover of the handlebar. All are
//! drawn by feature lines, so that their shut lines run from edge to edge.

use glam::Vec3;

use super::design::{Eyes, LampEra};
use super::joints::{Joints, fork_spread};
use super::lamps::{LampOpening, set_flush, set_intake, set_lamp};
use super::shapes::{soft_max, tube, turned};
use super::shell::{Net, NetPanel, PanelEnd};
use super::style::Family;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::Assembly;
use crate::vehicle::parts::solid::{Solid, curve_through};

/// Number of stations of the apron, from the floor upwards. A station's height
/// depends on the height of the joints.
const STATIONS: usize = 10;
/// The station where the splash guard behind the wheel ends, below the nose.
const SPLASH_ENDS: usize = 3;
/// Half widths of the ridge of the front, at each station, in metres.
const RIDGE: [f32; STATIONS] = [0.088, 0.094, 0.100, 0.104, 0.098, 0.090, 0.086, 0.078, 0.060, 0.045];
/// Half widths of the shoulder of the front, at each station, in metres.
const SHOULDER: [f32; STATIONS] = [0.160, 0.172, 0.180, 0.186, 0.184, 0.176, 0.162, 0.138, 0.100, 0.070];
/// Half widths of the edge of the front, at each station, in metres.
const EDGE: [f32; STATIONS] = [0.196, 0.214, 0.226, 0.234, 0.238, 0.236, 0.226, 0.202, 0.150, 0.100];
/// Distance of the front's middle in front of the steering axis, at each station, in metres.
const BEFORE_AXIS: [f32; STATIONS] = [0.0, 0.0, 0.0, -0.030, 0.085, 0.148, 0.150, 0.112, 0.062, -0.030];

/// Metres by which a long scooter's apron is higher, at each station.
const LONG_UP: [f32; STATIONS] = [0.0, 0.0, 0.0, 0.005, 0.030, 0.045, 0.055, 0.065, 0.075, 0.075];
/// Metres by which a long scooter's apron is further forward, at each station.
const LONG_FORWARD: [f32; STATIONS] = [0.0, 0.0, 0.0, 0.0, 0.035, 0.060, 0.080, 0.110, 0.145, 0.160];

/// The apron's feature lines: middle, ridge, shoulder, edge.
struct Apron {
    net: Net,
    lines: [Vec<Vec3>; 4],
    /// Ratio of the width to that of an ordinary apron.
    grow: f32,
    long: bool,
    /// x behind which faces are not cut for lamps.
    behind: f32,
}

impl Apron {
    fn of(joints: &Joints, long: bool) -> Apron {
        let (head, wheel) = (joints.head.z, joints.front_axle);
        let grow = if long { 1.16 } else { 1.0 } * joints.design.details.apron;
        let top = wheel.z * 2.0;
        let under = (top + 0.062).min(head - 0.250);
        let heights = [
            0.200,
            wheel.z + 0.035,
            top - 0.055,
            under,
            head - 0.222,
            head - 0.172,
            head - 0.122,
            head - 0.062,
            head - 0.008,
            head + 0.004,
        ];
        // The apron of a long scooter reaches up in front of the bars, and further forward.
        let reaches = if long { 1.0 } else { 0.0 };
        let heights: [f32; STATIONS] = std::array::from_fn(|i| heights[i] + reaches * LONG_UP[i]);
        let back = wheel.x + wheel.z;
        // Behind the wheel, the middle line follows the wheel at a distance.
        let reach = wheel.z + 0.048;
        let round = |z: f32| wheel.x + (reach * reach - (z - wheel.z).powi(2)).max(0.02).sqrt();
        let middle: Vec<Vec3> = (0..STATIONS)
            .map(|i| {
                let z = heights[i];
                let x = match i {
                    0 => back + 0.062,
                    1 | 2 => round(z),
                    _ => joints.axis(z) - BEFORE_AXIS[i] - reaches * LONG_FORWARD[i],
                };
                Vec3::new(x, 0.0, z)
            })
            .collect();
        let edge: Vec<Vec3> = (0..STATIONS)
            .map(|i| {
                let z = heights[i] + [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.002, -0.008, -0.014, -0.006][i];
                let sweep = 0.045 * (1.0 - i as f32 / 3.0).max(0.0);
                let x = soft_max(joints.axis(z) + 0.085 - reaches * LONG_FORWARD[i] * 1.05, back + 0.085 + sweep, 0.10);
                Vec3::new(if i + 1 == STATIONS { x - 0.030 } else { x }, EDGE[i] * grow, z)
            })
            .collect();
        let line = |widths: [f32; STATIONS], ratio: [f32; 2], drop: f32| -> Vec<Vec3> {
            (0..STATIONS)
                .map(|i| {
                    let t = if i <= SPLASH_ENDS { ratio[0] } else { ratio[1] };
                    let x = middle[i].x + (edge[i].x - middle[i].x) * t;
                    let z = heights[i] - if i > SPLASH_ENDS { drop } else { 0.0 };
                    Vec3::new(x, widths[i] * grow, z)
                })
                .collect()
        };
        let (ridge, shoulder) = (line(RIDGE, [0.10, 0.075], 0.0), line(SHOULDER, [0.36, 0.33], 0.003));
        let lines = [middle, ridge, shoulder, edge];
        Apron { net: Net::new(lines.to_vec()), lines, grow, long, behind: joints.axis(head) + 0.03 }
    }
}

/// Adds the apron in front of the rider's legs.
pub(super) fn add_apron(bike: &mut Assembly, joints: &Joints, long: bool) {
    let apron = Apron::of(joints, long);
    let last = STATIONS - 1;
    let nose = NetPanel {
        lines: [0, 2],
        stations: [SPLASH_ENDS, last],
        sides: [PanelEnd::Joined, PanelEnd::Cut, PanelEnd::Cut, PanelEnd::Free],
    };
    let skin = set_front_lamps(bike, joints, &apron, &apron.net.panel(&nose), long);
    bike.add_soft(Material::Paint, skin);
    apron.net.add_shade(bike, &nose);
    let splash = NetPanel {
        lines: [0, 2],
        stations: [0, SPLASH_ENDS],
        sides: [PanelEnd::Joined, PanelEnd::Cut, PanelEnd::Free, PanelEnd::Cut],
    };
    apron.net.add(bike, Material::MattBlack, &splash);
    let wing = NetPanel {
        lines: [2, 3],
        stations: [0, last],
        sides: [PanelEnd::Cut, PanelEnd::Free, PanelEnd::Free, PanelEnd::Free],
    };
    apron.net.add(bike, Material::Paint, &wing);
    add_rider_side(bike, joints, &apron);
    if joints.design.family != Family::Tilting {
        add_boots(bike, joints, apron.lines[0][SPLASH_ENDS].z);
    }
}

/// Adds rubber boots where the fork's legs come out of the nose.
fn add_boots(bike: &mut Assembly, joints: &Joints, under: f32) {
    let spread = Vec3::Y * fork_spread(joints);
    let (axle, head) = (joints.front_axle - Vec3::X * 0.005, joints.head);
    let leg = |z: f32| axle.lerp(head, (z - axle.z) / (head.z - axle.z)) + spread;
    let ribs: Vec<Vec3> = (0..=14).map(|i| leg(under - 0.030 + 0.012 * i as f32)).collect();
    bike.add_pair(Material::MattBlack, tube(&ribs, 24, |i| 0.0265 + if i % 2 == 0 { 0.0 } else { 0.0035 }));
}

/// Adds the side of the leg shield that faces the rider, from edge to
/// edge, with a glove box and a hook.
fn add_rider_side(bike: &mut Assembly, joints: &Joints, apron: &Apron) {
    let wheel = joints.front_axle.x + joints.front_axle.z;
    let edge: Vec<Vec3> = apron.lines[3].iter().map(|p| *p + Vec3::new(-0.002, -0.004, 0.0)).collect();
    let (head, forward) = (joints.head.z, LONG_FORWARD[STATIONS - 1] * if apron.long { 1.0 } else { 0.0 });
    let rear = |z: f32| {
        let drawn = forward * ((z - head + 0.24) / 0.30).clamp(0.0, 1.0);
        soft_max(joints.axis(z) + 0.088 - drawn, wheel + 0.082, 0.06)
    };
    // The rider's side is nowhere in front of the outer side.
    let behind = |i: usize, y: f32| -> f32 {
        let across: Vec<Vec3> = apron.lines.iter().map(|line| line[i]).collect();
        let next = across.iter().position(|p| p.y >= y).unwrap_or(across.len() - 1).max(1);
        let (a, b) = (across[next - 1], across[next]);
        a.x + (b.x - a.x) * ((y - a.y) / (b.y - a.y).max(1e-6)).clamp(0.0, 1.0)
    };
    let inside = |ratio: f32, deeper: f32| -> Vec<Vec3> {
        let place = |(i, p): (usize, &Vec3)| {
            let x = (rear(p.z) + deeper).max(behind(i, p.y * ratio) + 0.010 * (1.0 - ratio).min(0.3) / 0.3 + 0.004);
            Vec3::new(x, p.y * ratio, p.z + 0.006 * (1.0 - ratio))
        };
        edge.iter().enumerate().map(place).collect()
    };
    let net = Net::new(vec![edge.clone(), inside(0.90, 0.004), inside(0.55, 0.010), inside(0.0, 0.006)]);
    let last = STATIONS - 1;
    let sides = [PanelEnd::Free, PanelEnd::Joined, PanelEnd::Free, PanelEnd::Joined];
    net.add(bike, Material::MattBlack, &NetPanel { lines: [0, 1], stations: [0, last], sides });
    let sides = [PanelEnd::Joined, PanelEnd::Joined, PanelEnd::Free, PanelEnd::Joined];
    net.add(bike, Material::MattBlack, &NetPanel { lines: [1, 3], stations: [0, last], sides });
    // The glove box: the line of its lid, its lock, and a hook below.
    let z = joints.head.z - 0.205;
    let at = |y: f32, z: f32| Vec3::new(rear(z) + 0.0105, y, z);
    for (half, thick, material) in [(0.108, 0.0045, Material::PanelGap), (0.1055, 0.0075, Material::MattBlack)] {
        let lid = Solid::rounded_box(Vec3::new(thick, half, half * 0.55), 0.0042);
        bike.add(material, lid.bent(|p| at(p.y, z + p.z) + Vec3::X * (p.x - 0.001)));
    }
    let lock = turned(&[[-0.006, 0.011], [0.004, 0.011], [0.004, 0.0]], at(0.062, z + 0.092), Vec3::X, 20);
    bike.add(Material::Satin, lock);
    let hang = at(0.0, z - 0.075);
    let hook = [hang - Vec3::X * 0.006, hang + Vec3::new(0.030, 0.0, -0.010), hang + Vec3::new(0.034, 0.0, 0.013)];
    bike.add_soft(Material::Satin, tube(&curve_through(&hook, 6), 10, |_| 0.0045));
}

/// Returns true if the head lamp turns with the bars.
fn lamp_in_cover(joints: &Joints, long: bool) -> bool {
    !long && matches!(joints.design.details.eyes, Eyes::Tall | Eyes::Broad)
}

/// Sets lamps and indicators into the nose and returns the rest of its skin.
fn set_front_lamps(bike: &mut Assembly, joints: &Joints, apron: &Apron, skin: &Solid, long: bool) -> Solid {
    let head = joints.head.z;
    let Apron { grow, behind, .. } = *apron;
    let raised = |outline: &[[f32; 2]]| -> Vec<[f32; 2]> {
        outline.iter().map(|p| [p[0] * grow, head + (p[1] + 0.15) * grow - 0.15]).collect()
    };
    let in_cover = lamp_in_cover(joints, long);
    let skin = if in_cover {
        let mouth = raised(&[[-0.050, -0.168], [0.050, -0.168], [0.038, -0.190], [-0.038, -0.190]]);
        set_intake(bike, skin, &LampOpening { outline: &mouth, depth: 0.035, lights: 0, pair: false, behind })
    } else {
        let (outline, lights, pair) = apron_eyes(joints.design.details.eyes);
        let outline = raised(outline);
        let opening = LampOpening { outline: &outline, depth: 0.045, lights, pair, behind };
        set_lamp(bike, skin, &opening, joints.design.details.era)
    };
    let amber: &[[f32; 2]] = if in_cover {
        &[[0.084, -0.096], [0.118, -0.072], [0.136, -0.074], [0.138, -0.098], [0.110, -0.118]]
    } else {
        &[[0.072, -0.078], [0.116, -0.058], [0.124, -0.064], [0.120, -0.082], [0.080, -0.094]]
    };
    let amber = raised(amber);
    let opening = LampOpening { outline: &amber, depth: 0.0008, lights: 0, pair: true, behind };
    set_flush(bike, &skin, &opening, Material::LampAmber)
}

/// Returns the outline of an opening for the apron's lamps, the number of main lights in it, and
/// true if there is one opening on each side.
fn apron_eyes(eyes: Eyes) -> (&'static [[f32; 2]], usize, bool) {
    match eyes {
        Eyes::Broad => (
            &[
                [-0.110, -0.112],
                [0.0, -0.100],
                [0.110, -0.112],
                [0.094, -0.160],
                [0.040, -0.184],
                [-0.040, -0.184],
                [-0.094, -0.160],
            ],
            2,
            false,
        ),
        Eyes::Tall => (
            &[[-0.056, -0.098], [0.056, -0.098], [0.066, -0.140], [0.038, -0.196], [-0.038, -0.196], [-0.066, -0.140]],
            2,
            false,
        ),
        Eyes::Twins => (
            &[[0.014, -0.136], [0.060, -0.112], [0.124, -0.100], [0.128, -0.132], [0.078, -0.178], [0.016, -0.190]],
            1,
            true,
        ),
        Eyes::Slits => (
            &[[0.016, -0.146], [0.070, -0.118], [0.138, -0.100], [0.140, -0.120], [0.084, -0.158], [0.020, -0.176]],
            2,
            true,
        ),
    }
}

/// Distances of the sections in [`COVER`] from the middle, in metres.
const COVER_OUT: [f32; 5] = [0.0, 0.060, 0.115, 0.172, 0.224];
/// Sections of the handlebar's cover, from under the rider's side over the crest to under its
/// front: (x, z) from the steering head, for a bar that rises 0.17 m.
const COVER: [[[f32; 2]; 6]; 5] = [
    [[0.076, 0.076], [0.106, 0.142], [0.000, 0.196], [-0.092, 0.142], [-0.116, 0.074], [-0.066, 0.026]],
    [[0.076, 0.080], [0.106, 0.144], [0.002, 0.196], [-0.084, 0.144], [-0.106, 0.078], [-0.058, 0.032]],
    [[0.078, 0.100], [0.104, 0.150], [0.014, 0.194], [-0.054, 0.156], [-0.070, 0.104], [-0.032, 0.062]],
    [[0.080, 0.124], [0.098, 0.156], [0.048, 0.190], [0.006, 0.174], [-0.004, 0.144], [0.026, 0.116]],
    [[0.080, 0.154], [0.086, 0.176], [0.062, 0.196], [0.040, 0.186], [0.036, 0.166], [0.052, 0.150]],
];

/// Adds the cover of the bars in two halves, with the head lamp if the lamp is in the cover.
pub(super) fn add_bar_cover(bike: &mut Assembly, joints: &Joints, long: bool) {
    let (head, [rise, _, bar]) = (joints.head, joints.design.bars);
    let tall = (rise + 0.04) / 0.17;
    let line = |number: usize| -> Vec<Vec3> {
        (0..COVER.len())
            .map(|i| {
                let [x, z] = COVER[i][number];
                Vec3::new(head.x + x, COVER_OUT[i] * bar / 0.35, head.z + z * tall)
            })
            .collect()
    };
    let net = Net::new((0..6).map(line).collect());
    let end = COVER.len() - 1;
    let front = NetPanel {
        lines: [2, 5],
        stations: [0, end],
        sides: [PanelEnd::Cut, PanelEnd::Free, PanelEnd::Joined, PanelEnd::Free],
    };
    let mut skin = net.panel(&front);
    if lamp_in_cover(joints, long) {
        skin = set_cover_lamp(bike, joints, &skin, tall);
    } else if !long {
        // A dark field in the place where other scooters have their lamp.
        let field = [[-0.030, 0.052], [0.030, 0.052], [0.062, 0.112], [0.044, 0.146], [-0.044, 0.146], [-0.062, 0.112]];
        let field = field.map(|p| [p[0], head.z + p[1] * tall]);
        let opening = LampOpening { outline: &field, depth: 0.0012, lights: 0, pair: false, behind: head.x + 0.01 };
        skin = set_flush(bike, &skin, &opening, Material::GlossBlack);
    }
    bike.add_soft(if long { Material::MattBlack } else { Material::Paint }, skin);
    net.add_shade(bike, &front);
    let rider = [PanelEnd::Free, PanelEnd::Cut, PanelEnd::Joined, PanelEnd::Free];
    net.add(bike, Material::MattBlack, &NetPanel { lines: [0, 2], stations: [0, end], sides: rider });
    let under = Net::new(vec![line(5), line(0)]);
    let sides = [PanelEnd::Free, PanelEnd::Free, PanelEnd::Joined, PanelEnd::Free];
    under.add(bike, Material::MattBlack, &NetPanel { lines: [0, 1], stations: [0, end], sides });
    let neck = [head - Vec3::Z * 0.06, head - Vec3::Z * 0.01, head + Vec3::new(0.012, 0.0, 0.070)];
    bike.add_soft(Material::MattBlack, tube(&neck, 28, |i| [0.060, 0.058, 0.042][i]));
}

/// Sets the lamp into the cover's front and returns the rest of the cover.
fn set_cover_lamp(bike: &mut Assembly, joints: &Joints, skin: &Solid, tall: f32) -> Solid {
    let outline: &[[f32; 2]] = match joints.design.details.eyes {
        Eyes::Broad => &[
            [-0.054, 0.048],
            [0.054, 0.048],
            [0.082, 0.078],
            [0.070, 0.122],
            [0.0, 0.136],
            [-0.070, 0.122],
            [-0.082, 0.078],
        ],
        _ => &[[-0.038, 0.046], [0.038, 0.046], [0.060, 0.086], [0.046, 0.132], [-0.046, 0.132], [-0.060, 0.086]],
    };
    let outline: Vec<[f32; 2]> = outline.iter().map(|p| [p[0], joints.head.z + p[1] * tall]).collect();
    let lights = if joints.design.details.era == LampEra::Led { 2 } else { 1 };
    let opening = LampOpening { outline: &outline, depth: 0.042, lights, pair: false, behind: joints.head.x + 0.01 };
    set_lamp(bike, skin, &opening, joints.design.details.era)
}

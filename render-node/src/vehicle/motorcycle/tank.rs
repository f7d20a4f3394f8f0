//! The tank and the parts on its flanks: knee pads, consoles, shrouds, scoops.

use glam::Vec3;

use super::design::{Nose, TankForm};
use super::joints::Joints;
use super::shapes::{LoftedSkin, add_bolt_circle, panel, sharpened, tube, turned};
use super::shell::{Net, NetPanel, PanelEnd};
use super::style::Family;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use crate::vehicle::parts::solid::Solid;

/// Returns x where the tank begins and ends.
pub(super) fn tank_span(joints: &Joints) -> (f32, f32) {
    (joints.head.x + 0.050, joints.seat.x - 0.12)
}

/// Position of a tank on its bike.
struct TankSpan {
    start: f32,
    end: f32,
    /// Height of its highest point.
    top: f32,
}

impl TankSpan {
    fn of(joints: &Joints) -> TankSpan {
        let (start, end) = tank_span(joints);
        let design = &joints.design;
        let top = joints.head.z
            + match design.tank {
                TankForm::Modern => 0.090,
                TankForm::Loaf => 0.070,
                TankForm::Drop => 0.045,
                TankForm::Slim => 0.030,
            }
            + design.details.tank[1];
        TankSpan { start, end, top }
    }

    /// Returns x of a place along the tank, as a ratio of the way from its front.
    fn at(&self, ratio: f32) -> f32 {
        self.start + (self.end - self.start) * ratio
    }
}

pub(super) fn add_tank(bike: &mut Assembly, joints: &Joints) {
    let design = &joints.design;
    let span = TankSpan::of(joints);
    let (stations, power) = stations_of(joints, &span);
    let stations: Vec<[f32; 4]> =
        stations.into_iter().map(|[x, wide, low, high]| [x, wide * design.details.tank[0], low, high]).collect();
    let skin = LoftedSkin::new(&stations, power);
    if design.tank == TankForm::Modern {
        add_modern(bike, &stations);
    } else {
        bike.add_soft(Material::Paint, skin.solid());
    }
    add_filler_cap(bike, joints, &skin, span.at(0.34));
    match design.tank {
        TankForm::Loaf => add_knee_pads(bike, &skin, &span),
        TankForm::Drop => add_console(bike, &skin, &span, design.bright),
        TankForm::Slim => add_shrouds(bike, joints, span.at(0.0), span.top),
        TankForm::Modern => {
            if matches!(design.nose, Nose::Wedge | Nose::Beak) {
                add_scoops(bike, joints, span.at(0.0), span.top);
            }
        }
    }
}

/// Adds a modern tank by its feature lines: ridge, shoulder, the crease at the widest place, the
/// hollow for the knees, and a dark lower edge.
fn add_modern(bike: &mut Assembly, stations: &[[f32; 4]]) {
    let last = stations.len() - 1;
    let hollow = [1.0, 0.99, 0.95, 0.82, 0.76, 0.86, 0.96];
    let line = |out: &dyn Fn(usize) -> f32, up: f32| -> Vec<Vec3> {
        let place =
            |(i, [x, wide, low, high]): (usize, &[f32; 4])| Vec3::new(*x, wide * out(i), low + (high - low) * up);
        stations.iter().enumerate().map(place).collect()
    };
    let hollow = |i: usize| hollow[i.min(6)];
    let net = Net::new(vec![
        line(&|_| 0.0, 1.0),
        line(&|_| 0.56, 0.955),
        line(&|_| 1.0, 0.62),
        line(&hollow, 0.36),
        line(&|i| hollow(i) * 0.96, 0.20),
        line(&|i| hollow(i) * 0.66, 0.0),
    ]);
    let mut add = |material, lines, sides| net.add(bike, material, &NetPanel { lines, stations: [0, last], sides });
    add(Material::Paint, [0, 2], [PanelEnd::Joined, PanelEnd::Joined, PanelEnd::Free, PanelEnd::Free]);
    add(Material::Paint, [2, 3], [PanelEnd::Joined, PanelEnd::Joined, PanelEnd::Free, PanelEnd::Free]);
    add(Material::Paint, [3, 4], [PanelEnd::Joined, PanelEnd::Cut, PanelEnd::Free, PanelEnd::Free]);
    add(Material::MattBlack, [4, 5], [PanelEnd::Cut, PanelEnd::Free, PanelEnd::Free, PanelEnd::Free]);
    // The dark inside, which is seen past the tank's ends.
    let inside: Vec<[f32; 4]> =
        stations.iter().map(|[x, wide, low, high]| [*x, wide * 0.66, low + 0.006, high - 0.030]).collect();
    bike.add_soft(Material::Underbody, LoftedSkin::new(&inside, 2.7).solid());
}

/// Returns stations of a tank's skin, and the squareness of its sections.
fn stations_of(joints: &Joints, span: &TankSpan) -> (Vec<[f32; 4]>, f32) {
    let TankSpan { start, end, top } = *span;
    let seat = joints.seat;
    let at = |ratio: f32| span.at(ratio);
    match joints.design.tank {
        TankForm::Modern => (
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
        TankForm::Loaf => (
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
        TankForm::Drop => (
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
        TankForm::Slim => (
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
    }
}

/// Adds rubber for the knees, a little proud of the flank, and the lip below.
fn add_knee_pads(bike: &mut Assembly, skin: &LoftedSkin, span: &TankSpan) {
    let top = span.top;
    let at = |ratio: f32| span.at(ratio);
    let (low, high) = (top - 0.180, top - 0.035);
    let pad = [
        [at(0.46), low + 0.055],
        [at(0.50), low + 0.030],
        [at(0.80), low + 0.035],
        [at(0.86), low + 0.070],
        [at(0.80), high - 0.020],
        [at(0.52), high - 0.015],
    ];
    bike.add_pair(Material::MattBlack, skin.plate(&pad, 0.018, 0.006));
    for k in 0..4 {
        let z = low + 0.058 + 0.020 * k as f32;
        let rib = skin.line(&[[at(0.52), z], [at(0.66), z + 0.002], [at(0.80), z]]);
        let rib: Vec<Vec3> = rib.iter().map(|p| *p + Vec3::Y * 0.0055).collect();
        bike.add_pair(Material::MattBlack, tube(&rib, 8, |_| 0.0028));
    }
    add_lip(
        bike,
        skin,
        &[[at(0.04), top - 0.158], [at(0.40), top - 0.172], [at(0.75), top - 0.168], [at(0.95), top - 0.150]],
    );
}

/// Adds instruments in a bright console along the ridge, and the lip below.
fn add_console(bike: &mut Assembly, skin: &LoftedSkin, span: &TankSpan, bright: bool) {
    let top = span.top;
    let at = |ratio: f32| span.at(ratio);
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
    bike.add_soft(if bright { Material::Chrome } else { Material::GlossBlack }, console);
    add_lip(
        bike,
        skin,
        &[[at(0.05), top - 0.170], [at(0.35), top - 0.180], [at(0.70), top - 0.190], [at(0.92), top - 0.200]],
    );
}

/// Adds the filler cap in its ring, with the screws of the ring and the lock's flap.
fn add_filler_cap(bike: &mut Assembly, joints: &Joints, skin: &LoftedSkin, x: f32) {
    let y = 0.0;
    let rise = skin.over(x + 0.02, y) - skin.over(x - 0.02, y);
    let way = Vec3::new(-rise, 0.0, 0.04).normalize_or(Vec3::Z);
    let at = Vec3::new(x, y, skin.over(x, y));
    let ring = [[-0.014, 0.047], [0.002, 0.047], [0.0045, 0.044], [0.0045, 0.036], [0.002, 0.034]];
    let lid = [[0.001, 0.0345], [0.006, 0.033], [0.0085, 0.029], [0.0085, 0.0]];
    let metal = if joints.design.bright { Material::Chrome } else { Material::GlossBlack };
    bike.add(metal, turned(&ring, at, way, 40));
    bike.add(if joints.design.bright { Material::Chrome } else { Material::Satin }, turned(&lid, at, way, 36));
    add_bolt_circle(bike, at + way * 0.0042, way, 0.0405, 6, 0.0032);
    bike.add(Material::RimDark, turned(&[[0.0085, 0.010], [0.0105, 0.009], [0.0105, 0.0]], at, way, 18));
}

/// Adds the folded seam along a tank's lower edge.
fn add_lip(bike: &mut Assembly, skin: &LoftedSkin, places: &[[f32; 2]]) {
    let lip: Vec<Vec3> = skin.line(places).iter().map(|p| *p + Vec3::Y * 0.002).collect();
    bike.add_pair(Material::Paint, tube(&lip, 8, |_| 0.0045));
    let shade: Vec<Vec3> = lip.iter().map(|p| *p + Vec3::new(0.0, -0.001, 0.0052)).collect();
    bike.add_pair(Material::PanelGap, tube(&shade, 6, |_| 0.0014));
}

/// Adds the wings of an off-road bike, from the tank's flank down and forward beside the radiators.
fn add_shrouds(bike: &mut Assembly, joints: &Joints, start: f32, top: f32) {
    if joints.design.family == Family::Trial {
        return;
    }
    let outline = sharpened(
        &[0, 2, 3, 5, 6],
        &[
            [start + 0.33, top - 0.125],
            [start + 0.18, top - 0.050],
            [start + 0.00, top - 0.030],
            [start - 0.095, top - 0.095],
            [start - 0.080, top - 0.200],
            [start - 0.020, top - 0.330],
            [start + 0.060, top - 0.300],
            [start + 0.110, top - 0.200],
        ],
    );
    let out = |x: f32, z: f32| 0.184 - 1.05 * (x - start).powi(2) - 0.35 * (top - z - 0.13).powi(2);
    bike.add_pair(Material::Paint, panel(&outline, 0.026, out));
    // A dark blade along the lower edge.
    let blade = sharpened(
        &[0, 1, 2, 3],
        &[
            [start + 0.270, top - 0.130],
            [start + 0.000, top - 0.150],
            [start - 0.024, top - 0.305],
            [start + 0.052, top - 0.284],
            [start + 0.100, top - 0.190],
        ],
    );
    bike.add_pair(Material::GlossBlack, panel(&blade, 0.006, |x, z| out(x, z) + 0.0022));
    for (x, z) in [(start + 0.205, top - 0.105), (start + 0.035, top - 0.280), (start - 0.050, top - 0.085)] {
        let screw = [[-0.003, 0.009], [0.0020, 0.009], [0.0036, 0.006], [0.0036, 0.0]];
        bike.add_pair(Material::RimDark, turned(&screw, Vec3::new(x, out(x, z), z), Vec3::Y, 16));
    }
    // The radiators, and the struts that they are fixed with.
    let radiator = Solid::rounded_box(Vec3::new(0.020, 0.050, 0.105), 0.010);
    bike.add_pair(Material::Grille, radiator.moved(Vec3::new(start - 0.010, 0.105, top - 0.185)));
    bike.add_pair(
        Material::GlossBlack,
        Solid::pin(Vec3::new(start + 0.05, 0.04, top - 0.12), Vec3::new(start - 0.01, 0.165, top - 0.12), 0.012, 8),
    );
}

/// Adds scoops beside a modern naked bike's tank, over the radiator.
fn add_scoops(bike: &mut Assembly, joints: &Joints, start: f32, top: f32) {
    let beak = joints.design.nose == Nose::Beak;
    let forward = if beak { 0.10 } else { 0.02 };
    let outline = sharpened(
        &[0, 3, 4],
        &[
            [start + 0.36, top - 0.135],
            [start + 0.17, top - 0.070],
            [start - forward + 0.02, top - 0.085],
            [start - forward - 0.045, top - 0.165],
            [start + 0.030, top - if beak { 0.310 } else { 0.270 }],
            [start + 0.130, top - 0.215],
        ],
    );
    let centre = [start + 0.10, top - 0.14];
    let out = |x: f32, z: f32| 0.212 - 0.95 * (x - centre[0]).powi(2) - 1.5 * (z - centre[1]).powi(2);
    bike.add_pair(Material::Paint, panel(&outline, 0.050, out));
    // A dark blade along the lower edge.
    let blade = sharpened(
        &[0, 1, 2, 3],
        &[
            [start + 0.300, top - 0.146],
            [start + 0.110, top - 0.180],
            [start + 0.012, top - if beak { 0.285 } else { 0.248 }],
            [start + 0.125, top - 0.212],
        ],
    );
    bike.add_pair(Material::GlossBlack, panel(&blade, 0.008, |x, z| out(x, z) + 0.0024));
    for (x, z) in [(start + 0.245, top - 0.118), (start + 0.055, top - 0.085)] {
        let screw = [[-0.003, 0.008], [0.0020, 0.008], [0.0036, 0.0055], [0.0036, 0.0]];
        bike.add_pair(Material::RimDark, turned(&screw, Vec3::new(x, out(x, z), z), Vec3::Y, 16));
    }
    let hold = Vec3::new(start + 0.06, 0.05, top - 0.13);
    bike.add_pair(Material::GlossBlack, Solid::pin(hold, hold + Vec3::Y * 0.13, 0.014, 8));
}

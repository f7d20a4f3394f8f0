//! Fairings and the cowls of baggers, with their lamps, mirrors and screens.

use glam::{Vec2, Vec3};

use super::bracket::add_bracket;
use super::cockpit::add_mirror_head;
use super::design::{Eyes, Flank};
use super::engine_kind::EngineKind;
use super::joints::Joints;
use super::lamps::{LampOpening, add_indicators, add_round_lamp, raised, set_intake, set_lamp};
use super::nose::NoseCowl;
use super::shapes::{LoftedSkin, add_screen, panel, round, sharpened, turned};
use super::shell::{self, Net, NetPanel};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

/// Adds mirrors on arms that stand on a fairing, `out` metres from the centre plane.
fn add_fairing_mirrors(bike: &mut Assembly, root: Vec3, out: f32, up: f32) {
    let eye = Vec3::new(root.x + 0.06, out - 0.075, root.z + up);
    let arm = [
        root - Vec3::Y * 0.01,
        root.lerp(eye, 0.35) + Vec3::new(-0.012, 0.0, up * 0.25),
        eye + Vec3::new(-0.010, -0.035, -0.006),
    ];
    bike.add_pair(
        Material::MattBlack,
        Solid::swept(&curve_through(&arm, 6), Vec3::Z, |_| rounded_rectangle(0.0135, 0.0075, 0.006)),
    );
    let foot = Solid::superellipsoid(Vec3::new(0.024, 0.012, 0.014), 3.0, 12, 22);
    bike.add_pair(Material::MattBlack, foot.moved(root - Vec3::Y * 0.004));
    add_mirror_head(bike, eye, Vec3::new(0.030, 0.080, 0.042), false, Material::Paint);
}

/// Position of the panels beside an engine, in metres.
#[derive(Clone, Copy)]
struct FairingLayout {
    /// x of the front wheel's rearmost point.
    wheel: f32,
    /// Height between the upper and the lower panel.
    waist: f32,
    /// Lowest height, in z.
    low: f32,
    /// Half width at the widest place.
    out: f32,
    /// Metres by which the lower panel is drawn out to the rear.
    reach: f32,
}

impl FairingLayout {
    fn of(joints: &Joints, out: f32, full: bool) -> FairingLayout {
        let details = &joints.design.details;
        let low = joints.design.clearance - 0.01;
        FairingLayout {
            wheel: joints.front_axle.x + joints.front_axle.z,
            waist: (joints.head.z + low) * 0.5,
            low,
            out,
            // A long flank runs straight on to the front of the rear wheel.
            reach: details.lean + if full && details.flank == Flank::Long { 0.10 } else { 0.0 },
        }
    }

    /// Returns the distance of the panels from the centre plane at a place.
    fn bulge(&self, x: f32, z: f32) -> f32 {
        let middle = self.wheel + 0.22;
        let below = (0.52 - z).max(0.0);
        self.out - 0.28 * (x - middle).powi(2) - 0.60 * below * below - 0.10 * (middle - 0.10 - x).max(0.0)
    }
}

/// Adds the panels beside the engine of a faired bike, from the nose's flank to the
/// belly. If `full` is true, they cover the engine. The upper and the lower panel
/// stand apart over a dark vent.
fn add_flank(bike: &mut Assembly, joints: &Joints, nose: &NoseCowl, out: f32, full: bool) {
    let side = FairingLayout::of(joints, out, full);
    add_upper_panel(bike, joints, nose, &side);
    if !full {
        add_belly_pan(bike, joints, side.wheel);
        return;
    }
    add_vent(bike, &side);
    add_lower_panel(bike, joints, &side);
    add_belly(bike, joints.pivot, &side);
}

/// Adds the panel from the nose's flank down to the vent.
fn add_upper_panel(bike: &mut Assembly, joints: &Joints, nose: &NoseCowl, side: &FairingLayout) {
    let (head, details) = (joints.head, &joints.design.details);
    let FairingLayout { wheel, waist, .. } = *side;
    // The front and rear end of four lines from the upper to the lower edge.
    // `proud` is how far each stands out.
    let ends = [
        [[head.x - 0.165, head.z - 0.058], [head.x + 0.190, head.z - 0.086]],
        [[head.x - 0.150, head.z - 0.125], [head.x + 0.222, head.z - 0.150]],
        [[wheel - 0.050, head.z - 0.235], [wheel + 0.240 + details.lean, waist + 0.120]],
        [[wheel + 0.004, waist + 0.040], [wheel + 0.232 + details.lean, waist + 0.058]],
    ];
    let proud = [0.003, 0.014, 0.006, -0.014];
    let place = |line: usize, t: f32| {
        let [from, to] = ends[line].map(Vec2::from);
        // The lower edge sags towards its middle.
        let p = from.lerp(to, t) - Vec2::Y * 0.030 * t * (1.0 - t) * if line == 3 { 4.0 } else { 0.0 };
        let out = (side.bulge(p.x, p.y) + proud[line]).max(nose.out(p.x, p.y) + 0.004);
        Vec3::new(p.x, out, p.y)
    };
    let lines: Vec<Vec<Vec3>> = (0..4).map(|line| (0..=4).map(|i| place(line, i as f32 / 4.0)).collect()).collect();
    for between in [[0, 1], [1, 3]] {
        let crease = |line: usize| if line == 1 { shell::PanelEnd::Joined } else { shell::PanelEnd::Free };
        let sides = [crease(between[0]), crease(between[1]), shell::PanelEnd::Free, shell::PanelEnd::Free];
        let panel = NetPanel { lines: between, stations: [0, 4], sides };
        Net::new(lines.clone()).add(bike, Material::Paint, &panel);
    }
    // The dark inner side of the panel.
    let inner: Vec<Vec<Vec3>> =
        lines.iter().rev().map(|line| line.iter().map(|p| *p - Vec3::Y * 0.004).collect()).collect();
    let whole = NetPanel { lines: [0, 3], stations: [0, 4], sides: [shell::PanelEnd::Joined; 4] };
    Net::new(inner).add(bike, Material::MattBlack, &whole);
    for (line, t) in [(0, 0.45), (3, 0.55), (1, 0.94)] {
        let p = place(line, t);
        let at = if line == 3 { p + Vec3::Z * 0.018 } else { p - Vec3::Z * 0.014 };
        add_fastener(bike, at + Vec3::Y * 0.002);
    }
}

/// Adds the dark parts behind the vent.
fn add_vent(bike: &mut Assembly, side: &FairingLayout) {
    let FairingLayout { wheel, waist, .. } = *side;
    let bulge = |x: f32, z: f32| side.bulge(x, z);
    let behind = [
        [wheel + 0.010, waist + 0.060],
        [wheel + 0.040, waist - 0.10],
        [wheel + 0.20, waist - 0.12],
        [wheel + 0.30, waist - 0.02],
        [wheel + 0.25, waist + 0.08],
    ];
    bike.add_pair(Material::MattBlack, panel(&behind, 0.050, |x, z| bulge(x, z) - 0.030));
}

/// Adds the panel in front of the engine's lower half, in two colours or with a shut line.
fn add_lower_panel(bike: &mut Assembly, joints: &Joints, side: &FairingLayout) {
    let (pivot, details) = (joints.pivot, &joints.design.details);
    let FairingLayout { wheel, waist, low, reach, .. } = *side;
    let bulge = |x: f32, z: f32| side.bulge(x, z);
    let lower = sharpened(
        &[0, 5, 6, 8],
        &[
            [wheel + 0.020, waist - 0.015],
            [wheel + 0.055, low + 0.130],
            [wheel + 0.100, low + 0.050],
            [wheel + 0.22, low + 0.005],
            [(wheel + pivot.x) * 0.5 + 0.09, low],
            [pivot.x - 0.02 + reach, low + 0.045 + reach * 0.2],
            [pivot.x - 0.07 + reach, low + 0.135],
            [wheel + 0.330 + details.lean, waist - 0.075],
            [wheel + 0.265, waist - 0.020],
            [wheel + 0.140, waist - 0.052],
        ],
    );
    bike.add_pair(Material::Paint, panel(&lower, 0.070, bulge));
    if details.accent {
        let accent = [
            [wheel + 0.095, low + 0.150],
            [wheel + 0.125, low + 0.070],
            [wheel + 0.225, low + 0.028],
            [(wheel + pivot.x) * 0.5 + 0.09, low + 0.022],
            [pivot.x - 0.05 + reach, low + 0.060 + reach * 0.2],
            [pivot.x - 0.10 + reach, low + 0.112],
            [(wheel + pivot.x) * 0.5 + 0.02, low + 0.135],
        ];
        bike.add_pair(Material::GlossBlack, panel(&accent, 0.012, |x, z| bulge(x, z) + 0.0025));
    }
    for (x, z) in [(wheel + 0.075, waist - 0.10), (wheel + 0.29, waist - 0.085), (pivot.x - 0.09 + reach, low + 0.10)] {
        add_fastener(bike, Vec3::new(x, bulge(x, z), z));
    }
}

/// Adds the belly, which joins both flanks.
fn add_belly(bike: &mut Assembly, pivot: Vec3, side: &FairingLayout) {
    let FairingLayout { wheel, low, out, .. } = *side;
    let belly = LoftedSkin::new(
        &[
            [wheel + 0.085, 0.100, low + 0.02, low + 0.10],
            [wheel + 0.20, out - 0.07, low - 0.02, low + 0.10],
            [pivot.x - 0.16, out - 0.09, low - 0.02, low + 0.08],
            [pivot.x - 0.02, 0.100, low + 0.01, low + 0.06],
        ],
        3.4,
    );
    bike.add_soft(Material::Paint, belly.solid());
}

/// Adds the head of a fairing's screw.
fn add_fastener(bike: &mut Assembly, at: Vec3) {
    let head = [[-0.004, 0.0075], [0.0015, 0.0075], [0.0030, 0.0055], [0.0022, 0.0030], [0.0022, 0.0]];
    bike.add_pair(Material::RimDark, turned(&head, at, Vec3::Y, 16));
}

/// Sets a sport bike's lamps and intakes into the skin of its nose and
/// returns the rest of the skin.
fn set_sport_eyes(bike: &mut Assembly, joints: &Joints, skin: &Solid, nose: f32, wide: f32) -> Solid {
    let (up, details) = (joints.head.z, &joints.design.details);
    let half: (&[[f32; 2]], usize, bool) = match details.eyes {
        Eyes::Slits => (
            &[
                [0.034, -0.112],
                [0.090, -0.092],
                [0.140, -0.062],
                [0.150, -0.066],
                [0.140, -0.090],
                [0.095, -0.120],
                [0.042, -0.132],
            ],
            2,
            true,
        ),
        Eyes::Twins => (
            &[[0.016, -0.074], [0.070, -0.060], [0.118, -0.066], [0.116, -0.096], [0.072, -0.126], [0.018, -0.124]],
            1,
            true,
        ),
        Eyes::Broad => (
            &[[0.0, -0.070], [0.060, -0.066], [0.112, -0.072], [0.104, -0.104], [0.060, -0.126], [0.0, -0.132]],
            2,
            false,
        ),
        Eyes::Tall => (&[[0.0, -0.050], [0.040, -0.054], [0.062, -0.086], [0.040, -0.130], [0.0, -0.138]], 2, false),
    };
    let (outline, lights, pair) = half;
    let whole: Vec<[f32; 2]> =
        if pair { outline.to_vec() } else { outline.iter().flat_map(|p| [*p, [-p[0], p[1]]]).collect() };
    let outline: Vec<[f32; 2]> = raised(&round(whole), up).iter().map(|p| [p[0] * wide, p[1]]).collect();
    let opening = LampOpening { outline: &outline, depth: 0.045, lights, pair, behind: nose + 0.30 };
    let rest = set_lamp(bike, skin, &opening, details.era);
    let (mouth, pair): (&[[f32; 2]], bool) = match details.eyes {
        Eyes::Slits => (&[[-0.024, -0.106], [0.024, -0.106], [0.020, -0.134], [-0.020, -0.134]], false),
        Eyes::Twins | Eyes::Broad => (&[[-0.060, -0.138], [0.060, -0.138], [0.044, -0.156], [-0.044, -0.156]], false),
        Eyes::Tall => (&[[0.078, -0.094], [0.120, -0.078], [0.128, -0.100], [0.084, -0.126]], true),
    };
    let mouth: Vec<[f32; 2]> = raised(mouth, up).iter().map(|p| [p[0] * wide, p[1]]).collect();
    set_intake(bike, &rest, &LampOpening { outline: &mouth, depth: 0.06, lights: 0, pair, behind: nose + 0.30 })
}

/// Adds the tray under an engine that a fairing leaves in view.
fn add_belly_pan(bike: &mut Assembly, joints: &Joints, wheel: f32) {
    let (pivot, low) = (joints.pivot, joints.design.clearance - 0.02);
    let pan = hull_in_steps(
        &[
            [wheel + 0.095, 0.070, low + 0.030, low + 0.130],
            [wheel + 0.17, 0.135, low, low + 0.115],
            [pivot.x - 0.20, 0.145, low - 0.005, low + 0.070],
            [pivot.x - 0.06, 0.100, low + 0.010, low + 0.035],
        ],
        3.2,
        5,
    );
    bike.add_soft(Material::Paint, pan);
}

pub(super) fn add_sport(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = joints.front_axle.x - 0.035;
    let screen_ratio = joints.design.details.screen;
    let upper = NoseCowl::new(
        nose,
        head.z,
        &[
            [0.000, 0.036, -0.090, -0.106, -0.145],
            [0.030, 0.082, -0.060, -0.090, -0.165],
            [0.080, 0.130, -0.028, -0.072, -0.182],
            [0.160, 0.178, 0.014, -0.048, -0.198],
            [0.250, 0.204, 0.048, -0.034, -0.200],
            [0.360, 0.214, 0.030, -0.046, -0.195],
            [0.460, 0.204, -0.040, -0.088, -0.180],
        ],
    );
    let rest = set_sport_eyes(bike, joints, &upper.solid(), nose, 1.0);
    bike.add_soft(Material::Paint, rest);
    bike.add_soft(Material::MattBlack, upper.back());
    add_flank(bike, joints, &upper, 0.235, joints.design.details.flank != Flank::Open);
    add_screen(
        bike,
        Material::Glass,
        [nose + 0.160, head.z + 0.008],
        [nose + 0.395, head.z + 0.150 * screen_ratio],
        [0.122, 0.158],
        0.075,
    );
    add_fairing_mirrors(bike, Vec3::new(nose + 0.25, 0.165, head.z + 0.035), 0.40, 0.085);
}

pub(super) fn add_sport_touring(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = joints.front_axle.x + 0.00;
    let upper = NoseCowl::new(
        nose,
        head.z,
        &[
            [0.000, 0.050, -0.085, -0.106, -0.150],
            [0.020, 0.104, -0.050, -0.092, -0.185],
            [0.060, 0.160, -0.014, -0.076, -0.212],
            [0.140, 0.218, 0.050, -0.046, -0.240],
            [0.250, 0.257, 0.092, -0.030, -0.250],
            [0.380, 0.269, 0.065, -0.040, -0.245],
            [0.500, 0.250, -0.020, -0.080, -0.230],
        ],
    );
    let rest = set_sport_eyes(bike, joints, &upper.solid(), nose, 1.22);
    bike.add_soft(Material::Paint, rest);
    bike.add_soft(Material::MattBlack, upper.back());
    let open = matches!(joints.design.engine, EngineKind::Boxer | EngineKind::CrossVee);
    let details = &joints.design.details;
    add_flank(bike, joints, &upper, 0.262, !open && details.flank != Flank::Open);
    add_screen(
        bike,
        Material::ClearGlass,
        [nose + 0.13, head.z + 0.040],
        [nose + 0.40, head.z + 0.310 * details.screen],
        [0.150, 0.190],
        0.12,
    );
    add_fairing_mirrors(bike, Vec3::new(nose + 0.27, 0.215, head.z + 0.030), 0.42, 0.045);
}

pub(super) fn add_touring(bike: &mut Assembly, joints: &Joints) {
    let (head, design) = (joints.head, &joints.design);
    let nose = joints.front_axle.x + 0.02;
    let wheel = joints.front_axle.x + joints.front_axle.z;
    let shape = NoseCowl::new(
        nose,
        head.z,
        &[
            [0.000, 0.100, -0.034, -0.066, -0.128],
            [0.030, 0.216, 0.014, -0.052, -0.214],
            [0.120, 0.317, 0.078, -0.036, -0.272],
            [0.260, 0.376, 0.118, -0.030, -0.290],
            [0.400, 0.388, 0.094, -0.044, -0.286],
            [0.520, 0.355, 0.004, -0.086, -0.272],
            [0.600, 0.310, -0.074, -0.124, -0.262],
        ],
    );
    let upper = shape.solid();
    let eye = raised(
        &[[0.085, -0.060], [0.150, -0.046], [0.235, -0.040], [0.240, -0.085], [0.170, -0.140], [0.095, -0.140]],
        head.z,
    );
    let opening = LampOpening { outline: &eye, depth: 0.055, lights: 2, pair: true, behind: nose + 0.22 };
    let upper = set_lamp(bike, &upper, &opening, design.details.era);
    bike.add_soft(Material::Paint, upper);
    bike.add_soft(Material::MattBlack, shape.back());
    add_dials(bike, nose + 0.602, head.z - 0.140, design.bright);
    // Leg shields from the fairing down to the front of the engine.
    let low = design.clearance + 0.07;
    let outline = [
        [nose + 0.22, head.z - 0.18],
        [wheel + 0.015, head.z - 0.38],
        [wheel + 0.045, low + 0.10],
        [wheel + 0.12, low],
        [wheel + 0.27, low + 0.03],
        [wheel + 0.25, low + 0.20],
        [wheel + 0.34, head.z - 0.34],
        [nose + 0.58, head.z - 0.18],
    ];
    let out = |x: f32, z: f32| 0.335 + 0.10 * (z - low - 0.2).min(0.0) - 0.25 * (x - wheel - 0.12).powi(2);
    bike.add_pair(Material::Paint, panel(&outline, 0.12, out));
    let grille = Solid::rounded_box(Vec3::new(0.010, 0.110, 0.150), 0.010);
    bike.add_pair(Material::Grille, grille.moved(Vec3::new(wheel + 0.055, 0.160, head.z - 0.46)));
    // Side panels under the rider's knees.
    let knee = [
        [wheel + 0.24, head.z - 0.20],
        [wheel + 0.30, low + 0.33],
        [joints.pivot.x - 0.10, low + 0.28],
        [joints.seat.x - 0.02, joints.seat.z - 0.16],
        [joints.seat.x - 0.12, joints.seat.z - 0.03],
        [head.x + 0.22, head.z - 0.06],
    ];
    bike.add_pair(Material::Paint, panel(&knee, 0.10, |x, _| 0.225 - 0.12 * (x - head.x - 0.15).max(0.0)));
    let lip = Solid::superellipsoid(Vec3::new(0.030, 0.060, 0.050), 2.8, 10, 20);
    bike.add_soft(Material::GlossBlack, lip.moved(Vec3::new(nose + 0.018, 0.0, head.z - 0.130)));
    let vent = Solid::rounded_box(Vec3::new(0.090, 0.008, 0.030), 0.010)
        .bent(|p| Vec3::new(nose + 0.34 + p.x, 0.380 + p.y, head.z - 0.120 + p.z - 0.25 * p.x));
    bike.add_pair(Material::MattBlack, vent);
    add_screen(
        bike,
        Material::ClearGlass,
        [nose + 0.13, head.z + 0.075],
        [nose + 0.42, head.z + 0.385],
        [0.240, 0.255],
        0.14,
    );
    add_fairing_mirrors(bike, Vec3::new(nose + 0.26, 0.34, head.z + 0.020), 0.46, 0.035);
    let amber = Solid::superellipsoid(Vec3::new(0.050, 0.020, 0.024), 2.6, 8, 18);
    bike.add_pair(Material::LampAmber, amber.moved(Vec3::new(nose + 0.215, 0.352, head.z - 0.035)));
}

/// Adds two large and two small dials on a dashboard that faces the rear.
fn add_dials(bike: &mut Assembly, x: f32, z: f32, bright: bool) {
    let metal = if bright { Material::Chrome } else { Material::GlossBlack };
    for (y, radius) in [(0.062, 0.046), (0.168, 0.028)] {
        let ring = [[-0.010, 1.0], [0.008, 1.0], [0.010, 0.95], [0.008, 0.88], [0.002, 0.86]];
        let face = [[0.002, 0.88], [0.003, 0.5], [0.003, 0.0]];
        let sized = |profile: &[[f32; 2]]| -> Vec<[f32; 2]> { profile.iter().map(|p| [p[0], p[1] * radius]).collect() };
        let at = Vec3::new(x, y, z - 0.3 * y * y);
        bike.add_pair(metal, turned(&sized(&ring), at, Vec3::X, 32));
        bike.add_pair(Material::LampGlass, turned(&sized(&face), at, Vec3::X, 32));
    }
}

pub(super) fn add_batwing(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = head.x - 0.225;
    // The cowl is wide and shallow: its outer ends sweep back and down round the bars.
    let cowl = hull_in_steps(
        &[
            [0.0, 0.110, head.z - 0.095, head.z + 0.060],
            [0.04, 0.200, head.z - 0.115, head.z + 0.110],
            [0.11, 0.285, head.z - 0.120, head.z + 0.150],
            [0.19, 0.360, head.z - 0.105, head.z + 0.155],
            [0.25, 0.405, head.z - 0.080, head.z + 0.120],
            [0.28, 0.395, head.z - 0.060, head.z + 0.080],
        ],
        2.2,
        6,
    )
    .bent(|p| Vec3::new(nose + p.x, p.y, p.z - 0.42 * p.y * p.y));
    bike.add_soft(Material::Paint, cowl);
    // The dashboard closes the cowl to the rear.
    let dashboard = hull_in_steps(
        &[
            [0.262, 0.386, head.z - 0.072, head.z + 0.108],
            [0.282, 0.384, head.z - 0.058, head.z + 0.079],
            [0.287, 0.360, head.z - 0.050, head.z + 0.070],
        ],
        2.4,
        4,
    )
    .bent(|p| Vec3::new(nose + p.x, p.y, p.z - 0.42 * p.y * p.y));
    bike.add_soft(Material::MattBlack, dashboard);
    add_dials(bike, nose + 0.286, head.z + 0.022, joints.design.bright);
    let era = joints.design.details.era;
    add_round_lamp(bike, Vec3::new(nose - 0.062, 0.0, head.z - 0.015), 0.090, Material::Chrome, era);
    add_bracket(bike, joints, Vec3::new(nose + 0.16, 0.0, head.z - 0.02), 0.045);
    // The nacelle: chrome below the lamp, round the fork's clamps.
    let nacelle = hull_in_steps(
        &[
            [nose + 0.07, 0.085, head.z - 0.190, head.z - 0.080],
            [nose + 0.14, 0.120, head.z - 0.205, head.z - 0.070],
            [nose + 0.24, 0.125, head.z - 0.190, head.z - 0.060],
        ],
        2.8,
        5,
    );
    bike.add_soft(Material::Chrome, nacelle);
    // The passing lamps.
    let lamp = Vec3::new(nose + 0.055, 0.185, head.z - 0.165);
    for side in [-1.0, 1.0] {
        add_round_lamp(bike, Vec3::new(lamp.x - 0.01, lamp.y * side, lamp.z), 0.050, Material::Chrome, era);
    }
    bike.add_pair(Material::Chrome, Solid::pin(lamp, Vec3::new(head.x - 0.04, 0.06, head.z - 0.13), 0.014, 8));
    add_screen(
        bike,
        Material::Glass,
        [nose + 0.075, head.z + 0.120],
        [nose + 0.20, head.z + 0.300],
        [0.205, 0.215],
        0.10,
    );
}

pub(super) fn add_shark(bike: &mut Assembly, joints: &Joints) {
    let head = joints.head;
    let nose = head.x - 0.50;
    let shape = NoseCowl::new(
        nose,
        head.z,
        &[
            [0.000, 0.120, -0.016, -0.040, -0.104],
            [0.025, 0.220, 0.030, -0.030, -0.142],
            [0.090, 0.310, 0.082, -0.016, -0.172],
            [0.200, 0.378, 0.120, -0.008, -0.182],
            [0.320, 0.400, 0.108, -0.022, -0.168],
            [0.420, 0.372, 0.056, -0.050, -0.138],
            [0.465, 0.345, 0.020, -0.066, -0.122],
        ],
    );
    let cowl = shape.solid();
    let eye = raised(
        &[[-0.150, -0.060], [-0.130, -0.030], [0.130, -0.030], [0.150, -0.060], [0.120, -0.092], [-0.120, -0.092]],
        head.z,
    );
    let opening = LampOpening { outline: &eye, depth: 0.045, lights: 2, pair: false, behind: nose + 0.16 };
    let cowl = set_lamp(bike, &cowl, &opening, joints.design.details.era);
    bike.add_soft(Material::Paint, cowl);
    bike.add_soft(Material::MattBlack, shape.back());
    add_dials(bike, nose + 0.468, head.z - 0.040, joints.design.bright);
    add_bracket(bike, joints, Vec3::new(nose + 0.30, 0.0, head.z - 0.06), 0.050);
    add_screen(
        bike,
        Material::Glass,
        [nose + 0.12, head.z + 0.080],
        [nose + 0.33, head.z + 0.290],
        [0.230, 0.225],
        0.12,
    );
    add_indicators(bike, Vec3::new(head.x - 0.10, 0.10, head.z - 0.19));
}

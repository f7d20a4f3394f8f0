//! Engines, which differ in the side view by the position of their cylinders.

use glam::{Vec2, Vec3};

use super::design::{LampEra, Nose, TankForm};
use super::engine_kind::EngineKind;
use super::joints::Joints;
use super::shapes::{LoftedSkin, add_bolt_circle, bolt, panel, tube, turned};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use crate::vehicle::parts::solid::{Solid, curve_through};

/// Returns the middle of the crank case, from which cylinders, pipes and covers are placed.
pub(super) fn crank(joints: &Joints) -> Vec3 {
    let reach = joints.pivot.x - joints.engine_front;
    Vec3::new(
        joints.engine_front + reach * 0.56,
        0.0,
        joints.design.clearance + if joints.design.cradle { 0.182 } else { 0.170 },
    )
}

/// Returns the height up to which cylinders may rise: the underside of the tank.
pub(super) fn ceiling(joints: &Joints) -> f32 {
    joints.head.z - if joints.design.tank == TankForm::Slim { 0.14 } else { 0.16 }
}

/// Spacing of cooling fins.
const FIN_PITCH_M: f32 = 0.0105;
/// Thickness of cooling fins.
const FIN_M: f32 = 0.0024;

/// One barrel, or a row of barrels in one block, with its head.
struct Barrel {
    foot: Vec3,
    /// Unit vector from crank to head.
    way: Vec3,
    length: f32,
    /// Half size along the bike and across it.
    half: [f32; 2],
    air_cooled: bool,
    /// Exponent of the plan: 2 is round, more is boxier.
    square: f32,
    /// Material of barrel and fins.
    metal: Material,
    /// Material of the cover on the head.
    cover: Material,
    cylinders: usize,
}

impl Barrel {
    fn place(&self) -> impl Fn(Vec3) -> Vec3 + Copy + use<> {
        let (foot, way) = (self.foot, self.way);
        let along = (Vec3::X - way * way.x).normalize_or(Vec3::X);
        let across = way.cross(along);
        move |p: Vec3| foot + along * p.x + across * p.y + way * p.z
    }

    /// Returns a layer of the block between two heights, `grow` times as large as
    /// the barrel, with rounded edges.
    fn layer(&self, from: f32, to: f32, grow: f32, edge: f32) -> Solid {
        const AROUND: usize = 40;
        let power = self.square;
        let ring = |z: f32, inset: f32| -> Vec<Vec3> {
            (0..AROUND)
                .map(|i| {
                    let (sin, cos) = (std::f32::consts::TAU * i as f32 / AROUND as f32).sin_cos();
                    let reach = (cos.abs().powf(power) + sin.abs().powf(power)).powf(-1.0 / power);
                    let half = |k: usize| (self.half[k] * grow - inset).max(0.004);
                    Vec3::new(cos * reach * half(0), sin * reach * half(1), z)
                })
                .collect()
        };
        let edge = edge.min((to - from) * 0.45);
        let loops = [
            ring(from, edge),
            ring(from + edge * 0.3, edge * 0.3),
            ring(from + edge, 0.0),
            ring(to - edge, 0.0),
            ring(to - edge * 0.3, edge * 0.3),
            ring(to, edge),
        ];
        Solid::lofted(&loops).bent(self.place())
    }

    fn add(&self, bike: &mut Assembly) {
        let length = self.length;
        let (deck, roof) = (length * 0.60, length * 0.86);
        if self.air_cooled {
            bike.add_soft(self.metal, self.layer(0.0, roof, 0.78, 0.006));
            let mut fins = Solid::default();
            let mut z = 0.016;
            while z < roof - 0.010 {
                // The head's fins reach further than the barrel's, and there is no fin
                // at the joint between them.
                let ratio = z / length;
                let grow = if z > deck { 1.05 - 0.10 * (z - deck) / length } else { 0.94 + 0.07 * ratio };
                if (z - deck).abs() > FIN_PITCH_M * 0.6 {
                    fins.append(self.layer(z, z + FIN_M, grow, 0.0011));
                }
                z += FIN_PITCH_M;
            }
            bike.add(self.metal, fins);
            if self.metal == Material::RimDark {
                // The edges of the fins are machined bright.
                let mut edges = Solid::default();
                let mut z = 0.016;
                while z < roof - 0.010 {
                    let ratio = z / length;
                    let grow = if z > deck { 1.05 - 0.10 * (z - deck) / length } else { 0.94 + 0.07 * ratio };
                    if (z - deck).abs() > FIN_PITCH_M * 0.6 {
                        edges.append(self.layer(z + FIN_M * 0.25, z + FIN_M * 0.75, grow + 0.006, 0.0002));
                    }
                    z += FIN_PITCH_M;
                }
                bike.add(Material::Satin, edges);
            }
            bike.add(self.metal, self.layer(deck - 0.006, deck + 0.006, 0.88, 0.002));
        } else {
            bike.add_soft(self.metal, self.layer(0.0, deck - 0.002, 0.93, 0.010));
            bike.add(Material::PanelGap, self.layer(deck - 0.004, deck + 0.002, 0.925, 0.001));
            bike.add_soft(self.metal, self.layer(deck, roof, 1.0, 0.009));
            self.add_ribs(bike, deck);
        }
        self.add_cover(bike, roof);
    }

    /// Adds stiffening ribs and bosses of a water jacket.
    fn add_ribs(&self, bike: &mut Assembly, deck: f32) {
        let place = self.place();
        for side in [-1.0, 1.0] {
            for x in [-0.55, 0.0, 0.55] {
                let rib = Solid::rounded_box(Vec3::new(0.0045, 0.006, deck * 0.38), 0.003);
                let at = Vec3::new(self.half[0] * x, side * self.half[1] * 0.93, deck * 0.48);
                bike.add_soft(self.metal, rib.moved(at).bent(place));
            }
            let across = place(Vec3::Y) - place(Vec3::ZERO);
            for (x, z) in [(-0.62, 1.14), (0.62, 1.14), (0.0, 1.28)] {
                let at = place(Vec3::new(self.half[0] * x, side * self.half[1] * 0.985, deck * z));
                bike.add(Material::Satin, bolt(at, across * side, 0.0066));
            }
        }
    }

    /// Adds the cover over the valves: a flange with bolts, a raised crown, plug leads.
    fn add_cover(&self, bike: &mut Assembly, roof: f32) {
        let (length, place) = (self.length, self.place());
        bike.add(Material::PanelGap, self.layer(roof - 0.002, roof + 0.003, 0.955, 0.001));
        bike.add_soft(self.cover, self.layer(roof + 0.001, roof + 0.010, 0.99, 0.004));
        bike.add_soft(self.cover, self.layer(roof + 0.008, length + 0.012, 0.90, 0.016));
        let mut bolts = Solid::default();
        let pitch = 2.0 * self.half[1] * 0.86 / self.cylinders as f32;
        for number in 0..=self.cylinders {
            let y = -self.half[1] * 0.86 + pitch * number as f32;
            for x in [-0.84, 0.84] {
                bolts.append(bolt(place(Vec3::new(self.half[0] * x, y, roof + 0.011)), self.way, 0.0070));
            }
        }
        bike.add(Material::Satin, bolts);
        for number in 0..self.cylinders {
            let y = -self.half[1] * 0.86 + pitch * (number as f32 + 0.5);
            let top = Vec3::new(0.0, y, length + 0.010);
            let cap = tube(&[place(top), place(top + Vec3::Z * 0.018)], 14, |_| 0.0125);
            bike.add(Material::MattBlack, cap);
        }
    }
}

/// A round cover on one flank of the crank case.
pub(super) struct Cover {
    pub radius: f32,
    /// Distance by which the cover stands out.
    pub tall: f32,
    /// 1 on the right, -1 on the left.
    pub side: f32,
    /// Materials of the cover and of its face.
    pub materials: [Material; 2],
    pub bolts: usize,
}

/// Adds a cover on one flank of the crank case: a flange with bolts, a rounded shoulder,
/// a ring and a cap on its face.
pub(super) fn add_cover(bike: &mut Assembly, at: Vec3, cover: Cover) {
    let Cover { radius, tall, side, materials: [metal, face], bolts } = cover;
    let way = Vec3::Y * side;
    let at = Vec3::new(at.x, at.y * side, at.z);
    let flange = [[-0.05, radius + 0.013], [0.005, radius + 0.013], [0.007, radius + 0.011], [0.007, radius - 0.002]];
    bike.add(metal, turned(&flange, at, way, 56));
    bike.add(Material::PanelGap, turned(&[[-0.0075, radius + 0.0136], [-0.0055, radius + 0.0136]], at, way, 56));
    let body = [
        [0.004, radius],
        [tall * 0.50, radius * 0.985],
        [tall * 0.74, radius * 0.94],
        [tall * 0.90, radius * 0.86],
        [tall * 0.985, radius * 0.76],
        [tall, radius * 0.68],
        [tall, radius * 0.62],
    ];
    bike.add_soft(metal, turned(&body, at, way, 56));
    let disc = [
        [tall - 0.003, radius * 0.625],
        [tall - 0.003, radius * 0.575],
        [tall + 0.003, radius * 0.55],
        [tall + 0.005, radius * 0.50],
        [tall + 0.005, radius * 0.26],
        [tall + 0.001, radius * 0.235],
        [tall + 0.001, 0.0],
    ];
    bike.add(face, turned(&disc, at, way, 48));
    add_bolt_circle(bike, at + way * 0.006, way, radius + 0.0055, bolts, 0.0052);
    add_bolt_circle(bike, at + way * (tall + 0.004), way, radius * 0.40, 3, 0.0050);
    bike.add(Material::RimDark, bolt(at + way * tall, way, radius * 0.11));
}

/// Returns half of the crank case's width.
fn case_half(joints: &Joints) -> f32 {
    let design = &joints.design;
    let wide = match design.engine {
        EngineKind::Inline(1) => 0.105,
        EngineKind::Inline(2) | EngineKind::Vee | EngineKind::WideVee | EngineKind::CrossVee => 0.130,
        EngineKind::Inline(3) => 0.148,
        _ => 0.160,
    };
    // Fairings leave less room.
    if matches!(design.nose, Nose::Sport | Nose::SportTouring) { wide * 0.84 } else { wide }
}

/// Metals of an engine: crank case, covers, faces of covers, cylinders, and covers of the heads.
struct Metals {
    case: Material,
    cover: Material,
    face: Material,
    barrel: Material,
    head: Material,
}

impl Metals {
    fn of(joints: &Joints) -> Metals {
        let design = &joints.design;
        let pale = design.details.pale_rims || design.details.era == LampEra::Bulb;
        if design.bright {
            let cover = Material::Chrome;
            let barrel = if design.tank == TankForm::Drop { Material::RimDark } else { Material::Satin };
            return Metals { case: Material::Satin, cover: Material::Satin, face: cover, barrel, head: cover };
        }
        let cover = if pale { Material::Satin } else { Material::RimDark };
        let barrel = if pale && !design.air_cooled { Material::Satin } else { Material::RimDark };
        Metals { case: Material::RimDark, cover, face: Material::RimDark, barrel, head: cover }
    }
}

pub(super) fn add_engine(bike: &mut Assembly, joints: &Joints) {
    let (design, middle) = (&joints.design, crank(joints));
    if design.engine == EngineKind::Electric {
        add_electric(bike, joints);
        return;
    }
    let wide = case_half(joints);
    let metals = Metals::of(joints);
    add_case(bike, joints, wide, &metals);
    let deck = middle.z + 0.085;
    let rise = (ceiling(joints) - deck).clamp(0.16, 0.42);
    // Off-road bikes have their radiators in the shrouds.
    let upright = matches!(design.engine, EngineKind::Inline(_) | EngineKind::WideVee);
    add_filling(bike, joints, deck);
    match design.engine {
        EngineKind::Inline(cylinders) => add_row(bike, joints, &metals, (cylinders as usize).clamp(1, 4), [deck, rise]),
        EngineKind::Vee | EngineKind::WideVee => add_vee(bike, joints, &metals, [deck, rise]),
        EngineKind::CrossVee | EngineKind::Boxer => add_crosswise(bike, joints, &metals, deck),
        EngineKind::FlatSix => add_flat_six(bike, joints, deck),
        EngineKind::Electric => {}
    }
    if !design.air_cooled && design.tank != TankForm::Slim && upright {
        add_radiator(bike, joints, (wide * 0.94).clamp(0.12, 0.148));
    }
}

/// Adds crank case, gear box and sump with the joint of their halves,
/// and the covers on both flanks.
fn add_case(bike: &mut Assembly, joints: &Joints, wide: f32, metals: &Metals) {
    let (design, middle) = (&joints.design, crank(joints));
    let reach = joints.pivot.x - joints.engine_front;
    let (low, high) = (design.clearance, middle.z + 0.115);
    let front = middle.x - reach * 0.30;
    let end = joints.pivot.x;
    let case = LoftedSkin::new(
        &[
            [front - 0.025, wide * 0.55, low + 0.075, high - 0.075],
            [front + 0.015, wide * 0.84, low + 0.040, high - 0.020],
            [front + 0.07, wide * 0.92, low + 0.030, high],
            [middle.x + 0.02, wide * 0.95, low + 0.025, high],
            [middle.x + 0.14, wide * 0.92, low + 0.045, high],
            [end - 0.03, wide * 0.66, low + 0.10, high - 0.010],
            [end + 0.02, wide * 0.54, low + 0.14, high - 0.040],
        ],
        5.0,
    );
    bike.add(metals.case, case.solid());
    let sump = LoftedSkin::new(
        &[
            [front + 0.02, wide * 0.55, low + 0.020, low + 0.08],
            [front + 0.06, wide * 0.68, low + 0.000, low + 0.09],
            [middle.x + 0.06, wide * 0.68, low - 0.004, low + 0.09],
            [middle.x + 0.15, wide * 0.55, low + 0.030, low + 0.10],
        ],
        6.0,
    );
    bike.add(metals.case, sump.solid());
    for k in 0..7 {
        let rib = Solid::rounded_box(Vec3::new(0.003, wide * 0.70, 0.030), 0.002);
        bike.add(metals.case, rib.moved(Vec3::new(front + 0.06 + 0.022 * k as f32, 0.0, low + 0.034)));
    }
    // The flange where the upper and the lower half meet, with its bolts.
    let split = middle.z + 0.028;
    let stations: Vec<[f32; 4]> =
        [(front + 0.012, 0.87), (front + 0.06, 0.965), (middle.x + 0.13, 0.97), (end - 0.035, 0.70)]
            .map(|(x, ratio)| [x, wide * ratio, split - 0.0060, split + 0.0060])
            .to_vec();
    bike.add(metals.case, LoftedSkin::new(&stations, 6.0).solid());
    bike.add_pair(Material::PanelGap, tube(&case_line(&stations, split), 6, |_| 0.0013));
    for x in [front + 0.05, front + 0.105, end - 0.10] {
        bike.add_pair(Material::Satin, bolt(Vec3::new(x, wide * 0.90, split + 0.006), Vec3::Z, 0.0060));
    }
    // The clutch on the right, the generator on the left.
    let small = if matches!(design.engine, EngineKind::Inline(1)) { 0.90 } else { 1.0 };
    let cover = |radius, tall, side, bolts| Cover { radius, tall, side, materials: [metals.cover, metals.face], bolts };
    let at = |x, z| Vec3::new(middle.x + x, wide - 0.006, middle.z + z);
    add_cover(bike, at(0.085, 0.018), cover(0.102 * small, 0.044, 1.0, 9));
    add_cover(bike, at(-0.055, -0.006), cover(0.052, 0.020, 1.0, 5));
    add_cover(bike, at(-0.045, 0.004), cover(0.090 * small, 0.036, -1.0, 7));
    // The cover of the driving sprocket, behind the generator.
    let (x, z) = (end - 0.080, middle.z + 0.035);
    let outline = [
        [x - 0.075, z - 0.020],
        [x - 0.050, z - 0.068],
        [x + 0.010, z - 0.075],
        [x + 0.065, z - 0.040],
        [x + 0.070, z + 0.030],
        [x + 0.020, z + 0.068],
        [x - 0.050, z + 0.060],
    ];
    let shell = panel(&outline, 0.030, |px, pz| wide * 0.92 + 0.010 - 0.9 * ((px - x).powi(2) + (pz - z).powi(2)));
    let surface = shell.surface(40.0).mirrored();
    bike.mesh.add(if design.bright { metals.cover } else { Material::MattBlack }, &surface);
    for (dx, dz) in [(-0.055, -0.035), (0.045, -0.040), (0.045, 0.035), (-0.045, 0.042)] {
        bike.add(Material::Satin, bolt(Vec3::new(x + dx, -(wide * 0.92 + 0.006), z + dz), -Vec3::Y, 0.0058));
    }
    // The oil filter and plug in front, the filler cap on the clutch cover.
    let filter = [[-0.02, 0.034], [0.030, 0.034], [0.042, 0.030], [0.045, 0.022], [0.045, 0.0]];
    if !design.bright {
        bike.add(Material::GlossBlack, turned(&filter, Vec3::new(front + 0.02, 0.030, low + 0.095), Vec3::NEG_X, 28));
    }
    let cap = [[0.0, 0.016], [0.012, 0.016], [0.014, 0.013], [0.014, 0.0]];
    let at = Vec3::new(middle.x + 0.010, wide + 0.004, middle.z + 0.088);
    bike.add(Material::MattBlack, turned(&cap, at, Vec3::new(0.0, 0.9, 0.44), 10));
}

/// Returns the visible edge of a flange at a height.
fn case_line(stations: &[[f32; 4]], z: f32) -> Vec<Vec3> {
    let points: Vec<Vec3> = stations.iter().map(|s| Vec3::new(s[0], s[1] + 0.0006, z)).collect();
    curve_through(&points, 8)
}

/// Half the width of a row of one to four cylinders.
const HALF_ROW_M: [f32; 4] = [0.074, 0.115, 0.148, 0.178];

/// Adds cylinders in a row across the bike, with their intakes behind them.
fn add_row(bike: &mut Assembly, joints: &Joints, metals: &Metals, cylinders: usize, [deck, rise]: [f32; 2]) {
    let (design, middle) = (&joints.design, crank(joints));
    let lean = if design.air_cooled { 0.10_f32 } else { 0.28 };
    let half_y = HALF_ROW_M[cylinders - 1];
    let half_y = if matches!(design.nose, Nose::Sport | Nose::SportTouring) { half_y * 0.90 } else { half_y };
    let barrel = Barrel {
        foot: Vec3::new(middle.x - if design.air_cooled { 0.040 } else { 0.010 }, 0.0, deck),
        way: Vec3::new(-lean.sin(), 0.0, lean.cos()),
        length: rise * 0.97,
        half: [if cylinders == 1 { 0.088 } else { 0.082 }, half_y],
        air_cooled: design.air_cooled,
        square: if cylinders == 1 { 3.0 } else { 5.0 },
        metal: metals.barrel,
        cover: metals.head,
        cylinders,
    };
    barrel.add(bike);
    // The throttles: a rubber, a body and a bell for every cylinder, and the rail across them.
    let place = barrel.place();
    let height = barrel.length * 0.74;
    for number in 0..cylinders {
        let y = half_y * 0.86 * (2.0 * (number as f32 + 0.5) / cylinders as f32 - 1.0);
        let at = place(Vec3::new(barrel.half[0] * 0.95, y, height));
        let way = Vec3::new(0.92, 0.0, 0.39);
        bike.add_soft(Material::MattBlack, tube(&[at - way * 0.02, at + way * 0.028], 20, |_| 0.027));
        bike.add_soft(
            Material::Satin,
            tube(&[at + way * 0.024, at + way * 0.030, at + way * 0.070, at + way * 0.075], 20, |i| {
                [0.024, 0.028, 0.028, 0.025][i]
            }),
        );
        bike.add_soft(Material::MattBlack, tube(&[at + way * 0.072, at + way * 0.13], 20, |_| 0.027));
        if design.air_cooled {
            // The float bowl of a carburettor.
            let bowl = Solid::superellipsoid(Vec3::new(0.025, 0.024, 0.026), 3.4, 12, 24);
            bike.add_soft(Material::Satin, bowl.moved(at + way * 0.050 - Vec3::Z * 0.036));
        }
    }
}

/// Angles by which the cylinders of a wide vee lean to the front and to the rear, in radians.
const WIDE_VEE: [f32; 2] = [0.30, 0.66];

/// Adds two cylinders along the bike. Bright engines have push rods, rocker boxes
/// and a round filter between them.
fn add_vee(bike: &mut Assembly, joints: &Joints, metals: &Metals, [deck, rise]: [f32; 2]) {
    let (design, middle) = (&joints.design, crank(joints));
    let narrow = design.engine == EngineKind::Vee;
    let air_cooled = narrow || design.air_cooled;
    // A wide vee is turned back, so that its front head stands behind the radiator.
    let leans = if narrow { [-0.40_f32, 0.40] } else { [-WIDE_VEE[0], WIDE_VEE[1]] };
    for lean in leans {
        let barrel = Barrel {
            foot: Vec3::new(middle.x - 0.02 + lean * if narrow { 0.05 } else { 0.02 }, 0.0, deck - 0.06),
            way: Vec3::new(lean.sin(), 0.0, lean.cos()),
            length: (rise + 0.05).min(0.36),
            half: [0.078, 0.086],
            air_cooled,
            square: if air_cooled { 2.5 } else { 4.5 },
            metal: metals.barrel,
            cover: metals.head,
            cylinders: 1,
        };
        barrel.add(bike);
        if narrow {
            let place = barrel.place();
            for x in [-0.020, 0.020] {
                let foot = Vec3::new(middle.x + lean * 0.10 + x * 0.6, 0.098, deck - 0.055);
                let head = place(Vec3::new(x * 1.6, 0.083, barrel.length * 0.80));
                bike.add_soft(
                    Material::Chrome,
                    tube(&[foot, foot.lerp(head, 0.42), foot.lerp(head, 0.44), head], 14, |i| {
                        [0.0095, 0.0095, 0.0070, 0.0070][i]
                    }),
                );
                bike.add(Material::Satin, tube(&[foot - Vec3::Z * 0.02, foot + Vec3::Z * 0.012], 14, |_| 0.0125));
            }
        }
    }
    if !narrow {
        return;
    }
    let filter = [
        [0.03, 0.050],
        [0.062, 0.050],
        [0.064, 0.083],
        [0.070, 0.088],
        [0.105, 0.088],
        [0.114, 0.082],
        [0.118, 0.070],
        [0.115, 0.064],
        [0.121, 0.058],
        [0.123, 0.0],
    ];
    let at = Vec3::new(middle.x - 0.01, 0.045, deck + rise * 0.50);
    let metal = if design.bright { Material::Chrome } else { Material::GlossBlack };
    bike.add(metal, turned(&filter, at, Vec3::Y, 56));
    add_bolt_circle(bike, at + Vec3::Y * 0.121, Vec3::Y, 0.030, 3, 0.006);
    add_primary_case(bike, joints, metals);
}

/// Adds the case of the primary drive: long, on the left, with a bolted edge and the
/// covers of clutch and alternator.
fn add_primary_case(bike: &mut Assembly, joints: &Joints, metals: &Metals) {
    let (wide, middle) = (case_half(joints), crank(joints));
    let (front, back) = (middle.x - 0.10, joints.pivot.x - 0.045);
    let outline = [
        [front - 0.085, middle.z + 0.010],
        [front - 0.045, middle.z - 0.075],
        [front + 0.05, middle.z - 0.088],
        [back - 0.04, middle.z - 0.072],
        [back + 0.06, middle.z - 0.020],
        [back + 0.06, middle.z + 0.065],
        [back - 0.01, middle.z + 0.105],
        [front + 0.04, middle.z + 0.094],
        [front - 0.05, middle.z + 0.070],
    ];
    for (grow, out) in [(1.0, 0.020), (0.90, 0.046)] {
        let centre = Vec2::new((front + back) * 0.5, middle.z + 0.010);
        let scaled: Vec<[f32; 2]> =
            outline.iter().map(|p| (centre + (Vec2::from(*p) - centre) * grow).to_array()).collect();
        let plate = panel(&scaled, 0.028, |_, _| wide + out);
        bike.mesh.add(metals.face, &plate.surface(50.0).mirrored());
    }
    // The covers of clutch and alternator on the case, and the ridge between them.
    let way = Vec3::NEG_Y;
    for (x, radius) in [(back - 0.010, 0.056), (front + 0.005, 0.044)] {
        let at = Vec3::new(x, -(wide + 0.046), middle.z + 0.012);
        let rim =
            [[-0.008, radius + 0.005], [0.003, radius + 0.004], [0.005, radius], [0.010, radius * 0.94], [0.012, 0.0]];
        bike.add(metals.cover, turned(&rim, at, way, 44));
        bike.add(Material::PanelGap, turned(&[[0.0, radius + 0.0075], [0.0012, radius + 0.0045]], at, way, 44));
        add_bolt_circle(bike, at + way * 0.0105, way, radius * 0.80, 5, 0.0050);
    }
    let ridge = Solid::rounded_box(Vec3::new((back - front) * 0.22, 0.006, 0.010), 0.005);
    bike.add(metals.face, ridge.moved(Vec3::new((front + back) * 0.5, -(wide + 0.048), middle.z + 0.012)));
    for p in &outline {
        let at =
            Vec3::new((p[0] - front) * 0.965 + front + 0.003, -(wide + 0.020), (p[1] - middle.z) * 0.93 + middle.z);
        bike.add(Material::Satin, bolt(at, -Vec3::Y, 0.0052));
    }
}

/// Adds two cylinders that rise or lie to the sides.
fn add_crosswise(bike: &mut Assembly, joints: &Joints, metals: &Metals, deck: f32) {
    let (design, middle) = (&joints.design, crank(joints));
    let boxer = design.engine == EngineKind::Boxer;
    let (up, foot, length) = if boxer { (0.10_f32, 0.06, 0.275) } else { (0.82, 0.02, 0.285) };
    for side in [-1.0, 1.0] {
        let barrel = Barrel {
            foot: Vec3::new(middle.x - 0.10, side * foot, if boxer { middle.z + 0.03 } else { deck - 0.06 }),
            way: Vec3::new(-0.05, side * up.cos(), up.sin()).normalize_or(Vec3::Y),
            length,
            half: [0.086, 0.078],
            air_cooled: true,
            square: 3.2,
            metal: if design.bright { Material::Satin } else { metals.barrel },
            cover: if design.bright { Material::Satin } else { metals.cover },
            cylinders: 1,
        };
        barrel.add(bike);
        let place = barrel.place();
        let (port, box_end) =
            (place(Vec3::new(0.07, 0.0, length * 0.62)), Vec3::new(middle.x + 0.10, side * 0.075, deck + 0.06));
        let intake = [port, port.lerp(box_end, 0.35) + Vec3::new(0.03, 0.0, 0.02), box_end];
        bike.add_soft(Material::MattBlack, tube(&curve_through(&intake, 6), 16, |_| 0.024));
        let body = [intake[0].lerp(intake[1], 0.4), intake[1]];
        bike.add_soft(Material::Satin, tube(&body, 18, |_| 0.030));
    }
    // The housing of the air filter, between the cylinders and the tank.
    let filter = Vec3::new(0.13, 0.085, (ceiling(joints) - deck) * 0.5 + 0.03);
    bike.add_soft(
        Material::MattBlack,
        Solid::superellipsoid(filter, 4.0, 16, 32).moved(Vec3::new(middle.x + 0.05, 0.0, deck + filter.z - 0.02)),
    );
    // The front cover of the engine.
    let cover = Solid::superellipsoid(Vec3::new(0.05, 0.105, 0.125), 3.6, 18, 36);
    bike.add_soft(metals.cover, cover.moved(Vec3::new(middle.x - joints_reach(joints) * 0.30, 0.0, middle.z + 0.01)));
}

fn joints_reach(joints: &Joints) -> f32 {
    joints.pivot.x - joints.engine_front
}

/// Adds three cylinders on each side under a ribbed cover.
fn add_flat_six(bike: &mut Assembly, joints: &Joints, deck: f32) {
    let middle = crank(joints);
    for side in [-1.0, 1.0] {
        let at = Vec3::new(middle.x - 0.08, side * 0.22, middle.z + 0.01);
        bike.add_soft(Material::RimDark, Solid::rounded_box(Vec3::new(0.225, 0.075, 0.070), 0.02).moved(at));
        for k in 0..9 {
            let rib = Solid::rounded_box(Vec3::new(0.004, 0.078, 0.073), 0.003);
            bike.add(Material::RimDark, rib.moved(at + Vec3::X * (-0.19 + 0.0475 * k as f32)));
        }
        let cover = Solid::superellipsoid(Vec3::new(0.222, 0.032, 0.062), 4.5, 18, 44);
        bike.add_soft(Material::Chrome, cover.moved(at + Vec3::Y * side * 0.078));
        for k in [-0.14, 0.0, 0.14] {
            let rib = Solid::superellipsoid(Vec3::new(0.050, 0.010, 0.036), 3.6, 12, 28);
            bike.add_soft(Material::Satin, rib.moved(at + Vec3::new(k, side * 0.107, 0.0)));
        }
        for (x, z) in [(-0.20, 0.0), (0.20, 0.0), (-0.07, 0.052), (0.07, 0.052), (-0.07, -0.052), (0.07, -0.052)] {
            bike.add(Material::RimDark, bolt(at + Vec3::new(x, side * 0.103, z), Vec3::Y * side, 0.006));
        }
    }
    let top = Vec3::new(0.19, 0.14, (ceiling(joints) - deck) * 0.5 + 0.03);
    bike.add_soft(
        Material::MattBlack,
        Solid::rounded_box(top, 0.04).moved(Vec3::new(middle.x, 0.0, deck + top.z - 0.02)),
    );
}

/// Adds air box and battery: the dark parts between engine, tank and seat.
fn add_filling(bike: &mut Assembly, joints: &Joints, deck: f32) {
    let (pivot, seat) = (joints.pivot, joints.seat);
    let (front, half) = (joints.engine_front + 0.22, if joints.design.cradle { 0.050 } else { 0.066 });
    let top = ceiling(joints) + 0.03;
    let filling = LoftedSkin::new(
        &[
            [front, half * 0.7, deck + 0.16, top - 0.02],
            [front + 0.06, half, deck + 0.08, top],
            [pivot.x - 0.10, half, deck - 0.02, top - 0.02],
            [pivot.x + 0.03, half * 0.9, pivot.z + 0.02, seat.z - 0.06],
            [pivot.x + 0.13, half * 0.7, seat.z - 0.24, seat.z - 0.07],
        ],
        4.5,
    );
    bike.add_soft(Material::MattBlack, filling.solid());
}

/// Distance of the radiator behind the engine's foremost point.
const RADIATOR_M: f32 = 0.026;
/// Distance between the radiator's flat tubes.
const FLAT_TUBE_PITCH_M: f32 = 0.0064;

/// Position of a radiator: in front of the engine, its exhausts and a cradle's
/// tubes, and bowed round the wheel.
struct RadiatorFrame {
    middle: Vec3,
    /// Half of the core's height.
    half: f32,
    rearward: Vec3,
    upward: Vec3,
}

impl RadiatorFrame {
    fn of(joints: &Joints) -> RadiatorFrame {
        let top = ceiling(joints) + 0.01;
        let bottom = joints.design.clearance + 0.22;
        let (sin, cos) = 0.26_f32.sin_cos();
        RadiatorFrame {
            middle: Vec3::new(joints.engine_front + RADIATOR_M, 0.0, (top + bottom) * 0.5 + 0.008),
            half: (top - bottom) * 0.40,
            rearward: Vec3::new(cos, 0.0, -sin),
            upward: Vec3::new(sin, 0.0, cos),
        }
    }

    fn place(&self, p: Vec3) -> Vec3 {
        self.middle + self.rearward * (p.x + 0.9 * p.y * p.y) + Vec3::Y * p.y + self.upward * p.z
    }
}

/// Returns the place where the radiator's hose meets the cylinder head, on the right.
fn head_port(joints: &Joints) -> Vec3 {
    let middle = crank(joints);
    let deck = middle.z + 0.085;
    let rise = (ceiling(joints) - deck).clamp(0.16, 0.42);
    match joints.design.engine {
        EngineKind::Inline(cylinders) => {
            let along = rise * 0.70;
            let y = HALF_ROW_M[(cylinders as usize).clamp(1, 4) - 1] * 0.86;
            Vec3::new(middle.x - 0.010 - along * 0.276, y, deck + along * 0.961)
        }
        _ => {
            let along = (rise + 0.05).min(0.36) * 0.72;
            Vec3::new(middle.x - 0.026 - along * WIDE_VEE[0].sin(), 0.070, deck - 0.06 + along * WIDE_VEE[0].cos())
        }
    }
}

/// Adds the fan behind a radiator: its ring, motor and blades.
fn add_fan(bike: &mut Assembly, at: Vec3, way: Vec3, radius: f32) {
    let ring =
        [[-0.012, radius * 0.94], [-0.012, radius], [0.014, radius], [0.014, radius * 0.94], [-0.012, radius * 0.94]];
    bike.add(Material::MattBlack, turned(&ring, at, way, 36));
    let motor = [[-0.010, radius * 0.30], [0.026, radius * 0.30], [0.030, radius * 0.24], [0.030, 0.0]];
    bike.add(Material::MattBlack, turned(&motor, at, way, 24));
    let side = way.cross(Vec3::Y).normalize_or(Vec3::Z);
    for k in 0..4 {
        let (sin, cos) = (std::f32::consts::FRAC_PI_2 * k as f32 + 0.4).sin_cos();
        let out = Vec3::Y * cos + side * sin;
        bike.add(Material::MattBlack, Solid::pin(at + out * radius * 0.2, at + out * radius * 0.97, 0.006, 8));
    }
}

/// Adds a core of tubes and fins between two tanks, with its cap and hoses.
fn add_radiator(bike: &mut Assembly, joints: &Joints, half_width: f32) {
    let frame = RadiatorFrame::of(joints);
    let half = frame.half;
    let place = |p: Vec3| frame.place(p);
    let bowed = |x: f32, deep: f32, tall: f32, wide: f32, z: f32| {
        let loops: Vec<Vec<Vec3>> = (0..=10)
            .map(|i| {
                let y = wide * (i as f32 / 5.0 - 1.0);
                [(-deep, -tall), (deep, -tall), (deep, tall), (-deep, tall)]
                    .map(|(a, b)| place(Vec3::new(x + a, y, z + b)))
                    .to_vec()
            })
            .collect();
        Solid::lofted(&loops)
    };
    bike.add(Material::MattBlack, bowed(0.004, 0.012, half, half_width, 0.0));
    let mut fins = Solid::default();
    let rows = (half * 2.0 / FLAT_TUBE_PITCH_M) as usize;
    for row in 0..rows {
        let z = -half + FLAT_TUBE_PITCH_M * (row as f32 + 0.5);
        fins.append(bowed(-0.0085, 0.0022, 0.0011, half_width, z));
    }
    bike.add(Material::RimDark, fins);
    add_fan(bike, place(Vec3::new(0.034, 0.0, 0.0)), frame.rearward, half.min(half_width) * 0.80);
    let tank = Solid::rounded_box(Vec3::new(0.021, 0.017, half * 1.05), 0.010).moved(Vec3::Y * (half_width + 0.010));
    bike.add_pair(Material::MattBlack, tank.bent(place));
    for z in [-1.03, 1.03] {
        bike.add(Material::MattBlack, bowed(0.0, 0.018, 0.009, half_width, half * z));
    }
    let neck = place(Vec3::new(0.0, half_width * 0.72, half * 1.04));
    bike.add(
        Material::Satin,
        turned(&[[-0.02, 0.014], [0.010, 0.014], [0.012, 0.021], [0.018, 0.021], [0.019, 0.0]], neck, Vec3::Z, 20),
    );
    // Hoses to the head and from the pump.
    let port = head_port(joints);
    let (upper, lower) =
        (place(Vec3::new(0.010, half_width, half * 0.78)), place(Vec3::new(0.010, half_width, -half * 0.80)));
    let middle = crank(joints);
    let head =
        [upper, upper + Vec3::new(0.050, 0.012, 0.004), upper.lerp(port, 0.6) + Vec3::new(0.0, 0.012, 0.010), port];
    bike.add_soft(Material::MattBlack, tube(&curve_through(&head, 7), 16, |_| 0.0165));
    let pump = [
        lower,
        lower + Vec3::new(0.035, 0.028, -0.03),
        Vec3::new(middle.x - 0.115, case_half(joints) + 0.020, middle.z + 0.06),
        Vec3::new(middle.x - 0.050, case_half(joints) - 0.006, middle.z + 0.03),
    ];
    bike.add_soft(Material::MattBlack, tube(&curve_through(&pump, 7), 16, |_| 0.0165));
    for hose in [&head[..], &pump[..]] {
        let way = (hose[1] - hose[0]).normalize_or(Vec3::X);
        bike.add_soft(Material::Satin, tube(&[hose[0] + way * 0.010, hose[0] + way * 0.018], 18, |_| 0.0182));
    }
    // The radiator is held to the frame behind it.
    for z in [-0.5, 0.6] {
        let hold = place(Vec3::new(0.01, 0.0, half * z));
        bike.add(Material::GlossBlack, Solid::pin(hold, hold + Vec3::new(0.16, 0.0, 0.0), 0.018, 8));
    }
}

fn add_electric(bike: &mut Assembly, joints: &Joints) {
    let (low, high) = (joints.design.clearance + 0.04, ceiling(joints) + 0.05);
    let (front, back) = (joints.engine_front + 0.02, joints.pivot.x + 0.01);
    let battery = hull_in_steps(
        &[
            [front, 0.09, low + 0.14, high - 0.06],
            [front + 0.06, 0.125, low + 0.02, high],
            [(front + back) * 0.5, 0.130, low, high],
            [back - 0.06, 0.120, low + 0.06, high - 0.04],
            [back, 0.100, low + 0.16, high - 0.08],
        ],
        6.0,
        4,
    );
    bike.add(Material::MattBlack, battery);
    for ratio in [0.25, 0.45, 0.65] {
        let z = low + (high - low) * ratio;
        let rib = Solid::rounded_box(Vec3::new((back - front) * 0.36, 0.006, 0.014), 0.005);
        bike.add_pair(Material::RimDark, rib.moved(Vec3::new((front + back) * 0.5, 0.130, z)));
    }
    for side in [-1.0, 1.0] {
        let motor = joints.pivot + Vec3::new(-0.07, 0.105, -0.03);
        let materials = [Material::Satin, Material::RimDark];
        add_cover(bike, motor, Cover { radius: 0.105, tall: 0.044, side, materials, bolts: 8 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::Library;
    use crate::vehicle::motorcycle::style::Style;

    #[test]
    fn cylinders_stand_clear_of_the_radiator() {
        let library = Library::embedded().unwrap();
        for engine in [1, 2, 3, 4].map(EngineKind::Inline).into_iter().chain([EngineKind::WideVee]) {
            let joints = Joints::of(library.two_wheelers().layout(&Style::of("naked", engine, &[])));
            let mut bike = Assembly::default();
            let deck = crank(&joints).z + 0.085;
            let sizes = [deck, (ceiling(&joints) - deck).clamp(0.16, 0.42)];
            match engine {
                EngineKind::Inline(cylinders) => {
                    add_row(&mut bike, &joints, &Metals::of(&joints), cylinders as usize, sizes)
                }
                _ => add_vee(&mut bike, &joints, &Metals::of(&joints), sizes),
            }
            let frame = RadiatorFrame::of(&joints);
            for p in bike.mesh.surfaces.values().flat_map(|s| &s.positions).map(|p| Vec3::from(*p) - frame.middle) {
                let behind = p.dot(frame.rearward) - 0.9 * p.y * p.y;
                let beside = p.y.abs() > 0.12 || p.dot(frame.upward).abs() > frame.half;
                assert!(beside || behind > 0.018, "{engine:?}: {behind} behind the radiator's middle at {p}");
            }
        }
    }
}

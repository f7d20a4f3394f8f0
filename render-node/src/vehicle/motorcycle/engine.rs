//! Engines, told apart from the side by where their cylinders stand.

use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use glam::{Vec2, Vec3};

use super::Joints;
use super::design::{Nose, Tank};
use super::style::Engine;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::Solid;

/// Middle of the crank case: what cylinders, pipes and covers are placed from.
pub(super) fn crank(joints: &Joints) -> Vec3 {
    let reach = joints.pivot.x - joints.engine_front;
    Vec3::new(joints.engine_front + reach * 0.56, 0.0, joints.design.clearance + 0.155)
}

/// How far the cylinders may rise: to the underside of the tank.
pub(super) fn ceiling(joints: &Joints) -> f32 {
    joints.head.z - if joints.design.tank == Tank::Slim { 0.14 } else { 0.16 }
}

/// One barrel with its head.
struct Barrel {
    foot: Vec3,
    /// Unit vector from crank to head.
    way: Vec3,
    length: f32,
    /// Half of it along the bike and across.
    half: [f32; 2],
    fins: usize,
    head: Material,
}

impl Barrel {
    fn add(&self, bike: &mut Assembly) {
        let along = (Vec3::X - self.way * self.way.x).normalize_or(Vec3::X);
        let across = self.way.cross(along);
        let place = |p: Vec3| self.foot + along * p.x + across * p.y + self.way * p.z;
        let [half_x, half_y] = self.half;
        let length = self.length;
        let core = Solid::rounded_box(Vec3::new(half_x * 0.88, half_y * 0.94, length / 2.0), 0.02);
        let body = if self.fins == 0 { Material::Satin } else { Material::RimDark };
        bike.add(body, core.moved(Vec3::Z * length / 2.0).bent(place));
        for fin in 0..self.fins {
            let z = 0.03 + length * 0.74 * fin as f32 / self.fins as f32;
            let plate = Solid::rounded_box(Vec3::new(half_x, half_y, 0.0045), 0.004).moved(Vec3::Z * z).bent(place);
            bike.add(if self.head == Material::Chrome { Material::Satin } else { Material::RimDark }, plate);
        }
        let cap = Solid::rounded_box(Vec3::new(half_x * 0.96, half_y * 0.98, length * 0.14), 0.022);
        bike.add_soft(self.head, cap.moved(Vec3::Z * length * 0.93).bent(place));
    }
}

/// A round cover on both sides of the crank case.
fn add_cover(bike: &mut Assembly, at: Vec3, radius: f32, reach: f32, material: Material) {
    let profile = [
        (0.05, radius),
        (reach - 0.012, radius),
        (reach, radius - 0.014),
        (reach, radius * 0.55),
        (reach + 0.006, radius * 0.50),
        (reach + 0.006, 0.0),
    ]
    .map(|(a, r)| Vec2::new(a, r));
    let surface = Solid::revolved(&profile, 36).moved(at).surface(40.0);
    bike.mesh.add(material, &surface);
    bike.mesh.add(material, &surface.mirrored());
}

pub(super) fn add_engine(bike: &mut Assembly, joints: &Joints) {
    let (design, middle) = (&joints.design, crank(joints));
    let reach = joints.pivot.x - joints.engine_front;
    if design.engine == Engine::Electric {
        add_electric(bike, joints);
        return;
    }
    let wide = match design.engine {
        Engine::Inline(1) => 0.105,
        Engine::Inline(2) | Engine::Vee | Engine::WideVee | Engine::CrossVee => 0.135,
        Engine::Inline(3) => 0.155,
        _ => 0.170,
    };
    // Fairings leave less room.
    let wide = if matches!(design.nose, Nose::Sport | Nose::SportTouring) { wide * 0.84 } else { wide };
    let bright = Material::Satin;
    let shine = if design.bright { Material::Chrome } else { Material::Satin };
    // Crank case, gearbox, sump.
    let (low, high) = (design.clearance, middle.z + 0.115);
    let front = middle.x - reach * 0.30;
    let case = hull_in_steps(
        &[
            [front - 0.02, wide * 0.60, low + 0.05, high - 0.07],
            [front + 0.05, wide * 0.92, low + 0.01, high - 0.01],
            [middle.x, wide, low, high],
            [middle.x + 0.14, wide * 0.92, low + 0.03, high],
            [joints.pivot.x - 0.03, wide * 0.62, low + 0.10, high - 0.01],
            [joints.pivot.x + 0.02, wide * 0.50, low + 0.14, high - 0.04],
        ],
        4.0,
        4,
    );
    bike.add(Material::RimDark, case);
    add_cover(bike, Vec3::new(middle.x - 0.075, 0.0, middle.z - 0.005), 0.092, wide + 0.022, bright);
    add_cover(bike, Vec3::new(middle.x + 0.105, 0.0, middle.z + 0.015), 0.080, wide + 0.012, bright);

    let fins = if design.air_cooled { 9 } else { 0 };
    let deck = high - 0.03;
    let rise = (ceiling(joints) - deck).clamp(0.16, 0.42);
    // Off-road bikes have theirs in the shrouds.
    let mut radiator = !design.air_cooled && design.tank != Tank::Slim;
    match design.engine {
        Engine::Inline(cylinders) => {
            let lean = if design.air_cooled { 0.10_f32 } else { 0.34 };
            Barrel {
                foot: Vec3::new(middle.x - 0.045, 0.0, deck),
                way: Vec3::new(-lean.sin(), 0.0, lean.cos()),
                length: rise * 0.96,
                half: [0.085, [0.072, 0.115, 0.150, 0.185][(cylinders as usize).clamp(1, 4) - 1]],
                fins,
                head: shine,
            }
            .add(bike);
        }
        Engine::Vee | Engine::WideVee => {
            let spread = if design.engine == Engine::Vee { 0.40_f32 } else { 0.68 };
            for lean in [-spread, spread] {
                Barrel {
                    foot: Vec3::new(middle.x - 0.02 + lean * 0.05, 0.0, deck - 0.06),
                    way: Vec3::new(lean.sin(), 0.0, lean.cos()),
                    length: (rise + 0.05).min(0.36),
                    half: [0.076, 0.084],
                    fins: if design.engine == Engine::Vee { 10 } else { fins },
                    head: shine,
                }
                .add(bike);
            }
            if design.bright {
                let filter =
                    [(0.06, 0.080), (0.165, 0.080), (0.178, 0.066), (0.180, 0.0)].map(|(a, r)| Vec2::new(a, r));
                let at = Vec3::new(middle.x - 0.01, 0.0, deck + rise * 0.52);
                bike.add(Material::Chrome, Solid::revolved(&filter, 36).moved(at));
                radiator = false;
            }
        }
        Engine::CrossVee | Engine::Boxer => {
            let boxer = design.engine == Engine::Boxer;
            let (up, foot, length) = if boxer { (0.10_f32, 0.06, 0.275) } else { (0.82, 0.02, 0.285) };
            for side in [-1.0, 1.0] {
                Barrel {
                    foot: Vec3::new(middle.x - 0.10, side * foot, if boxer { middle.z + 0.03 } else { deck - 0.06 }),
                    way: Vec3::new(-0.05, side * up.cos(), up.sin()).normalize_or(Vec3::Y),
                    length,
                    half: [0.082, 0.080],
                    fins: 10,
                    head: Material::Satin,
                }
                .add(bike);
            }
            // What is between the cylinders and the tank: housing of the air filter.
            let filter = Vec3::new(0.13, 0.085, (ceiling(joints) - deck) * 0.5 + 0.03);
            bike.add_soft(
                Material::MattBlack,
                Solid::rounded_box(filter, 0.03).moved(Vec3::new(middle.x + 0.05, 0.0, deck + filter.z - 0.02)),
            );
            radiator = false;
        }
        Engine::FlatSix => {
            for side in [-1.0, 1.0] {
                let at = Vec3::new(middle.x - 0.08, side * 0.22, middle.z + 0.01);
                bike.add_soft(Material::RimDark, Solid::rounded_box(Vec3::new(0.225, 0.075, 0.070), 0.02).moved(at));
                let cover = Solid::rounded_box(Vec3::new(0.215, 0.028, 0.058), 0.020);
                bike.add_soft(Material::Chrome, cover.moved(at + Vec3::Y * side * 0.082));
                for k in [-0.14, 0.0, 0.14] {
                    let rib = Solid::rounded_box(Vec3::new(0.045, 0.012, 0.040), 0.010);
                    bike.add_soft(Material::Satin, rib.moved(at + Vec3::new(k, side * 0.108, 0.0)));
                }
            }
            let top = Vec3::new(0.19, 0.14, (ceiling(joints) - deck) * 0.5 + 0.03);
            bike.add_soft(
                Material::MattBlack,
                Solid::rounded_box(top, 0.04).moved(Vec3::new(middle.x, 0.0, deck + top.z - 0.02)),
            );
            radiator = false;
        }
        Engine::Electric => {}
    }
    add_filling(bike, joints, deck);
    if radiator {
        add_radiator(bike, joints, wide.max(0.12));
    }
}

/// Air box, throttles and battery: what is dark between engine, tank and seat.
fn add_filling(bike: &mut Assembly, joints: &Joints, deck: f32) {
    let (pivot, seat) = (joints.pivot, joints.seat);
    let (front, half) = (joints.engine_front + 0.20, if joints.design.cradle { 0.060 } else { 0.085 });
    let top = ceiling(joints) + 0.03;
    let filling = hull_in_steps(
        &[
            [front, half * 0.7, deck + 0.10, top - 0.02],
            [front + 0.06, half, deck + 0.02, top],
            [pivot.x - 0.10, half, deck - 0.04, top - 0.02],
            [pivot.x + 0.03, half * 0.9, pivot.z - 0.02, seat.z - 0.06],
            [pivot.x + 0.13, half * 0.7, seat.z - 0.24, seat.z - 0.07],
        ],
        3.6,
        4,
    );
    bike.add(Material::MattBlack, filling);
}

fn add_radiator(bike: &mut Assembly, joints: &Joints, half_width: f32) {
    let top = ceiling(joints) + 0.01;
    let bottom = joints.design.clearance + 0.22;
    let half = (top - bottom) * 0.42;
    let (sin, cos) = 0.30_f32.sin_cos();
    let at = Vec3::new(joints.engine_front + 0.055, 0.0, (top + bottom) * 0.5);
    let place = |p: Vec3| at + Vec3::new(p.x * cos + p.z * sin, p.y, p.z * cos - p.x * sin);
    bike.add(Material::Grille, Solid::rounded_box(Vec3::new(0.018, half_width, half), 0.010).bent(place));
    let rim = Solid::rounded_box(Vec3::new(0.024, 0.014, half * 1.04), 0.010).moved(Vec3::Y * half_width);
    bike.add_pair(Material::MattBlack, rim.bent(place));
    // Held to the frame behind it.
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
    for share in [0.25, 0.45, 0.65] {
        let z = low + (high - low) * share;
        let rib = Solid::rounded_box(Vec3::new((back - front) * 0.36, 0.006, 0.014), 0.005);
        bike.add_pair(Material::RimDark, rib.moved(Vec3::new((front + back) * 0.5, 0.130, z)));
    }
    add_cover(bike, joints.pivot + Vec3::new(-0.07, 0.0, -0.03), 0.105, 0.150, Material::Satin);
}

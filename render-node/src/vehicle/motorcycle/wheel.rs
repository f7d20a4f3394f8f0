//! Wheels of a two-wheeler: round tyre, a rim that one can see through, spokes or
//! wires, brake disc, mudguards.

use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

use super::brake::{add_calliper, add_disc};
use super::design::{Cast, FamilyDesign, Guard, Nose, Rim, SeatForm};
use super::joints::Joints;
use super::shapes::{bolt, panel, tube, turned};
use super::style::Family;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::Assembly;
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

const SEGMENTS: usize = 96;

/// Returns a rounded rise about `middle`.
fn bump(at: f32, middle: f32, half: f32) -> f32 {
    (1.0 - ((at - middle) / half).powi(2)).max(0.0)
}

fn reversed_rows<const N: usize>(profile: &[[f32; 2]; N]) -> [[f32; 2]; N] {
    let mut rows = *profile;
    rows.reverse();
    rows
}

/// Measurements and materials of one wheel.
struct Looks {
    tyre_width: f32,
    rim_radius: f32,
    rim: Rim,
    cast: Cast,
    /// True for bright metal, false for dark metal.
    bright: bool,
    knobbly: bool,
    /// y of each brake disc.
    discs: Vec<f32>,
    rear: bool,
}

impl Looks {
    fn of(joints: &Joints, [radius, tyre_width]: [f32; 2], discs: Vec<f32>, rear: bool) -> Looks {
        let design = &joints.design;
        let rim_radius = rim_radius([radius, tyre_width]);
        let FamilyDesign { rim, knobbly, ref details, .. } = *design;
        let bright = match rim {
            Rim::Cast => details.pale_rims,
            _ => design.bright || knobbly || design.nose == Nose::Beak,
        };
        Looks { tyre_width, rim_radius, rim, cast: details.cast, bright, knobbly, discs, rear }
    }

    fn rim_material(&self) -> Material {
        match self.rim {
            Rim::Wires if self.bright => Material::Chrome,
            Rim::Cast if self.bright => Material::Satin,
            Rim::Dish => Material::Satin,
            _ => Material::RimDark,
        }
    }
}

/// Half the distance between a tilting scooter's front wheels, in metres.
pub(super) const TILTING_TRACK: f32 = 0.21;

pub(super) fn add_wheels(bike: &mut Assembly, joints: &Joints) {
    let design = &joints.design;
    let (front_axle, rear_axle) = (joints.front_axle, joints.rear_axle);
    let aside = design.front_tyre[1] / 2.0 + 0.016;
    let front_discs = match design.discs {
        0 => vec![],
        1 => vec![-aside],
        _ => vec![-aside, aside],
    };
    let rear_discs = if design.discs == 0 { vec![] } else { vec![design.rear_tyre[1] / 2.0 + 0.004] };
    let front = Looks::of(joints, design.front_tyre, front_discs, false);
    let rear = Looks::of(joints, design.rear_tyre, rear_discs, true);
    let sides: &[f32] = if design.family == Family::Tilting { &[-TILTING_TRACK, TILTING_TRACK] } else { &[0.0] };
    for side in sides {
        let axle = front_axle + Vec3::Y * *side;
        add_wheel(bike, axle, front_axle.z, &front);
        // A steel scooter has a shell of its own in place of this mudguard.
        if let (Guard::Hugging(from, to), false) = (design.guard, design.family == Family::Vespa) {
            let wide = if design.rim == Rim::Dish { 0.80 } else { 0.60 };
            let material = if design.details.dark_guard { Material::GlossBlack } else { Material::Paint };
            add_mudguard(bike, axle, front_axle.z + 0.018, front.tyre_width * wide, (from, to), material);
        }
    }
    add_wheel(bike, rear_axle, rear_axle.z, &rear);
    let half = rear.tyre_width * 0.56;
    match (design.family, design.seat) {
        (Family::Underbone, _) => {
            add_mudguard(bike, rear_axle, rear_axle.z + 0.035, half * 1.25, (0.10, 2.60), Material::Paint);
        }
        (Family::Scooter | Family::Vespa | Family::MaxiScooter | Family::Tilting | Family::Cabin, _)
        | (_, SeatForm::Rail) => {}
        (_, SeatForm::Stepped) => {
            add_mudguard(bike, rear_axle, rear_axle.z + 0.018, half, (1.25, 2.75), Material::MattBlack);
            add_hugger_brackets(bike, joints, half);
        }
        _ => {
            let deep = if design.family == Family::Bagger || design.family == Family::Tourer { 0.02 } else { 0.30 };
            let guard = GuardShape {
                axle: rear_axle,
                radius: rear_axle.z + 0.050,
                half_width: half * 1.12,
                span: (deep, 2.50),
            };
            add_mudguard(bike, rear_axle, guard.radius, guard.half_width, guard.span, Material::Paint);
            // A strut from the frame's rail to the guard's flank, bolted to both.
            let foot = Vec3::new(rear_axle.x - 0.06, 0.082, joints.seat.z - 0.085);
            let [tip, way] = guard.at(0.92, 0.90);
            let metal = if design.bright { Material::Chrome } else { Material::GlossBlack };
            let strut = [foot, foot.lerp(tip, 0.5) + Vec3::Y * 0.008, tip + way * 0.003];
            bike.add_pair(
                metal,
                Solid::swept(&curve_through(&strut, 5), Vec3::Y, |_| rounded_rectangle(0.009, 0.004, 0.003)),
            );
            bike.add_pair(Material::Satin, bolt(tip + way * 0.008, way, 0.0070));
        }
    }
}

fn add_wheel(bike: &mut Assembly, axle: Vec3, radius: f32, looks: &Looks) {
    let half = looks.tyre_width / 2.0;
    // Blocks stand on the carcass, up to the tyre's radius.
    let carcass = radius - if looks.knobbly { 0.017 } else { 0.0 };
    let wall = carcass - looks.rim_radius;
    add_tyre(bike, axle, carcass, half, wall);
    if looks.knobbly {
        add_knobs(bike, axle, radius, half);
    } else {
        add_tread(bike, axle, carcass, half, wall);
    }
    let rim_material = looks.rim_material();
    let bed = looks.rim_radius - 0.020;
    add_rim(bike, axle, half, looks.rim_radius, rim_material);
    let wires = looks.rim == Rim::Wires;
    let hub = [if wires { 0.052 } else { 0.050 }, half * 0.75];
    if wires {
        add_wire_hub(bike, axle, hub);
    } else {
        add_cast_hub(bike, axle, hub, rim_material);
    }
    add_axle(bike, axle, half);
    match looks.rim {
        Rim::Wires => add_wires(bike, axle, hub, [bed, half]),
        Rim::Cast => add_cast_spokes(bike, axle, [hub[0], bed], looks.cast, rim_material),
        Rim::Dish => add_dish(bike, axle, bed, half),
    }
    add_brakes(bike, axle, looks);
}

/// Adds the tyre's carcass, without the blocks or grooves on it.
fn add_tyre(bike: &mut Assembly, axle: Vec3, carcass: f32, half: f32, wall: f32) {
    // The tyre is round from bead to bead, because a motorcycle leans on its shoulders.
    let tyre: Vec<Vec2> = (0..=40)
        .map(|i| {
            let turn = -2.5 + 5.0 * i as f32 / 40.0;
            let reach = half * turn.sin().signum() * turn.sin().abs().min(1.0);
            let height = carcass - wall * 0.56 + wall * 0.56 * turn.cos() * if turn.cos() < 0.0 { 0.9 } else { 1.0 };
            // A rib guards the rim, and a band runs round the wall.
            let rib = 0.0022 * bump(turn.abs(), 2.10, 0.07) - 0.0016 * bump(turn.abs(), 1.72, 0.10);
            Vec2::new(reach + rib * reach.signum(), height)
        })
        .collect();
    bike.add_soft(Material::Tyre, Solid::revolved(&tyre, SEGMENTS).moved(axle));
}

/// Adds the rim's bed, and the flanges that the tyre's beads stand against.
fn add_rim(bike: &mut Assembly, axle: Vec3, half: f32, radius: f32, material: Material) {
    let edge = radius + 0.008;
    let bed = radius - 0.020;
    // The bed faces the axle: the profile runs from +y to -y, with the outside to the left.
    let inner: Vec<Vec2> = [
        (half * 0.84, edge),
        (half * 0.82, edge - 0.010),
        (half * 0.55, bed),
        (0.0, bed - 0.006),
        (-half * 0.55, bed),
        (-half * 0.82, edge - 0.010),
        (-half * 0.84, edge),
    ]
    .map(|(a, r)| Vec2::new(a, r))
    .to_vec();
    bike.add(material, Solid::revolved(&inner, SEGMENTS).moved(axle));
    for side in [-1.0, 1.0] {
        let flange = [[-0.004, edge - 0.006], [0.003, edge - 0.004], [0.004, edge + 0.001], [-0.001, edge + 0.004]];
        let at = axle + Vec3::Y * side * half * 0.84;
        bike.add_soft(material, turned(&reversed_rows(&flange), at, Vec3::Y * side, SEGMENTS));
    }
}

/// Adds a hub with flanges at its ends that the wires hang in.
fn add_wire_hub(bike: &mut Assembly, axle: Vec3, [hub_radius, hub_half]: [f32; 2]) {
    let hub = [
        (-hub_half, 0.0),
        (-hub_half, hub_radius * 0.55),
        (-hub_half * 0.88, hub_radius * 0.60),
        (-hub_half * 0.86, hub_radius),
        (-hub_half * 0.72, hub_radius),
        (-hub_half * 0.66, hub_radius * 0.62),
        (hub_half * 0.66, hub_radius * 0.62),
        (hub_half * 0.72, hub_radius),
        (hub_half * 0.86, hub_radius),
        (hub_half * 0.88, hub_radius * 0.60),
        (hub_half, hub_radius * 0.55),
        (hub_half, 0.0),
    ]
    .map(|(a, r)| Vec2::new(a, r));
    bike.add(Material::Satin, Solid::revolved(&hub, 36).moved(axle));
}

/// Adds a hub that swells towards its cast spokes.
fn add_cast_hub(bike: &mut Assembly, axle: Vec3, [hub_radius, hub_half]: [f32; 2], material: Material) {
    let hub = [
        (-hub_half, 0.0),
        (-hub_half, hub_radius * 0.62),
        (-hub_half * 0.80, hub_radius * 0.70),
        (-hub_half * 0.45, hub_radius),
        (hub_half * 0.45, hub_radius),
        (hub_half * 0.80, hub_radius * 0.70),
        (hub_half, hub_radius * 0.62),
        (hub_half, 0.0),
    ]
    .map(|(a, r)| Vec2::new(a, r));
    bike.add(material, Solid::revolved(&hub, 36).moved(axle));
}

/// Adds the axle through the hub, with a nut on each end.
fn add_axle(bike: &mut Assembly, axle: Vec3, half: f32) {
    let pin = Solid::pin(axle - Vec3::Y * (half + 0.07), axle + Vec3::Y * (half + 0.07), 0.012, 12);
    bike.add(Material::RimDark, pin);
    for side in [-1.0, 1.0] {
        let end = axle + Vec3::Y * side * (half + 0.066);
        let nut = [[-0.004, 0.019], [0.0, 0.019], [0.0, 0.0145], [0.011, 0.0145], [0.013, 0.012], [0.013, 0.0]];
        bike.add(Material::Satin, turned(&nut, end, Vec3::Y * side, 6));
    }
}

/// Adds discs with their callipers.
fn add_brakes(bike: &mut Assembly, axle: Vec3, looks: &Looks) {
    for y in &looks.discs {
        let outer = disc_radius(looks.rim_radius);
        add_disc(bike, axle + Vec3::Y * *y, outer);
        // Front callipers stand behind the fork's leg, and a rear calliper over the swing arm.
        let reach = if looks.rear { [1.95, 2.55] } else { [0.28, 0.28 + 0.105 / outer] };
        add_calliper(bike, axle + Vec3::Y * *y, outer, reach, y.signum());
    }
}

/// Returns the outer radius of a disc in a rim.
pub(super) fn disc_radius(rim: f32) -> f32 {
    (rim - 0.050).clamp(0.085, 0.160)
}

/// Returns the rim's radius at the bead. The height of the side wall is a ratio of the tyre's
/// width, and relatively less on wide tyres.
pub(super) fn rim_radius([radius, width]: [f32; 2]) -> f32 {
    radius - (width * 0.62).clamp(0.055, 0.105)
}

/// Adds grooves across the tread, from beside its middle to the shoulder,
/// every other one on the other side.
fn add_tread(bike: &mut Assembly, axle: Vec3, radius: f32, half: f32, wall: f32) {
    const COUNT: usize = 26;
    let mut grooves = Solid::default();
    let at = |turn: f32, lean: f32| {
        // A point on the carcass, which is an arc about the middle of the wall.
        let reach = half * lean.sin();
        let height = radius - wall * 0.56 + wall * 0.56 * lean.cos() + 0.0004;
        axle + Vec3::new(height * turn.cos(), reach, height * turn.sin())
    };
    for number in 0..COUNT {
        for side in [-1.0_f32, 1.0] {
            let start = TAU * (number as f32 + if side > 0.0 { 0.5 } else { 0.0 }) / COUNT as f32;
            let long = if number % 2 == 0 { 1.0 } else { 0.72 };
            let strip = Solid::grid(9, 2, false, |row, column| {
                let t = row as f32 / 8.0;
                let width = 0.0042 * (1.0 - (2.0 * t - 1.0).powi(4)) + 0.0004;
                let turn = start + 0.20 * t * long + (column as f32 - 0.5) * 2.0 * width / radius;
                at(turn, side * (0.20 + 0.92 * t * long))
            });
            grooves.append(if side > 0.0 { strip.flipped() } else { strip });
        }
    }
    bike.add(Material::PanelGap, grooves);
}

/// Adds crossed wires from both ends of the hub to the rim's bed.
fn add_wires(bike: &mut Assembly, axle: Vec3, [hub_radius, hub_half]: [f32; 2], [bed, half]: [f32; 2]) {
    const COUNT: usize = 9;
    let at = |angle: f32, r: f32, y: f32| axle + Vec3::new(r * angle.cos(), y, r * angle.sin());
    let mut wires = Solid::default();
    let mut nipples = Solid::default();
    for number in 0..COUNT {
        for (place, (side, cross)) in [(-1.0, 0.74), (1.0, -0.74), (-1.0, -0.74), (1.0, 0.74)].into_iter().enumerate() {
            let turn = TAU * (number as f32 + 0.25 * place as f32) / COUNT as f32;
            // Every second wire hangs outside its flange.
            let outside = if cross > 0.0 { 0.90 } else { 0.76 };
            let from = at(turn, hub_radius * 0.92, side * hub_half * outside);
            let to = at(turn + cross, bed, side * half * 0.12);
            wires.append(tube(&[from, to], 6, |_| 0.0019));
            nipples.append(tube(&[from.lerp(to, 0.90), from.lerp(to, 1.03)], 6, |_| 0.0034));
        }
    }
    bike.add_soft(Material::Chrome, wires);
    bike.add_soft(Material::Satin, nipples);
}

/// Adds cast spokes from the hub to the rim's bed.
fn add_cast_spokes(bike: &mut Assembly, axle: Vec3, [hub, bed]: [f32; 2], cast: Cast, material: Material) {
    let at = |angle: f32, r: f32| axle + Vec3::new(r * angle.cos(), 0.0, r * angle.sin());
    let middle = (hub + bed) / 2.0;
    let mut spoke = |path: [Vec3; 3], widths: [f32; 3]| {
        let section = |i: usize| rounded_rectangle(0.010, widths[i], 0.005);
        bike.add_soft(material, Solid::swept(&path, Vec3::Y, section));
    };
    let count = match cast {
        Cast::TwinFive | Cast::YFive => 5,
        Cast::Three => 3,
        Cast::Six => 6,
        Cast::Ten => 10,
    };
    for number in 0..count {
        let turn = TAU * (number as f32 + 0.25) / count as f32;
        match cast {
            Cast::TwinFive => {
                for lean in [-0.085, 0.085] {
                    let path =
                        [at(turn + lean * 0.4, hub * 0.8), at(turn + lean, middle), at(turn + lean * 1.7, bed + 0.004)];
                    spoke(path, [0.020, 0.014, 0.022]);
                }
            }
            Cast::Three | Cast::Six | Cast::Ten => {
                let broad = [0.044, 0.024, 0.015][usize::from(count > 3) + usize::from(count > 6)];
                let path = [at(turn, hub * 0.8), at(turn + 0.03, middle), at(turn + 0.10, bed + 0.004)];
                spoke(path, [broad, broad * 0.72, broad * 1.15]);
            }
            Cast::YFive => {
                let fork = at(turn, hub + (bed - hub) * 0.42);
                spoke([at(turn, hub * 0.8), at(turn, hub + (bed - hub) * 0.2), fork], [0.026, 0.020, 0.022]);
                for lean in [-0.24, 0.24] {
                    let out = at(turn + lean * 0.55, hub + (bed - hub) * 0.7);
                    spoke([fork, out, at(turn + lean, bed + 0.004)], [0.015, 0.012, 0.016]);
                }
            }
        }
    }
}

/// Adds tread blocks round the tyre: a row in the middle and one on each shoulder.
fn add_knobs(bike: &mut Assembly, axle: Vec3, radius: f32, half: f32) {
    let count = 44;
    let mut blocks = Solid::default();
    for number in 0..count {
        for row in [-1.0_f32, 0.0, 1.0] {
            let turn = TAU * (number as f32 + if row == 0.0 { 0.5 } else { 0.0 }) / count as f32;
            let around = Vec3::new(-turn.sin(), 0.0, turn.cos());
            // The outward direction of the block leans with the tyre's shoulder.
            let lean = row * 0.85;
            let out = Vec3::new(turn.cos(), 0.0, turn.sin()) * lean.cos() + Vec3::Y * lean.sin();
            let across = around.cross(out);
            let middle = axle
                + Vec3::new(turn.cos(), 0.0, turn.sin()) * (radius - 0.010 - 0.022 * row.abs())
                + Vec3::Y * row * half * 0.70;
            let ring = |rise: f32, size: f32| {
                [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
                    .map(|(a, b)| middle + out * rise + around * (a * 0.013 * size) + across * (b * half * 0.26 * size))
                    .to_vec()
            };
            blocks.append(Solid::lofted(&[ring(-0.012, 1.1), ring(0.010, 0.9)]));
        }
    }
    bike.add(Material::Tyre, blocks);
}

/// Adds the pressed wheel of old scooters: a dish with a hub cap on each side.
fn add_dish(bike: &mut Assembly, axle: Vec3, bed: f32, half: f32) {
    for side in [-1.0, 1.0] {
        let face = [
            (half * 0.30, bed + 0.006),
            (half * 0.45, bed * 0.86),
            (half * 0.62, bed * 0.66),
            (half * 0.40, bed * 0.52),
            (half * 0.52, bed * 0.34),
            (half * 0.80, bed * 0.22),
            (half * 0.86, 0.0),
        ]
        .map(|(a, r)| Vec2::new(a, r));
        let dish = Solid::revolved(&face, 40);
        let dish = if side > 0.0 { dish } else { dish.bent(|p| Vec3::new(p.x, -p.y, p.z)).flipped() };
        bike.add_soft(Material::Satin, dish.moved(axle));
    }
}

/// Position and size of a mudguard, so that its mounts can meet it.
pub(super) struct GuardShape {
    pub axle: Vec3,
    pub radius: f32,
    pub half_width: f32,
    /// Angles of both ends, in radians from the rear horizontal upwards.
    pub span: (f32, f32),
}

/// Returns the ratio of its full width that a guard has at a ratio of its length.
fn narrowing(t: f32) -> f32 {
    1.0 - 0.20 * (2.0 * t - 1.0).abs().powi(6)
}

impl GuardShape {
    /// Returns how far a guard falls from its crown at a ratio of its half width.
    fn fall(&self, across: f32) -> f32 {
        0.055 * across.abs().powi(3) * (self.half_width / 0.09)
    }

    /// Returns a point of the guard's outside, and the outside direction there.
    pub(super) fn at(&self, angle: f32, across: f32) -> [Vec3; 2] {
        let (from, to) = self.span;
        let narrow = narrowing((angle - from) / (to - from));
        let out = Vec3::new(angle.cos(), 0.0, angle.sin());
        let at =
            self.axle + out * (self.radius + 0.010 - self.fall(across)) + Vec3::Y * (across * self.half_width * narrow);
        let slope = (self.fall(across + 0.01) - self.fall(across - 0.01)) / 0.02 / (self.half_width * narrow);
        [at, (out + Vec3::Y * slope).normalize_or(out)]
    }
}

/// Adds plates from the swing arm up to the flanks of a mudguard that moves with it.
fn add_hugger_brackets(bike: &mut Assembly, joints: &Joints, half: f32) {
    let (pivot, rear) = (joints.pivot, joints.rear_axle);
    let guard = GuardShape { axle: rear, radius: rear.z + 0.018, half_width: half, span: (1.25, 2.75) };
    let out = joints.design.rear_tyre[1] / 2.0 + 0.038;
    let [high, _] = guard.at(2.00, 0.97);
    let [low, _] = guard.at(2.42, 0.97);
    let (front, back) = (pivot.lerp(rear, 0.30), pivot.lerp(rear, 0.58));
    let lift = if joints.design.cradle { 0.016 } else { 0.036 };
    let outline = [[front.x, front.z + lift], [back.x, back.z + lift], [high.x, high.z], [low.x, low.z]];
    let reach = (high.z - back.z).max(0.05);
    let y = move |_: f32, z: f32| out + (high.y + 0.003 - out) * ((z - back.z) / reach).clamp(0.0, 1.0);
    bike.add_pair(Material::MattBlack, panel(&outline, 0.006, y));
    for (p, up) in [(high.lerp(low, 0.5), 0.0), (front.lerp(back, 0.5), lift)] {
        bike.add_pair(Material::Satin, bolt(Vec3::new(p.x, y(p.x, p.z + up) + 0.003, p.z + up), Vec3::Y, 0.0062));
    }
}

/// Adds a band over the tyre between two angles, in radians, measured from the rear
/// horizontal upwards and on to the front.
pub(super) fn add_mudguard(
    bike: &mut Assembly,
    axle: Vec3,
    radius: f32,
    half_width: f32,
    (from, to): (f32, f32),
    material: Material,
) {
    let loops: Vec<Vec<Vec3>> = (0..=20)
        .map(|i| {
            let t = i as f32 / 20.0;
            let angle = from + (to - from) * t;
            let narrow = narrowing(t);
            let way = Vec3::new(angle.cos(), 0.0, angle.sin());
            // An arch of thin section: along the outside and back along the inside.
            let across = |k: usize| 2.0 * k as f32 / 10.0 - 1.0;
            (0..=10)
                .map(|k| (across(k), 0.0))
                .chain((0..=10).rev().map(|k| (across(k), 0.006)))
                .map(|(across, drop)| {
                    let fall = 0.055 * across.abs().powi(3) * (half_width / 0.09);
                    axle + way * (radius + 0.010 - fall - drop) + Vec3::Y * (across * half_width * narrow)
                })
                .collect()
        })
        .collect();
    bike.add_soft(material, Solid::lofted_plate(&loops));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::motorcycle::shapes::distance_to;

    #[test]
    fn a_guard_knows_where_its_surface_is() {
        let guard = GuardShape { axle: Vec3::new(0.3, 0.0, 0.3), radius: 0.32, half_width: 0.07, span: (0.5, 2.5) };
        let mut bike = Assembly::default();
        add_mudguard(&mut bike, guard.axle, guard.radius, guard.half_width, guard.span, Material::Paint);
        for angle in [0.6, 1.2, 2.0, 2.4] {
            for across in [0.0, 0.6, 0.9] {
                let [at, out] = guard.at(angle, across);
                assert!(distance_to(&bike.mesh, at) < 0.002, "{angle} {across}");
                assert!((out.length() - 1.0).abs() < 1e-4 && out.dot(at - guard.axle) > 0.0);
            }
        }
    }
}

//! Exhaust pipes from the cylinders to the silencers.

use glam::Vec3;

use super::design::Exhaust;
use super::engine::{ceiling, crank};
use super::engine_kind::EngineKind;
use super::joints::Joints;
use super::shapes::{bolt, open_pipe, tube, turned};
use super::style::Family;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::Assembly;
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

/// Adds a silencer: a body between two caps, a band with its bracket, a
/// perforated heat shield, an open mouth.
pub(super) fn add_silencer(bike: &mut Assembly, material: Material, from: Vec3, to: Vec3, thick: f32) {
    let at = |ratio: f32| from.lerp(to, ratio);
    let way = (to - from).normalize_or(Vec3::X);
    let dark = matches!(material, Material::GlossBlack | Material::MattBlack);
    let chrome = material == Material::Chrome;
    let mut piece = |metal: Material, stations: &[(f32, f32)]| {
        let path: Vec<Vec3> = stations.iter().map(|(ratio, _)| at(*ratio)).collect();
        bike.add_soft(metal, tube(&path, 36, |i| thick * stations[i].1));
    };
    piece(material, &[(0.0, 0.50), (0.03, 0.62), (0.10, 0.92), (0.13, 0.97), (0.14, 0.985)]);
    piece(material, &[(0.14, 1.0), (0.15, 1.0), (0.84, 1.0), (0.85, 1.0)]);
    let cap = if chrome {
        Material::Chrome
    } else if dark {
        Material::Satin
    } else {
        Material::GlossBlack
    };
    piece(cap, &[(0.838, 1.0), (0.845, 1.03), (0.865, 1.03), (0.90, 0.98), (0.955, 0.78), (0.968, 0.66)]);
    for ratio in [0.16, 0.82] {
        piece(
            if chrome { Material::Chrome } else { Material::Satin },
            &[(ratio - 0.012, 1.015), (ratio + 0.012, 1.015)],
        );
    }
    // The band that the silencer hangs in.
    piece(Material::GlossBlack, &[(0.60, 1.0), (0.603, 1.035), (0.637, 1.035), (0.64, 1.0)]);
    let mouth = [at(0.93), at(0.975), at(1.0)];
    bike.add(Material::Satin, open_pipe(&mouth, 28, thick * 0.50, thick * 0.07, thick * 0.9));
    bike.add(Material::Underbody, Solid::pin(at(0.955), at(0.965), thick * 0.46, 24));
    // The shield stands off the outer side.
    let side = if (from.y + to.y) >= 0.0 { 1.0 } else { -1.0 };
    let right = way.cross(Vec3::Z).normalize_or(Vec3::Y);
    let right = if right.y * side < 0.0 { -right } else { right };
    let up = if right.cross(way).z < 0.0 { -right.cross(way) } else { right.cross(way) };
    let skin =
        |ratio: f32, turn: f32, proud: f32| at(ratio) + (right * turn.cos() + up * turn.sin()) * (thick * 1.0 + proud);
    let count = 10;
    let (low, high) = (0.18, 0.56);
    let loops: Vec<Vec<Vec3>> = (0..=count)
        .map(|i| {
            let t = i as f32 / count as f32;
            let half = 0.62 * (1.0 - (2.0 * t - 1.0).powi(4)).max(0.12).sqrt();
            let turn = |k: usize| 0.25 + half * (k as f32 / 4.0 - 1.0);
            (0..=8)
                .map(|k| skin(low + (high - low) * t, turn(k), 0.008))
                .chain((0..=8).rev().map(|k| skin(low + (high - low) * t, turn(k), 0.005)))
                .collect()
        })
        .collect();
    let shield = if chrome {
        Material::Chrome
    } else if dark {
        Material::Satin
    } else {
        Material::MattBlack
    };
    bike.add_soft(shield, Solid::lofted_plate(&loops));
    for k in 0..5 {
        let ratio = low + (high - low) * (0.22 + 0.14 * k as f32);
        let slot = [skin(ratio - 0.014, 0.05, 0.0078), skin(ratio + 0.014, 0.45, 0.0078)];
        bike.add(Material::PanelGap, tube(&slot, 8, |_| 0.0034));
    }
    // A bracket up to the frame.
    let hold = at(0.62) + up * thick;
    let root = hold + Vec3::new(-0.035, -0.030 * side, 0.060);
    bike.add(
        Material::GlossBlack,
        Solid::swept(&[hold - up * 0.008, root], Vec3::Y, |_| rounded_rectangle(0.011, 0.004, 0.003)),
    );
    bike.add(Material::Satin, bolt(hold + up * 0.004 + right * 0.004, right, 0.0065));
}

fn add_pipe(bike: &mut Assembly, material: Material, path: &[Vec3], radius: f32) {
    bike.add_soft(material, tube(&curve_through(path, 10), 20, |_| radius));
}

/// Adds the flange of a pipe on its port, with two nuts.
fn add_port_flange(bike: &mut Assembly, port: Vec3, next: Vec3, radius: f32) {
    let way = (next - port).normalize_or(Vec3::NEG_X);
    let flange = [
        [0.004, 0.0],
        [0.004, radius * 1.65],
        [0.011, radius * 1.65],
        [0.013, radius * 1.35],
        [0.020, radius * 1.2],
        [0.020, 0.0],
    ];
    bike.add(Material::RimDark, turned(&flange, port, way, 24));
    for y in [-1.45, 1.45] {
        bike.add(Material::Satin, bolt(port + way * 0.012 + Vec3::Y * radius * y, way, 0.0055));
    }
}

/// Returns the exhaust ports of the cylinder heads.
fn ports(joints: &Joints) -> Vec<Vec3> {
    let (middle, top) = (crank(joints), ceiling(joints));
    let upright = |y: f32| {
        let deck = middle.z + 0.085;
        let rise = (top - deck).clamp(0.16, 0.42) * 0.97;
        // The ports are in the head's front, along the lean of the cylinders.
        let (lean, back, ratio) = if joints.design.air_cooled { (0.10_f32, 0.040, 0.72) } else { (0.28, 0.010, 0.68) };
        let half = if joints.design.engine == EngineKind::Inline(1) { 0.078 } else { 0.074 };
        let along = rise * ratio;
        Vec3::new(
            middle.x - back - along * lean.sin() - half * lean.cos(),
            y,
            deck + along * lean.cos() - half * lean.sin(),
        )
    };
    match joints.design.engine {
        EngineKind::Inline(1) => vec![upright(0.0)],
        EngineKind::Inline(2) => vec![upright(-0.055), upright(0.055)],
        EngineKind::Inline(3) => vec![upright(-0.09), upright(0.0), upright(0.09)],
        EngineKind::Inline(_) => [-0.12, -0.04, 0.04, 0.12].map(upright).to_vec(),
        EngineKind::Vee | EngineKind::WideVee => {
            vec![Vec3::new(middle.x - 0.15, 0.06, top - 0.10), Vec3::new(middle.x + 0.16, 0.08, top - 0.12)]
        }
        EngineKind::CrossVee => {
            vec![Vec3::new(middle.x - 0.17, -0.17, top - 0.09), Vec3::new(middle.x - 0.17, 0.17, top - 0.09)]
        }
        EngineKind::Boxer | EngineKind::FlatSix => {
            vec![Vec3::new(middle.x - 0.12, -0.24, middle.z - 0.02), Vec3::new(middle.x - 0.12, 0.24, middle.z - 0.02)]
        }
        EngineKind::Electric => Vec::new(),
    }
}

/// The common start of every layout of pipes.
struct Pipes<'a> {
    joints: &'a Joints,
    /// Exhaust ports of the cylinder heads.
    ports: Vec<Vec3>,
    /// Lowest height of the pipes.
    low: f32,
    material: Material,
}

pub(super) fn add_exhaust(bike: &mut Assembly, joints: &Joints) {
    let design = &joints.design;
    let ports = ports(joints);
    if ports.is_empty() {
        return;
    }
    let material = if design.bright { Material::Chrome } else { Material::Satin };
    let pipes = Pipes { joints, ports, low: design.clearance - 0.02, material };
    match design.exhaust {
        Exhaust::Rising => pipes.add_rising(bike, &[1.0]),
        Exhaust::TwinRising => pipes.add_rising(bike, &[-1.0, 1.0]),
        Exhaust::UnderTail => pipes.add_under_tail(bike),
        Exhaust::Stub => pipes.add_stub(bike),
        Exhaust::Pair => pipes.add_long_pair(bike),
        Exhaust::Stacked => pipes.add_stacked(bike),
        Exhaust::High => pipes.add_high(bike),
        Exhaust::None => {}
    }
}

impl Pipes<'_> {
    /// Returns the path from a port down in front of the engine to beside its sump.
    fn down(&self, port: Vec3, y: f32) -> Vec<Vec3> {
        let Pipes { joints, low, .. } = *self;
        let (design, pivot, front) = (&joints.design, joints.pivot, joints.engine_front);
        let flat = matches!(design.engine, EngineKind::Boxer | EngineKind::FlatSix);
        if flat {
            let z = low + 0.03;
            vec![
                port,
                port + Vec3::new(-0.03, 0.0, -0.08),
                Vec3::new(port.x + 0.10, y * 0.9, z),
                Vec3::new(pivot.x - 0.10, y, z),
            ]
        } else {
            // The path runs behind the radiator, out under it, and back beside the sump.
            let bend = if design.air_cooled { 0.030 } else { 0.014 };
            vec![
                port,
                Vec3::new(port.x - bend, port.y * 1.03, port.z - 0.018),
                Vec3::new((port.x - bend - 0.012).max(front + 0.045), port.y * 1.05, port.z - 0.085),
                Vec3::new(front + 0.060, port.y, (port.z + low) * 0.5 - 0.02),
                Vec3::new(front + 0.072, port.y * 0.95, low + 0.12),
                Vec3::new(front + 0.145, port.y * 0.6 + y * 0.4, low + 0.030),
                Vec3::new(pivot.x - 0.14, y, low + 0.03),
            ]
        }
    }

    /// Adds pipes from every port to one collector.
    fn add_headers(&self, bike: &mut Assembly, y: f32) {
        for port in &self.ports {
            let path = self.down(*port, y + port.y * 0.25);
            add_port_flange(bike, *port, path[1], 0.020);
            add_pipe(bike, self.material, &path, 0.020);
        }
    }

    /// Adds one low silencer on each of the given sides, which rises to the rear.
    fn add_rising(&self, bike: &mut Assembly, sides: &[f32]) {
        let Pipes { joints, low, material, .. } = *self;
        let (design, pivot, rear) = (&joints.design, joints.pivot, joints.rear_axle);
        self.add_headers(bike, 0.08);
        let low_slung = design.family == Family::SportTourer || design.family == Family::Adventure;
        for side in sides {
            let (from, to) = (
                Vec3::new(pivot.x + 0.02, 0.135 * side, low + 0.09),
                Vec3::new(rear.x - 0.06, 0.205 * side, if low_slung { 0.42 } else { 0.47 }),
            );
            let link = [
                Vec3::new(pivot.x - 0.18, 0.08 * side, low + 0.03),
                from - Vec3::new(0.05, 0.01 * side, 0.03),
                from.lerp(to, 0.12),
            ];
            add_pipe(bike, material, &link, 0.027);
            add_silencer(bike, Material::Satin, from, to, 0.054);
        }
        if sides.len() > 1 {
            let cross = [Vec3::new(pivot.x - 0.18, -0.08, low + 0.03), Vec3::new(pivot.x - 0.18, 0.08, low + 0.03)];
            add_pipe(bike, material, &[cross[0], cross[0].lerp(cross[1], 0.5), cross[1]], 0.027);
        }
    }

    /// Adds a pipe up behind the engine, and two silencers that run through under the seat.
    fn add_under_tail(&self, bike: &mut Assembly) {
        let Pipes { joints, low, material, .. } = *self;
        let pivot = joints.pivot;
        self.add_headers(bike, 0.08);
        let tail =
            Vec3::new(joints.body_end() - 0.055, 0.0, joints.seat.z + 0.045 + joints.design.details.tail_rise * 0.7);
        let collect = Vec3::new(pivot.x - 0.16, 0.08, low + 0.03);
        let rise = [
            collect,
            Vec3::new(pivot.x + 0.02, 0.105, low + 0.16),
            Vec3::new(pivot.x + 0.07, 0.085, joints.seat.z - 0.24),
            Vec3::new(joints.seat.x + 0.16, 0.060, joints.seat.z - 0.09),
        ];
        add_pipe(bike, material, &rise, 0.024);
        for side in [-1.0, 1.0] {
            let from = Vec3::new(joints.seat.x + 0.12, 0.055 * side, joints.seat.z - 0.075);
            add_silencer(bike, Material::Satin, from, tail + Vec3::Y * 0.052 * side, 0.044);
        }
    }

    /// Adds a chamber under the engine with a short mouth beside it.
    fn add_stub(&self, bike: &mut Assembly) {
        let Pipes { joints, low, .. } = *self;
        let pivot = joints.pivot;
        self.add_headers(bike, 0.06);
        let chamber = Solid::superellipsoid(Vec3::new(0.14, 0.115, 0.058), 3.4, 20, 40);
        bike.add_soft(Material::RimDark, chamber.moved(Vec3::new(pivot.x - 0.13, 0.0, low + 0.045)));
        let from = Vec3::new(pivot.x - 0.06, 0.115, low + 0.075);
        add_silencer(bike, Material::GlossBlack, from, Vec3::new(pivot.x + 0.20, 0.185, low + 0.175), 0.062);
    }

    /// Adds one long silencer on each side.
    fn add_long_pair(&self, bike: &mut Assembly) {
        let Pipes { joints, low, material, .. } = *self;
        let (design, pivot, rear) = (&joints.design, joints.pivot, joints.rear_axle);
        let thick = if design.bright && design.rear_tyre[1] < 0.16 { 0.040 } else { 0.050 };
        for side in [-1.0, 1.0] {
            let y = side * 0.165;
            let mine = self.ports.iter().filter(|p| p.y * side > 0.001).copied().collect::<Vec<_>>();
            let mine = if mine.is_empty() && side > 0.0 { self.ports.clone() } else { mine };
            // One cylinder has one pipe and one silencer.
            if mine.is_empty() && self.ports.len() == 1 {
                continue;
            }
            for port in &mine {
                let path = self.down(*port, y);
                add_port_flange(bike, *port, path[1], 0.022);
                add_pipe(bike, material, &path, 0.022);
            }
            let from = Vec3::new(pivot.x - 0.12, y, low + 0.03);
            let to = Vec3::new(rear.x + 0.22, side * 0.195, low + 0.10);
            // Where no pipe comes from the front on this side, one crosses under the engine.
            if mine.is_empty() {
                let cross = [Vec3::new(from.x - 0.06, -y, from.z), Vec3::new(from.x - 0.02, 0.0, from.z), from];
                add_pipe(bike, material, &cross, 0.022);
            }
            add_silencer(bike, material, from - Vec3::X * 0.03, to, thick);
        }
    }

    /// Adds two pipes, one above the other, on the right.
    fn add_stacked(&self, bike: &mut Assembly) {
        let Pipes { joints, low, material, .. } = *self;
        let (pivot, rear) = (joints.pivot, joints.rear_axle);
        for (i, port) in self.ports.iter().enumerate() {
            let z = low + 0.06 + 0.11 * (i % 2) as f32;
            let y = 0.175 + 0.01 * i as f32;
            let from = Vec3::new(pivot.x - 0.10, y, z);
            let out = if port.x < crank(joints).x { -0.13 } else { 0.07 };
            let bend = [
                *port,
                Vec3::new(port.x + out * 0.7, y * 0.8, port.z - 0.05),
                Vec3::new(port.x + out, y, (port.z + z) * 0.5 + 0.02),
                Vec3::new((port.x + out * 0.4).min(from.x - 0.10), y, z + 0.03),
                from,
            ];
            add_pipe(bike, material, &bend, 0.024);
            add_silencer(bike, material, from - Vec3::X * 0.04, Vec3::new(rear.x + 0.22, y + 0.01, z + 0.02), 0.043);
        }
    }

    /// Adds pipes and a silencer high along the seat.
    fn add_high(&self, bike: &mut Assembly) {
        let Pipes { joints, material, .. } = *self;
        let (design, pivot, rear, front) = (&joints.design, joints.pivot, joints.rear_axle, joints.engine_front);
        let z = joints.seat.z - 0.24;
        for port in &self.ports {
            add_port_flange(bike, *port, *port - Vec3::X * 0.1, 0.020);
            let y = 0.115 + (port.y * 0.2).abs();
            let path = [
                *port,
                Vec3::new(front + 0.045, port.y + 0.03, port.z - 0.06),
                Vec3::new(front + 0.12, y, port.z - 0.16),
                Vec3::new((front + pivot.x) * 0.5 + 0.05, y + 0.02, (port.z - 0.16) * 0.5 + z * 0.5 - 0.04),
                Vec3::new(pivot.x + 0.02, y + 0.01, z - 0.03),
            ];
            add_pipe(bike, material, &path, 0.020);
        }
        let small = design.family == Family::Mini;
        let from = Vec3::new(pivot.x, 0.120, z - 0.04);
        let to = Vec3::new(rear.x + if small { 0.05 } else { 0.12 }, 0.155, z + 0.10);
        add_silencer(bike, if design.bright { Material::Chrome } else { Material::Satin }, from, to, 0.050);
    }
}

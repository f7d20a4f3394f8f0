//! Exhaust pipes from the cylinders to the silencers.

use crate::vehicle::parts::assembly::Assembly;
use glam::Vec3;

use super::Joints;
use super::design::Exhaust;
use super::engine::{ceiling, crank};
use super::style::{Engine, Family};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::{Solid, curve_through};

/// A silencer: a thick pipe with a dark mouth.
fn add_silencer(bike: &mut Assembly, material: Material, from: Vec3, to: Vec3, thick: f32) {
    let body: Vec<Vec3> = (0..=8).map(|i| from.lerp(to, i as f32 / 8.0)).collect();
    let radii = [0.52, 0.86, 0.98, 1.0, 1.0, 1.0, 1.0, 0.95, 0.72];
    bike.add_soft(material, Solid::tube(&body, 24, |i| thick * radii[i]));
    let way = (to - from).normalize_or(Vec3::X);
    bike.add(Material::Underbody, Solid::tube(&[to - way * 0.01, to + way * 0.004], 20, |_| thick * 0.45));
}

fn add_pipe(bike: &mut Assembly, material: Material, path: &[Vec3], radius: f32) {
    bike.add_soft(material, Solid::tube(&curve_through(path, 7), 12, |_| radius));
}

/// Where the gases leave the cylinder heads.
fn ports(joints: &Joints) -> Vec<Vec3> {
    let (middle, top) = (crank(joints), ceiling(joints));
    let upright = |y: f32| Vec3::new(joints.engine_front + 0.13, y, top - 0.07);
    match joints.design.engine {
        Engine::Inline(1) => vec![upright(0.0)],
        Engine::Inline(2) => vec![upright(-0.055), upright(0.055)],
        Engine::Inline(3) => vec![upright(-0.09), upright(0.0), upright(0.09)],
        Engine::Inline(_) => [-0.12, -0.04, 0.04, 0.12].map(upright).to_vec(),
        Engine::Vee | Engine::WideVee => {
            vec![Vec3::new(middle.x - 0.15, 0.06, top - 0.10), Vec3::new(middle.x + 0.16, 0.08, top - 0.12)]
        }
        Engine::CrossVee => {
            vec![Vec3::new(middle.x - 0.17, -0.17, top - 0.09), Vec3::new(middle.x - 0.17, 0.17, top - 0.09)]
        }
        Engine::Boxer | Engine::FlatSix => {
            vec![Vec3::new(middle.x - 0.12, -0.24, middle.z - 0.02), Vec3::new(middle.x - 0.12, 0.24, middle.z - 0.02)]
        }
        Engine::Electric => Vec::new(),
    }
}

pub(super) fn add_exhaust(bike: &mut Assembly, joints: &Joints) {
    let design = &joints.design;
    let ports = ports(joints);
    if ports.is_empty() {
        return;
    }
    let (pivot, rear, low) = (joints.pivot, joints.rear_axle, design.clearance - 0.02);
    let front = joints.engine_front;
    let material = if design.bright { Material::Chrome } else { Material::Satin };
    let flat = matches!(design.engine, Engine::Boxer | Engine::FlatSix);
    // From a port down before the engine to beside its sump.
    let down = |port: Vec3, y: f32| {
        if flat {
            let z = low + 0.03;
            vec![
                port,
                port + Vec3::new(-0.03, 0.0, -0.08),
                Vec3::new(port.x + 0.10, y * 0.9, z),
                Vec3::new(pivot.x - 0.10, y, z),
            ]
        } else {
            vec![
                port,
                Vec3::new(front + 0.055, port.y * 1.1, port.z - 0.05),
                Vec3::new(front + 0.035, port.y, (port.z + low) * 0.5),
                Vec3::new(front + 0.13, port.y * 0.5 + y * 0.5, low + 0.03),
                Vec3::new(pivot.x - 0.14, y, low + 0.03),
            ]
        }
    };
    // From every port to one collector.
    let add_headers = |bike: &mut Assembly, y: f32| {
        for port in &ports {
            add_pipe(bike, material, &down(*port, y + port.y * 0.25), 0.020);
        }
    };
    match design.exhaust {
        Exhaust::Rising | Exhaust::TwinRising => {
            let sides: &[f32] = if design.exhaust == Exhaust::TwinRising { &[-1.0, 1.0] } else { &[1.0] };
            add_headers(bike, 0.08);
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
        Exhaust::UnderTail => {
            add_headers(bike, 0.08);
            // Up behind the engine and through under the seat.
            let tail =
                Vec3::new(joints.tail - 0.055, 0.0, joints.seat.z + 0.045 + joints.design.details.tail_rise * 0.7);
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
        Exhaust::Stub => {
            add_headers(bike, 0.06);
            let chamber = Solid::superellipsoid(Vec3::new(0.14, 0.115, 0.060), 3.0, 12, 28);
            bike.add_soft(Material::Satin, chamber.moved(Vec3::new(pivot.x - 0.13, 0.0, low + 0.045)));
            let from = Vec3::new(pivot.x - 0.06, 0.115, low + 0.075);
            add_silencer(bike, Material::GlossBlack, from, Vec3::new(pivot.x + 0.20, 0.185, low + 0.175), 0.062);
        }
        Exhaust::Pair => {
            let thick = if design.bright && design.rear_tyre[1] < 0.16 { 0.040 } else { 0.050 };
            for side in [-1.0, 1.0] {
                let y = side * 0.165;
                let mine = ports.iter().filter(|p| p.y * side > 0.001).copied().collect::<Vec<_>>();
                let mine = if mine.is_empty() && side > 0.0 { ports.clone() } else { mine };
                // One cylinder has one pipe and one silencer.
                if mine.is_empty() && ports.len() == 1 {
                    continue;
                }
                for port in &mine {
                    add_pipe(bike, material, &down(*port, y), 0.022);
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
        Exhaust::Stacked => {
            for (i, port) in ports.iter().enumerate() {
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
                add_silencer(
                    bike,
                    material,
                    from - Vec3::X * 0.04,
                    Vec3::new(rear.x + 0.22, y + 0.01, z + 0.02),
                    0.043,
                );
            }
        }
        Exhaust::High => {
            let z = joints.seat.z - 0.24;
            for port in &ports {
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
        Exhaust::None => {}
    }
}

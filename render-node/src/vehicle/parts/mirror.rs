//! The outside mirror: a soft-edged housing that is cut flat behind, its glass, and its mount.
//!
//! Local axes: the origin is where the mount leaves the body, x to the rear, y away
//! from the body, z up. Right side.

use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::f32::consts::TAU;

use super::solid::{CREASE_DEGREES, Solid, curve_through, rounded_rectangle};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// Mount of a mirror on the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MirrorMount {
    /// A foot on the door's shoulder.
    Door,
    /// A short arm from the corner of the side window.
    Corner,
    /// A tall housing on two arms: pickups for towing, vans, trucks.
    Arms,
}

/// An outside mirror. Lengths are in metres.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mirror {
    /// Width of the housing, across the car. Height and depth are measured up and along the car.
    pub width: f32,
    pub height: f32,
    pub depth: f32,
    /// Gap between body and housing.
    pub reach: f32,
    /// Height of the housing's middle above the root.
    pub rise: f32,
    pub mount: MirrorMount,
    pub cap: Material,
    /// Ratio of the housing's height, from below, that is black plastic whatever the cap is.
    pub black_ratio: f32,
    /// True if a slim indicator lies between cap and base. It is clear while it is off.
    pub indicator: bool,
}

impl Default for Mirror {
    fn default() -> Mirror {
        Mirror {
            width: 0.225,
            height: 0.138,
            depth: 0.105,
            reach: 0.040,
            rise: 0.055,
            mount: MirrorMount::Door,
            cap: Material::Paint,
            black_ratio: 0.28,
            indicator: false,
        }
    }
}

const AROUND: usize = 36;
const ROWS: usize = 10;
const BASE_ROWS: usize = 6;
/// Exponent of the housing's outline, seen from the front: 2 is round, more is boxier.
const POWER: f32 = 3.3;
/// Exponent of the outline of tall housings.
const TALL_POWER: f32 = 4.2;
/// Exponent of the housing's sections along the car.
const BULGE: f32 = 2.35;
/// Distance by which the outer end of the back lies behind the inner one,
/// as a ratio of half the width.
const BACK_SWEEP: f32 = 0.30;
/// Least height of a door-mounted housing's lower edge above its root.
const ABOVE_DOOR_M: f32 = 0.022;
/// Largest gap of a door-mounted housing. The body leans away above the root, so the
/// housing begins right beside it.
const BESIDE_DOOR_M: f32 = 0.012;
/// Largest gap of a housing at the corner of the side window.
const BESIDE_CORNER_M: f32 = 0.002;

/// The form of the housing, which gives the position of each of its points.
struct MirrorShell {
    half: Vec3,
    centre: Vec3,
    power: f32,
    tall: bool,
}

impl MirrorShell {
    fn new(spec: &Mirror) -> MirrorShell {
        let half = Vec3::new(spec.depth, spec.width / 2.0, spec.height / 2.0);
        let rise = match spec.mount {
            MirrorMount::Door => spec.rise.max(half.z + ABOVE_DOOR_M),
            MirrorMount::Corner | MirrorMount::Arms => spec.rise,
        };
        let tall = spec.height > spec.width;
        let centre = Vec3::new(spec.depth * 0.42, spec.gap() + half.y, rise);
        MirrorShell { half, centre, power: if tall { TALL_POWER } else { POWER }, tall }
    }

    /// Returns a point of the housing. `across` and `up` are ratios of half the width and half the
    /// height. On the rim of the flat back their `size` is 1.
    fn at(&self, across: f32, up: f32) -> Vec3 {
        let size = self.size(across, up);
        let front = (1.0 - size.min(1.0).powf(BULGE)).max(0.0).powf(1.0 / BULGE);
        let outward = 0.5 * (across + 1.0);
        // The housing is highest and deepest near the car. The underside rises to the
        // outer end, which leans back.
        let (low, high) = if self.tall { (1.0, 1.0) } else { (1.04 - 0.24 * outward * outward, 1.04 - 0.17 * outward) };
        let deep = if self.tall { 1.0 } else { 1.06 - 0.34 * outward * outward };
        let back = BACK_SWEEP * outward * outward * self.half.y;
        let lean = if self.tall { 0.0 } else { 0.10 * up.max(0.0) * self.half.x };
        let rise = if self.tall { 0.0 } else { 0.05 * across };
        let height = up * if up > 0.0 { high } else { low } + rise;
        self.centre
            + Vec3::new(-front * deep * (self.half.x * 0.98 - lean) + back, across * self.half.y, height * self.half.z)
    }

    fn size(&self, across: f32, up: f32) -> f32 {
        (across.abs().powf(self.power) + up.abs().powf(self.power)).powf(1.0 / self.power)
    }

    /// Returns the part of the housing between two heights, in rows of one height each, so that the
    /// cap ends in a level line. `inset` shrinks it.
    fn between(&self, low: f32, high: f32, rows: usize, inset: f32) -> Solid {
        let height = |row: usize| {
            let (from, to) = (low.asin(), high.asin());
            (from + (to - from) * row as f32 / (rows - 1) as f32).sin().clamp(-1.0, 1.0)
        };
        Solid::grid(rows, AROUND + 1, false, |row, column| {
            let up = height(row);
            let room = (1.0 - up.abs().powf(self.power)).max(0.0).powf(1.0 / self.power);
            let across = room * (TAU / 2.0 * column as f32 / AROUND as f32).cos();
            let p = self.at(across, up);
            self.centre + (p - self.centre) * (1.0 - inset)
        })
        .flipped()
    }

    /// Returns a ring around the flat back, at a ratio `size` of its outline and
    /// moved back by `back` metres.
    fn ring(&self, size: f32, back: f32) -> impl Fn(usize) -> Vec3 {
        let middle = self.at(0.0, 0.0).with_x(self.centre.x + 0.25 * BACK_SWEEP * self.half.y);
        move |column: usize| {
            let (sin, cos) = (TAU * (column % AROUND) as f32 / AROUND as f32 - TAU / 4.0).sin_cos();
            let reach = (cos.abs().powf(self.power) + sin.abs().powf(self.power)).powf(-1.0 / self.power);
            let edge = self.at(cos * reach, sin * reach);
            middle.lerp(edge, size) + Vec3::X * back
        }
    }
}

impl Mirror {
    /// Returns the daylight between the body and the housing, at the root.
    fn gap(&self) -> f32 {
        match self.mount {
            MirrorMount::Corner => self.reach.min(BESIDE_CORNER_M),
            MirrorMount::Door => self.reach.min(BESIDE_DOOR_M),
            MirrorMount::Arms => self.reach,
        }
    }
}

/// Returns the mirror, about 2,000 triangles.
pub fn mirror(spec: &Mirror) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let shell = MirrorShell::new(spec);
    let seam = 2.0 * spec.black_ratio.clamp(0.0, 1.0) - 1.0;
    let seam_half = 0.0016 / shell.half.z;
    if seam < 1.0 - seam_half {
        let cap = shell.between(seam.max(-1.0 + seam_half) + seam_half, 1.0, ROWS, 0.0);
        mesh.add(spec.cap, &cap.surface(60.0));
    }
    if seam > -1.0 + seam_half {
        // The base lies a little inside the cap, whose edge casts a line on it.
        let inset = if seam < 1.0 { 0.018 } else { 0.0 };
        mesh.add(Material::MattBlack, &shell.between(-1.0, seam.min(1.0), BASE_ROWS, inset).surface(60.0));
    }

    // The back: a black frame around glass that is set in a little. Tall housings
    // have wide-angle glass below.
    let rings = [shell.ring(1.0, 0.0), shell.ring(0.975, 0.004), shell.ring(0.92, 0.003), shell.ring(0.90, -0.008)];
    let frame = Solid::grid(rings.len(), AROUND, true, |row, column| rings[row](column));
    mesh.add(Material::MattBlack, &frame.flipped().surface(CREASE_DEGREES));
    let rim = shell.ring(0.905, -0.008);
    let glass = Solid::grid(2, AROUND, true, |row, column| {
        // The glass is flat, from the inner to the outer end of the frame.
        let flat =
            |p: Vec3| p.with_x(shell.centre.x - 0.011 + BACK_SWEEP * 0.5 * (p.y - shell.centre.y + shell.half.y));
        if row == 0 { flat(rim(column)) } else { flat(shell.centre) }
    });
    mesh.add(Material::Chrome, &glass.flipped().surface(CREASE_DEGREES));
    if shell.tall {
        let bar = Solid::rounded_box(Vec3::new(0.006, shell.half.y * 0.86, 0.007), 0.004);
        let at = shell.centre + Vec3::new(0.006, 0.0, -0.36 * shell.half.z);
        mesh.add(Material::MattBlack, &bar.moved(at).surface(CREASE_DEGREES));
    }

    add_mount(&mut mesh, spec, &shell);
    if spec.indicator {
        let strip: Vec<Vec3> = (0..15)
            .map(|step| {
                let across = -0.25 + 1.18 * step as f32 / 14.0;
                let room = (1.0 - across.abs().powf(shell.power)).max(0.0).powf(1.0 / shell.power);
                shell.at(across, seam.max(-0.6).clamp(-room * 0.96, room * 0.96))
            })
            .collect();
        let section = |i: usize| {
            let slim = 0.35 + 0.65 * (1.0 - (2.0 * i as f32 / 14.0 - 1.0).abs().powi(3));
            rounded_rectangle(0.0028, 0.0042 * slim, 0.0018)
        };
        let lamp = Solid::swept(&strip, Vec3::Z, section);
        mesh.add(Material::LampReflector, &lamp.surface(CREASE_DEGREES));
    }
    mesh
}

/// Adds the mount: a wedge that grows out of the door, a short stout arm from the
/// corner of the window, or two arms.
fn add_mount(mesh: &mut VehicleMesh, spec: &Mirror, shell: &MirrorShell) {
    let (centre, half) = (shell.centre, shell.half);
    // `from` and `to` are half width and half height of the section, at
    // the body and at the housing.
    let arm = |points: [Vec3; 3], from: [f32; 2], to: [f32; 2]| {
        let path = curve_through(&points, 6);
        let last = (path.len() - 1) as f32;
        let section = |i: usize| {
            let t = i as f32 / last;
            let [wide, high] = [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * t);
            rounded_rectangle(wide, high, high.min(wide) * 0.85)
        };
        Solid::swept(&path, Vec3::Z, section).surface(60.0)
    };
    match spec.mount {
        MirrorMount::Door => {
            let top = Vec3::new(centre.x - half.x * 0.42, centre.y - half.y * 0.52, centre.z - half.z * 0.66);
            let root = Vec3::new(top.x - 0.012, -0.05, -0.022);
            let bend = Vec3::new(top.x - 0.006, spec.gap().max(0.02), 0.40 * top.z - 0.012);
            mesh.add(Material::MattBlack, &arm([root, bend, top], [0.054, 0.024], [0.040, 0.026]));
        }
        MirrorMount::Corner => {
            let end = Vec3::new(centre.x - half.x * 0.40, spec.gap() + half.y * 0.42, centre.z - half.z * 0.30);
            let root = Vec3::new(end.x - 0.004, -0.05, centre.z - half.z * 0.46);
            let bend = root.lerp(end, 0.5);
            mesh.add(Material::MattBlack, &arm([root, bend, end], [0.044, half.z * 0.42], [0.036, half.z * 0.40]));
        }
        MirrorMount::Arms => {
            for level in [-0.52, 0.52] {
                let end = Vec3::new(centre.x - half.x * 0.4, spec.gap() + half.y * 0.6, centre.z + half.z * level);
                let root = Vec3::new(end.x - 0.01, -0.04, centre.z + half.z * level * 0.8);
                mesh.add(Material::MattBlack, &arm([root, root.lerp(end, 0.4), end], [0.028, 0.017], [0.022, 0.015]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn every_mount_is_sound_and_stands_off_the_body() {
        for mount in [MirrorMount::Door, MirrorMount::Corner, MirrorMount::Arms] {
            let spec = Mirror { mount, indicator: true, ..Mirror::default() };
            let mesh = mirror(&spec);
            assert_sound(&mesh, &format!("{mount:?}"));
            let widest = mesh.surfaces[&Material::Paint].positions.iter().map(|p| p[1]).fold(0.0, f32::max);
            assert!((widest - spec.gap() - spec.width).abs() < 0.004, "{widest}");
            assert!(mesh.triangle_count() < 2_800, "{}", mesh.triangle_count());
        }
    }

    #[test]
    fn the_glass_looks_backwards_and_the_cap_forwards() {
        let mesh = mirror(&Mirror::default());
        assert!(mesh.surfaces[&Material::Chrome].normals.iter().all(|n| n[0] > 0.9));
        let mean: f32 = mesh.surfaces[&Material::Paint].normals.iter().map(|n| n[0]).sum();
        assert!(mean < 0.0);
    }
}

//! The outside mirror: a soft-edged housing cut flat behind, its glass, and the stalk that holds it.
//!
//! Local axes: the origin is where the stalk leaves the body, x to the rear, y away from the body, z up. Right side.

use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::f32::consts::TAU;

use super::solid::{CREASE_DEGREES, Solid, curve_through, rounded_rectangle};
use crate::vehicle::mesh::{Material, VehicleMesh};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MirrorMount {
    /// A foot on the door's shoulder.
    Door,
    /// Short arm from the corner of the side window.
    Corner,
    /// Tall housing on two arms: pickups for towing, vans, trucks.
    Arms,
}

/// Sizes in metres.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mirror {
    /// Housing: across the car, up, along the car.
    pub width: f32,
    pub height: f32,
    pub depth: f32,
    /// Gap between body and housing.
    pub reach: f32,
    /// How far the housing's middle lies above the root.
    pub rise: f32,
    pub mount: MirrorMount,
    pub cap: Material,
    /// Share of the housing, from below, that is black plastic whatever the cap is.
    pub black_share: f32,
    /// An amber lamp along the cap's outer front.
    pub indicator: bool,
}

impl Default for Mirror {
    fn default() -> Mirror {
        Mirror {
            width: 0.21,
            height: 0.138,
            depth: 0.095,
            reach: 0.045,
            rise: 0.055,
            mount: MirrorMount::Door,
            cap: Material::Paint,
            black_share: 0.28,
            indicator: false,
        }
    }
}

const AROUND: usize = 32;
const ROWS: usize = 10;
const BASE_ROWS: usize = 6;
/// Squareness of the housing seen from the front, and of its sections along the car.
const POWER: f32 = 3.4;
const BULGE: f32 = 2.5;

/// About 1,200 triangles.
pub fn mirror(spec: &Mirror) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let half = Vec3::new(spec.depth, spec.width / 2.0, spec.height / 2.0);
    let centre = Vec3::new(spec.depth * 0.42, spec.reach + half.y, spec.rise);
    let tall = spec.height > spec.width;

    // A point of the housing: `across` and `up` are shares of half its width and height; `size` is 1 on the rim of the flat back.
    let on_shell = |across: f32, up: f32, size: f32| {
        let share = (1.0 - size.min(1.0).powf(BULGE)).max(0.0).powf(1.0 / BULGE);
        let taper = if tall { 1.0 } else { 1.0 - 0.13 * across - 0.04 * across * across };
        // The outer end leans back, and lies a little higher.
        let back = 0.022 * (across + 1.0).max(0.0).powi(2) / 4.0 * (half.y / 0.1);
        let rise = if tall { 0.0 } else { 0.09 * across };
        centre + Vec3::new(-share * half.x * 0.98 + back, across * half.y, (up * taper + rise) * half.z)
    };
    let size_of = |across: f32, up: f32| (across.abs().powf(POWER) + up.abs().powf(POWER)).powf(1.0 / POWER);
    // Rows of one height each, so that the cap ends in a level line.
    let shell = |low: f32, high: f32, rows: usize| {
        let height = |row: usize| {
            let (from, to) = (low.asin(), high.asin());
            (from + (to - from) * row as f32 / (rows - 1) as f32).sin().clamp(-1.0, 1.0)
        };
        Solid::grid(rows, AROUND + 1, false, |row, column| {
            let up = height(row);
            let room = (1.0 - up.abs().powf(POWER)).max(0.0).powf(1.0 / POWER);
            let across = room * (TAU / 2.0 * column as f32 / AROUND as f32).cos();
            on_shell(across, up, size_of(across, up))
        })
        .flipped()
    };
    let seam = 2.0 * spec.black_share.clamp(0.0, 1.0) - 1.0;
    let seam_half = 0.0016 / half.z;
    if seam < 1.0 - seam_half {
        mesh.add(spec.cap, &shell(seam.max(-1.0 + seam_half) + seam_half, 1.0, ROWS).surface(60.0));
    }
    if seam > -1.0 + seam_half {
        mesh.add(Material::MattBlack, &shell(-1.0, seam.min(1.0), BASE_ROWS).surface(60.0));
    }
    let rim_point = |column: usize| {
        let (sin, cos) = (TAU * column as f32 / AROUND as f32 - TAU / 4.0).sin_cos();
        let reach = (cos.abs().powf(POWER) + sin.abs().powf(POWER)).powf(-1.0 / POWER);
        on_shell(cos * reach, sin * reach, 1.0)
    };

    // Back: a black frame around glass set in a little.
    let rim = |size: f32, back: f32| {
        move |column: usize| {
            let edge = rim_point(column % AROUND);
            let middle = centre + Vec3::X * 0.022 * 0.25 * (half.y / 0.1);
            let flat = middle + (edge - middle) * size;
            Vec3::new(edge.x * size + middle.x * (1.0 - size) + back, flat.y, flat.z)
        }
    };
    let rings = [rim(1.0, 0.0), rim(0.97, 0.004), rim(0.90, 0.003), rim(0.88, -0.006)];
    let frame = Solid::grid(rings.len(), AROUND, true, |row, column| rings[row](column));
    mesh.add(Material::MattBlack, &frame.flipped().surface(CREASE_DEGREES));
    let glass_rings = [rim(0.88, -0.006), rim(0.0, -0.006)];
    let glass = Solid::grid(2, AROUND, true, |row, column| glass_rings[row](column));
    mesh.add(Material::Chrome, &glass.flipped().surface(CREASE_DEGREES));

    add_mount(&mut mesh, spec, centre, half);
    if spec.indicator {
        let strip: Vec<Vec3> = (0..9)
            .map(|step| {
                let across = -0.1 + 0.9 * step as f32 / 8.0;
                let up = seam.max(-0.6);
                on_shell(across, up, size_of(across, up))
            })
            .collect();
        let lamp = Solid::swept(&strip, Vec3::Z, |_| rounded_rectangle(0.004, 0.0045, 0.002));
        mesh.add(Material::LampAmber, &lamp.surface(CREASE_DEGREES));
    }
    mesh
}

fn add_mount(mesh: &mut VehicleMesh, spec: &Mirror, centre: Vec3, half: Vec3) {
    let inside = -0.04;
    let arm = |from_z: f32, to: Vec3, half_width: f32, half_height: f32| {
        let from = Vec3::new(0.0, inside, from_z);
        let path = curve_through(&[from, Vec3::new(to.x * 0.4, to.y * 0.35, from_z + (to.z - from_z) * 0.25), to], 5);
        Solid::swept(&path, Vec3::Z, |_| rounded_rectangle(half_width, half_height, half_height * 0.9)).surface(60.0)
    };
    match spec.mount {
        MirrorMount::Door => {
            let to = Vec3::new(centre.x - half.x * 0.50, spec.reach + half.y * 0.6, centre.z - half.z * 0.72);
            mesh.add(Material::MattBlack, &arm(0.0, to, 0.026, 0.011));
        }
        MirrorMount::Corner => {
            let to = Vec3::new(centre.x - half.x * 0.45, spec.reach + half.y * 0.5, centre.z - half.z * 0.35);
            mesh.add(Material::MattBlack, &arm(centre.z - half.z * 0.5, to, 0.026, 0.022));
        }
        MirrorMount::Arms => {
            for level in [-0.55, 0.55] {
                let to = Vec3::new(centre.x - half.x * 0.4, spec.reach + half.y * 0.6, centre.z + half.z * level);
                mesh.add(Material::MattBlack, &arm(centre.z + half.z * level * 0.8, to, 0.016, 0.013));
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
            assert!((widest - spec.reach - spec.width).abs() < 0.004, "{widest}");
            assert!(mesh.triangle_count() < 2_000, "{}", mesh.triangle_count());
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

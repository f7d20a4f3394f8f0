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
            width: 0.195,
            height: 0.125,
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
const ALONG: usize = 9;
/// Squareness of the housing, seen from the front and along the car.
const POWER: f32 = 2.7;

/// About 1,200 triangles.
pub fn mirror(spec: &Mirror) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let half = Vec3::new(spec.depth, spec.width / 2.0, spec.height / 2.0);
    let centre = Vec3::new(spec.depth * 0.42, spec.reach + half.y, spec.rise);
    let tall = spec.height > spec.width;

    // Sections from the nose (x = -depth) to the flat back (x = 0), each a superellipse that narrows toward the outside.
    let section_point = |share: f32, column: usize| {
        let angle = TAU * column as f32 / AROUND as f32 - TAU / 4.0;
        let (sin, cos) = angle.sin_cos();
        let reach = (cos.abs().powf(POWER) + sin.abs().powf(POWER)).powf(-1.0 / POWER);
        let size = (1.0 - share.powf(2.2)).max(0.0).powf(1.0 / 2.2);
        let (across, up) = (cos * reach * size, sin * reach * size);
        let taper = if tall { 1.0 } else { 1.0 - 0.16 * across - 0.05 * across * across };
        // The outer end leans back.
        let back = 0.022 * (across + 1.0).max(0.0).powi(2) / 4.0 * (half.y / 0.1);
        centre + Vec3::new(-share * half.x * 0.98 + back, across * half.y, up * half.z * taper)
    };
    let share_of = |row: usize| {
        // Rows crowd toward the nose, where the housing curves most.
        let t = row as f32 / (ALONG - 1) as f32;
        (t * TAU / 4.0).sin()
    };
    let shell = Solid::grid(ALONG, AROUND + 1, false, |row, column| section_point(share_of(row), column % AROUND));
    // Column 0 is the lowest point; the black share is counted from there on both sides.
    let black_columns = (spec.black_share.clamp(0.0, 1.0) * AROUND as f32 / 2.0).round() as u32;
    let (mut black, mut cap) = (shell.clone(), shell.clone());
    let is_black = |t: &[u32; 3]| {
        let column = t.iter().map(|i| i % (AROUND as u32 + 1)).min().unwrap_or(0);
        column.min(AROUND as u32 - 1 - column) < black_columns
    };
    black.triangles.retain(is_black);
    cap.triangles.retain(|t| !is_black(t));
    mesh.add(spec.cap, &cap.surface(60.0));
    mesh.add(Material::MattBlack, &black.surface(60.0));

    // Back: a black frame around glass set in a little.
    let rim = |size: f32, back: f32| {
        move |column: usize| {
            let edge = section_point(0.0, column % AROUND);
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
                let share = (1.0 - across.abs().powf(POWER)).max(0.02).powf(1.0 / 2.2);
                centre
                    + Vec3::new(
                        -share * half.x * 0.97 + 0.022 * (across + 1.0).powi(2) / 4.0,
                        across * half.y,
                        -half.z * 0.08,
                    )
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

//! Bars and boards outside the body: bumper bars, side steps, spare wheel, plate recess.
//! All but the plate recess are built in vehicle space, either whole or for the
//! right side, as each function says.

use glam::{Affine3A, Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::placing::placed;
use super::solid::{CREASE_DEGREES, Solid, curve_through, rounded_rectangle};
use super::wheel::loose_wheel;
use super::wheel::spec::Wheel;
use crate::vehicle::mesh::{Material, VehicleMesh};

/// A bar across the front or rear end of a car. Lengths are in metres.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BumperBar {
    /// Height of the bar's middle above the ground.
    pub z: f32,
    pub half_width: f32,
    /// Height of the section.
    pub height: f32,
    /// Thickness of the section, along the car.
    pub thickness: f32,
    /// Distance by which the ends lie behind the middle of the bar.
    pub bow: f32,
    /// Radius of the section's edges. Half the height makes a tube.
    pub rounding: f32,
    pub material: Material,
}

impl Default for BumperBar {
    fn default() -> BumperBar {
        BumperBar {
            z: 0.58,
            half_width: 0.80,
            height: 0.17,
            thickness: 0.12,
            bow: 0.08,
            rounding: 0.025,
            material: Material::MattBlack,
        }
    }
}

/// Returns the whole bar with its outermost point at `x`. `to_rear` is true for the rear bumper.
pub fn bumper_bar(spec: &BumperBar, x: f32, to_rear: bool) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let outward = if to_rear { 1.0 } else { -1.0 };
    let path: Vec<Vec3> = (0..=16)
        .map(|i| {
            let across = i as f32 / 8.0 - 1.0;
            // The bar is flat in the middle, and its corners sweep back.
            let back = spec.bow * across.abs().powf(3.0);
            Vec3::new(x - outward * (back + spec.thickness / 2.0), across * spec.half_width, spec.z)
        })
        .collect();
    let bar = Solid::swept(&path, Vec3::Z, |i| {
        let end = if i == 0 || i == 16 { 0.82 } else { 1.0 };
        rounded_rectangle(spec.thickness / 2.0 * end, spec.height / 2.0 * end, spec.rounding)
    });
    mesh.add(spec.material, &bar.surface(50.0));
    mesh
}

/// Returns a step along the sill of the right side. `front` and `rear` are the ends of its outer
/// edge. It is a tube if `round` is true, a flat board otherwise.
pub fn side_step(front: Vec3, rear: Vec3, width: f32, round: bool, material: Material) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let inward = Vec3::Y * width;
    let path = curve_through(
        &[
            front - inward,
            front - Vec3::Y * width * 0.4 + (rear - front) * 0.03,
            front.lerp(rear, 0.08),
            front.lerp(rear, 0.92),
            rear - Vec3::Y * width * 0.4 - (rear - front) * 0.03,
            rear - inward,
        ]
        .map(|p| p - Vec3::Y * width / 2.0),
        4,
    );
    let section =
        if round { rounded_rectangle(0.038, 0.038, 0.038) } else { rounded_rectangle(width / 2.0, 0.022, 0.016) };
    mesh.add(material, &Solid::swept(&path, Vec3::Z, |_| section.clone()).surface(60.0));
    for ratio in [0.2, 0.8] {
        let at = front.lerp(rear, ratio) - Vec3::new(0.0, width * 0.5, 0.0);
        let pin = Solid::pin(at, at + Vec3::new(0.0, -width * 1.6, 0.06), 0.018, 8);
        mesh.add(Material::Underbody, &pin.surface(60.0));
    }
    mesh
}

/// Returns a spare wheel on the tailgate. `centre` is the middle of its outer face, which faces the
/// rear. `cover` hides the rim behind a disc of that material.
pub fn spare_wheel(spec: &Wheel, centre: Vec3, cover: Option<Material>) -> VehicleMesh {
    // The wheel's outer face points along its own y axis, and a quarter turn brings y to x.
    let turn = Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2);
    let place = Affine3A::from_rotation_translation(turn, centre - Vec3::X * spec.width / 2.0);
    let mut mesh = placed(&loose_wheel(spec), place);
    let bracket = Solid::pin(centre - Vec3::X * (spec.width + 0.10), centre - Vec3::X * spec.width * 0.6, 0.09, 16);
    mesh.add(Material::MattBlack, &bracket.surface(CREASE_DEGREES));
    if let Some(material) = cover {
        let radius = spec.diameter / 2.0 + 0.008;
        let profile = [
            (-spec.width * 0.75, radius),
            (-0.030, radius),
            (-0.014, radius - 0.005),
            (-0.002, radius - 0.020),
            (0.004, radius - 0.05),
            // A shallow step, inside which the face is sunk.
            (0.008, radius * 0.74),
            (0.006, radius * 0.72),
            (0.001, radius * 0.70),
            (0.000, radius * 0.67),
            (0.006, 0.0),
        ]
        .map(|(a, r)| glam::Vec2::new(spec.width / 2.0 + a, r));
        let disc = VehicleMesh { surfaces: [(material, Solid::revolved(&profile, 64).surface(CREASE_DEGREES))].into() };
        super::placing::add_all(&mut mesh, &placed(&disc, place));
    }
    mesh
}

/// Returns the empty, unmarked recess for a number plate: a plain black floor. Local axes: origin
/// at its middle, x out of the body, y across, z up. Sizes are in metres.
pub fn plate_recess(width: f32, height: f32) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let floor = Solid::rounded_box(Vec3::new(0.004, width / 2.0, height / 2.0), 0.003);
    mesh.add(Material::MattBlack, &floor.surface(CREASE_DEGREES));
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn bars_are_sound_and_in_place() {
        for to_rear in [false, true] {
            let mesh = bumper_bar(&BumperBar::default(), 1.0, to_rear);
            assert_sound(&mesh, "bumper bar");
            let all = mesh.surfaces[&Material::MattBlack].positions.iter().map(|p| p[0]);
            let outermost = if to_rear { all.fold(f32::MIN, f32::max) } else { all.fold(f32::MAX, f32::min) };
            assert!((outermost - 1.0).abs() < 0.003, "{outermost}");
        }
        for round in [false, true] {
            let mesh =
                side_step(Vec3::new(1.2, 0.95, 0.4), Vec3::new(3.2, 0.95, 0.4), 0.16, round, Material::MattBlack);
            assert_sound(&mesh, "side step");
            let widest = mesh.surfaces[&Material::MattBlack].positions.iter().map(|p| p[1]).fold(0.0, f32::max);
            assert!(widest < 0.96 && widest > 0.86, "{widest}");
        }
        assert_sound(&plate_recess(0.5, 0.12), "plate recess");
    }

    #[test]
    fn a_spare_wheel_looks_to_the_rear_and_ends_at_its_face() {
        let spec = Wheel { diameter: 0.8, ..Wheel::default() };
        for cover in [None, Some(Material::GlossBlack)] {
            let mesh = spare_wheel(&spec, Vec3::new(4.2, 0.1, 0.95), cover);
            assert_sound(&mesh, "spare wheel");
            let tyre = &mesh.surfaces[&Material::Tyre].positions;
            let rearmost = tyre.iter().map(|p| p[0]).fold(0.0, f32::max);
            assert!((rearmost - 4.2).abs() < 1e-4, "{rearmost}");
        }
    }
}

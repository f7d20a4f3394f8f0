//! A road wheel: tyre, rim, brake. Local axes: hub at the origin, axle along y, x to the rear, z
//! up. The outer face points along +y.
//!
//! The right side of the vehicle takes the wheel as it is, the left side its mirror image.

mod brake;
mod motif;
mod rim;
pub mod spec;
mod tyre;

pub use motif::styles;

use glam::Vec3;
use spec::Wheel;

use super::placing::{add_all, mirrored, moved_to};
use crate::vehicle::mesh::VehicleMesh;

/// Returns the wheel about its hub, at most 17,000 triangles.
pub fn wheel(spec: &Wheel) -> VehicleMesh {
    let mut mesh = loose_wheel(spec);
    brake::add_brake(&mut mesh, spec);
    mesh
}

/// Returns a wheel without a brake behind it, such as a spare one.
pub fn loose_wheel(spec: &Wheel) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    tyre::add_tyre(&mut mesh, spec);
    rim::add_rim(&mut mesh, spec);
    mesh
}

/// Returns the wheels on both ends of an axle at `x`. They stand on the ground, and the outer walls
/// of the tyres are `outer_width` apart.
pub fn axle(spec: &Wheel, x: f32, outer_width: f32) -> VehicleMesh {
    let right = moved_to(&wheel(spec), Vec3::new(x, (outer_width - spec.width) / 2.0, spec.diameter / 2.0));
    // The far side is turned a little further, because two wheels with the same turn look copied.
    let turned = Wheel { turn_degrees: spec.turn_degrees + 17.0, ..*spec };
    let left = moved_to(&wheel(&turned), Vec3::new(x, (outer_width - spec.width) / 2.0, spec.diameter / 2.0));
    let mut mesh = right;
    add_all(&mut mesh, &mirrored(&left));
    mesh
}

#[cfg(test)]
mod tests {
    use super::spec::{RimClass, RimFinish, Tread};
    use super::*;
    use crate::vehicle::mesh::Material;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn every_rim_is_sound_and_within_its_budget() {
        let rims = motif::table();
        assert!(rims.len() >= 60, "{}", rims.len());
        for (motif, style) in rims {
            for finish in [RimFinish::Bright, RimFinish::Dark, RimFinish::TwoTone] {
                let mesh = wheel(&Wheel { motif, style, finish, ..Wheel::default() });
                assert_sound(&mesh, &format!("{motif:?} {style} {finish:?}"));
                assert!(mesh.triangle_count() <= 17_000, "{motif:?} {style}: {}", mesh.triangle_count());
            }
        }
    }

    #[test]
    fn every_family_has_rims_for_every_class_and_year() {
        for (family, _) in motif::table() {
            for class in [RimClass::Small, RimClass::Suv, RimClass::Sport] {
                for year in [1982, 1999, 2012, 2025] {
                    assert!(!motif::styles(family, class, year).is_empty());
                }
            }
        }
    }

    #[test]
    fn radius_and_width_are_exact() {
        for (diameter, width, rim_diameter) in
            [(0.56, 0.165, 0.356), (0.65, 0.225, 0.432), (0.84, 0.285, 0.457), (1.04, 0.315, 0.572)]
        {
            for tread in [Tread::Road, Tread::AllTerrain] {
                let mesh = wheel(&Wheel { diameter, width, rim_diameter, tread, ..Wheel::default() });
                let all = || mesh.surfaces.values().flat_map(|s| &s.positions);
                let radius = all().map(|p| p[0].hypot(p[2])).fold(0.0, f32::max);
                let lowest = all().map(|p| p[2]).fold(f32::MAX, f32::min);
                assert!(
                    (radius - diameter / 2.0).abs() < 1e-5 && (lowest + diameter / 2.0).abs() < 1e-5,
                    "{radius} {lowest}"
                );
                let tyre = &mesh.surfaces[&Material::Tyre].positions;
                for side in [-1.0, 1.0] {
                    let reach = tyre.iter().map(|p| p[1] * side).fold(0.0, f32::max);
                    assert!((reach - width / 2.0).abs() < 1e-5, "{reach} for {width}");
                    let all_reach = all().map(|p| p[1] * side).fold(0.0, f32::max);
                    assert!(all_reach <= width / 2.0 + 0.012, "rim stands out by {all_reach} of {width}");
                }
            }
        }
    }

    #[test]
    fn an_axle_stands_on_the_ground_at_its_width() {
        let mesh = axle(&Wheel::default(), 0.9, 1.78);
        let all: Vec<_> = mesh.surfaces[&Material::Tyre].positions.to_vec();
        let widest = all.iter().map(|p| p[1].abs()).fold(0.0, f32::max);
        let lowest = all.iter().map(|p| p[2]).fold(f32::MAX, f32::min);
        assert!((widest - 0.89).abs() < 1e-5 && lowest.abs() < 1e-5, "{widest} {lowest}");
        assert_sound(&mesh, "axle");
    }
}

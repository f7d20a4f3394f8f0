//! Brake disc and caliper behind the rim, as seen between the blades.

use glam::{Vec2, Vec3};

use super::rim::RimPlaces;
use super::spec::Wheel;
use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::solid::{CREASE_DEGREES, Solid};

pub(super) fn add_brake(mesh: &mut VehicleMesh, spec: &Wheel) {
    let places = RimPlaces::of(spec);
    let radius = places.opening_radius * 0.76;
    let face = places.hub_face.min(places.edge) - 0.064;
    let bell = radius * 0.56;
    // Two rings with a vent between them, and the hat they are bolted to.
    for [from, to] in [[face - 0.009, face], [face - 0.026, face - 0.017]] {
        let disc = [Vec2::new(from, radius), Vec2::new(to, radius), Vec2::new(to, bell)];
        mesh.add(Material::BrakeDisc, &Solid::revolved(&disc, 48).surface(CREASE_DEGREES));
    }
    let vent = [Vec2::new(face - 0.017, radius - 0.004), Vec2::new(face - 0.009, radius - 0.004)];
    mesh.add(Material::PanelGap, &Solid::revolved(&vent, 48).surface(CREASE_DEGREES));
    let hat = [
        Vec2::new(face, bell),
        Vec2::new(face + 0.016, bell - 0.004),
        Vec2::new(face + 0.018, bell - 0.010),
        Vec2::new(face + 0.018, 0.0),
    ];
    mesh.add(Material::Underbody, &Solid::revolved(&hat, 32).surface(CREASE_DEGREES));

    // The caliper, bare cast metal, grips the disc's rear edge over about 60 degrees.
    let (inner, outer) = (radius * 0.70, (radius + 0.012).min(places.opening_radius - 0.024));
    let loops: Vec<Vec<Vec3>> = (0..=8)
        .map(|step| {
            let t = step as f32 / 8.0;
            let angle = (-22.0 + 60.0 * t).to_radians();
            // The caliper's ends are lower than its middle.
            let height = 0.026 * (1.0 - (2.0 * t - 1.0).powi(6) * 0.6);
            [
                (inner, face - 0.03),
                (inner, face + height * 0.7),
                (inner + 0.014, face + height),
                (outer - 0.012, face + height),
                (outer, face + height * 0.6),
                (outer, face - 0.03),
            ]
            .iter()
            .map(|(r, a)| Vec3::new(r * angle.cos(), *a, r * angle.sin()))
            .collect()
        })
        .collect();
    mesh.add(Material::BrakeDisc, &Solid::lofted(&loops).surface(CREASE_DEGREES));
}

//! Wheels of tractors and loaders: high lugs in a herringbone on a round carcass, and
//! a deep rim with a bolted disc.

use std::f32::consts::TAU;

use glam::{Vec2, Vec3};

use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::assembly::Assembly;
use crate::vehicle::parts::placing::{add_all, mirrored, moved_to};
use crate::vehicle::parts::solid::Solid;

/// A wheel with a lugged tyre. Lengths are in metres.
#[derive(Debug, Clone, Copy)]
pub(super) struct LugWheel {
    pub radius: f32,
    pub width: f32,
    /// Ratio of the rim's radius to the tyre's.
    pub rim: f32,
    /// Number of lugs on one side of the tread.
    pub lugs: usize,
    /// Ratio of a lug's height to the tyre's radius.
    pub lug_height: f32,
    pub disc: Material,
}

/// Returns both wheels at `x`, with their outer walls `outer_width` apart.
pub(super) fn axle(spec: &LugWheel, x: f32, outer_width: f32) -> VehicleMesh {
    let hub = Vec3::new(x, 0.5 * (outer_width - spec.width), spec.radius);
    let mut mesh = moved_to(&wheel(spec), hub);
    add_all(&mut mesh, &mirrored(&moved_to(&wheel(spec), hub)));
    mesh
}

fn wheel(spec: &LugWheel) -> VehicleMesh {
    let mut parts = Assembly::default();
    let (radius, w, bead) = (spec.radius, spec.width, spec.radius * spec.rim);
    let carcass = radius * (1.0 - spec.lug_height);
    let wall = carcass - bead;
    let side = [
        (-0.40, bead - 0.01),
        (-0.43, bead + 0.06 * wall),
        (-0.445, bead + 0.10 * wall),
        (-0.445, bead + 0.16 * wall),
        (-0.480, bead + 0.34 * wall),
        (-0.500, bead + 0.55 * wall),
        (-0.494, bead + 0.68 * wall),
        (-0.474, bead + 0.80 * wall),
        (-0.435, bead + 0.91 * wall),
        (-0.340, bead + 0.98 * wall),
        (-0.180, carcass),
    ];
    let mut profile: Vec<Vec2> = side.iter().map(|(a, r)| Vec2::new(a * w, *r)).collect();
    profile.extend(side.iter().rev().map(|(a, r)| Vec2::new(-a * w, *r)));
    parts.mesh.add(Material::Tyre, &Solid::revolved(&profile, 72).surface(50.0));
    add_lugs(&mut parts, spec, carcass, wall);
    // The rim: edge, well, dished disc with bolts, hub.
    let rim = [
        (0.395 * w, bead),
        (0.425 * w, bead + 0.012),
        (0.435 * w, bead),
        (0.420 * w, bead - 0.014),
        (0.330 * w, bead - 0.030),
        (0.300 * w, bead * 0.90),
        (0.060 * w, bead * 0.86),
        (0.000, bead * 0.80),
        (0.020 * w, bead * 0.62),
        (0.020 * w, bead * 0.34),
    ]
    .map(|(a, r)| Vec2::new(a, r));
    parts.add(spec.disc, Solid::revolved(&rim, 56));
    let hub =
        [(0.020 * w, 0.34), (0.16 * w, 0.32), (0.20 * w, 0.28), (0.20 * w, 0.20), (0.30 * w, 0.17), (0.32 * w, 0.0)];
    parts.add(Material::Underbody, Solid::revolved(&hub.map(|(a, r)| Vec2::new(a, r * bead)), 32));
    let back = [Vec2::new(-0.38 * w, 0.0), Vec2::new(-0.38 * w, bead + 0.01)];
    parts.add(Material::Underbody, Solid::revolved(&back, 24));
    for number in 0..8 {
        let way = Vec2::from_angle(TAU * number as f32 / 8.0 + 0.2);
        let bolt = |r: f32, a: f32| Vec3::new(way.x * r * bead, a, way.y * r * bead);
        parts.add(Material::Satin, Solid::pin(bolt(0.46, 0.018 * w), bolt(0.46, 0.018 * w + 0.03), 0.035 * bead, 6));
        parts.add(Material::Underbody, Solid::pin(bolt(0.70, -0.02 * w), bolt(0.70, 0.016 * w), 0.05 * bead, 10));
    }
    parts.mesh
}

/// Adds bars that run from beside the middle of the tread back to the
/// shoulder and a little down the wall.
fn add_lugs(parts: &mut Assembly, spec: &LugWheel, carcass: f32, wall: f32) {
    let (radius, w) = (spec.radius, spec.width);
    let pitch = TAU / spec.lugs as f32;
    for (side, number) in [-1.0_f32, 1.0].into_iter().flat_map(|side| (0..spec.lugs).map(move |number| (side, number)))
    {
        let stagger = if side < 0.0 { 0.5 } else { 0.0 };
        // Each station: distance across as a ratio of the width, turn as a ratio of the pitch,
        // radius of top and foot, half thickness as a ratio of the pitch.
        let stations = [
            (-0.03, 0.00, radius, carcass - 0.02, 0.14),
            (0.14, 0.28, radius, carcass - 0.02, 0.15),
            (0.30, 0.62, radius - 0.004, carcass - 0.03, 0.17),
            (0.43, 0.90, radius - 0.018, carcass - 0.12 * wall, 0.19),
            (0.494, 0.98, radius - 0.30 * wall, carcass - 0.32 * wall, 0.17),
        ];
        let loops: Vec<Vec<Vec3>> = stations
            .iter()
            .map(|(across, turn, top, foot, half)| {
                let place = |offset: f32, r: f32| {
                    let angle = pitch * (number as f32 + stagger + turn + offset);
                    Vec3::new(r * angle.cos(), across * w * side, r * angle.sin())
                };
                vec![place(-half, *foot), place(-half * 0.72, *top), place(half * 0.72, *top), place(*half, *foot)]
            })
            .collect();
        parts.add(Material::Tyre, Solid::lofted(&loops));
    }
}

//! Wheels of trucks and buses: ribbed tyres on steel discs with hand holes and a ring
//! of nuts. The disc is convex on steered axles and a deep dish on driven axles, where
//! two wheels stand side by side.
//!
//! Local axes as in `parts::wheel`: the hub at the origin, outside along +y.

use std::f32::consts::TAU;

use glam::{Vec2, Vec3};
use serde::Deserialize;

use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::assembly::Assembly;
use crate::vehicle::parts::placing::{add_all, mirrored, moved_to};
use crate::vehicle::parts::solid::Solid;

/// Segments around the tyre: a multiple of four, so that one point of the
/// tread is exactly on the ground.
const AROUND: usize = 72;
/// Radius of the circle of nuts, as a ratio of the bead's radius. The circle has a diameter of
/// 335 mm on a 22.5 inch rim.
const NUT_CIRCLE: f32 = 0.585;
/// Gap between the two tyres of a driven wheel.
pub const TWIN_GAP_M: f32 = 0.05;
/// Lugs round one shoulder of a driven tyre.
const LUGS: usize = 46;
/// Depth of the grooves between the lugs.
const LUG_M: f32 = 0.012;

/// Material of a wheel's disc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disc {
    /// Steel, painted silver.
    #[default]
    Silver,
    /// Forged and polished.
    Polished,
    /// Steel, painted white.
    White,
    /// Steel, painted black.
    Dark,
}

impl Disc {
    fn material(self) -> Material {
        match self {
            Disc::Silver => Material::RimBright,
            Disc::Polished => Material::Chrome,
            Disc::White => Material::GlossWhite,
            Disc::Dark => Material::RimDark,
        }
    }
}

/// A wheel of a truck or bus. Lengths are in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TruckWheel {
    pub diameter: f32,
    /// Width of one tyre.
    pub width: f32,
    /// Diameter at which the beads sit.
    pub rim_diameter: f32,
    pub nuts: usize,
    pub disc: Disc,
    /// True for a deep dish instead of a disc that stands out.
    pub is_driven: bool,
    /// True if there is a second tyre further in.
    pub is_twin: bool,
    pub turn_degrees: f32,
}

/// Returns both wheels of an axle at `x`, with the outer tyres' walls `outer_width` apart.
pub fn axle(spec: &TruckWheel, x: f32, outer_width: f32) -> VehicleMesh {
    let hub = Vec3::new(x, (outer_width - spec.width) / 2.0, spec.diameter / 2.0);
    let mut mesh = moved_to(&wheel(spec), hub);
    let turned = TruckWheel { turn_degrees: spec.turn_degrees + 13.0, ..*spec };
    add_all(&mut mesh, &mirrored(&moved_to(&wheel(&turned), hub)));
    mesh
}

/// Returns one wheel about its hub, twin tyre included.
pub fn wheel(spec: &TruckWheel) -> VehicleMesh {
    let mut parts = Assembly::default();
    add_tyre(&mut parts, spec);
    if spec.is_twin {
        // Little more than the outline of the inner tyre is seen.
        let (w, outer, bead) = (spec.width, spec.diameter / 2.0, spec.rim_diameter / 2.0);
        let wall = outer - bead;
        let half = [
            (0.40, bead),
            (0.44, bead + 0.2 * wall),
            (0.50, bead + 0.6 * wall),
            (0.46, outer - 0.03),
            (0.40, outer - 0.004),
        ];
        let side = -(spec.width + TWIN_GAP_M);
        let mut profile: Vec<Vec2> = half.iter().map(|(a, r)| Vec2::new(side - a * w, *r)).collect();
        profile.extend(half.iter().rev().map(|(a, r)| Vec2::new(side + a * w, *r)));
        parts.add(Material::Tyre, Solid::revolved(&profile, 48));
        // The inner rim is seen as a dark ring between the tyres.
        let bead = spec.rim_diameter / 2.0;
        let ring = [Vec2::new(-0.9 * spec.width, bead), Vec2::new(-0.3 * spec.width, bead)];
        parts.add(Material::RimDark, Solid::revolved(&ring, 40));
    }
    add_disc(&mut parts, spec);
    parts.mesh
}

fn add_tyre(parts: &mut Assembly, spec: &TruckWheel) {
    const GROOVES: [f32; 4] = [-0.28, -0.095, 0.095, 0.28];
    let (w, outer, bead) = (spec.width, spec.diameter / 2.0, spec.rim_diameter / 2.0);
    let wall = outer - bead;
    let shoulder = if spec.is_driven { LUG_M } else { 0.0 };
    let side = [
        (-0.395, bead - 0.004),
        (-0.425, bead + 0.10 * wall),
        (-0.437, bead + 0.13 * wall),
        (-0.440, bead + 0.22 * wall),
        (-0.478, bead + 0.42 * wall),
        (-0.494, bead + 0.55 * wall),
        (-0.500, bead + 0.60 * wall),
        (-0.494, bead + 0.66 * wall),
        (-0.478, bead + 0.76 * wall),
        (-0.476, bead + 0.80 * wall),
        (-0.462, bead + 0.90 * wall - shoulder),
        (-0.445, outer - 0.014 - shoulder),
        (-0.415, outer - 0.004 - shoulder),
        (-0.330, outer - shoulder),
        (-0.325, outer),
    ];
    let mut profile: Vec<Vec2> = side.iter().map(|(a, r)| Vec2::new(a * w, *r)).collect();
    for centre in GROOVES {
        for (offset, depth) in [(-0.0075, 0.0), (-0.0045, 0.013), (0.0045, 0.013), (0.0075, 0.0)] {
            profile.push(Vec2::new(centre * w + offset, outer - depth));
        }
    }
    profile.extend(side.iter().rev().map(|(a, r)| Vec2::new(-a * w, *r)));
    parts.add(Material::Tyre, Solid::revolved(&profile, AROUND));
    if spec.is_driven {
        add_lugs(parts, spec);
    }
}

/// Adds blocks on both shoulders of a driven tyre.
fn add_lugs(parts: &mut Assembly, spec: &TruckWheel) {
    let (w, outer) = (spec.width, spec.diameter / 2.0);
    for (side, number) in [-1.0_f32, 1.0].into_iter().flat_map(|side| (0..LUGS).map(move |number| (side, number))) {
        let stagger = if side < 0.0 { 0.5 } else { 0.0 };
        let section = [
            (0.322, outer - 0.0005),
            (0.425, outer - 0.004),
            (0.462, outer - 0.022),
            (0.474, outer - 0.046),
            (0.455, outer - 0.046),
            (0.322, outer - 0.018),
        ];
        let loops: Vec<Vec<Vec3>> = [-0.33_f32, 0.33]
            .iter()
            .map(|turn| {
                let (sin, cos) = (TAU * (number as f32 + stagger + turn) / LUGS as f32).sin_cos();
                section.iter().map(|(a, r)| Vec3::new(r * cos, a * w * side, r * sin)).collect()
            })
            .collect();
        parts.add(Material::Tyre, Solid::lofted(&loops));
    }
}

/// Adds rim, disc, hand holes, nuts and hub.
fn add_disc(parts: &mut Assembly, spec: &TruckWheel) {
    let (w, bead) = (spec.width, spec.rim_diameter / 2.0);
    let material = spec.disc.material();
    let scale = bead / 0.286;
    // The rim's edge and well, up to where the disc begins.
    let mut profile = vec![
        Vec2::new(0.385 * w, bead + 0.002),
        Vec2::new(0.418 * w, bead + 0.012),
        Vec2::new(0.428 * w, bead + 0.004),
        Vec2::new(0.420 * w, bead - 0.010),
        Vec2::new(0.360 * w, bead - 0.018),
        Vec2::new(0.300 * w, bead - 0.020),
    ];
    // First and third: (along the axle in metres of a 22.5 inch wheel, ratio of the bead's radius).
    // Second: the hole circle and its slope.
    type Line = &'static [(f32, f32)];
    let (face, hole, hub): (Line, (Vec2, Vec2), Line) = if spec.is_driven {
        (
            &[(0.03, 0.90), (-0.055, 0.885), (-0.080, 0.86), (-0.100, 0.80), (-0.108, 0.70), (-0.110, 0.45)],
            (Vec2::new(-0.104, 0.755), Vec2::new(0.99, 0.12)),
            &[
                (-0.110, 0.45),
                (0.035, 0.425),
                (0.045, 0.415),
                (0.052, 0.33),
                (0.052, 0.31),
                (0.062, 0.30),
                (0.066, 0.0),
            ],
        )
    } else {
        (
            &[(0.055, 0.90), (0.075, 0.87), (0.105, 0.80), (0.128, 0.73), (0.138, 0.68), (0.141, 0.64), (0.141, 0.43)],
            (Vec2::new(0.106, 0.80), Vec2::new(0.88, 0.47)),
            &[(0.141, 0.43), (0.152, 0.40), (0.176, 0.385), (0.182, 0.36), (0.184, 0.30), (0.196, 0.27), (0.200, 0.0)],
        )
    };
    let at = |(a, r): (f32, f32)| Vec2::new(a * scale, r * bead);
    profile.extend(face.iter().copied().map(at));
    parts.add(material, Solid::revolved(&profile, 64));
    let hub: Vec<Vec2> = hub.iter().copied().map(at).collect();
    let hub_material = if spec.is_driven { Material::BrakeDisc } else { Material::RimBright };
    parts.add(hub_material, Solid::revolved(&hub, 40));
    // The back, which is only seen from behind.
    let back = [Vec2::new(-0.40 * w, 0.0), Vec2::new(-0.40 * w, bead + 0.004)];
    parts.add(Material::Underbody, Solid::revolved(&back, 24));

    let turn = spec.turn_degrees.to_radians();
    let around = |count: usize, number: usize, offset: f32| {
        Vec2::from_angle(TAU * (number as f32 + offset) / count as f32 + turn)
    };
    let on = |way: Vec2, a: f32, r: f32| Vec3::new(way.x * r, a, way.y * r);
    let holes = spec.nuts.min(10);
    for number in 0..holes {
        let way = around(holes, number, 0.5);
        let normal = on(way, hole.1.x, hole.1.y).normalize_or(Vec3::Y);
        let centre = on(way, hole.0.x * scale, hole.0.y * bead);
        let size = 0.030 * scale;
        parts.add(Material::Underbody, Solid::pin(centre - normal * 0.02, centre + normal * 0.0025, size, 14));
        parts.add(material, ring(centre + normal * 0.002, normal, size, 0.0035));
    }
    let face_y = if spec.is_driven { -0.110 } else { 0.141 } * scale;
    for number in 0..spec.nuts {
        let way = around(spec.nuts, number, 0.0);
        let foot = on(way, face_y - 0.002, NUT_CIRCLE * bead);
        let out = |length: f32| foot + Vec3::Y * length * scale;
        parts.add(Material::Satin, Solid::pin(foot, out(0.008), 0.024 * scale, 12));
        parts.add(Material::Chrome, Solid::pin(foot, out(0.030), 0.0175 * scale, 6));
        parts.add(Material::Satin, Solid::pin(foot, out(0.042), 0.010 * scale, 8));
    }
    if spec.is_driven {
        for number in 0..8 {
            let foot = on(around(8, number, 0.3), 0.046 * scale, 0.37 * bead);
            parts.add(Material::Satin, Solid::pin(foot, foot + Vec3::Y * 0.018 * scale, 0.010 * scale, 6));
        }
    }
}

/// Returns the rolled edge of a hand hole.
fn ring(centre: Vec3, normal: Vec3, radius: f32, thickness: f32) -> Solid {
    const STEPS: usize = 15;
    let across = normal.any_orthonormal_vector();
    let up = normal.cross(across);
    let solid = Solid::grid(STEPS, 6, true, |row, column| {
        let (sin, cos) = (TAU * row as f32 / (STEPS - 1) as f32).sin_cos();
        let (rise, out) = (TAU * column as f32 / 6.0).sin_cos();
        let ray = across * cos + up * sin;
        centre + ray * (radius + out * thickness) + normal * rise * thickness
    });
    solid.facing_out()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn wheels_of_every_disc_are_sound_and_stand_on_the_ground() {
        for (disc, is_driven) in
            [(Disc::Silver, false), (Disc::Polished, true), (Disc::White, false), (Disc::Dark, true)]
        {
            for (diameter, nuts) in [(1.02, 10), (0.80, 6)] {
                let spec = TruckWheel {
                    diameter,
                    width: 0.29 * diameter,
                    rim_diameter: 0.56 * diameter,
                    nuts,
                    disc,
                    is_driven,
                    is_twin: is_driven,
                    turn_degrees: 4.0,
                };
                let mesh = axle(&spec, 1.3, 2.4);
                assert_sound(&mesh, &format!("{disc:?} driven {is_driven}"));
                let tyre = &mesh.surfaces[&Material::Tyre].positions;
                let lowest = tyre.iter().map(|p| p[2]).fold(f32::MAX, f32::min);
                let widest = tyre.iter().map(|p| p[1]).fold(0.0, f32::max);
                assert!(lowest.abs() < 1e-4 && (widest - 1.2).abs() < 1e-3, "{lowest} {widest}");
                assert!(mesh.triangle_count() < 60_000, "{}", mesh.triangle_count());
            }
        }
    }
}

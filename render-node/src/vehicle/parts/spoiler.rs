//! Spoilers and wings, in vehicle space. The caller gives points of the
//! body's edge that they grow from.

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::solid::{CREASE_DEGREES, Solid, curve_through};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// A spoiler or a wing. Lengths are in metres.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spoiler {
    /// Distance by which it reaches back from the edge.
    pub chord: f32,
    pub thickness: f32,
    /// Height of its trailing edge above the edge it grows from. Negative hangs down.
    pub lift: f32,
    /// Height of the stands of a wing. With 0 the spoiler grows out of the body.
    pub stands: f32,
    pub material: Material,
}

impl Default for Spoiler {
    fn default() -> Spoiler {
        Spoiler { chord: 0.16, thickness: 0.030, lift: 0.0, stands: 0.0, material: Material::Paint }
    }
}

/// Faces whose normal has a z below this belong to the underside.
const UNDERSIDE: f32 = -0.3;

/// Returns the spoiler. `edge` are three or more points of the roof's or deck's
/// rear edge, from left to right.
pub fn spoiler(spec: &Spoiler, edge: &[Vec3]) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    if edge.len() < 3 {
        return mesh;
    }
    let curve = curve_through(edge, 5);
    let last = curve.len() - 1;
    let half = spec.thickness / 2.0;
    // The section is a thin drop: a round nose inside the body, and a sharp trailing edge.
    let drop = [
        Vec2::new(-0.35, 0.0),
        Vec2::new(-0.25, 0.8),
        Vec2::new(0.1, 1.0),
        Vec2::new(0.6, 0.75),
        Vec2::new(0.96, 0.34),
        Vec2::new(1.0, 0.10),
        Vec2::new(0.96, -0.14),
        Vec2::new(0.6, -0.6),
        Vec2::new(0.1, -1.0),
        Vec2::new(-0.25, -0.8),
    ];
    let loops: Vec<Vec<Vec3>> = curve
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let from_end = i.min(last - i) as f32 / last as f32;
            let grow = (from_end / 0.06).min(1.0).powf(0.5);
            let chord = spec.chord * (0.35 + 0.65 * grow);
            drop.iter()
                .map(|d| {
                    let ratio = d.x.max(0.0);
                    let rise = spec.stands + spec.lift * ratio.powf(1.4) * grow + d.y * half * (0.4 + 0.6 * grow);
                    *p + Vec3::new(d.x * chord, 0.0, rise - if spec.stands > 0.0 { 0.0 } else { half * 0.8 })
                })
                .collect()
        })
        .collect();
    // The underside is black plastic. So are the front faces of a spoiler that grows out of the
    // roof: they are seen from inside through the windows, and must not show a stripe of paint.
    let whole = Solid::lofted(&loops);
    let looks_down = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| whole.points[i as usize]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        normal.z < UNDERSIDE || (spec.stands == 0.0 && normal.x < UNDERSIDE)
    };
    let under: Vec<_> = whole.triangles.iter().copied().filter(looks_down).collect();
    let upper: Vec<_> = whole.triangles.iter().copied().filter(|t| !looks_down(t)).collect();
    let half_of = |triangles| Solid { points: whole.points.clone(), triangles };
    mesh.add(spec.material, &half_of(upper).surface(CREASE_DEGREES));
    mesh.add(Material::MattBlack, &half_of(under).surface(CREASE_DEGREES));
    if spec.stands > 0.0 {
        for ratio in [0.16, 0.84] {
            let foot = curve[(ratio * last as f32) as usize];
            let middle = foot + Vec3::new(spec.chord * 0.3, 0.0, spec.stands / 2.0 - 0.01);
            let stand =
                Solid::rounded_box(Vec3::new(spec.chord * 0.30, 0.012, spec.stands / 2.0 + 0.02), 0.010).moved(middle);
            mesh.add(Material::GlossBlack, &stand.surface(60.0));
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn spoilers_are_sound_and_reach_as_far_as_said() {
        let edge = [Vec3::new(4.2, -0.5, 1.4), Vec3::new(4.25, 0.0, 1.42), Vec3::new(4.2, 0.5, 1.4)];
        for stands in [0.0, 0.15] {
            let mesh = spoiler(&Spoiler { stands, lift: 0.02, ..Spoiler::default() }, &edge);
            assert_sound(&mesh, "spoiler");
            let reach = mesh.surfaces[&Material::Paint].positions.iter().map(|p| p[0]).fold(0.0, f32::max);
            assert!((reach - 4.41).abs() < 0.01, "{reach}");
            let under = &mesh.surfaces[&Material::MattBlack].normals;
            assert!(under.iter().map(|n| n[2]).sum::<f32>() < -0.3 * under.len() as f32, "black from above");
        }
    }
}

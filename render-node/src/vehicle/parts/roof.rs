//! What stands on a roof: rails in vehicle space, on points of the roof's skin, and an antenna fin.

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::solid::{Solid, curve_through};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// Sizes in metres.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoofRail {
    /// Daylight under the rail; 0 lies on the roof.
    pub rise: f32,
    pub width: f32,
    pub height: f32,
    pub material: Material,
}

impl Default for RoofRail {
    fn default() -> RoofRail {
        RoofRail { rise: 0.030, width: 0.030, height: 0.024, material: Material::Satin }
    }
}

/// Sides of a rail's section.
const SIDES: usize = 14;

/// One rail along `on_roof`: three or more points of the skin from front to rear. Its ends bend down into the roof.
pub fn roof_rail(spec: &RoofRail, on_roof: &[Vec3]) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let curve = curve_through(on_roof, 6);
    let last = curve.len().saturating_sub(1);
    if last < 4 {
        return mesh;
    }
    let path: Vec<Vec3> = curve
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let from_end = i.min(last - i) as f32 / last as f32;
            let ramp = (from_end / 0.10).min(1.0);
            let ramp = ramp * ramp * (3.0 - 2.0 * ramp);
            *p + Vec3::Z * (ramp * (spec.rise + spec.height) - spec.height / 2.0)
        })
        .collect();
    // Round above, so that the light overhead is a line on it and not the whole bar.
    let section: Vec<Vec2> = (0..SIDES)
        .map(|side| {
            let (sin, cos) = (std::f32::consts::TAU * side as f32 / SIDES as f32).sin_cos();
            let [across, up] = [cos, sin].map(|share: f32| share.signum() * share.abs().powf(0.8));
            Vec2::new(across * spec.width / 2.0, up * spec.height / 2.0)
        })
        .collect();
    mesh.add(spec.material, &Solid::swept(&path, Vec3::Z, |_| section.clone()).surface(60.0));
    if spec.rise > 0.015 {
        // A foot at either end, as wide as the rail and of its finish.
        for share in [0.07, 0.93] {
            let at = share * last as f32;
            let (from, to) = (curve[at as usize], curve[(at as usize + 1).min(last)]);
            let slope = (to.z - from.z) / (to.x - from.x).max(1e-3);
            let half = Vec3::new(0.048, spec.width * 0.40, spec.rise / 2.0 + 0.006);
            let foot = Solid::rounded_box(half, 0.010).bent(|p| from + p + Vec3::Z * (spec.rise / 2.0 + slope * p.x));
            mesh.add(spec.material, &foot.surface(60.0));
        }
    }
    mesh
}

/// The fin of a roof antenna. Local: origin on the roof under its middle, x to the rear.
pub fn antenna_fin(height: f32, material: Material) -> VehicleMesh {
    const AROUND: usize = 20;
    let mut mesh = VehicleMesh::default();
    let (length, half_width) = (height * 2.7, height * 0.42);
    let loops: Vec<Vec<Vec3>> = (0..=8)
        .map(|step| {
            let up = step as f32 / 8.0;
            // The front edge climbs slowly and leans back, the rear edge stands nearly upright.
            let front = length * (-0.5 + 0.80 * up.powf(1.6));
            let rear = length * (0.5 - 0.10 * up);
            // A broad foot, and a back that is rounded at the top.
            let width =
                half_width * (0.30 * (1.0 - up.powi(4)).max(0.0).sqrt() + 0.70 * (1.0 - up).powf(1.6)).max(0.06);
            let (middle, half) = ((front + rear) / 2.0, (rear - front) / 2.0);
            (0..AROUND)
                .map(|i| {
                    let (sin, cos) = (std::f32::consts::TAU * i as f32 / AROUND as f32).sin_cos();
                    Vec3::new(middle + half * cos, width * sin * (1.0 + 0.3 * cos), (up - 0.06) * height)
                })
                .collect()
        })
        .collect();
    let mut fin = Solid::lofted(&loops);
    // Open below: its foot lies under the skin of the roof and would be seen from the cabin.
    let sides = 2 * (loops.len() - 1) * AROUND;
    fin.triangles.drain(sides..sides + AROUND);
    mesh.add(material, &fin.surface(50.0));
    mesh
}

/// A short whip on a foot, leaning back. Local: origin on the roof under its foot, x to the rear.
pub fn antenna_whip(length: f32) -> VehicleMesh {
    const LEAN: f32 = 1.05;
    let mut mesh = VehicleMesh::default();
    let way = Vec3::new(LEAN.sin(), 0.0, LEAN.cos());
    let foot = Solid::superellipsoid(Vec3::new(0.032, 0.018, 0.016), 2.4, 8, 16);
    mesh.add(Material::MattBlack, &foot.surface(60.0));
    let path: Vec<Vec3> = [0.0, 0.06, 0.5, 0.94, 1.0].map(|share| way * (share * length)).to_vec();
    let rod = Solid::tube(&path, 8, |i| [0.0055, 0.0050, 0.0038, 0.0030, 0.0012][i]);
    mesh.add(Material::MattBlack, &rod.surface(60.0));
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn roof_parts_are_sound_and_stand_where_said() {
        let roof = [Vec3::new(1.8, 0.55, 1.60), Vec3::new(2.8, 0.56, 1.66), Vec3::new(3.9, 0.54, 1.58)];
        let rail = roof_rail(&RoofRail::default(), &roof);
        assert_sound(&rail, "rail");
        let top = rail.surfaces[&Material::Satin].positions.iter().map(|p| p[2]).fold(0.0, f32::max);
        assert!((top - 1.66 - 0.054).abs() < 0.006, "{top}");
        assert_sound(&antenna_fin(0.06, Material::Paint), "fin");
        assert_sound(&antenna_whip(0.2), "whip");
        assert_eq!(roof_rail(&RoofRail::default(), &roof[..1]).triangle_count(), 0);
    }
}

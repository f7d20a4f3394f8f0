//! Parts on a roof: rails in vehicle space, on points of the roof's skin, and antennas.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::solid::{Solid, curve_through, rounded_rectangle};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// A roof rail. Lengths are in metres.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoofRail {
    /// Daylight under the rail. With 0 the rail lies on the roof.
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

/// Ratio of a rail's length over which each end rises.
const RISE_RATIO: f32 = 0.10;
/// Ratio of a rail's length that each foot takes.
const FOOT_RATIO: f32 = 0.085;
/// Ratio of a rail's length over which each foot tapers into the daylight.
const TAPER_RATIO: f32 = 0.035;
/// Depth by which the foot of a rail is sunk into the roof.
const SUNK_M: f32 = 0.006;
/// Height of a rail's very ends above the roof.
const END_M: f32 = 0.003;
/// Rails with less daylight lie on the roof for their whole length.
const LEAST_DAYLIGHT_M: f32 = 0.015;

/// Returns one rail along `on_roof`: three or more points of the skin from front to rear. It is one
/// piece with its feet, and its ends rise out of the roof.
pub fn roof_rail(spec: &RoofRail, on_roof: &[Vec3]) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let curve = curve_through(on_roof, 9);
    let last = curve.len().saturating_sub(1);
    if last < 4 {
        return mesh;
    }
    let eased = |t: f32| {
        let t = t.clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    };
    let stations = curve.iter().enumerate().map(|(i, p)| {
        let from_end = i.min(last - i) as f32 / last as f32;
        let ramp = eased(from_end / RISE_RATIO);
        let top = END_M + ramp * (spec.rise + spec.height - END_M);
        let daylight = if spec.rise > LEAST_DAYLIGHT_M { eased((from_end - FOOT_RATIO) / TAPER_RATIO) } else { 0.0 };
        let bottom = -SUNK_M + daylight * (spec.rise + SUNK_M);
        let (half_width, half_height) = (0.5 * spec.width * (0.55 + 0.45 * ramp), 0.5 * (top - bottom));
        let middle = *p + Vec3::Z * (bottom + half_height);
        let section = rounded_rectangle(half_width, half_height, spec.height * 0.4);
        section.into_iter().map(|at| middle + Vec3::new(0.0, at.x, at.y)).collect()
    });
    let loops: Vec<Vec<Vec3>> = stations.collect();
    mesh.add(spec.material, &Solid::lofted(&loops).surface(60.0));
    mesh
}

/// Returns the fin of a roof antenna. Local axes: origin on the roof
/// under its middle, x to the rear.
pub fn antenna_fin(height: f32, material: Material) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let (length, half_width) = (height * 2.7, height * 0.42);
    let loops: Vec<Vec<Vec3>> = (0..=8)
        .map(|step| {
            let up = step as f32 / 8.0;
            // The front edge climbs slowly and leans back, and the rear edge stands nearly upright.
            let front = length * (-0.5 + 0.80 * up.powf(1.6));
            let rear = length * (0.5 - 0.10 * up);
            // A broad foot, and a back that is rounded at the top.
            let width =
                half_width * (0.30 * (1.0 - up.powi(4)).max(0.0).sqrt() + 0.70 * (1.0 - up).powf(1.6)).max(0.06);
            let (middle, half) = ((front + rear) / 2.0, (rear - front) / 2.0);
            (0..20)
                .map(|i| {
                    let (sin, cos) = (std::f32::consts::TAU * i as f32 / 20.0).sin_cos();
                    Vec3::new(middle + half * cos, width * sin * (1.0 + 0.3 * cos), (up - 0.06) * height)
                })
                .collect()
        })
        .collect();
    mesh.add(material, &Solid::lofted(&loops).surface(50.0));
    mesh
}

/// Returns a short whip antenna on a foot, leaning back. Local axes: origin on the roof
/// under its foot, x to the rear.
pub fn antenna_whip(length: f32) -> VehicleMesh {
    const LEAN: f32 = 1.05;
    let mut mesh = VehicleMesh::default();
    let way = Vec3::new(LEAN.sin(), 0.0, LEAN.cos());
    let foot = Solid::superellipsoid(Vec3::new(0.032, 0.018, 0.016), 2.4, 8, 16);
    mesh.add(Material::MattBlack, &foot.surface(60.0));
    let path: Vec<Vec3> = [0.0, 0.06, 0.5, 0.94, 1.0].map(|ratio| way * (ratio * length)).to_vec();
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

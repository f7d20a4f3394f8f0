//! Windscreen wipers, in vehicle space: they lie on glass that only the body knows.

use glam::Vec3;

use super::solid::{CREASE_DEGREES, Solid, rounded_rectangle};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// Distance of the blade's back from the glass, in metres.
const BLADE_RISE: f32 = 0.012;

/// Returns one wiper at rest. `pivot`, `blade_from` and `blade_to` lie on the glass or the cowl,
/// and `outward` is the glass's normal there. The arm goes from the pivot to the blade's middle.
pub fn wiper(pivot: Vec3, blade_from: Vec3, blade_to: Vec3, outward: Vec3) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let lift = outward.normalize_or(Vec3::Z) * BLADE_RISE;
    let middle = blade_from.lerp(blade_to, 0.5);
    let blade: Vec<Vec3> = (0..=6)
        .map(|step| {
            let t = step as f32 / 6.0;
            let bow = 4.0 * t * (1.0 - t);
            blade_from.lerp(blade_to, t) + lift * (0.35 + 0.65 * bow)
        })
        .collect();
    let flat = Solid::swept(&blade, outward, |i| {
        let end = if i == 0 || i == 6 { 0.6 } else { 1.0 };
        rounded_rectangle(0.007 * end, 0.007, 0.003)
    });
    mesh.add(Material::MattBlack, &flat.surface(CREASE_DEGREES));
    let arm = [pivot, pivot.lerp(middle, 0.25) + lift * 1.8, middle + lift * 1.7];
    let arm = Solid::swept(&arm, outward, |i| rounded_rectangle(0.009 - 0.002 * i as f32, 0.006, 0.003));
    mesh.add(Material::MattBlack, &arm.surface(CREASE_DEGREES));
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn a_wiper_is_sound_and_stays_on_the_glass() {
        let glass = Vec3::new(-0.5, 0.0, 0.86);
        let mesh = wiper(Vec3::new(1.2, -0.3, 0.95), Vec3::new(1.22, -0.65, 0.97), Vec3::new(1.22, 0.0, 0.97), glass);
        assert_sound(&mesh, "wiper");
        let spread = mesh.surfaces[&Material::MattBlack].positions.iter().map(|p| p[2]).fold(0.0, f32::max);
        assert!(spread < 1.02, "{spread}");
    }
}

//! Lamps and indicators of two-wheelers.

use crate::vehicle::parts::assembly::Assembly;
use glam::{Vec2, Vec3};

use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::Solid;

/// A round lamp that looks forward, its rim's middle at `at`.
pub(super) fn add_round_lamp(bike: &mut Assembly, at: Vec3, radius: f32, shell: Material) {
    // Turned about x: the profile's axis y becomes -x.
    let forward = |profile: &[(f32, f32)]| {
        let profile: Vec<Vec2> = profile.iter().map(|(a, r)| Vec2::new(*a, r * radius)).collect();
        Solid::revolved(&profile, 40).bent(|p| at + Vec3::new(-p.y, p.x, p.z))
    };
    let bowl = [(-0.105, 0.0), (-0.100, 0.35), (-0.075, 0.72), (-0.035, 0.95), (0.0, 1.0), (0.012, 1.0)];
    bike.add_soft(shell, forward(&bowl));
    bike.add(Material::Chrome, forward(&[(0.008, 1.0), (0.016, 1.04), (0.024, 1.0), (0.022, 0.93), (0.012, 0.92)]));
    bike.add_soft(Material::LampReflector, forward(&[(0.012, 0.92), (-0.010, 0.80), (-0.030, 0.50), (-0.038, 0.28)]));
    bike.add_soft(Material::LampWhite, forward(&[(-0.038, 0.30), (-0.012, 0.27), (0.0, 0.16), (0.003, 0.0)]));
    bike.add_soft(Material::LampLens, forward(&[(0.018, 0.94), (0.030, 0.60), (0.034, 0.0)]));
}

/// A flat lamp on each side of the centre plane: a bright bowl in a dark frame, its light in the middle.
pub(super) fn add_lamp_pair(bike: &mut Assembly, at: Vec3, half: Vec3, sweep: f32) {
    let shape = |grow: f32, out: f32| {
        Solid::superellipsoid(half * grow, 3.0, 12, 28)
            .bent(|p| at + Vec3::new(p.x - out + p.y * sweep, p.y, p.z + p.y * sweep * 0.45))
    };
    bike.add_pair(Material::LampHousing, shape(1.0, 0.0));
    bike.add_pair(Material::LampReflector, shape(0.82, half.x * 0.32));
    bike.add_pair(Material::LampWhite, shape(0.46, half.x * 0.76));
}

/// One lamp across the nose, bowed back towards its ends; twice `half.y` wide.
pub(super) fn add_broad_lamp(bike: &mut Assembly, at: Vec3, half: Vec3, bow: f32) {
    let shape = |grow: f32, out: f32| {
        Solid::superellipsoid(half * grow, 3.4, 12, 36)
            .bent(|p| at + Vec3::new(p.x - out + p.y * p.y * bow / half.y, p.y, p.z + p.y.abs() * 0.12))
    };
    bike.add_soft(Material::LampHousing, shape(1.0, 0.0));
    bike.add_soft(Material::LampReflector, shape(0.86, half.x * 0.26));
    let eye = |y: f32| {
        Solid::superellipsoid(Vec3::new(half.x, half.y * 0.26, half.z * 0.62), 2.6, 10, 22).bent(move |p| {
            let y = p.y + y;
            at + Vec3::new(p.x - half.x * 0.42 + y * y * bow / half.y, y, p.z + y.abs() * 0.12)
        })
    };
    bike.add_pair(Material::LampWhite, eye(half.y * 0.46));
}

/// One tall lamp in the middle: two lights above each other in a dark frame that follows the nose, `lean` metres back per
/// metre up.
pub(super) fn add_tall_lamp(bike: &mut Assembly, at: Vec3, half: Vec3, lean: f32) {
    let shape = |grow: Vec3, out: f32, up: f32| {
        Solid::superellipsoid(half * grow, 2.8, 12, 30)
            .bent(|p| at + Vec3::new(p.x - out + (p.z + up) * lean + p.y * p.y * 3.0, p.y, p.z + up))
    };
    bike.add_soft(Material::LampHousing, shape(Vec3::ONE, 0.0, 0.0));
    for (tall, up) in [(0.42, 0.42), (0.34, -0.46)] {
        bike.add_soft(Material::LampReflector, shape(Vec3::new(1.0, 0.80, tall), half.x * 0.24, half.z * up));
        bike.add_soft(Material::LampWhite, shape(Vec3::new(1.0, 0.46, tall * 0.55), half.x * 0.42, half.z * up));
    }
}

/// Indicators on stalks, one on each side of `root`.
pub(super) fn add_indicators(bike: &mut Assembly, root: Vec3) {
    let eye = root + Vec3::new(0.01, 0.085, 0.0);
    bike.add_pair(Material::GlossBlack, Solid::pin(root - Vec3::Y * 0.03, eye, 0.006, 6));
    bike.add_pair(Material::LampAmber, Solid::superellipsoid(Vec3::new(0.018, 0.028, 0.017), 2.3, 8, 16).moved(eye));
}

/// A tail lamp with its middle at `at`.
pub(super) fn add_tail_lamp(bike: &mut Assembly, at: Vec3, half: Vec3) {
    bike.add_soft(Material::LampRed, Solid::superellipsoid(half, 2.6, 10, 22).moved(at));
}

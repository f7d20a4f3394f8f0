//! Applies a vehicle's own dimensions. A bike is built at its family's natural size and then
//! fitted, with its wheels kept round.

use cyclorama_core::vehicle::Dimensions;
use glam::Vec3;

use crate::vehicle::mesh::VehicleMesh;
use crate::vehicle::motorcycle::joints::Joints;

/// Range of the stretch of the parts between the wheels or above them. A stretch outside it would
/// mean wrong data, and is clamped.
const STRETCH: std::ops::RangeInclusive<f32> = 0.55..=1.60;

/// Least scale of the wheels, as a ratio of the scale that the length gives.
const WHEELS_SHRINK: f32 = 0.85;

/// A piecewise linear map of one axis, as the pairs (from, to) of its knots.
struct Knots<const N: usize>([(f32, f32); N]);

impl<const N: usize> Knots<N> {
    fn map(&self, at: f32) -> f32 {
        let knots = &self.0;
        let next = knots.iter().position(|(from, _)| at <= *from).unwrap_or(N - 1).max(1);
        let ((x0, y0), (x1, y1)) = (knots[next - 1], knots[next]);
        y0 + (at - x0) * (y1 - y0) / (x1 - x0).max(1e-6)
    }

    fn slope(&self, at: f32) -> f32 {
        (self.map(at + 5e-4) - self.map(at - 5e-4)) / 1e-3
    }
}

/// Scales the bike to its length, moves its rear axle to the wheelbase, and stretches the parts
/// above the wheels to the height and the parts outside the middle to the width.
pub(super) fn fit(mesh: &mut VehicleMesh, joints: &Joints, dimensions: &Dimensions) {
    let metres = |mm: u32| mm as f32 * 0.001;
    let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
    for p in mesh.surfaces.values().flat_map(|s| &s.positions) {
        (low, high) = (low.min(Vec3::from(*p)), high.max(Vec3::from(*p)));
    }
    if low.x > high.x {
        return;
    }
    let length = metres(dimensions.length_mm).clamp(1.2, 4.0);
    // Wheels that leave no room for the wheelbase are drawn smaller.
    let reach = joints.front_axle.x - low.x + joints.rear_axle.z;
    let natural_scale = length / (high.x - low.x);
    let roomy = (length - metres(dimensions.wheelbase_mm) - 0.012) / reach;
    let scale = roomy.clamp(WHEELS_SHRINK * natural_scale, natural_scale);
    let held = |target: f32, natural: f32| {
        let stretch = (target / natural).clamp(*STRETCH.start(), *STRETCH.end());
        natural * stretch
    };
    // All knots are in scaled metres, measured from the foremost point and the ground.
    let (front, rear) = ((joints.front_axle - Vec3::X * low.x) * scale, (joints.rear_axle - Vec3::X * low.x) * scale);
    let room = (length - front.x - rear.z - 0.01).max(rear.x - front.x - 0.10);
    let wheelbase = held(metres(dimensions.wheelbase_mm).min(room), rear.x - front.x);
    let shift = front.x + wheelbase - rear.x;
    let (front_end, rear_start, rear_end) = (front.x + front.z, rear.x - rear.z, rear.x + rear.z);
    let along = Knots([
        (0.0, 0.0),
        (front_end, front_end),
        (rear_start, rear_start + shift),
        (rear_end, rear_end + shift),
        ((high.x - low.x) * scale, length.max(rear_end + shift + 0.005)),
    ]);
    let wheel_top = 2.0 * front.z.max(rear.z);
    let natural = (high.z - low.z) * scale;
    let height = wheel_top + held(metres(dimensions.height_mm) - wheel_top, natural - wheel_top);
    let upwards = Knots([(0.0, 0.0), (wheel_top, wheel_top), (natural, height)]);
    let half = high.y.max(-low.y) * scale;
    let middle = half * 0.45;
    let aside = middle + held(metres(dimensions.width_mm) / 2.0 - middle, half - middle);
    let sideways = Knots([(0.0, 0.0), (middle, middle), (half, aside)]);

    for surface in mesh.surfaces.values_mut() {
        for (p, n) in surface.positions.iter_mut().zip(&mut surface.normals) {
            let at = (Vec3::from(*p) - Vec3::new(low.x, 0.0, low.z)) * scale;
            *p = [along.map(at.x), sideways.map(at.y.abs()).copysign(at.y), upwards.map(at.z).max(0.0)];
            let slopes = Vec3::new(along.slope(at.x), sideways.slope(at.y.abs()), upwards.slope(at.z));
            *n = (Vec3::from(*n) / slopes.max(Vec3::splat(0.05))).normalize_or(Vec3::from(*n)).to_array();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knots_are_met_and_lines_go_on_beyond_them() {
        let knots = Knots([(0.0, 0.0), (1.0, 2.0), (2.0, 3.0)]);
        for (from, to) in [(0.0, 0.0), (0.5, 1.0), (1.0, 2.0), (1.5, 2.5), (2.0, 3.0), (3.0, 4.0)] {
            assert!((knots.map(from) - to).abs() < 1e-5, "{from}");
        }
        assert!((knots.slope(0.5) - 2.0).abs() < 1e-2);
    }
}

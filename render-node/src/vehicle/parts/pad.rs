//! Small flat parts that follow a skin: plate holders, reflectors, sensor caps, covers.

use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

use super::solid::Solid;

/// Distance between neighbouring points along a straight side of a pad.
const SIDE_STEP_M: f32 = 0.025;
const CORNER_STEPS: usize = 4;

/// Outline of a pad: a rectangle with rounded corners about its middle,
/// in the plane of (across, up).
#[derive(Debug, Clone, Copy)]
pub struct PadShape {
    pub half: Vec2,
    pub radius: f32,
}

impl PadShape {
    pub fn disc(radius: f32) -> Self {
        Self { half: Vec2::splat(radius), radius }
    }

    /// Returns the outline drawn in by `inset`. The number of points is always the same.
    fn ring(&self, inset: f32) -> Vec<Vec2> {
        let half = (self.half - Vec2::splat(inset)).max(Vec2::ZERO);
        let radius = (self.radius - inset).max(0.0).min(half.min_element());
        let steps = |length: f32| ((2.0 * length / SIDE_STEP_M).ceil() as usize).max(1);
        let sides = [steps(self.half.x), steps(self.half.y)];
        let mut ring: Vec<Vec2> = Vec::new();
        let corner = |quarter: usize, step: usize| {
            let signs = [Vec2::new(1.0, 1.0), Vec2::new(-1.0, 1.0), Vec2::new(-1.0, -1.0), Vec2::new(1.0, -1.0)];
            let angle = (quarter as f32 + step as f32 / CORNER_STEPS as f32) * TAU / 4.0;
            signs[quarter] * (half - Vec2::splat(radius)) + Vec2::from_angle(angle) * radius
        };
        for quarter in 0..4 {
            ring.extend((0..=CORNER_STEPS).map(|step| corner(quarter, step)));
            let (from, to) = (corner(quarter, CORNER_STEPS), corner((quarter + 1) % 4, 0));
            let count = sides[quarter % 2];
            ring.extend((1..count).map(|i| from.lerp(to, i as f32 / count as f32)));
        }
        ring
    }
}

/// Returns a pad whose section, from its edge inwards, is given as (inset, height above the skin).
/// `place` returns the point at a height above a place of the plane. `outward` is roughly the
/// direction that the pad faces.
pub fn pad(shape: &PadShape, section: &[[f32; 2]], outward: Vec3, place: impl Fn(Vec2, f32) -> Vec3) -> Solid {
    let rings: Vec<Vec<Vec3>> = section
        .iter()
        .map(|[inset, height]| shape.ring(*inset).into_iter().map(|at| place(at, *height)).collect())
        .collect();
    let columns = rings.first().map_or(0, Vec::len);
    if rings.len() < 2 || columns < 3 {
        return Solid::default();
    }
    let solid = Solid::grid(rings.len(), columns, true, |row, column| rings[row][column]);
    // The innermost strip decides which way the pad faces: the sides may draw in towards the skin.
    let faced: Vec3 = solid.triangles[solid.triangles.len() - 2 * columns..]
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| solid.points[i as usize]);
            (b - a).cross(c - a)
        })
        .sum();
    if faced.dot(outward) < 0.0 { solid.flipped() } else { solid }
}

/// Returns the section of a pad of some thickness with a rounded edge and a closed
/// face. It starts below the skin.
pub fn closed_section(shape: &PadShape, thickness: f32, edge: f32) -> [[f32; 2]; 4] {
    let edge = edge.min(shape.half.min_element() * 0.5);
    [
        [0.0, -0.004],
        [0.0, (thickness - edge).max(0.3 * thickness)],
        [edge, thickness],
        [shape.half.min_element(), thickness],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::mesh::{Material, VehicleMesh};
    use crate::vehicle::parts::checks::assert_sound;
    use crate::vehicle::parts::solid::CREASE_DEGREES;

    #[test]
    fn a_pad_with_sides_that_draw_in_looks_outwards() {
        let shape = PadShape { half: Vec2::new(0.26, 0.056), radius: 0.006 };
        let section = [[0.009, -0.03], [0.0, 0.0], [0.0, 0.005], [0.002, 0.007], [0.006, 0.007]];
        let solid = pad(&shape, &section, -Vec3::X, |at, height| Vec3::new(1.0 - height, at.x, 0.5 + at.y));
        let surface = solid.surface(CREASE_DEGREES);
        let front = surface.positions.iter().zip(&surface.normals).filter(|(p, _)| p[0] < 0.9935);
        assert!(front.clone().count() > 8 && front.map(|(_, n)| n[0]).fold(f32::MIN, f32::max) < 0.0);
    }

    #[test]
    fn pads_are_sound_and_look_outwards() {
        for shape in [PadShape { half: Vec2::new(0.26, 0.056), radius: 0.006 }, PadShape::disc(0.011)] {
            for outward in [-Vec3::X, Vec3::X] {
                let place = |at: Vec2, height: f32| Vec3::new(1.0, at.x, 0.5 + at.y) + outward * height;
                let solid = pad(&shape, &closed_section(&shape, 0.006, 0.002), outward, place);
                let mesh = VehicleMesh { surfaces: [(Material::MattBlack, solid.surface(CREASE_DEGREES))].into() };
                assert_sound(&mesh, "pad");
                let top = mesh.surfaces[&Material::MattBlack].positions.iter();
                let farthest = top.map(|p| (Vec3::from(*p) - Vec3::X).dot(outward)).fold(f32::MIN, f32::max);
                assert!((farthest - 0.006).abs() < 1e-4, "{farthest}");
            }
        }
    }
}

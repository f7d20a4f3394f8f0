//! A grid over the front or the rear that holds which part of a divided skin is visible in each
//! cell, for rules that search for room.

use glam::{Vec2, Vec3};

use super::body_field::SurfacePoint;
use super::skin::{PartId, Skin};

const CELL_M: f32 = 0.01;
/// Maximum distance of visible skin from the end of the body.
const DEEPEST_M: f32 = 0.8;

/// One half of an end, y >= 0, in real space.
pub struct PanelMap {
    columns: usize,
    rows: usize,
    /// Part, and distance from the end.
    cells: Vec<Option<(PartId, f32)>>,
}

impl PanelMap {
    /// Draws the map of an end. `length` is the length of the vehicle.
    pub fn new(skin: &Skin<SurfacePoint>, length: f32, from_rear: bool) -> Self {
        let depth = |p: Vec3| if from_rear { length - p.x } else { p.x };
        let (mut widest, mut highest) = (0.0_f32, 0.0_f32);
        for p in &skin.positions {
            (widest, highest) = (widest.max(p.y), highest.max(p.z));
        }
        let (columns, rows) = ((widest / CELL_M) as usize + 2, (highest / CELL_M) as usize + 2);
        let mut map = Self { columns, rows, cells: vec![None; columns * rows] };
        for (triangle, part) in skin.triangles.iter().zip(&skin.part) {
            let corners = triangle.map(|i| skin.positions[i as usize]);
            if corners.iter().all(|p| depth(*p) < DEEPEST_M) {
                map.draw(corners, depth, *part);
            }
        }
        map
    }

    fn draw(&mut self, corners: [Vec3; 3], depth: impl Fn(Vec3) -> f32, part: PartId) {
        let [a, b, c] = corners.map(|p| Vec2::new(p.y, p.z) / CELL_M);
        let area = (b - a).perp_dot(c - a);
        if area.abs() < 1e-6 {
            return;
        }
        let low = a.min(b).min(c).max(Vec2::ZERO);
        let high = a.max(b).max(c);
        for row in low.y as usize..=(high.y as usize).min(self.rows - 1) {
            for column in low.x as usize..=(high.x as usize).min(self.columns - 1) {
                let at = Vec2::new(column as f32 + 0.5, row as f32 + 0.5);
                let to_b = (at - a).perp_dot(c - a) / area;
                let to_c = (b - a).perp_dot(at - a) / area;
                if to_b < 0.0 || to_c < 0.0 || to_b + to_c > 1.0 {
                    continue;
                }
                let far = depth(corners[0]) * (1.0 - to_b - to_c) + depth(corners[1]) * to_b + depth(corners[2]) * to_c;
                let cell = &mut self.cells[row * self.columns + column];
                if cell.is_none_or(|(_, nearest)| far < nearest) {
                    *cell = Some((part, far));
                }
            }
        }
    }

    /// Returns the part visible at a point, and its distance from the end of the vehicle.
    pub fn at(&self, y: f32, z: f32) -> Option<(PartId, f32)> {
        let (column, row) = ((y.abs() / CELL_M) as usize, (z / CELL_M) as usize);
        if z < 0.0 || column >= self.columns || row >= self.rows {
            return None;
        }
        self.cells[row * self.columns + column]
    }

    /// Returns the lowest visible point at a distance from the centre plane whose part is wanted.
    pub fn lowest(&self, y: f32, is_wanted: impl Fn(PartId) -> bool) -> Option<f32> {
        (0..self.rows)
            .map(|row| (row as f32 + 0.5) * CELL_M)
            .find(|z| self.at(y, *z).is_some_and(|(part, _)| is_wanted(part)))
    }

    /// True if all of a rectangle (middle, half sides) is visible, belongs to wanted parts, and
    /// faces the end rather than up or aside.
    pub fn is_free(&self, middle: Vec2, half: Vec2, steepest: f32, is_wanted: impl Fn(PartId) -> bool) -> bool {
        let steps = |length: f32| ((2.0 * length / CELL_M).ceil() as usize).max(1);
        let (across, up) = (steps(half.x), steps(half.y));
        let (mut nearest, mut farthest) = (f32::MAX, f32::MIN);
        for row in 0..=up {
            for column in 0..=across {
                let ratio = Vec2::new(column as f32 / across as f32, row as f32 / up as f32) * 2.0 - 1.0;
                let at = middle + ratio * half;
                let Some((part, depth)) = self.at(at.x, at.y) else { return false };
                if !is_wanted(part) {
                    return false;
                }
                (nearest, farthest) = (nearest.min(depth), farthest.max(depth));
            }
        }
        farthest - nearest < steepest * 2.0 * half.length()
    }
}

#[cfg(test)]
mod tests {
    use super::super::surface_net::HalfMesh;
    use super::*;

    fn skin() -> Skin<SurfacePoint> {
        let info = SurfacePoint {
            at: Vec3::ZERO,
            greenhouse_x: 0.0,
            greenhouse_z: 0.0,
            body_x: 0.0,
            body: 0.0,
            greenhouse_profile: 0.0,
            greenhouse_side: 0.0,
            belt: 0.0,
        };
        let positions = [(0.0, 0.2), (0.8, 0.2), (0.8, 1.0), (0.0, 1.0)].map(|(y, z)| Vec3::new(0.1, y, z)).to_vec();
        let mesh = HalfMesh { positions, triangles: vec![[0, 1, 2], [0, 2, 3]] };
        let part = vec![0, 4];
        let count = mesh.positions.len();
        Skin { positions: mesh.positions, info: vec![info; count], triangles: mesh.triangles, part }
    }

    #[test]
    fn the_map_says_which_part_lies_where() {
        let map = PanelMap::new(&skin(), 4.0, false);
        assert_eq!(map.at(0.6, 0.3).map(|cell| cell.0), Some(0));
        assert_eq!(map.at(-0.1, 0.9).map(|cell| cell.0), Some(4));
        assert!(map.at(0.1, 0.1).is_none());
        assert!(map.lowest(0.6, |_| true).is_some_and(|z| (z - 0.2).abs() < 0.02));
        assert!(map.is_free(Vec2::new(0.6, 0.4), Vec2::splat(0.05), 0.3, |part| part == 0));
        assert!(!map.is_free(Vec2::new(0.4, 0.6), Vec2::splat(0.05), 0.3, |part| part == 0));
    }
}

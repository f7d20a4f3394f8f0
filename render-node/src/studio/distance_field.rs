//! A coarse distance field of the vehicle: what soft shadows, occlusion and the hidden part of mirror images are traced in.
//!
//! Unsigned distance to the nearest surface on a regular grid. Seeds are points on the triangles; distances spread by
//! vector propagation (Danielsson 1980), exact to a fraction of a cell.

use super::optics;
use crate::vehicle::VehicleMesh;
use glam::Vec3;

/// Cells along the longest side. 4.6 m / 128 = 3.6 cm: a mirror or a wheel arch shades, a badge does not.
const CELLS_LONGEST: f32 = 128.0;
/// Empty cells around the vehicle, so that the field is smooth where rays leave it.
const MARGIN_CELLS: f32 = 4.0;

/// Distances in metres of the vehicle at cell centres, x fastest.
#[derive(Debug, Clone)]
pub struct DistanceField {
    pub cells: [usize; 3],
    /// Lower corner of the first cell, vehicle axes.
    pub low: Vec3,
    pub cell_m: f32,
    pub distances_m: Vec<f32>,
}

impl DistanceField {
    /// Field of everything that hides light: glass and lenses do not. `None` if nothing does.
    pub fn build(mesh: &VehicleMesh) -> Option<DistanceField> {
        let solid = || {
            mesh.surfaces.iter().filter(|(material, _)| !optics::is_transparent(**material)).map(|(_, surface)| surface)
        };
        let mut low = Vec3::INFINITY;
        let mut high = Vec3::NEG_INFINITY;
        for position in solid().flat_map(|surface| &surface.positions) {
            low = low.min(Vec3::from(*position));
            high = high.max(Vec3::from(*position));
        }
        let longest = (high - low).max_element();
        if !longest.is_finite() || longest <= 0.0 {
            return None;
        }
        let cell_m = longest / CELLS_LONGEST;
        low -= Vec3::splat(MARGIN_CELLS * cell_m);
        high += Vec3::splat(MARGIN_CELLS * cell_m);
        let cells = ((high - low) / cell_m).ceil().to_array().map(|n| n as usize);
        let mut nearest = NearestPoints::new(cells, low, cell_m);
        for surface in solid() {
            for corner in surface.indices.chunks_exact(3) {
                let at = |i: usize| surface.positions.get(corner[i] as usize).copied().map(Vec3::from);
                if let (Some(a), Some(b), Some(c)) = (at(0), at(1), at(2)) {
                    nearest.seed_triangle(a, b, c);
                }
            }
        }
        nearest.spread();
        let distances_m = nearest.distances();
        Some(DistanceField { cells, low, cell_m, distances_m })
    }
}

/// For each cell the nearest seed point known so far; infinity where none is.
struct NearestPoints {
    cells: [usize; 3],
    low: Vec3,
    cell_m: f32,
    points: Vec<Vec3>,
}

impl NearestPoints {
    fn new(cells: [usize; 3], low: Vec3, cell_m: f32) -> Self {
        Self { cells, low, cell_m, points: vec![Vec3::INFINITY; cells[0] * cells[1] * cells[2]] }
    }

    fn centre(&self, x: usize, y: usize, z: usize) -> Vec3 {
        self.low + (Vec3::new(x as f32, y as f32, z as f32) + 0.5) * self.cell_m
    }

    /// Puts points on the triangle no farther apart than half a cell.
    fn seed_triangle(&mut self, a: Vec3, b: Vec3, c: Vec3) {
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        // A triangle longer than the vehicle is a broken mesh; the cap bounds the work on it.
        let steps = ((longest / (0.5 * self.cell_m)).ceil() as usize).clamp(1, 512);
        for i in 0..=steps {
            for j in 0..=steps - i {
                let (u, v) = (i as f32 / steps as f32, j as f32 / steps as f32);
                self.seed(a + (b - a) * u + (c - a) * v);
            }
        }
    }

    fn seed(&mut self, point: Vec3) {
        let at = ((point - self.low) / self.cell_m).floor();
        let [x, y, z] = [at.x as usize, at.y as usize, at.z as usize];
        if x >= self.cells[0] || y >= self.cells[1] || z >= self.cells[2] {
            return;
        }
        let centre = self.centre(x, y, z);
        let index = (z * self.cells[1] + y) * self.cells[0] + x;
        if centre.distance_squared(point) < centre.distance_squared(self.points[index]) {
            self.points[index] = point;
        }
    }

    /// Two sweeps over the grid, each taking over the nearest point of the 13 neighbours already visited, then the line
    /// backwards, so that points travel in every direction.
    fn spread(&mut self) {
        let [nx, ny, nz] = self.cells.map(|n| n as isize);
        for forward in [true, false] {
            let sign = if forward { 1 } else { -1 };
            for step_z in 0..nz {
                let z = if forward { step_z } else { nz - 1 - step_z };
                for step_y in 0..ny {
                    let y = if forward { step_y } else { ny - 1 - step_y };
                    for step_x in 0..nx {
                        let x = if forward { step_x } else { nx - 1 - step_x };
                        for (dz, dy, dx) in VISITED {
                            self.take_over(x, y, z, x + sign * dx, y + sign * dy, z + sign * dz);
                        }
                    }
                    for step_x in 0..nx {
                        let x = if forward { nx - 1 - step_x } else { step_x };
                        self.take_over(x, y, z, x + sign, y, z);
                    }
                }
            }
        }
    }

    #[inline]
    fn take_over(&mut self, x: isize, y: isize, z: isize, from_x: isize, from_y: isize, from_z: isize) {
        let [nx, ny, nz] = self.cells.map(|n| n as isize);
        if from_x < 0 || from_y < 0 || from_z < 0 || from_x >= nx || from_y >= ny || from_z >= nz {
            return;
        }
        let candidate = self.points[((from_z * ny + from_y) * nx + from_x) as usize];
        if candidate.x == f32::INFINITY {
            return;
        }
        let index = ((z * ny + y) * nx + x) as usize;
        let centre = self.centre(x as usize, y as usize, z as usize);
        if centre.distance_squared(candidate) < centre.distance_squared(self.points[index]) {
            self.points[index] = candidate;
        }
    }

    fn distances(&self) -> Vec<f32> {
        let [nx, ny, _] = self.cells;
        self.points
            .iter()
            .enumerate()
            .map(|(index, point)| self.centre(index % nx, index / nx % ny, index / (nx * ny)).distance(*point))
            .collect()
    }
}

/// Offsets (z, y, x) of the neighbours that a forward sweep has visited before a cell.
const VISITED: [(isize, isize, isize); 7] =
    [(0, 0, -1), (0, -1, 0), (-1, 0, 0), (0, -1, -1), (-1, -1, 0), (-1, 0, -1), (-1, -1, -1)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::{Material, Surface};

    /// A square plate in the plane z = 1: distances are known everywhere.
    fn plate() -> VehicleMesh {
        let mut mesh = VehicleMesh::default();
        let positions = vec![[0.0, 0.0, 1.0], [4.0, 0.0, 1.0], [4.0, 4.0, 1.0], [0.0, 4.0, 1.0]];
        let surface = Surface { positions, normals: vec![[0.0, 0.0, 1.0]; 4], indices: vec![0, 1, 2, 0, 2, 3] };
        mesh.add(Material::Paint, &surface);
        let legs =
            Surface { positions: vec![[2.0, 2.0, 0.0]; 3], normals: vec![[0.0, 0.0, 1.0]; 3], indices: vec![0, 1, 2] };
        mesh.add(Material::Tyre, &legs);
        mesh
    }

    #[test]
    fn distances_to_a_plate_are_heights_above_it() {
        let field = DistanceField::build(&plate()).expect("a plate hides light");
        let [nx, ny, nz] = field.cells;
        for z in 0..nz {
            let (x, y) = (nx / 3, ny / 3);
            let height = field.low.z + (z as f32 + 0.5) * field.cell_m;
            let expected = (height - 1.0).abs();
            let found = field.distances_m[(z * ny + y) * nx + x];
            if height > 0.8 {
                assert!((found - expected).abs() < 0.3 * field.cell_m, "at {height} m: {found} instead of {expected}");
            }
        }
    }

    #[test]
    fn glass_hides_nothing() {
        let mut mesh = VehicleMesh::default();
        mesh.add(Material::Glass, &plate().surfaces[&Material::Paint]);
        assert!(DistanceField::build(&mesh).is_none());
    }
}

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
            for position in &surface.positions {
                nearest.seed(Vec3::from(*position));
            }
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

/// For each cell the nearest seed point known so far, in cells from `low`; infinity where none is. A border of one cell that never
/// has a point lies around the grid, so that every cell has all its neighbours.
struct NearestPoints {
    cells: [usize; 3],
    low: Vec3,
    cell_m: f32,
    points: Vec<Vec3>,
}

impl NearestPoints {
    fn new(cells: [usize; 3], low: Vec3, cell_m: f32) -> Self {
        let count = cells.iter().map(|n| n + 2).product();
        Self { cells, low, cell_m, points: vec![Vec3::INFINITY; count] }
    }

    fn index(&self, x: usize, y: usize, z: usize) -> usize {
        ((z + 1) * (self.cells[1] + 2) + y + 1) * (self.cells[0] + 2) + x + 1
    }

    /// Puts points on a triangle with sides longer than half a cell, no farther apart than that. Its corners are there already.
    fn seed_triangle(&mut self, a: Vec3, b: Vec3, c: Vec3) {
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        // A triangle longer than the vehicle is a broken mesh; the cap bounds the work on it.
        let steps = ((longest / (0.5 * self.cell_m)).ceil() as usize).clamp(1, 512);
        if steps == 1 {
            return;
        }
        for i in 0..=steps {
            for j in 0..=steps - i {
                let (u, v) = (i as f32 / steps as f32, j as f32 / steps as f32);
                self.seed(a + (b - a) * u + (c - a) * v);
            }
        }
    }

    fn seed(&mut self, point: Vec3) {
        let point = (point - self.low) / self.cell_m;
        let cell = point.floor();
        let [x, y, z] = [cell.x as usize, cell.y as usize, cell.z as usize];
        if x >= self.cells[0] || y >= self.cells[1] || z >= self.cells[2] {
            return;
        }
        let centre = cell + 0.5;
        let index = self.index(x, y, z);
        if centre.distance_squared(point) < centre.distance_squared(self.points[index]) {
            self.points[index] = point;
        }
    }

    /// Two sweeps over the grid, each taking over the nearest point of the 7 neighbours already visited, then the line
    /// backwards, so that points travel in every direction.
    fn spread(&mut self) {
        let [nx, ny, nz] = self.cells;
        let (line, layer) = (nx + 2, (nx + 2) * (ny + 2));
        let visited = VISITED.map(|[z, y, x]| z * layer + y * line + x);
        for forward in [true, false] {
            let along = |count: usize, step: usize| if forward { step } else { count - 1 - step };
            let neighbour = |index: usize, offset: usize| if forward { index - offset } else { index + offset };
            for z in (0..nz).map(|step| along(nz, step)) {
                for y in (0..ny).map(|step| along(ny, step)) {
                    for x in (0..nx).map(|step| along(nx, step)) {
                        let index = self.index(x, y, z);
                        self.take_over(
                            Vec3::new(x as f32, y as f32, z as f32),
                            index,
                            visited.map(|o| neighbour(index, o)),
                        );
                    }
                    for x in (0..nx).map(|step| along(nx, nx - 1 - step)) {
                        let index = self.index(x, y, z);
                        let before = if forward { index + 1 } else { index - 1 };
                        self.take_over(Vec3::new(x as f32, y as f32, z as f32), index, [before]);
                    }
                }
            }
        }
    }

    /// The nearest of a cell's own point and those of its neighbours.
    #[inline]
    fn take_over<const N: usize>(&mut self, cell: Vec3, index: usize, neighbours: [usize; N]) {
        let centre = cell + 0.5;
        let mut nearest = self.points[index];
        let mut least = centre.distance_squared(nearest);
        for neighbour in neighbours {
            let candidate = self.points[neighbour];
            let distance = centre.distance_squared(candidate);
            if distance < least {
                (nearest, least) = (candidate, distance);
            }
        }
        self.points[index] = nearest;
    }

    fn distances(&self) -> Vec<f32> {
        let [nx, ny, nz] = self.cells;
        let mut distances = Vec::with_capacity(nx * ny * nz);
        for (z, y) in (0..nz).flat_map(|z| (0..ny).map(move |y| (z, y))) {
            distances.extend((0..nx).map(|x| {
                let centre = Vec3::new(x as f32, y as f32, z as f32) + 0.5;
                centre.distance(self.points[self.index(x, y, z)]) * self.cell_m
            }));
        }
        distances
    }
}

/// How far back (z, y, x) the neighbours lie that a sweep has visited before a cell.
const VISITED: [[usize; 3]; 7] = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1], [1, 1, 0], [1, 0, 1], [1, 1, 1]];

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

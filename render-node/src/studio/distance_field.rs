//! A coarse distance field of the vehicle, in which soft shadows, occlusion and the hidden part of
//! mirror images are traced.
//!
//! It holds the unsigned distance to the nearest surface on a regular grid. Seeds are points on the
//! triangles. Each cell then finds its nearest seed along one axis after the other, by lower
//! envelopes of parabolas (P. Felzenszwalb, D. Huttenlocher: Distance Transforms of Sampled
//! Functions, 2012), exact to a fraction of a cell.

use super::optics;
use crate::vehicle::VehicleMesh;
use glam::Vec3;
use rayon::prelude::*;

/// Cells along the longest side. 4.6 m / 128 = 3.6 cm: a mirror or a wheel arch casts a shadow, a
/// badge does not.
const CELLS_LONGEST: f32 = 128.0;
/// Empty cells around the vehicle, so that the field is smooth where rays leave it.
const MARGIN_CELLS: f32 = 4.0;

/// Number of vertices, or of triangles, that one core takes at once.
const TOGETHER: usize = 4_096;

/// Distances at the cells' centres, in metres of the vehicle; x varies fastest.
#[derive(Debug, Clone)]
pub struct DistanceField {
    pub cells: [usize; 3],
    /// Lower corner of the first cell, in vehicle axes.
    pub low: Vec3,
    pub cell_m: f32,
    pub distances_m: Vec<f32>,
}

impl DistanceField {
    /// Builds the field of everything that hides light, which excludes glass and lenses. Returns
    /// `None` if nothing does.
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
        let corners = solid().flat_map(|surface| surface.positions.chunks(TOGETHER).map(Seeds::Corners));
        let triangles = solid().flat_map(|surface| {
            surface.indices.chunks(3 * TOGETHER).map(|indices| Seeds::Triangles(&surface.positions, indices))
        });
        let seeds: Vec<Seeds<'_>> = corners.chain(triangles).collect();
        let none = || NearestPoints::new(cells, low, cell_m);
        // One grid per core and no more, because merging two grids takes as long as filling one.
        // Corners are less work than triangles, so each core takes some of both.
        let cores = rayon::current_num_threads().min(seeds.len());
        let grids = (0..cores)
            .into_par_iter()
            .with_max_len(1)
            .map(|core| seeds.iter().skip(core).step_by(cores).fold(none(), NearestPoints::seeded));
        let distances_m = grids.reduce_with(NearestPoints::merged).unwrap_or_else(none).distances();
        Some(DistanceField { cells, low, cell_m, distances_m })
    }
}

/// Points of the vehicle's surface from which the field starts.
enum Seeds<'a> {
    Corners(&'a [[f32; 3]]),
    /// The insides of triangles: positions, and three indices per triangle.
    Triangles(&'a [[f32; 3]], &'a [u32]),
}

/// For each cell the nearest seed point found so far, in cells from `low`; infinity if there is
/// none yet.
struct NearestPoints {
    cells: [usize; 3],
    low: Vec3,
    cell_m: f32,
    points: Vec<Vec3>,
}

impl NearestPoints {
    fn new(cells: [usize; 3], low: Vec3, cell_m: f32) -> Self {
        Self { cells, low, cell_m, points: vec![Vec3::INFINITY; cells.iter().product()] }
    }

    fn seeded(mut self, seeds: &Seeds<'_>) -> Self {
        match seeds {
            Seeds::Corners(positions) => positions.iter().for_each(|position| self.seed(Vec3::from(*position))),
            Seeds::Triangles(positions, indices) => {
                for corner in indices.chunks_exact(3) {
                    let at = |i: usize| positions.get(corner[i] as usize).copied().map(Vec3::from);
                    if let (Some(a), Some(b), Some(c)) = (at(0), at(1), at(2)) {
                        self.seed_triangle(a, b, c);
                    }
                }
            }
        }
        self
    }

    /// Puts points on a triangle whose sides are longer than half a cell, at most half a cell
    /// apart. Its corners are seeded already.
    fn seed_triangle(&mut self, a: Vec3, b: Vec3, c: Vec3) {
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        // A triangle longer than the vehicle is a broken mesh. The cap bounds the work on it.
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

    /// Enters a point in its cell. A point outside the grid is ignored.
    fn seed(&mut self, point: Vec3) {
        let point = (point - self.low) / self.cell_m;
        let [nx, ny, nz] = self.cells;
        // The casts below truncate, which equals the floor for values that are not negative.
        // Negative values and NaN are outside.
        if !point.cmpge(Vec3::ZERO).all() {
            return;
        }
        let [x, y, z] = point.to_array().map(|along| along as usize);
        if x < nx && y < ny && z < nz {
            let centre = Vec3::new(x as f32, y as f32, z as f32) + 0.5;
            let nearest = &mut self.points[(z * ny + y) * nx + x];
            if is_nearer(centre, point, *nearest) {
                *nearest = point;
            }
        }
    }

    /// Merges two grids: keeps the nearer point in each cell.
    fn merged(mut self, other: Self) -> Self {
        let [nx, ny, _] = self.cells;
        let both = self.points.par_chunks_mut(nx).zip(other.points.par_chunks(nx)).enumerate();
        both.with_min_len(ny).for_each(|(row, (own, others))| {
            let first = Vec3::new(0.0, (row % ny) as f32, (row / ny) as f32) + 0.5;
            for (x, (own, other)) in own.iter_mut().zip(others).enumerate() {
                let centre = first + Vec3::X * x as f32;
                if is_nearer(centre, *other, *own) {
                    *own = *other;
                }
            }
        });
        self
    }

    /// Returns the distance in metres from each cell's centre to the nearest point; x varies
    /// fastest.
    fn distances(mut self) -> Vec<f32> {
        let [nx, ny, nz] = self.cells;
        // Along x and y the layers are independent of each other.
        self.points.par_chunks_mut(nx * ny).enumerate().for_each(|(z, layer)| {
            let mut envelope = Envelope::default();
            for (y, row) in layer.chunks_exact_mut(nx).enumerate() {
                envelope.nearest_along(0, Vec3::new(0.0, y as f32, z as f32) + 0.5, row);
            }
            let mut column = vec![Vec3::INFINITY; ny];
            for x in 0..nx {
                (0..ny).for_each(|y| column[y] = layer[y * nx + x]);
                envelope.nearest_along(1, Vec3::new(x as f32, 0.0, z as f32) + 0.5, &mut column);
                (0..ny).for_each(|y| layer[y * nx + x] = column[y]);
            }
        });
        // Along z the upright slices are independent of each other. Their order is [y][z][x].
        let slice = |y: usize| {
            let mut envelope = Envelope::default();
            let mut column = vec![Vec3::INFINITY; nz];
            let mut slice = vec![0.0; nz * nx];
            for x in 0..nx {
                (0..nz).for_each(|z| column[z] = self.points[(z * ny + y) * nx + x]);
                envelope.nearest_along(2, Vec3::new(x as f32, y as f32, 0.0) + 0.5, &mut column);
                for (z, point) in column.iter().enumerate() {
                    let centre = Vec3::new(x as f32, y as f32, z as f32) + 0.5;
                    slice[z * nx + x] = centre.distance(*point) * self.cell_m;
                }
            }
            slice
        };
        let slices: Vec<Vec<f32>> = (0..ny).into_par_iter().map(slice).collect();
        let mut distances_m = vec![0.0; nx * ny * nz];
        distances_m.par_chunks_mut(nx).enumerate().with_min_len(ny).for_each(|(row, out)| {
            out.copy_from_slice(&slices[row % ny][row / ny * nx..][..nx]);
        });
        distances_m
    }
}

/// Returns true if `point` is nearer to `centre` than `than` is. Of two that are equally near, the
/// first by coordinates wins, because the result must not depend on the number of cores.
fn is_nearer(centre: Vec3, point: Vec3, than: Vec3) -> bool {
    let (distance, known) = (centre.distance_squared(point), centre.distance_squared(than));
    distance < known || distance == known && point.to_array() < than.to_array()
}

/// Finds the nearest of some points for every cell of a line. The squared distances from a point
/// are a parabola along the line, and the lowest of all parabolas gives the nearest point. An
/// envelope is reused from line to line to keep its memory.
#[derive(Default)]
struct Envelope {
    /// For each point that is nearest somewhere: the position along the line where it begins to be
    /// nearest, the square of its distance from the line, and the point.
    pieces: Vec<(f32, f32, Vec3)>,
}

impl Envelope {
    /// Replaces each point of `line` by the nearest point of all. On entry `line` holds, for each
    /// cell, a point that lies in that cell along the axis, or infinity. `centre` is the first
    /// cell's centre.
    fn nearest_along(&mut self, axis: usize, centre: Vec3, line: &mut [Vec3]) {
        self.pieces.clear();
        for point in line.iter().filter(|point| point.x.is_finite()) {
            let mut aside = *point - centre;
            aside[axis] = 0.0;
            let (at, height) = (point[axis], aside.length_squared());
            let mut begins = f32::NEG_INFINITY;
            while let Some((last_begins, last_height, last)) = self.pieces.last() {
                let apart = at - last[axis];
                // The position where both are equally far away. Of two points at the same position,
                // the one nearer to the line is nearest everywhere.
                begins = match apart > 0.0 {
                    true => 0.5 * (at + last[axis]) + (height - last_height) / (2.0 * apart),
                    false if height < *last_height => f32::NEG_INFINITY,
                    false => f32::INFINITY,
                };
                if begins > *last_begins {
                    break;
                }
                self.pieces.pop();
                begins = f32::NEG_INFINITY;
            }
            if begins < f32::INFINITY {
                self.pieces.push((begins, height, *point));
            }
        }
        let mut pieces = self.pieces.iter().peekable();
        let mut nearest = Vec3::INFINITY;
        for (cell, point) in line.iter_mut().enumerate() {
            while let Some((_, _, next)) = pieces.next_if(|(begins, ..)| *begins <= cell as f32 + 0.5) {
                nearest = *next;
            }
            *point = nearest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::{Material, Surface};

    /// A square plate in the plane z = 1, for which the distances are known everywhere.
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

    /// Compares every cell with every seed of some scattered triangles.
    #[test]
    fn distances_are_those_to_the_nearest_seed() {
        let mut mesh = VehicleMesh::default();
        let mut random = 1u32;
        let mut coordinate = |most: f32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as f32 / (1 << 24) as f32 * most
        };
        let positions: Vec<[f32; 3]> = (0..60).map(|_| [coordinate(4.0), coordinate(1.5), coordinate(1.0)]).collect();
        let seeds: Vec<Vec3> = positions.iter().copied().map(Vec3::from).collect();
        // There are no triangles, so the corners alone are seeds.
        mesh.add(Material::Paint, &Surface { normals: vec![[0.0, 0.0, 1.0]; 60], positions, indices: vec![0, 0, 0] });
        let field = DistanceField::build(&mesh).expect("points hide light");
        let [nx, ny, _] = field.cells;
        let mut off = 0;
        for (place, found) in field.distances_m.iter().enumerate() {
            let cell = Vec3::new((place % nx) as f32, (place / nx % ny) as f32, (place / nx / ny) as f32);
            let centre = field.low + (cell + 0.5) * field.cell_m;
            let expected = seeds.iter().map(|seed| seed.distance(centre)).fold(f32::INFINITY, f32::min);
            assert!(*found > expected - 1e-3 * field.cell_m, "{found} is nearer than anything is: {expected}");
            assert!(*found < expected + field.cell_m, "{found} instead of {expected}");
            off += usize::from(*found > expected + 0.05 * field.cell_m);
        }
        // Two seeds of one cell, or of one row seen from another, may be mistaken for each other.
        assert!(off * 50 < field.distances_m.len(), "{off} of {} cells", field.distances_m.len());
    }

    #[test]
    fn distances_do_not_hang_on_the_number_of_cores() {
        // Points in pairs that are equally far from a cell's centre, where different cores hold the
        // two of a pair, and two points that make the cells one metre wide.
        let ends = [[0.0, 0.0, 0.0], [0.0, 128.0, 0.0]];
        let row = |x: f32| (0..96 * 128).map(move |i| [x + (i % 96) as f32, (i / 96) as f32, 0.0]);
        let positions: Vec<[f32; 3]> = row(0.25).chain(row(0.75)).chain(ends).collect();
        let normals = vec![[0.0, 0.0, 1.0]; positions.len()];
        let mut mesh = VehicleMesh::default();
        mesh.add(Material::Paint, &Surface { positions, normals, indices: vec![0, 0, 0] });
        let with = |cores: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build().expect("threads");
            pool.install(|| DistanceField::build(&mesh)).expect("points hide light").distances_m
        };
        let alone = with(1);
        for cores in [2, 5] {
            assert!(with(cores) == alone, "{cores} cores");
        }
    }

    #[test]
    fn glass_hides_nothing() {
        let mut mesh = VehicleMesh::default();
        mesh.add(Material::Glass, &plate().surfaces[&Material::Paint]);
        assert!(DistanceField::build(&mesh).is_none());
    }
}

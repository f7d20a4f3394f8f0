//! Triangulates a field's zero surface on one half of a vehicle (y >= 0): a narrow band of grid
//! cells, one vertex per crossed cell (naive surface nets, Gibson 1998), and then Newton steps onto
//! the surface. The callers define the field.

use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Half a mesh: positions, and triangles that wind counter-clockwise as seen from outside (where
/// the field is positive).
#[derive(Debug, Clone, Default)]
pub struct HalfMesh {
    pub positions: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

/// Cells per side of a block that is evaluated, or skipped, as a whole. Its
/// parts have half as many.
const BLOCK: i32 = 4;
/// Minimum number of blocks in one piece of parallel work.
const BLOCKS_TOGETHER: usize = 64;
/// Upper bound of how fast a field of a vehicle changes per metre where a block could be skipped.
const STEEPEST: f32 = 2.4;
const GRADIENT_STEP_M: f32 = 0.003;
/// A vertex this close to the surface stays where it is.
const NEAR_ENOUGH_M: f32 = 5e-5;

/// Returns the gradient by differences over the corners of a tetrahedron: four evaluations,
/// where three axes need six.
pub fn gradient<F: Fn(Vec3) -> f32>(field: &F, p: Vec3) -> Vec3 {
    const CORNERS: [Vec3; 4] =
        [Vec3::new(1.0, 1.0, 1.0), Vec3::new(1.0, -1.0, -1.0), Vec3::new(-1.0, 1.0, -1.0), Vec3::new(-1.0, -1.0, 1.0)];
    CORNERS.iter().map(|corner| *corner * field(p + *corner * GRADIENT_STEP_M)).sum::<Vec3>() / (4.0 * GRADIENT_STEP_M)
}

/// Makes one Newton step onto the zero surface, at most `limit_m` long. Points of the
/// centre plane stay in it.
pub fn project<F: Fn(Vec3) -> f32>(field: &F, p: Vec3, limit_m: f32) -> Vec3 {
    let g = gradient(field, p);
    let move_by = -g * (field(p) / g.length_squared().max(1e-4));
    let held = p + move_by.clamp_length_max(limit_m);
    if p.y == 0.0 { Vec3::new(held.x, 0.0, held.z) } else { held }
}

struct SampleGrid {
    low: Vec3,
    step: f32,
    points: IVec3,
    values: Vec<f32>,
}

impl SampleGrid {
    fn index(&self, p: IVec3) -> usize {
        ((p.z * self.points.y + p.y) * self.points.x + p.x) as usize
    }

    fn place(&self, p: IVec3) -> Vec3 {
        self.low + p.as_vec3() * self.step
    }
}

/// Meshes `field` between `low` and `high`. With `from_centre`, the grid straddles the plane y =
/// 0, the mesh is left open there, and its border vertices lie exactly in the plane. Otherwise
/// `low.y` is an ordinary bound.
pub fn mesh<F: Fn(Vec3) -> f32 + Sync>(field: &F, low: Vec3, high: Vec3, step: f32, from_centre: bool) -> HalfMesh {
    let low = if from_centre { Vec3::new(low.x, -0.5 * step, low.z) } else { low };
    let cells = ((high - low) / step).ceil().as_ivec3() + IVec3::ONE;
    let blocks = (cells + IVec3::splat(BLOCK - 1)) / BLOCK;
    let mut grid = SampleGrid { low, step, points: blocks * BLOCK + 1, values: Vec::new() };
    grid.values = vec![0.0; (grid.points.x * grid.points.y * grid.points.z) as usize];

    let active = fill(&mut grid, blocks, field);
    let (cell_vertex, positions) = vertices(&grid, &active, from_centre);
    let triangles = faces(&grid, &active, &cell_vertex);
    let mut mesh = HalfMesh { positions, triangles };
    let limit = step * 0.9;
    mesh.positions.par_iter_mut().with_min_len(256).for_each(|p| {
        *p = project(field, *p, limit);
        if field(*p).abs() > NEAR_ENOUGH_M {
            *p = project(field, *p, limit);
        }
    });
    mesh
}

/// Evaluates the field in every block that the surface can pass through, and stores the value of
/// the block's centre elsewhere. Returns the first point of every evaluated block.
fn fill<F: Fn(Vec3) -> f32 + Sync>(grid: &mut SampleGrid, blocks: IVec3, field: &F) -> Vec<IVec3> {
    let half_diagonal = |cells: i32| grid.step * cells as f32 * 0.5 * 3f32.sqrt();
    let (far, part_far) = (half_diagonal(BLOCK) * STEEPEST, half_diagonal(BLOCK / 2) * STEEPEST);
    let count = (blocks.x * blocks.y * blocks.z) as usize;
    let grid_ref = &*grid;
    // One layer of blocks more than there are, for the points on the upper bounds.
    let evaluated: Vec<(IVec3, Option<f32>, Vec<f32>)> = (0..count as i32)
        .into_par_iter()
        .with_min_len(16)
        .map(|i| {
            let block = IVec3::new(i % blocks.x, i / blocks.x % blocks.y, i / (blocks.x * blocks.y)) * BLOCK;
            let centre = grid_ref.place(block) + Vec3::splat(grid_ref.step * BLOCK as f32 * 0.5);
            let middle = field(centre);
            if middle.abs() > far {
                return (block, Some(middle), Vec::new());
            }
            // The same check again for each of the block's eight parts.
            let mut values = vec![0.0; (BLOCK * BLOCK * BLOCK) as usize];
            for corner in CORNERS {
                let part = corner * (BLOCK / 2);
                let centre = grid_ref.place(block + part) + Vec3::splat(grid_ref.step * BLOCK as f32 * 0.25);
                let middle = field(centre);
                for inner in CORNERS {
                    let at = part + inner;
                    let value = if middle.abs() > part_far { middle } else { field(grid_ref.place(block + at)) };
                    values[((at.z * BLOCK + at.y) * BLOCK + at.x) as usize] = value;
                }
            }
            (block, None, values)
        })
        .collect();
    grid.values.fill(f32::MAX);
    let mut active = Vec::new();
    for (block, constant, values) in evaluated {
        let mut i = 0;
        for z in 0..BLOCK {
            for y in 0..BLOCK {
                for x in 0..BLOCK {
                    let at = grid.index(block + IVec3::new(x, y, z));
                    grid.values[at] = constant.unwrap_or_else(|| values[i]);
                    i += 1;
                }
            }
        }
        if constant.is_none() {
            active.push(block);
        }
    }
    active
}

const CORNERS: [IVec3; 8] = [
    IVec3::new(0, 0, 0),
    IVec3::new(1, 0, 0),
    IVec3::new(0, 1, 0),
    IVec3::new(1, 1, 0),
    IVec3::new(0, 0, 1),
    IVec3::new(1, 0, 1),
    IVec3::new(0, 1, 1),
    IVec3::new(1, 1, 1),
];
/// Pairs of corners that the cell's twelve edges join.
const EDGES: [(usize, usize); 12] =
    [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7)];

fn cells_of(block: IVec3) -> impl Iterator<Item = IVec3> {
    (0..BLOCK * BLOCK * BLOCK).map(move |i| block + IVec3::new(i % BLOCK, i / BLOCK % BLOCK, i / (BLOCK * BLOCK)))
}

/// Returns a vertex for each crossed cell, which is the mean of its edge crossings. `cell_vertex`
/// is indexed like grid points.
fn vertices(grid: &SampleGrid, active: &[IVec3], from_centre: bool) -> (Vec<u32>, Vec<Vec3>) {
    let vertex = |cell: IVec3| {
        let first = grid.index(cell);
        let values = CORNERS.map(|c| grid.values[first + grid.index(c)]);
        let inside = values.iter().filter(|v| **v < 0.0).count();
        if inside == 0 || inside == 8 {
            return None;
        }
        let mut sum = Vec3::ZERO;
        let mut crossings = 0.0;
        for (a, b) in EDGES {
            if (values[a] < 0.0) != (values[b] < 0.0) {
                let ratio = (values[a] / (values[a] - values[b])).clamp(0.0, 1.0);
                sum += CORNERS[a].as_vec3().lerp(CORNERS[b].as_vec3(), ratio);
                crossings += 1.0;
            }
        }
        let mut p = grid.low + (cell.as_vec3() + sum / crossings) * grid.step;
        if from_centre && cell.y == 0 {
            p.y = 0.0;
        }
        Some((first, p))
    };
    let blocks = active.par_iter().with_min_len(BLOCKS_TOGETHER);
    let found: Vec<(usize, Vec3)> = blocks.flat_map_iter(|block| cells_of(*block).filter_map(vertex)).collect();
    let mut cell_vertex = vec![u32::MAX; grid.values.len()];
    found.iter().enumerate().for_each(|(index, (cell, _))| cell_vertex[*cell] = index as u32);
    (cell_vertex, found.into_iter().map(|(_, p)| p).collect())
}

/// Returns two triangles around every grid edge whose ends lie on different sides.
fn faces(grid: &SampleGrid, active: &[IVec3], cell_vertex: &[u32]) -> Vec<[u32; 3]> {
    let axes = [(IVec3::X, IVec3::Y, IVec3::Z), (IVec3::Y, IVec3::Z, IVec3::X), (IVec3::Z, IVec3::X, IVec3::Y)];
    let around_edges = |point: IVec3| {
        let here = grid.values[grid.index(point)] < 0.0;
        let around_edge = move |(along, u, v): (IVec3, IVec3, IVec3)| {
            let there = grid.values[grid.index(point + along)] < 0.0;
            if here == there || point.dot(u) == 0 || point.dot(v) == 0 {
                return None;
            }
            let around = [point - u - v, point - v, point, point - u].map(|c| cell_vertex[grid.index(c)]);
            if around.contains(&u32::MAX) {
                return None;
            }
            let [a, b, c, d] = around;
            Some(if here { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] })
        };
        axes.into_iter().filter_map(around_edge).flatten()
    };
    let blocks = active.par_iter().with_min_len(BLOCKS_TOGETHER);
    blocks.flat_map_iter(|block| cells_of(*block).flat_map(around_edges)).collect()
}

/// An edge is halved if the normals at its ends differ by more than this.
const BEND: f32 = 0.15;

/// Halves the edges along which the surface bends, so that fillets and pressed lines get more
/// triangles than flat panels. Each value of `shortest_m` is one round, in which only edges longer
/// than that value are halved. `worth` gets a point, its normal and the number of the round, and
/// returns true if the point will be visible; from the second round on it is called only for the
/// middles of edges halved before.
pub fn refine<F: Fn(Vec3) -> f32 + Sync>(
    mesh: &mut HalfMesh,
    field: &F,
    shortest_m: &[f32],
    worth: &(dyn Fn(Vec3, Vec3, usize) -> bool + Sync),
) {
    // Normals of every vertex so far; zero where the surface will not be visible.
    let mut normals: Vec<Vec3> = Vec::new();
    for (round, shortest_m) in shortest_m.iter().enumerate() {
        let new = mesh.positions[normals.len()..].par_iter().with_min_len(256).map(|p| {
            let n = gradient(field, *p).normalize_or(Vec3::Z);
            if worth(*p, n, round) { n } else { Vec3::ZERO }
        });
        normals.par_extend(new);
        halve_bent(mesh, field, *shortest_m, &normals);
    }
}

fn halve_bent<F: Fn(Vec3) -> f32 + Sync>(mesh: &mut HalfMesh, field: &F, shortest_m: f32, normals: &[Vec3]) {
    let bent = |a: u32, b: u32| {
        let (na, nb) = (normals[a as usize], normals[b as usize]);
        na != Vec3::ZERO
            && nb != Vec3::ZERO
            && na.distance_squared(nb) > BEND * BEND
            && mesh.positions[a as usize].distance_squared(mesh.positions[b as usize]) > shortest_m * shortest_m
    };
    let triangles = mesh.triangles.par_iter().enumerate().with_min_len(2048);
    let split_ones: Vec<usize> =
        triangles.filter(|(_, t)| edges_of(t).into_iter().any(|(a, b)| bent(a, b))).map(|(index, _)| index).collect();
    let mut middles: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut halved = Vec::new();
    for index in &split_ones {
        for (a, b) in edges_of(&mesh.triangles[*index]) {
            let key = (a.min(b), a.max(b));
            if bent(a, b) {
                middles.entry(key).or_insert_with(|| {
                    halved.push(key);
                    (mesh.positions.len() + halved.len() - 1) as u32
                });
            }
        }
    }
    let new: Vec<Vec3> = halved
        .par_iter()
        .with_min_len(128)
        .map(|(a, b)| {
            let (pa, pb) = (mesh.positions[*a as usize], mesh.positions[*b as usize]);
            project(field, 0.5 * (pa + pb), 0.5 * pa.distance(pb))
        })
        .collect();
    mesh.positions.extend(new);
    let middle = |a: u32, b: u32| middles.get(&(a.min(b), a.max(b))).copied();
    for index in split_ones {
        split_in_place(&mut mesh.triangles, index, &middle);
    }
}

pub fn edges_of(triangle: &[u32; 3]) -> [(u32, u32); 3] {
    [(triangle[0], triangle[1]), (triangle[1], triangle[2]), (triangle[2], triangle[0])]
}

/// Puts the first piece of [`split`] in a triangle's place, and appends the others.
pub fn split_in_place(triangles: &mut Vec<[u32; 3]>, index: usize, middle: &dyn Fn(u32, u32) -> Option<u32>) {
    let mut pieces = split(triangles[index], middle).into_iter();
    if let Some(first) = pieces.next() {
        triangles[index] = first;
        triangles.extend(pieces);
    }
}

/// Returns the triangles that replace one whose edges may have a vertex in their middle.
fn split([a, b, c]: [u32; 3], middle: &dyn Fn(u32, u32) -> Option<u32>) -> Vec<[u32; 3]> {
    match (middle(a, b), middle(b, c), middle(c, a)) {
        (None, None, None) => vec![[a, b, c]],
        (Some(ab), Some(bc), Some(ca)) => vec![[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]],
        (Some(m), None, None) => vec![[a, m, c], [m, b, c]],
        (None, Some(m), None) => vec![[b, m, a], [m, c, a]],
        (None, None, Some(m)) => vec![[c, m, b], [m, a, b]],
        (Some(ab), Some(bc), None) => vec![[ab, b, bc], [a, ab, bc], [a, bc, c]],
        (None, Some(bc), Some(ca)) => vec![[bc, c, ca], [b, bc, ca], [b, ca, a]],
        (Some(ab), None, Some(ca)) => vec![[ca, a, ab], [c, ca, ab], [c, ab, b]],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn a_half_sphere_is_closed_but_for_the_centre_plane_and_winds_outwards() {
        let field = |p: Vec3| (p - Vec3::new(1.0, 0.0, 1.0)).length() - 0.8;
        let mesh = mesh(&field, Vec3::new(0.1, 0.0, 0.1), Vec3::new(1.9, 0.9, 1.9), 0.03, true);
        assert!(mesh.triangles.len() > 5000);
        let mut edges: HashMap<(u32, u32), i32> = HashMap::new();
        for t in &mesh.triangles {
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                *edges.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
            }
            let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
            let out = (a + b + c) / 3.0 - Vec3::new(1.0, 0.0, 1.0);
            assert!((b - a).cross(c - a).dot(out) >= 0.0);
        }
        for ((a, b), balance) in edges {
            let on_plane = mesh.positions[a as usize].y == 0.0 && mesh.positions[b as usize].y == 0.0;
            assert!(balance == 0 || on_plane);
        }
        assert!(mesh.positions.iter().all(|p| field(*p).abs() < 1e-4 && p.y >= 0.0));
    }
}

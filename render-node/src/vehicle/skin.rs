//! The half skin of a body, as triangles that carry a part number and can be cut along the
//! zero line of any scalar. Cutting keeps the mesh closed, because an edge is split once
//! for both its triangles.

use glam::Vec3;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::surface_net::{HalfMesh, edges_of, split_in_place};

/// Index into the list of parts that the caller keeps.
pub type PartId = u16;

/// The skin. `info` holds, for every vertex, the data about the point that scalars need; it is
/// computed once per vertex.
pub struct Skin<I> {
    pub positions: Vec<Vec3>,
    pub info: Vec<I>,
    pub triangles: Vec<[u32; 3]>,
    pub part: Vec<PartId>,
}

/// A line on the skin: the zero line of a scalar, with the amount by which the scalar
/// changes over a metre of skin.
pub struct LineOnSkin<'a, I> {
    pub scalar: &'a (dyn Fn(Vec3, &I) -> f32 + Sync),
    pub steepness: &'a (dyn Fn(Vec3, &I) -> f32 + Sync),
}

/// The band between two lines along the skin.
#[derive(Debug, Clone, Copy)]
pub struct BrimmedBand {
    /// Distances of both lines from a third one.
    pub levels: [f32; 2],
    /// Width of the strip of triangles along both edges.
    pub brim: f32,
}

/// A scalar evaluated over the skin.
struct Values {
    /// The scalar at every vertex, divided by its steepness there if that is known.
    values: Vec<f32>,
    /// Triangles that may be cut.
    near: Vec<usize>,
    steepnesses: Option<Vec<f32>>,
}

/// The surface under a skin: projects a point near it onto it, and computes the data about a point.
pub trait Ground<I>: Sync {
    fn project(&self, p: Vec3) -> Vec3;
    fn info(&self, p: Vec3) -> I;
}

impl<I: Send + Sync + Copy> Skin<I> {
    pub fn new(mesh: HalfMesh, ground: &impl Ground<I>) -> Self {
        let info = mesh.positions.par_iter().with_min_len(256).map(|p| ground.info(*p)).collect();
        let part = vec![0; mesh.triangles.len()];
        Self { positions: mesh.positions, info, triangles: mesh.triangles, part }
    }

    pub fn values(&self, scalar: &(dyn Fn(Vec3, &I) -> f32 + Sync)) -> Vec<f32> {
        let places = self.positions.par_iter().zip(&self.info).with_min_len(512);
        places.map(|(p, info)| scalar(*p, info)).collect()
    }

    /// Splits every triangle that the line `scalar = level` passes through.
    pub fn cut(&mut self, scalar: &(dyn Fn(Vec3, &I) -> f32 + Sync), level: f32, ground: &impl Ground<I>) {
        self.cut_levels(scalar, &[level], ground);
    }

    /// Splits the triangles along the lines of several levels.
    pub fn cut_levels(&mut self, scalar: &(dyn Fn(Vec3, &I) -> f32 + Sync), levels: &[f32], ground: &impl Ground<I>) {
        let values = self.values(scalar);
        let near = self.below(&values, levels.iter().copied().fold(f32::MIN, f32::max));
        let mut whole = Values { values, near, steepnesses: None };
        for level in levels {
            self.cut_valued(&mut whole, scalar, *level, ground);
        }
    }

    /// Returns the triangles with a corner below the level. No others can be cut
    /// there, or lie below it.
    fn below(&self, values: &[f32], level: f32) -> Vec<usize> {
        let triangles = self.triangles.par_iter().enumerate().with_min_len(2048);
        triangles.filter(|(_, t)| t.iter().any(|i| values[*i as usize] <= level)).map(|(index, _)| index).collect()
    }

    /// Cuts along both level lines and gives the triangles between them to `part`, if `over`
    /// allows their current part.
    pub fn claim(
        &mut self,
        scalar: &(dyn Fn(Vec3, &I) -> f32 + Sync),
        [low, high]: [f32; 2],
        part: PartId,
        over: &dyn Fn(PartId) -> bool,
        ground: &impl Ground<I>,
    ) {
        let values = self.values(scalar);
        let near = self.below(&values, high);
        let mut whole = Values { values, near, steepnesses: None };
        for level in [low, high] {
            if level > f32::MIN {
                self.cut_valued(&mut whole, scalar, level, ground);
            }
        }
        self.assign_valued(&whole.values, whole.near, [low, high], part, over);
    }

    /// Like [`Self::claim`], along a line on the skin, with a strip of triangles along both
    /// edges that keeps its part.
    ///
    /// The levels are distances along the skin. The steepness is computed once for
    /// every vertex near the line.
    pub fn claim_with_brim(
        &mut self,
        LineOnSkin { scalar, steepness }: LineOnSkin<'_, I>,
        BrimmedBand { levels: [low, high], brim }: BrimmedBand,
        part: PartId,
        over: &dyn Fn(PartId) -> bool,
        ground: &impl Ground<I>,
    ) {
        /// The scalar may rise this much faster than the distance along the skin.
        const STEEPEST: f32 = 1.3;
        /// A vertex farther from the line than this is no corner of a triangle
        /// that the line crosses.
        const FAR_M: f32 = 0.04;
        let mut values = self.values(scalar);
        let mut near = self.below(&values, STEEPEST * (high + brim));
        if low > f32::MIN {
            let lowest = STEEPEST * (low - brim);
            near.retain(|index| self.triangles[*index].iter().any(|i| values[*i as usize] >= lowest));
        }
        let mut is_asked = vec![false; values.len()];
        let mut asked = Vec::new();
        for i in near.iter().flat_map(|index| self.triangles[*index]) {
            if values[i as usize].abs() < FAR_M && !std::mem::replace(&mut is_asked[i as usize], true) {
                asked.push(i as usize);
            }
        }
        let found: Vec<f32> =
            asked.par_iter().with_min_len(64).map(|i| steepness(self.positions[*i], &self.info[*i])).collect();
        let mut steepnesses = vec![1.0; values.len()];
        for (i, steepness) in asked.into_iter().zip(found) {
            steepnesses[i] = steepness.clamp(0.3, STEEPEST);
            values[i] /= steepnesses[i];
        }
        let mut whole = Values { values, near, steepnesses: Some(steepnesses) };
        for level in [low - brim, high + brim, low, high] {
            if level > f32::MIN {
                self.cut_valued(&mut whole, scalar, level, ground);
            }
        }
        self.assign_valued(&whole.values, whole.near, [low, high], part, over);
    }

    /// Cuts along one level. Adds the values of new vertices, and the new triangles, to `values`.
    fn cut_valued(
        &mut self,
        Values { values, near, steepnesses }: &mut Values,
        scalar: &(dyn Fn(Vec3, &I) -> f32 + Sync),
        level: f32,
        ground: &impl Ground<I>,
    ) {
        // A vertex exactly on the line counts as outside, so that no edge is split at its end.
        let held = |value: f32| if (value - level).abs() < 1e-6 { 1e-6 } else { value - level };
        let value = |i: u32| held(values[i as usize]);

        let mut crossed = Vec::new();
        let mut split_edges: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut edges = Vec::new();
        for &index in near.iter() {
            let triangle = &self.triangles[index];
            let inside = triangle.iter().filter(|i| value(**i) < 0.0).count();
            if inside == 0 || inside == 3 {
                continue;
            }
            crossed.push(index);
            for (a, b) in edges_of(triangle) {
                if (value(a) < 0.0) != (value(b) < 0.0) {
                    let key = (a.min(b), a.max(b));
                    split_edges.entry(key).or_insert_with(|| {
                        edges.push(key);
                        (self.positions.len() + edges.len() - 1) as u32
                    });
                }
            }
        }
        let given = steepnesses.as_deref();
        let new: Vec<(Vec3, I, f32)> = edges
            .par_iter()
            .with_min_len(64)
            .map(|&(a, b)| {
                let (pa, pb) = (self.positions[a as usize], self.positions[b as usize]);
                let steepness = given.map_or(1.0, |given| 0.5 * (given[a as usize] + given[b as usize]));
                let there = |p: Vec3| scalar(p, &ground.info(p)) / steepness - level;
                let p = crossing(pa, value(a), pb, value(b), &there, ground);
                (p, ground.info(p), steepness)
            })
            .collect();
        for (p, info, _) in &new {
            self.positions.push(*p);
            self.info.push(*info);
        }
        for index in crossed {
            let triangle = self.triangles[index];
            // The triangle is rotated so that the lone corner comes first.
            let lone_inside = triangle.iter().filter(|i| value(**i) < 0.0).count() == 1;
            let first = (0..3).find(|i| (value(triangle[*i]) < 0.0) == lone_inside).unwrap_or(0);
            let [a, b, c] = [triangle[first], triangle[(first + 1) % 3], triangle[(first + 2) % 3]];
            let on = |i: u32, j: u32| split_edges[&(i.min(j), i.max(j))];
            let (ab, ac) = (on(a, b), on(a, c));
            self.triangles[index] = [a, ab, ac];
            let part = self.part[index];
            let diagonal = |i: u32, j: u32| self.positions[i as usize].distance_squared(self.positions[j as usize]);
            if diagonal(ab, c) < diagonal(b, ac) {
                self.triangles.extend([[ab, b, c], [ab, c, ac]]);
            } else {
                self.triangles.extend([[ab, b, ac], [b, c, ac]]);
            }
            self.part.extend([part, part]);
            near.extend([self.triangles.len() - 2, self.triangles.len() - 1]);
        }
        values.extend(new.iter().map(|(p, info, steepness)| scalar(*p, info) / steepness));
        if let Some(steepnesses) = steepnesses {
            steepnesses.extend(new.iter().map(|(_, _, steepness)| steepness));
        }
    }

    /// Halves every edge longer than `longest_m` that has an end where the scalar is below `level`.
    /// It is for shapes narrower than a triangle, whose line would pass unnoticed between vertices.
    /// Only edges of parts that `over` allows are halved.
    pub fn halve(
        &mut self,
        scalar: &(dyn Fn(Vec3, &I) -> f32 + Sync),
        level: f32,
        longest_m: f32,
        over: &dyn Fn(PartId) -> bool,
        ground: &impl Ground<I>,
    ) {
        let values = self.values(scalar);
        let near = self.below(&values, level);
        let is_near = |i: u32| values[i as usize] < level;
        let mut middles: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut edges = Vec::new();
        let halved = near.iter().filter(|index| over(self.part[**index]));
        for (a, b) in halved.flat_map(|index| edges_of(&self.triangles[*index])) {
            let key = (a.min(b), a.max(b));
            let (pa, pb) = (self.positions[a as usize], self.positions[b as usize]);
            if (is_near(a) || is_near(b)) && pa.distance(pb) > longest_m {
                middles.entry(key).or_insert_with(|| {
                    edges.push((pa, pb));
                    (self.positions.len() + edges.len() - 1) as u32
                });
            }
        }
        let new = edges.par_iter().with_min_len(64).map(|(pa, pb)| {
            let p = ground.project(0.5 * (*pa + *pb));
            let p = if pa.y == 0.0 && pb.y == 0.0 { Vec3::new(p.x, 0.0, p.z) } else { p };
            (p, ground.info(p))
        });
        let (positions, info): (Vec<Vec3>, Vec<I>) = new.unzip();
        self.positions.extend(positions);
        self.info.extend(info);
        let middle = |a: u32, b: u32| middles.get(&(a.min(b), a.max(b))).copied();
        for index in near {
            split_in_place(&mut self.triangles, index, &middle);
            self.part.resize(self.triangles.len(), self.part[index]);
        }
    }

    /// Gives `part` to the triangles in which the scalar's mean is within `low..high` and whose
    /// current part `over` allows.
    pub fn assign(
        &mut self,
        scalar: &(dyn Fn(Vec3, &I) -> f32 + Sync),
        [low, high]: [f32; 2],
        part: PartId,
        over: &dyn Fn(PartId) -> bool,
    ) {
        let values = self.values(scalar);
        let near = self.below(&values, high);
        self.assign_valued(&values, near, [low, high], part, over);
    }

    fn assign_valued(
        &mut self,
        values: &[f32],
        near: Vec<usize>,
        [low, high]: [f32; 2],
        part: PartId,
        over: &dyn Fn(PartId) -> bool,
    ) {
        for index in near {
            let mean = self.triangles[index].iter().map(|i| values[*i as usize]).sum::<f32>() / 3.0;
            if mean > low && mean < high && over(self.part[index]) {
                self.part[index] = part;
            }
        }
    }
}

/// Returns the edges that exactly one of the triangles uses, in that triangle's direction.
pub fn border<'a>(triangles: impl Iterator<Item = &'a [u32; 3]> + Clone) -> Vec<(u32, u32)> {
    let mut uses: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for (a, b) in triangles.clone().flat_map(edges_of) {
        *uses.entry((a.min(b), a.max(b))).or_default() += 1;
    }
    triangles.flat_map(edges_of).filter(|(a, b)| uses[&(*a.min(b), *a.max(b))] == 1).collect()
}

/// Returns the point of the skin between `a` and `b` where the scalar is zero.
fn crossing<I>(
    a: Vec3,
    value_a: f32,
    b: Vec3,
    value_b: f32,
    scalar: &dyn Fn(Vec3) -> f32,
    ground: &impl Ground<I>,
) -> Vec3 {
    let pinned = a.y == 0.0 && b.y == 0.0;
    let place = |ratio: f32| {
        let p = a.lerp(b, ratio);
        let on = ground.project(p);
        if pinned { Vec3::new(on.x, 0.0, on.z) } else { on }
    };
    let ratio = value_a / (value_a - value_b);
    let p = place(ratio);
    let value = scalar(p);
    if value.abs() < 1e-4 {
        return p;
    }
    // One more false-position step, for scalars that bend within an edge.
    let better = if (value < 0.0) == (value_a < 0.0) {
        ratio + (1.0 - ratio) * value / (value - value_b)
    } else {
        ratio * value_a / (value_a - value)
    };
    if better.is_finite() { place(better.clamp(0.02, 0.98)) } else { p }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Flat;
    impl Ground<()> for Flat {
        fn project(&self, p: Vec3) -> Vec3 {
            p
        }
        fn info(&self, _: Vec3) {}
    }

    fn plate(cells: u32) -> Skin<()> {
        let side = cells + 1;
        let positions = (0..side * side).map(|i| Vec3::new((i % side) as f32, (i / side) as f32 + 1.0, 0.0)).collect();
        let triangles = (0..cells * cells)
            .flat_map(|i| {
                let corner = i / cells * side + i % cells;
                [[corner, corner + 1, corner + side + 1], [corner, corner + side + 1, corner + side]]
            })
            .collect();
        Skin::new(HalfMesh { positions, triangles }, &Flat)
    }

    #[test]
    fn a_strip_has_a_brim_on_both_sides() {
        let mut skin = plate(10);
        let line = |p: Vec3, _: &()| p.x - 5.03;
        skin.claim_with_brim(
            LineOnSkin { scalar: &line, steepness: &|_: Vec3, _: &()| 1.0 },
            BrimmedBand { levels: [-0.1, 0.1], brim: 0.2 },
            3,
            &|_| true,
            &Flat,
        );
        assert!(skin.part.contains(&3));
        for (triangle, part) in skin.triangles.iter().zip(&skin.part) {
            let beside = triangle.map(|i| (skin.positions[i as usize].x - 5.03).abs());
            let (nearest, farthest) = beside.iter().fold((f32::MAX, 0.0_f32), |(n, f), d| (n.min(*d), f.max(*d)));
            assert!(*part != 3 || farthest < 0.11, "{beside:?}");
            // No triangle reaches from the strip past its brim.
            assert!(nearest > 0.11 || farthest < 0.31, "{beside:?}");
        }
    }

    #[test]
    fn a_cut_follows_its_line_and_leaves_no_new_border() {
        let mut skin = plate(10);
        let before = border(skin.triangles.iter()).len();
        let circle = |p: Vec3, _: &()| (p - Vec3::new(5.0, 6.0, 0.0)).length() - 3.3;
        skin.cut(&circle, 0.0, &Flat);
        skin.assign(&circle, [f32::MIN, 0.0], 7, &|part| part == 0);
        assert_eq!(border(skin.triangles.iter()).len(), before);
        let area: f32 = skin
            .triangles
            .iter()
            .zip(&skin.part)
            .filter(|(_, part)| **part == 7)
            .map(|(t, _)| {
                let [a, b, c] = t.map(|i| skin.positions[i as usize]);
                (b - a).cross(c - a).length() * 0.5
            })
            .sum();
        assert!((area - std::f32::consts::PI * 3.3 * 3.3).abs() < 0.6, "{area}");
        let inside = skin.triangles.iter().zip(&skin.part).filter(|(_, part)| **part == 7).map(|(t, _)| t);
        for (a, _) in border(inside) {
            assert!(circle(skin.positions[a as usize], &()).abs() < 0.02);
        }
    }
}

//! The shapes that parts are made of: point grids, revolved profiles,
//! lofts, swept tubes, rounded boxes.
//!
//! A [`Solid`] is welded triangles without normals. [`Solid::surface`] gives it normals, smooth
//! except across edges sharper than a chosen angle, so that no shape has to say where its creases
//! are. The caller chooses the material.

use glam::{Vec2, Vec3};
use std::collections::HashMap;
use std::f32::consts::TAU;

use crate::vehicle::mesh::Surface;

/// Edges that bend by more than this stay sharp in most parts: rounder than a chamfer,
/// flatter than a cylinder of 12 sides.
pub const CREASE_DEGREES: f32 = 38.0;

/// Triangles below this area (m²) are too small to take a normal from: poles of
/// revolved shapes, closed ends.
const SMALLEST_AREA_M2: f32 = 1e-11;

/// Triangles over shared points, without normals.
#[derive(Debug, Clone, Default)]
pub struct Solid {
    pub points: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Solid {
    /// Returns `rows` x `columns` points joined to quads. `closed` joins the last column to the
    /// first. Faces point along (row direction) x (column direction).
    pub fn grid(rows: usize, columns: usize, closed: bool, point: impl Fn(usize, usize) -> Vec3) -> Solid {
        let mut solid = Solid::default();
        for row in 0..rows {
            solid.points.extend((0..columns).map(|column| point(row, column)));
        }
        let joined = if closed { columns } else { columns - 1 };
        let at = |row: usize, column: usize| (row * columns + column % columns) as u32;
        for row in 0..rows - 1 {
            for column in 0..joined {
                let [a, b] = [at(row, column), at(row + 1, column)];
                let [c, d] = [at(row + 1, column + 1), at(row, column + 1)];
                solid.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        solid
    }

    /// Returns a profile turned about the y axis. Profile points are (distance along
    /// y, radius). With y to the right and the radius upwards, the outside is to the
    /// left of the profile's direction.
    pub fn revolved(profile: &[Vec2], segments: usize) -> Solid {
        Solid::grid(profile.len(), segments, true, |row, column| {
            let (sin, cos) = (TAU * column as f32 / segments as f32).sin_cos();
            let p = profile[row];
            Vec3::new(p.y * cos, p.x, p.y * sin)
        })
    }

    /// Returns closed loops of equal length, joined to a skin and closed at both ends. Faces point
    /// outward in whichever direction the loops run.
    pub fn lofted(loops: &[Vec<Vec3>]) -> Solid {
        let (Some(first), Some(last)) = (loops.first(), loops.last()) else { return Solid::default() };
        let columns = first.len();
        let mut solid = Solid::grid(loops.len(), columns, true, |row, column| loops[row][column]);
        solid.close(first, true);
        solid.close(last, false);
        solid.facing_out()
    }

    /// Lofts loops that go along one side of a thin plate and back along the other, such as
    /// those of a mudguard. The ends are joined from side to side, where a fan about the middle
    /// of so hollow a loop would fold.
    pub fn lofted_plate(loops: &[Vec<Vec3>]) -> Solid {
        let Some(columns) = loops.first().map(Vec::len) else { return Solid::default() };
        let mut solid = Solid::grid(loops.len(), columns, true, |row, column| loops[row][column]);
        for (row, with_ring) in [(0, true), (loops.len() - 1, false)] {
            let base = solid.points.len() as u32;
            solid.points.extend_from_slice(&loops[row]);
            for i in 0..columns as u32 / 2 - 1 {
                let [a, b] = [base + i, base + i + 1];
                let [c, d] = [base + columns as u32 - 2 - i, base + columns as u32 - 1 - i];
                let faces = if with_ring { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] };
                solid.triangles.extend(faces);
            }
        }
        solid.facing_out()
    }

    /// Adds a fan over a loop about its centroid, which winds like the loop or against it.
    fn close(&mut self, ring: &[Vec3], with_ring: bool) {
        let base = self.points.len() as u32;
        let count = ring.len() as u32;
        self.points.extend_from_slice(ring);
        self.points.push(ring.iter().sum::<Vec3>() / ring.len() as f32);
        for i in 0..count {
            let [a, b] = [base + i, base + (i + 1) % count];
            self.triangles.push(if with_ring { [base + count, a, b] } else { [base + count, b, a] });
        }
    }

    /// Returns a round bar along a path, closed at both ends. `radius` is called with
    /// the index of each path point.
    pub fn tube(path: &[Vec3], sides: usize, radius: impl Fn(usize) -> f32) -> Solid {
        Solid::swept(path, Vec3::Z, |i| {
            let r = radius(i);
            (0..sides)
                .map(|side| {
                    let (sin, cos) = (TAU * side as f32 / sides as f32).sin_cos();
                    Vec2::new(r * cos, r * sin)
                })
                .collect()
        })
    }

    /// Returns a section (in its own right/up plane) carried along a path and closed
    /// at both ends. `up` is the section's up direction as far as the path allows; a
    /// path along `up` takes x instead.
    pub fn swept(path: &[Vec3], up: Vec3, section: impl Fn(usize) -> Vec<Vec2>) -> Solid {
        if path.len() < 2 {
            return Solid::default();
        }
        let loops: Vec<Vec<Vec3>> = (0..path.len())
            .map(|i| {
                let along = (path[(i + 1).min(path.len() - 1)] - path[i.saturating_sub(1)]).normalize_or(Vec3::X);
                let up = if along.cross(up).length() < 0.05 { Vec3::X } else { up };
                let right = along.cross(up).normalize_or(Vec3::Y);
                let up = right.cross(along);
                section(i).into_iter().map(|p| path[i] + right * p.x + up * p.y).collect()
            })
            .collect();
        Solid::lofted(&loops)
    }

    /// Returns the surface |x/a|^p + |y/b|^p + |z/c|^p = 1 about the origin: a ball for p = 2, a
    /// box with soft edges for p = 4 to 8.
    pub fn superellipsoid(half: Vec3, power: f32, rows: usize, columns: usize) -> Solid {
        let solid = Solid::grid(rows + 1, columns, true, |row, column| {
            let (polar_sin, polar_cos) = (std::f32::consts::PI * row as f32 / rows as f32).sin_cos();
            let (sin, cos) = (TAU * column as f32 / columns as f32).sin_cos();
            let direction = Vec3::new(polar_sin * cos, polar_sin * sin, polar_cos);
            let along = direction * half.max_element();
            let reach = (along / half).abs().powf(power).element_sum().powf(-1.0 / power);
            along * reach
        });
        solid.facing_out()
    }

    /// Returns a box about the origin with edges rounded by `radius`.
    pub fn rounded_box(half: Vec3, radius: f32) -> Solid {
        let radius = radius.min(half.min_element() * 0.98);
        let core = half - Vec3::splat(radius);
        let angles = [0.0_f32, 0.5, 1.0].map(|step| step * TAU / 4.0);
        // Rows go from the bottom to the top, columns once round: four
        // corners of three points each.
        let mut loops = Vec::new();
        for (corner, angle) in [-1.0_f32, 1.0].into_iter().flat_map(|s| angles.map(|a| (s, a))) {
            let (rise, spread) = if corner < 0.0 { (-angle.cos(), angle.sin()) } else { (angle.sin(), angle.cos()) };
            let ring = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)].iter().enumerate().flat_map(
                |(quarter, (x, y))| {
                    angles.map(|turn| {
                        let (sin, cos) = (turn + quarter as f32 * TAU / 4.0).sin_cos();
                        let out = Vec3::new(cos * spread, sin * spread, rise) * radius;
                        Vec3::new(x * core.x, y * core.y, corner * core.z) + out
                    })
                },
            );
            loops.push(ring.collect());
        }
        Solid::lofted(&loops)
    }

    /// Returns a straight round pin from `from` to `to`.
    pub fn pin(from: Vec3, to: Vec3, radius: f32, sides: usize) -> Solid {
        Solid::tube(&[from, to], sides, |_| radius)
    }

    pub fn append(&mut self, other: Solid) {
        let base = self.points.len() as u32;
        self.points.extend(other.points);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|i| i + base)));
    }

    pub fn moved(self, to: Vec3) -> Solid {
        self.bent(|p| p + to)
    }

    /// Returns the same triangles with every point mapped by `bend`. A bend that mirrors must
    /// be followed by `facing_out`.
    pub fn bent(mut self, bend: impl Fn(Vec3) -> Vec3) -> Solid {
        for point in &mut self.points {
            *point = bend(*point);
        }
        self
    }

    /// Returns six times the enclosed volume. It is positive when the faces of
    /// a closed shape point outward.
    pub fn signed_volume_x6(&self) -> f32 {
        let centre = self.points.iter().sum::<Vec3>() / self.points.len().max(1) as f32;
        self.triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| self.points[i as usize] - centre);
                a.dot(b.cross(c))
            })
            .sum()
    }

    /// Turns a closed shape's faces outward.
    pub fn facing_out(mut self) -> Solid {
        if self.signed_volume_x6() < 0.0 {
            self = self.flipped();
        }
        self
    }

    /// Returns true if the faces of an open sheet point upwards, taken together.
    pub fn looks_up(&self) -> bool {
        let up = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| self.points[i as usize]);
            (b - a).cross(c - a).z
        };
        self.triangles.iter().map(up).sum::<f32>() > 0.0
    }

    /// Turns the faces of an open sheet upwards.
    pub fn facing_up(self) -> Solid {
        if self.looks_up() { self } else { self.flipped() }
    }

    pub fn flipped(mut self) -> Solid {
        for triangle in &mut self.triangles {
            triangle.swap(1, 2);
        }
        self
    }

    /// Returns the surface with a normal for each corner of a face: the average over the faces that
    /// meet at that point and bend from this face by less than `crease_degrees`.
    pub fn surface(&self, crease_degrees: f32) -> Surface {
        let welded = self.welded_ids();
        let faces: Vec<([u32; 3], Vec3)> = self
            .triangles
            .iter()
            .filter_map(|t| {
                let [a, b, c] = t.map(|i| self.points[welded[i as usize] as usize]);
                let twice_area = (b - a).cross(c - a);
                (twice_area.length() > 2.0 * SMALLEST_AREA_M2).then_some((*t, twice_area))
            })
            .collect();
        let mut faces_at: Vec<Vec<u32>> = vec![Vec::new(); self.points.len()];
        for (number, (triangle, _)) in faces.iter().enumerate() {
            for i in triangle {
                faces_at[welded[*i as usize] as usize].push(number as u32);
            }
        }
        let still_smooth = crease_degrees.to_radians().cos();
        let mut surface = Surface::default();
        // Corners of one point with the same normal become one vertex.
        let mut vertices: HashMap<(u32, [i32; 3]), u32> = HashMap::new();
        for (triangle, twice_area) in &faces {
            let face_normal = twice_area.normalize();
            for i in triangle {
                let point = welded[*i as usize];
                let normal = faces_at[point as usize]
                    .iter()
                    .map(|other| faces[*other as usize].1)
                    .filter(|other| other.normalize().dot(face_normal) >= still_smooth)
                    .sum::<Vec3>()
                    .normalize_or(face_normal);
                let key = (point, (normal * 2000.0).round().as_ivec3().to_array());
                let index = *vertices.entry(key).or_insert_with(|| {
                    surface.positions.push(self.points[point as usize].to_array());
                    surface.normals.push(normal.to_array());
                    surface.positions.len() as u32 - 1
                });
                surface.indices.push(index);
            }
        }
        surface
    }

    /// Returns, for every point, the first point at the same place, to a hundredth of a millimetre.
    fn welded_ids(&self) -> Vec<u32> {
        let mut first: HashMap<[i32; 3], u32> = HashMap::new();
        self.points
            .iter()
            .enumerate()
            .map(|(i, p)| *first.entry((*p * 1e5).round().as_ivec3().to_array()).or_insert(i as u32))
            .collect()
    }
}

/// Returns a smooth curve through `points` with `steps` pieces between neighbours. It is a uniform
/// Catmull-Rom curve, which is close enough to a centripetal one for parts.
pub fn curve_through(points: &[Vec3], steps: usize) -> Vec<Vec3> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let at = |i: isize| points[i.clamp(0, points.len() as isize - 1) as usize];
    let mut curve = Vec::with_capacity((points.len() - 1) * steps + 1);
    for i in 0..points.len() as isize - 1 {
        let [before, from, to, after] = [at(i - 1), at(i), at(i + 1), at(i + 2)];
        for step in 0..steps {
            let t = step as f32 / steps as f32;
            let [t2, t3] = [t * t, t * t * t];
            curve.push(
                0.5 * (2.0 * from
                    + (to - before) * t
                    + (2.0 * before - 5.0 * from + 4.0 * to - after) * t2
                    + (3.0 * from - before - 3.0 * to + after) * t3),
            );
        }
    }
    curve.extend(points.last());
    curve
}

/// Returns a rectangle with rounded corners as a loop of 12 points, for swept sections.
pub fn rounded_rectangle(half_width: f32, half_height: f32, radius: f32) -> Vec<Vec2> {
    let r = radius.min(half_width).min(half_height);
    let corners = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
    corners
        .iter()
        .enumerate()
        .flat_map(|(quarter, (x, y))| {
            [0.0_f32, 0.5, 1.0].map(|step| {
                let (sin, cos) = ((quarter as f32 + step) * TAU / 4.0).sin_cos();
                Vec2::new(x * (half_width - r) + r * cos, y * (half_height - r) + r * sin)
            })
        })
        .collect()
}

/// Returns a flat disc that faces +y at `offset` along y, as a profile for [`Solid::revolved`].
pub fn disc_profile(offset: f32, radius: f32) -> [Vec2; 2] {
    [Vec2::new(offset, radius), Vec2::new(offset, 0.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_shapes_enclose_positive_volume() {
        let path = curve_through(&[Vec3::ZERO, Vec3::new(0.3, 0.1, 0.0), Vec3::new(0.5, 0.4, 0.2)], 6);
        let shapes = [
            ("box", Solid::rounded_box(Vec3::new(0.2, 0.1, 0.3), 0.02), 6.0 * 0.4 * 0.2 * 0.6),
            (
                "ball",
                Solid::superellipsoid(Vec3::splat(0.1), 2.0, 32, 64),
                6.0 * 4.0 / 3.0 * std::f32::consts::PI * 0.001,
            ),
            ("pin", Solid::pin(Vec3::ZERO, Vec3::Z, 0.05, 32), 6.0 * std::f32::consts::PI * 0.0025),
            ("tube", Solid::tube(&path, 12, |_| 0.02), 6.0 * 3.0 * 0.0004 * 0.75),
        ];
        for (name, solid, volume_x6) in shapes {
            let got = solid.signed_volume_x6();
            assert!((got / volume_x6 - 1.0).abs() < 0.12, "{name}: {got} instead of {volume_x6}");
        }
    }

    #[test]
    fn a_revolved_line_along_y_looks_away_from_the_axis() {
        let surface = Solid::revolved(&[Vec2::new(-0.1, 0.3), Vec2::new(0.1, 0.3)], 24).surface(CREASE_DEGREES);
        for (p, n) in surface.positions.iter().zip(&surface.normals) {
            assert!((p[0] * n[0] + p[2] * n[2]) / 0.3 > 0.999, "{p:?} {n:?}");
        }
    }

    #[test]
    fn a_box_keeps_its_edges_and_a_ball_has_none() {
        let cube = Solid::rounded_box(Vec3::splat(0.1), 0.001).surface(10.0);
        assert!(cube.normals.iter().any(|n| n[2] > 0.9999));
        let ball = Solid::superellipsoid(Vec3::splat(0.1), 2.0, 16, 24).surface(CREASE_DEGREES);
        for (p, n) in ball.positions.iter().zip(&ball.normals) {
            assert!(Vec3::from(*p).normalize().dot(Vec3::from(*n)) > 0.99);
        }
    }
}

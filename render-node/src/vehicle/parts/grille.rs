//! Fills the opening of a grille or an intake with slats, uprights,
//! meshes or studs between its walls.
//!
//! The pattern is laid out in the front (or rear) view and placed at a depth behind the skin that
//! the opening was cut from. Vehicle space, one half.

use glam::{Vec2, Vec3};
use serde::Deserialize;

use crate::vehicle::mesh::{Material, Surface, VehicleMesh};

/// Pattern that fills an opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Nothing but the dark duct.
    Empty,
    /// Level blades.
    Slats,
    /// Standing blades: kidneys, waterfalls.
    Upright,
    /// Two or three level blades: side intakes, air curtains, narrow slots.
    Blades,
    /// Square mesh.
    Mesh,
    /// Square mesh turned by 45 degrees.
    Diamond,
    Honeycomb,
    /// Small bright diamonds on a dark mesh.
    Studs,
    /// A panel close behind the skin with shallow level ribs: electric
    /// cars, dark bands between lamps.
    Closed,
}

/// A pattern with its sizes in metres. A size that is absent is the pattern's own.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    pub pattern: Pattern,
    #[serde(default = "dark")]
    pub material: Material,
    /// Distance from one bar to the next.
    #[serde(default)]
    pub pitch: Option<f32>,
    /// Width of a bar as seen from outside.
    #[serde(default)]
    pub width: Option<f32>,
}

fn dark() -> Material {
    Material::Grille
}

impl Fill {
    pub const fn dark(pattern: Pattern) -> Fill {
        Fill { pattern, material: Material::Grille, pitch: None, width: None }
    }

    /// Returns pitch, width and depth from front to back, in metres.
    fn sizes(&self) -> (f32, f32, f32) {
        let (pitch, width, deep) = match self.pattern {
            Pattern::Empty => (1.0, 0.0, 0.0),
            Pattern::Slats => (0.034, 0.010, 0.024),
            Pattern::Upright => (0.027, 0.008, 0.028),
            Pattern::Blades => (0.045, 0.012, 0.030),
            Pattern::Mesh => (0.030, 0.0055, 0.012),
            Pattern::Diamond => (0.042, 0.0055, 0.012),
            Pattern::Honeycomb => (0.036, 0.0060, 0.014),
            Pattern::Studs => (0.046, 0.0045, 0.010),
            Pattern::Closed => (0.026, 0.009, 0.005),
        };
        let own = |value: Option<f32>, usual: f32, least: f32| value.unwrap_or(usual).max(least);
        (own(self.pitch, pitch, 0.012), own(self.width, width, 0.002), deep)
    }
}

/// Distance of the bars' fronts behind the skin.
const RECESS_M: f32 = 0.011;
/// Distance of a closed panel's relief behind the skin.
const CLOSED_RECESS_M: f32 = 0.005;
/// Length by which bars run on behind the skin, so that they end in the wall of the opening.
const INTO_WALL_M: f32 = 0.009;
/// Steepest slope that is assumed for a skin over an opening, as x over y or z.
const STEEPEST: f32 = 4.0;
/// Least distance of bars behind the skin, measured perpendicular to
/// it, as a ratio of their recess.
const BEHIND_RATIO: f32 = 0.85;
/// Largest factor by which a recess is deepened to keep [`BEHIND_SHARE`].
const MOST_DEEPENED: f32 = 2.5;
/// Step in which bars follow the skin.
const STEP_M: f32 = 0.03;
/// Side of the cells in which the skin's position is known.
const CELL_M: f32 = 0.012;
/// Smallest width or height of an opening that is filled.
const SMALLEST_M: f32 = 0.012;
/// Least distance between a stud and the outline.
const STUD_ROOM_M: f32 = 0.012;

/// The skin over an opening as a height field, x over (y, z), made of
/// the triangles that were cut out.
struct Patch {
    low: Vec2,
    columns: usize,
    rows: usize,
    x: Vec<f32>,
}

impl Patch {
    fn new(triangles: &[[Vec3; 3]], low: Vec2, high: Vec2) -> Option<Patch> {
        let low = low - Vec2::splat(3.0 * CELL_M);
        let size = (high - low) / CELL_M;
        let (columns, rows) = (size.x.ceil() as usize + 4, size.y.ceil() as usize + 4);
        if columns * rows > 200_000 {
            return None;
        }
        let mut known: Vec<Option<f32>> = vec![None; columns * rows];
        for corners in triangles {
            let [a, b, c] = corners.map(|p| (Vec2::new(p.y, p.z) - low) / CELL_M);
            let area = (b - a).perp_dot(c - a);
            if area.abs() < 1e-6 {
                continue;
            }
            let (least, most) = (a.min(b).min(c).ceil(), a.max(b).max(c).floor());
            for row in least.y.max(0.0) as usize..=(most.y.max(0.0) as usize).min(rows - 1) {
                for column in least.x.max(0.0) as usize..=(most.x.max(0.0) as usize).min(columns - 1) {
                    let p = Vec2::new(column as f32, row as f32);
                    let ratios = [(b - p).perp_dot(c - p), (c - p).perp_dot(a - p), (a - p).perp_dot(b - p)];
                    let ratios = ratios.map(|ratio| ratio / area);
                    if ratios.iter().all(|ratio| *ratio >= -1e-3) {
                        let x = corners.iter().zip(ratios).map(|(p, ratio)| p.x * ratio).sum();
                        known[row * columns + column] = Some(x);
                    }
                }
            }
        }
        if known.iter().all(Option::is_none) {
            let corners = triangles.iter().flatten();
            let middle = corners.map(|p| p.x).sum::<f32>() / (3 * triangles.len().max(1)) as f32;
            known = vec![Some(middle); columns * rows];
        }
        Some(Patch { low, columns, rows, x: continued(known, columns, rows) })
    }

    fn at(&self, p: Vec2) -> f32 {
        let q = ((p - self.low) / CELL_M).clamp(Vec2::ZERO, Vec2::new(self.columns as f32, self.rows as f32) - 1.001);
        let (column, row) = (q.x as usize, q.y as usize);
        let part = q - Vec2::new(column as f32, row as f32);
        let value = |row: usize, column: usize| self.x[row * self.columns + column];
        let across = |row: usize| value(row, column) + (value(row, column + 1) - value(row, column)) * part.x;
        across(row) + (across(row + 1) - across(row)) * part.y
    }
}

/// Extends the known cells into the unknown ones in a straight line, ring by ring.
fn continued(mut known: Vec<Option<f32>>, columns: usize, rows: usize) -> Vec<f32> {
    let find = |known: &[Option<f32>], column: i32, row: i32| -> Option<f32> {
        let inside = column >= 0 && row >= 0 && (column as usize) < columns && (row as usize) < rows;
        inside.then(|| known[row as usize * columns + column as usize]).flatten()
    };
    for _ in 0..columns.max(rows) {
        let mut found = Vec::new();
        for index in 0..known.len() {
            if known[index].is_some() {
                continue;
            }
            let (column, row) = ((index % columns) as i32, (index / columns) as i32);
            let guesses = [(1, 0), (-1, 0), (0, 1), (0, -1)].into_iter().filter_map(|(right, up)| {
                let near = find(&known, column + right, row + up)?;
                let far = find(&known, column + 2 * right, row + 2 * up).unwrap_or(near);
                Some(near + (near - far).clamp(-2.0 * CELL_M, 2.0 * CELL_M))
            });
            let (sum, count) = guesses.fold((0.0, 0), |(sum, count), guess| (sum + guess, count + 1));
            if count > 0 {
                found.push((index, sum / count as f32));
            }
        }
        if found.is_empty() {
            break;
        }
        found.into_iter().for_each(|(index, x)| known[index] = Some(x));
    }
    known.into_iter().map(|x| x.unwrap_or(0.0)).collect()
}

/// An opening in the skin.
pub struct GrilleOpening {
    /// Pieces of its outline in the view, (y, z), in any order. They form closed loops, including
    /// the pieces in the centre plane.
    edges: Vec<[Vec2; 2]>,
    low: Vec2,
    high: Vec2,
    patch: Patch,
    /// Direction that the whole opening faces. Most of the set-back of its contents is along
    /// this direction, like its walls.
    outward: Vec3,
}

impl GrilleOpening {
    /// `triangles` are the skin that was cut out, `edges` its border. Returns `None` if
    /// there is no room for a pattern.
    pub fn new(triangles: &[[Vec3; 3]], edges: &[[Vec3; 2]], outward: Vec3) -> Option<GrilleOpening> {
        let edges: Vec<[Vec2; 2]> = edges.iter().map(|edge| edge.map(|p| Vec2::new(p.y, p.z))).collect();
        let (low, high) = edges
            .iter()
            .flatten()
            .fold((Vec2::INFINITY, Vec2::NEG_INFINITY), |(low, high), p| (low.min(*p), high.max(*p)));
        // An opening that is seen edge-on has no view to draw in.
        if edges.len() < 3 || (high - low).min_element() < SMALLEST_M || outward.x.abs() < 0.3 {
            return None;
        }
        let patch = Patch::new(triangles, low, high)?;
        Some(GrilleOpening { edges, low, high, patch, outward })
    }

    /// Returns the point `depth` metres behind the skin, and the outward direction there.
    fn place(&self, p: Vec2, depth: f32) -> (Vec3, Vec3) {
        let step = CELL_M;
        let slope = |way: Vec2| {
            ((self.patch.at(p + way * step) - self.patch.at(p - way * step)) / (2.0 * step)).clamp(-STEEPEST, STEEPEST)
        };
        let normal = Vec3::new(-1.0, slope(Vec2::X), slope(Vec2::Y)).normalize() * -self.outward.x.signum();
        let mut way = normal.lerp(self.outward, 0.75);
        if p.x < 1e-4 {
            way.y = 0.0;
        }
        let way = way.normalize_or(self.outward);
        // Where the skin turns to the flank, a point straight back is hardly behind it.
        let depth = depth * (BEHIND_RATIO / normal.dot(way).max(0.1)).clamp(1.0, MOST_DEEPENED);
        (Vec3::new(self.patch.at(p), p.x, p.y) - way * depth, way)
    }

    /// Returns the stretches of the line from `from` to `to` that are inside the
    /// outline, extended into the walls.
    fn inside(&self, from: Vec2, to: Vec2) -> Vec<[Vec2; 2]> {
        let length = from.distance(to);
        let way = (to - from) / length.max(1e-6);
        let side = |p: Vec2| way.perp_dot(p - from);
        let mut crossings: Vec<f32> = Vec::new();
        for [a, b] in &self.edges {
            let (at_a, at_b) = (side(*a), side(*b));
            if (at_a < 0.0) != (at_b < 0.0) {
                crossings.push((a.lerp(*b, at_a / (at_a - at_b)) - from).dot(way));
            }
        }
        crossings.sort_by(f32::total_cmp);
        let mut stretches = Vec::new();
        for pair in crossings.chunks_exact(2) {
            let (mut start, mut end) = (pair[0], pair[1]);
            if end - start < 0.002 {
                continue;
            }
            // No extension where the skin turns away so fast that bars would come
            // out of it beyond the outline.
            let into = |at: f32, on: f32| {
                let (here, there) = (from + way * at, from + way * (at + on));
                let steep = (self.patch.at(there) - self.patch.at(here)).abs() / on.abs();
                INTO_WALL_M * (1.5 - steep).clamp(0.0, 1.0)
            };
            (start, end) = (start - into(start, CELL_M), end + into(end, -CELL_M));
            (start, end) = (start.max(0.0), end.min(length));
            if end - start < 0.002 {
                continue;
            }
            let ends = [start, end].map(|along| from + way * along);
            // The other half is the mirror image.
            stretches.extend(clipped_to_half(ends));
        }
        stretches
    }

    fn contains(&self, p: Vec2) -> bool {
        let right =
            |[a, b]: &&[Vec2; 2]| (a.y < p.y) != (b.y < p.y) && p.x < a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y);
        self.edges.iter().filter(right).count() % 2 == 1
    }

    fn has_room(&self, p: Vec2, room: f32) -> bool {
        let apart = |[a, b]: &[Vec2; 2]| {
            let way = *b - *a;
            let ratio = ((p - *a).dot(way) / way.length_squared().max(1e-12)).clamp(0.0, 1.0);
            // An edge in the centre plane is no wall.
            (a.x < 1e-5 && b.x < 1e-5) || p.distance(*a + way * ratio) > room
        };
        self.contains(p) && self.edges.iter().all(apart)
    }

    /// Adds a bar with a section along a straight line of the view, on every stretch that runs
    /// through the opening. Section points are (across, outward) with their normals. Across
    /// points upwards for a level bar.
    fn add_bar(&self, surface: &mut Surface, [from, to]: [Vec2; 2], recess: f32, section: &[(Vec2, Vec2)]) {
        for [start, end] in self.inside(from, to) {
            let steps = (start.distance(end) / STEP_M).ceil().max(1.0) as usize;
            let points: Vec<(Vec3, Vec3)> =
                (0..=steps).map(|i| self.place(start.lerp(end, i as f32 / steps as f32), recess)).collect();
            let base = surface.positions.len() as u32;
            let columns = section.len() as u32;
            for (i, (at, out)) in points.iter().enumerate() {
                let way = points[(i + 1).min(steps)].0 - points[i.saturating_sub(1)].0;
                let across = way.normalize_or(Vec3::Y).cross(*out).normalize_or(Vec3::Z);
                // Across points upwards, or away from the centre plane.
                let up = if across.z.abs() > 0.35 { across.z } else { across.y };
                let across = if up < 0.0 { -across } else { across };
                for (place, normal) in section {
                    surface.positions.push((*at + across * place.x + *out * place.y).into());
                    surface.normals.push((across * normal.x + *out * normal.y).normalize_or(*out).into());
                }
            }
            for row in 0..steps as u32 {
                for column in 0..columns - 1 {
                    let a = base + row * columns + column;
                    let [b, c, d] = [a + 1, a + columns + 1, a + columns];
                    add_facing(surface, [a, b, c]);
                    add_facing(surface, [a, c, d]);
                }
            }
        }
    }

    /// Returns evenly spaced places between two ends, about `pitch` apart.
    fn spaced(low: f32, high: f32, pitch: f32) -> Vec<f32> {
        let count = ((high - low) / pitch).round().max(1.0);
        (0..count as usize).map(|i| low + (high - low) * (i as f32 + 0.5) / count).collect()
    }

    fn add_levels(&self, surface: &mut Surface, pitch: f32, recess: f32, section: &[(Vec2, Vec2)]) {
        for z in Self::spaced(self.low.y, self.high.y, pitch) {
            let line = [self.low.x - 0.1, self.high.x + 0.1].map(|y| Vec2::new(y, z));
            self.add_bar(surface, line, recess, section);
        }
    }

    fn add_uprights(&self, surface: &mut Surface, pitch: f32, recess: f32, section: &[(Vec2, Vec2)]) {
        for y in Self::spaced(self.low.x, self.high.x, pitch) {
            let line = [self.low.y - 0.1, self.high.y + 0.1].map(|z| Vec2::new(y, z));
            self.add_bar(surface, line, recess, section);
        }
    }

    /// Adds two families of slanting lines, each the mirror image of the other. Returns the lattice
    /// of their crossings: its lower end and its two pitches.
    fn add_slants(&self, surface: &mut Surface, pitch: f32, recess: f32, section: &[(Vec2, Vec2)]) -> (f32, Vec2) {
        let rise = pitch * 0.68;
        let (height, bottom) = (self.high.y - self.low.y, self.low.y);
        let run = height * pitch / rise;
        let first = ((-run - 0.1) / pitch).floor() as i32;
        let last = ((self.high.x + run + 0.1) / pitch).ceil() as i32;
        for k in first..=last {
            let y = k as f32 * pitch;
            for way in [1.0, -1.0] {
                let line = [Vec2::new(y, bottom), Vec2::new(y + way * run, bottom + height)];
                let over = (line[1] - line[0]).normalize_or_zero() * 0.05;
                self.add_bar(surface, [line[0] - over, line[1] + over], recess, section);
            }
        }
        (bottom, Vec2::new(pitch, rise))
    }

    fn add_honeycomb(&self, surface: &mut Surface, pitch: f32, recess: f32, section: &[(Vec2, Vec2)]) {
        let side = pitch / 3.0_f32.sqrt();
        let (columns, rows) =
            ((self.high.x / (1.5 * side)).ceil() as i32 + 1, ((self.high.y - self.low.y) / pitch).ceil() as i32 + 1);
        let middle = 0.5 * (self.low.y + self.high.y);
        for column in 0..=columns {
            let y = column as f32 * 1.5 * side;
            if y < self.low.x - 2.0 * pitch {
                continue;
            }
            for row in -rows..=rows {
                let centre = Vec2::new(y, middle + (row as f32 + 0.5 * (column % 2) as f32) * pitch);
                if centre.y < self.low.y - pitch || centre.y > self.high.y + pitch {
                    continue;
                }
                // Each cell has the three sides at its upper end. The cells below and
                // beside it have the others.
                let corner = |turn: i32| centre + Vec2::from_angle(turn as f32 * std::f32::consts::FRAC_PI_3) * side;
                for turn in 0..3 {
                    self.add_bar(surface, [corner(turn), corner(turn + 1)], recess, section);
                }
            }
        }
    }

    /// Adds a four-sided point at a place of the view.
    fn add_stud(&self, surface: &mut Surface, at: Vec2, half: Vec2, recess: f32) {
        let (middle, out) = self.place(at, recess);
        let corner = |way: Vec2| self.place(at + way * half, recess + 0.004).0;
        let ring = [Vec2::X, Vec2::Y, -Vec2::X, -Vec2::Y].map(corner);
        let top = middle + out * 0.004;
        // In the centre plane, one half of the stud is the mirror image of the other.
        let faces: &[usize] = if at.x < 1e-4 { &[0, 3] } else { &[0, 1, 2, 3] };
        for &i in faces {
            let (a, b) = (ring[i], ring[(i + 1) % 4]);
            let face = (a - top).cross(b - top).normalize_or(out);
            let (normal, corners) = if face.dot(out) > 0.0 { (face, [top, a, b]) } else { (-face, [top, b, a]) };
            for p in corners {
                surface.indices.push(surface.positions.len() as u32);
                surface.positions.push(p.into());
                surface.normals.push(normal.into());
            }
        }
    }

    /// Returns the filling of the opening: the pattern's bars, studs or panel.
    pub fn filled(&self, fill: &Fill) -> VehicleMesh {
        let mut mesh = VehicleMesh::default();
        let (pitch, width, deep) = fill.sizes();
        let mut surface = Surface::default();
        let bar = wire(width, deep);
        match fill.pattern {
            Pattern::Empty => {}
            Pattern::Slats => self.add_levels(&mut surface, pitch, RECESS_M, &blade(width, deep)),
            Pattern::Blades => {
                let pitch = pitch.min((self.high.y - self.low.y) / 2.0).max(0.022);
                self.add_levels(&mut surface, pitch, RECESS_M, &blade(width, deep));
            }
            Pattern::Upright => self.add_uprights(&mut surface, pitch, RECESS_M, &upright(width, deep)),
            Pattern::Mesh => {
                self.add_levels(&mut surface, pitch, RECESS_M, &bar);
                self.add_uprights(&mut surface, pitch * 1.25, RECESS_M + 0.001, &bar);
            }
            Pattern::Diamond => {
                self.add_slants(&mut surface, pitch, RECESS_M, &bar);
            }
            Pattern::Honeycomb => self.add_honeycomb(&mut surface, pitch, RECESS_M, &bar),
            Pattern::Closed => self.add_levels(&mut surface, pitch, CLOSED_RECESS_M, &blade(width, deep)),
            Pattern::Studs => {
                let mut net = Surface::default();
                let (bottom, lattice) = self.add_slants(&mut net, pitch, RECESS_M + 0.004, &bar);
                mesh.add(Material::Grille, &net);
                let rows = ((self.high.y - bottom) / (0.5 * lattice.y)).ceil() as i32;
                let columns = (self.high.x / (0.5 * lattice.x)).ceil() as i32;
                for row in 0..=rows {
                    for column in (0..=columns).filter(|column| (column + row) % 2 == 0) {
                        let at = Vec2::new(column as f32 * 0.5 * lattice.x, bottom + row as f32 * 0.5 * lattice.y);
                        if self.has_room(at, STUD_ROOM_M) {
                            self.add_stud(&mut surface, at, Vec2::new(0.0105, 0.0075), RECESS_M);
                        }
                    }
                }
            }
        }
        if surface.triangle_count() > 0 {
            mesh.add(fill.material, &surface);
        }
        mesh.surfaces.retain(|_, surface| surface.triangle_count() > 0);
        mesh
    }
}

/// Returns the part of a stretch that lies on this side of the centre plane, if any.
fn clipped_to_half([a, b]: [Vec2; 2]) -> Option<[Vec2; 2]> {
    if a.x < 0.0 && b.x < 0.0 {
        return None;
    }
    let cut = |inner: Vec2, outer: Vec2| inner.lerp(outer, inner.x / (inner.x - outer.x)).max(Vec2::new(0.0, f32::MIN));
    let ends = match (a.x < 0.0, b.x < 0.0) {
        (true, _) => [cut(b, a), b],
        (_, true) => [a, cut(a, b)],
        _ => [a, b],
    };
    (ends[0].distance(ends[1]) > 0.001).then_some(ends)
}

/// Adds a triangle of given vertices, facing the side of their normals.
fn add_facing(surface: &mut Surface, [a, b, c]: [u32; 3]) {
    let [pa, pb, pc] = [a, b, c].map(|i| Vec3::from(surface.positions[i as usize]));
    let face = (pb - pa).cross(pc - pa);
    if face.length_squared() < 1e-18 {
        return;
    }
    let mean: Vec3 = [a, b, c].iter().map(|i| Vec3::from(surface.normals[*i as usize])).sum();
    surface.indices.extend(if face.dot(mean) < 0.0 { [a, c, b] } else { [a, b, c] });
}

/// Section of a level blade: a rounded nose and a back that rises a little, so that its upper face
/// points forward and catches the light.
fn blade(width: f32, deep: f32) -> Vec<(Vec2, Vec2)> {
    let half = 0.5 * width;
    let rise = 0.35 * width;
    vec![
        (Vec2::new(-half + rise, -deep), Vec2::new(-1.0, -0.1)),
        (Vec2::new(-half, -0.6 * half), Vec2::new(-0.95, 0.3)),
        (Vec2::new(-0.62 * half, -0.15 * half), Vec2::new(-0.6, 0.8)),
        (Vec2::new(0.0, 0.0), Vec2::new(0.05, 1.0)),
        (Vec2::new(0.62 * half, -0.25 * half), Vec2::new(0.62, 0.78)),
        (Vec2::new(half, -0.9 * half), Vec2::new(0.93, 0.37)),
        (Vec2::new(half + rise, -deep), Vec2::new(0.98, 0.2)),
    ]
}

/// Section of a standing blade: symmetrical, with a rounded nose.
fn upright(width: f32, deep: f32) -> Vec<(Vec2, Vec2)> {
    let half = 0.5 * width;
    vec![
        (Vec2::new(-half, -deep), Vec2::new(-1.0, 0.05)),
        (Vec2::new(-half, -0.9 * half), Vec2::new(-0.93, 0.37)),
        (Vec2::new(-0.6 * half, -0.2 * half), Vec2::new(-0.6, 0.8)),
        (Vec2::new(0.0, 0.0), Vec2::new(0.0, 1.0)),
        (Vec2::new(0.6 * half, -0.2 * half), Vec2::new(0.6, 0.8)),
        (Vec2::new(half, -0.9 * half), Vec2::new(0.93, 0.37)),
        (Vec2::new(half, -deep), Vec2::new(1.0, 0.05)),
    ]
}

/// Section of a thin bar of a mesh.
fn wire(width: f32, deep: f32) -> Vec<(Vec2, Vec2)> {
    let half = 0.5 * width;
    vec![
        (Vec2::new(-half, -deep), Vec2::new(-1.0, 0.1)),
        (Vec2::new(-0.6 * half, 0.0), Vec2::new(-0.55, 0.83)),
        (Vec2::new(0.6 * half, 0.0), Vec2::new(0.55, 0.83)),
        (Vec2::new(half, -deep), Vec2::new(1.0, 0.1)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    const PATTERNS: [Pattern; 8] = [
        Pattern::Slats,
        Pattern::Upright,
        Pattern::Blades,
        Pattern::Mesh,
        Pattern::Diamond,
        Pattern::Honeycomb,
        Pattern::Studs,
        Pattern::Closed,
    ];

    /// Half of a bowed front: 0.5 m wide, 0.2 m high, up to the centre plane.
    fn bowed() -> GrilleOpening {
        let skin = |column: usize, row: usize| {
            let (y, z) = (column as f32 * 0.025, 0.5 + row as f32 * 0.025);
            Vec3::new(0.4 * y * y + 0.1 * (z - 0.5), y, z)
        };
        let (mut triangles, mut edges) = (Vec::new(), Vec::new());
        for column in 0..20 {
            for row in 0..8 {
                let [a, b, c, d] = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(right, up)| skin(column + right, row + up));
                triangles.extend([[a, c, b], [a, d, c]]);
                edges.extend((row == 0).then_some([a, b]));
                edges.extend((row == 7).then_some([c, d]));
                edges.extend((column == 0).then_some([d, a]));
                edges.extend((column == 19).then_some([b, c]));
            }
        }
        GrilleOpening::new(&triangles, &edges, -Vec3::X).unwrap()
    }

    #[test]
    fn every_fill_is_sound_and_stays_behind_the_skin_and_in_its_half() {
        let opening = bowed();
        for pattern in PATTERNS {
            let mesh = opening.filled(&Fill { material: Material::Chrome, ..Fill::dark(pattern) });
            assert_sound(&mesh, &format!("{pattern:?}"));
            for p in mesh.surfaces.values().flat_map(|surface| &surface.positions) {
                assert!(p[1] > -0.006 && p[1] < 0.52, "{pattern:?}: {p:?} beyond the wall");
                assert!(p[2] > 0.48 && p[2] < 0.72, "{pattern:?}: {p:?} beyond the wall");
                let skin = 0.4 * p[1] * p[1] + 0.1 * (p[2] - 0.5);
                assert!(p[0] > skin, "{pattern:?}: {p:?} before the skin");
                assert!(p[0] < skin + 0.06, "{pattern:?}: {p:?} behind the duct");
            }
            assert!(mesh.triangle_count() < 6_000, "{pattern:?}: {}", mesh.triangle_count());
        }
    }

    #[test]
    fn level_bars_reach_the_centre_plane_and_the_wall() {
        let mesh = bowed().filled(&Fill::dark(Pattern::Slats));
        let ys = || mesh.surfaces[&Material::Grille].positions.iter().map(|p| p[1]);
        assert!(ys().fold(f32::MAX, f32::min) < 1e-4);
        assert!(ys().fold(f32::MIN, f32::max) > 0.5);
    }

    #[test]
    fn an_opening_seen_edge_on_is_left_empty() {
        let corners = [Vec3::ZERO, Vec3::new(0.2, 0.0, 0.1), Vec3::new(0.0, 0.1, 0.2)];
        let edges = [[corners[0], corners[1]], [corners[1], corners[2]], [corners[2], corners[0]]];
        assert!(GrilleOpening::new(&[corners], &edges, Vec3::Z).is_none());
    }
}

//! Shapes that parts of two-wheelers share: skins that know where their surface is, panels and
//! seams on skins, openings cut into skins, screens, springs, bolts.

use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, catmull_rom};
use crate::vehicle::parts::solid::{Solid, curve_through};

/// Points round a section of a skin.
const ROUND: usize = 44;
/// Pieces between neighbouring stations of a skin.
const PIECES: usize = 9;
/// Half the width of a shut line between two panels, in metres.
const SEAM_M: f32 = 0.0017;

/// A smooth skin through cross sections (x, half width, low, high). It can compute points of its
/// surface, so that panels and seams lie on it. A `squareness` of 2 is round.
pub(in crate::vehicle) struct LoftedSkin {
    stations: Vec<[f32; 4]>,
    squareness: f32,
}

impl LoftedSkin {
    pub(in crate::vehicle) fn new(stations: &[[f32; 4]], squareness: f32) -> LoftedSkin {
        LoftedSkin { stations: stations.to_vec(), squareness }
    }

    /// Returns the four numbers of a section between two stations.
    fn between(&self, place: usize, t: f32) -> [f32; 4] {
        let last = self.stations.len() as isize - 1;
        let at = |offset: isize| self.stations[(place as isize + offset).clamp(0, last) as usize];
        let around = [at(-1), at(0), at(1), at(2)];
        std::array::from_fn(|k| catmull_rom(around.map(|station| station[k]), t))
    }

    /// Returns half width, underside and top at `x`.
    fn section(&self, x: f32) -> [f32; 3] {
        let last = self.stations.len() - 1;
        let place = self.stations.iter().rposition(|s| s[0] <= x).unwrap_or(0).min(last.saturating_sub(1));
        let (mut low, mut high) = (0.0_f32, 1.0_f32);
        for _ in 0..18 {
            let middle = 0.5 * (low + high);
            if self.between(place, middle)[0] < x { low = middle } else { high = middle }
        }
        let [_, half, under, top] = self.between(place, low);
        [half.max(0.004), under, top.max(under + 0.004)]
    }

    pub(in crate::vehicle) fn solid(&self) -> Solid {
        let mut loops = Vec::new();
        for place in 0..self.stations.len() - 1 {
            let end = usize::from(place + 2 == self.stations.len());
            for step in 0..PIECES + end {
                let [x, half, low, high] = self.between(place, step as f32 / PIECES as f32);
                let (half, high) = (half.max(0.004), high.max(low + 0.004));
                let ring = (0..ROUND).map(|i| {
                    let (sin, cos) = (TAU * i as f32 / ROUND as f32).sin_cos();
                    let reach = (cos.abs().powf(self.squareness) + sin.abs().powf(self.squareness))
                        .powf(-1.0 / self.squareness);
                    Vec3::new(x, cos * reach * half, (low + high) / 2.0 + sin * reach * (high - low) / 2.0)
                });
                loops.push(ring.collect());
            }
        }
        Solid::lofted(&loops)
    }

    /// Returns how far out the right flank is at a place seen from the side.
    pub(in crate::vehicle) fn out(&self, x: f32, z: f32) -> f32 {
        let [half, low, high] = self.section(x);
        let rel = ((z - (low + high) * 0.5) / ((high - low) * 0.5)).abs().min(0.985);
        half * (1.0 - rel.powf(self.squareness)).powf(1.0 / self.squareness)
    }

    /// Returns the height of the skin's upper side at a place seen from above.
    pub(in crate::vehicle) fn over(&self, x: f32, y: f32) -> f32 {
        let [half, low, high] = self.section(x);
        let rel = (y / half).abs().min(0.985);
        (low + high) * 0.5 + (high - low) * 0.5 * (1.0 - rel.powf(self.squareness)).powf(1.0 / self.squareness)
    }

    /// Returns a line on the right flank through places seen from the side, (x, z).
    pub(in crate::vehicle) fn line(&self, places: &[[f32; 2]]) -> Vec<Vec3> {
        let flat: Vec<Vec3> = places.iter().map(|p| Vec3::new(p[0], 0.0, p[1])).collect();
        curve_through(&flat, 10).iter().map(|p| Vec3::new(p.x, self.out(p.x, p.z), p.z)).collect()
    }

    /// Returns a shut line along the right flank.
    pub(in crate::vehicle) fn seam(&self, places: &[[f32; 2]]) -> Solid {
        tube(&self.line(places), 6, |_| SEAM_M)
    }

    /// Returns a shut line all round at `x`.
    pub(in crate::vehicle) fn ring(&self, x: f32) -> Solid {
        let [half, low, high] = self.section(x);
        let power = self.squareness;
        let path: Vec<Vec3> = (0..=48)
            .map(|i| {
                let (sin, cos) = (TAU * i as f32 / 48.0).sin_cos();
                let reach = (cos.abs().powf(power) + sin.abs().powf(power)).powf(-1.0 / power);
                Vec3::new(x, cos * reach * half, (low + high) / 2.0 + sin * reach * (high - low) / 2.0)
            })
            .collect();
        tube(&path, 6, |_| SEAM_M)
    }

    /// Returns a panel that lies on the right flank within an outline seen from the side, and
    /// stands `proud` metres out of it.
    pub(in crate::vehicle) fn plate(&self, outline: &[[f32; 2]], thick: f32, proud: f32) -> Solid {
        panel(outline, thick, |x, z| self.out(x, z) + proud)
    }
}

/// Returns a round bar along a path, closed at both ends. Its sections are carried
/// along the path without a twist.
pub(in crate::vehicle) fn tube(path: &[Vec3], sides: usize, radius: impl Fn(usize) -> f32) -> Solid {
    if path.len() < 2 {
        return Solid::default();
    }
    let along = |i: usize| (path[(i + 1).min(path.len() - 1)] - path[i.saturating_sub(1)]).normalize_or(Vec3::X);
    let mut right = along(0).any_orthonormal_vector();
    let loops: Vec<Vec<Vec3>> = (0..path.len())
        .map(|i| {
            let way = along(i);
            right = (right - way * right.dot(way)).normalize_or(way.any_orthonormal_vector());
            let up = right.cross(way);
            let r = radius(i);
            (0..sides)
                .map(|side| {
                    let (sin, cos) = (TAU * side as f32 / sides as f32).sin_cos();
                    path[i] + (right * cos + up * sin) * r
                })
                .collect()
        })
        .collect();
    Solid::lofted(&loops)
}

/// Returns the shut line along a path.
pub(in crate::vehicle) fn seam_along(path: &[Vec3]) -> Solid {
    tube(path, 6, |_| SEAM_M)
}

/// Returns the convex hull of points, counter-clockwise.
pub(in crate::vehicle) fn convex(points: &[[f32; 2]]) -> Vec<Vec2> {
    let mut sorted = closed_curve(points, 6);
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let chain = |points: &mut dyn Iterator<Item = Vec2>| {
        let mut hull: Vec<Vec2> = Vec::new();
        for p in points {
            while hull.len() > 1
                && (hull[hull.len() - 1] - hull[hull.len() - 2]).perp_dot(p - hull[hull.len() - 1]) <= 1e-9
            {
                hull.pop();
            }
            hull.push(p);
        }
        hull.pop();
        hull
    };
    let mut hull = chain(&mut sorted.iter().copied());
    hull.extend(chain(&mut sorted.iter().rev().copied()));
    hull
}

/// Cuts a skin along a convex outline seen from the front, (y, z) counter-clockwise. Returns
/// the rest of the skin, and the piece inside the outline. Only faces that point forward and
/// lie in front of `behind` are cut.
pub(in crate::vehicle) fn cut_from_front(skin: &Solid, outline: &[Vec2], behind: f32) -> (Solid, Solid) {
    let (mut outside, mut inside) = (Solid::default(), Solid::default());
    let fan = |solid: &mut Solid, corners: &[Vec3]| {
        if corners.len() < 3 {
            return;
        }
        let base = solid.points.len() as u32;
        solid.points.extend_from_slice(corners);
        solid.triangles.extend((1..corners.len() as u32 - 1).map(|i| [base, base + i, base + i + 1]));
    };
    for triangle in &skin.triangles {
        let corners = triangle.map(|i| skin.points[i as usize]);
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        if normal.x >= 0.0 || corners.iter().any(|p| p.x > behind) {
            fan(&mut outside, &corners);
            continue;
        }
        // A face beside the outline stays whole: pieces of it would not
        // meet their neighbours' corners.
        match parts_of(&corners, outline) {
            Some((rest, pieces)) => {
                pieces.iter().for_each(|piece| fan(&mut outside, piece));
                fan(&mut inside, &rest);
            }
            None => fan(&mut outside, &corners),
        }
    }
    (outside, inside)
}

/// Returns the part of a face that is inside a convex outline seen from the front, and the pieces
/// that are outside. Returns `None` if no part is inside.
fn parts_of(corners: &[Vec3; 3], outline: &[Vec2]) -> Option<(Vec<Vec3>, Vec<Vec<Vec3>>)> {
    let (mut rest, mut pieces) = (corners.to_vec(), Vec::new());
    for (i, from) in outline.iter().enumerate() {
        let edge = outline[(i + 1) % outline.len()] - *from;
        let depth = |p: Vec3| edge.perp_dot(Vec2::new(p.y, p.z) - *from);
        let (kept, cut) = divided(&rest, depth);
        pieces.push(cut);
        rest = kept;
        if rest.len() < 3 {
            return None;
        }
    }
    Some((rest, pieces))
}

/// Returns a convex polygon's parts where `depth` is positive and where it is negative.
fn divided(polygon: &[Vec3], depth: impl Fn(Vec3) -> f32) -> (Vec<Vec3>, Vec<Vec3>) {
    let (mut kept, mut cut) = (Vec::new(), Vec::new());
    for (i, p) in polygon.iter().enumerate() {
        let q = polygon[(i + 1) % polygon.len()];
        let (a, b) = (depth(*p), depth(q));
        if a >= 0.0 {
            kept.push(*p)
        } else {
            cut.push(*p)
        }
        if (a >= 0.0) != (b >= 0.0) {
            let between = p.lerp(q, a / (a - b));
            kept.push(between);
            cut.push(between);
        }
    }
    (kept, cut)
}

/// Returns x of a skin's forward side at a place seen from the front.
pub(super) fn front_of(skin: &Solid, at: Vec2) -> Option<f32> {
    skin.triangles
        .iter()
        .filter_map(|t| {
            let [a, b, c] = t.map(|i| skin.points[i as usize]);
            let [fa, fb, fc] = [a, b, c].map(|p| Vec2::new(p.y, p.z) - at);
            let [u, v, w] = [fb.perp_dot(fc), fc.perp_dot(fa), fa.perp_dot(fb)];
            let sum = u + v + w;
            let within = sum.abs() > 1e-12 && [u, v, w].iter().all(|k| k / sum >= -1e-4);
            within.then(|| (a.x * u + b.x * v + c.x * w) / sum)
        })
        .reduce(f32::min)
}

/// Returns a revolved profile of (outwards, radius) that faces along `way` from `at`.
pub(in crate::vehicle) fn turned(profile: &[[f32; 2]], at: Vec3, way: Vec3, segments: usize) -> Solid {
    let profile: Vec<Vec2> = profile.iter().map(|p| Vec2::new(p[0], p[1])).collect();
    let way = way.normalize_or(Vec3::Y);
    let side = way.any_orthonormal_vector();
    let other = side.cross(way);
    Solid::revolved(&profile, segments).bent(|p| at + way * p.y + side * p.x + other * p.z)
}

/// Returns the head of a hexagonal bolt with its washer, on `at`, facing along `way`.
pub(in crate::vehicle) fn bolt(at: Vec3, way: Vec3, radius: f32) -> Solid {
    let head = [[-radius, radius], [radius * 0.7, radius], [radius * 0.95, radius * 0.75], [radius * 0.95, 0.0]];
    turned(&head, at, way, 8)
}

/// Adds bolts round a circle in the plane across `way`.
pub(super) fn add_bolt_circle(bike: &mut Assembly, at: Vec3, way: Vec3, circle: f32, count: usize, radius: f32) {
    let side = way.any_orthonormal_vector();
    let other = side.cross(way);
    let mut bolts = Solid::default();
    for number in 0..count {
        let (sin, cos) = (TAU * (number as f32 + 0.3) / count as f32).sin_cos();
        bolts.append(bolt(at + side * (circle * cos) + other * (circle * sin), way, radius));
    }
    bike.add(Material::RimDark, bolts);
}

/// Returns a hose or cable through points.
pub(in crate::vehicle) fn hose(points: &[Vec3], radius: f32) -> Solid {
    tube(&curve_through(points, 8), 8, |_| radius)
}

/// Returns a pipe whose last end is open: its wall turns inwards and goes back for `deep` metres.
pub(super) fn open_pipe(path: &[Vec3], sides: usize, radius: f32, wall: f32, deep: f32) -> Solid {
    let Some((last, before)) = path.last().zip(path.iter().rev().nth(1)) else { return Solid::default() };
    let way = (*last - *before).normalize_or(Vec3::X);
    let mut whole = path.to_vec();
    let count = whole.len();
    whole.extend([*last + way * wall * 0.4, *last, *last - way * deep]);
    let radii = move |i: usize| match i {
        _ if i < count => radius,
        _ if i == count => radius - wall * 0.5,
        _ => radius - wall,
    };
    // Sections keep the direction of the pipe where its path turns back.
    let loops: Vec<Vec<Vec3>> = (0..whole.len())
        .map(|i| {
            let along = if i + 1 < count { (path[i + 1] - path[i.saturating_sub(1)]).normalize_or(way) } else { way };
            let up = if along.cross(Vec3::Z).length() < 0.05 { Vec3::X } else { Vec3::Z };
            let right = along.cross(up).normalize_or(Vec3::Y);
            let up = right.cross(along);
            (0..sides)
                .map(|side| {
                    let (sin, cos) = (TAU * side as f32 / sides as f32).sin_cos();
                    whole[i] + (right * cos + up * sin) * radii(i)
                })
                .collect()
        })
        .collect();
    Solid::lofted(&loops)
}

/// Returns a smooth closed curve through (x, z) points, with `steps` pieces between neighbours.
fn closed_curve(points: &[[f32; 2]], steps: usize) -> Vec<Vec2> {
    let count = points.len();
    let mut curve = Vec::with_capacity(count * steps);
    for i in 0..count {
        let around = [count - 1, 0, 1, 2].map(|k| points[(i + k) % count]);
        for step in 0..steps {
            let value = |k: usize| catmull_rom(around.map(|p| p[k]), step as f32 / steps as f32);
            curve.push(Vec2::new(value(0), value(1)));
        }
    }
    curve
}

/// Returns an outline with corners at the points of the given numbers. Each corner gets a close
/// neighbour on both sides, so that a curve through the outline bends sharply there.
pub(super) fn sharpened(corners: &[usize], outline: &[[f32; 2]]) -> Vec<[f32; 2]> {
    let count = outline.len();
    let toward = |p: [f32; 2], q: [f32; 2]| [0, 1].map(|k| p[k] + (q[k] - p[k]) * 0.06);
    let mut whole = Vec::with_capacity(count + 2 * corners.len());
    for (i, p) in outline.iter().enumerate() {
        if corners.contains(&i) {
            whole.extend([toward(*p, outline[(i + count - 1) % count]), *p, toward(*p, outline[(i + 1) % count])]);
        } else {
            whole.push(*p);
        }
    }
    whole
}

/// Returns a panel seen from the side. `outline` is in (x, z), and `out` returns the y of
/// the panel at a point of it. The panel's edge turns inwards by `thick`. The whole outline
/// must be visible from its centre.
pub(super) fn panel(outline: &[[f32; 2]], thick: f32, out: impl Fn(f32, f32) -> f32) -> Solid {
    let curve = closed_curve(outline, 9);
    let centre = curve.iter().sum::<Vec2>() / curve.len() as f32;
    // (Ratio of the way towards the centre, ratio of `thick` back from the outside).
    let rings =
        [(0.03, 1.0), (0.0, 0.75), (0.0, 0.35), (0.03, 0.10), (0.09, 0.0), (0.30, 0.0), (0.60, 0.0), (0.90, 0.0)];
    let loops: Vec<Vec<Vec3>> = rings
        .iter()
        .map(|(inwards, back)| {
            curve
                .iter()
                .map(|p| {
                    let p = p.lerp(centre, *inwards);
                    Vec3::new(p.x, out(p.x, p.y) - thick * back, p.y)
                })
                .collect()
        })
        .collect();
    Solid::lofted(&loops)
}

/// Returns a wind screen from a foot to a top edge, both in (x, z). `half` are the half widths
/// there, and `sweep` is how far its sides sweep to the rear.
pub(super) fn screen(foot: [f32; 2], top: [f32; 2], half: [f32; 2], sweep: f32) -> Solid {
    let rows = 18;
    let sheet = Solid::grid(rows + 1, 17, false, |row, column| {
        // Rows are closer together towards the rounded upper end.
        let t = 1.0 - (1.0 - row as f32 / rows as f32).powi(2);
        let across = column as f32 / 8.0 - 1.0;
        let high = ((t - 0.55).max(0.0) / 0.45).powi(3);
        let round = (1.0 - high).max(0.0).cbrt().max(0.16);
        let half_width = (half[0] + (half[1] - half[0]) * t) * round;
        let lean = [foot[0] + (top[0] - foot[0]) * t, foot[1] + (top[1] - foot[1]) * (t + 0.25 * t * (1.0 - t))];
        let bow = sweep * (across * round).powi(2);
        Vec3::new(lean[0] + bow, across * half_width, lean[1] - 0.25 * bow)
    });
    // Glass is only drawn on the side that faces the eye, and a screen is seen from behind as well.
    let mut screen = sheet.facing_up();
    screen.append(screen.clone().flipped());
    screen
}

/// Adds a wind screen like [`screen`] with a rounded edge all round and the screws that hold it.
pub(super) fn add_screen(
    bike: &mut Assembly,
    glass: Material,
    foot: [f32; 2],
    top: [f32; 2],
    half: [f32; 2],
    sweep: f32,
) {
    let sheet = screen(foot, top, half, sweep);
    let (rows, columns) = (19, 17);
    let at = |row: usize, column: usize| sheet.points[row * columns + column];
    let mut edge: Vec<Vec3> = (0..rows).map(|row| at(row, 0)).collect();
    edge.extend((1..columns).map(|column| at(rows - 1, column)));
    edge.extend((0..rows - 1).rev().map(|row| at(row, columns - 1)));
    bike.add_soft(Material::LampGlass, tube(&edge, 6, |_| 0.0022));
    for column in [3, 13] {
        let (p, next) = (at(2, column), at(3, column));
        let way = (next - p).cross(Vec3::Y).normalize_or(Vec3::NEG_X);
        let way = if way.x > 0.0 { -way } else { way };
        bike.add(
            Material::RimDark,
            turned(&[[-0.004, 0.0075], [0.0025, 0.0075], [0.0040, 0.0050], [0.0040, 0.0]], p, way, 16),
        );
    }
    if glass != Material::ClearGlass {
        bike.add_soft(glass, sheet);
        return;
    }
    // A clear screen stands on a dark band.
    let part = |from: usize, to: usize| {
        let part = Solid::grid(to - from + 1, columns, false, |row, column| at(from + row, column)).facing_up();
        let mut both = part.clone();
        both.append(part.flipped());
        both
    };
    bike.add_soft(Material::GlossBlack, part(0, 2));
    bike.add_soft(glass, part(2, rows - 1));
}

/// Returns the larger of two values, rounded where they cross within about `blend` of each other.
pub(super) fn soft_max(a: f32, b: f32, blend: f32) -> f32 {
    0.5 * (a + b + ((a - b).powi(2) + blend * blend).sqrt())
}

/// Returns a wound wire between two seats.
pub(super) fn coil(from: Vec3, to: Vec3, radius: f32, wire: f32) -> Solid {
    let way = (to - from).normalize_or(Vec3::Z);
    let side = way.any_orthonormal_vector();
    let other = way.cross(side);
    let turns = ((to - from).length() / (wire * 3.6)).clamp(4.0, 14.0);
    let count = (turns * 14.0) as usize;
    let path: Vec<Vec3> = (0..=count)
        .map(|i| {
            let t = i as f32 / count as f32;
            let (sin, cos) = (TAU * turns * t).sin_cos();
            from.lerp(to, t) + (side * cos + other * sin) * radius
        })
        .collect();
    tube(&path, 7, |_| wire)
}

/// Adds a shock absorber between its two eyes: body, rod, spring between two seats, adjusting ring.
pub(in crate::vehicle) fn add_shock(
    bike: &mut Assembly,
    from: Vec3,
    to: Vec3,
    radius: f32,
    pair: bool,
    spring: Material,
) {
    let at = |ratio: f32| from.lerp(to, ratio);
    let way = (to - from).normalize_or(Vec3::Z);
    let eye = |p: Vec3| Solid::pin(p - Vec3::Y * radius * 0.75, p + Vec3::Y * radius * 0.75, radius * 0.60, 16);
    let seat =
        |p: Vec3| turned(&[[-0.006, 0.0], [-0.006, radius * 1.12], [0.004, radius * 1.18], [0.006, 0.0]], p, way, 24);
    let parts = [
        (Material::GlossBlack, Solid::pin(at(0.02), at(0.45), radius * 0.72, 18)),
        (Material::Chrome, Solid::pin(at(0.40), at(0.97), radius * 0.34, 12)),
        (Material::MattBlack, Solid::pin(at(0.80), at(0.93), radius * 0.55, 14)),
        (Material::Satin, seat(at(0.16))),
        (Material::Satin, seat(at(0.93))),
        (Material::RimDark, seat(at(0.13))),
        (Material::GlossBlack, eye(from)),
        (Material::GlossBlack, eye(to)),
        (spring, coil(at(0.17), at(0.92), radius * 0.98, radius * 0.17)),
    ];
    for (material, part) in parts {
        if pair { bike.add_pair(material, part) } else { bike.add_soft(material, part) }
    }
}

/// Sorts the points of an outline by their angle about its middle, so that
/// it can be drawn through them.
pub fn round(mut outline: Vec<[f32; 2]>) -> Vec<[f32; 2]> {
    let count = outline.len() as f32;
    let middle = outline.iter().fold([0.0, 0.0], |m, p| [m[0] + p[0] / count, m[1] + p[1] / count]);
    let turn = |p: &[f32; 2]| (p[1] - middle[1]).atan2(p[0] - middle[0]);
    outline.sort_by(|a, b| turn(a).total_cmp(&turn(b)));
    outline.dedup();
    outline
}

/// Returns the distance of a point from the nearest triangle of a mesh.
#[cfg(test)]
pub(super) fn distance_to(mesh: &crate::vehicle::mesh::VehicleMesh, p: Vec3) -> f32 {
    let on_edge = |a: Vec3, b: Vec3| {
        let along = ((p - a).dot(b - a) / (b - a).length_squared().max(1e-12)).clamp(0.0, 1.0);
        p.distance(a.lerp(b, along))
    };
    let to_triangle = |[a, b, c]: [Vec3; 3]| {
        let normal = (b - a).cross(c - a).normalize_or(Vec3::Z);
        let foot = p - normal * (p - a).dot(normal);
        let inside = [(a, b), (b, c), (c, a)].iter().all(|(u, v)| (*v - *u).cross(foot - *u).dot(normal) >= 0.0);
        let edges = on_edge(a, b).min(on_edge(b, c)).min(on_edge(c, a));
        if inside { (p - foot).length() } else { edges }
    };
    mesh.surfaces
        .values()
        .flat_map(|s| s.indices.chunks_exact(3).map(|t| [0, 1, 2].map(|k| Vec3::from(s.positions[t[k] as usize]))))
        .map(to_triangle)
        .fold(f32::MAX, f32::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skin_knows_where_its_surface_is() {
        let skin = LoftedSkin::new(&[[0.0, 0.1, 0.0, 0.2], [0.5, 0.1, 0.0, 0.2], [1.0, 0.1, 0.0, 0.2]], 2.0);
        assert!((skin.out(0.5, 0.1) - 0.1).abs() < 1e-4);
        assert!((skin.out(0.5, 0.15) - 0.0866).abs() < 1e-3);
        assert!((skin.over(0.5, 0.0) - 0.2).abs() < 1e-4);
    }

    #[test]
    fn a_cut_leaves_faces_beside_it_whole() {
        // A wall that faces forward, with triangles 0.1 m wide.
        let wall =
            Solid::grid(11, 11, false, |row, column| Vec3::new(0.0, column as f32 * 0.1 - 0.5, row as f32 * 0.1 - 0.5));
        let facing = |solid: &Solid| {
            let [a, b, c] = solid.triangles[0].map(|i| solid.points[i as usize]);
            (b - a).cross(c - a).x
        };
        let wall = if facing(&wall) > 0.0 { wall.flipped() } else { wall };
        let outline: Vec<Vec2> = [[-0.03, -0.03], [0.03, -0.03], [0.03, 0.03], [-0.03, 0.03]].map(Vec2::from).to_vec();
        let (outside, inside) = cut_from_front(&wall, &outline, 1.0);
        assert!(!inside.triangles.is_empty());
        assert!(outside.triangles.len() < wall.triangles.len() + 40, "{}", outside.triangles.len());
        let area = |solid: &Solid| -> f32 {
            let twice = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|i| solid.points[i as usize]);
                (b - a).cross(c - a).length()
            };
            solid.triangles.iter().map(twice).sum::<f32>() * 0.5
        };
        assert!((area(&outside) + area(&inside) - 1.0).abs() < 1e-4);
        assert!((area(&inside) - 0.0036).abs() < 1e-5);
    }

    #[test]
    fn a_tube_keeps_its_radius_round_bends() {
        let path = [Vec3::ZERO, Vec3::Z * 0.1, Vec3::Z * 0.2, Vec3::new(0.1, 0.0, 0.25), Vec3::new(0.2, 0.1, 0.25)];
        let solid = tube(&path, 12, |_| 0.01);
        assert!(solid.signed_volume_x6() > 0.0);
        assert!(solid.points.iter().all(|p| path.iter().any(|q| p.distance(*q) < 0.0101)));
    }

    #[test]
    fn a_sharpened_outline_has_three_points_at_a_corner() {
        let outline = sharpened(&[1], &[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]);
        assert_eq!(outline.len(), 5);
        assert_eq!(outline[2], [1.0, 0.0]);
    }

    #[test]
    fn a_panel_is_closed_and_keeps_its_outline() {
        let solid = panel(&[[0.0, 0.0], [1.0, 0.0], [1.0, 0.5], [0.0, 0.5]], 0.05, |_, _| 0.2);
        let volume = solid.signed_volume_x6() / 6.0;
        assert!((0.02..0.04).contains(&volume), "{volume}");
        assert!(solid.points.iter().all(|p| (0.149..0.201).contains(&p.y)));
    }
}

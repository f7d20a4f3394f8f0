//! The inside of head and tail lamps, laid out behind a lens that only the body
//! knows. Vehicle space, one side.
//!
//! A lens bends round the corner of a body, so nothing inside a lamp is laid out in a flat drawing.
//! [`LampSite`] unrolls the lens from an axis that stands inside the body: a place on it is an arc
//! length and a height, and depth is measured towards the axis, where no two places can cross.
//! [`head`] and [`tail`] fill the room behind the lens, and [`housing`] is the shell they stand in.

mod finish;
mod guide;
mod head;
pub mod head_lamp;
mod housing;
mod light;
mod round;
mod tail;

pub use head::head_lamp;
pub use head_lamp::{HeadLamp, MainLight, RunningLight};
pub use housing::plain_housing;
pub use round::{round_lamp, round_lamp_for};
pub use tail::{TailFill, TailLamp, TailMotif, tail_lamp};

use glam::{Vec2, Vec3};

use super::solid::{Solid, rounded_rectangle};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// Columns of the table that holds the lens.
const COLUMNS: usize = 33;
/// Rows of the table that holds the lens.
const ROWS: usize = 17;
/// Entries of the table that holds the outline.
const SPANS: usize = 193;
/// Distance by which the table continues beyond the outline, in metres.
const MARGIN_M: f32 = 0.012;
/// Greatest width that a lens seems to have, as a multiple of its width across the vehicle.
const SEEN_ROUND_CORNER: f32 = 1.25;
/// Distance of the axis behind the lens, as a ratio of the lens's chord. The lens's ends are then
/// seen at about forty degrees to either side.
const AXIS_BEHIND: f32 = 0.55;
/// Year of a lamp whose year is not given.
pub const USUAL_YEAR: u16 = 2015;

/// The inside of a lamp, with the parts of its lens that are not of the lens's own material.
#[derive(Default)]
pub struct LampFilling {
    pub mesh: VehicleMesh,
    /// Materials of the lens, each up to an arc length, in rising order. Empty where the
    /// whole lens is as the sheet says.
    pub lens: Vec<(f32, Material)>,
    /// True if the lens's fields lie one above another. Lengths in `lens` are then heights.
    pub is_upright: bool,
    /// Set if the clear fields are windows in a lens of another material: the ratios of the lens's
    /// height between which they are clear, and that material.
    pub window: Option<([f32; 2], Material)>,
}

/// Position of a lamp: its lens, unrolled about an axis inside the body.
pub struct LampSite {
    /// Arc lengths of the outline's ends, growing away from the centre plane.
    ends: [f32; 2],
    /// Lowest and highest places of the outline, evenly spaced between the ends.
    spans: Vec<(f32, f32)>,
    /// Position of the axis, in metres along `right` and `ahead`.
    axis: Vec2,
    right: Vec3,
    ahead: Vec3,
    up: Vec3,
    angles: [f32; 2],
    heights: [f32; 2],
    /// Distance of the lens from the axis, column by column.
    radii: Vec<f32>,
    /// Normal of the lens, column by column.
    normals: Vec<Vec3>,
    /// Arc length at each column.
    lengths: Vec<f32>,
    /// Distance from the centre plane at each column.
    offsets: Vec<f32>,
    /// True if the inner end lies in the centre plane, where the other half continues.
    pub meets_middle: bool,
    /// Depth of the room behind the lens, in metres.
    pub depth: f32,
    /// Direction that the vehicle's end faces.
    pub forward: Vec3,
    pub year: u16,
}

/// The properties of the body that a lamp needs.
pub struct LampSkin<'a> {
    /// Returns the first point of the body along a ray of some length.
    pub hit: &'a dyn Fn(Vec3, Vec3, f32) -> Option<Vec3>,
    /// Returns the normal of the body at a point.
    pub normal: &'a dyn Fn(Vec3) -> Vec3,
}

impl LampSite {
    /// `border` is the lens's closed edge, `outward` its mean normal, and `forward` the direction
    /// that the vehicle's end faces.
    pub fn new(border: &[Vec3], outward: Vec3, forward: Vec3, depth: f32, year: u16, skin: &LampSkin<'_>) -> LampSite {
        let up = (Vec3::Z - outward * outward.z).normalize_or(Vec3::X);
        let ahead = (outward - up * outward.dot(up)).normalize_or(forward);
        let right = up.cross(ahead);
        let right = if right.y < -1e-4 { -right } else { right };
        let flat = |p: Vec3| Vec2::new(p.dot(right), p.dot(ahead));
        let range = |values: &mut dyn Iterator<Item = f32>| {
            values.fold([f32::MAX, f32::MIN], |[low, high], v| [low.min(v), high.max(v)])
        };
        let across = range(&mut border.iter().map(|p| flat(*p).x));
        let near = range(&mut border.iter().map(|p| flat(*p).y));
        let chord = across[1] - across[0];
        let axis = Vec2::new((across[0] + across[1]) * 0.5, near[0] - AXIS_BEHIND * chord - 0.08);
        let turned = |p: Vec3| {
            let p = flat(p) - axis;
            Vec2::new(p.x.atan2(p.y), p.length())
        };
        let angles = range(&mut border.iter().map(|p| turned(*p).x));
        let radii = range(&mut border.iter().map(|p| turned(*p).y));
        let heights = range(&mut border.iter().map(|p| p.dot(up)));
        let mut site = LampSite {
            ends: [0.0; 2],
            spans: Vec::new(),
            axis,
            right,
            ahead,
            up,
            angles: [angles[0] - MARGIN_M / radii[1], angles[1] + MARGIN_M / radii[1]],
            heights: [heights[0] - MARGIN_M, heights[1] + MARGIN_M],
            radii: Vec::with_capacity(COLUMNS * ROWS),
            normals: Vec::with_capacity(COLUMNS * ROWS),
            lengths: Vec::with_capacity(COLUMNS),
            offsets: Vec::with_capacity(COLUMNS),
            meets_middle: border.iter().any(|p| p.y == 0.0),
            depth,
            forward,
            year,
        };
        let (inmost, outmost) = (radii[0] - 0.06, radii[1] + 0.06);
        for column in 0..COLUMNS {
            let ray = site.ray(site.angle_at(column as f32));
            for row in 0..ROWS {
                let foot = right * axis.x + ahead * axis.y + up * site.height_at(row as f32);
                let hit = (skin.hit)(foot + ray * outmost, -ray, outmost - inmost);
                let point = hit.unwrap_or(foot + ray * (radii[0] + radii[1]) * 0.5);
                site.radii.push((point - foot).dot(ray));
                site.normals.push((skin.normal)(point));
            }
        }
        let middle = |site: &LampSite, column: usize| {
            site.point(site.angle_at(column as f32), (heights[0] + heights[1]) * 0.5, 0.0)
        };
        let mut length = 0.0;
        for column in 0..COLUMNS {
            let here = middle(&site, column);
            if column > 0 {
                length += here.distance(middle(&site, column - 1));
            }
            site.lengths.push(length);
            site.offsets.push(here.y);
        }
        let outline: Vec<Vec2> = border.iter().map(|p| site.place_of(*p).0).collect();
        site.ends = range(&mut outline.iter().map(|p| p.x));
        let nudge = (site.ends[1] - site.ends[0]) * 0.003;
        let span_at = |number: usize| {
            let s = site.ends[0] + (site.ends[1] - site.ends[0]) * number as f32 / (SPANS - 1) as f32;
            let s = s.clamp(site.ends[0] + nudge, (site.ends[1] - nudge).max(site.ends[0] + nudge));
            span(&outline, s).unwrap_or((heights[0], heights[1]))
        };
        site.spans = (0..SPANS).map(span_at).collect();
        site
    }

    /// A flat lamp with rounded corners. `across` and `up` are unit vectors, `across` points away
    /// from the centre plane, and the lamp shines along `outward`.
    pub fn flat(centre: Vec3, across: Vec3, up: Vec3, outward: Vec3, size: Vec2, depth: f32) -> LampSite {
        let loop_2d = rounded_rectangle(size.x / 2.0, size.y / 2.0, size.min_element() * 0.3);
        let border: Vec<Vec3> = loop_2d.iter().map(|p| centre + across * p.x + up * p.y).collect();
        let hit = |from: Vec3, way: Vec3, _: f32| {
            let along = (centre - from).dot(outward) / way.dot(outward);
            Some(from + way * along)
        };
        let skin = LampSkin { hit: &hit, normal: &|_| outward };
        LampSite::new(&border, outward, outward, depth, USUAL_YEAR, &skin)
    }

    fn angle_at(&self, column: f32) -> f32 {
        self.angles[0] + (self.angles[1] - self.angles[0]) * column / (COLUMNS - 1) as f32
    }

    fn height_at(&self, row: f32) -> f32 {
        self.heights[0] + (self.heights[1] - self.heights[0]) * row / (ROWS - 1) as f32
    }

    fn column_of(&self, angle: f32) -> f32 {
        let ratio = (angle - self.angles[0]) / (self.angles[1] - self.angles[0]).max(1e-6);
        (ratio * (COLUMNS - 1) as f32).clamp(0.0, (COLUMNS - 1) as f32)
    }

    fn ray(&self, angle: f32) -> Vec3 {
        let (sin, cos) = angle.sin_cos();
        self.ahead * cos + self.right * sin
    }

    /// Returns the distance of the lens from the axis.
    fn radius(&self, angle: f32, height: f32) -> f32 {
        let across = self.column_of(angle);
        let ratio = (height - self.heights[0]) / (self.heights[1] - self.heights[0]).max(1e-6);
        let upwards = (ratio * (ROWS - 1) as f32).clamp(0.0, (ROWS - 1) as f32);
        let along_row = |row: usize| cubic(across, COLUMNS, |column| self.radii[column * ROWS + row]);
        cubic(upwards, ROWS, along_row)
    }

    /// Returns the point `depth` metres behind the lens, towards the axis.
    fn point(&self, angle: f32, height: f32, depth: f32) -> Vec3 {
        let foot = self.right * self.axis.x + self.ahead * self.axis.y + self.up * height;
        foot + self.ray(angle) * (self.radius(angle, height) - depth)
    }

    fn angle_of(&self, length: f32) -> f32 {
        let last = COLUMNS - 1;
        if length <= 0.0 {
            return self.angle_at(length / self.lengths[1].max(1e-6));
        }
        let after = self.lengths.partition_point(|l| *l < length).clamp(1, last);
        let [low, high] = [self.lengths[after - 1], self.lengths[after]];
        self.angle_at((after - 1) as f32 + (length - low) / (high - low).max(1e-6))
    }

    /// Returns the place of a point in the unrolled lens, and its distance behind the lens.
    pub fn place_of(&self, p: Vec3) -> (Vec2, f32) {
        let flat = Vec2::new(p.dot(self.right), p.dot(self.ahead)) - self.axis;
        let (angle, height) = (flat.x.atan2(flat.y), p.dot(self.up));
        let column = self.column_of(angle);
        let before = (column as usize).min(COLUMNS - 2);
        let length =
            self.lengths[before] + (self.lengths[before + 1] - self.lengths[before]) * (column - before as f32);
        (Vec2::new(length, height), self.radius(angle, height) - flat.length())
    }

    /// Returns the point `depth` metres behind a place of the lens.
    fn behind(&self, p: Vec2, depth: f32) -> Vec3 {
        self.point(self.angle_of(p.x), p.y, depth)
    }

    /// Returns the direction from the axis out through a place.
    fn outward(&self, p: Vec2) -> Vec3 {
        self.ray(self.angle_of(p.x))
    }

    /// Returns the normal of the lens at a place.
    fn normal(&self, p: Vec2) -> Vec3 {
        let across = self.column_of(self.angle_of(p.x));
        let ratio = (p.y - self.heights[0]) / (self.heights[1] - self.heights[0]).max(1e-6);
        let upwards = ratio.clamp(0.0, 1.0) * (ROWS - 1) as f32;
        let (column, row) = ((across as usize).min(COLUMNS - 2), (upwards as usize).min(ROWS - 2));
        let (s, t) = (across - column as f32, upwards - row as f32);
        let at = |column: usize, row: usize| self.normals[column * ROWS + row];
        let low = at(column, row).lerp(at(column + 1, row), s);
        let high = at(column, row + 1).lerp(at(column + 1, row + 1), s);
        low.lerp(high, t).normalize_or(self.forward)
    }

    /// Returns the depth that the lamp may have at a place: the part that wraps round
    /// the body's corner is shallow.
    fn room(&self, p: Vec2) -> f32 {
        let normal = self.normal(p);
        let flat = Vec2::new(normal.x, normal.y).normalize_or(Vec2::X);
        let towards = flat.dot(Vec2::new(self.forward.x, self.forward.y));
        self.depth * (1.5 * towards - 0.25).clamp(0.28, 1.0)
    }

    /// Returns the width that the lens seems to have: the part of it that is seen from the
    /// vehicle's end, with an allowance for its length round the corner.
    fn seen_width(&self) -> f32 {
        let offset = |s: f32| self.behind(Vec2::new(s, 0.5 * (self.heights[0] + self.heights[1])), 0.0).y;
        let length = self.ends[1] - self.ends[0];
        length.min(SEEN_ROUND_CORNER * (offset(self.ends[1]) - offset(self.ends[0])).abs())
    }

    fn s_range(&self) -> (f32, f32) {
        (self.ends[0], self.ends[1])
    }

    /// Returns the lowest and highest place of the outline at an arc length. Beyond the ends
    /// it is that of the nearest end.
    fn span(&self, s: f32) -> (f32, f32) {
        let last = SPANS - 1;
        let ratio = ((s - self.ends[0]) / (self.ends[1] - self.ends[0]).max(1e-6)).clamp(0.0, 1.0) * last as f32;
        let before = (ratio as usize).min(last - 1);
        let (low, high) = (self.spans[before], self.spans[before + 1]);
        let t = ratio - before as f32;
        (low.0 + (high.0 - low.0) * t, low.1 + (high.1 - low.1) * t)
    }

    /// Returns the ratio of the way up the outline at a place.
    pub fn ratio_up(&self, p: Vec2) -> f32 {
        let (low, high) = self.span(p.x);
        ((p.y - low) / (high - low).max(1e-4)).clamp(0.0, 1.0)
    }

    /// Returns the arc length at a ratio of the way across, as seen from the vehicle's end.
    fn s_at(&self, ratio: f32) -> f32 {
        let (inner, outer) = self.s_range();
        let even = inner + (outer - inner) * ratio;
        let offset = |s: f32| {
            let column = self.column_of(self.angle_of(s));
            let before = (column as usize).min(COLUMNS - 2);
            self.offsets[before] + (self.offsets[before + 1] - self.offsets[before]) * (column - before as f32)
        };
        let (from, to) = (offset(inner), offset(outer));
        if (to - from) < 0.35 * (outer - inner) {
            return even;
        }
        let wanted = from + (to - from) * ratio;
        let steps = 64;
        let at = |step: i32| inner + (outer - inner) * step as f32 / steps as f32;
        let found = (0..=steps).map(at).find(|s| offset(*s) >= wanted).unwrap_or(even);
        // A mean of the place as seen from the end and the place as measured along the lens.
        found * 0.6 + even * 0.4
    }

    /// Returns the place at a ratio of the way across (seen from the end) and up, with the
    /// height of the outline there.
    fn at_ratio(&self, across: f32, up: f32) -> (Vec2, f32) {
        let s = self.s_at(across);
        let (low, high) = self.span(s);
        (Vec2::new(s, low + (high - low) * up), high - low)
    }

    /// Returns the place at a ratio of the way along the lens and up.
    fn along_ratio(&self, along: f32, up: f32) -> Vec2 {
        let (inner, outer) = self.s_range();
        let s = inner + (outer - inner) * along;
        let (low, high) = self.span(s);
        Vec2::new(s, low + (high - low) * up)
    }

    /// Returns the seat of a round light of some radius: its middle, moved back until its
    /// whole rim is `clear` metres behind the lens, and its direction, which is between
    /// the vehicle's and the lens's.
    fn seat(&self, p: Vec2, radius: f32, clear: f32) -> LampSeat {
        let normal = self.normal(p);
        let level = Vec3::new(normal.x, normal.y, normal.z * 0.4).normalize_or(normal);
        let axis = (self.forward * 0.6 + level * 0.4).normalize_or(self.forward);
        // Square lights stand upright however the lens leans.
        let side = axis.cross(Vec3::Z).normalize_or(self.right);
        let up = side.cross(axis);
        let mut centre = self.behind(p, clear);
        for _ in 0..4 {
            let least = (0..10)
                .map(|step| {
                    let (sin, cos) = (std::f32::consts::TAU * step as f32 / 10.0).sin_cos();
                    self.place_of(centre + (side * cos + up * sin) * radius).1
                })
                .fold(self.place_of(centre).1, f32::min);
            let short = (clear - least).max(0.0);
            centre -= axis * (short / axis.dot(self.outward(p)).max(0.5)).min(0.03);
        }
        LampSeat { centre, axis, side, up, radius }
    }

    /// Returns a bar with a soft section along places of the lens, `depth` metres behind it.
    fn strip(&self, line: &[Vec2], depth: &dyn Fn(Vec2) -> f32, [width, thick]: [f32; 2], closed: bool) -> Solid {
        let count = line.len();
        if count < 2 {
            return Solid::default();
        }
        let section = rounded_rectangle(width / 2.0, thick / 2.0, width.min(thick) * 0.45);
        let at: Vec<Vec3> = line.iter().map(|p| self.behind(*p, depth(*p))).collect();
        let ring = |i: usize| -> Vec<Vec3> {
            let [before, after] = if closed {
                [(i + count - 1) % count, (i + 1) % count]
            } else {
                [i.saturating_sub(1), (i + 1).min(count - 1)]
            };
            let out = self.outward(line[i]);
            let along = (at[after] - at[before]).normalize_or(self.right);
            let across = out.cross(along).normalize_or(self.up);
            section.iter().map(|p| at[i] + across * p.x + out * p.y).collect()
        };
        let mut loops: Vec<Vec<Vec3>> = (0..count).map(ring).collect();
        if closed {
            loops.push(ring(0));
        }
        Solid::lofted(&loops)
    }

    /// Returns a sheet that faces out of the lamp. `place` maps two numbers between 0
    /// and 1 to a place and a depth.
    fn sheet(&self, columns: usize, rows: usize, place: impl Fn(f32, f32) -> (Vec2, f32)) -> Solid {
        let ratio = |i: usize, of: usize| i as f32 / (of - 1) as f32;
        let solid = Solid::grid(columns, rows, false, |column, row| {
            let (p, depth) = place(ratio(column, columns), ratio(row, rows));
            self.behind(p, depth)
        });
        self.looking_out(solid)
    }

    /// Turns an open sheet's faces towards the lens.
    fn looking_out(&self, solid: Solid) -> Solid {
        if self.looks_out(&solid) { solid } else { solid.flipped() }
    }

    fn looks_out(&self, solid: &Solid) -> bool {
        let out = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| solid.points[i as usize]);
            let flat = Vec2::new(a.dot(self.right), a.dot(self.ahead)) - self.axis;
            (b - a).cross(c - a).dot(self.right * flat.x + self.ahead * flat.y)
        };
        solid.triangles.iter().map(out).sum::<f32>() >= 0.0
    }

    /// Returns places along the lower (`up` 0) or upper (1) edge, `inset` metres inside it, between
    /// two ratios of the lens's length.
    fn edge_line(&self, up: f32, [from, to]: [f32; 2], inset: f32) -> Vec<Vec2> {
        let (inner, outer) = self.s_range();
        (0..=28)
            .map(|step| {
                let s = inner + (outer - inner) * (from + (to - from) * step as f32 / 28.0);
                let (low, high) = self.span(s);
                let inset = inset.min((high - low) * 0.45);
                Vec2::new(s, (low + inset) + (high - low - 2.0 * inset) * up)
            })
            .collect()
    }

    /// Returns the places of the outline moved inwards, evenly spaced.
    fn inside_loop(&self, inset: f32) -> Vec<Vec2> {
        let (lower, upper) = (self.edge_line(0.0, [0.0, 1.0], inset), self.edge_line(1.0, [0.0, 1.0], inset));
        let (inner, outer) = self.s_range();
        let inside = |p: &Vec2| p.x > inner + inset && p.x < outer - inset;
        let mut line: Vec<Vec2> = lower.into_iter().filter(inside).collect();
        line.extend(upper.into_iter().rev().filter(inside));
        if line.len() < 8 { line } else { evenly_spaced(&line, 56) }
    }
}

/// Position of a round light.
#[derive(Debug, Clone, Copy)]
struct LampSeat {
    centre: Vec3,
    /// The direction the light shines.
    axis: Vec3,
    side: Vec3,
    up: Vec3,
    radius: f32,
}

impl LampSeat {
    /// Returns a profile (distance outward, radius as a ratio of the seat's)
    /// turned about the seat's axis.
    fn turned(&self, profile: &[(f32, f32)], segments: usize) -> Solid {
        let profile: Vec<Vec2> = profile.iter().map(|(a, r)| Vec2::new(*a, r * self.radius)).collect();
        self.set(Solid::revolved(&profile, segments))
    }

    /// Moves a solid about the origin, with y outward and z up, to the seat.
    fn set(&self, solid: Solid) -> Solid {
        // This side vector makes a turn, not a mirror image.
        let side = self.axis.cross(self.up);
        solid.bent(|q| self.centre + side * q.x + self.axis * q.y + self.up * q.z)
    }
}

/// Returns a smooth curve through the values at whole numbers.
fn cubic(at: f32, count: usize, value: impl Fn(usize) -> f32) -> f32 {
    let from = (at.max(0.0) as usize).min(count - 2);
    let t = at - from as f32;
    let [a, b, c, d] = [from.saturating_sub(1), from, from + 1, (from + 2).min(count - 1)].map(value);
    let (t2, t3) = (t * t, t * t * t);
    0.5 * (2.0 * b + (c - a) * t + (2.0 * a - 5.0 * b + 4.0 * c - d) * t2 + (3.0 * b - a - 3.0 * c + d) * t3)
}

fn span(outline: &[Vec2], u: f32) -> Option<(f32, f32)> {
    let mut found: Option<(f32, f32)> = None;
    for (i, a) in outline.iter().enumerate() {
        let b = outline[(i + 1) % outline.len()];
        if (a.x - u) * (b.x - u) <= 0.0 {
            let ratio = if (b.x - a.x).abs() < 1e-9 { 0.5 } else { (u - a.x) / (b.x - a.x) };
            let v = a.y + (b.y - a.y) * ratio;
            found = Some(found.map_or((v, v), |(low, high)| (low.min(v), high.max(v))));
        }
    }
    found
}

fn evenly_spaced(outline: &[Vec2], count: usize) -> Vec<Vec2> {
    let side = |i: usize| (outline[i], outline[(i + 1) % outline.len()]);
    let around: f32 = (0..outline.len()).map(|i| side(i).0.distance(side(i).1)).sum();
    let (mut at, mut walked, mut points) = (0, 0.0_f32, Vec::with_capacity(count));
    for step in 0..count {
        let wanted = around * step as f32 / count as f32;
        while at + 1 < outline.len() && walked + side(at).0.distance(side(at).1) < wanted {
            walked += side(at).0.distance(side(at).1);
            at += 1;
        }
        let (a, b) = side(at);
        points.push(a.lerp(b, ((wanted - walked) / a.distance(b).max(1e-9)).clamp(0.0, 1.0)));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    /// Positive outside a body with round corners, negative inside. It has no unit.
    fn outside(p: Vec3) -> f32 {
        ((p.x - 2.0) / 2.0).powi(4) + (p.y / 0.85).powi(4) - 1.0
    }

    fn normal(p: Vec3) -> Vec3 {
        Vec3::new(4.0 * ((p.x - 2.0) / 2.0).powi(3) / 2.0, 4.0 * (p.y / 0.85).powi(3) / 0.85, 0.0).normalize()
    }

    fn hit(from: Vec3, way: Vec3, length: f32) -> Option<Vec3> {
        let at = (0..400).map(|step| length * step as f32 / 400.0).find(|along| outside(from + way * *along) < 0.0)?;
        let (mut low, mut high) = ((at - length / 400.0).max(0.0), at);
        for _ in 0..16 {
            let middle = 0.5 * (low + high);
            if outside(from + way * middle) < 0.0 { high = middle } else { low = middle }
        }
        Some(from + way * high)
    }

    /// A lamp that wraps round a front corner.
    fn wrapped(year: u16) -> LampSite {
        let skin = |angle: f32, z: f32| {
            let (sin, cos) = angle.sin_cos();
            let reach = ((cos / 2.0).powi(4) + (sin / 0.85).powi(4)).powf(-0.25);
            Vec3::new(2.0 - reach * cos, reach * sin, z)
        };
        let loop_2d = rounded_rectangle(0.13, 0.08, 0.03);
        let border: Vec<Vec3> = loop_2d.iter().map(|p| skin(0.38 + p.x, 0.72 + p.y + 0.2 * p.x)).collect();
        let outward = border.iter().map(|p| normal(*p)).sum::<Vec3>().normalize();
        LampSite::new(&border, outward, -Vec3::X, 0.05, year, &LampSkin { hit: &hit, normal: &normal })
    }

    #[track_caller]
    fn assert_fits(site: &LampSite, mesh: &VehicleMesh, name: &str) {
        assert_sound(mesh, name);
        for p in mesh.surfaces.values().flat_map(|surface| &surface.positions) {
            let behind = site.place_of(Vec3::from(*p)).1;
            assert!(behind > -0.004 && behind < 0.16, "{name}: {p:?} is {behind} behind the lens");
        }
        assert!(mesh.triangle_count() < 17_000, "{name}: {}", mesh.triangle_count());
    }

    #[test]
    fn every_head_lamp_is_sound_and_stays_behind_its_lens() {
        use {MainLight as M, RunningLight as R};
        let mains = [M::Projectors, M::Bowl, M::Sealed, M::Modules, M::Matrix, M::Slits, M::None];
        let runnings = [
            R::Lower,
            R::Upper,
            R::Hook,
            R::Loop,
            R::Rings,
            R::Twin,
            R::Brow,
            R::Tick,
            R::Hammer,
            R::Blade,
            R::Dots,
            R::Claws,
            R::Brackets,
            R::Cee,
            R::Points,
            R::Fill,
            R::None,
        ];
        for year in [1990, 2001, 2006, 2020] {
            let site = wrapped(year);
            for (main, running) in mains.iter().flat_map(|main| runnings.iter().map(move |running| (*main, *running))) {
                let spec = HeadLamp { main, running, indicator: true, marker: true, ..HeadLamp::default() };
                for floor in [Material::LampHousing, Material::LampReflector] {
                    assert_fits(
                        &site,
                        &head_lamp(&site, &spec, floor).mesh,
                        &format!("{main:?} {running:?} of {year}"),
                    );
                }
            }
        }
    }

    #[test]
    fn every_tail_lamp_is_sound_and_stays_behind_its_lens() {
        use TailMotif as T;
        let motifs = [
            T::Panel,
            T::Rounds,
            T::Bars,
            T::Loop,
            T::Blade,
            T::Clasp,
            T::Stack,
            T::Wing,
            T::Twin,
            T::Claws,
            T::Rings,
            T::Pixels,
            T::Cee,
            T::Fibres,
            T::Hook,
            T::Bar,
        ];
        for year in [1990, 2006, 2020] {
            let site = wrapped(year);
            for motif in motifs {
                for (reverse_ratio, amber_ratio) in [(0.0, 0.0), (0.18, 0.1)] {
                    let spec = TailLamp { motif, reverse_ratio, amber_ratio, ..TailLamp::default() };
                    let filling = tail_lamp(&site, &spec);
                    assert_fits(&site, &filling.mesh, &format!("{motif:?} of {year}"));
                    assert!(filling.lens.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{motif:?}");
                }
            }
        }
    }

    #[test]
    fn places_of_a_lens_are_found_again() {
        let site = wrapped(2020);
        for (along, up) in [(0.1, 0.5), (0.5, 0.2), (0.9, 0.8)] {
            let p = site.along_ratio(along, up);
            let (found, depth) = site.place_of(site.behind(p, 0.02));
            assert!(found.distance(p) < 1e-3 && (depth - 0.02).abs() < 1e-3, "{p} {found} {depth}");
        }
    }

    #[test]
    fn what_wraps_round_the_corner_is_shallow() {
        let site = wrapped(2020);
        assert!(site.room(site.along_ratio(0.05, 0.5)) > 1.8 * site.room(site.along_ratio(0.95, 0.5)));
    }

    #[test]
    fn chambers_look_out_of_the_lamp() {
        let site = LampSite::flat(Vec3::new(4.4, 0.6, 0.9), Vec3::Y, Vec3::Z, Vec3::X, Vec2::new(0.3, 0.15), 0.04);
        let spec = TailLamp { motif: TailMotif::Stack, reverse_ratio: 0.0, ..TailLamp::default() };
        let mesh = tail_lamp(&site, &spec).mesh;
        assert!(mesh.surfaces[&Material::LampReflector].normals.iter().all(|n| n[0] > 0.2));
    }

    #[test]
    fn the_white_field_of_a_late_wide_lamp_is_a_window_in_red_glass() {
        let spec = TailLamp { reverse_ratio: 0.2, ..TailLamp::default() };
        for (year, has_window) in [(1995, false), (2015, true)] {
            let filling = tail_lamp(&wrapped(year), &spec);
            assert_eq!(filling.window.is_some(), has_window, "{year}");
            assert!(filling.lens.iter().any(|(_, material)| *material == Material::LampLens));
        }
    }

    #[test]
    fn every_fill_of_a_tail_lamp_is_sound() {
        use TailFill as F;
        let site = wrapped(2015);
        for fill in [F::Usual, F::Dark, F::Upright, F::Level, F::Prisms] {
            let spec = TailLamp { motif: TailMotif::Cee, fill, reflex: 0.2, ..TailLamp::default() };
            assert_fits(&site, &tail_lamp(&site, &spec).mesh, &format!("{fill:?}"));
        }
    }

    #[test]
    fn a_lamp_has_few_main_lights() {
        let site = wrapped(2020);
        let glass = |count: u32| {
            let spec = HeadLamp { main: MainLight::Modules, count, running: RunningLight::None, ..HeadLamp::default() };
            head_lamp(&site, &spec, Material::LampHousing).mesh.surfaces[&Material::LampGlass].triangle_count()
        };
        assert!(glass(6) <= 3 * glass(1));
    }
}

//! The painted panels in a sight, and how each of their points mirrors its surroundings and is
//! curved.
//!
//! One angle describes what a point mirrors: the elevation of the mirrored ray about a strip of
//! light at infinity that runs along the sight's horizontal axis. Lines of one angle are the edges
//! of such strips' images, from which an eye reads a panel's shape.

use super::sight::{Sight, SightPixel};
use glam::Vec3;
use std::ops::Range;

/// Panels smaller than this in the sight are trim.
const LEAST_PANEL_M2: f32 = 0.02;
/// Steeper surfaces (cosine to the eye) are checked from another side.
const FACING_LEAST: f32 = 0.2;
/// A panel ends at an edge: where its surface turns by more than this from one pixel to the next,
/// and more tightly than at this radius.
const BREAK_DEGREES: f32 = 8.0;
const BREAK_RADIUS_M: f32 = 0.0143;
/// A panel ends where it steps by more than this beyond its slope.
const BREAK_STEP_M: f32 = 0.012;
/// Standard deviation of the Gaussian by which a panel is smoothed: finer ripples belong to a mesh,
/// not to a shape.
const SMOOTHED_OVER_M: f32 = 0.006;
/// Points nearer to a panel's border than this are left out, because there smoothing has neighbours
/// on one side only.
const BORDER_M: f32 = 0.008;

/// A point is extruded if the angle changes by less than this along the strip.
const EXTRUDED_BELOW_DEGREES_PER_M: f32 = 5.0;
/// A point is dead if the angle changes by less than this in every direction on the surface.
const DEAD_BELOW_DEGREES_PER_M: f32 = 20.0;
/// A point is a fillet if its smallest radius of curvature is in this range.
const FILLET_M: Range<f32> = 0.05..0.15;
/// A point is a saddle if its Gaussian curvature is below this.
const SADDLE_BELOW_PER_M2: f32 = -0.05;

/// A connected piece of paint, smoothed: the pixels of the smallest rectangle around it, row by row
/// from below.
pub struct PaintPanel {
    pub pitch_m: f32,
    /// Column and row in the sight of its first pixel.
    pub left: usize,
    pub bottom: usize,
    pub columns: usize,
    pub rows: usize,
    /// `None` outside the panel and along its border.
    pub points: Vec<Option<Point>>,
}

#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// The mirrored angle, in degrees.
    pub angle: f32,
    /// Change of the angle along the strip, without sign; degrees per metre of the sight.
    pub change_along: f32,
    /// Change of the angle in the direction in which it is greatest: per metre of the sight
    /// (`change_seen`) and of the surface (`change`), in degrees.
    pub change_seen: f32,
    pub change: f32,
    /// The smaller of the two radii of curvature.
    pub radius_m: f32,
    /// Product of the two curvatures.
    pub gaussian_per_m2: f32,
    pub area_m2: f32,
}

impl Point {
    pub fn is_extruded(&self) -> bool {
        self.change_along < EXTRUDED_BELOW_DEGREES_PER_M
    }

    pub fn is_dead(&self) -> bool {
        self.change < DEAD_BELOW_DEGREES_PER_M
    }

    pub fn is_fillet(&self) -> bool {
        FILLET_M.contains(&self.radius_m)
    }

    pub fn is_saddle(&self) -> bool {
        self.gaussian_per_m2 < SADDLE_BELOW_PER_M2
    }
}

/// Returns the panels between two columns of a sight.
pub fn panels(sight: &Sight, columns: Range<usize>) -> Vec<PaintPanel> {
    let whole = unbroken(sight);
    let is_kept: Vec<bool> = (0..sight.pixels.len())
        .map(|index| {
            let faces = sight.pixels[index].is_some_and(|pixel| pixel.normal.z > FACING_LEAST);
            whole[index] && faces && sight.is_paint(index) && columns.contains(&(index % sight.columns))
        })
        .collect();
    let least_pixels = (LEAST_PANEL_M2 / (sight.pitch_m * sight.pitch_m)) as usize;
    let islands = islands(is_kept, sight.columns).into_iter().filter(|island| island.len() >= least_pixels);
    islands.map(|island| PaintPanel::new(sight, &island)).collect()
}

/// Returns, for each pixel, true if the surface continues smoothly to its four neighbours.
fn unbroken(sight: &Sight) -> Vec<bool> {
    let least_cosine = BREAK_DEGREES.to_radians().max(sight.pitch_m / BREAK_RADIUS_M).cos();
    let go_together = |a: Option<SightPixel>, b: Option<SightPixel>, way: Vec3| {
        let (Some(a), Some(b)) = (a, b) else { return false };
        let both = a.normal + b.normal;
        let expected = -both.dot(way) / both.z.max(1e-3) * sight.pitch_m;
        a.normal.dot(b.normal) >= least_cosine && (b.nearness - a.nearness - expected).abs() <= BREAK_STEP_M
    };
    let mut whole = vec![true; sight.pixels.len()];
    for index in 0..sight.pixels.len() {
        let right = (index % sight.columns + 1 < sight.columns).then_some((index + 1, Vec3::X));
        let upper = (index + sight.columns < sight.pixels.len()).then_some((index + sight.columns, Vec3::Y));
        for (neighbour, way) in [right, upper].into_iter().flatten() {
            if !go_together(sight.pixels[index], sight.pixels[neighbour], way) {
                whole[index] = false;
                whole[neighbour] = false;
            }
        }
    }
    whole
}

/// Returns the connected groups of kept pixels.
fn islands(mut is_kept: Vec<bool>, columns: usize) -> Vec<Vec<usize>> {
    let mut islands = Vec::new();
    for start in 0..is_kept.len() {
        if !is_kept[start] {
            continue;
        }
        is_kept[start] = false;
        let mut island = vec![start];
        let mut next = 0;
        while let Some(&at) = island.get(next) {
            next += 1;
            for neighbour in neighbours(at, columns, is_kept.len()) {
                if is_kept[neighbour] {
                    is_kept[neighbour] = false;
                    island.push(neighbour);
                }
            }
        }
        islands.push(island);
    }
    islands
}

fn neighbours(at: usize, columns: usize, count: usize) -> impl Iterator<Item = usize> {
    let column = at % columns;
    let left = (column > 0).then(|| at - 1);
    let right = (column + 1 < columns).then(|| at + 1);
    let lower = (at >= columns).then(|| at - columns);
    let upper = (at + columns < count).then(|| at + columns);
    [left, right, lower, upper].into_iter().flatten()
}

impl PaintPanel {
    fn new(sight: &Sight, island: &[usize]) -> PaintPanel {
        let place = |index: usize| (index % sight.columns, index / sight.columns);
        let (mut left, mut bottom, mut right, mut top) = (usize::MAX, usize::MAX, 0, 0);
        for (x, y) in island.iter().map(|index| place(*index)) {
            (left, right) = (left.min(x), right.max(x));
            (bottom, top) = (bottom.min(y), top.max(y));
        }
        let (columns, rows) = (right - left + 1, top - bottom + 1);
        let mut raw = vec![None; columns * rows];
        for index in island {
            let (x, y) = place(*index);
            raw[(y - bottom) * columns + x - left] = sight.pixels[*index];
        }
        let smooth = smoothed(&raw, columns, sight.pitch_m);
        let border = (BORDER_M / sight.pitch_m).round().max(1.0) as usize;
        let inner = inner(&raw, columns, border);
        let points = (0..raw.len()).map(|at| {
            let facing = raw[at].filter(|_| inner[at])?.normal.z;
            Some(point(&smooth, at, columns, sight.pitch_m, facing))
        });
        PaintPanel { pitch_m: sight.pitch_m, left, bottom, columns, rows, points: points.collect() }
    }
}

/// A smoothed pixel.
#[derive(Clone, Copy, Default)]
struct SmoothedPixel {
    nearness: f32,
    normal: Vec3,
    /// Elevation of the mirrored ray about the strip; degrees.
    angle: f32,
}

impl SmoothedPixel {
    fn new(nearness: f32, normal: Vec3) -> SmoothedPixel {
        let n = normal.normalize_or(Vec3::Z);
        let angle = (2.0 * n.z * n.y).atan2(2.0 * n.z * n.z - 1.0).to_degrees();
        SmoothedPixel { nearness, normal: n, angle }
    }
}

/// Smooths each pixel of the panel by a Gaussian over the pixels that belong to the panel.
fn smoothed(raw: &[Option<SightPixel>], columns: usize, pitch_m: f32) -> Vec<SmoothedPixel> {
    let sigma = SMOOTHED_OVER_M / pitch_m;
    let reach = (4.0 * sigma).round() as usize;
    let weights: Vec<f32> = (0..=reach).map(|step| (-0.5 * (step as f32 / sigma).powi(2)).exp()).collect();
    // Weight, nearness, normal. The nearness is relative to that of one pixel, which keeps its last
    // digits.
    let first = raw.iter().flatten().next().map_or(0.0, |pixel| pixel.nearness);
    let given: Vec<[f32; 5]> = raw
        .iter()
        .map(|pixel| {
            pixel.map_or([0.0; 5], |SightPixel { nearness, normal: n, .. }| [1.0, nearness - first, n.x, n.y, n.z])
        })
        .collect();
    let add = |sum: &mut [f32; 5], value: &[f32; 5], weight: f32| {
        for (sum, value) in sum.iter_mut().zip(value) {
            *sum += value * weight;
        }
    };
    let mut across = vec![[0.0; 5]; raw.len()];
    for (from, to) in given.chunks_exact(columns).zip(across.chunks_exact_mut(columns)) {
        for (x, value) in from.iter().enumerate().filter(|(_, value)| value[0] > 0.0) {
            add(&mut to[x], value, weights[0]);
            for (step, weight) in weights.iter().enumerate().skip(1) {
                if x >= step {
                    add(&mut to[x - step], value, *weight);
                }
                if x + step < columns {
                    add(&mut to[x + step], value, *weight);
                }
            }
        }
    }
    let rows = raw.len() / columns;
    let mut places = vec![SmoothedPixel::default(); raw.len()];
    for at in (0..raw.len()).filter(|at| raw[*at].is_some()) {
        let (x, y) = (at % columns, at / columns);
        let mut sum = [0.0; 5];
        for row in y.saturating_sub(reach)..(y + reach + 1).min(rows) {
            add(&mut sum, &across[row * columns + x], weights[row.abs_diff(y)]);
        }
        let [weight, nearness, nx, ny, nz] = sum;
        places[at] = SmoothedPixel::new(nearness / weight, Vec3::new(nx, ny, nz));
    }
    places
}

/// Returns, for each pixel, true if it is farther than `border` steps from the panel's end.
fn inner(raw: &[Option<SightPixel>], columns: usize, border: usize) -> Vec<bool> {
    let mut kept: Vec<bool> = raw.iter().map(Option::is_some).collect();
    for _ in 0..border {
        let before = kept.clone();
        for (at, kept) in kept.iter_mut().enumerate() {
            let around = neighbours(at, columns, before.len()).filter(|neighbour| before[*neighbour]).count();
            *kept = *kept && around == 4;
        }
    }
    kept
}

/// Computes an inner pixel's point from the differences to its neighbours.
fn point(places: &[SmoothedPixel], at: usize, columns: usize, pitch_m: f32, facing: f32) -> Point {
    let [left, right, lower, upper] = [at - 1, at + 1, at - columns, at + columns].map(|index| places[index]);
    let per_m = 0.5 / pitch_m;
    let angle_x = (right.angle - left.angle) * per_m;
    let angle_y = (upper.angle - lower.angle) * per_m;
    let (normal_x, normal_y) = ((right.normal - left.normal) * per_m, (upper.normal - lower.normal) * per_m);
    let place_x = Vec3::new(1.0, 0.0, (right.nearness - left.nearness) * per_m);
    let place_y = Vec3::new(0.0, 1.0, (upper.nearness - lower.nearness) * per_m);
    // First and second fundamental form of the surface over the sight.
    let (e, f, g) = (place_x.dot(place_x), place_x.dot(place_y), place_y.dot(place_y));
    let (l, m, n) =
        (normal_x.dot(place_x), 0.5 * (normal_x.dot(place_y) + normal_y.dot(place_x)), normal_y.dot(place_y));
    let square = (e * g - f * f).max(1e-9);
    let mean = (e * n - 2.0 * f * m + g * l) / (2.0 * square);
    let gaussian = (l * n - m * m) / square;
    let apart = (mean * mean - gaussian).max(0.0).sqrt();
    let greatest = (mean.abs() + apart).max(1e-6);
    let change = (g * angle_x * angle_x - 2.0 * f * angle_x * angle_y + e * angle_y * angle_y) / square;
    Point {
        angle: places[at].angle,
        change_along: angle_x.abs(),
        change_seen: angle_x.hypot(angle_y),
        change: change.max(0.0).sqrt(),
        radius_m: 1.0 / greatest,
        gaussian_per_m2: gaussian,
        area_m2: pitch_m * pitch_m / facing.clamp(FACING_LEAST, 1.0),
    }
}

//! Drawn curves: uniform cubic B-splines over control points with optional corner radii, and tables
//! of one variable made from them. Distances to closed curves are in `outline`.

use glam::Vec2;

use super::blend::bump;

/// One control point of a drawn curve, written `[a, b]` or `[a, b, radius]` in a sheet, in metres.
///
/// A radius makes the point a corner, which becomes three control points: `radius` before the
/// corner, at it, and `radius` after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ControlPoint {
    pub at: Vec2,
    pub radius: f32,
}

impl<'de> serde::Deserialize<'de> for ControlPoint {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Vec::<f32>::deserialize(deserializer)?;
        match numbers[..] {
            [a, b] => Ok(Self { at: Vec2::new(a, b), radius: 0.0 }),
            [a, b, radius] if radius >= 0.0 => Ok(Self { at: Vec2::new(a, b), radius }),
            _ => Err(serde::de::Error::custom("a point is [a, b] or [a, b, radius] with radius >= 0")),
        }
    }
}

/// Replaces each corner by its three points. `closed` means that the first point follows the last.
fn expand_corners(points: &[ControlPoint], closed: bool) -> Vec<Vec2> {
    let count = points.len();
    let mut expanded = Vec::with_capacity(count * 2);
    for (index, point) in points.iter().enumerate() {
        let before = (index > 0).then(|| points[index - 1]).or(closed.then(|| points[count - 1]));
        let after = points.get(index + 1).copied().or(closed.then(|| points[0]));
        let (Some(before), Some(after), true) = (before, after, point.radius > 0.0) else {
            expanded.push(point.at);
            continue;
        };
        let towards = |other: Vec2| {
            let way = other - point.at;
            // Two neighbouring corners must not pass each other.
            point.at + way.normalize_or_zero() * point.radius.min(way.length() * 0.45)
        };
        expanded.extend([towards(before.at), point.at, towards(after.at)]);
    }
    expanded
}

/// Returns the weights of the four control points around parameter `t` in 0..1.
pub fn cubic_weights(t: f32) -> [f32; 4] {
    const SIXTH: f32 = 1.0 / 6.0;
    let s = 1.0 - t;
    let (t2, t3) = (t * t, t * t * t);
    let (from_second, from_third) = (3.0 * t3 - 6.0 * t2 + 4.0, -3.0 * t3 + 3.0 * t2 + 3.0 * t + 1.0);
    // A field consists mostly of weights, and four divisions take longer than the
    // rest of this function.
    [s * s * s * SIXTH, from_second * SIXTH, from_third * SIXTH, t3 * SIXTH]
}

fn span_points(control: [Vec2; 4], steps: usize, samples: &mut Vec<Vec2>) {
    for step in 0..steps {
        let weights = cubic_weights(step as f32 / steps as f32);
        samples.push((0..4).map(|i| control[i] * weights[i]).sum());
    }
}

fn steps_for(control: [Vec2; 4], step_m: f32) -> usize {
    ((control[1].distance(control[2]) / step_m).ceil() as usize).clamp(2, 64)
}

/// Returns points along the closed curve, about `step_m` apart. The last joins the first.
pub fn sample_closed(points: &[ControlPoint], step_m: f32) -> Vec<Vec2> {
    let control = expand_corners(points, true);
    let count = control.len();
    let mut samples = Vec::new();
    for i in 0..count {
        let four = [control[(i + count - 1) % count], control[i], control[(i + 1) % count], control[(i + 2) % count]];
        span_points(four, steps_for(four, step_m), &mut samples);
    }
    samples
}

/// Returns points along the open curve, which starts and ends at its first and last control points.
pub fn sample_open(points: &[ControlPoint], step_m: f32) -> Vec<Vec2> {
    let inner = expand_corners(points, false);
    let (Some(&first), Some(&last)) = (inner.first(), inner.last()) else { return Vec::new() };
    // Reflected phantom ends make the spline pass through its ends.
    let second = inner.get(1).copied().unwrap_or(first);
    let before_last = inner.len().checked_sub(2).map_or(last, |i| inner[i]);
    let mut control = vec![first * 2.0 - second];
    control.extend(&inner);
    control.push(last * 2.0 - before_last);
    let mut samples = Vec::new();
    for four in control.windows(4) {
        let four = [four[0], four[1], four[2], four[3]];
        span_points(four, steps_for(four, step_m), &mut samples);
    }
    samples.push(last);
    samples
}

/// A smooth function of one variable: samples on an even grid, blended with cubic
/// B-spline weights (C2).
#[derive(Debug, Clone)]
pub struct SampledCurve {
    start: f32,
    inverse_step: f32,
    values: Vec<f32>,
}

const TABLE_STEP_M: f32 = 0.02;

impl SampledCurve {
    pub fn constant(value: f32) -> Self {
        Self { start: 0.0, inverse_step: 1.0, values: vec![value] }
    }

    /// Returns the curve drawn by `points`, constant beyond its ends. The first number of a point
    /// is the variable, which never decreases.
    pub fn drawn(points: &[ControlPoint]) -> Self {
        let samples = sample_open(points, TABLE_STEP_M * 0.5);
        let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return Self::constant(0.0) };
        let count = (((last.x - first.x) / TABLE_STEP_M).ceil() as usize).clamp(1, 4096) + 1;
        let step = ((last.x - first.x) / (count - 1) as f32).max(1e-6);
        let mut values = Vec::with_capacity(count);
        let mut segment = 0;
        for i in 0..count {
            let x = first.x + step * i as f32;
            while segment + 2 < samples.len() && samples[segment + 1].x < x {
                segment += 1;
            }
            let (a, b) = (samples[segment], samples[(segment + 1).min(samples.len() - 1)]);
            let ratio = if b.x > a.x { ((x - a.x) / (b.x - a.x)).clamp(0.0, 1.0) } else { 0.0 };
            values.push(a.y + (b.y - a.y) * ratio);
        }
        Self { start: first.x, inverse_step: 1.0 / step, values }
    }

    /// Returns the table averaged over `reach` to both sides, weighted towards the middle. It is
    /// extended straight beyond its ends, so a straight line stays unchanged.
    pub fn faired(self, reach: f32) -> Self {
        let last = self.values.len() as isize - 1;
        let away = (reach * self.inverse_step).ceil() as isize;
        if last < 2 || away < 1 {
            return self;
        }
        let drawn = |i: isize| {
            let value = |i: isize| self.values[i.clamp(0, last) as usize];
            // Beyond an end the table is rotated about the end point.
            match i {
                _ if i < 0 => 2.0 * value(0) - value(-i),
                _ if i > last => 2.0 * value(last) - value(2 * last - i),
                _ => value(i),
            }
        };
        let weights: Vec<f32> = (-away..=away).map(|i| bump(i as f32 / (away + 1) as f32)).collect();
        let total: f32 = weights.iter().sum();
        let averaged = |i: isize| (-away..=away).zip(&weights).map(|(d, w)| w * drawn(i + d)).sum::<f32>() / total;
        Self { values: (0..=last).map(averaged).collect(), ..self }
    }

    /// Returns the largest convex table that is nowhere above this one. It fills hollows of a flank
    /// whose inset the table holds.
    pub fn convex(self) -> Self {
        let mut hull: Vec<(usize, f32)> = Vec::new();
        for (i, value) in self.values.iter().copied().enumerate() {
            while let [.., (ai, a), (bi, b)] = hull[..]
                && (b - a) * (i - ai) as f32 >= (value - a) * (bi - ai) as f32
            {
                hull.pop();
            }
            hull.push((i, value));
        }
        let mut values = self.values;
        for pair in hull.windows(2) {
            let [(ai, a), (bi, b)] = [pair[0], pair[1]];
            for (step, value) in values[ai..bi].iter_mut().enumerate() {
                *value = a + (b - a) * step as f32 / (bi - ai) as f32;
            }
        }
        Self { values, ..self }
    }

    /// Returns the largest value of the table.
    pub fn highest(&self) -> f32 {
        self.values.iter().copied().fold(f32::MIN, f32::max)
    }

    #[inline]
    pub fn at(&self, x: f32) -> f32 {
        let count = self.values.len();
        // Cells are counted from one before the first, because then truncation rounds down, which
        // is quicker than a floor.
        let position = ((x - self.start) * self.inverse_step).clamp(-1.0, count as f32) + 1.0;
        let cell = position as usize;
        let weights = cubic_weights(position - cell as f32);
        if cell >= 2
            && let Some(four) = self.values.get(cell - 2..cell + 2)
        {
            return four[0] * weights[0] + four[1] * weights[1] + four[2] * weights[2] + four[3] * weights[3];
        }
        let value = |i: usize| self.values[i.saturating_sub(2).min(count - 1)];
        (0..4).map(|i| weights[i] * value(cell + i)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(a: f32, b: f32, radius: f32) -> ControlPoint {
        ControlPoint { at: Vec2::new(a, b), radius }
    }

    #[test]
    fn weights_sum_to_one_and_are_never_negative() {
        for step in 0..=20 {
            let weights = cubic_weights(step as f32 / 20.0);
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
            assert!(weights.iter().all(|w| *w >= 0.0));
        }
    }

    #[test]
    fn an_open_curve_keeps_its_ends_and_its_hull() {
        let samples = sample_open(&[point(0.0, 0.0, 0.0), point(1.0, 1.0, 0.0), point(2.0, 0.0, 0.0)], 0.05);
        assert!(samples[0].distance(Vec2::ZERO) < 1e-6);
        assert!(samples.last().is_some_and(|p| p.distance(Vec2::new(2.0, 0.0)) < 1e-6));
        assert!(samples.iter().all(|p| (-1e-6..=1.0).contains(&p.y)));
    }

    #[test]
    fn a_smaller_radius_comes_nearer_to_its_corner() {
        let nearest = |radius: f32| {
            let square =
                [point(0.0, 0.0, radius), point(1.0, 0.0, radius), point(1.0, 1.0, radius), point(0.0, 1.0, radius)];
            sample_closed(&square, 0.01).iter().map(|p| p.length()).fold(f32::MAX, f32::min)
        };
        assert!(nearest(0.02) < 0.01);
        assert!(nearest(0.1) > nearest(0.02));
    }

    #[test]
    fn a_table_of_a_straight_line_is_that_line() {
        let table = SampledCurve::drawn(&[point(0.0, 1.0, 0.0), point(1.0, 2.0, 0.0), point(2.0, 3.0, 0.0)]);
        for step in 2..18 {
            let x = step as f32 * 0.1;
            assert!((table.at(x) - (1.0 + x)).abs() < 2e-3, "{x}");
        }
        assert!((table.at(-5.0) - 1.0).abs() < 1e-3);
        assert!((table.at(9.0) - 3.0).abs() < 1e-3);
    }
}

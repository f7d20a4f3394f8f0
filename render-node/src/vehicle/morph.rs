//! The warp from a sheet, drawn at its own dimensions, to a vehicle's real dimensions: a
//! monotone cubic in x through nose, axles and tail, a monotone cubic in z through ground, hub
//! and roof, and linear in y.

use glam::{Vec2, Vec3};

use super::bend::Bend;

/// A monotone cubic (PCHIP, Fritsch and Carlson 1980) through a few knots, straight beyond them.
#[derive(Debug, Clone)]
pub struct MonotoneCurve {
    knots: Vec<(f32, f32)>,
    slopes: Vec<f32>,
}

impl MonotoneCurve {
    /// `knots` must rise in both numbers, and there must be at least two.
    pub fn new(knots: Vec<(f32, f32)>) -> Self {
        let count = knots.len();
        let width: Vec<f32> = knots.windows(2).map(|k| k[1].0 - k[0].0).collect();
        let secant: Vec<f32> = knots.windows(2).map(|k| (k[1].1 - k[0].1) / (k[1].0 - k[0].0)).collect();
        let slopes = (0..count)
            .map(|i| {
                if i == 0 || i == count - 1 {
                    return secant[i.min(count - 2)];
                }
                let (h0, h1, d0, d1) = (width[i - 1], width[i], secant[i - 1], secant[i]);
                let (w0, w1) = (2.0 * h1 + h0, h1 + 2.0 * h0);
                (w0 + w1) / (w0 / d0 + w1 / d1)
            })
            .collect();
        Self { knots, slopes }
    }

    pub fn at(&self, x: f32) -> f32 {
        let last = self.knots.len() - 1;
        let (first_knot, last_knot) = (self.knots[0], self.knots[last]);
        if x <= first_knot.0 {
            return first_knot.1 + (x - first_knot.0) * self.slopes[0];
        }
        if x >= last_knot.0 {
            return last_knot.1 + (x - last_knot.0) * self.slopes[last];
        }
        let mut i = 0;
        while x > self.knots[i + 1].0 {
            i += 1;
        }
        let ((x0, y0), (x1, y1)) = (self.knots[i], self.knots[i + 1]);
        let h = x1 - x0;
        let t = (x - x0) / h;
        let (t2, t3) = (t * t, t * t * t);
        (2.0 * t3 - 3.0 * t2 + 1.0) * y0
            + (t3 - 2.0 * t2 + t) * h * self.slopes[i]
            + (-2.0 * t3 + 3.0 * t2) * y1
            + (t3 - t2) * h * self.slopes[i + 1]
    }
}

/// The few lengths, in metres, that define a vehicle's stance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stance {
    pub length: f32,
    pub width: f32,
    pub height: f32,
    pub front_axle_x: f32,
    pub rear_axle_x: f32,
    pub hub_z: f32,
}

/// Maps between real space (the vehicle) and sheet space (the drawing).
#[derive(Debug, Clone)]
pub struct Morph {
    sheet_x: MonotoneCurve,
    sheet_z: MonotoneCurve,
    real_x: MonotoneCurve,
    real_z: MonotoneCurve,
    y_scale: f32,
    /// Maps measured positions to the drawn ones, in real space.
    bend: Option<Bend>,
}

/// Number of iterations of the inverse of a bend. Each reduces the error to about a tenth.
const BEND_STEPS: usize = 6;

impl Morph {
    pub fn new(sheet: Stance, real: Stance) -> Self {
        let x = |from: Stance, to: Stance| {
            MonotoneCurve::new(vec![
                (0.0, 0.0),
                (from.front_axle_x, to.front_axle_x),
                (from.rear_axle_x, to.rear_axle_x),
                (from.length, to.length),
            ])
        };
        let z = |from: Stance, to: Stance| {
            MonotoneCurve::new(vec![(0.0, 0.0), (from.hub_z, to.hub_z), (from.height, to.height)])
        };
        Self {
            sheet_x: x(real, sheet),
            sheet_z: z(real, sheet),
            real_x: x(sheet, real),
            real_z: z(sheet, real),
            y_scale: sheet.width / real.width,
            bend: None,
        }
    }

    /// Adds a bend of the side view.
    pub fn bend(&mut self, bend: Bend) {
        self.bend = Some(bend);
    }

    /// Multiplies real widths by `factor`, to bring the measured width of a first
    /// mesh to the wanted one.
    pub fn widen(&mut self, factor: f32) {
        self.y_scale /= factor;
    }

    pub fn to_sheet(&self, p: Vec3) -> Vec3 {
        let side = Vec2::new(p.x, p.z);
        let side = self.bend.as_ref().map_or(side, |bend| side + bend.offset(side));
        Vec3::new(self.sheet_x.at(side.x), p.y * self.y_scale, self.sheet_z.at(side.y))
    }

    /// Maps from sheet to real space: exact at the knots, and within millimetres between them. It
    /// is for positions of small parts, never for fields.
    pub fn to_real(&self, p: Vec3) -> Vec3 {
        let straight = Vec2::new(self.real_x.at(p.x), self.real_z.at(p.z));
        let side = self
            .bend
            .as_ref()
            .map_or(straight, |bend| (0..BEND_STEPS).fold(straight, |side, _| straight - bend.offset(side)));
        Vec3::new(side.x, p.y / self.y_scale, side.y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_passes_its_knots_and_never_turns_back() {
        let curve = MonotoneCurve::new(vec![(0.0, 0.0), (0.8, 0.9), (3.4, 3.2), (4.2, 4.6)]);
        for (x, y) in [(0.0, 0.0), (0.8, 0.9), (3.4, 3.2), (4.2, 4.6)] {
            assert!((curve.at(x) - y).abs() < 1e-5);
        }
        assert!((-20..120).all(|i| curve.at((i + 1) as f32 * 0.05) > curve.at(i as f32 * 0.05)));
    }

    #[test]
    fn a_morph_to_the_same_stance_changes_nothing() {
        let stance =
            Stance { length: 4.2, width: 1.8, height: 1.45, front_axle_x: 0.85, rear_axle_x: 3.47, hub_z: 0.32 };
        let morph = Morph::new(stance, stance);
        let p = Vec3::new(1.7, 0.4, 1.1);
        assert!(morph.to_sheet(p).distance(p) < 1e-5 && morph.to_real(p).distance(p) < 1e-5);
    }
}

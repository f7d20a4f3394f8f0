//! A drawing of a sheet, prepared for queries: which side of its curve and of its
//! limits a point lies on.

use glam::{Vec2, Vec3};

use super::curve::ControlPoint;
use super::outline::{DistanceGrid, Outline};
use super::sheet::{Drawing, DrawnIn};

/// Spacing of the points of a curve. It is fine enough for lamps, whose
/// smallest radii are about 1 cm.
const CURVE_STEP_M: f32 = 0.006;

/// Spacing for judging how well another outline follows its curve; finer than anything visible.
const EXACT_STEP_M: f32 = 0.001;

/// Returns the curve of a drawing, mirrored if the drawing says so.
pub(super) fn outline_of(drawing: &Drawing, step_m: f32) -> Outline {
    let mut points = drawing.curve.clone();
    if drawing.mirror {
        let flip = |p: &ControlPoint| match drawing.view {
            DrawnIn::Front | DrawnIn::Rear => ControlPoint { at: Vec2::new(-p.at.x, p.at.y), radius: p.radius },
            DrawnIn::Side | DrawnIn::Top => ControlPoint { at: Vec2::new(p.at.x, -p.at.y), radius: p.radius },
        };
        points.extend(drawing.curve.iter().rev().map(flip));
    }
    Outline::drawn(&points, step_m)
}

/// Projects a point of sheet space into a view: its position on paper, and its position
/// along the viewing axis.
fn seen(view: DrawnIn, p: Vec3) -> (Vec2, f32) {
    match view {
        DrawnIn::Front | DrawnIn::Rear => (Vec2::new(p.y, p.z), p.x),
        DrawnIn::Side => (Vec2::new(p.x, p.z), p.y),
        DrawnIn::Top => (Vec2::new(p.x, p.y), p.z),
    }
}

/// Returns the limits along the viewing axis, with the defaults of the view.
fn range_of(drawing: &Drawing, length: f32, height: f32) -> [f32; 2] {
    drawing.range.unwrap_or(match drawing.view {
        DrawnIn::Front => [-1.0, 0.35 * length],
        DrawnIn::Rear => [0.65 * length, length + 1.0],
        DrawnIn::Side => [-10.0, 10.0],
        DrawnIn::Top => [0.45 * height, 10.0],
    })
}

/// A drawing that is queried only a few times, so no grid is built for it.
#[derive(Debug, Clone)]
pub struct PlainDrawing {
    view: DrawnIn,
    pub bowed: bool,
    outline: Outline,
    pub range: [f32; 2],
}

impl PlainDrawing {
    pub fn new(drawing: &Drawing, length: f32, height: f32) -> Self {
        Self {
            view: drawing.view,
            bowed: drawing.bowed,
            outline: outline_of(drawing, CURVE_STEP_M),
            range: range_of(drawing, length, height),
        }
    }

    /// True if a point of sheet space lies within the curve and its limits.
    pub fn contains(&self, p: Vec3) -> bool {
        let (on_paper, along) = seen(self.view, p);
        let [near, far] = self.range;
        (near..=far).contains(&along) && self.outline.distance(on_paper) < 0.0
    }

    /// Returns the bounds on paper.
    pub fn paper(&self) -> (Vec2, Vec2) {
        self.outline.bounds()
    }
}

/// A drawing that is queried very often.
#[derive(Debug, Clone)]
pub struct FieldDrawing {
    view: DrawnIn,
    pub bowed: bool,
    grid: DistanceGrid,
    /// The curve itself, if it has to be distinguished from the grid's approximation.
    exact: Option<Outline>,
    low: Vec2,
    high: Vec2,
    pub range: [f32; 2],
}

impl FieldDrawing {
    pub fn new(drawing: &Drawing, length: f32, height: f32) -> Self {
        let outline = outline_of(drawing, CURVE_STEP_M);
        let (low, high) = outline.bounds();
        let range = range_of(drawing, length, height);
        // Lamps and badges need their corners; a door does not.
        let extent = high - low;
        let step_m = (extent.max_element() / 80.0).min(extent.min_element() / 6.0).clamp(0.002, 0.008);
        let grid = DistanceGrid::new(&outline, step_m, 0.06);
        Self { view: drawing.view, bowed: drawing.bowed, grid, exact: None, low, high, range }
    }

    /// Creates a drawing that computes distances from the curve itself, which is slow.
    pub fn exact(drawing: &Drawing, length: f32, height: f32) -> Self {
        Self { exact: Some(outline_of(drawing, EXACT_STEP_M)), ..Self::new(drawing, length, height) }
    }

    /// Returns the distance to the curve on paper and the distance beyond the limits, both negative
    /// inside. `p` is in sheet space with y >= 0.
    pub fn distances(&self, p: Vec3) -> (f32, f32) {
        let (on_paper, along) = seen(self.view, p);
        let outside = (self.low - on_paper).max(on_paper - self.high).max(Vec2::ZERO).length();
        let curve = match &self.exact {
            Some(outline) => outline.distance(on_paper),
            None if outside > 0.05 => outside,
            None => self.grid.distance(on_paper),
        };
        (curve, (self.range[0] - along).max(along - self.range[1]))
    }

    /// Returns the [`Self::distances`] of a point between the limits along the viewing axis, and
    /// `None` for any other point. The limits are checked first, because most points of a body lie
    /// beyond those of a drawing of its front or rear.
    pub fn between_limits(&self, p: Vec3) -> Option<(f32, f32)> {
        let (_, along) = seen(self.view, p);
        (along > self.range[0] && along < self.range[1]).then(|| self.distances(p))
    }

    /// Returns the larger of the two distances, which is negative inside both curve and limits. Far
    /// beyond the limits the curve is not evaluated.
    pub fn outside(&self, p: Vec3) -> f32 {
        const FAR_M: f32 = 0.06;
        let (_, along) = seen(self.view, p);
        let beyond = (self.range[0] - along).max(along - self.range[1]);
        if beyond > FAR_M { beyond } else { self.distances(p).0.max(beyond) }
    }

    /// Returns the shorter side of the drawing, in metres.
    pub fn narrowest(&self) -> f32 {
        (self.high - self.low).min_element()
    }

    /// Returns the bounds in sheet space.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let [near, far] = self.range;
        match self.view {
            DrawnIn::Front | DrawnIn::Rear => {
                (Vec3::new(near, self.low.x, self.low.y), Vec3::new(far, self.high.x, self.high.y))
            }
            DrawnIn::Side => (Vec3::new(self.low.x, near, self.low.y), Vec3::new(self.high.x, far, self.high.y)),
            DrawnIn::Top => (Vec3::new(self.low.x, self.low.y, near), Vec3::new(self.high.x, self.high.y, far)),
        }
    }
}

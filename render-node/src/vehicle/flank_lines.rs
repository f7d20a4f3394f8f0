//! Character lines of the flanks: where they start and end, and how far they press the metal out. A
//! line that comes near a lamp or a wheel arch is carried on to it. Any other line fades out over a
//! long way, so that no end is visible.

use glam::{Vec2, Vec3};

use super::body_field::{Arch, BodyField};
use super::curve::{ControlPoint, SampledCurve};
use super::drawing::PlainDrawing;
use super::flank_line::{FlankLine, REACH_M};
use super::morph::Stance;
use super::sheet::{Crease, Region, RegionKind, Sheet};

/// Half width of the rounding of a crest and, softer, of a groove.
const CREST_ROUND_M: f32 = 0.007;
const GROOVE_ROUND_M: f32 = 0.035;
/// Angle that the angle at a line approaches as the drawn one grows.
const SHARPEST: f32 = 0.52;
/// Factor on that angle, so that the faces beside the line mirror different things.
const EDGE: f32 = 1.2;
/// How fast the slopes beside a line run out. Those of the shoulder are nearly faces, because two
/// hollows beside an edge look like a rib. Where a sheet gives a reach, a hollow is meant.
const FACE_BEND: f32 = 2.4;
const HOLLOW_BEND: f32 = 3.0;
/// Lines this near to each other over most of their length are one.
const APART_M: f32 = 0.08;
/// Lines shorter than this that touch nothing are left out.
const SHORTEST_M: f32 = 1.2;
/// Maximum lengths over which a line is carried on to a lamp, or back to it, and the maximum
/// amount by which it is bent.
const TO_LAMP_M: f32 = 1.0;
const BACK_TO_LAMP_M: f32 = 0.6;
const BENT_M: f32 = 0.13;
/// Maximum length over which a line is carried on to a wheel arch.
const TO_ARCH_M: f32 = 0.5;
/// A line that leaves a lamp or an arch starts this far inside it, and has its full
/// height this far outside.
const FROM_FEATURE_M: [f32; 2] = [0.25, 0.22];
/// Length over which free ends fade, as a ratio of the line, and its minimum.
const FREE_RATIO: f32 = 0.45;
const FREE_M: f32 = 0.6;
/// Minimum distance of a line below the belt, where the flank turns over into the shoulder.
const BELOW_BELT_M: f32 = 0.05;

/// The outer end of a lamp seen from the side: its x, and the heights between which it ends there.
#[derive(Debug, Clone, Copy)]
pub struct LampEnd {
    pub x: f32,
    pub z: [f32; 2],
}

/// A wheel arch in sheet space.
#[derive(Debug, Clone, Copy)]
pub struct SheetArch {
    pub hub: Vec2,
    pub radius: f32,
}

/// The features of a body's side that flank lines start from and run to.
#[derive(Debug, Clone)]
pub struct SideView {
    /// Front and rear lamp.
    pub lamps: [Option<LampEnd>; 2],
    pub arches: [SheetArch; 2],
    pub belt: SampledCurve,
}

impl SideView {
    /// Finds the features of a body. `field` may lack its flank lines.
    pub fn new(sheet: &Sheet, field: &BodyField) -> Self {
        let (front, rear) = (&sheet.front, &sheet.rear);
        let lamps = rayon::join(
            || lamp_end(outermost(&front.region, front.anchors, true), sheet, field, false),
            || lamp_end(outermost(&rear.region, rear.anchors, false), sheet, field, true),
        );
        let arches = field.arches.map(|arch| {
            let hub = field.morph.to_sheet(Vec3::new(arch.x, 0.0, arch.z));
            let top = field.morph.to_sheet(Vec3::new(arch.x, 0.0, arch.z + arch.radius));
            SheetArch { hub: Vec2::new(hub.x, hub.z), radius: top.z - hub.z }
        });
        Self { lamps: lamps.into(), arches, belt: SampledCurve::drawn(&sheet.body.belt) }
    }

    /// Returns the same view seen from the other side: x counts backwards.
    fn reversed(&self) -> Self {
        let [front, rear] = self.lamps.map(|lamp| lamp.map(|l| LampEnd { x: -l.x, ..l }));
        let arches = self.arches.map(|arch| SheetArch { hub: Vec2::new(-arch.hub.x, arch.hub.y), ..arch });
        Self { lamps: [rear, front], arches, belt: self.belt.clone() }
    }
}

/// Returns the head or tail lamp that reaches farthest outwards. Fog lamps in
/// the bumper do not count.
fn outermost(regions: &[Region], [low, high]: [f32; 2], head: bool) -> Option<&Region> {
    let outer = |region: &Region| region.at.curve.iter().map(|p| p.at.x).fold(0.0, f32::max);
    let height =
        |region: &Region| region.at.curve.iter().map(|p| p.at.y).sum::<f32>() / region.at.curve.len().max(1) as f32;
    let is_lamp = |region: &&Region| match &region.kind {
        RegionKind::Lamp(lamp) => {
            (if head { lamp.head.is_some() } else { lamp.tail.is_some() }) && height(region) > 0.5 * (low + high)
        }
        _ => false,
    };
    regions.iter().filter(is_lamp).max_by(|a, b| outer(a).total_cmp(&outer(b)))
}

/// Returns where a lamp ends on the flank: the column farthest from nose or
/// tail that the lamp covers.
fn lamp_end(lamp: Option<&Region>, sheet: &Sheet, field: &BodyField, is_rear: bool) -> Option<LampEnd> {
    const COLUMN_M: f32 = 0.03;
    const ROWS: u8 = 5;
    let (lamp, size) = (lamp?, sheet.size);
    let drawing = PlainDrawing::new(&lamp.at, size.length, size.height);
    let within = lamp.within.as_ref().map(|within| PlainDrawing::new(within, size.length, size.height));
    let (low, high) = drawing.paper();
    let covers = |x: f32, z: f32| {
        let real = field.morph.to_real(Vec3::new(x, 0.0, z));
        let Some(y) = field.skin_y(real.x, real.z) else { return false };
        let sheets = field.surface_point(Vec3::new(real.x, y, real.z));
        let inside = |drawing: &PlainDrawing| {
            let at = if drawing.bowed { Vec3::new(sheets.body_x, sheets.at.y, sheets.at.z) } else { sheets.at };
            drawing.contains(at)
        };
        sheets.at.y > 0.3 * size.width * 0.5 && inside(&drawing) && within.as_ref().is_none_or(inside)
    };
    let rows = |count: u8| (0..count).map(move |i| low.y + (high.y - low.y) * (f32::from(i) + 0.5) / f32::from(count));
    let is_column = |x: f32| rows(ROWS).any(|z| covers(x, z));
    let (start, way) = if is_rear {
        (drawing.range[0].max(0.7 * size.length), COLUMN_M)
    } else {
        (drawing.range[1].min(0.3 * size.length), -COLUMN_M)
    };
    let mut x = start;
    while !is_column(x) {
        x += way;
        if !(0.0..=size.length).contains(&x) {
            return None;
        }
    }
    let inside = x + way;
    let mut column: Vec<f32> = rows(3 * ROWS).filter(|z| covers(inside, *z)).collect();
    if column.is_empty() {
        column = rows(ROWS).filter(|z| covers(x, *z)).collect();
    }
    let (first, last) = (*column.first()?, *column.last()?);
    Some(LampEnd { x, z: [first, last] })
}

/// A line before its ends are known.
struct Sketch {
    points: Vec<Vec2>,
    turn: f32,
    along: [f32; 2],
    reach: [f32; 2],
    bend: f32,
}

impl Sketch {
    fn length(&self) -> f32 {
        match self.points[..] {
            [first, .., last] => last.x - first.x,
            _ => 0.0,
        }
    }

    fn table(&self) -> SampledCurve {
        SampledCurve::drawn(&control(&self.points))
    }
}

fn control(points: &[Vec2]) -> Vec<ControlPoint> {
    points.iter().map(|at| ControlPoint { at: *at, radius: 0.0 }).collect()
}

/// Returns the height with which a crease must be drawn for the metal to turn by `turn` at it, if
/// its slopes have these reaches.
pub fn height_for(turn: f32, above: f32, below: f32) -> f32 {
    let ratio = (turn / (EDGE * SHARPEST)).min(0.9);
    let drawn = -SHARPEST * (1.0 - ratio).ln();
    drawn / (3.0 * (1.0 / above + 1.0 / below))
}

/// Returns the field of a body with the lines of its flank, from the arguments
/// of [`BodyField::new`].
pub fn lined_field(sheet: &Sheet, sheet_stance: Stance, real: Stance, arches: [Arch; 2]) -> BodyField {
    let field = BodyField::new(sheet, sheet_stance, real, arches);
    if sheet.crease.is_empty() {
        return field;
    }
    // Lines run from lamp to lamp, and the ends of the lamps follow from the body alone.
    let lines = drawn(&sheet.crease, &SideView::new(sheet, &field));
    field.with_flank_lines(lines)
}

/// Converts the drawn creases to the lines that are built.
fn drawn(creases: &[Crease], view: &SideView) -> Vec<FlankLine> {
    let reversed = view.reversed();
    single(creases).into_iter().filter_map(|sketch| carried(sketch, view, &reversed)).collect()
}

/// Merges lines that run beside each other into the longer of them.
fn single(creases: &[Crease]) -> Vec<Sketch> {
    let sketch = |crease: &Crease| {
        let drawn = 3.0 * crease.height * (1.0 / crease.above.max(0.02) + 1.0 / crease.below.max(0.02));
        let turn = EDGE * SHARPEST * (1.0 - (-drawn.abs() / SHARPEST).exp()) * drawn.signum();
        let (reach, bend) = crease.reach.map_or(([REACH_M[1]; 2], FACE_BEND), |reach| (reach, HOLLOW_BEND));
        Sketch { points: crease.line.iter().map(|p| p.at).collect(), turn, along: crease.along, reach, bend }
    };
    let mut sketches: Vec<Sketch> = creases.iter().map(sketch).filter(|s| s.length() > 0.0).collect();
    sketches.sort_by(|a, b| b.length().total_cmp(&a.length()));
    let mut kept: Vec<Sketch> = Vec::new();
    for sketch in sketches {
        let is_double = |other: &Sketch| other.turn * sketch.turn > 0.0 && runs_beside(&sketch, other);
        if !kept.iter().any(is_double) {
            kept.push(sketch);
        }
    }
    kept
}

fn runs_beside(a: &Sketch, b: &Sketch) -> bool {
    let ([a0, .., a1], [b0, .., b1]) = (&a.points[..], &b.points[..]) else { return false };
    let (from, to) = (a0.x.max(b0.x), a1.x.min(b1.x));
    if to - from < 0.5 * a.length().min(b.length()) {
        return false;
    }
    let (first, second) = (a.table(), b.table());
    let places = (0..=8).map(|i| from + (to - from) * i as f32 / 8.0);
    places.map(|x| (first.at(x) - second.at(x)).abs()).sum::<f32>() / 9.0 < APART_M
}

fn carried(sketch: Sketch, view: &SideView, reversed: &SideView) -> Option<FlankLine> {
    let length = sketch.length();
    let backwards =
        |points: Vec<Vec2>| -> Vec<Vec2> { points.into_iter().rev().map(|p| Vec2::new(-p.x, p.y)).collect() };
    let (points, front) = front_end(sketch.points, view, |x| view.belt.at(x));
    let (points, rear) = front_end(backwards(points), reversed, |x| view.belt.at(-x));
    let points = backwards(points);
    if length < SHORTEST_M && front.is_none() && rear.is_none() {
        return None;
    }
    let (first, last) = (points.first()?.x, points.last()?.x);
    let free = (FREE_RATIO * (last - first)).max(FREE_M).min(0.5 * (last - first));
    let [inside, outside] = FROM_FEATURE_M;
    let [x0, x1] = front.map_or([first, first + free], |x| [x - inside, x + outside]);
    let [x3, x2] = rear.map_or([last, last - free], |x| [inside - x, -x - outside]);
    let round = if sketch.turn > 0.0 { CREST_ROUND_M } else { GROOVE_ROUND_M };
    let line = SampledCurve::drawn(&control(&points));
    Some(FlankLine {
        line,
        ends: [x0, x1, x2.max(x1), x3.max(x1 + 0.01)],
        turn: sketch.turn,
        along: sketch.along,
        reach: sketch.reach,
        bend: sketch.bend,
        round,
    })
}

/// Carries the end with the smallest x on to a lamp or an arch, and returns the x of that feature.
fn front_end(points: Vec<Vec2>, view: &SideView, belt: impl Fn(f32) -> f32) -> (Vec<Vec2>, Option<f32>) {
    let [first, second, ..] = points[..] else { return (points, None) };
    let slope = ((second.y - first.y) / (second.x - first.x)).clamp(-0.3, 0.3);
    let lamp = view.lamps[0].and_then(|lamp| {
        let gap = first.x - lamp.x;
        if !(-BACK_TO_LAMP_M..TO_LAMP_M).contains(&gap) {
            return None;
        }
        let [low, high] = lamp.z;
        let here = if gap > 0.0 { first.y - slope * gap } else { SampledCurve::drawn(&control(&points)).at(lamp.x) };
        // The upper corner takes precedence over the lower one, and a point between them over none.
        let z = [high, low, here.clamp(low, high)].into_iter().find(|z| (z - here).abs() < BENT_M)?;
        Some(Vec2::new(lamp.x, z.min(belt(lamp.x) - BELOW_BELT_M)))
    });
    let arch = || {
        view.arches.iter().find_map(|arch| {
            let up = first.y - arch.hub.y;
            let half = (arch.radius * arch.radius - up * up).max(0.0).sqrt();
            let edge = arch.hub.x + half;
            let near = half > 0.3 * arch.radius && (arch.hub.x..edge + TO_ARCH_M).contains(&first.x);
            near.then(|| Vec2::new(edge, first.y - (slope * (first.x - edge)).clamp(-0.06, 0.06)))
        })
    };
    let Some(feature) = lamp.or_else(arch) else { return (points, None) };
    // The line goes straight through the feature, and then gently to the drawn points.
    let kept: Vec<Vec2> = points.into_iter().filter(|p| p.x > feature.x + 0.45).collect();
    let way = kept.first().map_or(slope, |next| (next.y - feature.y) / (next.x - feature.x));
    let on = |dx: f32| feature + Vec2::new(dx, way * dx);
    let carried = [on(-FROM_FEATURE_M[0] - 0.05), on(0.0), on(0.2)].into_iter().chain(kept).collect();
    (carried, Some(feature.x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crease(line: &[[f32; 2]], height: f32) -> Crease {
        let line = line.iter().map(|[x, z]| ControlPoint { at: Vec2::new(*x, *z), radius: 0.0 }).collect();
        Crease {
            name: "line".to_owned(),
            line,
            height,
            above: 0.1,
            below: 0.14,
            fade: 0.4,
            along: [1.0, 1.0],
            reach: None,
        }
    }

    /// A car 4.5 m long: lamps end at 0.6 and 4.1 m, wheels stand at 0.9 and 3.6 m.
    fn view() -> SideView {
        let point = |x: f32, z: f32| ControlPoint { at: Vec2::new(x, z), radius: 0.0 };
        let arch = |x: f32| SheetArch { hub: Vec2::new(x, 0.32), radius: 0.34 };
        SideView {
            lamps: [Some(LampEnd { x: 0.6, z: [0.6, 0.74] }), Some(LampEnd { x: 4.1, z: [0.7, 0.86] })],
            arches: [arch(0.9), arch(3.6)],
            belt: SampledCurve::drawn(&[point(0.0, 0.9), point(2.0, 0.93), point(4.5, 0.96)]),
        }
    }

    #[test]
    fn a_shoulder_line_runs_from_the_corner_of_one_lamp_to_that_of_the_other() {
        let lines = drawn(&[crease(&[[1.2, 0.72], [2.4, 0.76], [3.5, 0.82]], 0.012)], &view());
        assert_eq!(lines.len(), 1);
        let [x0, x1, x2, x3] = lines[0].ends;
        assert!(x0 < 0.6 && x1 > 0.6 && x1 < 0.9, "{x0} {x1}");
        assert!(x2 < 4.1 && x2 > 3.8 && x3 > 4.1, "{x2} {x3}");
        assert!((lines[0].line.at(0.6) - 0.74).abs() < 0.02 && (lines[0].line.at(4.1) - 0.86).abs() < 0.02);
    }

    #[test]
    fn a_low_line_runs_from_arch_to_arch_and_a_free_end_fades_long() {
        let lines = drawn(&[crease(&[[1.4, 0.45], [2.2, 0.42], [3.0, 0.46]], -0.012)], &view());
        let [x0, _, _, x3] = lines[0].ends;
        assert!(x0 < 1.22 && x3 > 3.28, "{x0} {x3}");
        let mut bare = view();
        bare.lamps = [None, None];
        let lines = drawn(&[crease(&[[1.2, 0.8], [2.4, 0.8], [3.4, 0.8]], 0.012)], &bare);
        let [x0, x1, x2, x3] = lines[0].ends;
        assert!(x1 - x0 > 0.6 && x3 - x2 > 0.6);
    }

    #[test]
    fn lines_beside_each_other_are_one_and_short_ones_that_touch_nothing_none() {
        let beside = [crease(&[[0.8, 0.74], [4.0, 0.8]], 0.012), crease(&[[1.5, 0.70], [3.4, 0.74]], 0.008)];
        assert_eq!(drawn(&beside, &view()).len(), 1);
        let mut bare = view();
        bare.lamps = [None, None];
        assert!(drawn(&[crease(&[[2.0, 0.8], [2.9, 0.8]], 0.012)], &bare).is_empty());
    }

    #[test]
    fn light_breaks_within_two_centimetres_and_runs_out_smoothly() {
        let lines = drawn(&[crease(&[[1.2, 0.72], [2.4, 0.76], [3.5, 0.82]], 0.012)], &view());
        let line = &lines[0];
        let z = line.line.at(2.4);
        let out = |dz: f32| line.out(Vec2::new(2.4, z + dz), 0.2, 0.93);
        let slope = |dz: f32| (out(dz + 0.001) - out(dz - 0.001)) / 0.002;
        let turn = slope(-0.01) - slope(0.01);
        assert!(turn > 0.2 && turn < 0.6, "{turn}");
        // There is no second crest beside the line.
        let slopes: Vec<f32> = (1..30).map(|i| slope(0.01 * i as f32)).collect();
        assert!(slopes.iter().all(|s| *s <= 1e-3) && out(0.35) == 0.0);
    }
}

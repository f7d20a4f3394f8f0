//! Lines on a panel: sections across the strips, in which waves are counted, and lines along which
//! one angle is mirrored, whose tremor is measured.

use super::panel::PaintPanel;
use glam::Vec2;
use std::collections::BTreeMap;

/// Distance between sections, least length of a section that counts, and step in which its angle is
/// read.
const SECTIONS_APART_M: f32 = 0.020;
const SECTION_LEAST_M: f32 = 0.10;
const SECTION_STEP_M: f32 = 0.004;
/// A turn of the angle counts if the angle then goes back by at least this much.
const TURN_DEGREES: f32 = 2.0;

/// Change of the angle from one pixel to the next that counts as a jump: where the mirrored ray
/// runs along the strip, its elevation is undefined, and jumps.
const JUMP_DEGREES: f32 = 60.0;

/// Lines of one angle are drawn at multiples of this many degrees.
const LEVELS_APART_DEGREES: f32 = 10.0;
/// Least slope of the angle at which lines are drawn, in degrees per metre of the sight: on flatter
/// ground lines run at random.
const STEEP_LEAST_DEGREES_PER_M: f32 = 5.0;
const LINE_LEAST_M: f32 = 0.10;
/// Step in which a line's direction is taken.
const STEP_M: f32 = 0.010;
/// Number of directions in a window in which the tremor is measured.
const WINDOW: usize = 10;

/// Returns how often the mirrored angle turns from rising to falling or back in sections across the
/// strips, and the sections' total length in metres.
pub fn waves(panel: &PaintPanel) -> (usize, f32) {
    let apart = ((SECTIONS_APART_M / panel.pitch_m).round() as usize).max(1);
    let step = ((SECTION_STEP_M / panel.pitch_m).round() as usize).max(1);
    let (mut waves, mut length_m) = (0, 0.0);
    for column in (apart / 2..panel.columns).step_by(apart) {
        let angles: Vec<Option<f32>> =
            (0..panel.rows).map(|row| panel.points[row * panel.columns + column].map(|point| point.angle)).collect();
        for section in angles.split(Option::is_none) {
            let section: Vec<f32> = section.iter().flatten().copied().collect();
            let section_m = section.len() as f32 * panel.pitch_m;
            let jumps = section.windows(2).any(|pair| (pair[1] - pair[0]).abs() > JUMP_DEGREES);
            if section_m >= SECTION_LEAST_M && !jumps {
                waves += turns(section.iter().step_by(step).copied(), TURN_DEGREES);
                length_m += section_m;
            }
        }
    }
    (waves, length_m)
}

/// Returns how often the values turn from rising to falling or back, and then continue by at least
/// `prominence`.
fn turns(values: impl Iterator<Item = f32>, prominence: f32) -> usize {
    let (mut high, mut low) = (f32::MIN, f32::MAX);
    let mut is_rising = None;
    let mut turns = 0;
    for value in values {
        (high, low) = (high.max(value), low.min(value));
        let has_turned = match is_rising {
            Some(true) => value < high - prominence,
            Some(false) => value > low + prominence,
            None => high - low > prominence,
        };
        if has_turned {
            turns += usize::from(is_rising.is_some());
            is_rising = Some(is_rising.map_or(value > low, |was_rising: bool| !was_rising));
            (high, low) = (value, value);
        }
    }
    turns
}

/// Returns how far the direction of the lines of one angle strays from a circular arc's, in each
/// window of ten centimetres; degrees (RMS).
pub fn tremors(panel: &PaintPanel) -> Vec<f32> {
    let mut tremors = Vec::new();
    for (level, segments) in segments(panel) {
        for line in chains(&segments) {
            let places: Vec<Vec2> = line.iter().map(|edge| crossing(panel, *edge, level_angle(level))).collect();
            let directions = directions(&places);
            tremors.extend(directions.windows(WINDOW).map(off_line));
        }
    }
    tremors
}

/// The edge of the grid between a pixel and its right (even) or upper (odd) neighbour.
type GridEdge = usize;

fn level_angle(level: i32) -> f32 {
    (level as f32 + 0.5) * LEVELS_APART_DEGREES
}

/// Marching squares: returns pieces of the lines of each level, as the two edges that each piece
/// connects.
fn segments(panel: &PaintPanel) -> BTreeMap<i32, Vec<[GridEdge; 2]>> {
    let mut segments: BTreeMap<i32, Vec<[GridEdge; 2]>> = BTreeMap::new();
    let steep = |at: usize| {
        let point = panel.points[at].filter(|point| point.change_seen >= STEEP_LEAST_DEGREES_PER_M);
        point.map(|point| point.angle)
    };
    for row in 0..panel.rows.saturating_sub(1) {
        for column in 0..panel.columns.saturating_sub(1) {
            let at = row * panel.columns + column;
            let (Some(a), Some(b), Some(c), Some(d)) =
                (steep(at), steep(at + 1), steep(at + panel.columns + 1), steep(at + panel.columns))
            else {
                continue;
            };
            let (low, high) = (a.min(b).min(c).min(d), a.max(b).max(c).max(d));
            if high - low > JUMP_DEGREES {
                continue;
            }
            let level_above = |angle: f32| (angle / LEVELS_APART_DEGREES - 0.5).ceil() as i32;
            for level in level_above(low)..level_above(high) {
                let angle = level_angle(level);
                let [bottom, left] = [2 * at, 2 * at + 1];
                let [right, top] = [2 * (at + 1) + 1, 2 * (at + panel.columns)];
                let [a, b, c, d] = [a, b, c, d].map(|corner| corner > angle);
                let mut crossed = Vec::with_capacity(4);
                crossed.extend(
                    [(a != b, bottom), (b != c, right), (c != d, top), (d != a, left)]
                        .iter()
                        .filter_map(|(is_crossed, edge)| is_crossed.then_some(*edge)),
                );
                let pieces = segments.entry(level).or_default();
                match *crossed.as_slice() {
                    [from, to] => pieces.push([from, to]),
                    [bottom, right, top, left] => {
                        let middle = (low + high) * 0.5 > angle;
                        let around_b_and_d = a == middle;
                        pieces.extend(match around_b_and_d {
                            true => [[bottom, right], [top, left]],
                            false => [[left, bottom], [right, top]],
                        });
                    }
                    _ => {}
                }
            }
        }
    }
    segments
}

/// Returns where on an edge of the grid the angle is met; metres.
fn crossing(panel: &PaintPanel, edge: GridEdge, angle: f32) -> Vec2 {
    let (from, is_upward) = (edge / 2, edge % 2 == 1);
    let to = if is_upward { from + panel.columns } else { from + 1 };
    let [a, b] = [from, to].map(|at| panel.points[at].map_or(angle, |point| point.angle));
    let ratio = if a == b { 0.5 } else { (angle - a) / (b - a) };
    let way = if is_upward { Vec2::Y } else { Vec2::X };
    (Vec2::new((from % panel.columns) as f32, (from / panel.columns) as f32) + way * ratio) * panel.pitch_m
}

/// Joins pieces into lines, open ones first.
fn chains(segments: &[[GridEdge; 2]]) -> Vec<Vec<GridEdge>> {
    let mut beside: BTreeMap<GridEdge, Vec<GridEdge>> = BTreeMap::new();
    for [a, b] in segments {
        beside.entry(*a).or_default().push(*b);
        beside.entry(*b).or_default().push(*a);
    }
    let ends = beside.iter().filter(|(_, others)| others.len() == 1).map(|(edge, _)| *edge);
    let starts: Vec<GridEdge> = ends.chain(beside.keys().copied()).collect();
    let mut chains = Vec::new();
    for start in starts {
        let mut chain = Vec::new();
        let mut at = start;
        while let Some(others) = beside.remove(&at) {
            chain.push(at);
            match others.into_iter().find(|other| beside.contains_key(other)) {
                Some(next) => at = next,
                None => break,
            }
        }
        if chain.len() > 1 {
            chains.push(chain);
        }
    }
    chains
}

/// Returns the directions of a line in even steps, in degrees without jumps, smoothed over one
/// step; empty for a short line.
fn directions(places: &[Vec2]) -> Vec<f32> {
    let mut along = vec![0.0];
    for pair in places.windows(2) {
        along.push(along[along.len() - 1] + pair[0].distance(pair[1]));
    }
    let length = along[along.len() - 1];
    if length < LINE_LEAST_M {
        return Vec::new();
    }
    let count = (length / STEP_M) as usize;
    let mut piece = 0;
    let even: Vec<Vec2> = (0..=count)
        .map(|step| {
            let at = length * step as f32 / count as f32;
            while piece + 2 < places.len() && along[piece + 1] < at {
                piece += 1;
            }
            let ratio = (at - along[piece]) / (along[piece + 1] - along[piece]).max(1e-9);
            places[piece].lerp(places[piece + 1], ratio.clamp(0.0, 1.0))
        })
        .collect();
    let mut directions: Vec<f32> = Vec::with_capacity(count);
    for pair in even.windows(2) {
        let direction = (pair[1] - pair[0]).to_angle().to_degrees();
        let before = directions.last().copied().unwrap_or(direction);
        directions.push(direction - 360.0 * ((direction - before) / 360.0).round());
    }
    let weights = [0, 1, 2, 3, 4].map(|step: i32| (-0.5 * (step * step) as f32).exp());
    let total = 2.0 * weights.iter().sum::<f32>() - weights[0];
    let last = directions.len() as i32 - 1;
    let smoothed = (0..=last).map(|at| {
        let sum: f32 = (-4..=4i32)
            .map(|step| weights[step.unsigned_abs() as usize] * directions[(at + step).clamp(0, last) as usize])
            .sum();
        sum / total
    });
    smoothed.collect()
}

/// Returns the RMS of the values about their best straight line.
fn off_line(values: &[f32]) -> f32 {
    let count = values.len() as f32;
    let mean = values.iter().sum::<f32>() / count;
    let place = |index: usize| index as f32 - (count - 1.0) * 0.5;
    let square: f32 = (0..values.len()).map(|index| place(index) * place(index)).sum();
    let slope = values.iter().enumerate().map(|(index, value)| place(index) * (value - mean)).sum::<f32>() / square;
    let rests = values.iter().enumerate().map(|(index, value)| value - mean - slope * place(index));
    (rests.map(|rest| rest * rest).sum::<f32>() / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_counted_from_their_prominence_on() {
        let wave = |height: f32| (0..=400).map(move |i| height * (i as f32 * std::f32::consts::TAU / 100.0).sin());
        // Four whole waves have eight turns.
        assert_eq!(turns(wave(10.0), 2.0), 8);
        assert_eq!(turns(wave(0.9), 2.0), 0);
        assert_eq!(turns([0.0, 1.0, 5.0, 4.0, 9.0, 12.0].into_iter(), 2.0), 0);
        assert_eq!(turns([0.0, 5.0, 1.0, 6.0].into_iter(), 2.0), 2);
        assert_eq!(turns([3.0].into_iter(), 2.0), 0);
    }

    #[test]
    fn an_arc_does_not_tremble_and_a_ripple_does() {
        let arc: Vec<Vec2> = (0..=300).map(|i| Vec2::from_angle(i as f32 * 0.002) * 1.5).collect();
        let still = directions(&arc);
        // 0.9 m of arc, in steps of a centimetre.
        assert!((88..=90).contains(&still.len()), "{}", still.len());
        // The ends are smoothed from one side only.
        assert!(still[6..82].windows(WINDOW).all(|window| off_line(window) < 0.02));
        // One millimetre up and down in every four centimetres: the direction swings by 9 degrees
        // to either side.
        let ripple = |x: f32| 0.001 * (x * std::f32::consts::TAU / 0.04).sin();
        let rippled: Vec<Vec2> = (0..=900).map(|i| i as f32 * 0.001).map(|x| Vec2::new(x, ripple(x))).collect();
        let trembling = directions(&rippled);
        assert!(trembling[6..82].windows(WINDOW).all(|window| off_line(window) > 0.5));
    }

    #[test]
    fn pieces_become_lines_in_their_order() {
        let open = chains(&[[5, 7], [1, 3], [3, 5]]);
        assert_eq!(open, [vec![1, 3, 5, 7]]);
        let closed = chains(&[[2, 4], [4, 6], [6, 2], [11, 13]]);
        assert_eq!(closed, [vec![11, 13], vec![2, 4, 6]]);
    }
}

//! Feature lines of the bonnet: edges between two calm faces that run from the grille to the foot
//! of the windscreen. A sheet draws them as low ridges, but they are built as folds, because a rib
//! with a rounded section mirrors every light as an island.

use cyclorama_core::vehicle::{BodyClass, Vehicle};

use super::blend::{smooth_min, step};
use super::chance::chances;
use super::sheet::{Ridge, Sheet};

/// Limits of a line. A drawn ridge of the bonnet that is higher and steeper than the first two is
/// form, such as wings that carry round lamps, or tall domes. One that is narrower than `RIB_M` is
/// a rib. Both stay ridges.
const FORM_M: f32 = 0.028;
const FORM_STEEPNESS: f32 = 0.1;
const RIB_M: f32 = 0.1;
/// Maximum number of lines on a side, and the minimum distance between them.
const MOST: usize = 2;
const APART_M: f32 = 0.15;
/// Minimum and maximum distance within which the outer face of a line comes back to the bonnet,
/// before the wing's edge.
const OUTER_REACH_M: [f32; 2] = [0.14, 0.42];
/// A swelling about the middle becomes a raised face: its line lies at this ratio of the drawn
/// reach, and its outer face is short.
const DOME_EDGE: f32 = 0.6;
const DOME_MIDDLE_M: f32 = 0.12;
const DOME_REACH_M: f32 = 0.2;
/// Half width of the rounding of the edge.
const ROUND_M: f32 = 0.007;
/// Lines diverge from the nose to the windscreen. Each is this ratio of its drawn
/// distance from the middle.
const AT_NOSE: f32 = 0.78;
const AT_COWL: f32 = 1.06;
/// Ratio of its angle that a line has at the nose and at the windscreen, and the distance behind
/// the windscreen's foot at which it is gone.
const RATIO_AT_NOSE: f32 = 0.45;
const RATIO_AT_COWL: f32 = 0.45;
const BEHIND_COWL_M: f32 = 0.6;
/// Minimum ratio of the angle of its year that a faint drawn ridge has. The rest
/// comes with its steepness.
const FAINT_RATIO: f32 = 0.6;
const STEEP: f32 = 0.05;
/// Angle by which the metal turns at a line, in radians, by the year of the vehicle.
const TURNS: [(u16, f32); 5] = [(1980, 0.03), (1996, 0.04), (2006, 0.055), (2014, 0.065), (2022, 0.075)];
/// A line that the sheet does not draw: its distance from the middle as a ratio of the half width,
/// and how much that varies with the model's name.
const USUAL_Y: f32 = 0.55;
const VARIED_Y: f32 = 0.09;
/// First year in which some models have a second line nearer the middle.
const SECOND_FROM: u16 = 2009;
const SECOND_RATIO: f32 = 0.5;

/// One line of the bonnet, the same on both sides.
#[derive(Debug, Clone)]
pub struct BonnetLine {
    y: f32,
    /// x of the foot of the windscreen.
    cowl: f32,
    outer: f32,
    turn: f32,
}

impl BonnetLine {
    /// Returns the line's distance from the middle. `along` is 0 at the nose and 1 at the
    /// foot of the windscreen.
    fn y_at(&self, along: f32) -> f32 {
        let along = along.clamp(-0.2, 1.3);
        self.y * (AT_NOSE + (AT_COWL - AT_NOSE) * along + 0.12 * along * (1.0 - along))
    }

    fn along(&self, x: f32) -> f32 {
        x / self.cowl.max(0.3)
    }

    /// Returns the ratio of its angle that the line has at `x`.
    fn strength(&self, x: f32) -> f32 {
        let along = self.along(x);
        let grown = RATIO_AT_NOSE + (1.0 - RATIO_AT_NOSE) * step((along + 0.1) / 0.6);
        let kept = 1.0 - (1.0 - RATIO_AT_COWL) * step((along - 0.55) / 0.5);
        grown * kept * (1.0 - step((x - self.cowl) / BEHIND_COWL_M))
    }

    /// Returns how far the bonnet is raised at a point of the sheet, `y >= 0`. The face inside
    /// the line leans evenly from the middle, so that it only takes crown away. The outer face
    /// falls back to the bonnet.
    pub fn raised(&self, x: f32, y: f32) -> f32 {
        if x > self.cowl + BEHIND_COWL_M {
            return 0.0;
        }
        let line = self.y_at(self.along(x));
        let beside = y - line;
        if beside > self.outer {
            return 0.0;
        }
        let steepness = 2.0 / line + 3.0 / self.outer;
        let (inner, back) = (y / line, (1.0 - beside / self.outer).max(0.0));
        let ratio = smooth_min(inner * inner, back * back * back, ROUND_M * steepness);
        self.turn * self.strength(x) / steepness * ratio
    }

    /// Returns how far a point lies outside the line, or `None` where the line has faded.
    pub fn beside(&self, x: f32, y: f32) -> Option<f32> {
        (self.strength(x) > 0.1).then(|| y - self.y_at(self.along(x)))
    }

    /// Distance from the line at which its rounding ends.
    pub const ROUND_M: f32 = ROUND_M;
}

/// Splits the drawn ridges into the lines of the bonnet and those that stay ridges.
pub fn drawn(sheet: &Sheet, cowl: f32) -> (Vec<BonnetLine>, Vec<Ridge>) {
    let body = &sheet.body;
    let (folds, ridges): (Vec<&Ridge>, Vec<&Ridge>) =
        body.ridge.iter().partition(|ridge| is_fold(ridge, cowl, sheet.size.length));
    let wing = 0.97 * 0.5 * sheet.size.width;
    let mut lines: Vec<BonnetLine> = folds.iter().map(|ridge| line_of(ridge, cowl, wing, body.bonnet_turn)).collect();
    lines.sort_by(|a, b| b.turn.total_cmp(&a.turn));
    let mut kept: Vec<BonnetLine> = Vec::new();
    for line in lines {
        if kept.len() < MOST && kept.iter().all(|other| (other.y - line.y).abs() > APART_M) {
            kept.push(line);
        }
    }
    (kept, ridges.into_iter().cloned().collect())
}

fn is_fold(ridge: &Ridge, cowl: f32, length: f32) -> bool {
    let [x0, x1, _, x3] = ridge.x;
    let on_bonnet = 0.5 * (x0 + x3) < 0.35 * length && x1 < cowl;
    let is_form = ridge.height.abs() > FORM_M && ridge.height.abs() > FORM_STEEPNESS * ridge.reach;
    on_bonnet && !is_form && ridge.reach >= RIB_M
}

fn line_of(ridge: &Ridge, cowl: f32, wing: f32, turn: f32) -> BonnetLine {
    let [least, most] = OUTER_REACH_M;
    let steepness = (ridge.height.abs() / ridge.reach / STEEP).min(1.0);
    let turn = turn * (FAINT_RATIO + (1.0 - FAINT_RATIO) * steepness);
    let (y, longest) = if ridge.height < 0.0 {
        // A valley lies between a raised middle and the wing.
        (ridge.y - 0.5 * ridge.reach, most)
    } else if ridge.y < DOME_MIDDLE_M {
        (ridge.y + DOME_EDGE * ridge.reach, DOME_REACH_M)
    } else {
        (ridge.y, most)
    };
    let y = y.clamp(0.16, 0.82 * wing);
    BonnetLine { y, cowl, outer: (wing - y * AT_COWL).clamp(least, longest), turn }
}

/// Sets the bonnet's lines from the year and name of a vehicle, as far as its
/// sheet does not draw them.
pub fn settle(sheet: &mut Sheet, vehicle: &Vehicle, is_drawn: bool) {
    let has_bonnet =
        !matches!(vehicle.body, BodyClass::Bus | BodyClass::Truck | BodyClass::Van) && sheet.truck.is_none();
    if !has_bonnet {
        return;
    }
    sheet.body.bonnet_turn = turn_of(vehicle.year);
    let cowl = sheet.greenhouse.profile.iter().map(|point| point.at.x).fold(f32::MAX, f32::min);
    let (length, half) = (sheet.size.length, 0.5 * sheet.size.width);
    let mut either = chances(&format!("{}/{}/bonnet", vehicle.make, vehicle.model));
    let (moved, second) = (VARIED_Y * either(), 0.5 + 0.5 * either());
    let on_bonnet = |ridge: &Ridge| 0.5 * (ridge.x[0] + ridge.x[3]) < 0.35 * length && ridge.x[1] < cowl;
    if !is_drawn {
        let folds = sheet.body.ridge.iter_mut().filter(|ridge| is_fold(ridge, cowl, length));
        folds.filter(|ridge| ridge.y > DOME_MIDDLE_M).for_each(|ridge| ridge.y += moved * half);
    }
    if sheet.body.ridge.iter().any(on_bonnet) {
        return;
    }
    let mut add = |name: &str, y: f32, height: f32| {
        let x = [0.0, 0.3, cowl - 0.2, cowl + 0.2];
        sheet.body.ridge.push(Ridge { name: name.to_owned(), y: y * half, reach: 0.3, height, x });
    };
    add("hood edge", USUAL_Y + moved, 0.012);
    if vehicle.year >= SECOND_FROM && second < SECOND_RATIO {
        add("hood inner", 0.5 * (USUAL_Y + moved), 0.006);
    }
}

fn turn_of(year: u16) -> f32 {
    let turns = TURNS;
    let [first, .., last] = turns;
    if year <= first.0 {
        return first.1;
    }
    let between = turns.windows(2).find(|pair| year <= pair[1].0);
    between.map_or(last.1, |pair| {
        let [(from, low), (to, high)] = [pair[0], pair[1]];
        low + (high - low) * f32::from(year - from) / f32::from(to - from)
    })
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::super::typical::typical;
    use super::*;

    fn sedan() -> Sheet {
        Library::embedded().unwrap().sheet("sedan").unwrap()
    }

    fn ridge(y: f32, reach: f32, height: f32) -> Ridge {
        Ridge { name: "ridge".to_owned(), y, reach, height, x: [0.1, 0.4, 0.8, 1.1] }
    }

    #[test]
    fn a_low_ridge_becomes_an_edge_between_two_faces() {
        let mut sheet = sedan();
        sheet.body.ridge = vec![ridge(0.5, 0.3, 0.02)];
        let (lines, ridges) = drawn(&sheet, 1.2);
        assert!(ridges.is_empty() && lines.len() == 1);
        let line = &lines[0];
        let crest = line.y_at(line.along(0.7));
        let slope = |y: f32| (line.raised(0.7, y + 0.002) - line.raised(0.7, y - 0.002)) / 0.004;
        // The angle turns within two centimetres, and less than half of it in the whole
        // rest of the inner face.
        let at_edge = slope(crest - 0.01) - slope(crest + 0.01);
        assert!(at_edge > 0.55 * sheet.body.bonnet_turn && at_edge < sheet.body.bonnet_turn, "{at_edge}");
        assert!((slope(crest - 0.01) - slope(0.02)) < 0.6 * at_edge);
        assert!(line.raised(1.2 + 0.61, crest) == 0.0 && line.strength(0.0) < 0.6);
    }

    #[test]
    fn lamps_and_ribs_stay_what_they_are_and_no_side_has_more_than_two_lines() {
        let mut sheet = sedan();
        let lamp = ridge(0.6, 0.35, 0.08);
        let rib = ridge(0.1, 0.056, 0.016);
        let hip = Ridge { x: [2.5, 3.2, 3.8, 4.4], ..ridge(0.7, 0.4, 0.03) };
        let folds = [0.2, 0.28, 0.45, 0.62].map(|y| ridge(y, 0.3, 0.01 + 0.01 * y));
        sheet.body.ridge = [lamp, rib, hip].into_iter().chain(folds).collect();
        let (lines, ridges) = drawn(&sheet, 1.2);
        assert_eq!((lines.len(), ridges.len()), (2, 3));
        assert!((lines[0].y - lines[1].y).abs() > APART_M);
    }

    #[test]
    fn every_bonnet_has_a_line_that_is_sharper_in_later_years() {
        let mut old = typical(BodyClass::Sedan);
        old.year = 1985;
        let mut new = old.clone();
        new.year = 2021;
        let [a, b] = [&old, &new].map(|vehicle| {
            let mut sheet = sedan();
            sheet.body.ridge.clear();
            settle(&mut sheet, vehicle, false);
            let (lines, _) = drawn(&sheet, 1.2);
            lines.iter().map(|line| line.turn).fold(0.0, f32::max)
        });
        assert!(a > 0.02 && b > 2.0 * a, "{a} {b}");
    }
}

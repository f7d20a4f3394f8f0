//! The edge across a boot lid or tailgate, above the number plate: the upper face leans out to it and the lower one falls away, so that
//! the two mirror different parts of the studio.

use super::blend::{smooth_min, step};
use super::sheet::Sheet;

/// The edge lies so far above the recess of the plate.
const ABOVE_PLATE_M: f32 = 0.03;
/// Without a recess so far down from the edge of the boot to the underside of the bumper.
const USUAL_SHARE: f32 = 0.26;
/// How far at least it lies below the edge of the boot or the belt.
const BELOW_EDGE_M: f32 = 0.08;
/// How far its faces reach up and down.
const REACH_M: [f32; 2] = [0.26, 0.24];
const ROUND_M: f32 = 0.007;
/// By which share of the bonnet's angle the metal turns.
const TURN_SHARE: f32 = 0.3;
/// Shares of the half width between which it fades: it ends at the lamps.
const FADE: [f32; 2] = [0.5, 0.86];
/// Nothing farther than this from the tail is moved.
const TAIL_M: f32 = 0.75;

/// The edge of one body.
#[derive(Debug, Clone)]
pub struct TailLine {
    z: f32,
    turn: f32,
    from_x: f32,
}

impl TailLine {
    /// None where the tail is a load box or doors with panels of their own.
    pub fn drawn(sheet: &Sheet) -> Option<Self> {
        let body = &sheet.body;
        if body.tail_turn <= 0.0 {
            return None;
        }
        let [low, high] = sheet.rear.anchors;
        let recess = sheet.rear.relief.iter().find(|relief| relief.name == "plate recess" && relief.height < 0.0);
        let top = recess.map(|relief| relief.at.curve.iter().map(|point| point.at.y).fold(f32::MIN, f32::max));
        let z = top.map_or(high - USUAL_SHARE * (high - low), |top| top + ABOVE_PLATE_M).min(high - BELOW_EDGE_M);
        (z > low + 0.4 * (high - low)).then_some(Self {
            z,
            turn: TURN_SHARE * body.tail_turn,
            from_x: sheet.size.length - TAIL_M,
        })
    }

    fn fade(&self, u: f32) -> f32 {
        1.0 - step((u - FADE[0]) / (FADE[1] - FADE[0]))
    }

    /// By how much the tail stands out at a place, `u` being its share of the half width.
    pub fn out(&self, x: f32, u: f32, z: f32) -> f32 {
        let [up, down] = REACH_M;
        let above = z - self.z;
        if x < self.from_x || above > up || above < -down || u > FADE[1] {
            return 0.0;
        }
        let steepness = 3.0 / up + 3.0 / down;
        let (upper, lower) = ((1.0 - above / up).max(0.0), (1.0 + above / down).max(0.0));
        let cube = |t: f32| t * t * t;
        let share = smooth_min(cube(upper), cube(lower), ROUND_M * steepness);
        self.turn * self.fade(u) * step((x - self.from_x) / (0.5 * TAIL_M)) / steepness * share
    }

    /// How far a place lies above the edge, where there is one.
    pub fn above(&self, x: f32, u: f32, z: f32) -> Option<f32> {
        (x > self.from_x && self.fade(u) > 0.05).then_some(z - self.z)
    }

    /// How far from the edge its rounding ends.
    pub const ROUND_M: f32 = ROUND_M;
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::*;

    #[test]
    fn the_edge_lies_above_the_plate_and_ends_before_the_corner() {
        let mut sheet = Library::embedded().unwrap().sheet("sedan").unwrap();
        assert!(TailLine::drawn(&sheet).is_none());
        sheet.body.tail_turn = 0.14;
        let line = TailLine::drawn(&sheet).unwrap();
        assert!((line.z - 0.85).abs() < 0.01, "{}", line.z);
        let x = sheet.size.length;
        let lean = |z: f32| (line.out(x, 0.1, z + 0.002) - line.out(x, 0.1, z - 0.002)) / 0.004;
        let least = 0.25 * line.turn;
        assert!(lean(line.z - 0.012) > least && lean(line.z + 0.012) < -least);
        assert_eq!(line.out(x, 0.9, line.z), 0.0);
        assert_eq!(line.out(x - 1.0, 0.1, line.z), 0.0);
    }
}

//! Bodywork drawn by its feature lines: panels between lines that run the whole length of a body,
//! so that every edge and every shut line begins and ends at another one.

use glam::Vec3;

use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, catmull_rom};
use crate::vehicle::parts::solid::Solid;

/// Half the width of the gap between two panels, in metres.
const GAP_M: f32 = 0.0016;
/// Depth of the gap between two panels, in metres.
const DEEP_M: f32 = 0.0036;
/// A panel's rounded edge, as (distance inwards from the gap, distance down), in metres.
const EDGE: [[f32; 2]; 4] = [[0.0042, 0.0], [0.0018, 0.0006], [0.0003, 0.0022], [0.0, DEEP_M]];

/// End of a panel on one of its sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PanelEnd {
    /// The next panel continues without a joint.
    Joined,
    /// A rounded edge over nothing.
    Free,
    /// A rounded edge beside a shut line.
    Cut,
}

/// A panel between two lines and two stations of a [`Net`].
pub(super) struct NetPanel {
    pub lines: [usize; 2],
    pub stations: [usize; 2],
    /// First line, last line, first station, last station.
    pub sides: [PanelEnd; 4],
}

/// Feature lines of a body's right half, each through the same stations. The outside of a panel is
/// the direction along its lines x the direction across them. A first or last line in the centre
/// plane joins the other half smoothly.
pub(super) struct Net {
    lines: Vec<Vec<Vec3>>,
}

fn mirrored(p: Vec3) -> Vec3 {
    Vec3::new(p.x, -p.y, p.z)
}

fn smooth(around: [Vec3; 4], t: f32) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|k| catmull_rom(around.map(|p| p[k]), t)))
}

/// A grid of points with the outside direction at each.
type PointGrid = Vec<Vec<(Vec3, Vec3)>>;

impl Net {
    pub(super) fn new(lines: Vec<Vec<Vec3>>) -> Net {
        Net { lines }
    }

    /// Returns a place on a line.
    fn along(&self, line: usize, station: usize, t: f32) -> Vec3 {
        let points = &self.lines[line];
        let last = points.len() as isize - 1;
        let at = |offset: isize| points[(station as isize + offset).clamp(0, last) as usize];
        smooth([at(-1), at(0), at(1), at(2)], t)
    }

    /// Returns a line of the net as a curve.
    pub(super) fn line(&self, line: usize, steps: usize) -> Vec<Vec3> {
        let last = self.lines[line].len() - 1;
        (0..=last * steps).map(|i| self.along(line, (i / steps).min(last - 1), place(i, steps, last))).collect()
    }

    /// Returns a point across a panel at one place along it, smooth through the lines
    /// between the panel's outer ones.
    fn across(&self, panel: &NetPanel, points: &[Vec3], interval: usize, t: f32) -> Vec3 {
        let last = points.len() - 1;
        let beyond = |at: Vec3, next: Vec3, line: usize| {
            let central = self.lines[line].iter().all(|p| p.y.abs() < 1e-4);
            if central { mirrored(next) } else { at * 2.0 - next }
        };
        let before = if interval == 0 { beyond(points[0], points[1], panel.lines[0]) } else { points[interval - 1] };
        let after = if interval + 2 > last {
            beyond(points[last], points[last - 1], panel.lines[1])
        } else {
            points[interval + 2]
        };
        smooth([before, points[interval], points[interval + 1], after], t)
    }

    /// Returns the panel's surface as a grid without its edges.
    fn plain(&self, panel: &NetPanel, [steps, columns]: [usize; 2]) -> PointGrid {
        let [first, last] = panel.stations;
        let [from, to] = panel.lines;
        let rows = (last - first) * steps;
        let points: Vec<Vec<Vec3>> = (0..=rows)
            .map(|row| {
                let station = (first + row / steps).min(last - 1);
                let t = place(row, steps, last - first);
                let on: Vec<Vec3> = (from..=to).map(|line| self.along(line, station, t)).collect();
                let intervals = to - from;
                (0..=intervals * columns)
                    .map(|i| self.across(panel, &on, (i / columns).min(intervals - 1), place(i, columns, intervals)))
                    .collect()
            })
            .collect();
        let (rows, columns) = (points.len(), points[0].len());
        let outside = |row: usize, column: usize| {
            let along = points[(row + 1).min(rows - 1)][column] - points[row.saturating_sub(1)][column];
            let across = points[row][(column + 1).min(columns - 1)] - points[row][column.saturating_sub(1)];
            along.cross(across).normalize_or(Vec3::Z)
        };
        (0..rows).map(|row| (0..columns).map(|column| (points[row][column], outside(row, column))).collect()).collect()
    }

    /// Returns a panel on both halves with its rounded edges.
    pub(super) fn panel(&self, panel: &NetPanel) -> Solid {
        let [first_line, last_line, first_station, last_station] = panel.sides;
        let grid = self.plain(panel, [6, 7]);
        let grid: PointGrid = grid.iter().map(|row| edged(row, first_line, last_line)).collect();
        let turned = transposed(&grid);
        let turned: PointGrid = turned.iter().map(|row| edged(row, first_station, last_station)).collect();
        let grid = transposed(&turned);
        let right = Solid::grid(grid.len(), grid[0].len(), false, |row, column| grid[row][column].0);
        with_other_half(right)
    }

    /// Returns the dark strips behind a panel's shut lines.
    fn shade(&self, panel: &NetPanel) -> Solid {
        let grid = self.plain(panel, [6, 7]);
        let turned = transposed(&grid);
        let mut shade = Solid::default();
        let mut ribbon = |border: &[(Vec3, Vec3)], next: &[(Vec3, Vec3)]| {
            let sheet = Solid::grid(border.len(), 2, false, |row, column| {
                let (at, outside) = border[row];
                let inward = (next[row].0 - at).normalize_or(Vec3::ZERO);
                at - outside * (DEEP_M * 0.86) + inward * if column == 0 { -0.004 } else { 0.004 }
            });
            // The strip faces outside, in whichever direction the border runs.
            let facing = sheet.triangles.first().map_or(1.0, |t| {
                let [a, b, c] = t.map(|i| sheet.points[i as usize]);
                (b - a).cross(c - a).dot(border[0].1)
            });
            shade.append(if facing < 0.0 { sheet.flipped() } else { sheet });
        };
        let [lines, stations] = [&turned, &grid];
        for (grid, sides) in [(lines, &panel.sides[..2]), (stations, &panel.sides[2..])] {
            let last = grid.len() - 1;
            if sides[0] == PanelEnd::Cut {
                ribbon(&grid[0], &grid[1]);
            }
            if sides[1] == PanelEnd::Cut {
                ribbon(&grid[last], &grid[last - 1]);
            }
        }
        with_other_half(shade)
    }

    /// Adds a panel with the dark strips behind its shut lines.
    pub(super) fn add(&self, bike: &mut Assembly, material: Material, panel: &NetPanel) {
        bike.add_soft(material, self.panel(panel));
        self.add_shade(bike, panel);
    }

    /// Adds only the dark strips behind a panel's shut lines.
    pub(super) fn add_shade(&self, bike: &mut Assembly, panel: &NetPanel) {
        let shade = self.shade(panel);
        if !shade.triangles.is_empty() {
            bike.add_soft(Material::PanelGap, shade);
        }
    }
}

/// Returns the position of step `i` within its interval, where intervals have `steps` each. The
/// last step ends the last interval.
fn place(i: usize, steps: usize, intervals: usize) -> f32 {
    if i == steps * intervals { 1.0 } else { (i % steps) as f32 / steps as f32 }
}

fn transposed(grid: &PointGrid) -> PointGrid {
    (0..grid[0].len()).map(|column| grid.iter().map(|row| row[column]).collect()).collect()
}

/// Returns a row of points with its ends rounded down.
fn edged(row: &[(Vec3, Vec3)], first: PanelEnd, last: PanelEnd) -> Vec<(Vec3, Vec3)> {
    let rounded = |(at, outside): (Vec3, Vec3), next: Vec3, side: PanelEnd| -> Vec<(Vec3, Vec3)> {
        if side == PanelEnd::Joined {
            return vec![(at, outside)];
        }
        let inward = (next - at).normalize_or(Vec3::ZERO);
        let room = (next - at).length() * 0.6;
        let gap = if side == PanelEnd::Cut { GAP_M } else { 0.0 };
        EDGE.map(|[inset, down]| (at + inward * (gap + inset).min(room) - outside * down, outside)).to_vec()
    };
    let end = row.len() - 1;
    let mut whole: Vec<(Vec3, Vec3)> = rounded(row[0], row[1].0, first).into_iter().rev().collect();
    whole.extend(&row[1..end]);
    whole.extend(rounded(row[end], row[end - 1].0, last));
    whole
}

fn with_other_half(right: Solid) -> Solid {
    let left = right.clone().bent(mirrored).flipped();
    let mut whole = right;
    whole.append(left);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    fn roof() -> Net {
        let line = |y: f32, z: f32| vec![Vec3::new(0.0, y, z), Vec3::new(0.5, y, z), Vec3::new(1.0, y, z)];
        Net::new(vec![line(0.0, 0.5), line(0.1, 0.48), line(0.2, 0.3)])
    }

    #[test]
    fn a_panel_is_sound_and_keeps_clear_of_its_shut_line() {
        let mut bike = Assembly::default();
        let sides = [PanelEnd::Joined, PanelEnd::Cut, PanelEnd::Free, PanelEnd::Free];
        let panel = NetPanel { lines: [0, 1], stations: [0, 2], sides };
        roof().add(&mut bike, Material::Paint, &panel);
        assert_sound(&bike.mesh, "panel");
        let paint = &bike.mesh.surfaces[&Material::Paint];
        let widest = paint.positions.iter().map(|p| p[1].abs()).fold(0.0, f32::max);
        assert!((0.0975..0.0990).contains(&widest), "{widest}");
        assert!(paint.normals.iter().all(|n| n[2] > -0.5), "its outside is above");
        assert!(bike.mesh.surfaces.contains_key(&Material::PanelGap));
    }

    #[test]
    fn a_panel_without_shut_lines_has_nothing_dark_behind_it() {
        let mut bike = Assembly::default();
        let sides = [PanelEnd::Joined, PanelEnd::Free, PanelEnd::Free, PanelEnd::Free];
        roof().add(&mut bike, Material::Paint, &NetPanel { lines: [0, 2], stations: [0, 2], sides });
        assert!(!bike.mesh.surfaces.contains_key(&Material::PanelGap));
    }
}

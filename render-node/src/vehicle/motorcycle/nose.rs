//! The upper part of fairings and masks, drawn by its feature lines.

use glam::Vec3;

use super::shell::{Net, NetPanel, PanelEnd};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::Solid;

/// A cowl around the lamps: ridge, edge of the screen's foot, a brow at the widest place,
/// and the edge of its underside.
pub(super) struct NoseCowl {
    net: Net,
    lines: Vec<Vec<Vec3>>,
}

impl NoseCowl {
    /// Stations are (distance behind the nose, half width, top, brow,
    /// underside), with heights from `up`.
    pub(super) fn new(nose: f32, up: f32, stations: &[[f32; 5]]) -> NoseCowl {
        let line = |place: &dyn Fn([f32; 5]) -> [f32; 2]| -> Vec<Vec3> {
            stations
                .iter()
                .map(|station| {
                    let [y, z] = place(*station);
                    Vec3::new(nose + station[0], y, up + z)
                })
                .collect()
        };
        let lines = vec![
            line(&|[_, _, top, _, _]| [0.0, top]),
            line(&|[_, wide, top, brow, _]| [wide * 0.56, top + (brow - top) * 0.16]),
            line(&|[_, wide, _, brow, _]| [wide, brow]),
            line(&|[_, wide, _, brow, low]| [wide * 0.93, brow + (low - brow) * 0.62]),
            line(&|[_, wide, _, _, low]| [wide * 0.52, low]),
            line(&|[_, _, _, _, low]| [0.0, low]),
        ];
        NoseCowl { net: Net::new(lines.clone()), lines }
    }

    /// Returns the cowl's skin, open to the rear.
    pub(super) fn solid(&self) -> Solid {
        let last = self.lines[0].len() - 1;
        let mut whole = Solid::default();
        for lines in [[0, 1], [1, 2], [2, 3], [3, 5]] {
            let sides = [PanelEnd::Joined, PanelEnd::Joined, PanelEnd::Joined, PanelEnd::Free];
            whole.append(self.net.panel(&NetPanel { lines, stations: [0, last], sides }));
        }
        let [edge, middle] = self.end(0, -0.006);
        whole.append(closed_end([middle, edge]));
        whole
    }

    /// Returns the sheet that closes the cowl to the rear.
    pub(super) fn back(&self) -> Solid {
        let [edge, middle] = self.end(self.lines[0].len() - 1, 0.004);
        closed_end([edge, middle])
    }

    /// Returns the rest of the cowl's skin in three colours: a dark face, a dark
    /// underside, and the painted cowl.
    pub(super) fn coloured(&self, skin: Solid) -> [(Material, Solid); 3] {
        let front = self.lines[0][0].x;
        let [face, rest] = parted(skin, |p| p.x < front + 0.0005);
        let edge = self.net.line(3, 6);
        let below = |p: Vec3| {
            let next = edge.iter().position(|q| q.x >= p.x).unwrap_or(edge.len() - 1).max(1);
            let (a, b) = (edge[next - 1], edge[next]);
            p.z < a.z + (b.z - a.z) * ((p.x - a.x) / (b.x - a.x).max(1e-6)).clamp(0.0, 1.0) + 0.0004
        };
        let [under, cowl] = parted(rest, below);
        [(Material::GlossBlack, face), (Material::MattBlack, under), (Material::Paint, cowl)]
    }

    /// Returns the skin's edge at a station from below upwards, and the same edge in the
    /// centre plane, moved by `out` in x.
    fn end(&self, station: usize, out: f32) -> [Vec<Vec3>; 2] {
        let edge: Vec<Vec3> = self.lines.iter().rev().map(|line| line[station]).collect();
        let middle = edge.iter().map(|p| Vec3::new(p.x + out, 0.0, p.z)).collect();
        [edge, middle]
    }

    /// Returns how far out the cowl's flank is at a place seen from the
    /// side, or 0 where it has none.
    pub(super) fn out(&self, x: f32, z: f32) -> f32 {
        let at = |line: &[Vec3]| -> Vec3 {
            let next = line.iter().position(|p| p.x >= x).unwrap_or(line.len() - 1).max(1);
            let (a, b) = (line[next - 1], line[next]);
            a.lerp(b, ((x - a.x) / (b.x - a.x).max(1e-6)).clamp(0.0, 1.0))
        };
        let section: Vec<Vec3> = self.lines.iter().map(|line| at(line)).collect();
        section
            .windows(2)
            .filter(|pair| pair[0].z >= z && z >= pair[1].z)
            .map(|pair| pair[0].lerp(pair[1], (pair[0].z - z) / (pair[0].z - pair[1].z).max(1e-6)).y)
            .fold(0.0, f32::max)
    }
}

/// Returns a sheet between two lines, on both halves.
fn closed_end(lines: [Vec<Vec3>; 2]) -> Solid {
    let last = lines[0].len() - 1;
    Net::new(lines.to_vec()).panel(&NetPanel { lines: [0, 1], stations: [0, last], sides: [PanelEnd::Joined; 4] })
}

/// Returns a skin in two parts: the faces whose middles pass a test, and the rest.
fn parted(skin: Solid, picked: impl Fn(Vec3) -> bool) -> [Solid; 2] {
    let middle = |t: &[u32; 3]| t.iter().map(|i| skin.points[*i as usize]).sum::<Vec3>() / 3.0;
    let (yes, no): (Vec<[u32; 3]>, Vec<[u32; 3]>) = skin.triangles.iter().partition(|t| picked(middle(t)));
    [Solid { triangles: yes, points: skin.points.clone() }, Solid { triangles: no, points: skin.points }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cowl() -> NoseCowl {
        NoseCowl::new(
            0.0,
            1.0,
            &[[0.0, 0.05, 0.0, -0.02, -0.10], [0.1, 0.12, 0.05, 0.0, -0.12], [0.3, 0.15, 0.06, 0.0, -0.12]],
        )
    }

    #[test]
    fn its_skin_and_its_back_enclose_a_volume() {
        let mut whole = cowl().solid();
        whole.append(cowl().back());
        let volume = whole.signed_volume_x6() / 6.0;
        assert!((0.004..0.012).contains(&volume), "{volume}");
    }

    #[test]
    fn its_flank_is_widest_at_the_brow() {
        assert!((cowl().out(0.3, 1.0) - 0.15).abs() < 1e-3);
        assert!(cowl().out(0.3, 0.90) < 0.15);
        assert_eq!(cowl().out(0.3, 1.2), 0.0);
    }

    #[test]
    fn its_colours_share_the_whole_skin() {
        let skin = cowl().solid();
        let parts = cowl().coloured(skin.clone());
        assert!(parts.iter().all(|(_, part)| !part.triangles.is_empty()));
        assert_eq!(parts.iter().map(|(_, part)| part.triangles.len()).sum::<usize>(), skin.triangles.len());
    }
}

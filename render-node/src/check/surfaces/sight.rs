//! A mesh seen in parallel projection, without a graphics device: at each pixel the nearest
//! surface, its distance and its normal.

use crate::vehicle::{Material, VehicleMesh};
use glam::{Mat3, Vec2, Vec3};

/// A view of a mesh. Its axes: x to the right, y up, z towards the eye. Metres.
pub struct Sight {
    pub pitch_m: f32,
    pub columns: usize,
    pub rows: usize,
    /// Row by row from below.
    pub pixels: Vec<Option<SightPixel>>,
}

#[derive(Debug, Clone, Copy)]
pub struct SightPixel {
    /// Coordinate towards the eye; larger is nearer.
    pub nearness: f32,
    /// Unit length, turned towards the eye.
    pub normal: Vec3,
    pub material: Material,
}

/// Corners of pixels that lie on a triangle's edge belong to it, so that no pixel falls between two
/// triangles.
const EDGE_TOLERANCE: f32 = 1e-5;
/// Maximum extent: longer than any vehicle. A larger mesh is not in metres, and its image would not
/// fit into memory.
const EXTENT_MAX_M: f32 = 40.0;

/// The direction from which a mesh is seen.
#[derive(Debug, Clone, Copy)]
pub enum Standpoint {
    Side,
    Above,
    Front,
}

impl Standpoint {
    /// Returns the rotation from vehicle axes to those of the sight.
    fn turn(self) -> Mat3 {
        let [right, up, to_eye] = match self {
            Standpoint::Side => [Vec3::X, Vec3::Z, -Vec3::Y],
            Standpoint::Above => [Vec3::X, Vec3::Y, Vec3::Z],
            Standpoint::Front => [-Vec3::Y, Vec3::Z, -Vec3::X],
        };
        Mat3::from_cols(right, up, to_eye).transpose()
    }
}

impl Sight {
    /// Draws a mesh. Every material hides what lies behind it, clear ones too. A mesh that is empty
    /// or larger than any vehicle gives an empty sight.
    pub fn of(mesh: &VehicleMesh, standpoint: Standpoint, pitch_m: f32) -> Sight {
        let turn = standpoint.turn();
        let turned = |p: &[f32; 3]| turn * Vec3::from(*p);
        let places = || mesh.surfaces.values().flat_map(|surface| &surface.positions).map(turned);
        let low = places().fold(Vec3::INFINITY, Vec3::min);
        let extent = places().fold(Vec3::NEG_INFINITY, Vec3::max) - low;
        if !extent.is_finite() || extent.max_element() > EXTENT_MAX_M {
            return Sight { pitch_m, columns: 0, rows: 0, pixels: Vec::new() };
        }
        let (columns, rows) = ((extent.x / pitch_m) as usize + 2, (extent.y / pitch_m) as usize + 2);
        let mut sight = Sight { pitch_m, columns, rows, pixels: vec![None; columns * rows] };
        let to_pixels = Vec3::new(1.0 / pitch_m, 1.0 / pitch_m, 1.0);
        for (material, surface) in &mesh.surfaces {
            let places: Vec<Vec3> = surface.positions.iter().map(|p| (turned(p) - low) * to_pixels).collect();
            let normals: Vec<Vec3> = surface.normals.iter().map(turned).collect();
            for corner in surface.indices.chunks_exact(3) {
                let corners = [corner[0], corner[1], corner[2]].map(|index| index as usize);
                sight.draw(corners.map(|index| places[index]), corners.map(|index| normals[index]), *material);
            }
        }
        sight
    }

    /// Draws one triangle; x and y of its positions are in pixels.
    fn draw(&mut self, places: [Vec3; 3], normals: [Vec3; 3], material: Material) {
        let [a, b, c] = places.map(Vec3::truncate);
        let area = (b - a).perp_dot(c - a);
        if area.abs() < 1e-9 || !area.is_finite() {
            return;
        }
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let range = |low: f32, high: f32, count: usize| {
            let past = (high.floor() + 1.0).clamp(0.0, count as f32) as usize;
            (low.ceil().max(0.0) as usize).min(past)..past
        };
        for y in range(low.y, high.y, self.rows) {
            for x in range(low.x, high.x, self.columns) {
                let p = Vec2::new(x as f32, y as f32);
                let ratios = [(c - b).perp_dot(p - b), (a - c).perp_dot(p - c), (b - a).perp_dot(p - a)]
                    .map(|ratio| ratio / area);
                if ratios.iter().any(|ratio| *ratio < -EDGE_TOLERANCE) {
                    continue;
                }
                let nearness: f32 = (0..3).map(|corner| places[corner].z * ratios[corner]).sum();
                let pixel = &mut self.pixels[y * self.columns + x];
                if pixel.is_none_or(|seen| nearness > seen.nearness) {
                    let normal: Vec3 = (0..3).map(|corner| normals[corner] * ratios[corner]).sum();
                    let normal = normal.normalize_or(Vec3::Z);
                    let normal = if normal.z < 0.0 { -normal } else { normal };
                    *pixel = Some(SightPixel { nearness, normal, material });
                }
            }
        }
    }

    pub fn is_paint(&self, index: usize) -> bool {
        self.pixels[index].is_some_and(|pixel| pixel.material == Material::Paint)
    }

    /// Returns the first and last column in which anything is seen.
    pub fn covered_columns(&self) -> Option<(usize, usize)> {
        let is_covered = |column: &usize| (0..self.rows).any(|row| self.pixels[row * self.columns + column].is_some());
        let first = (0..self.columns).find(is_covered)?;
        let last = (0..self.columns).rev().find(is_covered)?;
        Some((first, last))
    }
}

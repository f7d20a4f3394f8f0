//! A small image of a mesh without a graphics device: at each pixel the material in front, its
//! normal, and from which side it is seen. `RasterImage::sketch` colours it: a tenth of a second in
//! place of a second and more, for people who draw sheets.

use crate::studio::Camera;
use crate::vehicle::{Material, VehicleMesh};
use cyclorama_core::encoding::{PictureError, Pixmap};
use glam::{Vec2, Vec3};

/// A square image.
pub struct RasterImage {
    side_px: usize,
    /// Material of the nearest surface, row by row from the top.
    nearest: Vec<Option<Material>>,
    /// Normals of the nearest surface, in vehicle axes turned as the camera sees them (x right, y
    /// away, z up).
    normals: Vec<Vec3>,
    /// Number of pixels at which the nearest surface is a shell's inside.
    pub open: usize,
    /// Number of triangle corners beyond the image's edge.
    pub outside: usize,
}

impl RasterImage {
    pub fn covered(&self) -> usize {
        self.nearest.iter().flatten().count()
    }

    /// Returns the nearest surface at a pixel, counted from the left and the top.
    pub fn at(&self, x: usize, y: usize) -> Option<Material> {
        self.nearest[y * self.side_px + x]
    }

    pub fn of(&self, material: Material) -> usize {
        self.nearest.iter().flatten().filter(|found| **found == material).count()
    }

    /// Returns the image in plain colours under a bright sky, transparent around the vehicle.
    /// `supersamples` samples along a side become one pixel.
    pub fn sketch(&self, paint: [u8; 3], supersamples: usize) -> Result<Pixmap, PictureError> {
        let side = self.side_px / supersamples;
        let ratio = 1.0 / (supersamples * supersamples) as f32;
        let mut rgba = Vec::with_capacity(side * side * 4);
        for index in 0..side * side {
            let (mut light, mut alpha) = (Vec3::ZERO, 0.0);
            for sample in 0..supersamples * supersamples {
                let (y, x) = (
                    index / side * supersamples + sample / supersamples,
                    index % side * supersamples + sample % supersamples,
                );
                let at = y * self.side_px + x;
                if let Some(material) = self.nearest[at] {
                    light += shade(material, self.normals[at], paint);
                    alpha += ratio;
                }
            }
            let colour = light * ratio / alpha.max(ratio);
            rgba.extend(colour.to_array().map(|c| (c.clamp(0.0, 1.0) * 255.0) as u8));
            rgba.push((alpha * 255.0) as u8);
        }
        Pixmap::from_rgba(side as u32, side as u32, rgba)
    }

    /// Returns the number of pixels covered in one image and not in the mirror image of the other.
    pub fn differs_from_mirrored(&self, other: &RasterImage) -> usize {
        let side = self.side_px;
        let mirrored = |index: usize| index / side * side + side - 1 - index % side;
        (0..self.nearest.len())
            .filter(|index| self.nearest[*index].is_some() != other.nearest[mirrored(*index)].is_some())
            .count()
    }
}

/// Returns a colour in sRGB, 0 to 1: the body colour in soft light from above, and the sky's
/// reflection where the surface is glossy.
fn shade(material: Material, normal: Vec3, paint: [u8; 3]) -> Vec3 {
    let normal = normal.normalize_or(Vec3::Z);
    let (body, gloss) = match material {
        Material::Paint => (Vec3::from(paint.map(|c| f32::from(c) / 255.0)), 0.35),
        Material::Glass | Material::ClearGlass | Material::PaneBorder => (Vec3::splat(0.10), 0.45),
        Material::GlossBlack => (Vec3::splat(0.05), 0.35),
        Material::MattBlack | Material::Underbody => (Vec3::splat(0.16), 0.0),
        Material::Chrome | Material::LampReflector | Material::LampFrosted => (Vec3::splat(0.62), 0.6),
        Material::Satin | Material::RimBright | Material::BrakeDisc => (Vec3::splat(0.62), 0.15),
        Material::Grille | Material::LampHousing | Material::PanelGap => (Vec3::splat(0.07), 0.0),
        Material::LampLens | Material::LampWhite | Material::LampGlow => (Vec3::splat(0.95), 0.0),
        Material::LampGuide => (Vec3::splat(0.75), 0.0),
        Material::LampSatin => (Vec3::splat(0.25), 0.1),
        Material::LampGlass => (Vec3::splat(0.05), 0.35),
        Material::LampRed | Material::LampRedLens | Material::LampRedGuide => (Vec3::new(0.70, 0.05, 0.06), 0.1),
        Material::LampAmber => (Vec3::new(0.95, 0.55, 0.10), 0.1),
        Material::Tyre => (Vec3::splat(0.11), 0.0),
        Material::RimDark => (Vec3::splat(0.18), 0.15),
        Material::Interior => (Vec3::splat(0.09), 0.0),
        Material::Seat => (Vec3::splat(0.24), 0.0),
        Material::Lining => (Vec3::splat(0.45), 0.0),
        Material::Fabric => (Vec3::splat(0.13), 0.0),
        Material::GlossWhite => (Vec3::splat(0.92), 0.2),
    };
    let lambert = 0.45 + 0.35 * normal.z.max(0.0) + 0.20 * (-normal.y).max(0.0);
    // The surroundings mirrored at this point: sky above the horizon, a dark floor below.
    let away = Vec3::Y;
    let mirrored = away - normal * 2.0 * away.dot(normal);
    let sky = ((mirrored.z + 0.05) / 0.25).clamp(0.0, 1.0) * (0.6 + 0.4 * mirrored.z.max(0.0));
    body * lambert + Vec3::splat(gloss * sky * 0.8)
}

/// Returns true if a material has an inside that must not be seen. Clear or thin parts have none:
/// both sides of them may be seen.
fn is_shell(material: Material) -> bool {
    matches!(material, Material::Paint | Material::GlossBlack | Material::GlossWhite | Material::Tyre)
}

/// Difference up to which depths count as equal, in units of clip space.
const EDGE_DEPTH: f32 = 1e-6;

/// Draws the mesh as the camera frames it.
pub fn draw(mesh: &VehicleMesh, camera: &Camera, side_px: usize) -> RasterImage {
    let clip = camera.clip_from_studio() * camera.studio_from_vehicle;
    let side = side_px as f32;
    let mut depth = vec![f32::INFINITY; side_px * side_px];
    let mut nearest = vec![None; side_px * side_px];
    let mut from_inside = vec![false; side_px * side_px];
    let mut normals = vec![Vec3::ZERO; side_px * side_px];
    let mut outside = 0;
    for (material, surface) in &mesh.surfaces {
        // Lenses are seen through.
        if matches!(material, Material::LampLens) {
            continue;
        }
        let points: Vec<Vec3> = surface.positions.iter().map(|p| clip.project_point3(Vec3::from(*p))).collect();
        outside += points.iter().filter(|p| p.x.abs() > 1.0 || p.y.abs() > 1.0).count();
        let turned: Vec<Vec3> = surface
            .normals
            .iter()
            .map(|n| camera.studio_from_vehicle.transform_vector3(Vec3::from(*n)).normalize_or(Vec3::Z))
            .collect();
        let pixel = |p: Vec3| Vec2::new((p.x + 1.0) * 0.5 * side, (1.0 - p.y) * 0.5 * side);
        for corner in surface.indices.chunks_exact(3) {
            let [a, b, c] = [corner[0], corner[1], corner[2]].map(|index| points[index as usize]);
            let [pa, pb, pc] = [a, b, c].map(pixel);
            let area = (pb - pa).perp_dot(pc - pa);
            if area.abs() < 1e-9 || !area.is_finite() {
                continue;
            }
            let (low, high) = (pa.min(pb).min(pc), pa.max(pb).max(pc));
            let range = |low: f32, high: f32| {
                let first = (low - 0.5).ceil().max(0.0) as usize;
                let past = ((high - 0.5).floor() + 1.0).clamp(0.0, side) as usize;
                first..past.max(first)
            };
            for y in range(low.y, high.y) {
                for x in range(low.x, high.x) {
                    let p = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                    let weights = [(pc - pb).perp_dot(p - pb), (pa - pc).perp_dot(p - pc), (pb - pa).perp_dot(p - pa)]
                        .map(|w| w / area);
                    if weights.iter().any(|w| *w < 0.0) {
                        continue;
                    }
                    let z = weights[0] * a.z + weights[1] * b.z + weights[2] * c.z;
                    let index = y * side_px + x;
                    // The edge between a face that looks here and one that looks away belongs to
                    // the first.
                    let is_inside = area > 0.0 && is_shell(*material);
                    let parts_tie = from_inside[index] && !is_inside && z <= depth[index] + EDGE_DEPTH;
                    if z < depth[index] - if is_inside { EDGE_DEPTH } else { 0.0 } || parts_tie {
                        depth[index] = z;
                        nearest[index] = Some(*material);
                        normals[index] =
                            (0..3).map(|corner_of| turned[corner[corner_of] as usize] * weights[corner_of]).sum();
                        // Rows count downwards, so counter-clockwise is negative here.
                        from_inside[index] = is_inside;
                    }
                }
            }
        }
    }
    let open = from_inside.iter().filter(|inside| **inside).count();
    RasterImage { side_px, nearest, normals, open, outside }
}

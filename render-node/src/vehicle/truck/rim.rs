//! Bright frames round the openings of a nose: each is a separate
//! rounded bar along the drawn outline.
//!
//! A band of the skin alone would have the skin's triangles for an edge where the
//! nose turns over into the hood.

use glam::{Vec2, Vec3};

use crate::vehicle::drawing::outline_of;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::Assembly;
use crate::vehicle::parts::solid::{Solid, rounded_rectangle};
use crate::vehicle::sheet::{EdgeBand, Region, RegionKind, Sheet};
use crate::vehicle::truck::site::Site;

/// Least width of a band that gets a bar. Narrower bands are seals.
const LEAST_M: f32 = 0.018;
/// Distance between points along the outline.
const STEP_M: f32 = 0.035;
/// Half of the bar's depth.
const HALF_DEPTH_M: f32 = 0.013;
/// Distance of the bar's middle in front of the skin.
const OUT_M: f32 = 0.004;
/// Half width of the bar as a ratio of the band's width. The bar covers
/// the band and its ragged edges.
const COVER: f32 = 0.62;

pub(super) fn add(parts: &mut Assembly, site: &Site<'_>, sheet: &Sheet) {
    for region in &sheet.front.region {
        if let Some(edge) = frame_of(region) {
            add_frame(parts, site, region, edge);
        }
    }
}

/// Returns the bright band round an opening across the middle, if the region has one.
fn frame_of(region: &Region) -> Option<&EdgeBand> {
    let is_opening = region.at.mirror && matches!(region.kind, RegionKind::Inset { .. });
    let is_bright =
        |edge: &&EdgeBand| matches!(edge.material, Material::Chrome | Material::Satin) && edge.width > LEAST_M;
    region.edge.as_ref().filter(|_| is_opening).filter(is_bright)
}

fn add_frame(parts: &mut Assembly, site: &Site<'_>, region: &Region, edge: &EdgeBand) {
    let outline = outline_of(&region.at, STEP_M);
    let drawn: Vec<Vec2> = outline
        .points()
        .iter()
        .map(|q| {
            let p = site.real(0.0, q.x, q.y);
            Vec2::new(p.y, p.z)
        })
        .collect();
    let count = drawn.len();
    if count < 8 {
        return;
    }
    let middle = drawn.iter().sum::<Vec2>() / count as f32;
    // The middle of the band, which lies outside the opening.
    let placed: Option<Vec<(Vec3, Vec3)>> = (0..count)
        .map(|i| {
            let along = drawn[(i + 1) % count] - drawn[(i + count - 1) % count];
            let across = along.perp().normalize_or_zero();
            let outward = if across.dot(drawn[i] - middle) < 0.0 { -across } else { across };
            let q = drawn[i] + outward * edge.width * 0.5;
            let p = site.field.hit(Vec3::new(-0.2, q.x, q.y), Vec3::X, 1.6)?;
            Some((p, site.field.normal(p)))
        })
        .collect();
    let Some(placed) = placed else { return };
    let smooth = |i: usize| {
        let around = [i + count - 1, i, i, i + 1].map(|k| placed[k % count]);
        let at = around.iter().map(|(p, _)| *p).sum::<Vec3>() / 4.0;
        let normal = around.iter().map(|(_, n)| *n).sum::<Vec3>().normalize_or(-Vec3::X);
        (at, normal)
    };
    let path: Vec<(Vec3, Vec3)> = (0..count).map(smooth).collect();
    let section = rounded_rectangle(edge.width * COVER, HALF_DEPTH_M, HALF_DEPTH_M * 0.9);
    let bar = Solid::grid(count + 1, section.len(), true, |row, column| {
        let (at, normal) = path[row % count];
        let along = path[(row + 1) % count].0 - path[(row + count - 1) % count].0;
        let right = along.cross(normal).normalize_or(Vec3::Z);
        at + right * section[column].x + normal * (OUT_M + section[column].y)
    });
    parts.add_soft(edge.material, bar.facing_out());
}

//! Finds the triangles that an image can show. A CPU that serves as graphics device spends most of
//! an image's time on small triangles, and a view hides up to half of them: the far side, the
//! floor, and what stands behind the body.
//!
//! A depth map of the solid triangles that face the camera gives, for each block of texels, the
//! depth of the farthest surface seen there. A triangle that lies well behind that depth in every
//! block it reaches is left out (after N. Greene, M. Kass, G. Miller: Hierarchical Z-buffer
//! visibility, SIGGRAPH 1993). A triangle that is left out is never seen, so the image stays the
//! same. A hidden triangle that is kept costs only time.
//!
//! Why: `docs/decisions/studio-and-light.md` (Triangles that a picture hides).

use super::camera::Camera;
use super::targets::SUPERSAMPLES;
use cyclorama_core::MASTER_SIDE_PX;
use glam::Vec3;
use rayon::prelude::*;

/// Texels of the depth map along a side: one per sample of the raster pass. With one per pixel,
/// strips half a pixel wide fell between two texels and were left out.
const SIDE: usize = (MASTER_SIDE_PX * SUPERSAMPLES) as usize;
/// Side of a block, in texels.
const BLOCK: usize = 16;
const BLOCKS: usize = SIDE / BLOCK;
/// Rows of the depth map that are drawn as one piece of work.
const BAND: usize = 128;
/// A triangle that lies behind by less than this, in studio metres, is kept. A shut line is deeper
/// than it is wide, and may fall between two texels.
const BEHIND_M: f32 = 0.06;
/// Distance in texels by which samples of the jittered passes may lie beside the texels' middles.
const BESIDE: f32 = 1.0;
/// Least barycentric coordinate of a texel that belongs to a triangle. It is slightly negative so
/// that a texel on the edge between two triangles belongs to at least one of them.
const EDGE: f32 = -1e-4;

/// A vertex in the image: texels from its left and top, and the reciprocal of its distance along
/// the view in studio metres, which is linear in the image.
#[derive(Debug, Clone, Copy)]
pub struct ProjectedVertex {
    x: f32,
    y: f32,
    nearness: f32,
}

impl ProjectedVertex {
    /// Projects a position in vehicle axes.
    pub fn of(camera: &Camera, position: Vec3) -> Self {
        let seen = camera.studio_from_vehicle.transform_point3(position) - camera.eye;
        let nearness = 1.0 / seen.dot(camera.forward);
        let half = 0.5 * SIDE as f32;
        let x = (seen.dot(camera.right()) * nearness - camera.shift.x) * camera.zoom;
        let y = (seen.dot(camera.up) * nearness - camera.shift.y) * camera.zoom;
        Self { x: half + half * x, y: half - half * y, nearness }
    }
}

type Corners = [ProjectedVertex; 3];

/// Returns the least and the greatest value of one coordinate over three corners.
fn span(corners: &Corners, of: impl Fn(&ProjectedVertex) -> f32) -> (f32, f32) {
    let [a, b, c] = [&corners[0], &corners[1], &corners[2]].map(of);
    (a.min(b).min(c), a.max(b).max(c))
}

/// Returns, for each triangle, true if the image can show it. The first `solid` indices belong to
/// triangles that can hide others.
pub fn triangles(vertices: &[ProjectedVertex], indices: &[u32], solid: usize) -> Vec<bool> {
    let corners_of = |triangle: &[u32]| [triangle[0], triangle[1], triangle[2]].map(|index| vertices[index as usize]);
    let hides = farthest_in_blocks(&indices[..solid], &corners_of);
    indices.par_chunks_exact(3).map(|triangle| can_be_seen(&corners_of(triangle), &hides)).collect()
}

/// Returns, for each block, row by row, the nearness of the farthest surface among those nearest in
/// its texels, or 0 if one of the texels shows the background.
fn farthest_in_blocks(solid: &[u32], corners_of: &(impl Fn(&[u32]) -> Corners + Sync)) -> Vec<f32> {
    let rows: Vec<(f32, f32)> =
        solid.par_chunks_exact(3).map(|triangle| span(&corners_of(triangle), |p| p.y)).collect();
    let bands = (0..SIDE / BAND).into_par_iter().map(|band| {
        let (first, last) = ((band * BAND) as f32, ((band + 1) * BAND) as f32);
        let mut nearest = vec![0.0; BAND * SIDE];
        for (triangle, (top, bottom)) in solid.chunks_exact(3).zip(&rows) {
            if *bottom > first && *top < last {
                draw(&corners_of(triangle), band * BAND, &mut nearest);
            }
        }
        let of_block = |row: usize, column: usize| {
            let texels = (0..BLOCK).flat_map(|y| {
                let start = (row * BLOCK + y) * SIDE + column * BLOCK;
                &nearest[start..start + BLOCK]
            });
            texels.copied().fold(f32::MAX, f32::min)
        };
        (0..BAND / BLOCK * BLOCKS).map(|block| of_block(block / BLOCKS, block % BLOCKS)).collect::<Vec<f32>>()
    });
    bands.flatten().collect()
}

/// Draws a triangle into the rows of the depth map that begin at `top`.
fn draw(corners: &Corners, top: usize, nearest: &mut [f32]) {
    let [a, b, c] = corners;
    let area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
    // Triangles that face away are skipped: a solid's far side hides nothing that its near side
    // does not.
    let looks_at_camera = area < 0.0 && area.is_finite();
    if !looks_at_camera {
        return;
    }
    // Texels whose middles lie in the span.
    let middles = |(least, most): (f32, f32), first: usize, count: usize| {
        let low = (least - 0.5).ceil().max(first as f32) as usize;
        let high = (most - 0.5).floor().min((first + count) as f32 - 1.0);
        low..if high < 0.0 { low } else { high as usize + 1 }
    };
    let columns = middles(span(corners, |p| p.x), 0, SIDE);
    let ratio = 1.0 / area;
    for row in middles(span(corners, |p| p.y), top, nearest.len() / SIDE) {
        let y = row as f32 + 0.5;
        let line = &mut nearest[(row - top) * SIDE..][..SIDE];
        for column in columns.clone() {
            let x = column as f32 + 0.5;
            // Barycentric coordinates.
            let of_b = ((x - a.x) * (c.y - a.y) - (c.x - a.x) * (y - a.y)) * ratio;
            let of_c = ((b.x - a.x) * (y - a.y) - (x - a.x) * (b.y - a.y)) * ratio;
            let of_a = 1.0 - of_b - of_c;
            if of_a >= EDGE && of_b >= EDGE && of_c >= EDGE {
                let nearness = of_a * a.nearness + of_b * b.nearness + of_c * c.nearness;
                line[column] = line[column].max(nearness);
            }
        }
    }
}

fn can_be_seen(corners: &Corners, hides: &[f32]) -> bool {
    let (_, nearest) = span(corners, |p| p.nearness);
    let behind = 1.0 / (1.0 / nearest - BEHIND_M);
    let blocks = |(least, most): (f32, f32)| {
        let block = |texel: f32| (texel.max(0.0) as usize / BLOCK).min(BLOCKS - 1);
        block(least - BESIDE)..=block(most + BESIDE)
    };
    let columns = blocks(span(corners, |p| p.x));
    // Written so that a triangle counts as seen if a value is not a number.
    blocks(span(corners, |p| p.y))
        .any(|row| !hides[row * BLOCKS..][columns.clone()].iter().all(|block| *block > behind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Distance of the wall in these tests along the view, in studio metres.
    const FAR_M: f32 = 11.0;

    fn at(x: f32, y: f32, distance_m: f32) -> ProjectedVertex {
        ProjectedVertex { x, y, nearness: 1.0 / distance_m }
    }

    /// A square of two triangles that face the camera.
    fn square(centre: [f32; 2], half: f32, distance_m: f32) -> [ProjectedVertex; 4] {
        [[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]]
            .map(|[x, y]| at(centre[0] + half * x, centre[1] + half * y, distance_m))
    }

    fn of_squares(squares: &[[ProjectedVertex; 4]]) -> Vec<bool> {
        let indices: Vec<u32> =
            (0..squares.len() as u32).flat_map(|i| [0, 1, 2, 0, 2, 3].map(|corner| 4 * i + corner)).collect();
        let seen = triangles(&squares.concat(), &indices, indices.len());
        seen.chunks_exact(2).map(|two| two[0] || two[1]).collect()
    }

    #[test]
    fn what_stands_well_behind_is_hidden() {
        let wall = square([512.0, 512.0], 200.0, FAR_M);
        for (what, thing, is_seen) in [
            ("in front", square([512.0, 512.0], 20.0, FAR_M - 0.5), true),
            ("behind", square([512.0, 512.0], 20.0, FAR_M + 0.5), false),
            ("behind, smaller than a texel", square([512.3, 512.3], 0.1, FAR_M + 0.5), false),
            ("as deep as a shut line", square([512.0, 512.0], 20.0, FAR_M + 0.5 * BEHIND_M), true),
            ("beside", square([900.0, 512.0], 20.0, FAR_M + 0.5), true),
            ("half beside", square([712.0, 512.0], 20.0, FAR_M + 0.5), true),
            ("around", square([512.0, 512.0], 300.0, FAR_M + 0.5), true),
            ("a sample beside", square([712.4, 512.0], 0.1, FAR_M + 0.5), true),
        ] {
            assert_eq!(of_squares(&[wall, thing]), [true, is_seen], "{what}");
        }
    }

    #[test]
    fn a_wall_with_a_window_shows_what_is_behind() {
        let pillar = |x: f32| square([x, 512.0], 40.0, FAR_M);
        let behind = square([512.0, 512.0], 30.0, FAR_M + 1.0);
        assert_eq!(of_squares(&[pillar(471.0), pillar(553.0), behind]), [true, true, true], "a gap of two texels");
        assert_eq!(of_squares(&[pillar(472.0), pillar(552.0), behind]), [true, true, false], "edge to edge");
    }

    #[test]
    fn a_wall_that_is_turned_away_hides_nothing() {
        let mut wall = square([512.0, 512.0], 200.0, FAR_M);
        wall.reverse();
        let behind = square([512.0, 512.0], 30.0, FAR_M + 1.0);
        assert_eq!(of_squares(&[wall, behind]), [true, true]);
    }

    proptest! {
        /// The surface that is nearest in the middle of a texel is never left out.
        #[test]
        fn what_is_nearest_somewhere_is_seen(
            corners in proptest::collection::vec((-20.0f32..1044.0, -20.0f32..1044.0, 10.0f32..12.0), 3..60),
            looks in proptest::collection::vec((0usize..SIDE, 0usize..SIDE), 200),
        ) {
            let vertices: Vec<ProjectedVertex> = corners.iter().map(|(x, y, distance_m)| at(*x, *y, *distance_m)).collect();
            let indices: Vec<u32> = (0..vertices.len() as u32 / 3 * 3).collect();
            let seen = triangles(&vertices, &indices, indices.len());
            for (column, row) in looks {
                let (x, y) = (column as f32 + 0.5, row as f32 + 0.5);
                let nearness = |triangle: usize| {
                    let [a, b, c] = [0, 1, 2].map(|corner| vertices[3 * triangle + corner]);
                    let area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
                    let of_b = ((x - a.x) * (c.y - a.y) - (c.x - a.x) * (y - a.y)) / area;
                    let of_c = ((b.x - a.x) * (y - a.y) - (x - a.x) * (b.y - a.y)) / area;
                    let of_a = 1.0 - of_b - of_c;
                    let inside = of_a > 1e-3 && of_b > 1e-3 && of_c > 1e-3;
                    inside.then_some(of_a * a.nearness + of_b * b.nearness + of_c * c.nearness)
                };
                let nearest = (0..seen.len())
                    .filter_map(|triangle| Some((nearness(triangle)?, triangle)))
                    .max_by(|a, b| a.0.total_cmp(&b.0));
                if let Some((_, triangle)) = nearest {
                    prop_assert!(seen[triangle], "triangle {triangle} is what {column}, {row} shows");
                }
            }
        }
    }
}

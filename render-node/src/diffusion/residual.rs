//! Scales the model's residual up to the size of the layers and adds it to them.
//!
//! Layers are premultiplied, so along an outline the residual shrinks with the square root of the
//! coverage (light is encoded by a square root). Bilinear weights therefore count only what is
//! covered: inside a surface this is plain bilinear interpolation; across a surface's edge nothing
//! leaks, and where nothing is covered nothing is added.
//!
//! Why: `docs/decisions/diffusion-and-models.md` (What a text-to-image model may change).

use super::light_space;
use crate::studio::Layers;
use crate::studio::layers::mean_of_blocks;
use rayon::prelude::*;

/// Planes of the residual: diffuse r g b, gloss r g b, rest r g b, ground shadow.
pub const RESIDUAL_CHANNELS: usize = 10;
/// Index of the shadow's plane. The planes before it are light.
const SHADOW: usize = 9;
/// Where the base shading's shadow is fainter than this, the model's addition to it fades out with
/// it.
const FAINT_SHADOW: f32 = 0.02;

/// Least ratio of a pixel that a guide must cover. Below it the guide says nothing reliable about
/// its colour, and its square root would amplify noise.
const GUIDE_MIN: f32 = 1.0 / 512.0;

/// Adds `residual` (planes of `side` x `side`, in units of `scale`, encoded light) to `layers`,
/// whose side must be a multiple of `side`.
pub(super) fn add(layers: &mut Layers, residual: &[f32], side: usize, scale: &[f32; RESIDUAL_CHANNELS]) {
    let fine_side = layers.side_px as usize;
    let paint = mean_of_blocks(fine_side, side, |i| layers.paint[i]);
    let other = mean_of_blocks(fine_side, side, |i| (layers.coverage[i] - layers.paint[i]).max(0.0));
    // The residual times the square root of its channel's guide, as blending needs it (see the
    // module's head). The shadow has no guide.
    let weighted: Vec<[f32; RESIDUAL_CHANNELS]> = (0..side * side)
        .into_par_iter()
        .map(|i| {
            let roots = [paint[i].sqrt(), paint[i].sqrt(), other[i].sqrt()];
            std::array::from_fn(|c| residual[c * side * side + i] * scale[c] * roots.get(c / 3).copied().unwrap_or(1.0))
        })
        .collect();

    let Layers { diffuse, gloss, rest, coverage, paint: fine_paint, shadow, .. } = layers;
    let rows = diffuse
        .par_chunks_mut(fine_side)
        .zip(gloss.par_chunks_mut(fine_side))
        .zip(rest.par_chunks_mut(fine_side))
        .zip(shadow.par_chunks_mut(fine_side))
        .zip(coverage.par_chunks(fine_side).zip(fine_paint.par_chunks(fine_side)));
    rows.enumerate().for_each(|(y, ((((diffuse, gloss), rest), shadow), (coverage, fine_paint)))| {
        let down = Neighbours::of(y, fine_side, side);
        for x in 0..fine_side {
            let across = Neighbours::of(x, fine_side, side);
            let corners = [(down.low, 1.0 - down.ratio), (down.high, down.ratio)].map(|(row, ratio)| {
                let of_row = |column: usize, column_ratio: f32| (row * side + column, ratio * column_ratio);
                [of_row(across.low, 1.0 - across.ratio), of_row(across.high, across.ratio)]
            });
            let corners = corners.as_flattened();
            let darker: f32 = corners.iter().map(|(at, weight)| weight * weighted[*at][SHADOW]).sum();
            // Nothing is added where no shadow reaches, so the page stays exactly transparent
            // there.
            let reach = (shadow[x] / FAINT_SHADOW).min(1.0);
            shadow[x] = (shadow[x] + darker.min(darker * reach)).clamp(0.0, 1.0);
            // About half of an image has no vehicle and is skipped.
            if coverage[x] <= 0.0 && fine_paint[x] <= 0.0 {
                continue;
            }
            let mut sum = [0.0; SHADOW];
            let (mut paint_sum, mut other_sum) = (0.0, 0.0);
            for (at, weight) in corners {
                for (sum, value) in sum.iter_mut().zip(&weighted[*at]) {
                    *sum += weight * value;
                }
                paint_sum += weight * paint[*at];
                other_sum += weight * other[*at];
            }
            let ratio = |guide: f32, guide_sum: f32| {
                if guide > 0.0 && guide_sum > GUIDE_MIN { guide.sqrt() / guide_sum } else { 0.0 }
            };
            let of_paint = ratio(fine_paint[x], paint_sum);
            let of_other = ratio(coverage[x] - fine_paint[x], other_sum);
            for c in 0..3 {
                diffuse[x][c] = lit(diffuse[x][c], sum[c] * of_paint);
                gloss[x][c] = lit(gloss[x][c], sum[3 + c] * of_paint);
                rest[x][c] = lit(rest[x][c], sum[6 + c] * of_other);
            }
        }
    });
}

/// Returns linear light after an addition in encoded space. Light without an addition stays exactly
/// as it was.
fn lit(light: f32, residual: f32) -> f32 {
    if residual == 0.0 { light } else { light_space::decode(light_space::encode(light) + residual) }
}

/// The two coarse pixels whose centres lie around a fine pixel's centre, and the weight of the
/// second.
pub(super) struct Neighbours {
    pub(super) low: usize,
    pub(super) high: usize,
    pub(super) ratio: f32,
}

impl Neighbours {
    pub(super) fn of(fine: usize, fine_side: usize, side: usize) -> Self {
        let position = ((fine as f32 + 0.5) * side as f32 / fine_side as f32 - 0.5).clamp(0.0, (side - 1) as f32);
        let low = position as usize;
        Self { low, high: (low + 1).min(side - 1), ratio: position - low as f32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: [f32; RESIDUAL_CHANNELS] = [0.5; RESIDUAL_CHANNELS];

    /// Layers with paint on the left and rest on the right of `edge` (in fine pixels, may lie
    /// inside a pixel). The two rightmost columns are empty.
    fn layers(side: u32, edge: f32) -> Layers {
        let count = (side * side) as usize;
        let column = |i: usize| (i % side as usize) as f32;
        let covered = |i: usize| if column(i) < (side - 2) as f32 { 1.0 } else { 0.0 };
        let paint: Vec<f32> = (0..count).map(|i| (edge - column(i)).clamp(0.0, 1.0)).collect();
        Layers {
            side_px: side,
            diffuse: paint.iter().map(|p| [0.4 * p; 3]).collect(),
            gloss: paint.iter().map(|p| [0.1 * p; 3]).collect(),
            rest: (0..count).map(|i| [0.2 * (covered(i) - paint[i]); 3]).collect(),
            coverage: (0..count).map(covered).collect(),
            paint,
            shadow: vec![0.25; count],
            scale_um_per_px: None,
        }
    }

    #[test]
    fn no_residual_changes_nothing() {
        let before = layers(32, 10.5);
        let mut after = before.clone();
        add(&mut after, &vec![0.0; RESIDUAL_CHANNELS * 16 * 16], 16, &SCALE);
        assert_eq!(before, after);
    }

    #[test]
    fn a_flat_residual_is_flat_up_to_the_outline_and_nothing_beyond() {
        let before = layers(32, 10.5);
        let mut after = before.clone();
        // The residual of a model that lightens two surfaces by 0.1 each; it is less where a pixel
        // is only partly theirs.
        let paint = mean_of_blocks(32, 16, |i| before.paint[i]);
        let other = mean_of_blocks(32, 16, |i| before.coverage[i] - before.paint[i]);
        let residual: Vec<f32> = (0..RESIDUAL_CHANNELS)
            .flat_map(|c| (0..16 * 16).map(move |i| (c, i)))
            .map(|(c, i)| 0.2 * [paint[i], paint[i], other[i]].get(c / 3).map_or(1.0, |guide| guide.sqrt()))
            .collect();
        add(&mut after, &residual, 16, &SCALE);
        let expected = |light: f32| light_space::decode(light_space::encode(light) + 0.1);
        for i in 0..32 * 32 {
            let column = i % 32;
            match column {
                0..10 => {
                    assert!(
                        (after.diffuse[i][0] - expected(0.4)).abs() < 1e-4,
                        "column {column}: {:?}",
                        after.diffuse[i]
                    );
                    assert_eq!(after.rest[i], [0.0; 3], "column {column}");
                }
                // Half paint: half the light of the fully painted pixel beside it, up to the error
                // that the toe of the root causes.
                10 => assert!((after.diffuse[i][0] - expected(0.4) / 2.0).abs() < 0.01, "{:?}", after.diffuse[i]),
                11..30 => {
                    assert_eq!((after.diffuse[i], after.gloss[i]), ([0.0; 3], [0.0; 3]), "column {column}");
                    assert!((after.rest[i][2] - expected(0.2)).abs() < 1e-4, "column {column}");
                }
                _ => assert_eq!(after.rest[i], [0.0; 3], "column {column}"),
            }
            assert!((after.shadow[i] - 0.35).abs() < 1e-6);
        }
        assert_eq!((after.coverage, after.paint), (before.coverage, before.paint));
    }

    #[test]
    fn a_ramp_stays_a_ramp() {
        let mut after = layers(64, 62.0);
        let residual: Vec<f32> = (0..RESIDUAL_CHANNELS * 32 * 32).map(|i| (i % 32) as f32 * 0.01).collect();
        add(&mut after, &residual, 32, &[1.0; RESIDUAL_CHANNELS]);
        for column in 1..60 {
            let got = light_space::encode(after.diffuse[column][0]) - light_space::encode(0.4);
            let want = ((column as f32 + 0.5) / 2.0 - 0.5) * 0.01;
            assert!((got - want).abs() < 1e-5, "column {column}: {got}, not {want}");
        }
    }

    #[test]
    fn no_shadow_is_added_where_none_reaches() {
        let mut after = layers(32, 10.5);
        after.shadow[..512].fill(0.0);
        add(&mut after, &vec![0.1; RESIDUAL_CHANNELS * 16 * 16], 16, &[1.0; RESIDUAL_CHANNELS]);
        assert!(after.shadow[..512].iter().all(|v| *v == 0.0));
        assert!(after.shadow[512..].iter().all(|v| (v - 0.35).abs() < 1e-6));
    }

    #[test]
    fn light_and_shadow_stay_in_range() {
        for residual in [-50.0, 50.0] {
            let mut after = layers(32, 10.5);
            add(&mut after, &vec![residual; RESIDUAL_CHANNELS * 16 * 16], 16, &SCALE);
            let light = after.diffuse.iter().chain(&after.gloss).chain(&after.rest).flatten();
            assert!(light.clone().all(|v| (0.0..=light_space::LIGHT_MAX).contains(v)));
            assert!(after.shadow.iter().all(|v| (0.0..=1.0).contains(v)));
        }
    }
}

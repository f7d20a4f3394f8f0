//! The soft reflection of a rough lacquer: where a smooth lacquer mirrors a sharp image, a rough
//! one mirrors a soft and broad one.
//!
//! The layers know where the mirror image is but not how it would spread, so it is spread over the
//! image: blurred among pixels of paint alone, so that neither glass nor ground takes or gives
//! light.

use super::paint::is_matt;
use crate::studio::Layers;
use cyclorama_core::Paint;
use rayon::prelude::*;
use std::sync::OnceLock;

/// Reach of each blur as a ratio of the image's side. A vehicle is nine tenths of the side long, so
/// this is about a hand's breadth.
const REACH: f32 = 0.016;
/// Number of box blurs in a row. Three are nearly a Gaussian.
const BLURS: usize = 3;

/// Layers as paints show them. The soft mirror image is made when a matt paint first needs it, and
/// kept.
#[derive(Debug)]
pub struct Lacquers<'a> {
    sharp: &'a Layers,
    soft: OnceLock<Layers>,
}

impl<'a> Lacquers<'a> {
    /// Wraps layers. Their planes must have the size that `side_px` says if a matt paint is used.
    pub fn over(layers: &'a Layers) -> Self {
        Lacquers { sharp: layers, soft: OnceLock::new() }
    }

    /// Returns the layers as they are.
    pub fn layers(&self) -> &'a Layers {
        self.sharp
    }

    /// Returns the layers under the lacquer of a paint.
    pub(crate) fn of(&self, paint: Paint) -> &Layers {
        if is_matt(paint) { self.soft.get_or_init(|| softened(self.sharp)) } else { self.sharp }
    }
}

fn softened(layers: &Layers) -> Layers {
    let side = layers.side_px as usize;
    let reach = ((side as f32 * REACH) as usize).max(1);
    let mut light: Vec<[f32; 4]> =
        layers.gloss.iter().zip(&layers.paint).map(|([r, g, b], paint)| [*r, *g, *b, *paint]).collect();
    // A blur along the rows followed by a swap of rows and columns, an even number of times, so
    // that the image is oriented as before.
    for _ in 0..2 * BLURS {
        light = turned(&blurred_rows(&light, side, reach), side);
    }
    let mean = |(light, paint): (&[f32; 4], &f32)| {
        let ratio = if *paint > 0.0 { paint / light[3].max(1e-4) } else { 0.0 };
        [light[0], light[1], light[2]].map(|light| (light * ratio).max(0.0))
    };
    Layers { gloss: light.par_iter().zip(&layers.paint).map(mean).collect(), ..layers.clone() }
}

/// Returns each pixel as the mean of the pixels that are at most `reach` from it in its row. Pixels
/// beyond the image count as zero.
fn blurred_rows(pixels: &[[f32; 4]], side: usize, reach: usize) -> Vec<[f32; 4]> {
    let width = (2 * reach + 1) as f64;
    let mut out = vec![[0.0; 4]; pixels.len()];
    out.par_chunks_mut(side).zip(pixels.par_chunks(side)).for_each(|(out, row)| {
        // Sums in f64, so that a value that leaves the window leaves no rounding error behind.
        let mut sum = [0.0_f64; 4];
        let mut add = |pixel: &[f32; 4], sign: f64| {
            sum.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += sign * f64::from(*value));
            sum
        };
        row.iter().take(reach).for_each(|pixel| _ = add(pixel, 1.0));
        for (x, mean) in out.iter_mut().enumerate() {
            let entering = row.get(x + reach).unwrap_or(&[0.0; 4]);
            *mean = add(entering, 1.0).map(|sum| (sum / width) as f32);
            if let Some(leaving) = x.checked_sub(reach) {
                add(&row[leaving], -1.0);
            }
        }
    });
    out
}

/// Exchanges rows and columns.
fn turned(pixels: &[[f32; 4]], side: usize) -> Vec<[f32; 4]> {
    let mut out = vec![[0.0; 4]; pixels.len()];
    out.par_chunks_mut(side.max(1)).enumerate().for_each(|(x, column)| {
        column.iter_mut().enumerate().for_each(|(y, pixel)| *pixel = pixels[y * side + x]);
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Layers with paint in the left half, and one bright column in it.
    fn layers() -> Layers {
        let count = 128 * 128;
        let paint: Vec<f32> = (0..count).map(|i| if i % 128 < 64 { 1.0 } else { 0.0 }).collect();
        Layers {
            side_px: 128,
            diffuse: vec![[0.0; 3]; count],
            gloss: (0..count).map(|i| if i % 128 == 32 { [3.0, 2.0, 1.0] } else { [0.0; 3] }).collect(),
            rest: vec![[0.0; 3]; count],
            coverage: paint.clone(),
            paint,
            shadow: vec![0.0; count],
            scale_um_per_px: None,
        }
    }

    #[test]
    fn a_mirror_image_is_spread_over_paint_alone() {
        let (sharp, soft) = (layers(), softened(&layers()));
        let sum = |layers: &Layers| layers.gloss.iter().map(|light| light[0]).sum::<f32>();
        assert!((sum(&soft) / sum(&sharp) - 1.0).abs() < 0.02, "{} of {}", sum(&soft), sum(&sharp));
        let middle = &soft.gloss[64 * 128..][..128];
        assert!(middle[32][0] < 0.75 && middle[32][0] > middle[28][0] && middle[28][0] > 0.1, "{middle:?}");
        assert!(middle[64..].iter().all(|light| *light == [0.0; 3]));
        // Up to the upper edge of the image as bright as in its middle, and of the same tint.
        assert!((soft.gloss[32][0] - middle[32][0]).abs() < 1e-3 && (middle[32][0] / middle[32][2] - 3.0).abs() < 1e-3);
    }
}

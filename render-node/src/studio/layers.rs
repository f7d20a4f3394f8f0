//! Light layers: the light of a vehicle and view before a paint is chosen.

use rayon::prelude::*;

/// Paint-independent light layers of one vehicle and view. Linear light (1.0 = diffuse white under
/// the rig), row by row from the top left, every colour plane premultiplied by coverage.
///
/// The composed image of a paint with albedo `a` is `diffuse * a + gloss * s + rest` on the
/// vehicle, over a ground shadow that only darkens what is behind it (alpha = coverage + (1 -
/// coverage) * shadow).
#[derive(Debug, Clone, PartialEq)]
pub struct Layers {
    pub side_px: u32,
    /// Light that a white paint (albedo 1) would send to the camera diffusely. Zero off the paint.
    pub diffuse: Vec<[f32; 3]>,
    /// Light mirrored by the clear coat. Zero off the paint.
    pub gloss: Vec<[f32; 3]>,
    /// Finished light of everything that is not painted.
    pub rest: Vec<[f32; 3]>,
    /// Ratio of the pixel that the vehicle covers, 0 to 1.
    pub coverage: Vec<f32>,
    /// Ratio of the pixel that paint covers, 0 to `coverage`.
    pub paint: Vec<f32>,
    /// Darkness of the shadow on the ground, 0 to 1; not premultiplied, defined under the vehicle
    /// too.
    pub shadow: Vec<f32>,
    /// Micrometres of the vehicle that a pixel shows, in the plane through the vehicle's middle
    /// that faces the camera. `None` if unknown, as in layers that older nodes stored.
    pub scale_um_per_px: Option<u32>,
}

/// Statistics of the rig's light on the paint of one image, over the pixels that paint covers
/// completely.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct PaintLight {
    /// Ratio of the paint's pixels that mirror less than 0.01. There the paint's own colour is
    /// undisturbed.
    pub dark_ratio: f32,
    /// Mirrored light at the 5th, 25th, 50th and 95th percentile of the paint's pixels, mean of R,
    /// G and B.
    pub gloss: [f32; 4],
    /// Diffuse light at the same percentiles.
    pub diffuse: [f32; 4],
}

impl Layers {
    /// Returns the statistics, or `None` if no pixel is completely paint.
    pub fn paint_light(&self) -> Option<PaintLight> {
        const WHOLLY: f32 = 0.999;
        const DARK: f32 = 0.01;
        let sorted = |light: &[[f32; 3]]| {
            let painted = light.iter().zip(&self.paint).filter(|(_, paint)| **paint > WHOLLY);
            let mut values: Vec<f32> = painted.map(|(rgb, _)| rgb.iter().sum::<f32>() / 3.0).collect();
            values.sort_by(f32::total_cmp);
            values
        };
        let (gloss, diffuse) = (sorted(&self.gloss), sorted(&self.diffuse));
        if gloss.is_empty() {
            return None;
        }
        let at =
            |values: &[f32]| [0.05, 0.25, 0.5, 0.95].map(|ratio| values[((values.len() - 1) as f32 * ratio) as usize]);
        let dark = gloss.partition_point(|value| *value < DARK);
        Some(PaintLight { dark_ratio: dark as f32 / gloss.len() as f32, gloss: at(&gloss), diffuse: at(&diffuse) })
    }
}

/// Returns the mean of each block of fine pixels, `side` x `side` values. `fine_side` must be a
/// multiple of `side`.
pub fn mean_of_blocks(fine_side: usize, side: usize, value: impl Fn(usize) -> f32 + Sync) -> Vec<f32> {
    let block = fine_side / side;
    let mut means = vec![0.0; side * side];
    means.par_chunks_mut(side).enumerate().for_each(|(row, line)| {
        for (column, mean) in line.iter_mut().enumerate() {
            let first = (row * fine_side + column) * block;
            let mut sum = 0.0;
            for start in (0..block).map(|y| first + y * fine_side) {
                (start..start + block).for_each(|i| sum += value(i));
            }
            *mean = sum / (block * block) as f32;
        }
    });
    means
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_of_what_is_wholly_paint() {
        let grey = |values: [f32; 5]| values.map(|value| [value; 3]).to_vec();
        let layers = Layers {
            side_px: 0,
            diffuse: grey([0.2, 0.4, 0.6, 0.8, 9.0]),
            gloss: grey([0.001, 0.002, 0.3, 0.02, 9.0]),
            rest: grey([0.0; 5]),
            coverage: vec![1.0; 5],
            paint: vec![1.0, 1.0, 1.0, 1.0, 0.5],
            shadow: vec![0.0; 5],
            scale_um_per_px: None,
        };
        let light = layers.paint_light().unwrap();
        assert_eq!(light.dark_ratio, 0.5);
        assert_eq!((light.diffuse[0], light.diffuse[3]), (0.2, 0.6));
        assert_eq!(Layers { paint: vec![0.0; 5], ..layers }.paint_light(), None);
    }

    #[test]
    fn a_mean_is_of_the_pixels_of_its_block() {
        // The values are 0, 1, 2 and so on, six to a row.
        assert_eq!(mean_of_blocks(6, 3, |i| i as f32), [3.5, 5.5, 7.5, 15.5, 17.5, 19.5, 27.5, 29.5, 31.5]);
        assert_eq!(mean_of_blocks(2, 2, |i| i as f32), [0.0, 1.0, 2.0, 3.0]);
    }
}

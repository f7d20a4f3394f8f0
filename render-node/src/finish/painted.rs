//! Light layers as a paint sees them.

use crate::studio::Layers;
use cyclorama_core::{Finish, Paint, PaintColour};
use rayon::prelude::*;
use std::borrow::Cow;

/// How far a matt lacquer spreads what it mirrors, as a share of the picture's side: about 15 cm of a car's flank.
const MATT_SPREAD: f32 = 1.0 / 40.0;

/// Box filters that together are nearly a bell.
const PASSES: usize = 3;

/// The layers that a paint is composed from: without the ground shadow where it is left out, and with a mirror image that is spread out where the
/// lacquer is matt. All that is no paint stays as it is.
pub fn painted<'l>(layers: &'l Layers, paint: &Paint) -> Cow<'l, Layers> {
    let is_matt = matches!(paint.colour, PaintColour::Custom { finish: Finish::Matt, .. });
    if paint.shadow && !is_matt {
        return Cow::Borrowed(layers);
    }
    let shadow = if paint.shadow { layers.shadow.clone() } else { vec![0.0; layers.shadow.len()] };
    let gloss = if is_matt { spread_gloss(layers) } else { layers.gloss.clone() };
    Cow::Owned(Layers { shadow, gloss, ..layers.clone() })
}

/// The mirrored light, spread over the paint around each pixel of paint.
fn spread_gloss(layers: &Layers) -> Vec<[f32; 3]> {
    let side = layers.side_px as usize;
    // Light is premultiplied by how much paint there is, which is spread beside it.
    let mut planes: Vec<[f32; 4]> =
        layers.gloss.iter().zip(&layers.paint).map(|([r, g, b], paint)| [*r, *g, *b, *paint]).collect();
    if side == 0 || planes.len() != side * side || layers.paint.len() != layers.gloss.len() {
        return layers.gloss.clone();
    }
    let radius = ((side as f32 * MATT_SPREAD) as usize).max(1);
    for _ in 0..PASSES {
        planes = turned(&averaged_along_rows(&planes, side, radius), side);
        planes = turned(&averaged_along_rows(&planes, side, radius), side);
    }
    let spread = |([r, g, b, share], paint): ([f32; 4], &f32)| {
        let of_paint = if share > 1e-4 { paint / share } else { 0.0 };
        [r, g, b].map(|light| light * of_paint)
    };
    planes.into_par_iter().zip(&layers.paint).map(spread).collect()
}

/// The mean of each pixel's row from `radius` before to `radius` after it.
fn averaged_along_rows(planes: &[[f32; 4]], side: usize, radius: usize) -> Vec<[f32; 4]> {
    let mut averaged = vec![[0.0; 4]; planes.len()];
    averaged.par_chunks_mut(side).zip(planes.par_chunks(side)).for_each(|(out, row)| {
        let mut sum = [0.0_f64; 4];
        let add = |sum: &mut [f64; 4], pixel: &[f32; 4], sign: f64| {
            sum.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += sign * f64::from(*value));
        };
        row.iter().take(radius).for_each(|pixel| add(&mut sum, pixel, 1.0));
        for (x, mean) in out.iter_mut().enumerate() {
            if let Some(pixel) = row.get(x + radius) {
                add(&mut sum, pixel, 1.0);
            }
            if let Some(pixel) = x.checked_sub(radius + 1).and_then(|left| row.get(left)) {
                add(&mut sum, pixel, -1.0);
            }
            *mean = sum.map(|sum| (sum / (2 * radius + 1) as f64).max(0.0) as f32);
        }
    });
    averaged
}

/// Rows become columns.
fn turned(planes: &[[f32; 4]], side: usize) -> Vec<[f32; 4]> {
    let mut turned = vec![[0.0; 4]; planes.len()];
    turned.par_chunks_mut(side).enumerate().for_each(|(x, column)| {
        column.iter_mut().enumerate().for_each(|(y, pixel)| *pixel = planes[y * side + x]);
    });
    turned
}

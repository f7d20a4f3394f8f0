//! Whether a model's light layers can be right: numbers, flat paint without mottling, edges as sharp as geometry has them.

use super::grey_light::grey_light;
use super::{Bound, Verdict, outline};
use crate::studio::Layers;
use crate::studio::conditioning::{Channel, Conditioning};
use crate::studio::layers::mean_of_blocks;
use rayon::prelude::*;

/// Light is stored up to 4; the mirror image of a lamp reaches some tens before that. Beyond is no light of this studio.
const LIGHT_MAX: f32 = 1000.0;
/// What goes up and down on flat paint, beyond what does so in the base shading, in levels of 255. The shipped model's lies below 0.45, a
/// checkpoint's with random weights at 0.8 where it changes as little as a model can, and between 1 and 2 elsewhere.
const MOTTLING_MAX: f32 = 0.9;
/// Contrast across the G-buffer's edges, of what the base shading has there. Ground truth's lies between 0.65 (a
/// quad, whose parts shade each other) and 1.15.
const SHARPNESS_MIN: f32 = 0.6;
/// Share of the outline whose light stands out, beyond the share of the base shading.
const OUTLINE_MAX: f32 = 0.1;
/// Contrast that no eye sees, in sRGB from 0 to 1: less than one 8-bit level.
const CONTRAST_FLOOR: f32 = 0.003;
/// Fewer pixels of flat paint say nothing: a motorcycle has hardly any.
const FLAT_PX_MIN: usize = 500;
/// How far a flat pixel lies from everything that is not paint, in conditioning pixels.
const FLAT_MARGIN_PX: usize = 6;
/// How much the normal turns from a pixel to the next, at most, where paint counts as flat.
const FLAT_TURN_MAX: f32 = 0.02;
/// Side of the mean that mottling is what remains beside, and of the square whose directions are told apart, in conditioning pixels.
/// Why: `docs/decisions/quality-gate.md` (What counts as mottling).
const MOTTLING_WINDOW_PX: usize = 31;
/// A step of the normal or of a part's mask that counts as an edge.
const EDGE_STEP_MIN: f32 = 0.5;

/// What geometry and base shading know of a picture, at the size of the conditioning. Taken before a model changes the layers.
pub struct Reference {
    side: usize,
    picture: Vec<f32>,
    flat: Vec<bool>,
    edges: Vec<(usize, usize)>,
    outline: f32,
}

impl Reference {
    /// The side of `conditioning` divides that of the layers.
    pub fn of(base: &Layers, conditioning: &Conditioning) -> Reference {
        let side = conditioning.side_px as usize;
        let (flat, edges) = (flat_paint(conditioning), edges(conditioning));
        Reference { side, picture: grey_picture(base, side), flat, edges, outline: outline::share_standing_out(base) }
    }

    /// Holds `lit`, what the model made of those layers, against them.
    pub fn judge(&self, lit: &Layers) -> Verdict {
        let mut verdict = Verdict::default();
        let strange = strange_values(lit);
        verdict.hold("strange_values", strange as f32, Bound::AtMost(0.0));
        if strange > 0 {
            return verdict;
        }
        let picture = grey_picture(lit, self.side);
        if self.flat.iter().filter(|flat| **flat).count() >= FLAT_PX_MIN {
            let uneven = |picture: &[f32]| unevenness(picture, &self.flat, self.side);
            let more = uneven(&picture).powi(2) - uneven(&self.picture).powi(2);
            verdict.hold("mottling", 255.0 * more.max(0.0).sqrt(), Bound::AtMost(MOTTLING_MAX));
        }
        let contrast = |picture: &[f32]| -> f32 {
            let steps = self.edges.iter().map(|(a, b)| (picture[*a] - picture[*b]).abs());
            steps.sum::<f32>() / self.edges.len().max(1) as f32
        };
        let ratio = contrast(&picture) / contrast(&self.picture).max(CONTRAST_FLOOR);
        verdict.hold("sharpness", ratio, Bound::AtLeast(SHARPNESS_MIN));
        let more = outline::share_standing_out(lit) - self.outline;
        verdict.hold("outline", more, Bound::AtMost(OUTLINE_MAX));
        verdict
    }
}

/// Values that are no number, or no light of this studio.
fn strange_values(layers: &Layers) -> usize {
    let strange = |value: &f32| !(0.0..=LIGHT_MAX).contains(value);
    let colours = [&layers.diffuse, &layers.gloss, &layers.rest];
    let shares = [&layers.coverage, &layers.paint, &layers.shadow];
    // Pixel by pixel: to flatten a parallel iterator makes tasks of single numbers.
    let strange_of = |pixel: &[f32; 3]| pixel.iter().filter(|value| strange(value)).count();
    let of_colours: usize = colours.iter().map(|plane| plane.par_iter().map(strange_of).sum::<usize>()).sum();
    of_colours
        + shares
            .iter()
            .map(|plane| plane.par_iter().filter(|value| !(0.0..=1.0).contains(*value)).count())
            .sum::<usize>()
}

/// Root of the light of a grey vehicle, about as an eye grades it, as means over the blocks of a smaller picture.
fn grey_picture(layers: &Layers, side: usize) -> Vec<f32> {
    let mut picture = mean_of_blocks(layers.side_px as usize, side, |i| grey_light(layers, i));
    picture.par_iter_mut().for_each(|light| *light = light.min(1.0).sqrt());
    picture
}

/// Paint away from every edge, where the surface hardly turns.
fn flat_paint(conditioning: &Conditioning) -> Vec<bool> {
    let side = conditioning.side_px as usize;
    let paint = conditioning.plane(Channel::MaskPaint);
    let normals = [Channel::NormalX, Channel::NormalY, Channel::NormalZ].map(|channel| conditioning.plane(channel));
    let calm = |x: usize, y: usize| {
        let at = y * side + x;
        let turn: f32 = normals.iter().map(|n| (n[at + 1] - n[at]).abs() + (n[at + side] - n[at]).abs()).sum();
        paint[at] > 0.99 && turn < FLAT_TURN_MAX
    };
    let restless: Vec<f32> = (0..side * side)
        .into_par_iter()
        .map(|i| {
            let (x, y) = (i % side, i / side);
            if x + 1 < side && y + 1 < side && calm(x, y) { 0.0 } else { 1.0 }
        })
        .collect();
    // Calm all around is a mean of no unrest; a thousandth of a pixel is rounding.
    let unrest = box_mean(&restless, side, 2 * FLAT_MARGIN_PX + 1);
    unrest.into_iter().map(|share| share < 1e-5).collect()
}

/// Root mean square of what goes up and down from pixel to pixel, whichever way one looks, where `mask` holds. The
/// edge of a mirror image does so across, but not along: what counts is the least of the structure tensor's two
/// directions (W. Förstner, E. Gülch: A fast operator for detection and precise location of distinct points, 1987),
/// of the picture without its means over squares. Of noise it is the standard deviation, of blotches less, as they
/// are larger.
fn unevenness(picture: &[f32], mask: &[bool], side: usize) -> f32 {
    let mean = box_mean(picture, side, MOTTLING_WINDOW_PX);
    let detail: Vec<f32> = picture.iter().zip(&mean).map(|(value, mean)| value - mean).collect();
    // To the right and down; beyond the border the border's values go on.
    let steps = |i: usize| {
        let right = if i % side + 1 < side { detail[i + 1] - detail[i] } else { 0.0 };
        let down = if i + side < detail.len() { detail[i + side] - detail[i] } else { 0.0 };
        (right, down)
    };
    let masked = |of: fn((f32, f32)) -> f32| {
        let products: Vec<f32> = (0..detail.len()).map(|i| if mask[i] { of(steps(i)) } else { 0.0 }).collect();
        box_mean(&products, side, MOTTLING_WINDOW_PX)
    };
    let ((across, along), (both, inside)) = rayon::join(
        || (masked(|(right, _)| right * right), masked(|(_, down)| down * down)),
        || (masked(|(right, down)| right * down), masked(|_| 1.0)),
    );
    let (mut sum, mut count) = (0.0, 0);
    for i in (0..detail.len()).filter(|i| mask[*i]) {
        let apart = (across[i] - along[i]).hypot(2.0 * both[i]);
        // A sum that is rounded may lie below zero.
        sum += f64::from((0.5 * (across[i] + along[i] - apart)).max(0.0) / inside[i]);
        count += 1;
    }
    // A step between two pixels of noise has twice the variance of one.
    (sum / f64::from(2 * count.max(1))).sqrt() as f32
}

/// Means over squares of an odd side; beyond the border the border's values go on.
fn box_mean(plane: &[f32], side: usize, window: usize) -> Vec<f32> {
    let half = window / 2;
    let along = |row: &[f32], out: &mut [f32]| {
        let value = |i: isize| row[i.clamp(0, side as isize - 1) as usize];
        let mut sum: f32 = (-(half as isize)..=half as isize).map(value).sum();
        for (x, out) in out.iter_mut().enumerate() {
            *out = sum / window as f32;
            sum += value((x + half + 1) as isize) - value(x as isize - half as isize);
        }
    };
    let mut rows = vec![0.0; plane.len()];
    rows.par_chunks_mut(side).zip(plane.par_chunks(side)).for_each(|(out, row)| along(row, out));
    let turned = transposed(&rows, side);
    rows.par_chunks_mut(side).zip(turned.par_chunks(side)).for_each(|(out, row)| along(row, out));
    transposed(&rows, side)
}

fn transposed(plane: &[f32], side: usize) -> Vec<f32> {
    (0..side * side).into_par_iter().map(|i| plane[i % side * side + i / side]).collect()
}

/// Neighbouring pixels between which the G-buffer jumps, inside of the vehicle.
fn edges(conditioning: &Conditioning) -> Vec<(usize, usize)> {
    let side = conditioning.side_px as usize;
    let covered = conditioning.plane(Channel::Coverage);
    let told = [Channel::NormalX, Channel::NormalY, Channel::NormalZ, Channel::MaskPaint, Channel::MaskBlackTrim]
        .map(|channel| conditioning.plane(channel));
    let jumps = |a: usize, b: usize| {
        covered[a] > 0.99 && covered[b] > 0.99 && told.iter().any(|plane| (plane[a] - plane[b]).abs() > EDGE_STEP_MIN)
    };
    (0..side * side)
        .into_par_iter()
        .flat_map_iter(|i| {
            let right = (i % side + 1 < side).then_some((i, i + 1));
            let below = (i / side + 1 < side).then_some((i, i + side));
            right.into_iter().chain(below)
        })
        .filter(|(a, b)| jumps(*a, *b))
        .collect()
}

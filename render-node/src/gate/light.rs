//! Checks a model's layers: values in range, little more mottling on flat paint, edges at least 0.6
//! times as strong, and little more outline standing out, each of the last three against the base
//! shading.

use super::grey_light::grey_light;
use super::{Bound, GateReport, outline};
use crate::studio::Layers;
use crate::studio::conditioning::{Channel, Conditioning};
use crate::studio::layers::mean_of_blocks;
use rayon::prelude::*;

/// Maximum linear light (1.0 = diffuse white) in the layers. The mirror image of a lamp reaches
/// some tens; it is stored cut off at 4. A value above this maximum is a defect.
const LIGHT_MAX: f32 = 1000.0;
/// Maximum mottling on flat paint beyond that of the base shading (the square root of the
/// difference of the squares), in levels of 255 of the square root of light. The shipped model's
/// lies below 0.45. That of a checkpoint with random weights lies at 0.8 where it changes as little
/// as a model can, and between 1 and 2 elsewhere.
const MOTTLING_MAX: f32 = 0.9;
/// Minimum contrast across the G-buffer's edges, as a ratio of that of the base shading. The path
/// tracer's lies between 0.65 (a quad, whose parts shade each other) and 1.14.
const SHARPNESS_MIN: f32 = 0.6;
/// Maximum by which the ratio of the outline's pixels whose light stands out may exceed the ratio
/// in the base shading.
const OUTLINE_MAX: f32 = 0.1;
/// Contrast that no eye sees, in the square root of light, 0 to 1: less than one 8-bit level. The
/// base shading's contrast counts as at least this much where it divides.
const CONTRAST_FLOOR: f32 = 0.003;
/// Minimum number of pixels of flat paint for the mottling check. Fewer prove nothing: a motorcycle
/// has hardly any.
const FLAT_PX_MIN: usize = 500;
/// Distance of a flat pixel from every pixel that is not flat paint, in conditioning pixels, along
/// rows and along columns.
const FLAT_MARGIN_PX: usize = 6;
/// Maximum sum of the changes of the normal's components to the pixels right and below, where paint
/// counts as flat.
const FLAT_TURN_MAX: f32 = 0.02;
/// Side of the square over which the local mean and the structure tensor are averaged, in
/// conditioning pixels.
/// Why: `docs/decisions/quality-gate.md` (What counts as mottling).
const MOTTLING_WINDOW_PX: usize = 31;
/// A step of the normal, or of a part's mask, that counts as an edge.
const EDGE_STEP_MIN: f32 = 0.5;

/// Geometry and base shading of an image, at the size of the conditioning, against which a model's
/// layers are checked. It must be taken before a model changes the layers.
pub struct LightReference {
    side: usize,
    picture: Vec<f32>,
    flat: Vec<bool>,
    edges: Vec<(usize, usize)>,
    outline: f32,
}

impl LightReference {
    /// Takes the reference from layers in their base shading and from the conditioning, whose side
    /// must divide that of the layers.
    pub fn of(base: &Layers, conditioning: &Conditioning) -> LightReference {
        let side = conditioning.side_px as usize;
        let (flat, edges) = (flat_paint(conditioning), edges(conditioning));
        LightReference {
            side,
            picture: grey_picture(base, side),
            flat,
            edges,
            outline: outline::ratio_standing_out(base),
        }
    }

    /// Judges `lit`, the layers that the model made of the base layers.
    pub fn check(&self, lit: &Layers) -> GateReport {
        let mut report = GateReport::default();
        let strange = strange_values(lit);
        report.hold("strange_values", strange as f32, Bound::AtMost(0.0));
        if strange > 0 {
            return report;
        }
        let picture = grey_picture(lit, self.side);
        if self.flat.iter().filter(|flat| **flat).count() >= FLAT_PX_MIN {
            let uneven = |picture: &[f32]| unevenness(picture, &self.flat, self.side);
            let more = uneven(&picture).powi(2) - uneven(&self.picture).powi(2);
            report.hold("mottling", 255.0 * more.max(0.0).sqrt(), Bound::AtMost(MOTTLING_MAX));
        }
        let contrast = |picture: &[f32]| -> f32 {
            let steps = self.edges.iter().map(|(a, b)| (picture[*a] - picture[*b]).abs());
            steps.sum::<f32>() / self.edges.len().max(1) as f32
        };
        let ratio = contrast(&picture) / contrast(&self.picture).max(CONTRAST_FLOOR);
        report.hold("sharpness", ratio, Bound::AtLeast(SHARPNESS_MIN));
        let more = outline::ratio_standing_out(lit) - self.outline;
        report.hold("outline", more, Bound::AtMost(OUTLINE_MAX));
        report
    }
}

/// Counts values that are not a number, or not light of this studio.
fn strange_values(layers: &Layers) -> usize {
    let strange = |value: &f32| !(0.0..=LIGHT_MAX).contains(value);
    let colours = [&layers.diffuse, &layers.gloss, &layers.rest];
    let ratios = [&layers.coverage, &layers.paint, &layers.shadow];
    // Counted pixel by pixel, because flattening a parallel iterator makes tasks of single numbers.
    let strange_of = |pixel: &[f32; 3]| pixel.iter().filter(|value| strange(value)).count();
    let of_colours: usize = colours.iter().map(|plane| plane.par_iter().map(strange_of).sum::<usize>()).sum();
    of_colours
        + ratios
            .iter()
            .map(|plane| plane.par_iter().filter(|value| !(0.0..=1.0).contains(*value)).count())
            .sum::<usize>()
}

/// Returns the square root of the light of a grey vehicle, about as an eye grades it, as means over
/// the blocks of a smaller image.
fn grey_picture(layers: &Layers, side: usize) -> Vec<f32> {
    let mut picture = mean_of_blocks(layers.side_px as usize, side, |i| grey_light(layers, i));
    picture.par_iter_mut().for_each(|light| *light = light.min(1.0).sqrt());
    picture
}

/// Returns, for each conditioning pixel, true if it and all pixels within [`FLAT_MARGIN_PX`] of it
/// are covered by paint whose normal hardly changes ([`FLAT_TURN_MAX`]).
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
    // A pixel is flat if all pixels of the square around it are calm, that is, if the mean of
    // `restless` is zero there. A mean below 1e-5, which is less than 0.002 of a pixel, is
    // rounding.
    let unrest = box_mean(&restless, side, 2 * FLAT_MARGIN_PX + 1);
    unrest.into_iter().map(|ratio| ratio < 1e-5).collect()
}

/// Returns the square root of the mean, over `mask`, of half the structure tensor's smaller
/// eigenvalue, after the local mean is subtracted. An edge, such as that of a mirror image, varies
/// in one direction only and counts as zero. (W. Förstner, E. Gülch: A fast operator for detection
/// and precise location of distinct points, 1987.) For noise the result is the standard deviation;
/// for blotches it is less, as they are larger.
fn unevenness(picture: &[f32], mask: &[bool], side: usize) -> f32 {
    let mean = box_mean(picture, side, MOTTLING_WINDOW_PX);
    let detail: Vec<f32> = picture.iter().zip(&mean).map(|(value, mean)| value - mean).collect();
    // Steps to the right and down. Beyond the border the border's values continue.
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
        // A rounded sum may lie below zero.
        sum += f64::from((0.5 * (across[i] + along[i] - apart)).max(0.0) / inside[i]);
        count += 1;
    }
    // A step between two pixels of noise has twice the variance of one.
    (sum / f64::from(2 * count.max(1))).sqrt() as f32
}

/// Returns means over squares of an odd side. Beyond the border the border's values continue.
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

/// Returns the pairs of neighbouring pixels inside the vehicle between which the G-buffer jumps.
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

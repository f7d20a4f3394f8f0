//! The pixels along a vehicle's outline that it covers only in part, and whether their light stands out from what is beside them.
//!
//! It may: the upper edge of a bed's rail or of a roof is a line of sky under one pixel wide. What a model adds to that is a fault.

use crate::studio::Layers;
use rayon::prelude::*;

/// Light that is this far beyond its neighbours', as an eye grades it from 0 to 1, stands out: a step that an eye sees.
const STEP_MIN: f32 = 24.0 / 255.0;
/// How much of a pixel on the outline the vehicle covers.
pub(super) const OUTLINE: std::ops::Range<f32> = 0.3..0.9;
/// Albedo of the grey paint that light is looked at with.
const GREY: f32 = 0.5;

/// A pixel is partly covered, and has whole ones within two pixels: their places.
fn beside(layers: &Layers, i: usize) -> Vec<usize> {
    if !OUTLINE.contains(&layers.coverage[i]) {
        return Vec::new();
    }
    let side = layers.side_px as usize;
    let (x, y) = (i % side, i / side);
    let rows = y.saturating_sub(2)..=(y + 2).min(side - 1);
    let around = rows.flat_map(|v| (x.saturating_sub(2)..=(x + 2).min(side - 1)).map(move |u| v * side + u));
    around.filter(|at| layers.coverage[*at] > 0.99).collect()
}

/// Whether the light of a pixel lies outside of the light of those beside it.
fn stands_out(layers: &Layers, i: usize, beside: &[usize]) -> bool {
    let light = |at: usize| {
        let sum: f32 = (0..3).map(|c| layers.diffuse[at][c] * GREY + layers.gloss[at][c] + layers.rest[at][c]).sum();
        (sum / 3.0 / layers.coverage[at]).clamp(0.0, 1.0).sqrt()
    };
    let own = light(i);
    let (least, most) = beside.iter().map(|at| light(*at)).fold((1.0_f32, 0.0_f32), |(a, b), l| (a.min(l), b.max(l)));
    own < least - STEP_MIN || own > most + STEP_MIN
}

/// Share of the outline whose light stands out.
pub(super) fn share_standing_out(layers: &Layers) -> f32 {
    let (out, judged) = (0..layers.coverage.len())
        .into_par_iter()
        .map(|i| (i, beside(layers, i)))
        .filter(|(_, beside)| !beside.is_empty())
        .map(|(i, beside)| (usize::from(stands_out(layers, i, &beside)), 1))
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    out as f32 / judged.max(1) as f32
}

//! The pixels along a vehicle's outline that it covers only in part, and whether their light
//! differs from the pixels beside them.
//!
//! It may differ: the upper edge of a bed's rail or of a roof is a line of sky under one pixel
//! wide. What a model adds to that is a fault.

use crate::gate::grey_light::grey_light;
use crate::studio::Layers;
use rayon::prelude::*;

/// Least difference to its neighbours at which light stands out, on a scale from 0 to 1 as an eye
/// grades it: a step that an eye sees.
const STEP_MIN: f32 = 24.0 / 255.0;
/// Ratio of a pixel that the vehicle covers if the pixel is on the outline.
pub(super) const OUTLINE: std::ops::Range<f32> = 0.3..0.9;
/// Returns true if the light of a pixel lies outside the range of the fully covered pixels within
/// two pixels of it. Returns `None` if the pixel is not on the outline, or has no such neighbours.
fn stands_out(layers: &Layers, i: usize) -> Option<bool> {
    if !OUTLINE.contains(&layers.coverage[i]) {
        return None;
    }
    let light = |at: usize| (grey_light(layers, at) / layers.coverage[at]).clamp(0.0, 1.0).sqrt();
    let side = layers.side_px as usize;
    let (x, y) = (i % side, i / side);
    let rows = y.saturating_sub(2)..=(y + 2).min(side - 1);
    let around = rows.flat_map(|v| (x.saturating_sub(2)..=(x + 2).min(side - 1)).map(move |u| v * side + u));
    let beside = around.filter(|at| layers.coverage[*at] > 0.99).map(light);
    let (least, most) = beside.fold((f32::MAX, f32::MIN), |(a, b), l| (a.min(l), b.max(l)));
    let own = light(i);
    (least <= most).then_some(own < least - STEP_MIN || own > most + STEP_MIN)
}

/// Returns the ratio of the outline whose light stands out, 0 to 1.
pub(super) fn ratio_standing_out(layers: &Layers) -> f32 {
    let (out, checked) = (0..layers.coverage.len())
        .into_par_iter()
        .filter_map(|i| stands_out(layers, i))
        .map(|stands_out| (usize::from(stands_out), 1))
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    out as f32 / checked.max(1) as f32
}

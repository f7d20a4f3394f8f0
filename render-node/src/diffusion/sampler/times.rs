//! The moments that a run visits: whole or fractional training steps, or noise levels spaced after
//! Karras.
//!
//! Computed in f64 with numpy's order of operations and its rounding of halves to even numbers,
//! because a timestep that is off by one is another noise level. The steps define what a moment
//! means to a sampler.

/// Returns `count` numbers from `start` to `stop`, both included, or `start` alone if `count` is
/// one.
pub(super) fn evenly(start: f64, stop: f64, count: usize) -> Vec<f64> {
    let step = (stop - start) / (count.max(2) - 1) as f64;
    (0..count).map(|i| if i > 0 && i + 1 == count { stop } else { i as f64 * step + start }).collect()
}

/// Returns `count` multiples of `ratio`, falling to `first * ratio`, each moved up by `offset`.
pub(super) fn leading(first: usize, count: usize, ratio: usize, offset: usize) -> Vec<f64> {
    (first..first + count).rev().map(|i| (i * ratio + offset) as f64).collect()
}

/// Returns times that fall from the last of the first `available` steps in strides of `ratio`,
/// rounded to the nearest whole step. Rounding brings numpy, and so diffusers, one stride too far
/// with some numbers of steps (61 of 1000 is the first), to step -1. There is no such step, and it
/// is left out.
pub(super) fn trailing(available: usize, ratio: f64) -> Vec<f64> {
    let top = available as f64;
    // numpy's `arange` takes the difference of the first two numbers as its stride.
    let stride = (top - ratio) - top;
    (0..available).map(|i| (top + i as f64 * stride).round_ties_even() - 1.0).take_while(|time| *time >= 0.0).collect()
}

/// Returns noise levels that fall from `largest` to `smallest`, evenly in the seventh root (Karras
/// et al., "Elucidating the Design Space of Diffusion-Based Generative Models", 2022, equation 5).
pub(super) fn karras(largest: f64, smallest: f64, count: usize) -> Vec<f64> {
    const RHO: f64 = 7.0;
    let (from, to) = (largest.powf(1.0 / RHO), smallest.powf(1.0 / RHO));
    evenly(0.0, 1.0, count).into_iter().map(|ratio| (from + ratio * (to - from)).powf(RHO)).collect()
}

/// Returns the value of `table` at a time between its entries, or the value of the nearest end
/// beyond them.
pub(super) fn interpolate(table: &[f32], time: f64) -> f64 {
    let entry = |i: usize| table.get(i).copied().map(f64::from);
    let below = time.max(0.0).floor();
    match (entry(below as usize), entry(below as usize + 1)) {
        (Some(low), Some(high)) => (high - low) * (time.max(0.0) - below) + low,
        (Some(low), None) => low,
        _ => table.last().copied().map_or(0.0, f64::from),
    }
}

/// Returns the last time at which `sigmas`, one per training step, are at `sigma`, interpolated in
/// the logarithm between two of them.
pub(super) fn time_of_sigma(sigmas: &[f32], sigma: f64) -> f64 {
    let log_sigma = sigma.max(1e-10).ln();
    let below = sigmas.iter().rposition(|entry| f64::from(entry.ln()) <= log_sigma);
    let low = below.unwrap_or(0).min(sigmas.len().saturating_sub(2));
    let Some(&[below, above]) = sigmas.get(low..low + 2) else { return 0.0 };
    let (below, above) = (below.ln(), above.ln());
    let ratio = ((f64::from(below) - log_sigma) / f64::from(below - above)).clamp(0.0, 1.0);
    (1.0 - ratio) * low as f64 + ratio * (low + 1) as f64
}

/// Returns how many of `steps` an image-to-image run leaves out, for a `strength` of 0 to 1. A step
/// that fits only in part is left out. Same as `get_timesteps` of diffusers'
/// StableDiffusionImg2ImgPipeline.
pub(super) fn steps_left_out(steps: usize, strength: f32) -> usize {
    steps - ratio_of(steps, strength).min(steps as f64) as usize
}

/// Same as `steps_left_out`, but a step that fits only in part is taken: `get_timesteps` of
/// StableDiffusion3Img2ImgPipeline and FluxImg2ImgPipeline.
pub(super) fn flow_steps_left_out(steps: usize, strength: f32) -> usize {
    (steps as f64 - ratio_of(steps, strength).min(steps as f64)) as usize
}

/// Returns `steps` times `strength`, taken as it was written: 0.7 of 10 is 7, while the f32 nearest
/// to 0.7 gives less.
pub(super) fn ratio_of(steps: usize, strength: f32) -> f64 {
    steps as f64 * strength.to_string().parse().unwrap_or(f64::from(strength))
}

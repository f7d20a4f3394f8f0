//! The noise a model was trained on, one level per training step: betas, the products of alphas,
//! sigmas.
//!
//! Kept in f32, as diffusers keeps it: close to pure noise a different rounding would show in the
//! image. `times` selects the levels that a run visits.

use std::f64::consts::FRAC_PI_2;

use super::config::{Betas, Training};
use super::sampler_error::SamplerError;

/// Replaces a signal of zero, which would be an infinite sigma, by the smallest f16, as in
/// diffusers.
const SMALLEST_SIGNAL: f32 = 1.0 / 16_777_216.0;
/// A cosine schedule ends in betas of 1, which would leave nothing to divide by (Nichol and
/// Dhariwal, 2021).
const LARGEST_COSINE_BETA: f64 = 0.999;

/// Returns the ratio of the signal's variance that is left at each training step, falling: the
/// product of all (1 - beta) up to it. With a zero terminal signal-to-noise ratio the last is 0.
pub(super) fn alpha_products(training: &Training) -> Result<Vec<f32>, SamplerError> {
    let mut betas = betas(training);
    if training.zero_terminal_snr {
        betas = without_terminal_signal(&betas);
    }
    let products = products_of_alphas(&betas);
    let falling = products.iter().zip(products.iter().skip(1)).all(|(before, after)| before > after);
    let first_below_one = products.first().is_some_and(|first| *first < 1.0);
    let last = products.last().copied().unwrap_or_default();
    if falling && first_below_one && (last > 0.0 || training.zero_terminal_snr) {
        return Ok(products);
    }
    // Otherwise infinities, and zeros to divide by, would follow. Only extreme betas or very many
    // training steps lead here.
    Err(SamplerError::Setting {
        setting: "beta_schedule",
        found: format!("such that {last} of the signal is left after {} training steps", products.len()),
        expected: "noise that grows with every training step and never covers the signal altogether",
    })
}

/// Same as `alpha_products`, but never 0, for samplers that divide by it. The last product can then
/// be above the one before.
pub(super) fn positive_alpha_products(training: &Training) -> Result<Vec<f32>, SamplerError> {
    let mut products = alpha_products(training)?;
    if let Some(last) = products.last_mut().filter(|_| training.zero_terminal_snr) {
        *last = SMALLEST_SIGNAL;
    }
    Ok(products)
}

/// Returns the noise's standard deviation in units of the signal's, one per training step.
pub(super) fn sigmas(alpha_products: &[f32]) -> Vec<f32> {
    alpha_products.iter().map(|alpha| ((1.0 - alpha) / alpha).sqrt()).collect()
}

/// Returns how many training steps, from the first, have a half log signal-to-noise ratio of
/// `lambda_min` or more.
pub(super) fn steps_above(alpha_products: &[f32], lambda_min: f32) -> usize {
    alpha_products.iter().filter(|alpha| alpha.sqrt().ln() - (1.0 - **alpha).sqrt().ln() >= lambda_min).count()
}

fn betas(training: &Training) -> Vec<f32> {
    let steps = training.steps;
    match &training.betas {
        Betas::Linear { start, end } => evenly(*start as f32, *end as f32, steps),
        Betas::ScaledLinear { start, end } => {
            evenly(start.sqrt() as f32, end.sqrt() as f32, steps).into_iter().map(|root| root * root).collect()
        }
        Betas::SquaredCosine => {
            // Nichol and Dhariwal, "Improved Denoising Diffusion Probabilistic Models", 2021,
            // equation 17.
            let signal = |step: usize| {
                let time = step as f64 / steps as f64;
                ((time + 0.008) / 1.008 * FRAC_PI_2).cos().powi(2)
            };
            (0..steps).map(|step| (1.0 - signal(step + 1) / signal(step)).min(LARGEST_COSINE_BETA) as f32).collect()
        }
        Betas::Trained(betas) => betas.clone(),
    }
}

/// Returns evenly spaced numbers, counted from both ends as torch's `linspace` does, so that
/// rounding leaves both ends exact.
fn evenly(start: f32, end: f32, count: usize) -> Vec<f32> {
    let step = (end - start) / (count - 1) as f32;
    let number = |i: usize| {
        if i < count / 2 { start + step * i as f32 } else { end - step * (count - 1 - i) as f32 }
    };
    (0..count).map(number).collect()
}

/// Multiplied in f64 and rounded at each step, as torch's `cumprod` does on a CPU.
fn products_of_alphas(betas: &[f32]) -> Vec<f32> {
    let products = betas.iter().scan(1.0, |product, beta| {
        *product *= f64::from(1.0 - beta);
        Some(*product as f32)
    });
    products.collect()
}

/// Shifts and scales the signal so that none is left at the last step and the first is as before
/// (Lin et al., "Common Diffusion Noise Schedules and Sample Steps are Flawed", 2023, algorithm 1).
fn without_terminal_signal(betas: &[f32]) -> Vec<f32> {
    let signal: Vec<f32> = products_of_alphas(betas).into_iter().map(f32::sqrt).collect();
    let (first, last) = (signal.first().copied().unwrap_or(1.0), signal.last().copied().unwrap_or(0.0));
    let scale = first / (first - last);
    let products = signal.into_iter().map(|value| {
        let shifted = (value - last) * scale;
        shifted * shifted
    });
    let rescaled = products.scan(1.0, |before, product| {
        let alpha = product / *before;
        *before = product;
        Some(1.0 - alpha)
    });
    rescaled.collect()
}

//! The light of a grey paint, by which layers are checked.

use crate::studio::Layers;

/// Returns the light of a grey vehicle in one pixel: linear, premultiplied by coverage, mean of R,
/// G and B.
pub fn grey_light(layers: &Layers, i: usize) -> f32 {
    (0..3).map(|c| layers.diffuse[i][c] * GREY + layers.gloss[i][c] + layers.rest[i][c]).sum::<f32>() / 3.0
}

/// Albedo of the grey paint with which light is checked.
pub const GREY: f32 = 0.5;

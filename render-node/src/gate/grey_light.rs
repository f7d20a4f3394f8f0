//! The light of a grey paint, by which layers are looked at.

use crate::studio::Layers;

/// Light of a grey vehicle in one pixel.
pub fn grey_light(layers: &Layers, i: usize) -> f32 {
    (0..3).map(|c| layers.diffuse[i][c] * GREY + layers.gloss[i][c] + layers.rest[i][c]).sum::<f32>() / 3.0
}

/// Albedo of the grey paint that light is looked at with.
pub const GREY: f32 = 0.5;

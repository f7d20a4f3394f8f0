//! An image in its base shading, as it is handed to a model.

use crate::diffusion::diffusion_error::DiffusionError;
use crate::studio::conditioning::Conditioning;
use crate::studio::{Layers, StudioError};
use cyclorama_core::{Vehicle, View};

/// Returns true if a job is still wanted. Called before every step with the ratio of steps done (0
/// to 1).
pub type ContinueCheck<'a> = dyn FnMut(f32) -> bool + 'a;

/// Returns the layers of the base shading. It may have to wait for them, so a model calls it as
/// late as it can.
pub type Base<'a> = dyn FnOnce() -> Result<&'a mut Layers, StudioError> + 'a;

/// An image in its base shading.
pub struct BaseShaded<'a> {
    pub base: Box<Base<'a>>,
    /// The channels that the model was loaded for.
    pub conditioning: &'a Conditioning,
    /// The vehicle in the image, for prompts.
    pub vehicle: &'a Vehicle,
    pub view: View,
    pub seed: u64,
    pub still_wanted: Box<ContinueCheck<'a>>,
}

/// Returns the layers that `base` gives. Returns [`DiffusionError::Base`] if `base` fails, and
/// [`DiffusionError::Picture`] unless their side is a multiple of the model's `side_px`.
pub fn fitting_base<'a>(base: Box<Base<'a>>, side_px: u32, model: &str) -> Result<&'a mut Layers, DiffusionError> {
    let base = base().map_err(DiffusionError::Base)?;
    if base.side_px == 0 || !base.side_px.is_multiple_of(side_px) {
        let detail = format!("layers of {} px, where a multiple of {side_px} px is needed", base.side_px);
        return Err(DiffusionError::Picture { model: model.to_owned(), detail });
    }
    Ok(base)
}

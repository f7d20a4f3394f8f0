//! A picture in its base shading, as it is handed to a model.

use crate::diffusion::diffusion_error::DiffusionError;
use crate::studio::conditioning::Conditioning;
use crate::studio::{Layers, StudioError};
use cyclorama_core::{Vehicle, View};

/// Says whether a job is still wanted; asked before every step with the share of steps done (0 to 1).
pub type StillWanted<'a> = dyn FnMut(f32) -> bool + 'a;

/// Gives the layers of the base shading. May have to wait for them, and so is asked as late as a model can do without.
pub type Base<'a> = dyn FnOnce() -> Result<&'a mut Layers, StudioError> + 'a;

/// A picture in its base shading.
pub struct Unlit<'a> {
    pub base: Box<Base<'a>>,
    /// The channels the model was loaded for.
    pub conditioning: &'a Conditioning,
    /// What it is of, for prompts.
    pub vehicle: &'a Vehicle,
    pub view: View,
    pub seed: u64,
    pub still_wanted: Box<StillWanted<'a>>,
}

/// The layers that `base` gives, whose side must be a multiple of the model's `side_px`.
pub fn fitting_base<'a>(base: Box<Base<'a>>, side_px: u32, model: &str) -> Result<&'a mut Layers, DiffusionError> {
    let base = base().map_err(DiffusionError::Base)?;
    if base.side_px == 0 || !base.side_px.is_multiple_of(side_px) {
        let detail = format!("layers of {} px, where a multiple of {side_px} px is needed", base.side_px);
        return Err(DiffusionError::Picture { model: model.to_owned(), detail });
    }
    Ok(base)
}

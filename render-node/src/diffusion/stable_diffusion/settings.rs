//! The operator's settings of a text-to-image pipeline, which the lock file holds beside the files.
//! This module reads no file and no graph.

use super::prompt;
use cyclorama_core::MASTER_SIDE_PX;
use serde::{Deserialize, Serialize};

const STEPS_MAX: u32 = 100;
const GUIDANCE_MAX: f64 = 50.0;
/// Least side of an image, in pixels. A VAE's latents are an eighth of the image, and a UNet halves
/// them three times.
const SIDE_MIN_PX: u32 = 64;

cyclorama_core::named_enum! {
    /// The kind of G-buffer image that a ControlNet is given.
    pub enum Control {
        Depth = "depth", Normal = "normal", Segmentation = "segmentation",
    }
}

/// Settings with which a text-to-image pipeline runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextToImage {
    /// Side of the square image that is made, in pixels. It must divide the side of the layers.
    pub side_px: u32,
    /// Steps of a whole run; `strength` sets how many of them are taken.
    pub steps: u32,
    /// Scale of classifier-free guidance. At 1 and below there is none, and no second half of the
    /// batch.
    pub guidance: f64,
    /// Maximum departure of the image from the base shading: above 0, up to 1 for a completely new
    /// image.
    pub strength: f64,
    /// `_class_name` of the sampler, in place of the one in the scheduler's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampler: Option<String>,
    /// The kind of image that its ControlNet was trained on; absent without a ControlNet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// Factor on the ControlNet's outputs.
    #[serde(default = "one")]
    pub control_scale: f64,
    /// A template, see [`prompt`].
    pub prompt: String,
    /// Plain text that guidance leads away from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative_prompt: Option<String>,
}

const fn one() -> f64 {
    1.0
}

impl TextToImage {
    /// Returns an error that names the first setting with a value that is not allowed.
    pub fn check(&self) -> Result<(), String> {
        let wrong = |setting: &str, found: String, expected: &str| {
            Err(format!("`text_to_image.{setting}` is {found}; {expected} is expected"))
        };
        if !(SIDE_MIN_PX..=MASTER_SIDE_PX).contains(&self.side_px) || !MASTER_SIDE_PX.is_multiple_of(self.side_px) {
            return wrong("side_px", self.side_px.to_string(), "64, 128, 256, 512 or 1024");
        }
        if !(1..=STEPS_MAX).contains(&self.steps) {
            return wrong("steps", self.steps.to_string(), "1 to 100");
        }
        if !(0.0..=GUIDANCE_MAX).contains(&self.guidance) {
            return wrong("guidance", self.guidance.to_string(), "0 to 50");
        }
        if !(self.strength > 0.0 && self.strength <= 1.0) {
            return wrong("strength", self.strength.to_string(), "a number above 0, and at most 1");
        }
        if !(0.0..=2.0).contains(&self.control_scale) {
            return wrong("control_scale", self.control_scale.to_string(), "0 to 2");
        }
        let negative = self.negative_prompt.as_deref().unwrap_or_default();
        if negative.contains(['{', '}']) {
            return wrong("negative_prompt", format!("`{negative}`"), "plain text, no template,");
        }
        let templates = [("prompt", self.prompt.as_str()), ("negative_prompt", negative)];
        for (name, template) in templates {
            prompt::check(template).map_err(|e| format!("`text_to_image.{name}` {e}"))?;
        }
        Ok(())
    }
}

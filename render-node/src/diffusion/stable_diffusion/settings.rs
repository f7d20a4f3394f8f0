//! How the operator wants a text-to-image pipeline run: what the lock file says beside the files. No file and no graph is looked at here.

use super::prompt;
use cyclorama_core::MASTER_SIDE_PX;
use serde::{Deserialize, Serialize};

const STEPS_MAX: u32 = 100;
const GUIDANCE_MAX: f64 = 50.0;
/// A VAE's latents are an eighth of the picture, and a UNet halves them three times.
const SIDE_MIN_PX: u32 = 64;

cyclorama_core::named_enum! {
    /// The picture of the G-buffer that a ControlNet is given.
    pub enum Control {
        Depth = "depth", Normal = "normal", Segmentation = "segmentation",
    }
}

/// One text-to-image pipeline's way of being run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextToImage {
    /// Side of the square picture that is made; divides the side of the layers.
    pub side_px: u32,
    /// Steps of a whole run, of which `strength` is taken.
    pub steps: u32,
    /// Classifier-free guidance; at 1 and below there is none, and no second half of the batch.
    pub guidance: f64,
    /// How far from the base shading the picture may go: above 0, and 1 for all the way.
    pub strength: f64,
    /// `_class_name` of the sampler, in place of the one in the scheduler's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampler: Option<String>,
    /// What its ControlNet was trained on; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// What the ControlNet's answers are multiplied by.
    #[serde(default = "one")]
    pub control_scale: f64,
    /// A template, see [`prompt`].
    pub prompt: String,
    /// What guidance leads away from: plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative_prompt: Option<String>,
}

const fn one() -> f64 {
    1.0
}

impl TextToImage {
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

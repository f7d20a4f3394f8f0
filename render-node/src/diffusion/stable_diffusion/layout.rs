//! The parts of a Stable Diffusion folder, read from its configurations. No graph is opened, so
//! that a missing part, or parts that do not go together, are reported in a moment, before
//! gigabytes are read.

use crate::diffusion::model_file::{LockError, broken, expect_file, read_json};
use crate::diffusion::model_folder::MODEL_INDEX;
use cyclorama_core::MASTER_SIDE_PX;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::path::Path;

pub const UNET: &str = "unet/model.onnx";
pub const CONTROL_NET: &str = "controlnet/model.onnx";
pub const VAE_ENCODER: &str = "vae_encoder/model.onnx";
pub const VAE_DECODER: &str = "vae_decoder/model.onnx";
pub const SCHEDULER_CONFIG: &str = "scheduler/scheduler_config.json";
const UNET_CONFIG: &str = "unet/config.json";
const VAE_CONFIG: &str = "vae_decoder/config.json";

/// Maximum side of latents; the largest models of the family have 128.
const SAMPLE_SIDE_MAX: usize = 1024;
/// Allowed numbers of tokens of a prompt; CLIP has 77.
const TOKENS: std::ops::RangeInclusive<usize> = 8..=1024;

/// Sizes that the graphs of a pipeline have to share.
#[derive(Debug, Clone)]
pub struct PipelineLayout {
    pub unet: UnetLayout,
    pub vae: VaeLayout,
    /// One, or the two of SDXL, whose hidden states are put side by side.
    pub text_encoders: Vec<TextEncoder>,
    /// True if there is a ControlNet in a file of its own.
    pub control_net: bool,
    /// True if an empty prompt is replaced by zeros, as SDXL was trained.
    pub zeros_for_empty_prompt: bool,
    /// True for Latent Consistency Models, which take all their steps within the part that
    /// `strength` leaves.
    pub keeps_steps: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub struct UnetLayout {
    /// Channels of the latents.
    pub in_channels: usize,
    /// Width of the hidden states of all text encoders together.
    pub cross_attention_dim: usize,
    /// Width of the guidance's embedding, if the guidance was distilled into the model.
    pub time_cond_proj_dim: Option<usize>,
    /// The value `text_time` marks SDXL; other families have none.
    addition_embed_type: Option<String>,
    /// Side of the latents that the model was trained on.
    sample_size: Option<usize>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct VaeLayout {
    pub latent_channels: usize,
    /// Factor by which latents are multiplied.
    #[serde(default = "scaling_factor_of_the_first")]
    pub scaling_factor: f32,
    block_out_channels: Vec<IgnoredAny>,
    /// Set for VAEs of later families, which put latents into another range.
    shift_factor: Option<f32>,
    latents_mean: Option<IgnoredAny>,
}

/// The factor of Stable Diffusion 1, whose configuration does not contain it.
const fn scaling_factor_of_the_first() -> f32 {
    0.18215
}

/// A text encoder of CLIP and its tokenizer.
#[derive(Debug, Clone)]
pub struct TextEncoder {
    pub graph: String,
    /// Folder of the tokenizer, in the model's folder.
    pub tokenizer: &'static str,
    pub config: TextConfig,
}

#[derive(Debug, Clone, Deserialize)]
pub struct TextConfig {
    pub hidden_size: usize,
    pub num_hidden_layers: usize,
    /// Number of tokens of a prompt.
    pub max_position_embeddings: usize,
    pub vocab_size: usize,
    /// Width of the pooled embedding that SDXL takes.
    pub projection_dim: usize,
}

#[derive(Deserialize)]
struct ModelIndex {
    #[serde(rename = "_class_name")]
    class_name: String,
    /// True for SDXL if it is absent.
    force_zeros_for_empty_prompt: Option<bool>,
}

impl PipelineLayout {
    /// Reads the configurations. Returns an error if one is missing, if they do not go together, or
    /// if a graph is missing.
    pub fn read(folder: &Path) -> Result<Self, LockError> {
        let index: ModelIndex = read_json(folder, MODEL_INDEX)?;
        let unet: UnetLayout = read_json(folder, UNET_CONFIG)?;
        let vae: VaeLayout = read_json(folder, VAE_CONFIG)?;
        let is_xl = unet.addition_embed_type.as_deref() == Some("text_time");
        if let Some(other) = unet.addition_embed_type.as_deref().filter(|_| !is_xl) {
            let detail = format!("`addition_embed_type` is {other}; none or text_time (SDXL) is expected");
            return Err(broken(&folder.join(UNET_CONFIG), detail));
        }
        let parts: &[(&str, &'static str)] = match is_xl {
            true => &[("text_encoder", "tokenizer"), ("text_encoder_2", "tokenizer_2")],
            false => &[("text_encoder", "tokenizer")],
        };
        let text_encoder = |(name, tokenizer): &(&str, &'static str)| {
            let config: TextConfig = read_json(folder, &format!("{name}/config.json"))?;
            Ok(TextEncoder { graph: format!("{name}/model.onnx"), tokenizer, config })
        };
        let text_encoders = parts.iter().map(text_encoder).collect::<Result<Vec<_>, LockError>>()?;
        let layout = Self {
            control_net: folder.join(CONTROL_NET).is_file(),
            zeros_for_empty_prompt: index.force_zeros_for_empty_prompt.unwrap_or(is_xl),
            keeps_steps: index.class_name.contains("LatentConsistencyModel"),
            unet,
            vae,
            text_encoders,
        };
        layout.check(folder)?;
        layout.graphs().try_for_each(|graph| expect_file(folder, graph))?;
        Ok(layout)
    }

    /// Returns true if the folder has a ControlNet, in a file of its own or, as a leftover
    /// configuration indicates, in the UNet's.
    pub fn has_control_net(&self, folder: &Path) -> bool {
        self.control_net || folder.join("controlnet/config.json").is_file()
    }

    /// Returns true if the UNet takes the image's size and the pooled prompt.
    pub fn is_xl(&self) -> bool {
        self.text_encoders.len() == 2
    }

    /// Returns the number of image pixels per latent, along a side.
    pub fn pixels_per_latent(&self) -> usize {
        1 << (self.vae.block_out_channels.len() - 1)
    }

    /// Returns the side of the images the model was trained on, or the next smaller one that
    /// divides the layers' side.
    pub fn side_px(&self) -> u32 {
        let trained = self.unet.sample_size.map_or(512, |latents| latents * self.pixels_per_latent());
        let sides = std::iter::successors(Some(MASTER_SIDE_PX), |side| Some(side / 2)).take_while(|side| *side >= 64);
        sides.into_iter().find(|side| *side as usize <= trained).unwrap_or(64)
    }

    fn graphs(&self) -> impl Iterator<Item = &str> {
        let others = [UNET, VAE_ENCODER, VAE_DECODER].into_iter().chain(self.control_net.then_some(CONTROL_NET));
        self.text_encoders.iter().map(|encoder| encoder.graph.as_str()).chain(others)
    }

    fn check(&self, folder: &Path) -> Result<(), LockError> {
        let wrong = |file: &str, detail: String| Err(broken(&folder.join(file), detail));
        if !(1..=8).contains(&self.vae.block_out_channels.len()) {
            return wrong(
                VAE_CONFIG,
                format!("`block_out_channels` has {} entries; 1 to 8 are expected", self.vae.block_out_channels.len()),
            );
        }
        if !(self.vae.scaling_factor.is_finite() && self.vae.scaling_factor > 0.0) {
            return wrong(VAE_CONFIG, format!("`scaling_factor` is {}, not above 0", self.vae.scaling_factor));
        }
        for (setting, is_set) in
            [("shift_factor", self.vae.shift_factor.is_some()), ("latents_mean", self.vae.latents_mean.is_some())]
        {
            if is_set {
                return wrong(VAE_CONFIG, format!("`{setting}` is set, which this version does not take into account"));
            }
        }
        if let Some(side) = self.unet.sample_size.filter(|side| !(1..=SAMPLE_SIDE_MAX).contains(side)) {
            return wrong(UNET_CONFIG, format!("`sample_size` is {side}, not 1 to {SAMPLE_SIDE_MAX}"));
        }
        for (place, encoder) in self.text_encoders.iter().enumerate() {
            let tokens = encoder.config.max_position_embeddings;
            if !TOKENS.contains(&tokens) {
                let file = if place == 0 { "text_encoder/config.json" } else { "text_encoder_2/config.json" };
                return wrong(
                    file,
                    format!("`max_position_embeddings` is {tokens}, not {} to {}", TOKENS.start(), TOKENS.end()),
                );
            }
        }
        if self.vae.latent_channels != self.unet.in_channels {
            let detail = format!(
                "`in_channels` is {} where the VAE has {} (an inpainting model takes other inputs)",
                self.unet.in_channels, self.vae.latent_channels
            );
            return wrong(UNET_CONFIG, detail);
        }
        let width: usize = self.text_encoders.iter().map(|encoder| encoder.config.hidden_size).sum();
        if width != self.unet.cross_attention_dim {
            let of = self.text_encoders.iter().map(|encoder| encoder.graph.as_str()).collect::<Vec<_>>().join(" and ");
            let detail = format!("`cross_attention_dim` is {} where {of} give {width}", self.unet.cross_attention_dim);
            return wrong(UNET_CONFIG, detail);
        }
        Ok(())
    }
}

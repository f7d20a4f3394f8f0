//! Converts between images and latents, one image at a time, because at 1024 px a VAE needs
//! gigabytes for each.

use super::layout::{self, PipelineLayout};
use crate::diffusion::diffusion_error::DiffusionError;
use crate::diffusion::graph::{Graph, Numbers, OtherOutputs, expected};
use crate::diffusion::model_folder::ModelFolder;
use crate::diffusion::run_memory::RunMemory;
use crate::diffusion::{OnnxRuntime, Provider};

const SAMPLE: &str = "sample";
const LATENT_SAMPLE: &str = "latent_sample";
/// diffusers keeps the variance within e^-30 and e^20.
const LOG_VARIANCE: std::ops::RangeInclusive<f32> = -30.0..=20.0;
const PICTURE_CHANNELS: usize = 3;

/// Encoder and decoder between images and latents.
pub struct Vae {
    encoder: Graph,
    /// Name of the encoder's output: either the mean and the logarithm of the variance of the
    /// latents, or the latents.
    encoded: String,
    gives_variance: bool,
    decoder: Graph,
    decoded: String,
    picture_side: usize,
    channels: usize,
    side: usize,
    scaling_factor: f32,
}

impl Vae {
    /// Opens the graphs. Returns an error if their tensors are not those that the layout requires.
    pub fn load(
        runtime: &OnnxRuntime,
        provider: Provider,
        folder: &ModelFolder,
        layout: &PipelineLayout,
        picture_side: usize,
    ) -> Result<Self, DiffusionError> {
        let (channels, side) = (layout.vae.latent_channels, picture_side / layout.pixels_per_latent());
        let image = |name: &str, channels: Option<usize>, side: usize| {
            expected(name, Numbers::Floats, &[Some(1), channels, Some(side), Some(side)])
        };
        let encoder = Graph::open(runtime, provider, folder, layout::VAE_ENCODER, RunMemory::GivenBack)?;
        let encoded = encoder.only_output()?;
        encoder.check(
            &[image(SAMPLE, Some(PICTURE_CHANNELS), picture_side)],
            &[image(&encoded, None, side)],
            OtherOutputs::Refused,
        )?;
        let found =
            encoder.output_size(&encoded, 1).unwrap_or(if encoded == LATENT_SAMPLE { channels } else { 2 * channels });
        if found != channels && found != 2 * channels {
            let detail = format!("output `{encoded}` has {found} channels, not {channels} or {}", 2 * channels);
            return Err(encoder.signature(detail));
        }
        let decoder = Graph::open(runtime, provider, folder, layout::VAE_DECODER, RunMemory::GivenBack)?;
        let decoded = decoder.only_output()?;
        decoder.check(
            &[image(LATENT_SAMPLE, Some(channels), side)],
            &[image(&decoded, Some(PICTURE_CHANNELS), picture_side)],
            OtherOutputs::Refused,
        )?;
        let scaling_factor = layout.vae.scaling_factor;
        let gives_variance = found != channels;
        Ok(Self { encoder, encoded, gives_variance, decoder, decoded, picture_side, channels, side, scaling_factor })
    }

    /// Returns how many numbers the latents of an image have.
    pub fn latents(&self) -> usize {
        self.channels * self.side * self.side
    }

    /// Returns the latents of an image in red, green and blue planes, sRGB, 0 to 1. They are a
    /// sample of a distribution: `noise` is called once for as many standard normal numbers as
    /// there are latents.
    pub fn encode(
        &mut self,
        picture: &[f32],
        noise: &mut dyn FnMut(usize) -> Vec<f32>,
    ) -> Result<Vec<f32>, DiffusionError> {
        let count = self.latents();
        let values: Vec<f32> = picture.iter().map(|v| v * 2.0 - 1.0).collect();
        let shape = [1, PICTURE_CHANNELS, self.picture_side, self.picture_side];
        if !self.gives_variance {
            let latents = run(&mut self.encoder, (SAMPLE, &shape, &values), &self.encoded, count)?;
            return self.encoder.finite(latents.into_iter().map(|latent| latent * self.scaling_factor).collect());
        }
        let moments = run(&mut self.encoder, (SAMPLE, &shape, &values), &self.encoded, 2 * count)?;
        let (means, log_variances) = moments.split_at(count);
        let sample = |((mean, log_variance), noise): ((&f32, &f32), f32)| {
            let deviation = (0.5 * log_variance.clamp(*LOG_VARIANCE.start(), *LOG_VARIANCE.end())).exp();
            (mean + deviation * noise) * self.scaling_factor
        };
        self.encoder.finite(means.iter().zip(log_variances).zip(noise(count)).map(sample).collect())
    }

    /// Returns the image of latents: red, green and blue planes, sRGB, 0 to 1.
    pub fn decode(&mut self, latents: &[f32]) -> Result<Vec<f32>, DiffusionError> {
        let values: Vec<f32> = latents.iter().map(|latent| latent / self.scaling_factor).collect();
        let shape = [1, self.channels, self.side, self.side];
        let count = PICTURE_CHANNELS * self.picture_side * self.picture_side;
        let picture = run(&mut self.decoder, (LATENT_SAMPLE, &shape, &values), &self.decoded, count)?;
        let picture = self.decoder.finite(picture)?;
        Ok(picture.into_iter().map(|v| (v / 2.0 + 0.5).clamp(0.0, 1.0)).collect())
    }
}

fn run(
    graph: &mut Graph,
    (input, shape, values): (&str, &[usize], &[f32]),
    output: &str,
    count: usize,
) -> Result<Vec<f32>, DiffusionError> {
    let mut binding = graph.binding()?;
    graph.bind(&mut binding, input, shape, values)?;
    graph.bind_output_here(&mut binding, output)?;
    let answered = graph.run(&binding, &[output])?;
    graph.floats(output, &answered[0], count)
}

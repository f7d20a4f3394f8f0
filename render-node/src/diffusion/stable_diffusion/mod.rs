//! Stable Diffusion 1, 2 and XL, with their Turbo and LCM forms. The model changes an image of the
//! base shading, guided by a prompt and by a ControlNet that is given the G-buffer (Rombach et al.,
//! "High-Resolution Image Synthesis with Latent Diffusion Models", 2022; Zhang et al., "Adding
//! Conditional Control to Text-to-Image Diffusion Models", 2023). The change of light in its image
//! is added to the layers, which then take the path of every other model: paint, gate, images.
//!
//! The output equals that of diffusers' image-to-image pipelines for the same files, settings and
//! noise, with which tests compare it.

mod layout;
mod picture;
pub(crate) mod prompt;
pub mod settings;
mod text;
mod unet;
mod vae;

use super::model_folder::ModelFolder;
use super::residual::{self, RESIDUAL_CHANNELS};
use super::sampler::{PlanOptions, Sampler, SamplerError, SamplingPlan};
use super::{OnnxRuntime, Provider};
use crate::diffusion::base_shaded::{BaseShaded, ContinueCheck, fitting_base};
use crate::diffusion::diffusion_error::DiffusionError;
use crate::diffusion::model_file::{LOCK_FILE, LockError, read_text};
use crate::diffusion::noise::gaussian;
use crate::studio::{Layers, StudioOutput};
use cyclorama_core::encoding::{PictureError, Pixmap};
pub use layout::{PipelineLayout, SCHEDULER_CONFIG};
use picture::ModelInput;
use serde_json::{Value, json};
use settings::TextToImage;
use std::iter;
use std::sync::Arc;
use text::{Embedding, TextEncoders};
use unet::{Conditions, Run, Unet, UnetSize};
use vae::Vae;

/// Constants of a guidance's embedding (`get_guidance_scale_embedding` of diffusers, after Ho and
/// Salimans).
const GUIDANCE_SCALE: f32 = 1000.0;
const GUIDANCE_PERIOD: f32 = 10_000.0;

/// A loaded Stable Diffusion pipeline.
pub struct StableDiffusion {
    folder: ModelFolder,
    settings: TextToImage,
    layout: PipelineLayout,
    sampler: Sampler,
    /// Number of steps of a run: the part of the settings' `steps` that `strength` leaves.
    steps: usize,
    text: TextEncoders,
    unet: Unet,
    vae: Vae,
}

/// One image to be changed.
pub struct Request<'a> {
    /// Red, green and blue planes, sRGB, 0 to 1, each [`TextToImage::side_px`] square.
    pub picture: Vec<f32>,
    /// Planes of the same form for the ControlNet; empty without one.
    pub control: Vec<f32>,
    pub prompt: String,
    /// Returns the given number of standard normal numbers. Called first for the VAE's sample of
    /// latents, then for the noise they start in, then for each step that adds some.
    pub noise: Box<dyn FnMut(usize) -> Vec<f32> + 'a>,
    pub still_wanted: Box<ContinueCheck<'a>>,
}

/// Latents of an image, before and after the change.
#[derive(Debug)]
pub struct LatentPair {
    pub before: Vec<f32>,
    pub after: Vec<f32>,
}

/// A request that is being processed.
struct GenerationInProgress<'a, 'b> {
    request: &'a mut Request<'b>,
    prompt: Arc<Embedding>,
    plan: SamplingPlan,
    before: Vec<f32>,
    sample: Vec<f32>,
}

impl StableDiffusion {
    /// Loads a pipeline. Returns an error if a file is missing or not listed, if settings, sampler
    /// and graphs do not go together, or if ONNX Runtime cannot load a graph.
    pub fn load(runtime: &OnnxRuntime, provider: Provider, folder: ModelFolder) -> Result<Self, DiffusionError> {
        let settings = folder.text_to_image()?.clone();
        let layout = PipelineLayout::read(folder.root())?;
        let sampler = read_sampler(&folder, &settings)?;
        let steps = plan(&sampler, &settings, &layout).map_err(|error| match &error {
            SamplerError::Setting { setting: "steps" | "strength", .. } => {
                folder.broken_file(LOCK_FILE, format!("`text_to_image`: {error}"))
            }
            _ => folder.broken_file(SCHEDULER_CONFIG, error.to_string()),
        });
        let steps = steps?.steps();
        let side = settings.side_px as usize;
        let text = TextEncoders::load(runtime, provider, &folder, &layout)?;
        let size = UnetSize { tokens: text.tokens(), pooled_width: text.pooled_width(), picture_side: side };
        let unet = Unet::load(runtime, provider, &folder, &layout, size)?;
        let wrong = |detail: &str| Err(folder.broken_file(LOCK_FILE, detail.to_owned()).into());
        match (unet.is_controlled(), settings.control) {
            (true, None) => {
                return wrong(
                    "the pipeline has a ControlNet, and `text_to_image.control` does not say of what: depth, normal or segmentation",
                );
            }
            (false, Some(_)) => return wrong("it has `text_to_image.control`, and the pipeline has no ControlNet"),
            _ => {}
        }
        if settings.control_scale != 1.0 && !unet.scales_control() {
            return wrong("`text_to_image.control_scale` is not 1, and the ControlNet takes no `conditioning_scale`");
        }
        let samples = if is_guided(&settings, &layout) { 2 } else { 1 };
        if let Some(fixed) = unet.fixed_batch().filter(|fixed| *fixed != samples) {
            let detail = format!(
                "it takes {fixed} samples at once, and a picture is {samples} with this guidance: export it with a dynamic batch"
            );
            return Err(DiffusionError::Signature {
                model: folder.id().to_owned(),
                file: layout::UNET.to_owned(),
                detail,
            });
        }
        let vae = Vae::load(runtime, provider, &folder, &layout, side)?;
        Ok(Self { folder, settings, layout, sampler, steps, text, unet, vae })
    }

    pub fn folder(&self) -> &ModelFolder {
        &self.folder
    }

    /// Returns the number of steps of a run.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Returns the settings of its sampler, for the receipt.
    pub fn sampling(&self) -> Value {
        json!({"name": self.sampler.class_name(), "steps": self.settings.steps, "strength": self.settings.strength,
               "guidance": self.settings.guidance, "control": self.settings.control.map(settings::Control::as_str)})
    }

    /// Returns `fp16` or `fp32`: the type of numbers its UNet takes.
    pub fn precision(&self) -> &'static str {
        self.unet.precision()
    }

    /// Returns the maximum number of images in a batch, or `None` if there is no limit.
    pub fn batch_max(&self) -> Option<usize> {
        self.unet.fixed_batch().map(|_| 1)
    }

    /// See [`super::DiffusionModel::light`].
    pub fn light(
        &mut self,
        pictures: Vec<BaseShaded<'_>>,
        attempt: u32,
    ) -> Result<Vec<Result<(), DiffusionError>>, DiffusionError> {
        let side = self.settings.side_px as usize;
        let (mut bases, mut shown, mut requests) = (Vec::new(), Vec::new(), Vec::new());
        for picture in pictures {
            let BaseShaded { base, conditioning, vehicle, view, seed, still_wanted } = picture;
            let base = fitting_base(base, self.settings.side_px, self.folder.id())?;
            let seen = ModelInput::of(base, side);
            let mut number = gaussian(seed, attempt);
            let control = self.settings.control.map(|kind| picture::control(conditioning, kind, side));
            requests.push(Request {
                picture: seen.picture(),
                control: control.unwrap_or_default(),
                prompt: prompt::fill(&self.settings.prompt, vehicle, view),
                noise: Box::new(move |count| iter::repeat_with(&mut number).take(count).collect()),
                still_wanted,
            });
            shown.push(seen);
            bases.push(base);
        }
        let changed = self.change(&mut requests)?;
        drop(requests);
        // All residuals are computed before the first image is lit, so that every image is
        // unchanged if memory runs out on the way.
        let mut residuals = Vec::with_capacity(changed.len());
        for (changed, shown) in changed.into_iter().zip(&shown) {
            let residual = changed.and_then(|changed| {
                let made = self.decode(&changed.after)?;
                Ok(shown.residual(&made, &self.decode(&changed.before)?))
            });
            match residual {
                Err(error @ DiffusionError::OutOfMemory { .. }) => return Err(error),
                residual => residuals.push(residual),
            }
        }
        let light = |(residual, base): (Result<Vec<f32>, DiffusionError>, &mut Layers)| {
            residual.map(|residual| residual::add(base, &residual, side, &[1.0; RESIDUAL_CHANNELS]))
        };
        Ok(residuals.into_iter().zip(bases).map(light).collect())
    }

    /// Returns the latents of each image before and after. All images go through the model together
    /// in every step. Returns one result per image, in their order.
    pub fn change(
        &mut self,
        requests: &mut [Request<'_>],
    ) -> Result<Vec<Result<LatentPair, DiffusionError>>, DiffusionError> {
        let negative = if self.is_guided() {
            Some(self.text.embed_negative(self.settings.negative_prompt.as_deref())?)
        } else {
            None
        };
        let mut sittings = Vec::with_capacity(requests.len());
        for request in requests {
            sittings.push(match self.sit(request) {
                Err(error @ DiffusionError::NotFinite { .. }) => Err(error),
                sitting => Ok(sitting?),
            });
        }
        let mut run: Option<(Run, usize)> = None;
        for step in 0..self.steps {
            for sitting in &mut sittings {
                let ratio = step as f32 / self.steps as f32;
                if sitting
                    .as_mut()
                    .is_ok_and(|sitting: &mut GenerationInProgress<'_, '_>| !(sitting.request.still_wanted)(ratio))
                {
                    *sitting = Err(DiffusionError::Cancelled);
                }
            }
            let mut going: Vec<&mut GenerationInProgress<'_, '_>> =
                sittings.iter_mut().filter_map(|sitting| sitting.as_mut().ok()).collect();
            if going.is_empty() {
                break;
            }
            // A request that is no longer processed leaves a row in the bound tensors, so they are
            // bound again.
            if run.as_ref().is_none_or(|(_, count)| *count != going.len()) {
                run = Some((self.begin(&going, negative.as_deref())?, going.len()));
            }
            let Some((run, _)) = &mut run else { break };
            self.step(step, run, &mut going)?;
        }
        let finish = |sitting: Result<GenerationInProgress<'_, '_>, DiffusionError>| {
            let GenerationInProgress { before, sample, .. } = sitting?;
            // Everything else that went into the sample has been checked.
            Ok(LatentPair { before, after: self.unet.finite(sample)? })
        };
        Ok(sittings.into_iter().map(finish).collect())
    }

    /// Returns the image of latents: red, green and blue planes, sRGB, 0 to 1.
    pub fn decode(&mut self, latents: &[f32]) -> Result<Vec<f32>, DiffusionError> {
        self.vae.decode(latents)
    }

    fn is_guided(&self) -> bool {
        is_guided(&self.settings, &self.layout)
    }

    fn sit<'a, 'b>(&mut self, request: &'a mut Request<'b>) -> Result<GenerationInProgress<'a, 'b>, DiffusionError> {
        let prompt = self.text.embed(&request.prompt)?;
        let plan = plan(&self.sampler, &self.settings, &self.layout).map_err(|e| self.sampler_failed(e))?;
        let before = self.vae.encode(&request.picture, &mut request.noise)?;
        let mut sample = vec![0.0; before.len()];
        let noise = (request.noise)(before.len());
        plan.add_noise(&before, &noise, &mut sample).map_err(|e| self.sampler_failed(e))?;
        Ok(GenerationInProgress { request, prompt, plan, before, sample })
    }

    /// Binds the rows of a batch. With guidance, the rows without the prompt come first.
    fn begin(
        &self,
        going: &[&mut GenerationInProgress<'_, '_>],
        negative: Option<&Embedding>,
    ) -> Result<Run, DiffusionError> {
        let without = going.iter().filter_map(|_| negative);
        let embeddings: Vec<&Embedding> = without.chain(going.iter().map(|sitting| &*sitting.prompt)).collect();
        let count = embeddings.len();
        let side = self.settings.side_px as f32;
        let guidance = self
            .layout
            .unet
            .time_cond_proj_dim
            .map(|width| guidance_embedding(self.settings.guidance as f32 - 1.0, width));
        let controls = going.iter().map(|sitting| sitting.request.control.as_slice());
        let conditions = Conditions {
            hidden: embeddings.iter().flat_map(|embedding| &embedding.hidden).copied().collect(),
            pooled: embeddings.iter().flat_map(|embedding| &embedding.pooled).copied().collect(),
            time_ids: [side, side, 0.0, 0.0, side, side].repeat(count),
            guidance: guidance.unwrap_or_default().repeat(count),
            control: controls.collect::<Vec<_>>().concat().repeat(count / going.len()),
            control_scale: self.settings.control_scale as f32,
        };
        self.unet.begin(&conditions, count)
    }

    fn step(
        &mut self,
        step: usize,
        run: &mut Run,
        going: &mut [&mut GenerationInProgress<'_, '_>],
    ) -> Result<(), DiffusionError> {
        let guided = self.is_guided();
        let mut timestep = 0.0;
        let mut inputs = Vec::new();
        for sitting in going.iter() {
            timestep = sitting.plan.timestep(step).map_err(|e| self.sampler_failed(e))?;
            inputs.extend(sitting.plan.scale_input(step, &sitting.sample).map_err(|e| self.sampler_failed(e))?);
        }
        let samples = if guided { inputs.repeat(2) } else { inputs };
        let mut outputs = self.unet.predict(run, &samples, timestep)?;
        if guided {
            let guidance = self.settings.guidance as f32;
            let (without, with) = outputs.split_at(samples.len() / 2);
            let guide = |(without, with): (&f32, &f32)| without + guidance * (with - without);
            outputs = without.iter().zip(with).map(guide).collect();
        }
        for (sitting, output) in going.iter_mut().zip(outputs.chunks_exact(self.vae.latents())) {
            let GenerationInProgress { request, plan, sample, .. } = &mut **sitting;
            let noise = plan.needs_noise(step).then(|| (request.noise)(sample.len()));
            plan.step(step, sample, output, noise.as_deref()).map_err(|e| self.sampler_failed(e))?;
        }
        Ok(())
    }

    fn sampler_failed(&self, source: SamplerError) -> DiffusionError {
        DiffusionError::Sampler { model: self.folder.id().to_owned(), source }
    }
}

/// Returns the model's input for a shot as an image to look at: the ControlNet's image, or, without
/// one, the image that the model starts from.
pub fn conditioning_picture(shot: &StudioOutput, control: Option<settings::Control>) -> Result<Pixmap, PictureError> {
    let side = shot.conditioning.side_px;
    let planes = match control {
        Some(control) => picture::control(&shot.conditioning, control, side as usize),
        None => ModelInput::of(&shot.layers, side as usize).picture(),
    };
    let count = (side * side) as usize;
    let byte = |v: f32| (v * 255.0).round() as u8;
    let pixel = |i: usize| [byte(planes[i]), byte(planes[count + i]), byte(planes[2 * count + i]), u8::MAX];
    Pixmap::from_rgba(side, side, (0..count).flat_map(pixel).collect())
}

/// Returns true if each sample goes through the model twice, with and without the prompt. Distilled
/// models take the guidance as an input instead.
fn is_guided(settings: &TextToImage, layout: &PipelineLayout) -> bool {
    settings.guidance > 1.0 && layout.unet.time_cond_proj_dim.is_none()
}

fn plan(sampler: &Sampler, settings: &TextToImage, layout: &PipelineLayout) -> Result<SamplingPlan, SamplerError> {
    let options = PlanOptions { lcm_keeps_steps: layout.keeps_steps, ..PlanOptions::default() };
    sampler.plan_with(settings.steps as usize, Some(settings.strength as f32), options)
}

/// Returns the sampler of the configuration, or of another class with the same settings, as
/// diffusers' `from_config` makes one.
fn read_sampler(folder: &ModelFolder, settings: &TextToImage) -> Result<Sampler, LockError> {
    folder.expect_listed(SCHEDULER_CONFIG)?;
    let text = read_text(&folder.path(SCHEDULER_CONFIG))?;
    let sampler = Sampler::from_config_as(&text, settings.sampler.as_deref());
    sampler.map_err(|e| folder.broken_file(SCHEDULER_CONFIG, e.to_string()))
}

/// Returns sines and cosines of the guidance at falling frequencies.
fn guidance_embedding(guidance: f32, width: usize) -> Vec<f32> {
    let half = width / 2;
    let period = GUIDANCE_PERIOD.ln() / (half.max(2) - 1) as f32;
    let angles = (0..half).map(|place| guidance * GUIDANCE_SCALE * (-period * place as f32).exp());
    let mut values: Vec<f32> = angles.clone().map(f32::sin).chain(angles.map(f32::cos)).collect();
    values.resize(width, 0.0);
    values
}

//! The built-in kind of model. It works at half the layers' size, on the *residual* in an encoded
//! light space, and so adds only what needs the whole scene: contact, occlusion, inter-reflection,
//! the soft shadow.

mod denoiser;
mod scheduler;

use super::model_folder::ModelFolder;
use super::residual::{self, RESIDUAL_CHANNELS};
use super::{OnnxRuntime, Provider};
use crate::diffusion::base_shaded::{BaseShaded, fitting_base};
use crate::diffusion::diffusion_error::DiffusionError;
use crate::diffusion::model_file::{LockError, read_json};
use denoiser::{Denoiser, Item, UNET_MODEL};
use scheduler::FlowMatchSampler;
use serde::Deserialize;
use serde_json::{Value, json};

const UNET_CONFIG: &str = "unet/config.json";
const SCHEDULER_CONFIG: &str = "scheduler/scheduler_config.json";

/// A loaded light model.
pub struct LightModel {
    folder: ModelFolder,
    config: UnetConfig,
    denoiser: Denoiser,
    scheduler: FlowMatchSampler,
}

#[derive(Debug, Clone, Deserialize)]
struct UnetConfig {
    /// Side of the square the model works on, in pixels.
    side_px: u32,
    side_multiple: u32,
    /// One unit of each residual channel, in encoded light (for the shadow, in plain darkness).
    residual_scale: [f32; RESIDUAL_CHANNELS],
}

impl LightModel {
    /// Loads a light model. Returns an error if the lock's conditioning is not `conditioning`
    /// (names and order), or if the ONNX graph takes other tensors.
    pub fn load(
        runtime: &OnnxRuntime,
        provider: Provider,
        folder: ModelFolder,
        conditioning: &[&str],
    ) -> Result<Self, DiffusionError> {
        for file in [UNET_CONFIG, UNET_MODEL, SCHEDULER_CONFIG] {
            folder.expect_listed(file)?;
        }
        expect_conditioning(&folder, conditioning)?;
        let config: UnetConfig = read_json(folder.root(), UNET_CONFIG)?;
        config.check().map_err(|detail| folder.broken_file(UNET_CONFIG, detail))?;
        let scheduler = FlowMatchSampler::from_config(read_json(folder.root(), SCHEDULER_CONFIG)?)
            .map_err(|e| folder.broken_file(SCHEDULER_CONFIG, e.to_string()))?;
        let denoiser = Denoiser::load(runtime, provider, &folder, config.side_px as usize, conditioning.len())?;
        Ok(Self { folder, config, denoiser, scheduler })
    }

    pub fn folder(&self) -> &ModelFolder {
        &self.folder
    }

    pub fn steps(&self) -> usize {
        self.scheduler.timesteps().len()
    }

    /// Returns the settings of its sampler, for the receipt.
    pub fn sampling(&self) -> Value {
        json!({"name": "flow-match-euler", "timesteps": self.scheduler.timesteps(),
               "initial_noise_scale": self.scheduler.initial_noise_scale()})
    }

    /// Returns `fp32`: a light model takes 32-bit floats, whatever its weights are stored as.
    pub const fn precision(&self) -> &'static str {
        "fp32"
    }

    /// Returns the maximum number of images in a batch, or `None` if there is no limit.
    pub fn batch_max(&self) -> Option<usize> {
        self.denoiser.batch_max()
    }

    /// See [`super::DiffusionModel::light`].
    pub fn light(
        &mut self,
        mut pictures: Vec<BaseShaded<'_>>,
        attempt: u32,
    ) -> Result<Vec<Result<(), DiffusionError>>, DiffusionError> {
        let model = || self.folder.id().to_owned();
        let side = self.config.side_px as usize;
        let steps = self.scheduler.timesteps().len();
        let begin = |picture: &BaseShaded<'_>| {
            self.check(picture)?;
            Ok(self.scheduler.start(picture.seed, attempt, RESIDUAL_CHANNELS * side * side))
        };
        let mut samples: Vec<Result<Vec<f32>, DiffusionError>> = pictures.iter().map(begin).collect();
        for step in 0..steps {
            for (sample, picture) in samples.iter_mut().zip(pictures.iter_mut()) {
                if sample.is_ok() && !(picture.still_wanted)(step as f32 / steps as f32) {
                    *sample = Err(DiffusionError::Cancelled);
                }
            }
            let going =
                || samples.iter().zip(pictures.iter()).filter_map(|(sample, p)| Some((sample.as_ref().ok()?, p)));
            let batch: Vec<Item<'_>> =
                going().map(|(sample, picture)| Item { sample, conditioning: &picture.conditioning.planes }).collect();
            if batch.is_empty() {
                break;
            }
            let clean = self.denoiser.predict(&batch, self.scheduler.timesteps()[step])?;
            let going = samples.iter_mut().filter_map(|sample| sample.as_mut().ok());
            for (sample, clean) in going.zip(clean.chunks_exact(RESIDUAL_CHANNELS * side * side)) {
                self.scheduler.step(step, sample, clean);
            }
        }
        let light = |(sample, picture): (Result<Vec<f32>, DiffusionError>, BaseShaded<'_>)| {
            let sample = sample?;
            if sample.iter().any(|v| !v.is_finite()) {
                return Err(DiffusionError::NotFinite { model: model(), file: UNET_MODEL.to_owned() });
            }
            let base = fitting_base(picture.base, self.config.side_px, self.folder.id())?;
            residual::add(base, &sample, side, &self.config.residual_scale);
            Ok(())
        };
        Ok(samples.into_iter().zip(pictures).map(light).collect())
    }

    fn check(&self, picture: &BaseShaded<'_>) -> Result<(), DiffusionError> {
        let (side_px, channels) = (self.config.side_px, self.folder.conditioning().len());
        if picture.conditioning.planes.len() == channels * (side_px * side_px) as usize {
            return Ok(());
        }
        let detail = format!(
            "{} values of conditioning, where {channels} channels of {side_px} px are needed",
            picture.conditioning.planes.len(),
        );
        Err(DiffusionError::Picture { model: self.folder.id().to_owned(), detail })
    }
}

fn expect_conditioning(folder: &ModelFolder, expected: &[&str]) -> Result<(), LockError> {
    let found = folder.conditioning();
    if found.iter().map(String::as_str).eq(expected.iter().copied()) {
        return Ok(());
    }
    let at = found.iter().zip(expected).position(|(f, e)| f != e);
    let detail = match at {
        Some(i) => format!("channel {i} is `{}` there and `{}` here", found[i], expected[i]),
        None => format!("it takes {} channels and this version makes {}", found.len(), expected.len()),
    };
    Err(LockError::Conditioning { id: folder.id().to_owned(), detail })
}

impl UnetConfig {
    fn check(&self) -> Result<(), String> {
        let sides_ok = (16..=1024).contains(&self.side_px)
            && self.side_multiple > 0
            && self.side_px.is_multiple_of(self.side_multiple);
        if !sides_ok {
            return Err(format!(
                "`side_px` {} is not 16 to 1024 and a multiple of `side_multiple` {}",
                self.side_px, self.side_multiple
            ));
        }
        match self.residual_scale.iter().find(|s| !(s.is_finite() && **s > 0.0)) {
            Some(scale) => Err(format!("`residual_scale` holds {scale}, which is not above 0")),
            None => Ok(()),
        }
    }
}

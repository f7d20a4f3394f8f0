//! Makes a folder of files a model of this node: inspects what it holds, chooses the settings with
//! which it runs, writes the lock file, and renders with it before anyone else does. The lock file
//! is written last, so if a step fails or is killed, the folder stays as it was.

use crate::config::LocalConfig;
use crate::diffusion::lock::{Lock, files_of};
use crate::diffusion::model_file::{LOCK_FILE, LockError, read_json, read_text};
use crate::diffusion::sampler::{Sampler, SamplerError};
use crate::diffusion::stable_diffusion::settings::{Control, TextToImage};
use crate::diffusion::stable_diffusion::{PipelineLayout, SCHEDULER_CONFIG, prompt};
use crate::diffusion::{ModelFolder, PipelineKind};
use crate::engine::models::Models;
use crate::engine::renderer::Renderer;
use crate::engine::self_test;
use crate::engine::start_error::StartError;
use crate::gpu::Gpu;
use crate::studio;
use cyclorama_core::output;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Default sampler: accepts the settings of all noise schedules of Stable Diffusion, and needs few
/// steps.
const USUAL_SAMPLER: &str = "DPMSolverMultistepScheduler";

/// Samplers of the same noise schedules that this program does not have.
const REPLACEABLE_SAMPLERS: [&str; 9] = [
    "PNDMScheduler",
    "DDPMScheduler",
    "LMSDiscreteScheduler",
    "HeunDiscreteScheduler",
    "UniPCMultistepScheduler",
    "DEISMultistepScheduler",
    "DPMSolverSinglestepScheduler",
    "KDPM2DiscreteScheduler",
    "KDPM2AncestralDiscreteScheduler",
];

#[derive(Debug, thiserror::Error)]
pub enum AddError {
    #[error("{} already has a {LOCK_FILE}; use --replace to write a new one", .0.display())]
    HasLock(PathBuf),
    #[error("{}: the pipeline has a ControlNet: give --control (depth, normal or segmentation), its input", .0.display())]
    WhichControl(PathBuf),
    #[error("{setting} is for text-to-image pipelines, and {} is not one", folder.display())]
    NotTextToImage { setting: &'static str, folder: PathBuf },
    #[error(transparent)]
    Folder(#[from] LockError),
    #[error(transparent)]
    SelfTest(#[from] StartError),
}

/// Options for the id and the settings of a model. An absent option is chosen by what the folder
/// holds.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ModelOptions {
    /// Id by which jobs name the model; default: the name of the folder.
    #[arg(long)]
    pub id: Option<String>,
    /// Licence of the model; default: the licence in its README.md.
    #[arg(long)]
    pub license: Option<String>,
    /// Side of its images in pixels: 1024, 512, 256 and so on.
    #[arg(long)]
    pub side: Option<u32>,
    /// Number of steps of a full run; --strength sets the ratio of them that is run.
    #[arg(long)]
    pub steps: Option<u32>,
    /// Classifier-free guidance; 1 and below mean none.
    #[arg(long)]
    pub guidance: Option<f64>,
    /// How far the model may depart from the base shading, above 0 and at most 1.
    #[arg(long)]
    pub strength: Option<f64>,
    /// Sampler class of diffusers, instead of the one in the folder.
    #[arg(long)]
    pub sampler: Option<String>,
    /// Input that the ControlNet was trained on: depth, normal or segmentation.
    #[arg(long)]
    pub control: Option<Control>,
    #[arg(long)]
    pub control_scale: Option<f64>,
    /// Template of the prompt, with {year}, {make}, {model}, {body}, {type} and {view}.
    #[arg(long)]
    pub prompt: Option<String>,
    #[arg(long)]
    pub negative_prompt: Option<String>,
    /// Overwrites an existing lock file.
    #[arg(long)]
    pub replace: bool,
}

/// The result of adding a model.
#[derive(Debug)]
pub struct AddedModel {
    pub lock: Lock,
    /// Digest that identifies the pipeline, as in receipts.
    pub digest: String,
    /// Time that the node took to start with the model and to render.
    pub self_test: Duration,
}

/// Adds the model in `folder`, and prints the result.
pub fn add_model(config: &LocalConfig, folder: &Path, wishes: ModelOptions) -> anyhow::Result<ExitCode> {
    let AddedModel { lock, digest, self_test } = add(config, folder, wishes)?;
    let mut told = format!(
        "{} is model `{}` ({}, {}, {})\ndigest {digest}\n",
        folder.display(),
        lock.id,
        lock.precision,
        lock.license,
        output::count(lock.files.len(), "file")
    );
    if let Some(settings) = &lock.text_to_image {
        told.push_str(&format!("{}\n", serde_json::to_string_pretty(settings)?));
    }
    told.push_str(&format!("self-test passed in {:.1} s\n", self_test.as_secs_f64()));
    output::text(&told)?;
    Ok(ExitCode::SUCCESS)
}

/// Adds the model in `folder`, with the provider and device of this machine's settings. Returns an
/// error if the folder has a lock already (without `replace`), its files cannot be used, or the
/// self-test fails.
pub fn add(config: &LocalConfig, folder: &Path, wishes: ModelOptions) -> Result<AddedModel, AddError> {
    if folder.join(LOCK_FILE).exists() && !wishes.replace {
        return Err(AddError::HasLock(folder.to_path_buf()));
    }
    let kind = PipelineKind::of(folder)?;
    let mut lock = Lock {
        version: 1,
        id: wishes.id.clone().unwrap_or_else(|| id_of(folder)),
        license: match &wishes.license {
            Some(license) => license.clone(),
            None => license_of(folder)?.unwrap_or_else(|| "unknown".to_owned()),
        },
        precision: "unknown".to_owned(),
        conditioning: Vec::new(),
        text_to_image: None,
        files: Vec::new(),
    };
    match kind {
        PipelineKind::Light => {
            if let Some(setting) = wishes.for_text_to_image() {
                return Err(AddError::NotTextToImage { setting, folder: folder.to_path_buf() });
            }
            lock.conditioning = studio::CONDITIONING_CHANNELS.map(str::to_owned).to_vec();
        }
        PipelineKind::StableDiffusion => lock.text_to_image = Some(settings(folder, wishes)?),
    }
    lock.files = files_of(folder)?;
    let began = Instant::now();
    // The device is opened first, so that anything it lacks is reported before gigabytes are read.
    let gpu = Gpu::open(&config.adapter).map_err(StartError::from)?;
    let models = Models::load_only(config, ModelFolder::about_to_be(folder, lock.clone())?)?;
    // The precision is known now that the graphs are open.
    if let [facts] = models.facts() {
        facts.precision.clone_into(&mut lock.precision);
    }
    self_test::run(&mut Renderer::with(config, gpu, models)?).map_err(StartError::from)?;
    let self_test = began.elapsed();
    lock.write(folder)?;
    let digest = lock.digest(folder)?;
    Ok(AddedModel { lock, digest, self_test })
}

impl ModelOptions {
    /// Returns the name of an option that only a text-to-image pipeline can have, if one is set.
    fn for_text_to_image(&self) -> Option<&'static str> {
        let asked = [
            ("--side", self.side.is_some()),
            ("--steps", self.steps.is_some()),
            ("--guidance", self.guidance.is_some()),
            ("--strength", self.strength.is_some()),
            ("--sampler", self.sampler.is_some()),
            ("--control", self.control.is_some()),
            ("--control-scale", self.control_scale.is_some()),
            ("--prompt", self.prompt.is_some()),
            ("--negative-prompt", self.negative_prompt.is_some()),
        ];
        asked.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}

/// Settings with which a text-to-image pipeline runs unless its operator sets others.
struct DefaultSettings {
    steps: u32,
    guidance: f64,
    strength: f64,
    negative_prompt: Option<&'static str>,
}

/// Distilled models are made for a few steps, and know no negative prompt.
const LATENT_CONSISTENCY: DefaultSettings =
    DefaultSettings { steps: 4, guidance: 7.5, strength: 0.5, negative_prompt: None };
const TURBO: DefaultSettings = DefaultSettings { steps: 4, guidance: 0.0, strength: 0.5, negative_prompt: None };
const UNDISTILLED: DefaultSettings =
    DefaultSettings { steps: 25, guidance: 6.0, strength: 0.45, negative_prompt: Some(prompt::NEGATIVE_PROMPT) };

/// The members of a scheduler's configuration by which a distilled model is recognised.
#[derive(Deserialize)]
struct SchedulerHints {
    #[serde(rename = "_class_name")]
    class_name: String,
    timestep_spacing: Option<String>,
}

fn settings(folder: &Path, wishes: ModelOptions) -> Result<TextToImage, AddError> {
    let layout = PipelineLayout::read(folder)?;
    let sampler = wishes.sampler.or(sampler_in_place_of(folder)?);
    let hints: Option<SchedulerHints> = read_json(folder, SCHEDULER_CONFIG).ok();
    let is_turbo = hints.is_some_and(|hints| {
        hints.class_name.starts_with("Euler") && hints.timestep_spacing.as_deref() == Some("trailing")
    });
    let usual = match layout.unet.time_cond_proj_dim {
        Some(_) => LATENT_CONSISTENCY,
        None if is_turbo => TURBO,
        None => UNDISTILLED,
    };
    let control = match wishes.control {
        None if layout.has_control_net(folder) => Some(control_of(folder)?),
        control => control,
    };
    Ok(TextToImage {
        side_px: wishes.side.unwrap_or_else(|| layout.side_px()),
        steps: wishes.steps.unwrap_or(usual.steps),
        guidance: wishes.guidance.unwrap_or(usual.guidance),
        strength: wishes.strength.unwrap_or(usual.strength),
        sampler,
        control,
        control_scale: wishes.control_scale.unwrap_or(1.0),
        prompt: wishes.prompt.unwrap_or_else(|| prompt::PROMPT.to_owned()),
        negative_prompt: wishes.negative_prompt.or_else(|| usual.negative_prompt.map(str::to_owned)),
    })
}

/// Returns the sampler that replaces the folder's own. Returns `None` if the folder's own is one
/// that this program has, or belongs to a model that no other sampler suits.
fn sampler_in_place_of(folder: &Path) -> Result<Option<String>, LockError> {
    let text = read_text(&folder.join(SCHEDULER_CONFIG))?;
    // Other faults of the configuration are reported when the model is loaded.
    let Err(SamplerError::Setting { setting: "_class_name", found, .. }) = Sampler::from_config(&text) else {
        return Ok(None);
    };
    let is_replaceable = REPLACEABLE_SAMPLERS.iter().any(|name| found.contains(&format!("\"{name}\"")));
    Ok(is_replaceable.then(|| USUAL_SAMPLER.to_owned()))
}

/// Returns the kind of control that the ControlNet's name indicates.
fn control_of(folder: &Path) -> Result<Control, AddError> {
    #[derive(Deserialize)]
    struct NamedFolder {
        #[serde(rename = "_name_or_path")]
        name: Option<String>,
    }
    let named: Option<NamedFolder> = read_json(folder, "controlnet/config.json").ok();
    let path = named.and_then(|named| named.name).unwrap_or_default().to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let known = [("depth", Control::Depth), ("normal", Control::Normal), ("seg", Control::Segmentation)];
    let found = known.into_iter().find(|(part, _)| name.contains(part)).map(|(_, control)| control);
    found.ok_or_else(|| AddError::WhichControl(folder.to_path_buf()))
}

/// Returns the folder's name as an identifier.
fn id_of(folder: &Path) -> String {
    let name = folder.canonicalize().ok();
    let name = name.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy().to_lowercase();
    name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' }).collect()
}

/// Returns the licence from the head of a model card: `license: openrail++` between two lines of
/// dashes.
fn license_of(folder: &Path) -> Result<Option<String>, LockError> {
    let card = folder.join("README.md");
    if !card.is_file() {
        return Ok(None);
    }
    let text = read_text(&card)?;
    let head = text.strip_prefix("---\n").and_then(|text| text.split("\n---").next()).unwrap_or_default();
    let license = head.lines().find_map(|line| line.strip_prefix("license:")).unwrap_or_default();
    let license = license.trim().trim_matches(['"', '\'']);
    Ok(Some(license.to_owned()).filter(|license| !license.is_empty()))
}

//! Reads diffusers' `scheduler_config.json` into the settings of one sampler, and refuses what is
//! not covered here.
//!
//! A missing setting has the default of its diffusers class. A setting that the class does not have
//! is ignored, as in diffusers: files carry leftovers of the scheduler they were converted from.
//! `noise_schedule`, `times` and the steps themselves check what the numbers lead to.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::diffusion::sampler::sampler_error::SamplerError;

/// Allowed numbers of training steps. Two are the fewest that span a schedule; the upper end keeps
/// a wrong file from filling the memory.
const TRAIN_STEPS: std::ops::RangeInclusive<usize> = 2..=100_000;

#[derive(Debug, Clone)]
pub(super) enum SamplerConfig {
    Ddim(Ddim),
    Euler(Euler),
    EulerAncestral(EulerAncestral),
    DpmSolver(DpmSolver),
    Lcm(Lcm),
    FlowMatchEuler(FlowMatchEuler),
}

/// The noise that the model was trained to remove.
#[derive(Debug, Clone)]
pub(super) struct Training {
    pub(super) steps: usize,
    pub(super) betas: Betas,
    pub(super) zero_terminal_snr: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Betas {
    Linear { start: f64, end: f64 },
    ScaledLinear { start: f64, end: f64 },
    SquaredCosine,
    Trained(Vec<f32>),
}

/// The quantity that the model's output predicts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Prediction {
    Epsilon,
    Sample,
    Velocity,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Spacing {
    Leading,
    Linspace,
    Trailing,
}

/// The noise level after the last step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FinalSigma {
    Zero,
    Smallest,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TimeShift {
    /// The same at every image size.
    Fixed(f64),
    /// Grows linearly with the number of image tokens, between two sizes at which it is known.
    ByImage { base_shift: f64, max_shift: f64, base_length: f64, max_length: f64, exponential: bool },
}

#[derive(Debug, Clone)]
pub(super) struct Ddim {
    pub(super) training: Training,
    pub(super) prediction: Prediction,
    pub(super) spacing: Spacing,
    pub(super) steps_offset: usize,
    pub(super) set_alpha_to_one: bool,
    pub(super) clip: Option<f32>,
}

#[derive(Debug, Clone)]
pub(super) struct Euler {
    pub(super) training: Training,
    pub(super) prediction: Prediction,
    pub(super) spacing: Spacing,
    pub(super) steps_offset: usize,
    pub(super) karras: bool,
    pub(super) sigma_min: Option<f64>,
    pub(super) sigma_max: Option<f64>,
    pub(super) final_sigma: FinalSigma,
}

#[derive(Debug, Clone)]
pub(super) struct EulerAncestral {
    pub(super) training: Training,
    pub(super) prediction: Prediction,
    pub(super) spacing: Spacing,
    pub(super) steps_offset: usize,
}

#[derive(Debug, Clone)]
pub(super) struct DpmSolver {
    pub(super) training: Training,
    pub(super) prediction: Prediction,
    pub(super) spacing: Spacing,
    pub(super) steps_offset: usize,
    pub(super) second_order: bool,
    pub(super) heun: bool,
    pub(super) lower_order_final: bool,
    pub(super) euler_at_final: bool,
    pub(super) karras: bool,
    /// False for a cosine schedule, which is so uneven that whole timesteps would stray from the
    /// Karras noise levels.
    pub(super) rounds_karras_times: bool,
    pub(super) final_sigma: FinalSigma,
    pub(super) lambda_min: Option<f32>,
}

#[derive(Debug, Clone)]
pub(super) struct Lcm {
    pub(super) training: Training,
    pub(super) prediction: Prediction,
    pub(super) original_steps: usize,
    pub(super) timestep_scaling: f32,
    pub(super) clip: Option<f32>,
}

#[derive(Debug, Clone)]
pub(super) struct FlowMatchEuler {
    pub(super) train_steps: usize,
    pub(super) shift: TimeShift,
    pub(super) karras: bool,
}

impl Prediction {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Epsilon => "epsilon",
            Self::Sample => "sample",
            Self::Velocity => "v_prediction",
        }
    }
}

impl SamplerConfig {
    /// Reads a configuration. `class_name`, if given, replaces the one in the file.
    pub(super) fn read(json: &str, class_name: Option<&str>) -> Result<Self, SamplerError> {
        let mut settings = SchedulerSettings(serde_json::from_str(&without_infinity(json))?);
        if let Some(name) = class_name {
            settings.0.insert("_class_name".to_owned(), name.into());
        }
        match settings.text("_class_name", "")? {
            "DDIMScheduler" => Ok(Self::Ddim(ddim(&settings)?)),
            "EulerDiscreteScheduler" => Ok(Self::Euler(euler(&settings)?)),
            "EulerAncestralDiscreteScheduler" => Ok(Self::EulerAncestral(euler_ancestral(&settings)?)),
            "DPMSolverMultistepScheduler" => Ok(Self::DpmSolver(dpm_solver(&settings)?)),
            "LCMScheduler" => Ok(Self::Lcm(lcm(&settings)?)),
            "FlowMatchEulerDiscreteScheduler" => Ok(Self::FlowMatchEuler(flow_match_euler(&settings)?)),
            other => wrong(
                "_class_name",
                format!("{other:?}"),
                "one of DDIMScheduler, EulerDiscreteScheduler, EulerAncestralDiscreteScheduler, \
                 DPMSolverMultistepScheduler, LCMScheduler and FlowMatchEulerDiscreteScheduler",
            ),
        }
    }
}

/// Replaces the `-Infinity` that Python writes as DPMSolverMultistepScheduler's default, and that
/// JSON does not have, by `null`.
fn without_infinity(json: &str) -> Cow<'_, str> {
    let key = "\"lambda_min_clipped\"";
    let replaced = json.split_once(key).and_then(|(before, after)| {
        let value = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix("-Infinity")?;
        Some(format!("{before}{key}: null{value}"))
    });
    replaced.map_or(Cow::Borrowed(json), Cow::Owned)
}

fn ddim(settings: &SchedulerSettings) -> Result<Ddim, SamplerError> {
    settings.refuse("thresholding")?;
    Ok(Ddim {
        training: training(settings, "linear", 0.0001, 0.02)?,
        prediction: prediction(settings)?,
        spacing: spacing(settings, "leading")?,
        steps_offset: settings.count("steps_offset", 0)?,
        set_alpha_to_one: settings.flag("set_alpha_to_one", true)?,
        clip: clip(settings, true)?,
    })
}

fn euler(settings: &SchedulerSettings) -> Result<Euler, SamplerError> {
    settings.refuse("use_exponential_sigmas")?;
    settings.refuse("use_beta_sigmas")?;
    settings.only("interpolation_type", "linear")?;
    settings.only("timestep_type", "discrete")?;
    Ok(Euler {
        training: training(settings, "linear", 0.0001, 0.02)?,
        prediction: prediction(settings)?,
        spacing: spacing(settings, "linspace")?,
        steps_offset: settings.count("steps_offset", 0)?,
        karras: settings.flag("use_karras_sigmas", false)?,
        sigma_min: settings.positive("sigma_min")?,
        sigma_max: settings.positive("sigma_max")?,
        final_sigma: final_sigma(settings)?,
    })
}

fn euler_ancestral(settings: &SchedulerSettings) -> Result<EulerAncestral, SamplerError> {
    let prediction = prediction(settings)?;
    if prediction == Prediction::Sample {
        return wrong("prediction_type", "\"sample\"".into(), "epsilon or v_prediction with this scheduler");
    }
    Ok(EulerAncestral {
        training: training(settings, "linear", 0.0001, 0.02)?,
        prediction,
        spacing: spacing(settings, "linspace")?,
        steps_offset: settings.count("steps_offset", 0)?,
    })
}

fn dpm_solver(settings: &SchedulerSettings) -> Result<DpmSolver, SamplerError> {
    for setting in [
        "thresholding",
        "use_exponential_sigmas",
        "use_beta_sigmas",
        "use_lu_lambdas",
        "use_flow_sigmas",
        "use_dynamic_shifting",
    ] {
        settings.refuse(setting)?;
    }
    settings.only("algorithm_type", "dpmsolver++")?;
    if let Some(found) = settings.found("variance_type") {
        return wrong("variance_type", found.to_string(), "null: a predicted variance is not split off here");
    }
    let second_order = match settings.count("solver_order", 2)? {
        1 => false,
        2 => true,
        other => return wrong("solver_order", other.to_string(), "1 or 2"),
    };
    let heun = match settings.text("solver_type", "midpoint")? {
        "midpoint" => false,
        "heun" => true,
        other => return wrong("solver_type", format!("{other:?}"), "midpoint or heun"),
    };
    Ok(DpmSolver {
        training: training(settings, "linear", 0.0001, 0.02)?,
        prediction: prediction(settings)?,
        spacing: spacing(settings, "linspace")?,
        steps_offset: settings.count("steps_offset", 0)?,
        second_order,
        heun,
        lower_order_final: settings.flag("lower_order_final", true)?,
        euler_at_final: settings.flag("euler_at_final", false)?,
        karras: settings.flag("use_karras_sigmas", false)?,
        rounds_karras_times: settings.text("beta_schedule", "linear")? != "squaredcos_cap_v2",
        final_sigma: final_sigma(settings)?,
        lambda_min: settings.real("lambda_min_clipped")?.map(|value| value as f32),
    })
}

fn lcm(settings: &SchedulerSettings) -> Result<Lcm, SamplerError> {
    settings.refuse("thresholding")?;
    let training = training(settings, "scaled_linear", 0.00085, 0.012)?;
    let original_steps = settings.count("original_inference_steps", 50)?;
    if !(1..=training.steps).contains(&original_steps) {
        return wrong("original_inference_steps", original_steps.to_string(), "1 to `num_train_timesteps`");
    }
    Ok(Lcm {
        training,
        prediction: prediction(settings)?,
        original_steps,
        timestep_scaling: settings.positive("timestep_scaling")?.unwrap_or(10.0) as f32,
        clip: clip(settings, false)?,
    })
}

fn flow_match_euler(settings: &SchedulerSettings) -> Result<FlowMatchEuler, SamplerError> {
    for setting in ["use_exponential_sigmas", "use_beta_sigmas", "invert_sigmas", "stochastic_sampling"] {
        settings.refuse(setting)?;
    }
    if let Some(found) = settings.found("shift_terminal") {
        return wrong("shift_terminal", found.to_string(), "null");
    }
    let exponential = match settings.text("time_shift_type", "exponential")? {
        "exponential" => true,
        "linear" => false,
        other => return wrong("time_shift_type", format!("{other:?}"), "exponential or linear"),
    };
    let shift = if settings.flag("use_dynamic_shifting", false)? {
        let (base_length, max_length) =
            (settings.count("base_image_seq_len", 256)?, settings.count("max_image_seq_len", 4096)?);
        if max_length <= base_length {
            return wrong("max_image_seq_len", max_length.to_string(), "more than `base_image_seq_len`");
        }
        TimeShift::ByImage {
            base_shift: settings.real("base_shift")?.unwrap_or(0.5),
            max_shift: settings.real("max_shift")?.unwrap_or(1.15),
            base_length: base_length as f64,
            max_length: max_length as f64,
            exponential,
        }
    } else {
        TimeShift::Fixed(settings.positive("shift")?.unwrap_or(1.0))
    };
    Ok(FlowMatchEuler {
        train_steps: train_steps(settings)?,
        shift,
        karras: settings.flag("use_karras_sigmas", false)?,
    })
}

fn train_steps(settings: &SchedulerSettings) -> Result<usize, SamplerError> {
    let steps = settings.count("num_train_timesteps", 1000)?;
    if TRAIN_STEPS.contains(&steps) {
        return Ok(steps);
    }
    wrong("num_train_timesteps", steps.to_string(), "2 to 100000")
}

fn training(
    settings: &SchedulerSettings,
    schedule: &'static str,
    start: f64,
    end: f64,
) -> Result<Training, SamplerError> {
    let steps = train_steps(settings)?;
    let start = settings.positive("beta_start")?.unwrap_or(start);
    let end = settings.positive("beta_end")?.unwrap_or(end);
    if start >= 1.0 {
        return wrong("beta_start", format!("{start:?}"), "a number below 1");
    }
    if !(start..1.0).contains(&end) {
        return wrong("beta_end", format!("{end:?}"), "a number from `beta_start` to below 1");
    }
    let by_name = match settings.text("beta_schedule", schedule)? {
        "linear" => Betas::Linear { start, end },
        "scaled_linear" => Betas::ScaledLinear { start, end },
        "squaredcos_cap_v2" => Betas::SquaredCosine,
        other => {
            return wrong("beta_schedule", format!("{other:?}"), "linear, scaled_linear or squaredcos_cap_v2");
        }
    };
    Ok(Training {
        steps,
        betas: trained_betas(settings, steps)?.map_or(by_name, Betas::Trained),
        zero_terminal_snr: settings.flag("rescale_betas_zero_snr", false)?,
    })
}

fn trained_betas(settings: &SchedulerSettings, steps: usize) -> Result<Option<Vec<f32>>, SamplerError> {
    let Some(found) = settings.found("trained_betas") else { return Ok(None) };
    let Some(list) = found.as_array() else {
        return wrong("trained_betas", shortened(found), "null or a list of numbers");
    };
    if list.len() != steps {
        return wrong("trained_betas", format!("a list of {}", list.len()), "one number a training step");
    }
    let mut betas = Vec::with_capacity(steps);
    for entry in list {
        match entry.as_f64() {
            Some(beta) if beta > 0.0 && beta < 1.0 => betas.push(beta as f32),
            _ => return wrong("trained_betas", format!("a list with {}", shortened(entry)), "numbers from 0 to 1"),
        }
    }
    Ok(Some(betas))
}

fn prediction(settings: &SchedulerSettings) -> Result<Prediction, SamplerError> {
    match settings.text("prediction_type", "epsilon")? {
        "epsilon" => Ok(Prediction::Epsilon),
        "sample" => Ok(Prediction::Sample),
        "v_prediction" => Ok(Prediction::Velocity),
        other => wrong("prediction_type", format!("{other:?}"), "epsilon, v_prediction or sample"),
    }
}

fn spacing(settings: &SchedulerSettings, default: &'static str) -> Result<Spacing, SamplerError> {
    match settings.text("timestep_spacing", default)? {
        "leading" => Ok(Spacing::Leading),
        "linspace" => Ok(Spacing::Linspace),
        "trailing" => Ok(Spacing::Trailing),
        other => wrong("timestep_spacing", format!("{other:?}"), "leading, linspace or trailing"),
    }
}

fn final_sigma(settings: &SchedulerSettings) -> Result<FinalSigma, SamplerError> {
    match settings.text("final_sigmas_type", "zero")? {
        "zero" => Ok(FinalSigma::Zero),
        "sigma_min" => Ok(FinalSigma::Smallest),
        other => wrong("final_sigmas_type", format!("{other:?}"), "zero or sigma_min"),
    }
}

fn clip(settings: &SchedulerSettings, default: bool) -> Result<Option<f32>, SamplerError> {
    let range = settings.positive("clip_sample_range")?.unwrap_or(1.0);
    Ok(settings.flag("clip_sample", default)?.then_some(range as f32))
}

fn wrong<T>(setting: &'static str, found: String, expected: &'static str) -> Result<T, SamplerError> {
    Err(SamplerError::Setting { setting, found, expected })
}

/// Shortens a value for an error message: a list of a thousand numbers would bury the message.
fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// The settings of the file by name, so that an error can name the setting and its value.
struct SchedulerSettings(Map<String, Value>);

impl SchedulerSettings {
    /// Returns a setting unless it is absent or null. Null is Python's `None`, the default of each
    /// setting that may have it.
    fn found(&self, setting: &'static str) -> Option<&Value> {
        self.0.get(setting).filter(|value| !value.is_null())
    }

    fn text<'a>(&'a self, setting: &'static str, default: &'a str) -> Result<&'a str, SamplerError> {
        match self.found(setting) {
            None => Ok(default),
            Some(Value::String(text)) => Ok(text),
            Some(other) => wrong(setting, shortened(other), "a text"),
        }
    }

    fn flag(&self, setting: &'static str, default: bool) -> Result<bool, SamplerError> {
        match self.found(setting) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => wrong(setting, shortened(other), "true or false"),
        }
    }

    fn count(&self, setting: &'static str, default: usize) -> Result<usize, SamplerError> {
        let Some(found) = self.found(setting) else { return Ok(default) };
        match found.as_u64().and_then(|count| u32::try_from(count).ok()) {
            Some(count) => Ok(count as usize),
            None => wrong(setting, shortened(found), "a whole number of 0 or more"),
        }
    }

    fn real(&self, setting: &'static str) -> Result<Option<f64>, SamplerError> {
        let Some(found) = self.found(setting) else { return Ok(None) };
        match found.as_f64() {
            Some(number) => Ok(Some(number)),
            None => wrong(setting, shortened(found), "a number"),
        }
    }

    fn positive(&self, setting: &'static str) -> Result<Option<f64>, SamplerError> {
        match self.real(setting)? {
            Some(number) if number <= 0.0 => wrong(setting, format!("{number:?}"), "a number above 0"),
            number => Ok(number),
        }
    }

    fn refuse(&self, setting: &'static str) -> Result<(), SamplerError> {
        if self.flag(setting, false)? {
            return wrong(setting, "true".into(), "false: it is not covered here");
        }
        Ok(())
    }

    fn only(&self, setting: &'static str, covered: &'static str) -> Result<(), SamplerError> {
        let found = self.text(setting, covered)?;
        if found == covered {
            return Ok(());
        }
        wrong(setting, format!("{found:?}"), covered)
    }
}

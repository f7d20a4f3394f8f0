//! The samplers of diffusion models made with diffusers: which noise levels a run visits, and how
//! it gets from one to the next.
//!
//! Everything is read from the model's `scheduler_config.json` and gives the numbers of diffusers'
//! own class, with which the tests compare it. Samplers are pure numbers: the caller provides the
//! model, the guidance, the random numbers and the shape of the latents; a sample is a slice of
//! f32, element by element. `config` reads the file, `noise_schedule` computes the noise of the
//! training, and `times` chooses the moments.
//!
//! ```text
//! let mut plan = Sampler::from_config(json)?.plan_with(20, Some(0.5), PlanOptions::default())?;
//! plan.add_noise(&image, &noise, &mut sample)?;
//! for step in 0..plan.steps() {
//!     let output = model(&plan.scale_input(step, &sample)?, plan.timestep(step)?);
//!     let noise = plan.needs_noise(step).then(|| normal(sample.len()));
//!     plan.step(step, &mut sample, &output, noise.as_deref())?;
//! }
//! ```

mod config;
mod noise_schedule;
pub(crate) mod sampler_error;
#[cfg(test)]
mod tests;
mod times;

use config::{
    Ddim, DpmSolver, Euler, EulerAncestral, FinalSigma, FlowMatchEuler, Lcm, Prediction, SamplerConfig, Spacing,
    TimeShift,
};
pub use sampler_error::SamplerError;

/// DPM-Solver takes the last step of shorter runs with the first order, because the second is
/// unstable there.
const STABLE_STEPS: usize = 15;
/// The standard deviation of the data that consistency models are trained with (Luo et al., "Latent
/// Consistency Models", 2023).
const LCM_SIGMA_DATA: f32 = 0.5;

/// A sampler as configured by a model: one of diffusers' DDIMScheduler, EulerDiscreteScheduler,
/// EulerAncestralDiscreteScheduler, DPMSolverMultistepScheduler (DPM-Solver++), LCMScheduler and
/// FlowMatchEulerDiscreteScheduler.
#[derive(Debug, Clone)]
pub struct Sampler {
    config: SamplerConfig,
    /// The ratio of the signal's variance left at each training step; empty for flow matching,
    /// which has none.
    alpha_products: Vec<f32>,
}

/// Options that diffusers sets in its pipelines rather than in its schedulers. The default is that
/// of the StableDiffusion, StableDiffusionXL and StableDiffusion3 pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlanOptions {
    /// The number of tokens that the transformer sees of the image, its area in patches. Needed for
    /// flow matching with `use_dynamic_shifting`, and used for nothing else.
    pub image_seq_len: Option<usize>,
    /// Flow matching at sigmas of 1, (n-1)/n, .. 1/n before the shift, as in the Flux pipelines,
    /// instead of down to the smallest sigma of the training.
    pub even_flow_sigmas: bool,
    /// LCM's image-to-image as in LatentConsistencyModelImg2ImgPipeline: all the steps, within the
    /// part of the schedule that `strength` leaves, instead of a part of the steps.
    pub lcm_keeps_steps: bool,
}

/// One run of a sampler: its moments, and the state that it keeps from step to step. Steps are
/// counted from 0, which is the first step of the run even if image-to-image leaves out some.
#[derive(Debug, Clone)]
pub struct SamplingPlan {
    moments: Vec<Moment>,
    rule: Rule,
    /// The step to take next.
    next: usize,
}

/// One step of a run. A level is the ratio of the signal's variance for DDIM and LCM, and sigma for
/// the others.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moment {
    timestep: f32,
    level: f32,
    next_level: f32,
}

#[derive(Debug, Clone)]
enum Rule {
    Ddim { prediction: Prediction, clip: Option<f32> },
    Euler { prediction: Prediction },
    EulerAncestral { prediction: Prediction },
    DpmSolver { prediction: Prediction, order: DpmOrder, first_order_last: bool, history: Option<DpmHistory> },
    Lcm { prediction: Prediction, clip: Option<f32>, timestep_scaling: f32 },
    FlowMatchEuler,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum DpmOrder {
    First,
    SecondMidpoint,
    SecondHeun,
}

/// The step before: its sigma, and the clean sample that the model's output implied.
#[derive(Debug, Clone)]
struct DpmHistory {
    sigma: f32,
    clean: Vec<f32>,
}

impl Sampler {
    /// Reads a `scheduler_config.json` of diffusers. Missing settings have the defaults of their
    /// class; a value that is unknown or not covered is an error that names it.
    pub fn from_config(json: &str) -> Result<Self, SamplerError> {
        Self::from_config_as(json, None)
    }

    /// Same as `from_config`, as another class than the file names (diffusers:
    /// `OtherScheduler.from_config`).
    pub fn from_config_as(json: &str, class_name: Option<&str>) -> Result<Self, SamplerError> {
        let config = SamplerConfig::read(json, class_name)?;
        let alpha_products = match &config {
            SamplerConfig::Ddim(Ddim { training, .. }) | SamplerConfig::Lcm(Lcm { training, .. }) => {
                noise_schedule::alpha_products(training)?
            }
            SamplerConfig::Euler(Euler { training, .. })
            | SamplerConfig::EulerAncestral(EulerAncestral { training, .. })
            | SamplerConfig::DpmSolver(DpmSolver { training, .. }) => {
                noise_schedule::positive_alpha_products(training)?
            }
            SamplerConfig::FlowMatchEuler(_) => Vec::new(),
        };
        Ok(Self { config, alpha_products })
    }

    /// Returns the name of its class in diffusers.
    pub fn class_name(&self) -> &'static str {
        match &self.config {
            SamplerConfig::Ddim(_) => "DDIMScheduler",
            SamplerConfig::Euler(_) => "EulerDiscreteScheduler",
            SamplerConfig::EulerAncestral(_) => "EulerAncestralDiscreteScheduler",
            SamplerConfig::DpmSolver(_) => "DPMSolverMultistepScheduler",
            SamplerConfig::Lcm(_) => "LCMScheduler",
            SamplerConfig::FlowMatchEuler(_) => "FlowMatchEulerDiscreteScheduler",
        }
    }

    /// Same as `plan_with`, for Stable Diffusion.
    #[cfg(test)]
    pub fn plan(&self, steps: usize, strength: Option<f32>) -> Result<SamplingPlan, SamplerError> {
        self.plan_with(steps, strength, PlanOptions::default())
    }

    /// Returns a run of `steps` steps. With a `strength` from 0 (the image stays) to 1 (nothing of
    /// it stays), returns the part of the run that image-to-image takes, as diffusers'
    /// `get_timesteps`. `options` are for a model whose pipeline is not one of Stable Diffusion, or
    /// needs the size of the image.
    pub fn plan_with(
        &self,
        steps: usize,
        strength: Option<f32>,
        options: PlanOptions,
    ) -> Result<SamplingPlan, SamplerError> {
        let strength = strength.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&strength) {
            return wrong("strength", strength.to_string(), "a number from 0 to 1");
        }
        let train_steps = match &self.config {
            SamplerConfig::FlowMatchEuler(settings) => settings.train_steps,
            _ => self.alpha_products.len(),
        };
        if !(1..=train_steps).contains(&steps) {
            return wrong("steps", steps.to_string(), "1 to `num_train_timesteps`");
        }
        let mut left_out = times::steps_left_out(steps, strength);
        let mut plan = match &self.config {
            SamplerConfig::Ddim(settings) => self.ddim(settings, steps)?,
            SamplerConfig::Euler(settings) => self.euler(settings, steps)?,
            SamplerConfig::EulerAncestral(settings) => self.euler_ancestral(settings, steps)?,
            SamplerConfig::DpmSolver(settings) => self.dpm_solver(settings, steps)?,
            SamplerConfig::Lcm(settings) if options.lcm_keeps_steps => {
                left_out = 0;
                self.lcm(settings, steps, times::ratio_of(settings.original_steps, strength) as usize)?
            }
            SamplerConfig::Lcm(settings) => self.lcm(settings, steps, settings.original_steps)?,
            SamplerConfig::FlowMatchEuler(settings) => {
                left_out = times::flow_steps_left_out(steps, strength);
                flow_match_euler(settings, steps, options)?
            }
        };
        plan.moments.drain(..left_out.min(plan.moments.len()));
        if plan.moments.is_empty() {
            return wrong("strength", strength.to_string(), "enough to leave a step to take");
        }
        Ok(plan)
    }

    fn ddim(&self, settings: &Ddim, steps: usize) -> Result<SamplingPlan, SamplerError> {
        let train_steps = self.alpha_products.len();
        let stride = train_steps / steps;
        let after_last =
            if settings.set_alpha_to_one { 1.0 } else { self.alpha_products.first().copied().unwrap_or(1.0) };
        let times = match settings.spacing {
            Spacing::Linspace => times::evenly(0.0, (train_steps - 1) as f64, steps)
                .into_iter()
                .rev()
                .map(f64::round_ties_even)
                .collect(),
            Spacing::Leading => times::leading(0, steps, stride, settings.steps_offset),
            Spacing::Trailing => times::trailing(train_steps, train_steps as f64 / steps as f64),
        };
        let mut moments = Vec::with_capacity(times.len());
        for time in times {
            let time = time as usize;
            // One even stride down, which is not always the next of the times.
            let next_level = match time.checked_sub(stride) {
                Some(next) => self.alpha_product(next)?,
                None => after_last,
            };
            moments.push(Moment { timestep: time as f32, level: self.alpha_product(time)?, next_level });
        }
        signal_is_left(&moments, settings.prediction)?;
        Ok(SamplingPlan::new(moments, Rule::Ddim { prediction: settings.prediction, clip: settings.clip }))
    }

    fn lcm(&self, settings: &Lcm, steps: usize, original_steps: usize) -> Result<SamplingPlan, SamplerError> {
        // More steps than the distillation had would repeat some of them.
        if steps > original_steps {
            return wrong("steps", steps.to_string(), "`original_inference_steps` times the strength, or fewer");
        }
        let stride = self.alpha_products.len() / settings.original_steps;
        let ratio = original_steps as f64 / steps as f64;
        let times: Vec<usize> =
            (0..steps).map(|i| (original_steps - (i as f64 * ratio).floor() as usize) * stride - 1).collect();
        let mut moments = Vec::with_capacity(steps);
        for (i, &time) in times.iter().enumerate() {
            let next = times.get(i + 1).copied().unwrap_or(time);
            let (level, next_level) = (self.alpha_product(time)?, self.alpha_product(next)?);
            moments.push(Moment { timestep: time as f32, level, next_level });
        }
        signal_is_left(&moments, settings.prediction)?;
        let Lcm { prediction, clip, timestep_scaling, .. } = *settings;
        Ok(SamplingPlan::new(moments, Rule::Lcm { prediction, clip, timestep_scaling }))
    }

    fn euler(&self, settings: &Euler, steps: usize) -> Result<SamplingPlan, SamplerError> {
        let table = noise_schedule::sigmas(&self.alpha_products);
        let mut times = self.euler_times(settings.spacing, steps, settings.steps_offset)?;
        let mut sigmas: Vec<f64> = times.iter().map(|time| times::interpolate(&table, *time)).collect();
        if settings.karras {
            let largest = settings.sigma_max.or(sigmas.first().copied()).unwrap_or(1.0);
            let smallest = settings.sigma_min.or(sigmas.last().copied()).unwrap_or(largest);
            if smallest > largest {
                return wrong("sigma_min", smallest.to_string(), "a number up to the largest sigma");
            }
            sigmas = times::karras(largest, smallest, times.len());
            times = sigmas.iter().map(|sigma| times::time_of_sigma(&table, *sigma)).collect();
        }
        let after_last = final_sigma(settings.final_sigma, &table);
        let moments = sigma_moments(&times, &sigmas, after_last, steps)?;
        Ok(SamplingPlan::new(moments, Rule::Euler { prediction: settings.prediction }))
    }

    fn euler_ancestral(&self, settings: &EulerAncestral, steps: usize) -> Result<SamplingPlan, SamplerError> {
        let table = noise_schedule::sigmas(&self.alpha_products);
        let times = self.euler_times(settings.spacing, steps, settings.steps_offset)?;
        let sigmas: Vec<f64> = times.iter().map(|time| times::interpolate(&table, *time)).collect();
        let moments = sigma_moments(&times, &sigmas, 0.0, steps)?;
        Ok(SamplingPlan::new(moments, Rule::EulerAncestral { prediction: settings.prediction }))
    }

    /// Returns the timesteps of an Euler run: whole numbers, except for `linspace`.
    fn euler_times(&self, spacing: Spacing, steps: usize, offset: usize) -> Result<Vec<f64>, SamplerError> {
        let train_steps = self.alpha_products.len();
        let times: Vec<f64> = match spacing {
            // The model gets f32, so the noise level is that of the rounded time.
            Spacing::Linspace => times::evenly(0.0, (train_steps - 1) as f64, steps)
                .into_iter()
                .rev()
                .map(|time| f64::from(time as f32))
                .collect(),
            Spacing::Leading => times::leading(0, steps, train_steps / steps, offset),
            Spacing::Trailing => times::trailing(train_steps, train_steps as f64 / steps as f64),
        };
        self.within_training(&times)?;
        Ok(times)
    }

    fn dpm_solver(&self, settings: &DpmSolver, steps: usize) -> Result<SamplingPlan, SamplerError> {
        let table = noise_schedule::sigmas(&self.alpha_products);
        let (times, sigmas): (Vec<f64>, Vec<f64>) = if settings.karras {
            let ends = table.last().zip(table.first());
            let (largest, smallest) = ends.map_or((1.0, 1.0), |(last, first)| (f64::from(*last), f64::from(*first)));
            let sigmas = times::karras(largest, smallest, steps);
            let times = sigmas.iter().map(|sigma| times::time_of_sigma(&table, *sigma));
            let whole = |time: f64| if settings.rounds_karras_times { time.round_ties_even() } else { time.trunc() };
            (times.map(whole).collect(), sigmas)
        } else {
            let times = self.dpm_solver_times(settings, steps)?;
            let sigmas = times.iter().map(|time| times::interpolate(&table, *time)).collect();
            (times, sigmas)
        };
        let after_last = final_sigma(settings.final_sigma, &table);
        let moments = sigma_moments(&times, &sigmas, after_last, steps)?;
        let first_order_last = settings.euler_at_final
            || settings.final_sigma == FinalSigma::Zero
            || (settings.lower_order_final && moments.len() < STABLE_STEPS);
        let order = match (settings.second_order, settings.heun) {
            (false, _) => DpmOrder::First,
            (true, false) => DpmOrder::SecondMidpoint,
            (true, true) => DpmOrder::SecondHeun,
        };
        let rule = Rule::DpmSolver { prediction: settings.prediction, order, first_order_last, history: None };
        Ok(SamplingPlan::new(moments, rule))
    }

    /// Spaces out one more moment than there are steps, and drops the last, where the run has
    /// ended.
    fn dpm_solver_times(&self, settings: &DpmSolver, steps: usize) -> Result<Vec<f64>, SamplerError> {
        let train_steps = self.alpha_products.len();
        let available = match settings.lambda_min {
            Some(lambda_min) => noise_schedule::steps_above(&self.alpha_products, lambda_min),
            None => train_steps,
        };
        if available == 0 {
            return wrong("lambda_min_clipped", format!("{:?}", settings.lambda_min), "one that leaves training steps");
        }
        if steps >= available && settings.spacing != Spacing::Trailing {
            return wrong("steps", steps.to_string(), "fewer than the training steps in use");
        }
        let times: Vec<f64> = match settings.spacing {
            Spacing::Linspace => times::evenly(0.0, (available - 1) as f64, steps + 1)
                .into_iter()
                .skip(1)
                .rev()
                .map(f64::round_ties_even)
                .collect(),
            Spacing::Leading => times::leading(1, steps, available / (steps + 1), settings.steps_offset),
            Spacing::Trailing => times::trailing(available, train_steps as f64 / steps as f64),
        };
        self.within_training(&times)?;
        Ok(times)
    }

    fn alpha_product(&self, time: usize) -> Result<f32, SamplerError> {
        self.alpha_products.get(time).copied().ok_or_else(|| beyond_training(time as f64))
    }

    fn within_training(&self, times: &[f64]) -> Result<(), SamplerError> {
        match times.iter().find(|time| **time > (self.alpha_products.len() - 1) as f64) {
            Some(time) => Err(beyond_training(*time)),
            None => Ok(()),
        }
    }
}

fn flow_match_euler(
    settings: &FlowMatchEuler,
    steps: usize,
    options: PlanOptions,
) -> Result<SamplingPlan, SamplerError> {
    let scale = settings.train_steps as f64;
    let shift = |sigma: f64| match settings.shift {
        TimeShift::Fixed(shift) => Ok(shift * sigma / (1.0 + (shift - 1.0) * sigma)),
        TimeShift::ByImage { base_shift, max_shift, base_length, max_length, exponential } => {
            let Some(length) = options.image_seq_len else {
                let expected = "false, or a plan made with the image's sequence length";
                return wrong("use_dynamic_shifting", "true".into(), expected);
            };
            let slope = (max_shift - base_shift) / (max_length - base_length);
            let mu = length as f64 * slope + (base_shift - slope * base_length);
            let shift = if exponential { mu.exp() } else { mu };
            Ok(shift / (shift + (1.0 / sigma - 1.0)))
        }
    };
    // diffusers shifts the training's sigmas when they are fixed, and then those of the run once
    // more.
    let smallest = match settings.shift {
        TimeShift::Fixed(_) => shift(1.0 / scale)?,
        TimeShift::ByImage { .. } => 1.0 / scale,
    };
    let last = if options.even_flow_sigmas { 1.0 / steps as f64 } else { smallest };
    let mut sigmas = times::evenly(1.0, last, steps).into_iter().map(shift).collect::<Result<Vec<f64>, _>>()?;
    if let (true, Some(&largest), Some(&smallest)) = (settings.karras, sigmas.first(), sigmas.last()) {
        sigmas = times::karras(largest, smallest, steps);
    }
    let times: Vec<f64> = sigmas.iter().map(|sigma| sigma * scale).collect();
    Ok(SamplingPlan::new(sigma_moments(&times, &sigmas, 0.0, steps)?, Rule::FlowMatchEuler))
}

/// Combines times and sigmas. A constant or rising noise level would divide by zero, so it is an
/// error. Only the last step may stay at its level: a run can end at the level where it already is.
fn sigma_moments(times: &[f64], sigmas: &[f64], after_last: f32, steps: usize) -> Result<Vec<Moment>, SamplerError> {
    let mut moments: Vec<Moment> = times
        .iter()
        .zip(sigmas)
        .map(|(time, sigma)| Moment { timestep: *time as f32, level: *sigma as f32, next_level: after_last })
        .collect();
    let next_levels: Vec<f32> = moments.iter().skip(1).map(|moment| moment.level).collect();
    for (moment, next) in moments.iter_mut().zip(next_levels) {
        if !(next < moment.level && next > 0.0) {
            return wrong("steps", steps.to_string(), "fewer, at noise levels that fall from step to step");
        }
        moment.next_level = next;
    }
    match moments.last() {
        Some(last) if !(last.next_level <= last.level && last.level > 0.0) => wrong(
            "final_sigmas_type",
            "\"sigma_min\"".into(),
            "zero where the last step is below the training's sigmas",
        ),
        _ => Ok(moments),
    }
}

fn final_sigma(kind: FinalSigma, table: &[f32]) -> f32 {
    match kind {
        FinalSigma::Zero => 0.0,
        FinalSigma::Smallest => table.first().copied().unwrap_or(0.0),
    }
}

/// Returns an error if the model predicts noise at a moment of pure noise, where the noise says
/// nothing about the sample.
fn signal_is_left(moments: &[Moment], prediction: Prediction) -> Result<(), SamplerError> {
    if prediction == Prediction::Epsilon && moments.iter().any(|moment| moment.level == 0.0) {
        let expected = "v_prediction or sample at a timestep of pure noise (`rescale_betas_zero_snr`)";
        return wrong("prediction_type", format!("{:?}", prediction.name()), expected);
    }
    Ok(())
}

fn beyond_training(time: f64) -> SamplerError {
    SamplerError::Setting {
        setting: "steps_offset",
        found: format!("such that timestep {time} is reached"),
        expected: "one that keeps all timesteps below `num_train_timesteps`",
    }
}

fn wrong<T>(setting: &'static str, found: String, expected: &'static str) -> Result<T, SamplerError> {
    Err(SamplerError::Setting { setting, found, expected })
}

impl SamplingPlan {
    fn new(moments: Vec<Moment>, rule: Rule) -> Self {
        Self { moments, rule, next: 0 }
    }

    /// Returns the number of steps to take: at least one, and with a strength below 1 fewer than
    /// were requested.
    pub fn steps(&self) -> usize {
        self.moments.len()
    }

    /// Returns the time that the model is given in this step, in training steps from 0 (the least
    /// noise); for flow matching sigma times `num_train_timesteps`. Whole numbers, except for flow
    /// matching and for Euler with `linspace` or Karras sigmas.
    pub fn timestep(&self, step: usize) -> Result<f32, SamplerError> {
        Ok(self.moment(step)?.timestep)
    }

    /// Returns the model's input in this step for this sample: of the sample's length, and for the
    /// Euler samplers scaled to a variance of about 1 (diffusers' `scale_model_input`).
    pub fn scale_input(&self, step: usize, sample: &[f32]) -> Result<Vec<f32>, SamplerError> {
        let sigma = self.moment(step)?.level;
        Ok(match self.rule {
            Rule::Euler { .. } | Rule::EulerAncestral { .. } => {
                let scale = (sigma * sigma + 1.0).sqrt();
                sample.iter().map(|x| x / scale).collect()
            }
            Rule::Ddim { .. } | Rule::DpmSolver { .. } | Rule::Lcm { .. } | Rule::FlowMatchEuler => sample.to_vec(),
        })
    }

    /// Returns true if this step adds noise of its own: Euler ancestral and LCM, except in the last
    /// step.
    pub fn needs_noise(&self, step: usize) -> bool {
        match self.rule {
            Rule::EulerAncestral { .. } | Rule::Lcm { .. } => step + 1 < self.moments.len(),
            Rule::Ddim { .. } | Rule::Euler { .. } | Rule::DpmSolver { .. } | Rule::FlowMatchEuler => false,
        }
    }

    /// Moves `sample` from the noise level of this step to that of the next, given the model's
    /// output for it; after the last step it is the clean sample. `noise` is standard normal, and
    /// used if `needs_noise` is true. All slices have the sample's length. Returns an error for a
    /// step out of order, a wrong length or missing noise; the plan and the sample are then as
    /// before.
    pub fn step(
        &mut self,
        step: usize,
        sample: &mut [f32],
        model_output: &[f32],
        noise: Option<&[f32]>,
    ) -> Result<(), SamplerError> {
        if step != self.next {
            return Err(self.out_of_order(step));
        }
        let moment = self.moment(step)?;
        same_length("model's output", model_output, sample)?;
        let noise = match noise {
            _ if !self.needs_noise(step) => &[],
            None => return Err(SamplerError::NoiseMissing { step }),
            Some(noise) => {
                same_length("noise", noise, sample)?;
                noise
            }
        };
        let last = step + 1 == self.moments.len();
        match &mut self.rule {
            Rule::Ddim { prediction, clip } => ddim_step(moment, *prediction, *clip, sample, model_output),
            Rule::Euler { prediction } => {
                euler_step(moment.level, moment.next_level, *prediction, sample, model_output);
            }
            Rule::EulerAncestral { prediction } => {
                euler_ancestral_step(moment, *prediction, sample, model_output, noise);
            }
            Rule::DpmSolver { prediction, order, first_order_last, history } => {
                let clean = clean_samples(moment.level, *prediction, sample, model_output);
                match history.as_ref().filter(|_| *order != DpmOrder::First && !(last && *first_order_last)) {
                    Some(before) => dpm_second_order_step(moment, *order, before, sample, &clean),
                    None => dpm_first_order_step(moment, sample, &clean),
                }
                *history = Some(DpmHistory { sigma: moment.level, clean });
            }
            Rule::Lcm { prediction, clip, timestep_scaling } => {
                let time = moment.timestep * *timestep_scaling;
                LcmStep { moment, time, prediction: *prediction, clip: *clip }.run(sample, model_output, noise);
            }
            Rule::FlowMatchEuler => {
                let stride = moment.next_level - moment.level;
                for (x, velocity) in sample.iter_mut().zip(model_output) {
                    *x += stride * velocity;
                }
            }
        }
        self.next += 1;
        Ok(())
    }

    /// Sets `sample` to `original` under standard normal `noise`, at the noise level of the plan's
    /// first step: the start of image-to-image (diffusers' `add_noise`, or `scale_noise` for flow
    /// matching). All slices have one length.
    pub fn add_noise(&self, original: &[f32], noise: &[f32], sample: &mut [f32]) -> Result<(), SamplerError> {
        same_length("original", original, sample)?;
        same_length("noise", noise, sample)?;
        let level = self.moment(0)?.level;
        let (signal_scale, noise_scale) = match self.rule {
            Rule::Ddim { .. } | Rule::Lcm { .. } => (level.sqrt(), (1.0 - level).sqrt()),
            Rule::Euler { .. } | Rule::EulerAncestral { .. } => (1.0, level),
            Rule::DpmSolver { .. } => signal_and_noise(level),
            Rule::FlowMatchEuler => (1.0 - level, level),
        };
        for ((x, original), noise) in sample.iter_mut().zip(original).zip(noise) {
            *x = signal_scale * original + noise_scale * noise;
        }
        Ok(())
    }

    fn moment(&self, step: usize) -> Result<Moment, SamplerError> {
        self.moments.get(step).copied().ok_or_else(|| self.out_of_order(step))
    }

    fn out_of_order(&self, step: usize) -> SamplerError {
        SamplerError::Step { step, next: self.next, steps: self.moments.len() }
    }
}

fn same_length(what: &'static str, slice: &[f32], sample: &[f32]) -> Result<(), SamplerError> {
    if slice.len() == sample.len() {
        return Ok(());
    }
    Err(SamplerError::Length { what, found: slice.len(), expected: sample.len() })
}

/// Returns the clean sample that the model's output implies. The noisy sample `x` is `signal *
/// clean + noise * epsilon`, and the squares of both factors add up to 1. Velocity: Salimans and
/// Ho, "Progressive Distillation", 2022.
fn clean(prediction: Prediction, signal: f32, noise: f32, x: f32, output: f32) -> f32 {
    match prediction {
        Prediction::Epsilon => (x - noise * output) / signal,
        Prediction::Sample => output,
        Prediction::Velocity => signal * x - noise * output,
    }
}

/// Song et al., "Denoising Diffusion Implicit Models", 2020, equation 12 without its random part.
fn ddim_step(moment: Moment, prediction: Prediction, clip: Option<f32>, sample: &mut [f32], outputs: &[f32]) {
    let (signal, noise) = (moment.level.sqrt(), (1.0 - moment.level).sqrt());
    let (next_signal, next_noise) = (moment.next_level.sqrt(), (1.0 - moment.next_level).sqrt());
    for (x, &output) in sample.iter_mut().zip(outputs) {
        let clean = clean(prediction, signal, noise, *x, output);
        // Not computed from the clipped clean sample: diffusers leaves the direction as the model
        // gave it.
        let epsilon = match prediction {
            Prediction::Epsilon => output,
            Prediction::Sample => (*x - signal * clean) / noise,
            Prediction::Velocity => signal * output + noise * *x,
        };
        *x = next_signal * clipped(clean, clip) + next_noise * epsilon;
    }
}

fn clipped(clean: f32, range: Option<f32>) -> f32 {
    range.map_or(clean, |range| clean.clamp(-range, range))
}

/// Moves from sigma to `next` along the straight line away from the clean sample (Karras et al.,
/// 2022, algorithm 1).
fn euler_step(sigma: f32, next: f32, prediction: Prediction, sample: &mut [f32], outputs: &[f32]) {
    let variance = sigma * sigma + 1.0;
    for (x, &output) in sample.iter_mut().zip(outputs) {
        let clean = match prediction {
            Prediction::Epsilon => *x - sigma * output,
            Prediction::Sample => output,
            Prediction::Velocity => output * (-sigma / variance.sqrt()) + *x / variance,
        };
        *x += (*x - clean) / sigma * (next - sigma);
    }
}

/// Takes an Euler step further down than the next sigma, and goes back up with fresh noise
/// (k-diffusion's `sample_euler_ancestral` with an eta of 1).
fn euler_ancestral_step(moment: Moment, prediction: Prediction, sample: &mut [f32], outputs: &[f32], noise: &[f32]) {
    let (variance, next_variance) = (moment.level * moment.level, moment.next_level * moment.next_level);
    let up = (next_variance * (variance - next_variance) / variance).sqrt();
    // Rounding can bring the difference below zero if the step is a long one.
    let down = (next_variance - up * up).max(0.0).sqrt();
    euler_step(moment.level, down, prediction, sample, outputs);
    for (x, noise) in sample.iter_mut().zip(noise) {
        *x += noise * up;
    }
}

/// Returns the factors of the signal and of the noise for a sigma. Their squares add up to 1.
fn signal_and_noise(sigma: f32) -> (f32, f32) {
    let signal = 1.0 / (sigma * sigma + 1.0).sqrt();
    (signal, sigma * signal)
}

fn clean_samples(sigma: f32, prediction: Prediction, sample: &[f32], outputs: &[f32]) -> Vec<f32> {
    let (signal, noise) = signal_and_noise(sigma);
    sample.iter().zip(outputs).map(|(x, output)| clean(prediction, signal, noise, *x, *output)).collect()
}

/// Returns half the logarithm of the signal-to-noise ratio, DPM-Solver's lambda; infinite without
/// noise.
fn lambda(sigma: f32) -> f32 {
    let (signal, noise) = signal_and_noise(sigma);
    signal.ln() - noise.ln()
}

/// Returns the factors of the sample and of the clean sample in a step. Lu et al., "DPM-Solver++",
/// 2022, equation 9 with k = 1.
fn dpm_factors(moment: Moment, stride: f32) -> (f32, f32) {
    let (_, noise) = signal_and_noise(moment.level);
    let (next_signal, next_noise) = signal_and_noise(moment.next_level);
    (next_noise / noise, -next_signal * (-stride).exp_m1())
}

fn dpm_first_order_step(moment: Moment, sample: &mut [f32], clean: &[f32]) {
    let (kept, gained) = dpm_factors(moment, lambda(moment.next_level) - lambda(moment.level));
    for (x, clean) in sample.iter_mut().zip(clean) {
        *x = kept * *x + gained * clean;
    }
}

/// DPM-Solver++(2M) (Lu et al., 2022, algorithm 2), with the slope of the clean sample taken from
/// the step before.
fn dpm_second_order_step(moment: Moment, order: DpmOrder, before: &DpmHistory, sample: &mut [f32], clean: &[f32]) {
    let now = lambda(moment.level);
    let stride = lambda(moment.next_level) - now;
    let slope = stride / (now - lambda(before.sigma));
    let (kept, gained) = dpm_factors(moment, stride);
    let gained_by_slope = if stride == 0.0 {
        // A run can end at the level where it already is; the Heun form has no value there, only a
        // limit.
        0.0
    } else if order == DpmOrder::SecondHeun {
        let (next_signal, _) = signal_and_noise(moment.next_level);
        next_signal * ((-stride).exp_m1() / stride + 1.0)
    } else {
        0.5 * gained
    };
    for ((x, clean), clean_before) in sample.iter_mut().zip(clean).zip(&before.clean) {
        *x = kept * *x + gained * clean + gained_by_slope * (slope * (clean - clean_before));
    }
}

/// A step of a consistency model.
struct LcmStep {
    moment: Moment,
    /// The timestep, scaled for the boundary condition.
    time: f32,
    prediction: Prediction,
    clip: Option<f32>,
}

impl LcmStep {
    /// Luo et al., "Latent Consistency Models", 2023: computes the clean sample by the boundary
    /// conditions of a consistency model at the scaled `time`, then adds noise up to the next
    /// level.
    fn run(self, sample: &mut [f32], outputs: &[f32], noise: &[f32]) {
        let Self { moment, time, prediction, clip } = self;
        let (signal, noise_now) = (moment.level.sqrt(), (1.0 - moment.level).sqrt());
        let (next_signal, next_noise) = (moment.next_level.sqrt(), (1.0 - moment.next_level).sqrt());
        let data_variance = LCM_SIGMA_DATA * LCM_SIGMA_DATA;
        let variance = time * time + data_variance;
        let (skip, out) = (data_variance / variance, time / variance.sqrt());
        for (x, &output) in sample.iter_mut().zip(outputs) {
            *x = out * clipped(clean(prediction, signal, noise_now, *x, output), clip) + skip * *x;
        }
        // The last step has no noise, so its sample stays the clean one.
        for (x, noise) in sample.iter_mut().zip(noise) {
            *x = next_signal * *x + next_noise * noise;
        }
    }
}

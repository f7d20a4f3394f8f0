//! Flow matching with Euler steps, for a model that predicts the clean sample: pure numbers, no
//! model.
//!
//! A noisy sample at time t is `x_t = (1 - t) * x0 + t * noise` (Lipman et al., "Flow Matching for
//! Generative Modeling", 2022; Liu et al., "Flow Straight and Fast", 2022). Its velocity is `(x_t -
//! x0) / t`, so the Euler step from t to s is `x_s = x0 + (s / t) * (x_t - x0)`, and the last step,
//! to 0, is the prediction itself.

use crate::diffusion::noise::gaussian;

/// Maximum number of steps. More is a mistake in the file: the built-in model is made for one or
/// two.
const STEPS_MAX: usize = 50;
/// Scale of the noise with which a repetition starts: enough to end elsewhere, little enough to
/// leave no noise in the light.
const REPETITION_NOISE: f32 = 0.1;

/// A sampler with Euler steps between fixed timesteps.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowMatchSampler {
    timesteps: Vec<f32>,
    initial_noise_scale: f32,
}

#[derive(Debug, thiserror::Error)]
pub enum SchedulerError {
    #[error("`{setting}` is {found}; {expected} is expected")]
    Setting { setting: &'static str, found: String, expected: &'static str },
}

/// The content of `scheduler_config.json`.
#[derive(serde::Deserialize)]
pub struct SchedulerConfig {
    #[serde(rename = "_class_name")]
    class_name: String,
    prediction_type: String,
    num_inference_steps: usize,
    timesteps: Option<Vec<f32>>,
    #[serde(default)]
    initial_noise_scale: f32,
}

impl FlowMatchSampler {
    /// Checks a configuration. Without `timesteps` the steps are even: 1, (n-1)/n, .. 1/n.
    pub fn from_config(config: SchedulerConfig) -> Result<Self, SchedulerError> {
        let wrong = |setting, found: String, expected| Err(SchedulerError::Setting { setting, found, expected });
        if config.class_name != "FlowMatchEulerScheduler" {
            return wrong("_class_name", config.class_name, "FlowMatchEulerScheduler");
        }
        if config.prediction_type != "sample" {
            return wrong("prediction_type", config.prediction_type, "sample");
        }
        let steps = config.num_inference_steps;
        if !(1..=STEPS_MAX).contains(&steps) {
            return wrong("num_inference_steps", steps.to_string(), "1 to 50");
        }
        let timesteps =
            config.timesteps.unwrap_or_else(|| (0..steps).map(|i| (steps - i) as f32 / steps as f32).collect());
        let falling = timesteps.windows(2).all(|pair| pair[0] > pair[1]);
        if timesteps.len() != steps || timesteps[0] != 1.0 || !falling || timesteps[steps - 1] <= 0.0 {
            return wrong("timesteps", format!("{timesteps:?}"), "one number a step, falling from 1.0 and above 0");
        }
        if !(0.0..=1.0).contains(&config.initial_noise_scale) {
            return wrong("initial_noise_scale", config.initial_noise_scale.to_string(), "0 to 1");
        }
        Ok(Self { timesteps, initial_noise_scale: config.initial_noise_scale })
    }

    /// Returns the times at which the model runs, falling from 1.
    pub fn timesteps(&self) -> &[f32] {
        &self.timesteps
    }

    pub fn initial_noise_scale(&self) -> f32 {
        self.initial_noise_scale
    }

    /// Returns the sample at t = 1: noise of the configured strength, or zeros. A repetition
    /// (`attempt` above 0) always has noise of its own, because from zeros it would end where the
    /// first attempt did. ChaCha8 gives the same numbers everywhere.
    pub fn start(&self, seed: u64, attempt: u32, length: usize) -> Vec<f32> {
        let scale =
            if attempt == 0 { self.initial_noise_scale } else { self.initial_noise_scale.max(REPETITION_NOISE) };
        if scale == 0.0 {
            return vec![0.0; length];
        }
        let mut noise = gaussian(seed, attempt);
        (0..length).map(|_| scale * noise()).collect()
    }

    /// Moves `sample` from timestep number `step` to the next one, given the model's prediction of
    /// the clean sample.
    pub fn step(&self, step: usize, sample: &mut [f32], clean: &[f32]) {
        let now = self.timesteps[step];
        let next = self.timesteps.get(step + 1).copied().unwrap_or(0.0);
        let kept = next / now;
        for (x, x0) in sample.iter_mut().zip(clean) {
            *x = x0 + kept * (*x - x0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(rest: &str) -> Result<FlowMatchSampler, SchedulerError> {
        let json = format!(r#"{{"_class_name": "FlowMatchEulerScheduler", "prediction_type": "sample", {rest}}}"#);
        FlowMatchSampler::from_config(serde_json::from_str(&json).unwrap())
    }

    #[test]
    fn timesteps_are_even_unless_given() {
        for (rest, expected) in [
            (r#""num_inference_steps": 1"#, vec![1.0]),
            (r#""num_inference_steps": 4"#, vec![1.0, 0.75, 0.5, 0.25]),
            (r#""num_inference_steps": 2, "timesteps": [1.0, 0.25]"#, vec![1.0, 0.25]),
        ] {
            assert_eq!(config(rest).unwrap().timesteps(), expected);
        }
    }

    #[test]
    fn a_wrong_setting_is_named() {
        for (rest, named) in [
            (r#""num_inference_steps": 0"#, "num_inference_steps"),
            (r#""num_inference_steps": 51"#, "num_inference_steps"),
            (r#""num_inference_steps": 2, "timesteps": [1.0]"#, "timesteps"),
            (r#""num_inference_steps": 2, "timesteps": [1.0, 1.0]"#, "timesteps"),
            (r#""num_inference_steps": 2, "timesteps": [0.9, 0.1]"#, "timesteps"),
            (r#""num_inference_steps": 2, "timesteps": [1.0, 0.0]"#, "timesteps"),
            (r#""num_inference_steps": 1, "initial_noise_scale": -0.1"#, "initial_noise_scale"),
        ] {
            assert!(config(rest).unwrap_err().to_string().contains(named), "{rest}");
        }
        let other = r#"{"_class_name": "DDIMScheduler", "prediction_type": "epsilon", "num_inference_steps": 1}"#;
        assert!(
            FlowMatchSampler::from_config(serde_json::from_str(other).unwrap())
                .unwrap_err()
                .to_string()
                .contains("DDIMScheduler")
        );
    }

    /// Three steps at 1, 0.6 and 0.2 with a different prediction at each; the expected numbers are
    /// computed by hand, from `x += (s - t) * (x - x0) / t`.
    #[test]
    fn steps_match_the_velocity_form() {
        let scheduler = config(r#""num_inference_steps": 3, "timesteps": [1.0, 0.6, 0.2]"#).unwrap();
        let mut sample = [1.0, -2.0, 0.5];
        let predictions = [[0.25, 0.5, -1.0], [0.5, -0.25, 0.125], [0.75, 0.0, -0.5]];
        let expected = [[0.7, -1.0, -0.1], [0.566_666_7, -0.5, 0.05], [0.75, 0.0, -0.5]];
        for step in 0..3 {
            scheduler.step(step, &mut sample, &predictions[step]);
            for (x, want) in sample.iter().zip(expected[step]) {
                assert!((x - want).abs() < 1e-6, "step {step}: {sample:?}");
            }
        }
    }

    #[test]
    fn a_perfect_model_ends_at_the_clean_sample_from_any_start() {
        for steps in [1, 2, 7, 50] {
            let scheduler = config(&format!(r#""num_inference_steps": {steps}, "initial_noise_scale": 1.0"#)).unwrap();
            let clean: Vec<f32> = (0..64).map(|i| (i as f32 * 0.7).sin()).collect();
            let mut sample = scheduler.start(9, 0, clean.len());
            for step in 0..steps {
                scheduler.step(step, &mut sample, &clean);
            }
            assert_eq!(sample, clean);
        }
    }

    #[test]
    fn noise_is_normal_scaled_and_the_same_for_a_seed() {
        let scheduler = config(r#""num_inference_steps": 1, "initial_noise_scale": 0.5"#).unwrap();
        let noise = scheduler.start(42, 0, 100_001);
        assert_eq!(noise, scheduler.start(42, 0, 100_001));
        assert_ne!(noise, scheduler.start(43, 0, 100_001));
        let mean = noise.iter().sum::<f32>() / noise.len() as f32;
        let variance = noise.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / noise.len() as f32;
        assert!(mean.abs() < 0.01 && (variance - 0.25).abs() < 0.01, "mean {mean}, variance {variance}");
        assert!(noise.iter().all(|x| x.is_finite()));
        let from_zeros = config(r#""num_inference_steps": 1"#).unwrap();
        assert_eq!(from_zeros.start(42, 0, 3), [0.0; 3]);
        assert_ne!(from_zeros.start(42, 1, 3), from_zeros.start(42, 2, 3), "a repetition has noise of its own");
    }
}

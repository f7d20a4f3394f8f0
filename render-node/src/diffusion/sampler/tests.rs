//! Compares the samplers with runs of diffusers' own (`models/reference_samplers.py` wrote them),
//! and checks their refusals.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::config::Prediction;
use super::sampler_error::SamplerError;
use super::{Moment, PlanOptions, Sampler, SamplingPlan, euler_ancestral_step};

/// Maximum deviation: absolute, and relative for numbers above 1. Most runs are within a fortieth
/// of it. With a zero terminal signal-to-noise ratio Euler starts at a sigma of 4096, beside which
/// f32 leaves little of a sample.
const TOLERANCE: f64 = 1e-4;

#[derive(serde::Deserialize)]
struct Reference {
    start: Vec<f32>,
    original: Vec<f32>,
    first_noise: Vec<f32>,
    noise: Vec<Vec<f32>>,
    cases: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    name: String,
    config: Value,
    steps: usize,
    strength: Option<f32>,
    #[serde(default)]
    options: Options,
    timesteps: Vec<f32>,
    initial_scale: f32,
    noised: Option<Vec<f32>>,
    at: Vec<usize>,
    inputs: Vec<Vec<f32>>,
    samples: Vec<Vec<f32>>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Options {
    image_seq_len: Option<usize>,
    even_flow_sigmas: bool,
    lcm_keeps_steps: bool,
}

impl Case {
    fn plan(&self) -> SamplingPlan {
        let Options { image_seq_len, even_flow_sigmas, lcm_keeps_steps } = self.options;
        let options = PlanOptions { image_seq_len, even_flow_sigmas, lcm_keeps_steps };
        Sampler::from_config(&self.config.to_string())
            .and_then(|sampler| sampler.plan_with(self.steps, self.strength, options))
            .unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// `models/reference_samplers.py` contains the same formula.
fn fake_model(input: &[f32], timestep: f32) -> Vec<f32> {
    let wave = |i: usize| (0.7 * i as f64 + 0.01 * f64::from(timestep)).sin();
    input.iter().enumerate().map(|(i, x)| (0.3 * f64::from(*x) + wave(i)) as f32).collect()
}

/// Compares two slices, and keeps the largest deviation.
struct Comparison<'a> {
    case: &'a str,
    worst: &'a mut f64,
}

impl Comparison<'_> {
    fn same(&mut self, what: &str, found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len(), "{}: {what}: {found:?}, not {expected:?}", self.case);
        for (found, expected) in found.iter().zip(expected) {
            let (found, expected) = (f64::from(*found), f64::from(*expected));
            let deviation = (found - expected).abs() / expected.abs().max(1.0);
            assert!(deviation <= TOLERANCE, "{}: {what}: {found}, not {expected}", self.case);
            *self.worst = self.worst.max(deviation);
        }
    }
}

#[test]
fn every_run_of_diffusers_is_reached() {
    let reference: Reference = serde_json::from_str(include_str!("../../../tests/fixtures/samplers.json")).unwrap();
    let mut worst: BTreeMap<String, f64> = BTreeMap::new();
    for case in &reference.cases {
        let worst = worst.entry(case.config["_class_name"].to_string()).or_default();
        let mut comparison = Comparison { case: &case.name, worst };
        let mut plan = case.plan();

        let timesteps: Vec<f32> = (0..plan.steps()).map(|step| plan.timestep(step).unwrap()).collect();
        comparison.same("timesteps", &timesteps, &case.timesteps);
        let mut sample: Vec<f32> = reference.start.iter().map(|x| x * case.initial_scale).collect();
        if let Some(noised) = &case.noised {
            plan.add_noise(&reference.original, &reference.first_noise, &mut sample).unwrap();
            comparison.same("noised", &sample, noised);
        }
        let (mut inputs, mut samples) = (case.inputs.iter(), case.samples.iter());
        for (step, timestep) in timesteps.into_iter().enumerate() {
            let recorded = case.at.contains(&step);
            let input = plan.scale_input(step, &sample).unwrap();
            if recorded && let Some(expected) = inputs.next() {
                comparison.same(&format!("input of step {step}"), &input, expected);
            }
            let output = fake_model(&input, timestep);
            let noise = plan.needs_noise(step).then(|| reference.noise[step].as_slice());
            plan.step(step, &mut sample, &output, noise).unwrap();
            if recorded && let Some(expected) = samples.next() {
                comparison.same(&format!("sample after step {step}"), &sample, expected);
            }
        }
        assert!(inputs.next().is_none() && samples.next().is_none(), "{}: not all was compared", case.name);
    }
    assert!(reference.cases.len() > 200 && worst.len() == 6, "{} runs of {worst:?}", reference.cases.len());
    println!("largest deviations: {worst:?}");
}

fn sampler(class: &str, settings: Value) -> Result<Sampler, SamplerError> {
    let mut config = json!({ "_class_name": class });
    config.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    Sampler::from_config(&config.to_string())
}

const ALL: [&str; 6] = [
    "DDIMScheduler",
    "EulerDiscreteScheduler",
    "EulerAncestralDiscreteScheduler",
    "DPMSolverMultistepScheduler",
    "LCMScheduler",
    "FlowMatchEulerDiscreteScheduler",
];
const WITH_BETAS: &[&str] = &[ALL[0], ALL[1], ALL[2], ALL[3], ALL[4]];
const DDIM: &[&str] = &[ALL[0]];
const EULER: &[&str] = &[ALL[1]];
const ANCESTRAL: &[&str] = &[ALL[2]];
const DPM_SOLVER: &[&str] = &[ALL[3]];
const LCM: &[&str] = &[ALL[4]];
const FLOW_MATCH: &[&str] = &[ALL[5]];

#[test]
fn a_wrong_or_uncovered_setting_is_named_with_its_value() {
    let spaced = &[DDIM, EULER, ANCESTRAL, DPM_SOLVER].concat();
    let cases: &[(&[&str], &str, Value)] = &[
        (&ALL, "num_train_timesteps", json!(1)),
        (&ALL, "num_train_timesteps", json!(100_001)),
        (&ALL, "num_train_timesteps", json!(-5)),
        (&ALL, "num_train_timesteps", json!("many")),
        (WITH_BETAS, "beta_schedule", json!("sigmoid")),
        (WITH_BETAS, "beta_schedule", json!(7)),
        (WITH_BETAS, "beta_start", json!(0.0)),
        (WITH_BETAS, "beta_start", json!(1.5)),
        (WITH_BETAS, "beta_end", json!(1.0)),
        (WITH_BETAS, "trained_betas", json!("a.npy")),
        (WITH_BETAS, "prediction_type", json!("flow_prediction")),
        (WITH_BETAS, "rescale_betas_zero_snr", json!(1)),
        (ANCESTRAL, "prediction_type", json!("sample")),
        (spaced, "timestep_spacing", json!("cosine")),
        (spaced, "steps_offset", json!(-1)),
        (spaced, "steps_offset", json!(0.5)),
        (&[ALL[0], ALL[3], ALL[4]], "thresholding", json!(true)),
        (&[ALL[0], ALL[4]], "clip_sample", json!("yes")),
        (&[ALL[0], ALL[4]], "clip_sample_range", json!(-1.0)),
        (DDIM, "set_alpha_to_one", json!(0)),
        (&[ALL[1], ALL[3]], "final_sigmas_type", json!("one")),
        (&[ALL[1], ALL[3], ALL[5]], "use_karras_sigmas", json!("true")),
        (&[ALL[1], ALL[3], ALL[5]], "use_exponential_sigmas", json!(true)),
        (&[ALL[1], ALL[3], ALL[5]], "use_beta_sigmas", json!(true)),
        (EULER, "interpolation_type", json!("log_linear")),
        (EULER, "timestep_type", json!("continuous")),
        (EULER, "sigma_min", json!(0.0)),
        (EULER, "sigma_max", json!("large")),
        (DPM_SOLVER, "algorithm_type", json!("sde-dpmsolver++")),
        (DPM_SOLVER, "algorithm_type", json!("dpmsolver")),
        (DPM_SOLVER, "algorithm_type", json!("deis")),
        (DPM_SOLVER, "solver_type", json!("bh2")),
        (DPM_SOLVER, "solver_order", json!(3)),
        (DPM_SOLVER, "variance_type", json!("learned_range")),
        (DPM_SOLVER, "use_lu_lambdas", json!(true)),
        (DPM_SOLVER, "use_flow_sigmas", json!(true)),
        (DPM_SOLVER, "use_dynamic_shifting", json!(true)),
        (DPM_SOLVER, "lambda_min_clipped", json!("low")),
        (LCM, "original_inference_steps", json!(0)),
        (LCM, "original_inference_steps", json!(1001)),
        (LCM, "timestep_scaling", json!(0.0)),
        (FLOW_MATCH, "shift", json!(0.0)),
        (FLOW_MATCH, "invert_sigmas", json!(true)),
        (FLOW_MATCH, "stochastic_sampling", json!(true)),
        (FLOW_MATCH, "shift_terminal", json!(0.02)),
        (FLOW_MATCH, "time_shift_type", json!("quadratic")),
    ];
    for (classes, setting, value) in cases {
        for class in *classes {
            let refused = sampler(class, json!({ *setting: value }));
            let message = refused.expect_err(&format!("{class} took {setting}: {value}")).to_string();
            assert!(message.contains(&format!("`{setting}` is {value};")), "{class} {setting} {value}: {message}");
        }
    }
}

#[test]
fn what_is_wrong_only_together_is_refused() {
    let cases: &[(&[&str], &str, Value)] = &[
        (WITH_BETAS, "beta_end", json!({"beta_end": 0.00001})),
        (FLOW_MATCH, "max_image_seq_len", json!({"use_dynamic_shifting": true, "max_image_seq_len": 256})),
        (WITH_BETAS, "trained_betas", json!({"num_train_timesteps": 3, "trained_betas": [0.1, 0.2]})),
        (WITH_BETAS, "trained_betas", json!({"num_train_timesteps": 2, "trained_betas": [0.1, 1.0]})),
        (WITH_BETAS, "trained_betas", json!({"num_train_timesteps": 2, "trained_betas": [0.1, null]})),
        // No signal is left long before the last step.
        (WITH_BETAS, "beta_schedule", json!({"beta_start": 0.5, "beta_end": 0.9})),
        (WITH_BETAS, "beta_schedule", json!({"num_train_timesteps": 100_000})),
        // Such a small beta is lost beside 1 in f32.
        (WITH_BETAS, "beta_schedule", json!({"beta_start": 1e-12, "beta_schedule": "linear"})),
    ];
    for (classes, setting, settings) in cases {
        for class in *classes {
            let message = sampler(class, settings.clone()).expect_err(class).to_string();
            assert!(message.starts_with(&format!("`{setting}` is ")), "{class} {settings}: {message}");
        }
    }
}

#[test]
fn what_is_no_configuration_is_refused() {
    for json in ["", "[]", "7", r#"{"_class_name": "DDIMScheduler","#] {
        assert!(matches!(Sampler::from_config(json), Err(SamplerError::Json(_))), "{json}");
    }
    for (json, named) in [
        ("{}", r#"`_class_name` is "";"#),
        (r#"{"_class_name": "PNDMScheduler"}"#, r#"`_class_name` is "PNDMScheduler";"#),
        (r#"{"_class_name": ["DDIMScheduler"]}"#, r#"`_class_name` is ["DDIMScheduler"];"#),
        (r#"{"_class_name": "DDIMScheduler", "beta_start": Infinity}"#, "JSON"),
    ] {
        let message = Sampler::from_config(json).unwrap_err().to_string();
        assert!(message.contains(named), "{json}: {message}");
    }
}

#[test]
fn leftovers_of_other_classes_are_passed_over() {
    let leftovers = json!({
        "_diffusers_version": "0.8.0", "skip_prk_steps": true, "thresholding": true, "use_beta_sigmas": true,
        "trained_betas": null, "clip_sample": "perhaps",
    });
    assert!(sampler(ALL[2], leftovers).is_ok());
}

#[test]
fn the_infinity_that_python_writes_is_the_default() {
    let written =
        r#"{"_class_name": "DPMSolverMultistepScheduler", "lambda_min_clipped" :  -Infinity, "solver_order": 2}"#;
    let plan = Sampler::from_config(written).unwrap().plan(20, None).unwrap();
    let default = sampler(ALL[3], json!({})).unwrap().plan(20, None).unwrap();
    assert_eq!(plan.moments, default.moments);
}

/// The classes, their settings, the plan's arguments, and how the refusal begins.
type RefusedPlan = (&'static [&'static str], Value, usize, Option<f32>, &'static str);

#[test]
fn a_plan_that_cannot_be_is_refused() {
    let cases: &[RefusedPlan] = &[
        (&ALL, json!({}), 0, None, "`steps` is 0;"),
        (&ALL, json!({}), 1001, None, "`steps` is 1001;"),
        (&ALL, json!({}), 20, Some(1.01), "`strength` is 1.01;"),
        (&ALL, json!({}), 20, Some(-0.1), "`strength` is -0.1;"),
        (&ALL, json!({}), 20, Some(f32::NAN), "`strength` is NaN;"),
        (&ALL, json!({}), 20, Some(0.0), "`strength` is 0;"),
        (WITH_BETAS, json!({}), 20, Some(0.04), "`strength` is 0.04;"),
        (LCM, json!({}), 51, None, "`steps` is 51;"),
        (DPM_SOLVER, json!({}), 1000, None, "`steps` is 1000;"),
        (DPM_SOLVER, json!({"lambda_min_clipped": 20.0}), 10, None, "`lambda_min_clipped` is "),
        (DDIM, json!({"steps_offset": 1}), 1000, None, "`steps_offset` is such that timestep 1000 is reached;"),
        (EULER, json!({"steps_offset": 990, "timestep_spacing": "leading"}), 20, None, "`steps_offset` is "),
        (ANCESTRAL, json!({"steps_offset": 990, "timestep_spacing": "leading"}), 20, None, "`steps_offset` is "),
        (DPM_SOLVER, json!({"steps_offset": 990, "timestep_spacing": "leading"}), 20, None, "`steps_offset` is "),
        (EULER, json!({"use_karras_sigmas": true, "sigma_max": 0.001}), 20, None, "`sigma_min` is "),
        (
            EULER,
            json!({"use_karras_sigmas": true, "sigma_min": 0.001, "final_sigmas_type": "sigma_min"}),
            20,
            None,
            "`final_sigmas_type` is \"sigma_min\";",
        ),
        (
            DDIM,
            json!({"rescale_betas_zero_snr": true, "timestep_spacing": "trailing"}),
            20,
            None,
            "`prediction_type` is \"epsilon\";",
        ),
        (LCM, json!({"rescale_betas_zero_snr": true}), 4, None, "`prediction_type` is \"epsilon\";"),
        (FLOW_MATCH, json!({"use_dynamic_shifting": true}), 20, None, "`use_dynamic_shifting` is true;"),
        (FLOW_MATCH, json!({"shift": 1e9}), 20, None, "`steps` is 20;"),
    ];
    for (classes, settings, steps, strength, expected) in cases {
        for class in *classes {
            let refused = sampler(class, settings.clone()).unwrap().plan(*steps, *strength);
            let message = refused.expect_err(&format!("{class} {settings} {expected}")).to_string();
            assert!(message.starts_with(expected), "{class} {settings}: {message}, not {expected}");
        }
    }
    let keeping = PlanOptions { lcm_keeps_steps: true, ..PlanOptions::default() };
    let message = sampler(ALL[4], json!({})).unwrap().plan_with(6, Some(0.1), keeping).unwrap_err().to_string();
    assert!(message.starts_with("`steps` is 6;"), "{message}");
}

/// No number of steps makes a plan that is empty, has another number of steps, or divides by zero
/// on the way.
#[test]
fn a_plan_of_any_number_of_steps_is_refused_or_ends_in_numbers() {
    for class in ALL {
        for spacing in ["leading", "linspace", "trailing"] {
            for karras in [false, true] {
                for steps in (1..=1000).step_by(9).chain([61, 999, 1000]) {
                    let settings = json!({"timestep_spacing": spacing, "use_karras_sigmas": karras});
                    let Ok(mut plan) = sampler(class, settings).unwrap().plan(steps, None) else {
                        // LCM has no more steps than its distillation, DPM-Solver needs one to
                        // spare, and Karras sigmas come to lie closer than f32 can tell.
                        assert!(steps > 50, "{class} {spacing} {karras} {steps}");
                        continue;
                    };
                    assert_eq!(plan.steps(), steps, "{class} {spacing} {karras}");
                    let mut sample = [1.0, 0.1];
                    for step in 0..steps {
                        assert!(plan.timestep(step).unwrap() >= 0.0);
                        let input = plan.scale_input(step, &sample).unwrap();
                        plan.step(step, &mut sample, &fake_model(&input, 0.0), Some(&[0.5, -0.5])).unwrap();
                    }
                    assert!(sample.iter().all(|x| x.is_finite()), "{class} {spacing} {karras} {steps}: {sample:?}");
                }
            }
        }
    }
}

/// Almost all of the way down in one step: rounding makes the number under the root negative.
#[test]
fn a_long_ancestral_step_ends_in_a_number() {
    for (level, next_level) in [(1_178.586_7, 0.120_431_356), (658.847_5, 0.055_542_983)] {
        let mut sample = [level];
        let moment = Moment { timestep: 999.0, level, next_level };
        euler_ancestral_step(moment, Prediction::Epsilon, &mut sample, &[1.0], &[0.5]);
        assert!((sample[0] - 0.5 * next_level).abs() < 1e-3, "{level} {next_level}: {sample:?}");
    }
}

/// A run that ends at the noise level where it already is: diffusers divides zero by zero there.
#[test]
fn a_heun_step_of_no_length_changes_nothing() {
    let settings = json!({
        "solver_type": "heun", "use_karras_sigmas": true, "final_sigmas_type": "sigma_min", "lower_order_final": false,
    });
    let mut plan = sampler(ALL[3], settings).unwrap().plan(20, None).unwrap();
    let mut sample = [0.7, -0.3];
    for step in 0..19 {
        plan.step(step, &mut sample, &[0.1, -0.2], None).unwrap();
    }
    let before = sample;
    plan.step(19, &mut sample, &[0.1, -0.2], None).unwrap();
    assert!(sample.iter().zip(before).all(|(after, before)| (after - before).abs() < 1e-6), "{before:?} {sample:?}");
}

#[test]
fn a_step_out_of_order_or_of_another_length_changes_nothing() {
    for class in ALL {
        let mut plan = sampler(class, json!({})).unwrap().plan(4, None).unwrap();
        let mut sample = [1.0, -1.0];
        for wrong in [1, 4, usize::MAX] {
            let refused = plan.step(wrong, &mut sample, &[0.0; 2], Some(&[0.0; 2]));
            assert!(matches!(refused, Err(SamplerError::Step { step, next: 0, steps: 4 }) if step == wrong), "{class}");
        }
        let refused = plan.step(0, &mut sample, &[0.0; 3], Some(&[0.0; 2]));
        assert!(matches!(refused, Err(SamplerError::Length { found: 3, expected: 2, .. })), "{class}");
        if plan.needs_noise(0) {
            let refused = plan.step(0, &mut sample, &[0.0; 2], None);
            assert!(matches!(refused, Err(SamplerError::NoiseMissing { step: 0 })), "{class}");
            let refused = plan.step(0, &mut sample, &[0.0; 2], Some(&[0.0; 1]));
            assert!(matches!(refused, Err(SamplerError::Length { found: 1, expected: 2, .. })), "{class}");
        }
        for (original, noise) in [(vec![0.0], vec![0.0; 2]), (vec![0.0; 2], vec![])] {
            let refused = plan.add_noise(&original, &noise, &mut sample);
            assert!(matches!(refused, Err(SamplerError::Length { expected: 2, .. })), "{class}");
        }
        assert_eq!(sample, [1.0, -1.0], "{class}");
        for step in 0..4 {
            let noise = plan.needs_noise(step).then_some([0.0; 2]);
            plan.step(step, &mut sample, &[0.0; 2], noise.as_ref().map(|noise| noise.as_slice())).unwrap();
        }
        let refused = plan.step(4, &mut sample, &[0.0; 2], None);
        assert!(matches!(refused, Err(SamplerError::Step { step: 4, next: 4, steps: 4 })), "{class}");
        assert!(plan.timestep(4).is_err() && plan.scale_input(4, &sample).is_err() && !plan.needs_noise(4));
    }
}

#[test]
fn noise_is_needed_before_the_last_step_of_the_stochastic_ones() {
    for class in ALL {
        let plan = sampler(class, json!({})).unwrap().plan(3, None).unwrap();
        let stochastic = class == ALL[2] || class == ALL[4];
        assert_eq!([0, 1, 2, 3].map(|step| plan.needs_noise(step)), [stochastic, stochastic, false, false], "{class}");
    }
}

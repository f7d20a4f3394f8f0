//! Reasons why a configuration, a plan or a step of a sampler was refused.

/// The reason why a configuration, a plan or a step was refused.
#[derive(Debug, thiserror::Error)]
pub enum SamplerError {
    /// The file is not a JSON object.
    #[error("it is not the JSON of a scheduler: {0}")]
    Json(#[from] serde_json::Error),
    /// A setting of the file or of the plan has a value that is wrong or not covered.
    #[error("`{setting}` is {found}; {expected} is expected")]
    Setting {
        /// The setting's name in `scheduler_config.json`, or among the arguments.
        setting: &'static str,
        /// The setting's value there.
        found: String,
        /// The values it may have.
        expected: &'static str,
    },
    /// The slices given to a step are of different lengths.
    #[error("the {what} has {found} numbers and the sample {expected}")]
    Length {
        /// The slice in question.
        what: &'static str,
        /// The slice's length.
        found: usize,
        /// The length of the sample.
        expected: usize,
    },
    /// The plan is at another step, or has ended. Steps are taken in order, each once.
    #[error("step {step} was requested, but the plan of {steps} steps is at step {next}")]
    Step {
        /// The requested step, from 0.
        step: usize,
        /// The step to take next, from 0.
        next: usize,
        /// Number of steps of the plan.
        steps: usize,
    },
    /// The sampler is stochastic at this step and was given no noise.
    #[error("step {step} needs noise, but got none")]
    NoiseMissing {
        /// The step, from 0.
        step: usize,
    },
}

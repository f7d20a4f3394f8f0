//! Why a configuration, a plan or a step of a sampler was refused.

/// Why a configuration, a plan or a step was refused.
#[derive(Debug, thiserror::Error)]
pub enum SamplerError {
    /// The file is not a JSON object.
    #[error("it is not the JSON of a scheduler: {0}")]
    Json(#[from] serde_json::Error),
    /// A setting of the file or of the plan has a value that is wrong or not covered.
    #[error("`{setting}` is {found}; {expected} is expected")]
    Setting {
        /// Its name in `scheduler_config.json`, or among the arguments.
        setting: &'static str,
        /// Its value there.
        found: String,
        /// What it may be.
        expected: &'static str,
    },
    /// The slices given to a step are of different lengths.
    #[error("the {what} has {found} numbers and the sample {expected}")]
    Length {
        /// Which slice it is.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length of the sample.
        expected: usize,
    },
    /// The plan is at another step, or has ended. Steps are taken in order, each once.
    #[error("step {step} is asked for; the plan of {steps} steps is at step {next}")]
    Step {
        /// The one asked for, from 0.
        step: usize,
        /// The one to take next, from 0.
        next: usize,
        /// How many the plan has.
        steps: usize,
    },
    /// The sampler is stochastic at this step and was given nothing random.
    #[error("step {step} needs noise and was given none")]
    NoiseMissing {
        /// The step, from 0.
        step: usize,
    },
}

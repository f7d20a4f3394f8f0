//! Measures how long each stage of an image took.

use cyclorama_core::traces::Trace;
use cyclorama_core::wire::Stage;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Whole milliseconds by stage; each is also a span of the work's trace.
#[derive(Debug)]
pub struct Stages {
    since: Instant,
    trace: Trace,
    pub timings: BTreeMap<Stage, f64>,
}

impl Stages {
    /// Least duration that counts as waiting. Anything shorter is the time between two lines of
    /// code.
    const WAITING_MIN: Duration = Duration::from_millis(1);

    pub fn of(trace: &Trace) -> Self {
        Self { since: Instant::now(), trace: trace.clone(), timings: BTreeMap::new() }
    }

    /// Attributes the time since the last end (or the start) to `stage`. A stage that is entered
    /// again accumulates.
    pub fn end(&mut self, stage: Stage) {
        let now = Instant::now();
        let took = now - self.since;
        *self.timings.entry(stage).or_default() += took.as_millis() as f64;
        self.trace.past(stage.as_str(), took);
        self.since = now;
    }

    /// Same as [`Stages::end`], for a stage in which nothing is done. Ignores it if there was no
    /// wait.
    pub fn end_waiting(&mut self, stage: Stage) {
        if self.since.elapsed() >= Self::WAITING_MIN {
            self.end(stage);
        }
    }
}

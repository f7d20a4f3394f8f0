//! How long each stage of a picture took.

use cyclorama_core::traces::Trace;
use cyclorama_core::wire::Stage;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Whole milliseconds by stage, each also a span of the work's trace.
#[derive(Debug)]
pub struct Stages {
    since: Instant,
    trace: Trace,
    pub timings: BTreeMap<Stage, f64>,
}

impl Stages {
    /// Waiting below this is the time between two lines of code.
    const WAITING_MIN: Duration = Duration::from_millis(1);

    pub fn of(trace: &Trace) -> Self {
        Self { since: Instant::now(), trace: trace.clone(), timings: BTreeMap::new() }
    }

    /// Everything since the last end (or the start) was `stage`; one that is entered again goes on counting.
    pub fn end(&mut self, stage: Stage) {
        let now = Instant::now();
        let took = now - self.since;
        *self.timings.entry(stage).or_default() += took.as_millis() as f64;
        self.trace.past(stage.as_str(), took);
        self.since = now;
    }

    /// The same for a stage in which nothing is done, if there was any.
    pub fn end_waiting(&mut self, stage: Stage) {
        if self.since.elapsed() >= Self::WAITING_MIN {
            self.end(stage);
        }
    }
}

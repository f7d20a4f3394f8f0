//! How long each stage of a picture took.

use cyclorama_core::traces::Trace;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Milliseconds by stage, each also a span of the work's trace.
#[derive(Debug)]
pub struct Stages {
    since: Instant,
    trace: Trace,
    pub timings: serde_json::Map<String, Value>,
}

impl Stages {
    /// Waiting below this is the time between two lines of code.
    const WAITING_MIN: Duration = Duration::from_millis(1);

    pub fn of(trace: &Trace) -> Self {
        Self { since: Instant::now(), trace: trace.clone(), timings: serde_json::Map::new() }
    }

    /// Everything since the last end (or the start) was `stage`; one that is entered again goes on counting.
    pub fn end(&mut self, stage: &'static str) {
        let now = Instant::now();
        let before = self.timings.get(stage).and_then(Value::as_u64).unwrap_or(0);
        let took = now - self.since;
        self.timings.insert(stage.to_owned(), (before + took.as_millis() as u64).into());
        self.trace.past(stage, took);
        self.since = now;
    }

    /// The same for a stage in which nothing is done, if there was any.
    pub fn end_waiting(&mut self, stage: &'static str) {
        if self.since.elapsed() >= Self::WAITING_MIN {
            self.end(stage);
        }
    }
}

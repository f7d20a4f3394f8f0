//! Where jobs wait for a crew.

use crate::engine::batches::{Key, Waiting};
use crate::engine::engine_error::EngineError;
use crate::engine::order::{Order, Render};
use cyclorama_core::wire::Stage;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long a crew without work keeps the desk from the others.
pub const IDLE: Duration = Duration::from_millis(500);

/// How long a job waits for others to be rendered with it: enough for those of one lease to arrive, nothing beside a render.
const BATCH_DELAY: Duration = Duration::from_millis(50);

/// Hears the name of each stage and the share of the whole that is done (0 to 1); answers whether to go on.
pub type TaskWatch = Box<dyn Fn(Stage, f32) -> bool + Send + Sync>;

pub struct Work {
    pub task: Task,
    pub answer: oneshot::Sender<Result<Render, EngineError>>,
}

pub struct Task {
    pub order: Order,
    pub watch: TaskWatch,
}

impl Work {
    fn key(&self) -> Key {
        Key { pipeline: self.task.order.pipeline.clone(), view: self.task.order.view }
    }
}

/// Where jobs wait for a crew.
pub struct Desk {
    /// `None`: closed.
    pub works: Option<Receiver<Work>>,
    pub waiting: Waiting<Work>,
}

pub enum Errand {
    /// Jobs to run together.
    Batch(Vec<Work>),
    Nothing,
    /// No more will come.
    Closed,
}

impl Desk {
    /// The next jobs. Waits a moment for companions of the oldest one while there is room for them; `batch_max` is of a pipeline.
    pub fn next(&mut self, batch_max: impl Fn(&str) -> usize) -> Errand {
        let Some(works) = &self.works else { return Errand::Closed };
        let pause = if self.waiting.first().is_some() { Duration::ZERO } else { IDLE };
        match works.recv_timeout(pause) {
            Ok(work) => self.waiting.push(work.key(), work),
            Err(RecvTimeoutError::Timeout) => {}
            // What waits is given up: whoever asked is gone.
            Err(RecvTimeoutError::Disconnected) => {
                self.close();
                return Errand::Closed;
            }
        }
        let Some(first) = self.waiting.first() else { return Errand::Nothing };
        let max = batch_max(&first.pipeline);
        let until = Instant::now() + BATCH_DELAY;
        while self.waiting.companions() < max {
            let Ok(work) = works.recv_timeout(until.saturating_duration_since(Instant::now())) else { break };
            self.waiting.push(work.key(), work);
        }
        // All that there is to choose from.
        works.try_iter().for_each(|work| self.waiting.push(work.key(), work));
        Errand::Batch(self.waiting.take(max))
    }

    /// Nothing more is done; who waits is told.
    pub fn close(&mut self) {
        self.works = None;
        self.waiting = Waiting::default();
    }
}

//! The inbox, from which workers take the jobs that wait.

use crate::engine::batches::{Key, Waiting};
use crate::engine::engine_error::EngineError;
use crate::engine::order::{Render, RenderRequest};
use cyclorama_core::wire::Stage;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Time for which a worker without a job keeps the inbox locked against the others.
pub const IDLE: Duration = Duration::from_millis(500);

/// Time for which a job waits for others to be rendered with it: enough for those of one lease to
/// arrive, and negligible beside a render.
const BATCH_DELAY: Duration = Duration::from_millis(50);

/// Called with each stage and the ratio of the whole job that is done (0 to 1); returns true to
/// continue.
pub type TaskWatch = Box<dyn Fn(Stage, f32) -> bool + Send + Sync>;

/// A job in the inbox, and the channel for its result.
pub struct InboxJob {
    pub task: Task,
    pub answer: oneshot::Sender<Result<Render, EngineError>>,
}

/// A job without the channel for its result.
pub struct Task {
    pub order: RenderRequest,
    pub watch: TaskWatch,
}

impl InboxJob {
    fn key(&self) -> Key {
        Key { pipeline: self.task.order.pipeline.clone(), view: self.task.order.view }
    }
}

/// The inbox in which jobs wait for a worker.
pub struct Inbox {
    /// Receives the jobs from the engine's handles. `None` when the inbox is closed.
    pub works: Option<Receiver<InboxJob>>,
    /// Jobs that were received, and that no worker has taken.
    pub waiting: Waiting<InboxJob>,
}

/// The inbox's answer to a worker that is ready for the next jobs.
pub enum NextWork {
    /// Jobs to run together.
    Batch(Vec<InboxJob>),
    /// No job arrived within [`IDLE`].
    Nothing,
    /// The inbox is closed: there will be no more jobs.
    Closed,
}

impl Inbox {
    /// Returns the next jobs. Waits a moment for companions of the oldest job while there is room
    /// for them; `batch_max` returns the room for a pipeline.
    pub fn next(&mut self, batch_max: impl Fn(&str) -> usize) -> NextWork {
        let Some(works) = &self.works else { return NextWork::Closed };
        let pause = if self.waiting.first().is_some() { Duration::ZERO } else { IDLE };
        match works.recv_timeout(pause) {
            Ok(work) => self.waiting.push(work.key(), work),
            Err(RecvTimeoutError::Timeout) => {}
            // Every engine handle is gone, so nobody waits for the remaining jobs.
            Err(RecvTimeoutError::Disconnected) => {
                self.close();
                return NextWork::Closed;
            }
        }
        let Some(first) = self.waiting.first() else { return NextWork::Nothing };
        let max = batch_max(&first.pipeline);
        let until = Instant::now() + BATCH_DELAY;
        while self.waiting.companions() < max {
            let Ok(work) = works.recv_timeout(until.saturating_duration_since(Instant::now())) else { break };
            self.waiting.push(work.key(), work);
        }
        // Take in everything that has arrived, so that the batch is chosen from all of it.
        works.try_iter().for_each(|work| self.waiting.push(work.key(), work));
        NextWork::Batch(self.waiting.take(max))
    }

    /// Closes the inbox and drops the waiting jobs, which ends their channels: [`Engine::render`]
    /// then returns [`EngineError::Stopped`] for each.
    ///
    /// [`Engine::render`]: crate::engine::Engine::render
    pub fn close(&mut self) {
        self.works = None;
        self.waiting = Waiting::default();
    }
}

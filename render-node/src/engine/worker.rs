//! One worker, which is a thread of the engine: takes jobs from the inbox and renders them, and
//! recovers when memory runs out.

use crate::config::LocalConfig;
use crate::engine::engine_error::EngineError;
use crate::engine::inbox::{IDLE, Inbox, InboxJob, NextWork, Task};
use crate::engine::memory_recovery::{self, RecoveryStep};
use crate::engine::memory_watermark::Watermark;
use crate::engine::models::Models;
use crate::engine::order::{Render, WatchedRequest};
use crate::engine::render_error::RenderError;
use crate::engine::renderer::Renderer;
use crate::engine::self_test;
use crate::engine::start_error::StartError;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Pause between two attempts to restart an unhealthy engine.
const RECOVERY_PAUSE: Duration = Duration::from_secs(30);

/// The GPU device is lost, and only a restart of the process recovers it.
struct DeviceLost;

/// The state of one worker.
pub struct Worker {
    config: LocalConfig,
    models: Models,
    /// `None` if the last start failed.
    renderer: Option<Renderer>,
    watermark: Arc<Watermark>,
    /// True while the engine is healthy. All workers share it, and the engine's handles read it.
    healthy: watch::Sender<bool>,
    /// Time at which a worker last tried to restart the models. The lock is held during the
    /// attempt.
    last_restart: Arc<Mutex<Instant>>,
}

impl Worker {
    pub fn new(
        config: LocalConfig,
        renderer: Renderer,
        watermark: Arc<Watermark>,
        healthy: watch::Sender<bool>,
        last_restart: Arc<Mutex<Instant>>,
    ) -> Self {
        Self { config, models: renderer.models().clone(), renderer: Some(renderer), watermark, healthy, last_restart }
    }

    /// Serves jobs until the inbox is closed.
    #[expect(clippy::disallowed_methods, reason = "runs in a thread of its own")]
    pub fn run(mut self, inbox: &Mutex<Inbox>) {
        // A worker that panicked while it held the inbox has at most lost its own batch.
        let at_inbox = || inbox.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last_joined = Instant::now();
        loop {
            // A worker without a renderer takes no jobs while the engine is healthy, because
            // another worker can render them. While the engine is unhealthy, it takes jobs and
            // answers each with an error.
            if self.renderer.is_none() && *self.healthy.borrow() {
                if at_inbox().works.is_none() {
                    return;
                }
                if last_joined.elapsed() < RECOVERY_PAUSE {
                    thread::sleep(IDLE);
                    continue;
                }
                last_joined = Instant::now();
                let started = Renderer::beside(&self.config, self.models.clone());
                if !self.keep(started) {
                    continue;
                }
            }
            let is_crowded = Cell::new(false);
            let batch_max = |pipeline: &str| {
                is_crowded.set(self.watermark.is_crossed());
                match &self.renderer {
                    Some(renderer) if !is_crowded.get() => renderer.batch_max(pipeline),
                    _ => 1,
                }
            };
            let next_work = at_inbox().next(batch_max);
            match next_work {
                NextWork::Closed => return,
                NextWork::Nothing => self.recover(),
                NextWork::Batch(batch) => {
                    if is_crowded.get()
                        && let Some(renderer) = &mut self.renderer
                    {
                        renderer.free();
                    }
                    if self.serve(batch).is_err() {
                        tracing::error!("the graphics device was lost; the engine stops");
                        return at_inbox().close();
                    }
                }
            }
        }
    }

    /// Restarts an unhealthy engine, if the last attempt is long enough ago.
    fn recover(&mut self) {
        if *self.healthy.borrow() {
            return;
        }
        let last_restart = self.last_restart.clone();
        // If the lock is taken, another worker is restarting the engine.
        let Ok(mut last) = last_restart.try_lock() else { return };
        if last.elapsed() >= RECOVERY_PAUSE && !*self.healthy.borrow() {
            self.start_anew(&mut last);
        }
    }

    /// Runs the jobs and answers each as soon as it has ended.
    fn serve(&mut self, mut batch: Vec<InboxJob>) -> Result<(), DeviceLost> {
        if batch.len() > 1 && *self.healthy.borrow() {
            batch = self.together(batch)?;
        }
        for work in batch {
            let result = if *self.healthy.borrow() {
                self.render_with_recovery(&work.task)
            } else {
                Err(EngineError::Unhealthy)
            };
            let lost = matches!(&result, Err(error) if error.is_device_lost());
            // If the receiver is gone, nobody needs the image.
            let _ = work.answer.send(result);
            if lost {
                return Err(DeviceLost);
            }
        }
        Ok(())
    }

    /// Runs several jobs at once. Returns the jobs to try alone: those that ran out of memory,
    /// because together they may need too much where each alone does not, and after a panic all
    /// that had not ended, because only one of them is to blame.
    fn together(&mut self, batch: Vec<InboxJob>) -> Result<Vec<InboxJob>, DeviceLost> {
        let (tasks, mut answers): (Vec<_>, Vec<_>) =
            batch.into_iter().map(|work| (work.task, Some(work.answer))).unzip();
        let mut lost = false;
        let ended = self.render(&tasks, &mut |place, result| {
            if matches!(&result, Err(error) if error.is_out_of_memory()) {
                return;
            }
            lost |= matches!(&result, Err(error) if error.is_device_lost());
            if let Some(answer) = answers[place].take() {
                let _ = answer.send(result);
            }
        });
        if let Err(error) = ended {
            tracing::warn!(error = &error as &dyn std::error::Error, jobs = tasks.len(), "a batch broke off");
        }
        if lost {
            return Err(DeviceLost);
        }
        let left = tasks.into_iter().zip(answers).filter_map(|(task, answer)| Some(InboxJob { task, answer: answer? }));
        Ok(left.collect())
    }

    /// Runs a single job, with every recovery step if necessary. If none helps, marks the engine as
    /// unhealthy.
    fn render_with_recovery(&mut self, task: &Task) -> Result<Render, EngineError> {
        let attempt = |worker: &mut Self| {
            let mut answer = Err(EngineError::Stopped);
            worker.render(std::slice::from_ref(task), &mut |_, result| answer = result)?;
            answer
        };
        let result = memory_recovery::retry_with_recovery(self, attempt, EngineError::is_out_of_memory, Worker::take);
        if matches!(&result, Err(error) if error.is_out_of_memory()) && self.healthy.send_replace(false) {
            tracing::error!("out of memory even after a restart: jobs are refused until a self-test passes");
        }
        result
    }

    /// Renders jobs together. Calls `done` with the index and the result of each job that ends. If
    /// this returns an error, `done` was not called for the jobs that had not ended.
    fn render(
        &mut self,
        tasks: &[Task],
        done: &mut dyn FnMut(usize, Result<Render, EngineError>),
    ) -> Result<(), EngineError> {
        let renderer = self.renderer.as_mut().ok_or(EngineError::Unhealthy)?;
        let watched_requests =
            tasks.iter().map(|task| WatchedRequest { order: &task.order, watch: Box::new(&task.watch) });
        let watched_requests = watched_requests.collect();
        let mut done =
            |place: usize, result: Result<Render, RenderError>| done(place, result.map_err(EngineError::from));
        // A panic leaves no half-changed state behind that the next image would read: every render
        // writes all its targets, and the device reports its own failures as errors.
        catch_unwind(AssertUnwindSafe(|| renderer.render_batch(watched_requests, &mut done))).map_err(|panic| {
            let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            EngineError::Panicked(text.unwrap_or_else(|| "without words".to_owned()))
        })
    }

    /// Carries out a recovery step.
    fn take(&mut self, step: RecoveryStep) {
        tracing::warn!(?step, "out of memory");
        match (step, &mut self.renderer) {
            (RecoveryStep::Free, Some(renderer)) => renderer.free(),
            (RecoveryStep::Free, None) => {}
            (RecoveryStep::Restart, _) => {
                let last_restart = self.last_restart.clone();
                self.start_anew(&mut last_restart.lock().unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    /// Loads the models again, for all workers, and a renderer for this one. Marks the engine as
    /// healthy if the renderer passes the self-test. The old renderer and models are dropped first,
    /// because both would not fit.
    fn start_anew(&mut self, last: &mut Instant) {
        *last = Instant::now();
        drop(self.renderer.take());
        let started = self.models.load_again(&self.config).and_then(|()| {
            let mut renderer = Renderer::beside(&self.config, self.models.clone())?;
            self_test::run(&mut renderer)?;
            Ok(renderer)
        });
        if self.keep(started) {
            self.healthy.send_replace(true);
        }
    }

    /// Keeps a renderer that has started, or logs the error. Returns true if there is a renderer
    /// afterwards.
    fn keep(&mut self, started: Result<Renderer, StartError>) -> bool {
        match started {
            Ok(renderer) => self.renderer = Some(renderer),
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "the engine could not be restarted");
            }
        }
        self.renderer.is_some()
    }
}

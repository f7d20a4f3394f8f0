//! One thread of the engine: takes jobs from the desk and renders them, and does what can be done where memory runs out.

use crate::config::LocalConfig;
use crate::engine::desk::{Desk, Errand, IDLE, Task, Work};
use crate::engine::engine_error::EngineError;
use crate::engine::memory_ladder::{self, Rung};
use crate::engine::memory_watermark::Watermark;
use crate::engine::models::Models;
use crate::engine::order::{Commission, Render};
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

/// Between two attempts to start an unwell engine anew.
const RECOVERY_PAUSE: Duration = Duration::from_secs(30);

/// Only a new process is the cure.
struct DeviceLost;

/// What one thread works with.
pub struct Crew {
    config: LocalConfig,
    models: Models,
    /// `None` when the last start failed.
    renderer: Option<Renderer>,
    watermark: Arc<Watermark>,
    /// Of the whole engine.
    well: watch::Sender<bool>,
    /// When a crew last tried to start the models anew; held while it does.
    last_restart: Arc<Mutex<Instant>>,
}

impl Crew {
    pub fn new(
        config: LocalConfig,
        renderer: Renderer,
        watermark: Arc<Watermark>,
        well: watch::Sender<bool>,
        last_restart: Arc<Mutex<Instant>>,
    ) -> Self {
        Self { config, models: renderer.models().clone(), renderer: Some(renderer), watermark, well, last_restart }
    }

    #[expect(clippy::disallowed_methods, reason = "runs in a thread of its own")]
    pub fn run(mut self, desk: &Mutex<Desk>) {
        // A crew that panicked at the desk has at most lost its own errand.
        let at_desk = || desk.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last_joined = Instant::now();
        loop {
            // Jobs are for those who can render them. While nobody can, all are told so.
            if self.renderer.is_none() && *self.well.borrow() {
                if at_desk().works.is_none() {
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
            let errand = at_desk().next(batch_max);
            match errand {
                Errand::Closed => return,
                Errand::Nothing => self.recover(),
                Errand::Batch(batch) => {
                    if is_crowded.get()
                        && let Some(renderer) = &mut self.renderer
                    {
                        renderer.free();
                    }
                    if self.serve(batch).is_err() {
                        tracing::error!("the graphics device is lost: the engine stops");
                        return at_desk().close();
                    }
                }
            }
        }
    }

    /// Starts an unwell engine anew, when the last attempt is some time ago.
    fn recover(&mut self) {
        if *self.well.borrow() {
            return;
        }
        let last_restart = self.last_restart.clone();
        // Another crew is at it.
        let Ok(mut last) = last_restart.try_lock() else { return };
        if last.elapsed() >= RECOVERY_PAUSE && !*self.well.borrow() {
            self.start_anew(&mut last);
        }
    }

    /// Runs the jobs and answers each as soon as it has ended.
    fn serve(&mut self, mut batch: Vec<Work>) -> Result<(), DeviceLost> {
        if batch.len() > 1 && *self.well.borrow() {
            batch = self.together(batch)?;
        }
        for work in batch {
            let result = if *self.well.borrow() { self.climb(&work.task) } else { Err(EngineError::Unwell) };
            let lost = matches!(&result, Err(error) if error.is_device_lost());
            // Whoever asked may be gone; then nobody needs the picture.
            let _ = work.answer.send(result);
            if lost {
                return Err(DeviceLost);
            }
        }
        Ok(())
    }

    /// Runs several jobs at once. Returns those to be tried alone: the ones that memory ran out for, as together they may be too much where
    /// each alone is not, and after a panic all that had not ended, as only one of them is to blame.
    fn together(&mut self, batch: Vec<Work>) -> Result<Vec<Work>, DeviceLost> {
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
            tracing::warn!(error = &error as &dyn std::error::Error, jobs = tasks.len(), "a batch has broken off");
        }
        if lost {
            return Err(DeviceLost);
        }
        let left = tasks.into_iter().zip(answers).filter_map(|(task, answer)| Some(Work { task, answer: answer? }));
        Ok(left.collect())
    }

    /// A single job, with all that can be done about its memory.
    fn climb(&mut self, task: &Task) -> Result<Render, EngineError> {
        let attempt = |crew: &mut Self| {
            let mut answer = Err(EngineError::Stopped);
            crew.render(std::slice::from_ref(task), &mut |_, result| answer = result)?;
            answer
        };
        let result = memory_ladder::climb(self, attempt, EngineError::is_out_of_memory, Crew::take);
        if matches!(&result, Err(error) if error.is_out_of_memory()) && self.well.send_replace(false) {
            tracing::error!("out of memory, even after a new start: the engine takes no work until a self-test passes");
        }
        result
    }

    /// `done` hears of each task by its place; of those that have not ended when this fails, nothing.
    fn render(
        &mut self,
        tasks: &[Task],
        done: &mut dyn FnMut(usize, Result<Render, EngineError>),
    ) -> Result<(), EngineError> {
        let renderer = self.renderer.as_mut().ok_or(EngineError::Unwell)?;
        let commissions = tasks.iter().map(|task| Commission { order: &task.order, watch: Box::new(&task.watch) });
        let commissions = commissions.collect();
        let mut done =
            |place: usize, result: Result<Render, RenderError>| done(place, result.map_err(EngineError::from));
        // A panic leaves no half-changed state behind that the next picture would read: every render writes its
        // targets anew, and the device reports its own troubles as errors.
        catch_unwind(AssertUnwindSafe(|| renderer.render_batch(commissions, &mut done))).map_err(|panic| {
            let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            EngineError::Panicked(text.unwrap_or_else(|| "without words".to_owned()))
        })
    }

    fn take(&mut self, rung: Rung) {
        tracing::warn!(?rung, "out of memory");
        match (rung, &mut self.renderer) {
            (Rung::Free, Some(renderer)) => renderer.free(),
            (Rung::Free, None) => {}
            (Rung::Restart, _) => {
                let last_restart = self.last_restart.clone();
                self.start_anew(&mut last_restart.lock().unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    /// Loads the models anew, for all crews, and a renderer for this one; the engine is well if it passes the
    /// self-test. The old ones go first: both would not fit.
    fn start_anew(&mut self, last: &mut Instant) {
        *last = Instant::now();
        drop(self.renderer.take());
        let started = self.models.load_again(&self.config).and_then(|()| {
            let mut renderer = Renderer::beside(&self.config, self.models.clone())?;
            self_test::run(&mut renderer)?;
            Ok(renderer)
        });
        if self.keep(started) {
            self.well.send_replace(true);
        }
    }

    /// Whether there is a renderer.
    fn keep(&mut self, started: Result<Renderer, StartError>) -> bool {
        match started {
            Ok(renderer) => self.renderer = Some(renderer),
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "the engine cannot be started anew");
            }
        }
        self.renderer.is_some()
    }
}

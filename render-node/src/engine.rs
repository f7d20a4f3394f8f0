//! Who renders what the node holds. Work waits in a short queue and goes in batches (`batches`); what nobody wants any more when its turn comes
//! is skipped.
//!
//! A crew is a thread with a studio of its own. Several share the models, one of them running a model at a time: so the model is never idle
//! while pictures are drawn and painted, as long as there is work.
//!
//! Before the first job, and after each new start of the models, one crew renders a vehicle of its own (`self_test`). While memory is nearly full
//! (`memory_watermark`) jobs go one by one, and nothing is kept for later ones. What memory runs out for all the same is tried again, first alone and then with more of it (`memory_ladder`); when that is of no use, the engine is unwell until a new start passes
//! the self-test.

use crate::batches::{Key, Waiting};
use crate::config::LocalConfig;
use crate::gpu::Meter;
use crate::held_jobs::HeldJob;
use crate::memory_ladder::{self, Rung};
use crate::memory_watermark::Watermark;
use crate::models::Models;
use crate::renderer::{Commission, Order, Render, RenderError, Renderer, StartError};
use crate::self_test;
use cyclorama_core::wire;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// Between two attempts to start an unwell engine anew.
const RECOVERY_PAUSE: Duration = Duration::from_secs(30);

/// How long a crew without work keeps the desk from the others.
const IDLE: Duration = Duration::from_millis(500);

/// How long a job waits for others to be rendered with it: enough for those of one lease to arrive, nothing beside a render.
const BATCH_DELAY: Duration = Duration::from_millis(50);

/// Handle of the crews. They end when every handle is gone; the last one to go waits for that, as long as a render takes.
#[derive(Clone)]
pub struct Engine {
    /// Goes before `_thread`: no handle waits for crews that still wait for its work.
    queue: SyncSender<Work>,
    pipelines: Vec<wire::Pipeline>,
    device: wire::Device,
    meter: Arc<Meter>,
    well: watch::Receiver<bool>,
    _thread: Arc<EngineThread>,
}

/// Under which all crews work. Waited for: a process that ends while a crew still puts its device away runs exit handlers of a
/// driver that is just being unloaded.
struct EngineThread(Option<JoinHandle<()>>);

impl Drop for EngineThread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take()
            && thread.join().is_err()
        {
            tracing::error!("the engine's thread panicked");
        }
    }
}

struct Work {
    task: Task,
    answer: oneshot::Sender<Result<Render, EngineError>>,
}

struct Task {
    order: Order,
    job: Arc<HeldJob>,
}

impl Work {
    fn key(&self) -> Key {
        Key { pipeline: self.task.order.pipeline.clone(), view: self.task.order.view }
    }
}

/// Only a new process is the cure.
struct DeviceLost;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A defect: the thread goes on with the next job.
    #[error("the render panicked: {0}")]
    Panicked(String),
    #[error("the engine's queue is full")]
    Full,
    /// Memory ran out, and the engine has not started anew since.
    #[error("the engine is out of memory")]
    Unwell,
    #[error("the engine has stopped")]
    Stopped,
}

impl EngineError {
    pub fn is_out_of_memory(&self) -> bool {
        match self {
            EngineError::Render(error) => error.failure_kind() == Some(wire::FailureKind::OutOfMemory),
            EngineError::Unwell => true,
            EngineError::Panicked(_) | EngineError::Full | EngineError::Stopped => false,
        }
    }

    pub fn is_device_lost(&self) -> bool {
        matches!(self, EngineError::Render(error) if error.is_device_lost())
    }
}

impl Engine {
    /// Opens the device, loads the models and passes the self-test on the new thread, and waits until that is done. `queue_length` is the
    /// number of jobs the node holds at once, so the queue never refuses one that was leased.
    pub fn start(config: LocalConfig, queue_length: usize) -> Result<Self, StartError> {
        let (queue, works) = sync_channel(queue_length);
        let (started, wait) = sync_channel(1);
        let (well, seen) = watch::channel(true);
        let last_restart = Arc::new(Mutex::new(Instant::now()));
        let body = move || match gather_crews(&config, queue_length, &well, &last_restart) {
            Err(error) => drop(started.send(Err(error))),
            Ok((facts, crews)) => {
                let desk = Mutex::new(Desk { works: Some(works), waiting: Waiting::default() });
                if started.send(Ok(facts)).is_ok() {
                    thread::scope(|scope| {
                        for crew in crews {
                            scope.spawn(|| crew.run(&desk));
                        }
                    });
                }
            }
        };
        let spawned = thread::Builder::new().name("engine".to_owned()).spawn(body);
        let thread = EngineThread(Some(spawned.map_err(|source| StartError::Thread { source })?));
        let (pipelines, device, meter) = wait.recv().map_err(|_| StartError::Panicked)??;
        Ok(Self { queue, pipelines, device, meter, well: seen, _thread: Arc::new(thread) })
    }

    pub fn pipelines(&self) -> &[wire::Pipeline] {
        &self.pipelines
    }

    pub fn device(&self) -> &wire::Device {
        &self.device
    }

    pub fn meter(&self) -> Arc<Meter> {
        self.meter.clone()
    }

    /// False while it has run out of memory and cannot render.
    pub fn well(&self) -> watch::Receiver<bool> {
        self.well.clone()
    }

    pub async fn render(&self, order: Order, job: Arc<HeldJob>) -> Result<Render, EngineError> {
        let (answer, answered) = oneshot::channel();
        self.queue.try_send(Work { task: Task { order, job }, answer }).map_err(|e| match e {
            TrySendError::Full(_) => EngineError::Full,
            TrySendError::Disconnected(_) => EngineError::Stopped,
        })?;
        answered.await.map_err(|_| EngineError::Stopped)?
    }
}

/// What is told of the engine.
type Facts = (Vec<wire::Pipeline>, wire::Device, Arc<Meter>);

/// The crew whose renderer has passed the self-test, and others beside it.
fn gather_crews(
    config: &LocalConfig,
    queue_length: usize,
    well: &watch::Sender<bool>,
    last_restart: &Arc<Mutex<Instant>>,
) -> Result<(Facts, Vec<Crew>), StartError> {
    let renderer = self_test::passed(config)?;
    let facts = (renderer.pipelines(), renderer.device(), renderer.meter());
    let watermark = Arc::new(Watermark::new(config.memory_watermark, renderer.meter()));
    let crew = |renderer| Crew::new(config.clone(), renderer, watermark.clone(), well.clone(), last_restart.clone());
    let usual = if renderer.draws_on_cpu() { 1 } else { 2 };
    let studios = config.studios.unwrap_or(usual).min(queue_length as u32);
    let mut crews = Vec::new();
    for _ in 1..studios {
        match Renderer::beside(config, renderer.models().clone()) {
            Ok(beside) => crews.push(crew(beside)),
            Err(error) if config.studios.is_some() => return Err(error),
            // Nobody asked for it.
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "no second studio: drawing and the model take turns"
                );
                break;
            }
        }
    }
    crews.push(crew(renderer));
    Ok((facts, crews))
}

/// Where jobs wait for a crew.
struct Desk {
    /// `None`: closed.
    works: Option<Receiver<Work>>,
    waiting: Waiting<Work>,
}

enum Errand {
    /// Jobs to run together.
    Batch(Vec<Work>),
    Nothing,
    /// No more will come.
    Closed,
}

impl Desk {
    /// The next jobs. Waits a moment for companions of the oldest one while there is room for them; `batch_max` is of a pipeline.
    fn next(&mut self, batch_max: impl Fn(&str) -> usize) -> Errand {
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
    fn close(&mut self) {
        self.works = None;
        self.waiting = Waiting::default();
    }
}

/// What one thread works with.
struct Crew {
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
    fn new(
        config: LocalConfig,
        renderer: Renderer,
        watermark: Arc<Watermark>,
        well: watch::Sender<bool>,
        last_restart: Arc<Mutex<Instant>>,
    ) -> Self {
        Self { config, models: renderer.models().clone(), renderer: Some(renderer), watermark, well, last_restart }
    }

    #[expect(clippy::disallowed_methods, reason = "runs in a thread of its own")]
    fn run(mut self, desk: &Mutex<Desk>) {
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
        let commissions = tasks.iter().map(|task| {
            let watch = |stage: &'static str, share: f32| {
                task.job.reached(stage, share);
                task.job.is_wanted()
            };
            Commission { order: &task.order, watch: Box::new(watch) }
        });
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

    /// Loads the models anew, for all crews, and a renderer for this one; the engine is well if it passes the self-test. The old ones go first:
    /// both would not fit.
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

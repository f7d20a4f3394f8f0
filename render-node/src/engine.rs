//! The one thread that owns the device and the ONNX sessions. Work waits for it in a short queue; what nobody wants
//! any more when its turn comes is skipped.
//!
//! Before the first job, and after each new start of the renderer, it renders a vehicle of its own (`self_test`). A job that memory runs out
//! for is tried again with more of it (`memory_ladder`); when that is of no use, the engine is unwell until a new start passes the self-test.

use crate::config::LocalConfig;
use crate::gpu::Meter;
use crate::held_jobs::HeldJob;
use crate::memory_ladder::{self, Rung};
use crate::renderer::{Order, Render, RenderError, Renderer, StartError};
use crate::self_test;
use cyclorama_core::wire;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// Between two attempts to start an unwell engine anew.
const RECOVERY_PAUSE: Duration = Duration::from_secs(30);

/// Handle of the engine's thread; the thread ends when every handle is gone.
#[derive(Clone)]
pub struct Engine {
    queue: SyncSender<Work>,
    pipelines: Vec<wire::Pipeline>,
    device: wire::Device,
    meter: Arc<Meter>,
    well: watch::Receiver<bool>,
}

struct Work {
    order: Order,
    job: Arc<HeldJob>,
    answer: oneshot::Sender<Result<Render, EngineError>>,
}

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
}

impl Engine {
    /// Opens the device, loads the models and passes the self-test on the new thread, and waits until that is done. `queue_length` is the
    /// number of jobs the node holds at once, so the queue never refuses one that was leased.
    pub fn start(config: LocalConfig, queue_length: usize) -> Result<Self, StartError> {
        let (queue, works) = sync_channel(queue_length);
        let (started, wait) = sync_channel(1);
        let (well, seen) = watch::channel(true);
        let body = move || match self_test::passed(&config) {
            Err(error) => drop(started.send(Err(error))),
            Ok(renderer) => {
                let facts = (renderer.pipelines(), renderer.device(), renderer.meter());
                if started.send(Ok(facts)).is_ok() {
                    Crew { config, renderer: Some(renderer), well }.run(&works);
                }
            }
        };
        let spawned = thread::Builder::new().name("engine".to_owned()).spawn(body);
        spawned.map_err(|source| StartError::Thread { source })?;
        let (pipelines, device, meter) = wait.recv().map_err(|_| StartError::Panicked)??;
        Ok(Self { queue, pipelines, device, meter, well: seen })
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
        self.queue.try_send(Work { order, job, answer }).map_err(|e| match e {
            TrySendError::Full(_) => EngineError::Full,
            TrySendError::Disconnected(_) => EngineError::Stopped,
        })?;
        answered.await.map_err(|_| EngineError::Stopped)?
    }
}

/// What the thread works with.
struct Crew {
    config: LocalConfig,
    /// `None` when the last start failed.
    renderer: Option<Renderer>,
    well: watch::Sender<bool>,
}

impl Crew {
    fn run(mut self, works: &Receiver<Work>) {
        loop {
            let work = match works.recv_timeout(RECOVERY_PAUSE) {
                Ok(work) => work,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    if !*self.well.borrow() && self.start_anew() {
                        self.well.send_replace(true);
                    }
                    continue;
                }
            };
            let result = if *self.well.borrow() {
                memory_ladder::climb(
                    &mut self,
                    |crew| crew.render(&work.order, &work.job),
                    EngineError::is_out_of_memory,
                    Crew::take,
                )
            } else {
                Err(EngineError::Unwell)
            };
            let lost = matches!(&result, Err(EngineError::Render(error)) if error.is_device_lost());
            if matches!(&result, Err(error) if error.is_out_of_memory()) && self.well.send_replace(false) {
                tracing::error!(
                    "out of memory, even after a new start: the engine takes no work until a self-test passes"
                );
            }
            // Whoever asked may be gone; then nobody needs the picture.
            let _ = work.answer.send(result);
            if lost {
                tracing::error!("the graphics device is lost: the engine stops");
                return;
            }
        }
    }

    fn render(&mut self, order: &Order, job: &HeldJob) -> Result<Render, EngineError> {
        let renderer = self.renderer.as_mut().ok_or(EngineError::Unwell)?;
        let mut watch = |stage: &'static str, share: f32| {
            job.reached(stage, share);
            job.is_wanted()
        };
        // A panic leaves no half-changed state behind that the next picture would read: every render writes its
        // targets anew, and the device reports its own troubles as errors.
        let result = catch_unwind(AssertUnwindSafe(|| renderer.render(order, &mut watch)));
        match result {
            Ok(rendered) => rendered.map_err(EngineError::from),
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
                Err(EngineError::Panicked(text.unwrap_or_else(|| "without words".to_owned())))
            }
        }
    }

    fn take(&mut self, rung: Rung) {
        tracing::warn!(?rung, "out of memory");
        match (rung, &mut self.renderer) {
            (Rung::Free, Some(renderer)) => renderer.free(),
            (Rung::Free, None) => {}
            (Rung::Restart, _) => drop(self.start_anew()),
        }
    }

    /// Whether a new renderer is there and has passed the self-test. The old one goes first: both would not fit.
    fn start_anew(&mut self) -> bool {
        self.renderer = None;
        match self_test::passed(&self.config) {
            Ok(renderer) => self.renderer = Some(renderer),
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "the engine cannot be started anew");
            }
        }
        self.renderer.is_some()
    }
}

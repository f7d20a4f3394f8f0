//! The one thread that owns the device and the ONNX sessions. Work waits for it in a short queue; what nobody wants
//! any more when its turn comes is skipped.

use crate::config::LocalConfig;
use crate::held_jobs::HeldJob;
use crate::renderer::{Order, Render, RenderError, Renderer, StartError};
use cyclorama_core::wire;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use tokio::sync::oneshot;

/// Handle of the engine's thread; the thread ends when every handle is gone.
#[derive(Clone)]
pub struct Engine {
    queue: SyncSender<Work>,
    pipelines: Vec<wire::Pipeline>,
    device: wire::Device,
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
    #[error("the engine has stopped")]
    Stopped,
}

impl Engine {
    /// Opens the device and loads the models on the new thread, and waits until that is done. `queue_length` is the
    /// number of jobs the node holds at once, so the queue never refuses one that was leased.
    pub fn start(config: LocalConfig, queue_length: usize) -> Result<Self, StartError> {
        let (queue, works) = sync_channel(queue_length);
        let (started, wait) = sync_channel(1);
        let body = move || match Renderer::start(&config) {
            Err(error) => drop(started.send(Err(error))),
            Ok(renderer) => {
                let facts = (renderer.pipelines(), renderer.device());
                if started.send(Ok(facts)).is_ok() {
                    run(renderer, &works);
                }
            }
        };
        let spawned = thread::Builder::new().name("engine".to_owned()).spawn(body);
        spawned.map_err(|source| StartError::Thread { source })?;
        let (pipelines, device) = wait.recv().map_err(|_| StartError::Panicked)??;
        Ok(Self { queue, pipelines, device })
    }

    pub fn pipelines(&self) -> &[wire::Pipeline] {
        &self.pipelines
    }

    pub fn device(&self) -> &wire::Device {
        &self.device
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

fn run(mut renderer: Renderer, works: &Receiver<Work>) {
    while let Ok(Work { order, job, answer }) = works.recv() {
        let mut watch = |stage: &'static str, share: f32| {
            job.reached(stage, share);
            job.is_wanted()
        };
        // A panic leaves no half-changed state behind that the next picture would read: every render writes its
        // targets anew, and the device reports its own troubles as errors.
        let result = catch_unwind(AssertUnwindSafe(|| renderer.render(&order, &mut watch)));
        let result = match result {
            Ok(rendered) => rendered.map_err(EngineError::from),
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
                Err(EngineError::Panicked(text.unwrap_or_else(|| "without words".to_owned())))
            }
        };
        let lost = matches!(&result, Err(EngineError::Render(error)) if error.is_device_lost());
        // Whoever asked may be gone; then nobody needs the picture.
        let _ = answer.send(result);
        if lost {
            tracing::error!("the graphics device is lost: the engine stops");
            return;
        }
    }
}

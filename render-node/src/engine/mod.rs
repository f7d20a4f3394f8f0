//! The engine: workers that render the jobs that the node holds. Jobs wait in a short queue, from
//! which the inbox (`inbox`) takes them, and run in batches (`batches`); a job that is no longer
//! wanted when its turn comes is skipped.
//!
//! A worker is a thread with a studio of its own. Several workers share the models, and one of them
//! runs a model at a time, so the model is never idle while images are drawn and painted, as long
//! as there are jobs.
//!
//! Before the first job, and after each restart of the models, one worker renders a vehicle of its
//! own (`self_test`). While memory is nearly full (`memory_watermark`) jobs run one by one, and
//! nothing is kept for later ones. A job that still runs out of memory is tried again, first alone
//! and then after each recovery step (`memory_recovery`). If none helps, the engine is unhealthy
//! until a restart passes the self-test.

mod batches;
mod engine_error;
mod inbox;
mod memory_recovery;
mod memory_watermark;
mod meshes;
pub(crate) mod models;
pub mod order;
pub mod painter;
pub mod render_error;
mod render_in_progress;
pub mod renderer;
pub(crate) mod self_test;
pub mod stages;
pub mod start_error;
mod worker;

pub use engine_error::EngineError;

use crate::config::LocalConfig;
use crate::gpu::Meter;
use batches::Waiting;
use cyclorama_core::wire;
use cyclorama_core::wire::Stage;
use inbox::{Inbox, InboxJob, Task};
use memory_watermark::Watermark;
use order::{Render, RenderRequest};
use renderer::Renderer;
use start_error::StartError;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use tokio::sync::{oneshot, watch};
use worker::Worker;

/// Handle of the workers. They end when every handle is dropped. Dropping the last handle waits for
/// that, which takes as long as a render.
#[derive(Clone)]
pub struct Engine {
    /// Declared before `_thread`, so that it is dropped first: otherwise a handle would wait for
    /// workers that still wait for its jobs.
    queue: SyncSender<InboxJob>,
    pipelines: Vec<wire::Pipeline>,
    device: wire::Device,
    meter: Arc<Meter>,
    healthy: watch::Receiver<bool>,
    _thread: Arc<EngineThread>,
}

/// The thread that owns all workers. Dropping it joins the thread: a process that ended while a
/// worker still released its device would run exit handlers of a driver that is being unloaded.
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

impl Engine {
    /// Opens the device, loads the models and passes the self-test on the new thread, and waits
    /// until that is done. `queue_length` is the number of jobs the node holds at once, so the
    /// queue never refuses a leased job.
    pub fn start(config: LocalConfig, queue_length: usize) -> Result<Self, StartError> {
        let (queue, works) = sync_channel(queue_length);
        let (started, wait) = sync_channel(1);
        let (healthy, seen) = watch::channel(true);
        let last_restart = Arc::new(Mutex::new(Instant::now()));
        let body = move || match gather_workers(&config, queue_length, &healthy, &last_restart) {
            Err(error) => drop(started.send(Err(error))),
            Ok((facts, workers)) => {
                let inbox = Mutex::new(Inbox { works: Some(works), waiting: Waiting::default() });
                if started.send(Ok(facts)).is_ok() {
                    thread::scope(|scope| {
                        for worker in workers {
                            scope.spawn(|| worker.run(&inbox));
                        }
                    });
                }
            }
        };
        let spawned = thread::Builder::new().name("engine".to_owned()).spawn(body);
        let thread = EngineThread(Some(spawned.map_err(|source| StartError::Thread { source })?));
        let (pipelines, device, meter) = wait.recv().map_err(|_| StartError::Panicked)??;
        Ok(Self { queue, pipelines, device, meter, healthy: seen, _thread: Arc::new(thread) })
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

    /// Returns a receiver of the engine's health: false while it has run out of memory and cannot
    /// render.
    pub fn healthy(&self) -> watch::Receiver<bool> {
        self.healthy.clone()
    }

    /// Renders a job when its turn comes. `watch` is called with each stage and the ratio of the
    /// whole job that is done (0 to 1), and returns true to continue.
    pub async fn render(
        &self,
        order: RenderRequest,
        watch: impl Fn(Stage, f32) -> bool + Send + Sync + 'static,
    ) -> Result<Render, EngineError> {
        let (answer, answered) = oneshot::channel();
        self.queue.try_send(InboxJob { task: Task { order, watch: Box::new(watch) }, answer }).map_err(
            |e| match e {
                TrySendError::Full(_) => EngineError::Full,
                TrySendError::Disconnected(_) => EngineError::Stopped,
            },
        )?;
        answered.await.map_err(|_| EngineError::Stopped)?
    }
}

/// Description of the engine: pipelines, device and meter.
type EngineInfo = (Vec<wire::Pipeline>, wire::Device, Arc<Meter>);

/// Returns a worker whose renderer has passed the self-test, and further workers that share its
/// models.
fn gather_workers(
    config: &LocalConfig,
    queue_length: usize,
    healthy: &watch::Sender<bool>,
    last_restart: &Arc<Mutex<Instant>>,
) -> Result<(EngineInfo, Vec<Worker>), StartError> {
    let renderer = self_test::passed(config)?;
    let facts = (renderer.pipelines(), renderer.device(), renderer.meter());
    let watermark = Arc::new(Watermark::new(config.memory_watermark, renderer.meter()));
    let worker =
        |renderer| Worker::new(config.clone(), renderer, watermark.clone(), healthy.clone(), last_restart.clone());
    let usual = if renderer.draws_on_cpu() { 1 } else { 2 };
    let studios = config.studios.unwrap_or(usual).min(queue_length as u32);
    let mut workers = Vec::new();
    for _ in 1..studios {
        match Renderer::beside(config, renderer.models().clone()) {
            Ok(beside) => workers.push(worker(beside)),
            Err(error) if config.studios.is_some() => return Err(error),
            // The operator did not request a second studio, so one is enough.
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "a second studio could not be created: drawing and the model take turns"
                );
                break;
            }
        }
    }
    workers.push(worker(renderer));
    Ok((facts, workers))
}

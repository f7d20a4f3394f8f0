//! Who renders what the node holds. Work waits in a short queue and goes in batches (`batches`); what nobody wants
//! any more when its turn comes is skipped.
//!
//! A crew is a thread with a studio of its own. Several share the models, one of them running a model at a time: so the model is never idle
//! while pictures are drawn and painted, as long as there is work.
//!
//! Before the first job, and after each new start of the models, one crew renders a vehicle of its own (`self_test`).
//! While memory is nearly full (`memory_watermark`) jobs go one by one, and nothing is kept for later ones. What
//! memory runs out for all the same is tried again, first alone and then with more of it (`memory_ladder`); when that
//! is of no use, the engine is unwell until a new start passes the self-test.

mod batches;
mod desk;
mod engine_error;
mod memory_ladder;
mod memory_watermark;
mod meshes;
pub(crate) mod models;
pub mod order;
pub mod painter;
pub mod render_error;
pub mod renderer;
pub(crate) mod self_test;
mod sitting;
pub mod stages;
pub mod start_error;
mod worker;

pub use engine_error::EngineError;

use crate::config::LocalConfig;
use crate::gpu::Meter;
use batches::Waiting;
use cyclorama_core::wire;
use cyclorama_core::wire::Stage;
use desk::{Desk, Task, Work};
use memory_watermark::Watermark;
use order::{Order, Render};
use renderer::Renderer;
use start_error::StartError;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use tokio::sync::{oneshot, watch};
use worker::Crew;

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

    /// Renders in its turn. `watch` hears the name of each stage and the share of the whole that is done (0 to 1), and answers whether to
    /// go on.
    pub async fn render(
        &self,
        order: Order,
        watch: impl Fn(Stage, f32) -> bool + Send + Sync + 'static,
    ) -> Result<Render, EngineError> {
        let (answer, answered) = oneshot::channel();
        self.queue.try_send(Work { task: Task { order, watch: Box::new(watch) }, answer }).map_err(|e| match e {
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

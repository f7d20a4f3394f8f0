//! Connects the node to a control plane: joins, requests work while there are free slots, runs each
//! job, leaves.
//!
//! A node survives every failure of the other side: while the service is away it retries with
//! growing pauses, and when the service has forgotten it, it joins again. Only a lost graphics
//! device ends it, because a new process recovers the device.

use crate::causes::with_causes;
use crate::config::Config;
use crate::engine::order::RenderRequest;
use crate::engine::painter::{self, PaintError, PaintedImages, StoredLayers};
use crate::engine::stages::Stages;
use crate::engine::{Engine, EngineError};
use crate::service::control_plane::{CallError, ControlPlane};
use crate::service::heartbeat::{Heartbeat, Membership};
use crate::service::held_jobs::{HeldJobs, Holding};
use crate::service::publish::{self, JobOutput, PublishError};
use cyclorama_core::encoding::AlphaPlanes;
use cyclorama_core::traces::{KeyValue, SpanKind, Trace};
use cyclorama_core::wire::{CUSTOM_PAINTS, FailureKind, FailureRequest, Job, JobKind, JoinRequest, NodeOrder, Stage};
use cyclorama_supervisor::Backoff;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

/// Length of one long poll, in seconds: below the usual 30 s to 60 s idle limits of proxies.
const LEASE_WAIT_SECONDS: u64 = 20;
/// Maximum time for held jobs to end when the node is stopped: a cold render is promised within two
/// minutes.
const DRAIN_TIME: Duration = Duration::from_secs(120);
/// Allowed intervals. A control plane that names no sensible interval must neither turn the
/// heartbeat into a flood nor stop it.
const HEARTBEAT_SECONDS: std::ops::RangeInclusive<u64> = 1..=60;
/// Number of attempts to report a failure. After that the lease expires by itself.
const FAILURE_TRIES: u32 = 4;
const FAILURE_DETAIL_CHARS_MAX: usize = 500;

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("the heartbeat thread cannot be started")]
    Heart(#[source] std::io::Error),
    #[error("the graphics device is lost; restart the node")]
    DeviceLost,
}

/// A node at work for one control plane.
pub struct Agent {
    control_plane: ControlPlane,
    engine: Engine,
    name: String,
    slots: u32,
    batch_max: u32,
    usd_per_hour: Option<f64>,
    heart: Heartbeat,
    /// Becomes true when the engine has lost its device.
    broken: watch::Sender<bool>,
    alpha_planes: Arc<AlphaPlanes>,
}

impl Agent {
    pub fn new(control_plane: ControlPlane, engine: Engine, config: &Config) -> Self {
        let heart = Heartbeat::new(HeldJobs::default(), engine.healthy(), engine.meter());
        let alpha_planes = Arc::default();
        Self {
            control_plane,
            engine,
            name: config.name.clone(),
            slots: config.slots,
            batch_max: config.local.batch_max,
            usd_per_hour: config.usd_per_hour,
            heart,
            broken: watch::Sender::new(false),
            alpha_planes,
        }
    }

    /// Serves until `stop` resolves; then finishes the jobs it holds and leaves. When this returns,
    /// no task of the agent holds the engine any more.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), AgentError> {
        self.heart.start(self.control_plane.clone()).map_err(AgentError::Heart)?;
        let agent = Arc::new(self);
        let mut jobs = JoinSet::new();
        let mut broken = agent.broken.subscribe();
        let device_lost = tokio::select! {
            () = agent.clone().serve(&mut jobs) => false,
            () = stop => false,
            _ = broken.wait_for(|broken| *broken) => true,
        };
        agent.heart.leaving.send_replace(true);
        if !agent.heart.jobs.is_empty() {
            tracing::info!("draining: the jobs in progress are finished before leaving");
        }
        let finished = async { while jobs.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN_TIME, finished).await.is_err() {
            tracing::warn!("leaving before all jobs in progress have ended");
            jobs.shutdown().await;
        }
        if let Some(member) = agent.heart.membership.send_replace(None)
            && let Err(error) = agent.control_plane.leave(&member.node_id).await
        {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the control plane could not be told that this node leaves"
            );
        }
        if device_lost { Err(AgentError::DeviceLost) } else { Ok(()) }
    }

    async fn serve(self: Arc<Self>, jobs: &mut JoinSet<()>) {
        let slots = Arc::new(Semaphore::new(self.slots as usize));
        loop {
            let node_id = self.join().await;
            self.ask_for_work(&node_id, &slots, jobs).await;
        }
    }

    /// Joins, however long it takes, and returns the node's id.
    async fn join(&self) -> String {
        let request = JoinRequest {
            name: self.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            slots: self.slots,
            batch_max: self.batch_max,
            pipelines: self.engine.pipelines().to_vec(),
            paints: vec![CUSTOM_PAINTS.to_owned()],
            device: self.engine.device().clone(),
            usd_per_hour: self.usd_per_hour,
        };
        let mut backoff = Backoff::new(Duration::from_millis(250), Duration::from_secs(15));
        loop {
            match self.control_plane.join(&request).await {
                Ok(joined) => {
                    let seconds = joined.heartbeat_seconds.clamp(*HEARTBEAT_SECONDS.start(), *HEARTBEAT_SECONDS.end());
                    tracing::info!(node_id = joined.node_id, "joined the control plane");
                    let member =
                        Membership { node_id: joined.node_id.clone(), heartbeat: Duration::from_secs(seconds) };
                    self.heart.order.send_replace(NodeOrder::Active);
                    self.heart.membership.send_replace(Some(member));
                    return joined.node_id;
                }
                Err(error) => {
                    // Logs once early, then rarely: a service that starts a little later than the
                    // node is normal.
                    if backoff.failures() % 8 == 2 {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "the control plane could not be joined; it is retried"
                        );
                    }
                    tokio::time::sleep(backoff.next(rand::random())).await;
                }
            }
        }
    }

    /// Leases and starts jobs until the control plane no longer knows this node.
    async fn ask_for_work(self: &Arc<Self>, node_id: &str, slots: &Arc<Semaphore>, jobs: &mut JoinSet<()>) {
        let mut backoff = Backoff::new(Duration::from_millis(250), Duration::from_secs(15));
        loop {
            while jobs.try_join_next().is_some() {}
            let ask = async {
                let first = slots.clone().acquire_owned().await.ok()?;
                self.able_to_work().await;
                let free = 1 + slots.available_permits() as u32;
                Some((first, self.control_plane.lease(node_id, free, LEASE_WAIT_SECONDS).await))
            };
            let (first, leased) = tokio::select! {
                () = self.forgotten() => return,
                asked = ask => match asked {
                    Some(asked) => asked,
                    None => return,
                },
            };
            match leased {
                Ok(leased) => {
                    backoff.reset();
                    self.start(leased, first, slots, jobs);
                }
                Err(CallError::Unknown { detail }) => {
                    tracing::warn!(detail, "the control plane no longer knows this node");
                    self.heart.membership.send_replace(None);
                    return;
                }
                Err(error) => {
                    if backoff.failures() == 0 {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "no job could be requested; it is retried"
                        );
                    }
                    drop(first);
                    tokio::time::sleep(backoff.next(rand::random())).await;
                }
            }
        }
    }

    /// Resolves when a heartbeat has found that the control plane does not know this node any more.
    async fn forgotten(&self) {
        // The returned value is a read lock, which must not outlive this call.
        let _ = self.heart.membership.subscribe().wait_for(Option::is_none).await.map(drop);
    }

    /// Resolves while the node may and can take work: at once, or when a drain or a lock is lifted
    /// and the engine is healthy.
    async fn able_to_work(&self) {
        let (mut order, mut healthy) = (self.heart.order.subscribe(), self.engine.healthy());
        loop {
            let ordered = order.wait_for(|order| *order == NodeOrder::Active).await.map(drop);
            let able = healthy.wait_for(|healthy| *healthy).await.map(drop);
            // A sender that is gone never changes its value again: the engine's thread has ended,
            // and the node will end, too.
            if ordered.is_err() || able.is_err() || *order.borrow() == NodeOrder::Active {
                return;
            }
        }
    }

    fn start(
        self: &Arc<Self>,
        leased: Vec<Job>,
        first: OwnedSemaphorePermit,
        slots: &Arc<Semaphore>,
        jobs: &mut JoinSet<()>,
    ) {
        let mut first = Some(first);
        for job in leased {
            // More jobs than requested would be the control plane's mistake: their leases expire
            // unused.
            let Some(permit) = first.take().or_else(|| slots.clone().try_acquire_owned().ok()) else {
                tracing::warn!(job_id = job.job_id, "the control plane leased more jobs than there are free slots");
                continue;
            };
            let holding = self.heart.jobs.hold(&job, begin(&job));
            let agent = self.clone();
            jobs.spawn(async move {
                let trace = holding.held.trace.clone();
                trace.around(agent.run_job(job, holding)).await;
                trace.end();
                drop(permit);
            });
        }
    }

    async fn run_job(&self, job: Job, holding: Holding) {
        let (job_id, kind) = (job.job_id.as_str(), job.kind);
        tracing::info!(job_id, %kind, vehicle = job.vehicle.key(), view = %job.view, fence = job.fence, "job leased");
        let error = match self.perform(&job, &holding).await {
            Ok(()) => return tracing::info!(job_id, %kind, "job done"),
            Err(error) => error,
        };
        if matches!(&error, JobError::Engine(error) if error.is_device_lost()) {
            self.broken.send_replace(true);
        }
        match error.failure_kind() {
            None => tracing::info!(job_id, %kind, reason = %error, "job cancelled"),
            Some(failure) => {
                holding.held.trace.fail(failure.as_str());
                tracing::warn!(job_id, %kind, %failure, error = &error as &dyn std::error::Error, "job failed");
                self.report_failure(&job, failure, &error).await;
            }
        }
    }

    async fn perform(&self, job: &Job, holding: &Holding) -> Result<(), JobError> {
        let held = &holding.held;
        let mut work = match job.kind {
            JobKind::Render => {
                let order = RenderRequest {
                    vehicle: job.vehicle.clone(),
                    view: job.view,
                    colours: job.colours.clone(),
                    pipeline: job.pipeline.clone(),
                    seed: job.seed,
                    trace: held.trace.clone(),
                };
                let job = held.clone();
                let watch = move |stage, ratio| {
                    job.reached(stage, ratio);
                    job.is_wanted()
                };
                let render = self.engine.render(order, watch).await?;
                JobOutput { layers: Some(render.layers), pictures: render.pictures, receipt: render.receipt }
            }
            JobKind::Paint => {
                let PaintedImages { pictures, receipt } = self.paint(job, holding).await?;
                JobOutput { layers: None, pictures, receipt }
            }
        };
        work.receipt.software = Some(concat!("cyclorama-node ", env!("CARGO_PKG_VERSION")).to_owned());
        work.receipt.encode_recipe = Some(cyclorama_core::encoding::ENCODE_RECIPE.into());
        work.receipt.attempt = Some(job.attempt.into());
        publish::publish(&self.control_plane, job, held, &self.alpha_planes, work).await?;
        Ok(())
    }

    /// Composes paints from stored layers, on the CPU: a paint job takes tenths of a second and
    /// must not wait behind a cold render for the device.
    async fn paint(&self, job: &Job, holding: &Holding) -> Result<PaintedImages, JobError> {
        let mut stages = Stages::of(&holding.held.trace);
        let url = job.layers_url.as_deref().ok_or(JobError::NoLayers)?;
        holding.held.reached(Stage::Layers, 0.1);
        let bytes = self.fetch_layers(url, holding).await?;
        let sha256 = hex::encode(Sha256::digest(&bytes));
        if job.layers_sha256.as_ref().is_some_and(|expected| *expected != sha256) {
            return Err(JobError::Altered);
        }
        stages.end(Stage::Fetch);
        holding.held.reached(Stage::Compose, 0.4);
        let colours = job.colours.clone();
        let painted =
            tokio::task::spawn_blocking(move || painter::paint(&StoredLayers { bytes, sha256 }, colours, stages));
        Ok(painted.await.map_err(|_| JobError::Interrupted)??)
    }

    async fn fetch_layers(&self, url: &str, holding: &Holding) -> Result<bytes::Bytes, JobError> {
        let mut backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(2));
        loop {
            match self.control_plane.layers(url).await {
                Ok(bytes) => return Ok(bytes),
                Err(error) if error.is_passing() && backoff.failures() < 3 && holding.held.is_wanted() => {
                    tokio::time::sleep(backoff.next(rand::random())).await;
                }
                Err(error) => return Err(JobError::Fetch(error)),
            }
        }
    }

    async fn report_failure(&self, job: &Job, kind: FailureKind, error: &JobError) {
        let detail = with_causes(error).chars().take(FAILURE_DETAIL_CHARS_MAX).collect();
        let request = FailureRequest { fence: job.fence, kind, detail };
        let mut backoff = Backoff::new(Duration::from_millis(250), Duration::from_secs(4));
        while let Err(error) = self.control_plane.failure(&job.job_id, &request).await {
            if !error.is_passing() || backoff.failures() + 1 >= FAILURE_TRIES {
                return tracing::warn!(
                    job_id = job.job_id,
                    error = &error as &dyn std::error::Error,
                    "could not report a failure"
                );
            }
            tokio::time::sleep(backoff.next(rand::random())).await;
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum JobError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error("the paint job names no layers")]
    NoLayers,
    #[error("the stored layers could not be fetched")]
    Fetch(#[source] CallError),
    #[error("the stored layers have another digest than when they were stored")]
    Altered,
    #[error(transparent)]
    Paint(#[from] PaintError),
    #[error("the job was interrupted")]
    Interrupted,
}

impl JobError {
    /// Returns the kind of failure to report, or `None` if nobody waits for the job or another node
    /// has it.
    fn failure_kind(&self) -> Option<FailureKind> {
        match self {
            JobError::Engine(EngineError::Render(error)) => error.failure_kind(),
            JobError::Engine(EngineError::Unhealthy) => Some(FailureKind::OutOfMemory),
            JobError::Publish(PublishError::Cancelled) => None,
            JobError::Publish(PublishError::Result(CallError::Stale)) => None,
            JobError::Publish(PublishError::Upload { .. } | PublishError::Result(_))
            | JobError::Fetch(_)
            | JobError::Altered => Some(FailureKind::Upload),
            JobError::Paint(PaintError::Quality(_)) => Some(FailureKind::Quality),
            JobError::Engine(EngineError::Panicked(_) | EngineError::Full | EngineError::Stopped)
            | JobError::Publish(
                PublishError::UnknownObject(_)
                | PublishError::Encoding(_)
                | PublishError::Layers(_)
                | PublishError::Interrupted,
            )
            | JobError::NoLayers
            | JobError::Paint(PaintError::Layers(_) | PaintError::Compose(_))
            | JobError::Interrupted => Some(FailureKind::Internal),
        }
    }
}

/// Begins the span of the work on a job, inside that of the request for which it was queued.
fn begin(job: &Job) -> Trace {
    let attributes = vec![
        KeyValue::new("cyclorama.job_id", job.job_id.clone()),
        KeyValue::new("cyclorama.fence", job.fence),
        KeyValue::new("cyclorama.attempt", i64::from(job.attempt)),
        KeyValue::new("cyclorama.vehicle", job.vehicle.key()),
        KeyValue::new("cyclorama.view", job.view.as_str()),
        KeyValue::new("cyclorama.pipeline", job.pipeline.clone()),
    ];
    Trace::named(job.traceparent.as_deref()).begin(job.kind.as_str(), SpanKind::Consumer, attributes)
}

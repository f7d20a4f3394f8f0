//! One render from a vehicle to its pictures, in order: geometry, G-buffer, diffusion, paint. Owns its share of the device, and so lives on one
//! thread (`engine` gives it one); the models it shares with other renderers. Encoding and uploading are `publish`.

use crate::config::LocalConfig;
use crate::diffusion::{Base, DiffusionError, OnnxRuntimeError, Unlit, lock};
use crate::finish::{self, ComposeError, Compositor, Lacquers};
use crate::gate::{self, Verdict};
use crate::gpu::{Gpu, GpuError, Meter};
use crate::memory_ladder;
use crate::models::{self, Facts, Models};
use crate::self_test::SelfTestError;
use crate::studio::{Exposure, Layers, Settings, Studio, StudioError};
use crate::vehicle::{self, Library, LibraryError, VehicleError, VehicleMesh};
use cyclorama_core::encoding::Picture;
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::{self, FailureKind};
use cyclorama_core::{Paint, Vehicle, View};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Attempts with the diffusion model; what the gate refuses that often is made in the base shading alone.
const DIFFUSION_ATTEMPTS: u32 = 2;
/// About 10 MB each.
const MESHES_KEPT: usize = 4;

/// Why the node cannot start. Each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Sheets(#[from] LibraryError),
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error(transparent)]
    OnnxRuntime(#[from] OnnxRuntimeError),
    #[error(transparent)]
    Model(#[from] DiffusionError),
    #[error("the studio cannot be set up")]
    Studio(#[from] StudioError),
    #[error("the paint pass cannot be set up")]
    Compose(#[from] ComposeError),
    #[error("there is no model in {} (a folder with a {})", .0.display(), lock::LOCK_FILE)]
    NoModel(PathBuf),
    #[error("{} holds {found} models, more than {}", folder.display(), models::MODELS_MAX)]
    TooManyModels { folder: PathBuf, found: usize },
    #[error("two models in {} are called `{id}`", folder.display())]
    SameId { id: String, folder: PathBuf },
    /// The control plane was told of others.
    #[error("the models in {} are not those the node started with", .0.display())]
    ModelsChanged(PathBuf),
    #[error(transparent)]
    SelfTest(#[from] SelfTestError),
    #[error("the engine's thread cannot be started")]
    Thread {
        #[source]
        source: std::io::Error,
    },
    #[error("the engine panicked while it started")]
    Panicked,
    #[error("cannot read the models' folder {}", folder.display())]
    Models {
        folder: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    #[error("this vehicle cannot be drawn: {0}")]
    Vehicle(#[from] VehicleError),
    #[error(transparent)]
    Studio(#[from] StudioError),
    #[error(transparent)]
    Diffusion(DiffusionError),
    #[error(transparent)]
    Compose(#[from] ComposeError),
    #[error("this node has no pipeline `{0}`")]
    NoPipeline(String),
    /// Memory ran out, and they could not be loaded again.
    #[error("the models are not loaded")]
    NoModels,
    /// Neither the diffusion model's light nor the base shading passes the gate.
    #[error("the picture failed its checks: {0}")]
    Quality(String),
    #[error("cancelled")]
    Cancelled,
}

impl From<DiffusionError> for RenderError {
    fn from(error: DiffusionError) -> Self {
        match error {
            DiffusionError::Base(error) => error.into(),
            error => Self::Diffusion(error),
        }
    }
}

impl RenderError {
    /// `None`: nobody waits for an answer.
    pub fn failure_kind(&self) -> Option<FailureKind> {
        let of_gpu = |error: &GpuError| match error {
            GpuError::OutOfMemory { .. } => FailureKind::OutOfMemory,
            _ => FailureKind::Internal,
        };
        Some(match self {
            RenderError::Cancelled | RenderError::Diffusion(DiffusionError::Cancelled) => return None,
            RenderError::Vehicle(_) | RenderError::Studio(StudioError::Nothing(_) | StudioError::Mesh(_)) => {
                FailureKind::Model
            }
            RenderError::Studio(StudioError::Gpu(error)) | RenderError::Compose(ComposeError::Gpu(error)) => {
                of_gpu(error)
            }
            RenderError::Diffusion(DiffusionError::OutOfMemory { .. }) | RenderError::NoModels => {
                FailureKind::OutOfMemory
            }
            RenderError::Quality(_) | RenderError::Diffusion(DiffusionError::NotFinite { .. }) => FailureKind::Quality,
            RenderError::Studio(_)
            | RenderError::Compose(_)
            | RenderError::Diffusion(_)
            | RenderError::NoPipeline(_) => FailureKind::Internal,
        })
    }

    /// The device is gone and only a new process gets it back.
    pub fn is_device_lost(&self) -> bool {
        let gpu = match self {
            RenderError::Studio(StudioError::Gpu(error)) | RenderError::Compose(ComposeError::Gpu(error)) => error,
            _ => return false,
        };
        matches!(gpu, GpuError::Lost { .. })
    }
}

/// What to render.
#[derive(Debug, Clone)]
pub struct Order {
    pub vehicle: Vehicle,
    pub view: View,
    pub colours: Vec<Paint>,
    /// Id of the model.
    pub pipeline: String,
    pub seed: u64,
    /// Whose stages these are.
    pub trace: Trace,
}

pub struct Render {
    pub layers: Layers,
    /// In the order's order.
    pub pictures: Vec<(Paint, Picture)>,
    /// What made them: model and G-buffer digests, seed, steps, device, stage timings in milliseconds.
    pub receipt: Value,
}

/// Hears the name of each stage and the share of the whole that is done (0 to 1); answers whether to go on.
pub type Watch<'a> = dyn FnMut(&'static str, f32) -> bool + 'a;

pub struct Renderer {
    gpu: Gpu,
    meter: Arc<Meter>,
    library: Arc<Library>,
    studio: Studio,
    compositor: Compositor,
    meshes: Meshes,
    models: Models,
}

impl Renderer {
    /// With models of its own.
    pub fn start(config: &LocalConfig) -> Result<Self, StartError> {
        // What the graphics device lacks is told before gigabytes are read.
        let gpu = Gpu::open(&config.adapter)?;
        Self::with(config, gpu, Models::load(config)?)
    }

    /// Beside another one, whose models it shares.
    pub fn beside(config: &LocalConfig, models: Models) -> Result<Self, StartError> {
        Self::with(config, Gpu::open(&config.adapter)?, models)
    }

    /// On a device that is open already.
    pub fn with(config: &LocalConfig, gpu: Gpu, models: Models) -> Result<Self, StartError> {
        let library = Library::open(config.sheets.as_deref())?;
        let studio = Studio::new(&gpu)?;
        let compositor = Compositor::new(&gpu)?;
        let meter = Arc::new(Meter::open(&gpu.pci_bus_id));
        Ok(Self { gpu, meter, library, studio, compositor, meshes: Meshes::default(), models })
    }

    /// Whether the graphics device is the CPU, which draws no faster for being asked twice at once.
    pub fn draws_on_cpu(&self) -> bool {
        self.gpu.is_cpu
    }

    pub fn models(&self) -> &Models {
        &self.models
    }

    pub fn pipelines(&self) -> Vec<wire::Pipeline> {
        let pipeline = |facts: &Facts| wire::Pipeline {
            id: facts.folder.id().to_owned(),
            digest: facts.folder.digest().to_owned(),
        };
        self.models.facts().iter().map(pipeline).collect()
    }

    pub fn device(&self) -> wire::Device {
        let memory_mb = self.meter.read().gpu_memory_total_mb;
        let execution_provider = Some(self.models.provider().onnx_name().to_owned());
        wire::Device { name: self.gpu.name.clone(), backend: self.gpu.backend.clone(), memory_mb, execution_provider }
    }

    pub fn meter(&self) -> Arc<Meter> {
        self.meter.clone()
    }

    /// Gives up what is kept for later renders.
    pub fn free(&mut self) {
        self.meshes = Meshes::default();
        // Buffers of past pictures are freed when the device has noticed that they are no longer used.
        if let Err(error) = self.gpu.wait("freeing memory") {
            tracing::warn!(error = &error as &dyn std::error::Error, "the device did not free its memory");
        }
    }

    pub fn studio(&self) -> &Studio {
        &self.studio
    }

    /// How many orders for this pipeline are worth rendering together: as many as were asked for, unless memory has run out with fewer or
    /// the model takes fewer.
    pub fn batch_max(&self, pipeline: &str) -> usize {
        let takes = self.models.place(pipeline).and_then(|place| self.models.facts()[place].batch_max);
        self.models.batch_limit().min(takes.unwrap_or(usize::MAX)).max(1)
    }

    pub fn render(&mut self, order: &Order, watch: &mut Watch<'_>) -> Result<Render, RenderError> {
        let mut answer = Err(RenderError::Cancelled);
        let commission = Commission { order, watch: Box::new(watch) };
        self.render_batch(vec![commission], &mut |_, result| answer = result);
        answer
    }

    /// Renders orders for one pipeline, that of the first: each alone but for the diffusion, which all go through together. `done` hears of
    /// each commission once, by its place, as soon as that one has ended.
    pub fn render_batch(
        &mut self,
        commissions: Vec<Commission<'_>>,
        done: &mut dyn FnMut(usize, Result<Render, RenderError>),
    ) {
        let mut sittings: Vec<Sitting<'_>> = commissions.into_iter().enumerate().map(Sitting::new).collect();
        // Whether the sitting goes on.
        let mut goes_on = |sitting: &Sitting<'_>, step: Result<Option<Render>, RenderError>| {
            let ended = step.transpose().map(|result| done(sitting.place, result));
            ended.is_none()
        };
        let pipeline = sittings.first().map(|sitting| sitting.order.pipeline.clone()).unwrap_or_default();
        let model = self.models.place(&pipeline);
        sittings.retain(|sitting| match model {
            Some(_) if sitting.order.pipeline == pipeline => true,
            _ => goes_on(sitting, Err(RenderError::NoPipeline(sitting.order.pipeline.clone()))),
        });
        let Some(model) = model else { return };
        for attempt in 0..=DIFFUSION_ATTEMPTS {
            if sittings.is_empty() {
                break;
            }
            let light = if attempt < DIFFUSION_ATTEMPTS { Light::Diffusion } else { Light::BaseShading };
            let mut left = sittings.len();
            sittings.retain_mut(|sitting| {
                left -= 1;
                // The studio has one picture at a time: only the last may be on its way while the model is at work.
                let shot = self.shoot(sitting, left == 0 && light == Light::Diffusion);
                goes_on(sitting, shot.map(|()| None))
            });
            if light == Light::Diffusion {
                self.light(model, &mut sittings, attempt);
                sittings.retain_mut(|sitting| {
                    let judged = sitting.judge_light();
                    goes_on(sitting, judged.map(|()| None))
                });
            }
            sittings.retain_mut(|sitting| {
                let finished = self.finish(model, sitting, light);
                goes_on(sitting, finished)
            });
        }
    }

    /// Geometry and G-buffer, whose layers may come `later`. Shot anew for each attempt: to keep the base shading for the rare repetition
    /// would cost every render 50 MB.
    fn shoot(&mut self, sitting: &mut Sitting<'_>, later: bool) -> Result<(), RenderError> {
        sitting.waited();
        sitting.go_on("geometry", 0.0)?;
        let mesh = self.meshes.get(&self.library, &sitting.order.vehicle)?;
        sitting.triangles = mesh.triangle_count();
        sitting.stages.end("geometry");
        sitting.go_on("gbuffer", 0.1)?;
        let exposure = self.studio.expose(mesh, sitting.order.view, Settings::default())?;
        sitting.stages.end("gbuffer");
        sitting.verdict = Verdict::default();
        let shot = sitting.shot.insert(Shot { exposure, developed: None });
        if !later {
            shot.develop(&self.studio, &mut sitting.stages)?;
        }
        Ok(())
    }

    /// Diffusion for all at once, or in parts where memory runs out.
    fn light(&mut self, model: usize, sittings: &mut [Sitting<'_>], attempt: u32) {
        sittings.iter_mut().for_each(Sitting::waited);
        let mut loaded = self.models.turn();
        sittings.iter_mut().for_each(|sitting| sitting.stages.end_waiting("turn"));
        let Some(model) = loaded.get_mut(model) else {
            return sittings.iter_mut().for_each(|sitting| sitting.lit = Some(Err(RenderError::NoModels)));
        };
        let studio = &self.studio;
        let mut together = |part: &mut [Sitting<'_>]| -> Result<(), DiffusionError> {
            let mut pictures: Vec<Unlit<'_>> = Vec::with_capacity(part.len());
            let mut results: Vec<&mut Option<Result<(), RenderError>>> = Vec::with_capacity(part.len());
            for sitting in part.iter_mut() {
                sitting.waited();
                let Sitting { order, watch, shot: Some(shot), lit, stages, .. } = sitting else { continue };
                let still_wanted = Box::new(|share: f32| watch("diffusion", 0.4 + 0.4 * share));
                let Shot { exposure, developed } = shot;
                let (exposure, conditioning) = (&*exposure, &exposure.conditioning);
                let base: Box<Base<'_>> = Box::new(move || {
                    stages.end("diffusion");
                    Ok(&mut Shot::developed(exposure, developed, studio, stages)?.layers)
                });
                let Order { vehicle, view, seed, .. } = order;
                pictures.push(Unlit { base, conditioning, vehicle, view: *view, seed: *seed, still_wanted });
                results.push(lit);
            }
            let batch = pictures.len();
            let lit = model.light(pictures, attempt).inspect_err(|error| {
                if matches!(error, DiffusionError::OutOfMemory { .. }) && batch > 1 {
                    self.models.lower_batch_limit(batch / 2);
                    tracing::warn!(batch, "out of memory: batches of half that from now on");
                }
            })?;
            let batch = lit.iter().filter(|lit| !matches!(lit, Err(DiffusionError::Cancelled))).count();
            results.into_iter().zip(lit).for_each(|(result, lit)| *result = Some(lit.map_err(RenderError::from)));
            for sitting in part {
                sitting.batch = batch;
                sitting.stages.end("diffusion");
            }
            Ok(())
        };
        memory_ladder::in_halves(sittings, &mut together, &mut |sitting, error| {
            sitting.lit = Some(Err(error.into()));
        });
    }

    /// Paint and the gate for the pictures. `None`: they do not pass, and the vehicle is to be shot again.
    fn finish(&mut self, model: usize, sitting: &mut Sitting<'_>, light: Light) -> Result<Option<Render>, RenderError> {
        let Some(Shot { exposure, developed: Some(Developed { mut layers, .. }) }) = sitting.shot.take() else {
            return Ok(None);
        };
        let order = sitting.order;
        let mut pictures = Vec::new();
        sitting.waited();
        if sitting.verdict.passes() {
            finish::round_as_stored(&mut layers);
            sitting.go_on("compose", 0.8)?;
            let lacquers = Lacquers::over(&layers);
            pictures = self.compositor.compose(&lacquers, &order.colours)?;
            sitting.stages.end("compose");
            for (paint, picture) in order.colours.iter().zip(&pictures) {
                sitting.verdict.add_picture(*paint, gate::judge_picture(&lacquers, *paint, picture));
            }
            sitting.stages.end("gate");
        }
        if sitting.verdict.passes() {
            let pictures = order.colours.iter().copied().zip(pictures).collect();
            let receipt = self.receipt(model, sitting, &exposure.gbuffer_digest, light);
            return Ok(Some(Render { layers, pictures, receipt }));
        }
        let findings = sitting.verdict.findings.join("; ");
        let attempt = sitting.refused.len();
        tracing::warn!(vehicle = order.vehicle.key(), view = %order.view, attempt, findings, "the gate refuses a render");
        if light == Light::BaseShading {
            return Err(RenderError::Quality(findings));
        }
        sitting.refused.push(json!({"findings": sitting.verdict.findings, "figures": sitting.verdict.figures}));
        Ok(None)
    }

    fn receipt(&self, model: usize, sitting: &Sitting<'_>, gbuffer_digest: &str, light: Light) -> Value {
        let Facts { folder, steps, sampling, .. } = &self.models.facts()[model];
        let files: Vec<Value> = folder.files().iter().map(|f| json!({"path": f.path, "sha256": f.sha256})).collect();
        json!({
            "model": {"id": folder.id(), "digest": folder.digest(), "license": folder.license(),
                      "precision": folder.precision(), "files": files},
            "gbuffer_digest": gbuffer_digest,
            "triangles": sitting.triangles,
            "seed": sitting.order.seed,
            "scheduler": sampling,
            "steps": steps,
            // Pictures that went through the model together.
            "batch": sitting.batch,
            "execution_provider": self.models.provider().onnx_name(),
            "onnx_runtime": self.models.onnx_runtime().version(),
            "device": {"name": self.gpu.name, "backend": self.gpu.backend},
            // What a picture was lit by, and what the gate measured; `refused` has an entry for each attempt that failed it.
            "light": match light { Light::Diffusion => "diffusion", Light::BaseShading => "base_shading" },
            "quality": {"figures": sitting.verdict.figures, "refused": sitting.refused},
            "timings_ms": sitting.stages.timings,
        })
    }
}

/// An order and who watches it.
pub struct Commission<'a> {
    pub order: &'a Order,
    pub watch: Box<Watch<'a>>,
}

/// A commission on its way.
struct Sitting<'a> {
    /// Among the commissions.
    place: usize,
    order: &'a Order,
    watch: Box<Watch<'a>>,
    stages: Stages,
    triangles: usize,
    /// How many went through the model with it, itself included.
    batch: usize,
    shot: Option<Shot>,
    lit: Option<Result<(), RenderError>>,
    verdict: Verdict,
    /// What the gate found, by attempt.
    refused: Vec<Value>,
}

/// A picture in the studio.
struct Shot {
    exposure: Exposure,
    developed: Option<Developed>,
}

/// Layers, first in the base shading and then in the model's light.
struct Developed {
    layers: Layers,
    /// Of the base shading.
    reference: gate::Reference,
}

impl Shot {
    fn develop(&mut self, studio: &Studio, stages: &mut Stages) -> Result<(), StudioError> {
        Self::developed(&self.exposure, &mut self.developed, studio, stages).map(|_| ())
    }

    /// What is in `developed`, or is put there.
    fn developed<'a>(
        exposure: &Exposure,
        developed: &'a mut Option<Developed>,
        studio: &Studio,
        stages: &mut Stages,
    ) -> Result<&'a mut Developed, StudioError> {
        let made = match developed.take() {
            Some(made) => made,
            None => {
                let layers = studio.develop(exposure)?;
                stages.end("gbuffer");
                let reference = gate::Reference::of(&layers, &exposure.conditioning);
                stages.end("gate");
                Developed { layers, reference }
            }
        };
        Ok(developed.insert(made))
    }
}

impl<'a> Sitting<'a> {
    fn new((place, commission): (usize, Commission<'a>)) -> Self {
        Sitting {
            place,
            stages: Stages::of(&commission.order.trace),
            order: commission.order,
            watch: commission.watch,
            triangles: 0,
            batch: 0,
            shot: None,
            lit: None,
            verdict: Verdict::default(),
            refused: Vec::new(),
        }
    }

    fn go_on(&mut self, stage: &'static str, share: f32) -> Result<(), RenderError> {
        if (self.watch)(stage, share) { Ok(()) } else { Err(RenderError::Cancelled) }
    }

    /// What was done meanwhile was done for the others of its batch.
    fn waited(&mut self) {
        self.stages.end_waiting("batch");
    }

    /// The gate for the model's light.
    fn judge_light(&mut self) -> Result<(), RenderError> {
        self.waited();
        match self.lit.take() {
            Some(Err(error @ RenderError::Diffusion(DiffusionError::NotFinite { .. }))) => {
                self.verdict.findings.push(error.to_string());
            }
            Some(Err(error)) => return Err(error),
            Some(Ok(())) | None => {
                if let Some(Shot { developed: Some(Developed { layers, reference }), .. }) = &self.shot {
                    self.verdict = reference.judge(layers);
                }
            }
        }
        self.stages.end("gate");
        Ok(())
    }
}

/// What a picture is lit by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Light {
    Diffusion,
    /// The studio's own, without a model.
    BaseShading,
}

/// The vehicles built last: a client mostly asks for several views of one.
#[derive(Default)]
struct Meshes(Vec<(Vehicle, VehicleMesh)>);

impl Meshes {
    fn get(&mut self, library: &Library, vehicle: &Vehicle) -> Result<&VehicleMesh, VehicleError> {
        let place = match self.0.iter().position(|(known, _)| known == vehicle) {
            Some(place) => place,
            None => {
                let mesh = vehicle::build(library, vehicle)?;
                self.0.truncate(MESHES_KEPT - 1);
                self.0.push((vehicle.clone(), mesh));
                self.0.len() - 1
            }
        };
        // The one used last comes first, and the one not used for longest is dropped.
        self.0[..=place].rotate_right(1);
        Ok(&self.0[0].1)
    }
}

/// Milliseconds by stage, each also a span of the work's trace.
#[derive(Debug)]
pub struct Stages {
    since: Instant,
    trace: Trace,
    pub timings: serde_json::Map<String, Value>,
}

impl Stages {
    /// Waiting below this is the time between two lines of code.
    const WAITING_MIN: Duration = Duration::from_millis(1);

    pub fn of(trace: &Trace) -> Self {
        Self { since: Instant::now(), trace: trace.clone(), timings: serde_json::Map::new() }
    }

    /// Everything since the last end (or the start) was `stage`; one that is entered again goes on counting.
    pub fn end(&mut self, stage: &'static str) {
        let now = Instant::now();
        let before = self.timings.get(stage).and_then(Value::as_u64).unwrap_or(0);
        let took = now - self.since;
        self.timings.insert(stage.to_owned(), (before + took.as_millis() as u64).into());
        self.trace.past(stage, took);
        self.since = now;
    }

    /// The same for a stage in which nothing is done, if there was any.
    pub fn end_waiting(&mut self, stage: &'static str) {
        if self.since.elapsed() >= Self::WAITING_MIN {
            self.end(stage);
        }
    }
}

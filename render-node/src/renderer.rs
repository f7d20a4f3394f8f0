//! One render from a vehicle to its pictures, in order: geometry, G-buffer, diffusion, paint. Owns the device and the
//! loaded models, and so lives on one thread (`engine` gives it one); encoding and uploading are `publish`.

use crate::config::LocalConfig;
use crate::diffusion::{DiffusionError, LightModel, OnnxRuntime, OnnxRuntimeError, model_folder};
use crate::finish::{self, ComposeError, Compositor};
use crate::gate::{self, Verdict};
use crate::gpu::{Gpu, GpuError, Meter};
use crate::self_test::SelfTestError;
use crate::studio::{self, Layers, Studio, StudioError};
use crate::vehicle::{self, Library, LibraryError, VehicleError, VehicleMesh};
use cyclorama_core::encoding::Picture;
use cyclorama_core::wire::{self, FailureKind};
use cyclorama_core::{Colour, Vehicle, View};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Attempts with the diffusion model; what the gate refuses that often is made in the base shading alone.
const DIFFUSION_ATTEMPTS: u32 = 2;
/// Each is some tens of megabytes in memory at least; more is a folder chosen by mistake.
const MODELS_MAX: usize = 8;
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
    #[error("there is no model in {} (a folder with a {})", .0.display(), model_folder::LOCK_FILE)]
    NoModel(PathBuf),
    #[error("{} holds {found} models, more than {MODELS_MAX}", folder.display())]
    TooManyModels { folder: PathBuf, found: usize },
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
    Diffusion(#[from] DiffusionError),
    #[error(transparent)]
    Compose(#[from] ComposeError),
    #[error("this node has no pipeline `{0}`")]
    NoPipeline(String),
    /// Neither the diffusion model's light nor the base shading passes the gate.
    #[error("the picture failed its checks: {0}")]
    Quality(String),
    #[error("cancelled")]
    Cancelled,
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
            RenderError::Diffusion(DiffusionError::OutOfMemory { .. }) => FailureKind::OutOfMemory,
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
    pub colours: Vec<Colour>,
    /// Id of the model.
    pub pipeline: String,
    pub seed: u64,
}

pub struct Render {
    pub layers: Layers,
    /// In the order's order.
    pub pictures: Vec<(Colour, Picture)>,
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
    runtime: OnnxRuntime,
    meshes: Meshes,
    /// At least one; the first is the one that is offered first.
    models: Vec<LightModel>,
}

impl Renderer {
    pub fn start(config: &LocalConfig) -> Result<Self, StartError> {
        let library = Library::open(config.sheets.as_deref())?;
        let gpu = Gpu::open(&config.adapter)?;
        let runtime = OnnxRuntime::load(config.onnx_runtime.as_deref())?;
        let load = |folder: &PathBuf| LightModel::load(&runtime, folder, &studio::CONDITIONING_CHANNELS);
        let models = model_folders(&config.models)?.iter().map(load).collect::<Result<Vec<_>, _>>()?;
        let studio = Studio::new(&gpu)?;
        let compositor = Compositor::new(&gpu)?;
        let meter = Arc::new(Meter::open(&gpu.pci_bus_id));
        Ok(Self { gpu, meter, library, studio, compositor, runtime, meshes: Meshes::default(), models })
    }

    pub fn pipelines(&self) -> Vec<wire::Pipeline> {
        let pipeline = |model: &LightModel| wire::Pipeline {
            id: model.folder().id().to_owned(),
            digest: model.folder().digest().to_owned(),
        };
        self.models.iter().map(pipeline).collect()
    }

    pub fn device(&self) -> wire::Device {
        let memory_mb = self.meter.read().gpu_memory_total_mb;
        wire::Device { name: self.gpu.name.clone(), backend: self.gpu.backend.clone(), memory_mb }
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

    pub fn render(&mut self, order: &Order, watch: &mut Watch<'_>) -> Result<Render, RenderError> {
        let model = self.models.iter_mut().find(|model| model.folder().id() == order.pipeline);
        let model = model.ok_or_else(|| RenderError::NoPipeline(order.pipeline.clone()))?;
        let mut stages = Stages::new();
        let mut go_on =
            |stage: &'static str, share: f32| if watch(stage, share) { Ok(()) } else { Err(RenderError::Cancelled) };

        go_on("geometry", 0.0)?;
        let mesh = self.meshes.get(&self.library, &order.vehicle)?;
        stages.end("geometry");
        let mut refused: Vec<Value> = Vec::new();
        // Shot anew for each attempt: to keep the base shading for the rare repetition would cost every render 50 MB.
        let (shot, pictures, light, verdict) = loop {
            go_on("gbuffer", 0.1)?;
            let mut shot = self.studio.shoot(mesh, order.view)?;
            stages.end("gbuffer");
            let attempt = refused.len() as u32;
            let light = if attempt < DIFFUSION_ATTEMPTS { Light::Diffusion } else { Light::BaseShading };
            let mut verdict = Verdict::default();
            if light == Light::Diffusion {
                let reference = gate::Reference::of(&shot.layers, &shot.conditioning);
                stages.end("gate");
                let mut still_wanted = |share: f32| go_on("diffusion", 0.4 + 0.4 * share).is_ok();
                let planes = &shot.conditioning.planes;
                match model.light(&mut shot.layers, planes, order.seed, attempt, &mut still_wanted) {
                    Ok(()) => {}
                    Err(error @ DiffusionError::NotFinite { .. }) => verdict.findings.push(error.to_string()),
                    Err(error) => return Err(error.into()),
                }
                stages.end("diffusion");
                if verdict.passes() {
                    verdict = reference.judge(&shot.layers);
                }
                stages.end("gate");
            }
            let mut pictures = Vec::new();
            if verdict.passes() {
                finish::round_as_stored(&mut shot.layers);
                go_on("compose", 0.8)?;
                pictures = self.compositor.compose(&shot.layers, &order.colours)?;
                stages.end("compose");
                for (colour, picture) in order.colours.iter().zip(&pictures) {
                    verdict.add_picture(*colour, gate::judge_picture(&shot.layers, *colour, picture));
                }
                stages.end("gate");
            }
            if verdict.passes() {
                break (shot, pictures, light, verdict);
            }
            let findings = verdict.findings.join("; ");
            tracing::warn!(vehicle = order.vehicle.key(), view = %order.view, attempt, findings, "the gate refuses a render");
            if light == Light::BaseShading {
                return Err(RenderError::Quality(findings));
            }
            refused.push(json!({"findings": verdict.findings, "figures": verdict.figures}));
        };
        let pictures = order.colours.iter().copied().zip(pictures).collect();

        let files: Vec<Value> =
            model.folder().files().iter().map(|f| json!({"path": f.path, "sha256": f.sha256})).collect();
        let receipt = json!({
            "model": {"id": model.folder().id(), "digest": model.folder().digest(), "license": model.folder().license(),
                      "precision": model.folder().precision(), "files": files},
            "gbuffer_digest": shot.gbuffer_digest,
            "triangles": mesh.triangle_count(),
            "seed": order.seed,
            "scheduler": {"name": "flow-match-euler", "timesteps": model.scheduler().timesteps(),
                          "initial_noise_scale": model.scheduler().initial_noise_scale()},
            "steps": model.scheduler().timesteps().len(),
            "execution_provider": "CPUExecutionProvider",
            "onnx_runtime": self.runtime.version(),
            "device": {"name": self.gpu.name, "backend": self.gpu.backend},
            // What a picture was lit by, and what the gate measured; `refused` has an entry for each attempt that failed it.
            "light": match light { Light::Diffusion => "diffusion", Light::BaseShading => "base_shading" },
            "quality": {"figures": verdict.figures, "refused": refused},
            "timings_ms": stages.timings,
        });
        Ok(Render { layers: shot.layers, pictures, receipt })
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

/// Milliseconds by stage.
#[derive(Debug)]
pub struct Stages {
    since: Instant,
    pub timings: serde_json::Map<String, Value>,
}

impl Stages {
    pub fn new() -> Self {
        Self { since: Instant::now(), timings: serde_json::Map::new() }
    }

    /// Everything since the last end (or the start) was `stage`; one that is entered again goes on counting.
    pub fn end(&mut self, stage: &str) {
        let now = Instant::now();
        let before = self.timings.get(stage).and_then(Value::as_u64).unwrap_or(0);
        let ms = (now - self.since).as_millis() as u64;
        self.timings.insert(stage.to_owned(), (before + ms).into());
        self.since = now;
    }
}

impl Default for Stages {
    fn default() -> Self {
        Self::new()
    }
}

/// `folder` itself when it is a model, else every model folder in it, by name.
pub fn model_folders(folder: &std::path::Path) -> Result<Vec<PathBuf>, StartError> {
    if folder.join(model_folder::LOCK_FILE).is_file() {
        return Ok(vec![folder.to_path_buf()]);
    }
    let unreadable = |source| StartError::Models { folder: folder.to_path_buf(), source };
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err(StartError::NoModel(folder.to_path_buf())),
        entries => entries.map_err(unreadable)?,
    };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().map_err(unreadable)?;
    let mut models: Vec<PathBuf> =
        paths.into_iter().filter(|path| path.join(model_folder::LOCK_FILE).is_file()).collect();
    models.sort();
    match models.len() {
        0 => Err(StartError::NoModel(folder.to_path_buf())),
        found if found > MODELS_MAX => Err(StartError::TooManyModels { folder: folder.to_path_buf(), found }),
        _ => Ok(models),
    }
}

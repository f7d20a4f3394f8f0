//! One render from a vehicle to its images, in order: geometry, G-buffer, diffusion, paint. A
//! renderer owns its part of the device, and so lives on one thread (`engine` provides it); it
//! shares the models with other renderers. `publish` encodes and uploads.

use crate::config::LocalConfig;
use crate::diffusion::lock::LockedFile;
use crate::diffusion::{Base, BaseShaded, DiffusionError};
use crate::engine::memory_recovery;
use crate::engine::meshes::Meshes;
use crate::engine::models::{ModelInfo, Models};
use crate::engine::order::{Render, RenderRequest, Watch, WatchedRequest};
use crate::engine::render_error::RenderError;
use crate::engine::render_in_progress::{RenderInProgress, RenderLayers, StudioState};
use crate::engine::start_error::StartError;
use crate::finish::{self, Compositor, Lacquers};
use crate::gate::{self, GateReport};
use crate::gpu::{Gpu, Meter};
use crate::studio::{ShootSettings, Studio};
use crate::vehicle::Library;
use cyclorama_core::wire;
use cyclorama_core::wire::{DeviceReceipt, Light, ModelFileReceipt, ModelReceipt, QualityReceipt, Receipt, Stage};
use serde_json::json;
use std::sync::Arc;

/// Maximum number of attempts with the diffusion model. An image that the gate refuses that often
/// is made in the base shading alone.
const DIFFUSION_ATTEMPTS: u32 = 2;

/// Renders vehicles on one device.
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
    /// Starts a renderer with models of its own.
    pub fn start(config: &LocalConfig) -> Result<Self, StartError> {
        // The device is opened first, so that anything it lacks is reported before gigabytes are
        // read.
        let gpu = Gpu::open(&config.adapter)?;
        Self::with(config, gpu, Models::load(config)?)
    }

    /// Starts a renderer beside another one, whose models it shares.
    pub fn beside(config: &LocalConfig, models: Models) -> Result<Self, StartError> {
        Self::with(config, Gpu::open(&config.adapter)?, models)
    }

    /// Creates a renderer on a device that is open already.
    pub fn with(config: &LocalConfig, gpu: Gpu, models: Models) -> Result<Self, StartError> {
        let library = Library::open(config.sheets.as_deref())?;
        let studio = Studio::new(&gpu)?;
        let compositor = Compositor::new(&gpu)?;
        let meter = Arc::new(Meter::open(&gpu.pci_bus_id));
        Ok(Self { gpu, meter, library, studio, compositor, meshes: Meshes::default(), models })
    }

    /// Returns true if the graphics device is the CPU, which draws no faster when two renderers use
    /// it at once.
    pub fn draws_on_cpu(&self) -> bool {
        self.gpu.is_cpu
    }

    pub fn models(&self) -> &Models {
        &self.models
    }

    pub fn pipelines(&self) -> Vec<wire::Pipeline> {
        let pipeline = |facts: &ModelInfo| wire::Pipeline {
            id: facts.folder.id().to_owned(),
            digest: facts.folder.digest().to_owned(),
        };
        self.models.facts().iter().map(pipeline).collect()
    }

    pub fn device(&self) -> wire::Device {
        let card_memory_mb = self.meter.read().gpu_memory_total_mb;
        let execution_provider = Some(self.models.provider().onnx_name().to_owned());
        wire::Device {
            name: self.gpu.name.clone(),
            backend: self.gpu.backend.clone(),
            card_memory_mb,
            execution_provider,
        }
    }

    pub fn meter(&self) -> Arc<Meter> {
        self.meter.clone()
    }

    /// Drops everything that is cached for later renders.
    pub fn free(&mut self) {
        self.meshes = Meshes::default();
        // Buffers of past images are freed when the device has noticed that they are no longer
        // used.
        if let Err(error) = self.gpu.wait("freeing memory") {
            tracing::warn!(error = &error as &dyn std::error::Error, "the graphics device did not free its memory");
        }
    }

    pub fn studio(&self) -> &Studio {
        &self.studio
    }

    /// Returns how many jobs for this pipeline are worth rendering together: as many as are
    /// configured, unless memory has run out with fewer or the model takes fewer.
    pub fn batch_max(&self, pipeline: &str) -> usize {
        let takes = self.models.index_of(pipeline).and_then(|place| self.models.facts()[place].batch_max);
        self.models.batch_limit().min(takes.unwrap_or(usize::MAX)).max(1)
    }

    /// Renders one job. See [`Renderer::render_batch`].
    pub fn render(&mut self, order: &RenderRequest, watch: &mut Watch<'_>) -> Result<Render, RenderError> {
        let mut answer = Err(RenderError::Cancelled);
        let watched = WatchedRequest { order, watch: Box::new(watch) };
        self.render_batch(vec![watched], &mut |_, result| answer = result);
        answer
    }

    /// Renders jobs for one pipeline, that of the first: each alone except for the diffusion, which
    /// all go through together. Calls `done` once for each job, with its index, as soon as it has
    /// ended.
    pub fn render_batch(
        &mut self,
        watched_requests: Vec<WatchedRequest<'_>>,
        done: &mut dyn FnMut(usize, Result<Render, RenderError>),
    ) {
        let mut renders: Vec<RenderInProgress<'_>> =
            watched_requests.into_iter().enumerate().map(RenderInProgress::new).collect();
        // Returns true if the render in progress continues; otherwise reports its result.
        let mut goes_on = |in_progress: &RenderInProgress<'_>, step: Result<Option<Render>, RenderError>| {
            let ended = step.transpose().map(|result| done(in_progress.place, result));
            ended.is_none()
        };
        let pipeline = renders.first().map(|in_progress| in_progress.order.pipeline.clone()).unwrap_or_default();
        let model = self.models.index_of(&pipeline);
        renders.retain(|in_progress| match model {
            Some(_) if in_progress.order.pipeline == pipeline => true,
            _ => goes_on(in_progress, Err(RenderError::NoPipeline(in_progress.order.pipeline.clone()))),
        });
        let Some(model) = model else { return };
        for attempt in 0..=DIFFUSION_ATTEMPTS {
            if renders.is_empty() {
                break;
            }
            let light = if attempt < DIFFUSION_ATTEMPTS { Light::Diffusion } else { Light::BaseShading };
            let mut left = renders.len();
            renders.retain_mut(|in_progress| {
                left -= 1;
                // The studio has one image at a time, so only the last may remain undeveloped while
                // the model is at work.
                let shot = self.shoot(in_progress, left == 0 && light == Light::Diffusion);
                goes_on(in_progress, shot.map(|()| None))
            });
            if light == Light::Diffusion {
                self.light(model, &mut renders, attempt);
                renders.retain_mut(|in_progress| {
                    let checked = in_progress.check_light();
                    goes_on(in_progress, checked.map(|()| None))
                });
            }
            renders.retain_mut(|in_progress| {
                let finished = self.finish(model, in_progress, light);
                goes_on(in_progress, finished)
            });
        }
    }

    /// Builds the geometry and the G-buffer, whose layers may come `later`. This is repeated for
    /// each attempt, because keeping the base shading for a rare repetition would cost every render
    /// 50 MB.
    fn shoot(&mut self, in_progress: &mut RenderInProgress<'_>, later: bool) -> Result<(), RenderError> {
        in_progress.waited();
        in_progress.go_on(Stage::Geometry, 0.0)?;
        let mesh = self.meshes.get(&self.library, &in_progress.order.vehicle)?;
        in_progress.triangles = mesh.triangle_count();
        in_progress.stages.end(Stage::Geometry);
        in_progress.go_on(Stage::Gbuffer, 0.1)?;
        let exposure = self.studio.expose(mesh, in_progress.order.view, ShootSettings::default())?;
        in_progress.stages.end(Stage::Gbuffer);
        in_progress.report = GateReport::default();
        let shot = in_progress.shot.insert(StudioState { exposure, developed: None });
        if !later {
            shot.develop(&self.studio, &mut in_progress.stages)?;
        }
        Ok(())
    }

    /// Runs the diffusion for all renders in progress at once, or in parts if memory runs out.
    fn light(&mut self, model: usize, renders: &mut [RenderInProgress<'_>], attempt: u32) {
        renders.iter_mut().for_each(RenderInProgress::waited);
        let mut loaded = self.models.lock();
        renders.iter_mut().for_each(|in_progress| in_progress.stages.end_waiting(Stage::Turn));
        let Some(model) = loaded.get_mut(model) else {
            return renders.iter_mut().for_each(|in_progress| in_progress.lit = Some(Err(RenderError::NoModels)));
        };
        let studio = &self.studio;
        let mut together = |part: &mut [RenderInProgress<'_>]| -> Result<(), DiffusionError> {
            let mut pictures: Vec<BaseShaded<'_>> = Vec::with_capacity(part.len());
            let mut results: Vec<&mut Option<Result<(), RenderError>>> = Vec::with_capacity(part.len());
            for in_progress in part.iter_mut() {
                in_progress.waited();
                let RenderInProgress { order, watch, shot: Some(shot), lit, stages, .. } = in_progress else {
                    continue;
                };
                let still_wanted = Box::new(|ratio: f32| watch(Stage::Diffusion, 0.4 + 0.4 * ratio));
                let StudioState { exposure, developed } = shot;
                let (exposure, conditioning) = (&*exposure, &exposure.conditioning);
                let base: Box<Base<'_>> = Box::new(move || {
                    stages.end(Stage::Diffusion);
                    Ok(&mut StudioState::developed(exposure, developed, studio, stages)?.layers)
                });
                let RenderRequest { vehicle, view, seed, .. } = order;
                pictures.push(BaseShaded { base, conditioning, vehicle, view: *view, seed: *seed, still_wanted });
                results.push(lit);
            }
            let batch = pictures.len();
            let lit = model.light(pictures, attempt).inspect_err(|error| {
                if matches!(error, DiffusionError::OutOfMemory { .. }) && batch > 1 {
                    self.models.lower_batch_limit(batch / 2);
                    tracing::warn!(batch, "out of memory: batches are halved from now on");
                }
            })?;
            let batch = lit.iter().filter(|lit| !matches!(lit, Err(DiffusionError::Cancelled))).count();
            results.into_iter().zip(lit).for_each(|(result, lit)| *result = Some(lit.map_err(RenderError::from)));
            for in_progress in part {
                in_progress.batch = batch;
                in_progress.stages.end(Stage::Diffusion);
            }
            Ok(())
        };
        memory_recovery::in_halves(renders, &mut together, &mut |in_progress, error| {
            in_progress.lit = Some(Err(error.into()));
        });
    }

    /// Paints the images and runs the gate on them. Returns `None` if they do not pass and the
    /// vehicle must be shot again.
    fn finish(
        &mut self,
        model: usize,
        in_progress: &mut RenderInProgress<'_>,
        light: Light,
    ) -> Result<Option<Render>, RenderError> {
        let Some(StudioState { exposure, developed: Some(RenderLayers { mut layers, .. }) }) = in_progress.shot.take()
        else {
            return Ok(None);
        };
        let order = in_progress.order;
        let mut pictures = Vec::new();
        in_progress.waited();
        if in_progress.report.passes() {
            finish::round_as_stored(&mut layers);
            in_progress.go_on(Stage::Compose, 0.8)?;
            let lacquers = Lacquers::over(&layers);
            pictures = self.compositor.compose(&lacquers, &order.colours)?;
            in_progress.stages.end(Stage::Compose);
            for (paint, picture) in order.colours.iter().zip(&pictures) {
                in_progress.report.add_picture(*paint, gate::check_picture(&lacquers, *paint, picture));
            }
            in_progress.stages.end(Stage::Gate);
        }
        if in_progress.report.passes() {
            let pictures = order.colours.iter().copied().zip(pictures).collect();
            let receipt = self.receipt(model, in_progress, &exposure.gbuffer_digest, light);
            return Ok(Some(Render { layers, pictures, receipt }));
        }
        let findings = in_progress.report.findings.join("; ");
        let attempt = in_progress.refused.len();
        tracing::warn!(vehicle = order.vehicle.key(), view = %order.view, attempt, findings, "the quality gate refused a render");
        if light == Light::BaseShading {
            return Err(RenderError::Quality(findings));
        }
        in_progress
            .refused
            .push(json!({"findings": in_progress.report.findings, "figures": in_progress.report.figures}));
        Ok(None)
    }

    /// Returns the receipt of a render: the model and settings that made it, the values that the
    /// gate measured, and the duration of each stage.
    fn receipt(&self, model: usize, in_progress: &RenderInProgress<'_>, gbuffer_digest: &str, light: Light) -> Receipt {
        let ModelInfo { folder, steps, sampling, .. } = &self.models.facts()[model];
        let file = |file: &LockedFile| ModelFileReceipt { path: file.path.clone(), sha256: file.sha256.clone() };
        Receipt {
            model: Some(ModelReceipt {
                id: folder.id().to_owned(),
                digest: folder.digest().to_owned(),
                license: folder.license().into(),
                precision: folder.precision().into(),
                files: folder.files().iter().map(file).collect(),
            }),
            gbuffer_digest: Some(gbuffer_digest.to_owned()),
            triangles: Some(in_progress.triangles as u64),
            seed: Some(in_progress.order.seed),
            scheduler: Some(sampling.clone()),
            steps: Some(*steps as u64),
            batch: Some(in_progress.batch as u64),
            execution_provider: Some(self.models.provider().onnx_name().to_owned()),
            onnx_runtime: Some(self.models.onnx_runtime().version().to_owned()),
            device: Some(DeviceReceipt { name: self.gpu.name.clone(), backend: self.gpu.backend.clone() }),
            light: Some(light),
            quality: Some(QualityReceipt {
                figures: in_progress.report.figures.clone().into(),
                refused: Some(in_progress.refused.clone()),
            }),
            timings_ms: in_progress.stages.timings.clone(),
            ..Receipt::default()
        }
    }
}

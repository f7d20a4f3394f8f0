//! One render from a vehicle to its pictures, in order: geometry, G-buffer, diffusion, paint. Owns its share of the
//! device, and so lives on one thread (`engine` gives it one); the models it shares with other renderers. Encoding
//! and uploading are `publish`.

use crate::config::LocalConfig;
use crate::diffusion::lock::LockedFile;
use crate::diffusion::{Base, DiffusionError, Unlit};
use crate::engine::memory_ladder;
use crate::engine::meshes::Meshes;
use crate::engine::models::{Facts, Models};
use crate::engine::order::{Commission, Order, Render, Watch};
use crate::engine::render_error::RenderError;
use crate::engine::sitting::{Developed, Shot, Sitting};
use crate::engine::start_error::StartError;
use crate::finish::{self, Compositor, Lacquers};
use crate::gate::{self, Verdict};
use crate::gpu::{Gpu, Meter};
use crate::studio::{Settings, Studio};
use crate::vehicle::Library;
use cyclorama_core::wire;
use cyclorama_core::wire::{DeviceReceipt, Light, ModelFileReceipt, ModelReceipt, QualityReceipt, Receipt, Stage};
use serde_json::json;
use std::sync::Arc;

/// Attempts with the diffusion model; what the gate refuses that often is made in the base shading alone.
const DIFFUSION_ATTEMPTS: u32 = 2;

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
        sitting.go_on(Stage::Geometry, 0.0)?;
        let mesh = self.meshes.get(&self.library, &sitting.order.vehicle)?;
        sitting.triangles = mesh.triangle_count();
        sitting.stages.end(Stage::Geometry);
        sitting.go_on(Stage::Gbuffer, 0.1)?;
        let exposure = self.studio.expose(mesh, sitting.order.view, Settings::default())?;
        sitting.stages.end(Stage::Gbuffer);
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
        sittings.iter_mut().for_each(|sitting| sitting.stages.end_waiting(Stage::Turn));
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
                let still_wanted = Box::new(|share: f32| watch(Stage::Diffusion, 0.4 + 0.4 * share));
                let Shot { exposure, developed } = shot;
                let (exposure, conditioning) = (&*exposure, &exposure.conditioning);
                let base: Box<Base<'_>> = Box::new(move || {
                    stages.end(Stage::Diffusion);
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
                sitting.stages.end(Stage::Diffusion);
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
            sitting.go_on(Stage::Compose, 0.8)?;
            let lacquers = Lacquers::over(&layers);
            pictures = self.compositor.compose(&lacquers, &order.colours)?;
            sitting.stages.end(Stage::Compose);
            for (paint, picture) in order.colours.iter().zip(&pictures) {
                sitting.verdict.add_picture(*paint, gate::judge_picture(&lacquers, *paint, picture));
            }
            sitting.stages.end(Stage::Gate);
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

    /// What made a picture, what the gate measured of it, and how long each stage took.
    fn receipt(&self, model: usize, sitting: &Sitting<'_>, gbuffer_digest: &str, light: Light) -> Receipt {
        let Facts { folder, steps, sampling, .. } = &self.models.facts()[model];
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
            triangles: Some(sitting.triangles as u64),
            seed: Some(sitting.order.seed),
            scheduler: Some(sampling.clone()),
            steps: Some(*steps as u64),
            batch: Some(sitting.batch as u64),
            execution_provider: Some(self.models.provider().onnx_name().to_owned()),
            onnx_runtime: Some(self.models.onnx_runtime().version().to_owned()),
            device: Some(DeviceReceipt { name: self.gpu.name.clone(), backend: self.gpu.backend.clone() }),
            light: Some(light),
            quality: Some(QualityReceipt {
                figures: sitting.verdict.figures.clone().into(),
                refused: Some(sitting.refused.clone()),
            }),
            timings_ms: sitting.stages.timings.clone(),
            ..Receipt::default()
        }
    }
}

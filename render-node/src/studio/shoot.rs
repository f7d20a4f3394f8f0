//! One picture: uploads a vehicle, runs the passes, reads the layers and the conditioning back.

use super::camera::{Camera, NothingToSee};
use super::conditioning::{CONDITIONING_SIDE_PX, Conditioning};
use super::distance_field::DistanceField;
use super::frame_buffers::FrameBuffers;
use super::gpu_data::{self, FrameData, Pixel, RigData, Vertex};
use super::layers::Layers;
use super::passes::Passes;
use super::recorder::Recorder;
use super::rig::Rig;
use super::stage::Stage;
use super::steps::{EXPOSURE, development};
use super::studio_error::StudioError;
use super::targets::Targets;
use crate::gpu::{Gpu, GpuError, ask_for, read_buffer};
use crate::vehicle::VehicleMesh;
use cyclorama_core::{MASTER_SIDE_PX, View};
use glam::Vec3;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicU64, Ordering};

/// Offsets of the jittered passes in raster samples. With the 2 x 2 samples of a pixel they make 12 samples on six evenly
/// spaced rows and six columns. A fourth pass costs lavapipe half a second and is hard to see.
const JITTER: [[f32; 2]; 3] = [[-1.0 / 3.0, 0.0], [0.0, 1.0 / 3.0], [1.0 / 3.0, -1.0 / 3.0]];

/// What one picture is made of before the diffusion model and the paint.
#[derive(Debug, Clone)]
pub struct Shot {
    /// Base light at the master's size.
    pub layers: Layers,
    /// The same and the geometry at the model's size.
    pub conditioning: Conditioning,
    /// Names geometry, camera and rig: SHA-256 (hex) of everything uploaded. Equal on every device.
    pub gbuffer_digest: String,
    pub camera: Camera,
}

/// A picture of which the first pass is done and the rest on its way.
#[derive(Debug)]
pub struct Exposure {
    /// Of the first pass.
    pub conditioning: Conditioning,
    /// As in [`Shot`].
    pub gbuffer_digest: String,
    pub camera: Camera,
    /// Which of the studio's it is.
    number: u64,
}

/// What to shoot besides the vehicle and the view.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub conditioning_side_px: u32,
    /// Replaces the light by stripes over the mirror direction, which show every dent (for people who build bodies).
    pub zebra: bool,
    /// Jittered passes of four samples each, 1 to 3. Fewer are for previews.
    pub passes: usize,
    /// Draws what cannot be seen as well, as a graphics card always does, which is quicker at that than the CPU is at finding it.
    pub draws_hidden: bool,
    /// Shows this box of the vehicle (two opposite corners in vehicle axes, metres) in place of the whole: for people who make parts.
    pub close_up: Option<[Vec3; 2]>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            conditioning_side_px: CONDITIONING_SIDE_PX,
            zebra: false,
            passes: JITTER.len(),
            draws_hidden: false,
            close_up: None,
        }
    }
}

/// The pipelines, the rig and the raster targets; one picture at a time.
#[derive(Debug)]
pub struct Studio {
    gpu: Gpu,
    rig: Rig,
    passes: Passes,
    targets: Targets,
    /// How many pictures it has exposed.
    exposed: AtomicU64,
}

impl Studio {
    pub fn new(gpu: &Gpu) -> Result<Studio, StudioError> {
        Self::with_rig(gpu, Rig::built_in()?)
    }

    /// A studio with other lights. The built-in diffusion model knows only the built-in ones.
    pub fn with_rig(gpu: &Gpu, rig: Rig) -> Result<Studio, StudioError> {
        let passes = Passes::new(gpu, rig.lights.len())?;
        let targets = gpu.guarded("allocating the studio's targets", || Ok(Targets::new(gpu, &rig)))?;
        Ok(Studio { gpu: gpu.clone(), rig, passes, targets, exposed: AtomicU64::new(0) })
    }

    pub fn rig(&self) -> &Rig {
        &self.rig
    }

    pub fn shoot(&self, mesh: &VehicleMesh, view: View) -> Result<Shot, StudioError> {
        self.shoot_with(mesh, view, Settings::default())
    }

    pub fn shoot_with(&self, mesh: &VehicleMesh, view: View, settings: Settings) -> Result<Shot, StudioError> {
        let exposure = self.expose(mesh, view, settings)?;
        let layers = self.develop(&exposure)?;
        let Exposure { conditioning, gbuffer_digest, camera, .. } = exposure;
        Ok(Shot { layers, conditioning, gbuffer_digest, camera })
    }

    /// Begins a picture and waits for its first pass: what a model is told is there long before the layers are.
    pub fn expose(&self, mesh: &VehicleMesh, view: View, settings: Settings) -> Result<Exposure, StudioError> {
        let side = settings.conditioning_side_px;
        if side == 0 || !MASTER_SIDE_PX.is_multiple_of(side) {
            return Err(StudioError::Side(side));
        }
        let camera = Camera::fit(mesh, view, self.rig.reference_diagonal_m)?;
        let camera = settings.close_up.map_or(Ok(camera), |shown| camera.close_up(shown))?;
        let (field, stage) = rayon::join(
            || DistanceField::build(mesh).ok_or(NothingToSee),
            || Stage::new(mesh).map(|stage| stage.sorted_front_to_back(&camera)),
        );
        let (field, whole) = (field?, stage?);
        let frame = FrameData::new(&camera, &field, settings.zebra);
        let (gbuffer_digest, drawn) = rayon::join(
            || self.digest(&whole, &whole.counted_in(frame)),
            || (self.gpu.is_cpu && !settings.draws_hidden).then(|| whole.without_hidden(&camera)),
        );
        let stage = drawn.unwrap_or(whole);
        let frame = stage.counted_in(frame);
        let number = self.exposed.fetch_add(1, Ordering::Relaxed) + 1;
        let planes = self.gpu.guarded("shooting a picture", || {
            let jitter = &JITTER[..settings.passes.clamp(1, JITTER.len())];
            self.run(&FrameBuffers::new(&self.gpu, &stage, &field, &frame, side, jitter))
        })?;
        let conditioning = Conditioning { side_px: side, planes };
        Ok(Exposure { conditioning, gbuffer_digest, camera, number })
    }

    /// The layers of the picture that was exposed last, when all its passes are done.
    pub fn develop(&self, exposure: &Exposure) -> Result<Layers, StudioError> {
        if exposure.number != self.exposed.load(Ordering::Relaxed) {
            return Err(StudioError::Replaced);
        }
        let scale = exposure.camera.scale_um_per_px(MASTER_SIDE_PX);
        // Mapped memory is aligned for every type that a shader knows.
        Ok(self.gpu.guarded("reading the layers", || {
            read_buffer(&self.gpu, &self.targets.pixels, "reading the layers", |bytes| {
                layers_from(bytemuck::cast_slice(bytes), scale)
            })
        })?)
    }

    fn digest(&self, stage: &Stage, frame: &FrameData) -> String {
        let mut hash = Sha256::new();
        hash.update(bytemuck::cast_slice::<Vertex, u8>(&stage.vertices));
        hash.update(bytemuck::cast_slice::<u32, u8>(&stage.indices));
        hash.update(bytemuck::bytes_of(frame));
        hash.update(bytemuck::bytes_of(&RigData::new(&self.rig)));
        hash.update(bytemuck::cast_slice::<gpu_data::OpticsData, u8>(&gpu_data::optics_table()));
        hex::encode(hash.finalize())
    }

    /// Records and submits every pass; returns the conditioning planes.
    fn run(&self, frame: &FrameBuffers) -> Result<Vec<f32>, GpuError> {
        let recorder = Recorder { gpu: &self.gpu, passes: &self.passes, targets: &self.targets, frame };
        let told = ask_for(&self.gpu, recorder.record(&EXPOSURE), &frame.planes);
        // What follows runs on while the model is at work.
        self.gpu.queue.submit([recorder.record(&development(frame.frames.len())).finish()]);
        told.take(&self.gpu, "reading the conditioning", |bytes| bytemuck::cast_slice::<u8, f32>(bytes).to_vec())
    }
}

/// Takes pixels apart into planes.
fn layers_from(pixels: &[Pixel], scale_um_per_px: Option<u32>) -> Layers {
    let mut layers = Layers {
        side_px: MASTER_SIDE_PX,
        diffuse: vec![[0.0; 3]; pixels.len()],
        gloss: vec![[0.0; 3]; pixels.len()],
        rest: vec![[0.0; 3]; pixels.len()],
        coverage: vec![0.0; pixels.len()],
        paint: vec![0.0; pixels.len()],
        shadow: vec![0.0; pixels.len()],
        scale_um_per_px,
    };
    let row = MASTER_SIDE_PX as usize;
    let lights =
        layers.diffuse.par_chunks_mut(row).zip(layers.gloss.par_chunks_mut(row)).zip(layers.rest.par_chunks_mut(row));
    let shares = layers
        .coverage
        .par_chunks_mut(row)
        .zip(layers.paint.par_chunks_mut(row))
        .zip(layers.shadow.par_chunks_mut(row));
    pixels.par_chunks(row).zip(lights.zip(shares)).for_each(
        |(pixels, (((diffuse, gloss), rest), ((coverage, paint), shadow)))| {
            for (x, pixel) in pixels.iter().enumerate() {
                diffuse[x] = pixel.diffuse;
                gloss[x] = pixel.gloss;
                rest[x] = pixel.rest;
                coverage[x] = pixel.coverage;
                paint[x] = pixel.paint;
                shadow[x] = pixel.shadow;
            }
        },
    );
    layers
}

//! Takes one image: uploads a vehicle, runs the passes, and reads the layers and the conditioning
//! back from the device.

use super::camera::{Camera, NothingToSee};
use super::conditioning::{CONDITIONING_SIDE_PX, Conditioning};
use super::distance_field::DistanceField;
use super::frame_buffers::FrameBuffers;
use super::gpu_data::{self, FrameData, Pixel, RigData, Vertex};
use super::layers::Layers;
use super::passes::Passes;
use super::recorder::Recorder;
use super::rig::Rig;
use super::stage::DrawList;
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

/// Offsets of the jittered passes, in units of a sample's spacing. Three passes of 2 x 2 samples
/// give 12 samples a pixel, in six evenly spaced rows and six columns. A fourth costs lavapipe,
/// Mesa's software driver, half a second and is hard to see.
const JITTER: [[f32; 2]; 3] = [[-1.0 / 3.0, 0.0], [0.0, 1.0 / 3.0], [1.0 / 3.0, -1.0 / 3.0]];

/// The studio's output for one vehicle and view: everything that is computed before the diffusion
/// model and the paint.
#[derive(Debug, Clone)]
pub struct StudioOutput {
    /// Base shading at the master's size.
    pub layers: Layers,
    /// Base shading and geometry at the model's size.
    pub conditioning: Conditioning,
    /// Identifies geometry, camera and rig: SHA-256 (hex) of all vertices and indices, hidden ones
    /// included, the frame's data, the rig and the optics. Equal on every device.
    pub gbuffer_digest: String,
    pub camera: Camera,
}

/// An image whose first jittered pass is done while the remaining ones still run on the device.
#[derive(Debug)]
pub struct Exposure {
    /// Conditioning from the first pass.
    pub conditioning: Conditioning,
    /// Same as in [`StudioOutput`].
    pub gbuffer_digest: String,
    pub camera: Camera,
    /// Number of this exposure among those of its studio. `develop` refuses any but the latest.
    number: u64,
}

/// Settings of an image besides the vehicle and the view.
#[derive(Debug, Clone, Copy)]
pub struct ShootSettings {
    /// Side of the conditioning in pixels. It must divide the master's side.
    pub conditioning_side_px: u32,
    /// Replaces the light by stripes across the mirror direction, which show every dent. For people
    /// who build bodies.
    pub zebra: bool,
    /// Number of jittered passes of four samples each, 1 to 3. Fewer passes are for previews.
    pub passes: usize,
    /// Draws hidden triangles as well. A graphics card always does so, because drawing them there
    /// is quicker than finding them on the CPU.
    pub draws_hidden: bool,
    /// Shows this box of the vehicle (two opposite corners in vehicle axes, metres) instead of the
    /// whole vehicle. For people who make parts.
    pub close_up: Option<[Vec3; 2]>,
}

impl Default for ShootSettings {
    fn default() -> Self {
        ShootSettings {
            conditioning_side_px: CONDITIONING_SIDE_PX,
            zebra: false,
            passes: JITTER.len(),
            draws_hidden: false,
            close_up: None,
        }
    }
}

/// The passes, the rig and the raster targets. A studio takes one image at a time.
#[derive(Debug)]
pub struct Studio {
    gpu: Gpu,
    rig: Rig,
    passes: Passes,
    targets: Targets,
    /// Number of images exposed so far.
    exposed: AtomicU64,
}

impl Studio {
    /// Creates a studio with the built-in rig. Returns [`StudioError::Gpu`] if the device refuses
    /// the passes or has no memory for the targets.
    pub fn new(gpu: &Gpu) -> Result<Studio, StudioError> {
        Self::with_rig(gpu, Rig::built_in()?)
    }

    /// Creates a studio with other lights. The built-in diffusion model knows only the built-in
    /// ones.
    pub fn with_rig(gpu: &Gpu, rig: Rig) -> Result<Studio, StudioError> {
        let passes = Passes::new(gpu, rig.lights.len())?;
        let targets = gpu.guarded("allocating the studio's targets", || Ok(Targets::new(gpu, &rig)))?;
        Ok(Studio { gpu: gpu.clone(), rig, passes, targets, exposed: AtomicU64::new(0) })
    }

    pub fn rig(&self) -> &Rig {
        &self.rig
    }

    /// Takes an image with the default settings. See [`Studio::shoot_with`].
    pub fn shoot(&self, mesh: &VehicleMesh, view: View) -> Result<StudioOutput, StudioError> {
        self.shoot_with(mesh, view, ShootSettings::default())
    }

    /// Exposes and develops an image: blocks until all its passes are done. Returns the errors of
    /// [`Studio::expose`] and [`Studio::develop`].
    pub fn shoot_with(
        &self,
        mesh: &VehicleMesh,
        view: View,
        settings: ShootSettings,
    ) -> Result<StudioOutput, StudioError> {
        let exposure = self.expose(mesh, view, settings)?;
        let layers = self.develop(&exposure)?;
        let Exposure { conditioning, gbuffer_digest, camera, .. } = exposure;
        Ok(StudioOutput { layers, conditioning, gbuffer_digest, camera })
    }

    /// Starts an image and waits for its first pass. The model's conditioning is available long
    /// before the layers are.
    ///
    /// Returns [`StudioError::Side`] if the conditioning's side does not divide the master's,
    /// [`StudioError::Nothing`] or [`StudioError::Mesh`] if the mesh is empty or broken, and
    /// [`StudioError::Gpu`] if the device fails.
    pub fn expose(&self, mesh: &VehicleMesh, view: View, settings: ShootSettings) -> Result<Exposure, StudioError> {
        let side = settings.conditioning_side_px;
        if side == 0 || !MASTER_SIDE_PX.is_multiple_of(side) {
            return Err(StudioError::Side(side));
        }
        let camera = Camera::fit(mesh, view, self.rig.reference_diagonal_m)?;
        let camera = settings.close_up.map_or(Ok(camera), |shown| camera.close_up(shown))?;
        let (field, stage) = rayon::join(
            || DistanceField::build(mesh).ok_or(NothingToSee),
            || DrawList::new(mesh).map(|stage| stage.sorted_front_to_back(&camera)),
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

    /// Waits until all passes of an image are done and returns its layers. Returns
    /// [`StudioError::Replaced`] unless `exposure` is the studio's latest.
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

    fn digest(&self, stage: &DrawList, frame: &FrameData) -> String {
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
        // These passes continue while the model is at work.
        self.gpu.queue.submit([recorder.record(&development(frame.frames.len())).finish()]);
        told.take(&self.gpu, "reading the conditioning", |bytes| bytemuck::cast_slice::<u8, f32>(bytes).to_vec())
    }
}

/// Splits the pixels into planes.
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
    let ratios = layers
        .coverage
        .par_chunks_mut(row)
        .zip(layers.paint.par_chunks_mut(row))
        .zip(layers.shadow.par_chunks_mut(row));
    pixels.par_chunks(row).zip(lights.zip(ratios)).for_each(
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

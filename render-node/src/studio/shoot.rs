//! One picture: uploads a vehicle, runs the passes, reads the layers and the conditioning back.

use super::camera::{Camera, NothingToSee};
use super::conditioning::{CHANNELS, CONDITIONING_SIDE_PX, Conditioning};
use super::distance_field::DistanceField;
use super::gpu_data::{self, ConditionData, FrameData, Geometry, Lit, Pixel, RigData, Vertex};
use super::layers::Layers;
use super::passes::{DEPTH_FORMAT, GROUP_SIDE, LISTS, Passes, TARGET_FORMAT, TARGETS, UNEVEN_LIST, VERTICES_IN_GROUP};
use super::rig::{Rig, RigError};
use super::stage::Stage;
use crate::gpu::{Gpu, GpuError, ask_for, read_buffer};
use crate::vehicle::VehicleMesh;
use cyclorama_core::{MASTER_SIDE_PX, View};
use glam::Vec3;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::mem::size_of;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use wgpu::util::DeviceExt;

/// Raster targets are this many samples per layer pixel along a side (`SUB` of `samples.wgsl`).
pub(super) const SUPERSAMPLES: u32 = 2;
const WORD: u64 = size_of::<u32>() as u64;
/// Bytes of a list's `Head` in `lists.wgsl`.
pub(super) const LIST_HEAD: u64 = 4 * WORD;
/// Of the layers.
pub(super) const PIXELS: u64 = MASTER_SIDE_PX as u64 * MASTER_SIDE_PX as u64;
/// Offsets of the jittered passes in raster samples. With the 2 x 2 samples of a pixel they make 12 samples on six evenly
/// spaced rows and six columns. A fourth pass costs lavapipe half a second and is hard to see.
const JITTER: [[f32; 2]; 3] = [[-1.0 / 3.0, 0.0], [0.0, 1.0 / 3.0], [1.0 / 3.0, -1.0 / 3.0]];
/// Texels along a side of the ground map: 10 m / 192 = 5 cm, about as fine as the distance field.
const GROUND_SIDE: u32 = 192;
const GROUND_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;

#[derive(Debug, thiserror::Error)]
pub enum StudioError {
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error(transparent)]
    Rig(#[from] RigError),
    #[error(transparent)]
    Nothing(#[from] NothingToSee),
    #[error("the vehicle's mesh is broken: {0}")]
    Mesh(String),
    #[error("a picture of {0} px cannot be made: the side must divide {MASTER_SIDE_PX}")]
    Side(u32),
    #[error("the studio has taken another picture since")]
    Replaced,
}

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

/// Buffers and textures that every picture reuses.
#[derive(Debug)]
struct Targets {
    triangles: [wgpu::TextureView; TARGETS],
    depth: wgpu::TextureView,
    ground: wgpu::TextureView,
    sampler: wgpu::Sampler,
    pixels: wgpu::Buffer,
    /// One word for each of `pixels`: which take more samples.
    uneven: wgpu::Buffer,
    /// For each list how many pixels it has, and their numbers.
    lists: wgpu::Buffer,
    /// The heads of lists without pixels.
    empty_lists: wgpu::Buffer,
    /// How the samples of the first pass look, two words for each.
    looks: wgpu::Buffer,
    /// One for each of `pixels`.
    geometry: wgpu::Buffer,
    rig: wgpu::Buffer,
    optics: wgpu::Buffer,
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
            || self.digest(&whole, &frame.of(&whole)),
            || (self.gpu.is_cpu && !settings.draws_hidden).then(|| whole.without_hidden(&camera)),
        );
        let stage = drawn.unwrap_or(whole);
        let frame = frame.of(&stage);
        let number = self.exposed.fetch_add(1, Ordering::Relaxed) + 1;
        let planes = self.gpu.guarded("shooting a picture", || {
            self.run(&stage, &field, &frame, side, settings.passes.clamp(1, JITTER.len()))
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
    fn run(
        &self,
        stage: &Stage,
        field: &DistanceField,
        frame: &FrameData,
        side: u32,
        passes: usize,
    ) -> Result<Vec<f32>, GpuError> {
        let device = &self.gpu.device;
        let targets = &self.targets;
        let buffer = |label, contents: &[u8], usage| {
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some(label), contents, usage })
        };
        let storage_vertex = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX;
        let vertices = buffer("vertices", bytemuck::cast_slice(&stage.vertices), storage_vertex);
        let storage_index = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDEX;
        let indices = buffer("indices", bytemuck::cast_slice(&stage.indices), storage_index);
        let lit = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("light per vertex"),
            size: (stage.vertices.len() * size_of::<Lit>()) as u64,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        });
        let frames: Vec<_> = JITTER[..passes]
            .iter()
            .enumerate()
            .map(|(index, offset)| {
                let unit = 2.0 / (MASTER_SIDE_PX * SUPERSAMPLES) as f32;
                let jittered = frame.jittered([offset[0] * unit, offset[1] * unit], index);
                buffer("frame", bytemuck::bytes_of(&jittered), wgpu::BufferUsages::UNIFORM)
            })
            .collect();
        let field = upload_field(&self.gpu, field);
        let condition = ConditionData::new(side, MASTER_SIDE_PX);
        let condition = buffer("condition", bytemuck::bytes_of(&condition), wgpu::BufferUsages::UNIFORM);
        let planes = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("conditioning planes"),
            size: u64::from(side) * u64::from(side) * (CHANNELS * size_of::<f32>()) as u64,
            usage: wgpu::BufferUsages::STORAGE | self.gpu.readable(),
            mapped_at_creation: false,
        });

        let view = wgpu::BindingResource::TextureView;
        let sampler = wgpu::BindingResource::Sampler(&targets.sampler);
        let new_encoder = || device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("picture") });
        let mut encoder = new_encoder();

        let shadow_group = self.bind(
            &self.passes.ground_shadow.get_bind_group_layout(0),
            &[
                frames[0].as_entire_binding(),
                targets.rig.as_entire_binding(),
                view(&field),
                sampler.clone(),
                view(&targets.ground),
            ],
        );
        compute(&mut encoder, &self.passes.ground_shadow, &shadow_group, [GROUND_SIDE.div_ceil(GROUP_SIDE); 2]);

        let light_group = self.bind(
            &self.passes.light_vertices.get_bind_group_layout(0),
            &[
                frames[0].as_entire_binding(),
                targets.rig.as_entire_binding(),
                view(&field),
                sampler.clone(),
                view(&targets.ground),
                vertices.as_entire_binding(),
                lit.as_entire_binding(),
            ],
        );
        // At most 65,535 groups fit along one axis.
        let groups = (stage.vertices.len() as u32).div_ceil(VERTICES_IN_GROUP);
        let rows = groups.div_ceil(32_768).max(1);
        compute(&mut encoder, &self.passes.light_vertices, &light_group, [groups.div_ceil(rows), rows]);

        let draw = |encoder: &mut wgpu::CommandEncoder, frame: &wgpu::Buffer| {
            let visibility_group = self.bind(&self.passes.visibility_layout, &[frame.as_entire_binding()]);
            targets.raster(encoder, |pass| {
                pass.set_bind_group(0, &visibility_group, &[]);
                pass.set_vertex_buffer(0, vertices.slice(..));
                pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
                let [solid, transparent] = &self.passes.visibility;
                pass.set_pipeline(solid);
                pass.draw_indexed(0..stage.opaque_indices, 0, 0..1);
                if stage.indices.len() as u32 > stage.opaque_indices {
                    pass.set_pipeline(transparent);
                    pass.draw_indexed(stage.opaque_indices..stage.indices.len() as u32, 0, 0..1);
                }
            });
        };
        let shade = |encoder: &mut wgpu::CommandEncoder, frame: &wgpu::Buffer, lists: Range<usize>| {
            for list in lists {
                let gather = &self.passes.gather[list];
                let group = self.bind(
                    &gather.get_bind_group_layout(0),
                    &[
                        frame.as_entire_binding(),
                        targets.rig.as_entire_binding(),
                        targets.optics.as_entire_binding(),
                        view(&targets.triangles[0]),
                        view(&targets.triangles[1]),
                        vertices.as_entire_binding(),
                        lit.as_entire_binding(),
                        indices.as_entire_binding(),
                        targets.pixels.as_entire_binding(),
                        targets.lists.as_entire_binding(),
                        targets.looks.as_entire_binding(),
                        targets.geometry.as_entire_binding(),
                    ],
                );
                compute_indirect(encoder, gather, &group, &targets.lists, list as u64 * LIST_HEAD);
            }
        };
        draw(&mut encoder, &frames[0]);
        let background_group = self.bind(
            &self.passes.background.get_bind_group_layout(0),
            &[
                frames[0].as_entire_binding(),
                condition.as_entire_binding(),
                view(&targets.ground),
                sampler.clone(),
                targets.pixels.as_entire_binding(),
                planes.as_entire_binding(),
            ],
        );
        compute(&mut encoder, &self.passes.background, &background_group, [side.div_ceil(GROUP_SIDE); 2]);
        encoder.copy_buffer_to_buffer(&targets.empty_lists, 0, &targets.lists, 0, LISTS as u64 * LIST_HEAD);
        let classify_group = self.bind(
            &self.passes.classify.get_bind_group_layout(0),
            &[
                frames[0].as_entire_binding(),
                view(&targets.triangles[0]),
                view(&targets.triangles[1]),
                targets.lists.as_entire_binding(),
                targets.looks.as_entire_binding(),
                targets.geometry.as_entire_binding(),
            ],
        );
        let covered = frame.covered_size();
        let covered_groups = covered.map(|pixels| pixels.div_ceil(GROUP_SIDE));
        compute(&mut encoder, &self.passes.classify, &classify_group, covered_groups);
        shade(&mut encoder, &frames[0], 0..UNEVEN_LIST);
        let condition_group = self.bind(
            &self.passes.condition.get_bind_group_layout(0),
            &[
                frames[0].as_entire_binding(),
                condition.as_entire_binding(),
                targets.geometry.as_entire_binding(),
                targets.pixels.as_entire_binding(),
                planes.as_entire_binding(),
            ],
        );
        // One more than the covered pixels fill, as these need not begin with a block.
        let blocks = covered.map(|pixels| pixels.div_ceil(MASTER_SIDE_PX / side) + 1);
        compute(
            &mut encoder,
            &self.passes.condition,
            &condition_group,
            blocks.map(|blocks| blocks.div_ceil(GROUP_SIDE)),
        );
        let told = ask_for(&self.gpu, encoder, &planes);

        // What follows runs on while the model is at work.
        let mut encoder = new_encoder();
        encoder.clear_buffer(&targets.uneven, 0, None);
        let uneven_group = self.bind(
            &self.passes.uneven.get_bind_group_layout(0),
            &[
                frames[0].as_entire_binding(),
                targets.looks.as_entire_binding(),
                targets.uneven.as_entire_binding(),
                targets.lists.as_entire_binding(),
            ],
        );
        compute(&mut encoder, &self.passes.uneven, &uneven_group, covered_groups);
        for frame in &frames[1..] {
            draw(&mut encoder, frame);
            shade(&mut encoder, frame, UNEVEN_LIST..LISTS);
        }
        self.gpu.queue.submit([encoder.finish()]);
        told.take(&self.gpu, "reading the conditioning", |bytes| bytemuck::cast_slice::<u8, f32>(bytes).to_vec())
    }

    fn bind(&self, layout: &wgpu::BindGroupLayout, resources: &[wgpu::BindingResource<'_>]) -> wgpu::BindGroup {
        let entries: Vec<_> = resources
            .iter()
            .enumerate()
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding: binding as u32, resource: resource.clone() })
            .collect();
        self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("studio pass"),
            layout,
            entries: &entries,
        })
    }
}

fn compute(
    encoder: &mut wgpu::CommandEncoder,
    pipeline: &wgpu::ComputePipeline,
    group: &wgpu::BindGroup,
    groups: [u32; 2],
) {
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, group, &[]);
    pass.dispatch_workgroups(groups[0], groups[1], 1);
}

/// As many groups as the three words of `groups` from byte `at` on say.
fn compute_indirect(
    encoder: &mut wgpu::CommandEncoder,
    pipeline: &wgpu::ComputePipeline,
    group: &wgpu::BindGroup,
    groups: &wgpu::Buffer,
    at: u64,
) {
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, group, &[]);
    pass.dispatch_workgroups_indirect(groups, at);
}

fn upload_field(gpu: &Gpu, field: &DistanceField) -> wgpu::TextureView {
    // Half floats: filtering 32-bit ones is an optional feature, and a millimetre does not matter here.
    let halves: Vec<u16> = field.distances_m.iter().map(|d| half::f16::from_f32(*d).to_bits()).collect();
    let [width, height, depth_or_array_layers] = field.cells.map(|n| n as u32);
    let descriptor = wgpu::TextureDescriptor {
        label: Some("distance field"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D3,
        format: wgpu::TextureFormat::R16Float,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    };
    gpu.device
        .create_texture_with_data(
            &gpu.queue,
            &descriptor,
            wgpu::util::TextureDataOrder::LayerMajor,
            bytemuck::cast_slice(&halves),
        )
        .create_view(&Default::default())
}

impl Targets {
    fn new(gpu: &Gpu, rig: &Rig) -> Targets {
        let texture = |label, side, format, usage| {
            gpu.device
                .create_texture(&wgpu::TextureDescriptor {
                    label: Some(label),
                    size: wgpu::Extent3d { width: side, height: side, depth_or_array_layers: 1 },
                    mip_level_count: 1,
                    sample_count: 1,
                    dimension: wgpu::TextureDimension::D2,
                    format,
                    usage,
                    view_formats: &[],
                })
                .create_view(&Default::default())
        };
        let side = MASTER_SIDE_PX * SUPERSAMPLES;
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let scratch = |label, size, usage| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let drawn = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
        let uniform = |label, contents: &[u8]| {
            gpu.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some(label),
                contents,
                usage: wgpu::BufferUsages::UNIFORM,
            })
        };
        Targets {
            triangles: ["solid", "transparent"].map(|label| texture(label, side, TARGET_FORMAT, drawn)),
            depth: texture("depth", side, DEPTH_FORMAT, wgpu::TextureUsages::RENDER_ATTACHMENT),
            ground: texture(
                "ground map",
                GROUND_SIDE,
                GROUND_FORMAT,
                wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::TEXTURE_BINDING,
            ),
            sampler: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("linear"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            pixels: gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("layer pixels"),
                size: PIXELS * size_of::<Pixel>() as u64,
                usage: wgpu::BufferUsages::STORAGE | gpu.readable(),
                mapped_at_creation: false,
            }),
            uneven: scratch("uneven pixels", PIXELS * WORD, storage),
            lists: scratch(
                "lists of pixels",
                LISTS as u64 * (LIST_HEAD + PIXELS * WORD),
                storage | wgpu::BufferUsages::INDIRECT,
            ),
            empty_lists: gpu.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some("empty lists"),
                contents: bytemuck::cast_slice(&[[0_u32, 1, 1, 0]; LISTS]),
                usage: wgpu::BufferUsages::COPY_SRC,
            }),
            looks: scratch("looks of samples", u64::from(side) * u64::from(side) * 2 * WORD, storage),
            geometry: scratch("geometry", PIXELS * size_of::<Geometry>() as u64, storage),
            rig: uniform("rig", bytemuck::bytes_of(&RigData::new(rig))),
            optics: uniform("optics", bytemuck::cast_slice(&gpu_data::optics_table())),
        }
    }

    fn raster(&self, encoder: &mut wgpu::CommandEncoder, draw: impl FnOnce(&mut wgpu::RenderPass<'_>)) {
        let attachments = self.triangles.each_ref().map(|view| {
            Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })
        });
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("visibility"),
            color_attachments: &attachments,
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        draw(&mut pass);
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

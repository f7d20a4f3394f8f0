//! One picture: uploads a vehicle, runs the passes, reads the layers and the conditioning back.

use super::camera::{Camera, NothingToSee};
use super::conditioning::{CHANNELS, CONDITIONING_SIDE_PX, Conditioning};
use super::distance_field::DistanceField;
use super::gpu_data::{self, ConditionData, FrameData, Lit, Pixel, RigData, Vertex};
use super::layers::Layers;
use super::passes::{DEPTH_FORMAT, GEOMETRY_TARGET, Passes, TARGET_FORMAT, TARGETS};
use super::rig::{Rig, RigError};
use super::stage::Stage;
use crate::gpu::{Gpu, GpuError, read_buffer};
use crate::vehicle::VehicleMesh;
use cyclorama_core::{MASTER_SIDE_PX, View};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::mem::size_of;
use wgpu::util::DeviceExt;

/// Raster targets are this many samples per layer pixel along a side (`SUB` of `accumulate.wgsl`).
const SUPERSAMPLES: u32 = 2;
/// Offsets of the jittered passes in raster samples. With the 2 x 2 samples of a pixel they make 12 samples on six evenly
/// spaced rows and six columns. A fourth pass costs lavapipe half a second and is hard to see.
const JITTER: [[f32; 2]; 3] = [[-1.0 / 3.0, 0.0], [0.0, 1.0 / 3.0], [1.0 / 3.0, -1.0 / 3.0]];
/// Texels along a side of the ground map: 10 m / 192 = 5 cm, about as fine as the distance field.
const GROUND_SIDE: u32 = 192;

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
}

impl Default for Settings {
    fn default() -> Self {
        Settings { conditioning_side_px: CONDITIONING_SIDE_PX, zebra: false, passes: JITTER.len(), draws_hidden: false }
    }
}

/// The pipelines, the rig and the raster targets; one picture at a time.
#[derive(Debug)]
pub struct Studio {
    gpu: Gpu,
    rig: Rig,
    passes: Passes,
    targets: Targets,
}

/// Buffers and textures that every picture reuses.
#[derive(Debug)]
struct Targets {
    colour: [wgpu::TextureView; TARGETS],
    depth: wgpu::TextureView,
    ground: wgpu::TextureView,
    sampler: wgpu::Sampler,
    pixels: wgpu::Buffer,
    /// One word for each of `pixels`: which take more samples.
    uneven: wgpu::Buffer,
    rig: wgpu::Buffer,
    optics: wgpu::Buffer,
}

impl Studio {
    pub fn new(gpu: &Gpu) -> Result<Studio, StudioError> {
        Self::with_rig(gpu, Rig::built_in()?)
    }

    /// A studio with other lights. The built-in diffusion model knows only the built-in ones.
    pub fn with_rig(gpu: &Gpu, rig: Rig) -> Result<Studio, StudioError> {
        let passes = Passes::new(gpu)?;
        let targets = gpu.guarded("allocating the studio's targets", || Ok(Targets::new(gpu, &rig)))?;
        Ok(Studio { gpu: gpu.clone(), rig, passes, targets })
    }

    pub fn rig(&self) -> &Rig {
        &self.rig
    }

    pub fn shoot(&self, mesh: &VehicleMesh, view: View) -> Result<Shot, StudioError> {
        self.shoot_with(mesh, view, Settings::default())
    }

    pub fn shoot_with(&self, mesh: &VehicleMesh, view: View, settings: Settings) -> Result<Shot, StudioError> {
        let side = settings.conditioning_side_px;
        if side == 0 || !MASTER_SIDE_PX.is_multiple_of(side) {
            return Err(StudioError::Side(side));
        }
        let camera = Camera::fit(mesh, view, self.rig.reference_diagonal_m)?;
        let (field, stage) = rayon::join(
            || DistanceField::build(mesh).ok_or(NothingToSee),
            || Stage::new(mesh).map(|stage| stage.sorted_front_to_back(&camera)),
        );
        let (field, mut stage) = (field?, stage?);
        let mut frame = FrameData::new(&camera, &field, stage.vertices.len() as u32, settings.zebra);
        let gbuffer_digest = self.digest(&stage, &frame);
        if self.gpu.is_cpu && !settings.draws_hidden {
            stage = stage.without_hidden(&camera);
            frame.vertex_count = stage.vertices.len() as u32;
        }
        let (layers, planes) = self.gpu.guarded("shooting a picture", || {
            self.run(&stage, &field, &frame, side, settings.passes.clamp(1, JITTER.len()))
        })?;
        let conditioning = Conditioning { side_px: side, planes };
        Ok(Shot { layers, conditioning, gbuffer_digest, camera })
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

    /// Records and submits every pass; returns layers and conditioning planes.
    fn run(
        &self,
        stage: &Stage,
        field: &DistanceField,
        frame: &FrameData,
        side: u32,
        passes: usize,
    ) -> Result<(Layers, Vec<f32>), GpuError> {
        let device = &self.gpu.device;
        let targets = &self.targets;
        let buffer = |label, contents: &[u8], usage| {
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some(label), contents, usage })
        };
        let storage_vertex = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX;
        let vertices = buffer("vertices", bytemuck::cast_slice(&stage.vertices), storage_vertex);
        let indices = buffer("indices", bytemuck::cast_slice(&stage.indices), wgpu::BufferUsages::INDEX);
        let lit = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("light per vertex"),
            size: (stage.vertices.len() * size_of::<Lit>()) as u64,
            usage: storage_vertex,
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
        let (covered_low, covered_size) = (frame.covered_low, frame.covered_size());
        let condition = ConditionData::new(side, MASTER_SIDE_PX * SUPERSAMPLES, MASTER_SIDE_PX);
        let condition = buffer("condition", bytemuck::bytes_of(&condition), wgpu::BufferUsages::UNIFORM);
        let planes = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("conditioning planes"),
            size: u64::from(side) * u64::from(side) * (CHANNELS * size_of::<f32>()) as u64,
            usage: wgpu::BufferUsages::STORAGE | self.gpu.readable(),
            mapped_at_creation: false,
        });

        let view = wgpu::BindingResource::TextureView;
        let sampler = wgpu::BindingResource::Sampler(&targets.sampler);
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("picture") });

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
        compute(
            &mut encoder,
            &self.passes.ground_shadow,
            &shadow_group,
            [GROUND_SIDE.div_ceil(8), GROUND_SIDE.div_ceil(8)],
        );

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
        let groups = (stage.vertices.len() as u32).div_ceil(64);
        let rows = groups.div_ceil(32_768).max(1);
        compute(&mut encoder, &self.passes.light_vertices, &light_group, [groups.div_ceil(rows), rows]);

        let even_group = self.bind(&self.passes.even.get_bind_group_layout(0), &[targets.uneven.as_entire_binding()]);
        encoder.clear_buffer(&targets.uneven, 0, None);
        for (index, frame) in frames.iter().enumerate() {
            let surface_group = self.bind(
                &self.passes.surface_layout,
                &[frame.as_entire_binding(), targets.rig.as_entire_binding(), targets.optics.as_entire_binding()],
            );
            let first = index == 0;
            let [opaque, transparent] = if first { &self.passes.with_geometry } else { &self.passes.light_only };
            targets.raster(&mut encoder, first, |pass| {
                if !first {
                    pass.set_pipeline(&self.passes.even);
                    pass.set_bind_group(0, &even_group, &[]);
                    let [left, top] = covered_low.map(|pixels| pixels * SUPERSAMPLES);
                    let [width, height] = covered_size.map(|pixels| pixels * SUPERSAMPLES);
                    pass.set_scissor_rect(left, top, width, height);
                    pass.draw(0..3, 0..1);
                }
                pass.set_bind_group(0, &surface_group, &[]);
                pass.set_vertex_buffer(0, vertices.slice(..));
                pass.set_vertex_buffer(1, lit.slice(..));
                pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
                pass.set_pipeline(opaque);
                pass.draw_indexed(0..stage.opaque_indices, 0, 0..1);
                if stage.indices.len() as u32 > stage.opaque_indices {
                    pass.set_pipeline(transparent);
                    pass.draw_indexed(stage.opaque_indices..stage.indices.len() as u32, 0, 0..1);
                }
            });
            let sum_group = self.bind(
                &self.passes.accumulate.get_bind_group_layout(0),
                &[
                    frame.as_entire_binding(),
                    view(&targets.colour[0]),
                    view(&targets.colour[1]),
                    view(&targets.colour[2]),
                    view(&targets.ground),
                    sampler.clone(),
                    targets.pixels.as_entire_binding(),
                    targets.uneven.as_entire_binding(),
                ],
            );
            // What is not covered has its shadow from the first pass.
            let across = if first { [MASTER_SIDE_PX; 2] } else { covered_size };
            compute(&mut encoder, &self.passes.accumulate, &sum_group, across.map(|pixels| pixels.div_ceil(8)));
            if first {
                let condition_group = self.bind(
                    &self.passes.condition.get_bind_group_layout(0),
                    &[
                        frame.as_entire_binding(),
                        condition.as_entire_binding(),
                        view(&targets.colour[0]),
                        view(&targets.colour[2]),
                        view(&targets.colour[3]),
                        targets.pixels.as_entire_binding(),
                        planes.as_entire_binding(),
                    ],
                );
                compute(&mut encoder, &self.passes.condition, &condition_group, [side.div_ceil(8); 2]);
            }
        }
        self.gpu.queue.submit([encoder.finish()]);
        // Mapped memory is aligned for every type that a shader knows.
        let layers = read_buffer(&self.gpu, &targets.pixels, "reading the layers", |bytes| {
            layers_from(bytemuck::cast_slice(bytes))
        })?;
        let planes = read_buffer(&self.gpu, &planes, "reading the conditioning", |bytes| {
            bytemuck::cast_slice::<u8, f32>(bytes).to_vec()
        })?;
        Ok((layers, planes))
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
        let drawn = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
        let uniform = |label, contents: &[u8]| {
            gpu.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some(label),
                contents,
                usage: wgpu::BufferUsages::UNIFORM,
            })
        };
        Targets {
            colour: ["rest", "diffuse", "gloss", "geometry"].map(|label| texture(label, side, TARGET_FORMAT, drawn)),
            depth: texture("depth", side, DEPTH_FORMAT, wgpu::TextureUsages::RENDER_ATTACHMENT),
            ground: texture(
                "ground map",
                GROUND_SIDE,
                TARGET_FORMAT,
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
                size: u64::from(MASTER_SIDE_PX) * u64::from(MASTER_SIDE_PX) * size_of::<Pixel>() as u64,
                usage: wgpu::BufferUsages::STORAGE | gpu.readable(),
                mapped_at_creation: false,
            }),
            uneven: gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("uneven pixels"),
                size: u64::from(MASTER_SIDE_PX) * u64::from(MASTER_SIDE_PX) * size_of::<u32>() as u64,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
            rig: uniform("rig", bytemuck::bytes_of(&RigData::new(rig))),
            optics: uniform("optics", bytemuck::cast_slice(&gpu_data::optics_table())),
        }
    }

    fn raster(&self, encoder: &mut wgpu::CommandEncoder, geometry: bool, draw: impl FnOnce(&mut wgpu::RenderPass<'_>)) {
        // What shows through glass where nothing is behind it: the far wall, dimmed by the second pane. No coverage.
        let backdrop = wgpu::Color { r: 0.09, g: 0.091, b: 0.093, a: 0.0 };
        let clear = [backdrop, wgpu::Color::TRANSPARENT, wgpu::Color::TRANSPARENT, wgpu::Color::TRANSPARENT];
        let attachments: Vec<_> = self
            .colour
            .iter()
            .zip(clear)
            .enumerate()
            .map(|(index, (view, colour))| {
                (geometry || index != GEOMETRY_TARGET).then_some(wgpu::RenderPassColorAttachment {
                    view,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations { load: wgpu::LoadOp::Clear(colour), store: wgpu::StoreOp::Store },
                })
            })
            .collect();
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("surface"),
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

/// Takes pixels apart, a plane at a time.
fn layers_from(pixels: &[Pixel]) -> Layers {
    fn plane<T: Send>(pixels: &[Pixel], of: fn(&Pixel) -> T) -> Vec<T> {
        pixels.par_iter().map(of).collect()
    }
    Layers {
        side_px: MASTER_SIDE_PX,
        diffuse: plane(pixels, |p| p.diffuse),
        gloss: plane(pixels, |p| p.gloss),
        rest: plane(pixels, |p| p.rest),
        coverage: plane(pixels, |p| p.coverage),
        paint: plane(pixels, |p| p.paint),
        shadow: plane(pixels, |p| p.shadow),
    }
}

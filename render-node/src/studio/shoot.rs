//! One picture: uploads a vehicle, runs the passes, reads the layers and the conditioning back.

use super::camera::{Camera, NothingToSee};
use super::conditioning::{CHANNELS, CONDITIONING_SIDE_PX, Conditioning};
use super::distance_field::DistanceField;
use super::gpu_data::{self, ConditionData, FrameData, Lit, Pixel, RigData, Vertex};
use super::layers::Layers;
use super::optics;
use super::passes::{DEPTH_FORMAT, GEOMETRY_TARGET, Passes, TARGET_FORMAT, TARGETS};
use super::rig::{Rig, RigError};
use crate::gpu::{Gpu, GpuError, read_buffer};
use crate::vehicle::VehicleMesh;
use cyclorama_core::{MASTER_SIDE_PX, View};
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
/// More would pass the device's buffer limit at 32 bytes a vertex, and no template comes near.
const VERTICES_MAX: usize = 4_000_000;

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
}

impl Default for Settings {
    fn default() -> Self {
        Settings { conditioning_side_px: CONDITIONING_SIDE_PX, zebra: false, passes: JITTER.len() }
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
        let field = DistanceField::build(mesh).ok_or(NothingToSee)?;
        let stage = Stage::new(mesh)?;
        let frame = FrameData::new(&camera, &field, stage.vertices.len() as u32, settings.zebra);
        let gbuffer_digest = self.digest(&stage, &frame);
        let (pixels, planes) =
            self.gpu.guarded("shooting a picture", || self.run(&stage, &field, &frame, side, settings.passes.clamp(1, JITTER.len())))?;
        let layers = layers_from(&pixels);
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

    /// Records and submits every pass; returns layer pixels and conditioning planes.
    fn run(&self, stage: &Stage, field: &DistanceField, frame: &FrameData, side: u32, passes: usize) -> Result<(Vec<Pixel>, Vec<f32>), GpuError> {
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
                let jittered = frame.jittered([offset[0] * unit, offset[1] * unit], index == 0, passes);
                buffer("frame", bytemuck::bytes_of(&jittered), wgpu::BufferUsages::UNIFORM)
            })
            .collect();
        let field = upload_field(&self.gpu, field);
        let condition = ConditionData::new(side, MASTER_SIDE_PX * SUPERSAMPLES, MASTER_SIDE_PX);
        let condition = buffer("condition", bytemuck::bytes_of(&condition), wgpu::BufferUsages::UNIFORM);
        let planes = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("conditioning planes"),
            size: u64::from(side) * u64::from(side) * (CHANNELS * size_of::<f32>()) as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });

        let view = wgpu::BindingResource::TextureView;
        let sampler = wgpu::BindingResource::Sampler(&targets.sampler);
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("picture") });

        let shadow_group = self.bind(
            &self.passes.ground_shadow.get_bind_group_layout(0),
            &[frames[0].as_entire_binding(), targets.rig.as_entire_binding(), view(&field), sampler.clone(), view(&targets.ground)],
        );
        compute(&mut encoder, &self.passes.ground_shadow, &shadow_group, [GROUND_SIDE.div_ceil(8), GROUND_SIDE.div_ceil(8)]);

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

        for (index, frame) in frames.iter().enumerate() {
            let surface_group = self.bind(
                &self.passes.surface_layout,
                &[
                    frame.as_entire_binding(),
                    targets.rig.as_entire_binding(),
                    view(&targets.ground),
                    sampler.clone(),
                    targets.optics.as_entire_binding(),
                ],
            );
            let last = index + 1 == frames.len();
            let [opaque, transparent] = if last { &self.passes.with_geometry } else { &self.passes.light_only };
            targets.raster(&mut encoder, last, |pass| {
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
                ],
            );
            compute(&mut encoder, &self.passes.accumulate, &sum_group, [MASTER_SIDE_PX / 8; 2]);
            if last {
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
        let pixels = read_buffer(&self.gpu, &targets.pixels, "reading the layers")?;
        let planes = read_buffer(&self.gpu, &planes, "reading the conditioning")?;
        Ok((bytemuck::pod_collect_to_vec(&pixels), bytemuck::pod_collect_to_vec(&planes)))
    }

    fn bind(&self, layout: &wgpu::BindGroupLayout, resources: &[wgpu::BindingResource<'_>]) -> wgpu::BindGroup {
        let entries: Vec<_> = resources
            .iter()
            .enumerate()
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding: binding as u32, resource: resource.clone() })
            .collect();
        self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("studio pass"), layout, entries: &entries })
    }
}

fn compute(encoder: &mut wgpu::CommandEncoder, pipeline: &wgpu::ComputePipeline, group: &wgpu::BindGroup, groups: [u32; 2]) {
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
        .create_texture_with_data(&gpu.queue, &descriptor, wgpu::util::TextureDataOrder::LayerMajor, bytemuck::cast_slice(&halves))
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
            gpu.device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some(label), contents, usage: wgpu::BufferUsages::UNIFORM })
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
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
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

/// The vehicle in the order it is drawn: solid materials, then transparent ones.
struct Stage {
    vertices: Vec<Vertex>,
    indices: Vec<u32>,
    opaque_indices: u32,
}

impl Stage {
    fn new(mesh: &VehicleMesh) -> Result<Stage, StudioError> {
        let mut stage = Stage { vertices: Vec::new(), indices: Vec::new(), opaque_indices: 0 };
        for transparent in [false, true] {
            for (material, surface) in mesh.surfaces.iter().filter(|(material, _)| optics::is_transparent(**material) == transparent) {
                let broken = |what: &str| StudioError::Mesh(format!("{material:?} {what}"));
                if surface.positions.len() != surface.normals.len() {
                    return Err(broken("has not one normal for every position"));
                }
                if surface.indices.iter().any(|index| *index as usize >= surface.positions.len()) {
                    return Err(broken("names a vertex that it does not have"));
                }
                let base = stage.vertices.len() as u32;
                stage.vertices.extend(surface.positions.iter().zip(&surface.normals).map(|(position, normal)| Vertex {
                    position: *position,
                    material: *material as u32,
                    normal: *normal,
                    reserved: 0,
                }));
                stage.indices.extend(surface.indices.iter().map(|index| base + index));
                if stage.vertices.len() > VERTICES_MAX {
                    return Err(StudioError::Mesh(format!("more than {VERTICES_MAX} vertices")));
                }
            }
            if !transparent {
                stage.opaque_indices = stage.indices.len() as u32;
            }
        }
        if stage.indices.is_empty() {
            return Err(NothingToSee.into());
        }
        Ok(stage)
    }
}

fn layers_from(pixels: &[Pixel]) -> Layers {
    Layers {
        side_px: MASTER_SIDE_PX,
        diffuse: pixels.iter().map(|p| p.diffuse).collect(),
        gloss: pixels.iter().map(|p| p.gloss).collect(),
        rest: pixels.iter().map(|p| p.rest).collect(),
        coverage: pixels.iter().map(|p| p.coverage).collect(),
        paint: pixels.iter().map(|p| p.paint).collect(),
        shadow: pixels.iter().map(|p| p.shadow).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::AdapterChoice;
    use crate::studio::Channel;
    use crate::vehicle::{Material, Surface};
    use glam::Vec3;
    use std::f32::consts::PI;

    const QUICK: Settings = Settings { conditioning_side_px: 256, zebra: false, passes: 1 };

    /// A ball of 0.7 m radius on the ground: every normal is known.
    fn ball(material: Material) -> VehicleMesh {
        const RINGS: u32 = 64;
        let mut surface = Surface::default();
        for ring in 0..=RINGS {
            for step in 0..RINGS * 2 {
                let (up, around) = (ring as f32 / RINGS as f32 * PI, step as f32 / RINGS as f32 * PI);
                let normal = Vec3::new(up.sin() * around.cos(), up.sin() * around.sin(), up.cos());
                surface.normals.push(normal.to_array());
                surface.positions.push((normal * 0.7 + Vec3::new(0.7, 0.0, 0.7)).to_array());
                if ring < RINGS {
                    let at = |ring: u32, step: u32| ring * RINGS * 2 + step % (RINGS * 2);
                    surface.indices.extend([at(ring, step), at(ring + 1, step), at(ring, step + 1)]);
                    surface.indices.extend([at(ring, step + 1), at(ring + 1, step), at(ring + 1, step + 1)]);
                }
            }
        }
        let mut mesh = VehicleMesh::default();
        mesh.add(material, &surface);
        mesh
    }

    fn gpu() -> Gpu {
        Gpu::open(&AdapterChoice::Best).expect("a Vulkan device")
    }

    #[test]
    fn a_painted_ball_is_lit_from_above_and_stands_in_its_shadow() {
        let studio = Studio::new(&gpu()).expect("a studio");
        let shot = studio.shoot_with(&ball(Material::Paint), View::Side, QUICK).expect("a shot");
        let layers = &shot.layers;
        let at = |x: usize, y: usize| y * 1024 + x;
        assert_eq!(layers.coverage[at(512, 512)], 1.0);
        assert_eq!(layers.coverage[at(4, 4)], 0.0);
        assert_eq!(layers.paint, layers.coverage, "nothing but paint");
        assert!(layers.rest.iter().all(|rest| *rest == [0.0; 3]), "paint leaves nothing in `rest`");
        let green = |y: usize| layers.diffuse[at(512, y)][1];
        assert!(green(200) > green(512) && green(512) > green(900) && green(900) > 0.0, "{} {} {}", green(200), green(512), green(900));
        assert!((0.5..1.5).contains(&green(200)), "white in the light is about 1, not {}", green(200));
        // Where the ball touches the ground there is shadow; far from it there is none.
        let (near, far) = (layers.shadow[at(512, 960)], layers.shadow[at(20, 100)]);
        assert!(near > 0.15 && far == 0.0, "shadow {near} at the ball, {far} above the horizon");

        let middle = 128 * 256 + 128;
        let plane = |channel| shot.conditioning.plane(channel)[middle];
        assert!(plane(Channel::NormalZ) > 0.99, "the middle of a ball faces the camera");
        assert!((plane(Channel::Height) / 0.5 / shot.camera.scale - 0.7).abs() < 0.06, "height {}", plane(Channel::Height));
        assert_eq!((plane(Channel::MaskPaint), plane(Channel::MaskGlass), plane(Channel::AlbedoG)), (1.0, 0.0, 0.5));
        // The shader's encoding is the model's: the mean of the layers' 4 x 4 pixels, then the root.
        let mean = (0..16).map(|i| layers.diffuse[at(512 + i % 4, 512 + i / 4)][1]).sum::<f32>() / 16.0;
        let encoded = crate::diffusion::light_space::encode(mean);
        assert!((plane(Channel::DiffuseG) - encoded).abs() < 1e-4, "{} is not {encoded}", plane(Channel::DiffuseG));
        let upper = shot.conditioning.plane(Channel::NormalY)[60 * 256 + 128];
        assert!(upper > 0.3, "normals point up in the upper half: {upper}");
    }

    /// A sign error in one light is invisible in a picture lit by seven.
    #[test]
    fn every_light_alone_lights_a_ball_and_shows_in_it() {
        let gpu = gpu();
        let rig = Rig::built_in().expect("the rig");
        for light in &rig.lights {
            let mut alone = rig.clone();
            alone.lights = vec![light.clone()];
            let dark = &mut alone.surroundings;
            for part in [&mut dark.floor_near, &mut dark.floor_far, &mut dark.horizon_back, &mut dark.horizon_front, &mut dark.zenith] {
                *part = Vec3::ZERO;
            }
            let layers = Studio::with_rig(&gpu, alone)
                .and_then(|studio| studio.shoot_with(&ball(Material::Paint), View::Side, QUICK))
                .expect("a shot")
                .layers;
            let brightest = |plane: &[[f32; 3]]| plane.iter().map(|light| light[1]).fold(0.0, f32::max);
            let (diffuse, gloss) = (brightest(&layers.diffuse), brightest(&layers.gloss));
            assert!(diffuse > 0.02, "{} gives no light: {diffuse}", light.name);
            assert!(gloss > 0.02 * light.radiance.y, "{} is not mirrored: {gloss}", light.name);
        }
    }

    #[test]
    fn a_shot_can_be_repeated_and_its_digest_names_the_view() {
        let studio = Studio::new(&gpu()).expect("a studio");
        let mesh = ball(Material::Chrome);
        let shoot = |view| studio.shoot_with(&mesh, view, QUICK).expect("a shot");
        let (first, again, other) = (shoot(View::Front), shoot(View::Front), shoot(View::Rear));
        assert_eq!(first.gbuffer_digest, again.gbuffer_digest);
        assert!(first.layers == again.layers, "the same picture differs");
        assert_ne!(first.gbuffer_digest, other.gbuffer_digest);
    }

    #[test]
    fn broken_meshes_are_errors() {
        let studio = Studio::new(&gpu()).expect("a studio");
        let mut mesh = ball(Material::Paint);
        let surface = mesh.surfaces.get_mut(&Material::Paint).expect("the ball");
        surface.indices.push(1_000_000);
        let error = studio.shoot(&mesh, View::Side).expect_err("bad index").to_string();
        assert_eq!(error, "the vehicle's mesh is broken: Paint names a vertex that it does not have");
        assert!(matches!(studio.shoot(&VehicleMesh::default(), View::Side), Err(StudioError::Nothing(_))));
    }
}

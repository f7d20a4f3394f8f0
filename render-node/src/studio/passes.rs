//! The studio's pipelines: built once, immutable. `steps` defines the order in which they run,
//! `recorder` the buffers that they run on.
//!
//! Why: `docs/decisions/studio-and-light.md` (Visibility buffer: how surfaces are shaded).

use super::gpu_data::Vertex;
use crate::gpu::{Gpu, GpuError};
use std::mem::{offset_of, size_of};

/// The complete WGSL source of a pass.
#[derive(Debug, Clone, Copy)]
pub struct Shader {
    pub name: &'static str,
    pub source: &'static str,
}

#[cfg(test)]
impl Shader {
    pub fn parsed(self) -> naga::Module {
        naga::front::wgsl::parse_str(self.source)
            .unwrap_or_else(|error| panic!("{}: {}", self.name, error.emit_to_string(self.source)))
    }
}

macro_rules! shader {
    ($name:literal: $($file:literal),+) => {
        Shader { name: $name, source: concat!($(include_str!(concat!("../../../shaders/", $file))),+) }
    };
}

pub const GROUND_SHADOW: Shader =
    shader!("ground shadow": "studio/frame.wgsl", "studio/rig.wgsl", "studio/field.wgsl", "studio/ground_shadow.wgsl");
pub const LIGHT_VERTICES: Shader = shader!("light vertices": "studio/frame.wgsl", "studio/rig.wgsl", "studio/field.wgsl", "studio/vertex.wgsl", "studio/light_vertices.wgsl");
pub const VISIBILITY: Shader =
    shader!("visibility": "studio/visibility.wgsl", "studio/frame.wgsl", "studio/samples.wgsl");
pub const BACKGROUND: Shader = shader!("background": "studio/frame.wgsl", "pixel.wgsl", "studio/samples.wgsl", "studio/planes.wgsl", "studio/background.wgsl");
pub const CLASSIFY: Shader = shader!("classify": "studio/frame.wgsl", "studio/samples.wgsl", "studio/look.wgsl", "studio/lists.wgsl", "studio/classify.wgsl");
pub const GATHER: Shader = shader!("gather": "studio/frame.wgsl", "studio/rig.wgsl", "studio/vertex.wgsl", "pixel.wgsl", "studio/samples.wgsl", "studio/look.wgsl", "studio/surface.wgsl", "studio/gather.wgsl");
pub const CONDITION: Shader = shader!("condition": "studio/frame.wgsl", "pixel.wgsl", "studio/samples.wgsl", "studio/planes.wgsl", "studio/condition.wgsl");
pub const UNEVEN: Shader =
    shader!("uneven": "studio/frame.wgsl", "studio/samples.wgsl", "studio/lists.wgsl", "studio/uneven.wgsl");

/// All shaders in the order in which they run for one image. `VISIBILITY` and `GATHER` then repeat
/// for each further jittered pass.
#[cfg(test)]
pub const SHADERS: [Shader; 8] =
    [GROUND_SHADOW, LIGHT_VERTICES, VISIBILITY, BACKGROUND, CLASSIFY, GATHER, CONDITION, UNEVEN];

/// Side of a workgroup, in threads, in the passes over a plane.
pub const GROUP_SIDE: u32 = 8;
/// Number of vertices that one workgroup takes.
pub const VERTICES_IN_GROUP: u32 = 64;

/// Number of lists of pixels, numbered as in `samples.wgsl`.
pub const LISTS: usize = 5;
/// The list that the passes after the first shade. The lists before it belong to the first pass.
pub const UNEVEN_LIST: usize = 4;

/// Format of the two targets that hold triangle numbers: the nearest solid triangle, and the
/// nearest transparent one in front of it.
pub const TARGET_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::R32Uint;
pub const TARGETS: usize = 2;
pub const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// The studio's pipelines and the one bind group layout that is explicit.
#[derive(Debug)]
pub struct Passes {
    pub ground_shadow: wgpu::ComputePipeline,
    pub light_vertices: wgpu::ComputePipeline,
    /// Pipelines for solid and for transparent materials, in this order.
    pub visibility: [wgpu::RenderPipeline; 2],
    pub background: wgpu::ComputePipeline,
    pub classify: wgpu::ComputePipeline,
    /// One pipeline for each list.
    pub gather: [wgpu::ComputePipeline; LISTS],
    pub uneven: wgpu::ComputePipeline,
    pub condition: wgpu::ComputePipeline,
    pub visibility_layout: wgpu::BindGroupLayout,
}

impl Passes {
    /// Builds the pipelines for a rig with `lights` lights. Returns an error if the device refuses
    /// one of them.
    pub fn new(gpu: &Gpu, lights: usize) -> Result<Passes, GpuError> {
        gpu.guarded("building the studio's pipelines", || {
            let lights = ("LIGHT_COUNT", lights as f64);
            let (visibility_module, gather_module) = (module(gpu, VISIBILITY), module(gpu, GATHER));
            // The layout is explicit because both pipelines share one bind group.
            let visibility_layout = visibility_layout(gpu);
            Ok(Passes {
                ground_shadow: compute(gpu, GROUND_SHADOW, &[lights]),
                light_vertices: compute(gpu, LIGHT_VERTICES, &[lights]),
                visibility: [PassKind::Solid, PassKind::Transparent]
                    .map(|kind| raster(gpu, &visibility_module, &visibility_layout, kind)),
                background: compute(gpu, BACKGROUND, &[]),
                classify: compute(gpu, CLASSIFY, &[]),
                gather: std::array::from_fn(|list| {
                    compute_of(gpu, GATHER, &gather_module, &[lights, ("LIST", list as f64)])
                }),
                uneven: compute(gpu, UNEVEN, &[]),
                condition: compute(gpu, CONDITION, &[]),
                visibility_layout,
            })
        })
    }
}

fn module(gpu: &Gpu, shader: Shader) -> wgpu::ShaderModule {
    gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(shader.name),
        source: wgpu::ShaderSource::Wgsl(shader.source.into()),
    })
}

/// Builds a compute pipeline. `constants` are the values of the shader's overrides.
fn compute(gpu: &Gpu, shader: Shader, constants: &[(&str, f64)]) -> wgpu::ComputePipeline {
    compute_of(gpu, shader, &module(gpu, shader), constants)
}

/// Same as [`compute`], for a module that several pipelines share.
fn compute_of(
    gpu: &Gpu,
    shader: Shader,
    module: &wgpu::ShaderModule,
    constants: &[(&str, f64)],
) -> wgpu::ComputePipeline {
    gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(shader.name),
        layout: None,
        module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions { constants, ..Default::default() },
        cache: None,
    })
}

fn visibility_layout(gpu: &Gpu) -> wgpu::BindGroupLayout {
    let ty = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(VISIBILITY.name),
        entries: &[wgpu::BindGroupLayoutEntry { binding: 0, visibility: wgpu::ShaderStages::VERTEX, ty, count: None }],
    })
}

#[derive(Clone, Copy, PartialEq)]
enum PassKind {
    Solid,
    Transparent,
}

fn raster(
    gpu: &Gpu,
    module: &wgpu::ShaderModule,
    layout: &wgpu::BindGroupLayout,
    kind: PassKind,
) -> wgpu::RenderPipeline {
    let attribute = |shader_location: u32, offset: usize, format| wgpu::VertexAttribute {
        format,
        offset: offset as u64,
        shader_location,
    };
    let attributes = [
        attribute(0, offset_of!(Vertex, position), wgpu::VertexFormat::Float32x3),
        attribute(1, offset_of!(Vertex, material), wgpu::VertexFormat::Uint32),
    ];
    let vertices = wgpu::VertexBufferLayout {
        array_stride: size_of::<Vertex>() as u64,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &attributes,
    };
    let transparent = kind == PassKind::Transparent;
    let target = |own: bool| {
        let write_mask = if own { wgpu::ColorWrites::ALL } else { wgpu::ColorWrites::empty() };
        Some(wgpu::ColorTargetState { format: TARGET_FORMAT, blend: None, write_mask })
    };
    let layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(VISIBILITY.name),
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    });
    gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(if transparent { "transparent" } else { "solid" }),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &[Some(vertices)],
        },
        primitive: wgpu::PrimitiveState {
            // The far side of the glass, seen from inside, would tint the image twice.
            cull_mode: transparent.then_some(wgpu::Face::Back),
            ..Default::default()
        },
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH_FORMAT,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Less),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some(if transparent { "transparent" } else { "solid" }),
            compilation_options: Default::default(),
            targets: &[target(!transparent), target(transparent)],
        }),
        multiview_mask: None,
        cache: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::gpu_data;
    use crate::studio::targets::LIST_HEAD;
    use naga::valid::{Capabilities, ValidationFlags, Validator};

    #[test]
    fn every_shader_is_valid() {
        for shader in SHADERS {
            let module = shader.parsed();
            // Capabilities that every WebGPU device has, and that `Gpu::open` requires.
            let capabilities = Capabilities::SHADER_FLOAT16_IN_FLOAT32 | Capabilities::PRIMITIVE_INDEX;
            let mut validator = Validator::new(ValidationFlags::all(), capabilities);
            if let Err(error) = validator.validate(&module) {
                panic!("{}: {}", shader.name, error.emit_to_string(shader.source));
            }
        }
    }

    /// Compares the size and the offsets of all named members.
    fn check(shader: Shader, name: &str, size: usize, offsets: &[(&str, usize)]) {
        let module = shader.parsed();
        let (_, ty) = module
            .types
            .iter()
            .find(|(_, ty)| ty.name.as_deref() == Some(name))
            .unwrap_or_else(|| panic!("no struct {name}"));
        let naga::TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is not a struct") };
        assert_eq!(*span as usize, size, "size of {name}");
        let found: Vec<_> = members.iter().map(|m| (m.name.as_deref().unwrap_or(""), m.offset as usize)).collect();
        assert_eq!(found, offsets, "members of {name}");
    }

    macro_rules! check {
        ($shader:expr, $name:literal, $ty:ident { $($member:ident),+ }) => {
            check($shader, $name, size_of::<gpu_data::$ty>(), &[$((stringify!($member), offset_of!(gpu_data::$ty, $member))),+])
        };
    }

    #[test]
    fn those_who_fill_lists_and_those_who_read_them_see_the_same() {
        for shader in [CLASSIFY, UNEVEN, GATHER] {
            let module = shader.parsed();
            let head = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some("Head"));
            let Some((_, naga::Type { inner: naga::TypeInner::Struct { members, span }, .. })) = head else {
                panic!("{} has no Head", shader.name)
            };
            let count = members.iter().find(|member| member.name.as_deref() == Some("count"));
            assert_eq!((u64::from(*span), count.map(|count| count.offset)), (LIST_HEAD, Some(12)), "{}", shader.name);
        }
    }

    #[test]
    fn structs_are_laid_out_alike_on_both_sides() {
        check!(
            GATHER,
            "Light",
            Light { centre, edge, axis_u, half_u, axis_v, half_v, normal, falloff, radiance, reserved }
        );
        check!(
            GATHER,
            "Rig",
            RigData {
                lights,
                floor_near,
                reserved_0,
                floor_far,
                floor_reach,
                horizon_back,
                horizon_height,
                horizon_front,
                reserved_1,
                zenith,
                reserved_2
            }
        );
        check!(
            GATHER,
            "Frame",
            FrameData {
                studio_from_vehicle,
                vehicle_from_studio,
                field_from_studio,
                clip_from_studio,
                eye,
                field_scale,
                forward,
                ground_half,
                up,
                zoom,
                shift,
                jitter,
                field_box_min,
                zebra,
                field_box_max,
                earlier_passes,
                vertex_count,
                reserved,
                target_distance,
                solid_triangles,
                covered_low,
                covered_high
            }
        );
        check!(
            GATHER,
            "Optics",
            OpticsData { albedo, f0, roughness, metal, transmission, exposure, emission, group, tint, reserved }
        );
        check!(LIGHT_VERTICES, "Vertex", Vertex { position, material, normal, reserved });
        check!(LIGHT_VERTICES, "VertexLight", VertexLight { diffuse, ratios });
        check!(GATHER, "Pixel", Pixel { rest, coverage, diffuse, paint, gloss, shadow });
        check!(GATHER, "Geometry", Geometry { normal, depth, albedo, height, openness, groups });
        check!(CONDITION, "Pixel", Pixel { rest, coverage, diffuse, paint, gloss, shadow });
        check!(CONDITION, "Condition", ConditionData { side, pixels });
    }
}

//! The studio's pipelines: built once, immutable. Which buffers they run on is `shoot`'s affair.

use super::gpu_data::{Lit, Vertex};
use crate::gpu::{Gpu, GpuError};
use std::mem::{offset_of, size_of};

/// A pass's WGSL, whole.
#[derive(Debug, Clone, Copy)]
pub struct Shader {
    pub name: &'static str,
    pub source: &'static str,
}

macro_rules! shader {
    ($name:literal: $($file:literal),+) => {
        Shader { name: $name, source: concat!($(include_str!(concat!("../../../shaders/", $file))),+) }
    };
}

pub const GROUND_SHADOW: Shader =
    shader!("ground shadow": "studio/frame.wgsl", "studio/rig.wgsl", "studio/field.wgsl", "studio/ground_shadow.wgsl");
pub const LIGHT_VERTICES: Shader = shader!("light vertices": "studio/frame.wgsl", "studio/rig.wgsl", "studio/field.wgsl", "studio/light_vertices.wgsl");
pub const SURFACE: Shader = shader!("surface": "studio/frame.wgsl", "studio/rig.wgsl", "studio/surface.wgsl");
pub const EVEN: Shader = shader!("even": "studio/even.wgsl");
pub const ACCUMULATE: Shader = shader!("accumulate": "studio/frame.wgsl", "pixel.wgsl", "studio/accumulate.wgsl");
pub const CONDITION: Shader = shader!("condition": "studio/frame.wgsl", "pixel.wgsl", "studio/condition.wgsl");

/// In the order they run for one picture; from `EVEN` on, the third to the fifth then repeat for each further jittered pass.
#[cfg(test)]
pub const SHADERS: [Shader; 6] = [GROUND_SHADOW, LIGHT_VERTICES, SURFACE, ACCUMULATE, CONDITION, EVEN];

/// Four half-float targets: rest and coverage, diffuse and paint, gloss and openness, geometry. 32 bytes a sample, the
/// most that every WebGPU device takes.
pub const TARGET_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
pub const TARGETS: usize = 4;
/// Only the conditioning needs it, so only the first pass writes it.
pub const GEOMETRY_TARGET: usize = 3;
pub const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

#[derive(Debug)]
pub struct Passes {
    pub ground_shadow: wgpu::ComputePipeline,
    pub light_vertices: wgpu::ComputePipeline,
    /// Opaque and transparent, with the geometry target: the first jittered pass.
    pub with_geometry: [wgpu::RenderPipeline; 2],
    /// The same without it: the others.
    pub light_only: [wgpu::RenderPipeline; 2],
    /// What goes before `light_only`.
    pub even: wgpu::RenderPipeline,
    pub accumulate: wgpu::ComputePipeline,
    pub condition: wgpu::ComputePipeline,
    pub surface_layout: wgpu::BindGroupLayout,
}

impl Passes {
    pub fn new(gpu: &Gpu) -> Result<Passes, GpuError> {
        gpu.guarded("building the studio's pipelines", || {
            let surface = module(gpu, SURFACE);
            // Explicit, because both raster pipelines share one bind group and each alone leaves bindings unused.
            let surface_layout = surface_layout(gpu);
            Ok(Passes {
                ground_shadow: compute(gpu, GROUND_SHADOW),
                light_vertices: compute(gpu, LIGHT_VERTICES),
                with_geometry: KINDS.map(|kind| raster(gpu, &surface, &surface_layout, kind, true)),
                light_only: KINDS.map(|kind| raster(gpu, &surface, &surface_layout, kind, false)),
                even: even(gpu),
                accumulate: compute(gpu, ACCUMULATE),
                condition: compute(gpu, CONDITION),
                surface_layout,
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

fn compute(gpu: &Gpu, shader: Shader) -> wgpu::ComputePipeline {
    gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(shader.name),
        layout: None,
        module: &module(gpu, shader),
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    })
}

fn surface_layout(gpu: &Gpu) -> wgpu::BindGroupLayout {
    let both = wgpu::ShaderStages::VERTEX_FRAGMENT;
    let uniform = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let entries: Vec<_> = [uniform; 3]
        .into_iter()
        .enumerate()
        .map(|(binding, ty)| wgpu::BindGroupLayoutEntry { binding: binding as u32, visibility: both, ty, count: None })
        .collect();
    gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("surface"), entries: &entries })
}

fn even(gpu: &Gpu) -> wgpu::RenderPipeline {
    let module = module(gpu, EVEN);
    let targets: Vec<_> = (0..TARGETS)
        .map(|index| {
            (index != GEOMETRY_TARGET).then_some(wgpu::ColorTargetState {
                format: TARGET_FORMAT,
                blend: None,
                write_mask: wgpu::ColorWrites::empty(),
            })
        })
        .collect();
    gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(EVEN.name),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: Default::default(),
        depth_stencil: Some(depth_state(wgpu::CompareFunction::Always)),
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("fragment"),
            compilation_options: Default::default(),
            targets: &targets,
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn depth_state(compare: wgpu::CompareFunction) -> wgpu::DepthStencilState {
    wgpu::DepthStencilState {
        format: DEPTH_FORMAT,
        depth_write_enabled: Some(true),
        depth_compare: Some(compare),
        stencil: Default::default(),
        bias: Default::default(),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Opaque,
    Transparent,
}

const KINDS: [Kind; 2] = [Kind::Opaque, Kind::Transparent];

fn raster(
    gpu: &Gpu,
    module: &wgpu::ShaderModule,
    layout: &wgpu::BindGroupLayout,
    kind: Kind,
    geometry: bool,
) -> wgpu::RenderPipeline {
    let attribute = |location: u32, offset: usize, format| wgpu::VertexAttribute {
        format,
        offset: offset as u64,
        shader_location: location,
    };
    let shape = [
        attribute(0, offset_of!(Vertex, position), wgpu::VertexFormat::Float32x3),
        attribute(1, offset_of!(Vertex, material), wgpu::VertexFormat::Uint32),
        attribute(2, offset_of!(Vertex, normal), wgpu::VertexFormat::Float32x3),
    ];
    let light = [
        attribute(3, offset_of!(Lit, diffuse), wgpu::VertexFormat::Float32x3),
        attribute(4, offset_of!(Lit, shares), wgpu::VertexFormat::Unorm8x4),
    ];
    let stream = |stride: usize, attributes| {
        Some(wgpu::VertexBufferLayout {
            array_stride: stride as u64,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes,
        })
    };
    let over = |alpha_source, alpha_behind| wgpu::BlendState {
        color: wgpu::BlendComponent {
            src_factor: wgpu::BlendFactor::One,
            dst_factor: wgpu::BlendFactor::OneMinusSrcAlpha,
            operation: wgpu::BlendOperation::Add,
        },
        alpha: wgpu::BlendComponent {
            src_factor: alpha_source,
            dst_factor: alpha_behind,
            operation: wgpu::BlendOperation::Add,
        },
    };
    let transparent = kind == Kind::Transparent;
    let behind = wgpu::BlendFactor::OneMinusSrcAlpha;
    // Coverage grows, paint behind glass counts as much as passes, openness stays that of the surface behind.
    let blends = [
        over(wgpu::BlendFactor::One, behind),
        over(wgpu::BlendFactor::Zero, behind),
        over(wgpu::BlendFactor::Zero, wgpu::BlendFactor::One),
    ];
    let targets: Vec<_> = (0..TARGETS)
        .map(|index| {
            (geometry || index != GEOMETRY_TARGET).then_some(wgpu::ColorTargetState {
                format: TARGET_FORMAT,
                blend: blends.get(index).copied().filter(|_| transparent),
                write_mask: wgpu::ColorWrites::ALL,
            })
        })
        .collect();
    let layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("surface"),
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    });
    gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(if transparent { "transparent" } else { "opaque" }),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &[stream(size_of::<Vertex>(), &shape), stream(size_of::<Lit>(), &light)],
        },
        primitive: wgpu::PrimitiveState {
            // The far side of the glass, seen from inside, would tint the picture twice.
            cull_mode: transparent.then_some(wgpu::Face::Back),
            ..Default::default()
        },
        depth_stencil: Some(depth_state(wgpu::CompareFunction::Less)),
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some(if transparent { "transparent" } else { "opaque" }),
            compilation_options: Default::default(),
            targets: &targets,
        }),
        multiview_mask: None,
        cache: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::gpu_data;
    use naga::valid::{Capabilities, ValidationFlags, Validator};

    fn parsed(shader: Shader) -> naga::Module {
        naga::front::wgsl::parse_str(shader.source)
            .unwrap_or_else(|error| panic!("{}: {}", shader.name, error.emit_to_string(shader.source)))
    }

    #[test]
    fn every_shader_is_valid() {
        for shader in SHADERS {
            let module = parsed(shader);
            let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
            if let Err(error) = validator.validate(&module) {
                panic!("{}: {}", shader.name, error.emit_to_string(shader.source));
            }
        }
    }

    /// Compares size and the offsets of all named members.
    fn check(shader: Shader, name: &str, size: usize, offsets: &[(&str, usize)]) {
        let module = parsed(shader);
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
    fn structs_are_laid_out_alike_on_both_sides() {
        check!(
            SURFACE,
            "Light",
            Light { centre, edge, axis_u, half_u, axis_v, half_v, normal, falloff, radiance, reserved }
        );
        check!(
            SURFACE,
            "Rig",
            RigData {
                lights,
                floor_near,
                light_count,
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
            SURFACE,
            "Frame",
            FrameData {
                studio_from_vehicle,
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
                pass_weight,
                vertex_count,
                first_pass,
                target_distance,
                reserved,
                covered_low,
                covered_high
            }
        );
        check!(SURFACE, "Optics", OpticsData { albedo, f0, roughness, metal, transmission, exposure, emission, paint });
        check!(LIGHT_VERTICES, "Vertex", Vertex { position, material, normal, reserved });
        check!(LIGHT_VERTICES, "Lit", Lit { diffuse, shares });
        check!(ACCUMULATE, "Pixel", Pixel { rest, coverage, diffuse, paint, gloss, shadow });
        check!(CONDITION, "Pixel", Pixel { rest, coverage, diffuse, paint, gloss, shadow });
        check!(CONDITION, "Condition", ConditionData { side, samples, pixels, layer_side, materials });
    }
}

//! Buffers and textures that all images of a studio reuse.

use super::gpu_data::{self, Geometry, Pixel, RigData};
use super::passes::{DEPTH_FORMAT, LISTS, TARGET_FORMAT, TARGETS};
use super::rig::Rig;
use crate::gpu::Gpu;
use cyclorama_core::MASTER_SIDE_PX;
use std::mem::size_of;
use wgpu::util::DeviceExt;

/// Samples of the raster targets per layer pixel, along one side (`SUB` of `samples.wgsl`).
pub const SUPERSAMPLES: u32 = 2;
const WORD: u64 = size_of::<u32>() as u64;
/// Size of a list's `Head` in `lists.wgsl`, in bytes.
pub const LIST_HEAD: u64 = 4 * WORD;
/// Number of pixels of the layers.
pub const PIXELS: u64 = MASTER_SIDE_PX as u64 * MASTER_SIDE_PX as u64;
/// Texels along a side of the ground map: 10 m / 192 = 5 cm, about as fine as the distance field.
pub const GROUND_SIDE: u32 = 192;
const GROUND_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;

/// Buffers and textures that all images of a studio reuse.
#[derive(Debug)]
pub struct Targets {
    pub triangles: [wgpu::TextureView; TARGETS],
    pub depth: wgpu::TextureView,
    pub ground: wgpu::TextureView,
    pub sampler: wgpu::Sampler,
    pub pixels: wgpu::Buffer,
    /// One word for each of `pixels`: 1 if the pixel takes more samples.
    pub uneven: wgpu::Buffer,
    /// The heads of all lists, with the number of pixels of each, then the indices of the pixels.
    pub lists: wgpu::Buffer,
    /// Heads of empty lists, which are copied over `lists` before an image.
    pub empty_lists: wgpu::Buffer,
    /// Approximate appearance of each sample of the first pass, two words per sample.
    pub looks: wgpu::Buffer,
    /// Geometry for each of `pixels`.
    pub geometry: wgpu::Buffer,
    pub rig: wgpu::Buffer,
    pub optics: wgpu::Buffer,
}

impl Targets {
    pub fn new(gpu: &Gpu, rig: &Rig) -> Targets {
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

    /// Begins the raster pass on cleared targets and records `draw` in it.
    pub fn raster(&self, encoder: &mut wgpu::CommandEncoder, draw: impl FnOnce(&mut wgpu::RenderPass<'_>)) {
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

//! The buffers of one image: what is uploaded for it, and what is read back.

use super::conditioning::CHANNELS;
use super::distance_field::DistanceField;
use super::gpu_data::{ConditionData, FrameData, VertexLight};
use super::passes::VERTICES_IN_GROUP;
use super::stage::DrawList;
use super::targets::SUPERSAMPLES;
use crate::gpu::Gpu;
use cyclorama_core::MASTER_SIDE_PX;
use std::mem::size_of;
use wgpu::util::DeviceExt;

pub struct FrameBuffers {
    pub vertices: wgpu::Buffer,
    pub indices: wgpu::Buffer,
    /// Light per vertex.
    pub lit: wgpu::Buffer,
    /// Uniforms of each jittered pass; there is at least one.
    pub frames: Vec<wgpu::Buffer>,
    pub field: wgpu::TextureView,
    pub condition: wgpu::Buffer,
    /// The conditioning planes, which are read back.
    pub planes: wgpu::Buffer,
    /// Number of pixels that the vehicle can cover, across and down.
    pub covered: [u32; 2],
    /// Side of the conditioning in pixels.
    pub side_px: u32,
    pub vertex_count: u32,
    pub index_count: u32,
    /// Number of indices of solid triangles, which come first.
    pub opaque_indices: u32,
}

impl FrameBuffers {
    /// Uploads a stage, its distance field and its uniforms. `jitter` has an offset, in raster
    /// samples, for each pass; `side_px` is the conditioning's side.
    pub fn new(
        gpu: &Gpu,
        stage: &DrawList,
        field: &DistanceField,
        frame: &FrameData,
        side_px: u32,
        jitter: &[[f32; 2]],
    ) -> FrameBuffers {
        let buffer = |label, contents: &[u8], usage| {
            gpu.device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some(label), contents, usage })
        };
        let empty = |label, size, usage| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let storage = wgpu::BufferUsages::STORAGE;
        let uniform = wgpu::BufferUsages::UNIFORM;
        let jittered = |(index, offset): (usize, &[f32; 2])| {
            let unit = 2.0 / (MASTER_SIDE_PX * SUPERSAMPLES) as f32;
            let jittered = frame.jittered([offset[0] * unit, offset[1] * unit], index);
            buffer("frame", bytemuck::bytes_of(&jittered), uniform)
        };
        let condition = ConditionData::new(side_px, MASTER_SIDE_PX);
        FrameBuffers {
            vertices: buffer("vertices", bytemuck::cast_slice(&stage.vertices), storage | wgpu::BufferUsages::VERTEX),
            indices: buffer("indices", bytemuck::cast_slice(&stage.indices), storage | wgpu::BufferUsages::INDEX),
            lit: empty("light per vertex", (stage.vertices.len() * size_of::<VertexLight>()) as u64, storage),
            frames: jitter.iter().enumerate().map(jittered).collect(),
            field: upload_field(gpu, field),
            condition: buffer("condition", bytemuck::bytes_of(&condition), uniform),
            planes: empty(
                "conditioning planes",
                u64::from(side_px) * u64::from(side_px) * (CHANNELS * size_of::<f32>()) as u64,
                storage | gpu.readable(),
            ),
            covered: frame.covered_size(),
            side_px,
            vertex_count: stage.vertices.len() as u32,
            index_count: stage.indices.len() as u32,
            opaque_indices: stage.opaque_indices,
        }
    }

    /// Returns the workgroups for all vertices in two dimensions, because at most 65,535 fit along
    /// one axis.
    pub fn vertex_groups(&self) -> [u32; 2] {
        let groups = self.vertex_count.div_ceil(VERTICES_IN_GROUP);
        let rows = groups.div_ceil(32_768).max(1);
        [groups.div_ceil(rows), rows]
    }

    /// Returns how many blocks of conditioning the vehicle can cover, across and down. This is one
    /// more than the covered pixels fill, because the covered area need not begin at the edge of a
    /// block.
    pub fn condition_blocks(&self) -> [u32; 2] {
        self.covered.map(|pixels| pixels.div_ceil(MASTER_SIDE_PX / self.side_px) + 1)
    }
}

fn upload_field(gpu: &Gpu, field: &DistanceField) -> wgpu::TextureView {
    // Half floats, because filtering 32-bit ones is an optional feature, and a millimetre does not
    // matter here.
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

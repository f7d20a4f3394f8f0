//! Records the steps of an image: which resources each pass binds, and on how many workgroups it
//! runs.

use super::frame_buffers::FrameBuffers;
use super::passes::{GROUP_SIDE, LISTS, Passes};
use super::steps::RenderStep;
use super::targets::{GROUND_SIDE, LIST_HEAD, Targets};
use crate::gpu::Gpu;

pub struct Recorder<'a> {
    pub gpu: &'a Gpu,
    pub passes: &'a Passes,
    pub targets: &'a Targets,
    pub frame: &'a FrameBuffers,
}

impl Recorder<'_> {
    /// Records the steps in their order, without submitting them.
    pub fn record(&self, steps: &[RenderStep]) -> wgpu::CommandEncoder {
        let label = Some("picture");
        let mut encoder = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
        for step in steps {
            self.record_one(&mut encoder, *step);
        }
        encoder
    }

    fn record_one(&self, encoder: &mut wgpu::CommandEncoder, step: RenderStep) {
        let Self { passes, targets, frame, .. } = self;
        let covered = frame.covered.map(|pixels| pixels.div_ceil(GROUP_SIDE));
        match step {
            RenderStep::GroundShadow => {
                self.compute(encoder, &passes.ground_shadow, step, [GROUND_SIDE.div_ceil(GROUP_SIDE); 2]);
            }
            RenderStep::LightVertices => self.compute(encoder, &passes.light_vertices, step, frame.vertex_groups()),
            RenderStep::Draw { pass } => self.draw(encoder, &frame.frames[pass]),
            RenderStep::Background => {
                self.compute(encoder, &passes.background, step, [frame.side_px.div_ceil(GROUP_SIDE); 2]);
            }
            RenderStep::EmptyLists => {
                encoder.copy_buffer_to_buffer(&targets.empty_lists, 0, &targets.lists, 0, LISTS as u64 * LIST_HEAD);
            }
            RenderStep::Classify => self.compute(encoder, &passes.classify, step, covered),
            RenderStep::Shade { list, .. } => self.shade(encoder, step, list),
            RenderStep::Condition => {
                let groups = frame.condition_blocks().map(|blocks| blocks.div_ceil(GROUP_SIDE));
                self.compute(encoder, &passes.condition, step, groups);
            }
            RenderStep::ForgetUneven => encoder.clear_buffer(&targets.uneven, 0, None),
            RenderStep::Uneven => self.compute(encoder, &passes.uneven, step, covered),
        }
    }

    /// Returns the resources that a compute pass binds, in the order of its shader, or none for
    /// other steps.
    fn resources(&self, step: RenderStep) -> Vec<wgpu::BindingResource<'_>> {
        let Self { targets, frame, .. } = self;
        let view = wgpu::BindingResource::TextureView;
        let sampler = wgpu::BindingResource::Sampler(&targets.sampler);
        let first = frame.frames[0].as_entire_binding();
        let [solid, transparent] = targets.triangles.each_ref().map(view);
        let [rig, optics] = [&targets.rig, &targets.optics].map(wgpu::Buffer::as_entire_binding);
        let [vertices, lit] = [&frame.vertices, &frame.lit].map(wgpu::Buffer::as_entire_binding);
        let [pixels, lists] = [&targets.pixels, &targets.lists].map(wgpu::Buffer::as_entire_binding);
        let [looks, geometry] = [&targets.looks, &targets.geometry].map(wgpu::Buffer::as_entire_binding);
        let [condition, planes] = [&frame.condition, &frame.planes].map(wgpu::Buffer::as_entire_binding);
        let (field, ground) = (view(&frame.field), view(&targets.ground));
        match step {
            RenderStep::GroundShadow => vec![first, rig, field, sampler, ground],
            RenderStep::LightVertices => vec![first, rig, field, sampler, ground, vertices, lit],
            RenderStep::Background => vec![first, condition, ground, sampler, pixels, planes],
            RenderStep::Classify => vec![first, solid, transparent, lists, looks, geometry],
            RenderStep::Shade { pass, .. } => {
                let (frame, indices) = (frame.frames[pass].as_entire_binding(), frame.indices.as_entire_binding());
                vec![frame, rig, optics, solid, transparent, vertices, lit, indices, pixels, lists, looks, geometry]
            }
            RenderStep::Condition => vec![first, condition, geometry, pixels, planes],
            RenderStep::Uneven => vec![first, looks, targets.uneven.as_entire_binding(), lists],
            RenderStep::Draw { .. } | RenderStep::EmptyLists | RenderStep::ForgetUneven => Vec::new(),
        }
    }

    fn compute(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipeline: &wgpu::ComputePipeline,
        step: RenderStep,
        groups: [u32; 2],
    ) {
        let group = self.bind(&pipeline.get_bind_group_layout(0), &self.resources(step));
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(groups[0], groups[1], 1);
    }

    /// Records a shading pass on as many workgroups as the head of its list says.
    fn shade(&self, encoder: &mut wgpu::CommandEncoder, step: RenderStep, list: usize) {
        let pipeline = &self.passes.gather[list];
        let group = self.bind(&pipeline.get_bind_group_layout(0), &self.resources(step));
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups_indirect(&self.targets.lists, list as u64 * LIST_HEAD);
    }

    fn draw(&self, encoder: &mut wgpu::CommandEncoder, uniforms: &wgpu::Buffer) {
        let frame = self.frame;
        let group = self.bind(&self.passes.visibility_layout, &[uniforms.as_entire_binding()]);
        self.targets.raster(encoder, |pass| {
            pass.set_bind_group(0, &group, &[]);
            pass.set_vertex_buffer(0, frame.vertices.slice(..));
            pass.set_index_buffer(frame.indices.slice(..), wgpu::IndexFormat::Uint32);
            let [solid, transparent] = &self.passes.visibility;
            pass.set_pipeline(solid);
            pass.draw_indexed(0..frame.opaque_indices, 0, 0..1);
            if frame.index_count > frame.opaque_indices {
                pass.set_pipeline(transparent);
                pass.draw_indexed(frame.opaque_indices..frame.index_count, 0, 0..1);
            }
        });
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

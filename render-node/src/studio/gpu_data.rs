//! The Rust side of every uniform and storage struct of the studio's shaders. A test compares each
//! with the WGSL.
//!
//! The WGSL struct of the same name (without `Data`) describes its members, units and colour
//! spaces.

use super::camera::{Camera, TARGET_DISTANCE_M};
use super::distance_field::DistanceField;
use super::optics::{self, MATERIALS};
use super::rig::{LIGHTS_MAX, Rig};
use bytemuck::{Pod, Zeroable};
use cyclorama_core::MASTER_SIDE_PX;
use glam::{Mat4, Vec3};

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Light {
    pub centre: [f32; 3],
    pub edge: f32,
    pub axis_u: [f32; 3],
    pub half_u: f32,
    pub axis_v: [f32; 3],
    pub half_v: f32,
    pub normal: [f32; 3],
    pub falloff: f32,
    pub radiance: [f32; 3],
    pub reserved: f32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct RigData {
    pub lights: [Light; LIGHTS_MAX],
    pub floor_near: [f32; 3],
    pub reserved_0: u32,
    pub floor_far: [f32; 3],
    pub floor_reach: f32,
    pub horizon_back: [f32; 3],
    pub horizon_height: f32,
    pub horizon_front: [f32; 3],
    pub reserved_1: f32,
    pub zenith: [f32; 3],
    pub reserved_2: f32,
}

impl RigData {
    pub fn new(rig: &Rig) -> RigData {
        let mut lights = [Light::zeroed(); LIGHTS_MAX];
        for (slot, light) in lights.iter_mut().zip(&rig.lights) {
            *slot = Light {
                centre: light.centre.to_array(),
                edge: light.edge_m,
                axis_u: light.half_u.normalize().to_array(),
                half_u: light.half_u.length(),
                axis_v: light.half_v.normalize().to_array(),
                half_v: light.half_v.length(),
                normal: light.normal().to_array(),
                falloff: light.falloff,
                radiance: light.radiance.to_array(),
                reserved: 0.0,
            };
        }
        let around = &rig.surroundings;
        RigData {
            lights,
            floor_near: around.floor_near.to_array(),
            reserved_0: 0,
            floor_far: around.floor_far.to_array(),
            floor_reach: around.floor_reach_m,
            horizon_back: around.horizon_back.to_array(),
            horizon_height: around.horizon_height,
            horizon_front: around.horizon_front.to_array(),
            reserved_1: 0.0,
            zenith: around.zenith.to_array(),
            reserved_2: 0.0,
        }
    }
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct FrameData {
    pub studio_from_vehicle: [[f32; 4]; 4],
    pub vehicle_from_studio: [[f32; 4]; 4],
    pub field_from_studio: [[f32; 4]; 4],
    pub clip_from_studio: [[f32; 4]; 4],
    pub eye: [f32; 3],
    pub field_scale: f32,
    pub forward: [f32; 3],
    pub ground_half: f32,
    pub up: [f32; 3],
    pub zoom: f32,
    pub shift: [f32; 2],
    pub jitter: [f32; 2],
    pub field_box_min: [f32; 3],
    pub zebra: u32,
    pub field_box_max: [f32; 3],
    pub earlier_passes: u32,
    pub vertex_count: u32,
    pub reserved: u32,
    pub target_distance: f32,
    pub solid_triangles: u32,
    pub covered_low: [u32; 2],
    pub covered_high: [u32; 2],
}

/// Pixels added around the area that the vehicle covers. They make pixels and blocks of
/// conditioning that reach over its edge complete, and keep the marks of uneven neighbours inside.
const COVERED_MARGIN_PX: u32 = 8;

/// Half side of the square of ground around the vehicle for which shadow is computed, in studio
/// metres.
pub const GROUND_HALF_M: f32 = 5.0;

impl FrameData {
    /// Returns the uniforms of an image before its first pass, without jitter and with counts of
    /// zero.
    pub fn new(camera: &Camera, field: &DistanceField, zebra: bool) -> FrameData {
        let size = Vec3::from_array(field.cells.map(|n| n as f32)) * field.cell_m;
        let covered = camera.covered(MASTER_SIDE_PX, COVERED_MARGIN_PX);
        let field_from_vehicle = Mat4::from_scale(Vec3::ONE / size) * Mat4::from_translation(-field.low);
        let vehicle_from_studio = camera.studio_from_vehicle.inverse();
        FrameData {
            studio_from_vehicle: camera.studio_from_vehicle.to_cols_array_2d(),
            vehicle_from_studio: vehicle_from_studio.to_cols_array_2d(),
            field_from_studio: (field_from_vehicle * vehicle_from_studio).to_cols_array_2d(),
            clip_from_studio: camera.clip_from_studio().to_cols_array_2d(),
            eye: camera.eye.to_array(),
            field_scale: camera.scale,
            forward: camera.forward.to_array(),
            ground_half: GROUND_HALF_M,
            up: camera.up.to_array(),
            zoom: camera.zoom,
            shift: camera.shift.to_array(),
            jitter: [0.0; 2],
            field_box_min: field.low.to_array(),
            zebra: u32::from(zebra),
            field_box_max: (field.low + size).to_array(),
            earlier_passes: 0,
            vertex_count: 0,
            reserved: 0,
            target_distance: TARGET_DISTANCE_M,
            solid_triangles: 0,
            covered_low: covered.low,
            covered_high: covered.high,
        }
    }

    /// Returns how many pixels the vehicle can cover, across and down.
    pub fn covered_size(&self) -> [u32; 2] {
        std::array::from_fn(|axis| self.covered_high[axis] - self.covered_low[axis])
    }

    /// Returns the uniforms with `vertices` vertices, and `solid_triangles` solid triangles before
    /// the transparent ones.
    pub fn of(mut self, vertices: u32, solid_triangles: u32) -> FrameData {
        self.vertex_count = vertices;
        self.solid_triangles = solid_triangles;
        self
    }

    /// Returns the uniforms moved by `jitter` (normalised device units), for a pass that follows
    /// `earlier` passes.
    pub fn jittered(mut self, jitter: [f32; 2], earlier: usize) -> FrameData {
        self.jitter = jitter;
        self.earlier_passes = earlier as u32;
        self
    }
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct OpticsData {
    pub albedo: [f32; 3],
    pub f0: f32,
    pub roughness: f32,
    pub metal: f32,
    pub transmission: f32,
    pub exposure: f32,
    pub emission: [f32; 3],
    pub group: u32,
    pub tint: [f32; 3],
    pub reserved: u32,
}

pub fn optics_table() -> [OpticsData; MATERIALS.len()] {
    MATERIALS.map(|material| {
        let o = optics::optics(material);
        OpticsData {
            albedo: o.albedo,
            f0: o.f0,
            roughness: o.roughness,
            metal: f32::from(u8::from(o.metal)),
            transmission: o.transmission,
            exposure: o.exposure,
            emission: o.emission,
            group: o.group as u32,
            tint: o.tint,
            reserved: 0,
        }
    })
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct ConditionData {
    pub side: u32,
    pub pixels: u32,
}

impl ConditionData {
    pub fn new(side: u32, layer_side: u32) -> ConditionData {
        ConditionData { side, pixels: layer_side / side }
    }
}

/// Maximum number of triangles that the raster pass can tell apart: numbers from 1 in
/// `TRIANGLE_BITS` of `samples.wgsl`.
pub const TRIANGLES_MAX: usize = (1 << 24) - 1;

/// Marks vertices around which the surface bends within a pixel or two.
pub const BENT: u32 = 1 << 31;

/// One vertex as uploaded, in vehicle axes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Vertex {
    pub position: [f32; 3],
    /// Number of the material, combined with [`BENT`].
    pub material: u32,
    pub normal: [f32; 3],
    pub reserved: u32,
}

/// Light per vertex, written by `light_vertices`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct VertexLight {
    pub diffuse: [f32; 3],
    pub ratios: u32,
}

/// One pixel of the layers. `background` writes its shadow, `gather` all other members.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Pixel {
    pub rest: [f32; 3],
    pub coverage: f32,
    pub diffuse: [f32; 3],
    pub paint: f32,
    pub gloss: [f32; 3],
    pub shadow: f32,
}

/// Geometry of one pixel, written by `gather`, or by `classify` for a pixel that shows nothing.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Geometry {
    pub normal: [f32; 3],
    pub depth: f32,
    pub albedo: [f32; 3],
    pub height: f32,
    pub openness: f32,
    pub groups: u32,
    /// A WGSL struct's size is a multiple of the size of its widest member.
    pub reserved: [u32; 2],
}

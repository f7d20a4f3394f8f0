//! What the studio's shaders see: the Rust side of every uniform and storage struct. A test compares each with the WGSL.

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
    pub light_count: u32,
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
            light_count: rig.lights.len() as u32,
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
    pub pass_weight: f32,
    pub vertex_count: u32,
    pub first_pass: u32,
    pub target_distance: f32,
    pub reserved: u32,
    pub covered_low: [u32; 2],
    pub covered_high: [u32; 2],
}

/// Around what the vehicle covers. Pixels and blocks of conditioning that reach over its edge are then whole, and marks of uneven neighbours
/// fall inside.
const COVERED_MARGIN_PX: u32 = 8;

/// Half side of the square of ground around the vehicle for which shadow is computed, studio metres.
pub const GROUND_HALF_M: f32 = 5.0;

impl FrameData {
    pub fn new(camera: &Camera, field: &DistanceField, vertex_count: u32, zebra: bool) -> FrameData {
        let size = Vec3::from_array(field.cells.map(|n| n as f32)) * field.cell_m;
        let covered = camera.covered(MASTER_SIDE_PX, COVERED_MARGIN_PX);
        let field_from_vehicle = Mat4::from_scale(Vec3::ONE / size) * Mat4::from_translation(-field.low);
        FrameData {
            studio_from_vehicle: camera.studio_from_vehicle.to_cols_array_2d(),
            field_from_studio: (field_from_vehicle * camera.studio_from_vehicle.inverse()).to_cols_array_2d(),
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
            pass_weight: 1.0,
            vertex_count,
            first_pass: 1,
            target_distance: TARGET_DISTANCE_M,
            reserved: 0,
            covered_low: covered.low,
            covered_high: covered.high,
        }
    }

    /// Pixels that the vehicle can cover, across and down.
    pub fn covered_size(&self) -> [u32; 2] {
        std::array::from_fn(|axis| self.covered_high[axis] - self.covered_low[axis])
    }

    /// The same picture, moved by `jitter` (normalised device units), after `before` other passes.
    pub fn jittered(mut self, jitter: [f32; 2], before: usize) -> FrameData {
        self.jitter = jitter;
        self.first_pass = u32::from(before == 0);
        self.pass_weight = 1.0 / (before + 1) as f32;
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
    pub paint: f32,
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
            paint: f32::from(u8::from(o.group == optics::MaterialGroup::Paint)),
        }
    })
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct ConditionData {
    pub side: u32,
    pub samples: u32,
    pub pixels: u32,
    pub layer_side: u32,
    pub materials: [[f32; 4]; MATERIALS.len()],
}

impl ConditionData {
    pub fn new(side: u32, sample_side: u32, layer_side: u32) -> ConditionData {
        let materials = MATERIALS.map(|material| {
            let o = optics::optics(material);
            [f32::from(o.group as u8), o.albedo[0], o.albedo[1], o.albedo[2]]
        });
        ConditionData { side, samples: sample_side / side, pixels: layer_side / side, layer_side, materials }
    }
}

/// One vertex as uploaded, vehicle axes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Vertex {
    pub position: [f32; 3],
    pub material: u32,
    pub normal: [f32; 3],
    pub reserved: u32,
}

/// Light per vertex, written by `light_vertices`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Lit {
    pub diffuse: [f32; 3],
    pub shares: u32,
}

/// One pixel of the layers as `accumulate` leaves it.
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

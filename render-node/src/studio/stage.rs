//! A vehicle's triangles as an image draws them: which of them are drawn, and in which order. The
//! drawing itself is done by `shoot`.

use super::camera::{Camera, NothingToSee};
use super::gpu_data::{BENT, FrameData, TRIANGLES_MAX, Vertex};
use super::optics;
use super::studio_error::StudioError;
use super::visible::{self, ProjectedVertex};
use crate::vehicle::VehicleMesh;
use glam::Vec3;
use rayon::prelude::*;

/// Number of triangles in one run of neighbours. `sorted_front_to_back` moves runs as a whole,
/// however far apart the depths of their triangles are.
const RUN_TRIANGLES: usize = 256;
/// If a surface's normal turns by more than this, in radians per metre, the reflection of a whole
/// light may fit within one pixel.
const BEND_PER_M: f32 = 3.0;
/// Maximum number of vertices. More would exceed the device's buffer limit at 32 bytes per vertex,
/// and no template comes near.
const VERTICES_MAX: usize = 4_000_000;

/// A vehicle's vertices and triangles in drawing order: solid materials first, then transparent
/// ones.
pub struct DrawList {
    pub vertices: Vec<Vertex>,
    pub indices: Vec<u32>,
    /// Number of indices, at the start of `indices`, that belong to solid materials.
    pub opaque_indices: u32,
}

impl DrawList {
    /// Builds the draw list of a mesh. Returns [`StudioError::Mesh`] if positions and normals
    /// differ in number, an index is out of range, or there are too many vertices or triangles, and
    /// [`StudioError::Nothing`] if there is no triangle.
    pub fn new(mesh: &VehicleMesh) -> Result<DrawList, StudioError> {
        let mut stage = DrawList { vertices: Vec::new(), indices: Vec::new(), opaque_indices: 0 };
        for transparent in [false, true] {
            for (material, surface) in
                mesh.surfaces.iter().filter(|(material, _)| optics::is_transparent(**material) == transparent)
            {
                let broken = |what: &str| StudioError::Mesh(format!("{material:?} {what}"));
                if surface.positions.len() != surface.normals.len() {
                    return Err(broken("has not one normal for every position"));
                }
                if surface.indices.iter().any(|index| *index as usize >= surface.positions.len()) {
                    return Err(broken("names a vertex that it does not have"));
                }
                let base = stage.vertices.len() as u32;
                let bends = bends(&surface.positions, &surface.normals, &surface.indices);
                let vertices = surface.positions.iter().zip(&surface.normals).zip(bends);
                stage.vertices.extend(vertices.map(|((position, normal), bends)| {
                    let material = *material as u32 | if bends { BENT } else { 0 };
                    Vertex { position: *position, material, normal: *normal, reserved: 0 }
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
        if stage.indices.len() / 3 > TRIANGLES_MAX {
            return Err(StudioError::Mesh(format!("more than {TRIANGLES_MAX} triangles")));
        }
        Ok(stage)
    }

    /// Returns `frame` with the vertex and triangle counts of this stage.
    pub fn counted_in(&self, frame: FrameData) -> FrameData {
        frame.of(self.vertices.len() as u32, self.opaque_indices / 3)
    }

    /// Sorts the solid triangles so that those nearest to the camera are drawn first, because what
    /// they hide is then never shaded. Sorts in runs of [`RUN_TRIANGLES`] neighbours, which share
    /// their vertices.
    pub fn sorted_front_to_back(mut self, camera: &Camera) -> DrawList {
        let clip = camera.clip_from_studio() * camera.studio_from_vehicle;
        let depths: Vec<f32> =
            self.vertices.par_iter().map(|vertex| clip.project_point3(Vec3::from(vertex.position)).z).collect();
        let solid = &mut self.indices[..self.opaque_indices as usize];
        let mut runs: Vec<(f32, &[u32])> = solid
            .par_chunks(3 * RUN_TRIANGLES)
            .map(|run| (run.iter().map(|i| depths[*i as usize]).fold(f32::MAX, f32::min), run))
            .collect();
        runs.par_sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let sorted: Vec<u32> = runs.into_iter().flat_map(|(_, run)| run).copied().collect();
        solid.copy_from_slice(&sorted);
        self
    }

    /// Returns a copy without the triangles that no sample of the image shows. The triangles keep
    /// their order, and the vertices are in the order in which they are drawn.
    pub fn without_hidden(&self, camera: &Camera) -> DrawList {
        let projected: Vec<ProjectedVertex> =
            self.vertices.par_iter().map(|vertex| ProjectedVertex::of(camera, Vec3::from(vertex.position))).collect();
        let can_be_seen = visible::triangles(&projected, &self.indices, self.opaque_indices as usize);
        let mut left = DrawList { vertices: Vec::new(), indices: Vec::new(), opaque_indices: 0 };
        let mut places = vec![u32::MAX; self.vertices.len()];
        let solid = self.opaque_indices as usize / 3;
        for (number, triangle) in self.indices.chunks_exact(3).enumerate().filter(|(number, _)| can_be_seen[*number]) {
            for index in triangle {
                let place = &mut places[*index as usize];
                if *place == u32::MAX {
                    *place = left.vertices.len() as u32;
                    left.vertices.push(self.vertices[*index as usize]);
                }
                left.indices.push(*place);
            }
            if number < solid {
                left.opaque_indices += 3;
            }
        }
        left
    }
}

/// Returns, for each vertex, true if a triangle around it bends by more than [`BEND_PER_M`].
fn bends(positions: &[[f32; 3]], normals: &[[f32; 3]], indices: &[u32]) -> Vec<bool> {
    let bent = |a: u32, b: u32| {
        let apart = |of: &[[f32; 3]]| Vec3::from(of[a as usize]).distance_squared(Vec3::from(of[b as usize]));
        apart(normals) > BEND_PER_M * BEND_PER_M * apart(positions)
    };
    let mut bends = vec![false; positions.len()];
    for triangle in indices.chunks_exact(3) {
        let [a, b, c] = [triangle[0], triangle[1], triangle[2]];
        if bent(a, b) || bent(b, c) || bent(c, a) {
            [a, b, c].into_iter().for_each(|corner| bends[corner as usize] = true);
        }
    }
    bends
}

//! A vehicle's triangles as a picture draws them: in which order, and which of them at all. Drawing them is `shoot`'s affair.

use super::camera::{Camera, NothingToSee};
use super::gpu_data::{BENT, FrameData, TRIANGLES_MAX, Vertex};
use super::optics;
use super::studio_error::StudioError;
use super::visible::{self, Projected};
use crate::vehicle::VehicleMesh;
use glam::Vec3;
use rayon::prelude::*;

/// Triangles that are drawn together, however far each is from the camera.
const RUN_TRIANGLES: usize = 256;
/// A surface whose normal turns by more than this, radians a metre, may hold the image of a whole light within a pixel.
const BEND_PER_M: f32 = 3.0;
/// More would pass the device's buffer limit at 32 bytes a vertex, and no template comes near.
const VERTICES_MAX: usize = 4_000_000;

/// The vehicle in the order it is drawn: solid materials, then transparent ones.
pub struct Stage {
    pub vertices: Vec<Vertex>,
    pub indices: Vec<u32>,
    pub opaque_indices: u32,
}

impl Stage {
    pub fn new(mesh: &VehicleMesh) -> Result<Stage, StudioError> {
        let mut stage = Stage { vertices: Vec::new(), indices: Vec::new(), opaque_indices: 0 };
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

    /// What a frame of this stage is told.
    pub fn counted_in(&self, frame: FrameData) -> FrameData {
        frame.of(self.vertices.len() as u32, self.opaque_indices / 3)
    }

    /// Puts the solid triangles nearest to the camera first: what they hide is then never shaded. In runs of neighbours, which share
    /// their vertices.
    pub fn sorted_front_to_back(mut self, camera: &Camera) -> Stage {
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

    /// The same without the triangles that no sample of the picture shows, in the same order; vertices in the order they are drawn in.
    pub fn without_hidden(&self, camera: &Camera) -> Stage {
        let projected: Vec<Projected> =
            self.vertices.par_iter().map(|vertex| Projected::of(camera, Vec3::from(vertex.position))).collect();
        let can_be_seen = visible::triangles(&projected, &self.indices, self.opaque_indices as usize);
        let mut left = Stage { vertices: Vec::new(), indices: Vec::new(), opaque_indices: 0 };
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

/// For each vertex whether a triangle around it bends by more than [`BEND_PER_M`].
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

//! Puts a part that is built about its own origin where the vehicle needs it.

use glam::{Affine3A, Mat3, Vec3, Vec3A};

use crate::vehicle::mesh::{Surface, VehicleMesh};

/// Returns the piece turned and moved. `place` must not mirror or scale (use
/// [`both_sides`] for the other side).
pub fn placed(piece: &VehicleMesh, place: Affine3A) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    for (material, surface) in &piece.surfaces {
        let moved = Surface {
            positions: surface.positions.iter().map(|p| place.transform_point3a(Vec3A::from(*p)).to_array()).collect(),
            normals: surface.normals.iter().map(|n| place.transform_vector3a(Vec3A::from(*n)).to_array()).collect(),
            indices: surface.indices.clone(),
        };
        mesh.add(*material, &moved);
    }
    mesh
}

/// Returns the piece moved without a turn.
pub fn moved_to(piece: &VehicleMesh, to: Vec3) -> VehicleMesh {
    placed(piece, Affine3A::from_translation(to))
}

/// Returns the placement of a part on a skin: its y axis points along `outward`, its x axis along
/// `along` as far as that lies in the skin.
pub fn on_skin(at: Vec3, outward: Vec3, along: Vec3) -> Affine3A {
    let y = outward.normalize_or(Vec3::Y);
    let z = along.cross(y).normalize_or(Vec3::Z);
    let x = y.cross(z);
    Affine3A::from_mat3_translation(Mat3::from_cols(x, y, z), at)
}

/// Returns the mirror image of the piece, on the other side of the centre plane.
pub fn mirrored(piece: &VehicleMesh) -> VehicleMesh {
    VehicleMesh { surfaces: piece.surfaces.iter().map(|(material, surface)| (*material, surface.mirrored())).collect() }
}

/// Returns the piece and its mirror image.
pub fn both_sides(piece: &VehicleMesh) -> VehicleMesh {
    let mut mesh = piece.clone();
    add_all(&mut mesh, &mirrored(piece));
    mesh
}

/// Adds every surface of `piece` to `mesh`.
pub fn add_all(mesh: &mut VehicleMesh, piece: &VehicleMesh) {
    for (material, surface) in &piece.surfaces {
        mesh.add(*material, surface);
    }
}

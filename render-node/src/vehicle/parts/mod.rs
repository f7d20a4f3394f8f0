//! The parts that a body is dressed with. Each is a function from a small sheet
//! of numbers to a piece of mesh.
//!
//! A piece is built about its own origin unless its function says vehicle space;
//! `placing` puts it on the vehicle. Parts know nothing of the body: where a skin
//! matters, the caller passes points on it.

pub mod assembly;
pub mod bars;
pub mod cabin;
pub mod emblem;
pub mod exhaust;
pub mod grille;
pub mod handle;
pub mod lamp;
pub mod mirror;
pub mod pad;
pub mod placing;
pub mod roof;
pub mod soft_top;
pub mod solid;
pub mod spoiler;
pub mod wheel;
pub mod wiper;

#[cfg(test)]
pub(super) mod checks {
    //! Checks that every piece must pass: finite positions, and unit normals on the
    //! side that the triangles face.

    use glam::Vec3;

    use crate::vehicle::mesh::VehicleMesh;

    pub fn assert_sound(mesh: &VehicleMesh, name: &str) {
        assert!(mesh.triangle_count() > 0, "{name}: empty");
        for (material, surface) in &mesh.surfaces {
            let what = format!("{name}, {material:?}");
            assert_eq!(surface.positions.len(), surface.normals.len(), "{what}");
            for (p, n) in surface.positions.iter().zip(&surface.normals) {
                assert!(p.iter().chain(n).all(|c| c.is_finite()), "{what}: {p:?} {n:?}");
                assert!((Vec3::from(*n).length() - 1.0).abs() < 1e-3, "{what}: normal {n:?}");
            }
            for t in surface.indices.chunks_exact(3) {
                let [a, b, c] = [t[0], t[1], t[2]].map(|i| Vec3::from(surface.positions[i as usize]));
                let face = (b - a).cross(c - a);
                for i in t {
                    let n = Vec3::from(surface.normals[*i as usize]);
                    assert!(face.dot(n) > 0.0, "{what}: triangle {a} {b} {c} faces away from its normal {n}");
                }
            }
        }
    }
}

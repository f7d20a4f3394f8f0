//! Depth behind the skin: recesses with walls, lamp bowls behind their lenses, wheel wells. Takes a divided skin, gives
//! surfaces by material (one half; mirroring is the caller's).

use glam::Vec3;
use rayon::prelude::*;

use super::body_field::{Arch, BodyField, Sheets};
use super::mesh::{Material, Surface, VehicleMesh};
use super::regions::{Part, PartShape};
use super::skin::{Skin, border};
use super::surface_net::gradient;

/// How far the painted edge of a wheel arch turns inwards.
const ARCH_LIP_M: f32 = 0.028;

/// The body's half as surfaces. `well_y` is where the front and rear wheel wells end inside.
pub fn surfaces(skin: &Skin<Sheets>, parts: &[Part], field: &BodyField, arches: [Arch; 2], well_y: [f32; 2]) -> VehicleMesh {
    let normals: Vec<Vec3> = skin
        .positions
        .par_iter()
        .with_min_len(256)
        .map(|p| {
            let n = gradient(&|p| field.at(p), *p);
            let n = if p.y == 0.0 { Vec3::new(n.x, 0.0, n.z) } else { n };
            n.normalize_or(Vec3::Z)
        })
        .collect();
    let mut mesh = VehicleMesh::default();
    for (id, part) in parts.iter().enumerate() {
        let triangles: Vec<[u32; 3]> =
            skin.triangles.iter().zip(&skin.part).filter(|(_, own)| **own as usize == id).map(|(t, _)| *t).collect();
        if triangles.is_empty() {
            continue;
        }
        let piece = Piece { positions: &skin.positions, normals: &normals, triangles: &triangles };
        match &part.shape {
            PartShape::Skin => piece.add_moved(&mut mesh, part.material, 0.0),
            PartShape::Inset { depth, wall } => {
                piece.add_moved(&mut mesh, part.material, *depth);
                piece.add_walls(&mut mesh, *wall, *depth);
            }
            PartShape::Lamp { lamp, .. } => {
                piece.add_moved(&mut mesh, lamp.lens, 0.0);
                piece.add_moved(&mut mesh, lamp.bowl, lamp.depth);
                piece.add_walls(&mut mesh, lamp.bowl, lamp.depth);
            }
            PartShape::Arch(index) => piece.add_well(&mut mesh, arches[*index], well_y[*index]),
        }
    }
    mesh
}

struct Piece<'a> {
    positions: &'a [Vec3],
    normals: &'a [Vec3],
    triangles: &'a [[u32; 3]],
}

impl Piece<'_> {
    fn place(&self, i: u32, depth: f32) -> Vec3 {
        self.positions[i as usize] - self.normals[i as usize] * depth
    }

    /// The piece, set back by `depth` along its normals.
    fn add_moved(&self, mesh: &mut VehicleMesh, material: Material, depth: f32) {
        let surface = mesh.surfaces.entry(material).or_default();
        let mut own = std::collections::HashMap::new();
        for i in self.triangles.iter().flatten() {
            let index = *own.entry(*i).or_insert_with(|| {
                surface.positions.push(self.place(*i, depth).into());
                surface.normals.push(self.normals[*i as usize].into());
                surface.positions.len() as u32 - 1
            });
            surface.indices.push(index);
        }
    }

    /// Walls from the piece's border down to its set-back copy, facing the inside of the recess.
    fn add_walls(&self, mesh: &mut VehicleMesh, material: Material, depth: f32) {
        let surface = mesh.surfaces.entry(material).or_default();
        for (a, b) in border(self.triangles.iter()) {
            let (pa, pb) = (self.place(a, 0.0), self.place(b, 0.0));
            if pa.y == 0.0 && pb.y == 0.0 {
                continue;
            }
            add_quad(surface, [pa, pb, self.place(b, depth), self.place(a, depth)]);
        }
    }

    /// The lip and the well of a wheel arch, where this piece was the skin.
    fn add_well(&self, mesh: &mut VehicleMesh, arch: Arch, well_y: f32) {
        let hub = Vec3::new(arch.x, well_y, arch.z);
        for (a, b) in border(self.triangles.iter()) {
            let (pa, pb) = (self.place(a, 0.0), self.place(b, 0.0));
            let moved = |p: Vec3, y: f32| Vec3::new(p.x, y.clamp(well_y, p.y.max(well_y)), p.z);
            let (lip_a, lip_b) = (moved(pa, pa.y - ARCH_LIP_M), moved(pb, pb.y - ARCH_LIP_M));
            let (in_a, in_b) = (moved(pa, well_y), moved(pb, well_y));
            add_quad(mesh.surfaces.entry(Material::Paint).or_default(), [pa, pb, lip_b, lip_a]);
            let well = mesh.surfaces.entry(Material::Underbody).or_default();
            add_quad(well, [lip_a, lip_b, in_b, in_a]);
            add_triangle(well, [hub, in_a, in_b]);
        }
    }
}

fn add_quad(surface: &mut Surface, [a, b, c, d]: [Vec3; 4]) {
    add_triangle(surface, [a, b, c]);
    add_triangle(surface, [a, c, d]);
}

/// A flat triangle; nothing if it has no area.
pub fn add_triangle(surface: &mut Surface, corners: [Vec3; 3]) {
    let [a, b, c] = corners;
    let cross = (b - a).cross(c - a);
    if cross.length_squared() < 1e-14 {
        return;
    }
    let normal = cross.normalize();
    for corner in corners {
        surface.indices.push(surface.positions.len() as u32);
        surface.positions.push(corner.into());
        surface.normals.push(normal.into());
    }
}

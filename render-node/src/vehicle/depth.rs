//! Depth behind the skin: recesses with walls, lamp bowls behind their lenses, wheel wells. Takes a divided skin, gives
//! surfaces by material (one half; mirroring is the caller's).

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::body_field::{Arch, BodyField, Sheets};
use super::mesh::{Material, Surface, VehicleMesh};
use super::parts::lamp::{LampSite, head_lamp, tail_lamp};
use super::regions::{Part, PartShape};
use super::sheet::{DrawnIn, Lamp};
use super::skin::{Skin, border};
use super::surface_net::edges_of;

/// How far the painted edge of a wheel arch turns inwards.
const ARCH_LIP_M: f32 = 0.028;

/// The body's half as surfaces. `well_y` is where the front and rear wheel wells end inside.
pub fn surfaces(
    skin: &Skin<Sheets>,
    parts: &[Part],
    field: &BodyField,
    arches: [Arch; 2],
    well_y: [f32; 2],
) -> VehicleMesh {
    let normals: Vec<Vec3> = skin.positions.par_iter().with_min_len(256).map(|p| field.normal(*p)).collect();
    let brims = Brims::new(skin, parts, &normals);
    let mut of_part: Vec<Vec<[u32; 3]>> = vec![Vec::new(); parts.len()];
    for (triangle, part) in skin.triangles.iter().zip(&skin.part) {
        of_part[usize::from(*part)].push(*triangle);
    }
    let places = parts.par_iter().zip(&of_part).filter(|(_, triangles)| !triangles.is_empty());
    let meshes: Vec<VehicleMesh> = places
        .map(|(part, triangles)| {
            let mut mesh = VehicleMesh::default();
            let piece = match part.shape {
                // Their own walls start at the brim, which the skin around them goes down to.
                PartShape::Groove { .. } | PartShape::Recess { .. } => Piece::new(&skin.positions, &normals, triangles),
                _ => Piece::new(&brims.positions, &brims.normals, triangles),
            };
            match &part.shape {
                PartShape::Groove { depth } => {
                    piece.add_sunk(&mut mesh, part.material, part.material, *depth, 0.0, &brims);
                }
                PartShape::Recess { depth, wall } => {
                    piece.add_sunk(&mut mesh, part.material, *wall, *depth, 0.9, &brims);
                }
                PartShape::Skin => piece.add_moved(&mut mesh, part.material, 0.0),
                PartShape::Inset { depth, wall } => {
                    piece.add_moved(&mut mesh, part.material, *depth);
                    piece.add_walls(&mut mesh, *wall, *depth);
                }
                PartShape::Lamp { lamp, view } => {
                    piece.add_moved(&mut mesh, lamp.lens, 0.0);
                    piece.add_moved(&mut mesh, lamp.bowl, lamp.depth);
                    piece.add_walls(&mut mesh, lamp.bowl, lamp.depth);
                    piece.add_lights(&mut mesh, lamp, *view == DrawnIn::Rear, field);
                }
                PartShape::Arch(index) => piece.add_well(&mut mesh, arches[*index], well_y[*index]),
            }
            mesh
        })
        .collect();
    let mut mesh = VehicleMesh::default();
    for (material, surface) in meshes.iter().flat_map(|mesh| &mesh.surfaces) {
        mesh.add(*material, surface);
    }
    mesh
}

/// How far the normals at the edge of a groove or recess lean into it, and how far the edge lies below the skin: together a rounded
/// edge that catches light.
const BRIM_LEAN_DEGREES: f32 = 44.0;
const BRIM_DROP_M: f32 = 0.0014;

/// The skin's vertices with those at the edges of grooves and recesses bent inwards.
struct Brims {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

impl Brims {
    fn new(skin: &Skin<Sheets>, parts: &[Part], normals: &[Vec3]) -> Self {
        let is_sunk =
            |part: u16| matches!(parts[usize::from(part)].shape, PartShape::Groove { .. } | PartShape::Recess { .. });
        let (mut positions, mut bent) = (skin.positions.clone(), normals.to_vec());
        let sunk =
            skin.triangles.iter().zip(&skin.part).filter(|(_, part)| is_sunk(**part)).map(|(triangle, _)| triangle);
        // What lies beyond an edge of a groove: edges of the surface around it run the other way.
        let edges = border(sunk);
        let mut is_edge = vec![false; positions.len()];
        edges.iter().for_each(|(a, b)| [a, b].into_iter().for_each(|i| is_edge[*i as usize] = true));
        let mut beyond: FxHashMap<(u32, u32), u16> = FxHashMap::default();
        for (triangle, part) in skin.triangles.iter().zip(&skin.part) {
            if !is_sunk(*part) && triangle.iter().filter(|i| is_edge[**i as usize]).count() > 1 {
                edges_of(triangle).into_iter().for_each(|(a, b)| {
                    beyond.insert((b, a), *part);
                });
            }
        }
        let mut into: FxHashMap<u32, Vec3> = FxHashMap::default();
        for (a, b) in edges {
            let is_panel = beyond.get(&(a, b)).is_some_and(|part| {
                let part = &parts[usize::from(*part)];
                matches!(part.shape, PartShape::Skin) && part.material != Material::Glass
            });
            if is_panel {
                let along = (positions[b as usize] - positions[a as usize]).normalize_or_zero();
                for i in [a, b] {
                    *into.entry(i).or_default() += normals[i as usize].cross(along);
                }
            }
        }
        let (sin, cos) = BRIM_LEAN_DEGREES.to_radians().sin_cos();
        for (i, way) in into {
            let (index, in_plane) = (i as usize, skin.positions[i as usize].y == 0.0);
            let way = if in_plane { Vec3::new(way.x, 0.0, way.z) } else { way }.normalize_or_zero();
            positions[index] -= normals[index] * BRIM_DROP_M;
            bent[index] = (normals[index] * cos + way * sin).normalize_or(normals[index]);
        }
        Self { positions, normals: bent }
    }
}

struct Piece<'a> {
    positions: &'a [Vec3],
    normals: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    /// Mean outward direction.
    outward: Vec3,
}

impl<'a> Piece<'a> {
    fn new(positions: &'a [Vec3], normals: &'a [Vec3], triangles: &'a [[u32; 3]]) -> Self {
        let corners = || triangles.iter().flatten().map(|i| *i as usize);
        let mut outward: Vec3 = corners().map(|i| normals[i]).sum();
        if corners().any(|i| positions[i].y == 0.0) {
            // Its other half is the mirror image: the two must meet in the centre plane.
            outward.y = 0.0;
        }
        Self { positions, normals, triangles, outward: outward.normalize_or_zero() }
    }

    /// A vertex set back by `depth`: mostly the way the whole piece looks, as own normals would fold a piece that wraps
    /// round a corner.
    fn place(&self, i: u32, depth: f32) -> Vec3 {
        let (p, normal) = (self.positions[i as usize], self.normals[i as usize]);
        p - normal.lerp(self.outward, 0.75).normalize_or(normal) * depth
    }

    /// The piece, set back by `depth` along its normals.
    fn add_moved(&self, mesh: &mut VehicleMesh, material: Material, depth: f32) {
        let surface = mesh.surfaces.entry(material).or_default();
        let mut own = FxHashMap::default();
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

    /// A floor `depth` below the skin and walls up to the brim. `straightness`: 0 goes down along the skin's own normals, 1 the way the
    /// whole piece looks.
    fn add_sunk(
        &self,
        mesh: &mut VehicleMesh,
        floor: Material,
        wall: Material,
        depth: f32,
        straightness: f32,
        brims: &Brims,
    ) {
        let below = |i: u32| {
            let (p, normal) = (self.positions[i as usize], self.normals[i as usize]);
            p - normal.lerp(self.outward, straightness).normalize_or(normal) * depth
        };
        let surface = mesh.surfaces.entry(floor).or_default();
        let mut own = FxHashMap::default();
        for i in self.triangles.iter().flatten() {
            let index = *own.entry(*i).or_insert_with(|| {
                surface.positions.push(below(*i).into());
                surface.normals.push(self.normals[*i as usize].into());
                surface.positions.len() as u32 - 1
            });
            surface.indices.push(index);
        }
        let surface = mesh.surfaces.entry(wall).or_default();
        for (a, b) in border(self.triangles.iter()) {
            let (pa, pb) = (brims.positions[a as usize], brims.positions[b as usize]);
            if pa.y != 0.0 || pb.y != 0.0 {
                add_quad(surface, [pa, pb, below(b), below(a)]);
            }
        }
    }

    /// What shines behind a lens, laid out in the lens's own border as seen from the front or the rear.
    fn add_lights(&self, mesh: &mut VehicleMesh, lamp: &Lamp, from_rear: bool, field: &BodyField) {
        let outline: Vec<Vec2> = longest_loop(&border(self.triangles.iter()))
            .into_iter()
            .map(|i| Vec2::new(self.positions[i as usize].y, self.positions[i as usize].z))
            .collect();
        if outline.len() < 8 {
            return;
        }
        let middle_x = self.triangles.iter().flatten().map(|i| self.positions[*i as usize].x).sum::<f32>()
            / (3 * self.triangles.len()) as f32;
        let skin = move |at: Vec2| {
            let x = field.skin_x(at.x, at.y, from_rear).unwrap_or(middle_x);
            let p = Vec3::new(x, at.x, at.y);
            (p, field.normal(p))
        };
        let site = LampSite { outline, skin: Box::new(skin), depth: lamp.depth };
        for lights in [lamp.head.map(|spec| head_lamp(&site, &spec)), lamp.tail.map(|spec| tail_lamp(&site, &spec))] {
            for (material, surface) in lights.iter().flat_map(|mesh| &mesh.surfaces) {
                mesh.add(*material, surface);
            }
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

/// The longest closed chain of directed edges.
fn longest_loop(edges: &[(u32, u32)]) -> Vec<u32> {
    let mut next: std::collections::BTreeMap<u32, u32> = edges.iter().copied().collect();
    let mut longest = Vec::new();
    while let Some((&start, _)) = next.iter().next() {
        let mut chain = vec![start];
        let mut at = start;
        while let Some(to) = next.remove(&at) {
            if to == start {
                break;
            }
            chain.push(to);
            at = to;
        }
        if chain.len() > longest.len() {
            longest = chain;
        }
    }
    longest
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

//! Depth behind the skin: recesses with walls, lamp bowls behind their lenses, wheel
//! wells. Takes a divided skin and returns surfaces by material, for one half of the body;
//! the caller mirrors them.

use glam::Vec3;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::body_field::{Arch, BodyField, SurfacePoint};
use super::mesh::{Material, Surface, VehicleMesh};
use super::part::{LENS_ROUND_M, Part, PartShape};
use super::parts::grille::{Fill, GrilleOpening, Pattern};
use super::parts::lamp::{
    LampFilling, LampSite, LampSkin, USUAL_YEAR, head_lamp, plain_housing, round_lamp, round_lamp_for, tail_lamp,
};
use super::sheet::{DrawnIn, Lamp};
use super::skin::{Skin, border};
use super::surface_net::edges_of;

/// How far the edge of a lens goes into the body, to below its bezel.
const LENS_EDGE_M: f32 = 0.008;
const LENS_TILT: f32 = 0.7;
/// How far behind its housing a tail lamp is closed towards the inside of the car.
const BEHIND_LAMP_M: f32 = 0.012;
/// How far the painted edge of a wheel arch turns inwards.
const ARCH_LIP_M: f32 = 0.028;

/// Depth limits of the duct behind a grille, how much of its wall is trim, and the depth of the
/// panel of a closed grille behind the skin.
const LEAST_DUCT_M: f32 = 0.05;
const DEEPEST_DUCT_M: f32 = 0.095;
const WALL_SHOWN_M: f32 = 0.022;
const CLOSED_DEPTH_M: f32 = 0.0075;
/// Approximate size of the triangles of the underbody, which is dark and visible only at its edges.
const UNDERBODY_CELL_M: f32 = 0.07;
/// Slope of a bead at its edge, for beads that are rounded over `BEAD_WIDE_M` or more;
/// narrower ones are flatter. A fully round bead would mirror light and dark within a
/// pixel, and look like a rope.
const BEAD_TILT: f32 = 1.1;
const BEAD_WIDE_M: f32 = 0.0095;

/// The surfaces of a body's half, and separately the area with the flap that only one
/// of the two halves has.
pub struct HalfBody {
    pub both: VehicleMesh,
    pub with_flap: VehicleMesh,
    pub without_flap: VehicleMesh,
}

/// Builds the surfaces of the body's half. `well_y` is where the front and rear
/// wheel wells end inside.
pub fn surfaces(
    skin: &Skin<SurfacePoint>,
    parts: &[Part],
    field: &BodyField,
    arches: [Arch; 2],
    well_y: [f32; 2],
) -> HalfBody {
    let normals: Vec<Vec3> = skin.positions.par_iter().with_min_len(256).map(|p| field.normal(*p)).collect();
    let brims = Brims::new(skin, parts, &normals);
    let mut of_part: Vec<Vec<[u32; 3]>> = vec![Vec::new(); parts.len()];
    for (triangle, part) in skin.triangles.iter().zip(&skin.part) {
        of_part[usize::from(*part)].push(*triangle);
    }
    for (part, triangles) in parts.iter().zip(&mut of_part) {
        if part.material == Material::Underbody && matches!(part.shape, PartShape::Skin) {
            *triangles = thinned(triangles, &skin.positions, UNDERBODY_CELL_M);
        }
    }
    let [with_flap, without_flap] = flap_place(skin, parts, &normals, &brims, &mut of_part);
    let places = parts.par_iter().zip(&of_part).filter(|(_, triangles)| !triangles.is_empty());
    let meshes: Vec<VehicleMesh> = places
        .map(|(part, triangles)| {
            let mut mesh = VehicleMesh::default();
            let piece = match part.shape {
                // Their own walls start at the brim, which the skin around them goes down to.
                PartShape::Groove { .. } | PartShape::Recess { .. } => {
                    MeshPiece::new(&skin.positions, &normals, triangles)
                }
                _ => MeshPiece::new(&brims.positions, &brims.normals, triangles),
            };
            match &part.shape {
                PartShape::Groove { depth, .. } => {
                    piece.add_sunk(
                        &mut mesh,
                        [part.material; 2],
                        Sunk { depth: *depth, lean: 0.0, straightness: 0.0 },
                        &brims,
                    );
                }
                PartShape::Recess { depth, lean, wall } => {
                    let sunk = Sunk { depth: *depth, lean: *lean, straightness: 0.9 };
                    piece.add_sunk(&mut mesh, [part.material, *wall], sunk, &brims);
                }
                PartShape::Skin => piece.add_moved(&mut mesh, part.material, 0.0),
                PartShape::Bead { height, radius } => piece.add_bead(&mut mesh, part.material, *height, *radius),
                PartShape::Inset { depth, wall, fill } => match fill {
                    Some(fill) => piece.add_grille(&mut mesh, part.material, *depth, *wall, fill),
                    None => {
                        piece.add_moved(&mut mesh, part.material, *depth);
                        piece.add_walls(&mut mesh, *wall, [0.0, *depth]);
                    }
                },
                PartShape::Lamp { lamp, view } => {
                    piece.add_lamp(&mut mesh, lamp, *view == DrawnIn::Rear, field);
                }
                PartShape::Arch(index) => piece.add_well(&mut mesh, arches[*index], well_y[*index]),
            }
            mesh
        })
        .collect();
    let mut both = VehicleMesh::default();
    for (material, surface) in meshes.iter().flat_map(|mesh| &mesh.surfaces) {
        both.add(*material, surface);
    }
    HalfBody { both, with_flap, without_flap }
}

/// Builds the area of a flap: with its groove and the paint that touches it, and once more without
/// the flap. Both are removed from the parts' triangles.
fn flap_place(
    skin: &Skin<SurfacePoint>,
    parts: &[Part],
    normals: &[Vec3],
    brims: &Brims,
    of_part: &mut [Vec<[u32; 3]>],
) -> [VehicleMesh; 2] {
    let (mut with, mut without) = (VehicleMesh::default(), VehicleMesh::default());
    let is_flap = |part: &Part| matches!(part.shape, PartShape::Groove { on_one_side: true, .. });
    let flaps: Vec<usize> = (0..parts.len()).filter(|i| is_flap(&parts[*i]) && !of_part[*i].is_empty()).collect();
    if flaps.is_empty() {
        return [with, without];
    }
    let touched: FxHashSet<u32> = flaps.iter().flat_map(|i| of_part[*i].iter().flatten().copied()).collect();
    let is_near = |triangle: &[u32; 3]| triangle.iter().any(|i| touched.contains(i));
    // Part 0 is the paint.
    let (near, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut of_part[0]).into_iter().partition(is_near);
    of_part[0] = rest;
    MeshPiece::new(&brims.positions, &brims.normals, &near).add_moved(&mut with, Material::Paint, 0.0);
    let (mut positions, mut plain) = (brims.positions.clone(), brims.normals.clone());
    for i in touched.iter().map(|i| *i as usize) {
        (positions[i], plain[i]) = (skin.positions[i], normals[i]);
    }
    let mut closed = near;
    for index in flaps {
        let triangles = std::mem::take(&mut of_part[index]);
        if let PartShape::Groove { depth, .. } = parts[index].shape {
            let piece = MeshPiece::new(&skin.positions, normals, &triangles);
            let sunk = Sunk { depth, lean: 0.0, straightness: 0.0 };
            piece.add_sunk(&mut with, [parts[index].material; 2], sunk, brims);
        }
        closed.extend(triangles);
    }
    MeshPiece::new(&positions, &plain, &closed).add_moved(&mut without, Material::Paint, 0.0);
    [with, without]
}

/// How far the normals at the edge of a groove or recess lean into it, and how far the edge lies
/// below the skin. Together they make a rounded edge that catches light.
const BRIM_LEAN_DEGREES: f32 = 22.0;
const BRIM_DROP_M: f32 = 0.0014;
/// The edge of a recess leans less, because straight across a tail its highlight would be a line
/// thinner than a pixel, which looks like dots.
const RECESS_LEAN_DEGREES: f32 = 14.0;

/// The vertices of the skin, with those at the edges of grooves and recesses bent inwards.
struct Brims {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

impl Brims {
    fn new(skin: &Skin<SurfacePoint>, parts: &[Part], normals: &[Vec3]) -> Self {
        let is_sunk =
            |part: u16| matches!(parts[usize::from(part)].shape, PartShape::Groove { .. } | PartShape::Recess { .. });
        let (mut positions, mut bent) = (skin.positions.clone(), normals.to_vec());
        let sunk =
            skin.triangles.iter().zip(&skin.part).filter(|(_, part)| is_sunk(**part)).map(|(triangle, _)| triangle);
        // The part on the other side of each edge of a groove, by the edge's ends
        // as the groove has them.
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
        let is_recess = |part: u16| matches!(parts[usize::from(part)].shape, PartShape::Recess { .. });
        let recessed = skin.triangles.iter().zip(&skin.part).filter(|(_, part)| is_recess(**part));
        let recessed: FxHashSet<u32> = recessed.flat_map(|(triangle, _)| *triangle).collect();
        for (i, way) in into {
            let lean = if recessed.contains(&i) { RECESS_LEAN_DEGREES } else { BRIM_LEAN_DEGREES };
            let (sin, cos) = lean.to_radians().sin_cos();
            let (index, in_plane) = (i as usize, skin.positions[i as usize].y == 0.0);
            let way = if in_plane { Vec3::new(way.x, 0.0, way.z) } else { way }.normalize_or_zero();
            positions[index] -= normals[index] * BRIM_DROP_M;
            bent[index] = (normals[index] * cos + way * sin).normalize_or(normals[index]);
        }
        Self { positions, normals: bent }
    }
}

/// How a floor lies below the skin. With a `straightness` of 0 it goes down along the skin's own
/// normals, with 1 along the normal of the whole piece.
#[derive(Debug, Clone, Copy)]
struct Sunk {
    /// Depth of the middle.
    depth: f32,
    /// Additional depth for each metre downwards.
    lean: f32,
    straightness: f32,
}

/// Returns the same surface with one vertex for each cell of a grid. Vertices on the border stay.
fn thinned(triangles: &[[u32; 3]], positions: &[Vec3], cell_m: f32) -> Vec<[u32; 3]> {
    let on_border: FxHashSet<u32> = border(triangles.iter()).into_iter().flat_map(|(a, b)| [a, b]).collect();
    let mut first_in_cell: FxHashMap<[i32; 3], u32> = FxHashMap::default();
    let mut kept = |i: u32| {
        if on_border.contains(&i) {
            return i;
        }
        let cell = (positions[i as usize] / cell_m).floor().as_ivec3().to_array();
        *first_in_cell.entry(cell).or_insert(i)
    };
    let moved = triangles.iter().map(|triangle| triangle.map(&mut kept));
    moved.filter(|[a, b, c]| a != b && b != c && c != a).collect()
}

struct MeshPiece<'a> {
    positions: &'a [Vec3],
    normals: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    /// Mean outward direction.
    outward: Vec3,
}

impl<'a> MeshPiece<'a> {
    fn new(positions: &'a [Vec3], normals: &'a [Vec3], triangles: &'a [[u32; 3]]) -> Self {
        let corners = || triangles.iter().flatten().map(|i| *i as usize);
        let mut outward: Vec3 = corners().map(|i| normals[i]).sum();
        if corners().any(|i| positions[i].y == 0.0) {
            // The other half of the piece is its mirror image, so the two must
            // meet in the centre plane.
            outward.y = 0.0;
        }
        Self { positions, normals, triangles, outward: outward.normalize_or_zero() }
    }

    /// Returns a vertex set back by `depth`, mostly along the normal of the whole piece, because
    /// vertex normals would fold a piece that wraps round a corner.
    fn place(&self, i: u32, depth: f32) -> Vec3 {
        let (p, normal) = (self.positions[i as usize], self.normals[i as usize]);
        p - normal.lerp(self.outward, 0.75).normalize_or(normal) * depth
    }

    /// Adds the piece, set back by `depth` along its normals.
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

    /// Adds the piece with every vertex moved by `behind`.
    fn add_behind(&self, mesh: &mut VehicleMesh, material: Material, behind: impl Fn(Vec3) -> Vec3) {
        let surface = mesh.surfaces.entry(material).or_default();
        let mut own = FxHashMap::default();
        for i in self.triangles.iter().flatten() {
            let index = *own.entry(*i).or_insert_with(|| {
                surface.positions.push(behind(self.positions[*i as usize]).into());
                surface.normals.push(self.normals[*i as usize].into());
                surface.positions.len() as u32 - 1
            });
            surface.indices.push(index);
        }
    }

    /// Adds walls along the piece's border between two depths, facing the inside of the recess.
    fn add_walls(&self, mesh: &mut VehicleMesh, material: Material, [from, to]: [f32; 2]) {
        let surface = mesh.surfaces.entry(material).or_default();
        for (a, b) in border(self.triangles.iter()) {
            let (pa, pb) = (self.positions[a as usize], self.positions[b as usize]);
            if pa.y == 0.0 && pb.y == 0.0 {
                continue;
            }
            add_quad(surface, [self.place(a, from), self.place(b, from), self.place(b, to), self.place(a, to)]);
        }
    }

    /// Adds a grille: the wall, its filling between the walls, and a dark duct behind it.
    fn add_grille(&self, mesh: &mut VehicleMesh, floor: Material, depth: f32, wall: Material, fill: &Fill) {
        let border = border(self.triangles.iter());
        let at = |i: u32| self.positions[i as usize];
        let triangles: Vec<[Vec3; 3]> = self.triangles.iter().map(|t| t.map(at)).collect();
        let edges: Vec<[Vec3; 2]> = border.iter().map(|(a, b)| [at(*a), at(*b)]).collect();
        // A flank is laid out like a front, turned by a quarter.
        let at_flank = self.outward.y.abs() > self.outward.x.abs();
        let turned = |p: Vec3| if at_flank { Vec3::new(-p.y, p.x, p.z) } else { p };
        let opening = GrilleOpening::new(
            &triangles.iter().map(|corners| corners.map(turned)).collect::<Vec<_>>(),
            &edges.iter().map(|ends| ends.map(turned)).collect::<Vec<_>>(),
            turned(self.outward),
        );
        if fill.pattern == Pattern::Closed {
            self.add_moved(mesh, floor, CLOSED_DEPTH_M);
            self.add_walls(mesh, wall, [0.0, CLOSED_DEPTH_M]);
        } else {
            // A small opening has no room for a deep duct, because a wheel well or a
            // lamp may be next to it.
            let (low, high) = edges.iter().flatten().fold((Vec3::MAX, Vec3::MIN), |(l, h), p| (l.min(*p), h.max(*p)));
            let size = (high - low).y.min((high - low).z);
            let deep = (size * 0.8).clamp(LEAST_DUCT_M, DEEPEST_DUCT_M);
            let duct = if at_flank { depth.max(LEAST_DUCT_M) } else { depth.max(deep) };
            self.add_moved(mesh, Material::PanelGap, duct);
            self.add_walls(mesh, wall, [0.0, WALL_SHOWN_M]);
            self.add_walls(mesh, Material::PanelGap, [WALL_SHOWN_M, duct]);
        }
        if let Some(opening) = opening {
            for (material, mut surface) in opening.filled(fill).surfaces {
                if at_flank {
                    for p in surface.positions.iter_mut().chain(&mut surface.normals) {
                        *p = [p[1], -p[0], p[2]];
                    }
                }
                mesh.add(material, &surface);
            }
        }
    }

    /// Adds the piece raised to a rounded section: level with the skin along its border, and
    /// `height` in front of it at `radius` from there.
    fn add_bead(&self, mesh: &mut VehicleMesh, material: Material, height: f32, radius: f32) {
        let border = border(self.triangles.iter());
        let at = |i: u32| self.positions[i as usize];
        let walls: Vec<(u32, u32)> = border.into_iter().filter(|(a, b)| at(*a).y != 0.0 || at(*b).y != 0.0).collect();
        let mut inwards: FxHashMap<u32, Vec3> = FxHashMap::default();
        for (a, b) in &walls {
            let way = at(*b) - at(*a);
            for i in [a, b] {
                *inwards.entry(*i).or_default() += self.normals[*i as usize].cross(way);
            }
        }
        // Distance from the border and the direction from there.
        let from_border = |i: u32| -> (f32, Vec3) {
            if let Some(way) = inwards.get(&i) {
                return (0.0, way.normalize_or_zero());
            }
            let p = at(i);
            let mut nearest = (f32::MAX, Vec3::ZERO);
            for (a, b) in &walls {
                let (a, way) = (at(*a), at(*b) - at(*a));
                let ratio = ((p - a).dot(way) / way.length_squared().max(1e-12)).clamp(0.0, 1.0);
                let apart = p - (a + way * ratio);
                if apart.length_squared() < nearest.0 {
                    nearest = (apart.length_squared(), apart);
                }
            }
            (nearest.0.sqrt(), nearest.1.normalize_or_zero())
        };
        let steepest = BEAD_TILT * (radius / BEAD_WIDE_M).powi(4).min(1.0);
        let surface = mesh.surfaces.entry(material).or_default();
        let mut own = FxHashMap::default();
        for i in self.triangles.iter().flatten() {
            let index = *own.entry(*i).or_insert_with(|| {
                let normal = self.normals[*i as usize];
                let (distance, inward) = from_border(*i);
                let left = (1.0 - distance / radius).max(0.0);
                let tilt = left * steepest;
                let mut bent = normal - inward * tilt;
                if at(*i).y == 0.0 {
                    bent.y = 0.0;
                }
                surface.positions.push((at(*i) + normal * height * (1.0 - left * left).sqrt()).into());
                surface.normals.push(bent.normalize_or(normal).into());
                surface.positions.len() as u32 - 1
            });
            surface.indices.push(index);
        }
    }

    /// Adds a lens, and behind it a housing and the lights.
    fn add_lamp(&self, mesh: &mut VehicleMesh, lamp: &Lamp, from_rear: bool, field: &BodyField) {
        let edges = border(self.triangles.iter());
        let outline: Vec<Vec3> = longest_loop(&edges).into_iter().map(|i| self.positions[i as usize]).collect();
        if outline.len() < 8 {
            self.add_moved(mesh, lamp.lens, 0.0);
            return;
        }
        let skin = LampSkin { hit: &|from, way, length| field.hit(from, way, length), normal: &|p| field.normal(p) };
        let forward = if from_rear { Vec3::X } else { -Vec3::X };
        let year = if lamp.year == 0 { USUAL_YEAR } else { lamp.year };
        if let Some(spec) = lamp.head.filter(|_| lamp.is_round)
            && let Some(round) = round_lamp_for(&outline, self.outward, forward, &spec, year)
        {
            self.add_behind(mesh, round.can_material, |p| round.behind(p));
            for (material, surface) in &round_lamp(&round).surfaces {
                mesh.add(*material, surface);
            }
            return;
        }
        let site = LampSite::new(&outline, self.outward, forward, lamp.depth, year, &skin);
        let normals = self.rounded_normals(&edges);
        let fillings: Vec<_> =
            [lamp.head.map(|spec| head_lamp(&site, &spec, lamp.bowl)), lamp.tail.map(|spec| tail_lamp(&site, &spec))]
                .into_iter()
                .flatten()
                .collect();
        for (material, surface) in fillings.iter().flat_map(|filling| &filling.mesh.surfaces) {
            mesh.add(*material, surface);
        }
        if fillings.is_empty() {
            for (material, surface) in &plain_housing(&site, lamp.bowl).surfaces {
                mesh.add(*material, surface);
            }
        }
        match fillings.iter().find(|filling| !filling.lens.is_empty()) {
            Some(filling) => self.add_lens(mesh, &site, filling, &normals),
            None => self.add_clear_lens(mesh, lamp.lens, &normals),
        }
        if from_rear {
            // From inside the car, through its windows, the lamp must not be visible, neither from
            // behind nor past its edge.
            let back_m = lamp.depth + BEHIND_LAMP_M;
            self.add_moved(mesh, Material::Underbody, back_m);
            let walls = mesh.surfaces.entry(Material::Underbody).or_default();
            for (a, b) in &edges {
                let [a_brim, b_brim] = [*a, *b].map(|i| self.place(i, LENS_EDGE_M));
                add_quad(walls, [a_brim, b_brim, self.place(*b, back_m), self.place(*a, back_m)]);
            }
        }
        // The lens's edge, down to below the bezel.
        let joint = mesh.surfaces.entry(Material::LampHousing).or_default();
        for (a, b) in edges {
            let (pa, pb) = (self.place(a, 0.0), self.place(b, 0.0));
            if pa.y == 0.0 && pb.y == 0.0 {
                continue;
            }
            add_quad(joint, [pa, pb, self.place(b, LENS_EDGE_M), self.place(a, LENS_EDGE_M)]);
        }
    }

    /// Adds a floor below the skin and walls up to the brim.
    fn add_sunk(&self, mesh: &mut VehicleMesh, [floor, wall]: [Material; 2], sunk: Sunk, brims: &Brims) {
        let heights = || self.triangles.iter().flatten().map(|i| self.positions[*i as usize].z);
        let middle_z = 0.5 * (heights().fold(f32::MAX, f32::min) + heights().fold(f32::MIN, f32::max));
        let below = |i: u32| {
            let (p, normal) = (self.positions[i as usize], self.normals[i as usize]);
            let depth = sunk.depth + sunk.lean * (middle_z - p.z);
            p - normal.lerp(self.outward, sunk.straightness).normalize_or(normal) * depth
        };
        // The normals of a floor that gets deeper downwards point upwards that much less.
        let leaning = |i: u32| {
            let normal = self.normals[i as usize];
            (normal - Vec3::Z * sunk.lean).normalize_or(normal)
        };
        let surface = mesh.surfaces.entry(floor).or_default();
        let mut own = FxHashMap::default();
        for i in self.triangles.iter().flatten() {
            let index = *own.entry(*i).or_insert_with(|| {
                surface.positions.push(below(*i).into());
                surface.normals.push(leaning(*i).into());
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

    /// Returns the normals of a lens. Its edge is rounded, so that it catches light
    /// and shows its thickness.
    fn rounded_normals(&self, edges: &[(u32, u32)]) -> FxHashMap<u32, Vec3> {
        let at = |i: u32| self.positions[i as usize];
        let walls: Vec<(u32, u32)> =
            edges.iter().copied().filter(|(a, b)| at(*a).y != 0.0 || at(*b).y != 0.0).collect();
        let mut outwards: FxHashMap<u32, Vec3> = FxHashMap::default();
        for (a, b) in &walls {
            let way = at(*b) - at(*a);
            for i in [a, b] {
                *outwards.entry(*i).or_default() -= self.normals[*i as usize].cross(way);
            }
        }
        let mut rounded = FxHashMap::default();
        for i in self.triangles.iter().flatten() {
            rounded.entry(*i).or_insert_with(|| {
                let (p, normal) = (at(*i), self.normals[*i as usize]);
                let (distance, way) = match outwards.get(i) {
                    Some(way) => (0.0, *way),
                    None => walls.iter().fold((f32::MAX, Vec3::ZERO), |nearest, (a, b)| {
                        let (a, along) = (at(*a), at(*b) - at(*a));
                        let ratio = ((p - a).dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
                        let apart = a + along * ratio - p;
                        if apart.length() < nearest.0 { (apart.length(), apart) } else { nearest }
                    }),
                };
                let tilt = (1.0 - distance / LENS_ROUND_M).max(0.0) * LENS_TILT;
                let mut bent = normal + way.normalize_or_zero() * tilt;
                if p.y == 0.0 {
                    bent.y = 0.0;
                }
                bent.normalize_or(normal)
            });
        }
        rounded
    }

    /// Adds the whole lens in one material.
    fn add_clear_lens(&self, mesh: &mut VehicleMesh, material: Material, normals: &FxHashMap<u32, Vec3>) {
        let surface = mesh.surfaces.entry(material).or_default();
        let mut own = FxHashMap::default();
        for i in self.triangles.iter().flatten() {
            let index = *own.entry(*i).or_insert_with(|| {
                surface.positions.push(self.positions[*i as usize].into());
                surface.normals.push(normals[i].into());
                surface.positions.len() as u32 - 1
            });
            surface.indices.push(index);
        }
    }

    /// Adds the lens in areas of several materials, each up to a position along the lens or up it.
    fn add_lens(&self, mesh: &mut VehicleMesh, site: &LampSite, filling: &LampFilling, normals: &FxHashMap<u32, Vec3>) {
        let mut places = FxHashMap::default();
        for i in self.triangles.iter().flatten() {
            places.entry(*i).or_insert_with(|| {
                let place = site.place_of(self.positions[*i as usize]).0;
                [if filling.is_upright { place.y } else { place.x }, site.ratio_up(place)]
            });
        }
        for triangle in self.triangles {
            let mut rest: Vec<LensPoint> =
                triangle.iter().map(|i| (self.positions[*i as usize], normals[i], places[i])).collect();
            for (limit, material) in &filling.lens {
                let (below, above) = split(&rest, 0, *limit);
                match filling.window {
                    Some(([low, high], around)) if *material == Material::LampLens => {
                        let (under, over) = split(&below, 1, low);
                        let (inside, over) = split(&over, 1, high);
                        add_fan(mesh.surfaces.entry(*material).or_default(), &inside);
                        [under, over].iter().for_each(|part| add_fan(mesh.surfaces.entry(around).or_default(), part));
                    }
                    _ => add_fan(mesh.surfaces.entry(*material).or_default(), &below),
                }
                rest = above;
            }
        }
    }

    /// Adds the lip and the well of a wheel arch, in place of this piece of the skin.
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

/// Returns the longest closed chain of directed edges.
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

/// A point of a lens: its position, its normal, and its place along (or up) the lens with
/// its ratio of the way up.
type LensPoint = (Vec3, Vec3, [f32; 2]);

/// Cuts a convex polygon of points, normals and values where the value reaches a limit. Returns the
/// parts below and above.
#[allow(clippy::type_complexity)]
fn split(polygon: &[LensPoint], axis: usize, limit: f32) -> (Vec<LensPoint>, Vec<LensPoint>) {
    let (mut below, mut above) = (Vec::new(), Vec::new());
    for (i, a) in polygon.iter().enumerate() {
        let b = polygon[(i + 1) % polygon.len()];
        let (at_a, at_b) = (a.2[axis], b.2[axis]);
        if at_a <= limit {
            below.push(*a)
        } else {
            above.push(*a)
        }
        if (at_a <= limit) != (at_b <= limit) {
            let t = (limit - at_a) / (at_b - at_a);
            let mut place = [0, 1].map(|i| a.2[i] + (b.2[i] - a.2[i]) * t);
            place[axis] = limit;
            let cut = (a.0.lerp(b.0, t), a.1.lerp(b.1, t).normalize_or(a.1), place);
            below.push(cut);
            above.push(cut);
        }
    }
    (below, above)
}

/// Adds a convex polygon with its normals.
fn add_fan(surface: &mut Surface, polygon: &[LensPoint]) {
    if polygon.len() < 3 {
        return;
    }
    let first = surface.positions.len() as u32;
    for (position, normal, _) in polygon {
        surface.positions.push(position.to_array());
        surface.normals.push(normal.to_array());
    }
    for i in 1..polygon.len() as u32 - 1 {
        surface.indices.extend([first, first + i, first + i + 1]);
    }
}

fn add_quad(surface: &mut Surface, [a, b, c, d]: [Vec3; 4]) {
    add_triangle(surface, [a, b, c]);
    add_triangle(surface, [a, c, d]);
}

/// Adds a flat triangle, unless it has no area.
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

#[cfg(test)]
mod tests {
    use super::super::parts::checks::assert_sound;
    use super::*;

    const SIDE: u32 = 9;
    const STEP_M: f32 = 0.01;

    /// A flat square of a front, from the centre plane outwards.
    fn square() -> (Vec<Vec3>, Vec<Vec3>, Vec<[u32; 3]>) {
        let place = |i: u32| Vec3::new(0.0, (i / SIDE) as f32 * STEP_M, 0.5 + (i % SIDE) as f32 * STEP_M);
        let positions: Vec<Vec3> = (0..SIDE * SIDE).map(place).collect();
        let corners = (0..SIDE - 1).flat_map(|right| (0..SIDE - 1).map(move |up| right * SIDE + up));
        let triangles = corners.flat_map(|a| [[a, a + 1, a + SIDE + 1], [a, a + SIDE + 1, a + SIDE]]);
        let normals = vec![-Vec3::X; positions.len()];
        (positions, normals, triangles.collect())
    }

    #[test]
    fn a_bead_rises_from_its_border_and_runs_on_through_the_centre_plane() {
        let (positions, normals, triangles) = square();
        let mut mesh = VehicleMesh::default();
        MeshPiece::new(&positions, &normals, &triangles).add_bead(&mut mesh, Material::Chrome, 0.004, 0.008);
        assert_sound(&mesh, "bead");
        let surface = &mesh.surfaces[&Material::Chrome];
        let widest = (SIDE - 1) as f32 * STEP_M;
        for (p, n) in surface.positions.iter().zip(&surface.normals) {
            let at_border = p[1] > widest - 0.001 || p[2] < 0.501 || p[2] > 0.5 + widest - 0.001;
            let expected = if at_border { 0.0 } else { -0.004 };
            assert!((p[0] - expected).abs() < 1e-6, "{p:?}");
            assert!(p[1] != 0.0 || n[1] == 0.0, "{p:?} {n:?}");
        }
    }

    #[test]
    fn a_grille_has_bars_before_a_dark_duct_and_a_closed_one_has_a_panel() {
        let (positions, normals, triangles) = square();
        let piece = MeshPiece::new(&positions, &normals, &triangles);
        let mut mesh = VehicleMesh::default();
        piece.add_grille(&mut mesh, Material::Grille, 0.03, Material::Satin, &Fill::dark(Pattern::Slats));
        assert_sound(&mesh, "slats");
        let deepest =
            |material: Material| mesh.surfaces[&material].positions.iter().map(|p| p[0]).fold(f32::MIN, f32::max);
        assert!(deepest(Material::PanelGap) >= LEAST_DUCT_M && deepest(Material::Grille) < LEAST_DUCT_M);
        assert!((deepest(Material::Satin) - WALL_SHOWN_M).abs() < 1e-6);

        let mut mesh = VehicleMesh::default();
        piece.add_grille(&mut mesh, Material::GlossBlack, 0.03, Material::Satin, &Fill::dark(Pattern::Closed));
        assert!(!mesh.surfaces.contains_key(&Material::PanelGap));
        assert!(mesh.surfaces[&Material::GlossBlack].positions.iter().all(|p| p[0] < 0.01));
    }

    #[test]
    fn a_thinned_floor_keeps_its_border_and_its_place() {
        let side = 30;
        let at = |i: u32| Vec3::new((i % side) as f32 * 0.02, (i / side) as f32 * 0.02, 0.1);
        let positions: Vec<Vec3> = (0..side * side).map(at).collect();
        let triangles: Vec<[u32; 3]> = (0..(side - 1) * (side - 1))
            .flat_map(|i| {
                let corner = i / (side - 1) * side + i % (side - 1);
                [[corner, corner + 1, corner + side + 1], [corner, corner + side + 1, corner + side]]
            })
            .collect();
        let thin = thinned(&triangles, &positions, 0.07);
        assert!(thin.len() * 3 < triangles.len() * 2, "{} of {}", thin.len(), triangles.len());
        let mut borders = [border(triangles.iter()), border(thin.iter())];
        borders.iter_mut().for_each(|edges| edges.sort_unstable());
        assert_eq!(borders[0], borders[1]);
    }
}

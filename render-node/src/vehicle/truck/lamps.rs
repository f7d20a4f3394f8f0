//! Lamps of trucks: head lamps in pods, tail lamp clusters, marker lamps. Their insides
//! are the same as those of cars.

use glam::{Vec2, Vec3};

use crate::vehicle::mesh::Material;
use crate::vehicle::mesh::VehicleMesh;
use crate::vehicle::parts::assembly::{Assembly, block, pipe};
use crate::vehicle::parts::lamp::{
    HeadLamp, LampSite, MainLight, RunningLight, TailLamp, TailMotif, head_lamp, tail_lamp,
};
use crate::vehicle::parts::placing::{add_all, both_sides};
use crate::vehicle::parts::solid::{Solid, rounded_rectangle};

/// Depth of a tail lamp cluster behind its lens.
const TAIL_DEPTH_M: f32 = 0.045;
/// Depth of a head lamp behind its lens.
const HEAD_DEPTH_M: f32 = 0.09;

/// Returns a flat sheet of glass with rounded corners and its middle at `centre`.
fn lens(centre: Vec3, across: Vec3, up: Vec3, outward: Vec3, size: Vec2) -> Solid {
    const RINGS: [(f32, f32); 4] = [(1.0, 0.0), (0.93, 0.004), (0.6, 0.006), (0.02, 0.007)];
    let around = rounded_rectangle(size.x / 2.0, size.y / 2.0, size.min_element() * 0.3);
    let solid = Solid::grid(RINGS.len(), around.len(), true, |row, column| {
        let (ratio, out) = RINGS[row];
        centre + (across * around[column].x + up * around[column].y) * ratio + outward * out
    });
    let towards = solid.triangles.iter().map(|t| {
        let [a, b, c] = t.map(|i| solid.points[i as usize]);
        (b - a).cross(c - a).dot(outward)
    });
    if towards.sum::<f32>() < 0.0 { solid.flipped() } else { solid }
}

/// Adds a cluster of tail lamps on both sides. `at` is the middle of
/// the lens, which faces the rear.
pub(super) fn add_tail(parts: &mut Assembly, at: Vec3, size: Vec2, year: u16) {
    let mut site = LampSite::flat(at, Vec3::Y, Vec3::Z, Vec3::X, size, TAIL_DEPTH_M);
    site.year = year;
    let spec = TailLamp {
        motif: if year < 2012 { TailMotif::Panel } else { TailMotif::Rounds },
        reverse_ratio: 0.2,
        amber_ratio: 0.25,
        ..TailLamp::default()
    };
    let mut piece = VehicleMesh::default();
    let filling = tail_lamp(&site, &spec);
    add_all(&mut piece, &filling.mesh);
    piece.add(Material::LampRedLens, &lens(at, Vec3::Y, Vec3::Z, Vec3::X, size).surface(50.0));
    parts.add_mesh(&both_sides(&piece));
    add_shell(parts, at, size, TAIL_DEPTH_M + 0.012, 1.0, Material::MattBlack);
}

/// Adds a box round a lamp, open towards the lens: four walls and a back.
fn add_shell(parts: &mut Assembly, at: Vec3, size: Vec2, depth: f32, outward_x: f32, material: Material) {
    const WALL_M: f32 = 0.014;
    let half = Vec3::new(0.0, size.x / 2.0 + WALL_M, size.y / 2.0 + WALL_M);
    let (front, back) = (at.x + outward_x * 0.004, at.x - outward_x * depth);
    let [low_x, high_x] = [front.min(back), front.max(back)];
    let p = Vec3::new;
    let (y, z) = ([at.y - half.y, at.y + half.y], [at.z - half.z, at.z + half.z]);
    for [from, to] in [
        [p(low_x, y[0], z[1] - WALL_M), p(high_x, y[1], z[1])],
        [p(low_x, y[0], z[0]), p(high_x, y[1], z[0] + WALL_M)],
        [p(low_x, y[0], z[0]), p(high_x, y[0] + WALL_M, z[1])],
        [p(low_x, y[1] - WALL_M, z[0]), p(high_x, y[1], z[1])],
        [p(back - 0.006, y[0], z[0]), p(back + 0.006, y[1], z[1])],
    ] {
        parts.add_pair(material, block(from, to, 0.006));
    }
}

/// Adds head lamps in pods on both sides. `at` is the middle of the lens, which faces ahead.
pub(super) fn add_pods(parts: &mut Assembly, at: Vec3, size: Vec2, count: u32, material: Material, year: u16) {
    let mut site = LampSite::flat(at, Vec3::Y, Vec3::Z, -Vec3::X, size, HEAD_DEPTH_M);
    site.year = year;
    let led = year >= 2016;
    let spec = HeadLamp {
        main: if led { MainLight::Projectors } else { MainLight::Bowl },
        count,
        from: if count > 1 { 0.27 } else { 0.5 },
        to: if count > 1 { 0.73 } else { 0.5 },
        size: 0.86,
        running: if led { RunningLight::Lower } else { RunningLight::None },
        ..HeadLamp::default()
    };
    let floor = if led { Material::LampHousing } else { Material::LampReflector };
    let mut piece = VehicleMesh::default();
    add_all(&mut piece, &head_lamp(&site, &spec, floor).mesh);
    piece.add(Material::LampLens, &lens(at, Vec3::Y, Vec3::Z, -Vec3::X, size).surface(50.0));
    parts.add_mesh(&both_sides(&piece));
    add_shell(parts, at, size, HEAD_DEPTH_M + 0.015, -1.0, material);
    // The pod's back is a rounded bowl.
    let bowl = Solid::superellipsoid(Vec3::new(0.12, size.x * 0.53, size.y * 0.56), 3.0, 10, 20);
    let bowl = bowl.bent(|p| Vec3::new(if p.x < 0.0 { p.x * 0.1 } else { p.x }, p.y, p.z));
    parts.add_pair(material, bowl.moved(at + Vec3::X * (HEAD_DEPTH_M + 0.01)));
    // A foot that goes down to the wing.
    let foot = at + Vec3::new(HEAD_DEPTH_M, -size.x * 0.2, -size.y * 0.4);
    parts.add_pair(Material::MattBlack, pipe(&[foot, foot - Vec3::new(-0.05, 0.0, 0.22)], 0.03));
    // The indicator beside the pod.
    let beside = at + Vec3::new(0.02, size.x * 0.5 + 0.035, 0.0);
    parts.add_pair(
        Material::LampAmber,
        block(beside - Vec3::new(0.012, 0.02, size.y * 0.36), beside + Vec3::new(0.02, 0.02, size.y * 0.36), 0.012),
    );
}

/// Adds a marker lamp: a small amber or red cap on a black foot, which faces
/// along `outward` (along x or y).
pub(super) fn add_marker(parts: &mut Assembly, at: Vec3, outward: Vec3, red: bool) {
    let across = if outward.x.abs() > 0.5 { Vec3::Y } else { Vec3::X };
    let reach = outward.abs() * 0.012 + across * 0.048 + Vec3::Z * 0.018;
    parts.add(Material::MattBlack, block(at - reach - outward * 0.004, at + reach - outward * 0.004, 0.006));
    let cap = outward.abs() * 0.014 + across * 0.038 + Vec3::Z * 0.012;
    let material = if red { Material::LampRed } else { Material::LampAmber };
    parts.add(material, block(at - cap + outward * 0.006, at + cap + outward * 0.006, 0.008));
}

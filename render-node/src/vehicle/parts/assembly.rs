//! Builds a mesh out of solids: [`Assembly`] adds solids with flat, soft or mirrored surfaces, and
//! free functions make blocks, bars, pipes, mudguards and hulls through cross sections.

use glam::Vec3;

use super::placing::add_all;
use super::solid::{CREASE_DEGREES, Solid};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// Crease angle of soft parts: only edges that bend by more than this stay sharp.
const SOFT_DEGREES: f32 = 62.0;
/// Number of points around a cross section of a hull.
const AROUND: usize = 28;

/// A mesh that grows by one solid at a time.
#[derive(Default)]
pub struct Assembly {
    pub mesh: VehicleMesh,
}

impl Assembly {
    /// Adds a solid whose edges stay sharp ([`CREASE_DEGREES`]).
    pub fn add(&mut self, material: Material, solid: Solid) {
        self.mesh.add(material, &solid.surface(CREASE_DEGREES));
    }

    /// Adds a solid whose edges look rounded ([`SOFT_DEGREES`]).
    pub fn add_soft(&mut self, material: Material, solid: Solid) {
        self.mesh.add(material, &solid.surface(SOFT_DEGREES));
    }

    /// Adds a soft solid twice: as given, and mirrored in the centre plane.
    pub fn add_pair(&mut self, material: Material, solid: Solid) {
        let surface = solid.surface(SOFT_DEGREES);
        self.mesh.add(material, &surface);
        self.mesh.add(material, &surface.mirrored());
    }

    pub fn add_mesh(&mut self, piece: &VehicleMesh) {
        add_all(&mut self.mesh, piece);
    }
}

/// Returns a box between two opposite corners, with its edges rounded by `radius` metres.
pub fn block(low: Vec3, high: Vec3, radius: f32) -> Solid {
    let half = (high - low) * 0.5;
    Solid::rounded_box(half, radius.min(half.min_element() * 0.98)).moved((low + high) * 0.5)
}

/// Returns a round bar of 12 sides through the points of `path`.
pub fn bar(path: &[Vec3], radius: f32) -> Solid {
    Solid::tube(path, 12, |_| radius)
}

/// Returns a round pipe of 16 sides through the points of `path`. Its section is carried along
/// without a twist, so that the path may also run vertically.
pub fn pipe(path: &[Vec3], radius: f32) -> Solid {
    pipe_of(path, radius, 16)
}

/// Returns a pipe like [`pipe`] with a chosen number of sides. Few are
/// enough for a thin, long pipe.
pub fn pipe_of(path: &[Vec3], radius: f32, sides: usize) -> Solid {
    let Some(last) = path.len().checked_sub(1).filter(|last| *last > 0) else { return Solid::default() };
    let along = |i: usize| (path[(i + 1).min(last)] - path[i.saturating_sub(1)]).normalize_or(Vec3::Z);
    let mut across = along(0).any_orthonormal_vector();
    let loops: Vec<Vec<Vec3>> = (0..=last)
        .map(|i| {
            let way = along(i);
            across = (across - way * across.dot(way)).normalize_or(way.any_orthonormal_vector());
            let up = way.cross(across);
            let point = |side: usize| {
                let (sin, cos) = (std::f32::consts::TAU * side as f32 / sides as f32).sin_cos();
                path[i] + (across * cos + up * sin) * radius
            };
            (0..sides).map(point).collect()
        })
        .collect();
    Solid::lofted(&loops)
}

/// Returns a skin through cross sections that are given as (x, half width, low z, high z), and
/// smoothed between them. `squareness` is the exponent of the section: 2 is round, more is boxier.
pub fn hull(stations: &[[f32; 4]], squareness: f32) -> Solid {
    hull_in_steps(stations, squareness, 6)
}

/// Returns a skin like [`hull`] with `steps` pieces between neighbouring sections.
pub fn hull_in_steps(stations: &[[f32; 4]], squareness: f32, steps: usize) -> Solid {
    let mut loops = Vec::new();
    let last = stations.len().saturating_sub(1);
    for place in 0..last {
        let at = |offset: isize| stations[(place as isize + offset).clamp(0, last as isize) as usize];
        let around = [at(-1), at(0), at(1), at(2)];
        for step in 0..steps {
            let t = step as f32 / steps as f32;
            let [x, half_width, low, high] = std::array::from_fn(|k| catmull_rom(around.map(|station| station[k]), t));
            loops.push(cross_section(x, half_width, low, high, squareness));
        }
    }
    if let Some([x, half_width, low, high]) = stations.last() {
        loops.push(cross_section(*x, *half_width, *low, *high, squareness));
    }
    Solid::lofted(&loops)
}

/// Interpolates between the second and the third value (Catmull-Rom), `t` from 0 to 1. The first
/// and the fourth value make the curve smooth beyond both.
pub fn catmull_rom([before, from, to, after]: [f32; 4], t: f32) -> f32 {
    0.5 * (2.0 * from
        + (to - before) * t
        + (2.0 * before - 5.0 * from + 4.0 * to - after) * t * t
        + (3.0 * from - before - 3.0 * to + after) * t * t * t)
}

fn cross_section(x: f32, half_width: f32, low: f32, high: f32, squareness: f32) -> Vec<Vec3> {
    const THINNEST_M: f32 = 0.004;
    let (half_width, high) = (half_width.max(THINNEST_M), high.max(low + THINNEST_M));
    let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
    let point = |i: usize| {
        let (sin, cos) = (std::f32::consts::TAU * i as f32 / AROUND as f32).sin_cos();
        let reach = (cos.abs().powf(squareness) + sin.abs().powf(squareness)).powf(-1.0 / squareness);
        Vec3::new(x, cos * reach * half_width, middle + sin * reach * half)
    };
    (0..AROUND).map(point).collect()
}

/// Returns a bent plate over a wheel, `width` metres across and centred on `axle`. It reaches from
/// one angle to the other, in degrees: 0 points forward, 90 up.
pub fn mudguard(axle: Vec3, radius: f32, width: f32, thickness: f32, [from, to]: [f32; 2]) -> Solid {
    const STEPS: usize = 24;
    let path: Vec<Vec3> = (0..=STEPS)
        .map(|step| {
            let angle = (from + (to - from) * step as f32 / STEPS as f32).to_radians();
            axle + Vec3::new(-angle.cos() * radius, 0.0, angle.sin() * radius)
        })
        .collect();
    let loops: Vec<Vec<Vec3>> = path
        .iter()
        .map(|at| {
            let outward = (*at - axle).normalize_or(Vec3::Z);
            let (side, up) = (Vec3::Y * width * 0.5, outward * thickness * 0.5);
            vec![*at - side - up, *at + side - up, *at + side + up, *at - side + up]
        })
        .collect();
    Solid::lofted(&loops)
}

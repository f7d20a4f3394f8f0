//! The lines that a vehicle shows from one side: its silhouette and the borders of its glass, lamps
//! and wheels, in pixels.

use crate::studio::Camera;
use crate::studio::camera::NothingToSee;
use crate::vehicle::{Material, VehicleMesh};
use cyclorama_core::View;
use glam::{Vec2, Vec3};

use super::axles;
use super::raster::draw;

/// Side of the image from which the outlines are taken.
const SIDE_PX: usize = 2400;

/// Positions in a square image, x to the right and y down.
pub struct Outlines {
    pub edges: Vec<Vec2>,
    /// Middles of the front and the rear wheel on the near side; `None` if the vehicle has no two
    /// axles.
    pub hubs: Option<[Vec2; 2]>,
}

impl Outlines {
    pub fn seen(mesh: &VehicleMesh, view: View, reference_diagonal_m: f32) -> Result<Self, NothingToSee> {
        let camera = Camera::fit(mesh, view, reference_diagonal_m)?;
        let drawn = draw(mesh, &camera, SIDE_PX);
        let kind = |x: usize, y: usize| drawn.at(x, y).map(kind_of);
        let places = (1..SIDE_PX).flat_map(|y| (1..SIDE_PX).map(move |x| (x, y)));
        let on_edge = places.filter(|(x, y)| kind(*x, *y) != kind(x - 1, *y) || kind(*x, *y) != kind(*x, y - 1));
        let edges = on_edge.map(|(x, y)| Vec2::new(x as f32, y as f32)).collect();
        Ok(Self { edges, hubs: hubs(mesh, &camera) })
    }
}

/// Returns the group of a material: a line is drawn where two groups meet.
fn kind_of(material: Material) -> u8 {
    match material {
        Material::Glass | Material::ClearGlass => 1,
        Material::LampLens
        | Material::LampRedLens
        | Material::LampHousing
        | Material::LampReflector
        | Material::LampRed => 2,
        Material::Tyre => 3,
        Material::RimBright | Material::RimDark | Material::BrakeDisc => 4,
        Material::PanelGap => 5,
        Material::Grille => 6,
        _ => 0,
    }
}

/// Returns the middles of the outer faces of the left wheels.
fn hubs(mesh: &VehicleMesh, camera: &Camera) -> Option<[Vec2; 2]> {
    let found = axles(mesh);
    let tyres = &mesh.surfaces.get(&Material::Tyre)?.positions;
    let hub = |x: f32| {
        let near = tyres.iter().filter(|p| (p[0] - x).abs() < 0.3);
        let (outer_y, top_z) = near.fold((0.0_f32, 0.0_f32), |(y, z), p| (y.min(p[1]), z.max(p[2])));
        let clip =
            (camera.clip_from_studio() * camera.studio_from_vehicle).project_point3(Vec3::new(x, outer_y, 0.5 * top_z));
        Vec2::new((clip.x + 1.0) * 0.5, (1.0 - clip.y) * 0.5) * SIDE_PX as f32
    };
    Some([hub(*found.first()?), hub(*found.last()?)])
}

//! From a vehicle to its mesh: sheet, morph, field, skin, regions, depth, then parts. Owns the order of these steps and
//! the few rules that bring real dimensions in; each step itself is a module beside this one.

use cyclorama_core::vehicle::{BodyClass, Vehicle, VehicleType};
use glam::Vec3;

use super::body_field::{Arch, BodyField};
use super::depth;
use super::dress;
use super::mesh::{Material, Surface, VehicleMesh};
use super::morph::Stance;
use super::parts::placing::add_all;
use super::regions::{BodyGround, Divider};
use super::sheet::{Sheet, SheetError, SolidRole};
use super::skin::Skin;
use super::surface_net;
use super::template;

#[derive(Debug, thiserror::Error)]
pub enum VehicleError {
    #[error("no body template for a {vehicle_type} with the body `{body}`")]
    NoTemplate { vehicle_type: VehicleType, body: BodyClass },
    #[error("a template is faulty")]
    Sheet(#[from] SheetError),
}

/// Side of a grid cell of the body.
const GRID_M: f32 = 0.021;
/// Of solids meshed by themselves.
const SOLID_GRID_M: f32 = 0.014;
/// Room of a wheel well behind the tyre.
const BEHIND_TYRE_M: f32 = 0.09;

/// Builds the vehicle at its real dimensions, both halves, standing on z = 0.
///
/// The same vehicle always gives the same mesh. Errors when no template fits its body or the template is faulty.
pub fn build(vehicle: &Vehicle) -> Result<VehicleMesh, VehicleError> {
    let name = template::sheet_for(vehicle)
        .ok_or(VehicleError::NoTemplate { vehicle_type: vehicle.vehicle_type, body: vehicle.body })?;
    let sheet = Sheet::read(name, &template::text_of)?;
    let d = vehicle.dimensions;
    let metres = |mm: u32| mm as f32 * 0.001;
    Ok(build_sheet(&sheet, [metres(d.length_mm), metres(d.width_mm), metres(d.height_mm)], metres(d.wheelbase_mm)))
}

/// Where the drawing's and the vehicle's axles are. Overhangs keep the drawing's ratio; tyres grow with the vehicle,
/// but less than it.
fn stances(sheet: &Sheet, [length, width, height]: [f32; 3], wheelbase: f32) -> (Stance, Stance) {
    let size = sheet.size;
    let drawn = Stance {
        length: size.length,
        width: size.width,
        height: size.height,
        front_axle_x: size.front_overhang,
        rear_axle_x: size.front_overhang + size.wheelbase,
        hub_z: sheet.wheels.tyre_diameter * 0.5,
    };
    // Wrong data must not turn the body inside out.
    let wheelbase = wheelbase.clamp(length * 0.4, length * 0.8);
    let overhangs = length - wheelbase;
    let front = overhangs * size.front_overhang / (size.length - size.wheelbase);
    let growth = ((length / size.length) * (height / size.height)).sqrt().clamp(0.7, 1.4).powf(0.8);
    let real = Stance {
        length,
        width,
        height,
        front_axle_x: front,
        rear_axle_x: front + wheelbase,
        hub_z: drawn.hub_z * growth,
    };
    (drawn, real)
}

/// Builds a sheet at given dimensions (length, width, height; metres).
pub fn build_sheet(sheet: &Sheet, dimensions: [f32; 3], wheelbase: f32) -> VehicleMesh {
    let (drawn, real) = stances(sheet, dimensions, wheelbase);
    let arch = |x: f32| Arch {
        x,
        z: real.hub_z,
        radius: real.hub_z + sheet.wheels.arch_gap,
        power: sheet.wheels.arch_power,
    };
    let arches = [arch(real.front_axle_x), arch(real.rear_axle_x)];
    let mut field = BodyField::new(sheet, drawn, real, arches);
    let margin = 0.06;
    let low = Vec3::new(-margin, 0.0, 0.02);
    let high = Vec3::new(real.length + margin, real.width * 0.5 + 0.12, real.height + margin);
    let mut half = surface_net::mesh(&|p| field.at(p), low, high, GRID_M, true);

    // Haunches, lips and blends move the widest place off the drawn one.
    let widest = half.positions.iter().map(|p| p.y).fold(0.0, f32::max);
    if widest > 0.0 {
        let factor = real.width * 0.5 / widest;
        field.morph.widen(factor);
        half.positions.iter_mut().for_each(|p| p.y *= factor);
    }

    let floor = real.hub_z * 0.6;
    let seen = |p: Vec3, normal: Vec3| p.z > floor || normal.z > -0.7;
    for shortest_m in [0.012, 0.008] {
        surface_net::refine(&mut half, &|p| field.at(p), shortest_m, &seen);
    }

    let wheels = dress::wheel_places(sheet, &field, real);
    let well_y = wheels.outer_y.map(|outer| outer - wheels.spec.width - BEHIND_TYRE_M);
    let ground = BodyGround(&field);
    let mut divider = Divider::new(Skin::new(half, &ground), &field, sheet);
    divider.divide(well_y);
    let mut mesh = depth::surfaces(&divider.skin, &divider.parts, &field, arches, well_y);
    solids(sheet, &field, &mut mesh);
    let mut whole = with_mirror_image(mesh);
    add_all(&mut whole, &dress::dressing(sheet, &field, real, &wheels));
    whole
}

/// Solids that are meshed by themselves.
fn solids(sheet: &Sheet, field: &BodyField, mesh: &mut VehicleMesh) {
    for (index, solid) in sheet.solid.iter().enumerate() {
        if solid.role != SolidRole::Apart {
            continue;
        }
        let (low, high) = field.solid_bounds(index);
        let margin = Vec3::splat(0.03);
        let from_centre = low.y <= 0.001;
        let mut low = field.morph.to_real(low) - margin;
        let high = field.morph.to_real(high) + margin + Vec3::X * 0.3;
        low.x -= 0.3;
        let value = |p: Vec3| field.solid_at(index, p);
        let half = surface_net::mesh(&value, low, high, SOLID_GRID_M, from_centre);
        let normals = half.positions.iter().map(|p| {
            let n = surface_net::gradient(&value, *p);
            let n = if p.y == 0.0 { Vec3::new(n.x, 0.0, n.z) } else { n };
            n.normalize_or(Vec3::Z).into()
        });
        let surface = Surface {
            normals: normals.collect(),
            positions: half.positions.iter().map(|p| (*p).into()).collect(),
            indices: half.triangles.into_iter().flatten().collect(),
        };
        mesh.add(solid.material.unwrap_or(Material::MattBlack), &surface);
    }
}

fn with_mirror_image(half: VehicleMesh) -> VehicleMesh {
    let mut whole = VehicleMesh::default();
    for (material, surface) in &half.surfaces {
        whole.add(*material, surface);
        whole.add(*material, &surface.mirrored());
    }
    whole
}

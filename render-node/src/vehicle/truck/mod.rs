//! The parts of a truck besides its cab: wheels, frame, tanks, load body,
//! and the parts fixed to the cab.
//!
//! The cab itself is a sheet like any other body. The rest is built here in real metres from a few
//! words in the sheet's `[truck]` table, so that every truck has nuts on its wheels and steps under
//! its doors without a drawing of them.

mod back;
mod bus;
mod cab;
mod chassis;
mod cockpit;
mod fire;
mod lamps;
mod load;
mod rim;
mod site;
pub(super) mod wheel;

use cyclorama_core::vehicle::Dimensions;
use glam::Vec3;

use super::body_field::BodyField;
use super::mesh::VehicleMesh;
use super::morph::Stance;
use super::parts::assembly::Assembly;
use super::sheet::Sheet;
use crate::vehicle::sheet::truck::Truck;
use site::Site;
use wheel::TruckWheel;

/// Dimensions that the catalog has for trucks of unknown size, in mm: length, width, height,
/// wheelbase. Seven in eight trucks have them. Such a truck is drawn as large as its sheet says
/// that trucks of its kind are built.
const UNKNOWN: [u32; 4] = [7500, 2300, 2900, 4200];

/// Returns the dimensions that a vehicle is drawn at.
pub fn dimensions_of(sheet: &Sheet, given: Dimensions) -> Dimensions {
    let said = [given.length_mm, given.width_mm, given.height_mm, given.wheelbase_mm];
    let Some(built) = sheet.truck.and_then(|truck| truck.built_as) else { return given };
    if said != UNKNOWN {
        return given;
    }
    let [length_mm, width_mm, height_mm, wheelbase_mm] = built.map(|metres| (metres * 1000.0).round() as u32);
    Dimensions { length_mm, width_mm, height_mm, wheelbase_mm, ..given }
}

/// Distance of the front tyres' outer walls inside the vehicle's width, on each side.
const FRONT_INSIDE_M: f32 = 0.055;
/// Distance of the rear tyres' outer walls inside the vehicle's width, on each side.
const REAR_INSIDE_M: f32 = 0.02;

/// Returns the distance of the front and the rear tyres' outer faces from the centre plane.
fn outer_y(real: Stance) -> [f32; 2] {
    [real.width * 0.5 - FRONT_INSIDE_M, real.width * 0.5 - REAR_INSIDE_M]
}

/// Returns true if the driver's place is built with the truck, in place of a car's cabin.
pub fn has_cockpit(sheet: &Sheet) -> bool {
    sheet.truck.is_some_and(|truck| !truck.skirted) || sheet.bus.is_some()
}

/// Returns everything of a truck except its cab.
pub fn dressing(truck: &Truck, sheet: &Sheet, field: &BodyField, real: Stance) -> VehicleMesh {
    let cab_end = sheet.body.span.map_or(sheet.size.length * 0.3, |span| span[1]);
    let site = Site {
        truck,
        field,
        length: real.length,
        half_width: real.width * 0.5,
        front_x: real.front_axle_x,
        rear_x: real.rear_axle_x,
        hub_z: real.hub_z,
        frame_z: field.morph.to_real(Vec3::Z * truck.frame_z).z,
        cab_rear_x: field.morph.to_real(Vec3::X * cab_end).x,
        year: truck.year,
    };
    let mut parts = Assembly::default();
    add_wheels(&mut parts, &site, sheet, real);
    if !truck.skirted {
        chassis::add(&mut parts, &site);
    }
    load::add(&mut parts, &site);
    cab::add(&mut parts, &site);
    back::add(&mut parts, &site);
    rim::add(&mut parts, &site, sheet);
    if let Some(fitting) = sheet.fittings.cabin.as_ref().filter(|_| has_cockpit(sheet)) {
        cockpit::add(&mut parts, &site, fitting, sheet.bus.is_some());
    }
    if let Some(bus) = &sheet.bus {
        bus::add(&mut parts, &site, bus);
    }
    parts.mesh
}

fn add_wheels(parts: &mut Assembly, site: &Site<'_>, sheet: &Sheet, real: Stance) {
    let truck = site.truck;
    let growth = real.hub_z * 2.0 / sheet.wheels.tyre_diameter;
    let front = TruckWheel {
        diameter: real.hub_z * 2.0,
        width: sheet.wheels.tyre_width * growth,
        rim_diameter: sheet.wheels.rim_diameter * growth,
        nuts: truck.nuts,
        disc: truck.disc,
        is_driven: false,
        is_twin: false,
        turn_degrees: 7.0,
    };
    let rear = TruckWheel { is_driven: true, is_twin: !truck.single, turn_degrees: 21.0, ..front };
    let [front_y, rear_y] = outer_y(real);
    parts.add_mesh(&wheel::axle(&front, site.front_x, 2.0 * front_y));
    parts.add_mesh(&wheel::axle(&rear, site.rear_x, 2.0 * rear_y));
    if truck.tandem > 0.0 {
        let next = TruckWheel { turn_degrees: 2.0, ..rear };
        parts.add_mesh(&wheel::axle(&next, site.rear_x + truck.tandem, 2.0 * rear_y));
    }
}

#[cfg(test)]
mod tests {
    use super::super::body_field::Arch;
    use super::super::library::Library;
    use super::super::parts::checks::assert_sound;
    use super::*;
    use crate::vehicle::flank_lines::lined_field;
    use crate::vehicle::mesh::Material;

    fn dressed(name: &str, scale: f32) -> (VehicleMesh, Stance) {
        let sheet = Library::embedded().unwrap().sheet(name).unwrap();
        let size = sheet.size;
        let drawn = sheet.stance();
        let real = Stance { length: size.length * scale, rear_axle_x: drawn.rear_axle_x * scale, ..drawn };
        let arch = |x: f32| Arch { x, z: real.hub_z, radius: real.hub_z + 0.05, power: 2.0 };
        let field = lined_field(&sheet, drawn, real, [arch(real.front_axle_x), arch(real.rear_axle_x)]);
        (dressing(sheet.truck.as_ref().unwrap(), &sheet, &field, real), real)
    }

    #[test]
    fn what_hangs_on_a_cab_and_a_frame_is_sound() {
        for name in
            ["truck", "truck-conventional", "truck-us-classic", "truck-us-mack", "truck-eu-tractor", "truck-tipper"]
        {
            for scale in [1.0, 1.12] {
                let (mesh, real) = dressed(name, scale);
                assert_sound(&mesh, name);
                let points = || mesh.surfaces.values().flat_map(|surface| &surface.positions);
                let lowest = points().map(|p| p[2]).fold(f32::MAX, f32::min);
                let rearmost = points().map(|p| p[0]).fold(0.0, f32::max);
                assert!(lowest.abs() < 1e-3, "{name}: the lowest point is at {lowest}");
                assert!(rearmost < real.length + 0.08, "{name}: {rearmost} of {}", real.length);
                let tyres = &mesh.surfaces[&Material::Tyre].positions;
                let widest = tyres.iter().map(|p| p[1]).fold(0.0, f32::max);
                assert!(
                    widest < real.width * 0.5 && widest > real.width * 0.47,
                    "{name}: tyres {widest} from the middle"
                );
            }
        }
    }

    #[test]
    fn a_cab_has_seats_before_a_lighter_wall() {
        for name in ["truck", "truck-conventional", "truck-eu-tractor", "truck-us-aero"] {
            let (mesh, _) = dressed(name, 1.0);
            let middle = |material: Material| {
                let points = &mesh.surfaces[&material].positions;
                points.iter().map(|p| p[0]).sum::<f32>() / points.len() as f32
            };
            assert!(middle(Material::Seat) < middle(Material::Lining), "{name}");
        }
    }

    #[test]
    fn the_well_of_twin_tyres_holds_both() {
        let truck = |name: &str| Library::embedded().unwrap().sheet(name).unwrap().truck.unwrap();
        let [front, rear] = truck("bus").tyres_across(0.29);
        assert!(front == 0.29 && rear > 0.58, "{front} {rear}");
        let single = Truck { single: true, ..truck("bus") };
        assert_eq!(single.tyres_across(0.29), [0.29; 2]);
    }

    #[test]
    fn side_panes_of_a_bus_are_alike_and_those_of_a_cab_clear() {
        let library = Library::embedded().unwrap();
        assert!(library.sheet("bus").unwrap().clear_panes_end().is_none());
        let cab = library.sheet("truck-eu-tractor").unwrap();
        assert_eq!(cab.clear_panes_end(), cab.glass.side.map(|side| side.rear));
    }

    #[test]
    fn seats_and_panes_of_buses_are_sound() {
        for name in ["bus", "bus-coach", "bus-double-decker", "truck-school-bus"] {
            let (mesh, _) = dressed(name, 1.0);
            assert_sound(&mesh, name);
            assert!(mesh.surfaces.contains_key(&Material::Seat), "{name}: without seats");
            assert!(mesh.triangle_count() < 150_000, "{name}: {}", mesh.triangle_count());
        }
    }

    #[test]
    fn a_truck_of_unknown_size_is_built_as_its_kind_is() {
        let library = Library::embedded().unwrap();
        let unknown =
            Dimensions { length_mm: 7500, width_mm: 2300, height_mm: 2900, wheelbase_mm: 4200, front_track_mm: 0 };
        let semi = dimensions_of(&library.sheet("truck-semi").unwrap(), unknown);
        assert!(semi.length_mm > 8000 && semi.wheelbase_mm > 4500, "{semi:?}");
        let known = Dimensions { length_mm: 7000, ..unknown };
        assert_eq!(dimensions_of(&library.sheet("truck-semi").unwrap(), known).length_mm, 7000);
        assert_eq!(dimensions_of(&library.sheet("sedan").unwrap(), unknown).length_mm, 7500);
    }
}

//! Machines that are neither car nor motorcycle: tractors, loaders, quads, trikes and auto
//! rickshaws, put together from solids.
//!
//! The catalog calls most of them "other" and has no dimensions for them. The make and the model's
//! name decide which machine is drawn.

mod cab;
mod loader;
mod quad;
mod rickshaw;
mod size;
mod tractor;
mod traits;
mod wheel;

use std::sync::LazyLock;

use cyclorama_core::vehicle::{BodyClass, Dimensions, Vehicle};
use serde::Deserialize;

use super::mesh::VehicleMesh;
use size::MachineSize;
use traits::Traits;

/// Kind of machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// A farm machine: large rear wheels with the cab over them.
    Tractor,
    /// A machine for building sites: arms and bucket in front of a cab on four equal wheels.
    Loader,
    /// A four-wheeled motorcycle.
    Quad,
    /// A three-wheeled taxi, open at the sides.
    Rickshaw,
    /// A three-wheeler like [`Machine::Rickshaw`] with a load bed.
    CargoRickshaw,
}

const TABLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sheets/tables/machines.toml"));

/// Makes and words in model names that decide which machine is drawn.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    tractor_makes: Vec<String>,
    loader_makes: Vec<String>,
    cargo_words: Vec<String>,
}

static MACHINES: LazyLock<Table> = LazyLock::new(|| toml::from_str(TABLE).unwrap_or_default());

/// Returns the machine that a vehicle is, or `None` for bodies that are drawn
/// from sheets or as two-wheelers.
pub fn machine_of(vehicle: &Vehicle) -> Option<Machine> {
    match vehicle.body {
        BodyClass::Rickshaw if MACHINES.cargo_words.iter().any(|word| vehicle.model.contains(word)) => {
            Some(Machine::CargoRickshaw)
        }
        BodyClass::Rickshaw => Some(Machine::Rickshaw),
        BodyClass::Other if MACHINES.tractor_makes.contains(&vehicle.make) => Some(Machine::Tractor),
        BodyClass::Other if MACHINES.loader_makes.contains(&vehicle.make) => Some(Machine::Loader),
        BodyClass::Other => Some(Machine::Quad),
        _ => None,
    }
}

/// Returns the dimensions that a machine is drawn at. The catalog's default for
/// "other" has a tractor's size, so a quad of more than three metres has that default
/// and gets a quad's usual size.
pub fn dimensions_of(machine: Machine, given: Dimensions) -> Dimensions {
    const QUAD_LENGTH_MAX_MM: u32 = 3000;
    match machine {
        Machine::Quad if given.length_mm > QUAD_LENGTH_MAX_MM => {
            Dimensions { length_mm: 2110, width_mm: 1180, height_mm: 1210, wheelbase_mm: 1300, front_track_mm: 930 }
        }
        _ => given,
    }
}

/// Builds the machine on z = 0.
pub fn build(machine: Machine, vehicle: &Vehicle) -> VehicleMesh {
    assemble(machine, vehicle.dimensions, Traits::of(vehicle))
}

fn assemble(machine: Machine, given: Dimensions, traits: Traits) -> VehicleMesh {
    let size = MachineSize::of(dimensions_of(machine, given));
    match machine {
        Machine::Tractor => tractor::tractor(size, traits),
        Machine::Loader => loader::loader(size, traits),
        Machine::Quad => quad::quad(size, traits),
        Machine::Rickshaw => rickshaw::rickshaw(size, traits, false),
        Machine::CargoRickshaw => rickshaw::rickshaw(size, traits, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::mesh::Material;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn the_table_reads_and_no_make_is_of_two_kinds() {
        let table: Table = toml::from_str(TABLE).unwrap();
        assert!(!table.cargo_words.is_empty() && !table.tractor_makes.is_empty());
        for make in &table.loader_makes {
            assert!(!table.tractor_makes.contains(make), "{make}");
        }
    }

    #[test]
    fn every_machine_is_sound_and_as_large_as_said() {
        let (field, site) = ((4200, 2000, 2700, 2400), (3600, 1750, 2450, 2050));
        let (taxi, small_taxi) = ((2750, 1350, 1750, 1950), (2600, 1300, 1700, 1900));
        let quad = (2100, 1150, 1200, 1280);
        for (machine, sizes) in [
            (Machine::Tractor, [field, site]),
            (Machine::Loader, [field, site]),
            (Machine::Quad, [quad, field]),
            (Machine::Rickshaw, [taxi, small_taxi]),
            (Machine::CargoRickshaw, [taxi, small_taxi]),
        ] {
            for given in sizes {
                let (length_mm, width_mm, height_mm, wheelbase_mm) = given;
                let given = Dimensions { length_mm, width_mm, height_mm, wheelbase_mm, front_track_mm: 0 };
                for each in [-1.0, 1.0] {
                    let traits = Traits { tyres: each, nose: -each, cab: each, lamps: each, fittings: -each };
                    assert_sound(&assemble(machine, given, traits), &format!("{machine:?} {given:?} {traits:?}"));
                }
                let mesh = assemble(machine, given, Traits::default());
                assert_sound(&mesh, &format!("{machine:?} {given:?}"));
                let wanted = MachineSize::of(dimensions_of(machine, given));
                let points = || mesh.surfaces.values().flat_map(|s| &s.positions);
                let most = |axis: usize| points().map(|p| p[axis]).fold(f32::NEG_INFINITY, f32::max);
                let least = |axis: usize| points().map(|p| p[axis]).fold(f32::INFINITY, f32::min);
                for (name, found, wanted) in [
                    ("length", most(0) - least(0), wanted.length),
                    ("width", most(1) - least(1), wanted.width),
                    ("height", most(2), wanted.height),
                ] {
                    let off = (found / wanted - 1.0).abs();
                    assert!(off < 0.02, "{machine:?}: {name} {found}, should be {wanted}");
                }
                let lowest = mesh.surfaces[&Material::Tyre].positions.iter().map(|p| p[2]).fold(1.0, f32::min);
                assert!(lowest.abs() < 0.002, "{machine:?} stands at {lowest}");
            }
        }
    }
}

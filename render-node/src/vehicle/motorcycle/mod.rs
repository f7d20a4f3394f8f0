//! Two-wheelers, put together from the same solids as the parts of cars.
//!
//! They need no body field: a motorcycle is a frame with parts on it. `two_wheelers` has the sheets
//! of the families and chooses one, `style` reads a name, and `joints` computes the points at which
//! the parts are fixed. The other modules build the parts, and `fit` applies the real dimensions.

mod bracket;
mod brake;
mod chassis;
pub(super) mod cockpit;
mod cowl;
pub(super) mod design;
mod drive;
mod engine;
mod engine_kind;
mod exhaust;
mod fairing;
mod fit;
mod front;
mod joints;
pub(super) mod lamps;
mod luggage;
mod nose;
mod scooter;
pub(super) mod seat;
pub(super) mod shapes;
mod shell;
mod style;
mod tank;
pub(super) mod two_wheelers;
mod underbone;
mod variation;
mod vespa;
mod wheel;
mod words;

use cyclorama_core::vehicle::{Dimensions, Vehicle};

use super::mesh::VehicleMesh;
use super::parts::assembly::Assembly;
use design::FamilyDesign;
use joints::Joints;
use style::Family;
use two_wheelers::TwoWheelers;

/// Builds a two-wheeler, upright on z = 0.
pub fn motorcycle(two_wheelers: &TwoWheelers, vehicle: &Vehicle) -> VehicleMesh {
    assemble(two_wheelers.design(vehicle), &vehicle.dimensions)
}

/// Returns the layout that a two-wheeler is drawn with, as text. Apart from their dimensions,
/// vehicles with the same text have the same shape.
pub fn layout_of(two_wheelers: &TwoWheelers, vehicle: &Vehicle) -> String {
    format!("{:?}", two_wheelers.design(vehicle))
}

fn assemble(design: FamilyDesign, dimensions: &Dimensions) -> VehicleMesh {
    let family = design.family;
    let joints = Joints::of(design);
    let mut bike = Assembly::default();
    wheel::add_wheels(&mut bike, &joints);
    chassis::add_fork_and_bars(&mut bike, &joints);
    match family {
        Family::Scooter | Family::MaxiScooter | Family::Tilting | Family::Cabin => {
            scooter::add_scooter(&mut bike, &joints)
        }
        Family::Vespa => vespa::add_vespa(&mut bike, &joints),
        Family::Underbone => underbone::add_underbone(&mut bike, &joints),
        _ => {
            chassis::add_frame(&mut bike, &joints);
            engine::add_engine(&mut bike, &joints);
            exhaust::add_exhaust(&mut bike, &joints);
            tank::add_tank(&mut bike, &joints);
            seat::add_seat_and_tail(&mut bike, &joints);
            front::add_nose(&mut bike, &joints);
            luggage::add_luggage(&mut bike, &joints);
        }
    }
    fit::fit(&mut bike.mesh, &joints, dimensions);
    bike.mesh
}

#[cfg(test)]
mod tests {
    use super::engine_kind::EngineKind;
    use super::style::Style;
    use super::*;
    use crate::vehicle::Library;
    use crate::vehicle::mesh::Material;
    use crate::vehicle::motorcycle::design::LampEra;
    use cyclorama_core::vehicle::{BodyClass, VehicleType};
    use glam::Vec3;

    const DIMENSIONS: Dimensions =
        Dimensions { length_mm: 2130, width_mm: 800, height_mm: 1110, wheelbase_mm: 1430, front_track_mm: 0 };

    /// Each family with the name of a sheet that is built as it.
    const FAMILIES: [(Family, &str); 21] = [
        (Family::Naked, "naked"),
        (Family::Classic, "classic"),
        (Family::Cafe, "cafe"),
        (Family::Scrambler, "scrambler"),
        (Family::Sport, "sport"),
        (Family::SportTourer, "sport-tourer"),
        (Family::Tourer, "tourer"),
        (Family::Bagger, "bagger"),
        (Family::Cruiser, "cruiser"),
        (Family::Adventure, "adventure"),
        (Family::Enduro, "enduro"),
        (Family::Motocross, "motocross"),
        (Family::Supermoto, "supermoto"),
        (Family::Trial, "trial"),
        (Family::Mini, "mini"),
        (Family::Underbone, "underbone"),
        (Family::Scooter, "scooter"),
        (Family::Vespa, "vespa"),
        (Family::MaxiScooter, "maxi-scooter"),
        (Family::Tilting, "tilting"),
        (Family::Cabin, "cabin"),
    ];

    fn assert_sound(mesh: &VehicleMesh, what: &str) {
        for (material, surface) in &mesh.surfaces {
            for (p, n) in surface.positions.iter().zip(&surface.normals) {
                assert!(p.iter().chain(n).all(|c| c.is_finite()), "{what} {material:?}");
                assert!((Vec3::from(*n).length() - 1.0).abs() < 1e-3, "{what} {material:?}");
            }
            for t in surface.indices.chunks_exact(3) {
                let [a, b, c] = [t[0], t[1], t[2]].map(|i| Vec3::from(surface.positions[i as usize]));
                let n: Vec3 = t.iter().map(|i| Vec3::from(surface.normals[*i as usize])).sum();
                let face = (b - a).cross(c - a);
                assert!(face.dot(n) > -1e-9, "{what} {material:?}: winding at {a}");
            }
        }
    }

    fn extent(mesh: &VehicleMesh) -> (Vec3, Vec3) {
        let points = || mesh.surfaces.values().flat_map(|s| &s.positions).map(|p| Vec3::from(*p));
        (points().fold(Vec3::MAX, Vec3::min), points().fold(Vec3::MIN, Vec3::max))
    }

    #[test]
    fn every_family_has_the_vehicles_dimensions_and_stands_on_its_wheels() {
        let library = Library::embedded().unwrap();
        for (family, name) in FAMILIES {
            for extras in [&[][..], &["luggage", "cowl-on-frame"]] {
                let design = library.two_wheelers().layout(&Style::of(name, EngineKind::Inline(2), extras));
                assert_eq!(design.family, family);
                let mesh = assemble(design, &DIMENSIONS);
                assert_sound(&mesh, &format!("{family:?}"));
                let (low, high) = extent(&mesh);
                let size = high - low;
                for (got, wanted) in [(size.x, 2.130), (size.y, 0.800), (size.z, 1.110)] {
                    assert!((got / wanted - 1.0).abs() < 0.02, "{family:?}: {got} instead of {wanted}");
                }
                let lowest = mesh.surfaces[&Material::Tyre].positions.iter().map(|p| p[2]).fold(1.0, f32::min);
                assert!(lowest.abs() < 1e-4, "{family:?} stands at {lowest}");
                assert!((12_000..300_000).contains(&mesh.triangle_count()), "{family:?}: {}", mesh.triangle_count());
            }
        }
    }

    #[test]
    fn lamps_follow_the_year() {
        for (year, era) in [(1985, LampEra::Bulb), (2005, LampEra::Clear), (2022, LampEra::Led)] {
            let vehicle = Vehicle {
                make: "honda".to_owned(),
                model: "cb500f".to_owned(),
                year,
                vehicle_type: VehicleType::Motorcycle,
                body: BodyClass::Motorcycle,
                dimensions: DIMENSIONS,
            };
            let library = Library::embedded().unwrap();
            assert_eq!(library.two_wheelers().design(&vehicle).details.era, era, "{year}");
        }
    }

    #[test]
    fn every_engine_is_sound_in_a_naked_bike() {
        let library = Library::embedded().unwrap();
        for engine in [
            EngineKind::Inline(1),
            EngineKind::Inline(4),
            EngineKind::Vee,
            EngineKind::WideVee,
            EngineKind::CrossVee,
            EngineKind::Boxer,
            EngineKind::FlatSix,
            EngineKind::Electric,
        ] {
            let design = library.two_wheelers().layout(&Style::of("naked", engine, &[]));
            assert_sound(&assemble(design, &DIMENSIONS), &format!("{engine:?}"));
        }
    }
}

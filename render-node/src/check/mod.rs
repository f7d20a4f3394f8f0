//! Rules that every vehicle's geometry must keep, whatever it looks like: it builds, has its
//! dimensions, stands on the ground, is closed where the camera looks, has no crumbs or floating
//! shells, mirrors from left to right, is painted in a sensible part and stays in the frame.
//!
//! No graphics device is needed: `raster` draws the six views small. Whether a vehicle is beautiful
//! or recognised is for people to judge.

mod facts;
mod finding;
pub mod likeness;
pub mod outlines;
pub(crate) mod raster;
mod skin;
pub mod surfaces;
mod torn;

pub use finding::Finding;

use crate::studio::Camera;
use crate::studio::camera::bounds;
use crate::vehicle::machine::{dimensions_of, machine_of};
use crate::vehicle::motorcycle::layout_of;
use crate::vehicle::{self, Library, Material, VehicleMesh, truck};
use cyclorama_core::{BodyClass, Vehicle, VehicleType, View};
use finding::finding;
use raster::{RasterImage, draw};
use skin::is_skin;

/// Maximum relative deviation of length, width, height and wheelbase.
const DIMENSION_TOLERANCE: f32 = 0.02;
/// Reach around the rear axle in which the width is measured.
const REAR_AXLE_REACH_M: f32 = 0.5;
/// Ratios of the height at which mirrors begin: on vans and trucks, on off-roaders and pickups, on
/// cars, on low cars.
const MIRRORS_FROM: [f32; 4] = [0.44, 0.52, 0.58, 0.62];
/// Maximum distance of a tyre above or below the ground.
const GROUND_TOLERANCE_M: f32 = 0.003;
/// Side of the small images, in pixels.
const SIDE_PX: usize = 320;
/// Maximum ratio of the vehicle's pixels at which the inside of a shell is seen: slivers along cut
/// edges.
const OPEN_RATIO_MAX: f32 = 0.004;
/// Maximum ratio of the vehicle's pixels by which the left image may differ from the mirrored right
/// one. A two-wheeler carries its exhaust, stand and chain on one side.
const MIRROR_RATIO_MAX: f32 = 0.015;
const MIRROR_RATIO_MAX_RIDDEN: f32 = 0.10;

/// Returns every rule that one vehicle breaks; empty is good. `reference_diagonal_m` is the
/// studio's.
pub fn check(library: &Library, vehicle: &Vehicle, reference_diagonal_m: f32) -> Vec<Finding> {
    let mesh = match vehicle::build(library, vehicle) {
        Ok(mesh) => mesh,
        Err(error) => return vec![finding("build", error.to_string())],
    };
    let mut drawn = vehicle.clone();
    if let Some(sheet) = library.sheet_for(vehicle).and_then(|name| library.sheet(name).ok()) {
        drawn.dimensions = truck::dimensions_of(&sheet, vehicle.dimensions);
    }
    let mut findings = dimensions(&mesh, &drawn);
    findings.extend(pictures(&mesh, vehicle, reference_diagonal_m));
    if matches!(vehicle.vehicle_type, VehicleType::PassengerCar | VehicleType::Mpv) {
        findings.extend(torn::torn(&mesh));
    }
    if let Ok(Some((measured, real))) = vehicle::measured(library, vehicle) {
        findings.extend(facts::differences(&mesh, &measured, real));
    }
    findings
}

/// Compares the mesh with the catalog. Mirrors, fins, rails and lamps on stalks are not part of a
/// vehicle's dimensions.
fn dimensions(mesh: &VehicleMesh, vehicle: &Vehicle) -> Vec<Finding> {
    let Some((low, high)) = bounds(mesh) else { return vec![finding("build", "the mesh is empty".to_owned())] };
    let metres = |mm: u32| mm as f32 * 0.001;
    let d = machine_of(vehicle).map_or(vehicle.dimensions, |machine| dimensions_of(machine, vehicle.dimensions));
    let rides = vehicle.body.is_two_wheeler();
    let height = metres(d.height_mm);
    let points = |material: fn(Material) -> bool| {
        mesh.surfaces.iter().filter(move |(found, _)| material(**found)).flat_map(|(_, surface)| &surface.positions)
    };
    // Rails and bright trim stand off the body; a bright roof belongs to it.
    let dull: fn(Material) -> bool = |material| !matches!(material, Material::Satin | Material::Chrome);
    let nearest = |wanted: f32, found: &[f32]| {
        found.iter().copied().min_by(|a, b| (a - wanted).abs().total_cmp(&(b - wanted).abs())).unwrap_or_default()
    };
    // A two-wheeler's bars are its width. Everything else has mirrors, which hang low on some and
    // high on others; somewhere below them the body has the catalog's width.
    let widest = |counts: &dyn Fn(&[f32; 3]) -> bool| {
        2.0 * points(dull).filter(|p| counts(p)).map(|p| p[1].abs()).fold(0.0, f32::max)
    };
    let axles = axles(mesh);
    let width = if rides {
        // Measured to the ends of the bars, which are bright on many.
        2.0 * points(|_| true).map(|p| p[1].abs()).fold(0.0, f32::max)
    } else {
        let rear = axles.last().copied().unwrap_or(high.x);
        let mut found: Vec<f32> = MIRRORS_FROM.iter().map(|ratio| widest(&|p| p[2] < ratio * height)).collect();
        // This measure serves high haunches: no mirror is near the rear axle.
        found.push(widest(&|p| (p[0] - rear).abs() < REAR_AXLE_REACH_M));
        nearest(metres(d.width_mm), &found)
    };
    // A fin stands on the centre line.
    let beside_fin = if rides { 0.0 } else { 0.12 };
    let top_of = |material| points(material).filter(|p| p[1].abs() >= beside_fin).map(|p| p[2]).fold(0.0, f32::max);
    let top = nearest(height, &[top_of(dull), top_of(|_| true), top_of(is_skin)]);

    let mut findings = Vec::new();
    let mut compare = |rule: &'static str, measured: f32, wanted_mm: u32| {
        let wanted = metres(wanted_mm);
        if (measured - wanted).abs() > DIMENSION_TOLERANCE * wanted {
            findings.push(finding(rule, format!("{measured:.3} m, should be {wanted:.3} m")));
        }
    };
    compare("length", high.x - low.x, d.length_mm);
    compare("width", width, d.width_mm);
    compare("height", top, d.height_mm);
    match axles.split_first() {
        // With two rear axles, the first or the second counts, as makers do.
        Some((front, rear)) => {
            let wheelbases: Vec<f32> = rear.iter().map(|rear| rear - front).collect();
            compare("wheelbase", nearest(metres(d.wheelbase_mm), &wheelbases), d.wheelbase_mm);
        }
        None => findings.push(finding("ground", "no tyre touches the ground at both ends".to_owned())),
    }
    if low.z < -GROUND_TOLERANCE_M {
        findings.push(finding("ground", format!("something reaches {:.3} m below the ground", -low.z)));
    }
    findings
}

/// Returns x of the positions where tyres touch the ground, from the front; empty unless they are
/// at least half a metre apart.
fn axles(mesh: &VehicleMesh) -> Vec<f32> {
    let Some(tyres) = mesh.surfaces.get(&Material::Tyre) else { return Vec::new() };
    let mut touching: Vec<f32> =
        tyres.positions.iter().filter(|p| p[2].abs() <= GROUND_TOLERANCE_M).map(|p| p[0]).collect();
    touching.sort_by(f32::total_cmp);
    // Points of one contact patch lie within a hand's breadth.
    let patches = touching.chunk_by(|a, b| b - a < 0.2);
    let middles: Vec<f32> = patches.map(|patch| patch.iter().sum::<f32>() / patch.len() as f32).collect();
    match (middles.first(), middles.last()) {
        (Some(first), Some(last)) if last - first > 0.5 => middles,
        _ => Vec::new(),
    }
}

fn pictures(mesh: &VehicleMesh, vehicle: &Vehicle, reference_diagonal_m: f32) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut sides: Vec<RasterImage> = Vec::new();
    for view in View::ALL {
        let camera = match Camera::fit(mesh, *view, reference_diagonal_m) {
            Ok(camera) => camera,
            Err(error) => {
                findings.push(finding("build", error.to_string()));
                continue;
            }
        };
        let drawn = draw(mesh, &camera, SIDE_PX);
        if drawn.outside > 0 {
            findings.push(finding("frame", format!("{view}: {} corners outside the picture", drawn.outside)));
        }
        let covered = drawn.covered().max(1) as f32;
        let open = drawn.open as f32 / covered;
        if open > OPEN_RATIO_MAX {
            findings.push(finding("open", format!("{view}: the inside of a shell at {:.1} % of it", open * 100.0)));
        }
        let painted = drawn.of(Material::Paint) as f32 / covered;
        let (least, most) = painted_ratio(vehicle.body);
        if painted < least || painted > most {
            findings.push(finding("paint", format!("{view}: {:.0} % is painted", painted * 100.0)));
        }
        if matches!(view, View::Side | View::SideRight) {
            sides.push(drawn);
        }
    }
    if let [left, right] = sides.as_slice() {
        let differing = left.differs_from_mirrored(right) as f32 / left.covered().max(1) as f32;
        let most = if vehicle.body.is_two_wheeler() { MIRROR_RATIO_MAX_RIDDEN } else { MIRROR_RATIO_MAX };
        if differing > most {
            findings.push(finding("mirror", format!("left and right differ at {:.1} % of it", differing * 100.0)));
        }
    }
    findings
}

/// Returns the least and the greatest ratio of the image that may be paint, whatever the view.
fn painted_ratio(body: BodyClass) -> (f32, f32) {
    match body {
        BodyClass::Motorcycle | BodyClass::Scooter => (0.015, 0.75),
        // Flatbeds, tractors, trailers and plant show much of their frame.
        BodyClass::Truck | BodyClass::Trailer | BodyClass::Other | BodyClass::Rickshaw => (0.06, 0.90),
        // A spare wheel hides much of the tail.
        BodyClass::OffRoader => (0.10, 0.88),
        _ => (0.16, 0.88),
    }
}

/// Returns a key that is equal for vehicles with the same geometry, so that one check does for all
/// of them.
pub fn geometry_key(library: &Library, vehicle: &Vehicle) -> String {
    let sheet = library.sheet_for(vehicle).unwrap_or("none");
    let face = library.face_for(vehicle).unwrap_or("none");
    let d = vehicle.dimensions;
    // Names select the geometry of what is not drawn from a sheet, and how a template is varied.
    let kind = match machine_of(vehicle) {
        Some(machine) => format!("{machine:?} {} {}", vehicle.make, vehicle.model),
        None if vehicle.body.is_two_wheeler() => layout_of(library.two_wheelers(), vehicle),
        None if library.is_drawn(vehicle) => String::new(),
        None => format!("{} {}", vehicle.make, vehicle.model),
    };
    format!("{sheet} {face} {} {kind} {} {} {} {}", vehicle.body, d.length_mm, d.width_mm, d.height_mm, d.wheelbase_mm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::rig::Rig;
    use crate::vehicle::typical::typical;

    #[test]
    fn a_good_vehicle_passes_and_a_spoilt_one_does_not() {
        let library = &*Library::embedded().unwrap();
        let reference = Rig::built_in().unwrap().reference_diagonal_m;
        let vehicle = typical(BodyClass::Hatchback);
        assert_eq!(check(library, &vehicle, reference), []);

        let mut mesh = vehicle::build(library, &vehicle).unwrap();
        let mut longer = vehicle.clone();
        longer.dimensions.length_mm += 200;
        let rules = |findings: Vec<Finding>| findings.into_iter().map(|f| f.rule).collect::<Vec<_>>();
        assert_eq!(rules(dimensions(&mesh, &longer)), ["length"]);

        // Half of the skin is taken away, so the far side is seen from within.
        let paint = mesh.surfaces.get_mut(&Material::Paint).unwrap();
        let positions = paint.positions.clone();
        let near = |t: &&[u32]| t.iter().any(|i| positions[*i as usize][1] > 0.0);
        paint.indices = paint.indices.chunks_exact(3).filter(near).flatten().copied().collect();
        let broken = rules(pictures(&mesh, &vehicle, reference));
        assert!(broken.contains(&"open") && broken.contains(&"paint"), "{broken:?}");
    }
}

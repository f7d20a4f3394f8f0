//! Two-wheelers. No field is needed for them: a motorcycle is a frame that parts hang on, put together from the same
//! solids the parts of cars are made of. This file says where the joints are; its neighbours build what hangs there.

mod chassis;
mod cladding;
mod scooter;
mod wheel;

use cyclorama_core::vehicle::{BodyClass, Dimensions, Vehicle};
use glam::Vec3;

use super::mesh::{Material, VehicleMesh};
use super::parts::solid::{CREASE_DEGREES, Solid};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Engine and round lamp in view.
    Naked,
    /// Full fairing, low bars.
    Sport,
    /// Long, low, wide bars.
    Cruiser,
    Scooter,
}

/// Parts of model names that give a fairing away, as whole words between hyphens or as their beginnings.
const SPORT_WORDS: [&str; 17] = [
    "ninja",
    "cbr",
    "yzf",
    "gsx-r",
    "gsxr",
    "zx",
    "rsv",
    "rs-660",
    "panigale",
    "superbike",
    "daytona",
    "hayabusa",
    "r1",
    "r6",
    "s-1000-rr",
    "s1000rr",
    "supersport",
];
const SCOOTER_WORDS: [&str; 10] =
    ["scooter", "vespa", "burgman", "pcx", "nmax", "xmax", "tmax", "forza", "primavera", "liberty"];
const CRUISER_MAKES: [&str; 3] = ["harley-davidson", "indian", "victory"];
const CRUISER_WORDS: [&str; 8] = ["shadow", "vulcan", "boulevard", "rebel", "v-star", "virago", "intruder", "bobber"];

/// Which style a two-wheeler is drawn in: by its name, else a naked one.
pub fn style_of(vehicle: &Vehicle) -> Style {
    let says = |words: &[&str]| {
        let model = format!("-{}", vehicle.model);
        words.iter().any(|word| model.contains(&format!("-{word}")))
    };
    if vehicle.body == BodyClass::Scooter || says(&SCOOTER_WORDS) {
        Style::Scooter
    } else if says(&SPORT_WORDS) {
        Style::Sport
    } else if CRUISER_MAKES.contains(&vehicle.make.as_str()) || says(&CRUISER_WORDS) {
        Style::Cruiser
    } else {
        Style::Naked
    }
}

/// Where things are; metres, vehicle axes (x from the front tyre's foremost point).
struct Joints {
    style: Style,
    length: f32,
    front_axle: Vec3,
    rear_axle: Vec3,
    /// Top of the steering head, between the fork's clamps.
    head: Vec3,
    /// Where the swing arm turns.
    pivot: Vec3,
    /// Top of the rider's seat at its lowest.
    seat: Vec3,
    /// Half of the handlebar's width.
    bar: f32,
}

impl Joints {
    fn of(style: Style, dimensions: &Dimensions) -> Joints {
        let metres = |mm: u32| mm as f32 * 0.001;
        let length = metres(dimensions.length_mm).clamp(1.5, 2.8);
        let height = metres(dimensions.height_mm).clamp(0.9, 1.6);
        let wheelbase = metres(dimensions.wheelbase_mm).clamp(length * 0.58, length * 0.74);
        let (front_radius, rear_radius) = match style {
            Style::Naked | Style::Sport => (0.300, 0.315),
            Style::Cruiser => (0.325, 0.320),
            Style::Scooter => (0.235, 0.235),
        };
        let front_axle = Vec3::new(front_radius, 0.0, front_radius);
        let rear_axle = Vec3::new(front_radius + wheelbase, 0.0, rear_radius);
        // The bars end below the overall height, which mirrors or a screen reach.
        let rake = match style {
            Style::Sport => 0.42_f32,
            Style::Naked => 0.45,
            Style::Cruiser => 0.60,
            Style::Scooter => 0.46,
        };
        let head_z = match style {
            Style::Sport => 0.84,
            Style::Naked => 0.88,
            Style::Cruiser => 0.82,
            Style::Scooter => 0.86,
        } * (height / 1.13).clamp(0.92, 1.12);
        // The fork's axle stands a little before the steering axis.
        let head = Vec3::new(front_axle.x + 0.03 + (head_z - front_axle.z) * rake.tan(), 0.0, head_z);
        let seat = match style {
            Style::Sport => 0.81,
            Style::Naked => 0.80,
            Style::Cruiser => 0.69,
            Style::Scooter => 0.77,
        };
        Joints {
            style,
            length,
            front_axle,
            rear_axle,
            head,
            pivot: Vec3::new(rear_axle.x - wheelbase * 0.40, 0.0, rear_axle.z + 0.10),
            seat: Vec3::new(rear_axle.x - wheelbase * 0.28, 0.0, seat),
            bar: (metres(dimensions.width_mm) / 2.0).clamp(0.30, 0.46) - if style == Style::Sport { 0.05 } else { 0.0 },
        }
    }
}

/// Builds a two-wheeler, upright on z = 0.
pub fn motorcycle(style: Style, dimensions: &Dimensions) -> VehicleMesh {
    let joints = Joints::of(style, dimensions);
    let mut bike = Bike::default();
    wheel::add_wheels(&mut bike, &joints);
    chassis::add_fork_and_bars(&mut bike, &joints);
    if style == Style::Scooter {
        scooter::add_scooter(&mut bike, &joints);
    } else {
        chassis::add_frame(&mut bike, &joints);
        chassis::add_engine(&mut bike, &joints);
        chassis::add_exhaust(&mut bike, &joints);
        cladding::add_tank_seat_tail(&mut bike, &joints);
        cladding::add_front(&mut bike, &joints);
    }
    bike.mesh
}

/// The mesh in the making, with the three ways solids are hung on it.
#[derive(Default)]
struct Bike {
    mesh: VehicleMesh,
}

impl Bike {
    fn add(&mut self, material: Material, solid: Solid) {
        self.mesh.add(material, &solid.surface(CREASE_DEGREES));
    }

    /// Rounded all over: no crease below a right angle.
    fn add_soft(&mut self, material: Material, solid: Solid) {
        self.mesh.add(material, &solid.surface(62.0));
    }

    /// On both sides: as given, and mirrored in the centre plane.
    fn add_pair(&mut self, material: Material, solid: Solid) {
        let surface = solid.surface(62.0);
        self.mesh.add(material, &surface);
        self.mesh.add(material, &surface.mirrored());
    }
}

/// A loop of `count` points across the bike at `x`: half width and the two heights, squareness of its corners (2 round).
fn section(x: f32, half_width: f32, low: f32, high: f32, power: f32, count: usize) -> Vec<Vec3> {
    let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
    (0..count)
        .map(|i| {
            let (sin, cos) = (std::f32::consts::TAU * i as f32 / count as f32).sin_cos();
            let reach = (cos.abs().powf(power) + sin.abs().powf(power)).powf(-1.0 / power);
            Vec3::new(x, cos * reach * half_width, middle + sin * reach * half)
        })
        .collect()
}

/// A skin through sections given as (x, half width, low, high), smoothed between them.
fn hull(stations: &[[f32; 4]], power: f32, steps: usize) -> Solid {
    let count = stations.len();
    let mut loops = Vec::new();
    for i in 0..count - 1 {
        let at = |k: isize| stations[(i as isize + k).clamp(0, count as isize - 1) as usize];
        let [before, from, to, after] = [at(-1), at(0), at(1), at(2)];
        for step in 0..steps {
            let t = step as f32 / steps as f32;
            let value = |k: usize| {
                let [p, a, b, n] = [before[k], from[k], to[k], after[k]];
                0.5 * (2.0 * a
                    + (b - p) * t
                    + (2.0 * p - 5.0 * a + 4.0 * b - n) * t * t
                    + (3.0 * a - p - 3.0 * b + n) * t * t * t)
            };
            loops.push(section(value(0), value(1).max(0.004), value(2), value(3).max(value(2) + 0.004), power, 28));
        }
    }
    let last = stations[count - 1];
    loops.push(section(last[0], last[1].max(0.004), last[2], last[3].max(last[2] + 0.004), power, 28));
    Solid::lofted(&loops)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMENSIONS: Dimensions =
        Dimensions { length_mm: 2100, width_mm: 800, height_mm: 1130, wheelbase_mm: 1420, front_track_mm: 0 };

    #[test]
    fn every_style_stands_on_its_wheels_within_its_length() {
        for style in [Style::Naked, Style::Sport, Style::Cruiser, Style::Scooter] {
            let mesh = motorcycle(style, &DIMENSIONS);
            for (material, surface) in &mesh.surfaces {
                for (p, n) in surface.positions.iter().zip(&surface.normals) {
                    assert!(p.iter().chain(n).all(|c| c.is_finite()), "{style:?} {material:?}");
                    assert!((Vec3::from(*n).length() - 1.0).abs() < 1e-3, "{style:?} {material:?}");
                    assert!(p[0] > -0.02 && p[0] < 2.16, "{style:?} {material:?}: {p:?}");
                    assert!(p[2] > -0.001 && p[2] < 1.30 && p[1].abs() < 0.52, "{style:?} {material:?}: {p:?}");
                }
                for t in surface.indices.chunks_exact(3) {
                    let [a, b, c] = [t[0], t[1], t[2]].map(|i| Vec3::from(surface.positions[i as usize]));
                    let n = Vec3::from(surface.normals[t[0] as usize]);
                    assert!((b - a).cross(c - a).dot(n) > 0.0, "{style:?} {material:?}: winding at {a}");
                }
            }
            let lowest = mesh.surfaces[&Material::Tyre].positions.iter().map(|p| p[2]).fold(1.0, f32::min);
            assert!(lowest.abs() < 1e-4, "{style:?} stands at {lowest}");
            assert!((20_000..120_000).contains(&mesh.triangle_count()), "{style:?}: {}", mesh.triangle_count());
        }
    }

    #[test]
    fn names_give_the_style() {
        let named = |make: &str, model: &str| {
            let vehicle = Vehicle {
                make: make.to_owned(),
                model: model.to_owned(),
                year: 2020,
                vehicle_type: cyclorama_core::vehicle::VehicleType::Motorcycle,
                body: BodyClass::Motorcycle,
                dimensions: DIMENSIONS,
            };
            style_of(&vehicle)
        };
        for (make, model, style) in [
            ("kawasaki", "ninja-400", Style::Sport),
            ("honda", "cbr600rr", Style::Sport),
            ("honda", "cb500f", Style::Naked),
            ("harley-davidson", "sportster", Style::Cruiser),
            ("suzuki", "burgman-400", Style::Scooter),
            ("honda", "rebel-500", Style::Cruiser),
        ] {
            assert_eq!(named(make, model), style, "{make} {model}");
        }
    }
}

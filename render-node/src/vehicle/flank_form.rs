//! The form of a body's flanks that its sheet does not draw: how their section changes from axle to
//! axle, the line low on the doors with the hollow above it, and the sill that stands out under the
//! doors. It depends on the kind of body and the time, and a little on the model's name.

use cyclorama_core::vehicle::{BodyClass, Vehicle};
use glam::Vec2;

use super::blend::step;
use super::chance::chances;
use super::curve::{ControlPoint, SampledCurve};
use super::mesh::Material;
use super::sheet::{Crease, Curve, Drawing, DrawnIn, Region, RegionKind, ReliefForm, Sheet, SkinRelief};

/// The form of flanks from one year on.
struct FlankEra {
    from: u16,
    /// See [`super::sheet::Body`].
    rise: f32,
    swell: f32,
    /// How much sharper, or less sharp, the lines of the shoulder get from one end to the other.
    taper: f32,
    /// Angle by which the metal turns at the low line, in radians.
    low_turn: f32,
    /// Ratios of the models whose low line runs level, rises straight, or sweeps up in
    /// front of the rear wheel.
    low_lines: [f32; 3],
    /// How far the sill stands out.
    sill: f32,
}

const ERAS: [FlankEra; 4] = [
    FlankEra { from: 0, rise: 0.20, swell: 0.22, taper: 0.15, low_turn: 0.20, low_lines: [1.0, 0.0, 0.0], sill: 0.007 },
    FlankEra {
        from: 1996,
        rise: 0.34,
        swell: 0.26,
        taper: 0.2,
        low_turn: 0.28,
        low_lines: [0.5, 0.5, 0.0],
        sill: 0.010,
    },
    FlankEra {
        from: 2006,
        rise: 0.40,
        swell: 0.30,
        taper: 0.3,
        low_turn: 0.42,
        low_lines: [0.25, 0.45, 0.3],
        sill: 0.013,
    },
    FlankEra {
        from: 2015,
        rise: 0.44,
        swell: 0.32,
        taper: 0.35,
        low_turn: 0.46,
        low_lines: [0.25, 0.4, 0.35],
        sill: 0.014,
    },
];

/// Heights of the three kinds of low line as ratios of the flank's height, from the front
/// wheel to the rear one.
const LOW_LINES: [[f32; 5]; 3] =
    [[0.20, 0.205, 0.21, 0.22, 0.235], [0.17, 0.215, 0.26, 0.31, 0.36], [0.18, 0.18, 0.20, 0.27, 0.40]];
/// Ratio of the flank's height by which low lines lie higher on tall bodies.
const HIGHER_ON_TALL: f32 = 0.06;
/// Sharpness of the three kinds of low line at both ends.
const LOW_ALONG: [[f32; 2]; 3] = [[0.9, 1.0], [0.1, 1.15], [0.3, 1.2]];
/// Heights of a shoulder's line as ratios of the flank's height, over both axles and
/// half way between them.
const SHOULDER: [f32; 3] = [0.76, 0.80, 0.84];
/// A crease drawn below this ratio of the flank's height is a low line.
const LOW: f32 = 0.5;
/// Minimum distance of a low line above the doors' lower edges and cladding, and from the
/// edges of the wheel arches.
const ABOVE_SILL_M: f32 = 0.055;
const FROM_ARCH_M: f32 = 0.06;
/// Reach of the hollow above a low line and of the face below it.
const LOW_REACH_M: [f32; 2] = [0.24, 0.16];
/// Distance of the sill's upper edge below the doors.
const UNDER_DOORS_M: f32 = 0.011;
const SILL_CORNER_M: f32 = 0.02;
/// How far black cladding stands out.
const CLADDING_M: f32 = 0.006;
/// A shut line in the side view that is longer than this is a door's.
const DOOR_M: f32 = 0.5;

/// Gives a sheet the flanks of its kind and time. `is_drawn` means that the sheet was drawn for the
/// model; such a sheet gets no shoulder line beyond its own.
pub fn shape(sheet: &mut Sheet, vehicle: &Vehicle, is_drawn: bool) {
    use BodyClass::{Convertible, Coupe, Fastback, Hatchback, Minivan, OffRoader, Pickup, Sedan, Suv, Wagon};
    let strength = match vehicle.body {
        Sedan | Hatchback | Wagon | Fastback | Coupe | Convertible | Suv => 1.0,
        Minivan => 0.8,
        OffRoader | Pickup => 0.5,
        _ => return,
    };
    if sheet.truck.is_some() {
        return;
    }
    let Some(era) = ERAS.iter().rev().find(|era| vehicle.year >= era.from) else { return };
    let mut either = chances(&format!("{}/{}/flank", vehicle.make, vehicle.model));
    let (much, way, kind) = (1.0 + 0.25 * either(), either(), 0.5 + 0.5 * either());

    let form = &mut sheet.body;
    for (drawn, given) in [(&mut form.rise, era.rise), (&mut form.swell, era.swell)] {
        if *drawn == 0.0 {
            *drawn = strength * given * much;
        }
    }
    let taper = era.taper * if way < -0.4 { -1.0 } else { 1.0 };
    let (sill, belt) = (sheet.body.sill, SampledCurve::drawn(&sheet.body.belt));
    let ratio = |at: Vec2| (at.y - sill) / (belt.at(at.x) - sill).max(0.2);
    let is_low = |crease: &Crease| {
        let count = crease.line.len().max(1) as f32;
        crease.line.iter().map(|p| ratio(p.at)).sum::<f32>() / count < LOW
    };
    if !is_drawn && sheet.crease.iter().all(is_low) {
        let line = shoulder(sheet, &belt);
        sheet.crease.push(line_of("shoulder", line, 1.1 * era.low_turn, [1.0, 1.0], None));
    }
    for crease in sheet.crease.iter_mut().filter(|crease| crease.along == [1.0, 1.0]) {
        crease.along = [1.0 - taper, 1.0 + taper];
    }
    square_sill(sheet);
    let (foot, clad) = feet(sheet);
    // A groove low on the doors stands for the hollow above such a line.
    sheet.crease.retain(|crease| crease.height > 0.0 || !is_low(crease));
    if !sheet.crease.iter().any(is_low) {
        let [level, straight, _] = era.low_lines;
        let kind = if kind < level { 0 } else { 1 + usize::from(kind >= level + straight) };
        let turn = era.low_turn * (0.4 + 0.6 * strength) * much;
        let up = if matches!(vehicle.body, Suv | OffRoader | Minivan | Pickup) { HIGHER_ON_TALL } else { 0.0 };
        let line = low_line(sheet, &belt, LOW_LINES[kind].map(|ratio| ratio + up), foot);
        sheet.crease.extend(line.map(|line| line_of("low line", line, turn, LOW_ALONG[kind], Some(LOW_REACH_M))));
    }
    sheet.relief.extend(sill_step(sheet, foot, clad, era.sill, vehicle.body == Pickup));
}

fn is_door(region: &Region) -> bool {
    let x = |pick: fn(f32, f32) -> f32, from: f32| region.at.curve.iter().map(|p| p.at.x).fold(from, pick);
    region.at.view == DrawnIn::Side
        && matches!(region.kind, RegionKind::Gap { material: Material::PanelGap, .. })
        && x(f32::max, f32::MIN) - x(f32::min, f32::MAX) > DOOR_M
}

fn heights(curve: &Curve) -> impl Iterator<Item = f32> + '_ {
    curve.iter().map(|p| p.at.y)
}

/// Returns the region that a sheet paints black along the sill.
fn black_sill(sheet: &Sheet) -> Option<&Region> {
    sheet.region.iter().find(|region| is_black_sill(region))
}

fn is_black_sill(region: &Region) -> bool {
    region.name == "sill" && region.at.view == DrawnIn::Side && matches!(region.kind, RegionKind::Skin(_))
}

/// Straightens black sills from wheel to wheel, because a curve through four points a car's
/// length apart is an arc.
fn square_sill(sheet: &mut Sheet) {
    let stance = sheet.stance();
    let inside = 0.5 * (stance.hub_z + sheet.wheels.arch_gap);
    // Sills end in the wheel arches, and do not come out again behind the wheels.
    let (from, to) = (stance.front_axle_x + inside, stance.rear_axle_x - inside);
    for region in sheet.region.iter_mut().filter(|region| is_black_sill(region)) {
        for point in &mut region.at.curve {
            point.radius = point.radius.max(SILL_CORNER_M);
            point.at.x = point.at.x.max(from).min(to);
        }
    }
}

/// Returns the height of the doors' lower edge, and of the upper edge of black cladding
/// if that lies above it.
fn feet(sheet: &Sheet) -> (f32, Option<f32>) {
    let doors = sheet.region.iter().filter(|region| is_door(region));
    let door = doors.flat_map(|door| heights(&door.at.curve)).fold(f32::MAX, f32::min);
    let door = if door == f32::MAX { sheet.body.sill + 0.07 } else { door };
    let black = black_sill(sheet).map(|region| heights(&region.at.curve).fold(f32::MIN, f32::max));
    (door, black.filter(|top| *top > door - UNDER_DOORS_M))
}

fn low_line(sheet: &Sheet, belt: &SampledCurve, ratios: [f32; 5], foot: f32) -> Option<Curve> {
    let stance = sheet.stance();
    let radius = stance.hub_z + sheet.wheels.arch_gap + sheet.wheels.cladding;
    let from = stance.front_axle_x + radius + FROM_ARCH_M;
    let to = stance.rear_axle_x - radius - FROM_ARCH_M;
    let (_, clad) = feet(sheet);
    let least = clad.unwrap_or(foot).max(foot) + ABOVE_SILL_M;
    let point = |(i, ratio): (usize, &f32)| {
        let x = from + (to - from) * i as f32 / 4.0;
        let z = sheet.body.sill + ratio * (belt.at(x) - sheet.body.sill);
        // The line is lifted as a whole, so that it keeps its shape.
        ControlPoint { at: Vec2::new(x, z), radius: 0.0 }
    };
    let mut curve: Curve = ratios.iter().enumerate().map(point).collect();
    let lift = (least - heights(&curve).fold(f32::MAX, f32::min)).max(0.0);
    curve.iter_mut().for_each(|p| p.at.y += lift);
    let highest = stance.hub_z + 0.75 * radius;
    (to - from > 0.8 && heights(&curve).all(|z| z < highest)).then_some(curve)
}

/// Returns a line of the shoulder, from wheel to wheel or, where a lamp is near, on to the lamp.
fn shoulder(sheet: &Sheet, belt: &SampledCurve) -> Curve {
    let stance = sheet.stance();
    let (from, to) = (stance.front_axle_x, stance.rear_axle_x);
    let point = |(i, ratio): (usize, &f32)| {
        let x = from + (to - from) * i as f32 / 2.0;
        ControlPoint { at: Vec2::new(x, sheet.body.sill + ratio * (belt.at(x) - sheet.body.sill)), radius: 0.0 }
    };
    SHOULDER.iter().enumerate().map(point).collect()
}

/// Returns a line at which the metal turns by an angle.
fn line_of(name: &str, line: Curve, turn: f32, along: [f32; 2], reach: Option<[f32; 2]>) -> Crease {
    let [above, below] = LOW_REACH_M;
    let height = super::flank_lines::height_for(turn, above, below);
    Crease { name: name.to_owned(), line, height, above, below, fade: 0.4, along, reach }
}

/// Returns the step at the upper edge of the sill, from wheel arch to wheel arch.
fn sill_step(sheet: &Sheet, foot: f32, clad: Option<f32>, out: f32, is_pickup: bool) -> Option<SkinRelief> {
    let relief = |at: Drawing, height: f32| SkinRelief {
        name: "sill edge".to_owned(),
        at,
        height,
        ramp: height.abs() * 1.1,
        form: ReliefForm::Bevel,
        grow: 0.0,
        fade: None,
    };
    if clad.is_some() {
        return black_sill(sheet).filter(|_| !is_pickup).map(|region| relief(region.at.clone(), CLADDING_M));
    }
    let stance = sheet.stance();
    let inside = 0.4 * (stance.hub_z + sheet.wheels.arch_gap);
    let top = foot - UNDER_DOORS_M;
    if top < sheet.body.sill + 0.012 {
        return None;
    }
    let corner = |x: f32, z: f32| ControlPoint { at: Vec2::new(x, z), radius: 0.01 };
    let (from, to) = (stance.front_axle_x + inside, stance.rear_axle_x - inside);
    let curve = vec![corner(from, 0.0), corner(from, top), corner(to, top), corner(to, 0.0)];
    let at = Drawing { view: DrawnIn::Side, curve, mirror: false, range: None, bowed: false };
    Some(relief(at, out * step((top - sheet.body.sill) / 0.04)))
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::super::typical::typical;
    use super::*;

    fn shaped(name: &str, body: BodyClass, year: u16) -> Sheet {
        let mut sheet = Library::embedded().unwrap().sheet(name).unwrap();
        let vehicle = Vehicle { year, body, ..typical(body) };
        shape(&mut sheet, &vehicle, false);
        sheet
    }

    fn low(sheet: &Sheet) -> &Crease {
        sheet.crease.iter().find(|crease| crease.name == "low line").unwrap()
    }

    #[test]
    fn a_saloon_has_a_low_line_between_the_wheels_that_never_falls_to_the_rear() {
        for (name, year) in [("sedan-1990s", 1992), ("sedan-2000s", 2003), ("sedan", 2012), ("sedan-2020s", 2024)] {
            let sheet = shaped(name, BodyClass::Sedan, year);
            let stance = sheet.stance();
            let line = &low(&sheet).line;
            assert!(line.windows(2).all(|pair| pair[0].at.x < pair[1].at.x && pair[0].at.y <= pair[1].at.y + 1e-4));
            assert!(
                line[0].at.x > stance.front_axle_x + stance.hub_z && line[4].at.x < stance.rear_axle_x - stance.hub_z
            );
            assert!(heights(line).all(|z| z > feet(&sheet).0 + 0.05 && z < 0.75));
        }
    }

    #[test]
    fn flanks_get_livelier_with_time_and_vans_stay_as_drawn() {
        let [old, new] = [("sedan-1990s", 1988), ("sedan-2020s", 2024)].map(|(name, year)| {
            let sheet = shaped(name, BodyClass::Sedan, year);
            (sheet.body.rise, low(&sheet).height)
        });
        assert!(old.0 < 0.6 * new.0 && old.1 < 0.6 * new.1);
        let van = shaped("van", BodyClass::Van, 2015);
        assert!(van.body.rise == 0.0 && van.relief.iter().all(|relief| relief.name != "sill edge"));
    }

    #[test]
    fn the_sill_stands_out_just_under_the_doors_or_as_far_as_its_cladding() {
        let edge = |sheet: &Sheet| {
            let step = sheet.relief.iter().find(|relief| relief.name == "sill edge").unwrap();
            (heights(&step.at.curve).fold(f32::MIN, f32::max), step.height)
        };
        let sedan = shaped("sedan", BodyClass::Sedan, 2012);
        let (top, height) = edge(&sedan);
        assert!(top < feet(&sedan).0 && top > feet(&sedan).0 - 0.02 && height > 0.008, "{top} {height}");
        let suv = shaped("suv", BodyClass::Suv, 2014);
        let stance = suv.stance();
        let black = &black_sill(&suv).unwrap().at.curve;
        assert!(black.iter().all(|p| p.at.x > stance.front_axle_x && p.at.x < stance.rear_axle_x));
        let (top, height) = edge(&suv);
        assert!((top - 0.385).abs() < 1e-4 && height == CLADDING_M, "{top} {height}");
    }
}

//! Head lamps: the shell with its main lights, by kind and year, with
//! running lights and indicators.

use std::f32::consts::TAU;

use glam::Vec2;

use super::super::solid::CREASE_DEGREES;
use super::finish::{DARK_SHELLS, Finish};
use super::guide::{add_indicator, add_running_light};
use super::head_lamp::{CLEAR_INDICATORS, HeadLamp, MainLight, RunningLight};
use super::housing::{BEZEL_M, Housing, add_housing};
use super::light::{add_dish, add_main_light};
use super::{LampFilling, LampSeat, LampSite};
use crate::vehicle::mesh::{Material, VehicleMesh};

const MOST_MAIN_LIGHTS: u32 = 6;
const MOST_FINS: u32 = 2;
/// Largest lamp height that counts for the distance between lights side by side: in taller
/// lamps they stand no farther apart.
const TALLEST_ROW_M: f32 = 0.15;
/// End of the main lights beside claws, as a ratio of the way from the inner to the outer end.
const CLAWS_FROM: f32 = 0.46;
/// From this year on, a lamp's bowl is a separate part in a housing.
/// Before, the bowl is the whole lamp.
const SEPARATE_BOWLS: u16 = 2003;
/// Reflectors have flutes before this year, facets from it on.
const FACETS: u16 = 1998;
/// Distance from the glass or bezel of a light to the lens over it.
const CLEAR_M: f32 = 0.005;

/// Width of a reflector's flutes.
const FLUTE_M: f32 = 0.0105;
/// Width of the pillows that later reflectors are made of.
const PILLOW_M: f32 = 0.018;

/// Returns the relief of a reflector that is made of small pillows. Each pillow has a highlight of
/// its own, so that the reflector does not shine as a whole.
fn pillows(p: Vec2) -> f32 {
    0.0008 * ((p.x / PILLOW_M * TAU).sin() + (p.y / PILLOW_M * TAU).sin())
}

fn pillow_rows(site: &LampSite) -> usize {
    let (_, height) = site.at_ratio(0.5, 0.5);
    ((height / PILLOW_M * 3.0) as usize).clamp(8, 17)
}

/// Depth of the floor that the lights stand in, as a ratio of the room behind the lens.
const FLOOR_DEPTH: f32 = 0.6;
/// Width of the ledge halfway down.
const LEDGE_M: f32 = 0.012;

/// Extra depth of a dark floor halfway up, compared with its edges, so that light falls off from
/// one to the other.
const HOLLOW_M: f32 = 0.009;

/// Returns how much deeper a floor lies at a place than on average. `up` is the ratio of the way
/// up. Bright floors are made of pillows.
fn relief(is_bright: bool, p: Vec2, up: f32) -> f32 {
    if is_bright { pillows(p) } else { HOLLOW_M * (4.0 * up * (1.0 - up) - 0.5) }
}

/// Returns what is inside a head lamp with a floor of some material.
pub fn head_lamp(site: &LampSite, spec: &HeadLamp, floor: Material) -> LampFilling {
    let spec = &clear_of_guides(spec);
    let mut mesh = VehicleMesh::default();
    let is_reflector = spec.main == MainLight::Bowl
        && (site.year < SEPARATE_BOWLS || (site.year < SEPARATE_BOWLS + 4 && floor == Material::LampReflector));
    let seats = if is_reflector { Vec::new() } else { seats(site, spec) };
    if is_reflector {
        add_reflector(&mut mesh, site, spec);
    } else {
        add_shell(&mut mesh, site, spec, floor, &seats);
    }
    add_running_light(&mut mesh, site, spec, &seats);
    if spec.indicator {
        add_indicator(&mut mesh, site);
    }
    add_marker(&mut mesh, site, spec);
    mesh.surfaces.retain(|_, surface| surface.triangle_count() > 0);
    LampFilling { mesh, ..LampFilling::default() }
}

/// Returns the sheet's lamp with its main lights where no light guide runs across them.
fn clear_of_guides(spec: &HeadLamp) -> HeadLamp {
    let mut spec = *spec;
    match spec.running {
        // The hammer is all that is seen: the lights around it are as dark as their shell.
        RunningLight::Hammer => {
            spec.main = MainLight::None;
            spec.indicator = true;
        }
        RunningLight::Claws => {
            (spec.from, spec.to) = (spec.from.min(CLAWS_FROM - 0.22), spec.to.min(CLAWS_FROM));
        }
        _ => {}
    }
    spec
}

/// Adds the shell of a lamp with separate lights, and the lights.
fn add_shell(mesh: &mut VehicleMesh, site: &LampSite, spec: &HeadLamp, floor: Material, seats: &[LampSeat]) {
    let is_bright = floor == Material::LampReflector && site.year < DARK_SHELLS;
    let finish = Finish::new(spec, site.year, if is_bright { floor } else { Material::LampHousing });
    let depth = |p: Vec2| (site.room(p) * FLOOR_DEPTH + relief(is_bright, p, site.ratio_up(p))).max(0.008);
    let housing = Housing {
        bezel: finish.bezel,
        bezel_m: BEZEL_M * 0.8,
        step: Material::LampHousing,
        ledge: Some((finish.ledge, LEDGE_M)),
        depth: &depth,
        floor: &|_| finish.floor,
        seats,
        column_m: if is_bright { PILLOW_M / 3.0 } else { 0.008 },
        rows: if is_bright { pillow_rows(site) } else { 14 },
        crease: 60.0,
    };
    add_housing(mesh, site, &housing);
    for (number, seat) in seats.iter().enumerate() {
        let light = &HeadLamp { main: main_light(spec, number, seats.len()), ..*spec };
        add_dish(mesh, site, light, seat, finish);
        add_main_light(mesh, light, seat, finish);
    }
    if spec.main != MainLight::None || spec.running != RunningLight::None {
        add_fins(mesh, site, spec);
    }
}

/// Returns the kind of one main light. In a pair of projectors the inner light, the main beam, is a
/// bowl, unless both have rings of light.
fn main_light(spec: &HeadLamp, number: usize, count: usize) -> MainLight {
    let is_pair = spec.main == MainLight::Projectors && count == 2 && spec.running != RunningLight::Rings;
    if is_pair && number == 0 { MainLight::Bowl } else { spec.main }
}

/// Adds the amber reflector on the part of the lens that wraps round the corner.
fn add_marker(mesh: &mut VehicleMesh, site: &LampSite, spec: &HeadLamp) {
    let (inner, outer) = site.s_range();
    let (_, height) = site.at_ratio(0.5, 0.5);
    // A round lamp has no marker.
    if !spec.marker || outer - inner < 1.4 * height {
        return;
    }
    let depth = |p: Vec2| (site.room(p) * 0.4).min(0.008);
    let marker = site.sheet(24, 8, |a, b| {
        let p = site.along_ratio(0.90 + 0.065 * a, 0.22 + 0.40 * b);
        let edge = (6.0 * a.min(1.0 - a)).min(6.0 * b.min(1.0 - b)).min(1.0);
        (p, depth(p) + 0.003 * (1.0 - edge) + 0.0008 * (p.x * 700.0).sin())
    });
    mesh.add(Material::LampAmber, &marker.surface(CREASE_DEGREES));
}

/// Returns the middle and the radius of every main light in the unrolled lens.
fn places(site: &LampSite, spec: &HeadLamp) -> Vec<(Vec2, f32)> {
    let (inner, outer) = site.s_range();
    let (_, height) = site.at_ratio((spec.from + spec.to) * 0.5, 0.5);
    let count =
        if spec.main == MainLight::None { 0 } else { spec.count.clamp(1, room_for(spec, site.seen_width(), height)) };
    // Trucks and pickups have larger lights.
    let largest = match spec.main {
        MainLight::Projectors => 0.046_f32.max(height * 0.26),
        MainLight::Bowl => 0.070_f32.max(height * 0.30),
        MainLight::Sealed => 0.100,
        MainLight::Modules => 0.034_f32.max(height * 0.22),
        MainLight::Matrix => 0.036_f32.max(height * 0.20),
        MainLight::Slits => 0.024,
        MainLight::None => 0.0,
    };
    let room = (outer - inner) * (spec.to - spec.from).abs().max(0.02) / (count.max(2) - 1) as f32;
    let place = |number: u32| {
        let t = if count == 1 { 0.5 } else { number as f32 / (count - 1) as f32 };
        let (p, height) = site.at_ratio(spec.from + (spec.to - spec.from) * t, 0.5);
        let aside = height * spec.size * 0.35;
        let (left, right) = (site.span(p.x - aside), site.span(p.x + aside));
        let (low, high) = (left.0.max(right.0), left.1.min(right.1));
        let height = height.min((high - low).max(height * 0.45));
        let p = Vec2::new(p.x, p.y * 0.5 + (low + high) * 0.25);
        let across = if count == 1 { outer - inner } else { room * 0.94 };
        let bezel = (2.0 * BEZEL_M).min(height * 0.12);
        (p, ((height - bezel) * spec.size.min(1.0)).min(across).min(2.0 * largest) / 2.0)
    };
    (0..count).map(place).collect()
}

/// Returns how many main lights fit a lamp that looks `wide` metres wide, so that each is clear to
/// see: a few large ones, never a row of marbles.
fn room_for(spec: &HeadLamp, wide: f32, height: f32) -> u32 {
    let (ratio, most) = match spec.main {
        MainLight::Modules => (0.85, 3),
        MainLight::Matrix | MainLight::Slits => (0.7, 4),
        MainLight::Projectors | MainLight::Bowl | MainLight::Sealed | MainLight::None => (0.62, MOST_MAIN_LIGHTS),
    };
    ((wide / (ratio * height.clamp(0.01, TALLEST_ROW_M))) as u32).clamp(1, most)
}

fn seats(site: &LampSite, spec: &HeadLamp) -> Vec<LampSeat> {
    let clear = if spec.main == MainLight::Sealed { 0.002 } else { CLEAR_M + 0.004 };
    places(site, spec).into_iter().map(|(p, radius)| site.seat(p, radius, clear)).collect()
}

/// Adds one bright reflector that is the whole lamp, with a hollow around
/// each bulb, and flutes or facets.
fn add_reflector(mesh: &mut VehicleMesh, site: &LampSite, spec: &HeadLamp) {
    let bulbs = places(site, spec);
    let (inner, outer) = site.s_range();
    let has_panel = spec.indicator && site.year < CLEAR_INDICATORS;
    let ends = if has_panel { site.along_ratio(0.80, 0.5).x } else { outer };
    let (deep, rise) = (site.depth * 1.3, bulbs.first().map_or(0.05, |b| b.1.max(0.04)));
    let reach = ((ends - inner) * 0.6 / bulbs.len().max(1) as f32).max(rise * 1.2);
    let is_fluted = site.year < FACETS;
    let depth = |p: Vec2| {
        let hollow =
            |bulb: &(Vec2, f32)| 1.0 - ((p.x - bulb.0.x) / reach).powi(2) - ((p.y - bulb.0.y) / (reach * 0.9)).powi(2);
        let hollow = bulbs.iter().map(hollow).fold(0.0, f32::max);
        let flute = if is_fluted { 0.0006 * (p.x / FLUTE_M * TAU).sin() } else { pillows(p) };
        let shallow = (site.room(p) * 0.45).min(0.022);
        shallow + (deep * site.room(p) / site.depth - shallow).max(0.0) * hollow + flute
    };
    add_housing(
        mesh,
        site,
        &Housing {
            bezel: spec.bezel.unwrap_or(Material::LampHousing),
            bezel_m: BEZEL_M * 0.6,
            step: Material::LampReflector,
            ledge: None,
            depth: &depth,
            floor: &|p| if has_panel && p.x > ends { Material::LampHousing } else { Material::LampReflector },
            seats: &[],
            column_m: if is_fluted { FLUTE_M / 3.0 } else { PILLOW_M / 3.0 },
            rows: if is_fluted { 8 } else { pillow_rows(site) },
            crease: 60.0,
        },
    );
    for (p, radius) in bulbs.iter().copied() {
        let deep = depth(p);
        let tall = (deep * 0.62).min(0.045);
        let seat = LampSeat { radius: radius.min(0.05), ..site.seat(p, 0.012, (deep - tall).max(CLEAR_M)) };
        let cap = [(-tall, 0.30), (-0.006, 0.30), (-0.001, 0.22), (0.0, 0.0)];
        mesh.add(Material::LampReflector, &seat.turned(&cap, 20).surface(CREASE_DEGREES));
        let collar = [(-tall - 0.01, 0.58), (-tall, 0.50), (-tall + 0.002, 0.30)];
        mesh.add(Material::LampHousing, &seat.turned(&collar, 20).surface(CREASE_DEGREES));
    }
}

/// Adds fins across the outer part of the housing, where lamps have no lights.
fn add_fins(mesh: &mut VehicleMesh, site: &LampSite, spec: &HeadLamp) {
    let from = (spec.from.max(spec.to) + 0.16).min(0.80);
    let fins = spec.fins.min(MOST_FINS);
    for fin in 0..fins {
        let up = (fin as f32 + 1.0) / (fins as f32 + 1.0);
        let line: Vec<Vec2> = (0..=10)
            .map(|step| {
                let along = from + (0.93 - from) * step as f32 / 10.0;
                site.along_ratio(along, 0.14 + 0.72 * up)
            })
            .collect();
        let depth = |p: Vec2| (site.room(p) * 0.55).max(0.008);
        mesh.add(Material::LampHousing, &site.strip(&line, &depth, [0.006, 0.004], false).surface(CREASE_DEGREES));
    }
}

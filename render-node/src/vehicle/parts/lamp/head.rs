//! Head lamps: main lights by kind and time, light guides of running lights, indicators.

use std::f32::consts::TAU;

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::super::solid::{CREASE_DEGREES, Solid, rounded_rectangle};
use super::housing::{BEZEL_M, Housing, add_housing};
use super::{LampFilling, LampSite, Seat};
use crate::vehicle::mesh::{Material, VehicleMesh};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MainLight {
    /// Dark glass balls in tubes with a bright ring.
    Projectors,
    /// A bright bowl with a bulb's cap: the whole lamp until about 2003, round bowls in a dark housing later.
    Bowl,
    /// A round bowl behind a domed glass of its own: round lamps of classics.
    Sealed,
    /// Small square lenses in a row.
    Modules,
    /// One slim row of many small lenses.
    Matrix,
    /// Slits: wide lenses not taller than a finger.
    Slits,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunningLight {
    None,
    Lower,
    Upper,
    /// Along the lower edge and up the outer one.
    Hook,
    /// All along the outline.
    Loop,
    /// A ring round each main light.
    Rings,
    /// Two strokes, above and below.
    Twin,
    /// Along the upper edge and down the inner one.
    Brow,
    /// Down from the inner end and up to the outer one.
    Tick,
    /// A stroke across the middle that ends in an upright one.
    Hammer,
    /// A stroke across the middle.
    Blade,
    /// A row of small round lights along the lower edge.
    Dots,
    /// Three slanted strokes at the outer end.
    Claws,
    /// A bracket under each main light.
    Brackets,
    /// The whole lamp.
    Fill,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HeadLamp {
    pub main: MainLight,
    /// How many main lights, side by side (at most 6).
    pub count: u32,
    /// Where they stand: shares of the way from the inner to the outer end.
    pub from: f32,
    pub to: f32,
    /// Diameter as a share of the lamp's height there; no light is larger than its kind is built.
    pub size: f32,
    pub running: RunningLight,
    /// Width of a running light, metres.
    pub stroke: f32,
    /// An amber light at the outer end.
    pub indicator: bool,
    /// An amber reflector on the part that wraps round the corner.
    pub marker: bool,
    /// Fins across the outer part of the housing.
    pub fins: u32,
    /// Of the frame inside the lens; by the year if nothing is said.
    pub bezel: Option<Material>,
}

impl Default for HeadLamp {
    fn default() -> HeadLamp {
        HeadLamp {
            main: MainLight::Projectors,
            count: 2,
            from: 0.25,
            to: 0.70,
            size: 0.72,
            running: RunningLight::Lower,
            stroke: 0.008,
            indicator: false,
            marker: false,
            fins: 0,
            bezel: None,
        }
    }
}

const MOST_MAIN_LIGHTS: u32 = 6;
/// From this year on a lamp's bowl is a part of its own in a housing; before, it is the lamp.
const SEPARATE_BOWLS: u16 = 2003;
/// Reflectors have flutes before this year, facets after it.
const FACETS: u16 = 1998;
/// Indicators are amber panels before this year, amber bulbs in clear chambers after it.
const CLEAR_INDICATORS: u16 = 1998;
/// Glass or bezel of a light to the lens over it.
const CLEAR_M: f32 = 0.005;
/// A light guide lies so deep behind the lens, where there is room.
const GUIDE_DEPTH_M: f32 = 0.018;

/// Width of a reflector's flutes, and of the pillows that later ones are made of.
const FLUTE_M: f32 = 0.0105;
const PILLOW_M: f32 = 0.018;

/// The relief of a reflector that is made of small pillows: each has a light of its own, and none shines as a whole.
fn pillows(p: Vec2) -> f32 {
    0.0008 * ((p.x / PILLOW_M * TAU).sin() + (p.y / PILLOW_M * TAU).sin())
}

fn pillow_rows(site: &LampSite) -> usize {
    let (_, height) = site.at_share(0.5, 0.5);
    ((height / PILLOW_M * 3.0) as usize).clamp(8, 22)
}

/// What is inside a head lamp with a floor of some material.
pub fn head_lamp(site: &LampSite, spec: &HeadLamp, floor: Material) -> LampFilling {
    let mut mesh = VehicleMesh::default();
    let is_reflector = spec.main == MainLight::Bowl
        && (site.year < SEPARATE_BOWLS || (site.year < SEPARATE_BOWLS + 4 && floor == Material::LampReflector));
    let seats = if is_reflector { Vec::new() } else { seats(site, spec) };
    if is_reflector {
        add_reflector(&mut mesh, site, spec);
    } else {
        let is_bright = floor == Material::LampReflector;
        let bezel =
            spec.bezel.unwrap_or(if site.year < 2009 && is_bright { Material::Satin } else { Material::GlossBlack });
        let depth = |p: Vec2| site.room(p) * 0.85 + if is_bright { pillows(p) } else { 0.0 };
        let housing = Housing {
            bezel,
            bezel_m: BEZEL_M,
            step: Material::LampHousing,
            depth: &depth,
            floor: &|_| floor,
            seats: &seats,
            column_m: if is_bright { PILLOW_M / 3.0 } else { 0.009 },
            rows: if is_bright { pillow_rows(site) } else { 12 },
            crease: 60.0,
        };
        add_housing(&mut mesh, site, &housing);
        for seat in &seats {
            add_dish(&mut mesh, site, spec, seat);
            add_main_light(&mut mesh, spec, seat, site.year);
        }
        if spec.main != MainLight::None || spec.running != RunningLight::None {
            add_fins(&mut mesh, site, spec);
        }
    }
    add_running_light(&mut mesh, site, spec, &seats);
    if spec.indicator {
        add_indicator(&mut mesh, site);
    }
    let (inner, outer) = site.s_range();
    let (_, height) = site.at_share(0.5, 0.5);
    // A round lamp has none.
    if spec.marker && outer - inner > 1.4 * height {
        let depth = |p: Vec2| (site.room(p) * 0.4).min(0.008);
        let marker = site.sheet(8, 4, |a, b| {
            let p = site.along_share(0.90 + 0.065 * a, 0.22 + 0.40 * b);
            (p, depth(p) + 0.0012 * (a * 40.0).sin())
        });
        mesh.add(Material::LampAmber, &marker.surface(CREASE_DEGREES));
    }
    mesh.surfaces.retain(|_, surface| surface.triangle_count() > 0);
    LampFilling { mesh, lens: Vec::new() }
}

/// Middle and radius of every main light in the unrolled lens.
fn places(site: &LampSite, spec: &HeadLamp) -> Vec<(Vec2, f32)> {
    let (inner, outer) = site.s_range();
    let count = if spec.main == MainLight::None { 0 } else { spec.count.clamp(1, MOST_MAIN_LIGHTS) };
    let (_, height) = site.at_share((spec.from + spec.to) * 0.5, 0.5);
    // Trucks and pickups have larger ones.
    let largest = match spec.main {
        MainLight::Projectors => 0.037_f32.max(height * 0.20),
        MainLight::Bowl => 0.070_f32.max(height * 0.30),
        MainLight::Sealed => 0.100,
        MainLight::Modules => 0.028_f32.max(height * 0.20),
        MainLight::Matrix | MainLight::Slits => 0.020,
        MainLight::None => 0.0,
    };
    let room = (outer - inner) * (spec.to - spec.from).abs().max(0.02) / (count.max(2) - 1) as f32;
    let place = |number: u32| {
        let t = if count == 1 { 0.5 } else { number as f32 / (count - 1) as f32 };
        let (p, height) = site.at_share(spec.from + (spec.to - spec.from) * t, 0.5);
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

fn seats(site: &LampSite, spec: &HeadLamp) -> Vec<Seat> {
    let clear = if spec.main == MainLight::Sealed { 0.002 } else { CLEAR_M + 0.004 };
    places(site, spec).into_iter().map(|(p, radius)| site.seat(p, radius, clear)).collect()
}

/// A lamp that is one bright reflector, a hollow about each bulb, fluted or faceted.
fn add_reflector(mesh: &mut VehicleMesh, site: &LampSite, spec: &HeadLamp) {
    let bulbs = places(site, spec);
    let (inner, outer) = site.s_range();
    let has_panel = spec.indicator && site.year < CLEAR_INDICATORS;
    let ends = if has_panel { site.along_share(0.80, 0.5).x } else { outer };
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
        let seat = Seat { radius: radius.min(0.05), ..site.seat(p, 0.012, (deep - tall).max(CLEAR_M)) };
        let cap = [(-tall, 0.30), (-0.006, 0.30), (-0.001, 0.22), (0.0, 0.0)];
        mesh.add(Material::LampReflector, &seat.turned(&cap, 20).surface(CREASE_DEGREES));
        let collar = [(-tall - 0.01, 0.52), (-tall, 0.46), (-tall + 0.002, 0.30)];
        mesh.add(Material::LampHousing, &seat.turned(&collar, 20).surface(CREASE_DEGREES));
    }
}

/// The flared dish that a light sits in, as wide as the lamp leaves room for.
fn add_dish(mesh: &mut VehicleMesh, site: &LampSite, spec: &HeadLamp, seat: &Seat) {
    if !matches!(spec.main, MainLight::Projectors | MainLight::Modules) {
        return;
    }
    let (p, _) = site.place_of(seat.centre);
    let (low, high) = site.span(p.x);
    let room = (high - p.y).min(p.y - low) - BEZEL_M * 1.3;
    let wide = (room / seat.radius).min(1.42);
    if wide < 1.12 {
        return;
    }
    let material = if site.year < 2012 { Material::LampReflector } else { Material::GlossBlack };
    if spec.main == MainLight::Modules {
        // A square funnel.
        let ring = |half: f32, out: f32| -> Vec<Vec3> {
            let section = rounded_rectangle(half, half * 0.86, half * 0.22);
            section.iter().map(|p| seat.centre + seat.side * p.x + seat.up * p.y + seat.axis * out).collect()
        };
        let r = seat.radius;
        let rings =
            [ring(r * wide, -0.020), ring(r * wide, -0.004), ring(r * (wide - 0.05), -0.0045), ring(r * 1.02, -0.018)];
        let walls = Solid::grid(4, rings[0].len(), true, |row, column| rings[row][column]);
        let looks_out = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| walls.points[i as usize]);
            (b - a).cross(c - a).dot(seat.axis)
        };
        let walls = if walls.triangles.iter().map(looks_out).sum::<f32>() < 0.0 { walls.flipped() } else { walls };
        mesh.add(if site.year < 2018 { Material::LampReflector } else { material }, &walls.surface(CREASE_DEGREES));
        return;
    }
    let dish =
        [(-0.016, wide), (-0.006, wide), (-0.005, wide - 0.03), (-0.014, 1.0 + (wide - 1.0) * 0.4), (-0.020, 1.0)];
    mesh.add(material, &seat.turned(&dish, 28).surface(CREASE_DEGREES));
    let rim = [(-0.0062, wide), (-0.0045, wide - 0.012), (-0.0052, wide - 0.04)];
    mesh.add(Material::Satin, &seat.turned(&rim, 28).surface(60.0));
}

fn add_main_light(mesh: &mut VehicleMesh, spec: &HeadLamp, seat: &Seat, year: u16) {
    let r = seat.radius;
    let ring = if year < 2018 { Material::Chrome } else { Material::Satin };
    match spec.main {
        MainLight::None => {}
        MainLight::Projectors => {
            // A flared shroud, a bright ring, a dark tube and the glass in it.
            let shroud = [(-0.040, 1.0), (-0.006, 1.0), (-0.001, 0.99), (0.0, 0.97)];
            mesh.add(Material::LampHousing, &seat.turned(&shroud, 24).surface(CREASE_DEGREES));
            let bezel = [(0.0, 0.97), (-0.001, 0.90), (-0.006, 0.84), (-0.013, 0.80)];
            mesh.add(ring, &seat.turned(&bezel, 28).surface(60.0));
            let tube = [(-0.013, 0.80), (-0.020, 0.77), (-0.030, 0.76)];
            mesh.add(Material::LampHousing, &seat.turned(&tube, 24).surface(60.0));
            let ball: Vec<(f32, f32)> = (0..=8)
                .map(|step| {
                    let (sin, cos) = (std::f32::consts::FRAC_PI_2 * step as f32 / 8.0).sin_cos();
                    (-0.026 + r * 0.52 * sin, 0.76 * cos.max(0.0))
                })
                .collect();
            mesh.add(Material::LampGlass, &seat.turned(&ball, 24).surface(60.0));
        }
        MainLight::Bowl | MainLight::Sealed => {
            let deep = (r * 0.75).min(0.05);
            let bowl: Vec<(f32, f32)> = (0..=7)
                .map(|step| {
                    let share = 1.0 - step as f32 / 7.0;
                    (-deep * (1.0 - share * share) - 0.002, 0.94 * share)
                })
                .collect();
            let front = [(-0.045, 1.0), (-0.002, 1.0), (0.0, 0.98), (-0.002, 0.94)];
            let rim = if spec.main == MainLight::Sealed { Material::Chrome } else { ring };
            mesh.add(rim, &seat.turned(&front, 32).surface(CREASE_DEGREES));
            // Flat facets sparkle; a smooth bowl is only grey.
            let (segments, crease) = if spec.main == MainLight::Sealed { (44, 60.0) } else { (18, 4.0) };
            mesh.add(Material::LampReflector, &seat.turned(&bowl, segments).surface(crease));
            let cap = [(-deep, 0.24), (-deep * 0.45, 0.24), (-deep * 0.32, 0.17), (-deep * 0.30, 0.0)];
            mesh.add(Material::LampReflector, &seat.turned(&cap, 20).surface(CREASE_DEGREES));
            let collar = [(-deep, 0.40), (-deep * 0.8, 0.34), (-deep * 0.78, 0.24)];
            mesh.add(Material::LampHousing, &seat.turned(&collar, 20).surface(CREASE_DEGREES));
        }
        MainLight::Modules => add_square_lens(mesh, seat, Vec2::new(r, r * 0.86), ring),
        MainLight::Matrix => {
            for cell in -1..=1 {
                let seat = Seat { centre: seat.centre + seat.side * (cell as f32 * r * 0.70), ..*seat };
                add_square_lens(mesh, &seat, Vec2::new(r * 0.32, r * 0.50), ring);
            }
        }
        MainLight::Slits => add_square_lens(mesh, seat, Vec2::new(r * 1.5, r * 0.38), ring),
    }
}

/// A square lens of dark glass in a bright frame, half sizes.
fn add_square_lens(mesh: &mut VehicleMesh, seat: &Seat, half: Vec2, ring: Material) {
    let block = |x: f32, z: f32, from: f32, to: f32| {
        let solid = Solid::rounded_box(Vec3::new(x, (to - from) * 0.5, z), (to - from).min(z) * 0.3).facing_out();
        seat.set(solid.moved(Vec3::Y * (from + to) * 0.5)).facing_out()
    };
    let frame = (half.min_element() * 0.16).clamp(0.0012, 0.0035);
    mesh.add(ring, &block(half.x, half.y, -0.030, -0.003).surface(CREASE_DEGREES));
    let (x, z) = (half.x - frame, half.y - frame);
    mesh.add(Material::LampHousing, &block(x, z, -0.028, -0.0022).surface(CREASE_DEGREES));
    let (x, z) = (x - frame * 0.7, z - frame * 0.7);
    // The glass bulges.
    let glass = Solid::superellipsoid(Vec3::new(x, 0.006, z), 3.2, 8, 16).moved(Vec3::Y * -0.004);
    mesh.add(Material::LampGlass, &seat.set(glass).facing_out().surface(60.0));
}

/// Fins across the outer part of the housing, where lamps have nothing but form.
fn add_fins(mesh: &mut VehicleMesh, site: &LampSite, spec: &HeadLamp) {
    let from = (spec.from.max(spec.to) + 0.16).min(0.80);
    for fin in 0..spec.fins.min(8) {
        let up = (fin as f32 + 1.0) / (spec.fins as f32 + 1.0);
        let line: Vec<Vec2> = (0..=10)
            .map(|step| {
                let along = from + (0.93 - from) * step as f32 / 10.0;
                site.along_share(along, 0.14 + 0.72 * up)
            })
            .collect();
        let depth = |p: Vec2| (site.room(p) * 0.55).max(0.008);
        mesh.add(Material::LampHousing, &site.strip(&line, &depth, [0.006, 0.004], false).surface(CREASE_DEGREES));
    }
}

/// Where the light guides run, and which of them are closed.
fn guide_lines(site: &LampSite, running: RunningLight, stroke: f32) -> Vec<(Vec<Vec2>, bool)> {
    let inset = BEZEL_M + stroke * 0.9;
    let way = |corners: &[[f32; 2]]| -> Vec<Vec2> {
        let mut line = Vec::new();
        for pair in corners.windows(2) {
            let steps = 10;
            line.extend((0..steps).map(|step| {
                let t = step as f32 / steps as f32;
                site.along_share(pair[0][0] + (pair[1][0] - pair[0][0]) * t, pair[0][1] + (pair[1][1] - pair[0][1]) * t)
            }));
        }
        line.extend(corners.last().map(|c| site.along_share(c[0], c[1])));
        line
    };
    let across = [0.05, 0.93];
    match running {
        RunningLight::None | RunningLight::Rings | RunningLight::Brackets | RunningLight::Dots | RunningLight::Fill => {
            Vec::new()
        }
        RunningLight::Lower => vec![(site.edge_line(0.0, across, inset), false)],
        RunningLight::Upper => vec![(site.edge_line(1.0, across, inset), false)],
        RunningLight::Twin => {
            vec![(site.edge_line(0.0, across, inset), false), (site.edge_line(1.0, across, inset), false)]
        }
        RunningLight::Hook => {
            let mut line = site.edge_line(0.0, [0.05, 0.90], inset);
            let high = site.edge_line(1.0, [0.93, 0.93], inset * 1.3)[0];
            let from = line.last().copied().unwrap_or(high);
            line.extend((1..=8).map(|step| from.lerp(high, step as f32 / 8.0)));
            vec![(line, false)]
        }
        RunningLight::Brow => {
            let mut line = site.edge_line(1.0, [0.08, 0.93], inset);
            line.reverse();
            let low = site.edge_line(0.0, [0.05, 0.05], inset * 1.3)[0];
            let from = line.last().copied().unwrap_or(low);
            line.extend((1..=8).map(|step| from.lerp(low, step as f32 / 8.0)));
            vec![(line, false)]
        }
        RunningLight::Loop => vec![(site.inside_loop(inset), true)],
        RunningLight::Tick => vec![(way(&[[0.06, 0.62], [0.22, 0.20], [0.93, 0.78]]), false)],
        RunningLight::Hammer => {
            vec![(way(&[[0.05, 0.5], [0.86, 0.5]]), false), (way(&[[0.88, 0.2], [0.90, 0.8]]), false)]
        }
        RunningLight::Blade => vec![(way(&[[0.05, 0.5], [0.94, 0.5]]), false)],
        RunningLight::Claws => (0..3)
            .map(|claw| {
                let along = 0.62 + 0.11 * claw as f32;
                (way(&[[along, 0.18], [along + 0.07, 0.82]]), false)
            })
            .collect(),
    }
}

fn add_running_light(mesh: &mut VehicleMesh, site: &LampSite, spec: &HeadLamp, seats: &[Seat]) {
    let stroke = spec.stroke.clamp(0.003, 0.02);
    let lines = guide_lines(site, spec.running, stroke);
    let depth = |p: Vec2| (site.room(p) * 0.5).clamp(0.007, GUIDE_DEPTH_M);
    for (line, closed) in &lines {
        mesh.add(Material::LampWhite, &site.strip(line, &depth, [stroke, stroke * 0.7], *closed).surface(60.0));
        // The trough it lies in catches some of its light.
        let below = |p: Vec2| depth(p) + 0.004;
        mesh.add(Material::LampGlow, &site.strip(line, &below, [stroke * 2.0, 0.003], *closed).surface(60.0));
    }
    match spec.running {
        RunningLight::Fill => {
            // Brightest along its middle, as a diffuser is.
            let lit = |from: f32, to: f32, deep: f32| {
                let ends = if site.meets_middle { [0.0, 0.985] } else { [0.02, 0.98] };
                site.sheet(24, 5, |a, b| {
                    let p = site.along_share(ends[0] + (ends[1] - ends[0]) * a, from + (to - from) * b);
                    (p, deep)
                })
            };
            mesh.add(Material::LampWhite, &lit(0.22, 0.78, 0.0085).surface(60.0));
            mesh.add(Material::LampGlow, &lit(0.10, 0.90, 0.0105).surface(60.0));
        }
        RunningLight::Dots => {
            let (from, to) = (0.10, 0.88);
            for number in 0..7 {
                let line = site.edge_line(0.0, [from, to], BEZEL_M + stroke * 1.4);
                let p = line[number * (line.len() - 1) / 6];
                let seat = site.seat(p, stroke * 1.3, 0.010);
                let dome = [(-0.02, 1.0), (0.0, 1.0), (0.003, 0.7), (0.004, 0.0)];
                mesh.add(Material::LampWhite, &seat.turned(&dome, 14).surface(60.0));
            }
        }
        RunningLight::Rings => {
            let lit = if site.year < 2004 { Material::Satin } else { Material::LampWhite };
            for seat in seats {
                let share = stroke * 0.9 / seat.radius;
                let ring = [
                    (-0.012, 1.06 + share),
                    (-0.004, 1.05 + share),
                    (-0.001, 1.03 + share * 0.5),
                    (-0.004, 1.01),
                    (-0.012, 1.0),
                ];
                mesh.add(lit, &seat.turned(&ring, 40).surface(60.0));
            }
        }
        RunningLight::Brackets => {
            for seat in seats {
                let around = |step: i32| {
                    let (sin, cos) = (std::f32::consts::PI * (1.08 + 0.84 * step as f32 / 20.0)).sin_cos();
                    seat.centre + (seat.side * cos + seat.up * sin) * seat.radius * 1.14 + seat.axis * -0.004
                };
                let path: Vec<Vec3> = (0..=20).map(around).collect();
                let tube = Solid::tube(&path, 8, |_| stroke * 0.5);
                mesh.add(Material::LampWhite, &tube.surface(60.0));
            }
        }
        _ => {}
    }
}

/// The indicator at the outer end.
fn add_indicator(mesh: &mut VehicleMesh, site: &LampSite) {
    if site.year < CLEAR_INDICATORS {
        let panel = site.sheet(24, 6, |a, b| {
            let p = site.along_share(0.82 + 0.155 * a, 0.09 + 0.82 * b);
            (p, (site.room(p) * 0.4).min(0.012) + 0.0016 * (a * 44.0).sin())
        });
        mesh.add(Material::LampAmber, &panel.surface(50.0));
        return;
    }
    let p = site.along_share(0.84, 0.52);
    let (low, high) = site.span(p.x);
    let (inner, outer) = site.s_range();
    let radius = ((high - low) * 0.30).min((outer - inner) * 0.075).min(0.032);
    let seat = site.seat(p, radius, 0.006);
    let bowl = [(-0.02, 1.04), (0.0, 1.04), (0.0, 0.96), (-0.012, 0.72), (-0.020, 0.30)];
    mesh.add(Material::LampReflector, &seat.turned(&bowl, 20).surface(8.0));
    let bulb = [(-0.020, 0.36), (-0.010, 0.36), (-0.005, 0.26), (-0.003, 0.0)];
    mesh.add(Material::LampAmber, &seat.turned(&bulb, 16).surface(60.0));
}

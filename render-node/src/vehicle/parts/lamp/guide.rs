//! Light guides of running lights, and indicators.

use glam::{Vec2, Vec3};

use super::super::solid::{CREASE_DEGREES, Solid};
use super::head_lamp::{CLEAR_INDICATORS, HeadLamp, RunningLight};
use super::housing::BEZEL_M;
use super::{LampSeat, LampSite};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// Depth of a light guide behind the lens, where there is room.
const GUIDE_DEPTH_M: f32 = 0.009;
/// Least width of a light guide. A narrower one could not be recognised.
const LEAST_STROKE_M: f32 = 0.009;
/// From this year on, rings around main lights are lit.
const LIT_RINGS: u16 = 2004;

/// Returns the lines of the light guides. The flag is true for a closed line.
fn guide_lines(site: &LampSite, running: RunningLight, stroke: f32) -> Vec<(Vec<Vec2>, bool)> {
    let inset = BEZEL_M + stroke * 0.9;
    let way = |corners: &[[f32; 2]]| -> Vec<Vec2> {
        let mut line = Vec::new();
        for pair in corners.windows(2) {
            let steps = 10;
            line.extend((0..steps).map(|step| {
                let t = step as f32 / steps as f32;
                site.along_ratio(pair[0][0] + (pair[1][0] - pair[0][0]) * t, pair[0][1] + (pair[1][1] - pair[0][1]) * t)
            }));
        }
        line.extend(corners.last().map(|c| site.along_ratio(c[0], c[1])));
        line
    };
    let across = [0.05, 0.93];
    match running {
        RunningLight::None
        | RunningLight::Rings
        | RunningLight::Brackets
        | RunningLight::Dots
        | RunningLight::Points
        | RunningLight::Fill => Vec::new(),
        RunningLight::Cee => {
            let mut line = site.edge_line(1.0, across, inset);
            line.reverse();
            let low = site.edge_line(0.0, across, inset);
            let (from, to) = (line.last().copied().unwrap_or_default(), low.first().copied().unwrap_or_default());
            line.extend((1..8).map(|step| from.lerp(to, step as f32 / 8.0)));
            line.extend(low);
            vec![(line, false)]
        }
        RunningLight::Lower => vec![(site.edge_line(0.0, across, inset), false)],
        // `Blade` also runs along the upper edge: a stroke across the middle
        // would lie over the main lights.
        RunningLight::Upper | RunningLight::Blade => vec![(site.edge_line(1.0, across, inset), false)],
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
        RunningLight::Tick => {
            let high = site.edge_line(0.72, [0.05, 0.05], inset * 1.3)[0];
            let low = site.edge_line(0.0, [0.09, 0.92], inset);
            let to = low.first().copied().unwrap_or(high);
            let mut line: Vec<Vec2> = (0..8).map(|step| high.lerp(to, step as f32 / 8.0)).collect();
            line.extend(low);
            vec![(line, false)]
        }
        RunningLight::Hammer => {
            vec![(way(&[[0.05, 0.5], [0.60, 0.5]]), false), (way(&[[0.63, 0.16], [0.63, 0.84]]), false)]
        }
        RunningLight::Claws => (0..3)
            .map(|claw| {
                let along = 0.64 + 0.11 * claw as f32;
                (way(&[[along, 0.18], [along + 0.05, 0.82]]), false)
            })
            .collect(),
    }
}

/// Width of the bright middle of a guide, as a ratio of the guide's width.
const CORE: f32 = 0.6;
/// Ratio of a guide's length at each end that lacks the bright middle, so that the ends fade.
const FADING_END: f32 = 0.07;

/// Adds a light guide in its trough.
pub fn add_guide(
    mesh: &mut VehicleMesh,
    site: &LampSite,
    line: &[Vec2],
    closed: bool,
    stroke: f32,
    deep: &dyn Fn(Vec2) -> f32,
) {
    let at = |below: f32| move |p: Vec2| deep(p) + below;
    let fade = if closed { 0 } else { (line.len() as f32 * FADING_END).round() as usize };
    let core = &line[fade.min(line.len() / 3)..line.len() - fade.min(line.len() / 3)];
    let strip = |line: &[Vec2], below: f32, wide: f32, thick: f32| {
        let depth = at(below);
        site.strip(line, &depth, [wide, thick], closed).surface(60.0)
    };
    mesh.add(Material::LampWhite, &strip(core, 0.0, stroke * CORE, stroke * 0.6));
    mesh.add(Material::LampGuide, &strip(line, stroke * 0.22, stroke, stroke * 0.6));
    // The guide's trough catches some of its light.
    mesh.add(Material::LampGlow, &strip(line, stroke * 0.30 + 0.0022, stroke * 2.0, 0.002));
}

/// Lamps taller than this have a line of light in a dark housing.
/// Lower ones glow from edge to edge.
const SLIM_M: f32 = 0.03;

/// Adds a diffuser along the whole lamp, brightest along its middle.
fn add_diffuser(mesh: &mut VehicleMesh, site: &LampSite) {
    let (_, height) = site.at_ratio(0.5, 0.5);
    let [core, side, glow] = if height < SLIM_M { [0.16, 0.30, 0.42] } else { [0.09, 0.17, 0.30] };
    let ends = if site.meets_middle { [0.0, 0.985] } else { [0.03, 0.97] };
    let lit = |inset: f32, low: f32, high: f32, deep: f32| {
        let from = if site.meets_middle { ends[0] } else { ends[0] + inset };
        site.sheet(24, 5, |a, b| {
            let p = site.along_ratio(from + (ends[1] - inset - from) * a, low + (high - low) * b);
            (p, deep + 0.003 * (2.0 * b - 1.0).powi(2))
        })
    };
    mesh.add(Material::LampWhite, &lit(0.06, 0.5 - core, 0.5 + core, 0.0070).surface(60.0));
    mesh.add(Material::LampGuide, &lit(0.03, 0.5 - side, 0.5 + side, 0.0095).surface(60.0));
    mesh.add(Material::LampGlow, &lit(0.01, 0.5 - glow, 0.5 + glow, 0.0120).surface(60.0));
}

/// Adds a ring of light around a main light: a bright line between two dimmer ones.
pub fn add_ring(mesh: &mut VehicleMesh, seat: &LampSeat, stroke: f32, is_lit: bool) {
    let ratio = stroke * 1.15 / seat.radius;
    let [core, side] = if is_lit { [Material::LampWhite, Material::LampGuide] } else { [Material::LampFrosted; 2] };
    let band = |from: f32, to: f32, out: [f32; 2]| [(out[0], 1.0 + ratio * from), (out[1], 1.0 + ratio * to)];
    mesh.add(side, &seat.turned(&[(-0.014, 1.0 + ratio), (-0.005, 1.0 + ratio)], 40).surface(60.0));
    mesh.add(side, &seat.turned(&band(1.0, 0.72, [-0.005, -0.002]), 40).surface(60.0));
    mesh.add(core, &seat.turned(&band(0.72, 0.28, [-0.002, -0.002]), 40).surface(60.0));
    mesh.add(side, &seat.turned(&band(0.28, 0.0, [-0.002, -0.006]), 40).surface(60.0));
}

/// Adds four small lights around a main light.
fn add_points(mesh: &mut VehicleMesh, seat: &LampSeat, stroke: f32) {
    for (across, up) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
        let centre = seat.centre + (seat.side * across + seat.up * up * 0.86) * (seat.radius * 0.80 + stroke * 0.6);
        let point = LampSeat { centre, radius: stroke * 0.75, ..*seat };
        let bezel = [(-0.02, 1.25), (-0.001, 1.25), (-0.001, 1.0)];
        mesh.add(Material::LampReflector, &point.turned(&bezel, 16).surface(CREASE_DEGREES));
        mesh.add(Material::LampGuide, &point.turned(&[(-0.001, 1.0), (0.001, 0.7)], 16).surface(60.0));
        mesh.add(Material::LampWhite, &point.turned(&[(0.001, 0.7), (0.002, 0.4), (0.002, 0.0)], 16).surface(60.0));
    }
}

/// Adds the running light of a head lamp. `seats` are the seats of its main lights.
pub fn add_running_light(mesh: &mut VehicleMesh, site: &LampSite, spec: &HeadLamp, seats: &[LampSeat]) {
    let stroke = spec.stroke.clamp(LEAST_STROKE_M, 0.02);
    let depth = |p: Vec2| (site.room(p) * 0.5).clamp(0.007, GUIDE_DEPTH_M);
    for (line, closed) in &guide_lines(site, spec.running, stroke) {
        add_guide(mesh, site, line, *closed, stroke, &depth);
    }
    match spec.running {
        RunningLight::Fill => add_diffuser(mesh, site),
        RunningLight::Dots => {
            let line = site.edge_line(0.0, [0.10, 0.88], BEZEL_M + stroke * 1.8);
            for number in 0..7 {
                let seat = site.seat(line[number * (line.len() - 1) / 6], stroke * 1.4, 0.010);
                let bezel = [(-0.02, 1.3), (-0.001, 1.3), (-0.001, 1.0)];
                mesh.add(Material::LampReflector, &seat.turned(&bezel, 16).surface(CREASE_DEGREES));
                let dome = [(-0.001, 1.0), (0.001, 0.7)];
                mesh.add(Material::LampGuide, &seat.turned(&dome, 16).surface(60.0));
                let middle = [(0.001, 0.7), (0.002, 0.4), (0.002, 0.0)];
                mesh.add(Material::LampWhite, &seat.turned(&middle, 16).surface(60.0));
            }
        }
        RunningLight::Points => seats.iter().for_each(|seat| add_points(mesh, seat, stroke)),
        RunningLight::Rings => seats.iter().for_each(|seat| add_ring(mesh, seat, stroke, site.year >= LIT_RINGS)),
        RunningLight::Brackets => {
            for seat in seats {
                let arc = |out: f32, back: f32, radius: f32| {
                    let around = |step: i32| {
                        let (sin, cos) = (std::f32::consts::PI * (1.08 + 0.84 * step as f32 / 20.0)).sin_cos();
                        seat.centre + (seat.side * cos + seat.up * sin) * seat.radius * out + seat.axis * back
                    };
                    let path: Vec<Vec3> = (0..=20).map(around).collect();
                    Solid::tube(&path, 8, |_| radius)
                };
                mesh.add(Material::LampWhite, &arc(1.15, -0.003, stroke * 0.32).surface(60.0));
                mesh.add(Material::LampGuide, &arc(1.15, -0.003 - stroke * 0.3, stroke * 0.55).surface(60.0));
            }
        }
        _ => {}
    }
}

/// Adds the indicator at the outer end: an amber panel before [`CLEAR_INDICATORS`], a clear chamber
/// with an amber bulb from then on.
pub fn add_indicator(mesh: &mut VehicleMesh, site: &LampSite) {
    if site.year < CLEAR_INDICATORS {
        let panel = site.sheet(30, 8, |a, b| {
            let p = site.along_ratio(0.82 + 0.155 * a, 0.07 + 0.86 * b);
            let edge = (8.0 * a.min(1.0 - a)).min(8.0 * b.min(1.0 - b)).min(1.0);
            (p, (site.room(p) * 0.4).min(0.012) + 0.004 * (1.0 - edge) + 0.0012 * (a * 44.0).sin())
        });
        mesh.add(Material::LampAmber, &panel.surface(50.0));
        return;
    }
    // A separate chamber: a frame, a bowl with upright ribs, and an amber bulb.
    let (from, to) = ([0.775, 0.20], [0.925, 0.80]);
    let chamber = site.sheet(30, 9, |a, b| {
        let p = site.along_ratio(from[0] + (to[0] - from[0]) * a, from[1] + (to[1] - from[1]) * b);
        let edge = (5.0 * a.min(1.0 - a)).min(5.0 * b.min(1.0 - b)).min(1.0);
        (p, (site.room(p) * (0.28 + 0.16 * edge)).clamp(0.007, 0.024) + 0.0006 * (a * 38.0).sin() * edge)
    });
    mesh.add(Material::LampReflector, &chamber.surface(50.0));
    let p = site.along_ratio(0.85, 0.5);
    let (low, high) = site.span(p.x);
    let (inner, outer) = site.s_range();
    let radius = ((high - low) * 0.15).min((outer - inner) * 0.035).min(0.016);
    let seat = site.seat(p, radius, 0.008);
    let bulb: Vec<(f32, f32)> = (0..=6)
        .map(|step| {
            let (sin, cos) = (std::f32::consts::FRAC_PI_2 * step as f32 / 6.0).sin_cos();
            (-0.010 + radius * 0.5 * sin, cos.max(0.0))
        })
        .collect();
    mesh.add(Material::LampAmber, &seat.turned(&bulb, 18).surface(60.0));
    let socket = [(-0.030, 1.25), (-0.012, 1.25), (-0.011, 1.0)];
    mesh.add(Material::LampReflector, &seat.turned(&socket, 18).surface(CREASE_DEGREES));
}

//! Tail lamps: chambers, rounds, bars and light guides behind red glass, with fields for reversing and turning.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::super::solid::CREASE_DEGREES;
use super::housing::{BEZEL_M, Housing, add_housing};
use super::{LampFilling, LampSite};
use crate::vehicle::mesh::{Material, VehicleMesh};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TailMotif {
    /// Ribbed red all over, with white and amber fields if asked for.
    Panel,
    /// Round lamps side by side on black.
    Rounds,
    /// Upright bars.
    Bars,
    /// A red stroke all along the outline, black inside.
    Loop,
    /// One stroke along the middle over a red panel.
    Blade,
    /// Strokes above, below and up the outer end.
    Clasp,
    /// Chambers one above another.
    Stack,
    /// Along the lower edge and up the outer one.
    Wing,
    /// Two level strokes.
    Twin,
    /// Slanted strokes side by side.
    Claws,
    /// Rings side by side.
    Rings,
    /// Rows of small squares.
    Pixels,
    /// Open towards the outer end: strokes above, below and down the inner end.
    Cee,
    /// Many thin level lines.
    Fibres,
    /// A stroke along the upper edge that turns down at the inner end.
    Hook,
    /// One bar as tall as the lens: light bars across a tail.
    Bar,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TailLamp {
    pub motif: TailMotif,
    /// Rounds, bars, chambers, lines.
    pub count: u32,
    /// A white field for reversing, as a share of the way across from the inner end.
    pub reverse_share: f32,
    /// An amber field, next to the white one.
    pub amber_share: f32,
    /// Width of a stroke, metres.
    pub stroke: f32,
    /// The lens is clear and only what is inside is red.
    pub clear: bool,
}

impl Default for TailLamp {
    fn default() -> TailLamp {
        TailLamp {
            motif: TailMotif::Panel,
            count: 3,
            reverse_share: 0.18,
            amber_share: 0.0,
            stroke: 0.013,
            clear: false,
        }
    }
}

impl TailLamp {
    /// Whether the sheet leaves it at what most have: a clasp or a ribbed panel, with strokes of the usual width.
    pub fn is_usual(&self) -> bool {
        matches!(self.motif, TailMotif::Clasp | TailMotif::Panel)
            && self.stroke == TailLamp::default().stroke
            && !self.clear
    }
}

/// Until this year panels are ribbed reflectors through and through; later they have chambers and guides.
const CHAMBERS: u16 = 2004;

/// What is inside a tail lamp.
pub fn tail_lamp(site: &LampSite, spec: &TailLamp) -> LampFilling {
    let mut mesh = VehicleMesh::default();
    let reverse = spec.reverse_share.clamp(0.0, 0.6);
    let red_from = (reverse + spec.amber_share.clamp(0.0, 0.6)).min(0.9);
    let (s_reverse, s_red) = (site.s_at(reverse), site.s_at(red_from));
    let is_ribbed = spec.motif == TailMotif::Panel;
    let (inner, outer) = site.s_range();
    let has_reverse = reverse > 0.0;
    let has_amber = red_from > reverse;
    // The whole red field of a ribbed panel is a bright reflector; else the housing is dark.
    let field = |p: Vec2| {
        if has_reverse && p.x < s_reverse {
            Material::LampReflector
        } else if has_amber && p.x < s_red {
            Material::LampAmber
        } else if is_ribbed {
            Material::LampReflector
        } else {
            Material::LampHousing
        }
    };
    let rib = if site.year < CHAMBERS { 0.011 } else { 0.016 };
    let depth = |p: Vec2| {
        let deep = (site.room(p) * 0.75).min(0.03);
        if field(p) == Material::LampHousing {
            return deep;
        }
        // Upright ribs, and level steps in later lamps.
        let ribs = 0.0018 * (p.x / rib * std::f32::consts::TAU).sin();
        let steps = if site.year < CHAMBERS { 0.0 } else { 0.002 * (p.y / 0.018 * std::f32::consts::TAU).sin() };
        deep * 0.6 + ribs + steps
    };
    let fine = if is_ribbed || has_reverse || has_amber { rib * 0.34 } else { 0.012 };
    add_housing(
        &mut mesh,
        site,
        &Housing {
            bezel: Material::LampHousing,
            bezel_m: BEZEL_M * 0.75,
            step: Material::LampHousing,
            depth: &depth,
            floor: &field,
            seats: &[],
            column_m: ((outer - inner) / 150.0).max(fine),
            rows: if site.year < CHAMBERS { 5 } else { 10 },
            crease: 60.0,
        },
    );
    for (wanted, s) in [(has_reverse, s_reverse), (has_amber, s_red)] {
        if wanted {
            add_divider(&mut mesh, site, s);
        }
    }
    let from = ((s_red - inner) / (outer - inner).max(1e-3)).clamp(0.0, 0.9);
    add_motif(&mut mesh, site, spec, from);
    let red = if spec.clear { Material::LampLens } else { Material::LampRedLens };
    let clear_to = if has_amber { s_red } else { s_reverse };
    let mut lens = Vec::new();
    if has_reverse || has_amber {
        lens.push((clear_to, Material::LampLens));
    }
    lens.push((f32::MAX, red));
    mesh.surfaces.retain(|_, surface| surface.triangle_count() > 0);
    LampFilling { mesh, lens }
}

/// A dark wall between two fields.
fn add_divider(mesh: &mut VehicleMesh, site: &LampSite, s: f32) {
    let (low, high) = site.span(s);
    let line: Vec<Vec2> = (0..=6).map(|i| Vec2::new(s, low + (high - low) * i as f32 / 6.0)).collect();
    mesh.add(Material::LampHousing, &site.strip(&line, &|_| 0.006, [0.004, 0.008], false).surface(CREASE_DEGREES));
}

/// Two or three rows of small square chambers.
fn add_pixels(mesh: &mut VehicleMesh, site: &LampSite, ends: [f32; 2], count: u32) {
    let rows = if count > 6 { 3 } else { 2 };
    let pitch = [(ends[1] - ends[0]) / count as f32, 0.76 / rows as f32];
    for (column, row) in (0..count).flat_map(|c| (0..rows).map(move |r| (c, r))) {
        let (a, b) = (ends[0] + pitch[0] * column as f32, 0.12 + pitch[1] * row as f32);
        add_chamber(mesh, site, [a + pitch[0] * 0.14, a + pitch[0] * 0.86], [b + pitch[1] * 0.12, b + pitch[1] * 0.88]);
    }
}

/// The light guides along lines of the lens, closed or open, and what lies between them.
fn add_strokes(mesh: &mut VehicleMesh, site: &LampSite, spec: &TailLamp, lines: &[(Vec<Vec2>, bool)], ends: [f32; 2]) {
    let stroke = spec.stroke.clamp(0.003, 0.04);
    let depth = |p: Vec2| (site.room(p) * 0.4).clamp(0.008, 0.016);
    let is_thin = spec.motif == TailMotif::Fibres;
    let width = if is_thin { stroke * 0.4 } else { stroke };
    for (line, closed) in lines {
        mesh.add(Material::LampRed, &site.strip(line, &depth, [width, width * 0.64], *closed).surface(60.0));
    }
    // What lies between strokes is a bright chamber deep inside, red through the glass.
    let hollow = match spec.motif {
        TailMotif::Clasp | TailMotif::Cee | TailMotif::Wing | TailMotif::Hook => Some([0.34, 0.66]),
        TailMotif::Loop => Some([0.38, 0.62]),
        TailMotif::Twin => Some([0.40, 0.60]),
        _ => None,
    };
    if let Some(up) = hollow {
        add_chamber(mesh, site, [ends[0] + 0.10, ends[1] - 0.10], up);
    }
    if spec.motif == TailMotif::Blade {
        add_chamber(mesh, site, ends, [0.12, 0.34]);
        add_chamber(mesh, site, ends, [0.66, 0.88]);
    }
}

/// `from` is where the red field begins, a share of the lens's arc.
fn add_motif(mesh: &mut VehicleMesh, site: &LampSite, spec: &TailLamp, from: f32) {
    let stroke = spec.stroke.clamp(0.003, 0.04);
    let inset = BEZEL_M * 0.75 + stroke * 0.8;
    let ends = [from + 0.04, 0.955];
    let level = |up: f32| site.edge_line(up, ends, inset);
    let joined = |a: Vec<Vec2>, b: Vec<Vec2>| -> Vec<Vec2> {
        let mut line = a;
        if let (Some(end), Some(start)) = (line.last().copied(), b.first().copied()) {
            line.extend((1..6).map(|i| end.lerp(start, i as f32 / 6.0)));
        }
        line.extend(b);
        line
    };
    let back = |mut line: Vec<Vec2>| {
        line.reverse();
        line
    };
    let count = spec.count.clamp(1, 12);
    let mut lines: Vec<(Vec<Vec2>, bool)> = Vec::new();
    match spec.motif {
        TailMotif::Panel => {
            // Later panels have a guide along the lower edge.
            if site.year >= 2008 {
                lines.push((level(0.0), false));
            }
        }
        TailMotif::Blade => lines.push((level(0.5), false)),
        TailMotif::Bar => {
            add_chamber(mesh, site, if site.meets_middle { [0.0, 0.97] } else { [0.02, 0.98] }, [0.22, 0.78])
        }
        TailMotif::Twin => lines.extend([(level(0.0), false), (level(1.0), false)]),
        TailMotif::Loop => {
            if from > 0.0 {
                lines.push((joined(level(0.0), back(level(1.0))), true));
            } else {
                lines.push((site.inside_loop(inset), true));
            }
        }
        TailMotif::Clasp => lines.push((joined(level(1.0), back(level(0.0))), false)),
        TailMotif::Cee => lines.push((joined(back(level(1.0)), level(0.0)), false)),
        TailMotif::Wing => {
            let high = site.edge_line(1.0, [ends[1], ends[1]], inset)[0];
            lines.push((joined(level(0.0), vec![high]), false));
        }
        TailMotif::Hook => {
            let low = site.edge_line(0.0, [ends[0], ends[0]], inset)[0];
            lines.push((joined(back(level(1.0)), vec![low]), false));
        }
        TailMotif::Fibres => {
            let lines_of = count.max(4);
            lines.extend((0..lines_of).map(|i| (level(i as f32 / (lines_of - 1) as f32), false)));
        }
        TailMotif::Claws => {
            let pitch = (ends[1] - ends[0]) / count as f32;
            for claw in 0..count {
                let along = ends[0] + pitch * (claw as f32 + 0.2);
                let at = |i: i32| site.along_share(along + pitch * 0.55 * i as f32 / 8.0, 0.14 + 0.72 * i as f32 / 8.0);
                lines.push(((0..=8).map(at).collect(), false));
            }
        }
        TailMotif::Rounds | TailMotif::Rings => add_rounds(mesh, site, spec, ends),
        TailMotif::Bars => {
            let pitch = (ends[1] - ends[0]) / count as f32;
            for bar in 0..count {
                let a = ends[0] + pitch * (bar as f32 + 0.12);
                add_chamber(mesh, site, [a, a + pitch * 0.76], [0.10, 0.90]);
            }
        }
        TailMotif::Stack => {
            let share = 0.84 / count as f32;
            for chamber in 0..count {
                let low = 0.08 + share * (chamber as f32 + 0.08);
                add_chamber(mesh, site, ends, [low, low + share * 0.84]);
            }
        }
        TailMotif::Pixels => add_pixels(mesh, site, ends, count),
    }
    add_strokes(mesh, site, spec, &lines, ends);
}

/// A shallow bowl with ribs in a frame, red behind clear glass as well.
fn add_chamber(mesh: &mut VehicleMesh, site: &LampSite, along: [f32; 2], up: [f32; 2]) {
    let (inner, outer) = site.s_range();
    let wide = (outer - inner) * (along[1] - along[0]);
    let columns = ((wide / 0.0036) as usize).clamp(6, 64);
    // No chamber is taller than a hand is wide.
    let (_, height) = site.at_share(0.5, 0.5);
    let (middle, half) = ((up[0] + up[1]) * 0.5, ((up[1] - up[0]) * 0.5).min(0.042 / height.max(0.01)));
    let up = [middle - half, middle + half];
    let bowl = site.sheet(columns, 7, |a, b| {
        let p = site.along_share(along[0] + (along[1] - along[0]) * a, up[0] + (up[1] - up[0]) * b);
        let edge = (4.0 * a * (1.0 - a)).min(4.0 * b * (1.0 - b)).min(1.0);
        let deep = (site.room(p) * 0.5).min(0.020);
        (p, deep * (0.55 + 0.45 * edge) + 0.0021 * (a * wide / 0.0128 * std::f32::consts::TAU).sin())
    });
    mesh.add(Material::LampRed, &bowl.surface(60.0));
}

fn add_rounds(mesh: &mut VehicleMesh, site: &LampSite, spec: &TailLamp, ends: [f32; 2]) {
    let count = spec.count.clamp(1, 8);
    let (inner, outer) = site.s_range();
    let pitch = (ends[1] - ends[0]) / count as f32;
    // Seen upright lamps stack their rounds.
    let (low, high) = site.span((inner + outer) * 0.5);
    let is_upright = (high - low) > 1.5 * (outer - inner);
    for number in 0..count {
        let share = (number as f32 + 0.5) / count as f32;
        let (p, room) = if is_upright {
            (site.along_share(0.5, share), ((high - low) / count as f32).min(outer - inner))
        } else {
            let p = site.along_share(ends[0] + pitch * (number as f32 + 0.5), 0.5);
            let (low, high) = site.span(p.x);
            (p, (pitch * (outer - inner)).min(high - low))
        };
        let radius = (room * 0.5 - 0.008).clamp(0.010, 0.075);
        let seat = site.seat(p, radius, 0.006);
        let rim = [(-0.03, 1.0), (-0.001, 1.0), (0.0, 0.97), (-0.002, 0.93)];
        mesh.add(Material::LampReflector, &seat.turned(&rim, 32).surface(CREASE_DEGREES));
        if spec.motif == TailMotif::Rings {
            let ring = [(-0.012, 0.93), (-0.006, 0.90), (-0.004, 0.80), (-0.006, 0.70), (-0.014, 0.66)];
            mesh.add(Material::LampRed, &seat.turned(&ring, 32).surface(60.0));
            let inside = [(-0.014, 0.66), (-0.020, 0.40), (-0.022, 0.0)];
            mesh.add(Material::LampHousing, &seat.turned(&inside, 32).surface(60.0));
        } else {
            let bowl = [
                (-0.002, 0.93),
                (-0.010, 0.84),
                (-0.016, 0.64),
                (-0.018, 0.40),
                (-0.012, 0.30),
                (-0.008, 0.16),
                (-0.007, 0.0),
            ];
            mesh.add(Material::LampRed, &seat.turned(&bowl, 28).surface(CREASE_DEGREES));
        }
    }
}

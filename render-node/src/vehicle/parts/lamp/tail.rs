//! Tail lamps: chambers, rounds, bars and light guides behind red glass, with
//! fields for reversing and turning.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::super::solid::CREASE_DEGREES;
use super::housing::{BEZEL_M, Housing, add_housing};
use super::{LampFilling, LampSeat, LampSite};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// Form of the red lights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TailMotif {
    /// Ribbed red all over, with white and amber fields if the sheet asks for them.
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

/// A tail lamp as a sheet describes it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TailLamp {
    pub motif: TailMotif,
    /// Number of rounds, bars, chambers or lines.
    pub count: u32,
    /// Width of a white field for reversing, as a ratio of the way across from the inner end.
    pub reverse_ratio: f32,
    /// Width of an amber field next to the white one, as a ratio of the way across.
    pub amber_ratio: f32,
    /// Width of a stroke, in metres.
    pub stroke: f32,
    /// True if the lens is clear and only the parts inside are red.
    pub clear: bool,
    /// Filling of the red field beside the motif.
    pub fill: TailFill,
    /// Height of a layer of small prisms along the lower edge, which reflects light back, as
    /// a ratio of the lens's height.
    pub reflex: f32,
}

/// Filling of the red field beside the motif.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TailFill {
    /// Ribbed reflectors in early lamps, a dark stepped shell in later ones.
    #[default]
    Usual,
    /// Nothing but a dark shell.
    Dark,
    /// Upright ribs.
    Upright,
    /// Level ribs.
    Level,
    /// Fine upright prisms across one long chamber, which glow as a whole.
    Prisms,
}

impl Default for TailLamp {
    fn default() -> TailLamp {
        TailLamp {
            motif: TailMotif::Panel,
            count: 3,
            reverse_ratio: 0.18,
            amber_ratio: 0.0,
            stroke: 0.013,
            clear: false,
            fill: TailFill::Usual,
            reflex: 0.0,
        }
    }
}

impl TailLamp {
    /// Returns true if the sheet keeps the usual lamp: a clasp or a ribbed panel,
    /// with strokes of the usual width.
    pub fn is_usual(&self) -> bool {
        matches!(self.motif, TailMotif::Clasp | TailMotif::Panel)
            && self.stroke == TailLamp::default().stroke
            && !self.clear
    }
}

/// Until this year panels are ribbed reflectors through and through. Later
/// they have chambers and guides.
const CHAMBERS: u16 = 2004;
/// Light guides glow from this year on. Before, a lamp that is not in use is only red.
const LIT_GUIDES: u16 = 2010;
/// Ratio of height to width above which a lamp has its fields one above another.
const UPRIGHT: f32 = 1.35;
/// Height above which a lamp that is nearly as tall as wide also has its fields one
/// above another: pickups and vans.
const TALL_M: f32 = 0.24;
/// Ratio of height to width from which a lamp counts as nearly as tall as wide.
const NEARLY_UPRIGHT: f32 = 0.85;
/// From this year on, a wide lamp's white field is a window low in its red lens. Before, it is an
/// end of the lens, from its lower to its upper edge.
const WINDOWS: u16 = 2005;
/// Ratios of the lens's height between which the window lies.
const WINDOW: [f32; 2] = [0.13, 0.58];
/// Lamps lower than this have no room for a window.
const LEAST_WINDOW_LAMP_M: f32 = 0.075;
/// Ratios of the lens's height between which the white field of an upright lamp lies.
const UPRIGHT_WHITE: [f32; 2] = [0.17, 0.35];
/// Ratios of the lens's height between which the amber field of an upright lamp lies.
const UPRIGHT_AMBER: [f32; 2] = [0.35, 0.50];
/// Greatest distance of a round lamp's rim behind the lens.
const ROUND_DEPTH_M: f32 = 0.018;
/// Pitch of ribs and prisms.
const RIB_M: f32 = 0.016;

/// Position of the white and amber fields, along or up the lens.
struct Fields {
    is_upright: bool,
    white: Option<[f32; 2]>,
    amber: Option<[f32; 2]>,
    /// Ratios of the lens's height between which the fields lie, if red
    /// continues above and below them.
    window: Option<[f32; 2]>,
    /// Ratios of the lens's length that are left for the red field.
    along: [f32; 2],
    /// Ratios of the lens's height that are left for the red field.
    up: [f32; 2],
}

impl Fields {
    fn new(site: &LampSite, spec: &TailLamp) -> Fields {
        let (inner, outer) = site.s_range();
        let reverse = spec.reverse_ratio.clamp(0.0, 0.6);
        let red_from = (reverse + spec.amber_ratio.clamp(0.0, 0.6)).min(0.9);
        let (has_white, has_amber) = (reverse > 0.0, red_from > reverse);
        let (low, high) = site.span((inner + outer) * 0.5);
        let height = high - low;
        let is_upright =
            height > UPRIGHT * (outer - inner) || (height > TALL_M && height > NEARLY_UPRIGHT * (outer - inner));
        if is_upright {
            let at = |ratios: [f32; 2]| ratios.map(|ratio| low + (high - low) * ratio);
            let from = if has_amber {
                UPRIGHT_AMBER[1]
            } else if has_white {
                UPRIGHT_WHITE[1]
            } else {
                0.0
            };
            let (white, amber) = (has_white.then(|| at(UPRIGHT_WHITE)), has_amber.then(|| at(UPRIGHT_AMBER)));
            return Fields { is_upright, white, amber, window: None, along: [0.05, 0.95], up: [from, 1.0] };
        }
        let (s_white, s_red) = (site.s_at(reverse), site.s_at(red_from));
        let from = if has_white || has_amber { (s_red - inner) / (outer - inner).max(1e-3) } else { 0.0 };
        let has_window = has_white && site.year >= WINDOWS && height > LEAST_WINDOW_LAMP_M && !spec.clear;
        Fields {
            is_upright,
            white: has_white.then_some([inner - 0.05, s_white]),
            amber: has_amber.then_some([s_white, s_red]),
            window: has_window.then_some(WINDOW),
            along: [from.clamp(0.0, 0.9) + if site.meets_middle { 0.0 } else { 0.04 }, 0.955],
            up: [0.0, 1.0],
        }
    }

    fn along_axis(&self, p: Vec2) -> f32 {
        if self.is_upright { p.y } else { p.x }
    }

    /// Returns the ends and the material of the white or amber field at a
    /// place, or `None` in the red field.
    fn at(&self, site: &LampSite, p: Vec2) -> Option<([f32; 2], Material)> {
        let at = self.along_axis(p);
        if self.window.is_some_and(|[low, high]| !(low..=high).contains(&site.ratio_up(p))) {
            return None;
        }
        let inside = |field: &Option<[f32; 2]>| field.filter(|[from, to]| at >= *from && at < *to);
        // A small mirror behind a window would show scraps of the studio.
        let white = if self.window.is_some() { Material::LampFrosted } else { Material::LampReflector };
        inside(&self.white)
            .map(|field| (field, white))
            .or_else(|| inside(&self.amber).map(|field| (field, Material::LampAmber)))
    }

    /// Returns the materials of the lens: clear in front of the white and amber fields.
    fn lens(&self, red: Material) -> Vec<(f32, Material)> {
        let fields = [self.white, self.amber];
        let ends = fields.iter().flatten();
        let (from, to) = ends.fold((f32::MAX, f32::MIN), |(from, to), field| (from.min(field[0]), to.max(field[1])));
        let mut lens = Vec::new();
        if to > from {
            if self.is_upright {
                lens.push((from, red));
            }
            lens.push((to, Material::LampLens));
        }
        lens.push((f32::MAX, red));
        lens
    }
}

/// Returns what is inside a tail lamp.
pub fn tail_lamp(site: &LampSite, spec: &TailLamp) -> LampFilling {
    let mut mesh = VehicleMesh::default();
    let fields = Fields::new(site, spec);
    let (inner, outer) = site.s_range();
    let is_ribbed = matches!(spec.motif, TailMotif::Panel) && spec.fill == TailFill::Usual;
    let red_floor = match spec.fill {
        TailFill::Usual if is_ribbed => mirror(spec),
        TailFill::Upright | TailFill::Level => mirror(spec),
        TailFill::Usual | TailFill::Dark | TailFill::Prisms => Material::LampSatin,
    };
    let depth = |p: Vec2| {
        let deep = (site.room(p) * 0.75).min(0.03);
        let Some(([from, to], material)) = fields.at(site, p) else {
            return (deep * 0.8 + red_relief(spec, site.year, p)).max(0.006);
        };
        // A soft bowl with wide flutes, which are upright where it is amber.
        let ratio = ((fields.along_axis(p) - from.max(inner)) / (to - from.max(inner)).max(1e-3)).clamp(0.0, 1.0);
        let mut hollow = (4.0 * ratio * (1.0 - ratio)).sqrt();
        if let Some([low, high]) = fields.window {
            let up = ((site.ratio_up(p) - low) / (high - low)).clamp(0.0, 1.0);
            hollow *= (4.0 * up * (1.0 - up)).sqrt();
        }
        let (at, rise) = if material == Material::LampAmber { (p.x / 0.018, 0.0018) } else { (p.y / 0.022, 0.0009) };
        deep * (0.40 + 0.45 * hollow) + rise * (at * std::f32::consts::TAU).sin()
    };
    let (_, height) = site.at_ratio(0.5, 0.5);
    let seats = round_seats(site, spec, &fields);
    let housing = Housing {
        bezel: Material::LampHousing,
        bezel_m: BEZEL_M * 0.6,
        step: Material::LampHousing,
        ledge: Some((Material::LampSatin, 0.006)),
        depth: &depth,
        floor: &|p| fields.at(site, p).map_or(red_floor, |(_, material)| material),
        seats: &seats,
        column_m: ((outer - inner) / 110.0).max(RIB_M * 0.34),
        rows: ((height / RIB_M * 3.0) as usize).clamp(6, 22),
        crease: 60.0,
    };
    add_housing(&mut mesh, site, &housing);
    for [from, to] in [fields.white, fields.amber].into_iter().flatten() {
        if let Some(window) = fields.window {
            add_window_frame(&mut mesh, site, [from.max(inner), to], window);
        } else {
            add_divider(&mut mesh, site, &fields, to);
        }
        if fields.is_upright {
            add_divider(&mut mesh, site, &fields, from);
        }
    }
    add_motif(&mut mesh, site, spec, &fields);
    add_rounds(&mut mesh, site, spec, &seats);
    if spec.fill == TailFill::Prisms {
        add_prisms(&mut mesh, site, spec, &fields);
    }
    if spec.reflex > 0.0 {
        add_reflex(&mut mesh, site, &fields, spec.reflex);
    }
    let red = if spec.clear { Material::LampLens } else { Material::LampRedLens };
    mesh.surfaces.retain(|_, surface| surface.triangle_count() > 0);
    let window = fields.window.map(|window| (window, red));
    LampFilling { mesh, lens: fields.lens(red), is_upright: fields.is_upright, window }
}

/// Returns the material of the red field's reflectors: bright behind red
/// glass, red behind clear glass.
fn mirror(spec: &TailLamp) -> Material {
    if spec.clear { Material::LampRed } else { Material::LampReflector }
}

/// Returns how much deeper the floor of the red field lies at a place.
fn red_relief(spec: &TailLamp, year: u16, p: Vec2) -> f32 {
    let wave = |at: f32| (at / RIB_M * std::f32::consts::TAU).sin();
    let saw = |at: f32| (at / RIB_M) - (at / RIB_M).floor() - 0.5;
    match spec.fill {
        TailFill::Upright => 0.0020 * wave(p.x),
        TailFill::Level => 0.0020 * wave(p.y),
        TailFill::Usual if spec.motif == TailMotif::Panel && year < CHAMBERS => 0.0016 * wave(p.x),
        TailFill::Usual if spec.motif == TailMotif::Panel => 0.0012 * wave(p.y),
        TailFill::Usual => 0.004 * saw(p.y),
        TailFill::Dark | TailFill::Prisms => 0.0,
    }
}

/// Adds a dark wall between two fields.
fn add_divider(mesh: &mut VehicleMesh, site: &LampSite, fields: &Fields, at: f32) {
    let (inner, outer) = site.s_range();
    let line: Vec<Vec2> = if fields.is_upright {
        (0..=8).map(|i| Vec2::new(inner + (outer - inner) * (0.04 + 0.92 * i as f32 / 8.0), at)).collect()
    } else {
        let (low, high) = site.span(at);
        (0..=6).map(|i| Vec2::new(at, low + (high - low) * i as f32 / 6.0)).collect()
    };
    mesh.add(Material::LampHousing, &site.strip(&line, &|_| 0.007, [0.005, 0.010], false).surface(CREASE_DEGREES));
}

/// Adds the dark frame around a clear window in a red lens.
fn add_window_frame(mesh: &mut VehicleMesh, site: &LampSite, [from, to]: [f32; 2], [low, high]: [f32; 2]) {
    let place = |s: f32, up: f32| {
        let (bottom, top) = site.span(s);
        Vec2::new(s, bottom + (top - bottom) * up)
    };
    let from = from + BEZEL_M * 0.5;
    let mut line: Vec<Vec2> = (0..=10).map(|i| place(from + (to - from) * i as f32 / 10.0, high)).collect();
    line.extend((1..=6).map(|i| place(to, high + (low - high) * i as f32 / 6.0)));
    line.extend((1..=10).map(|i| place(to + (from - to) * i as f32 / 10.0, low)));
    mesh.add(Material::LampHousing, &site.strip(&line, &|_| 0.007, [0.0045, 0.008], false).surface(CREASE_DEGREES));
}

/// Adds a long chamber over the red field with a floor of fine upright prisms: brightest along
/// its middle, dim at its edges.
fn add_prisms(mesh: &mut VehicleMesh, site: &LampSite, spec: &TailLamp, fields: &Fields) {
    const PITCH_M: f32 = 0.0075;
    let (inner, outer) = site.s_range();
    let [from, to] = [fields.along[0] + 0.05, fields.along[1] - 0.07];
    let up = [0.34, 0.68].map(|ratio| fields.up[0] + (fields.up[1] - fields.up[0]) * ratio);
    let wide = (outer - inner) * (to - from);
    if wide < 3.0 * PITCH_M {
        return;
    }
    let columns = ((wide / PITCH_M * 3.0) as usize).clamp(12, 120);
    let floor = site.sheet(columns, 7, |a, b| {
        let p = site.along_ratio(from + (to - from) * a, up[0] + (up[1] - up[0]) * b);
        let hollow = 1.0 - (2.0 * b - 1.0).powi(2);
        (p, 0.010 + 0.006 * hollow + 0.0005 * (p.x / PITCH_M * std::f32::consts::TAU).sin() * hollow)
    });
    mesh.add(mirror(spec), &floor.surface(60.0));
    let glow = site.sheet(24, 3, |a, b| {
        let p = site.along_ratio(from + (to - from) * (0.02 + 0.96 * a), up[0] + (up[1] - up[0]) * (0.40 + 0.20 * b));
        (p, 0.0095)
    });
    let core = if site.year >= LIT_GUIDES { Material::LampRedGuide } else { Material::LampRed };
    mesh.add(core, &glow.surface(60.0));
}

/// Adds the layer of prisms along the lower edge. They are too fine to be seen singly.
fn add_reflex(mesh: &mut VehicleMesh, site: &LampSite, fields: &Fields, ratio: f32) {
    let [from, to] = if fields.is_upright { [0.08, 0.92] } else { [fields.along[0] + 0.02, 0.94] };
    let layer = site.sheet(36, 7, |a, b| {
        let p = site.along_ratio(from + (to - from) * a, 0.05 + (ratio.min(0.5) - 0.05) * b);
        let edge = (5.0 * b.min(1.0 - b)).min(1.0);
        (p, 0.0075 + 0.003 * (1.0 - edge))
    });
    mesh.add(Material::LampRed, &layer.surface(25.0));
}

/// Adds two or three rows of small square chambers.
fn add_pixels(mesh: &mut VehicleMesh, site: &LampSite, spec: &TailLamp, ends: [f32; 2], count: u32) {
    let rows = if count > 6 { 3 } else { 2 };
    let pitch = [(ends[1] - ends[0]) / count as f32, 0.76 / rows as f32];
    for (column, row) in (0..count).flat_map(|c| (0..rows).map(move |r| (c, r))) {
        let (a, b) = (ends[0] + pitch[0] * column as f32, 0.12 + pitch[1] * row as f32);
        let (along, up) = ([a + pitch[0] * 0.14, a + pitch[0] * 0.86], [b + pitch[1] * 0.12, b + pitch[1] * 0.88]);
        add_chamber(mesh, site, spec, along, up);
    }
}

/// Adds the light guides along lines of the lens, closed or open, and the chamber between them.
fn add_strokes(mesh: &mut VehicleMesh, site: &LampSite, spec: &TailLamp, lines: &[(Vec<Vec2>, bool)], fields: &Fields) {
    let stroke = spec.stroke.clamp(0.005, 0.04);
    let depth = |p: Vec2| (site.room(p) * 0.4).clamp(0.008, 0.016);
    let width = if spec.motif == TailMotif::Fibres { stroke * 0.5 } else { stroke };
    let [core, side] = if site.year >= LIT_GUIDES {
        [Material::LampRedGuide, Material::LampRed]
    } else {
        [Material::LampRed, Material::LampRed]
    };
    for (line, closed) in lines {
        let strip = |wide: f32, below: f32| {
            let deep = |p: Vec2| depth(p) + below;
            site.strip(line, &deep, [wide, width * 0.6], *closed).surface(60.0)
        };
        mesh.add(core, &strip(width * 0.62, 0.0));
        mesh.add(side, &strip(width, width * 0.2));
        // The wall beside a guide takes some of its light.
        mesh.add(Material::LampRed, &strip(width * 1.9, width * 0.5 + 0.002));
    }
    // Between the strokes lies a bright chamber deep inside, which is red through the glass.
    let hollow = match spec.motif {
        TailMotif::Clasp | TailMotif::Cee | TailMotif::Wing | TailMotif::Hook => Some([0.32, 0.70]),
        TailMotif::Loop => Some([0.34, 0.68]),
        TailMotif::Twin => Some([0.38, 0.62]),
        _ => None,
    };
    let [from, to] = fields.along;
    if let Some(up) = hollow.filter(|_| spec.fill != TailFill::Prisms) {
        let cut = from + (to - from) * 0.58;
        let up = up.map(|ratio| fields.up[0] + (fields.up[1] - fields.up[0]) * ratio);
        if fields.is_upright {
            add_chamber(mesh, site, spec, [from + 0.16, to - 0.16], up);
        } else {
            add_chamber(mesh, site, spec, [from + 0.08, cut - 0.012], up);
            add_chamber(mesh, site, spec, [cut + 0.012, to - 0.08], up);
        }
    }
    if spec.motif == TailMotif::Blade {
        add_chamber(mesh, site, spec, [from, to], [0.12, 0.36]);
        add_chamber(mesh, site, spec, [from, to], [0.64, 0.88]);
    }
}

fn add_motif(mesh: &mut VehicleMesh, site: &LampSite, spec: &TailLamp, fields: &Fields) {
    let stroke = spec.stroke.clamp(0.005, 0.04);
    let inset = BEZEL_M * 0.9 + stroke * 0.95 + 0.003;
    let ends = fields.along;
    let up_at = |ratio: f32| fields.up[0] + (fields.up[1] - fields.up[0]) * ratio;
    let level = |up: f32| site.edge_line(up_at(up), ends, inset);
    let back = |mut line: Vec<Vec2>| {
        line.reverse();
        line
    };
    let count = spec.count.clamp(1, 12);
    let mut lines: Vec<(Vec<Vec2>, bool)> = Vec::new();
    match spec.motif {
        TailMotif::Panel => {
            add_panel(mesh, site, spec, fields);
            // Later panels have a guide along the lower edge.
            if site.year >= 2008 {
                lines.push((level(0.0), false));
            }
        }
        TailMotif::Blade => lines.push((level(0.5), false)),
        TailMotif::Bar => {
            let line = (0..=40).map(|i| {
                let ratio = i as f32 / 40.0;
                site.along_ratio(if site.meets_middle { 0.975 * ratio } else { 0.02 + 0.96 * ratio }, 0.5)
            });
            lines.push((line.collect(), false));
        }
        TailMotif::Twin => lines.extend([(level(0.0), false), (level(1.0), false)]),
        TailMotif::Loop => {
            if fields.is_upright || ends[0] > 0.05 {
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
            let low = site.edge_line(up_at(0.0), [ends[0], ends[0]], inset)[0];
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
                let at = |i: i32| {
                    site.along_ratio(along + pitch * 0.55 * i as f32 / 8.0, up_at(0.14 + 0.72 * i as f32 / 8.0))
                };
                lines.push(((0..=8).map(at).collect(), false));
            }
        }
        TailMotif::Rounds | TailMotif::Rings => {}
        TailMotif::Bars => {
            let pitch = (ends[1] - ends[0]) / count as f32;
            for bar in 0..count {
                let a = ends[0] + pitch * (bar as f32 + 0.12);
                add_chamber(mesh, site, spec, [a, a + pitch * 0.76], [up_at(0.10), up_at(0.90)]);
            }
        }
        TailMotif::Stack => {
            let ratio = 0.84 / count as f32;
            for chamber in 0..count {
                let low = 0.08 + ratio * (chamber as f32 + 0.08);
                add_chamber(mesh, site, spec, ends, [up_at(low), up_at(low + ratio * 0.84)]);
            }
        }
        TailMotif::Pixels => add_pixels(mesh, site, spec, ends, count),
    }
    add_strokes(mesh, site, spec, &lines, fields);
}

/// Returns one line after another, with a straight piece between them.
fn joined(a: Vec<Vec2>, b: Vec<Vec2>) -> Vec<Vec2> {
    let mut line = a;
    if let (Some(end), Some(start)) = (line.last().copied(), b.first().copied()) {
        line.extend((1..6).map(|i| end.lerp(start, i as f32 / 6.0)));
    }
    line.extend(b);
    line
}

/// Adds the bowls of a lamp with bulbs: a large one for brake and tail light, and a
/// lower one beside it in wide lamps.
fn add_panel(mesh: &mut VehicleMesh, site: &LampSite, spec: &TailLamp, fields: &Fields) {
    if spec.fill != TailFill::Usual {
        return;
    }
    let [from, to] = fields.along;
    let up = |a: f32, b: f32| [a, b].map(|ratio| fields.up[0] + (fields.up[1] - fields.up[0]) * ratio);
    if fields.is_upright {
        add_chamber(mesh, site, spec, [from + 0.04, to - 0.04], up(0.54, 0.94));
        add_chamber(mesh, site, spec, [from + 0.04, to - 0.04], up(0.08, 0.48));
    } else if site.year < CHAMBERS {
        add_chamber(mesh, site, spec, [from + 0.01, to - 0.01], up(0.47, 0.92));
    } else {
        let cut = from + (to - from) * 0.55;
        add_chamber(mesh, site, spec, [from + 0.02, cut - 0.01], up(0.30, 0.92));
        add_chamber(mesh, site, spec, [cut + 0.01, to - 0.02], up(0.30, 0.92));
    }
}

/// Points along a side of a chamber's frame. The frame bends round the corner
/// of the body as the lens does.
const FRAME_STEPS: usize = 14;

/// Adds a bowl with soft ribs in a dark frame. It is red behind clear glass as well.
fn add_chamber(mesh: &mut VehicleMesh, site: &LampSite, spec: &TailLamp, along: [f32; 2], up: [f32; 2]) {
    let (inner, outer) = site.s_range();
    let wide = (outer - inner) * (along[1] - along[0]);
    if wide < 0.008 {
        return;
    }
    let columns = ((wide / 0.0060) as usize).clamp(8, 34);
    // No chamber is taller than the width of a hand.
    let (_, height) = site.at_ratio(0.5, 0.5);
    let (middle, half) = ((up[0] + up[1]) * 0.5, ((up[1] - up[0]) * 0.5).min(0.05 / height.max(0.01)));
    let up = [middle - half, middle + half];
    let at = |a: f32, b: f32| site.along_ratio(along[0] + (along[1] - along[0]) * a, up[0] + (up[1] - up[0]) * b);
    let bowl = site.sheet(columns, 9, |a, b| {
        let p = at(a, b);
        let round = (1.0 - (2.0 * a - 1.0).powi(4)) * (1.0 - (2.0 * b - 1.0).powi(2));
        let deep = (site.room(p) * 0.62).min(0.026);
        (p, deep * (0.42 + 0.58 * round) + 0.0004 * (a * wide / 0.0165 * std::f32::consts::TAU).sin() * round)
    });
    mesh.add(mirror(spec), &bowl.surface(60.0));
    // The frame of the bowl.
    let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)];
    let line: Vec<Vec2> = corners
        .windows(2)
        .flat_map(|pair| {
            let ((a0, b0), (a1, b1)) = (pair[0], pair[1]);
            let steps = if a0 == a1 { 6 } else { FRAME_STEPS };
            (0..steps).map(move |i| {
                let t = i as f32 / steps as f32;
                (a0 + (a1 - a0) * t, b0 + (b1 - b0) * t)
            })
        })
        .map(|(a, b)| at(a, b))
        .collect();
    let depth = |p: Vec2| (site.room(p) * 0.25).clamp(0.006, 0.010);
    mesh.add(Material::LampHousing, &site.strip(&line, &depth, [0.0036, 0.006], true).surface(CREASE_DEGREES));
}

/// Returns the seats of round lamps: side by side, or one above another in upright
/// lamps. Other motifs have none.
fn round_seats(site: &LampSite, spec: &TailLamp, fields: &Fields) -> Vec<LampSeat> {
    if !matches!(spec.motif, TailMotif::Rounds | TailMotif::Rings) {
        return Vec::new();
    }
    let ends = fields.along;
    let count = spec.count.clamp(1, 8);
    let (inner, outer) = site.s_range();
    let pitch = (ends[1] - ends[0]) / count as f32;
    let (low, high) = site.span((inner + outer) * 0.5);
    let seat = |number: u32| {
        let ratio = (number as f32 + 0.5) / count as f32;
        let (p, room) = if fields.is_upright {
            let tall = (high - low) * (fields.up[1] - fields.up[0]);
            let up = fields.up[0] + (fields.up[1] - fields.up[0]) * ratio;
            (site.along_ratio(0.5, up), (tall / count as f32).min(outer - inner))
        } else {
            let p = site.along_ratio(ends[0] + pitch * (number as f32 + 0.5), 0.5);
            let (low, high) = site.span(p.x);
            (p, (pitch * (outer - inner)).min(high - low))
        };
        let radius = (room * 0.5 - 0.008).clamp(0.010, 0.075);
        // Where the lens bends, a large round lamp would stand so far behind it
        // that the lamp's back hides it.
        let sizes = (0..6).map(|step| site.seat(p, radius * 0.85_f32.powi(step), 0.006));
        let seats: Vec<LampSeat> = sizes.collect();
        let is_near = |seat: &&LampSeat| site.place_of(seat.centre).1 < ROUND_DEPTH_M;
        *seats.iter().find(is_near).unwrap_or(&seats[5])
    };
    (0..count).map(seat).collect()
}

fn add_rounds(mesh: &mut VehicleMesh, site: &LampSite, spec: &TailLamp, seats: &[LampSeat]) {
    for seat in seats {
        let rim = [(-0.03, 1.0), (-0.001, 1.0), (0.0, 0.97), (-0.001, 0.92), (-0.004, 0.90)];
        mesh.add(Material::LampReflector, &seat.turned(&rim, 36).surface(CREASE_DEGREES));
        if spec.motif == TailMotif::Rings {
            let side = |a: f32, b: f32, out: [f32; 2]| [(out[0], a), (out[1], b)];
            let core = if site.year >= LIT_GUIDES { Material::LampRedGuide } else { Material::LampRed };
            mesh.add(Material::LampRed, &seat.turned(&side(0.90, 0.84, [-0.012, -0.005]), 36).surface(60.0));
            mesh.add(core, &seat.turned(&side(0.84, 0.70, [-0.005, -0.005]), 36).surface(60.0));
            mesh.add(Material::LampRed, &seat.turned(&side(0.70, 0.62, [-0.005, -0.014]), 36).surface(60.0));
            let inside = [(-0.014, 0.62), (-0.022, 0.44), (-0.024, 0.30)];
            mesh.add(mirror(spec), &seat.turned(&inside, 18).surface(10.0));
            let middle = [(-0.024, 0.30), (-0.018, 0.28), (-0.013, 0.16), (-0.012, 0.0)];
            mesh.add(mirror(spec), &seat.turned(&middle, 24).surface(60.0));
        } else {
            let bowl = [(-0.004, 0.90), (-0.010, 0.82), (-0.016, 0.66), (-0.020, 0.46), (-0.021, 0.34)];
            mesh.add(mirror(spec), &seat.turned(&bowl, 22).surface(10.0));
            let bulb = [(-0.021, 0.34), (-0.012, 0.31), (-0.007, 0.20), (-0.005, 0.0)];
            mesh.add(mirror(spec), &seat.turned(&bulb, 24).surface(60.0));
        }
    }
}

//! What is seen inside head and tail lamps, laid out behind a lens only the body knows. Vehicle space, one side.
//!
//! A lamp is drawn as a closed outline in a plane of the body's choosing (front or rear view), and the body says which
//! point of its skin lies over each point of that plane. Lens and bowl-shaped housing are the body's; this fills them.

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::solid::{CREASE_DEGREES, Solid, rounded_rectangle};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// Where a lamp is. `u` grows away from the centre plane, `v` upwards; metres.
pub struct LampSite<'a> {
    /// Closed outline, any winding, not repeated at its end.
    pub outline: Vec<Vec2>,
    /// Point of the lens over (u, v) and its outward unit normal.
    pub skin: Box<dyn Fn(Vec2) -> (Vec3, Vec3) + 'a>,
    /// Room behind the lens.
    pub depth: f32,
}

impl LampSite<'_> {
    /// A flat lamp with rounded corners: `across` and `up` are unit vectors, `across` away from the centre plane,
    /// `outward` is where it shines.
    #[cfg(test)]
    pub fn flat(centre: Vec3, across: Vec3, up: Vec3, outward: Vec3, size: Vec2, depth: f32) -> LampSite<'static> {
        let outline = rounded_rectangle(size.x / 2.0, size.y / 2.0, size.min_element() * 0.3);
        LampSite { outline, skin: Box::new(move |p| (centre + across * p.x + up * p.y, outward)), depth }
    }

    fn u_range(&self) -> (f32, f32) {
        self.outline.iter().fold((f32::MAX, f32::MIN), |(low, high), p| (low.min(p.x), high.max(p.x)))
    }

    /// Lowest and highest v of the outline at `u`; None beside it.
    fn v_span(&self, u: f32) -> Option<(f32, f32)> {
        span(&self.outline, u)
    }

    /// A point a share of the way across and up (0 to 1), with the height of the outline there.
    fn at_share(&self, across: f32, up: f32) -> Option<(Vec2, f32)> {
        let (inner, outer) = self.u_range();
        let u = inner + (outer - inner) * across;
        let (low, high) = self.v_span(u)?;
        Some((Vec2::new(u, low + (high - low) * up), high - low))
    }

    /// Point behind the lens with the frame there: along u in the skin, outward.
    fn behind(&self, p: Vec2, depth: f32) -> (Vec3, Vec3, Vec3) {
        let (at, normal) = (self.skin)(p);
        let step = Vec2::X * 0.004;
        let along = (self.skin)(p + step).0 - (self.skin)(p - step).0;
        let along = (along - normal * along.dot(normal)).normalize_or(normal.any_orthonormal_vector());
        (at - normal * depth.min(self.depth), along, normal)
    }

    /// A profile (distance outward, radius) turned about the lens's normal at `p`, `depth` behind the lens.
    fn turned(&self, p: Vec2, depth: f32, profile: &[Vec2], segments: usize) -> Solid {
        let (at, along, normal) = self.behind(p, depth);
        let third = along.cross(normal);
        Solid::revolved(profile, segments).bent(|q| at + along * q.x + normal * q.y + third * q.z)
    }

    /// A bar with a soft section along points of the drawing plane.
    fn strip(&self, line: &[Vec2], depth: f32, width: f32, closed: bool) -> Solid {
        let count = line.len();
        if count < 2 {
            return Solid::default();
        }
        let section = rounded_rectangle(width / 2.0, width * 0.30, width * 0.25);
        let ring = |i: usize| -> Vec<Vec3> {
            let (at, _, normal) = self.behind(line[i], depth);
            let [before, after] = if closed {
                [(i + count - 1) % count, (i + 1) % count]
            } else {
                [i.saturating_sub(1), (i + 1).min(count - 1)]
            };
            let along = ((self.skin)(line[after]).0 - (self.skin)(line[before]).0).normalize_or(Vec3::Z);
            let across = normal.cross(along).normalize_or(Vec3::Z);
            section.iter().map(|p| at + across * p.x + normal * p.y).collect()
        };
        let mut loops: Vec<Vec<Vec3>> = (0..count).map(ring).collect();
        if closed {
            loops.push(ring(0));
        }
        Solid::lofted(&loops)
    }

    /// A sheet behind the lens between two shares of the way across, `inset` inside the outline, with `ribs` upright waves.
    fn panel(&self, from: f32, to: f32, inset: f32, depth: f32, ribs: f32) -> Solid {
        let (inner, outer) = self.u_range();
        let (columns, rows) = (40, 7);
        let (low_u, high_u) = (inner + (outer - inner) * from + inset, inner + (outer - inner) * to - inset);
        if high_u <= low_u {
            return Solid::default();
        }
        let solid = Solid::grid(columns, rows, false, |column, row| {
            let t = column as f32 / (columns - 1) as f32;
            let u = low_u + (high_u - low_u) * t;
            let (low, high) = self.v_span(u).unwrap_or((0.0, 0.0));
            let inset = inset.min((high - low) * 0.45);
            let v = low + inset + (high - low - 2.0 * inset) * row as f32 / (rows - 1) as f32;
            let wave = 0.0025 * (t * ribs * std::f32::consts::TAU).sin();
            self.behind(Vec2::new(u, v), depth + wave).0
        });
        let (_, _, normal) = self.behind(self.at_share((from + to) / 2.0, 0.5).map_or(Vec2::ZERO, |(p, _)| p), depth);
        let looks_out = solid
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| solid.points[i as usize]);
                (b - a).cross(c - a).dot(normal)
            })
            .sum::<f32>();
        if looks_out < 0.0 { solid.flipped() } else { solid }
    }

    /// Points of the outline moved inwards, evenly spaced.
    fn inside_loop(&self, inset: f32) -> Vec<Vec2> {
        let even = evenly_spaced(&self.outline, 56);
        let count = even.len();
        let area_x2: f32 = (0..count).map(|i| even[i].perp_dot(even[(i + 1) % count])).sum();
        let inward = area_x2.signum();
        (0..count)
            .map(|i| {
                let along = (even[(i + 2) % count] - even[(i + count - 2) % count]).normalize_or(Vec2::X);
                even[i] + along.perp() * inset * inward
            })
            .collect()
    }
}

fn span(outline: &[Vec2], u: f32) -> Option<(f32, f32)> {
    let mut found: Option<(f32, f32)> = None;
    for (i, a) in outline.iter().enumerate() {
        let b = outline[(i + 1) % outline.len()];
        if (a.x - u) * (b.x - u) <= 0.0 {
            let share = if (b.x - a.x).abs() < 1e-9 { 0.5 } else { (u - a.x) / (b.x - a.x) };
            let v = a.y + (b.y - a.y) * share;
            found = Some(found.map_or((v, v), |(low, high)| (low.min(v), high.max(v))));
        }
    }
    found
}

fn evenly_spaced(outline: &[Vec2], count: usize) -> Vec<Vec2> {
    let side = |i: usize| (outline[i], outline[(i + 1) % outline.len()]);
    let around: f32 = (0..outline.len()).map(|i| side(i).0.distance(side(i).1)).sum();
    let (mut at, mut walked, mut points) = (0, 0.0_f32, Vec::with_capacity(count));
    for step in 0..count {
        let wanted = around * step as f32 / count as f32;
        while at + 1 < outline.len() && walked + side(at).0.distance(side(at).1) < wanted {
            walked += side(at).0.distance(side(at).1);
            at += 1;
        }
        let (a, b) = side(at);
        points.push(a.lerp(b, ((wanted - walked) / a.distance(b).max(1e-9)).clamp(0.0, 1.0)));
    }
    points
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MainLight {
    /// Glass balls in dark tubes with a bright ring.
    Projectors,
    /// A bright bowl with a bulb's cap: round lamps, lamps before 2005.
    Bowl,
    /// Small square lenses in a row.
    Modules,
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
    /// Diameter as a share of the lamp's height there.
    pub size: f32,
    pub running: RunningLight,
    /// An amber light at the outer end.
    pub indicator: bool,
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
            indicator: false,
        }
    }
}

const MOST_MAIN_LIGHTS: u32 = 6;
/// Width of a running light's stroke, metres.
const STROKE: f32 = 0.011;

/// About 1,500 triangles.
pub fn head_lamp(site: &LampSite, spec: &HeadLamp) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let (inner, outer) = site.u_range();
    let count = spec.count.clamp(1, MOST_MAIN_LIGHTS);
    let room = (outer - inner) * (spec.to - spec.from).abs().max(0.02) / (count.max(2) - 1) as f32;
    for number in 0..count {
        let t = if count == 1 { 0.5 } else { number as f32 / (count - 1) as f32 };
        let Some((p, height)) = site.at_share(spec.from + (spec.to - spec.from) * t, 0.5) else { continue };
        let across = if count == 1 { outer - inner } else { room * 0.94 };
        add_main_light(&mut mesh, site, spec, p, (height * spec.size).min(across) / 2.0);
    }
    let edge = |up: f32, inset: f32| -> Vec<Vec2> {
        (0..=24)
            .filter_map(|step| {
                let (p, height) = site.at_share(0.05 + 0.90 * step as f32 / 24.0, up)?;
                let inset = inset.min(height * 0.4);
                Some(p + Vec2::Y * if up < 0.5 { inset } else { -inset })
            })
            .collect()
    };
    let strokes: Vec<(Vec<Vec2>, bool)> = match spec.running {
        RunningLight::None | RunningLight::Rings => Vec::new(),
        RunningLight::Lower => vec![(edge(0.0, STROKE * 1.2), false)],
        RunningLight::Upper => vec![(edge(1.0, STROKE * 1.2), false)],
        RunningLight::Twin => vec![(edge(0.0, STROKE * 1.2), false), (edge(1.0, STROKE * 1.2), false)],
        RunningLight::Hook => {
            let mut line = edge(0.0, STROKE * 1.2);
            line.extend((1..=6).filter_map(|step| {
                let (p, height) = site.at_share(0.95, step as f32 / 6.0 * 0.85)?;
                Some(p + Vec2::Y * (STROKE * 1.2).min(height * 0.1))
            }));
            vec![(line, false)]
        }
        RunningLight::Loop => vec![(site.inside_loop(STROKE * 1.3), true)],
    };
    for (line, closed) in strokes {
        mesh.add(Material::LampWhite, &site.strip(&line, 0.012, STROKE, closed).surface(60.0));
    }
    if spec.indicator
        && let Some((p, height)) = site.at_share(0.90, 0.5)
    {
        let radius = (height * 0.30).min((outer - inner) * 0.09);
        let dome = [
            Vec2::new(-0.01, radius),
            Vec2::new(0.0, radius),
            Vec2::new(radius * 0.25, radius * 0.7),
            Vec2::new(radius * 0.35, 0.0),
        ];
        mesh.add(Material::LampAmber, &site.turned(p, 0.022, &dome, 20).surface(60.0));
    }
    mesh
}

fn add_main_light(mesh: &mut VehicleMesh, site: &LampSite, spec: &HeadLamp, p: Vec2, radius: f32) {
    let back = site.depth * 0.45;
    match spec.main {
        MainLight::None => {}
        MainLight::Projectors => {
            let bezel = [(-0.03, 1.0), (0.002, 1.0), (0.004, 0.96), (0.002, 0.88), (-0.010, 0.80)]
                .map(|(a, r)| Vec2::new(a, r * radius));
            mesh.add(Material::LampReflector, &site.turned(p, back, &bezel, 32).surface(CREASE_DEGREES));
            let tube = [(-0.010, 0.80), (-0.022, 0.66)].map(|(a, r)| Vec2::new(a, r * radius));
            mesh.add(Material::LampHousing, &site.turned(p, back, &tube, 32).surface(CREASE_DEGREES));
            let ball: Vec<Vec2> = (0..=6)
                .map(|step| {
                    let (sin, cos) = (std::f32::consts::FRAC_PI_2 * step as f32 / 6.0).sin_cos();
                    Vec2::new(-0.022 + radius * 0.55 * sin, radius * 0.68 * cos.max(0.0))
                })
                .collect();
            mesh.add(Material::LampWhite, &site.turned(p, back, &ball, 32).surface(60.0));
        }
        MainLight::Bowl => {
            // A paraboloid from the rim inwards, and the bulb's cap before it.
            let deep = (site.depth * 0.75).min(radius * 0.7);
            let bowl: Vec<Vec2> = (0..=8)
                .map(|step| {
                    let share = 1.0 - step as f32 / 8.0;
                    Vec2::new(-deep * (1.0 - share * share), radius * share)
                })
                .collect();
            let front = [
                Vec2::new(-0.01, radius * 1.06),
                Vec2::new(0.004, radius * 1.06),
                Vec2::new(0.003, radius * 1.01),
                bowl[0],
            ];
            mesh.add(Material::LampReflector, &site.turned(p, 0.012, &front, 40).surface(CREASE_DEGREES));
            mesh.add(Material::LampReflector, &site.turned(p, 0.012, &bowl, 40).surface(60.0));
            let cap = [(-deep, 0.30), (-deep * 0.4, 0.30), (-deep * 0.25, 0.20), (-deep * 0.2, 0.0)]
                .map(|(a, r)| Vec2::new(a, r * radius));
            mesh.add(Material::LampWhite, &site.turned(p, 0.012, &cap, 24).surface(CREASE_DEGREES));
        }
        MainLight::Modules => {
            let (at, along, normal) = site.behind(p, back);
            let up = along.cross(normal);
            let frame = |half: Vec3| {
                Solid::rounded_box(half, half.min_element() * 0.4)
                    .bent(|q| at + along * q.x + normal * q.y + up * q.z)
                    .facing_out()
            };
            mesh.add(Material::LampReflector, &frame(Vec3::new(radius, 0.008, radius * 0.92)).surface(CREASE_DEGREES));
            mesh.add(
                Material::LampHousing,
                &frame(Vec3::new(radius * 0.90, 0.0095, radius * 0.82)).surface(CREASE_DEGREES),
            );
            mesh.add(Material::LampWhite, &frame(Vec3::new(radius * 0.66, 0.014, radius * 0.58)).surface(50.0));
        }
    }
    if spec.running == RunningLight::Rings && spec.main != MainLight::None {
        let ring = [(0.002, 1.20), (0.008, 1.17), (0.010, 1.11), (0.008, 1.05), (0.002, 1.02)]
            .map(|(a, r)| Vec2::new(a, r * radius));
        mesh.add(Material::LampWhite, &site.turned(p, back * 0.8, &ring, 40).surface(60.0));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TailMotif {
    /// Ribbed red all over, with white and amber fields if asked for.
    Panel,
    /// Round lamps side by side on black.
    Rounds,
    /// Upright strokes on black.
    Bars,
    /// A red stroke all along the outline, black inside.
    Loop,
    /// One stroke along the middle over a red panel.
    Blade,
    /// Strokes above, below and up the outer end.
    Clasp,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TailLamp {
    pub motif: TailMotif,
    /// Rounds or bars.
    pub count: u32,
    /// A white field for reversing, as a share of the way across from the inner end.
    pub reverse_share: f32,
    /// An amber field, next to the white one.
    pub amber_share: f32,
}

impl Default for TailLamp {
    fn default() -> TailLamp {
        TailLamp { motif: TailMotif::Panel, count: 3, reverse_share: 0.18, amber_share: 0.0 }
    }
}

/// About 1,500 triangles.
pub fn tail_lamp(site: &LampSite, spec: &TailLamp) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let deep = (site.depth * 0.5).min(0.018);
    let reverse = spec.reverse_share.clamp(0.0, 0.6);
    let red_from = (reverse + spec.amber_share.clamp(0.0, 0.6)).min(0.9);
    let red_panel = |inset: f32| site.panel(red_from, 1.0, inset, deep, 9.0).surface(60.0);
    let stroke = STROKE * 1.25;
    let red = |mesh: &mut VehicleMesh, solid: Solid| mesh.add(Material::LampRed, &solid.surface(60.0));
    let level = |up: f32, inset: f32| -> Vec<Vec2> {
        (0..=24)
            .filter_map(|step| {
                let across = red_from + 0.03 + (0.94 - red_from) * step as f32 / 24.0;
                let (p, height) = site.at_share(across, up)?;
                Some(p + Vec2::Y * inset.clamp(-height * 0.4, height * 0.4))
            })
            .collect()
    };
    match spec.motif {
        TailMotif::Panel => mesh.add(Material::LampRed, &red_panel(0.003)),
        TailMotif::Blade => {
            mesh.add(Material::LampRed, &red_panel(0.004));
            red(&mut mesh, site.strip(&level(0.5, 0.0), deep * 0.4, stroke, false));
        }
        TailMotif::Loop => red(&mut mesh, site.strip(&site.inside_loop(stroke), deep * 0.6, stroke, true)),
        TailMotif::Clasp => {
            let mut line = level(1.0, -stroke);
            line.extend((0..=8).filter_map(|step| Some(site.at_share(0.965, 0.86 - 0.72 * step as f32 / 8.0)?.0)));
            let mut lower = level(0.0, stroke);
            lower.reverse();
            line.extend(lower);
            red(&mut mesh, site.strip(&line, deep * 0.6, stroke, false));
            mesh.add(Material::LampRed, &site.panel(red_from + 0.1, 0.90, stroke * 2.4, deep, 5.0).surface(60.0));
        }
        TailMotif::Rounds | TailMotif::Bars => {
            let count = spec.count.clamp(1, 8);
            let (inner, outer) = site.u_range();
            let pitch = (1.0 - red_from) / count as f32;
            for number in 0..count {
                let middle = red_from + pitch * (number as f32 + 0.5);
                let Some((p, height)) = site.at_share(middle, 0.5) else { continue };
                let room = pitch * (outer - inner);
                if spec.motif == TailMotif::Rounds {
                    let r = (height * 0.44).min(room * 0.46);
                    let dish = [
                        (-0.01, 1.0),
                        (0.004, 1.0),
                        (0.008, 0.92),
                        (0.002, 0.80),
                        (0.002, 0.40),
                        (0.008, 0.30),
                        (0.010, 0.0),
                    ]
                    .map(|(a, share)| Vec2::new(a, share * r));
                    red(&mut mesh, site.turned(p, deep, &dish, 32));
                } else {
                    let half = room * 0.5 / (outer - inner);
                    red(&mut mesh, site.panel(middle - half * 0.72, middle + half * 0.72, 0.006, deep * 0.5, 0.5));
                }
            }
        }
    }
    let field = |from: f32, to: f32| site.panel(from, to, 0.004, deep, 4.0).surface(60.0);
    if reverse > 0.0 {
        mesh.add(Material::LampReflector, &field(0.0, reverse));
    }
    if red_from > reverse {
        mesh.add(Material::LampAmber, &field(reverse, red_from));
    }
    mesh.surfaces.retain(|_, surface| surface.triangle_count() > 0);
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    /// A lamp that wraps round a front corner, drawn in front view.
    fn wrapped() -> LampSite<'static> {
        let outline = [[0.42, 0.66], [0.60, 0.64], [0.82, 0.70], [0.84, 0.80], [0.62, 0.78], [0.43, 0.72]]
            .map(Vec2::from)
            .to_vec();
        let skin = |p: Vec2| {
            let x = 0.1 + 0.9 * (p.x / 0.85).powi(6) * 0.4 - 0.2 * (p.y - 0.7);
            let slope = 0.36 * 6.0 * (p.x / 0.85).powi(5) / 0.85;
            (Vec3::new(x, p.x, p.y), Vec3::new(-1.0, slope, -0.2).normalize())
        };
        LampSite { outline, skin: Box::new(skin), depth: 0.05 }
    }

    #[test]
    fn every_lamp_is_sound_and_stays_behind_its_lens() {
        let site = wrapped();
        let behind = |mesh: &VehicleMesh, name: &str| {
            assert_sound(mesh, name);
            for p in mesh.surfaces.values().flat_map(|s| &s.positions) {
                let (skin, normal) = (site.skin)(Vec2::new(p[1], p[2]));
                // Along the curved skin the drawing plane's foot is only near, hence the allowance.
                assert!((Vec3::from(*p) - skin).dot(normal) < 0.006, "{name}: {p:?} before the lens");
            }
            assert!(mesh.triangle_count() < 5_000, "{name}: {}", mesh.triangle_count());
        };
        for main in [MainLight::Projectors, MainLight::Bowl, MainLight::Modules, MainLight::None] {
            for running in [
                RunningLight::Lower,
                RunningLight::Upper,
                RunningLight::Hook,
                RunningLight::Loop,
                RunningLight::Rings,
                RunningLight::Twin,
            ] {
                if main == MainLight::None && running == RunningLight::Rings {
                    continue;
                }
                behind(
                    &head_lamp(&site, &HeadLamp { main, running, indicator: true, ..HeadLamp::default() }),
                    &format!("{main:?} {running:?}"),
                );
            }
        }
        for motif in
            [TailMotif::Panel, TailMotif::Rounds, TailMotif::Bars, TailMotif::Loop, TailMotif::Blade, TailMotif::Clasp]
        {
            behind(
                &tail_lamp(&site, &TailLamp { motif, amber_share: 0.1, ..TailLamp::default() }),
                &format!("{motif:?}"),
            );
        }
    }

    #[test]
    fn panels_look_out_of_the_lamp() {
        let site = LampSite::flat(Vec3::new(4.4, 0.6, 0.9), Vec3::Y, Vec3::Z, Vec3::X, Vec2::new(0.3, 0.15), 0.04);
        let mesh = tail_lamp(&site, &TailLamp::default());
        assert!(mesh.surfaces[&Material::LampRed].normals.iter().all(|n| n[0] > 0.5));
    }
}

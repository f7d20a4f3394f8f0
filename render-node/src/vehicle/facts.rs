//! Measured positions on a real vehicle seen from the side, and the bend that brings a
//! sheet's drawing to them.
//!
//! Lengths are ratios of the wheelbase: x from the front hub to the rear, z up from the ground. So
//! a photograph needs no scale except its two hubs. Facts hold for the generation that they were
//! measured on: a sheet does not inherit them from its base.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::bend::{Bend, TargetOffset};
use super::body_field::BodyField;
use super::curve::SampledCurve;
use super::morph::Stance;
use super::outline::Outline;
use super::regions::side_glass;
use super::sheet::Sheet;
use super::sheet::facts::Facts;

/// The parts of a drawing on which facts name points, as (x, z) in sheet space.
#[derive(Debug)]
struct Places {
    body: Outline,
    roof: Outline,
    belt: SampledCurve,
}

/// Number of points on the ground, less one, that are held in place.
const GROUND_POINTS: usize = 12;
/// A drawn point that is farther than this from the measured one shows something else, and would
/// fold its surroundings.
const FARTHEST_M: f32 = 0.3;

impl Facts {
    /// Returns the bend that brings the sheet's points to the measured ones, or `None` if nothing
    /// was measured that bends. `straight` is the body without the bend.
    pub fn bend(&self, sheet: &Sheet, straight: &BodyField, real: Stance) -> Option<Bend> {
        let places = Places::of(sheet);
        let to_real = |p: Vec2| {
            let p = straight.morph.to_real(Vec3::new(p.x, 0.0, p.y));
            Vec2::new(p.x, p.z)
        };
        let mut pairs: Vec<(Vec2, Vec2)> = Vec::new();
        let mut pair = |measured: Option<[f32; 2]>, place: Option<Vec2>| {
            if let (Some(measured), Some(place)) = (measured, place) {
                pairs.push((self.real(measured, real), to_real(place)));
            }
        };
        let edges = places.edges(sheet);
        pair(self.bonnet_edge, edges.bonnet);
        pair(self.cowl, edges.cowl);
        pair(self.header, edges.header);
        pair(self.roof_end, edges.roof_end);
        pair(self.deck, edges.deck);
        pair(self.deck_edge, edges.deck_edge);
        if let Some([front, rear]) = window_ends(sheet, straight) {
            pairs.extend(self.glass_front.map(|measured| (self.real(measured, real), front)));
            pairs.extend(self.glass_rear.map(|measured| (self.real(measured, real), rear)));
        }
        let mut heights: Vec<(Vec2, f32)> = Vec::new();
        // Points of a line between two positions keep their ratio along the line.
        let mut along =
            |line: &[[f32; 2]], ends: [(Option<[f32; 2]>, Option<Vec2>); 2], z_at: &dyn Fn(f32) -> Option<f32>| {
                let [(Some(from), Some(from_drawn)), (Some(to), Some(to_drawn))] = ends else { return };
                for point in line {
                    let ratio = (point[0] - from[0]) / (to[0] - from[0]);
                    let x = from_drawn.x + ratio * (to_drawn.x - from_drawn.x);
                    if let Some(z) = z_at(x) {
                        let at = self.real(*point, real);
                        heights.push((at, to_real(Vec2::new(x, z)).y - at.y));
                    }
                }
            };
        along(&self.bonnet, [(self.bonnet_edge, edges.bonnet), (self.cowl, edges.cowl)], &|x| places.body.top_at(x));
        along(&self.roofline, [(self.header, edges.header), (self.roof_end, edges.roof_end)], &|x| {
            places.roof.top_at(x)
        });
        if let Some(side) = &sheet.glass.side {
            for point in &self.belt {
                let at = self.real(*point, real);
                let x = straight.morph.to_sheet(Vec3::new(at.x, 0.0, at.y)).x;
                heights.push((at, to_real(Vec2::new(x, places.belt.at(x) + side.sill)).y - at.y));
            }
        }
        let mut lengths: Vec<(Vec2, f32)> = Vec::new();
        if let (Some(x), Some(pillar)) = (self.b_pillar, sheet.glass.pillar.iter().find(|pillar| pillar.name == "B")) {
            let [x_drawn, z_drawn] = pillar.line[0];
            let drawn_at = to_real(Vec2::new(x_drawn, z_drawn));
            let at = Vec2::new(self.real([x, 0.0], real).x, drawn_at.y);
            lengths.push((at, drawn_at.x - at.x));
        }
        pairs.retain(|(at, drawn)| at.distance(*drawn) < FARTHEST_M);
        if pairs.is_empty() && heights.is_empty() && lengths.is_empty() {
            return None;
        }
        let along_x = pairs.iter().map(|(at, drawn)| (*at, drawn.x - at.x)).chain(lengths).collect();
        let along_z = pairs.iter().map(|(at, drawn)| (*at, drawn.y - at.y)).chain(heights).collect();
        Some(places.fitted(along_x, along_z, &to_real, real))
    }
}

/// Points along the outline of a side view.
#[derive(Debug, Default)]
struct Edges {
    bonnet: Option<Vec2>,
    cowl: Option<Vec2>,
    header: Option<Vec2>,
    roof_end: Option<Vec2>,
    deck: Option<Vec2>,
    deck_edge: Option<Vec2>,
}

impl Places {
    /// Returns the bend with the wanted offsets. Points that the catalog's
    /// dimensions fix stay in place.
    fn fitted(
        &self,
        along_x: Vec<(Vec2, f32)>,
        along_z: Vec<(Vec2, f32)>,
        to_real: &dyn Fn(Vec2) -> Vec2,
        real: Stance,
    ) -> Bend {
        let wanted = |(at, offset_m): (Vec2, f32)| TargetOffset { at, offset_m };
        let on_ground =
            (0..=GROUND_POINTS).map(|i| (Vec2::new(real.length * i as f32 / GROUND_POINTS as f32, 0.0), 0.0));
        // Nose, tail and roof stay where length and height put them, and the hubs
        // where the wheelbase does.
        let at_end = |reach: fn(&Vec2) -> f32, outline: &Outline| {
            outline.points().iter().copied().max_by(|a, b| reach(a).total_cmp(&reach(b))).map(to_real)
        };
        let [nose, tail] = [at_end(|p| -p.x, &self.body), at_end(|p| p.x, &self.body)];
        let hubs = [real.front_axle_x, real.rear_axle_x].map(|x| Vec2::new(x, real.hub_z));
        let fixed = hubs.into_iter().chain(nose).chain(tail).map(|at| (at, 0.0));
        let fixed: Vec<(Vec2, f32)> = fixed.chain(on_ground).collect();
        let peak = at_end(|p| p.y, &self.roof).map(|at| (at, 0.0));
        let along_x: Vec<TargetOffset> = along_x.into_iter().chain(fixed.iter().copied()).map(wanted).collect();
        let along_z: Vec<TargetOffset> = along_z.into_iter().chain(fixed).chain(peak).map(wanted).collect();
        let margin = Vec2::splat(0.2);
        Bend::fitted(-margin, Vec2::new(real.length, real.height) + margin, &along_x, &along_z)
    }

    fn of(sheet: &Sheet) -> Self {
        let (body, roof) = sheet.side_outlines();
        Self { body, roof, belt: SampledCurve::drawn(&sheet.body.belt) }
    }

    fn edges(&self, sheet: &Sheet) -> Edges {
        let body = self.body.points();
        let corner = |slope: f32, is_wanted: &dyn Fn(&Vec2) -> bool| {
            let reach = |p: &Vec2| p.y + slope * p.x;
            body.iter().copied().filter(is_wanted).max_by(|a, b| reach(a).total_cmp(&reach(b)))
        };
        let (low, high) = self.roof.bounds();
        let middle = 0.5 * (low.x + high.x);
        let meets = |mut places: Box<dyn Iterator<Item = f32>>| {
            places.find_map(|x| {
                let (roof, body) = (self.roof.top_at(x)?, self.body.top_at(x)?);
                (roof > body).then_some(Vec2::new(x, body))
            })
        };
        const STEP_M: f32 = 0.005;
        let steps = ((middle - low.x) / STEP_M).max(1.0) as usize;
        let cowl = meets(Box::new((0..steps).map(move |i| low.x + STEP_M * i as f32)));
        let deck = meets(Box::new((0..steps).map(move |i| high.x - STEP_M * i as f32)));
        let on_roof = |x: f32| self.roof.top_at(x).map(|z| Vec2::new(x, z));
        let roof_end = sheet.glass.backlight.as_ref().and_then(|backlight| match backlight.top_z {
            Some(z) => {
                let behind = self.roof.points().iter().filter(|p| p.x > middle);
                behind.min_by(|a, b| (a.y - z).abs().total_cmp(&(b.y - z).abs())).copied()
            }
            None => on_roof(backlight.top),
        });
        let open = sheet.greenhouse.open.is_some();
        Edges {
            bonnet: corner(-1.0, &|p| p.x < 0.5 * middle),
            cowl,
            header: sheet.glass.windscreen.as_ref().and_then(|windscreen| on_roof(windscreen.header)),
            roof_end: roof_end.filter(|_| !open),
            deck: deck.filter(|_| !open),
            deck_edge: corner(1.0, &|p| p.x > middle),
        }
    }
}

/// Returns the foremost and the rearmost point (x, z) of the side windows on
/// the skin, in real space.
fn window_ends(sheet: &Sheet, field: &BodyField) -> Option<[Vec2; 2]> {
    const ROWS: usize = 18;
    const STEP_M: f32 = 0.02;
    let glass = side_glass(&sheet.glass)?;
    let [low, high] = [sheet.body.sill + 0.3, sheet.size.height].map(|z| field.morph.to_real(Vec3::Z * z).z);
    let length = field.morph.to_real(Vec3::X * sheet.size.length).x;
    let is_glass = |x: f32, z: f32| {
        field.skin_y(x, z).is_some_and(|y| {
            let p = Vec3::new(x, y, z);
            glass(p, &field.surface_point(p)) < 0.0
        })
    };
    let steps = (length / STEP_M) as usize;
    let rows: Vec<[Vec2; 2]> = (0..ROWS)
        .into_par_iter()
        .filter_map(|row| {
            let z = low + (high - low) * (row as f32 + 0.5) / ROWS as f32;
            let first = (0..steps).find(|i| is_glass(STEP_M * *i as f32, z))?;
            let last = (first..steps).rev().find(|i| is_glass(STEP_M * *i as f32, z))?;
            let edge = |mut inside: f32, mut outside: f32| {
                for _ in 0..5 {
                    let middle = 0.5 * (inside + outside);
                    if is_glass(middle, z) { inside = middle } else { outside = middle }
                }
                Vec2::new(inside, z)
            };
            let (first, last) = (STEP_M * first as f32, STEP_M * last as f32);
            Some([edge(first, first - STEP_M), edge(last, last + STEP_M)])
        })
        .collect();
    let foremost = rows.iter().map(|ends| ends[0]).min_by(|a, b| a.x.total_cmp(&b.x))?;
    let rearmost = rows.iter().map(|ends| ends[1]).max_by(|a, b| a.x.total_cmp(&b.x))?;
    Some([foremost, rearmost])
}

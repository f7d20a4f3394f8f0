//! Lamps and indicators of two-wheelers: round lamps with a bowl of their own, lamps that are set
//! into an opening of a skin, and tail lamps.

use crate::vehicle::parts::assembly::Assembly;
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

use super::design::LampEra;
use super::shapes::{convex, cut_from_front, front_of, tube, turned};
use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::solid::Solid;

/// Width of a reflector's flutes.
const FLUTE_M: f32 = 0.012;
const FORWARD: Vec3 = Vec3::NEG_X;

/// Adds a round lamp that faces forward, with the middle of its rim at `at`.
pub(super) fn add_round_lamp(bike: &mut Assembly, at: Vec3, radius: f32, shell: Material, era: LampEra) {
    let forward = |profile: &[[f32; 2]]| {
        let profile: Vec<[f32; 2]> = profile.iter().map(|p| [p[0], p[1] * radius]).collect();
        turned(&profile, at, FORWARD, 56)
    };
    let bowl =
        [[-0.112, 0.0], [-0.110, 0.22], [-0.100, 0.48], [-0.080, 0.74], [-0.050, 0.92], [-0.020, 0.99], [0.002, 1.0]];
    bike.add_soft(shell, forward(&bowl));
    let bezel = if shell == Material::GlossBlack || shell == Material::MattBlack {
        Material::GlossBlack
    } else {
        Material::Chrome
    };
    let rim = [
        [-0.004, 1.0],
        [0.004, 1.035],
        [0.012, 1.045],
        [0.019, 1.03],
        [0.023, 0.99],
        [0.021, 0.95],
        [0.010, 0.93],
        [0.002, 0.93],
    ];
    bike.add_soft(bezel, forward(&rim));
    match era {
        LampEra::Led => {
            let floor = [[0.004, 0.935], [-0.020, 0.90], [-0.024, 0.86], [-0.026, 0.0]];
            bike.add_soft(Material::LampHousing, forward(&floor));
            let ring = [[-0.001, 0.88], [0.006, 0.855], [0.006, 0.815], [-0.001, 0.79]];
            bike.add_soft(Material::LampWhite, forward(&reversed(&ring)));
            bike.add_soft(Material::LampGlow, forward(&[[-0.006, 0.91], [-0.006, 0.76]]));
            let bar = Solid::rounded_box(Vec3::new(0.006, radius * 0.78, radius * 0.050), 0.003);
            bike.add(Material::Satin, bar.moved(at + Vec3::X * 0.010));
            for up in [-0.36, 0.36] {
                add_projector(bike, at + Vec3::new(0.006, 0.0, radius * up), radius * 0.30);
            }
        }
        LampEra::Bulb | LampEra::Clear => {
            let profile: Vec<[f32; 2]> = (0..=9)
                .map(|i| {
                    let ratio = 0.935 - 0.085 * i as f32;
                    [0.004 - 0.048 * (1.0 - ratio * ratio), ratio]
                })
                .collect();
            let fluted = era == LampEra::Bulb;
            let reflector = forward(&profile).bent(|p| {
                let waves = if fluted { ((p.y - at.y) / FLUTE_M * TAU).sin() } else { facets(p - at) };
                p + Vec3::X * 0.0011 * waves
            });
            bike.add_soft(Material::LampReflector, reflector);
            add_bulb(bike, at + Vec3::X * 0.040, radius * 0.20);
        }
    }
    bike.add_soft(
        Material::LampLens,
        forward(&[[0.016, 0.955], [0.024, 0.80], [0.030, 0.50], [0.0335, 0.20], [0.034, 0.0]]),
    );
}

/// Returns the relief of a clear lamp's reflector at a point: a pattern of rays and rings.
fn facets(p: Vec3) -> f32 {
    ((p.z.atan2(p.y) * 14.0).sin() + (p.y.hypot(p.z) / 0.016 * TAU).sin()) * 0.6
}

fn reversed(profile: &[[f32; 2]]) -> Vec<[f32; 2]> {
    profile.iter().rev().copied().collect()
}

/// Adds a bulb in front of the bottom of its bowl: its glass, and the bright cap that shades it.
fn add_bulb(bike: &mut Assembly, at: Vec3, radius: f32) {
    bike.add_soft(
        Material::LampHousing,
        turned(&[[0.002, radius * 1.25], [-0.004, radius * 1.1], [-0.004, 0.0]], at, FORWARD, 24),
    );
    let cap = [
        [0.0, radius * 0.42],
        [0.020, radius * 0.42],
        [0.021, radius * 0.70],
        [0.030, radius * 0.66],
        [0.036, radius * 0.40],
        [0.038, 0.0],
    ];
    bike.add_soft(Material::LampReflector, turned(&cap, at, FORWARD, 24));
}

/// Adds a light behind a ball of dark glass in a bright ring.
fn add_projector(bike: &mut Assembly, at: Vec3, radius: f32) {
    let tube =
        [[-0.012, radius], [0.0, radius], [0.004, radius * 0.96], [0.004, radius * 0.88], [-0.012, radius * 0.80]];
    bike.add_soft(Material::LampReflector, turned(&tube, at, FORWARD, 28));
    let ball: Vec<[f32; 2]> = (0..=7)
        .map(|i| {
            let (sin, cos) = (TAU / 4.0 * i as f32 / 7.0).sin_cos();
            [-0.006 + 0.34 * radius * sin, radius * 0.84 * cos]
        })
        .collect();
    bike.add_soft(Material::LampGlass, turned(&ball, at, FORWARD, 28));
}

/// Adds a bright bowl round a bulb.
fn add_bowl(bike: &mut Assembly, at: Vec3, radius: f32) {
    let bowl: Vec<[f32; 2]> = (0..=6)
        .map(|i| {
            let ratio = 1.0 - 0.13 * i as f32;
            [-0.55 * radius * (1.0 - ratio * ratio), ratio * radius]
        })
        .collect();
    let solid = turned(&bowl, at, FORWARD, 36).bent(|p| p + Vec3::X * 0.0008 * facets(p - at));
    bike.add_soft(Material::LampReflector, solid);
    bike.add_soft(
        Material::Chrome,
        turned(&[[-0.004, radius * 1.06], [0.001, radius * 1.04], [0.0, radius * 0.99]], at, FORWARD, 36),
    );
    add_bulb(bike, at + Vec3::X * radius * 0.50, radius * 0.24);
}

/// An opening of a skin for a lamp.
pub(in crate::vehicle) struct LampOpening<'a> {
    /// Convex outline in (y, z).
    pub outline: &'a [[f32; 2]],
    pub depth: f32,
    /// Number of main lights, side by side (above each other in a tall lamp).
    pub lights: usize,
    /// True if the other side of the centre plane has the same opening.
    pub pair: bool,
    /// x behind which faces are not cut.
    pub behind: f32,
}

/// Sets a lamp into an opening of `skin` and returns the rest of the skin.
pub(in crate::vehicle) fn set_lamp(bike: &mut Assembly, skin: &Solid, opening: &LampOpening, era: LampEra) -> Solid {
    let outline = convex(opening.outline);
    let (rest, glass) = cut_from_front(skin, &outline, opening.behind);
    if glass.triangles.is_empty() {
        return rest;
    }
    let mut lamp = Assembly::default();
    fill_opening(&mut lamp, &dense(&outline), &glass, opening, era);
    put_in_opening(bike, &lamp.mesh, rest, &outline, opening)
}

/// Returns an outline with points at most some millimetres apart, so that the parts along it lie on
/// a bent skin.
fn dense(outline: &[Vec2]) -> Vec<Vec2> {
    const STEP_M: f32 = 0.006;
    let pieces = |(i, p): (usize, &Vec2)| -> Vec<Vec2> {
        let next = outline[(i + 1) % outline.len()];
        let count = (p.distance(next) / STEP_M).ceil().max(1.0);
        (0..count as usize).map(|k| p.lerp(next, k as f32 / count)).collect()
    };
    outline.iter().enumerate().flat_map(pieces).collect()
}

/// Adds the filling of an opening, and for a pair its mirror image. Returns the rest of the skin,
/// with the other opening of a pair cut out as well.
fn put_in_opening(
    bike: &mut Assembly,
    filling: &VehicleMesh,
    rest: Solid,
    outline: &[Vec2],
    opening: &LampOpening,
) -> Solid {
    for (material, surface) in &filling.surfaces {
        bike.mesh.add(*material, surface);
        if opening.pair {
            bike.mesh.add(*material, &surface.mirrored());
        }
    }
    if !opening.pair {
        return rest;
    }
    let other: Vec<Vec2> = outline.iter().rev().map(|p| Vec2::new(-p.x, p.y)).collect();
    cut_from_front(&rest, &other, opening.behind).0
}

/// Sets an air intake into an opening of `skin`: a dark duct behind a frame and bars.
/// Returns the rest of the skin.
pub(in crate::vehicle) fn set_intake(bike: &mut Assembly, skin: &Solid, opening: &LampOpening) -> Solid {
    let outline = convex(opening.outline);
    let (rest, mouth) = cut_from_front(skin, &outline, opening.behind);
    if mouth.triangles.is_empty() {
        return rest;
    }
    let mut intake = Assembly::default();
    let centre = outline.iter().sum::<Vec2>() / outline.len() as f32;
    let rim = rim_of(&outline, centre, &mouth, opening.behind);
    let rows = [(1.0, 0.0), (0.95, 0.3), (0.85, 1.0), (0.02, 1.0)];
    let duct = Solid::grid(rows.len(), rim.len(), true, |row, column| {
        let (keep, deep) = rows[row];
        let (p, yz) = (rim[column], centre.lerp(Vec2::new(rim[column].y, rim[column].z), keep));
        Vec3::new(p.x + opening.depth * deep, yz.x, yz.y)
    });
    intake.add_soft(Material::Underbody, facing_forward(duct));
    let closed: Vec<Vec3> = rim.iter().chain(rim.first()).copied().collect();
    intake.add_soft(Material::MattBlack, tube(&closed, 8, |_| 0.0028));
    put_in_opening(bike, &intake.mesh, rest, &outline, opening)
}

/// Sets a piece of another material flush into a skin, with a dark line round it: an indicator, a
/// dark field. Returns the rest of the skin.
pub(super) fn set_flush(bike: &mut Assembly, skin: &Solid, opening: &LampOpening, material: Material) -> Solid {
    let outline = convex(opening.outline);
    let (rest, piece) = cut_from_front(skin, &outline, opening.behind);
    if piece.triangles.is_empty() {
        return rest;
    }
    let mut flush = Assembly::default();
    let centre = outline.iter().sum::<Vec2>() / outline.len() as f32;
    let rim = rim_of(&dense(&outline), centre, &piece, opening.behind);
    let closed: Vec<Vec3> = rim.iter().chain(rim.first()).copied().collect();
    flush.add_soft(Material::GlossBlack, tube(&closed, 8, |_| 0.0022));
    flush.add_soft(material, piece.moved(Vec3::X * opening.depth));
    put_in_opening(bike, &flush.mesh, rest, &outline, opening)
}

/// Sets a tail lamp into the rear of a skin and returns the rest of the skin. The opening is given
/// in (y, z). Faces in front of `before` are not cut.
pub(in crate::vehicle) fn set_tail_lamp(
    bike: &mut Assembly,
    skin: &Solid,
    outline: &[[f32; 2]],
    pair: bool,
    before: f32,
) -> Solid {
    // The skin is cut as for a head lamp, with the bike turned round.
    let turn = |solid: Solid| solid.bent(|p| Vec3::new(-p.x, p.y, p.z)).flipped();
    let outline = convex(outline);
    let (mut rest, glass) = cut_from_front(&turn(skin.clone()), &outline, -before);
    if glass.triangles.is_empty() {
        return turn(rest);
    }
    let centre = outline.iter().sum::<Vec2>() / outline.len() as f32;
    let rim = rim_of(&dense(&outline), centre, &glass, -before);
    let inward = |p: Vec3, keep: f32, back: f32| {
        let yz = centre.lerp(Vec2::new(p.y, p.z), keep);
        Vec3::new(p.x + back, yz.x, yz.y)
    };
    let mut lamp = Assembly::default();
    let rows = [(1.0, 0.0), (0.95, 0.010), (0.86, 0.022), (0.5, 0.024), (0.02, 0.024)];
    let shell = Solid::grid(rows.len(), rim.len(), true, |row, column| inward(rim[column], rows[row].0, rows[row].1));
    lamp.add_soft(Material::LampReflector, facing_forward(shell));
    let ring =
        |keep: f32, back: f32| -> Vec<Vec3> { rim.iter().chain(rim.first()).map(|p| inward(*p, keep, back)).collect() };
    lamp.add_soft(Material::GlossBlack, tube(&ring(1.0, 0.0), 8, |_| 0.0024));
    lamp.add_soft(Material::LampRed, tube(&ring(0.78, 0.010), 8, |_| 0.0055));
    lamp.add_soft(Material::LampRed, tube(&ring(0.40, 0.012), 8, |_| 0.0060));
    lamp.add_soft(Material::LampRedLens, glass);
    for (material, surface) in &lamp.mesh.surfaces {
        let mut surface = surface.clone();
        for p in surface.positions.iter_mut().chain(&mut surface.normals) {
            p[0] = -p[0];
        }
        for t in surface.indices.chunks_exact_mut(3) {
            t.swap(1, 2);
        }
        bike.mesh.add(*material, &surface);
        if pair {
            bike.mesh.add(*material, &surface.mirrored());
        }
    }
    if pair {
        let other: Vec<Vec2> = outline.iter().rev().map(|p| Vec2::new(-p.x, p.y)).collect();
        rest = cut_from_front(&rest, &other, -before).0;
    }
    turn(rest)
}

/// Returns the points of an outline on the piece that was cut out along it.
fn rim_of(outline: &[Vec2], centre: Vec2, piece: &Solid, behind: f32) -> Vec<Vec3> {
    let mut last = front_of(piece, centre).unwrap_or(behind);
    outline
        .iter()
        .map(|p| {
            last = [0.01, 0.03, 0.06, 0.12].iter().find_map(|k| front_of(piece, p.lerp(centre, *k))).unwrap_or(last);
            Vec3::new(last, p.x, p.y)
        })
        .collect()
}

fn facing_forward(sheet: Solid) -> Solid {
    let facing: f32 = sheet
        .triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| sheet.points[i as usize]);
            (b - a).cross(c - a).x
        })
        .sum();
    if facing > 0.0 { sheet.flipped() } else { sheet }
}

/// Returns the outline of a round opening.
pub(super) fn circle(middle: [f32; 2], radius: f32) -> Vec<[f32; 2]> {
    (0..10)
        .map(|i| {
            let (sin, cos) = (TAU * i as f32 / 10.0).sin_cos();
            [middle[0] + radius * cos, middle[1] + radius * sin]
        })
        .collect()
}

/// Returns an outline raised by a height.
pub(super) fn raised(outline: &[[f32; 2]], z: f32) -> Vec<[f32; 2]> {
    outline.iter().map(|p| [p[0], p[1] + z]).collect()
}

fn fill_opening(lamp: &mut Assembly, outline: &[Vec2], glass: &Solid, opening: &LampOpening, era: LampEra) {
    let centre = outline.iter().sum::<Vec2>() / outline.len() as f32;
    let rim = rim_of(outline, centre, glass, opening.behind);
    let mean = rim.iter().map(|p| p.x).sum::<f32>() / rim.len() as f32;
    let inward = |p: Vec3, keep: f32, back: f32, flat: f32| {
        let yz = centre.lerp(Vec2::new(p.y, p.z), keep);
        Vec3::new(p.x + (mean - p.x) * flat + back, yz.x, yz.y)
    };
    let bright = era != LampEra::Led;
    let floor_material = if bright { Material::LampReflector } else { Material::LampHousing };
    let rows: Vec<(f32, f32, f32)> = vec![
        (1.0, 0.0, 0.0),
        (0.97, 0.25, 0.05),
        (0.93, 0.7, 0.10),
        (0.86, 1.0, 0.15),
        (0.6, 1.05, 0.2),
        (0.3, 1.05, 0.25),
        (0.02, 1.05, 0.3),
    ];
    let shell = Solid::grid(rows.len(), rim.len(), true, |row, column| {
        let (keep, deep, flat) = rows[row];
        let p = inward(rim[column], keep, opening.depth * deep, flat);
        let waves = if bright && row > 2 { (p.y / FLUTE_M * TAU).sin() * 0.001 } else { 0.0 };
        p + Vec3::X * waves
    });
    lamp.add_soft(floor_material, facing_forward(shell));
    let closed: Vec<Vec3> = rim.iter().chain(rim.first()).copied().collect();
    lamp.add_soft(Material::GlossBlack, tube(&closed, 8, |_| 0.0024));
    add_lights(lamp, outline, centre, glass, opening, era);
    if era == LampEra::Led {
        // A grey frame between lens and modules, so that a dark lamp shows its depth.
        let steps = [(0.975, 0.10), (0.93, 0.16), (0.87, 0.34), (0.865, 0.60)];
        let frame = Solid::grid(steps.len(), rim.len(), true, |row, column| {
            let (keep, deep) = steps[row];
            inward(rim[column], keep, opening.depth * deep, 0.08)
        });
        lamp.add_soft(Material::LampSatin, facing_forward(frame));
        add_running_light(lamp, &rim, centre, &inward);
    }
    lamp.add_soft(Material::LampLens, glass.clone());
}

/// Adds the main lights, along the opening's longer side.
fn add_lights(lamp: &mut Assembly, outline: &[Vec2], centre: Vec2, glass: &Solid, opening: &LampOpening, era: LampEra) {
    let extent = |pick: fn(&Vec2) -> f32| {
        let values = outline.iter().map(pick);
        (values.clone().fold(f32::MAX, f32::min), values.fold(f32::MIN, f32::max))
    };
    let ((y0, y1), (z0, z1)) = (extent(|p| p.x), extent(|p| p.y));
    let wide = y1 - y0 > (z1 - z0) * 0.9;
    let (long, short) = if wide { (y1 - y0, z1 - z0) } else { (z1 - z0, y1 - y0) };
    let count = opening.lights.max(1);
    let radius = (short * 0.40).min(long * 0.42 / count as f32).min(0.048);
    for number in 0..count {
        let ratio = (number as f32 + 0.5) / count as f32 - 0.5;
        let along = if wide { Vec2::X } else { Vec2::Y } * (long * 0.80 * ratio);
        // On the middle line of the opening at this place.
        let mut place = centre + along;
        let mut radius = radius;
        if let Some([low, high]) = span_across(outline, place, wide) {
            if wide {
                place.y = (low + high) * 0.5
            } else {
                place.x = (low + high) * 0.5
            }
            radius = radius.min((high - low) * 0.46).max(0.010);
        }
        let Some(x) = front_of(glass, place) else { continue };
        // The whole light is behind the lens, also where the nose sweeps back.
        let reach = [Vec2::X, -Vec2::X, Vec2::Y, -Vec2::Y]
            .iter()
            .filter_map(|way| front_of(glass, place + *way * radius))
            .fold(x, f32::max);
        // On a nose that sweeps back far, the light would sink into the floor.
        let reach = reach.min(x + opening.depth * 0.35);
        match era {
            LampEra::Led => add_projector(lamp, Vec3::new(reach + 0.012, place.x, place.y), radius * 0.80),
            _ => add_bowl(lamp, Vec3::new(reach + 0.008, place.x, place.y), radius),
        }
    }
}

/// Returns the heights between which an outline lies at a place along it. For a tall outline
/// (`wide` is false), these are the distances to the side at a height.
fn span_across(outline: &[Vec2], place: Vec2, wide: bool) -> Option<[f32; 2]> {
    let turned = |p: Vec2| if wide { p } else { Vec2::new(p.y, p.x) };
    let at = turned(place).x;
    let crossings = outline.iter().enumerate().filter_map(|(i, p)| {
        let (p, q) = (turned(*p), turned(outline[(i + 1) % outline.len()]));
        let between = (p.x - at) * (q.x - at) <= 0.0 && (q.x - p.x).abs() > 1e-6;
        between.then(|| p.y + (q.y - p.y) * (at - p.x) / (q.x - p.x))
    });
    let (low, high) = crossings.fold((f32::MAX, f32::MIN), |(a, b), v| (a.min(v), b.max(v)));
    (high > low).then_some([low, high])
}

/// Adds a light guide along the opening's upper edge, over a trough that takes some of its light.
fn add_running_light(lamp: &mut Assembly, rim: &[Vec3], centre: Vec2, inward: &dyn Fn(Vec3, f32, f32, f32) -> Vec3) {
    let top = rim.iter().map(|p| p.z).fold(f32::MIN, f32::max);
    let from = centre.y + 0.30 * (top - centre.y);
    // In a slanted lamp, the upper edge lies above the middle of the lamp's height at each place.
    let outline: Vec<Vec2> = rim.iter().map(|p| Vec2::new(p.y, p.z)).collect();
    let (left, right) = outline.iter().fold((f32::MAX, f32::MIN), |(a, b), p| (a.min(p.x), b.max(p.x)));
    let wide = right - left > 2.0 * (top - centre.y);
    let is_upper = |p: &&Vec3| match span_across(&outline, Vec2::new(p.y, p.z), true) {
        Some([low, high]) if wide => p.z > low + (high - low) * 0.6,
        _ => p.z > from,
    };
    let mut upper: Vec<Vec3> = rim.iter().filter(is_upper).copied().collect();
    upper.sort_by(|a, b| a.y.total_cmp(&b.y));
    if upper.len() < 4 {
        return;
    }
    // The guide is no thicker than fits a slim lamp.
    let thin = ((top - centre.y) * 0.055).clamp(0.0013, 0.0024);
    let guide: Vec<Vec3> = upper.iter().map(|p| inward(*p, 0.86, 0.008, 0.05)).collect();
    let trough: Vec<Vec3> = upper.iter().map(|p| inward(*p, 0.85, 0.014, 0.05)).collect();
    lamp.add_soft(Material::LampGlow, tube(&trough, 8, |_| thin * 2.2));
    lamp.add_soft(Material::LampWhite, tube(&guide, 8, |_| thin));
}

/// Adds indicators on stalks, one on each side of `root`, that face forward.
pub(super) fn add_indicators(bike: &mut Assembly, root: Vec3) {
    add_indicator_pair(bike, root, -1.0);
}

/// Adds indicators on stalks, one on each side of `root`, that face the rear.
pub(super) fn add_rear_indicators(bike: &mut Assembly, root: Vec3) {
    add_indicator_pair(bike, root, 1.0);
}

fn add_indicator_pair(bike: &mut Assembly, root: Vec3, facing: f32) {
    let eye = root + Vec3::new(0.012 * facing, 0.078, 0.0);
    let stalk = [root - Vec3::Y * 0.03, root.lerp(eye, 0.5), eye];
    bike.add_pair(Material::MattBlack, tube(&stalk, 10, |i| [0.009, 0.0065, 0.006][i]));
    let shell = Solid::superellipsoid(Vec3::new(0.019, 0.030, 0.0155), 2.4, 14, 24)
        .bent(|p| Vec3::new(p.x.clamp(-0.004, 1.0) * -facing, p.y, p.z))
        .facing_out();
    bike.add_pair(Material::MattBlack, shell.moved(eye + Vec3::Y * 0.012));
    let lens = Solid::superellipsoid(Vec3::new(0.012, 0.028, 0.0135), 2.4, 14, 24)
        .bent(|p| Vec3::new(p.x.max(0.0) * facing, p.y, p.z))
        .facing_out();
    bike.add_pair(Material::LampAmber, lens.moved(eye + Vec3::new(0.004 * facing, 0.012, 0.0)));
}

/// Adds a tail lamp with its middle at `at`: a dark housing, a red
/// lens, and the lit strip behind it.
pub(super) fn add_tail_lamp(bike: &mut Assembly, at: Vec3, half: Vec3) {
    let frame = Solid::superellipsoid(half * Vec3::new(0.95, 1.07, 1.14), 2.8, 16, 32);
    bike.add_soft(Material::GlossBlack, frame.moved(at - Vec3::X * 0.006));
    bike.add_soft(Material::LampRed, Solid::superellipsoid(half, 2.6, 18, 34).moved(at));
    // Ribs across the lens.
    for up in [-0.34, 0.0, 0.34] {
        let rib = Solid::superellipsoid(half * Vec3::new(1.0, 0.93, 0.06), 2.6, 8, 30);
        bike.add_soft(Material::GlossBlack, rib.moved(at + Vec3::new(half.x * 0.035, 0.0, half.z * up)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lights_stand_between_both_edges_of_a_slanted_slit() {
        let slit = [Vec2::new(0.0, 0.0), Vec2::new(0.08, 0.06), Vec2::new(0.08, 0.08), Vec2::new(0.0, 0.02)];
        let [low, high] = span_across(&slit, Vec2::new(0.04, 0.0), true).unwrap();
        assert!((low - 0.03).abs() < 1e-5 && (high - 0.05).abs() < 1e-5, "{low} {high}");
        let [low, high] = span_across(&slit, Vec2::new(0.0, 0.07), false).unwrap();
        assert!(low > 0.06 && high <= 0.0801, "{low} {high}");
        assert!(span_across(&slit, Vec2::new(0.2, 0.0), true).is_none());
    }

    #[test]
    fn a_lamp_takes_its_place_out_of_the_skin() {
        let skin = Solid::superellipsoid(Vec3::new(0.2, 0.2, 0.15), 2.4, 24, 48);
        let outline = [[0.03, -0.03], [0.12, -0.03], [0.12, 0.03], [0.03, 0.03]];
        for era in [LampEra::Bulb, LampEra::Clear, LampEra::Led] {
            let mut bike = Assembly::default();
            let opening = LampOpening { outline: &outline, depth: 0.05, lights: 2, pair: true, behind: 0.0 };
            let rest = set_lamp(&mut bike, &skin, &opening, era);
            let area = |solid: &Solid| -> f32 {
                solid
                    .triangles
                    .iter()
                    .map(|t| {
                        let [a, b, c] = t.map(|i| solid.points[i as usize]);
                        (b - a).cross(c - a).length() * 0.5
                    })
                    .sum()
            };
            let gone = area(&skin) - area(&rest);
            assert!((0.009..0.016).contains(&gone), "{era:?}: {gone}");
            assert!(front_of(&rest, Vec2::new(0.075, 0.0)).is_none_or(|x| x > 0.0), "{era:?}: not open");
            let lens = &bike.mesh.surfaces[&Material::LampLens];
            assert!(lens.positions.iter().all(|p| p[1].abs() > 0.01), "{era:?}");
        }
    }
}

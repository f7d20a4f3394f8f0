//! The tyre: crowned tread with grooves, rounded shoulders, bulging
//! sidewalls, all turned about the axle.

use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::solid::Solid;
use crate::vehicle::parts::wheel::spec::{Tread, Wheel};

/// Segments around the tyre: a multiple of four, so that one point of the
/// tread is exactly on the ground.
const SEGMENTS: usize = 64;
/// Shoulder blocks of an all-terrain tyre, per side.
const BLOCKS: usize = 38;
/// Distance of the blocks' inner ends from the middle, as a ratio of half the tread's width.
const BLOCKS_FROM: f32 = 0.45;
/// Height of the blocks, in metres.
const BLOCK_HEIGHT: f32 = 0.010;
/// Diameter from which a tyre is that of a truck or bus, which has grooves around only.
const HEAVY_M: f32 = 0.87;
/// Grooves across the shoulder of a road tyre, per side.
const SIPES: usize = 54;
/// Grooves of one half of the tread: middle as a ratio of its width,
/// half width at the top, and depth.
const GROOVES: [(f32, f32, f32); 2] = [(0.22, 0.0060, 0.008), (0.62, 0.0060, 0.008)];
/// Distance by which the wall's upper band stands out.
const BAND_M: f32 = 0.0018;
/// Distance by which the rib that guards the rim stands out.
const RIM_GUARD_M: f32 = 0.0055;

pub(super) fn add_tyre(mesh: &mut VehicleMesh, spec: &Wheel) {
    let mut whole: Vec<Vec2> = profile(spec, false).iter().rev().map(|p| Vec2::new(-p.x, p.y)).collect();
    whole.extend(profile(spec, true));
    if spec.tread == Tread::AllTerrain {
        let edge = tread_half_width(spec) * BLOCKS_FROM;
        let outer = spec.diameter / 2.0;
        for p in &mut whole {
            // The carcass lies lower where blocks stand on it.
            let near_tread = ((p.y - outer + 0.06) / 0.05).clamp(0.0, 1.0);
            if p.x.abs() > edge {
                p.y -= BLOCK_HEIGHT * near_tread;
            }
        }
        add_blocks(mesh, spec);
    }
    let solid = Solid::revolved(&whole, SEGMENTS);
    mesh.add(Material::Tyre, &solid.surface(40.0));
    if spec.tread == Tread::Road && spec.diameter < HEAVY_M {
        mesh.add(Material::PanelGap, &sipes(spec).surface(40.0));
    }
}

/// Returns the grooves across both shoulders as dark strips just proud of the tread,
/// staggered between the two sides.
fn sipes(spec: &Wheel) -> Solid {
    let (outer, half_width, tread) = (spec.diameter / 2.0, spec.width / 2.0, tread_half_width(spec));
    let crown = |a: f32| outer - 0.006 * (a / tread).powi(2);
    // The shoulder falls as the tyre's profile does.
    let wall = outer - spec.rim_diameter / 2.0;
    let end = tread + (half_width - tread) * 0.22_f32;
    let places = [(0.70 * tread, 0.0), (0.86 * tread, 0.0), (tread, 0.0), (end, 0.0045 * wall)];
    let mut strips = Solid::default();
    for (side, number) in [-1.0_f32, 1.0].into_iter().flat_map(|side| (0..SIPES).map(move |number| (side, number))) {
        let stagger = if side < 0.0 { 0.5 } else { 0.0 };
        let turn = TAU * (number as f32 + stagger) / SIPES as f32;
        let half = 0.0021 / outer;
        let strip = Solid::grid(2, places.len(), false, |row, column| {
            let (along, fall) = places[column];
            let (sin, cos) = (turn + half * (2.0 * row as f32 - 1.0)).sin_cos();
            let radius = (crown(along) - fall + 0.0004).min(outer - 1e-5);
            Vec3::new(radius * cos, along * side, radius * sin)
        });
        let outward = |solid: &Solid| {
            let [a, b, c] = solid.triangles[0].map(|i| solid.points[i as usize]);
            (b - a).cross(c - a).dot(Vec3::new(a.x, 0.0, a.z)) > 0.0
        };
        strips.append(if outward(&strip) { strip } else { strip.flipped() });
    }
    strips
}

/// Adds blocks from the tread over the shoulder down to the wall, staggered between the two sides.
fn add_blocks(mesh: &mut VehicleMesh, spec: &Wheel) {
    let (outer, half_width, tread) = (spec.diameter / 2.0, spec.width / 2.0, tread_half_width(spec));
    for (side, number) in [-1.0_f32, 1.0].into_iter().flat_map(|side| (0..BLOCKS).map(move |number| (side, number))) {
        let stagger = if side < 0.0 { 0.5 } else { 0.0 };
        // Every other block reaches further in and less far down.
        let short = number % 2 == 0;
        let (inner, foot) = if short { (0.62, 0.050) } else { (BLOCKS_FROM + 0.02, 0.036) };
        let section = [
            (tread * inner, outer - 0.0005),
            (tread, outer - 0.003),
            (tread + (half_width - tread) * 0.62, outer - 0.018),
            (half_width - 0.002, outer - foot),
            (half_width - 0.014, outer - foot - 0.004),
            (tread * 0.96, outer - 0.022),
            (tread * inner, outer - 0.016),
        ];
        let loops: Vec<Vec<Vec3>> = [-0.30_f32, 0.30]
            .iter()
            .map(|turn| {
                let (sin, cos) = (TAU * (number as f32 + stagger + turn) / BLOCKS as f32).sin_cos();
                section.iter().map(|(a, r)| Vec3::new(r * cos, a * side, r * sin)).collect()
            })
            .collect();
        mesh.add(Material::Tyre, &Solid::lofted(&loops).surface(30.0));
    }
}

fn tread_half_width(spec: &Wheel) -> f32 {
    let wall = (spec.diameter - spec.rim_diameter) / 2.0;
    // Low walls go with wide, square treads.
    let ratio = 0.86 - 0.6 * (wall - 0.08).max(0.0);
    spec.width / 2.0 * ratio.clamp(0.72, 0.86)
}

/// Returns the profile from the tread's centre to a bead, as (along the axle, radius). The wall
/// that faces inwards has no detail.
fn profile(spec: &Wheel, is_outer: bool) -> Vec<Vec2> {
    let outer = spec.diameter / 2.0;
    let bead = spec.rim_diameter / 2.0 + 0.006;
    let wall = outer - bead;
    let half_width = spec.width / 2.0;
    let tread = tread_half_width(spec);
    let crown = |a: f32| outer - 0.006 * (a / tread).powi(2);

    let mut points = vec![Vec2::new(0.0, outer)];
    for (groove, top, deep) in GROOVES {
        let (centre, bottom) = (groove * tread, 0.65 * top);
        for (offset, depth) in [(-top, 0.0), (-bottom, deep), (bottom, deep), (top, 0.0)] {
            points.push(Vec2::new(centre + offset, crown(centre + offset) - depth));
        }
    }
    // The shoulder: a quarter of a squarish ellipse from the tread's edge down to the widest place.
    let widest = outer - wall * 0.52;
    let shoulder = |ratio: f32| {
        let t = ratio * TAU / 4.0;
        let along = tread + (half_width - tread) * t.sin().powf(0.9);
        Vec2::new(along.min(half_width), widest + (crown(tread) - widest) * t.cos().max(0.0).powf(0.62))
    };
    // The lower wall bends in to the bead, with a rib that guards the rim.
    let at_bead = half_width - 0.008 - wall * 0.13;
    let lower =
        |t: f32| Vec2::new(half_width - (half_width - at_bead) * t.powf(1.8), widest + (bead + 0.004 - widest) * t);
    let end = Vec2::new(at_bead - 0.010, bead - 0.002);
    points.extend([0.0, 0.15, 0.30, 0.45, 0.58].map(shoulder));
    if !is_outer {
        points.extend([Vec2::new(half_width, widest), lower(0.5), lower(1.0), end]);
        return points;
    }
    // A step where the shoulder ends and the wall begins. A band runs round there, and below it a
    // shallow one with the lettering.
    let out = |p: Vec2, by: f32| Vec2::new((p.x + by).min(half_width), p.y);
    points.extend([0.59, 0.75].map(|ratio| out(shoulder(ratio), BAND_M)));
    points.extend([0.76, 0.88].map(shoulder));
    points.push(Vec2::new(half_width, widest));
    points.extend([0.22, 0.42].map(lower));
    points.extend([0.43, 0.60].map(|t| out(lower(t), -BAND_M * 0.7)));
    points.extend([0.63, 0.72, 0.84].map(|t| out(lower(t), RIM_GUARD_M * (1.0 - (t - 0.72).abs()))));
    points.push(lower(1.0));
    points.push(end);
    points
}

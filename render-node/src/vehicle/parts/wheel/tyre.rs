//! The tyre: crowned tread with grooves, rounded shoulders, bulging sidewalls, all turned about the axle.

use glam::Vec2;
use std::f32::consts::TAU;

use super::{Tread, Wheel};
use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::solid::Solid;

/// A multiple of four, so that one point of the tread is exactly on the ground.
const SEGMENTS: usize = 64;
/// Shoulder blocks of an all-terrain tyre; each spans two segments, the gap one.
const BLOCK_SEGMENTS: usize = 3;
const AROUND_ALL_TERRAIN: usize = 72;
const GROOVE_DEPTH: f32 = 0.007;

pub(super) fn add_tyre(mesh: &mut VehicleMesh, spec: &Wheel) {
    let half = profile(spec);
    let mut whole: Vec<Vec2> = half.iter().rev().map(|p| Vec2::new(-p.x, p.y)).collect();
    whole.extend(half);
    let solid = match spec.tread {
        Tread::Road => Solid::revolved(&whole, SEGMENTS),
        Tread::AllTerrain => {
            let outer = spec.diameter / 2.0;
            let tread_half = tread_half_width(spec);
            Solid::grid(whole.len(), AROUND_ALL_TERRAIN, true, |row, column| {
                let mut p = whole[row];
                // The outer third of the tread is cut into blocks, staggered between the two sides.
                let stagger = if p.x < 0.0 { 1 } else { 0 };
                let gap = (column + stagger).is_multiple_of(BLOCK_SEGMENTS) && column != AROUND_ALL_TERRAIN * 3 / 4;
                if gap && p.x.abs() > tread_half * 0.55 && p.y > outer - 0.05 {
                    let towards_axle = Vec2::new(-p.x.signum() * 0.35, -1.0) * 0.011;
                    p += towards_axle * ((p.y - outer + 0.05) / 0.05).clamp(0.0, 1.0);
                }
                let (sin, cos) = (TAU * column as f32 / AROUND_ALL_TERRAIN as f32).sin_cos();
                glam::Vec3::new(p.y * cos, p.x, p.y * sin)
            })
        }
    };
    mesh.add(Material::Tyre, &solid.surface(40.0));
}

fn tread_half_width(spec: &Wheel) -> f32 {
    let wall = (spec.diameter - spec.rim_diameter) / 2.0;
    // Low walls go with wide, square treads.
    let share = 0.86 - 0.6 * (wall - 0.08).max(0.0);
    spec.width / 2.0 * share.clamp(0.72, 0.86)
}

/// From the tread's centre to the outer bead: (along the axle, radius).
fn profile(spec: &Wheel) -> Vec<Vec2> {
    let outer = spec.diameter / 2.0;
    let bead = spec.rim_diameter / 2.0 + 0.006;
    let wall = outer - bead;
    let half_width = spec.width / 2.0;
    let tread = tread_half_width(spec);
    let crown = |a: f32| outer - 0.006 * (a / tread).powi(2);

    let mut points = vec![Vec2::new(0.0, outer)];
    for groove in [0.24, 0.66] {
        let (centre, top, bottom) = (groove * tread, 0.0055, 0.0035);
        for (offset, depth) in [(-top, 0.0), (-bottom, GROOVE_DEPTH), (bottom, GROOVE_DEPTH), (top, 0.0)] {
            points.push(Vec2::new(centre + offset, crown(centre + offset) - depth));
        }
    }
    points.push(Vec2::new(tread * 0.9, crown(tread * 0.9)));
    // Shoulder: a quarter of a squarish ellipse from the tread's edge down to the widest place.
    let widest = outer - wall * 0.52;
    for step in 0..=7 {
        let t = step as f32 / 7.0 * TAU / 4.0;
        let along = tread + (half_width - tread) * t.sin().powf(0.9);
        let radius = widest + (crown(tread) - widest) * t.cos().max(0.0).powf(0.62);
        points.push(Vec2::new(if step == 7 { half_width } else { along }, radius));
    }
    // Lower wall: bends in to the bead, with a rib that guards the rim.
    let at_bead = half_width - 0.008 - wall * 0.13;
    for step in 1..=5 {
        let t = step as f32 / 5.0;
        let along = half_width - (half_width - at_bead) * t.powf(1.8);
        points.push(Vec2::new(along, widest + (bead + 0.004 - widest) * t));
    }
    points.push(Vec2::new(at_bead - 0.010, bead - 0.002));
    points
}

//! Brakes of two-wheelers: drilled discs on their carriers, and callipers round the disc's edge.

use crate::vehicle::parts::assembly::Assembly;
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

use super::shapes::{add_bolt_circle, bolt, turned};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::{Solid, rounded_rectangle};

/// Points round a hole: a multiple of four, because the hole joins the four sides of its cell.
const HOLE: usize = 12;
const THICK_M: f32 = 0.0024;

/// Adds a disc across the wheel with its middle at `at`, of outer radius `outer`,
/// with rows of holes through it.
pub(super) fn add_disc(bike: &mut Assembly, at: Vec3, outer: f32) {
    let inner = outer * 0.70;
    bike.add(Material::BrakeDisc, drilled(inner, outer).moved(at));
    // The carrier: a ring on the hub, arms, and the buttons that hold the disc.
    let arms = if outer > 0.125 { 8 } else { 6 };
    let hub = outer * 0.36;
    let ring = |from: f32, to: f32, thick: f32| {
        let profile = [(-thick, from), (-thick, to), (thick, to), (thick, from), (-thick, from)];
        Solid::revolved(&profile.map(|(a, r)| Vec2::new(a, r)), 48).moved(at)
    };
    bike.add(Material::RimDark, ring(hub * 0.72, hub, 0.0042));
    let mut carrier = Solid::default();
    for number in 0..arms {
        let turn = TAU * (number as f32 + 0.5) / arms as f32;
        let polar = |r: f32, lean: f32| at + Vec3::new(r * (turn + lean).cos(), 0.0, r * (turn + lean).sin());
        let path = [polar(hub * 0.9, -0.02), polar((hub + inner) * 0.5, 0.05), polar(inner * 1.05, 0.10)];
        let widths = [0.014, 0.008, 0.011];
        carrier.append(Solid::swept(&path, Vec3::Y, |i| rounded_rectangle(widths[i], 0.0036, 0.0030)));
        for side in [-1.0, 1.0] {
            let button = [[0.0, 0.0095], [0.0052, 0.0090], [0.0056, 0.0045], [0.0040, 0.0040], [0.0040, 0.0]];
            bike.add(Material::Satin, turned(&button, polar(inner * 1.03, 0.10), Vec3::Y * side, 14));
        }
    }
    bike.add(Material::RimDark, carrier);
    for side in [-1.0, 1.0] {
        add_bolt_circle(bike, at + Vec3::Y * side * 0.0045, Vec3::Y * side, hub * 0.86, 5, 0.0055);
    }
}

/// Returns a flat ring with three rows of holes through it.
fn drilled(inner: f32, outer: f32) -> Solid {
    const AROUND: usize = 30;
    let edge = (outer - inner) * 0.10;
    let rows: Vec<f32> = (0..=3).map(|k| inner + edge + (outer - inner - 2.0 * edge) * k as f32 / 3.0).collect();
    let mut solid = Solid::default();
    let polar = |r: f32, turn: f32, y: f32| Vec3::new(r * turn.cos(), y, r * turn.sin());
    let mut quad = |a: Vec3, b: Vec3, c: Vec3, d: Vec3| {
        let base = solid.points.len() as u32;
        solid.points.extend([a, b, c, d]);
        solid.triangles.extend([[base, base + 2, base + 1], [base, base + 3, base + 2]]);
    };
    let step = TAU / AROUND as f32;
    for cell in 0..AROUND {
        for (row, pair) in rows.windows(2).enumerate() {
            let from = step * (cell as f32 + row as f32 / 3.0);
            let middle = (pair[0] + pair[1]) * 0.5;
            let size = 0.29 * (pair[1] - pair[0]).min(step * middle);
            // A point on the cell's edge, or the matching point on the hole's edge.
            let point = |i: usize, hole: bool, y: f32| {
                let i = i % HOLE;
                let turn = TAU * (i as f32 + 0.5) / HOLE as f32;
                if hole {
                    return polar(middle + size * turn.sin(), from + step * 0.5 + size * turn.cos() / middle, y);
                }
                let stretch = turn.cos().abs().max(turn.sin().abs());
                let [u, v] = [turn.cos() / stretch, turn.sin() / stretch];
                polar(middle + (pair[1] - pair[0]) * 0.5 * v, from + step * (0.5 + 0.5 * u), y)
            };
            for i in 0..HOLE {
                let corner = |k: usize, hole: bool, y: f32| point(i + k, hole, y);
                // Both faces, and the wall of the hole.
                quad(
                    corner(0, false, THICK_M),
                    corner(0, true, THICK_M),
                    corner(1, true, THICK_M),
                    corner(1, false, THICK_M),
                );
                quad(
                    corner(0, false, -THICK_M),
                    corner(1, false, -THICK_M),
                    corner(1, true, -THICK_M),
                    corner(0, true, -THICK_M),
                );
                quad(
                    corner(0, true, -THICK_M),
                    corner(1, true, -THICK_M),
                    corner(1, true, THICK_M),
                    corner(0, true, THICK_M),
                );
            }
        }
    }
    for (from, to) in [(inner, rows[0]), (rows[3], outer)] {
        let profile = [(THICK_M, to), (THICK_M, from), (-THICK_M, from), (-THICK_M, to), (THICK_M, to)];
        solid.append(Solid::revolved(&profile.map(|(a, r)| Vec2::new(a, r)), 90).facing_out());
    }
    solid
}

/// Adds a calliper over the edge of the disc at `at`, between two angles (in radians, from the rear
/// horizontal upwards), on the disc's outer side `side`.
pub(super) fn add_calliper(bike: &mut Assembly, at: Vec3, outer: f32, [from, to]: [f32; 2], side: f32) {
    let polar = |r: f32, turn: f32, y: f32| at + Vec3::new(r * turn.cos(), y * side, r * turn.sin());
    let middle = outer * 0.90;
    let count = 10;
    let turn = |i: usize| from + (to - from) * i as f32 / count as f32;
    let swell = |i: usize| {
        let t = i as f32 / count as f32;
        1.0 - 0.42 * (2.0 * t - 1.0).abs().powi(6) + 0.10 * (TAU * t).cos().abs()
    };
    for (y, half) in [(0.0165, 0.0115), (-0.0145, 0.0095)] {
        let path: Vec<Vec3> = (0..=count).map(|i| polar(middle, turn(i), y)).collect();
        bike.add_soft(
            Material::GlossBlack,
            Solid::swept(&path, Vec3::Y, |i| rounded_rectangle(0.023 * swell(i), half * swell(i).min(1.0), 0.006)),
        );
    }
    // The bridge over the disc's edge, and the bolts through it.
    let bridge: Vec<Vec3> = (2..=count - 2).map(|i| polar(outer + 0.009, turn(i), 0.0)).collect();
    bike.add(Material::GlossBlack, Solid::swept(&bridge, Vec3::Y, |_| rounded_rectangle(0.006, 0.022, 0.003)));
    for ratio in [0.30, 0.70] {
        let angle = from + (to - from) * ratio;
        let piston = [[0.0, 0.0165], [0.0035, 0.0160], [0.0040, 0.0125], [0.0025, 0.0115], [0.0025, 0.0]];
        bike.add(Material::Satin, turned(&piston, polar(middle - 0.002, angle, 0.027), Vec3::Y * side, 22));
    }
    for ratio in [0.06, 0.94] {
        let angle = from + (to - from) * ratio;
        bike.add(Material::Satin, bolt(polar(middle + 0.004, angle, 0.026), Vec3::Y * side, 0.0062));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn a_disc_is_sound_and_has_holes() {
        let mut bike = Assembly::default();
        add_disc(&mut bike, Vec3::ZERO, 0.16);
        add_calliper(&mut bike, Vec3::ZERO, 0.16, [0.3, 0.9], -1.0);
        assert_sound(&bike.mesh, "brake");
        let disc = drilled(0.112, 0.160);
        let face: f32 = disc
            .triangles
            .iter()
            .map(|t| t.map(|i| disc.points[i as usize]))
            .filter(|t| t.iter().all(|p| p.y > 0.0))
            .map(|[a, b, c]| (b - a).cross(c - a).length() * 0.5)
            .sum();
        let full = std::f32::consts::PI * (0.160_f32.powi(2) - 0.112_f32.powi(2));
        assert!((0.70..0.95).contains(&(face / full)), "{face} of {full}");
    }
}

//! The body of a fire engine: lockers behind roller shutters on both sides and at the rear, a pump
//! panel, and a bright tread along the top.

use glam::Vec3;

use super::lamps;
use super::site::Site;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, block, pipe};
use crate::vehicle::parts::solid::Solid;

/// Height of a slat of a shutter.
const SLAT_M: f32 = 0.045;
/// Width of the pump panel behind the cab.
const PANEL_M: f32 = 0.62;

/// Adds the body. The two ranges are its ends in x and in z, in metres.
pub(super) fn add(parts: &mut Assembly, site: &Site<'_>, [x0, x1]: [f32; 2], [low, top]: [f32; 2]) {
    let p = Vec3::new;
    let y = site.half_width - 0.012;
    let clear = site.hub_z + 0.10;
    let [from, to] = site.rear_wheels();
    let (from, to) = (from - 0.10, to + 0.10);
    let over = site.hub_z + clear + 0.04;
    let start = x0 + PANEL_M;
    let paint = Material::Paint;
    // The body over the wheels, and in front of and behind them.
    parts.add(paint, block(p(start, -y, over), p(x1, y, top), 0.02));
    for [front, rear] in [[start, from], [to, x1]] {
        parts.add_pair(paint, block(p(front, y - 0.55, low), p(rear, y, over + 0.05), 0.02));
        parts.add_pair(Material::Satin, block(p(front, y - 0.2, low - 0.03), p(rear, y + 0.008, low + 0.04), 0.01));
    }
    // The arch: a bright lip round the wheels.
    parts.add_pair(
        Material::Satin,
        block(p(from - 0.03, y - 0.03, over - 0.03), p(to + 0.03, y + 0.010, over + 0.02), 0.01),
    );
    for x in [from, to] {
        parts.add_pair(Material::Satin, block(p(x - 0.03, y - 0.03, low), p(x + 0.03, y + 0.010, over), 0.01));
    }
    let high = top - 0.16;
    for [front, rear, foot] in [
        [start + 0.06, from - 0.06, low + 0.08],
        [from + 0.02, to - 0.02, over + 0.08],
        [to + 0.06, x1 - 0.06, low + 0.08],
    ] {
        if rear - front > 0.3 {
            add_shutter(parts, [front, rear], [foot, high], y);
        }
    }
    add_pump_panel(parts, site, [x0, start], [low, top], y);
    // The top: tread plate, rail, ground lights.
    parts.add(
        Material::BrakeDisc,
        block(p(x0 + 0.02, 0.02 - y, top - 0.005), p(x1 - 0.02, y - 0.02, top + 0.006), 0.004),
    );
    parts.add_pair(
        Material::Satin,
        pipe(&[p(x0 + 0.1, y - 0.05, top + 0.10), p(x1 - 0.1, y - 0.05, top + 0.10)], 0.018),
    );
    for number in 0..6 {
        let x = x0 + 0.12 + (x1 - x0 - 0.24) * number as f32 / 5.0;
        parts.add_pair(Material::Satin, pipe(&[p(x, y - 0.05, top), p(x, y - 0.05, top + 0.10)], 0.012));
    }
    for ratio in [0.3, 0.62, 0.92] {
        let x = x0 + (x1 - x0) * ratio;
        for side in [-1.0, 1.0] {
            lamps::add_marker(parts, p(x, side * (y - 0.006), top - 0.07), Vec3::Y * side, ratio > 0.9);
        }
    }
    add_tail(parts, x1, [low, top], y);
    add_ladder(parts, [x0 - 0.9, x1 - 0.1], top + 0.28);
}

/// Adds slats between two guides, and a bar with a grip at the foot.
fn add_shutter(parts: &mut Assembly, [front, rear]: [f32; 2], [low, high]: [f32; 2], y: f32) {
    let p = Vec3::new;
    parts.add_pair(
        Material::PanelGap,
        block(p(front - 0.02, y - 0.01, low - 0.02), p(rear + 0.02, y + 0.002, high + 0.02), 0.002),
    );
    let slats = ((high - low) / SLAT_M) as usize;
    for number in 0..slats {
        let z = low + SLAT_M * number as f32;
        let slat = block(p(front + 0.02, y - 0.012, z + 0.002), p(rear - 0.02, y + 0.008, z + SLAT_M - 0.003), 0.009);
        parts.add_pair(Material::Satin, slat);
    }
    for x in [front, rear] {
        parts.add_pair(
            Material::Satin,
            block(p(x - 0.022, y - 0.01, low - 0.02), p(x + 0.022, y + 0.018, high + 0.02), 0.006),
        );
    }
    parts.add_pair(
        Material::Satin,
        block(p(front - 0.02, y - 0.01, high), p(rear + 0.02, y + 0.018, high + 0.03), 0.006),
    );
    let grip = pipe(&[p(front + 0.06, y + 0.03, low + 0.04), p(rear - 0.06, y + 0.03, low + 0.04)], 0.014);
    parts.add_pair(Material::Chrome, grip);
}

/// Adds gauges in rows, capped outlets, and a locker's door over them.
fn add_pump_panel(parts: &mut Assembly, site: &Site<'_>, [x0, x1]: [f32; 2], [low, top]: [f32; 2], y: f32) {
    let p = Vec3::new;
    parts.add(Material::Paint, block(p(x0, -y, site.frame_z - 0.1), p(x1 + 0.02, y - 0.02, top), 0.02));
    parts.add_pair(Material::Paint, block(p(x0, y - 0.4, low), p(x1 + 0.02, y - 0.02, site.frame_z), 0.02));
    let (foot, head) = (low + 0.12, low + 0.62 * (top - low));
    parts.add_pair(Material::BrakeDisc, block(p(x0 + 0.05, y - 0.03, foot), p(x1 - 0.04, y - 0.006, head), 0.008));
    for (row, column) in (0..3).flat_map(|row| (0..3).map(move |column| (row, column))) {
        let at = p(x0 + 0.14 + 0.16 * column as f32, y - 0.008, head - 0.10 - 0.16 * row as f32);
        parts.add_pair(Material::Chrome, Solid::pin(at, at + Vec3::Y * 0.018, 0.058, 20));
        parts.add_pair(Material::GlossWhite, Solid::pin(at, at + Vec3::Y * 0.020, 0.047, 20));
        let needle = at + Vec3::Y * 0.021;
        parts.add_pair(Material::MattBlack, pipe(&[needle, needle + p(0.026, 0.0, 0.016)], 0.003));
    }
    for (column, z) in [(0, foot + 0.16), (1, foot + 0.16), (0, foot + 0.40), (1, foot + 0.40)] {
        let at = p(x0 + 0.19 + 0.22 * column as f32, y - 0.02, z);
        parts.add_pair(Material::Chrome, Solid::pin(at, at + Vec3::Y * 0.06, 0.075, 24));
        parts.add_pair(Material::Chrome, Solid::pin(at + Vec3::Y * 0.05, at + Vec3::Y * 0.085, 0.088, 24));
        for side in [-0.085, 0.085] {
            let lug = at + p(side, 0.068, 0.0);
            parts.add_pair(Material::Chrome, block(lug - p(0.02, 0.012, 0.014), lug + p(0.02, 0.012, 0.014), 0.006));
        }
    }
    let door = [p(x0 + 0.06, y - 0.022, head + 0.06), p(x1 - 0.05, y - 0.010, top - 0.14)];
    parts.add_pair(Material::Paint, block(door[0], door[1], 0.006));
    let latch = p(0.5 * (x0 + x1), y - 0.008, head + 0.14);
    parts.add_pair(Material::Chrome, block(latch - p(0.05, 0.006, 0.02), latch + p(0.05, 0.010, 0.02), 0.006));
}

/// Adds a shutter, a step, grab rails and lamps at the rear.
fn add_tail(parts: &mut Assembly, x: f32, [low, top]: [f32; 2], y: f32) {
    let p = Vec3::new;
    let (foot, head, half) = (low + 0.18, top - 0.32, y - 0.42);
    parts.add(
        Material::PanelGap,
        block(p(x - 0.01, -half - 0.02, foot - 0.02), p(x + 0.002, half + 0.02, head + 0.02), 0.002),
    );
    for number in 0..((head - foot) / SLAT_M) as usize {
        let z = foot + SLAT_M * number as f32;
        parts
            .add(Material::Satin, block(p(x - 0.012, -half, z + 0.002), p(x + 0.008, half, z + SLAT_M - 0.003), 0.009));
    }
    for side in [-half - 0.02, half + 0.02] {
        parts.add(
            Material::Satin,
            block(p(x - 0.01, side - 0.022, foot - 0.02), p(x + 0.018, side + 0.022, head + 0.02), 0.006),
        );
    }
    parts.add_pair(
        Material::Chrome,
        pipe(&[p(x + 0.06, y - 0.16, foot + 0.1), p(x + 0.06, y - 0.16, top - 0.4)], 0.016),
    );
    for z in [foot + 0.12, top - 0.42] {
        parts.add_pair(Material::Chrome, pipe(&[p(x - 0.01, y - 0.16, z), p(x + 0.06, y - 0.16, z)], 0.014));
    }
    parts.add_pair(
        Material::LampRed,
        block(p(x - 0.01, y - 0.26, top - 0.22), p(x + 0.03, y - 0.06, top - 0.08), 0.012),
    );
    parts.add(Material::BrakeDisc, block(p(x - 0.02, -y, low - 0.06), p(x + 0.20, y, low), 0.012));
}

/// Adds a ladder of trussed rails that lies along the roof, on two cradles.
fn add_ladder(parts: &mut Assembly, [from, to]: [f32; 2], z: f32) {
    const HALF_M: f32 = 0.30;
    const TALL_M: f32 = 0.24;
    let p = Vec3::new;
    let bays = ((to - from) / 0.34) as usize;
    let at = |number: usize| from + (to - from) * number as f32 / bays as f32;
    for height in [z, z + TALL_M] {
        parts.add_pair(Material::Satin, pipe(&[p(from, HALF_M, height), p(to, HALF_M, height)], 0.022));
    }
    for number in 0..=bays {
        let x = at(number);
        parts.add_pair(Material::Satin, pipe(&[p(x, HALF_M, z), p(x, HALF_M, z + TALL_M)], 0.012));
        parts.add(Material::Satin, pipe(&[p(x, -HALF_M, z), p(x, HALF_M, z)], 0.016));
        if number < bays {
            let ends = if number % 2 == 0 { [z, z + TALL_M] } else { [z + TALL_M, z] };
            parts.add_pair(Material::Satin, pipe(&[p(x, HALF_M, ends[0]), p(at(number + 1), HALF_M, ends[1])], 0.010));
        }
    }
    for ratio in [0.3, 0.85] {
        let x = from + (to - from) * ratio;
        parts.add_pair(
            Material::Satin,
            block(p(x - 0.04, HALF_M - 0.04, z - 0.22), p(x + 0.04, HALF_M + 0.04, z - 0.02), 0.012),
        );
    }
}

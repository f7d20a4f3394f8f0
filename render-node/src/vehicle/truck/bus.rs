//! The parts that only buses have: rows of seats behind their windows, frames and hoppers of the
//! panes, rub rails, units on the roof, and mirrors that hang in front of the screen.

use glam::{Vec2, Vec3};

use super::back::Wall;
use super::site::Site;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, block, hull, pipe};
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};
use crate::vehicle::sheet::bus::{Bus, Panes};

/// Distance between two rows of seats.
const ROW_M: f32 = 0.78;
/// Half width of the aisle.
const AISLE_M: f32 = 0.24;
/// Half width of the rubber between two panes.
const RUBBER_M: f32 = 0.022;

pub(super) fn add(parts: &mut Assembly, site: &Site<'_>, bus: &Bus) {
    for [from, to, floor] in &bus.seats {
        add_seats(parts, site, site.real(*from, 0.0, *floor), site.real(*to, 0.0, *floor).x);
    }
    for panes in &bus.panes {
        add_panes(parts, site, panes);
    }
    for z in &bus.rub_rails {
        add_rub_rail(parts, site, site.real(0.0, 0.0, *z).z);
    }
    for [from, to, half, top] in &bus.roof_units {
        add_roof_unit(parts, site, site.real(*from, *half, *top), site.real(*to, 0.0, 0.0).x);
    }
    for [x, low, high] in &bus.seams {
        let (low, high) = (site.real(*x, 0.0, *low), site.real(*x, 0.0, *high).z);
        add_strip(parts, site, [low.x, low.x], [low.z, high], 0.006, Material::PanelGap);
    }
    for [from, to, low, high] in &bus.louvres {
        add_louvres(parts, site, site.real(*from, 0.0, *low), site.real(*to, 0.0, *high));
    }
    for [from, to, low, high] in &bus.doors {
        add_door(parts, site, site.real(*from, 0.0, *low), site.real(*to, 0.0, *high));
    }
    if bus.plate > 0.0 {
        add_tail(parts, site, bus);
    }
    if let Some([x, y, z]) = bus.ears {
        add_ears(parts, site, site.real(x, y, z));
    }
}

/// Adds two seats on both sides of the aisle, row by row, and poles.
fn add_seats(parts: &mut Assembly, site: &Site<'_>, from: Vec3, to: f32) {
    let p = Vec3::new;
    let rows = ((to - from.x) / ROW_M) as usize;
    let wall = site.half_width - 0.12;
    let width = (wall - AISLE_M) * 0.5;
    for row in 0..rows {
        let x = from.x + ROW_M * row as f32;
        for place in 0..2 {
            let y = [AISLE_M + width * place as f32 + 0.015, AISLE_M + width * (place as f32 + 1.0) - 0.015];
            parts.add_pair(Material::Seat, cushion([x, x + 0.45], y, [from.z + 0.36, from.z + 0.48]));
            let back = cushion([x + 0.40, x + 0.50], y, [from.z + 0.42, from.z + 1.10]);
            parts.add_pair(Material::Seat, back.bent(|q| Vec3::new(q.x + 0.16 * (q.z - from.z - 0.42), q.y, q.z)));
        }
        parts.add_pair(
            Material::Interior,
            cushion([x + 0.1, x + 0.4], [AISLE_M + 0.1, wall - 0.1], [from.z, from.z + 0.36]),
        );
        if row % 2 == 1 {
            parts.add_pair(
                Material::Satin,
                pipe(&[p(x + 0.5, AISLE_M, from.z), p(x + 0.5, AISLE_M, from.z + 1.55)], 0.016),
            );
        }
    }
    parts.add(Material::Interior, block(p(from.x - 0.6, -wall, from.z - 0.04), p(to, wall, from.z), 0.01));
}

/// Returns a box with bevelled edges. It has few triangles, because there are
/// dozens of them behind tinted glass.
fn cushion(x: [f32; 2], y: [f32; 2], z: [f32; 2]) -> Solid {
    const BEVEL_M: f32 = 0.03;
    let ring = |y: f32, inset: f32| -> Vec<Vec3> {
        let ([x0, x1], [z0, z1]) = ([x[0] + inset, x[1] - inset], [z[0] + inset, z[1] - inset]);
        let b = BEVEL_M;
        [[x0 + b, z0], [x1 - b, z0], [x1, z0 + b], [x1, z1 - b], [x1 - b, z1], [x0 + b, z1], [x0, z1 - b], [x0, z0 + b]]
            .map(|[x, z]| Vec3::new(x, y, z))
            .to_vec()
    };
    Solid::lofted(&[ring(y[0], 0.012), ring(y[0] + 0.02, 0.0), ring(y[1] - 0.02, 0.0), ring(y[1], 0.012)])
}

/// Adds a thin strip that lies on the flank between two places, on both sides.
fn add_strip(parts: &mut Assembly, site: &Site<'_>, x: [f32; 2], z: [f32; 2], half: f32, material: Material) {
    let steps = ((x[1] - x[0]).hypot(z[1] - z[0]) / 0.25).ceil().max(2.0) as usize;
    let path: Vec<Vec3> = (0..=steps)
        .filter_map(|step| {
            let ratio = step as f32 / steps as f32;
            let at = Vec2::new(x[0] + (x[1] - x[0]) * ratio, z[0] + (z[1] - z[0]) * ratio);
            site.field.skin_y(at.x, at.y).map(|y| Vec3::new(at.x, y, at.y))
        })
        .collect();
    if path.len() < 2 {
        return;
    }
    let out = if material == Material::PanelGap { 0.0012 } else { 0.006 };
    let level = (x[1] - x[0]).abs() > (z[1] - z[0]).abs();
    let section = move |_: usize| {
        if level { rounded_rectangle(out, half, out * 0.6) } else { rounded_rectangle(half, out, out * 0.6) }
    };
    let up = if level { Vec3::Z } else { Vec3::Y };
    parts.add_pair(material, Solid::swept(&path, up, section));
}

/// Adds rubber between the panes, and the bar of hinged upper panes with its catch.
fn add_panes(parts: &mut Assembly, site: &Site<'_>, panes: &Panes) {
    let z = [site.real(0.0, 0.0, panes.low).z, site.real(0.0, 0.0, panes.high).z];
    let x: Vec<f32> = panes.x.iter().map(|x| site.real(*x, 0.0, 0.0).x).collect();
    for x in &x {
        add_strip(parts, site, [*x, *x], z, RUBBER_M, Material::MattBlack);
        add_strip(parts, site, [x - 0.045, x - 0.045], z, 0.004, Material::PanelGap);
        add_strip(parts, site, [x + 0.045, x + 0.045], z, 0.004, Material::PanelGap);
    }
    if panes.hopper > 0.0 {
        let hopper = site.real(0.0, 0.0, panes.hopper).z;
        for pair in x.windows(2).step_by(2) {
            let ends = [pair[0] + 0.06, pair[1] - 0.06];
            add_strip(parts, site, ends, [hopper, hopper], 0.016, Material::MattBlack);
            let middle = 0.5 * (ends[0] + ends[1]);
            add_strip(
                parts,
                site,
                [middle - 0.05, middle + 0.05],
                [hopper + 0.03, hopper + 0.03],
                0.010,
                Material::Satin,
            );
        }
    }
}

/// Adds a bright strip along the flank, interrupted at the wheels.
fn add_rub_rail(parts: &mut Assembly, site: &Site<'_>, z: f32) {
    let clear = site.hub_z + 0.10;
    let [rear_from, rear_to] = site.rear_wheels();
    let reach = |z: f32| if z > site.hub_z + clear { 0.0 } else { 1.0 };
    let gap = reach(z) * 0.10;
    for [from, to] in [
        [0.35, site.front_x - clear * reach(z)],
        [site.front_x + clear * reach(z), rear_from - gap],
        [rear_to + gap, site.length - 0.15],
    ] {
        if to - from > 0.3 {
            add_strip(parts, site, [from, to], [z, z], 0.018, Material::Satin);
        }
    }
}

/// Adds slats over the opening of the engine's bay, in a frame.
fn add_louvres(parts: &mut Assembly, site: &Site<'_>, low: Vec3, high: Vec3) {
    let count = ((high.z - low.z) / 0.052).round().max(2.0) as usize;
    for number in 0..count {
        let z = low.z + (high.z - low.z) * (number as f32 + 0.5) / count as f32;
        add_strip(parts, site, [low.x + 0.03, high.x - 0.03], [z, z], 0.013, Material::Paint);
    }
    for z in [low.z, high.z] {
        add_strip(parts, site, [low.x, high.x], [z, z], 0.012, Material::MattBlack);
    }
    for x in [low.x, high.x] {
        add_strip(parts, site, [x, x], [low.z, high.z], 0.012, Material::MattBlack);
    }
}

/// Adds rubber round and between the leaves, rails across their panes, and a sill.
fn add_door(parts: &mut Assembly, site: &Site<'_>, low: Vec3, high: Vec3) {
    let middle = 0.5 * (low.x + high.x);
    let z = [low.z + 0.02, high.z - 0.02];
    for x in [low.x + 0.02, high.x - 0.02] {
        add_strip(parts, site, [x, x], z, 0.018, Material::MattBlack);
    }
    add_strip(parts, site, [middle, middle], z, 0.030, Material::MattBlack);
    add_strip(parts, site, [middle, middle], z, 0.004, Material::PanelGap);
    let rail = low.z + 0.42 * (high.z - low.z);
    for [from, to] in [[low.x + 0.05, middle - 0.04], [middle + 0.04, high.x - 0.05]] {
        add_strip(parts, site, [from, to], [rail, rail], 0.016, Material::MattBlack);
        for z in [low.z + 0.05, high.z - 0.05] {
            add_strip(parts, site, [from, to], [z, z], 0.022, Material::MattBlack);
        }
    }
    add_strip(parts, site, [low.x, high.x], [low.z - 0.015, low.z - 0.015], 0.014, Material::Satin);
}

/// Adds the number plate in its recess, locks of the engine's lid, reflectors, marker lamps at the
/// corners of the roof, and a blank display.
fn add_tail(parts: &mut Assembly, site: &Site<'_>, bus: &Bus) {
    let z = site.real(0.0, 0.0, bus.plate).z;
    let wall = Wall { site, x: site.length, low: z - 0.2, top: site.real(0.0, 0.0, 3.0).z };
    let p = Vec2::new;
    parts.add_soft(Material::MattBlack, wall.patch(p(0.0, z), p(0.30, 0.085), 0.02, 0.010));
    parts.add_soft(Material::Satin, wall.patch(p(0.0, z - 0.006), p(0.26, 0.058), 0.012, 0.014));
    parts.add_soft(Material::MattBlack, wall.patch(p(0.0, z + 0.085), p(0.20, 0.018), 0.01, 0.030));
    for side in [-1.0, 1.0] {
        let y = side * (site.half_width - 0.30);
        parts.add_soft(Material::LampRed, wall.patch(p(y, z - 0.06), p(0.055, 0.022), 0.008, 0.010));
        let lock = wall.patch(p(side * 0.62, z + 0.02), p(0.035, 0.02), 0.012, 0.010);
        parts.add_soft(Material::MattBlack, lock);
        if let Some(top) = site.field.skin_z(site.length - 0.25, 0.0) {
            let marker = wall.patch(p(side * (site.half_width - 0.32), top - 0.16), p(0.05, 0.02), 0.01, 0.016);
            parts.add_soft(Material::LampRed, marker);
        }
    }
    let low = z - 0.115;
    let joint = wall.strip(p(0.08 - site.half_width, low), p(site.half_width - 0.08, low), 0.006, 0.002);
    parts.add(Material::PanelGap, joint);
}

/// Adds a low box with round edges and a grid of slots on the roof.
fn add_roof_unit(parts: &mut Assembly, site: &Site<'_>, front: Vec3, rear: f32) {
    let low = site.field.skin_z(0.5 * (front.x + rear), front.y).unwrap_or(front.z - 0.2) - 0.03;
    let stations = [
        [front.x, front.y * 0.92, low, low + (front.z - low) * 0.35],
        [front.x + 0.14, front.y, low, front.z - 0.015],
        [front.x + 0.35, front.y, low, front.z],
        [rear - 0.2, front.y, low, front.z],
        [rear - 0.05, front.y, low, front.z - 0.02],
        [rear, front.y * 0.94, low, low + (front.z - low) * 0.5],
    ];
    parts.add_soft(Material::Paint, hull(&stations, 7.0));
    let slots = ((rear - front.x - 0.6) / 0.09) as usize;
    for number in 0..slots {
        let x = front.x + 0.35 + 0.09 * number as f32;
        let z = 0.5 * (low + front.z) + 0.02;
        let half = 0.22 * (front.z - low);
        parts.add_pair(
            Material::MattBlack,
            block(Vec3::new(x, front.y - 0.02, z - half), Vec3::new(x + 0.045, front.y + 0.004, z + half), 0.003),
        );
    }
}

/// Adds mirror housings that hang from arms swung forward over the corners of the screen.
fn add_ears(parts: &mut Assembly, site: &Site<'_>, at: Vec3) {
    let p = Vec3::new;
    // The first place behind the mirror where the flank is wide enough to carry it.
    let place = |step: usize| {
        let x = at.x + 0.2 + 0.05 * step as f32;
        site.field.skin_y(x, at.z + 0.42).filter(|y| *y > at.y - 0.12).map(|y| (x, y - 0.03))
    };
    let Some((root_x, root_y)) = (0..40).find_map(place) else { return };
    let path = [
        p(root_x, root_y, at.z + 0.42),
        p(root_x - 0.18, at.y.max(root_y - 0.02) + 0.03, at.z + 0.52),
        p(0.5 * (root_x + at.x) - 0.08, at.y + 0.04, at.z + 0.56),
        p(at.x - 0.02, at.y + 0.02, at.z + 0.46),
        p(at.x + 0.02, at.y, at.z + 0.22),
    ];
    let arm = Solid::swept(&curve_through(&path, 6), Vec3::Z, |_| rounded_rectangle(0.024, 0.032, 0.02));
    parts.add_pair(Material::GlossBlack, arm);
    for (middle, half) in [(at, 0.20), (at - Vec3::Z * 0.335, 0.115)] {
        let shell = Solid::superellipsoid(p(0.085, 0.115, half), 3.6, 14, 28);
        let shell = shell.bent(|q| p(if q.x > 0.0 { q.x * 0.25 } else { q.x }, q.y, q.z)).moved(middle);
        parts.add_pair(Material::GlossBlack, shell);
        let glass = block(middle + p(0.014, -0.095, 0.02 - half), middle + p(0.024, 0.095, half - 0.02), 0.005);
        parts.add_pair(Material::Chrome, glass);
    }
}

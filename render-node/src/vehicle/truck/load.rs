//! The load bodies on the frame: box, drop sides, flat deck with stakes, tipper.

use glam::{Vec2, Vec3};

use super::site::Site;
use super::{fire, lamps};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, block, pipe};
use crate::vehicle::parts::solid::{Solid, curve_through};
use crate::vehicle::sheet::truck::{Class, Load};

/// A load body: front and rear in `x`, floor and top in `z`, half width in `y`, in metres.
struct Bed {
    x: [f32; 2],
    z: [f32; 2],
    y: f32,
}

pub(super) fn add(parts: &mut Assembly, site: &Site<'_>) {
    let truck = site.truck;
    let low = site.real(truck.load_x[0], 0.0, truck.load_z[0]);
    let high = site.real(truck.load_x[1], 0.0, truck.load_z[1]);
    let bed = Bed { x: [low.x, high.x], z: [low.z, high.z], y: site.half_width };
    match truck.load {
        Load::Own | Load::FifthWheel => {}
        Load::Box => {
            add_subframe(parts, site, &bed);
            add_box(parts, site, &bed);
            add_box_doors(parts, site, &bed);
        }
        Load::Dropside => {
            add_subframe(parts, site, &bed);
            add_deck(parts, &bed);
            add_dropsides(parts, site, &bed);
        }
        Load::Flatbed => {
            add_subframe(parts, site, &bed);
            add_deck(parts, &bed);
            add_stakes(parts, site, &bed);
        }
        Load::Tipper => add_tipper(parts, site, &bed),
        Load::Fire => fire::add(parts, site, bed.x, bed.z),
    }
}

/// Adds bearers along the frame and joists across it.
fn add_subframe(parts: &mut Assembly, site: &Site<'_>, bed: &Bed) {
    let p = Vec3::new;
    let dark = Material::MattBlack;
    parts.add_pair(dark, block(p(bed.x[0] + 0.1, 0.36, site.frame_z), p(bed.x[1] - 0.1, 0.44, bed.z[0] - 0.09), 0.008));
    let count = ((bed.x[1] - bed.x[0]) / 0.38) as usize;
    for number in 0..=count {
        let x = bed.x[0] + 0.06 + (bed.x[1] - bed.x[0] - 0.12) * number as f32 / count.max(1) as f32;
        parts.add(
            dark,
            block(p(x - 0.022, 0.03 - bed.y, bed.z[0] - 0.10), p(x + 0.022, bed.y - 0.03, bed.z[0] - 0.01), 0.006),
        );
    }
}

/// Adds rivets: low caps in a row on the flank or the rear, from one place to another.
fn add_rivets(parts: &mut Assembly, from: Vec3, to: Vec3, outward: Vec3, spacing: f32) {
    let count = (from.distance(to) / spacing).floor().max(1.0) as usize;
    for number in 0..=count {
        let at = from.lerp(to, number as f32 / count as f32);
        parts.add_pair(Material::Satin, Solid::pin(at - outward * 0.002, at + outward * 0.0035, 0.0075, 6));
    }
}

/// Adds walls in panels between rails and posts, rivets along every joint, and marker lamps.
fn add_box(parts: &mut Assembly, site: &Site<'_>, bed: &Bed) {
    let p = Vec3::new;
    let ([x0, x1], [z0, z1], y) = (bed.x, bed.z, bed.y);
    let wall = site.truck.load_material;
    let inner = y - 0.012;
    parts.add(wall, block(p(x0 + 0.01, -inner, z0), p(x1 - 0.03, inner, z1 - 0.012), 0.03));
    // Lower and upper rails, corner posts.
    let rail = Material::Satin;
    parts.add_pair(rail, block(p(x0, y - 0.03, z0 - 0.05), p(x1, y, z0 + 0.085), 0.008));
    parts.add_pair(rail, block(p(x0 + 0.05, y - 0.04, z1 - 0.095), p(x1, y - 0.002, z1), 0.022));
    parts.add_pair(rail, block(p(x0, y - 0.11, z0 - 0.03), p(x0 + 0.11, y - 0.001, z1), 0.055));
    parts.add(rail, block(p(x0, 0.02 - y, z1 - 0.10), p(x0 + 0.08, y - 0.02, z1), 0.03));
    parts.add(rail, block(p(x0 - 0.002, 0.02 - y, z0 - 0.04), p(x0 + 0.05, y - 0.02, z0 + 0.1), 0.01));
    let count = ((x1 - x0) / 1.22).round().max(2.0) as usize;
    for number in 1..count {
        let x = x0 + (x1 - x0) * number as f32 / count as f32;
        let [low, high] = [z0 + 0.085, z1 - 0.095];
        // A joint: a shallow strip over the two sheets' edges.
        parts.add_pair(wall, block(p(x - 0.032, inner - 0.004, low), p(x + 0.032, inner + 0.005, high), 0.004));
        for side in [-0.018, 0.018] {
            add_rivets(
                parts,
                p(x + side, inner + 0.005, low + 0.04),
                p(x + side, inner + 0.005, high - 0.04),
                Vec3::Y,
                0.13,
            );
        }
        parts.add_pair(
            Material::PanelGap,
            block(p(x + 0.032, inner - 0.002, low), p(x + 0.036, inner + 0.001, high), 0.0005),
        );
        parts.add_pair(
            Material::PanelGap,
            block(p(x - 0.036, inner - 0.002, low), p(x - 0.032, inner + 0.001, high), 0.0005),
        );
    }
    for z in [z0 + 0.06, z1 - 0.072] {
        let out = if z < z0 + 0.5 { y } else { y - 0.002 };
        add_rivets(parts, p(x0 + 0.15, out, z), p(x1 - 0.12, out, z), Vec3::Y, 0.16);
    }
    // Ribs of the front wall and the seams of the roof.
    for number in -2_i32..=2 {
        let across = number as f32 * y * 0.36;
        parts.add(wall, block(p(x0 - 0.004, across - 0.03, z0 + 0.1), p(x0 + 0.03, across + 0.03, z1 - 0.1), 0.006));
    }
    for (ratio, red) in [(0.02, false), (0.5, false), (0.985, true)] {
        let x = x0 + (x1 - x0) * ratio;
        lamps::add_marker(parts, p(x, y - 0.008, z0 + 0.02), Vec3::Y, red);
        lamps::add_marker(parts, p(x, 0.008 - y, z0 + 0.02), -Vec3::Y, red);
    }
    for side in [-1.0, 1.0] {
        lamps::add_marker(parts, p(x0 - 0.006, side * (y - 0.13), z1 - 0.05), -Vec3::X, false);
    }
    for across in [-0.16, 0.0, 0.16] {
        lamps::add_marker(parts, p(x1 + 0.006, across, z1 - 0.05), Vec3::X, true);
    }
}

/// Adds a frame and two doors with hinges, lock rods and rubber at the rear.
fn add_box_doors(parts: &mut Assembly, site: &Site<'_>, bed: &Bed) {
    let p = Vec3::new;
    let (x, [z0, z1], y) = (bed.x[1], bed.z, bed.y);
    let rail = Material::Satin;
    parts.add_pair(rail, block(p(x - 0.07, y - 0.085, z0 - 0.05), p(x, y - 0.001, z1), 0.012));
    parts.add(rail, block(p(x - 0.07, 0.01 - y, z1 - 0.11), p(x, y - 0.01, z1), 0.012));
    parts.add(rail, block(p(x - 0.07, 0.01 - y, z0 - 0.06), p(x + 0.004, y - 0.01, z0 + 0.04), 0.01));
    parts.add(Material::PanelGap, block(p(x - 0.05, 0.02 - y, z0 + 0.03), p(x - 0.028, y - 0.02, z1 - 0.1), 0.004));
    let (low, high, outer) = (z0 + 0.052, z1 - 0.122, y - 0.098);
    parts.add_pair(site.truck.load_material, block(p(x - 0.045, 0.010, low), p(x - 0.008, outer, high), 0.012));
    for number in 0..5 {
        let z = low + (high - low) * (0.06 + 0.22 * number as f32);
        parts
            .add_pair(rail, block(p(x - 0.012, outer - 0.14, z - 0.028), p(x + 0.006, outer + 0.03, z + 0.028), 0.006));
        let foot = p(x + 0.002, outer + 0.012, z - 0.04);
        parts.add_pair(rail, Solid::pin(foot, foot + Vec3::Z * 0.08, 0.014, 10));
    }
    for across in [0.16, 0.62 * outer] {
        let at = |z: f32| p(x + 0.018, across, z);
        parts.add_pair(Material::Chrome, pipe(&[at(z0 - 0.03), at(z1 - 0.06)], 0.0145));
        for z in [z0 - 0.02, z0 + 0.25, z0 + 0.5 * (z1 - z0), z1 - 0.35, z1 - 0.07] {
            parts.add_pair(rail, block(at(z) - p(0.024, 0.04, 0.022), at(z) + p(0.008, 0.04, 0.022), 0.006));
        }
        let grip = z0 + 0.42 * (z1 - z0);
        parts.add_pair(
            Material::Chrome,
            pipe(&[at(grip), at(grip) + p(0.03, 0.05, 0.0), at(grip) + p(0.03, 0.26, -0.01)], 0.011),
        );
    }
    // Rubber buffers and a step.
    parts.add_pair(
        Material::MattBlack,
        block(p(x - 0.02, y - 0.22, z0 - 0.17), p(x + 0.03, y - 0.10, z0 - 0.06), 0.015),
    );
}

/// Adds a floor with a bright edge and planks on it.
fn add_deck(parts: &mut Assembly, bed: &Bed) {
    let p = Vec3::new;
    let ([x0, x1], z, y) = (bed.x, bed.z[0], bed.y);
    parts.add_pair(Material::Satin, block(p(x0, y - 0.05, z - 0.10), p(x1, y - 0.012, z + 0.02), 0.01));
    parts.add(Material::Satin, block(p(x1 - 0.05, 0.02 - y, z - 0.10), p(x1 - 0.01, y - 0.02, z + 0.02), 0.01));
    let planks = 14;
    let width = (2.0 * y - 0.12) / planks as f32;
    for number in 0..planks {
        let from = 0.06 - y + width * number as f32;
        parts.add(
            Material::Interior,
            block(p(x0 + 0.02, from + 0.003, z - 0.02), p(x1 - 0.05, from + width - 0.003, z + 0.012), 0.004),
        );
    }
}

/// Adds a wall behind the cab with a mesh of bars, for decks.
fn add_headboard(parts: &mut Assembly, site: &Site<'_>, bed: &Bed, height: f32) {
    let p = Vec3::new;
    let (x, z, y) = (bed.x[0], bed.z[0], bed.y - 0.04);
    let material = site.truck.load_material;
    parts.add_pair(material, block(p(x, y - 0.09, z), p(x + 0.09, y, z + height), 0.012));
    parts.add(material, block(p(x, -y, z + height - 0.09), p(x + 0.09, y, z + height), 0.012));
    parts.add(material, block(p(x + 0.02, -y, z), p(x + 0.05, y, z + height * 0.42), 0.008));
    for number in -5_i32..=5 {
        let across = number as f32 * y * 0.165;
        parts.add(
            material,
            pipe(&[p(x + 0.045, across, z + height * 0.4), p(x + 0.045, across, z + height - 0.04)], 0.014),
        );
    }
}

/// Adds hinged aluminium sides of three planks between posts, with latches.
fn add_dropsides(parts: &mut Assembly, site: &Site<'_>, bed: &Bed) {
    let p = Vec3::new;
    let ([x0, x1], [z, top], y) = (bed.x, bed.z, bed.y);
    let (low, plank) = (z - 0.05, (top - z + 0.05) / 3.0);
    add_headboard(parts, site, bed, (top - z) + 0.75);
    let bays = ((x1 - x0) / 2.3).round().max(1.0) as usize;
    for bay in 0..bays {
        let [from, to] = [bay, bay + 1].map(|n| x0 + (x1 - x0) * n as f32 / bays as f32);
        for row in 0..3 {
            let z = low + plank * row as f32;
            parts.add_pair(
                site.truck.load_material,
                block(p(from + 0.05, y - 0.03, z), p(to - 0.05, y - 0.003, z + plank - 0.005), 0.009),
            );
            let bead = z + plank * 0.5;
            parts.add_pair(
                site.truck.load_material,
                block(p(from + 0.06, y - 0.01, bead - 0.012), p(to - 0.06, y, bead + 0.012), 0.006),
            );
        }
        for x in [from, to] {
            parts.add_pair(
                Material::Satin,
                block(p(x - 0.045, y - 0.05, low - 0.03), p(x + 0.045, y - 0.002, top + 0.02), 0.01),
            );
            parts.add_pair(
                Material::MattBlack,
                block(p(x - 0.02, y - 0.006, top - 0.13), p(x + 0.02, y + 0.008, top - 0.02), 0.006),
            );
        }
        for ratio in [0.2, 0.5, 0.8] {
            let x = from + (to - from) * ratio;
            parts.add_pair(
                Material::MattBlack,
                block(p(x - 0.03, y - 0.01, low - 0.05), p(x + 0.03, y + 0.006, low + 0.09), 0.006),
            );
        }
    }
    for row in 0..3 {
        let z = low + plank * row as f32;
        parts.add(
            site.truck.load_material,
            block(p(x1 - 0.03, 0.06 - y, z), p(x1 - 0.003, y - 0.06, z + plank - 0.005), 0.009),
        );
    }
    for across in [-0.5, 0.5] {
        parts.add(
            Material::MattBlack,
            block(p(x1 - 0.01, across - 0.03, low - 0.05), p(x1 + 0.006, across + 0.03, low + 0.09), 0.006),
        );
    }
}

/// Adds stake pockets along the edge, a rub rail on spacers, and a wall behind the cab.
fn add_stakes(parts: &mut Assembly, site: &Site<'_>, bed: &Bed) {
    let p = Vec3::new;
    let ([x0, x1], z, y) = (bed.x, bed.z[0], bed.y);
    add_headboard(parts, site, bed, 1.15);
    let count = ((x1 - x0) / 0.6).round().max(2.0) as usize;
    for number in 0..=count {
        let x = x0 + 0.10 + (x1 - x0 - 0.2) * number as f32 / count as f32;
        parts.add_pair(
            Material::MattBlack,
            block(p(x - 0.04, y - 0.03, z - 0.12), p(x + 0.04, y - 0.004, z + 0.012), 0.008),
        );
        parts.add_pair(Material::Satin, block(p(x - 0.026, y - 0.034, z), p(x + 0.026, y - 0.012, z + 0.62), 0.006));
    }
    for row in 0..3 {
        let low = z + 0.10 + 0.19 * row as f32;
        parts.add_pair(
            site.truck.load_material,
            block(p(x0 + 0.05, y - 0.060, low), p(x1 - 0.03, y - 0.034, low + 0.12), 0.008),
        );
        parts.add(
            site.truck.load_material,
            block(p(x1 - 0.055, 0.07 - y, low), p(x1 - 0.03, y - 0.07, low + 0.12), 0.008),
        );
    }
    parts.add_pair(Material::MattBlack, block(p(x0, y - 0.004, z - 0.09), p(x1, y, z - 0.03), 0.003));
}

/// Adds a tub with ribs, a rail along its top, a hinged gate at the rear and a shield over the cab.
fn add_tipper(parts: &mut Assembly, site: &Site<'_>, bed: &Bed) {
    let p = Vec3::new;
    let ([x0, x1], [z0, z1], y) = (bed.x, bed.z, bed.y);
    let paint = site.truck.load_material;
    let wall = y - 0.07;
    let (floor, thick) = (z0 + 0.02, 0.035);
    // Long sills under the floor, on the frame, with the hinge at the rear.
    parts.add_pair(Material::MattBlack, block(p(x0 + 0.15, 0.34, site.frame_z), p(x1 - 0.1, 0.44, z0 - 0.07), 0.01));
    parts.add_pair(paint, block(p(x0 + 0.05, 0.32, z0 - 0.12), p(x1, 0.46, z0), 0.015));
    let joists = ((x1 - x0) / 0.45) as usize;
    for number in 0..=joists {
        let x = x0 + 0.05 + (x1 - x0 - 0.1) * number as f32 / joists.max(1) as f32;
        parts.add(paint, block(p(x - 0.03, -wall, z0 - 0.09), p(x + 0.03, wall, z0), 0.01));
    }
    parts.add(paint, block(p(x0, -wall, z0 - 0.01), p(x1, wall, floor), 0.008));
    parts.add_pair(paint, block(p(x0, wall - thick, z0 - 0.01), p(x1, wall, z1), 0.01));
    parts.add_pair(paint, block(p(x0 - 0.02, wall - 0.06, z1 - 0.10), p(x1 + 0.02, y - 0.012, z1), 0.025));
    parts.add_pair(paint, block(p(x0 - 0.02, wall - 0.04, z0 - 0.06), p(x1, y - 0.02, z0 + 0.08), 0.02));
    let ribs = ((x1 - x0) / 0.68).round().max(2.0) as usize;
    for number in 0..=ribs {
        let x = x0 + 0.05 + (x1 - x0 - 0.1) * number as f32 / ribs as f32;
        let half = if number == 0 || number == ribs { 0.05 } else { 0.07 };
        let ring = |z: f32| {
            [[-half, 0.0], [-half * 0.62, 0.055], [half * 0.62, 0.055], [half, 0.0]]
                .map(|[dx, out]| p(x + dx, wall + out, z))
                .to_vec()
        };
        parts.add_pair(paint, Solid::lofted(&[ring(z0 + 0.06), ring(z1 - 0.08)]));
    }
    add_tipper_ends(parts, site, bed, wall);
}

fn add_tipper_ends(parts: &mut Assembly, site: &Site<'_>, bed: &Bed, wall: f32) {
    let p = Vec3::new;
    let ([x0, x1], [z0, z1]) = (bed.x, bed.z);
    let paint = site.truck.load_material;
    // The front wall with ribs, higher than the sides. The gate at the rear has a frame of its own.
    let head = z1 + 0.16;
    parts.add(paint, block(p(x0 - 0.02, -wall, z0), p(x0 + 0.03, wall, head), 0.012));
    for number in -2_i32..=2 {
        let across = number as f32 * wall * 0.42;
        parts.add(paint, block(p(x0 - 0.07, across - 0.05, z0), p(x0, across + 0.05, head - 0.03), 0.02));
    }
    parts.add(paint, block(p(x1 - 0.005, -wall, z0 - 0.03), p(x1 + 0.03, wall, z1 - 0.02), 0.01));
    for z in [z0 + 0.02, z0 + 0.5 * (z1 - z0), z1 - 0.09] {
        parts.add(paint, block(p(x1 + 0.01, -wall, z - 0.05), p(x1 + 0.075, wall, z + 0.05), 0.025));
    }
    for across in [-0.96_f32, -0.33, 0.33, 0.96] {
        let y = across * wall;
        parts.add(paint, block(p(x1 + 0.01, y - 0.045, z0), p(x1 + 0.07, y + 0.045, z1 - 0.06), 0.02));
    }
    // Hinges of the gate, and the lugs of its chains.
    for z in [z0 + 0.01, z1 + 0.02] {
        parts.add_pair(
            Material::MattBlack,
            block(p(x1 - 0.06, wall - 0.05, z - 0.04), p(x1 + 0.08, wall + 0.035, z + 0.04), 0.02),
        );
    }
    // Locks at the foot with their rod, chains beside them, and a lamp over the gate.
    let rod = [p(x1 + 0.06, -wall + 0.05, z0 - 0.055), p(x1 + 0.06, wall - 0.05, z0 - 0.055)];
    parts.add(Material::Satin, pipe(&rod, 0.016));
    for across in [-0.82_f32, -0.30, 0.30, 0.82] {
        let y = across * wall;
        parts.add(
            Material::MattBlack,
            block(p(x1 + 0.03, y - 0.035, z0 - 0.09), p(x1 + 0.105, y + 0.035, z0 + 0.035), 0.018),
        );
    }
    let lug = p(x1 + 0.07, wall - 0.03, z1 - 0.14);
    let chain = curve_through(&[lug, lug + p(0.05, 0.03, -0.22), lug + p(0.01, 0.03, -0.48)], 8);
    parts.add_pair(Material::Satin, pipe(&chain, 0.009));
    for side in [-1.0, 1.0] {
        let grip = p(x1 + 0.075, side * wall * 0.62, z0 + 0.30 * (z1 - z0));
        let path = [grip, grip + p(0.045, 0.0, 0.02), grip + p(0.045, 0.0, 0.16), grip + p(0.0, 0.0, 0.18)];
        parts.add(Material::Satin, pipe(&curve_through(&path, 4), 0.011));
    }
    if site.truck.class == Class::Conventional {
        // The shield over the cab.
        let reach = (x0 - site.cab_rear_x + 0.75).clamp(0.4, 0.95);
        parts.add(paint, block(p(x0 - reach, -wall, head - 0.03), p(x0 + 0.02, wall, head + 0.015), 0.012));
        parts
            .add(paint, block(p(x0 - reach - 0.02, -wall, head - 0.06), p(x0 - reach + 0.04, wall, head + 0.05), 0.02));
        parts.add_pair(paint, block(p(x0 - reach, wall - 0.05, head - 0.06), p(x0 + 0.02, wall, head + 0.05), 0.02));
    }
    // The hoist: three sleeves between cab and tub.
    let foot = Vec2::new(x0 + 0.35, site.frame_z - 0.05);
    let tip = Vec2::new(x0 - 0.02, z0 + 0.55 * (z1 - z0));
    for (ratio, radius, material) in
        [(0.55, 0.075, Material::MattBlack), (0.8, 0.06, Material::Satin), (1.0, 0.045, Material::Chrome)]
    {
        let end = foot.lerp(tip, ratio);
        parts.add(material, pipe(&[p(foot.x, 0.0, foot.y), p(end.x, 0.0, end.y)], radius));
    }
}

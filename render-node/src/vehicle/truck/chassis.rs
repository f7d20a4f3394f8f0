//! The frame and the parts on it: rails, cross members, axles, springs, tanks, air bottles,
//! batteries, mudguards and flaps, side guards, the rear guard with its lamps, and a tractor's
//! fifth wheel with its catwalk and air lines.

use std::f32::consts::TAU;

use glam::{Vec2, Vec3};

use super::lamps;
use super::site::Site;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, block, mudguard, pipe};
use crate::vehicle::parts::solid::{Solid, rounded_rectangle};
use crate::vehicle::sheet::truck::{Class, FuelTankForm, Load};

/// Distance of a rail's web from the centre plane, in metres.
const RAIL_Y: f32 = 0.42;
/// Height of a rail.
const RAIL_HEIGHT_M: f32 = 0.255;
/// Width of a rail's flanges.
const FLANGE_M: f32 = 0.085;
/// Thickness of a rail's plates.
const PLATE_M: f32 = 0.012;

pub(super) fn add(parts: &mut Assembly, site: &Site<'_>) {
    let tail = site.length - 0.03;
    add_rails(parts, site, tail);
    let scale = site.hub_z / 0.5;
    add_front_axle(parts, site, scale);
    for x in site.driven_axles() {
        add_driven_axle(parts, site, x, scale);
    }
    let p = Vec3::new;
    let shaft_z = site.frame_z - 0.20;
    parts.add(Material::Underbody, pipe(&[p(site.front_x + 0.4, 0.0, shaft_z), p(site.rear_x, 0.0, site.hub_z)], 0.06));
    match site.truck.tank {
        FuelTankForm::None => {}
        FuelTankForm::Round => add_round_tank(parts, site),
        FuelTankForm::Square => add_square_tank(parts, site),
    }
    add_boxes(parts, site, scale);
    add_wheel_covers(parts, site);
    if site.truck.side_guard {
        add_side_guard(parts, site);
    }
    add_tail(parts, site, tail);
    if site.truck.load == Load::FifthWheel {
        add_fifth_wheel(parts, site);
    }
}

fn add_rails(parts: &mut Assembly, site: &Site<'_>, tail: f32) {
    let p = Vec3::new;
    let from = match site.truck.class {
        Class::Conventional => site.front_x - 0.55,
        Class::CabOver => site.front_x - 0.3,
    };
    let (top, low) = (site.frame_z, site.frame_z - RAIL_HEIGHT_M);
    let dark = Material::MattBlack;
    parts.add_pair(dark, block(p(from, RAIL_Y, low), p(tail, RAIL_Y + PLATE_M, top), 0.004));
    for z in [low, top - PLATE_M] {
        parts.add_pair(dark, block(p(from, RAIL_Y - FLANGE_M, z), p(tail, RAIL_Y + PLATE_M, z + PLATE_M), 0.004));
    }
    let count = ((tail - from) / 0.85).ceil().max(2.0) as usize;
    for number in 0..=count {
        let x = from + 0.06 + (tail - from - 0.12) * number as f32 / count as f32;
        parts.add(dark, block(p(x - 0.05, -RAIL_Y, low + 0.04), p(x + 0.05, RAIL_Y, top - 0.03), 0.02));
        // Bolts through the web.
        for (dx, z) in [(-0.04, low + 0.07), (0.04, low + 0.07), (-0.04, top - 0.07), (0.04, top - 0.07)] {
            let foot = p(x + dx, RAIL_Y + PLATE_M, z);
            parts.add_pair(dark, Solid::pin(foot, foot + Vec3::Y * 0.012, 0.012, 6));
        }
    }
}

/// Adds a stack of leaves between two hangers.
fn add_springs(parts: &mut Assembly, x: f32, reach: f32, z: f32, top: f32) {
    for leaf in 0..4 {
        let half = reach * (1.0 - 0.2 * leaf as f32);
        let drop = 0.022 * leaf as f32;
        let path: Vec<Vec3> = (0..=8)
            .map(|step| {
                let t = step as f32 / 4.0 - 1.0;
                Vec3::new(x + t * half, RAIL_Y + 0.05, z - drop + 0.10 * (t * half / reach).powi(2))
            })
            .collect();
        let leaf = Solid::swept(&path, Vec3::Z, |_| rounded_rectangle(0.04, 0.009, 0.004));
        parts.add_pair(Material::Underbody, leaf);
    }
    for end in [-reach, reach] {
        parts.add_pair(
            Material::MattBlack,
            block(Vec3::new(x + end - 0.05, RAIL_Y, z + 0.06), Vec3::new(x + end + 0.05, RAIL_Y + 0.09, top), 0.02),
        );
    }
}

fn add_front_axle(parts: &mut Assembly, site: &Site<'_>, scale: f32) {
    let (x, hub, reach) = (site.front_x, site.hub_z, site.half_width - 0.32);
    let p = Vec3::new;
    parts.add(
        Material::Underbody,
        pipe(&[p(x, -reach, hub), p(x, -0.4, hub - 0.1), p(x, 0.4, hub - 0.1), p(x, reach, hub)], 0.055 * scale),
    );
    add_springs(parts, x, 0.70 * scale, hub + 0.02, site.frame_z - 0.1);
}

fn add_driven_axle(parts: &mut Assembly, site: &Site<'_>, x: f32, scale: f32) {
    let reach = site.half_width - 0.30;
    let hub = site.hub_z;
    let p = Vec3::new;
    // The beam swells towards the final drive.
    let path: Vec<Vec3> = (-10..=10).map(|i| p(x, reach * i as f32 / 10.0, hub)).collect();
    let radius = |i: usize| {
        let across = (i as f32 - 10.0).abs() * 0.1 * reach;
        scale * (0.078 + 0.10 * (-(across / 0.24).powi(4)).exp())
    };
    parts.add_soft(Material::BrakeDisc, Solid::tube(&path, 24, radius));
    let middle = p(x + 0.05 * scale, 0.0, hub);
    let cover = Solid::superellipsoid(p(0.17, 0.19, 0.19) * scale, 2.2, 18, 36);
    parts.add_soft(Material::BrakeDisc, cover.moved(middle));
    parts.add(Material::BrakeDisc, Solid::pin(middle - Vec3::X * 0.02, middle + Vec3::X * 0.02, 0.225 * scale, 36));
    for number in 0..12 {
        let way = Vec2::from_angle(TAU * number as f32 / 12.0) * 0.207 * scale;
        let foot = middle + p(0.018, way.x, way.y);
        parts.add(Material::Satin, Solid::pin(foot, foot + Vec3::X * 0.016, 0.013, 6));
    }
    // The drive's neck, brake chambers with their clamps, and shock absorbers.
    parts.add(Material::BrakeDisc, pipe(&[p(x - 0.42, 0.0, hub + 0.03), p(x, 0.0, hub)], 0.11 * scale));
    for (along, thick, material) in
        [(0.0, 0.078, Material::MattBlack), (0.115, 0.084, Material::Satin), (0.135, 0.080, Material::MattBlack)]
    {
        let at = p(x + 0.10 + along, 0.30, hub + 0.10 * scale);
        let length = if material == Material::Satin { 0.02 } else { 0.11 };
        parts.add_pair(material, Solid::pin(at, at + Vec3::X * length, thick * scale, 20));
    }
    let foot = p(x + 0.16, RAIL_Y + 0.02, hub - 0.06);
    let head = p(x + 0.10, RAIL_Y - 0.03, site.frame_z - 0.06);
    let half = foot.lerp(head, 0.55);
    parts.add_pair(Material::Satin, pipe(&[foot, half], 0.026));
    parts.add_pair(Material::MattBlack, pipe(&[half - (head - foot) * 0.04, head], 0.038));
    let tandem = site.truck.tandem;
    let reach = if tandem > 0.0 { (tandem * 0.5 - 0.06).min(0.6) } else { 0.72 * scale };
    if site.truck.class == Class::CabOver && site.truck.load == Load::FifthWheel {
        add_bellows(parts, x, reach * 0.62, hub, site.frame_z - 0.06);
    } else {
        add_springs(parts, x, reach, hub + 0.12 * scale, site.frame_z - 0.12);
    }
}

/// Adds air springs in front of and behind an axle, on a beam along the frame.
fn add_bellows(parts: &mut Assembly, x: f32, reach: f32, hub: f32, top: f32) {
    let p = Vec3::new;
    let low = hub - 0.02;
    parts.add_pair(
        Material::MattBlack,
        block(p(x - reach - 0.12, RAIL_Y - 0.06, low - 0.07), p(x + reach + 0.12, RAIL_Y + 0.06, low), 0.02),
    );
    for end in [-reach, reach] {
        let foot = p(x + end, RAIL_Y, low);
        parts.add_pair(Material::MattBlack, Solid::pin(foot, foot + Vec3::Z * 0.08, 0.09, 20));
        let height = (top - low - 0.08).max(0.10);
        for (ratio, radius) in [(0.30, 0.135), (0.72, 0.135)] {
            let bulge = Solid::superellipsoid(p(radius, radius, height * 0.30), 2.6, 10, 24);
            parts.add_pair(Material::Tyre, bulge.moved(foot + Vec3::Z * (0.08 + height * ratio)));
        }
    }
}

/// Returns a loft along x through one section, closed at both ends.
fn prism(section: &[Vec2], [from, to]: [f32; 2], at: Vec2, bevel: f32) -> Solid {
    let ring = |x: f32, ratio: f32| -> Vec<Vec3> {
        section.iter().map(|p| Vec3::new(x, at.x + p.x * ratio, at.y + p.y * ratio)).collect()
    };
    Solid::lofted(&[ring(from, 0.93), ring(from + bevel, 1.0), ring(to - bevel, 1.0), ring(to, 0.93)])
}

fn circle(radius: f32, count: usize) -> Vec<Vec2> {
    (0..count).map(|i| Vec2::from_angle(TAU * i as f32 / count as f32) * radius).collect()
}

/// Returns x of the tanks' front and rear end, in real metres.
fn tank_ends(site: &Site<'_>) -> [f32; 2] {
    let [from, to] = site.truck.tank_x;
    if to > from {
        [site.real(from, 0.0, 0.0).x, site.real(to, 0.0, 0.0).x]
    } else {
        let from = site.cab_rear_x.max(site.front_x + site.hub_z + 0.12) + 0.05;
        [from, (from + 1.0).min(site.rear_wheels()[0] - 0.15)]
    }
}

/// Adds a polished cylinder under the door, with straps, filler cap and two steps outside it.
fn add_round_tank(parts: &mut Assembly, site: &Site<'_>) {
    let [from, to] = tank_ends(site);
    let radius = 0.295 * (site.hub_z / 0.5).clamp(0.82, 1.05);
    let at = Vec2::new(site.half_width - radius - 0.04, site.frame_z - 0.10 - radius);
    parts.add_pair(Material::Chrome, prism(&circle(radius, 40), [from, to], at, 0.03));
    let straps = ((to - from) / 0.7).ceil().max(2.0) as usize;
    let p = Vec3::new;
    for number in 0..straps {
        let x = from + (to - from) * (number as f32 + 0.5) / straps as f32;
        parts.add_pair(Material::Satin, prism(&circle(radius + 0.006, 40), [x - 0.03, x + 0.03], at, 0.004));
        parts.add_pair(
            Material::MattBlack,
            block(p(x - 0.035, RAIL_Y, at.y - radius * 0.9), p(x + 0.035, at.x, at.y - radius * 0.75), 0.01),
        );
        parts.add_pair(
            Material::MattBlack,
            block(p(x - 0.035, RAIL_Y, at.y - radius * 0.9), p(x + 0.035, RAIL_Y + 0.06, site.frame_z), 0.01),
        );
    }
    let cap = p(from + 0.25, at.x + radius * 0.45, at.y + radius * 0.86);
    parts.add_pair(Material::Satin, Solid::pin(cap, cap + p(0.0, 0.03, 0.055), 0.055, 18));
    // Steps on hangers along the outer wall.
    for (z, out) in [(at.y - radius * 0.62, 0.02), (at.y + radius * 0.30, 0.015)] {
        let y = site.half_width - 0.01;
        let step = [p(from + 0.05, y - 0.09 - out, z - 0.014), p(from + 0.62, y, z + 0.014)];
        parts.add_pair(Material::Satin, block(step[0], step[1], 0.006));
        for rib in 0..5 {
            let y = y - 0.012 - 0.018 * rib as f32;
            parts.add_pair(
                Material::MattBlack,
                block(p(from + 0.07, y - 0.004, z + 0.012), p(from + 0.60, y + 0.004, z + 0.018), 0.002),
            );
        }
    }
    for x in [from + 0.10, from + 0.55] {
        let y = site.half_width - 0.03;
        let hanger = [p(x, at.x, at.y + radius + 0.02), p(x, y, at.y + radius * 0.6), p(x, y, at.y - radius * 0.66)];
        parts.add_pair(Material::Satin, pipe(&hanger, 0.012));
    }
}

/// Adds a box of ribbed aluminium with round edges.
fn add_square_tank(parts: &mut Assembly, site: &Site<'_>) {
    let [from, to] = tank_ends(site);
    let scale = (site.hub_z / 0.5).clamp(0.8, 1.05);
    let (half_width, half_height) = (0.30 * scale, 0.29 * scale);
    let at = Vec2::new(site.half_width - half_width - 0.05, site.frame_z - 0.06 - half_height);
    let section = |grow: f32| rounded_rectangle(half_width + grow, half_height + grow, 0.09 * scale);
    parts.add_pair(Material::Satin, prism(&section(0.0), [from, to], at, 0.02));
    let p = Vec3::new;
    for ratio in [0.22, 0.78] {
        let x = from + (to - from) * ratio;
        parts.add_pair(Material::MattBlack, prism(&section(0.007), [x - 0.028, x + 0.028], at, 0.004));
        parts.add_pair(
            Material::MattBlack,
            block(p(x - 0.035, RAIL_Y, at.y - half_height), p(x + 0.035, RAIL_Y + 0.05, site.frame_z), 0.01),
        );
    }
    let cap = p(from + (to - from) * 0.5, at.x + half_width * 0.4, at.y + half_height - 0.01);
    parts.add_pair(Material::MattBlack, Solid::pin(cap, cap + Vec3::Z * 0.05, 0.05, 18));
}

/// Adds the battery box and air bottles between tank and rear wheels.
fn add_boxes(parts: &mut Assembly, site: &Site<'_>, scale: f32) {
    let p = Vec3::new;
    let from = tank_ends(site)[1] + 0.10;
    let room = site.rear_wheels()[0] - 0.12 - from;
    let top = site.frame_z - 0.06;
    if room > 0.55 {
        let (low, y) = (top - 0.42 * scale, [site.half_width - 0.62, site.half_width - 0.06]);
        parts.add_pair(Material::MattBlack, block(p(from, y[0], low), p(from + 0.5, y[1], top - 0.06), 0.015));
        parts.add_pair(
            Material::MattBlack,
            block(p(from - 0.012, y[0], top - 0.055), p(from + 0.512, y[1] + 0.01, top), 0.02),
        );
        for rib in 0..4 {
            let x = from + 0.08 + 0.11 * rib as f32;
            parts.add_pair(
                Material::MattBlack,
                block(p(x, y[1] - 0.01, low + 0.05), p(x + 0.04, y[1] + 0.008, top - 0.09), 0.008),
            );
        }
        parts.add_pair(
            Material::Satin,
            block(p(from + 0.2, y[1], top - 0.10), p(from + 0.28, y[1] + 0.016, top - 0.03), 0.006),
        );
    }
    if room > 1.15 {
        for (number, z) in [top - 0.14, top - 0.38].into_iter().enumerate() {
            let at = Vec2::new(site.half_width - 0.30, z);
            let ends = [from + 0.62, from + 1.12 + 0.08 * number as f32];
            parts.add_pair(Material::MattBlack, prism(&circle(0.105, 24), ends, at, 0.04));
            for x in [ends[0] + 0.12, ends[1] - 0.12] {
                parts.add_pair(Material::Satin, prism(&circle(0.108, 24), [x - 0.012, x + 0.012], at, 0.002));
            }
        }
    }
}

/// Adds mudguards and flaps at the rear wheels.
fn add_wheel_covers(parts: &mut Assembly, site: &Site<'_>) {
    let p = Vec3::new;
    let [_, rear_end] = site.rear_wheels();
    let (inner, outer) = (site.half_width - 0.66, site.half_width - 0.02);
    let flap = rear_end + 0.07;
    let top = site.frame_z + 0.02;
    if flap + 0.02 < site.length {
        parts.add_pair(Material::MattBlack, block(p(flap, inner, 0.24), p(flap + 0.012, outer, top), 0.004));
        parts.add_pair(Material::Satin, block(p(flap - 0.006, inner, top - 0.04), p(flap + 0.02, outer, top), 0.006));
        parts.add_pair(
            Material::Satin,
            block(p(flap + 0.008, inner + 0.04, 0.25), p(flap + 0.018, outer - 0.04, 0.29), 0.003),
        );
    }
    let open_above = site.truck.load == Load::FifthWheel;
    if !open_above && site.truck.class == Class::Conventional {
        return;
    }
    for x in site.driven_axles() {
        for side in [1.0, -1.0] {
            let centre = p(x, side * (inner + outer) * 0.5, site.hub_z);
            let angles = if site.truck.tandem > 0.0 { [42.0, 138.0] } else { [18.0, 162.0] };
            let guard = mudguard(centre, site.hub_z + 0.075, outer - inner, 0.014, angles);
            parts.add(Material::MattBlack, guard);
            let lip = mudguard(centre.with_y(side * outer), site.hub_z + 0.064, 0.014, 0.034, angles);
            parts.add(Material::MattBlack, lip);
        }
    }
}

/// Adds two rails on posts along the open side between the wheels.
fn add_side_guard(parts: &mut Assembly, site: &Site<'_>) {
    let p = Vec3::new;
    let from = tank_ends(site)[1] + 0.08;
    let to = site.rear_wheels()[0] - 0.14;
    if to - from < 0.5 {
        return;
    }
    let y = site.half_width - 0.03;
    for z in [0.44, 0.70] {
        parts.add_pair(Material::Satin, block(p(from, y - 0.025, z - 0.05), p(to, y, z + 0.05), 0.012));
        parts.add_pair(
            Material::MattBlack,
            block(p(from + 0.01, y - 0.004, z - 0.012), p(to - 0.01, y + 0.002, z + 0.012), 0.002),
        );
    }
    for ratio in [0.12, 0.5, 0.88] {
        let x = from + (to - from) * ratio;
        parts.add_pair(
            Material::MattBlack,
            block(p(x - 0.03, y - 0.06, 0.40), p(x + 0.03, y - 0.02, site.frame_z), 0.01),
        );
        parts.add_pair(Material::MattBlack, pipe(&[p(x, y - 0.05, 0.62), p(x, RAIL_Y, site.frame_z - 0.1)], 0.02));
    }
}

/// Adds the rear underrun guard with its lamps.
fn add_tail(parts: &mut Assembly, site: &Site<'_>, tail: f32) {
    let p = Vec3::new;
    let reach = site.half_width - 0.06;
    let open = site.truck.load == Load::FifthWheel;
    let lamp_z = if open { site.frame_z - 0.17 } else { (site.frame_z - 0.20).max(0.62) };
    let size = Vec2::new(0.36, 0.125);
    let lamp_y = site.half_width - 0.10 - size.x * 0.5;
    lamps::add_tail(parts, p(tail, lamp_y, lamp_z), size, site.year);
    // A bar that carries the lamps.
    parts.add(
        Material::MattBlack,
        block(p(tail - 0.10, -reach, lamp_z - 0.05), p(tail - 0.06, reach, lamp_z + 0.05), 0.01),
    );
    // The plate light and an empty plate holder.
    parts.add(
        Material::MattBlack,
        block(p(tail - 0.02, -0.28, lamp_z - 0.07), p(tail - 0.008, 0.28, lamp_z + 0.06), 0.005),
    );
    if open {
        return;
    }
    let z = 0.47;
    let american = site.truck.class == Class::Conventional;
    let section = if american { [0.04, 0.05] } else { [0.05, 0.06] };
    parts.add(
        if american { Material::MattBlack } else { Material::Satin },
        block(p(tail - 0.05 - section[0], -reach, z - section[1]), p(tail - 0.05, reach, z + section[1]), 0.016),
    );
    parts.add_pair(Material::MattBlack, block(p(tail - 0.12, 0.36, z), p(tail - 0.05, 0.44, site.frame_z), 0.012));
    add_reflex_tape(parts, tail - 0.049, z, reach - 0.03);
    // The tow hook.
    let hook = [p(tail - 0.02, 0.0, site.frame_z - 0.16), p(tail + 0.02, 0.0, site.frame_z - 0.2)];
    parts.add(Material::MattBlack, pipe(&hook, 0.03));
}

/// Adds fields of reflecting tape across the guard, red and white in turn.
fn add_reflex_tape(parts: &mut Assembly, x: f32, z: f32, reach: f32) {
    const FIELD_M: f32 = 0.13;
    let p = Vec3::new;
    let count = (reach / FIELD_M) as usize;
    for number in 0..count {
        let [from, to] = [number, number + 1].map(|n| reach * n as f32 / count as f32);
        let material = if number % 2 == 0 { Material::Satin } else { Material::LampRed };
        parts.add_pair(
            material,
            block(p(x - 0.003, from + 0.002, z - 0.024), p(x + 0.0025, to - 0.002, z + 0.024), 0.001),
        );
    }
}

/// Adds a tractor's coupling plate on its stand, the catwalk behind the
/// cab and the air lines over it.
fn add_fifth_wheel(parts: &mut Assembly, site: &Site<'_>) {
    let p = Vec3::new;
    let middle = site.rear_x + if site.truck.tandem > 0.0 { 0.45 * site.truck.tandem } else { -0.05 };
    let top = site.frame_z + 0.24;
    // The plate: round in front, with a mouth and two horns behind. The
    // outline is that of one half.
    let outline: Vec<Vec2> = [
        [-0.40, 0.0],
        [-0.39, 0.20],
        [-0.33, 0.36],
        [-0.20, 0.455],
        [0.05, 0.47],
        [0.30, 0.44],
        [0.48, 0.30],
        [0.50, 0.22],
        [0.47, 0.16],
        [0.20, 0.05],
        [0.12, 0.035],
        [0.10, 0.0],
    ]
    .map(|[x, y]| Vec2::new(x, y))
    .to_vec();
    let level = |z: f32, ratio: f32| -> Vec<Vec3> {
        outline.iter().map(|o| p(middle + o.x * ratio, o.y * ratio, top + z - 0.10 * (o.x - 0.1).max(0.0))).collect()
    };
    let plate = Solid::lofted(&[level(-0.05, 0.97), level(-0.012, 1.0), level(0.0, 0.985)]);
    parts.add_pair(Material::BrakeDisc, plate);
    parts.add_pair(
        Material::MattBlack,
        block(p(middle - 0.18, 0.26, site.frame_z), p(middle + 0.18, 0.36, top - 0.04), 0.03),
    );
    parts.add(
        Material::MattBlack,
        block(p(middle - 0.42, -0.5, site.frame_z), p(middle + 0.42, 0.5, site.frame_z + 0.03), 0.01),
    );
    // The catwalk of slats.
    let from = site.cab_rear_x + 0.12;
    let to = (middle - 0.75).min(site.rear_wheels()[0] + 0.1).max(from + 0.3);
    let slats = ((to - from) / 0.05).floor() as usize;
    for number in 0..slats {
        let x = from + 0.05 * number as f32;
        parts.add(
            Material::Satin,
            block(p(x, -0.52, site.frame_z + 0.005), p(x + 0.036, 0.52, site.frame_z + 0.028), 0.004),
        );
    }
    parts.add_pair(Material::Satin, block(p(from, 0.51, site.frame_z), p(to, 0.53, site.frame_z + 0.035), 0.004));
}

//! A quad: balloon tyres under wide mudguards, saddle, handlebar, racks at the front and the rear.

use glam::Vec3;

use crate::vehicle::machine::size::MachineSize;
use crate::vehicle::machine::traits::Traits;
use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::motorcycle::cockpit::add_grip;
use crate::vehicle::motorcycle::design::LampEra;
use crate::vehicle::motorcycle::lamps::{LampOpening, set_lamp, set_tail_lamp};
use crate::vehicle::motorcycle::seat::add_seat_seams;
use crate::vehicle::motorcycle::shapes::{LoftedSkin, add_shock, bolt, convex, cut_from_front, hose, tube};
use crate::vehicle::parts::assembly::{Assembly, bar, block, mudguard};
use crate::vehicle::parts::wheel::axle;
use crate::vehicle::parts::wheel::spec::{Motif, RimFinish, Tread, Wheel};

/// Positions where the parts meet, in metres.
#[derive(Clone, Copy)]
struct QuadLayout {
    size: MachineSize,
    traits: Traits,
    /// Radius of every wheel.
    radius: f32,
    /// Width of a rear tyre.
    tyre: f32,
    front_x: f32,
    rear_x: f32,
    /// x halfway between the axles.
    middle: f32,
    /// Height of the front mudguards.
    front_guard: f32,
    rear_guard: f32,
}

impl QuadLayout {
    fn of(size: MachineSize, traits: Traits) -> QuadLayout {
        let MachineSize { length, width, height, wheelbase } = size;
        let front_x = (length - wheelbase) * 0.46;
        let rear_x = front_x + wheelbase;
        QuadLayout {
            size,
            traits,
            radius: 0.262 * height * (1.0 + 0.05 * traits.tyres),
            tyre: 0.20 * width * (1.0 + 0.12 * traits.fittings),
            front_x,
            rear_x,
            middle: (front_x + rear_x) * 0.5,
            front_guard: (0.63 + 0.015 * traits.nose) * height,
            rear_guard: (0.66 + 0.012 * traits.cab) * height,
        }
    }
}

pub(super) fn quad(size: MachineSize, traits: Traits) -> VehicleMesh {
    let MachineSize { width, height, .. } = size;
    let layout = QuadLayout::of(size, traits);
    let QuadLayout { radius, front_x, .. } = layout;
    let mut parts = Assembly::default();
    let p = Vec3::new;
    add_wheels(&mut parts, &layout);
    add_frame(&mut parts, &layout);
    add_mudguards(&mut parts, &layout);
    add_nose(&mut parts, front_x, radius, size, traits);
    parts.add(
        Material::MattBlack,
        block(
            p(front_x - radius * 1.15, -width * 0.11, 0.40 * height),
            p(front_x - radius * 0.9, width * 0.11, 0.475 * height),
            0.03,
        ),
    );
    add_saddle(&mut parts, &layout);
    let head = p(front_x + radius * 0.95, 0.0, 0.80 * height);
    parts.add(
        Material::MattBlack,
        bar(&[p(front_x + 0.08, 0.0, 0.55 * height), head, head + p(0.03, 0.0, 0.06 * height)], 0.03),
    );
    add_bars(&mut parts, head, size);
    add_racks(&mut parts, &layout);
    add_bumpers(&mut parts, &layout);
    parts.mesh
}

fn add_wheels(parts: &mut Assembly, layout: &QuadLayout) {
    let QuadLayout { size: MachineSize { width, .. }, traits, radius, tyre, front_x, rear_x, .. } = *layout;
    let wheel = |width: f32| Wheel {
        diameter: radius * 2.0,
        width,
        rim_diameter: radius * 0.98,
        dish: 0.03,
        motif: Motif::OffRoad,
        style: 0,
        finish: if traits.lamps > 0.2 { RimFinish::Bright } else { RimFinish::Dark },
        tread: Tread::AllTerrain,
        turn_degrees: 0.0,
    };
    parts.add_mesh(&axle(&wheel(tyre * 0.92), front_x, width));
    parts.add_mesh(&axle(&wheel(tyre), rear_x, width));
}

/// Adds frame, engine and swing arms.
fn add_frame(parts: &mut Assembly, layout: &QuadLayout) {
    let QuadLayout { size, radius, front_x, rear_x, middle, .. } = *layout;
    let MachineSize { width, height, .. } = size;
    let p = Vec3::new;
    parts.add(Material::Underbody, block(p(front_x, -0.15, radius * 0.72), p(rear_x, 0.15, radius * 1.15), 0.04));
    parts.add(
        Material::Underbody,
        block(p(middle - 0.22, -0.20, radius * 0.8), p(middle + 0.20, 0.20, 0.52 * height), 0.06),
    );
    parts.add_pair(
        Material::MattBlack,
        block(p(middle - 0.26, 0.18, radius * 0.80), p(middle + 0.30, 0.36 * width, radius * 0.92), 0.02),
    );
    for x in [front_x, rear_x] {
        add_suspension(parts, x, radius, size);
    }
}

/// Returns the painted skin over both front wheels.
fn front_skin(layout: &QuadLayout) -> LoftedSkin {
    let QuadLayout { size: MachineSize { width, .. }, radius, front_x, front_guard, .. } = *layout;
    LoftedSkin::new(
        &[
            [front_x - radius * 1.08, width * 0.30, front_guard - 0.13, front_guard - 0.06],
            [front_x - radius * 0.55, width * 0.46, front_guard - 0.07, front_guard + 0.005],
            [front_x + radius * 0.35, width * 0.46, front_guard - 0.04, front_guard + 0.035],
            [front_x + radius * 1.0, width * 0.26, front_guard - 0.10, front_guard + 0.02],
        ],
        3.4,
    )
}

/// Returns the painted skin over both rear wheels.
fn rear_skin(layout: &QuadLayout) -> LoftedSkin {
    let QuadLayout { size: MachineSize { width, .. }, radius, rear_x, rear_guard, .. } = *layout;
    LoftedSkin::new(
        &[
            [rear_x - radius * 1.15, width * 0.22, rear_guard - 0.12, rear_guard],
            [rear_x - radius * 0.45, width * 0.45, rear_guard - 0.05, rear_guard + 0.04],
            [rear_x + radius * 0.50, width * 0.46, rear_guard - 0.05, rear_guard + 0.04],
            [rear_x + radius * 1.05, width * 0.38, rear_guard - 0.095, rear_guard - 0.005],
            [rear_x + radius * 1.12, width * 0.36, rear_guard - 0.09, rear_guard - 0.01],
        ],
        3.4,
    )
}

/// Adds mudguards that sweep over the wheels and join the body, with the
/// lamps that are set into them.
fn add_mudguards(parts: &mut Assembly, layout: &QuadLayout) {
    let QuadLayout { size, traits, radius, tyre, front_x, rear_x, rear_guard, .. } = *layout;
    let width = size.width;
    let p = Vec3::new;
    let (front, rear) = (front_skin(layout), rear_skin(layout));
    // The front mudguards leave room for the lamps.
    let mut guards = front.solid();
    for side in [1.0, -1.0] {
        let eye = lamp_outline(size, traits).map(|[y, z]| [y * side, z]);
        guards = cut_from_front(&guards, &convex(&eye), front_x - radius * 0.30).0;
    }
    parts.add_soft(Material::Paint, guards);
    let tail_lens =
        [[0.19, -0.080], [0.32, -0.078], [0.33, -0.030], [0.20, -0.026]].map(|[y, z]| [y * width, rear_guard + z]);
    let rest = set_tail_lamp(parts, &rear.solid(), &tail_lens, true, rear_x + radius * 0.6);
    parts.add_soft(Material::Paint, rest);
    for (skin, x) in [(&front, front_x), (&rear, rear_x)] {
        add_lip(parts, layout, skin, x);
    }
    for side in [1.0, -1.0] {
        for x in [front_x, rear_x] {
            let over = p(x, side * (width * 0.5 - tyre * 0.62), radius);
            parts.add(Material::MattBlack, mudguard(over, radius * 1.16, tyre * 0.9, 0.02, [38.0, 142.0]));
        }
    }
}

/// Adds the lip of a mudguard, and the screws in it.
fn add_lip(parts: &mut Assembly, layout: &QuadLayout, skin: &LoftedSkin, x: f32) {
    let QuadLayout { size: MachineSize { width, .. }, radius, .. } = *layout;
    let p = Vec3::new;
    let lip =
        [[x - radius * 0.85, -0.07], [x - radius * 0.4, -0.03], [x + radius * 0.3, -0.02], [x + radius * 0.8, -0.05]];
    let guard = if x < layout.middle { layout.front_guard } else { layout.rear_guard };
    let lip = lip.map(|[x, z]| [x, guard + z]);
    parts.add_pair(Material::MattBlack, tube(&skin.line(&lip), 10, |_| 0.009));
    for along in [-0.55, 0.0, 0.55] {
        let (sx, sy) = (x + radius * along, width * 0.36);
        parts.add_pair(Material::RimDark, bolt(p(sx, sy, skin.over(sx, sy) + 0.001), Vec3::Z, 0.009));
    }
}

fn add_saddle(parts: &mut Assembly, layout: &QuadLayout) {
    let QuadLayout { size: MachineSize { width, height, .. }, radius, rear_x, middle, .. } = *layout;
    let saddle = LoftedSkin::new(
        &[
            [middle - 0.12, width * 0.085, 0.63 * height, 0.725 * height],
            [middle - 0.07, width * 0.118, 0.62 * height, 0.738 * height],
            [middle + 0.10, width * 0.142, 0.62 * height, 0.720 * height],
            [rear_x - 0.05, width * 0.160, 0.64 * height, 0.745 * height],
            [rear_x + radius * 0.52, width * 0.138, 0.66 * height, 0.762 * height],
            [rear_x + radius * 0.62, width * 0.105, 0.67 * height, 0.745 * height],
        ],
        3.2,
    );
    parts.add_soft(Material::Seat, saddle.solid());
    add_seat_seams(parts, &saddle, [middle - 0.08, rear_x + radius * 0.5], &[middle + 0.14, rear_x]);
}

/// Adds racks over both axles.
fn add_racks(parts: &mut Assembly, layout: &QuadLayout) {
    let QuadLayout {
        size: MachineSize { width, .. }, traits, radius, front_x, rear_x, front_guard, rear_guard, ..
    } = *layout;
    let p = Vec3::new;
    // Sporty models have no racks.
    let racks = [(front_x - radius * 0.25, front_guard + 0.115), (rear_x + radius * 0.55, rear_guard + 0.105)];
    let carried = if traits.fittings > -0.35 { &racks[..] } else { &[] };
    for (x, z) in carried.iter().copied() {
        let half = radius * 0.72;
        for step in 0..5 {
            let y = (step as f32 / 4.0 - 0.5) * width * 0.62;
            parts.add(Material::MattBlack, bar(&[p(x - half, y, z), p(x + half, y, z)], 0.011));
        }
        for end in [-half, half] {
            parts.add(Material::MattBlack, bar(&[p(x + end, -width * 0.31, z), p(x + end, width * 0.31, z)], 0.013));
            parts.add_pair(
                Material::MattBlack,
                bar(&[p(x + end * 0.8, width * 0.20, z), p(x + end * 0.8, width * 0.20, z - 0.12)], 0.011),
            );
        }
    }
}

/// Adds bumper bars at the front and the rear.
fn add_bumpers(parts: &mut Assembly, layout: &QuadLayout) {
    let QuadLayout { size: MachineSize { length, width, height, .. }, radius, front_x, rear_x, rear_guard, .. } =
        *layout;
    let p = Vec3::new;
    // The bumper bars end where the length does.
    parts.add(
        Material::MattBlack,
        bar(&[p(0.017, -width * 0.20, 0.40 * height), p(0.017, width * 0.20, 0.40 * height)], 0.017),
    );
    parts.add_pair(
        Material::MattBlack,
        bar(&[p(0.017, width * 0.19, 0.40 * height), p(front_x, 0.12, 0.34 * height)], 0.015),
    );
    parts.add_pair(
        Material::MattBlack,
        bar(&[p(0.017, width * 0.12, 0.40 * height), p(front_x - radius * 0.7, width * 0.12, 0.56 * height)], 0.013),
    );
    let tail = length - 0.016;
    parts.add(
        Material::MattBlack,
        bar(&[p(tail, -width * 0.22, rear_guard + 0.105), p(tail, width * 0.22, rear_guard + 0.105)], 0.016),
    );
    parts.add_pair(
        Material::MattBlack,
        bar(
            &[p(tail, width * 0.22, rear_guard + 0.105), p(rear_x + radius * 0.9, width * 0.25, rear_guard + 0.105)],
            0.013,
        ),
    );
}

/// Adds two arms to each wheel, and a spring strut over them.
fn add_suspension(parts: &mut Assembly, x: f32, radius: f32, size: MachineSize) {
    let p = Vec3::new;
    for (up, aside) in [(1.22, 0.085), (0.84, 0.105)] {
        for along in [-aside, aside] {
            let arm = [p(x + along, 0.14, radius * up), p(x, size.width * 0.37, radius * (0.5 + 0.5 * up))];
            parts.add_pair(Material::GlossBlack, tube(&arm, 14, |_| 0.0155));
        }
    }
    let (foot, top) = (p(x + 0.02, size.width * 0.29, radius * 0.96), p(x + 0.04, 0.15, 0.60 * size.height));
    add_shock(parts, foot, top, 0.034, true, Material::Satin);
    let boot = [p(x, 0.13, radius), p(x, size.width * 0.25, radius), p(x, size.width * 0.38, radius)];
    parts.add_pair(Material::MattBlack, tube(&boot, 14, |i| [0.034, 0.017, 0.030][i]));
}

/// Returns the outline of the right lamp, seen from the front.
fn lamp_outline(size: MachineSize, traits: Traits) -> [[f32; 2]; 6] {
    let eye = [[0.040, 0.528], [0.105, 0.505], [0.142, 0.532], [0.150, 0.572], [0.100, 0.588], [0.046, 0.566]];
    let wide = size.width * (1.0 + 0.06 * traits.nose);
    eye.map(|[y, z]| [y * wide, (z + 0.006 * traits.lamps) * size.height])
}

/// Adds the nose with its two lamps, and the tank behind it.
fn add_nose(parts: &mut Assembly, front_x: f32, radius: f32, size: MachineSize, traits: Traits) {
    let MachineSize { length, width, height, wheelbase } = size;
    let middle = (length - wheelbase) * 0.46 + wheelbase * 0.5;
    let wide = 0.03 * traits.nose;
    let nose = LoftedSkin::new(
        &[
            [front_x - radius * 1.14, width * (0.095 + wide * 0.6), 0.450 * height, 0.555 * height],
            [front_x - radius * 1.07, width * (0.145 + wide), 0.425 * height, 0.605 * height],
            [front_x - radius * 0.60, width * (0.190 + wide), 0.42 * height, (0.72 + 0.02 * traits.lamps) * height],
            [front_x + radius * 0.5, width * (0.15 + 0.02 * traits.cab), 0.45 * height, 0.80 * height],
            [middle - 0.02, width * 0.14, 0.50 * height, 0.735 * height],
        ],
        3.2,
    );
    let eye = lamp_outline(size, traits);
    let era = if traits.lamps > 0.1 { LampEra::Led } else { LampEra::Clear };
    let opening = LampOpening { outline: &eye, depth: 0.05, lights: 1, pair: true, behind: front_x - radius * 0.35 };
    let rest = set_lamp(parts, &nose.solid(), &opening, era);
    parts.add_soft(Material::Paint, rest);
    let line = [
        [front_x - radius * 0.95, 0.60],
        [front_x - radius * 0.5, 0.635],
        [front_x + radius * 0.5, 0.66],
        [middle - 0.06, 0.64],
    ];
    parts.add_pair(Material::PanelGap, nose.seam(&line.map(|[x, z]| [x, z * height])));
}

/// Adds the handlebar with grips, levers and cables.
fn add_bars(parts: &mut Assembly, head: Vec3, size: MachineSize) {
    let MachineSize { width, height, .. } = size;
    let p = Vec3::new;
    let grip = p(head.x + 0.14, width * 0.36, height - 0.02);
    let bar = [head + p(0.02, 0.0, 0.05 * height), head + p(0.0, width * 0.12, height - head.z - 0.03), grip];
    parts.add_pair(Material::GlossBlack, tube(&bar, 14, |_| 0.0135));
    let inward = (bar[1] - grip).normalize_or(Vec3::NEG_Y);
    add_grip(parts, grip, inward, false);
    let perch = grip + inward * 0.150;
    parts.add_pair(Material::MattBlack, block(perch - Vec3::splat(0.020), perch + Vec3::splat(0.020), 0.010));
    let lever = [perch + p(-0.030, 0.0, 0.0), perch + p(-0.048, 0.05, -0.004), grip + p(-0.052, -0.01, -0.008)];
    parts.add_pair(Material::Satin, tube(&lever, 10, |_| 0.0062));
    let cable = [perch + p(-0.02, 0.0, 0.0), perch.lerp(head, 0.5) + p(-0.07, 0.0, 0.02), head + p(-0.05, 0.03, -0.05)];
    parts.add_pair(Material::MattBlack, hose(&cable, 0.0045));
}

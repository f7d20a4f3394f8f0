//! An auto rickshaw: one wheel in front under a round apron, windscreen, canvas roof on a frame,
//! and a bench over the engine or a load bed.

use glam::Vec3;

use crate::vehicle::machine::size::MachineSize;
use crate::vehicle::machine::traits::Traits;
use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::assembly::{Assembly, bar, block, hull, mudguard};
use crate::vehicle::parts::placing::moved_to;
use crate::vehicle::parts::solid::{Solid, curve_through};
use crate::vehicle::parts::wheel::spec::{Motif, RimFinish, Tread, Wheel};
use crate::vehicle::parts::wheel::{axle, wheel};

/// Positions where the parts meet, in metres.
#[derive(Clone, Copy)]
struct RickshawLayout {
    size: MachineSize,
    traits: Traits,
    has_bed: bool,
    /// Radius of every wheel.
    radius: f32,
    front_x: f32,
    rear_x: f32,
    floor: f32,
    waist: f32,
    /// Height where roof and walls meet.
    top: f32,
    /// Half of the width.
    half: f32,
    cab_rear: f32,
    /// x of the windscreen's lower edge.
    foot_x: f32,
    /// x of the windscreen's upper edge.
    head_x: f32,
}

impl RickshawLayout {
    fn of(size: MachineSize, traits: Traits, has_bed: bool) -> RickshawLayout {
        let MachineSize { length, width, height, wheelbase } = size;
        let rear_x = length - 0.16 * length;
        RickshawLayout {
            size,
            traits,
            has_bed,
            radius: 0.135 * height * (1.0 + 0.06 * traits.tyres),
            front_x: rear_x - wheelbase,
            rear_x,
            floor: 0.20 * height,
            waist: (0.50 + 0.025 * traits.cab) * height,
            top: 0.93 * height,
            half: width * 0.5,
            cab_rear: if has_bed { 0.50 * length } else { 0.60 * length },
            foot_x: 0.17 * length,
            head_x: (0.24 + 0.02 * traits.lamps) * length,
        }
    }
}

pub(super) fn rickshaw(size: MachineSize, traits: Traits, has_bed: bool) -> VehicleMesh {
    let MachineSize { length, height, .. } = size;
    let layout = RickshawLayout::of(size, traits, has_bed);
    let mut parts = Assembly::default();
    let p = Vec3::new;
    let half = layout.half;
    add_wheels(&mut parts, &layout);
    add_apron(&mut parts, &layout);
    add_windscreen(&mut parts, &layout);
    add_driver_place(&mut parts, &layout);
    if has_bed {
        add_bed(&mut parts, &layout);
    } else {
        add_bench(&mut parts, &layout);
        add_tail(&mut parts, &layout);
        add_canvas(&mut parts, &layout);
    }
    parts.add_pair(
        Material::LampRed,
        block(p(length - 0.06, half * 0.66, 0.40 * height), p(length - 0.002, half * 0.80, 0.45 * height), 0.015),
    );
    add_roof(&mut parts, &layout);
    parts.mesh
}

/// Adds the rear axle, and one front wheel on its arm under a mudguard.
fn add_wheels(parts: &mut Assembly, layout: &RickshawLayout) {
    let RickshawLayout { size: MachineSize { width, height, .. }, traits, radius, front_x, rear_x, .. } = *layout;
    let p = Vec3::new;
    let spec = Wheel {
        diameter: radius * 2.0,
        width: 0.105,
        rim_diameter: radius * 1.15,
        dish: 0.01,
        motif: Motif::Steel,
        style: 0,
        finish: if traits.fittings > 0.3 { RimFinish::Dark } else { RimFinish::Bright },
        tread: Tread::Road,
        turn_degrees: 0.0,
    };
    parts.add_mesh(&axle(&spec, rear_x, width * 0.94));
    let single = moved_to(&wheel(&spec), p(front_x, 0.0, radius));
    parts.add_mesh(&single);
    parts.add_mesh(&crate::vehicle::parts::placing::mirrored(&single));
    parts.add(Material::MattBlack, bar(&[p(front_x, 0.09, radius), p(front_x + 0.14, 0.07, 0.42 * height)], 0.025));
    parts.add(Material::Paint, mudguard(p(front_x, 0.0, radius), radius + 0.04, 0.16, 0.02, [25.0, 160.0]));
}

/// Adds floor and apron: a leaning front, narrow at its foot and as wide as the screen above, with
/// a ridge over the wheel that carries the head lamp.
fn add_apron(parts: &mut Assembly, layout: &RickshawLayout) {
    let RickshawLayout { size: MachineSize { length, height, .. }, traits, floor, waist, half, foot_x, .. } = *layout;
    let p = Vec3::new;
    let rear = 0.20 * length;
    let wide = 1.0 + 0.05 * traits.nose;
    let levels = [
        (floor, 0.075 * length, 0.56),
        (floor + 0.02 * height, 0.062 * length, 0.60),
        (0.30 * height, 0.048 * length, 0.66),
        (0.38 * height, 0.050 * length, 0.71),
        (waist - 0.02 * height, foot_x - 0.075 * length, 0.755),
        (waist, foot_x - 0.055 * length, 0.755),
        (waist + 0.012 * height, foot_x - 0.035 * length, 0.74),
    ];
    parts.add_soft(
        Material::Paint,
        Solid::lofted(&levels.map(|(z, front, ratio)| bow(z, front, rear, half * ratio * wide))),
    );
    parts.add(
        Material::MattBlack,
        block(p(0.10 * length, -half * 0.66, floor - 0.03), p(0.80 * length, half * 0.74, floor + 0.03), 0.03),
    );
    // The ridge over the wheel.
    let ridge = [
        [0.022 * length, 0.070, 0.270 * height, 0.395 * height],
        [0.030 * length, 0.105, 0.255 * height, 0.420 * height],
        [0.055 * length, 0.125, 0.240 * height, 0.445 * height],
        [0.105 * length, 0.110, 0.230 * height, 0.470 * height],
        [0.150 * length, 0.050, 0.230 * height, 0.480 * height],
    ];
    parts.add_soft(Material::Paint, hull(&ridge, 2.6));
    add_round_lamp(parts, p(0.020 * length, 0.0, 0.345 * height), 0.075);
    // Strip along the foot, indicators, plate, bumper.
    for side in [1.0, -1.0] {
        let at = p(0.062 * length, side * half * 0.50 * wide, 0.385 * height);
        parts.add_soft(Material::LampAmber, Solid::superellipsoid(p(0.035, 0.05, 0.028), 2.6, 10, 20).moved(at));
    }
    let tube = [
        p(0.10 * length, -half * 0.62, 0.215 * height),
        p(0.030 * length, -half * 0.50, 0.215 * height),
        p(0.006 * length, 0.0, 0.215 * height),
        p(0.030 * length, half * 0.50, 0.215 * height),
        p(0.10 * length, half * 0.62, 0.215 * height),
    ];
    parts.add(Material::MattBlack, bar(&curve_through(&tube, 6), 0.018));
    parts.add(Material::Satin, block(p(0.004, -0.13, 0.262 * height), p(0.016, 0.13, 0.262 * height + 0.075), 0.004));
}

/// Returns a closed outline at one height: round in front, straight behind.
fn bow(z: f32, front: f32, rear: f32, half: f32) -> Vec<Vec3> {
    const STEPS: usize = 24;
    let round = (0..=STEPS).map(|i| {
        let turn = std::f32::consts::PI * (i as f32 / STEPS as f32 - 0.5);
        let (sin, cos) = turn.sin_cos();
        let [across, ahead] = [sin, cos].map(|ratio: f32| ratio.signum() * ratio.abs().powf(0.62));
        Vec3::new(front + (rear - front) * 0.8 * (1.0 - ahead), half * across, z)
    });
    round.chain([Vec3::new(rear, half, z), Vec3::new(rear, -half, z)]).collect()
}

/// Adds a lamp that faces ahead: bright ring, bowl, bulb and lens.
fn add_round_lamp(parts: &mut Assembly, at: Vec3, radius: f32) {
    let disc = |from: f32, to: f32, ratio: f32| Solid::pin(at + Vec3::X * from, at + Vec3::X * to, radius * ratio, 32);
    parts.add(Material::Chrome, disc(0.05, -0.012, 1.0));
    parts.add(Material::LampHousing, disc(0.0, -0.0126, 0.88));
    let dome =
        |depth: f32, ratio: f32| Solid::superellipsoid(Vec3::new(depth, radius * ratio, radius * ratio), 2.0, 14, 28);
    parts.add_soft(Material::LampReflector, dome(0.012, 0.84).moved(at - Vec3::X * 0.006));
    parts.add_soft(Material::LampGlass, dome(0.012, 0.24).moved(at - Vec3::X * 0.014));
    parts.add_soft(Material::LampLens, dome(0.020, 0.88).moved(at - Vec3::X * 0.013));
}

/// Adds the windscreen in its frame with a wiper, mirrors on stalks,
/// and the posts behind the driver.
fn add_windscreen(parts: &mut Assembly, layout: &RickshawLayout) {
    let RickshawLayout { waist, top, half, cab_rear, foot_x, head_x, .. } = *layout;
    let p = Vec3::new;
    let screen = |ratio: f32, across: f32, out: f32| {
        let bowed = 0.05 * across * across;
        p(
            foot_x + (head_x - foot_x) * ratio - 0.055 + bowed - out,
            half * (0.74 - 0.04 * ratio) * across,
            waist + (top - waist) * ratio,
        )
    };
    for side in [1.0, -1.0] {
        let post: Vec<Vec3> = (0..=6).map(|i| screen(i as f32 / 6.0, side, 0.0)).collect();
        parts.add(Material::Paint, bar(&post, 0.026));
        let flip = |v: Vec3| v * p(1.0, side, 1.0);
        let rear = [p(cab_rear, half * 0.88, waist), p(cab_rear, half * 0.84, top)];
        parts.add(Material::MattBlack, bar(&rear.map(flip), 0.022));
        // A mirror on its stalk.
        let foot = screen(0.16, side, 0.0);
        let head = foot + p(-0.05, side * 0.13, 0.10);
        parts
            .add(Material::MattBlack, bar(&curve_through(&[foot, foot + p(-0.03, side * 0.10, 0.02), head], 6), 0.008));
        let shell = Solid::superellipsoid(p(0.022, 0.045, 0.075), 2.8, 12, 24).moved(head + Vec3::Z * 0.05);
        parts.add_soft(Material::MattBlack, shell);
    }
    for ratio in [0.02, 0.98] {
        let rail: Vec<Vec3> = (-6..=6).map(|i| screen(ratio, i as f32 / 6.0, 0.0)).collect();
        parts.add(if ratio > 0.5 { Material::Paint } else { Material::MattBlack }, bar(&rail, 0.022));
    }
    let rows: Vec<Vec<Vec3>> = [0.02_f32, 0.35, 0.68, 0.98]
        .iter()
        .map(|ratio| {
            let ahead = (-8..=8).map(|i| screen(*ratio, i as f32 / 8.4, 0.004));
            let back = (-8..=8).rev().map(|i| screen(*ratio, i as f32 / 8.4, -0.002));
            ahead.chain(back).collect()
        })
        .collect();
    parts.add_soft(Material::ClearGlass, Solid::lofted_plate(&rows));
    let blade = [screen(0.12, 0.55, 0.012), screen(0.16, 0.05, 0.012), screen(0.18, -0.3, 0.012)];
    parts.add(Material::MattBlack, bar(&blade, 0.008));
    let arm = [screen(0.03, 0.12, 0.02), screen(0.16, 0.05, 0.024)];
    parts.add(Material::MattBlack, bar(&arm, 0.010));
}

/// Adds the driver's handlebar and seat.
fn add_driver_place(parts: &mut Assembly, layout: &RickshawLayout) {
    let RickshawLayout { size: MachineSize { length, height, .. }, floor, waist, half, .. } = *layout;
    let p = Vec3::new;
    parts.add(
        Material::MattBlack,
        bar(
            &[
                p(0.20 * length, -0.30, waist + 0.04),
                p(0.21 * length, 0.0, waist + 0.07),
                p(0.20 * length, 0.30, waist + 0.04),
            ],
            0.018,
        ),
    );
    parts.add(
        Material::Seat,
        block(p(0.33 * length, -half * 0.42, floor), p(0.45 * length, half * 0.42, 0.42 * height), 0.05),
    );
    parts.add(
        Material::Seat,
        block(p(0.44 * length, -half * 0.40, 0.40 * height), p(0.475 * length, half * 0.40, 0.64 * height), 0.04),
    );
}

/// Adds the cab's rear wall, and a load bed with low sides behind it.
fn add_bed(parts: &mut Assembly, layout: &RickshawLayout) {
    let RickshawLayout { size: MachineSize { length, height, .. }, radius, floor, top, half, cab_rear, .. } = *layout;
    let p = Vec3::new;
    parts.add(Material::Paint, block(p(cab_rear, -half * 0.88, floor), p(cab_rear + 0.05, half * 0.88, top), 0.03));
    let (low, side) = (0.34 * height, 0.56 * height);
    parts.add(Material::Paint, block(p(cab_rear + 0.07, -half, low), p(length, half, low + 0.05), 0.02));
    for y in [-half, half - 0.03] {
        parts.add(Material::Paint, block(p(cab_rear + 0.07, y, low), p(length, y + 0.03, side), 0.012));
    }
    for x in [cab_rear + 0.07, length - 0.03] {
        parts.add(Material::Paint, block(p(x, -half, low), p(x + 0.03, half, side), 0.012));
    }
    parts.add(Material::Underbody, block(p(cab_rear, -0.3, radius), p(length - 0.15, 0.3, low), 0.04));
    add_bed_details(parts, layout, low, side);
}

/// Adds posts, rails and latches of the load bed, its lamps and plate, arches over the wheels, and
/// the window in the cab's rear wall.
fn add_bed_details(parts: &mut Assembly, layout: &RickshawLayout, low: f32, side: f32) {
    let RickshawLayout { size: MachineSize { length, height, .. }, radius, rear_x, top, half, cab_rear, .. } = *layout;
    let p = Vec3::new;
    let from = cab_rear + 0.07;
    for number in 0..=4 {
        let x = from + 0.03 + (length - from - 0.06) * number as f32 / 4.0;
        parts.add_pair(Material::Paint, block(p(x - 0.022, half - 0.01, low), p(x + 0.022, half + 0.011, side), 0.010));
    }
    parts.add_pair(Material::Paint, bar(&[p(from, half - 0.006, side), p(length, half - 0.006, side)], 0.016));
    parts.add(
        Material::Paint,
        bar(&[p(length - 0.015, 0.006 - half, side), p(length - 0.015, half - 0.006, side)], 0.016),
    );
    parts.add_pair(
        Material::Paint,
        block(p(from, half - 0.02, low - 0.05), p(length, half + 0.006, low + 0.012), 0.012),
    );
    for y in [-0.62_f32, 0.0, 0.62] {
        let at = p(length, y * half, 0.5 * (low + side));
        parts.add(
            Material::Paint,
            block(at - p(0.01, 0.025, 0.5 * (side - low)), at + p(0.014, 0.025, 0.5 * (side - low)), 0.010),
        );
        parts.add(
            Material::MattBlack,
            block(at + p(-0.01, -0.035, low - at.z - 0.03), at + p(0.018, 0.035, low - at.z + 0.03), 0.008),
        );
    }
    for y in [1.0, -1.0] {
        let latch = p(length - 0.01, y * (half - 0.03), side - 0.06);
        parts.add(Material::Satin, block(latch - p(0.03, 0.04, 0.03), latch + p(0.035, 0.04, 0.03), 0.010));
        let lamp = p(length - 0.05, y * half * 0.70, low - 0.09);
        parts.add(Material::MattBlack, block(lamp - p(0.05, 0.13, 0.045), lamp + p(0.02, 0.13, 0.045), 0.012));
        parts.add(Material::LampRed, block(lamp + p(0.0, -0.115, -0.034), lamp + p(0.028, 0.03, 0.034), 0.010));
        parts.add(Material::LampAmber, block(lamp + p(0.0, 0.04, -0.034), lamp + p(0.028, 0.115, 0.034), 0.010));
        let arch = p(rear_x, y * (half - 0.085), radius);
        parts.add(Material::MattBlack, mudguard(arch, radius + 0.045, 0.16, 0.018, [20.0, 165.0]));
    }
    parts.add(Material::Satin, block(p(length - 0.03, -0.15, low - 0.15), p(length - 0.01, 0.15, low - 0.05), 0.006));
    // The window in its rubber seal.
    let (sill, head) = (side + 0.06, top - 0.10 * height);
    if head > sill + 0.1 {
        let pane = |grow: f32, out: f32| {
            block(
                p(cab_rear + 0.03, -half * 0.6 - grow, sill - grow),
                p(cab_rear + 0.05 + out, half * 0.6 + grow, head + grow),
                0.05,
            )
        };
        parts.add_soft(Material::MattBlack, pane(0.022, 0.006));
        parts.add_soft(Material::GlossBlack, pane(0.0, 0.009));
    }
}

/// Adds the tail over the engine, and the passengers' bench on it.
fn add_bench(parts: &mut Assembly, layout: &RickshawLayout) {
    let RickshawLayout { size: MachineSize { length, height, .. }, floor, half, .. } = *layout;
    let p = Vec3::new;
    parts.add_soft(
        Material::Paint,
        hull(
            &[
                [0.58 * length, half * 0.90, floor, 0.47 * height],
                [0.64 * length, half * 0.99, floor, 0.50 * height],
                [0.88 * length, half, floor * 1.05, 0.52 * height],
                [0.97 * length, half * 0.94, 0.26 * height, 0.50 * height],
                [length - 0.004, half * 0.80, 0.30 * height, 0.46 * height],
            ],
            5.0,
        ),
    );
    parts.add(
        Material::Seat,
        block(p(0.66 * length, -half * 0.80, 0.46 * height), p(0.80 * length, half * 0.80, 0.535 * height), 0.04),
    );
    parts.add(
        Material::Seat,
        block(p(0.79 * length, -half * 0.80, 0.50 * height), p(0.83 * length, half * 0.80, 0.76 * height), 0.04),
    );
}

/// Adds arches over the wheels, louvres and lid of the engine, plate and bumper on the tail.
fn add_tail(parts: &mut Assembly, layout: &RickshawLayout) {
    let RickshawLayout { size: MachineSize { length, height, .. }, radius, rear_x, half, .. } = *layout;
    let p = Vec3::new;
    for side in [1.0, -1.0] {
        let at = p(rear_x, side * (half - 0.065), radius);
        parts.add(Material::Underbody, mudguard(at, radius + 0.035, 0.13, 0.02, [12.0, 168.0]));
        let lip = mudguard(at + Vec3::Y * side * 0.05, radius + 0.050, 0.045, 0.022, [4.0, 176.0]);
        parts.add(Material::MattBlack, lip);
        for number in 0..5 {
            let x = 0.655 * length + 0.045 * number as f32;
            parts.add(
                Material::PanelGap,
                block(
                    p(x, side * half * 0.995 - 0.012, 0.34 * height),
                    p(x + 0.018, side * half * 0.995 + 0.006, 0.42 * height),
                    0.004,
                ),
            );
        }
    }
    for number in 0..6 {
        let z = 0.335 * height + 0.026 * number as f32;
        parts.add(
            Material::PanelGap,
            block(p(length - 0.09, -half * 0.42, z), p(length - 0.001, half * 0.42, z + 0.011), 0.003),
        );
    }
    parts.add(
        Material::Satin,
        block(p(length - 0.02, -0.15, 0.265 * height), p(length + 0.004, 0.15, 0.265 * height + 0.10), 0.006),
    );
    let tube = [
        p(0.93 * length, -half * 0.90, 0.235 * height),
        p(length - 0.01, -half * 0.74, 0.235 * height),
        p(length - 0.01, half * 0.74, 0.235 * height),
        p(0.93 * length, half * 0.90, 0.235 * height),
    ];
    parts.add(Material::MattBlack, bar(&curve_through(&tube, 6), 0.020));
}

/// Adds canvas behind and beside the bench, with the posts that hold it.
fn add_canvas(parts: &mut Assembly, layout: &RickshawLayout) {
    let RickshawLayout { size: MachineSize { length, height, .. }, top, half, .. } = *layout;
    let p = Vec3::new;
    parts.add(
        Material::Fabric,
        block(p(0.865 * length, -half * 0.86, 0.50 * height), p(0.89 * length, half * 0.86, top), 0.02),
    );
    for y in [1.0, -1.0] {
        let at = |x: f32, z: f32| p(x, y * half * 0.86, z);
        parts.add(
            Material::Fabric,
            block(
                p(0.76 * length, if y > 0.0 { half * 0.84 } else { -half * 0.87 }, 0.50 * height),
                p(0.885 * length, if y > 0.0 { half * 0.87 } else { -half * 0.84 }, top),
                0.012,
            ),
        );
        parts.add(Material::MattBlack, bar(&[at(0.755 * length, 0.50 * height), at(0.755 * length, top)], 0.018));
    }
}

/// Adds the roof: of steel in front of a bed, of canvas otherwise.
fn add_roof(parts: &mut Assembly, layout: &RickshawLayout) {
    let RickshawLayout { size: MachineSize { length, height, .. }, has_bed, top, half, cab_rear, head_x, .. } = *layout;
    let roof_rear = if has_bed { cab_rear + 0.06 } else { 0.91 * length };
    parts.add_soft(
        if has_bed { Material::Paint } else { Material::Fabric },
        hull(
            &[
                [head_x - 0.10, half * 0.60, top - 0.01, 0.965 * height],
                [head_x + 0.06, half * 0.80, top - 0.01, 0.995 * height],
                [(head_x + roof_rear) * 0.5, half * 0.88, top - 0.01, height],
                [roof_rear - 0.08, half * 0.88, top - 0.01, 0.995 * height],
                [roof_rear, half * 0.80, top - 0.01, 0.97 * height],
            ],
            3.5,
        ),
    );
}

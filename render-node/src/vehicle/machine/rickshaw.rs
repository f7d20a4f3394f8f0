//! An auto rickshaw: one wheel in front under a round apron, windscreen, canvas roof on a frame, bench over the engine; or a load bed.

use glam::Vec3;

use super::{Size, Traits};
use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::assembly::{Assembly, bar, block, hull, mudguard};
use crate::vehicle::parts::placing::moved_to;
use crate::vehicle::parts::wheel::{Motif, RimFinish, Tread, Wheel, axle, wheel};

/// Where the parts meet.
#[derive(Clone, Copy)]
struct Layout {
    size: Size,
    traits: Traits,
    has_bed: bool,
    /// Of every wheel.
    radius: f32,
    front_x: f32,
    rear_x: f32,
    floor: f32,
    waist: f32,
    /// Where roof and walls meet.
    top: f32,
    /// Half of the width.
    half: f32,
    cab_rear: f32,
    /// Lower edge of the windscreen.
    foot_x: f32,
    /// Its upper edge.
    head_x: f32,
}

impl Layout {
    fn of(size: Size, traits: Traits, has_bed: bool) -> Layout {
        let Size { length, width, height, wheelbase } = size;
        let rear_x = length - 0.16 * length;
        Layout {
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

pub(super) fn rickshaw(size: Size, traits: Traits, has_bed: bool) -> VehicleMesh {
    let Size { length, height, .. } = size;
    let layout = Layout::of(size, traits, has_bed);
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
        add_canvas(&mut parts, &layout);
    }
    parts.add_pair(
        Material::LampRed,
        block(p(length - 0.06, half * 0.66, 0.40 * height), p(length - 0.002, half * 0.80, 0.45 * height), 0.015),
    );
    add_roof(&mut parts, &layout);
    parts.mesh
}

/// An axle behind, and one wheel in front on its arm under a mudguard.
fn add_wheels(parts: &mut Assembly, layout: &Layout) {
    let Layout { size: Size { width, height, .. }, traits, radius, front_x, rear_x, .. } = *layout;
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

/// Floor and apron, narrow in front and as wide as the bench behind, with the head lamp.
fn add_apron(parts: &mut Assembly, layout: &Layout) {
    let Layout { size: Size { length, height, .. }, traits, floor, waist, half, .. } = *layout;
    let p = Vec3::new;
    parts.add_soft(
        Material::Paint,
        hull(
            &[
                [0.004, half * 0.16, 0.30 * height, 0.44 * height],
                [0.05 * length, half * (0.36 + 0.06 * traits.nose), 0.24 * height, 0.50 * height],
                [0.13 * length, half * (0.62 + 0.06 * traits.nose), floor, waist * 1.02],
                [0.20 * length, half * 0.76, floor, waist * 1.03],
            ],
            2.8,
        ),
    );
    parts.add(
        Material::MattBlack,
        block(p(0.12 * length, -half * 0.74, floor - 0.03), p(0.80 * length, half * 0.74, floor + 0.03), 0.03),
    );
    parts.add_soft(
        Material::LampReflector,
        hull(
            &[[-0.006, 0.05, 0.355 * height, 0.43 * height], [0.05 * length, 0.07, 0.345 * height, 0.44 * height]],
            2.0,
        ),
    );
}

/// The windscreen in its frame, and the posts behind the driver.
fn add_windscreen(parts: &mut Assembly, layout: &Layout) {
    let Layout { waist, top, half, cab_rear, foot_x, head_x, .. } = *layout;
    let p = Vec3::new;
    let screen = |x: f32, z: f32, out: f32| p(x, half * out, z);
    for y in [1.0, -1.0] {
        let side = |v: Vec3| v * p(1.0, y, 1.0);
        parts.add(Material::Paint, bar(&[side(screen(foot_x, waist, 0.74)), side(screen(head_x, top, 0.70))], 0.026));
        parts.add(
            Material::MattBlack,
            bar(&[side(p(cab_rear, half * 0.88, waist)), side(p(cab_rear, half * 0.84, top))], 0.022),
        );
    }
    parts.add_soft(
        Material::Glass,
        hull(
            &[
                [foot_x - 0.012, half * 0.72, waist, waist + 0.02],
                [(foot_x + head_x) * 0.5 - 0.01, half * 0.71, waist + 0.01, (waist + top) * 0.5],
                [head_x - 0.012, half * 0.69, top - 0.05, top],
            ],
            10.0,
        ),
    );
}

/// The driver's handlebar and seat.
fn add_driver_place(parts: &mut Assembly, layout: &Layout) {
    let Layout { size: Size { length, height, .. }, floor, waist, half, .. } = *layout;
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

/// The cab's rear wall, and a load bed with low sides behind it.
fn add_bed(parts: &mut Assembly, layout: &Layout) {
    let Layout { size: Size { length, height, .. }, radius, floor, top, half, cab_rear, .. } = *layout;
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
}

/// The tail over the engine, and the passengers' bench on it.
fn add_bench(parts: &mut Assembly, layout: &Layout) {
    let Layout { size: Size { length, height, .. }, floor, half, .. } = *layout;
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

/// Canvas behind and beside the bench, with the posts that hold it.
fn add_canvas(parts: &mut Assembly, layout: &Layout) {
    let Layout { size: Size { length, height, .. }, top, half, .. } = *layout;
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

/// The roof: of steel before a bed, of canvas otherwise.
fn add_roof(parts: &mut Assembly, layout: &Layout) {
    let Layout { size: Size { length, height, .. }, has_bed, top, half, cab_rear, head_x, .. } = *layout;
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

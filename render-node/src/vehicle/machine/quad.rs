//! A quad: balloon tyres under wide mudguards, saddle, handlebar, racks before and behind.

use glam::Vec3;

use super::{Size, Traits};
use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::assembly::{Assembly, bar, block, hull, mudguard};
use crate::vehicle::parts::wheel::{Motif, RimFinish, Tread, Wheel, axle};

pub(super) fn quad(size: Size, traits: Traits) -> VehicleMesh {
    let Size { length, width, height, wheelbase } = size;
    let mut parts = Assembly::default();
    let p = Vec3::new;
    let radius = 0.262 * height * (1.0 + 0.05 * traits.tyres);
    let tyre = 0.20 * width * (1.0 + 0.12 * traits.fittings);
    let front_x = (length - wheelbase) * 0.46;
    let rear_x = front_x + wheelbase;
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

    // Frame, engine, swing arms.
    let middle = (front_x + rear_x) * 0.5;
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
        parts.add_pair(Material::MattBlack, bar(&[p(x, 0.12, radius * 1.1), p(x, width * 0.40, radius)], 0.030));
        parts.add_pair(
            Material::Chrome,
            bar(&[p(x + 0.04, width * 0.30, radius), p(x + 0.06, 0.14, 0.60 * height)], 0.026),
        );
    }
    // Mudguards sweep over the wheels and join the body.
    let (front_guard, rear_guard) = ((0.63 + 0.015 * traits.nose) * height, (0.66 + 0.012 * traits.cab) * height);
    parts.add_soft(
        Material::Paint,
        hull(
            &[
                [front_x - radius * 1.08, width * 0.30, front_guard - 0.13, front_guard - 0.06],
                [front_x - radius * 0.55, width * 0.46, front_guard - 0.07, front_guard + 0.005],
                [front_x + radius * 0.35, width * 0.46, front_guard - 0.04, front_guard + 0.035],
                [front_x + radius * 1.0, width * 0.26, front_guard - 0.10, front_guard + 0.02],
            ],
            3.0,
        ),
    );
    parts.add_soft(
        Material::Paint,
        hull(
            &[
                [rear_x - radius * 1.15, width * 0.22, rear_guard - 0.12, rear_guard],
                [rear_x - radius * 0.45, width * 0.45, rear_guard - 0.05, rear_guard + 0.04],
                [rear_x + radius * 0.50, width * 0.46, rear_guard - 0.05, rear_guard + 0.04],
                [rear_x + radius * 1.12, width * 0.36, rear_guard - 0.09, rear_guard - 0.01],
            ],
            3.0,
        ),
    );
    for side in [1.0, -1.0] {
        for x in [front_x, rear_x] {
            let over = p(x, side * (width * 0.5 - tyre * 0.62), radius);
            parts.add(Material::MattBlack, mudguard(over, radius * 1.16, tyre * 0.9, 0.02, [38.0, 142.0]));
        }
    }
    // Nose with its two lamps, tank, saddle.
    parts.add_soft(
        Material::Paint,
        hull(
            &[
                [front_x - radius * 1.12, width * (0.14 + 0.03 * traits.nose), 0.42 * height, 0.60 * height],
                [
                    front_x - radius * 0.6,
                    width * (0.19 + 0.03 * traits.nose),
                    0.42 * height,
                    (0.72 + 0.02 * traits.lamps) * height,
                ],
                [front_x + radius * 0.5, width * (0.15 + 0.02 * traits.cab), 0.45 * height, 0.80 * height],
                [middle - 0.02, width * 0.14, 0.50 * height, 0.735 * height],
            ],
            3.2,
        ),
    );
    parts.add_pair(
        Material::LampWhite,
        hull(
            &[
                [front_x - radius * 1.10, width * 0.03, 0.555 * height, 0.60 * height],
                [front_x - radius * 0.85, width * 0.05, 0.55 * height, 0.635 * height],
            ],
            3.0,
        )
        .bent(|at| p(at.x, at.y * (1.0 + 0.25 * traits.cab), at.z))
        .moved(p(
            -0.006 - 0.022 * (traits.nose.max(0.0) + traits.lamps.max(0.0)),
            width * (0.105 + 0.035 * traits.lamps),
            0.02 * traits.nose * height,
        )),
    );
    parts.add(
        Material::MattBlack,
        block(
            p(front_x - radius * 1.15, -width * 0.11, 0.40 * height),
            p(front_x - radius * 0.9, width * 0.11, 0.52 * height),
            0.03,
        ),
    );
    parts.add_soft(
        Material::Seat,
        hull(
            &[
                [middle - 0.10, width * 0.11, 0.62 * height, 0.735 * height],
                [middle + 0.10, width * 0.14, 0.62 * height, 0.72 * height],
                [rear_x - 0.05, width * 0.16, 0.64 * height, 0.745 * height],
                [rear_x + radius * 0.6, width * 0.13, 0.66 * height, 0.76 * height],
            ],
            3.0,
        ),
    );
    // Bars and racks.
    let head = p(front_x + radius * 0.95, 0.0, 0.80 * height);
    parts.add(
        Material::MattBlack,
        bar(&[p(front_x + 0.08, 0.0, 0.55 * height), head, head + p(0.03, 0.0, 0.06 * height)], 0.03),
    );
    let grip = p(head.x + 0.14, width * 0.36, height - 0.02);
    parts.add_pair(
        Material::MattBlack,
        bar(&[head + p(0.02, 0.0, 0.05 * height), head + p(0.0, width * 0.12, height - head.z - 0.03), grip], 0.018),
    );
    parts.add_pair(Material::MattBlack, bar(&[grip - p(0.03, 0.10, 0.0), grip], 0.020));
    parts.add(
        Material::GlossBlack,
        block(p(head.x - 0.05, -0.08, head.z + 0.02), p(head.x + 0.05, 0.08, head.z + 0.09), 0.03),
    );
    // Sporting ones do without racks.
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
    // Bumper bars end where the length does.
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
    parts.add_pair(
        Material::LampRed,
        block(
            p(rear_x + radius * 1.05, width * 0.20, rear_guard - 0.10),
            p(rear_x + radius * 1.14, width * 0.32, rear_guard - 0.03),
            0.02,
        ),
    );
    parts.mesh
}

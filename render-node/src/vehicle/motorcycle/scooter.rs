//! A scooter's body: leg shield, floor board, seat box, rear bodywork, engine beside the rear wheel.

use glam::Vec3;

use super::cladding::add_round_lamp;
use super::{Bike, Joints, hull};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

pub(super) fn add_scooter(bike: &mut Bike, joints: &Joints) {
    let Joints { head, front_axle, rear_axle, seat, length, .. } = *joints;
    let floor = 0.27;
    // Leg shield: a curved plate from the head down to the floor board, bulging forward.
    let shield: Vec<Vec<Vec3>> = (0..=16)
        .map(|row| {
            let t = row as f32 / 16.0;
            let z = head.z - 0.02 + (floor + 0.01 - head.z) * t;
            let x = head.x + 0.035 + (front_axle.x + front_axle.z + 0.12 - head.x) * (t * t * 0.25 + t * 0.55);
            let half_width = 0.105 + 0.135 * (std::f32::consts::PI * (t * 0.85 + 0.10)).sin().powf(0.8);
            let thick = 0.045 - 0.02 * t;
            let front = (0..=12).map(|k| {
                let across = k as f32 / 6.0 - 1.0;
                Vec3::new(x - thick * 1.6 * (1.0 - across * across) - thick * 0.2, across * half_width, z)
            });
            let back = (0..=12).rev().map(|k| {
                let across = k as f32 / 6.0 - 1.0;
                Vec3::new(x + thick * 0.5 * (1.0 - across * across), across * half_width, z)
            });
            front.chain(back).collect()
        })
        .collect();
    bike.add_soft(Material::Paint, Solid::lofted(&shield));
    let trim = Solid::superellipsoid(Vec3::new(0.02, 0.035, 0.11), 2.4, 12, 20).moved(Vec3::new(
        head.x - 0.165,
        0.0,
        head.z - 0.17,
    ));
    bike.add_soft(Material::GlossBlack, trim.bent(|p| Vec3::new(p.x - (head.z - 0.17 - p.z) * 0.36, p.y, p.z)));
    // Apron: closes the fork in, from the bars to just above the wheel.
    let wheel_top = front_axle.z * 2.0 + 0.05;
    let apron: Vec<Vec<Vec3>> = (0..=10)
        .map(|row| {
            let t = row as f32 / 10.0;
            let z = head.z + 0.02 + (wheel_top - head.z - 0.02) * t;
            let bulge = (std::f32::consts::PI * (0.15 + 0.7 * t)).sin();
            let (long, wide) = (0.060 + 0.055 * bulge, 0.085 + 0.055 * bulge);
            let x = head.x - 0.01 - (head.z - z) * 0.36;
            (0..24)
                .map(|i| {
                    let (sin, cos) = (std::f32::consts::TAU * i as f32 / 24.0).sin_cos();
                    Vec3::new(x + long * cos, wide * sin * (1.0 - 0.18 * (1.0 - cos) * 0.5), z)
                })
                .collect()
        })
        .collect();
    bike.add_soft(Material::Paint, Solid::lofted(&apron));
    // Cover of the bars.
    let cover = hull(
        &[
            [head.x - 0.125, 0.045, head.z - 0.010, head.z + 0.065],
            [head.x - 0.06, 0.120, head.z - 0.025, head.z + 0.125],
            [head.x + 0.02, 0.165, head.z + 0.015, head.z + 0.175],
            [head.x + 0.09, 0.120, head.z + 0.070, head.z + 0.165],
        ],
        2.4,
        6,
    );
    bike.add_soft(Material::Paint, cover);
    add_round_lamp(bike, &Joints { head: head + Vec3::new(0.03, 0.0, 0.085), ..*joints }, 0.068);
    // Floor board.
    let board_from = front_axle.x + front_axle.z + 0.10;
    let board_to = seat.x - 0.10;
    let board = hull(
        &[
            [board_from - 0.04, 0.170, floor - 0.07, floor + 0.01],
            [board_from + 0.06, 0.215, floor - 0.08, floor],
            [(board_from + board_to) * 0.5, 0.220, floor - 0.08, floor - 0.005],
            [board_to + 0.05, 0.205, floor - 0.08, floor + 0.01],
        ],
        5.0,
        5,
    );
    bike.add(Material::MattBlack, board);
    let skirt = hull(
        &[
            [board_from, 0.200, floor - 0.115, floor - 0.035],
            [(board_from + board_to) * 0.5, 0.228, floor - 0.110, floor - 0.030],
            [board_to + 0.10, 0.215, floor - 0.10, floor + 0.03],
        ],
        4.0,
        5,
    );
    bike.add_soft(Material::Paint, skirt);
    // Body under the seat and over the rear wheel.
    let tail = (length - 0.04).min(rear_axle.x + rear_axle.z + 0.14);
    let body = hull(
        &[
            [board_to - 0.02, 0.135, floor - 0.02, seat.z - 0.14],
            [board_to + 0.06, 0.170, floor - 0.04, seat.z - 0.055],
            [seat.x + 0.12, 0.205, 0.300, seat.z - 0.045],
            [rear_axle.x - 0.06, 0.215, 0.400, seat.z - 0.030],
            [rear_axle.x + 0.14, 0.175, 0.500, seat.z - 0.020],
            [tail - 0.06, 0.110, 0.590, seat.z - 0.030],
            [tail, 0.060, 0.650, seat.z - 0.065],
        ],
        2.6,
        6,
    );
    bike.add_soft(Material::Paint, body);
    let saddle = hull(
        &[
            [board_to - 0.03, 0.080, seat.z - 0.095, seat.z - 0.030],
            [board_to + 0.05, 0.125, seat.z - 0.090, seat.z + 0.005],
            [seat.x + 0.06, 0.160, seat.z - 0.080, seat.z + 0.010],
            [seat.x + 0.22, 0.165, seat.z - 0.070, seat.z + 0.022],
            [seat.x + 0.30, 0.150, seat.z - 0.060, seat.z + 0.060],
            [rear_axle.x + 0.08, 0.120, seat.z - 0.050, seat.z + 0.055],
            [tail - 0.14, 0.080, seat.z - 0.045, seat.z + 0.025],
        ],
        3.0,
        6,
    );
    bike.add_soft(Material::Seat, saddle);
    let lamp = Solid::superellipsoid(Vec3::new(0.030, 0.075, 0.040), 2.5, 10, 22).moved(Vec3::new(
        tail - 0.020,
        0.0,
        seat.z - 0.125,
    ));
    bike.add_soft(Material::LampRed, lamp);
    for (x, z, material) in
        [(tail - 0.05, seat.z - 0.13, Material::LampAmber), (head.x - 0.13, head.z - 0.10, Material::LampAmber)]
    {
        bike.add_pair(
            material,
            Solid::superellipsoid(Vec3::new(0.022, 0.026, 0.018), 2.3, 8, 16).moved(Vec3::new(x, 0.10, z)),
        );
    }
    // Grab rail.
    let rail = [
        Vec3::new(rear_axle.x - 0.06, 0.16, seat.z - 0.01),
        Vec3::new(rear_axle.x + 0.10, 0.155, seat.z + 0.03),
        Vec3::new(tail - 0.02, 0.07, seat.z + 0.035),
        Vec3::new(tail, 0.0, seat.z + 0.035),
    ];
    bike.add_pair(Material::Satin, Solid::tube(&curve_through(&rail, 6), 8, |_| 0.011));
    // Engine and gear case on the left, silencer on the right, mudguard behind.
    let case = hull(
        &[
            [rear_axle.x - 0.34, 0.035, 0.20, 0.33],
            [rear_axle.x - 0.20, 0.050, 0.17, 0.33],
            [rear_axle.x + 0.02, 0.045, 0.16, 0.31],
            [rear_axle.x + 0.09, 0.030, 0.19, 0.28],
        ],
        3.4,
        5,
    );
    bike.add_soft(Material::RimDark, case.moved(Vec3::new(0.0, -0.125, 0.0)));
    let muffler: Vec<Vec3> =
        (0..=5).map(|i| Vec3::new(rear_axle.x - 0.22 + 0.085 * i as f32, 0.145, 0.235 + 0.018 * i as f32)).collect();
    let radii = [0.35, 0.85, 1.0, 1.0, 0.95, 0.6];
    bike.add_soft(Material::Satin, Solid::tube(&muffler, 20, |i| 0.062 * radii[i]));
    let guard = [
        Vec3::new(rear_axle.x + 0.10, 0.0, rear_axle.z + 0.29),
        Vec3::new(tail - 0.02, 0.0, rear_axle.z + 0.26),
        Vec3::new(tail + 0.02, 0.0, rear_axle.z + 0.06),
    ];
    bike.add_soft(
        Material::MattBlack,
        Solid::swept(&curve_through(&guard, 5), Vec3::Y, |_| rounded_rectangle(0.008, 0.075, 0.006)),
    );
    let stand = [
        Vec3::new(board_to + 0.12, 0.09, 0.20),
        Vec3::new(board_to + 0.20, 0.12, 0.07),
        Vec3::new(board_to + 0.26, 0.12, 0.06),
    ];
    bike.add_pair(Material::GlossBlack, Solid::tube(&stand, 8, |_| 0.011));
}

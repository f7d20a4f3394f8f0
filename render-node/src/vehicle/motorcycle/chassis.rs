//! What carries a motorcycle and drives it: fork, bars, frame, swing arm, engine, exhaust.

use glam::{Vec2, Vec3};

use super::{Bike, Joints, Style, hull};
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

pub(super) fn add_fork_and_bars(bike: &mut Bike, joints: &Joints) {
    let scooter = joints.style == Style::Scooter;
    let spread = if scooter { 0.075 } else { 0.098 };
    let axle = joints.front_axle + Vec3::new(-0.005, spread, 0.0);
    let top = joints.head + Vec3::Y * spread;
    let along = (top - axle).normalize_or(Vec3::Z);
    // Lower legs stand on the axle, bright tubes slide into them from above.
    let middle = axle + along * ((top - axle).length() * 0.48);
    bike.add_pair(Material::GlossBlack, Solid::tube(&[axle - along * 0.03, middle], 16, |_| 0.029));
    bike.add_pair(Material::Satin, Solid::tube(&[middle - along * 0.03, top + along * 0.02], 16, |_| 0.0225));
    if !scooter {
        for share in [0.04, 0.22] {
            let clamp = top - along * ((top - axle).length() * share);
            let plate = Solid::rounded_box(Vec3::new(0.034, spread + 0.03, 0.014), 0.010)
                .moved(Vec3::new(clamp.x, 0.0, clamp.z));
            bike.add_soft(Material::GlossBlack, plate);
        }
    }
    let head = joints.head;
    let bar = joints.bar;
    let (rise, back, drop) = match joints.style {
        Style::Naked => (0.085, 0.13, 0.0),
        Style::Sport => (-0.05, 0.08, -0.03),
        Style::Cruiser => (0.105, 0.28, -0.015),
        Style::Scooter => (0.13, 0.11, -0.01),
    };
    let half = [
        Vec3::new(head.x, 0.03, head.z + 0.035),
        Vec3::new(head.x - 0.01, 0.10, head.z + 0.05 + rise * 0.4),
        Vec3::new(head.x + back * 0.35, bar * 0.50, head.z + 0.04 + rise),
        Vec3::new(head.x + back, bar, head.z + 0.04 + rise + drop),
    ];
    let path = curve_through(&half, 6);
    bike.add_pair(
        if joints.style == Style::Cruiser { Material::Chrome } else { Material::GlossBlack },
        Solid::tube(&path, 10, |_| 0.012),
    );
    let end = half[3];
    let inward = (half[2] - end).normalize_or(-Vec3::Y);
    bike.add_pair(Material::MattBlack, Solid::tube(&[end, end + inward * 0.125], 12, |_| 0.018));
    // Levers and their mounts.
    let mount = end + inward * 0.15;
    bike.add_pair(Material::GlossBlack, Solid::rounded_box(Vec3::new(0.022, 0.026, 0.020), 0.008).moved(mount));
    let lever = [
        mount + Vec3::new(-0.03, 0.0, 0.0),
        mount + Vec3::new(-0.055, 0.06, -0.004),
        end + Vec3::new(-0.055, -0.01, -0.008),
    ];
    bike.add_pair(Material::Satin, Solid::tube(&curve_through(&lever, 4), 6, |_| 0.006));
    // Mirrors.
    if joints.style != Style::Sport {
        let eye = mount + Vec3::new(0.015, 0.045, 0.125);
        bike.add_pair(
            Material::GlossBlack,
            Solid::tube(&curve_through(&[mount, mount + Vec3::new(-0.02, 0.0, 0.09), eye], 4), 6, |_| 0.0055),
        );
        let shell = Solid::superellipsoid(Vec3::new(0.020, 0.062, 0.042), 2.6, 8, 20)
            .bent(|p| Vec3::new(p.x.min(0.006), p.y, p.z))
            .moved(eye);
        bike.add_pair(Material::GlossBlack, shell);
        let glass = Solid::superellipsoid(Vec3::new(0.0025, 0.054, 0.035), 2.6, 6, 20).moved(eye + Vec3::X * 0.0065);
        bike.add_pair(Material::Chrome, glass);
    }
    // Instruments.
    let dial = Solid::rounded_box(Vec3::new(0.012, 0.065, 0.038), 0.010).bent(|p| {
        let (sin, cos) = 0.7_f32.sin_cos();
        head + Vec3::new(-0.05 + p.x * cos + p.z * sin, p.y, 0.10 - p.x * sin + p.z * cos)
    });
    bike.add_soft(Material::GlossBlack, dial);
}

pub(super) fn add_frame(bike: &mut Bike, joints: &Joints) {
    let Joints { head, pivot, rear_axle, seat, .. } = *joints;
    let cruiser = joints.style == Style::Cruiser;
    let neck = head - Vec3::new(-0.03, 0.0, 0.13);
    bike.add_soft(Material::GlossBlack, Solid::tube(&[head - Vec3::Z * 0.02 + Vec3::X * 0.005, neck], 16, |_| 0.036));
    // Side beams (a tube cradle on cruisers) from the neck to the swing arm's pivot.
    let beam = [
        neck + Vec3::new(0.02, 0.025, 0.03),
        neck + Vec3::new(0.16, 0.125, -0.03),
        Vec3::new((neck.x + pivot.x) * 0.5 + 0.07, 0.145, (neck.z + pivot.z) * 0.5 + 0.08),
        pivot + Vec3::new(-0.02, 0.120, 0.06),
        pivot + Vec3::new(0.0, 0.115, -0.09),
    ];
    let beam = Solid::swept(&curve_through(&beam, 6), Vec3::Y, |_| {
        if cruiser { rounded_rectangle(0.017, 0.017, 0.017) } else { rounded_rectangle(0.036, 0.014, 0.011) }
    });
    bike.add_pair(if cruiser { Material::GlossBlack } else { Material::Satin }, beam);
    let cradle = [
        neck + Vec3::new(0.0, 0.03, -0.02),
        Vec3::new(neck.x + 0.06, 0.13, 0.36),
        Vec3::new(neck.x + 0.20, 0.15, 0.20),
        pivot + Vec3::new(-0.04, 0.13, -0.20),
        pivot,
    ];
    bike.add_pair(Material::GlossBlack, Solid::tube(&curve_through(&cradle, 6), 10, |_| 0.015));
    // Rear frame under the seat.
    let rail = [
        Vec3::new(neck.x + 0.36, 0.11, seat.z - 0.05),
        seat + Vec3::new(0.06, 0.10, -0.06),
        Vec3::new(rear_axle.x - 0.04, 0.085, seat.z + if cruiser { -0.05 } else { 0.02 }),
    ];
    bike.add_pair(Material::GlossBlack, Solid::tube(&curve_through(&rail, 5), 10, |_| 0.014));
    let stay = [pivot + Vec3::new(0.03, 0.10, 0.06), Vec3::new(rear_axle.x - 0.12, 0.09, seat.z - 0.02)];
    bike.add_pair(Material::GlossBlack, Solid::tube(&stay, 10, |_| 0.012));
    // Swing arm.
    let arm = [
        pivot + Vec3::Y * 0.10,
        pivot.lerp(rear_axle, 0.5) + Vec3::new(0.0, 0.118, 0.012),
        rear_axle + Vec3::new(0.03, 0.118, 0.0),
    ];
    let arm = Solid::swept(&curve_through(&arm, 5), Vec3::Y, |i| {
        let t = i as f32 / 10.0;
        rounded_rectangle(0.040 - 0.014 * t, 0.015, 0.010)
    });
    bike.add_pair(Material::GlossBlack, arm);
    if cruiser {
        let shock = [rear_axle + Vec3::new(-0.01, 0.155, 0.03), Vec3::new(rear_axle.x - 0.10, 0.150, seat.z - 0.07)];
        bike.add_pair(Material::Chrome, Solid::tube(&shock, 12, |_| 0.024));
    } else {
        let foot = pivot + Vec3::new(0.10, 0.0, 0.04);
        bike.add_soft(Material::GlossBlack, Solid::tube(&[foot, foot + Vec3::new(-0.05, 0.0, 0.22)], 14, |_| 0.032));
    }
    // Chain and its wheels.
    let sprocket = [Vec2::new(-0.003, 0.0), Vec2::new(-0.003, 0.105), Vec2::new(0.003, 0.105), Vec2::new(0.003, 0.0)];
    bike.add(Material::RimDark, Solid::revolved(&sprocket, 36).moved(rear_axle - Vec3::Y * 0.085));
    for (from, to) in [(0.04, 0.103), (-0.04, -0.103)] {
        let run = [pivot + Vec3::new(-0.06, -0.085, from), rear_axle + Vec3::new(0.0, -0.085, to)];
        bike.add(Material::Satin, Solid::swept(&run, Vec3::Z, |_| rounded_rectangle(0.007, 0.008, 0.002)));
    }
    // Foot rests.
    let peg = pivot + Vec3::new(if cruiser { -0.52 } else { 0.02 }, 0.15, if cruiser { -0.10 } else { 0.02 });
    bike.add_pair(Material::Satin, Solid::pin(peg, peg + Vec3::Y * 0.10, 0.011, 10));
    let plate = Solid::rounded_box(Vec3::new(0.035, 0.006, 0.06), 0.006).moved(peg + Vec3::Z * 0.01);
    bike.add_pair(Material::GlossBlack, plate);
}

pub(super) fn add_engine(bike: &mut Bike, joints: &Joints) {
    let Joints { head, pivot, front_axle, .. } = *joints;
    let front = front_axle.x + front_axle.z + 0.085;
    let middle = Vec3::new((front + pivot.x) * 0.5 + 0.02, 0.0, 0.36);
    let half = (pivot.x - front) * 0.5;
    let cruiser = joints.style == Style::Cruiser;
    // Crank case, gearbox, sump.
    let case = hull(
        &[
            [middle.x - half * 0.78, 0.085, 0.27, 0.42],
            [middle.x - half * 0.45, 0.150, 0.23, 0.49],
            [middle.x + half * 0.15, 0.165, 0.23, 0.50],
            [middle.x + half * 0.70, 0.135, 0.27, 0.50],
            [middle.x + half * 0.98, 0.090, 0.32, 0.46],
        ],
        4.0,
        4,
    );
    bike.add(Material::RimDark, case);
    for (x, radius, reach) in [(-0.26, 0.098, 0.190), (0.30, 0.082, 0.178)] {
        let cover: Vec<Vec2> = [
            (0.12, radius),
            (reach - 0.012, radius),
            (reach, radius - 0.014),
            (reach, radius * 0.55),
            (reach + 0.006, radius * 0.50),
            (reach + 0.006, 0.0),
        ]
        .map(|(a, r)| Vec2::new(a, r))
        .to_vec();
        let cover = Solid::revolved(&cover, 36).moved(Vec3::new(middle.x + half * x, 0.0, 0.36));
        let surface = cover.surface(40.0);
        bike.mesh.add(Material::Satin, &surface);
        bike.mesh.add(Material::Satin, &surface.mirrored());
    }
    // Cylinders with fins: one bank leaning forward, or a V.
    let leans: &[f32] = if cruiser { &[-0.40, 0.40] } else { &[-0.28] };
    for lean in leans {
        let (sin, cos) = lean.sin_cos();
        let foot = Vec3::new(middle.x - if cruiser { 0.02 } else { half * 0.22 }, 0.0, 0.44);
        let (half_x, half_y) = if cruiser { (0.070, 0.080) } else { (0.085, 0.155) };
        let place = |p: Vec3| foot + Vec3::new(p.x * cos + p.z * sin, p.y, p.z * cos - p.x * sin);
        let top = (head.z - 0.20 - foot.z).clamp(0.16, 0.27);
        let barrel = Solid::rounded_box(Vec3::new(half_x * 0.88, half_y * 0.94, top / 2.0), 0.02);
        bike.add(Material::RimDark, barrel.moved(Vec3::Z * top / 2.0).bent(place));
        for fin in 0..8 {
            let z = 0.03 + (top * 0.72) * fin as f32 / 8.0;
            let plate = Solid::rounded_box(Vec3::new(half_x, half_y, 0.0045), 0.004).moved(Vec3::Z * z).bent(place);
            bike.add(if cruiser { Material::Satin } else { Material::RimDark }, plate);
        }
        let cap = Solid::rounded_box(Vec3::new(half_x * 0.95, half_y * 0.98, top * 0.13), 0.022)
            .moved(Vec3::Z * top * 0.94)
            .bent(place);
        bike.add_soft(if cruiser { Material::Chrome } else { Material::Satin }, cap);
    }
    if cruiser {
        let filter: Vec<Vec2> =
            [(0.10, 0.075), (0.165, 0.075), (0.178, 0.062), (0.180, 0.0)].map(|(a, r)| Vec2::new(a, r)).to_vec();
        bike.add(Material::Chrome, Solid::revolved(&filter, 36).moved(Vec3::new(middle.x, 0.0, 0.58)));
    } else {
        let radiator = Solid::rounded_box(Vec3::new(0.018, 0.165, 0.115), 0.012).bent(|p| {
            let (sin, cos) = 0.18_f32.sin_cos();
            Vec3::new(front + 0.005 + p.x * cos - p.z * sin, p.y, 0.575 + p.z * cos + p.x * sin)
        });
        bike.add(Material::Grille, radiator);
    }
}

pub(super) fn add_exhaust(bike: &mut Bike, joints: &Joints) {
    let Joints { pivot, front_axle, rear_axle, .. } = *joints;
    let front = front_axle.x + front_axle.z + 0.085;
    let cruiser = joints.style == Style::Cruiser;
    let bright = if cruiser { Material::Chrome } else { Material::Satin };
    let starts: &[f32] = if cruiser { &[0.06] } else { &[0.10, 0.035, -0.035, -0.10] };
    for y in starts {
        let path = [
            Vec3::new(front + 0.13, *y, 0.60),
            Vec3::new(front + 0.035, *y, 0.52),
            Vec3::new(front + 0.02, *y * 0.9, 0.36),
            Vec3::new(front + 0.12, 0.03 + *y * 0.5, 0.19),
            Vec3::new(pivot.x - 0.16, 0.07 + *y * 0.2, 0.165),
        ];
        bike.add_soft(bright, Solid::tube(&curve_through(&path, 7), 10, |_| 0.020));
    }
    let (from, to, thick) = if cruiser {
        (Vec3::new(pivot.x - 0.18, 0.13, 0.24), Vec3::new(rear_axle.x + 0.24, 0.19, 0.27), 0.046)
    } else {
        (Vec3::new(pivot.x - 0.02, 0.13, 0.24), Vec3::new(rear_axle.x - 0.02, 0.20, 0.50), 0.052)
    };
    let link = [
        Vec3::new(pivot.x - 0.18, 0.08, 0.165),
        Vec3::new(from.x - 0.04, from.y * 0.9, from.z - 0.03),
        from.lerp(to, 0.15),
    ];
    bike.add_soft(bright, Solid::tube(&curve_through(&link, 5), 12, |_| 0.026));
    let body: Vec<Vec3> = (0..=6).map(|i| from.lerp(to, i as f32 / 6.0)).collect();
    let radii = [0.55, 0.90, 1.0, 1.0, 1.0, 0.96, 0.72];
    bike.add_soft(
        if cruiser { Material::Chrome } else { Material::Satin },
        Solid::tube(&body, 24, |i| thick * radii[i]),
    );
    let way = (to - from).normalize_or(Vec3::X);
    bike.add(Material::Underbody, Solid::tube(&[to - way * 0.01, to + way * 0.004], 20, |_| thick * 0.45));
}

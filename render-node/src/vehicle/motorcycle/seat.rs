//! Seat, side panels, tail and the high mudguard of off-road bikes.

use glam::Vec3;

use super::design::{Guard, Luggage, Nose, SeatForm};
use super::joints::Joints;
use super::lamps::{add_rear_indicators, add_tail_lamp};
use super::shapes::{LoftedSkin, panel, tube, turned};
use super::shell::{Net, NetPanel, PanelEnd};
use super::style::Family;
use super::tank::tank_span;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, hull_in_steps};
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};

pub(super) fn add_seat_and_tail(bike: &mut Assembly, joints: &Joints) {
    match joints.design.seat {
        SeatForm::Stepped => add_stepped_seat(bike, joints),
        SeatForm::Rail => add_rail_seat(bike, joints),
        _ => add_cushions(bike, joints),
    }
    add_side_panels(bike, joints);
}

/// Measurements that are common to the parts of a stepped seat.
#[derive(Clone, Copy)]
struct SteppedSeat {
    /// Top of the rider's seat at its lowest.
    seat: Vec3,
    /// x of the body's rearmost point.
    tail: f32,
    /// Height of the tail above the seat.
    rise: f32,
    /// True if a painted cover lies on the passenger's seat.
    solo: bool,
}

fn add_stepped_seat(bike: &mut Assembly, joints: &Joints) {
    let design = &joints.design;
    let sport = design.nose == Nose::Sport;
    let rise = if sport { 0.100 } else { 0.085 } + design.details.tail_rise;
    let solo = design.details.solo && !design.hand_guards;
    let stepped = SteppedSeat { seat: joints.seat, tail: joints.body_end(), rise, solo };
    let SteppedSeat { seat, tail, .. } = stepped;
    add_rider_seat(bike, &stepped, tank_span(joints).1);
    add_pillion(bike, &stepped);
    add_tail_shell(bike, &stepped);
    add_tail_tray(bike, &stepped);
    if !solo && !design.hand_guards && !sport {
        add_pillion_rails(bike, &stepped);
    }
    add_plate_holder(
        bike,
        Vec3::new(tail - 0.12, 0.0, seat.z + rise * 0.55),
        Vec3::new(joints.tail - 0.016, 0.0, seat.z - 0.150),
    );
    add_tail_lamp(bike, Vec3::new(tail - 0.016, 0.0, seat.z + 0.004 + rise * 0.94), Vec3::new(0.022, 0.040, 0.018));
    add_rear_indicators(bike, Vec3::new(joints.tail - 0.075, 0.030, seat.z - 0.075));
    if design.hand_guards {
        add_rear_rack(bike, tail, seat.z + rise);
    }
}

/// Adds the rider's cushion, from the tank's end.
fn add_rider_seat(bike: &mut Assembly, stepped: &SteppedSeat, end: f32) {
    let SteppedSeat { seat, rise, .. } = *stepped;
    let rider = LoftedSkin::new(
        &[
            [end - 0.02, 0.066, seat.z - 0.06, seat.z + 0.018],
            [end + 0.05, 0.092, seat.z - 0.06, seat.z + 0.010],
            [seat.x - 0.01, 0.120, seat.z - 0.06, seat.z + 0.000],
            [seat.x + 0.10, 0.144, seat.z - 0.05, seat.z + 0.006],
            [seat.x + 0.17, 0.140, seat.z - 0.04, seat.z + 0.034],
            [seat.x + 0.210, 0.118, seat.z - 0.03, seat.z + 0.052 + rise * 0.22],
            [seat.x + 0.222, 0.100, seat.z - 0.02, seat.z + 0.040 + rise * 0.15],
        ],
        3.2,
    );
    bike.add_soft(Material::Seat, rider.solid());
    add_seat_seams(bike, &rider, [end + 0.01, seat.x + 0.19], &[seat.x + 0.02, seat.x + 0.13]);
}

/// Adds the passenger's cushion, or the painted cover on it.
fn add_pillion(bike: &mut Assembly, stepped: &SteppedSeat) {
    let SteppedSeat { seat, tail, rise, solo } = *stepped;
    let lift = if solo { 0.010 } else { 0.0 };
    let stations = [
        [seat.x + 0.180, 0.062, seat.z + rise * 0.15, seat.z + 0.026 + rise * 0.28],
        [seat.x + 0.200, 0.092, seat.z + rise * 0.20, seat.z + 0.038 + rise * 0.46 + lift],
        [seat.x + 0.245, 0.114, seat.z + rise * 0.30, seat.z + 0.044 + rise * 0.76 + lift],
        [seat.x + 0.310, 0.112, seat.z + rise * 0.40, seat.z + 0.044 + rise * 0.94 + lift],
        [tail - 0.215, 0.090, seat.z + rise * 0.60, seat.z + 0.040 + rise + lift],
        [tail - 0.165, 0.066, seat.z + rise * 0.70, seat.z + 0.030 + rise],
        [tail - 0.145, 0.046, seat.z + rise * 0.75, seat.z + 0.018 + rise],
    ];
    if solo {
        return add_solo_cover(bike, &stations);
    }
    let pillion = LoftedSkin::new(&stations, 2.8);
    bike.add_soft(Material::Seat, pillion.solid());
    add_seat_seams(bike, &pillion, [seat.x + 0.22, tail - 0.18], &[seat.x + 0.30]);
}

/// Adds the painted cover in the place of a passenger's cushion: a ridge between two edges,
/// padded behind the rider's back.
fn add_solo_cover(bike: &mut Assembly, stations: &[[f32; 4]]) {
    let line = |out: f32, up: f32| -> Vec<Vec3> {
        let place = |[x, wide, low, high]: &[f32; 4]| Vec3::new(*x, wide * out, low + (high - low) * up);
        stations.iter().map(place).collect()
    };
    let net = Net::new(vec![line(0.0, 1.0), line(0.60, 0.93), line(0.97, 0.52), line(1.0, 0.10)]);
    let last = stations.len() - 1;
    let pad = 2;
    for (stations, material, sides) in [
        ([0, pad], Material::Seat, [PanelEnd::Free, PanelEnd::Cut]),
        ([pad, last], Material::Paint, [PanelEnd::Cut, PanelEnd::Free]),
    ] {
        for (lines, edge) in [([0, 1], PanelEnd::Joined), ([1, 3], PanelEnd::Free)] {
            net.add(bike, material, &NetPanel { lines, stations, sides: [PanelEnd::Joined, edge, sides[0], sides[1]] });
        }
    }
}

/// Adds the painted tail around the seat.
fn add_tail_shell(bike: &mut Assembly, stepped: &SteppedSeat) {
    let SteppedSeat { seat, tail, rise, .. } = *stepped;
    let shell = LoftedSkin::new(
        &[
            [seat.x - 0.12, 0.070, seat.z - 0.11, seat.z - 0.035],
            [seat.x + 0.04, 0.122, seat.z - 0.110, seat.z - 0.020],
            [seat.x + 0.14, 0.136, seat.z - 0.075, seat.z - 0.006],
            [seat.x + 0.22, 0.130, seat.z - 0.045, seat.z + 0.018 + rise * 0.2],
            [tail - 0.22, 0.100, seat.z + rise * 0.25, seat.z + 0.010 + rise * 0.85],
            [tail - 0.09, 0.062, seat.z + rise * 0.62, seat.z + 0.022 + rise * 1.02],
            [tail - 0.01, 0.036, seat.z + rise * 0.82, seat.z + 0.014 + rise * 1.04],
        ],
        3.2,
    );
    bike.add_soft(Material::Paint, shell.solid());
    let low = |x: f32, ratio: f32| {
        let t = ((x - seat.x) / (tail - seat.x)).clamp(0.0, 1.0);
        seat.z - 0.070 + (0.060 + rise * 0.95) * t * ratio
    };
    bike.add_pair(
        Material::PanelGap,
        shell.seam(&[
            [seat.x - 0.117, low(seat.x - 0.117, 1.0)],
            [seat.x + 0.02, low(seat.x + 0.02, 1.0)],
            [seat.x + 0.18, low(seat.x + 0.18, 1.0) + 0.010],
            [tail - 0.075, low(tail - 0.075, 1.0) + 0.012],
        ]),
    );
    bike.add_soft(Material::PanelGap, shell.ring(tail - 0.075));
}

/// Adds a dark tray under the tail.
fn add_tail_tray(bike: &mut Assembly, stepped: &SteppedSeat) {
    let SteppedSeat { seat, tail, rise, .. } = *stepped;
    let tray = LoftedSkin::new(
        &[
            [seat.x - 0.02, 0.080, seat.z - 0.135, seat.z - 0.06],
            [seat.x + 0.12, 0.100, seat.z - 0.110, seat.z - 0.03],
            [tail - 0.24, 0.080, seat.z - 0.040 + rise * 0.25, seat.z + rise * 0.5],
            [tail - 0.10, 0.046, seat.z + rise * 0.45, seat.z + rise * 0.8],
        ],
        4.0,
    );
    bike.add_soft(Material::MattBlack, tray.solid());
}

/// Adds rails for the passenger's hands.
fn add_pillion_rails(bike: &mut Assembly, stepped: &SteppedSeat) {
    let SteppedSeat { seat, tail, rise, .. } = *stepped;
    let rail = [
        Vec3::new(seat.x + 0.245, 0.118, seat.z + rise * 0.55),
        Vec3::new(seat.x + 0.275, 0.142, seat.z + 0.018 + rise * 0.80),
        Vec3::new(tail - 0.200, 0.122, seat.z + 0.028 + rise),
        Vec3::new(tail - 0.165, 0.078, seat.z + 0.010 + rise),
    ];
    bike.add_pair(Material::MattBlack, tube(&curve_through(&rail, 8), 16, |_| 0.0095));
}

/// Adds the seam round a cushion's upper side, and seams across it.
pub(in crate::vehicle) fn add_seat_seams(
    bike: &mut Assembly,
    cushion: &LoftedSkin,
    [from, to]: [f32; 2],
    across: &[f32],
) {
    let upper = |x: f32| {
        let y = cushion.out(x, cushion.over(x, 0.0) - 0.028) * 0.985;
        Vec3::new(x, y, cushion.over(x, 0.0) - 0.028)
    };
    let path: Vec<Vec3> = (0..=20).map(|i| upper(from + (to - from) * i as f32 / 20.0)).collect();
    bike.add_pair(Material::MattBlack, tube(&path, 8, |_| 0.0026));
    for x in across {
        let half = cushion.out(*x, cushion.over(*x, 0.0) - 0.028);
        let line: Vec<Vec3> = (0..=14)
            .map(|i| {
                let y = half * 0.97 * (i as f32 / 7.0 - 1.0);
                Vec3::new(
                    *x - 0.10 * y * y / half.max(0.01),
                    y,
                    cushion.over(*x - 0.10 * y * y / half.max(0.01), y) + 0.0003,
                )
            })
            .collect();
        bike.add_soft(Material::MattBlack, tube(&line, 6, |_| 0.0016));
    }
}

/// Adds an arm from the tail down to a plate's back, its lamp and its reflector.
pub(super) fn add_plate_holder(bike: &mut Assembly, root: Vec3, end: Vec3) {
    let arm = [root, root.lerp(end, 0.45) + Vec3::X * 0.020, end];
    let curve = curve_through(&arm, 7);
    let last = (curve.len() - 1) as f32;
    bike.add_soft(
        Material::MattBlack,
        Solid::swept(&curve, Vec3::Y, |i| rounded_rectangle(0.012, 0.044 - 0.016 * (i as f32 / last), 0.006)),
    );
    let lean = 0.28;
    let place = |p: Vec3| end + Vec3::new(p.x + p.z * -lean + 0.004, p.y, p.z);
    bike.add(
        Material::MattBlack,
        Solid::rounded_box(Vec3::new(0.0035, 0.088, 0.068), 0.003).moved(-Vec3::Z * 0.036).bent(place),
    );
    bike.add_soft(
        Material::GlossBlack,
        Solid::rounded_box(Vec3::new(0.014, 0.026, 0.010), 0.005).moved(Vec3::new(0.012, 0.0, 0.036)).bent(place),
    );
    let reflector = Solid::rounded_box(Vec3::new(0.004, 0.036, 0.010), 0.003).moved(Vec3::new(0.004, 0.0, -0.088));
    bike.add(Material::LampRed, reflector.bent(place));
}

/// Adds a carrier plate with slots behind the seat.
fn add_rear_rack(bike: &mut Assembly, tail: f32, z: f32) {
    let rack = hull_in_steps(
        &[
            [tail - 0.24, 0.090, z + 0.020, z + 0.034],
            [tail - 0.02, 0.105, z + 0.030, z + 0.044],
            [tail + 0.03, 0.080, z + 0.032, z + 0.046],
        ],
        5.0,
        6,
    );
    bike.add(Material::MattBlack, rack);
    for x in [0.19, 0.13, 0.07] {
        let slot = Solid::superellipsoid(Vec3::new(0.012, 0.050, 0.003), 3.5, 8, 24);
        bike.add_soft(Material::PanelGap, slot.moved(Vec3::new(tail - x, 0.0, z + 0.0405 + 0.045 * (0.20 - x) * 0.3)));
    }
    for x in [0.20, 0.04] {
        let post = Vec3::new(tail - x, 0.075, z - 0.015);
        bike.add_pair(Material::GlossBlack, Solid::pin(post, post + Vec3::Z * 0.045, 0.010, 12));
    }
}

fn add_rail_seat(bike: &mut Assembly, joints: &Joints) {
    let (seat, tail) = (joints.seat, joints.tail);
    let end = tank_span(joints).1;
    let trial = joints.design.family == Family::Trial;
    let front = if trial { end } else { end - 0.20 };
    let lift = if trial { 0.0 } else { 0.025 };
    let saddle = LoftedSkin::new(
        &[
            [front, 0.050, seat.z - 0.04, seat.z + lift * 1.8],
            [front + 0.08, 0.078, seat.z - 0.07, seat.z + lift * 1.9],
            [seat.x - 0.02, 0.088, seat.z - 0.09, seat.z],
            [seat.x + 0.22, 0.088, seat.z - 0.075, seat.z + lift * 0.8],
            [tail - 0.24, 0.060, seat.z - 0.03, seat.z + lift * 1.6],
            [tail - 0.21, 0.040, seat.z - 0.01, seat.z + lift * 1.2],
        ],
        3.4,
    );
    bike.add_soft(Material::Seat, saddle.solid());
    if !trial {
        add_seat_seams(bike, &saddle, [front + 0.06, tail - 0.26], &[seat.x - 0.02, seat.x + 0.16]);
    }
    // A slim tail that is also the mudguard.
    let guard = hull_in_steps(
        &[
            [seat.x - 0.02, 0.080, seat.z - 0.15, seat.z - 0.065],
            [seat.x + 0.18, 0.096, seat.z - 0.120, seat.z - 0.040],
            [tail - 0.22, 0.088, seat.z - 0.060, seat.z + lift * 0.8],
            [tail - 0.07, 0.072, seat.z - 0.004, seat.z + 0.018 + lift],
            [tail, 0.050, seat.z + 0.018 + lift, seat.z + 0.030 + lift],
        ],
        3.0,
        6,
    );
    bike.add_soft(Material::Paint, guard);
    if joints.design.nose == Nose::Mask {
        add_tail_lamp(bike, Vec3::new(tail - 0.025, 0.0, seat.z - 0.012), Vec3::new(0.028, 0.038, 0.020));
        add_plate_holder(bike, Vec3::new(tail - 0.09, 0.0, seat.z - 0.01), Vec3::new(tail - 0.01, 0.0, seat.z - 0.125));
        add_rear_indicators(bike, Vec3::new(tail - 0.09, 0.03, seat.z - 0.04));
    }
}

/// Adds seats of padded cushions over a mudguard: benches, saddles, armchairs.
fn add_cushions(bike: &mut Assembly, joints: &Joints) {
    let (seat, design, rear) = (joints.seat, &joints.design, joints.rear_axle);
    let end = tank_span(joints).1;
    let back = match design.seat {
        SeatForm::Bench | SeatForm::Hump => rear.x + design.tail * 0.36,
        _ => rear.x + 0.08,
    };
    let saddle = cushion_stations(design.seat, seat, [end, back]);
    let cushion = LoftedSkin::new(&saddle, 3.2);
    bike.add_soft(Material::Seat, cushion.solid());
    let (front, rear_end) = (saddle[0][0] + 0.035, saddle[saddle.len() - 1][0] - 0.035);
    let pleats: Vec<f32> = match design.seat {
        SeatForm::Bench => (1..7).map(|k| front + (rear_end - front) * k as f32 / 7.0).collect(),
        SeatForm::Hump => (1..5).map(|k| front + (rear_end - front) * k as f32 / 5.0).collect(),
        _ => vec![seat.x + 0.02],
    };
    add_seat_seams(bike, &cushion, [front, rear_end], &pleats);
    match design.seat {
        SeatForm::Bench => add_piping(bike, seat, [end, back]),
        SeatForm::Hump => add_hump(bike, seat, back),
        _ => {}
    }
    add_seat_pan(bike, seat, [end, back]);
    add_mudguard_lamps(bike, joints);
}

/// Returns stations of a cushion's skin between the tank's end and the seat's back.
fn cushion_stations(kind: SeatForm, seat: Vec3, [end, back]: [f32; 2]) -> Vec<[f32; 4]> {
    match kind {
        SeatForm::Bench => vec![
            [end - 0.01, 0.085, seat.z - 0.07, seat.z + 0.025],
            [end + 0.06, 0.115, seat.z - 0.08, seat.z + 0.030],
            [seat.x + 0.12, 0.130, seat.z - 0.08, seat.z + 0.010],
            [back - 0.12, 0.125, seat.z - 0.07, seat.z + 0.035],
            [back - 0.02, 0.110, seat.z - 0.06, seat.z + 0.030],
            [back, 0.090, seat.z - 0.05, seat.z + 0.005],
        ],
        SeatForm::Hump => vec![
            [end - 0.01, 0.085, seat.z - 0.07, seat.z + 0.020],
            [end + 0.06, 0.112, seat.z - 0.08, seat.z + 0.015],
            [seat.x + 0.12, 0.125, seat.z - 0.08, seat.z + 0.000],
            [back - 0.16, 0.115, seat.z - 0.07, seat.z + 0.020],
        ],
        SeatForm::Armchair => vec![
            [end - 0.02, 0.085, seat.z - 0.08, seat.z + 0.030],
            [seat.x - 0.02, 0.170, seat.z - 0.10, seat.z + 0.000],
            [seat.x + 0.13, 0.195, seat.z - 0.10, seat.z + 0.025],
            [seat.x + 0.21, 0.185, seat.z - 0.06, seat.z + 0.130],
            [seat.x + 0.29, 0.190, seat.z - 0.05, seat.z + 0.105],
            [back + 0.06, 0.190, seat.z - 0.05, seat.z + 0.110],
            [back + 0.12, 0.150, seat.z - 0.03, seat.z + 0.100],
        ],
        _ => vec![
            [end - 0.02, 0.075, seat.z - 0.07, seat.z + 0.030],
            [seat.x - 0.04, 0.150, seat.z - 0.09, seat.z + 0.000],
            [seat.x + 0.12, 0.178, seat.z - 0.08, seat.z + 0.030],
            [seat.x + 0.20, 0.155, seat.z - 0.05, seat.z + 0.095],
            [seat.x + 0.27, 0.115, seat.z - 0.03, seat.z + 0.080],
            [back + 0.02, 0.095, seat.z - 0.03, seat.z + 0.080],
            [back + 0.10, 0.065, seat.z - 0.03, seat.z + 0.045],
        ],
    }
}

/// Adds bright piping along a bench.
fn add_piping(bike: &mut Assembly, seat: Vec3, [end, back]: [f32; 2]) {
    let piping = [
        Vec3::new(end + 0.05, 0.117, seat.z - 0.045),
        Vec3::new(seat.x + 0.12, 0.131, seat.z - 0.052),
        Vec3::new(back - 0.04, 0.116, seat.z - 0.035),
    ];
    bike.add_pair(Material::Chrome, tube(&curve_through(&piping, 6), 8, |_| 0.005));
}

/// Adds the painted hump that a seat ends in.
fn add_hump(bike: &mut Assembly, seat: Vec3, back: f32) {
    let hump = hull_in_steps(
        &[
            [back - 0.22, 0.112, seat.z - 0.065, seat.z + 0.010],
            [back - 0.14, 0.122, seat.z - 0.075, seat.z + 0.065],
            [back - 0.02, 0.110, seat.z - 0.065, seat.z + 0.075],
            [back + 0.09, 0.050, seat.z - 0.020, seat.z + 0.035],
        ],
        2.6,
        6,
    );
    bike.add_soft(Material::Paint, hump);
}

/// Adds the pan under the seat, between the frame's rails, down to the mudguard.
fn add_seat_pan(bike: &mut Assembly, seat: Vec3, [end, back]: [f32; 2]) {
    let pan = hull_in_steps(
        &[
            [end + 0.02, 0.075, seat.z - 0.13, seat.z - 0.05],
            [seat.x + 0.10, 0.095, seat.z - 0.16, seat.z - 0.06],
            [back - 0.04, 0.075, seat.z - 0.13, seat.z - 0.04],
        ],
        4.0,
        4,
    );
    bike.add(Material::MattBlack, pan);
}

/// Adds tail lamp and indicators on the rear mudguard. Bags and trunks
/// have indicators of their own.
fn add_mudguard_lamps(bike: &mut Assembly, joints: &Joints) {
    let rear = joints.rear_axle;
    let angle = 0.62_f32;
    let radius = rear.z + 0.085;
    let at = Vec3::new(rear.x + radius * angle.cos(), 0.0, rear.z + radius * angle.sin());
    add_tail_lamp(bike, at + Vec3::new(0.0, 0.0, 0.015), Vec3::new(0.034, 0.046, 0.036));
    bike.add_soft(Material::GlossBlack, Solid::pin(at - Vec3::new(0.07, 0.0, 0.05), at, 0.026, 12));
    if joints.design.luggage != Luggage::BagsAndTrunk {
        add_rear_indicators(bike, at - Vec3::new(0.03, 0.0, 0.02));
    }
}

/// Adds covers below the seat, and the front mudguard of off-road bikes.
fn add_side_panels(bike: &mut Assembly, joints: &Joints) {
    let (seat, pivot, design) = (joints.seat, joints.pivot, &joints.design);
    let outline = match design.seat {
        SeatForm::Bench | SeatForm::Hump => vec![
            [pivot.x - 0.10, seat.z - 0.12],
            [pivot.x - 0.04, pivot.z + 0.11],
            [pivot.x + 0.09, pivot.z + 0.10],
            [pivot.x + 0.20, seat.z - 0.14],
            [pivot.x + 0.10, seat.z - 0.095],
        ],
        SeatForm::Rail if design.family != Family::Trial => vec![
            [pivot.x - 0.06, seat.z - 0.10],
            [pivot.x + 0.02, seat.z - 0.28],
            [pivot.x + 0.17, seat.z - 0.27],
            [joints.tail - 0.34, seat.z - 0.10],
            [joints.tail - 0.22, seat.z - 0.02],
            [seat.x, seat.z - 0.045],
        ],
        SeatForm::Armchair if design.family == Family::Tourer => vec![
            [pivot.x - 0.20, seat.z - 0.10],
            [pivot.x - 0.10, pivot.z + 0.03],
            [pivot.x + 0.12, pivot.z + 0.02],
            [joints.rear_axle.x - 0.10, seat.z - 0.16],
            [joints.rear_axle.x + 0.10, seat.z - 0.06],
            [joints.rear_axle.x - 0.06, seat.z - 0.02],
            [seat.x, seat.z - 0.045],
        ],
        SeatForm::Saddle | SeatForm::Armchair => vec![
            [pivot.x - 0.12, seat.z - 0.08],
            [pivot.x - 0.05, pivot.z + 0.09],
            [pivot.x + 0.10, pivot.z + 0.08],
            [pivot.x + 0.17, seat.z - 0.10],
            [pivot.x + 0.02, seat.z - 0.055],
        ],
        _ => vec![
            [pivot.x - 0.135, seat.z - 0.085],
            [pivot.x - 0.055, seat.z - 0.155],
            [pivot.x - 0.020, pivot.z + 0.145],
            [pivot.x + 0.045, pivot.z + 0.150],
            [pivot.x + 0.115, seat.z - 0.150],
            [pivot.x + 0.215, seat.z - 0.100],
            [pivot.x + 0.160, seat.z - 0.070],
            [pivot.x + 0.000, seat.z - 0.055],
        ],
    };
    let middle = outline.iter().map(|p| p[0]).sum::<f32>() / outline.len() as f32;
    let (out, curve) = match design.seat {
        SeatForm::Rail => (0.125, 0.55),
        SeatForm::Armchair if design.family == Family::Tourer => (0.190, 0.10),
        SeatForm::Stepped => (0.122, 0.35),
        _ => (0.138, 0.55),
    };
    let bulge = move |x: f32, _z: f32| out - curve * (x - middle).powi(2);
    let material = if design.seat == SeatForm::Stepped { Material::MattBlack } else { Material::Paint };
    bike.add_pair(material, panel(&outline, if design.seat == SeatForm::Stepped { 0.022 } else { 0.040 }, bulge));
    if design.seat == SeatForm::Rail && design.family != Family::Trial {
        // A field for a number.
        let count = outline.len() as f32;
        let centre = outline.iter().fold([0.0, 0.0], |m, p| [m[0] + p[0] / count, m[1] + p[1] / count]);
        let field: Vec<[f32; 2]> =
            outline.iter().map(|p| [0, 1].map(|k| centre[k] + (p[k] - centre[k]) * [0.62, 0.66][k])).collect();
        let colour = if design.details.accent { Material::GlossBlack } else { Material::GlossWhite };
        bike.add_pair(colour, panel(&field, 0.004, |x, z| bulge(x, z) + 0.0018));
    }
    // The screws that hold the panel.
    let low = outline.iter().map(|p| p[1]).fold(f32::MAX, f32::min);
    let high = outline.iter().map(|p| p[1]).fold(f32::MIN, f32::max);
    let (left, right) =
        (outline.iter().map(|p| p[0]).fold(f32::MAX, f32::min), outline.iter().map(|p| p[0]).fold(f32::MIN, f32::max));
    let (long, tall) = (right - left, high - low);
    for (x, z) in [(middle - long * 0.20, high - tall * 0.20), (middle, low + tall * 0.16)] {
        let screw = [[-0.004, 0.0085], [0.0018, 0.0085], [0.0034, 0.006], [0.0034, 0.0]];
        bike.add_pair(Material::RimDark, turned(&screw, Vec3::new(x, bulge(x, z), z), Vec3::Y, 16));
    }
    if design.guard == Guard::High {
        add_high_mudguard(bike, joints);
    }
}

/// Adds the long blade under the fork's clamps.
fn add_high_mudguard(bike: &mut Assembly, joints: &Joints) {
    let wheel = joints.front_axle;
    let top = wheel.z * 2.0 + 0.085;
    let root = joints.head.x - (joints.head.z - top) * joints.design.rake.tan();
    let path = [
        Vec3::new(root + 0.22, 0.0, top - 0.09),
        Vec3::new(root + 0.10, 0.0, top - 0.005),
        Vec3::new(root - 0.02, 0.0, top + 0.020),
        Vec3::new(wheel.x - 0.12, 0.0, top + 0.010),
        Vec3::new(wheel.x - 0.34, 0.0, top - 0.045),
    ];
    let curve = curve_through(&path, 6);
    let last = (curve.len() - 1) as f32;
    let loops: Vec<Vec<Vec3>> = curve
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let t = i as f32 / last;
            let half = 0.072 - 0.020 * (2.0 * t - 0.75).powi(2);
            let across = |k: usize| k as f32 / 5.0 - 1.0;
            let upper = (0..=10).map(|k| (across(k), 0.0));
            let lower = (0..=10).rev().map(|k| (across(k), 0.007));
            upper
                .chain(lower)
                .map(|(a, drop)| *p + Vec3::new(0.0, a * half, -0.030 * a.abs().powf(2.5) - drop))
                .collect()
        })
        .collect();
    bike.add_soft(Material::Paint, Solid::lofted_plate(&loops));
    // The blade is fixed to the lower clamp.
    let clamp = Vec3::new(joints.head.x - (joints.head.z - top) * joints.design.rake.tan() + 0.01, 0.0, top);
    bike.add_soft(
        Material::GlossBlack,
        Solid::pin(clamp - Vec3::Z * 0.01, clamp + Vec3::new(0.02, 0.0, 0.10), 0.030, 12),
    );
}

//! Seats: cushion, sloped back with bolsters, head restraint; single seats or a bench.

use glam::{Vec2, Vec3};

use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::cabin::space::{CabinSpace, Rear, RowKind, SeatRow};
use crate::vehicle::parts::solid::{CREASE_DEGREES, Solid};

/// Measurements of one seat or bench, in metres.
struct SeatMeasures {
    /// The hip point, in the middle of the seat.
    hip: Vec3,
    half_width: f32,
    /// Length of the back along its slope.
    back_length: f32,
    /// Lean of the back from upright, in radians.
    lean: f32,
    /// Depth of the side bolsters.
    bolster: f32,
    /// Number of places side by side on one cushion, with a groove between them.
    places: usize,
    restraint: bool,
}

/// Least height of a back above the hip, even where that leaves too
/// little room for a head restraint.
const LEAST_BACK_M: f32 = 0.40;

pub(super) fn add_row(mesh: &mut VehicleMesh, space: &CabinSpace, row: &SeatRow, number: usize) {
    let hip_height = if space.upright { 0.41 } else { 0.31 };
    // Each row sits a little higher than the one in front of it, as in a theatre.
    let hip_z =
        space.z_floor + hip_height + 0.03 * number as f32 - if row.kind == RowKind::PlusTwo { 0.04 } else { 0.0 };
    let lean = if space.upright { 0.24_f32 } else { 0.38 } + if row.kind == RowKind::PlusTwo { -0.12 } else { 0.0 };
    let wanted: f32 = match row.kind {
        RowKind::Front => 0.71,
        RowKind::Bench => 0.66,
        RowKind::PlusTwo => 0.46,
    };
    // The back leans to the rear, so the ceiling over its top is the one that limits it.
    let top_x = row.hip_x + 0.12 + lean.sin() * wanted;
    let restraint_height = 0.19;
    let room = space.ceiling(top_x + 0.10).min(space.ceiling(top_x - 0.05));
    // Seen from outside, the shoulders of the backs stand well above the belt, and the
    // restraints above the shoulders.
    let by_belt = space.z_belt + if space.open { 0.06 } else { 0.26 };
    // A back leaves room for its restraint, unless that would make it too low.
    let below_restraint = (room - restraint_height).max(hip_z + LEAST_BACK_M);
    let back_top = (hip_z + wanted * lean.cos())
        .min(by_belt.max(hip_z + 0.30))
        .min(below_restraint)
        .min(room - restraint_height * 0.55);
    let back_length = ((back_top - hip_z) / lean.cos()).max(0.22);
    let restraint = room - back_top > restraint_height * 0.90;
    let limit = space.half_width_belt - 0.08;
    let seats: Vec<(f32, f32, usize)> = match row.kind {
        RowKind::Front => {
            let half = (limit * 0.37).min(0.265);
            let y = (limit - half - 0.03).min(0.385);
            vec![(-y, half, 1), (y, half, 1)]
        }
        RowKind::PlusTwo => {
            let half = (limit * 0.34).min(0.23);
            vec![(-half - 0.06, half, 1), (half + 0.06, half, 1)]
        }
        RowKind::Bench => vec![(0.0, limit - 0.03, 3)],
    };
    for (y, half_width, places) in seats {
        let place = SeatMeasures {
            hip: Vec3::new(row.hip_x, y, hip_z),
            half_width,
            back_length,
            lean,
            bolster: if row.kind == RowKind::Bench { 0.015 } else { 0.055 },
            places,
            restraint,
        };
        add_seat(mesh, space, &place, row.kind);
        if space.open && space.rear == Rear::None && row.kind == RowKind::Front {
            let behind = (top_x + 0.15).min(space.x_rear - 0.03);
            add_hoop(mesh, Vec3::new(behind, y, space.z_belt - 0.12), half_width * 0.62, back_top + 0.12);
        }
    }
}

/// Adds a roll hoop behind a seat. `foot` is the middle between its two feet.
fn add_hoop(mesh: &mut VehicleMesh, foot: Vec3, half_width: f32, top: f32) {
    let height = (top - foot.z).max(0.10);
    let path: Vec<Vec3> = (0..=16)
        .map(|step| {
            let (sin, cos) = (std::f32::consts::PI * step as f32 / 16.0).sin_cos();
            let [across, up] = [cos, sin].map(|ratio| ratio.signum() * ratio.abs().powf(2.0 / 3.5));
            foot + Vec3::new(-0.05 * up, across * half_width, height * up.max(0.0))
        })
        .collect();
    mesh.add(Material::Satin, &Solid::tube(&path, 12, |_| 0.020).surface(60.0));
}

fn add_seat(mesh: &mut VehicleMesh, space: &CabinSpace, place: &SeatMeasures, kind: RowKind) {
    let (sin, cos) = place.lean.sin_cos();
    let up_back = Vec3::new(sin, 0.0, cos);
    let out_of_back = Vec3::new(-cos, 0.0, sin);
    let foot = place.hip + Vec3::new(0.10, 0.0, -0.06);

    // The back: sections from the foot to the top. Its front is hollow between the bolsters.
    let thickness = |t: f32| 0.100 - 0.034 * t;
    let half_width = |t: f32| {
        let shoulder = if kind == RowKind::Bench { 1.0 - 0.06 * t } else { 1.0 - 0.16 * t * t };
        let rounded = 1.0 - 0.10 * ((t - 0.86) / 0.14).max(0.0).powi(2);
        place.half_width * shoulder * rounded
    };
    let rows = 14;
    let loops: Vec<Vec<Vec3>> = (0..=rows)
        .map(|row| {
            let t = row as f32 / rows as f32;
            let at = foot + up_back * (place.back_length * t);
            let end = (1.0 - ((t - 0.90) / 0.10).max(0.0).powi(2)).max(0.0).sqrt().max(0.15);
            // Lumbar support: the back comes forward a third of the way up.
            let forward = 0.022 * (std::f32::consts::PI * (t * 1.15).min(1.0)).sin();
            section(place, half_width(t), thickness(t))
                .into_iter()
                .map(|p| at + Vec3::Y * p.x + out_of_back * (p.y * end + forward))
                .collect()
        })
        .collect();
    mesh.add(Material::Seat, &inside(space, Solid::lofted(&loops)).surface(52.0));

    // The cushion: sections from the back forward.
    let length = if kind == RowKind::PlusTwo { 0.40 } else { 0.50 };
    let loops: Vec<Vec<Vec3>> = (0..=8)
        .map(|row| {
            let t = row as f32 / 8.0;
            let end = 1.0 - 0.5 * ((t - 0.88) / 0.12).max(0.0).powi(2);
            let at = place.hip + Vec3::new(0.08 - length * t, 0.0, -0.10 + 0.055 * t);
            section(place, place.half_width * (1.0 - 0.04 * t), 0.075)
                .into_iter()
                .map(|p| at + Vec3::new(0.0, p.x, p.y * end))
                .collect()
        })
        .collect();
    mesh.add(Material::Seat, &inside(space, Solid::lofted(&loops)).surface(52.0));
    let base_height = (place.hip.z - 0.16 - space.z_floor).max(0.03) / 2.0;
    let base = Solid::rounded_box(Vec3::new(length * 0.42, place.half_width * 0.85, base_height), 0.02)
        .moved(Vec3::new(place.hip.x - length * 0.36, place.hip.y, space.z_floor + base_height));
    mesh.add(Material::Interior, &base.surface(CREASE_DEGREES));

    if !place.restraint {
        return;
    }
    let top = foot + up_back * place.back_length;
    let middles: Vec<f32> = if place.places == 1 { vec![0.0] } else { vec![-0.62, 0.62] };
    for ratio in middles {
        let y = ratio * place.half_width;
        let centre = top + up_back * 0.080 + out_of_back * 0.026 + Vec3::Y * y;
        let half = Vec3::new(0.054, 0.128, 0.080);
        let head = Solid::superellipsoid(half, 4.2, 12, 24)
            .bent(|p| {
                // The head restraint is thinner and narrower towards the
                // top, and hollow for the head.
                let up = (p.z / half.z).max(0.0);
                let hollow = 0.012 * (1.0 - (p.y / half.y).powi(2));
                let local = Vec3::new(p.x * (1.0 - 0.30 * up) + hollow, p.y * (1.0 - 0.12 * up), p.z);
                centre - out_of_back * local.x + Vec3::Y * local.y + up_back * local.z
            })
            .facing_out();
        mesh.add(Material::Seat, &inside(space, head).surface(60.0));
        for post in [-0.055, 0.055] {
            let from = top + Vec3::Y * (y + post) - up_back * 0.04;
            // Dark posts: bright ones show through dim glass as stray light spots.
            mesh.add(Material::Interior, &Solid::pin(from, from + up_back * 0.10, 0.008, 6).surface(60.0));
        }
    }
}

/// Returns the section of a back or a cushion as 28 points: x runs across the seat, y out of it.
fn section(place: &SeatMeasures, half_width: f32, thickness: f32) -> Vec<Vec2> {
    let front = (0..=18).map(|i| {
        let across = 2.0 * i as f32 / 18.0 - 1.0;
        let edge = (1.0 - across.abs().powf(7.0)).max(0.0);
        // Bolsters stand at 80% of the half width. Grooves separate the places of a bench.
        let bolster = place.bolster * (-((across.abs() - 0.80) / 0.13).powi(2)).exp();
        let groove = if place.places > 1 { 0.016 * (-((across.abs() - 0.31) / 0.03).powi(2)).exp() } else { 0.0 };
        Vec2::new(across * half_width, thickness * edge + bolster * edge - groove)
    });
    let back = (0..=8).map(|i| {
        let across = 1.0 - 2.0 * i as f32 / 8.0;
        let edge = (1.0 - across.abs().powf(5.0)).max(0.0);
        Vec2::new(across * half_width * 0.985, -thickness * (0.2 + 0.6 * edge))
    });
    front.chain(back).collect()
}

/// Presses points that would still pierce the roof or the sides back into the
/// space. This is the last guard.
fn inside(space: &CabinSpace, solid: Solid) -> Solid {
    solid.bent(|p| {
        let side = space.half_width(p.z) - 0.02;
        Vec3::new(p.x, p.y.clamp(-side, side), p.z.min(space.ceiling(p.x)))
    })
}

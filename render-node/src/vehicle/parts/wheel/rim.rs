//! The rim: edge, barrel, hub with nuts and cap, and the blades of the motif between hub and edge.

use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

use super::motif::{Blade, Design};
use super::{RimFinish, Wheel};
use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::solid::{CREASE_DEGREES, Solid, disc_profile};

const SEGMENTS: usize = 64;

/// Where the rim's parts lie, metres.
pub(super) struct RimPlaces {
    /// Radius of the visible edge and of the opening the blades fill.
    pub edge_radius: f32,
    pub opening_radius: f32,
    pub hub_radius: f32,
    /// Along the axle: the edge, and the face of the hub.
    pub edge: f32,
    pub hub_face: f32,
}

impl RimPlaces {
    pub fn of(spec: &Wheel) -> RimPlaces {
        let design = Design::of(spec.motif);
        let wall = (spec.diameter - spec.rim_diameter) / 2.0;
        let edge = spec.width / 2.0 - 0.010 - wall * 0.07;
        let opening_radius = spec.rim_diameter / 2.0 - 0.006;
        RimPlaces {
            edge_radius: spec.rim_diameter / 2.0 + 0.011,
            opening_radius,
            hub_radius: opening_radius * design.hub_share,
            edge,
            // A hub that stands out stays behind the tyre's wall.
            hub_face: (edge - 0.006 - spec.dish).min(spec.width / 2.0 + 0.008),
        }
    }

    /// Height of a blade's face at `share` of the way from the hub (0) to the opening (1).
    fn face(&self, share: f32, curve: f32) -> f32 {
        let at_edge = self.edge - 0.009;
        self.hub_face + (at_edge - self.hub_face) * share.clamp(0.0, 1.0).powf(curve)
    }
}

pub(super) fn add_rim(mesh: &mut VehicleMesh, spec: &Wheel) {
    let places = RimPlaces::of(spec);
    let design = Design::of(spec.motif);
    let (face, flank) = match spec.finish {
        RimFinish::Bright => (Material::RimBright, Material::RimBright),
        RimFinish::Dark => (Material::RimDark, Material::RimDark),
        RimFinish::TwoTone => (Material::RimBright, Material::RimDark),
    };
    let edge_material = if spec.finish == RimFinish::Dark { Material::RimDark } else { Material::RimBright };
    add_edge_and_barrel(mesh, spec, &places, edge_material);
    add_hub(mesh, spec, &places, &design, face);
    for number in 0..design.repeats {
        let pitch = TAU / design.repeats as f32;
        let turn = spec.turn_degrees.to_radians() + TAU / 4.0 + number as f32 * pitch;
        for blade in &design.blades {
            add_blade(mesh, &places, &design, blade, turn, pitch, face, flank);
        }
    }
    if let Some([inner, outer]) = design.ring {
        let profile = [(inner, -0.006), (inner, 0.0), (outer, 0.0), (outer, -0.006)]
            .map(|(share, back)| (share * places.opening_radius, back))
            .map(|(radius, back)| {
                let share = (radius - places.hub_radius) / (places.opening_radius - places.hub_radius);
                Vec2::new(places.face(share, design.face_curve) + back + 0.0008, radius)
            });
        let outward: Vec<Vec2> = profile.into_iter().rev().collect();
        mesh.add(face, &Solid::revolved(&outward, SEGMENTS).surface(CREASE_DEGREES));
    }
    if design.edge_bolts > 0 {
        for bolt in 0..design.edge_bolts {
            let (sin, cos) = (TAU * bolt as f32 / design.edge_bolts as f32).sin_cos();
            let radius = places.opening_radius - 0.009;
            let at = Vec3::new(radius * cos, places.edge - 0.010, radius * sin);
            mesh.add(Material::Satin, &Solid::pin(at, at + Vec3::Y * 0.007, 0.006, 6).surface(CREASE_DEGREES));
        }
    }
}

fn add_edge_and_barrel(mesh: &mut VehicleMesh, spec: &Wheel, places: &RimPlaces, edge_material: Material) {
    let RimPlaces { edge, edge_radius, opening_radius, .. } = *places;
    let lip = [
        Vec2::new(edge - 0.012, edge_radius - 0.001),
        Vec2::new(edge - 0.003, edge_radius),
        Vec2::new(edge, edge_radius - 0.003),
        Vec2::new(edge, opening_radius + 0.003),
        Vec2::new(edge - 0.003, opening_radius),
        Vec2::new(edge - 0.022, opening_radius - 0.003),
    ];
    mesh.add(edge_material, &Solid::revolved(&lip, SEGMENTS).surface(28.0));
    let inner = -spec.width / 2.0 + 0.014;
    let barrel = [
        lip[5],
        Vec2::new(edge - 0.060, opening_radius - 0.018),
        Vec2::new(inner + 0.03, opening_radius - 0.022),
        Vec2::new(inner + 0.03, 0.0),
    ];
    mesh.add(Material::RimDark, &Solid::revolved(&barrel, SEGMENTS).surface(CREASE_DEGREES));
    // Seen from under the car: the wheel's back.
    let back =
        [Vec2::new(inner + 0.02, 0.0), Vec2::new(inner + 0.02, opening_radius - 0.02), Vec2::new(inner, edge_radius)];
    mesh.add(Material::RimDark, &Solid::revolved(&back, SEGMENTS / 2).surface(CREASE_DEGREES));
}

fn add_hub(mesh: &mut VehicleMesh, spec: &Wheel, places: &RimPlaces, design: &Design, face: Material) {
    let RimPlaces { hub_face, hub_radius, .. } = *places;
    let hub = [
        Vec2::new(hub_face - 0.050, hub_radius + 0.002),
        Vec2::new(hub_face - 0.010, hub_radius),
        Vec2::new(hub_face - 0.002, hub_radius - 0.005),
        Vec2::new(hub_face, hub_radius - 0.012),
        Vec2::new(hub_face, 0.0),
    ];
    mesh.add(face, &Solid::revolved(&hub, SEGMENTS / 2).surface(CREASE_DEGREES));

    let cap_radius = (hub_radius * 0.45).min(0.036);
    let cap = [
        Vec2::new(hub_face - 0.001, cap_radius),
        Vec2::new(hub_face + 0.004, cap_radius - 0.001),
        Vec2::new(hub_face + 0.006, cap_radius - 0.005),
        Vec2::new(hub_face + 0.007, 0.0),
    ];
    let cap_material = if face == Material::RimDark { Material::GlossBlack } else { Material::Satin };
    mesh.add(cap_material, &Solid::revolved(&cap, 24).surface(CREASE_DEGREES));
    let badge = disc_profile(hub_face + 0.0076, cap_radius * 0.72);
    mesh.add(Material::GlossBlack, &Solid::revolved(&badge, 24).surface(CREASE_DEGREES));

    // Nuts sit in dark holes; the hole is a disc just proud of the face, which reads as depth, and its bevelled edge catches light.
    let circle = (hub_radius * 0.72).max(cap_radius + 0.012);
    for nut in 0..design.nuts {
        let angle = spec.turn_degrees.to_radians() + TAU / 4.0 + TAU * (nut as f32 + 0.5) / design.nuts as f32;
        let at = Vec3::new(circle * angle.cos(), hub_face, circle * angle.sin());
        let hole_radius = (hub_radius * 0.17).min(0.0125);
        let hole = Solid::revolved(&disc_profile(0.0008, hole_radius), 12).moved(at);
        mesh.add(Material::LampHousing, &hole.surface(CREASE_DEGREES));
        let rim = [(0.0, 1.25), (0.0014, 1.12), (0.0008, 0.95)]
            .map(|(along, share): (f32, f32)| Vec2::new(along, share * hole_radius));
        mesh.add(face, &Solid::revolved(&rim, 12).moved(at).surface(CREASE_DEGREES));
        let pin = Solid::pin(at - Vec3::Y * 0.004, at + Vec3::Y * 0.003, hole_radius * 0.62, 6);
        mesh.add(Material::Satin, &pin.surface(CREASE_DEGREES));
    }
}

/// One blade as a face (with a slight crown and chamfered edges) and two flanks that go back into the barrel.
#[allow(clippy::too_many_arguments)]
fn add_blade(
    mesh: &mut VehicleMesh,
    places: &RimPlaces,
    design: &Design,
    blade: &Blade,
    turn: f32,
    pitch: f32,
    face: Material,
    flank: Material,
) {
    let stations = design.stations;
    let from = places.hub_radius * 0.86 + (places.opening_radius - places.hub_radius) * blade.start;
    let to = places.hub_radius + (places.opening_radius + 0.002 - places.hub_radius) * blade.end;
    // Position of a point `across` (-1 to 1) the blade at a station, `back` metres behind the face.
    let point = |station: usize, across: f32, back: f32| {
        let t = station as f32 / (stations - 1) as f32;
        let radius = from + (to - from) * t;
        let share = (radius - places.hub_radius) / (places.opening_radius - places.hub_radius);
        let half_width = blade.half_width(share.clamp(0.0, 1.0)) * places.opening_radius;
        let limit = pitch * radius / 2.0 * blade.widest_share_of_pitch;
        let centre = turn + pitch * blade.offset(share.clamp(0.0, 1.0));
        let angle = centre + (across * half_width.min(limit) / radius).clamp(-1.2, 1.2);
        let crown = design.crown * (1.0 - across * across);
        let slant = design.slant * across;
        let height = places.face(share, design.face_curve) - back + crown + slant;
        Vec3::new(radius * angle.cos(), height, radius * angle.sin())
    };
    let chamfer = design.chamfer;
    let face_columns =
        [(-1.0, 1.5 * chamfer), (-0.66, 0.0), (-0.3, 0.0), (0.0, 0.0), (0.3, 0.0), (0.66, 0.0), (1.0, 1.5 * chamfer)];
    // Rows along the radius, columns with the angle: turned over, the face looks along +y.
    // Bevels are wide enough to be seen as a second, darker or brighter face.
    let front = Solid::grid(stations, face_columns.len(), false, |row, column| {
        let (across, back) = face_columns[column];
        point(row, across, back)
    });
    mesh.add(face, &front.flipped().surface(30.0));
    for side in [-1.0_f32, 1.0] {
        let columns = [(side, 1.5 * chamfer), (side * 0.94, design.depth * 0.5), (side * 0.8, design.depth)];
        let wall = Solid::grid(stations, columns.len(), false, |row, column| {
            let (across, back) = columns[column];
            point(row, across, back)
        });
        let wall = if side > 0.0 { wall.flipped() } else { wall };
        mesh.add(flank, &wall.surface(CREASE_DEGREES));
    }
    // A blade that begins or stops between hub and edge shows its ends.
    for (station, shown) in [(0, blade.start > 0.0), (stations - 1, blade.end < 0.97)] {
        if !shown {
            continue;
        }
        let end = Solid::grid(2, face_columns.len(), false, |row, column| {
            let (across, back) = face_columns[column];
            if row == 0 { point(station, across, back) } else { point(station, across * 0.8, design.depth) }
        });
        let end = if station == 0 { end } else { end.flipped() };
        mesh.add(flank, &end.surface(CREASE_DEGREES));
    }
}

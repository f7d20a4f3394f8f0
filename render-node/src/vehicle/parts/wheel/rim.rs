//! The rim: edge, barrel, hub with nuts and cap, and the blades of the motif between hub and edge.

use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

use super::motif::{Blade, RimDesign};
use super::spec::{Motif, RimFinish, Wheel};
use crate::vehicle::mesh::{Material, VehicleMesh};
use crate::vehicle::parts::solid::{CREASE_DEGREES, Solid, disc_profile};

const SEGMENTS: usize = 60;
/// Height of a rim's flange beyond the tyre's beads.
const FLANGE_M: f32 = 0.0165;
/// Distance by which the radius of the opening for the blades exceeds that of the tyre's beads.
const OPENING_M: f32 = 0.003;

/// Positions of the rim's parts, in metres.
pub(super) struct RimPlaces {
    /// Radius of the visible edge.
    pub edge_radius: f32,
    /// Radius of the opening that the blades fill.
    pub opening_radius: f32,
    pub hub_radius: f32,
    /// Position of the edge along the axle.
    pub edge: f32,
    /// Position of the hub's face along the axle.
    pub hub_face: f32,
}

impl RimPlaces {
    pub fn of(spec: &Wheel) -> RimPlaces {
        let wall = (spec.diameter - spec.rim_diameter) / 2.0;
        let edge = spec.width / 2.0 - 0.010 - wall * 0.07;
        let opening_radius = spec.rim_diameter / 2.0 + OPENING_M;
        RimPlaces {
            edge_radius: spec.rim_diameter / 2.0 + FLANGE_M,
            opening_radius,
            hub_radius: opening_radius * RimDesign::of(spec.motif, spec.style).hub,
            edge,
            // A hub that stands out stays behind the tyre's wall.
            hub_face: (edge - 0.006 - spec.dish).min(spec.width / 2.0 + 0.008),
        }
    }

    /// Returns the height of a blade's face at `share` of the way from
    /// the hub (0) to the opening (1).
    fn face(&self, ratio: f32, curve: f32) -> f32 {
        let at_edge = self.edge - 0.008;
        self.hub_face + (at_edge - self.hub_face) * ratio.clamp(0.0, 1.0).powf(curve)
    }
}

/// Materials of the rim: faces and edge as seen from the side, bevels and flanks
/// of the blades, and the barrel.
#[derive(Clone, Copy)]
struct Coat {
    face: Material,
    bevel: Material,
    flank: Material,
    barrel: Material,
}

impl Coat {
    fn of(spec: &Wheel) -> Coat {
        let (bright, dark) = (Material::RimBright, Material::RimDark);
        match spec.finish {
            RimFinish::Bright => Coat { face: bright, bevel: bright, flank: bright, barrel: bright },
            RimFinish::Dark => Coat { face: dark, bevel: dark, flank: dark, barrel: dark },
            // A rim that is turned on a lathe after painting: the parts in the plane
            // of the turning are bright.
            RimFinish::TwoTone => Coat { face: bright, bevel: dark, flank: dark, barrel: dark },
        }
    }
}

pub(super) fn add_rim(mesh: &mut VehicleMesh, spec: &Wheel) {
    let places = RimPlaces::of(spec);
    let design = RimDesign::of(spec.motif, spec.style);
    let coat = Coat::of(spec);
    add_edge_and_barrel(mesh, spec, &places, &coat);
    add_hub(mesh, spec, &places, design, &coat);
    for number in 0..design.repeats {
        let pitch = TAU / design.repeats as f32;
        let turn = spec.turn_degrees.to_radians() + TAU / 4.0 + number as f32 * pitch;
        for blade in &design.blades {
            BladePlace { places: &places, design, blade, turn, pitch }.add(mesh, &coat);
        }
    }
    if let Some([inner, outer]) = design.ring {
        let profile = [(inner, -0.006), (inner, 0.0), (outer, 0.0), (outer, -0.006)]
            .map(|(ratio, back)| (ratio * places.opening_radius, back))
            .map(|(radius, back)| {
                let ratio = (radius - places.hub_radius) / (places.opening_radius - places.hub_radius);
                Vec2::new(places.face(ratio, design.curve) + back + 0.0008, radius)
            });
        let outward: Vec<Vec2> = profile.into_iter().rev().collect();
        mesh.add(coat.face, &Solid::revolved(&outward, SEGMENTS).surface(CREASE_DEGREES));
    }
    for bolt in 0..design.bolts {
        let (sin, cos) = (TAU * bolt as f32 / design.bolts as f32).sin_cos();
        let radius = places.opening_radius - 0.009;
        let at = Vec3::new(radius * cos, places.edge - 0.010, radius * sin);
        mesh.add(Material::Satin, &Solid::pin(at, at + Vec3::Y * 0.007, 0.006, 6).surface(CREASE_DEGREES));
    }
}

fn add_edge_and_barrel(mesh: &mut VehicleMesh, spec: &Wheel, places: &RimPlaces, coat: &Coat) {
    let RimPlaces { edge, edge_radius, opening_radius, .. } = *places;
    // The flange with its rounded edge, a step, and the seat of the blades.
    let lip = [
        Vec2::new(edge - 0.012, edge_radius - 0.001),
        Vec2::new(edge - 0.0035, edge_radius),
        Vec2::new(edge - 0.001, edge_radius - 0.0012),
        Vec2::new(edge, edge_radius - 0.0035),
        Vec2::new(edge, edge_radius - 0.0075),
        Vec2::new(edge - 0.0012, edge_radius - 0.0095),
        Vec2::new(edge - 0.0055, edge_radius - 0.0105),
        Vec2::new(edge - 0.0065, opening_radius + 0.0005),
        Vec2::new(edge - 0.0085, opening_radius - 0.001),
    ];
    mesh.add(coat.face, &Solid::revolved(&lip, SEGMENTS).surface(32.0));
    // The barrel falls away from the light: only its first part is seen to be metal.
    let step = Vec2::new(edge - 0.040, opening_radius - 0.010);
    let rim_wall = [lip[8], Vec2::new(edge - 0.018, opening_radius - 0.004), step];
    mesh.add(coat.barrel, &Solid::revolved(&rim_wall, SEGMENTS).surface(CREASE_DEGREES));
    let inner = -spec.width / 2.0 + 0.014;
    let barrel = [
        step,
        Vec2::new(edge - 0.055, opening_radius - 0.020),
        Vec2::new(inner + 0.03, opening_radius - 0.024),
        Vec2::new(inner + 0.03, 0.0),
    ];
    mesh.add(Material::Underbody, &Solid::revolved(&barrel, SEGMENTS).surface(CREASE_DEGREES));
    // The wheel's back, which is seen from under the car.
    let back =
        [Vec2::new(inner + 0.02, 0.0), Vec2::new(inner + 0.02, opening_radius - 0.02), Vec2::new(inner, edge_radius)];
    mesh.add(Material::RimDark, &Solid::revolved(&back, SEGMENTS / 2).surface(CREASE_DEGREES));
    // The valve.
    let angle = spec.turn_degrees.to_radians() + 0.35;
    let way = Vec3::new(angle.cos(), 0.0, angle.sin());
    let foot = way * (opening_radius - 0.012) + Vec3::Y * (edge - 0.030);
    let tip = way * (opening_radius - 0.026) + Vec3::Y * (edge - 0.010);
    mesh.add(Material::MattBlack, &Solid::pin(foot, tip, 0.004, 6).surface(CREASE_DEGREES));
}

fn add_hub(mesh: &mut VehicleMesh, spec: &Wheel, places: &RimPlaces, design: &RimDesign, coat: &Coat) {
    let RimPlaces { hub_face, hub_radius, .. } = *places;
    let cap_radius = (hub_radius * 0.46).min(0.034);
    // The face of the hub is a shallow dish round the cap.
    let hub = [
        Vec2::new(hub_face - 0.050, hub_radius + 0.002),
        Vec2::new(hub_face - 0.010, hub_radius),
        Vec2::new(hub_face - 0.003, hub_radius - 0.003),
        Vec2::new(hub_face, hub_radius - 0.009),
        Vec2::new(hub_face, cap_radius + 0.006),
        Vec2::new(hub_face - 0.003, cap_radius + 0.002),
        Vec2::new(hub_face - 0.003, 0.0),
    ];
    mesh.add(coat.face, &Solid::revolved(&hub, SEGMENTS / 2).surface(CREASE_DEGREES));
    let bright_cap = matches!(spec.motif, Motif::Dish | Motif::Wire | Motif::Cover) || coat.face == Material::RimDark;
    let ring = [
        Vec2::new(hub_face - 0.003, cap_radius),
        Vec2::new(hub_face + 0.004, cap_radius - 0.001),
        Vec2::new(hub_face + 0.0055, cap_radius - 0.004),
        Vec2::new(hub_face + 0.0040, cap_radius - 0.007),
    ];
    mesh.add(Material::Satin, &Solid::revolved(&ring, 28).surface(CREASE_DEGREES));
    let dome = [
        Vec2::new(hub_face + 0.0040, cap_radius - 0.007),
        Vec2::new(hub_face + 0.0060, cap_radius * 0.5),
        Vec2::new(hub_face + 0.0066, 0.0),
    ];
    let middle = if bright_cap { Material::Satin } else { Material::GlossBlack };
    mesh.add(middle, &Solid::revolved(&dome, 28).surface(CREASE_DEGREES));
    let disc = disc_profile(hub_face + 0.0072, cap_radius * 0.34);
    let disc_material = if bright_cap { Material::GlossBlack } else { Material::Satin };
    mesh.add(disc_material, &Solid::revolved(&disc, 20).surface(CREASE_DEGREES));

    // Nuts sit in dark pockets. A pocket is a disc just proud of the face, which looks like depth,
    // and its bevelled edge catches light.
    let circle = (hub_radius * 0.74).max(cap_radius + 0.013);
    for nut in 0..design.nuts {
        let angle = spec.turn_degrees.to_radians() + TAU / 4.0 + TAU * (nut as f32 + 0.5) / design.nuts as f32;
        let at = Vec3::new(circle * angle.cos(), hub_face, circle * angle.sin());
        let hole_radius = (hub_radius * 0.17).min(0.0125);
        let hole = Solid::revolved(&disc_profile(0.0008, hole_radius), 14).moved(at);
        mesh.add(Material::PanelGap, &hole.surface(CREASE_DEGREES));
        let rim = [(0.0, 1.25), (0.0014, 1.12), (0.0008, 0.95)]
            .map(|(along, ratio): (f32, f32)| Vec2::new(along, ratio * hole_radius));
        mesh.add(coat.face, &Solid::revolved(&rim, 14).moved(at).surface(CREASE_DEGREES));
        let pin = Solid::pin(at - Vec3::Y * 0.004, at + Vec3::Y * 0.002, hole_radius * 0.58, 6);
        mesh.add(Material::Satin, &pin.surface(CREASE_DEGREES));
    }
}

/// One blade of a rim, turned to its place.
struct BladePlace<'a> {
    places: &'a RimPlaces,
    design: &'a RimDesign,
    blade: &'a Blade,
    turn: f32,
    pitch: f32,
}

/// Columns across half a face, from the middle to the chamfer.
const FACE_COLUMNS: [f32; 2] = [0.0, 0.62];

impl BladePlace<'_> {
    /// Returns the radius at a station. Stations are closer together where the blade flares.
    fn radius(&self, station: usize) -> f32 {
        let (places, blade) = (self.places, self.blade);
        let from = places.hub_radius * 0.86 + (places.opening_radius - places.hub_radius) * blade.start;
        let to = places.hub_radius + (places.opening_radius + 0.002 - places.hub_radius) * blade.end;
        let t = station as f32 / (self.design.stations - 1) as f32;
        let t = t - 0.09 * (TAU * t).sin();
        from + (to - from) * t
    }

    /// Returns a point at a station, `across` the blade (-1 to 1), `inset` metres inside its edge
    /// and `back` metres behind the face.
    fn point(&self, station: usize, across: f32, inset: f32, back: f32) -> Vec3 {
        let (places, design, blade) = (self.places, self.design, self.blade);
        let radius = self.radius(station);
        let ratio = (radius - places.hub_radius) / (places.opening_radius - places.hub_radius);
        let held = ratio.clamp(0.0, 1.0);
        let half_width = blade.half_width(held, design) * places.opening_radius;
        let half_width = half_width.min(self.pitch * radius / 2.0 * blade.pitch);
        let side = (half_width - inset.min(0.4 * half_width)) * across;
        let angle = self.turn + self.pitch * blade.offset(held) + (side / radius).clamp(-1.2, 1.2);
        // Crown and groove run out where the blade meets hub and edge.
        let along = (4.0 * held * (1.0 - held)).clamp(0.0, 1.0).sqrt();
        let crown =
            design.crown * (1.0 - across * across) - design.groove * along * (1.0 - (across.abs() * 1.3).min(1.0));
        let height = places.face(ratio, design.curve) - back - blade.back + crown + design.slant * across;
        Vec3::new(radius * angle.cos(), height, radius * angle.sin())
    }

    /// Returns a strip along the blade through columns of (across, inset, back).
    fn strip(&self, columns: &[(f32, f32, f32)]) -> Solid {
        Solid::grid(self.design.stations, columns.len(), false, |row, column| {
            let (across, inset, back) = columns[column];
            self.point(row, across, inset, back)
        })
    }

    /// Adds the face with a crown or a hollow, bevelled edges, and two undercut flanks
    /// that go back into the barrel.
    fn add(&self, mesh: &mut VehicleMesh, coat: &Coat) {
        let design = self.design;
        let chamfer = design.chamfer;
        let left = FACE_COLUMNS.iter().skip(1).rev().map(|across| -across);
        let face: Vec<(f32, f32, f32)> = std::iter::once(-1.0)
            .chain(left)
            .chain(FACE_COLUMNS)
            .chain([1.0])
            .map(|across: f32| (across, chamfer * across.abs(), 0.0))
            .collect();
        // Rows run along the radius, columns with the angle: flipped, the face points along +y.
        mesh.add(coat.face, &self.strip(&face).flipped().surface(30.0));
        for side in [-1.0_f32, 1.0] {
            let turned = |solid: Solid| if side > 0.0 { solid.flipped() } else { solid };
            let bevel = [(side, chamfer, 0.0), (side, 0.0, 1.3 * chamfer)];
            mesh.add(coat.bevel, &turned(self.strip(&bevel)).surface(CREASE_DEGREES));
            let columns = [(side, 0.0, 1.3 * chamfer), (side * 0.82, 0.0, design.depth)];
            mesh.add(coat.flank, &turned(self.strip(&columns)).surface(CREASE_DEGREES));
        }
        // The ends of a blade are seen if it begins or stops between hub and edge.
        let last = design.stations - 1;
        for (station, shown) in [(0, self.blade.start > 0.0), (last, self.blade.end < 0.97)] {
            if !shown {
                continue;
            }
            let end = Solid::grid(2, face.len(), false, |row, column| {
                let (across, inset, back) = face[column];
                if row == 0 {
                    self.point(station, across, inset, back)
                } else {
                    self.point(station, across * 0.8, 0.0, design.depth)
                }
            });
            let end = if station == 0 { end } else { end.flipped() };
            mesh.add(coat.flank, &end.surface(CREASE_DEGREES));
        }
    }
}

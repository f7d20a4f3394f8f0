//! The windscreen of an open car: a frame along the edges of the screen that the sheet draws as if
//! the car were closed, and its glass. The rest of the greenhouse is not built, and the cockpit is
//! a cut solid of the sheet.

use glam::Vec3;

use super::blend::smooth_max;
use super::body_field::BodyField;
use super::mesh::{Material, Surface, VehicleMesh};
use super::parts::solid::{CREASE_DEGREES, Solid, rounded_rectangle};
use super::regions::windscreen;
use super::sheet::{Sheet, Windscreen};
use super::surface_net::{self, HalfMesh};

const GLASS_GRID_M: f32 = 0.020;
/// How far the frame's foot goes into the hood.
const FOOT_M: f32 = 0.04;
/// How far the glass lies behind the drawn screen, and how far it reaches under the frame.
const GLASS_BEHIND_M: f32 = 0.006;
const GLASS_UNDER_M: f32 = 0.016;
/// Minimum and maximum half width of header and pillars across the screen, and
/// their maximum thickness.
const HALF_WIDTH_M: [f32; 2] = [0.018, 0.027];
const THICKEST_M: f32 = 0.034;
/// Maximum distance that a pillar goes below the belt.
const UNDER_BELT_M: f32 = 0.07;
/// Ratio of their usual width that bright frames have; they are as slim as a moulding.
const BRIGHT_RATIO: f32 = 0.62;
/// Ratio by which a pillar widens towards its foot, and the height above the
/// hood over which it does.
const FOOT_GROWTH: f32 = 0.55;
const FOOT_HEIGHT_M: f32 = 0.12;
/// How far the frame's face stands out of the drawn screen.
const PROUD_M: f32 = 0.005;
/// Half width and half thickness of the seal between frame and glass, and of the
/// print at the glass's foot.
const SEAL_M: [f32; 2] = [0.008, 0.0035];
const PRINT_M: [f32; 2] = [0.022, 0.0035];
/// Length of a step along the frame's line, and the maximum number of steps.
const STEP_M: f32 = 0.016;
const MOST_STEPS: usize = 160;

/// Builds frame and glass of the right half. The mesh is empty if the car is
/// closed or has no windscreen.
pub fn windscreen_frame(sheet: &Sheet, field: &BodyField) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let (Some(open), Some(glass), Some(drawn)) =
        (&sheet.greenhouse.open, windscreen(&sheet.glass), &sheet.glass.windscreen)
    else {
        return mesh;
    };
    // The windscreen lies between the greenhouse's front end and the header, over the whole width.
    let first = sheet.greenhouse.profile.iter().map(|c| c.at.x).fold(f32::MAX, f32::min);
    let size = sheet.size;
    let low = field.morph.to_real(Vec3::new(first - 0.05, 0.0, size.height * 0.45));
    let high = field.morph.to_real(Vec3::new(
        open.header + sheet.greenhouse.windscreen_bow + 0.1,
        size.width * 0.5,
        size.height,
    ));
    let high = high + Vec3::Z * 0.05;
    add_frame(&mut mesh, sheet, field, drawn, [low, high]);

    let sheet_of_glass = |p: Vec3| field.surface_point(p).greenhouse_profile + GLASS_BEHIND_M;
    let half = surface_net::mesh(&sheet_of_glass, low, high, GLASS_GRID_M, true);
    let in_frame = |p: Vec3| {
        let s = field.surface_point(p);
        glass(p, &s) < GLASS_UNDER_M && s.body > -FOOT_M && s.greenhouse_x < open.header
    };
    let pane = with_normals(&half, &sheet_of_glass, in_frame);
    mesh.add(Material::ClearGlass, &pane);
    // The pane is visible from behind too, because nothing closes the car there.
    mesh.add(Material::ClearGlass, &turned(pane));

    // The inside mirror hangs from the header.
    let top = field.morph.to_real(Vec3::new(open.header, 0.0, 0.0)).x;
    if let Some(edge) =
        (0..60).map(|i| high - Vec3::new(high.x - top, high.y, i as f32 * 0.01)).find(|p| sheet_of_glass(*p) < 0.0)
    {
        let at = edge + Vec3::new(-0.02, 0.0, -0.10);
        let mirror = Solid::rounded_box(Vec3::new(0.012, 0.11, 0.028), 0.012).moved(at);
        mesh.add(Material::MattBlack, &mirror.surface(CREASE_DEGREES));
        let stem =
            Solid::tube(&[edge + Vec3::new(-0.05, 0.0, -0.012), at + Vec3::new(-0.03, 0.0, 0.03), at], 10, |_| 0.009);
        mesh.add(Material::MattBlack, &stem.surface(60.0));
    }
    mesh
}

/// Adds header and pillars, the lining behind them, the seal at the glass and the print along its
/// foot. They are sections of one form, carried along the edges of the drawn screen.
fn add_frame(mesh: &mut VehicleMesh, sheet: &Sheet, field: &BodyField, drawn: &Windscreen, bounds: [Vec3; 2]) {
    let header = sheet.greenhouse.open.as_ref().map_or(drawn.header, |open| open.header);
    let thick = sheet.greenhouse.open.as_ref().map_or(THICKEST_M, |open| open.frame.min(THICKEST_M));
    let half_width = (0.5 * (header - drawn.header).max(drawn.pillar)).clamp(HALF_WIDTH_M[0], HALF_WIDTH_M[1]);
    let edge = |p: Vec3| {
        let s = field.surface_point(p);
        smooth_max(s.greenhouse_side + drawn.pillar, s.greenhouse_x - drawn.header, drawn.corner) - half_width
    };
    let screen = |p: Vec3| field.surface_point(p).greenhouse_profile;
    let above_hood = |p: Vec3| field.surface_point(p).body;
    let line = Line { screen: &screen, edge: &edge };
    // Beside a narrow hood the pillars end below the scuttle's edge.
    let path = line.followed(bounds, |p| {
        let s = field.surface_point(p);
        s.body > -FOOT_M && s.at.z > s.belt - UNDER_BELT_M
    });
    if path.len() < 8 {
        return;
    }
    // Classic roadsters, whose mirrors are bright, have a bright frame too.
    let cap = sheet.fittings.mirror.as_ref().map(|fitting| fitting.look.cap);
    let is_bright = cap == Some(Material::Chrome);
    let face = if is_bright { Material::Chrome } else { Material::Paint };
    let half_width = if is_bright { BRIGHT_RATIO * half_width } else { half_width };
    let growth = |at: &GlassPoint| 1.0 + FOOT_GROWTH * (1.0 - above_hood(at.p) / FOOT_HEIGHT_M).clamp(0.0, 1.0).powi(2);
    let carried = |material, half: [f32; 2], radius: f32, offset: [f32; 2], grows: bool| {
        let loops: Vec<Vec<Vec3>> = path
            .iter()
            .map(|at| {
                let wide = if grows { growth(at) } else { 1.0 };
                let section = rounded_rectangle(half[0] * wide, half[1], radius);
                let inward = offset[0] + if grows { half[0] * (1.0 - wide) * 0.4 } else { 0.0 };
                section
                    .into_iter()
                    .map(|q| at.p + at.inward * (q.x + inward) + at.outward * (q.y + offset[1]))
                    .collect()
            })
            .collect();
        (material, Solid::lofted(&loops).surface(60.0))
    };
    let face_half = 0.30 * thick;
    let lining_half = 0.5 * thick - face_half + 0.004;
    let pieces = [
        carried(face, [half_width, face_half], 0.8 * face_half, [0.0, PROUD_M - face_half], true),
        carried(
            Material::MattBlack,
            [0.86 * half_width, lining_half],
            0.8 * lining_half,
            [0.0, PROUD_M - thick + lining_half],
            true,
        ),
        carried(Material::PaneBorder, SEAL_M, SEAL_M[1], [half_width + 0.4 * SEAL_M[0], -GLASS_BEHIND_M], false),
    ];
    for (material, surface) in pieces {
        mesh.add(material, &surface);
    }
    add_print(mesh, drawn, &screen, &above_hood, &edge, bounds);
}

/// Adds the dark print along the foot of the glass, where the glass goes into the hood.
fn add_print(
    mesh: &mut VehicleMesh,
    drawn: &Windscreen,
    screen: &dyn Fn(Vec3) -> f32,
    above_hood: &dyn Fn(Vec3) -> f32,
    edge: &dyn Fn(Vec3) -> f32,
    bounds: [Vec3; 2],
) {
    let foot = |p: Vec3| drawn.cowl + 0.4 * PRINT_M[0] - above_hood(p);
    let path = Line { screen, edge: &foot }.followed(bounds, |p| edge(p) < 0.0);
    if path.len() < 4 {
        return;
    }
    let section = rounded_rectangle(PRINT_M[0], PRINT_M[1], PRINT_M[1]);
    let loops: Vec<Vec<Vec3>> = path
        .iter()
        .map(|at| section.iter().map(|q| at.p + at.inward * q.x + at.outward * (q.y - GLASS_BEHIND_M)).collect())
        .collect();
    mesh.add(Material::PaneBorder, &Solid::lofted(&loops).surface(60.0));
}

/// A line on the drawn screen: the points where both fields are zero.
struct Line<'a> {
    /// Positive in front of the screen.
    screen: &'a dyn Fn(Vec3) -> f32,
    /// Negative towards the middle of the glass.
    edge: &'a dyn Fn(Vec3) -> f32,
}

/// A point on a line, with the direction out of the screen and the direction along the screen to
/// the middle of the glass.
struct GlassPoint {
    p: Vec3,
    outward: Vec3,
    inward: Vec3,
}

impl Line<'_> {
    /// Follows the line from the centre plane to the right, as long as `goes_on` is true. The
    /// result is empty if the line does not cross the centre plane.
    fn followed(&self, bounds: [Vec3; 2], goes_on: impl Fn(Vec3) -> bool) -> Vec<GlassPoint> {
        let Some(mut at) = self.start(bounds) else { return Vec::new() };
        let mut path: Vec<GlassPoint> = Vec::new();
        let mut way = Vec3::Y;
        for step in 0..MOST_STEPS {
            let (p, out, beyond) = self.pulled(at);
            if !p.is_finite() || !goes_on(p) {
                break;
            }
            let tangent = out.cross(beyond).normalize_or(way);
            way = if step == 0 { Vec3::Y } else { tangent * tangent.dot(way).signum() };
            let outward = if step == 0 { Vec3::new(out.x, 0.0, out.z).normalize_or(out) } else { out };
            let outward = (outward - way * outward.dot(way)).normalize_or(outward);
            let inward = outward.cross(way);
            let inward = inward * -inward.dot(beyond).signum();
            path.push(GlassPoint { p, outward, inward });
            at = p + way * STEP_M;
        }
        path
    }

    /// Returns the point where the line crosses the centre plane: on the screen, between its
    /// foot and its upper end.
    fn start(&self, [low, high]: [Vec3; 2]) -> Option<Vec3> {
        const SAMPLES: usize = 200;
        let on_screen = |i: usize| {
            let x = low.x + (high.x - low.x) * i as f32 / SAMPLES as f32;
            // The first point behind the screen, from above.
            let z = (0..SAMPLES).map(|k| high.z + (low.z - high.z) * k as f32 / SAMPLES as f32);
            z.map(|z| Vec3::new(x, 0.0, z)).find(|p| (self.screen)(*p) < 0.0)
        };
        let places: Vec<Vec3> = (0..=SAMPLES).filter_map(on_screen).collect();
        let is_crossing = |pair: &&[Vec3]| (self.edge)(pair[0]).signum() != (self.edge)(pair[1]).signum();
        places.windows(2).find(is_crossing).map(|pair| pair[1])
    }

    /// Returns the nearest point of the line, and the unit gradients of screen and edge there.
    fn pulled(&self, from: Vec3) -> (Vec3, Vec3, Vec3) {
        let mut p = from;
        let (mut out, mut beyond) = (Vec3::Z, Vec3::X);
        for _ in 0..5 {
            let [a, b] = [self.screen, self.edge].map(|f| (f(p), surface_net::gradient(&f, p)));
            // The step along both gradients that brings both values to zero. Points of the
            // centre plane stay in it.
            let [ga, gb] = [a.1, b.1].map(|g| if from.y == 0.0 { g.with_y(0.0) } else { g });
            let (aa, ab, bb) = (ga.dot(ga), ga.dot(gb), gb.dot(gb));
            let determinant = aa * bb - ab * ab;
            if determinant.abs() < 1e-6 {
                break;
            }
            let (ratio_a, ratio_b) = ((bb * a.0 - ab * b.0) / determinant, (aa * b.0 - ab * a.0) / determinant);
            p -= (ga * ratio_a + gb * ratio_b).clamp_length_max(0.05);
            (out, beyond) = (ga.normalize_or(Vec3::Z), gb.normalize_or(Vec3::X));
        }
        (p, out, beyond)
    }
}

/// Returns the other side of a surface.
fn turned(mut surface: Surface) -> Surface {
    surface.normals.iter_mut().for_each(|n| *n = n.map(|c| -c));
    surface.indices.chunks_exact_mut(3).for_each(|t| t.swap(1, 2));
    surface
}

/// Returns the triangles for whose middle `keep` is true, with the normals of the field.
fn with_normals(half: &HalfMesh, field: &dyn Fn(Vec3) -> f32, keep: impl Fn(Vec3) -> bool) -> Surface {
    let normals = half.positions.iter().map(|p| {
        let n = surface_net::gradient(&field, *p);
        let n = if p.y == 0.0 { Vec3::new(n.x, 0.0, n.z) } else { n };
        n.normalize_or(Vec3::Z).into()
    });
    let kept = half.triangles.iter().filter(|t| {
        let middle = t.iter().map(|i| half.positions[*i as usize]).sum::<Vec3>() / 3.0;
        keep(middle)
    });
    Surface {
        normals: normals.collect(),
        positions: half.positions.iter().map(|p| (*p).into()).collect(),
        indices: kept.flatten().copied().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::body_field::Arch;
    use super::super::library::Library;
    use super::*;
    use crate::vehicle::flank_lines::lined_field;

    /// Returns the smallest and the largest coordinates of a material.
    fn extent(mesh: &VehicleMesh, material: Material) -> [Vec3; 2] {
        let points = || mesh.surfaces[&material].positions.iter().map(|p| Vec3::from(*p));
        [points().fold(Vec3::MAX, Vec3::min), points().fold(Vec3::MIN, Vec3::max)]
    }

    #[test]
    fn the_frame_runs_in_one_piece_from_the_centre_plane_into_the_hood() {
        for name in ["convertible", "convertible-1990s", "convertible-2020s"] {
            let sheet = Library::embedded().unwrap().sheet(name).unwrap();
            let stance = sheet.stance();
            let arch = |x: f32| Arch { x, z: stance.hub_z, radius: stance.hub_z, power: 2.0 };
            let arches = [arch(stance.front_axle_x), arch(stance.rear_axle_x)];
            let field = lined_field(&sheet, stance, stance, arches);
            let mesh = windscreen_frame(&sheet, &field);
            let [low, high] = extent(&mesh, Material::Paint);
            assert!(low.y.abs() < 0.002, "{name}: begins at {low}");
            assert!((high.z - sheet.size.height).abs() < 0.12, "{name}: its header is at {high}");
            let hood = field.skin_z(low.x + 0.05, high.y - 0.05).unwrap();
            assert!(low.z < hood, "{name}: ends at {low}, above the hood at {hood}");
            // There are no folds: the triangles face along their normals.
            let surface = &mesh.surfaces[&Material::Paint];
            for t in surface.indices.chunks_exact(3) {
                let [a, b, c] = [t[0], t[1], t[2]].map(|i| Vec3::from(surface.positions[i as usize]));
                let normal: Vec3 = t.iter().map(|i| Vec3::from(surface.normals[*i as usize])).sum();
                assert!((b - a).cross(c - a).dot(normal) >= 0.0, "{name}: folds at {a}");
            }
        }
    }
}

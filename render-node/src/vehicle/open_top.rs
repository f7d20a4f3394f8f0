//! The windscreen of an open car: a frame cut from the greenhouse the sheet draws as if the car were closed, and its
//! glass. The rest of the greenhouse is not built; the cockpit is a cut solid of the sheet.

use glam::Vec3;

use super::blend::smooth_max;
use super::body_field::BodyField;
use super::mesh::{Material, Surface, VehicleMesh};
use super::parts::solid::{CREASE_DEGREES, Solid};
use super::regions::windscreen;
use super::sheet::Sheet;
use super::surface_net::{self, HalfMesh};

const FRAME_GRID_M: f32 = 0.010;
const GLASS_GRID_M: f32 = 0.020;
/// How far the frame's foot goes into the hood.
const FOOT_M: f32 = 0.04;
/// The glass lies this far behind the frame's face and reaches this far under the frame.
const GLASS_BEHIND_M: f32 = 0.006;
const GLASS_UNDER_M: f32 = 0.016;
const EDGE_M: f32 = 0.014;

/// Frame and glass of the right half; nothing if the car is closed or has no windscreen.
pub fn windscreen_frame(sheet: &Sheet, field: &BodyField) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let (Some(open), Some(glass)) = (&sheet.greenhouse.open, windscreen(&sheet.glass)) else { return mesh };

    let frame = |p: Vec3| {
        let s = field.sheets(p);
        let shell = smooth_max(field.closed_at(p), -s.greenhouse_profile - open.frame, EDGE_M);
        let ring = smooth_max(shell, s.greenhouse_x - open.header, EDGE_M);
        smooth_max(ring, -glass(p, &s), EDGE_M * 0.5).max(-s.body - FOOT_M)
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
    let half = surface_net::mesh(&frame, low, high, FRAME_GRID_M, true);
    mesh.add(Material::Paint, &with_normals(&half, &frame, |_| true));

    let sheet_of_glass = |p: Vec3| field.sheets(p).greenhouse_profile + GLASS_BEHIND_M;
    let half = surface_net::mesh(&sheet_of_glass, low, high, GLASS_GRID_M, true);
    let in_frame = |p: Vec3| {
        let s = field.sheets(p);
        glass(p, &s) < GLASS_UNDER_M && s.body > -FOOT_M && s.greenhouse_x < open.header
    };
    mesh.add(Material::ClearGlass, &with_normals(&half, &sheet_of_glass, in_frame));

    // The inside mirror hangs from the header.
    let top = field.morph.to_real(Vec3::new(open.header, 0.0, 0.0)).x;
    if let Some(edge) =
        (0..60).map(|i| high - Vec3::new(high.x - top, high.y, i as f32 * 0.01)).find(|p| sheet_of_glass(*p) < 0.0)
    {
        let mirror =
            Solid::rounded_box(Vec3::new(0.012, 0.11, 0.028), 0.012).moved(edge + Vec3::new(-0.02, 0.0, -0.10));
        let whole = mirror.surface(CREASE_DEGREES);
        mesh.add(Material::MattBlack, &whole);
    }
    mesh
}

/// The triangles whose middle `keep`s, with the field's own normals.
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

//! The position of the vehicle in the studio, and the camera that sees it.
//!
//! The camera keeps its distance (in studio metres, see `rig.toml`) and only tilts, zooms and
//! shifts. It is a fixed long lens: every vehicle has the same perspective, and the crop fills the
//! image.

use crate::vehicle::VehicleMesh;
use cyclorama_core::View;
use glam::{Mat4, Vec2, Vec3};

/// Distance from the eye to the middle of the vehicle, in studio metres. At 11 m a side view spans
/// about 25 degrees, as an 80 mm lens does.
pub const TARGET_DISTANCE_M: f32 = 11.0;
const TARGET_HEIGHT_M: f32 = 0.6;
const NEAR_M: f32 = 5.0;
const FAR_M: f32 = 20.0;
/// Ratio of the image's width, or of its height, that the vehicle fills. The rest is room for its
/// ground shadow.
const FILL_WIDTH: f32 = 0.915;
const FILL_HEIGHT: f32 = 0.86;

/// A camera and the vehicle in front of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Vehicle axes (metres, see `vehicle::mesh`) to studio axes.
    pub studio_from_vehicle: Mat4,
    pub eye: Vec3,
    pub forward: Vec3,
    pub up: Vec3,
    /// Normalised device units per unit of tangent.
    pub zoom: f32,
    /// Tangents (right, up) of the middle of the image.
    pub shift: Vec2,
    /// Studio metres per metre of the vehicle.
    pub scale: f32,
    /// Half of the vehicle's width and height in the image, in normalised device units.
    pub half_extent: Vec2,
}

/// A rectangle of an image's pixels, from `low` to before `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PixelBounds {
    pub low: [u32; 2],
    pub high: [u32; 2],
}

/// The mesh has no triangles, or they have no extent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the vehicle's mesh is empty or not finite")]
pub struct NothingToSee;

impl Camera {
    /// Places the camera of a view so that the vehicle fills the image. `reference_diagonal_m` is
    /// the length to which the diagonal of the vehicle's footprint is scaled, in studio metres.
    pub fn fit(mesh: &VehicleMesh, view: View, reference_diagonal_m: f32) -> Result<Camera, NothingToSee> {
        let (low, high) = bounds(mesh).ok_or(NothingToSee)?;
        let size = high - low;
        // Without the second term tall vans would come so near that their roof is seen from below.
        let diagonal = size.truncate().length().max(size.z * 1.6);
        if !diagonal.is_finite() || diagonal < 1e-3 {
            return Err(NothingToSee);
        }
        let scale = reference_diagonal_m / diagonal;
        let middle = (low + high) * 0.5;
        let turn = (90.0 - view.yaw_degrees() as f32).to_radians();
        let studio_from_vehicle = Mat4::from_rotation_z(turn)
            * Mat4::from_scale(Vec3::splat(scale))
            * Mat4::from_translation(Vec3::new(-middle.x, -middle.y, 0.0));

        let elevation = elevation_degrees(view).to_radians();
        let forward = Vec3::new(0.0, elevation.cos(), -elevation.sin());
        let up = Vec3::new(0.0, elevation.sin(), elevation.cos());
        let eye = Vec3::new(0.0, 0.0, TARGET_HEIGHT_M) - forward * TARGET_DISTANCE_M;

        let stand = Camera {
            studio_from_vehicle,
            eye,
            forward,
            up,
            zoom: 1.0,
            shift: Vec2::ZERO,
            scale,
            half_extent: Vec2::ZERO,
        };
        stand.filled_with(mesh.surfaces.values().flat_map(|surface| &surface.positions).map(|p| Vec3::from(*p)))
    }

    /// Returns the same camera, zoomed in on a box of the vehicle (two opposite corners in vehicle
    /// axes, metres).
    pub fn close_up(self, [low, high]: [Vec3; 2]) -> Result<Camera, NothingToSee> {
        let corner = |bits: u32| {
            let pick = |bit: u32, low: f32, high: f32| if bits >> bit & 1 == 0 { low } else { high };
            Vec3::new(pick(0, low.x, high.x), pick(1, low.y, high.y), pick(2, low.z, high.z))
        };
        self.filled_with((0..8).map(corner))
    }

    /// Returns the camera, zoomed and shifted so that the points (vehicle axes, metres) fill the
    /// image.
    fn filled_with(self, points: impl Iterator<Item = Vec3>) -> Result<Camera, NothingToSee> {
        let mut least = Vec2::splat(f32::INFINITY);
        let mut most = Vec2::splat(f32::NEG_INFINITY);
        for point in points {
            let seen = self.studio_from_vehicle.transform_point3(point) - self.eye;
            let tangent = Vec2::new(seen.x, seen.dot(self.up)) / seen.dot(self.forward);
            least = least.min(tangent);
            most = most.max(tangent);
        }
        let span = most - least;
        if !span.is_finite() || span.max_element() <= 0.0 {
            return Err(NothingToSee);
        }
        let zoom = (2.0 * FILL_WIDTH / span.x).min(2.0 * FILL_HEIGHT / span.y);
        let (shift, half_extent) = ((least + most) * 0.5, span * (0.5 * zoom));
        Ok(Camera { zoom, shift, half_extent, ..self })
    }

    /// Returns the pixels that the vehicle can cover, with `margin` pixels added on every side, in
    /// an image of `side` x `side` pixels.
    pub fn covered(&self, side: u32, margin: u32) -> PixelBounds {
        let reach = |half: f32| (half * side as f32 * 0.5).ceil() as u32 + margin;
        let reached = self.half_extent.to_array().map(reach);
        PixelBounds {
            low: reached.map(|pixels| (side / 2).saturating_sub(pixels)),
            high: reached.map(|pixels| (side / 2 + pixels).min(side)),
        }
    }

    /// Returns how many micrometres of the vehicle a pixel shows, in the plane through the
    /// vehicle's middle that faces the camera, in an image of `side` x `side` pixels. Returns
    /// `None` if the number does not fit.
    pub fn scale_um_per_px(&self, side: u32) -> Option<u32> {
        // An image is two device units wide.
        let studio_metres = 2.0 * TARGET_DISTANCE_M / (self.zoom * side as f32);
        let micrometres = (studio_metres / self.scale * 1e6).round();
        (1.0..=u32::MAX as f32).contains(&micrometres).then_some(micrometres as u32)
    }

    pub fn right(&self) -> Vec3 {
        self.forward.cross(self.up)
    }

    /// Returns the matrix from studio space to wgpu's clip space: x right, y up, depth 0 to 1.
    pub fn clip_from_studio(&self) -> Mat4 {
        let view = view_from_studio(self.eye, self.right(), self.up, self.forward);
        // View space looks along -z. The shift makes the frustum asymmetric, like the shifted back
        // of a view camera.
        let depth = FAR_M / (FAR_M - NEAR_M);
        let projection = Mat4::from_cols_array_2d(&[
            [self.zoom, 0.0, 0.0, 0.0],
            [0.0, self.zoom, 0.0, 0.0],
            [self.zoom * self.shift.x, self.zoom * self.shift.y, -depth, -1.0],
            [0.0, 0.0, -depth * NEAR_M, 0.0],
        ]);
        projection * view
    }
}

fn view_from_studio(eye: Vec3, right: Vec3, up: Vec3, forward: Vec3) -> Mat4 {
    Mat4::from_cols(right.extend(0.0), up.extend(0.0), (-forward).extend(0.0), eye.extend(1.0)).inverse()
}

/// Returns by how many degrees the camera stands above the vehicle's middle. Three-quarter views
/// look down a little, the others barely.
fn elevation_degrees(view: View) -> f32 {
    match view {
        View::FrontThreeQuarter | View::RearThreeQuarter => 9.0,
        View::Front | View::Rear => 5.0,
        View::Side | View::SideRight => 3.5,
    }
}

/// Returns the corners of the mesh's bounding box, or `None` for an empty mesh.
pub fn bounds(mesh: &VehicleMesh) -> Option<(Vec3, Vec3)> {
    mesh.surfaces
        .values()
        .flat_map(|surface| &surface.positions)
        .map(|position| Vec3::from(*position))
        .fold(None, |corners, p| Some(corners.map_or((p, p), |(low, high): (Vec3, Vec3)| (low.min(p), high.max(p)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::{Material, Surface};

    /// A box with its nose at x = 0, as long and wide as a car.
    fn car_sized_box() -> VehicleMesh {
        let mut mesh = VehicleMesh::default();
        let mut surface = Surface::default();
        for corner in 0..8u32 {
            let pick = |bit: u32, low: f32, high: f32| if corner >> bit & 1 == 0 { low } else { high };
            surface.positions.push([pick(0, 0.0, 4.5), pick(1, -0.9, 0.9), pick(2, 0.0, 1.4)]);
            surface.normals.push([0.0, 0.0, 1.0]);
        }
        mesh.add(Material::Paint, &surface);
        mesh
    }

    fn pictured(camera: &Camera, vehicle: Vec3) -> Vec2 {
        camera.clip_from_studio().project_point3(camera.studio_from_vehicle.transform_point3(vehicle)).truncate()
    }

    #[test]
    fn each_view_shows_the_side_it_names() {
        let nose = Vec3::new(0.0, 0.0, 0.7);
        let tail = Vec3::new(4.5, 0.0, 0.7);
        let left = Vec3::new(2.25, -0.9, 0.7);
        let right = Vec3::new(2.25, 0.9, 0.7);
        let cases: [(View, Vec3, Vec3, Vec3, Vec3); 6] = [
            // The columns are: view, nearer point, farther point, point at the left of the image,
            // point at its right.
            (View::Front, nose, tail, right, left),
            (View::FrontThreeQuarter, nose, tail, nose, tail),
            (View::Side, left, right, nose, tail),
            (View::SideRight, right, left, tail, nose),
            (View::Rear, tail, nose, left, right),
            (View::RearThreeQuarter, tail, nose, nose, tail),
        ];
        for (view, near, far, at_left, at_right) in cases {
            let camera = Camera::fit(&car_sized_box(), view, 5.0).expect("the box can be seen");
            let away = |p: Vec3| camera.studio_from_vehicle.transform_point3(p).distance(camera.eye);
            assert!(away(near) < away(far), "{view}: wrong end towards the camera");
            assert!(pictured(&camera, at_left).x < pictured(&camera, at_right).x, "{view}: mirrored");
            assert!(away(left) < away(right) || view != View::FrontThreeQuarter, "{view}: not the driver's side");
        }
    }

    #[test]
    fn the_vehicle_fills_the_picture_and_stays_inside() {
        for view in View::ALL {
            let camera = Camera::fit(&car_sized_box(), *view, 5.0).expect("the box can be seen");
            let seen: Vec<Vec2> = car_sized_box()
                .surfaces
                .values()
                .flat_map(|s| &s.positions)
                .map(|p| pictured(&camera, Vec3::from(*p)))
                .collect();
            let least = seen.iter().copied().reduce(Vec2::min).expect("eight corners");
            let most = seen.iter().copied().reduce(Vec2::max).expect("eight corners");
            assert!((least + most).length() < 1e-3, "{view}: off centre by {}", least + most);
            let filled = ((most.x - least.x) / 2.0).max((most.y - least.y) / 2.0);
            assert!((0.85..0.93).contains(&filled), "{view}: fills {filled}");
        }
    }

    #[test]
    fn a_close_up_fills_the_picture_with_its_box() {
        let nose = [Vec3::new(0.0, -0.9, 0.4), Vec3::new(0.3, -0.5, 0.8)];
        let whole = Camera::fit(&car_sized_box(), View::FrontThreeQuarter, 5.0).expect("the box can be seen");
        let close = whole.close_up(nose).expect("its nose can be seen");
        assert!(close.zoom > 3.0 * whole.zoom, "{} and {}", close.zoom, whole.zoom);
        assert!(pictured(&close, (nose[0] + nose[1]) * 0.5).length() < 0.2);
        assert!(pictured(&close, Vec3::new(4.5, 0.9, 1.4)).abs().max_element() > 1.0, "the tail is out of the picture");
    }

    #[test]
    fn an_empty_mesh_is_an_error() {
        assert_eq!(Camera::fit(&VehicleMesh::default(), View::Side, 5.0), Err(NothingToSee));
    }
}

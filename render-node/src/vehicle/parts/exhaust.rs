//! Exhaust tips. Local axes: the origin at the middle of the opening, x to the
//! rear (out of the pipe), z up.

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};
use std::f32::consts::TAU;

use super::solid::{CREASE_DEGREES, Solid};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// An exhaust tip. Lengths are in metres.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExhaustTip {
    pub width: f32,
    pub height: f32,
    /// Exponent of the section: 2 is an ellipse, and more comes ever closer to a rectangle.
    pub squareness: f32,
    /// Number of pipes side by side within the width.
    pub pipes: u32,
    pub material: Material,
}

impl Default for ExhaustTip {
    fn default() -> ExhaustTip {
        ExhaustTip { width: 0.085, height: 0.075, squareness: 2.0, pipes: 1, material: Material::Chrome }
    }
}

/// Length of the pipe forward from its opening, under the bumper, in metres.
const PIPE_LENGTH: f32 = 0.24;
/// Length of the bright inside, in metres.
const BRIGHT_BORE: f32 = 0.055;
/// Largest number of pipes. More would be narrower than their walls.
const MOST_PIPES: u32 = 4;

/// Returns the exhaust tip, with its pipe running forward from the opening.
pub fn exhaust_tip(spec: &ExhaustTip) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let pipes = spec.pipes.clamp(1, MOST_PIPES);
    let pitch = spec.width / pipes as f32;
    for pipe in 0..pipes {
        let middle = (pipe as f32 + 0.5) * pitch - spec.width / 2.0;
        let half = Vec2::new(pitch / 2.0 * if pipes > 1 { 0.94 } else { 1.0 }, spec.height / 2.0);
        let ring = |x: f32, wall: f32| {
            move |column: usize| {
                let (sin, cos) = (TAU * column as f32 / 28.0).sin_cos();
                let reach =
                    (cos.abs().powf(spec.squareness) + sin.abs().powf(spec.squareness)).powf(-1.0 / spec.squareness);
                Vec3::new(x, middle + cos * reach * (half.x - wall), sin * reach * (half.y - wall))
            }
        };
        // A rolled edge with a face to the rear, then the bright inside, which narrows and is
        // therefore seen from behind.
        let thick = 0.12 * half.min_element();
        let skin = [
            ring(-PIPE_LENGTH, 0.004),
            ring(-0.03, 0.0),
            ring(-0.005, 0.0),
            ring(-0.0012, 0.0010),
            ring(0.0, 0.0028),
            ring(0.0, 0.0028 + thick),
            ring(-0.003, 0.0045 + thick),
            ring(-BRIGHT_BORE, 0.0070 + 2.4 * thick),
        ];
        let outside = Solid::grid(skin.len(), 28, true, |row, column| skin[row](column));
        mesh.add(spec.material, &outside.flipped().surface(CREASE_DEGREES));
        let narrow = 0.0070 + 2.4 * thick;
        let bore = [ring(-BRIGHT_BORE, narrow), ring(-0.14, narrow), ring(-0.14, half.min_element())];
        let inside = Solid::grid(bore.len(), 28, true, |row, column| bore[row](column));
        mesh.add(Material::Underbody, &inside.flipped().surface(CREASE_DEGREES));
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn tips_are_sound_and_open_to_the_rear() {
        for (pipes, squareness) in [(1, 2.0), (2, 2.0), (1, 5.0)] {
            let mesh = exhaust_tip(&ExhaustTip { pipes, squareness, ..ExhaustTip::default() });
            assert_sound(&mesh, "exhaust tip");
            // The outer wall faces away from the pipe's axis.
            let chrome = &mesh.surfaces[&Material::Chrome];
            let top = chrome.positions.iter().zip(&chrome.normals).find(|(p, _)| p[2] > 0.0374 && p[0] < -0.02);
            assert!(top.is_some_and(|(_, n)| n[2] > 0.9), "{top:?}");
        }
    }
}

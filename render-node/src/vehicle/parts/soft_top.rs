//! The folded soft top behind the seats of an open car: a cover with soft folds, or
//! a flat tonneau. Vehicle space.

use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::f32::consts::TAU;

use super::solid::Solid;
use crate::vehicle::mesh::{Material, VehicleMesh};

/// A folded top. Lengths are in metres.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StowedTop {
    /// x of the front edge.
    pub x_front: f32,
    /// x of the rear edge.
    pub x_rear: f32,
    pub half_width: f32,
    /// z of the deck, the skin that the cover lies on at its rear edge.
    pub z: f32,
    /// Height of the cover above the deck.
    pub heap: f32,
    /// Fabric, or paint for a hard lid.
    pub material: Material,
}

impl Default for StowedTop {
    fn default() -> StowedTop {
        StowedTop { x_front: 2.75, x_rear: 3.25, half_width: 0.60, z: 0.88, heap: 0.07, material: Material::Fabric }
    }
}

const RINGS: usize = 11;
const AROUND: usize = 48;
/// Exponent of the outline from above: 2 is round, more is boxier.
const POWER: f32 = 3.6;
/// Depth by which the rim goes into the deck.
const UNDER_DECK_M: f32 = 0.05;
/// Greatest distance below the drawn height down to which the cover follows the deck.
const MOST_BELOW_M: f32 = 0.12;
/// Greatest height of a deck above the drawn height that the cover still goes over.
const HIGHEST_DECK_M: f32 = 0.09;
/// Distance of the cover above such a deck.
const ABOVE_DECK_M: f32 = 0.012;
/// Number of the frame's bows under the cloth.
const BOWS: f32 = 3.0;
/// Height by which the bows lift the cloth, as a ratio of the heap.
const BOW_RATIO: f32 = 0.09;
/// Place of the piping, as a ratio of the way from the middle to the rim.
const PIPING: f32 = 0.90;
/// Radius of the piping.
const PIPING_M: f32 = 0.0045;

/// Returns a cover on the deck: a low cushion with rounded shoulders. If it is cloth, it
/// lies over the bows and has piping along its rim. `deck` returns the height of the
/// body at (x, y), if there is any.
pub fn stowed_top(spec: &StowedTop, deck: impl Fn(f32, f32) -> Option<f32>) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let is_cloth = spec.material == Material::Fabric;
    let middle = 0.5 * (spec.x_front + spec.x_rear);
    let half = [0.5 * (spec.x_rear - spec.x_front), spec.half_width];
    let at = |size: f32, column: usize| {
        let (sin, cos) = (TAU * column as f32 / AROUND as f32).sin_cos();
        let reach = (cos.abs().powf(POWER) + sin.abs().powf(POWER)).powf(-1.0 / POWER) * size;
        let [along, across] = [cos * reach, sin * reach];
        // The front and rear edges bow with the seats and the deck.
        let x = middle + along * half[0] - 0.10 * across * across * (0.6 + 0.4 * along);
        let y = across * half[1];
        let lowest = spec.z - MOST_BELOW_M;
        let skin = deck(x, y);
        let base = skin.map_or(lowest, |z| z.clamp(lowest, spec.z + 0.02));
        // The cover lies on the deck at its rim, and level over the gap in front of the deck.
        let base = spec.z + (base - spec.z) * size.powi(4);
        let dome = (1.0 - size.powf(4.5)).max(0.0).powf(0.55) * (1.0 - 0.22 * along - 0.16 * across * across);
        let bows =
            if is_cloth { BOW_RATIO * (BOWS * std::f32::consts::PI * along).cos() * (1.0 - size.powi(6)) } else { 0.0 };
        let z = base + spec.heap * (dome + bows);
        // The cover is never under the deck, except for its rim.
        let least =
            skin.filter(|z| *z < spec.z + HIGHEST_DECK_M).map_or(z, |skin| skin + ABOVE_DECK_M * (1.0 - size.powi(8)));
        Vec3::new(x, y, z.max(least))
    };
    let rim = |column: usize| at(1.0, column) - Vec3::Z * UNDER_DECK_M;
    let mut loops: Vec<Vec<Vec3>> = vec![(0..AROUND).map(rim).collect()];
    loops.extend((0..RINGS).map(|row| {
        let size = (1.0 - row as f32 / RINGS as f32).powf(0.8);
        (0..AROUND).map(|column| at(size, column)).collect()
    }));
    mesh.add(spec.material, &Solid::lofted(&loops).surface(62.0));
    if is_cloth {
        let path: Vec<Vec3> = (0..=AROUND).map(|column| at(PIPING, column)).collect();
        mesh.add(Material::MattBlack, &Solid::tube(&path, 6, |_| PIPING_M).surface(60.0));
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn a_stowed_top_is_sound_and_no_higher_than_its_heap() {
        let spec = StowedTop::default();
        let mesh = stowed_top(&spec, |_, _| Some(spec.z - 0.02));
        assert_sound(&mesh, "soft top");
        let top = mesh.surfaces[&Material::Fabric].positions.iter().map(|p| p[2]).fold(0.0, f32::max);
        assert!(top > spec.z + spec.heap * 0.9 && top < spec.z + spec.heap * 1.2, "{top}");
    }
}

//! The folded soft top behind the seats of an open car: a cover with soft folds, or a flat tonneau. Vehicle space.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::solid::Solid;
use crate::vehicle::mesh::{Material, VehicleMesh};

/// Sizes in metres.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StowedTop {
    /// Front and rear edge.
    pub x_front: f32,
    pub x_rear: f32,
    pub half_width: f32,
    /// The skin it lies on at its rear edge (the deck), and how far it heaps above that.
    pub z: f32,
    pub heap: f32,
    /// Fabric, or paint for a hard lid.
    pub material: Material,
}

impl Default for StowedTop {
    fn default() -> StowedTop {
        StowedTop { x_front: 2.75, x_rear: 3.25, half_width: 0.60, z: 0.88, heap: 0.07, material: Material::Fabric }
    }
}

const ALONG: usize = 18;
const ACROSS: usize = 22;

pub fn stowed_top(spec: &StowedTop) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let folds = if spec.material == Material::Fabric { 0.07 } else { 0.0 };
    let loops: Vec<Vec<Vec3>> = (0..=ALONG)
        .map(|row| {
            let along = row as f32 / ALONG as f32;
            let x = spec.x_front + (spec.x_rear - spec.x_front) * along;
            // A bolster: steep in front, long to the rear, two folds on top.
            let dome = (1.0 - (2.0 * along.powf(1.25) - 1.0).abs().powf(2.6)).max(0.0);
            let wave = 1.0 + folds * (along * 18.0).sin();
            let upper = (0..=ACROSS).map(|column| {
                let across = 2.0 * column as f32 / ACROSS as f32 - 1.0;
                let fall = (1.0 - across.abs().powf(5.0)).max(0.0);
                // The rear edge bows round the deck.
                let bow = -0.10 * across * across * along;
                Vec3::new(
                    x + bow,
                    across * spec.half_width * (0.94 + 0.06 * dome),
                    spec.z + spec.heap * dome * wave * fall,
                )
            });
            let floor = spec.z - 0.12;
            let lower = [1.0, -1.0].map(|side: f32| Vec3::new(x - 0.10 * along, side * spec.half_width * 0.94, floor));
            upper.chain(lower).collect()
        })
        .collect();
    mesh.add(spec.material, &Solid::lofted(&loops).surface(50.0));
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn a_stowed_top_is_sound_and_no_higher_than_its_heap() {
        let spec = StowedTop::default();
        let mesh = stowed_top(&spec);
        assert_sound(&mesh, "soft top");
        let top = mesh.surfaces[&Material::Fabric].positions.iter().map(|p| p[2]).fold(0.0, f32::max);
        assert!(top > spec.z + spec.heap * 0.9 && top < spec.z + spec.heap * 1.2, "{top}");
    }
}

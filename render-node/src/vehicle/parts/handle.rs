//! Door handles. Local axes: the origin on the door's skin, x to the rear, y out of the skin,
//! z up (see `placing::on_skin`).

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::solid::{CREASE_DEGREES, Solid, curve_through, rounded_rectangle};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// Form of a door handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HandleKind {
    /// A grip bowed out of the door, over a cup that is cut into the skin.
    Bar,
    /// A flat blade level with the skin.
    Flush,
    /// A flap in a dark bowl with a bezel, as before the nineties and on trucks.
    Pull,
}

/// A door handle. Lengths are in metres.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Handle {
    pub kind: HandleKind,
    pub length: f32,
    pub height: f32,
    pub material: Material,
    /// True if a lock cylinder sits in the rear end.
    pub lock: bool,
}

impl Default for Handle {
    fn default() -> Handle {
        Handle { kind: HandleKind::Bar, length: 0.20, height: 0.026, material: Material::Paint, lock: false }
    }
}

/// Returns the handle, about 200 triangles.
pub fn handle(spec: &Handle) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let half = spec.length / 2.0;
    match spec.kind {
        HandleKind::Bar => {
            let bow = [
                (-0.98, -0.012),
                (-0.92, 0.004),
                (-0.66, 0.020),
                (0.0, 0.025),
                (0.62, 0.023),
                (0.92, 0.012),
                (0.98, -0.008),
            ];
            let path = curve_through(&bow.map(|(x, y)| Vec3::new(x * half, y, 0.0)), 3);
            let last = path.len() - 1;
            let grip = Solid::swept(&path, Vec3::Z, |i| {
                let t = 2.0 * i as f32 / last as f32 - 1.0;
                rounded_rectangle(0.0085, spec.height / 2.0 * (1.10 - 0.16 * t * t), 0.0075)
            });
            mesh.add(spec.material, &grip.surface(60.0));
            add_shade_and_cap(&mut mesh, spec);
        }
        HandleKind::Flush => {
            let seam = Solid::rounded_box(Vec3::new(half + 0.004, 0.0035, spec.height / 2.0 + 0.004), 0.003);
            mesh.add(Material::PanelGap, &seam.surface(CREASE_DEGREES));
            let blade = Solid::rounded_box(Vec3::new(half, 0.006, spec.height / 2.0), 0.004);
            mesh.add(spec.material, &blade.surface(60.0));
        }
        HandleKind::Pull => {
            // A bezel round a dark bowl, and the flap across its upper half.
            let tall = spec.height * PULL_HEIGHT;
            let bezel = Solid::rounded_box(Vec3::new(half * 1.04, 0.0050, tall), 0.0045);
            mesh.add(spec.material, &bezel.surface(60.0));
            let hollow = Solid::rounded_box(Vec3::new(half * 0.93, 0.0054, tall * 0.76), 0.0030);
            mesh.add(Material::PanelGap, &hollow.surface(CREASE_DEGREES));
            let flap = Solid::rounded_box(Vec3::new(half * 0.90, 0.0050, tall * 0.36), 0.0040);
            mesh.add(spec.material, &flap.moved(Vec3::new(0.0, 0.0056, tall * 0.34)).surface(60.0));
            if spec.lock {
                let at = Vec3::new(half * 1.22, -0.004, 0.0);
                mesh.add(Material::Satin, &Solid::pin(at, at + Vec3::Y * 0.0075, 0.0085, 16).surface(CREASE_DEGREES));
            }
        }
    }
    mesh
}

/// Adds the shade in the cup behind a grip, the gap before the fixed cap at its
/// rear, and the lock in the cap.
fn add_shade_and_cap(mesh: &mut VehicleMesh, spec: &Handle) {
    let half = spec.length / 2.0;
    let shade = bowl(half * SHADE.x, spec.height * SHADE.y);
    let mut sunk = VehicleMesh::default();
    sunk.add(Material::Underbody, &shade);
    super::placing::add_all(mesh, &super::placing::moved_to(&sunk, Vec3::new(0.0, -CUP_M, 0.0)));
    let gap = Solid::rounded_box(Vec3::new(0.0011, 0.0090, spec.height * 0.53 + 0.0005), 0.0004);
    mesh.add(Material::PanelGap, &gap.moved(Vec3::new(0.58 * half, 0.0235, 0.0)).surface(CREASE_DEGREES));
    if spec.lock {
        let at = Vec3::new(0.78 * half, 0.012, 0.0);
        let cylinder = Solid::pin(at, at + Vec3::Y * 0.0175, 0.0078, 14);
        mesh.add(Material::Satin, &cylinder.surface(CREASE_DEGREES));
    }
}

/// Half the height of a flap's bezel, as a ratio of a grip's height.
const PULL_HEIGHT: f32 = 1.05;
/// Depth of the shade in the door's cup: the cup's depth, less a little.
const CUP_M: f32 = 0.0115;
/// Ratio of the grip's length and height that is in the shade in the cup.
const SHADE: glam::Vec2 = glam::Vec2::new(0.58, 0.90);

/// Returns a dark lens-shaped patch, just proud of the skin, which stands
/// for the hollow behind a grip.
fn bowl(half_length: f32, half_height: f32) -> crate::vehicle::mesh::Surface {
    let dome =
        [(-0.004, 1.0), (0.002, 0.97), (0.004, 0.80), (0.0045, 0.0)].map(|(out, ratio)| glam::Vec2::new(out, ratio));
    Solid::revolved(&dome, 28).bent(|p| Vec3::new(p.x * half_length, p.y, p.z * half_height)).surface(60.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn handles_are_sound_and_as_long_as_said() {
        for kind in [HandleKind::Bar, HandleKind::Flush, HandleKind::Pull] {
            let mesh = handle(&Handle { kind, ..Handle::default() });
            assert_sound(&mesh, &format!("{kind:?}"));
            let reach = mesh.surfaces[&Material::Paint].positions.iter().map(|p| p[0]).fold(0.0, f32::max);
            assert!((reach - 0.10).abs() < 0.008, "{kind:?}: {reach}");
        }
    }
}

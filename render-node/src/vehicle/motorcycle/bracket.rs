//! Struts that hold the parts in front of the steering head.

use crate::vehicle::mesh::Material;
use crate::vehicle::motorcycle::joints::Joints;
use crate::vehicle::parts::assembly::Assembly;
use crate::vehicle::parts::solid::Solid;
use glam::Vec3;

/// Adds a strut from the steering head to a point in front of it.
pub fn add_bracket(bike: &mut Assembly, joints: &Joints, to: Vec3, radius: f32) {
    let foot = joints.head - Vec3::new(-0.01, 0.0, 0.06);
    bike.add_soft(Material::GlossBlack, Solid::pin(foot, to, radius, 12));
}

//! The points at which the parts of a two-wheeler are fixed.

use crate::vehicle::motorcycle::design::{FamilyDesign, SeatForm};
use glam::Vec3;

/// A layout with the positions that follow from it, in natural metres and vehicle axes (x from the
/// front tyre's foremost point).
pub struct Joints {
    pub design: FamilyDesign,
    pub front_axle: Vec3,
    pub rear_axle: Vec3,
    /// Top of the steering head, between the fork's clamps.
    pub head: Vec3,
    /// Axis on which the swing arm turns.
    pub pivot: Vec3,
    /// Top of the rider's seat at its lowest.
    pub seat: Vec3,
    /// x of the body's rearmost point.
    pub tail: f32,
    /// x of the engine's foremost point, behind the front wheel.
    pub engine_front: f32,
}

impl Joints {
    /// Returns the positions that follow from a layout.
    pub fn of(design: FamilyDesign) -> Joints {
        let FamilyDesign { wheelbase, front_tyre: [front, _], rear_tyre: [rear, _], .. } = design;
        let front_axle = Vec3::new(front, 0.0, front);
        let rear_axle = Vec3::new(front + wheelbase, 0.0, rear);
        // The fork's axle stands a little in front of the steering axis.
        let head_x = front_axle.x + 0.03 + (design.head_z - front) * design.rake.tan();
        Joints {
            front_axle,
            rear_axle,
            head: Vec3::new(head_x, 0.0, design.head_z),
            pivot: Vec3::new(rear_axle.x - wheelbase * 0.39, 0.0, rear + 0.09 + (design.clearance - 0.17) * 0.4),
            seat: Vec3::new(rear_axle.x - wheelbase * design.seat_ratio, 0.0, design.seat_z),
            tail: rear_axle.x + design.tail,
            engine_front: front_axle.x + front + 0.075,
            design,
        }
    }

    /// Returns x of the steering axis at a height.
    pub fn axis(&self, z: f32) -> f32 {
        self.head.x - (self.head.z - z) * self.design.rake.tan()
    }

    /// Returns x of the rearmost point of seat and tail. A stepped tail ends in front of
    /// the plate that hangs behind it.
    pub fn body_end(&self) -> f32 {
        if self.design.seat == SeatForm::Stepped { self.tail - 0.125 } else { self.tail }
    }
}

/// Returns half the distance between the fork's legs.
pub fn fork_spread(joints: &Joints) -> f32 {
    (joints.design.front_tyre[1] / 2.0 + 0.042).max(0.078)
}

//! The truck that is being built, as all its parts need it.

use crate::vehicle::body_field::BodyField;
use crate::vehicle::sheet::truck::Truck;
use glam::Vec3;

/// The truck that is being built: its table, its body field, and the
/// vehicle's real lengths in metres.
pub struct Site<'a> {
    pub truck: &'a Truck,
    pub field: &'a BodyField,
    pub length: f32,
    pub half_width: f32,
    pub front_x: f32,
    pub rear_x: f32,
    pub hub_z: f32,
    pub frame_z: f32,
    pub cab_rear_x: f32,
    pub year: u16,
}

impl Site<'_> {
    /// Maps a point of the sheet to the real vehicle.
    pub fn real(&self, x: f32, y: f32, z: f32) -> Vec3 {
        self.field.morph.to_real(Vec3::new(x, y, z))
    }

    /// Returns x of the rear axles.
    pub fn driven_axles(&self) -> impl Iterator<Item = f32> {
        let tandem = (self.truck.tandem > 0.0).then_some(self.rear_x + self.truck.tandem);
        [Some(self.rear_x), tandem].into_iter().flatten()
    }

    /// Returns x of the foremost and the rearmost place of the rear wheels, tyres included.
    pub fn rear_wheels(&self) -> [f32; 2] {
        [self.rear_x - self.hub_z, self.rear_x + self.truck.tandem + self.hub_z]
    }
}

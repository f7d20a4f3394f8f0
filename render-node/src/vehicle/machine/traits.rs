//! What tells models of one kind of machine apart.

use crate::vehicle::chance::chances;
use cyclorama_core::vehicle::Vehicle;

/// What tells models of one kind of machine apart, by their names: each from -1 to 1. Sizes of most are unknown, shapes all the more.
#[derive(Debug, Clone, Copy, Default)]
pub struct Traits {
    pub tyres: f32,
    pub nose: f32,
    pub cab: f32,
    pub lamps: f32,
    pub fittings: f32,
}

impl Traits {
    pub fn of(vehicle: &Vehicle) -> Traits {
        let mut chance = chances(&format!("{}/{}", vehicle.make, vehicle.model));
        Traits { tyres: chance(), nose: chance(), cab: chance(), lamps: chance(), fittings: chance() }
    }
}

//! Differences between models of one kind of machine.

use crate::vehicle::chance::chances;
use cyclorama_core::vehicle::Vehicle;

/// Differences between models of one kind of machine, derived from make and model name. Each is
/// from -1 to 1. The catalog does not know the sizes of most machines, and their shapes even less.
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

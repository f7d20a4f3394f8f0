//! How much a drawing grows to match a vehicle.

use crate::vehicle::sheet::DrawingSize;
use cyclorama_core::vehicle::Vehicle;

/// Returns a dimension in metres, clamped around the drawn one, because a catalog value that is
/// wrong by some factor must not cost memory by the cube of that factor.
pub fn held(mm: u32, drawn: f32) -> f32 {
    (mm as f32 * 0.001).clamp(drawn * 0.55, drawn * 1.7)
}

pub fn growth(length: f32, height: f32) -> f32 {
    (length * height).sqrt().clamp(0.7, 1.4).powf(0.8)
}

/// Returns the factor by which the tyres of a drawing grow for a vehicle.
pub fn tyre_growth(size: &DrawingSize, vehicle: &Vehicle) -> f32 {
    let d = vehicle.dimensions;
    growth(held(d.length_mm, size.length) / size.length, held(d.height_mm, size.height) / size.height)
}

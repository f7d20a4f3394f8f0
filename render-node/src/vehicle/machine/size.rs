//! The size that a machine is drawn at.

use cyclorama_core::vehicle::Dimensions;

/// Dimensions of a machine, in metres.
#[derive(Debug, Clone, Copy)]
pub struct MachineSize {
    pub length: f32,
    pub width: f32,
    pub height: f32,
    pub wheelbase: f32,
}

impl MachineSize {
    /// Returns the catalog's dimensions within limits, because wrong data must
    /// not turn a machine inside out.
    pub fn of(d: Dimensions) -> MachineSize {
        let metres = |mm: u32, low: f32, high: f32| (mm as f32 * 0.001).clamp(low, high);
        let length = metres(d.length_mm, 1.2, 8.0);
        MachineSize {
            length,
            width: metres(d.width_mm, 0.6, 3.0),
            height: metres(d.height_mm, 0.7, 3.8),
            wheelbase: metres(d.wheelbase_mm, 0.0, 8.0).clamp(0.45 * length, 0.75 * length),
        }
    }
}

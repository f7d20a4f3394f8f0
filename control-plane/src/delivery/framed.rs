//! The size of a picture as it is delivered.

/// Size and scale of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Framed {
    /// In pixels.
    pub width: u32,
    pub height: u32,
    /// Millimetres of the vehicle for a pixel, where vehicles are asked for at one scale.
    pub scale_mm_per_px: Option<f64>,
}

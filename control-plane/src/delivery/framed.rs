//! The size of an image as it is delivered.

/// Size and scale of a delivered image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FramedImage {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Millimetres of the vehicle per pixel, if the request wants vehicles at one scale.
    pub scale_mm_per_px: Option<f64>,
}

//! The diffusion model's input: geometry and base shading as planes.

/// Channels in order. Each is the mean over a pixel's samples, premultiplied by coverage, f32.
///
/// Base shading is encoded as `diffusion::light_space` describes; the mean is taken before
/// encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Channel {
    /// Surface normal in view space: x right, y up, z towards the camera.
    NormalX = 0,
    NormalY,
    NormalZ,
    /// Distance behind the middle of the vehicle along the view axis, studio metres x 0.4.
    Depth,
    /// Height above the floor, studio metres x 0.5.
    Height,
    Coverage,
    /// `MaskPaint` to `MaskUnderbody`: ratio of the pixel whose front surface belongs to the group.
    /// Glass hides what is behind it.
    MaskPaint,
    MaskGlass,
    MaskLampClear,
    MaskLampRed,
    MaskBlackTrim,
    MaskBrightTrim,
    MaskTyre,
    MaskRim,
    MaskInterior,
    MaskUnderbody,
    /// Albedo of the front surface, linear; paint is a neutral 0.5.
    AlbedoR,
    AlbedoG,
    AlbedoB,
    /// Encoded base shading; see `Layers`.
    DiffuseR,
    DiffuseG,
    DiffuseB,
    GlossR,
    GlossG,
    GlossB,
    RestR,
    RestG,
    RestB,
    /// Ratio of the hemisphere that the vehicle leaves open.
    Openness,
    /// Darkness of the ground shadow. Not premultiplied, and defined under the vehicle too.
    Shadow,
}

pub const CHANNELS: usize = Channel::Shadow as usize + 1;

/// Names of the channels, in order. A model is made for exactly these and says so in its lock file.
#[rustfmt::skip]
pub const CONDITIONING_CHANNELS: [&str; CHANNELS] = [
    "normal_x", "normal_y", "normal_z", "depth", "height", "coverage", "mask_paint", "mask_glass", "mask_lamp_clear",
    "mask_lamp_red", "mask_black_trim", "mask_bright_trim", "mask_tyre", "mask_rim", "mask_interior",
    "mask_underbody", "albedo_r", "albedo_g", "albedo_b", "diffuse_r", "diffuse_g", "diffuse_b", "gloss_r", "gloss_g",
    "gloss_b", "rest_r", "rest_g", "rest_b", "openness", "shadow",
];

/// Default side of the conditioning, at which the diffusion model works, in pixels.
pub const CONDITIONING_SIDE_PX: u32 = 512;

/// [`CHANNELS`] planes of `side_px` squared, channel by channel, each row by row from the top left.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditioning {
    pub side_px: u32,
    pub planes: Vec<f32>,
}

impl Conditioning {
    /// Returns one plane: `side_px` squared values.
    pub fn plane(&self, channel: Channel) -> &[f32] {
        let size = (self.side_px * self.side_px) as usize;
        &self.planes[channel as usize * size..][..size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diffusion::light_space::{decode, encode};

    #[test]
    fn encoding_round_trips_and_keeps_zero() {
        assert!(encode(0.0).abs() < 1e-6);
        for light in [0.0, 0.001, 0.2, 1.0, 3.9] {
            assert!((decode(encode(light)) - light).abs() < 1e-5, "{light}");
        }
        assert_eq!(decode(-1.0), 0.0);
    }

    #[test]
    fn thirty_channels() {
        assert_eq!(CHANNELS, 30);
    }
}

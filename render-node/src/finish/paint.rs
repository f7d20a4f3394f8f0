//! The look of a paint under light, as opposed to its swatch in a menu: the fifteen presets, and
//! any colour with a finish.

use bytemuck::{Pod, Zeroable};
use cyclorama_core::{Colour, Finish, Paint, PaintColour};

/// A paint in linear light, as the composing shader sees it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct PaintOptics {
    /// Diffuse albedo of the base coat.
    pub albedo: [f32; 3],
    /// Strength of the clear coat's mirror image; 1 is plain lacquer.
    pub gloss: f32,
    /// Colour of the light that flakes reflect near a highlight.
    pub flake_tint: [f32; 3],
    /// 0 for a solid paint to 1 for coarse metallic: how much brighter the base is towards the
    /// light, and darker away from it.
    pub flake: f32,
    /// 1 if the vehicle's shadow on the ground is part of the image, otherwise 0.
    pub shadow: f32,
    /// Padding: the size of the shader's uniform is a multiple of 16 bytes.
    pub unused: [f32; 3],
}

/// Range of albedo. No lacquer is quite black or reflects all light: between these albedos black
/// keeps its form and white does not clip. All presets lie between them, so that a colour that
/// equals a preset looks like it.
const ALBEDO: std::ops::RangeInclusive<f32> = 0.0037..=0.92;
/// Ratio of the light that a rough surface scatters before it reaches the pigment. It keeps the
/// form of matt black.
const MATT_VEIL: f32 = 0.015;
/// Strength of the soft image in a rough lacquer, which loses light at grazing angles that smooth
/// lacquer mirrors.
const MATT_GLOSS: f32 = 0.55;

/// Returns the finish of a preset: how its pigment is bound.
pub const fn kind(colour: Colour) -> Finish {
    match colour {
        Colour::Black | Colour::Red | Colour::Orange | Colour::Yellow | Colour::Beige => Finish::Solid,
        Colour::White | Colour::Burgundy | Colour::Purple => Finish::Pearl,
        Colour::Gray | Colour::Silver | Colour::Blue | Colour::Green | Colour::Brown | Colour::Tan | Colour::Gold => {
            Finish::Metallic
        }
    }
}

/// Returns true if the lacquer is so rough that its mirror image is blurred (`soft::Lacquers`).
pub fn is_matt(paint: Paint) -> bool {
    matches!(paint.colour, PaintColour::Custom { finish: Finish::Matt, .. })
}

/// Returns the optics of a paint.
pub fn paint(paint: impl Into<Paint>) -> PaintOptics {
    let paint = paint.into();
    let (albedo, finish) = match paint.colour {
        PaintColour::Preset(colour) => (colour.srgb().map(linear_from_srgb), kind(colour)),
        PaintColour::Custom { srgb, finish } => {
            (srgb.map(|byte| linear_from_srgb(byte).clamp(*ALBEDO.start(), *ALBEDO.end())), finish)
        }
    };
    let (flake_tint, flake) = match finish {
        Finish::Solid | Finish::Matt => ([0.0; 3], 0.0),
        Finish::Metallic => (towards_white(albedo, 0.25), 0.75),
        Finish::Pearl => (towards_white(albedo, 0.45), 0.3),
    };
    let (albedo, gloss) = match finish {
        Finish::Matt => (towards_white(albedo, MATT_VEIL), MATT_GLOSS),
        Finish::Solid | Finish::Metallic | Finish::Pearl => (albedo, 1.0),
    };
    PaintOptics { albedo, gloss, flake_tint, flake, shadow: f32::from(u8::from(paint.shadow)), unused: [0.0; 3] }
}

/// Returns the optics of a paint whose albedo is the hex itself, without the bounds of lacquer: the
/// gate compares images with it. Matt keeps its veil, because otherwise a matt black would be
/// compared with a black that no rough surface has.
pub fn swatch(wanted: Paint) -> PaintOptics {
    let hex = wanted.srgb().map(linear_from_srgb);
    let albedo = if is_matt(wanted) { towards_white(hex, MATT_VEIL) } else { hex };
    PaintOptics { albedo, ..paint(wanted) }
}

fn towards_white(colour: [f32; 3], ratio: f32) -> [f32; 3] {
    colour.map(|c| c + (1.0 - c) * ratio)
}

/// Returns the luminance of linear light with the primaries of sRGB (ITU-R BT.709).
pub fn luminance(light: [f32; 3]) -> f32 {
    light[0] * 0.2126 + light[1] * 0.7152 + light[2] * 0.0722
}

/// Converts an sRGB byte to linear light, 0 to 1 (IEC 61966-2-1).
pub fn linear_from_srgb(byte: u8) -> f32 {
    linear(f32::from(byte) / 255.0)
}

/// Same as [`linear_from_srgb`], for a value from 0 to 1.
pub fn linear(s: f32) -> f32 {
    if s <= 0.04045 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_paint_gives_more_light_than_it_gets() {
        for colour in Colour::ALL {
            let paint = paint(*colour);
            assert!(paint.albedo.iter().chain(&paint.flake_tint).all(|c| (0.0..=1.0).contains(c)), "{colour}");
        }
    }

    #[test]
    fn a_colour_that_equals_a_preset_with_its_finish_is_that_paint() {
        for colour in Colour::ALL {
            let custom = PaintColour::Custom { srgb: colour.srgb(), finish: kind(*colour) };
            assert_eq!(paint(custom), paint(*colour), "{colour}");
        }
    }

    #[test]
    fn srgb_ends_and_middle() {
        assert_eq!(linear_from_srgb(0), 0.0);
        assert_eq!(linear_from_srgb(255), 1.0);
        assert!((linear_from_srgb(188) - 0.5029).abs() < 1e-3);
    }
}

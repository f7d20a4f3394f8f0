//! What a paint looks like under light, as opposed to its swatch in a menu.

use bytemuck::{Pod, Zeroable};
use cyclorama_core::{Colour, Finish, Paint, PaintColour};

/// A paint in linear light, as the composing shader sees it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct PaintOptics {
    /// Matt albedo of the base coat.
    pub albedo: [f32; 3],
    /// Strength of the clear coat's mirror image; 1 is plain lacquer.
    pub gloss: f32,
    /// Colour of the light that flakes throw back near a highlight.
    pub flake_tint: [f32; 3],
    /// 0 for a solid paint to 1 for coarse metallic: how much brighter the base is towards the light, darker away from it.
    pub flake: f32,
}

/// The finish that a preset is sold with.
pub const fn finish_of(colour: Colour) -> Finish {
    match colour {
        Colour::Black | Colour::Red | Colour::Orange | Colour::Yellow | Colour::Beige => Finish::Solid,
        Colour::White | Colour::Burgundy | Colour::Purple => Finish::Pearl,
        Colour::Gray | Colour::Silver | Colour::Blue | Colour::Green | Colour::Brown | Colour::Tan | Colour::Gold => {
            Finish::Metallic
        }
    }
}

/// Albedo of the darkest and of the lightest pigment that a lacquer can hold: carbon black and titanium dioxide. A body in less would have no form,
/// one in more would be a hole in a white page.
const ALBEDO: std::ops::RangeInclusive<f32> = 0.004..=0.92;

/// Of the clear coat's mirror image, how much a matt lacquer sends back. It is blurred before (see `finish::painted`).
const MATT_GLOSS: f32 = 0.8;

/// The optics of a paint. The ground shadow is no part of them.
pub fn optics(paint: &Paint) -> PaintOptics {
    let (albedo, finish) = match paint.colour {
        PaintColour::Preset(colour) => (colour.srgb().map(linear_from_srgb), finish_of(colour)),
        PaintColour::Custom { srgb, finish } => {
            (srgb.map(|byte| linear_from_srgb(byte).clamp(*ALBEDO.start(), *ALBEDO.end())), finish)
        }
    };
    match finish {
        Finish::Solid => PaintOptics { albedo, gloss: 1.0, flake_tint: [0.0; 3], flake: 0.0 },
        Finish::Metallic => PaintOptics { albedo, gloss: 1.0, flake_tint: towards_white(albedo, 0.25), flake: 0.75 },
        Finish::Pearl => PaintOptics { albedo, gloss: 1.0, flake_tint: towards_white(albedo, 0.45), flake: 0.3 },
        Finish::Matt => PaintOptics { albedo, gloss: MATT_GLOSS, flake_tint: [0.0; 3], flake: 0.0 },
    }
}

fn towards_white(colour: [f32; 3], share: f32) -> [f32; 3] {
    colour.map(|c| c + (1.0 - c) * share)
}

/// Of linear light with the primaries of sRGB (ITU-R BT.709).
pub fn luminance(light: [f32; 3]) -> f32 {
    light[0] * 0.2126 + light[1] * 0.7152 + light[2] * 0.0722
}

/// IEC 61966-2-1.
pub fn linear_from_srgb(byte: u8) -> f32 {
    linear(f32::from(byte) / 255.0)
}

/// The same, of 0 to 1.
pub fn linear(s: f32) -> f32 {
    if s <= 0.04045 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_paint_gives_more_light_than_it_gets() {
        for colour in Colour::ALL {
            let paint = optics(&(*colour).into());
            assert!(paint.albedo.iter().chain(&paint.flake_tint).all(|c| (0.0..=1.0).contains(c)), "{colour}");
        }
    }

    #[test]
    fn srgb_ends_and_middle() {
        assert_eq!(linear_from_srgb(0), 0.0);
        assert_eq!(linear_from_srgb(255), 1.0);
        assert!((linear_from_srgb(188) - 0.5029).abs() < 1e-3);
    }
}

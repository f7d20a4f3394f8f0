//! The fifteen paints: what a colour looks like under light, as opposed to its swatch in a menu.

use bytemuck::{Pod, Zeroable};
use cyclorama_core::Colour;

/// A paint in linear light, as the composing shader sees it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct Paint {
    /// Matt albedo of the base coat.
    pub albedo: [f32; 3],
    /// Strength of the clear coat's mirror image; 1 is plain lacquer.
    pub gloss: f32,
    /// Colour of the light that flakes throw back near a highlight.
    pub flake_tint: [f32; 3],
    /// 0 for a solid paint to 1 for coarse metallic: how much brighter the base is towards the light, darker away from it.
    pub flake: f32,
}

/// How the pigment is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaintKind {
    Solid,
    Metallic,
    /// Mica: less contrast than metal flakes, a paler tint in the highlight.
    Pearl,
}

pub const fn kind(colour: Colour) -> PaintKind {
    match colour {
        Colour::Black | Colour::Red | Colour::Orange | Colour::Yellow | Colour::Beige => PaintKind::Solid,
        Colour::White | Colour::Burgundy | Colour::Purple => PaintKind::Pearl,
        Colour::Gray | Colour::Silver | Colour::Blue | Colour::Green | Colour::Brown | Colour::Tan | Colour::Gold => {
            PaintKind::Metallic
        }
    }
}

/// The paint sold under a colour's name.
pub fn paint(colour: Colour) -> Paint {
    let albedo = colour.srgb().map(linear_from_srgb);
    match kind(colour) {
        PaintKind::Solid => Paint { albedo, gloss: 1.0, flake_tint: [0.0; 3], flake: 0.0 },
        PaintKind::Metallic => Paint { albedo, gloss: 1.0, flake_tint: towards_white(albedo, 0.25), flake: 0.75 },
        PaintKind::Pearl => Paint { albedo, gloss: 1.0, flake_tint: towards_white(albedo, 0.45), flake: 0.3 },
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
            let paint = paint(*colour);
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

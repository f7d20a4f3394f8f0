//! The materials of the inside of a head lamp, by year and kind.

use crate::vehicle::mesh::Material;
use crate::vehicle::parts::lamp::head_lamp::HeadLamp;

/// Materials of the parts of a lamp.
#[derive(Clone, Copy)]
pub struct Finish {
    pub bezel: Material,
    pub ledge: Material,
    pub floor: Material,
    /// The funnels around the lights.
    pub shroud: Material,
    /// The bright edges of lights, and the edges of their funnels.
    pub ring: Material,
    pub rim: Material,
}

impl Finish {
    pub fn new(spec: &HeadLamp, year: u16, floor: Material) -> Finish {
        let is_bright = floor == Material::LampReflector;
        let (bezel, ledge) = if is_bright {
            (Material::LampSatin, Material::LampReflector)
        } else if year < DARK_SHROUDS {
            (Material::GlossBlack, Material::LampReflector)
        } else {
            (Material::GlossBlack, Material::LampSatin)
        };
        Finish {
            bezel: spec.bezel.unwrap_or(bezel),
            ledge: spec.ledge.unwrap_or(ledge),
            // A black hole would show nothing of a shell's form.
            floor: if is_bright { floor } else { Material::LampSatin },
            shroud: if year < DARK_SHROUDS { Material::LampReflector } else { Material::LampSatin },
            // Bright rings around every light make the lights look like eyes.
            ring: if year < DARK_SHELLS { Material::LampReflector } else { Material::LampSatin },
            rim: if year < DARK_SHROUDS { Material::LampReflector } else { Material::LampSatin },
        }
    }
}

/// From this year on, the shells of lamps are dark with a few bright rings.
pub const DARK_SHELLS: u16 = 2008;

/// From this year on, hardly anything in a shell is bright.
pub const DARK_SHROUDS: u16 = 2013;

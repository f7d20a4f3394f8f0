//! The paint of a vehicle: colour, finish and whether its shadow is part of the image.

use crate::{Colour, UnknownName};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

crate::named_enum! {
    /// How a paint reflects, for colours that are not presets.
    #[derive(Default)]
    pub enum Finish {
        /// One pigment under a clear coat.
        Solid = "solid",
        /// Metal flakes under a clear coat.
        #[default]
        Metallic = "metallic",
        /// Mica under a clear coat: less contrast than metal flakes, and a paler
        /// tint in the highlight.
        Pearl = "pearl",
        /// A rough clear coat without a sharp reflection.
        Matt = "matt" | "matte",
    }
}

/// A preset colour, or any sRGB colour with a finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaintColour {
    Preset(Colour),
    Custom { srgb: [u8; 3], finish: Finish },
}

/// The paint of an image: the only thing that distinguishes two images of one vehicle and view
/// before they are framed. All paints of a vehicle and view share its layers.
///
/// The text form, in jobs and in the database, is `silver`, `#1f4e8c` (metallic) or `#1f4e8c-matt`,
/// with `-no-shadow` at the end if the alpha leaves the shadow on the ground out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Paint {
    pub colour: PaintColour,
    /// True if the vehicle's shadow on the ground is part of the image.
    pub shadow: bool,
}

const NO_SHADOW: &str = "-no-shadow";

impl Paint {
    /// Returns the colour as the API names it: a preset's name, or six lower-case hex digits.
    pub fn color(&self) -> String {
        self.colour.to_string()
    }

    /// Returns the paint as a part of an object's name: its text form without `#`.
    pub fn file_name(&self) -> String {
        self.to_string().replace('#', "")
    }

    /// Parses the result of [`Paint::file_name`]. Returns `None` if no paint has exactly this name.
    pub fn of_file_name(text: &str) -> Option<Paint> {
        text.parse().or_else(|_| format!("#{text}").parse()).ok().filter(|paint: &Paint| paint.file_name() == text)
    }

    /// True for one of the fifteen presets with its shadow. Images of these
    /// paints are kept for good.
    pub const fn is_preset(&self) -> bool {
        matches!(self.colour, PaintColour::Preset(_)) && self.shadow
    }

    /// The colour in menus and in measurements, as three sRGB bytes.
    pub fn srgb(&self) -> [u8; 3] {
        match self.colour {
            PaintColour::Preset(colour) => colour.srgb(),
            PaintColour::Custom { srgb, .. } => srgb,
        }
    }
}

impl PaintColour {
    /// The finish of a custom colour if it is not the default one. `None` for presets.
    pub fn named_finish(&self) -> Option<Finish> {
        match self {
            PaintColour::Custom { finish, .. } if *finish != Finish::default() => Some(*finish),
            PaintColour::Custom { .. } | PaintColour::Preset(_) => None,
        }
    }
}

impl Default for PaintColour {
    fn default() -> Self {
        PaintColour::Preset(Colour::default())
    }
}

impl Default for Paint {
    fn default() -> Self {
        Colour::default().into()
    }
}

impl From<Colour> for Paint {
    fn from(colour: Colour) -> Self {
        Paint { colour: PaintColour::Preset(colour), shadow: true }
    }
}

impl From<PaintColour> for Paint {
    fn from(colour: PaintColour) -> Self {
        Paint { colour, shadow: true }
    }
}

/// Parses six hex digits of any case, without `#`, as three sRGB bytes. Returns
/// `None` for anything else.
pub fn srgb_of_hex(digits: &str) -> Option<[u8; 3]> {
    if digits.len() != 6 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let number = u32::from_str_radix(digits, 16).ok()?;
    Some([(number >> 16) as u8, (number >> 8) as u8, number as u8])
}

/// Formats three sRGB bytes as six lower-case hex digits, without `#`.
pub fn hex_of_srgb(srgb: [u8; 3]) -> String {
    hex::encode(srgb)
}

impl fmt::Display for PaintColour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PaintColour::Preset(colour) => f.write_str(colour.as_str()),
            PaintColour::Custom { srgb, .. } => f.write_str(&hex_of_srgb(*srgb)),
        }
    }
}

impl fmt::Display for Paint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let PaintColour::Custom { .. } = self.colour {
            f.write_str("#")?;
        }
        write!(f, "{}", self.colour)?;
        if let Some(finish) = self.colour.named_finish() {
            write!(f, "-{finish}")?;
        }
        f.write_str(if self.shadow { "" } else { NO_SHADOW })
    }
}

impl FromStr for Paint {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownName { given: text.to_owned(), allowed: "the names of paints".to_owned() };
        let (colour, shadow) = text.strip_suffix(NO_SHADOW).map_or((text, true), |colour| (colour, false));
        let colour = match colour.strip_prefix('#') {
            None => PaintColour::Preset(colour.parse()?),
            Some(custom) => {
                let (digits, finish) = match custom.split_once('-') {
                    None => (custom, Finish::default()),
                    Some((digits, finish)) => (digits, finish.parse()?),
                };
                PaintColour::Custom { srgb: srgb_of_hex(digits).ok_or_else(unknown)?, finish }
            }
        };
        Ok(Paint { colour, shadow })
    }
}

impl Serialize for Paint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Paint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str> as Deserialize>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_paint_is_read_back_from_its_text() {
        let custom = |finish| PaintColour::Custom { srgb: [0x1f, 0x4e, 0x8c], finish };
        let texts = [
            (Colour::Silver.into(), "silver", "silver"),
            (Paint { colour: PaintColour::Preset(Colour::Red), shadow: false }, "red-no-shadow", "red-no-shadow"),
            (custom(Finish::Metallic).into(), "#1f4e8c", "1f4e8c"),
            (custom(Finish::Matt).into(), "#1f4e8c-matt", "1f4e8c-matt"),
            (
                Paint { colour: custom(Finish::Solid), shadow: false },
                "#1f4e8c-solid-no-shadow",
                "1f4e8c-solid-no-shadow",
            ),
        ];
        for (paint, text, file_name) in texts {
            assert_eq!((paint.to_string().as_str(), paint.file_name().as_str()), (text, file_name));
            assert_eq!(text.parse(), Ok(paint));
        }
        assert_eq!("#1F4E8C-METALLIC".parse::<Paint>().map(|paint| paint.to_string()), Ok("#1f4e8c".to_owned()));
        for wrong in
            ["", "#", "#1f4e8", "#1f4e8cc", "#1f4e8c-", "#1f4e8c-glossy", "1f4e8c", "turquoise", "#ÄÄÄ", "silver-"]
        {
            assert!(wrong.parse::<Paint>().is_err(), "{wrong:?}");
        }
    }
}

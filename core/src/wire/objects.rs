//! The names of the objects that a node uploads.

use crate::{Format, Paint};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Maximum size of an object that is uploaded, stored or read, in bytes. Layers are the largest
/// objects: six half-float planes of 1024x1024 are 25 MB before compression.
pub const OBJECT_BYTES_MAX: u64 = 64 << 20;

const LAYERS: &str = "layers";
const MASTER: &str = "master";

/// The name of an object: `layers`, `master.<paint>.png` or `<side>.<paint>.<format>`, where
/// `<paint>` is [`Paint::file_name`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ObjectName {
    /// The layers that every paint of a vehicle and view is composed from.
    Layers,
    /// The master of a paint, as PNG.
    Master(Paint),
    /// A square image with a side of `side_px` pixels, the size of a preset. Another version
    /// may have other presets.
    Preset { side_px: u32, paint: Paint, format: Format },
    /// A name that another version of the protocol may have added.
    Other(String),
}

impl ObjectName {
    /// Returns the paint and the format of an image. Returns `None` for layers, and for a name that
    /// this version does not know.
    pub fn picture(&self) -> Option<(Paint, Format)> {
        match self {
            ObjectName::Master(paint) => Some((*paint, Format::Png)),
            ObjectName::Preset { paint, format, .. } => Some((*paint, *format)),
            ObjectName::Layers | ObjectName::Other(_) => None,
        }
    }

    fn known(text: &str) -> Option<Self> {
        if text == LAYERS {
            return Some(ObjectName::Layers);
        }
        let (kind, rest) = text.split_once('.')?;
        let (paint, format) = rest.rsplit_once('.')?;
        let paint = Paint::of_file_name(paint)?;
        let name = match (kind, format.parse::<Format>().ok()?) {
            (MASTER, Format::Png) => ObjectName::Master(paint),
            (MASTER, _) => return None,
            (side, format) => ObjectName::Preset { side_px: side.parse().ok()?, paint, format },
        };
        // Each object has exactly one spelling of its name.
        (name.to_string() == text).then_some(name)
    }
}

impl From<&str> for ObjectName {
    fn from(text: &str) -> Self {
        ObjectName::known(text).unwrap_or_else(|| ObjectName::Other(text.to_owned()))
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectName::Layers => f.write_str(LAYERS),
            ObjectName::Master(paint) => write!(f, "{MASTER}.{}.{}", paint.file_name(), Format::Png),
            ObjectName::Preset { side_px, paint, format } => write!(f, "{side_px}.{}.{format}", paint.file_name()),
            ObjectName::Other(text) => f.write_str(text),
        }
    }
}

impl Serialize for ObjectName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ObjectName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Ok(ObjectName::from(&*text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Colour;

    #[test]
    fn every_name_is_read_as_it_is_written() {
        let paints = ["silver", "silver-no-shadow", "#1f4e8c", "#1f4e8c-matt-no-shadow", "#1f4e8c-solid"];
        let mut names = vec![ObjectName::Layers];
        for paint in paints.map(|paint| paint.parse::<Paint>().expect(paint)) {
            names.push(ObjectName::Master(paint));
            for side_px in [32, 256, 512, 768, 1024] {
                for format in Format::ALL {
                    names.push(ObjectName::Preset { side_px, paint, format: *format });
                }
            }
        }
        for name in names {
            assert_eq!(ObjectName::from(&*name.to_string()), name, "{name}");
        }
    }

    #[test]
    fn names_are_those_of_the_protocol() {
        let preset = |side_px, format| ObjectName::Preset { side_px, paint: Colour::Red.into(), format };
        for (name, text) in [
            (ObjectName::Layers, "layers"),
            (ObjectName::Master(Colour::Red.into()), "master.red.png"),
            (
                ObjectName::Master("#1f4e8c-matt-no-shadow".parse().expect("a paint")),
                "master.1f4e8c-matt-no-shadow.png",
            ),
            (preset(768, Format::Jpg), "768.red.jpg"),
        ] {
            assert_eq!(name.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_name_is_kept_as_it_is() {
        for text in [
            "",
            "layers.red.png",
            "master.red.webp",
            "master.red",
            "master..png",
            "large.red.png",
            "-1.red.png",
            "0768.red.png",
            "768.RED.png",
            "768.#1f4e8c.png",
            "depth",
        ] {
            assert_eq!(ObjectName::from(text), ObjectName::Other(text.to_owned()));
            assert_eq!(ObjectName::from(text).to_string(), text);
        }
    }
}

//! Types and functions that the control plane and the render node share: vehicles, views, paints,
//! formats and sizes, the wire messages between the two, resizing and encoding of images, traces
//! that span both processes, and the output of commands.
//!
//! This crate contains no wgpu, no ONNX Runtime, no HTTP server and no SQL: those
//! belong to the two binaries.

pub mod colour;
pub mod encoding;
pub mod format;
pub mod frame;
pub mod output;
pub mod paint;
pub mod traces;
pub mod variant;
pub mod vehicle;
pub mod view;
pub mod wire;

pub use colour::Colour;
pub use format::{Format, SizePreset};
pub use frame::{Fit, Framing, Scale};
pub use paint::{Finish, Paint, PaintColour};
pub use variant::Variant;
pub use vehicle::{BodyClass, Dimensions, NoVehicleKey, Vehicle, VehicleKey, VehicleType};
pub use view::View;

/// Side of the square master image, in pixels. Nothing larger is ever delivered.
pub const MASTER_SIDE_PX: u32 = 1024;

/// The error of parsing a name that is not one of an enumeration's values. `Display`
/// lists the allowed names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not one of {allowed}")]
pub struct UnknownName {
    pub given: String,
    pub allowed: String,
}

/// Defines an enumeration whose values have names, with parsing (canonical names and aliases,
/// ignoring ASCII case), printing and serde. The crate that uses the macro needs `serde`.
#[macro_export]
macro_rules! named_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal $(| $alias:literal)*),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $name { $($(#[$vmeta])* $variant),+ }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The canonical spelling.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            /// Other accepted spellings.
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $($name::$variant => &[$($alias),*]),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownName;
            fn from_str(given: &str) -> Result<Self, Self::Err> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|v| v.as_str().eq_ignore_ascii_case(given) || v.aliases().iter().any(|a| a.eq_ignore_ascii_case(given)))
                    .ok_or_else(|| $crate::UnknownName {
                        given: given.to_owned(),
                        allowed: Self::ALL.iter().map(|v| v.as_str()).collect::<Vec<_>>().join(", "),
                    })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(self.as_str()) }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_str(self.as_str()) }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let given = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(d)?;
                given.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

//! The service's enumerations. They are open: a word that is newer than this crate, or an alias
//! such as `hero`, is `Other`.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$of_variant:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$of_variant])* $variant,)+
            /// Any other word. The service refuses it if it does not know it.
            Other(String),
        }

        impl $name {
            pub fn as_str(&self) -> &str {
                match self {
                    $($name::$variant => $word,)+
                    $name::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => $name::$variant,)+
                    _ => $name::Other(word),
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                word.to_owned().into()
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> String {
                word.as_str().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    };
}

words!(
    /// A view of the vehicle.
    View {
        Front = "front",
        Front34 = "front-3-4",
        Side = "side",
        SideRight = "side-right",
        Rear = "rear",
        Rear34 = "rear-3-4",
    }
);

words!(
    /// A paint: a preset, or six hex digits with or without `#`, such as `Color::from("#1f4e8c")`.
    Color {
        White = "white",
        Black = "black",
        Gray = "gray",
        Silver = "silver",
        Blue = "blue",
        Red = "red",
        Green = "green",
        Brown = "brown",
        Beige = "beige",
        Tan = "tan",
        Orange = "orange",
        Yellow = "yellow",
        Gold = "gold",
        Burgundy = "burgundy",
        Purple = "purple",
    }
);

words!(
    /// An image format.
    Format {
        Png = "png",
        Webp = "webp",
        Jpg = "jpg",
        Avif = "avif",
        /// The best of the formats that the request's `Accept` names.
        Auto = "auto",
    }
);

words!(
    /// The fit of an image into the box of its width and height.
    Fit {
        /// As large as possible within the box; the image may be smaller than the box.
        Inside = "inside",
        /// Exactly the box, with the whole vehicle in the middle.
        Contain = "contain",
        /// Exactly the box, filled. Empty space is cut off first, and the vehicle only if
        /// necessary.
        Cover = "cover",
    }
);

words!(
    /// The background of an image. Six hex digits are accepted as well:
    /// `Background::from("f4f4f2")`.
    Background {
        Transparent = "transparent",
        White = "white",
        Black = "black",
    }
);

words!(
    /// The shadow on the ground.
    Shadow {
        On = "on",
        Off = "off",
    }
);

words!(
    /// The scale at which the vehicle is drawn.
    Scale {
        /// Each vehicle fills the frame.
        Fill = "fill",
        /// All vehicles have the same number of millimetres for a pixel.
        True = "true",
    }
);

words!(
    /// The finish of a paint that is not a preset.
    Finish {
        Solid = "solid",
        Metallic = "metallic",
        Pearl = "pearl",
        Matt = "matt",
    }
);

words!(
    /// A body. In requests, `estate` and `saloon` are accepted as well: `Body::from("estate")`.
    Body {
        Sedan = "sedan",
        Hatchback = "hatchback",
        Coupe = "coupe",
        Fastback = "fastback",
        Convertible = "convertible",
        Wagon = "wagon",
        Suv = "suv",
        OffRoader = "off-roader",
        Pickup = "pickup",
        Van = "van",
        Minivan = "minivan",
        Truck = "truck",
        Bus = "bus",
        Motorcycle = "motorcycle",
        Scooter = "scooter",
        Trailer = "trailer",
        Rickshaw = "rickshaw",
    }
);

words!(
    /// 256, 512, 768 or 1024 pixels.
    SizePreset {
        Thumb = "thumb",
        Small = "small",
        Medium = "medium",
        Large = "large",
    }
);

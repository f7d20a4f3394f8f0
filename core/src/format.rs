//! Delivery formats and size presets.

crate::named_enum! {
    /// Encoding of a delivered image. PNG, WebP and AVIF keep transparency; JPG is flattened on
    /// white unless the request names a background.
    #[derive(Default)]
    pub enum Format {
        #[default]
        Png = "png",
        Webp = "webp",
        Jpg = "jpg" | "jpeg",
        Avif = "avif",
    }
}

impl Format {
    /// The formats that a render node makes of each size preset. AVIF is made on request.
    pub const UPLOADED: [Format; 3] = [Format::Png, Format::Webp, Format::Jpg];

    pub const fn media_type(self) -> &'static str {
        match self {
            Format::Png => "image/png",
            Format::Webp => "image/webp",
            Format::Jpg => "image/jpeg",
            Format::Avif => "image/avif",
        }
    }

    /// Returns the format with exactly this media type, or `None` if there is none.
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.media_type() == media_type)
    }

    pub const fn keeps_transparency(self) -> bool {
        !matches!(self, Format::Jpg)
    }
}

crate::named_enum! {
    /// A named size of a square image; see [`SizePreset::side_px`].
    pub enum SizePreset { Thumb = "thumb", Small = "small", Medium = "medium", Large = "large" }
}

impl SizePreset {
    /// Side of the square image, in pixels.
    pub const fn side_px(self) -> u32 {
        match self {
            SizePreset::Thumb => 256,
            SizePreset::Small => 512,
            SizePreset::Medium => 768,
            SizePreset::Large => 1024,
        }
    }
}

//! From the pixels of a picture to the bytes of a format, and back for the master: resize, encode, mark, probe.
//!
//! Everything here is pure and single-threaded: the same pixels give the same bytes on every machine, which is what
//! lets an ETag be built from the master's digest and [`ENCODE_RECIPE`]. What is stored where is the control plane's affair; who may
//! run several encodes at once, and on which threads, is the caller's affair.

mod avif;
mod isobmff;
mod jpg;
mod picture;
mod png;
mod probe;
mod provenance;
mod resize;
mod webp;

#[cfg(test)]
mod tests;

pub use picture::{Picture, PictureError};
pub use probe::{Probe, ProbeError, probe};
pub use provenance::{DIGITAL_SOURCE_TYPE, xmp_packet};
pub use resize::resize;
pub use webp::AlphaPlanes;

use crate::Format;

/// Names everything between a master's pixels and a derivative's bytes: filter, encoder settings, embedded metadata.
/// Part of every ETag, so a change to any of those (or to an encoder's version, when its bytes change) needs a new value.
pub const ENCODE_RECIPE: &str = "2";

/// Why a picture could not be encoded or decoded.
#[derive(Debug, thiserror::Error)]
pub enum EncodingError {
    #[error("cannot encode a {width}x{height} picture as {format}: {detail}")]
    Encode { format: Format, width: u32, height: u32, detail: String },
    #[error("the stored picture is not a readable PNG")]
    Png(#[source] ::png::DecodingError),
    #[error("the stored picture is a PNG of {found}, not of 8-bit RGBA")]
    NotRgba { found: String },
    #[error("cannot resize {from_width}x{from_height} to {to_width}x{to_height}: {detail}")]
    Resize { from_width: u32, from_height: u32, to_width: u32, to_height: u32, detail: String },
    #[error(transparent)]
    Picture(#[from] PictureError),
}

/// The bytes of `picture` in `format`, marked as made by a trained model. JPG is flattened on white.
pub fn encode(picture: &Picture, format: Format) -> Result<Vec<u8>, EncodingError> {
    match format {
        Format::Png => png::encode(picture),
        Format::Webp => webp::encode(picture, None),
        Format::Jpg => jpg::encode(picture),
        Format::Avif => avif::encode(picture, None),
    }
}

/// The same bytes as [`encode`]'s, sooner where another colour of the vehicle and view has been encoded with the same `planes`.
pub fn encode_beside(picture: &Picture, format: Format, planes: &AlphaPlanes) -> Result<Vec<u8>, EncodingError> {
    match format {
        Format::Webp => webp::encode(picture, Some(planes)),
        Format::Avif => avif::encode(picture, Some(planes)),
        Format::Png | Format::Jpg => encode(picture, format),
    }
}

/// The pixels of a master (8-bit RGBA PNG) as this module wrote it. `side_px_max` bounds what is decoded: a header
/// naming more is refused before memory is taken for it.
pub fn decode_master(bytes: &[u8], side_px_max: u32) -> Result<Picture, EncodingError> {
    png::decode(bytes, side_px_max)
}

/// One size and format of a master: `width`x`height` may not exceed the master's.
pub fn derive(master: &Picture, width: u32, height: u32, format: Format) -> Result<Vec<u8>, EncodingError> {
    if (width, height) == (master.width(), master.height()) {
        return encode(master, format);
    }
    encode(&resize(master, width, height)?, format)
}

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
pub use resize::{framed, resize};
pub use webp::AlphaPlanes;

use crate::Format;
use crate::frame::{Frame, SEEN_ALPHA_MIN, Seen, Sight, plan};

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

/// What a plan has to know of a master. `scale_um_per_px` stands in for a scale that the master does not know.
pub fn sight(master: &Picture, scale_um_per_px: u32) -> Sight {
    Sight {
        side_px: master.width().max(master.height()),
        seen: seen(master).unwrap_or(Seen { left: 0, top: 0, right: master.width(), bottom: master.height() }),
        scale_um_per_px: master.scale_um_per_px().unwrap_or(scale_um_per_px).max(1),
    }
}

fn seen(master: &Picture) -> Option<Seen> {
    let is_seen = |pixel: [u8; 4]| pixel[3] >= SEEN_ALPHA_MIN;
    let mut seen: Option<Seen> = None;
    for y in 0..master.height() {
        let row = || master.row(y as usize).chunks_exact(4).map(|p| is_seen([p[0], p[1], p[2], p[3]]));
        let Some(first) = row().position(|is_seen| is_seen) else { continue };
        let last = row().rposition(|is_seen| is_seen).unwrap_or(first);
        let (left, right) = (first as u32, last as u32 + 1);
        let before = seen.unwrap_or(Seen { left, top: y, right, bottom: y + 1 });
        seen = Some(Seen { left: before.left.min(left), right: before.right.max(right), bottom: y + 1, ..before });
    }
    seen
}

/// A master in a frame, in a format. A plain square ([`Frame::square_side_px`]) is [`derive`]'s, which need not look at the master first.
pub fn frame(master: &Picture, sight: &Sight, wanted: &Frame, format: Format) -> Result<Vec<u8>, EncodingError> {
    let picture = framed(master, &plan(wanted, sight))?;
    match wanted.background {
        Some(background) => encode(&picture.laid_on(background)?, format),
        None => encode(&picture, format),
    }
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

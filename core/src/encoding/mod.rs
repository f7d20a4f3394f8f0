//! Encodes the pixels of an image in a delivery format, decodes masters, resizes, marks images as
//! generated, and reads the headers of uploaded files.
//!
//! Everything here is pure and single-threaded: the same pixels give the same bytes on
//! every machine, so an ETag can be built from the master's digest and [`ENCODE_RECIPE`].
//! Storage is the control plane's affair. How many encodes run at once, and on which
//! threads, is the caller's affair.

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

pub use picture::{PictureError, Pixmap};
pub use probe::{Probe, ProbeError, probe};
pub use provenance::{DIGITAL_SOURCE_TYPE, xmp_packet};
pub use resize::{framed, resize};
pub use webp::AlphaPlanes;

use crate::Format;
use crate::frame::{Framing, MasterBounds, SEEN_ALPHA_MIN, VisibleBounds, plan};

/// Version of everything between a master's pixels and a derivative's bytes: filter, encoder
/// settings, embedded metadata. It is part of every ETag, so a change to any of those (or to an
/// encoder's version, if its bytes change) needs a new value.
pub const ENCODE_RECIPE: &str = "2";

/// The reason why an image could not be encoded or decoded.
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

/// Reads from a master the properties that [`plan`] needs. `scale_um_per_px` is used if the master
/// does not record its own scale.
pub fn sight(master: &Pixmap, scale_um_per_px: u32) -> MasterBounds {
    MasterBounds {
        side_px: master.width().max(master.height()),
        seen: seen(master).unwrap_or(VisibleBounds { left: 0, top: 0, right: master.width(), bottom: master.height() }),
        scale_um_per_px: master.scale_um_per_px().unwrap_or(scale_um_per_px).max(1),
    }
}

/// Returns the bounds of all pixels that count as seen, or `None` if there are none.
fn seen(master: &Pixmap) -> Option<VisibleBounds> {
    let is_seen = |pixel: [u8; 4]| pixel[3] >= SEEN_ALPHA_MIN;
    let mut seen: Option<VisibleBounds> = None;
    for y in 0..master.height() {
        let row = || master.row(y as usize).chunks_exact(4).map(|p| is_seen([p[0], p[1], p[2], p[3]]));
        let Some(first) = row().position(|is_seen| is_seen) else { continue };
        let last = row().rposition(|is_seen| is_seen).unwrap_or(first);
        let (left, right) = (first as u32, last as u32 + 1);
        let before = seen.unwrap_or(VisibleBounds { left, top: y, right, bottom: y + 1 });
        seen = Some(VisibleBounds {
            left: before.left.min(left),
            right: before.right.max(right),
            bottom: y + 1,
            ..before
        });
    }
    seen
}

/// Encodes a master in a framing and a format. [`derive`] does the same for a plain square
/// ([`Framing::square_side_px`]) without a [`MasterBounds`] of the master. Fails if the plan is
/// empty or the encoder fails.
pub fn frame(
    master: &Pixmap,
    sight: &MasterBounds,
    wanted: &Framing,
    format: Format,
) -> Result<Vec<u8>, EncodingError> {
    let picture = framed(master, &plan(wanted, sight))?;
    match wanted.background {
        Some(background) => encode(&picture.laid_on(background)?, format),
        None => encode(&picture, format),
    }
}

/// Encodes `picture` in `format`, marked as made by a trained model. JPG is flattened on white.
pub fn encode(picture: &Pixmap, format: Format) -> Result<Vec<u8>, EncodingError> {
    match format {
        Format::Png => png::encode(picture),
        Format::Webp => webp::encode(picture, None),
        Format::Jpg => jpg::encode(picture),
        Format::Avif => avif::encode(picture, None),
    }
}

/// Returns the same bytes as [`encode`], but sooner if another paint of the vehicle and view has
/// been encoded with the same `planes`.
pub fn encode_beside(picture: &Pixmap, format: Format, planes: &AlphaPlanes) -> Result<Vec<u8>, EncodingError> {
    match format {
        Format::Webp => webp::encode(picture, Some(planes)),
        Format::Avif => avif::encode(picture, Some(planes)),
        Format::Png | Format::Jpg => encode(picture, format),
    }
}

/// Decodes a master, an 8-bit RGBA PNG as this module writes it. `side_px_max` bounds the decoded
/// size: a file whose header names a larger side is refused with [`EncodingError::NotRgba`] before
/// memory is allocated for it.
pub fn decode_master(bytes: &[u8], side_px_max: u32) -> Result<Pixmap, EncodingError> {
    png::decode(bytes, side_px_max)
}

/// Resizes a master to `width`x`height` pixels, neither larger than the master's own, and encodes
/// the result in `format`.
pub fn derive(master: &Pixmap, width: u32, height: u32, format: Format) -> Result<Vec<u8>, EncodingError> {
    if (width, height) == (master.width(), master.height()) {
        return encode(master, format);
    }
    encode(&resize(master, width, height)?, format)
}

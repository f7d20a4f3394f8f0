//! JPG encoder (JFIF, baseline); transparency is flattened on white.

use super::{EncodingError, Pixmap, provenance};
use crate::Format;
use mozjpeg_rs::{Encoder, Preset, QuantTableIdx, Subsampling, TrellisConfig};

/// Marker (APP1) and header of the segment that holds XMP (XMP specification
/// part 3, section 1.1.3).
const XMP_SEGMENT: u8 = 1;
const XMP_HEADER: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";

/// Largest image, in pixels, for which the encoder weighs the bytes of every coefficient against
/// its visible effect (trellis quantisation). This saves a tenth of the bytes for 2 ms at 256 px.
/// At 768 px it would cost as much time as the rest of the encode.
const WEIGHED_PIXELS_MAX: usize = 256 * 256;

/// Trellis quantisation loses a little likeness, which a higher quality makes good. With either
/// value lower by one, the images are less like their originals than those of sharp at its default
/// (docs/performance.md).
const QUALITY_WEIGHED: u8 = 83;
const QUALITY: u8 = 81;

pub(super) fn encode(picture: &Pixmap) -> Result<Vec<u8>, EncodingError> {
    let weighed = picture.rgba().len() <= 4 * WEIGHED_PIXELS_MAX;
    let (quality, trellis) = match weighed {
        true => (QUALITY_WEIGHED, TrellisConfig::default().dc_trellis(false)),
        false => (QUALITY, TrellisConfig::disabled()),
    };
    let xmp = [XMP_HEADER, provenance::xmp_packet().as_bytes()].concat();
    // Halved chroma pales a one-pixel red line on white, and makes the file a fifth smaller. One
    // scan holds all components: progressive scans save a twentieth and double the time, and some
    // decoders misread one scan for each component.
    Encoder::new(Preset::BaselineBalanced)
        .quality(quality)
        .quant_tables(QuantTableIdx::JpegAnnexK)
        .subsampling(Subsampling::S420)
        .trellis(trellis)
        .add_marker(XMP_SEGMENT, xmp)
        .encode_rgb(&picture.flattened_on_white(), picture.width(), picture.height())
        .map_err(|e| EncodingError::Encode {
            format: Format::Jpg,
            width: picture.width(),
            height: picture.height(),
            detail: e.to_string(),
        })
}

//! JPG (JFIF, baseline), flattened on white.

use super::{EncodingError, Picture, provenance};
use crate::Format;
use mozjpeg_rs::{Encoder, Preset, QuantTableIdx, Subsampling, TrellisConfig};

/// Where XMP lives in a JPG (XMP specification part 3, section 1.1.3).
const XMP_SEGMENT: u8 = 1;
const XMP_HEADER: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";

/// Up to this many pixels the encoder weighs for every coefficient what it costs against what it shows (trellis
/// quantisation): a tenth of the bytes for 2 ms at 256 px. At 768 px it would cost as much as all the rest together.
const WEIGHED_PIXELS_MAX: usize = 256 * 256;

/// Weighing loses a little likeness, which a higher quality makes good.
/// One less of either, and the pictures are less like their originals than sharp's at its default (docs/performance.md).
const QUALITY_WEIGHED: u8 = 83;
const QUALITY: u8 = 81;

pub(super) fn encode(picture: &Picture) -> Result<Vec<u8>, EncodingError> {
    let weighed = picture.rgba().len() <= 4 * WEIGHED_PIXELS_MAX;
    let (quality, trellis) = match weighed {
        true => (QUALITY_WEIGHED, TrellisConfig::default().dc_trellis(false)),
        false => (QUALITY, TrellisConfig::disabled()),
    };
    let xmp = [XMP_HEADER, provenance::xmp_packet().as_bytes()].concat();
    // Halved chroma pales a one-pixel red line on white, and takes a fifth off the file. One scan with all components:
    // progressive saves a twentieth and doubles the time, and one scan for each component is read wrongly by some
    // decoders.
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

//! JPG (JFIF, baseline), flattened on white.

use super::{EncodingError, Picture, provenance};
use crate::Format;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

/// Where XMP lives in a JPG (XMP specification part 3, section 1.1.3).
const XMP_SEGMENT: u8 = 1;
const XMP_HEADER: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";

/// At 1024 px: 28 ms and 107 kB.
const QUALITY: u8 = 88;

pub(super) fn encode(picture: &Picture) -> Result<Vec<u8>, EncodingError> {
    let failed = |detail: String| EncodingError::Encode {
        format: Format::Jpg,
        width: picture.width(),
        height: picture.height(),
        detail,
    };
    let side = |px: u32| u16::try_from(px).map_err(|_| failed("a side is over 65,535 px".to_owned()));
    let (width, height) = (side(picture.width())?, side(picture.height())?);

    let mut bytes = Vec::with_capacity(picture.rgba().len() / 16);
    let mut encoder = Encoder::new(&mut bytes, QUALITY);
    // Saturated paint against white is where halved chroma shows (a pale rim along a red roof line).
    encoder.set_sampling_factor(SamplingFactor::R_4_4_4);
    // Huffman tables stay the standard ones: this encoder writes optimised ones as one scan per component, which some
    // decoders read wrongly.
    let xmp = [XMP_HEADER, provenance::xmp_packet().as_bytes()].concat();
    encoder.add_app_segment(XMP_SEGMENT, xmp).map_err(|e| failed(e.to_string()))?;
    encoder.encode(&picture.flattened_on_white(), width, height, ColorType::Rgb).map_err(|e| failed(e.to_string()))?;
    Ok(bytes)
}

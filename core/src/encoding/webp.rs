//! WebP: lossy colour, lossless alpha.

use super::{EncodingError, Picture, provenance};
use crate::Format;
use ::webp::{Encoder, WebPConfig};

/// Bits of the VP8X chunk's first byte (RFC 9649, section 2.7).
const FLAG_ALPHA: u8 = 0x10;
const FLAG_XMP: u8 = 0x04;

// Chosen from red renders of nine vehicles at 768 px (CPU milliseconds, kilobytes, SSIM against what was encoded):
//
//   quality method   ms    kB   SSIM
//     82      2      72   43.6  0.9626
//     82      3     100   42.4  0.9636
//     80      4     101   37.5  0.9612
//     82      4     103   38.8  0.9631   <- a tenth smaller than method 2
//     85      4     105   40.9  0.9663
//     82      5     123   38.2  0.9627
//     82      6    1100   36.3  0.9612
//
// The default filter search of the alpha plane costs 15 ms of that and finds nothing. libwebp's own sharper chroma
// (`use_sharp_yuv`) takes half as long again and more bytes, for one decibel in the chroma.
const QUALITY: f32 = 82.0;
const METHOD: i32 = 4;
const ALPHA_FILTERING: i32 = 0;

pub(super) fn encode(picture: &Picture) -> Result<Vec<u8>, EncodingError> {
    let failed = |detail: String| EncodingError::Encode {
        format: Format::Webp,
        width: picture.width(),
        height: picture.height(),
        detail,
    };
    let mut config = WebPConfig::new().map_err(|()| failed("libwebp refused its own default settings".to_owned()))?;
    config.quality = QUALITY;
    config.method = METHOD;
    // Alpha is exact by construction (it comes from geometry) and compresses well without loss.
    config.alpha_quality = 100;
    config.alpha_filtering = ALPHA_FILTERING;
    let encoded = Encoder::from_rgba(picture.rgba(), picture.width(), picture.height())
        .encode_advanced(&config)
        .map_err(|e| failed(format!("{e:?}")))?;
    with_xmp(&encoded, picture).ok_or_else(|| failed("libwebp wrote a container that does not parse".to_owned()))
}

/// Rewrites a WebP file in the extended layout (VP8X, alpha and colour chunks, XMP last). `None`: not a WebP file.
fn with_xmp(file: &[u8], picture: &Picture) -> Option<Vec<u8>> {
    let mut chunks = Vec::new();
    let mut rest = file.strip_prefix(b"RIFF")?.get(4..)?.strip_prefix(b"WEBP")?;
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest.get(4..8)?.try_into().ok()?) as usize;
        let padded = 8 + length + length % 2;
        chunks.push((rest.get(..4)?, rest.get(8..8 + length)?));
        rest = rest.get(padded..)?;
    }
    let has_alpha = chunks.iter().any(|(name, _)| *name == b"ALPH") || chunks.iter().any(|(name, _)| *name == b"VP8L");

    let mut extended = [0_u8; 10];
    extended[0] = FLAG_XMP | if has_alpha { FLAG_ALPHA } else { 0 };
    extended[4..7].copy_from_slice(&(picture.width() - 1).to_le_bytes()[..3]);
    extended[7..10].copy_from_slice(&(picture.height() - 1).to_le_bytes()[..3]);

    let xmp = provenance::xmp_packet();
    let mut out = Vec::with_capacity(file.len() + xmp.len() + 64);
    out.extend_from_slice(b"RIFF\0\0\0\0WEBP");
    push_chunk(&mut out, b"VP8X", &extended);
    for (name, data) in chunks.iter().filter(|(name, _)| *name != b"VP8X") {
        push_chunk(&mut out, name, data);
    }
    push_chunk(&mut out, b"XMP ", xmp.as_bytes());
    let riff_length = u32::try_from(out.len() - 8).ok()?;
    out[4..8].copy_from_slice(&riff_length.to_le_bytes());
    Some(out)
}

fn push_chunk(out: &mut Vec<u8>, name: &[u8], data: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(&(data.len() as u32).to_le_bytes());
    out.extend_from_slice(data);
    if data.len() % 2 == 1 {
        out.push(0);
    }
}

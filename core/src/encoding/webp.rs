//! WebP encoder: lossy colour, lossless alpha.

use super::{EncodingError, Pixmap, provenance};
use crate::Format;
use ::webp::{Encoder, WebPConfig};
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex, PoisonError};

/// Bits of the first byte of the VP8X chunk (RFC 9649, section 2.7).
const FLAG_ALPHA: u8 = 0x10;
const FLAG_XMP: u8 = 0x04;

// The settings were chosen from red renders of nine vehicles at 768 px (CPU milliseconds,
// kilobytes, SSIM against the encoder's input):
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
// The default filter search of the alpha plane costs 15 of these milliseconds and finds nothing.
// libwebp's own sharper chroma (`use_sharp_yuv`) takes half as long again and more bytes, for one
// decibel in the chroma.
const QUALITY: f32 = 82.0;
const METHOD: i32 = 4;
const ALPHA_FILTERING: i32 = 0;

/// Number of alpha planes that are kept: four sizes of sixteen vehicles and
/// views, about 30 kB each.
const ALPHA_PLANES_MAX: usize = 64;

/// Compressed alpha planes of images that were encoded before, the most recently used
/// first. All paints of a vehicle and view have the same alpha, and compressing it is
/// nearly half of an encode.
#[derive(Debug, Default)]
pub struct AlphaPlanes(Mutex<Vec<AlphaPlane>>);

#[derive(Debug, Clone)]
struct AlphaPlane {
    /// SHA-256 of the plane's bytes, row by row. For AVIF it also covers the format's name, width
    /// and height, which precede the bytes.
    of: [u8; 32],
    /// Data of an ALPH chunk (RFC 9649, section 2.7.1.2), or an encoded frame in the
    /// layout of the AVIF encoder.
    compressed: Arc<[u8]>,
}

impl AlphaPlanes {
    pub(super) fn get(&self, of: &[u8; 32]) -> Option<Arc<[u8]>> {
        let mut planes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = planes.iter().position(|plane| plane.of == *of)?;
        planes[..=place].rotate_right(1);
        planes.first().map(|plane| plane.compressed.clone())
    }

    pub(super) fn remember(&self, of: [u8; 32], compressed: &[u8]) {
        let mut planes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        planes.retain(|plane| plane.of != of);
        planes.truncate(ALPHA_PLANES_MAX - 1);
        planes.insert(0, AlphaPlane { of, compressed: compressed.into() });
    }
}

/// Encodes `picture` as a WebP file. The bytes are the same with and without `planes`, and do not
/// depend on the content of `planes`.
pub(super) fn encode(picture: &Pixmap, planes: Option<&AlphaPlanes>) -> Result<Vec<u8>, EncodingError> {
    let failed = |detail: String| EncodingError::Encode {
        format: Format::Webp,
        width: picture.width(),
        height: picture.height(),
        detail,
    };
    let digest = || -> [u8; 32] { Sha256::digest(picture.pixels().map(|p| p[3]).collect::<Vec<u8>>()).into() };
    let planes = planes.map(|planes| (planes, digest()));
    let known = planes.and_then(|(planes, digest)| planes.get(&digest));

    let mut config = WebPConfig::new().map_err(|()| failed("libwebp refused its own default settings".to_owned()))?;
    config.quality = QUALITY;
    config.method = METHOD;
    // Alpha is exact by construction (it comes from geometry) and compresses well without loss.
    config.alpha_quality = 100;
    config.alpha_filtering = ALPHA_FILTERING;
    // libwebp encodes the colour independently of how it compresses alpha, so a known plane can
    // replace an uncompressed one.
    config.alpha_compression = i32::from(known.is_none());
    let encoded = Encoder::from_rgba(picture.rgba(), picture.width(), picture.height())
        .encode_advanced(&config)
        .map_err(|e| failed(format!("{e:?}")))?;
    let mut chunks =
        chunks(&encoded).ok_or_else(|| failed("libwebp wrote a container that does not parse".to_owned()))?;
    if let Some((_, alpha)) = chunks.iter_mut().find(|(name, _)| *name == b"ALPH") {
        match (&known, planes) {
            (Some(known), _) => *alpha = known,
            (None, Some((planes, digest))) => planes.remember(digest, alpha),
            (None, None) => {}
        }
    }
    with_xmp(&chunks, picture).ok_or_else(|| failed("the file would be longer than WebP allows".to_owned()))
}

type Chunk<'a> = (&'a [u8], &'a [u8]);

/// Returns the names and data of a WebP file's chunks, or `None` if the file is not WebP.
fn chunks(file: &[u8]) -> Option<Vec<Chunk<'_>>> {
    let mut chunks = Vec::new();
    let mut rest = file.strip_prefix(b"RIFF")?.get(4..)?.strip_prefix(b"WEBP")?;
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest.get(4..8)?.try_into().ok()?) as usize;
        let padded = 8 + length + length % 2;
        chunks.push((rest.get(..4)?, rest.get(8..8 + length)?));
        rest = rest.get(padded..)?;
    }
    Some(chunks)
}

/// Builds a WebP file in the extended layout (VP8X, alpha and colour chunks, XMP last). Returns
/// `None` if it would be longer than the format allows.
fn with_xmp(chunks: &[Chunk<'_>], picture: &Pixmap) -> Option<Vec<u8>> {
    let has_alpha = chunks.iter().any(|(name, _)| *name == b"ALPH") || chunks.iter().any(|(name, _)| *name == b"VP8L");

    let mut extended = [0_u8; 10];
    extended[0] = FLAG_XMP | if has_alpha { FLAG_ALPHA } else { 0 };
    extended[4..7].copy_from_slice(&(picture.width() - 1).to_le_bytes()[..3]);
    extended[7..10].copy_from_slice(&(picture.height() - 1).to_le_bytes()[..3]);

    let xmp = provenance::xmp_packet();
    let mut out = Vec::with_capacity(chunks.iter().map(|(_, data)| data.len() + 9).sum::<usize>() + xmp.len() + 64);
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

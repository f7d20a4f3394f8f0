//! Reads format and size from the headers of a file, to check an upload against what was requested.

use super::isobmff;
use crate::Format;

/// Format and size, in pixels, of an encoded image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    pub format: Format,
    pub width: u32,
    pub height: u32,
}

/// The error of bytes that are not a whole PNG, WebP, JPG or AVIF file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    #[error("the bytes are not a PNG, WebP, JPG or AVIF picture")]
    Unknown,
    #[error("the {0} picture is cut short or damaged")]
    Damaged(Format),
}

const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// An empty IEND chunk with its checksum.
const PNG_END: &[u8] = b"\0\0\0\0IEND\xaeB`\x82";

/// Reads format and size in pixels of `bytes` from the headers alone. The end of the file is
/// checked too, so that an incomplete upload is noticed. Pixels are not decoded. Returns
/// [`ProbeError::Unknown`] for another format, and [`ProbeError::Damaged`] if the file is
/// incomplete or its header makes no sense.
pub fn probe(bytes: &[u8]) -> Result<Probe, ProbeError> {
    let (format, size) = if bytes.starts_with(PNG_SIGNATURE) {
        (Format::Png, png_size(bytes))
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP".as_slice()) {
        (Format::Webp, webp_size(bytes))
    } else if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
        (Format::Jpg, jpg_size(bytes))
    } else if isobmff::is_avif(bytes) {
        (Format::Avif, isobmff::size(bytes))
    } else {
        return Err(ProbeError::Unknown);
    };
    match size {
        Some((width, height)) if width > 0 && height > 0 => Ok(Probe { format, width, height }),
        _ => Err(ProbeError::Damaged(format)),
    }
}

/// Reads the IHDR chunk, which is always first (PNG, third edition, section 5.6).
fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.get(8..16)? != b"\0\0\0\x0dIHDR" || !bytes.ends_with(PNG_END) {
        return None;
    }
    let word = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    Some((word(16)?, word(20)?))
}

/// Reads the first chunk, which is one of three kinds (RFC 9649, sections 2.5 to 2.7).
fn webp_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let riff_length = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?);
    if bytes.len() as u64 != u64::from(riff_length) + 8 {
        return None;
    }
    let u24 = |at: usize| Some(u32::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?, *bytes.get(at + 2)?, 0]));
    let u16 = |at: usize| Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    match bytes.get(12..16)? {
        b"VP8X" => Some((u24(24)? + 1, u24(27)? + 1)),
        b"VP8L" if *bytes.get(20)? == 0x2f => {
            let packed = u32::from_le_bytes(bytes.get(21..25)?.try_into().ok()?);
            Some(((packed & 0x3fff) + 1, (packed >> 14 & 0x3fff) + 1))
        }
        b"VP8 " if bytes.get(23..26)? == [0x9d, 0x01, 0x2a] => Some((u16(26)? & 0x3fff, u16(28)? & 0x3fff)),
        _ => None,
    }
}

/// Walks the marker segments to the frame header (ITU-T T.81, annex B).
fn jpg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    if !bytes.ends_with(&[0xff, 0xd9]) {
        return None;
    }
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xff {
            return None;
        }
        let marker = *bytes.get(at + 1)?;
        match marker {
            // A fill byte before the marker itself.
            0xff => at += 1,
            // Markers without a length.
            0x01 | 0xd0..=0xd7 => at += 2,
            // SOF0 to SOF15, without DHT, JPG and DAC, which share the range.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                let word = |at: usize| Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
                return Some((word(at + 7)?, word(at + 5)?));
            }
            // The scan begins, or the file ends, without a frame header.
            0xd9 | 0xda => return None,
            _ => at += 2 + usize::from(u16::from_be_bytes(bytes.get(at + 2..at + 4)?.try_into().ok()?)),
        }
    }
}

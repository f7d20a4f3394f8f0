//! Layers as stored bytes: magic, version, side, then one zstd frame of 16-bit values per plane.
//!
//! Light planes are encoded `sqrt(x / 4)` in 16 bits (x up to 4, steps finer than an 8-bit image
//! can show), ratios linearly. Each plane is stored as differences along its rows, high and low
//! bytes apart, which zstd packs well.

use crate::studio::Layers;
use rayon::prelude::*;

const MAGIC: &[u8; 4] = b"CYCL";
const VERSION: u32 = 1;
const HEADER: usize = 12;
/// Maximum side in pixels: larger than any image of this service. Guards the allocation against a
/// broken header.
const SIDE_MAX: u32 = 4096;
const PLANES: usize = 12;
/// zstd level 1: 0.1 s per image matters more than the last tenth of size.
const LEVEL: i32 = 1;
const LIGHT_MAX: f32 = 4.0;
/// The last block ends with a frame that decoders of zstd skip (RFC 8878, section 3.1.2): its magic
/// number, the length of its content, and `scale_um_per_px`. Older nodes read such layers as if the
/// frame were not there, and layers that they wrote lack it.
const SCALE_FRAME: [u8; 8] = [0x5c, 0x2a, 0x4d, 0x18, 4, 0, 0, 0];

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("not stored layers: the first bytes are wrong")]
    NotLayers,
    #[error("stored layers are of version {0}, this program reads version {VERSION}")]
    Version(u32),
    #[error("stored layers claim a side of {0} px")]
    Side(u32),
    #[error("stored layers are cut short or damaged")]
    Damaged,
    #[error("the layers' planes do not all have {0} pixels")]
    Uneven(usize),
    #[error("compressing the layers failed")]
    Compression(#[source] std::io::Error),
}

/// Rounds every value to what storing keeps. An image composed from the result equals, to the byte,
/// the one that a paint job composes later from the stored layers: alpha cannot depend on which
/// colour was requested first.
pub fn round_as_stored(layers: &mut Layers) {
    for light in [&mut layers.diffuse, &mut layers.gloss, &mut layers.rest] {
        let values = light.as_flattened_mut();
        values.par_iter_mut().for_each(|value| *value = light_from_u16(light_to_u16(*value)));
    }
    for ratio in [&mut layers.coverage, &mut layers.paint, &mut layers.shadow] {
        ratio.par_iter_mut().for_each(|value| *value = ratio_from_u16(ratio_to_u16(*value)));
    }
}

/// Packs layers. Returns an error if the planes do not have the size that `side_px` says, or if
/// compression fails.
pub fn write_layers(layers: &Layers) -> Result<Vec<u8>, StoreError> {
    let size = layers.side_px as usize * layers.side_px as usize;
    let lights = [&layers.diffuse, &layers.gloss, &layers.rest];
    let ratios = [&layers.coverage, &layers.paint, &layers.shadow];
    if lights.iter().any(|plane| plane.len() != size) || ratios.iter().any(|plane| plane.len() != size) {
        return Err(StoreError::Uneven(size));
    }
    let side = layers.side_px as usize;
    let blocks: Result<Vec<Vec<u8>>, std::io::Error> = (0..PLANES)
        .into_par_iter()
        .map(|plane| {
            let values: Vec<u16> = if plane < 9 {
                lights[plane / 3].iter().map(|pixel| light_to_u16(pixel[plane % 3])).collect()
            } else {
                ratios[plane - 9].iter().map(|ratio| ratio_to_u16(*ratio)).collect()
            };
            zstd::bulk::compress(&differences(&values, side), LEVEL)
        })
        .collect();
    let mut out = Vec::new();
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&layers.side_px.to_le_bytes());
    let mut blocks = blocks.map_err(StoreError::Compression)?;
    if let (Some(scale), Some(last)) = (layers.scale_um_per_px, blocks.last_mut()) {
        last.extend_from_slice(&SCALE_FRAME);
        last.extend_from_slice(&scale.to_le_bytes());
    }
    for block in blocks {
        out.extend_from_slice(&(block.len() as u32).to_le_bytes());
        out.extend_from_slice(&block);
    }
    Ok(out)
}

/// Reads packed layers. Returns an error if the bytes are not such layers, or are damaged.
pub fn read_layers(bytes: &[u8]) -> Result<Layers, StoreError> {
    if bytes.get(..4) != Some(MAGIC.as_slice()) {
        return Err(StoreError::NotLayers);
    }
    let version = word(bytes, 4)?;
    if version != VERSION {
        return Err(StoreError::Version(version));
    }
    let side_px = word(bytes, 8)?;
    if side_px == 0 || side_px > SIDE_MAX {
        return Err(StoreError::Side(side_px));
    }
    let side = side_px as usize;
    let mut blocks = Vec::with_capacity(PLANES);
    let mut at = HEADER;
    for _ in 0..PLANES {
        let length = word(bytes, at)? as usize;
        let end = (at + 4).checked_add(length).ok_or(StoreError::Damaged)?;
        blocks.push(bytes.get(at + 4..end).ok_or(StoreError::Damaged)?);
        at = end;
    }
    if at != bytes.len() {
        return Err(StoreError::Damaged);
    }
    let scale_um_per_px = blocks.last().and_then(|last| scale_at_end(last));
    let planes: Result<Vec<Vec<f32>>, StoreError> = blocks
        .into_par_iter()
        .enumerate()
        .map(|(plane, block)| {
            let raw = zstd::bulk::decompress(block, side * side * 2).map_err(|_| StoreError::Damaged)?;
            if raw.len() != side * side * 2 {
                return Err(StoreError::Damaged);
            }
            let decode = if plane < 9 { light_from_u16 } else { ratio_from_u16 };
            Ok(sums(&raw, side).into_iter().map(decode).collect())
        })
        .collect();
    let planes = planes?;
    let triple = |first: usize| -> Vec<[f32; 3]> {
        (0..side * side)
            .into_par_iter()
            .map(|i| [planes[first][i], planes[first + 1][i], planes[first + 2][i]])
            .collect()
    };
    Ok(Layers {
        side_px,
        diffuse: triple(0),
        gloss: triple(3),
        rest: triple(6),
        coverage: planes[9].clone(),
        paint: planes[10].clone(),
        shadow: planes[11].clone(),
        scale_um_per_px,
    })
}

fn scale_at_end(block: &[u8]) -> Option<u32> {
    let (before, scale) = block.split_last_chunk::<4>()?;
    before.ends_with(&SCALE_FRAME).then(|| u32::from_le_bytes(*scale))
}

fn word(bytes: &[u8], at: usize) -> Result<u32, StoreError> {
    let four = bytes.get(at..at + 4).and_then(|four| <[u8; 4]>::try_from(four).ok());
    four.map(u32::from_le_bytes).ok_or(StoreError::Damaged)
}

fn light_to_u16(light: f32) -> u16 {
    ((light.clamp(0.0, LIGHT_MAX) / LIGHT_MAX).sqrt() * 65535.0 + 0.5) as u16
}

fn light_from_u16(stored: u16) -> f32 {
    let root = f32::from(stored) / 65535.0;
    root * root * LIGHT_MAX
}

fn ratio_to_u16(ratio: f32) -> u16 {
    (ratio.clamp(0.0, 1.0) * 65535.0 + 0.5) as u16
}

fn ratio_from_u16(stored: u16) -> f32 {
    f32::from(stored) / 65535.0
}

/// Returns the high bytes of all differences, then the low bytes.
fn differences(values: &[u16], side: usize) -> Vec<u8> {
    let mut out = vec![0; values.len() * 2];
    let (high, low) = out.split_at_mut(values.len());
    for (row, line) in values.chunks_exact(side).enumerate() {
        let mut before = 0u16;
        for (column, value) in line.iter().enumerate() {
            // Zig-zag coding: small steps of either sign get a zero high byte.
            let step = value.wrapping_sub(before) as i16;
            let coded = ((step << 1) ^ (step >> 15)) as u16;
            let [h, l] = coded.to_be_bytes();
            high[row * side + column] = h;
            low[row * side + column] = l;
            before = *value;
        }
    }
    out
}

fn sums(raw: &[u8], side: usize) -> Vec<u16> {
    let (high, low) = raw.split_at(raw.len() / 2);
    let mut out = Vec::with_capacity(high.len());
    for (high, low) in high.chunks_exact(side).zip(low.chunks_exact(side)) {
        let mut value = 0u16;
        for (h, l) in high.iter().zip(low) {
            let coded = u16::from_be_bytes([*h, *l]);
            let step = (coded >> 1) ^ (coded & 1).wrapping_neg();
            value = value.wrapping_add(step);
            out.push(value);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Layers {
        let side_px = 32;
        let size = 1024;
        let at = |i: usize, step: usize| ((i * step) % 101) as f32 / 100.0;
        Layers {
            side_px,
            diffuse: (0..size).map(|i| [at(i, 3), at(i, 5), 0.0]).collect(),
            gloss: (0..size).map(|i| [at(i, 7) * 4.0, 0.001, 0.0]).collect(),
            rest: (0..size).map(|i| [at(i, 11), 0.5, 1.0]).collect(),
            coverage: (0..size).map(|i| at(i, 13)).collect(),
            paint: (0..size).map(|i| at(i, 13) * 0.5).collect(),
            shadow: (0..size).map(|i| at(i, 17)).collect(),
            scale_um_per_px: Some(4_882),
        }
    }

    #[test]
    fn layers_come_back_finer_than_a_picture_shows() {
        let before = sample();
        let after = read_layers(&write_layers(&before).expect("written")).expect("read");
        assert_eq!(after.side_px, before.side_px);
        for (a, b) in before.rest.iter().zip(&after.rest).chain(before.gloss.iter().zip(&after.gloss)) {
            for c in 0..3 {
                assert!((a[c].sqrt() - b[c].sqrt()).abs() < 1e-4, "{a:?} became {b:?}");
            }
        }
        for (a, b) in before.shadow.iter().zip(&after.shadow) {
            assert!((a - b).abs() < 1e-4);
        }
    }

    #[test]
    fn a_second_writing_gives_the_same_bytes() {
        let bytes = write_layers(&sample()).expect("written");
        assert_eq!(write_layers(&read_layers(&bytes).expect("read")).expect("written"), bytes);
    }

    #[test]
    fn a_program_that_knows_no_scale_reads_the_same_planes() {
        let (with, without) = (sample(), Layers { scale_um_per_px: None, ..sample() });
        let [with, without] = [with, without].map(|layers| write_layers(&layers).expect("written"));
        assert_eq!(read_layers(&without).expect("read").scale_um_per_px, None);
        assert_eq!(read_layers(&with).expect("read").scale_um_per_px, Some(4_882));
        let last_block = |bytes: &[u8]| {
            let mut at = HEADER;
            for _ in 0..PLANES - 1 {
                at += 4 + word(bytes, at).expect("a length") as usize;
            }
            zstd::bulk::decompress(&bytes[at + 4..], 32 * 32 * 2).expect("a plane")
        };
        assert_eq!(last_block(&with), last_block(&without));
    }

    #[test]
    fn rounding_gives_what_reading_back_gives() {
        let mut rounded = sample();
        round_as_stored(&mut rounded);
        assert_eq!(rounded, read_layers(&write_layers(&sample()).expect("written")).expect("read"));
    }

    #[test]
    fn damage_is_an_error() {
        let whole = write_layers(&sample()).expect("written");
        let mut newer = whole.clone();
        newer[4] = 2;
        let mut huge = whole.clone();
        huge[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        let mut long = whole.clone();
        long.push(0);
        let cases: [(&[u8], &str); 6] = [
            (b"", "not stored layers: the first bytes are wrong"),
            (b"PNG?", "not stored layers: the first bytes are wrong"),
            (&newer, "stored layers are of version 2, this program reads version 1"),
            (&huge, "stored layers claim a side of 4294967295 px"),
            (&whole[..whole.len() - 1], "stored layers are cut short or damaged"),
            (&long, "stored layers are cut short or damaged"),
        ];
        for (bytes, message) in cases {
            assert_eq!(read_layers(bytes).expect_err("damaged").to_string(), message);
        }
    }
}

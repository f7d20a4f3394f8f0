//! Making a picture smaller.

use super::{EncodingError, Picture};
use std::ops::Range;
use std::sync::LazyLock;

/// Light is counted in steps of which this many are 1.0.
const ONE: f32 = 32_768.0;

/// Lobes of the Lanczos filter on either side of its centre.
const LOBES: f64 = 3.0;

/// Red, green, blue (linear light) and alpha, colour premultiplied: all four in steps of 1 / (255 [`ONE`]). What comes
/// from bytes is a whole number below 2^24 and so exact.
type Light = [f32; 4];

/// `picture` at `width`x`height`, each at least 1 and at most the picture's own (nothing is ever enlarged).
///
/// Lanczos with three lobes on premultiplied linear light: transparent pixels lend no colour to their neighbours, and
/// a thin highlight keeps its brightness (averaging sRGB values would dim it). Sums run in one fixed order, so every
/// machine computes the same bytes, whatever the width of its vector registers.
///
/// Row by row, rather than one pass over the picture for each direction, so that the working set stays in the cache;
/// what is clear is not visited, which is about half of a vehicle's picture.
pub fn resize(picture: &Picture, width: u32, height: u32) -> Result<Picture, EncodingError> {
    if width == 0 || height == 0 || width > picture.width() || height > picture.height() {
        return Err(EncodingError::Resize {
            from_width: picture.width(),
            from_height: picture.height(),
            to_width: width,
            to_height: height,
        });
    }
    let across = filters(picture.width(), width);
    let down = filters(picture.height(), height);

    // The rows in sight, as many as the tallest filter spans; row y is in slot y modulo their number.
    let slots = down.iter().map(|filter| filter.weights.len()).max().unwrap_or(1);
    let mut rows = vec![Row { light: vec![Light::default(); picture.width() as usize], covered: 0..0 }; slots];
    let mut read_until = 0;
    // Clear wherever no row in sight is covered.
    let mut sums = vec![Light::default(); picture.width() as usize];
    let mut rgba = vec![0; width as usize * height as usize * 4];
    for (filter, target) in down.iter().zip(rgba.chunks_exact_mut(width as usize * 4)) {
        let in_sight = filter.first..filter.first + filter.weights.len();
        for y in read_until..in_sight.end {
            rows[y % slots].read(picture.row(y));
        }
        read_until = in_sight.end;
        let mut covered = 0..0;
        for (y, weight) in in_sight.zip(&filter.weights) {
            let row = &rows[y % slots];
            add_weighted(&mut sums[row.covered.clone()], &row.light[row.covered.clone()], *weight);
            covered = union(covered, &row.covered);
        }
        // Beside a highlight the filter undershoots. Light below nothing, carried over into the other direction, would
        // draw black rings in dark parts.
        for light in sums[covered.clone()].as_flattened_mut() {
            *light = if *light > 0.0 { *light } else { 0.0 };
        }
        narrow(&sums, covered.clone(), &across, target);
        sums[covered].fill(Light::default());
    }
    Ok(Picture::from_rgba(width, height, rgba)?)
}

/// Which source pixels make one pixel of the smaller picture, and how much of each.
struct Filter {
    first: usize,
    weights: Vec<f32>,
}

/// One filter for each of `to` pixels that stand for `from` pixels.
fn filters(from: u32, to: u32) -> Vec<Filter> {
    let scale = f64::from(from) / f64::from(to);
    let reach = LOBES * scale;
    let filter = |pixel: u32| {
        let centre = (f64::from(pixel) + 0.5) * scale;
        let first = (centre - reach + 0.5).max(0.0) as u32;
        let end = ((centre + reach + 0.5) as u32).min(from);
        let raw: Vec<f64> = (first..end).map(|source| lanczos((f64::from(source) + 0.5 - centre) / scale)).collect();
        let sum: f64 = raw.iter().sum();
        // Narrower than what platforms' sine functions differ in.
        let weights = raw.iter().map(|weight| (weight / sum) as f32).collect();
        Filter { first: first as usize, weights }
    };
    (0..to).map(filter).collect()
}

fn lanczos(x: f64) -> f64 {
    let sinc = |x: f64| if x == 0.0 { 1.0 } else { (x * std::f64::consts::PI).sin() / (x * std::f64::consts::PI) };
    if x.abs() < LOBES { sinc(x) * sinc(x / LOBES) } else { 0.0 }
}

/// A row of light. What lies outside `covered` is clear, whatever `light` says there.
#[derive(Clone)]
struct Row {
    light: Vec<Light>,
    covered: Range<usize>,
}

impl Row {
    fn read(&mut self, rgba: &[u8]) {
        let mut pixels = rgba.chunks_exact(4);
        let covered = |pixel: &[u8]| pixel[3] != 0;
        self.covered = match (pixels.clone().position(covered), pixels.rposition(covered)) {
            (Some(first), Some(last)) => first..last + 1,
            _ => 0..0,
        };
        let light_of_srgb = &*LIGHT_OF_SRGB;
        let pixels = rgba[self.covered.start * 4..].chunks_exact(4);
        for (light, pixel) in self.light[self.covered.clone()].iter_mut().zip(pixels) {
            *light = premultiplied_light(light_of_srgb, [pixel[0], pixel[1], pixel[2], pixel[3]]);
        }
    }
}

fn union(a: Range<usize>, b: &Range<usize>) -> Range<usize> {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b.clone(),
        (_, true) => a,
        _ => a.start.min(b.start)..a.end.max(b.end),
    }
}

fn add_weighted(sums: &mut [Light], row: &[Light], weight: f32) {
    for (sum, light) in sums.as_flattened_mut().iter_mut().zip(row.as_flattened()) {
        *sum += light * weight;
    }
}

/// A row through the filters of every column, into RGBA bytes that are clear so far.
fn narrow(row: &[Light], covered: Range<usize>, across: &[Filter], target: &mut [u8]) {
    let start = across.partition_point(|filter| filter.first + filter.weights.len() <= covered.start);
    let end = across.partition_point(|filter| filter.first < covered.end);
    let srgb_of_light = &*SRGB_OF_LIGHT;
    for (filter, bytes) in across[..end].iter().zip(target.chunks_exact_mut(4)).skip(start) {
        let [mut r, mut g, mut b, mut a] = Light::default();
        for (source, weight) in row[filter.first..].iter().zip(&filter.weights) {
            r += source[0] * weight;
            g += source[1] * weight;
            b += source[2] * weight;
            a += source[3] * weight;
        }
        bytes.copy_from_slice(&straight_srgb(srgb_of_light, [r, g, b, a]));
    }
}

fn premultiplied_light(light: &[f32; 256], [r, g, b, a]: [u8; 4]) -> Light {
    let alpha = f32::from(a);
    [light[usize::from(r)] * alpha, light[usize::from(g)] * alpha, light[usize::from(b)] * alpha, ONE * alpha]
}

/// The filter overshoots next to an edge, in alpha as in colour. The colour is divided by the alpha as it came out, not
/// by what a byte can hold of it: else every outline would have a bright rim inside.
fn straight_srgb(srgb: &[u8; 1 << 16], [r, g, b, a]: Light) -> [u8; 4] {
    let alpha = (a / ONE + 0.5) as u8;
    if alpha == 0 {
        return [0; 4];
    }
    let step = ONE / a;
    let straight = |c: f32| srgb[usize::from((c * step + 0.5) as u16)];
    [straight(r), straight(g), straight(b), alpha]
}

/// Light of each sRGB byte, in [`ONE`]s (IEC 61966-2-1).
static LIGHT_OF_SRGB: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        let srgb = byte as f64 / 255.0;
        let light = if srgb <= 0.04045 { srgb / 12.92 } else { ((srgb + 0.055) / 1.055).powf(2.4) };
        (light * f64::from(ONE)).round() as f32
    })
});

/// The inverse, for every light from 0 to [`ONE`]; the filter's overshoot, up to the end of the table, is as 1.0.
static SRGB_OF_LIGHT: LazyLock<Box<[u8; 1 << 16]>> = LazyLock::new(|| {
    let srgb = |light: f64| if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    let byte = |light: usize| (srgb(light as f64 / f64::from(ONE)).min(1.0) * 255.0).round() as u8;
    Box::new(std::array::from_fn(byte))
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_the_way_to_light_and_back() {
        for byte in 0..=255_u8 {
            assert_eq!(SRGB_OF_LIGHT[LIGHT_OF_SRGB[usize::from(byte)] as usize], byte);
        }
    }

    #[test]
    fn a_thin_highlight_keeps_its_light() {
        // One white line in four on black: a quarter of the light, which is sRGB 137, not a quarter of the value (64).
        let rgba = (0..64 * 64).flat_map(|i| if i % 64 % 4 == 1 { [255; 4] } else { [0, 0, 0, 255] }).collect();
        let small = resize(&Picture::from_rgba(64, 64, rgba).unwrap(), 16, 16).unwrap();
        let middle = small.pixels().nth(8 * 16 + 8).unwrap();
        assert!(middle[0].abs_diff(137) <= 3, "{middle:?}");
    }

    #[test]
    fn an_outline_has_no_bright_rim() {
        let grey = |x: u32| if (20..80).contains(&x) { [120, 120, 120, 255] } else { [0; 4] };
        let picture = Picture::from_rgba(100, 100, (0..100 * 100).flat_map(|i| grey(i % 100)).collect()).unwrap();
        let small = resize(&picture, 37, 37).unwrap();
        assert!(small.pixels().filter(|p| p[3] > 8).all(|p| p[0].abs_diff(120) <= 1));
    }

    /// The same filter without any of the shortcuts: every pixel, in double precision.
    fn resized_plainly(picture: &Picture, width: u32, height: u32) -> Vec<[f64; 4]> {
        let at = |x: usize, y: usize| {
            let pixel = &picture.row(y)[x * 4..][..4];
            premultiplied_light(&LIGHT_OF_SRGB, [pixel[0], pixel[1], pixel[2], pixel[3]]).map(f64::from)
        };
        let across = filters(picture.width(), width);
        let down = filters(picture.height(), height);
        let lower = |filter: &Filter, x: usize, channel: usize| -> f64 {
            let terms =
                filter.weights.iter().enumerate().map(|(i, w)| f64::from(*w) * at(x, filter.first + i)[channel]);
            terms.sum::<f64>().max(0.0)
        };
        let sum = |row: &Filter, column: &Filter, channel: usize| -> f64 {
            column.weights.iter().enumerate().map(|(i, w)| f64::from(*w) * lower(row, column.first + i, channel)).sum()
        };
        let pixel = |row: &Filter, column: &Filter| std::array::from_fn(|channel| sum(row, column, channel));
        down.iter().flat_map(|row| across.iter().map(|column| pixel(row, column)).collect::<Vec<_>>()).collect()
    }

    #[test]
    fn what_is_skipped_is_clear() {
        // Islands of noise on a clear ground: rows with a gap, empty rows between covered ones, and covered borders.
        let island = |x: u32, y: u32| (x / 9 + y / 7).is_multiple_of(3) && !(30..48).contains(&y);
        let noise = |x: u32, y: u32| (x * 7919 + y * 104_729 + x * y * 31).to_le_bytes();
        let pixel = |x, y| if island(x, y) { noise(x, y) } else { [0; 4] };
        let rgba = (0..60).flat_map(|y| (0..70).flat_map(move |x| pixel(x, y))).collect();
        let picture = Picture::from_rgba(70, 60, rgba).unwrap();
        for (width, height) in [(70, 60), (70, 1), (1, 60), (69, 59), (33, 44), (8, 7), (3, 50)] {
            let small = resize(&picture, width, height).unwrap();
            for (pixel, plain) in small.pixels().zip(resized_plainly(&picture, width, height)) {
                let alpha = plain[3] / f64::from(ONE);
                assert!((f64::from(pixel[3]) - alpha.clamp(0.0, 255.0)).abs() < 0.51, "{pixel:?} {plain:?}");
                for channel in 0..3 {
                    // Judged as premultiplied light, as colour means little where little is covered.
                    let light = f64::from(LIGHT_OF_SRGB[usize::from(pixel[channel])]) * alpha;
                    let (least, most) = (0.0, f64::from(ONE) * alpha);
                    let near = plain[channel].clamp(least, most.max(least));
                    assert!(
                        pixel[3] == 0 || (light - near).abs() < 0.005 * f64::from(ONE) * 255.0,
                        "{pixel:?} {plain:?}"
                    );
                }
            }
        }
    }
}

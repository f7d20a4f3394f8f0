//! Shrinks images, whole or in part.

use super::{EncodingError, PictureError, Pixmap};
use crate::frame::Plan;
use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U16x4;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};
use std::ops::Range;
use std::sync::LazyLock;

/// The 16-bit value that stands for 1.0. It is half the range, because the filter overshoots next
/// to an edge. If values were cut off at 1.0, alpha would lose its overshoot and colour would not,
/// which draws a bright rim inside every outline.
const ONE: u32 = 1 << 15;

/// Lobes of the Lanczos filter on either side of its centre: the filter reaches this many
/// pixels of the smaller image.
const LOBES: i64 = 3;

/// Rows of the smaller image that are computed at once: few enough that their source rows stay in
/// the cache, and enough that the source rows which two bands share are a small part.
const BAND_ROWS: usize = 64;

/// Resizes `picture` to `width`x`height` pixels. Each must be at least 1 and at most the side of
/// `picture`, because nothing is ever enlarged; otherwise the result is [`EncodingError::Resize`].
///
/// The filter is Lanczos with three lobes, on premultiplied linear light: transparent pixels lend
/// no colour to their neighbours, and a thin highlight keeps its brightness (averaging sRGB
/// values would dim it). The filter sums integers, so every machine computes the same bytes,
/// whatever its vector instructions.
///
/// The work goes band by band, and in each band covers only the columns that anything covered
/// reaches, about half of a vehicle's image.
pub fn resize(picture: &Pixmap, width: u32, height: u32) -> Result<Pixmap, EncodingError> {
    if width == 0 || height == 0 || width > picture.width() || height > picture.height() {
        return Err(refused(
            picture,
            width,
            height,
            "a side must be at least 1 px and not larger than it is".to_owned(),
        ));
    }
    let whole = |from: u32, to: u32| Axis {
        from: from as usize,
        to: to as usize,
        start: 0.0,
        step: f64::from(from) / f64::from(to),
    };
    resample(picture, whole(picture.width(), width), whole(picture.height(), height))
}

/// Returns the part of `picture` that `plan` shows, in the size that `plan` has. It is transparent
/// where the plan reaches beyond the image. The filter is that of [`resize`]. Returns
/// [`EncodingError::Resize`] if the plan is empty or would enlarge.
pub fn framed(picture: &Pixmap, plan: &Plan) -> Result<Pixmap, EncodingError> {
    let Plan { width, height, left, top, step } = *plan;
    if width == 0 || height == 0 || !(1.0..=f64::from(LONGEST_STEP)).contains(&step) {
        return Err(refused(picture, width, height, "the plan is empty or enlarges".to_owned()));
    }
    if step == 1.0 && left.fract() == 0.0 && top.fract() == 0.0 {
        return Ok(copied(picture, plan)?);
    }
    let axis = |from: u32, to: u32, start: f64| Axis { from: from as usize, to: to as usize, start, step };
    resample(picture, axis(picture.width(), width, left), axis(picture.height(), height, top))
}

/// Largest accepted step, in source pixels per pixel. A whole master in one pixel is a step of
/// 1024; this is eight times that.
const LONGEST_STEP: u32 = 1 << 13;

fn refused(picture: &Pixmap, width: u32, height: u32, detail: String) -> EncodingError {
    EncodingError::Resize {
        from_width: picture.width(),
        from_height: picture.height(),
        to_width: width,
        to_height: height,
        detail,
    }
}

/// Copies the pixels unchanged to their new position.
fn copied(picture: &Pixmap, plan: &Plan) -> Result<Pixmap, PictureError> {
    let (left, top) = (plan.left as i64, plan.top as i64);
    let mut rgba = vec![0; plan.width as usize * plan.height as usize * 4];
    let first = left.max(0);
    let end = (left + i64::from(plan.width)).min(i64::from(picture.width()));
    for (row, y) in rgba.chunks_exact_mut(plan.width as usize * 4).zip(top..) {
        if first < end && (0..i64::from(picture.height())).contains(&y) {
            let source = &picture.row(y as usize)[first as usize * 4..end as usize * 4];
            row[(first - left) as usize * 4..][..source.len()].copy_from_slice(source);
        }
    }
    Pixmap::from_rgba(plan.width, plan.height, rgba)
}

fn resample(picture: &Pixmap, across: Axis, down: Axis) -> Result<Pixmap, EncodingError> {
    let (width, height) = (across.to as u32, down.to as u32);
    let failed = |detail: String| refused(picture, width, height, detail);
    let mut resizer = Resizer::new();
    let mut light = Vec::new();
    let mut rgba = vec![0; across.to * down.to * 4];
    for (band, rgba) in rgba.chunks_mut(across.to * 4 * BAND_ROWS).enumerate() {
        let first = band * BAND_ROWS;
        let rows = down.section(first..first + rgba.len() / (across.to * 4));
        let Some(covered) = covered_columns(picture, &rows.source) else { continue };
        let target = across.seeing(covered);
        if target.is_empty() {
            continue;
        }
        let columns = across.section(target);
        read_light(picture, &columns.source, &rows.source, &mut light);
        let source = TypedImageRef::new(length(&columns.source), length(&rows.source), &light)
            .map_err(|e| failed(e.to_string()))?;
        let mut target = TypedImage::<U16x4>::new(columns.target.len() as u32, rows.target.len() as u32);
        let options = ResizeOptions::new()
            .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
            .use_alpha(false)
            .crop(columns.crop_start, rows.crop_start, columns.crop_length, rows.crop_length);
        resizer.resize_typed(&source, &mut target, &options).map_err(|e| failed(e.to_string()))?;
        for (row, pixels) in
            rgba.chunks_exact_mut(across.to * 4).zip(target.pixels().chunks_exact(columns.target.len()))
        {
            write_srgb(pixels, &mut row[columns.target.start * 4..]);
        }
    }
    Ok(Pixmap::from_rgba(width, height, rgba)?)
}

fn length(range: &Range<i64>) -> u32 {
    (range.end - range.start).max(0) as u32
}

/// Clips `range` to the pixels of an image that is `from` pixels long.
fn within(range: &Range<i64>, from: u32) -> Range<usize> {
    let [start, end] = [range.start, range.end].map(|place| place.clamp(0, i64::from(from)) as usize);
    start..end.max(start)
}

/// Returns the range from the first to the last column that has a pixel in `rows` which is not
/// transparent, or `None` if there is none.
fn covered_columns(picture: &Pixmap, rows: &Range<i64>) -> Option<Range<usize>> {
    let mut alphas = vec![0; picture.width() as usize];
    for y in within(rows, picture.height()) {
        for (alpha, pixel) in alphas.iter_mut().zip(picture.row(y).chunks_exact(4)) {
            *alpha |= pixel[3];
        }
    }
    let covered = |alpha: &u8| *alpha != 0;
    Some(alphas.iter().position(covered)?..alphas.iter().rposition(covered)? + 1)
}

/// One axis of a resize: `from` pixels of the source become `to` pixels. The first of these begins
/// at `start` in the source, and each is `step` source pixels long.
struct Axis {
    from: usize,
    to: usize,
    start: f64,
    step: f64,
}

/// A part of the smaller image along one axis, and the part of the source that it is computed from.
struct Section {
    target: Range<usize>,
    /// May reach beyond the source image, where everything is transparent.
    source: Range<i64>,
    /// Position of the pixels of `target` inside `source`.
    crop_start: f64,
    crop_length: f64,
}

impl Axis {
    /// Returns the pixels of the smaller image whose filter reaches `source`.
    fn seeing(&self, source: Range<usize>) -> Range<usize> {
        let place = |at: usize| (at as f64 - self.start) / self.step;
        let first = place(source.start).floor() as i64 - LOBES;
        let end = place(source.end).ceil() as i64 + LOBES;
        let [first, end] = [first, end].map(|at| at.clamp(0, self.to as i64) as usize);
        first..end
    }

    fn section(&self, target: Range<usize>) -> Section {
        let place = |at: i64| self.start + at as f64 * self.step;
        let (first, end) = (target.start as i64, target.end as i64);
        let [low, high] = [place(first), place(end)];
        // The part that the filter reaches, clipped to the image, together with everything that the
        // pixels themselves cover.
        let reached =
            (place(first - LOBES).floor() as i64).max(0)..(place(end + LOBES).ceil() as i64).min(self.from as i64);
        let ends = [low, high].map(nearly_whole);
        let source = reached.start.min(ends[0].floor() as i64)..reached.end.max(ends[1].ceil() as i64);
        let crop_start = (low - source.start as f64).max(0.0);
        // Rounding must not push the end of the crop beyond the source.
        let crop_length = (target.len() as f64 * self.step).min((source.end - source.start) as f64 - crop_start);
        Section { target, source, crop_start, crop_length }
    }
}

/// Rounds a position that is off a whole number only by rounding errors.
fn nearly_whole(place: f64) -> f64 {
    if (place - place.round()).abs() < 1e-6 { place.round() } else { place }
}

/// Reads a part of `picture` as premultiplied linear light.
fn read_light(picture: &Pixmap, columns: &Range<i64>, rows: &Range<i64>, into: &mut Vec<U16x4>) {
    let light = &*LIGHT_OF_SRGB;
    let width = length(columns) as usize;
    let inside = within(columns, picture.width());
    let before = (inside.start as i64 - columns.start).clamp(0, width as i64) as usize;
    into.clear();
    for y in rows.clone() {
        let end = into.len() + width;
        if (0..i64::from(picture.height())).contains(&y) {
            into.resize(into.len() + before, U16x4::new([0; 4]));
            let row = &picture.row(y as usize)[inside.start * 4..inside.end * 4];
            into.extend(row.chunks_exact(4).map(|pixel| {
                let alpha = u32::from(pixel[3]);
                let [r, g, b] = [pixel[0], pixel[1], pixel[2]].map(|c| u32::from(light[usize::from(c)]));
                // Most pixels of an image are either transparent or opaque.
                let channels = match alpha {
                    0 => [0; 4],
                    255 => [r, g, b, ONE],
                    _ => [r, g, b, ONE].map(|c| (c * alpha + 127) / 255),
                };
                U16x4::new(channels.map(|c| c as u16))
            }));
        }
        into.resize(end, U16x4::new([0; 4]));
    }
}

/// Converts premultiplied linear light to straight sRGB bytes. Bytes of fully transparent
/// pixels are not written.
///
/// The colour is divided by the alpha as the filter computed it, overshoot included, and not by the
/// alpha clamped to what a byte holds. Otherwise every outline would have a bright rim inside.
fn write_srgb(pixels: &[U16x4], rgba: &mut [u8]) {
    let srgb = &*SRGB_OF_LIGHT;
    for (pixel, bytes) in pixels.iter().zip(rgba.chunks_exact_mut(4)) {
        let [r, g, b, a] = pixel.0;
        let alpha = (u32::from(a).min(ONE) * 255 + ONE / 2) / ONE;
        let channels = match alpha {
            0 => continue,
            255 if u32::from(a) == ONE => [r, g, b],
            _ => {
                let step = ONE as f32 / f32::from(a);
                [r, g, b].map(|c| (f32::from(c) * step + 0.5) as u16)
            }
        };
        let [r, g, b] = channels.map(|c| srgb[usize::from(c)]);
        bytes.copy_from_slice(&[r, g, b, alpha as u8]);
    }
}

/// Linear light of each sRGB byte, in units of 1/[`ONE`] (IEC 61966-2-1).
static LIGHT_OF_SRGB: LazyLock<[u16; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        let srgb = byte as f64 / 255.0;
        let light = if srgb <= 0.04045 { srgb / 12.92 } else { ((srgb + 0.055) / 1.055).powf(2.4) };
        (light * f64::from(ONE)).round() as u16
    })
});

/// The inverse: the sRGB byte of every light value from 0 to [`ONE`]. The filter's overshoot, up to
/// the end of the table, counts as 1.0.
static SRGB_OF_LIGHT: LazyLock<Box<[u8; 1 << 16]>> = LazyLock::new(|| {
    let srgb = |light: f64| if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    let byte = |light: usize| (srgb(light as f64 / f64::from(ONE)).min(1.0) * 255.0).round() as u8;
    Box::new(std::array::from_fn(byte))
});

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn every_byte_survives_the_way_to_light_and_back() {
        for byte in 0..=255_u8 {
            assert_eq!(SRGB_OF_LIGHT[usize::from(LIGHT_OF_SRGB[usize::from(byte)])], byte);
        }
    }

    #[test]
    fn a_thin_highlight_keeps_its_light() {
        // One white line in four on black is a quarter of the light, which is sRGB 137, not a
        // quarter of the value (64).
        let rgba = (0..64 * 64).flat_map(|i| if i % 64 % 4 == 1 { [255; 4] } else { [0, 0, 0, 255] }).collect();
        let small = resize(&Pixmap::from_rgba(64, 64, rgba).unwrap(), 16, 16).unwrap();
        let middle = small.pixels().nth(8 * 16 + 8).unwrap();
        assert!(middle[0].abs_diff(137) <= 3, "{middle:?}");
    }

    #[test]
    fn an_outline_has_no_bright_rim() {
        let grey = |x: u32| if (20..80).contains(&x) { [120, 120, 120, 255] } else { [0; 4] };
        let picture = Pixmap::from_rgba(100, 100, (0..100 * 100).flat_map(|i| grey(i % 100)).collect()).unwrap();
        let small = resize(&picture, 37, 37).unwrap();
        assert!(small.pixels().filter(|p| p[3] > 8).all(|p| p[0].abs_diff(120) <= 1));
    }

    /// Returns the weight of each of `from` source pixels in each of `to` target pixels.
    fn weights(from: u32, to: u32) -> Vec<Vec<f64>> {
        let sinc = |x: f64| if x == 0.0 { 1.0 } else { (x * PI).sin() / (x * PI) };
        let lanczos = |x: f64| if x.abs() < 3.0 { sinc(x) * sinc(x / 3.0) } else { 0.0 };
        let scale = f64::from(from) / f64::from(to);
        let row = |target: u32| {
            let distance = |source: u32| (f64::from(source) + 0.5) / scale - (f64::from(target) + 0.5);
            let raw: Vec<f64> = (0..from).map(|source| lanczos(distance(source))).collect();
            let sum: f64 = raw.iter().sum();
            raw.iter().map(|weight| weight / sum).collect()
        };
        (0..to).map(row).collect()
    }

    /// The same filter without tables, integers, bands or clipping. Returns straight sRGB
    /// and alpha, not rounded.
    fn resized_plainly(picture: &Pixmap, width: u32, height: u32) -> Vec<[f64; 4]> {
        let light = |srgb: f64| if srgb <= 0.04045 { srgb / 12.92 } else { ((srgb + 0.055) / 1.055).powf(2.4) };
        let srgb =
            |light: f64| if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
        let premultiplied = |pixel: [u8; 4]| {
            let [r, g, b, a] = pixel.map(|c| f64::from(c) / 255.0);
            [light(r) * a, light(g) * a, light(b) * a, a]
        };
        let sum = |pixels: &mut dyn Iterator<Item = [f64; 4]>, weights: &[f64]| {
            let add =
                |sum: [f64; 4], (pixel, weight): ([f64; 4], &f64)| std::array::from_fn(|i| sum[i] + pixel[i] * weight);
            pixels.zip(weights).fold([0.0; 4], add).map(|c: f64| c.max(0.0))
        };
        let (across, down) = (weights(picture.width(), width), weights(picture.height(), height));
        let pixels: Vec<[f64; 4]> = picture.pixels().map(premultiplied).collect();
        let narrowed = pixels
            .chunks(picture.width() as usize)
            .flat_map(|row| across.iter().map(|weights| sum(&mut row.iter().copied(), weights)));
        let narrowed: Vec<[f64; 4]> = narrowed.collect();
        let small = down.iter().flat_map(|weights| {
            (0..width as usize).map(|x| sum(&mut narrowed.iter().skip(x).step_by(width as usize).copied(), weights))
        });
        let straight = |[r, g, b, a]: [f64; 4]| {
            let [r, g, b] = [r, g, b].map(|c| if a > 0.0 { srgb((c / a).min(1.0)) * 255.0 } else { 0.0 });
            [r, g, b, a.min(1.0) * 255.0]
        };
        small.map(straight).collect()
    }

    #[test]
    fn every_pixel_is_within_one_level_of_the_plain_filter() {
        // Islands of noise on a transparent background give rows with a gap, empty rows between
        // covered ones, covered borders, and several bands. Dark noise is included because one
        // level is the least light there.
        let island = |x: u32, y: u32| (x / 19 + y / 17).is_multiple_of(3) && !(80..120).contains(&y);
        let noise = |x: u32, y: u32| {
            let mixed = (x.wrapping_mul(7919) ^ y.wrapping_mul(104_729)).wrapping_mul(2_654_435_761);
            (mixed ^ (mixed >> 15)).wrapping_mul(2_246_822_519).to_be_bytes()
        };
        for levels in [24, 255] {
            let pixel = |x, y| match noise(x, y) {
                [r, g, b, a] if island(x, y) => [r % levels, g % levels, b % levels, a],
                _ => [0; 4],
            };
            let rgba = (0..200).flat_map(|y| (0..150).flat_map(move |x| pixel(x, y))).collect();
            let picture = Pixmap::from_rgba(150, 200, rgba).unwrap();
            for (width, height) in [(150, 200), (150, 1), (1, 200), (149, 199), (100, 133), (33, 44), (8, 7), (3, 150)]
            {
                let small = resize(&picture, width, height).unwrap();
                for (pixel, plain) in small.pixels().zip(resized_plainly(&picture, width, height)) {
                    let pixel = pixel.map(f64::from);
                    let off: [f64; 4] = std::array::from_fn(|i| (pixel[i] - plain[i]).abs());
                    assert!(off[3] < 0.55, "{width}x{height}: {pixel:?} {plain:?}");
                    // Below a quarter of coverage, one level of colour is less than a
                    // quarter of a level on screen.
                    let most = (64.0 / pixel[3]).max(1.0);
                    let near = pixel[3] == 0.0 || off[..3].iter().all(|off| *off <= most);
                    assert!(near, "{width}x{height}: {pixel:?} {plain:?}");
                }
            }
        }
    }
}

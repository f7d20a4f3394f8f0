//! Checks that a finished image shows its layers in its paint: alpha, silhouette, content, outline
//! and colour.

use super::outline::OUTLINE;
use super::{Bound, GateReport};
use crate::finish::Lacquers;
use crate::finish::compose::{alpha_of, composed_at, swatch_in_light};
use crate::finish::paint::{PaintOptics, luminance, paint, swatch};
use crate::studio::Layers;
use cyclorama_core::Paint;
use cyclorama_core::encoding::Pixmap;
use palette::color_difference::Ciede2000;
use palette::{IntoColor, Lab, Srgb};
use rayon::prelude::*;

/// Maximum error of alpha. Alpha is coverage over shadow, rounded on the device: one level of
/// difference, and one for the rounding of the sum.
const ALPHA_ERROR_MAX: f32 = 2.0 / 255.0;
/// Least alpha, 0 to 1, that counts as the vehicle. The shadow ends at 0.9, so anything more opaque
/// is the vehicle, except for the last pixels where it stands on the floor.
const OPAQUE_MIN: f32 = 0.97;
const SILHOUETTE_MIN: f32 = 0.97;
/// Least ratio of the image that is covered. With less, the image does not show a vehicle that
/// fills its frame.
const COVERED_MIN: f32 = 0.01;
/// Least spread of brightness over the vehicle, in levels: even a black one has lamps, tyres and
/// mirrored walls.
const CONTRAST_MIN: f32 = 4.0;
/// Maximum ratio of the outline that may have another colour than its light and the paint make.
const RIM_MAX: f32 = 0.05;
/// Difference in levels beyond which a pixel counts as another colour. The device and its CPU twin
/// differ by only one level.
const RIM_LEVELS: u8 = 8;
/// Maximum CIEDE2000 between paint in the light and its swatch: the median over all such pixels.
const PAINT_DIFFERENCE_MAX: f32 = 6.0;
/// Range of diffuse light (linear) that counts as lit: under it, exposure shows a paint as its
/// swatch has it.
const LIT: std::ops::RangeInclusive<f32> = 0.62..=0.8;
/// Maximum mirrored light (linear); more would hide the paint.
const GLOSS_MAX: f32 = 0.1;
const LIT_PX_MIN: usize = 200;
/// Maximum ratio of the paint that may be pure white: highlights are, a lost white body is not.
const CLIPPED_MAX: f32 = 0.1;
/// Least spread of brightness over the paint, in levels. With less, a white body is a hole in a
/// white page and a black one in a black page.
const FORM_MIN: f32 = 8.0;
/// Maximum number of lit pixels that are compared: enough for a median, and no more work for a bus
/// than for a moped.
const LIT_PX_JUDGED: usize = 2000;

/// Judges an image, as large as its layers, against them and the requested paint.
pub fn check_picture(lacquers: &Lacquers<'_>, wanted: impl Into<Paint>, picture: &Pixmap) -> GateReport {
    let wanted = wanted.into();
    let mut report = GateReport::default();
    let side = lacquers.layers().side_px as usize;
    let rgba = picture.rgba().as_chunks::<4>().0;
    if rgba.len() != side * side {
        report.findings.push(format!("the picture has {} pixels in place of {}", rgba.len(), side * side));
        return report;
    }
    let layers = lacquers.of(wanted);
    let paint = paint(wanted);
    let known = |i: usize| alpha_of(layers.coverage[i], layers.shadow[i] * paint.shadow);
    let alpha_error = rgba.par_iter().enumerate().map(|(i, pixel)| (f32::from(pixel[3]) / 255.0 - known(i)).abs());
    report.hold("alpha_error", alpha_error.reduce(|| 0.0, not_a_number_is_most), Bound::AtMost(ALPHA_ERROR_MAX));
    report.hold("silhouette", silhouette(layers, rgba), Bound::AtLeast(SILHOUETTE_MIN));

    let covered: Vec<f32> =
        (0..rgba.len()).into_par_iter().filter(|i| layers.coverage[*i] > 0.99).map(|i| mean_level(&rgba[i])).collect();
    report.hold("covered", covered.len() as f32 / rgba.len() as f32, Bound::AtLeast(COVERED_MIN));
    report.hold("contrast", spread(&covered), Bound::AtLeast(CONTRAST_MIN));
    let painted: Vec<usize> = (0..rgba.len()).into_par_iter().filter(|i| layers.paint[*i] > 0.99).collect();
    if painted.len() >= LIT_PX_MIN {
        let clipped = painted.par_iter().filter(|i| rgba[**i][..3].iter().all(|level| *level >= 254)).count();
        report.hold("clipped", clipped as f32 / painted.len() as f32, Bound::AtMost(CLIPPED_MAX));
        let levels: Vec<f32> = painted.par_iter().map(|i| mean_level(&rgba[*i])).collect();
        report.hold("form", spread(&levels), Bound::AtLeast(FORM_MIN));
    }
    report.hold("rim", strange_outline(layers, &paint, rgba), Bound::AtMost(RIM_MAX));
    if let Some(difference) = paint_difference(layers, &swatch(wanted), rgba) {
        report.hold("paint_difference", difference, Bound::AtMost(PAINT_DIFFERENCE_MAX));
    }
    report
}

fn not_a_number_is_most(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { f32::NAN } else { a.max(b) }
}

/// Returns intersection over union of the pixels that are opaque in the image and those that
/// geometry covers.
fn silhouette(layers: &Layers, rgba: &[[u8; 4]]) -> f32 {
    let (both, either) = rgba
        .par_iter()
        .zip(&layers.coverage)
        .map(|(pixel, coverage)| {
            let (seen, known) = (f32::from(pixel[3]) / 255.0 > OPAQUE_MIN, *coverage > OPAQUE_MIN);
            (usize::from(seen && known), usize::from(seen || known))
        })
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    both as f32 / either.max(1) as f32
}

/// Returns the mean of red, green and blue, 0 to 255.
fn mean_level(pixel: &[u8; 4]) -> f32 {
    pixel[..3].iter().map(|level| f32::from(*level)).sum::<f32>() / 3.0
}

fn spread(values: &[f32]) -> f32 {
    let mean = values.iter().sum::<f32>() / values.len().max(1) as f32;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / values.len().max(1) as f32).sqrt()
}

/// Returns the ratio of the pixels along the outline whose colour differs from what their light and
/// the paint make.
fn strange_outline(layers: &Layers, paint: &PaintOptics, rgba: &[[u8; 4]]) -> f32 {
    let (strange, checked) = (0..rgba.len())
        .into_par_iter()
        .filter(|i| OUTLINE.contains(&layers.coverage[*i]))
        .map(|i| {
            let is_off = |(seen, known): (&u8, &u8)| seen.abs_diff(*known) > RIM_LEVELS;
            (usize::from(rgba[i][..3].iter().zip(&composed_at(layers, i, paint)[..3]).any(is_off)), 1)
        })
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    strange as f32 / checked.max(1) as f32
}

/// Returns the median CIEDE2000 (Sharma et al. 2005) between lit paint and its hex in white light
/// with as much of a mirror image. Returns `None` if there is too little such paint.
fn paint_difference(layers: &Layers, swatch: &PaintOptics, rgba: &[[u8; 4]]) -> Option<f32> {
    let lit: Vec<usize> = (0..rgba.len())
        .into_par_iter()
        .filter(|i| {
            layers.paint[*i] > 0.99
                && LIT.contains(&luminance(layers.diffuse[*i]))
                && luminance(layers.gloss[*i]) < GLOSS_MAX
        })
        .collect();
    if lit.len() < LIT_PX_MIN {
        return None;
    }
    let difference = |i: usize| {
        let [r, g, b, _] = rgba[i];
        lab([r, g, b]).difference(lab(swatch_in_light(swatch, luminance(layers.gloss[i]))))
    };
    let mut differences: Vec<f32> =
        lit.iter().step_by(lit.len().div_ceil(LIT_PX_JUDGED)).map(|i| difference(*i)).collect();
    let middle = differences.len() / 2;
    Some(*differences.select_nth_unstable_by(middle, f32::total_cmp).1)
}

fn lab(rgb: [u8; 3]) -> Lab {
    Srgb::from(rgb).into_format::<f32>().into_color()
}

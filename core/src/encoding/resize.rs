//! Making a picture smaller.

use super::{EncodingError, Picture};
use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U16x4;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};
use std::sync::LazyLock;

/// The 16-bit value that stands for 1.0. Half the range, because the filter overshoots next to an edge: cut off at
/// 1.0, alpha would lose its overshoot and colour would not, which draws a bright rim inside every outline.
const ONE: u32 = 1 << 15;

/// `picture` at `width`x`height`, each at least 1 and at most the picture's own (nothing is ever enlarged).
///
/// Lanczos with three lobes on premultiplied linear light: transparent pixels lend no colour to their neighbours, and
/// a thin highlight keeps its brightness (averaging sRGB values would dim it). Fixed point throughout, so every
/// machine computes the same bytes.
pub fn resize(picture: &Picture, width: u32, height: u32) -> Result<Picture, EncodingError> {
    let failed = |detail: String| EncodingError::Resize {
        from_width: picture.width(),
        from_height: picture.height(),
        to_width: width,
        to_height: height,
        detail,
    };
    if width == 0 || height == 0 || width > picture.width() || height > picture.height() {
        return Err(failed("a side must be at least 1 px and not larger than it is".to_owned()));
    }
    let light = premultiplied_light(picture);
    let source = TypedImageRef::new(picture.width(), picture.height(), &light).map_err(|e| failed(e.to_string()))?;
    let mut target = TypedImage::<U16x4>::new(width, height);
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3)).use_alpha(false);
    Resizer::new().resize_typed(&source, &mut target, &options).map_err(|e| failed(e.to_string()))?;
    Ok(Picture::from_rgba(width, height, straight_srgb(target.pixels()))?)
}

fn premultiplied_light(picture: &Picture) -> Vec<U16x4> {
    let light = &*LIGHT_OF_SRGB;
    let pixel = |[r, g, b, a]: [u8; 4]| {
        let alpha = u32::from(a);
        let premultiplied = |c: u8| ((u32::from(light[usize::from(c)]) * alpha + 127) / 255) as u16;
        U16x4::new([premultiplied(r), premultiplied(g), premultiplied(b), ((alpha * ONE + 127) / 255) as u16])
    };
    picture.pixels().map(pixel).collect()
}

fn straight_srgb(pixels: &[U16x4]) -> Vec<u8> {
    let srgb = &*SRGB_OF_LIGHT;
    let mut rgba = Vec::with_capacity(pixels.len() * 4);
    for pixel in pixels {
        let [r, g, b, a] = pixel.0.map(u32::from);
        let alpha = (a.min(ONE) * 255 + ONE / 2) / ONE;
        if alpha == 0 {
            rgba.extend_from_slice(&[0; 4]);
            continue;
        }
        let straight = |c: u32| srgb[((c * ONE + a / 2) / a).min(ONE) as usize];
        rgba.extend_from_slice(&[straight(r), straight(g), straight(b), alpha as u8]);
    }
    rgba
}

/// Light of each sRGB byte, in [`ONE`]s (IEC 61966-2-1).
static LIGHT_OF_SRGB: LazyLock<[u16; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        let srgb = byte as f64 / 255.0;
        let light = if srgb <= 0.04045 { srgb / 12.92 } else { ((srgb + 0.055) / 1.055).powf(2.4) };
        (light * f64::from(ONE)).round() as u16
    })
});

/// The inverse, for every light from 0 to [`ONE`].
static SRGB_OF_LIGHT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let srgb = |light: f64| if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    (0..=ONE).map(|light| (srgb(f64::from(light) / f64::from(ONE)) * 255.0).round() as u8).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_the_way_to_light_and_back() {
        for byte in 0..=255_u8 {
            assert_eq!(SRGB_OF_LIGHT[usize::from(LIGHT_OF_SRGB[usize::from(byte)])], byte);
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
}

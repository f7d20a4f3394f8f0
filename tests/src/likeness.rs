//! Compares two images as an eye would. Renders differ between devices in their last bits, so
//! comparing bytes says nothing.

use image::{GrayImage, Luma, RgbaImage};
use image_compare::{Algorithm, gray_similarity_structure};

/// The background under transparent pixels: halfway, so that both a dark and a light rim count.
const PAGE: f64 = 128.0;

/// Mean structural similarity (SSIM, Wang et al. 2004) of the luma of two images of one size. It is
/// 1 for equal images.
pub fn ssim(a: &RgbaImage, b: &RgbaImage) -> f64 {
    let compared = gray_similarity_structure(&Algorithm::MSSIMSimple, &luma(a), &luma(b));
    compared.expect("pictures of one size").score
}

fn luma(picture: &RgbaImage) -> GrayImage {
    GrayImage::from_fn(picture.width(), picture.height(), |x, y| {
        let [r, g, b, a] = picture.get_pixel(x, y).0.map(f64::from);
        let ratio = a / 255.0;
        Luma([((0.299 * r + 0.587 * g + 0.114 * b) * ratio + PAGE * (1.0 - ratio)).round() as u8])
    })
}

//! Measures how similar two vehicles look: for the models of one make and body class, which a
//! customer must be able to tell apart.

use super::raster::draw;
use crate::studio::Camera;
use crate::vehicle::{self, Library};
use cyclorama_core::encoding::Pixmap;
use cyclorama_core::{Colour, Vehicle, View};
use image::{GrayImage, Luma};
use image_compare::{Algorithm, gray_similarity_structure};

/// Side of each view in a portrait, in pixels: as in a list of search results.
const SIDE_PX: usize = 128;
const SAMPLES: usize = 2;
const VIEWS: [View; 2] = [View::FrontThreeQuarter, View::Side];
/// Grey behind transparent pixels: halfway, so that both a dark and a light rim count.
const PAGE: f32 = 128.0;

/// Draws two views of a vehicle in one colour, side by side, as luma. An error says why the vehicle
/// cannot be drawn.
pub fn portrait(library: &Library, vehicle: &Vehicle, reference_diagonal_m: f32) -> Result<GrayImage, String> {
    let mesh = vehicle::build(library, vehicle).map_err(|error| error.to_string())?;
    let mut portrait = GrayImage::new((SIDE_PX * VIEWS.len()) as u32, SIDE_PX as u32);
    for (place, view) in VIEWS.into_iter().enumerate() {
        let camera = Camera::fit(&mesh, view, reference_diagonal_m).map_err(|error| error.to_string())?;
        let drawn = draw(&mesh, &camera, SIDE_PX * SAMPLES);
        let sketch = drawn.sketch(Colour::Silver.srgb(), SAMPLES).map_err(|error| error.to_string())?;
        put(&mut portrait, place, &sketch);
    }
    Ok(portrait)
}

fn put(portrait: &mut GrayImage, place: usize, sketch: &Pixmap) {
    for (index, [r, g, b, a]) in sketch.pixels().enumerate() {
        let ratio = f32::from(a) / 255.0;
        let luma = 0.299 * f32::from(r) + 0.587 * f32::from(g) + 0.114 * f32::from(b);
        let (x, y) = (place * SIDE_PX + index % SIDE_PX, index / SIDE_PX);
        portrait.put_pixel(x as u32, y as u32, Luma([(luma * ratio + PAGE * (1.0 - ratio)).round() as u8]));
    }
}

/// Returns one minus the mean structural similarity (SSIM, Wang et al. 2004) of two portraits: 0
/// for equal images.
pub fn distance(a: &GrayImage, b: &GrayImage) -> f64 {
    gray_similarity_structure(&Algorithm::MSSIMSimple, a, b).map_or(1.0, |similarity| 1.0 - similarity.score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::rig::Rig;
    use crate::vehicle::typical::typical;
    use cyclorama_core::BodyClass;

    #[test]
    fn a_vehicle_is_like_itself_and_unlike_others_the_more_they_differ() {
        let library = &*Library::embedded().unwrap();
        let reference = Rig::built_in().unwrap().reference_diagonal_m;
        let draw = |body: BodyClass, model: &str| {
            let mut vehicle = typical(body);
            vehicle.model = model.to_owned();
            portrait(library, &vehicle, reference).unwrap()
        };
        let (one, same) = (draw(BodyClass::Sedan, "one"), draw(BodyClass::Sedan, "one"));
        let (other, van) = (draw(BodyClass::Sedan, "other"), draw(BodyClass::Van, "one"));
        assert!(distance(&one, &same) < 1e-9);
        // Two models without a sheet of their own, of one class, make and size, differ all the
        // same.
        assert!(distance(&one, &other) > 0.01, "{}", distance(&one, &other));
        assert!(distance(&one, &van) > 2.0 * distance(&one, &other));
    }
}

//! Frames of one small master, compared with the images in `tests/goldens/frames`. Nothing is
//! rendered: a service made the master once.

use cyclorama_core::encoding::{Pixmap, decode_master, frame, sight};
use cyclorama_core::{Fit, Format, Framing, Scale};
use cyclorama_tests::likeness::ssim;
use image::RgbaImage;

/// Micrometres that a pixel of the master is taken to show; at true scale it is drawn smaller.
const SCALE_UM_PER_PX: u32 = 4_000;

fn master(name: &str) -> Pixmap {
    let file = cyclorama_tests::package_file(&format!("goldens/frames/{name}.png"));
    decode_master(&std::fs::read(file).unwrap(), 256).unwrap().with_scale(Some(SCALE_UM_PER_PX))
}

fn boxed(fit: Fit, width: u32, height: u32) -> Framing {
    Framing { fit, width: Some(width), height: Some(height), ..Framing::default() }
}

/// Mean difference of alpha, of 255. SSIM of an image on grey says little about whether there is a
/// shadow.
fn alpha_difference(a: &RgbaImage, b: &RgbaImage) -> f64 {
    let differences = a.pixels().zip(b.pixels()).map(|(a, b)| f64::from(a.0[3].abs_diff(b.0[3])));
    differences.sum::<f64>() / f64::from(a.width() * a.height())
}

/// `CYCLORAMA_UPDATE_GOLDENS=1` writes them again. An image that differs is written beside the
/// expected one.
#[test]
fn frames_look_as_they_did() {
    let (whole, no_shadow) = (master("master"), master("master-no-shadow"));
    let trimmed = |frame: Framing, padding_percent| Framing { trim: true, padding_percent, ..frame };
    let mut wrong = Vec::new();
    for (name, master, wanted) in [
        ("contain", &whole, boxed(Fit::Contain, 200, 112)),
        ("contain-trim", &whole, trimmed(boxed(Fit::Contain, 200, 112), 0)),
        ("cover", &whole, boxed(Fit::Cover, 200, 112)),
        ("cover-cuts", &whole, boxed(Fit::Cover, 96, 200)),
        ("trim-padding", &whole, trimmed(Framing::square(160), 10)),
        ("background", &whole, Framing { background: Some([0xf2, 0xe0, 0xc8]), ..trimmed(Framing::square(160), 5) }),
        ("shadow-off", &no_shadow, trimmed(Framing::square(160), 5)),
        ("true-scale", &whole, Framing { scale: Scale::True, ..boxed(Fit::Contain, 200, 160) }),
    ] {
        let bytes = frame(master, &sight(master, SCALE_UM_PER_PX), &wanted, Format::Png).unwrap();
        let made = image::load_from_memory(&bytes).unwrap().to_rgba8();
        let file = cyclorama_tests::package_file(&format!("goldens/frames/{name}.png"));
        if std::env::var_os("CYCLORAMA_UPDATE_GOLDENS").is_some() {
            made.save(&file).unwrap();
        }
        let golden = image::open(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display())).to_rgba8();
        let is_like = made.dimensions() == golden.dimensions()
            && ssim(&made, &golden) >= 0.99
            && alpha_difference(&made, &golden) < 0.5;
        if !is_like {
            made.save(file.with_extension("actual.png")).unwrap();
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?} differ from their golden pictures; see *.actual.png beside them");
}

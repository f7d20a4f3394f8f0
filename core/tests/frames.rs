//! Tests of framing: sizes, margins, what is cut off, and that nothing is enlarged.

use cyclorama_core::encoding::{Pixmap, decode_master, encode, frame, framed, sight};
use cyclorama_core::frame::{
    Framing, MasterBounds, Plan, SEEN_ALPHA_MIN, VisibleBounds, estimated_scale_um_per_px, plan,
};
use cyclorama_core::{Dimensions, Fit, Format, Scale, View};
use proptest::prelude::*;

/// A vehicle seen from the side: wide and low, with as much space above as below.
const SIDE: MasterBounds = MasterBounds {
    side_px: 1024,
    seen: VisibleBounds { left: 44, top: 360, right: 980, bottom: 680 },
    scale_um_per_px: 5_000,
};

fn boxed(fit: Fit, width: u32, height: u32) -> Framing {
    Framing { fit, width: Some(width), height: Some(height), ..Framing::default() }
}

fn trimmed(frame: Framing, padding_percent: u8) -> Framing {
    Framing { trim: true, padding_percent, ..frame }
}

/// Returns where the seen part lies in the image: left, top, right, bottom.
fn seen_in(plan: &Plan, sight: &MasterBounds) -> [f64; 4] {
    let VisibleBounds { left, top, right, bottom } = sight.seen;
    let across = |x: u32| (f64::from(x) - plan.left) / plan.step;
    let down = |y: u32| (f64::from(y) - plan.top) / plan.step;
    [across(left), down(top), across(right), down(bottom)]
}

#[test]
fn each_fit_makes_of_a_box_what_it_says() {
    let no_box = Framing::default();
    let true_scale = |frame: Framing| Framing { scale: Scale::True, ..frame };
    for (frame, size, seen) in [
        // The largest square that fits, as without framing.
        (boxed(Fit::Inside, 800, 450), (450, 450), [19.0, 158.0, 431.0, 299.0]),
        // The square master in the middle of the box.
        (boxed(Fit::Contain, 800, 450), (800, 450), [194.0, 155.0, 606.0, 295.0]),
        // The master as wide as the box; the parts above and below the vehicle are cut off.
        (boxed(Fit::Cover, 800, 450), (800, 450), [34.0, 100.0, 766.0, 350.0]),
        // Higher than wide: the vehicle has to be cut.
        (boxed(Fit::Cover, 200, 800), (200, 800), [-266.0, 275.0, 466.0, 525.0]),
        (trimmed(no_box, 0), (936, 320), [0.0, 0.0, 936.0, 320.0]),
        // With its padding the image would be wider than the maximum.
        (trimmed(no_box, 10), (1024, 462), [85.0, 85.0, 939.0, 377.0]),
        (trimmed(boxed(Fit::Inside, 468, 468), 0), (468, 160), [0.0, 0.0, 468.0, 160.0]),
        (trimmed(boxed(Fit::Contain, 600, 400), 0), (600, 400), [0.0, 97.0, 600.0, 303.0]),
        (trimmed(boxed(Fit::Contain, 600, 400), 10), (600, 400), [50.0, 115.0, 550.0, 285.0]),
        (trimmed(boxed(Fit::Cover, 160, 160), 0), (160, 160), [-154.0, 0.0, 314.0, 160.0]),
        // Filling this box would need enlargement, so margins remain.
        (trimmed(boxed(Fit::Cover, 1024, 1024), 0), (1024, 1024), [44.0, 352.0, 980.0, 672.0]),
        // A pixel of the master shows 6.5 mm instead of 5 mm.
        (true_scale(no_box), (1024, 1024), [152.0, 395.0, 872.0, 641.0]),
        (true_scale(trimmed(no_box, 0)), (720, 246), [0.0, 0.0, 720.0, 246.0]),
    ] {
        let plan = plan(&frame, &SIDE);
        assert_eq!((plan.width, plan.height), size, "{frame}");
        let placed = seen_in(&plan, &SIDE);
        assert!(
            placed.iter().zip(seen).all(|(placed, seen): (&f64, f64)| (placed - seen).abs() < 1.0),
            "{frame}: {placed:?}"
        );
    }
}

#[test]
fn vehicles_compare_at_true_scale() {
    let wanted = Framing { scale: Scale::True, width: Some(512), ..Framing::default() };
    for (scale_um_per_px, expected) in [(2_600, 13.0), (5_000, 13.0), (6_500, 13.0), (13_000, 26.0)] {
        let sight = MasterBounds { scale_um_per_px, ..SIDE };
        let shown = plan(&wanted, &sight).scale_mm_per_px(&sight);
        assert!((shown - expected).abs() < 1e-9, "{scale_um_per_px}: {shown}");
    }
}

#[test]
fn a_scale_estimated_from_dimensions_is_near_the_cameras() {
    let golf =
        Dimensions { length_mm: 4_255, width_mm: 1_799, height_mm: 1_452, wheelbase_mm: 2_637, front_track_mm: 1_549 };
    for (view, between) in
        [(View::Side, 4_400..4_700), (View::Front, 2_000..2_400), (View::FrontThreeQuarter, 3_700..4_300)]
    {
        let estimated = estimated_scale_um_per_px(&golf, view);
        assert!(between.contains(&estimated), "{view}: {estimated}");
    }
}

/// A dark ellipse with a soft edge on a transparent background.
fn ellipse(side: u32, [middle_x, middle_y]: [f64; 2], [radius_x, radius_y]: [f64; 2]) -> Pixmap {
    let pixel = |x: u32, y: u32| {
        let (dx, dy) = ((f64::from(x) + 0.5 - middle_x) / radius_x, (f64::from(y) + 0.5 - middle_y) / radius_y);
        let inside = (1.0 - dx.hypot(dy)) * radius_x.min(radius_y) + 0.5;
        [40, 60, 90, (inside.clamp(0.0, 1.0) * 255.0) as u8]
    };
    let rgba = (0..side).flat_map(|y| (0..side).flat_map(move |x| pixel(x, y))).collect();
    Pixmap::from_rgba(side, side, rgba).expect("a square")
}

fn alpha_sum(picture: &Pixmap) -> f64 {
    picture.pixels().map(|pixel| f64::from(pixel[3])).sum()
}

#[test]
fn pixels_that_are_not_made_smaller_stay_as_they_are() {
    let master = ellipse(256, [100.0, 140.0], [60.0, 30.0]);
    let sight = sight(&master, 5_000);
    let cut = framed(&master, &plan(&trimmed(Framing::default(), 0), &sight)).expect("cuts");
    let VisibleBounds { left, top, right, bottom } = sight.seen;
    assert_eq!((cut.width(), cut.height()), (right - left, bottom - top));
    for (y, row) in cut.rgba().chunks_exact(cut.width() as usize * 4).enumerate() {
        let first = ((top as usize + y) * 256 + left as usize) * 4;
        assert_eq!(row, &master.rgba()[first..first + row.len()]);
    }
}

#[test]
fn a_background_makes_every_format_opaque() {
    let master = ellipse(64, [32.0, 32.0], [20.0, 10.0]);
    let wanted = Framing { background: Some([244, 10, 96]), ..boxed(Fit::Contain, 50, 30) };
    let bytes = frame(&master, &sight(&master, 5_000), &wanted, Format::Png).expect("encodes");
    let picture = decode_master(&bytes, 64).expect("is a PNG");
    assert_eq!((picture.width(), picture.height()), (50, 30));
    assert!(picture.pixels().all(|pixel| pixel[3] == 255));
    assert_eq!(picture.pixels().next(), Some([244, 10, 96, 255]));
}

#[test]
fn a_master_knows_its_scale() {
    let master = ellipse(64, [32.0, 32.0], [20.0, 10.0]);
    let stored = |picture: Pixmap| decode_master(&encode(&picture, Format::Png).expect("encodes"), 64).expect("reads");
    assert_eq!(sight(&stored(master.clone()), 5_000).scale_um_per_px, 5_000);
    assert_eq!(sight(&stored(master.with_scale(Some(4_321))), 5_000).scale_um_per_px, 4_321);
}

fn sights() -> impl Strategy<Value = MasterBounds> {
    let seen = (0u32..1000, 0u32..1000, 1u32..1024, 1u32..1024).prop_map(|(left, top, width, height)| VisibleBounds {
        left,
        top,
        right: (left + width).min(1024),
        bottom: (top + height).min(1024),
    });
    (seen, 1_000u32..20_000).prop_map(|(seen, scale_um_per_px)| MasterBounds { side_px: 1024, seen, scale_um_per_px })
}

fn frames() -> impl Strategy<Value = Framing> {
    let side = || proptest::option::of(1u32..=1024);
    let choices = (0..Fit::ALL.len(), side(), side(), any::<bool>(), 0u8..=50, any::<bool>());
    choices.prop_map(|(fit, width, height, trim, padding_percent, is_true)| Framing {
        fit: if width.is_some() && height.is_some() { Fit::ALL[fit] } else { Fit::Inside },
        width,
        height,
        trim,
        padding_percent: if trim { padding_percent } else { 0 },
        background: None,
        scale: if is_true { Scale::True } else { Scale::Fill },
    })
}

proptest! {
    #[test]
    fn nothing_is_enlarged_and_every_size_is_kept(frame in frames(), sight in sights()) {
        let plan = plan(&frame, &sight);
        prop_assert!(plan.step >= 1.0 && plan.step.is_finite());
        let [width, height] = [frame.width, frame.height].map(|side| side.unwrap_or(1024));
        match frame.fit {
            Fit::Inside => prop_assert!((1..=width).contains(&plan.width) && (1..=height).contains(&plan.height)),
            Fit::Contain | Fit::Cover => prop_assert_eq!((plan.width, plan.height), (width, height)),
        }
        if frame.has_known_size() {
            prop_assert_eq!((plan.width, plan.height), frame.size_px());
        }
    }

    #[test]
    fn nothing_that_is_seen_is_lost_unless_the_box_is_filled(frame in frames(), sight in sights()) {
        let plan = plan(&frame, &sight);
        let [left, top, right, bottom] = seen_in(&plan, &sight);
        if frame.fit != Fit::Cover {
            // Half a pixel may be lost where sizes are rounded to whole pixels.
            let within = |low: f64, high: f64, size: u32| low >= -0.51 && high <= f64::from(size) + 0.51;
            prop_assert!(within(left, right, plan.width) && within(top, bottom, plan.height), "{left} {top} {right} {bottom} {plan:?}");
        }
        if frame.fit == Fit::Contain {
            let off = |low: f64, high: f64, size: u32| ((low + high) - f64::from(size)).abs() * 0.5;
            prop_assert!(off(left, right, plan.width) <= 0.51 && off(top, bottom, plan.height) <= 0.51);
        }
    }

    #[test]
    fn a_frame_has_one_name(first in frames(), second in frames()) {
        let same = first.size_px() == second.size_px() && first.fit == second.fit && first.trim == second.trim
            && first.padding_percent == second.padding_percent && first.scale == second.scale;
        prop_assert_eq!(first.to_string() == second.to_string(), same);
        prop_assert!(first.to_string().bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_whole_vehicle_is_in_a_contained_picture(
        width in 8u32..=160, height in 8u32..=160, trim in any::<bool>(), middle in [40.0f64..88.0, 40.0f64..88.0],
        radius in [6.0f64..36.0, 6.0f64..36.0],
    ) {
        let master = ellipse(128, middle, radius);
        let sight = sight(&master, 5_000);
        prop_assume!(sight.seen.right > sight.seen.left && SEEN_ALPHA_MIN > 0);
        let wanted = Framing { trim, ..boxed(Fit::Contain, width, height) };
        let plan = plan(&wanted, &sight);
        let picture = framed(&master, &plan).expect("is framed");
        prop_assert_eq!((picture.width(), picture.height()), (width, height));
        let (before, after) = (alpha_sum(&master), alpha_sum(&picture) * plan.step * plan.step);
        let off = (after - before).abs() / before;
        // A few pixels of a small image round a lot; a vehicle that was cut would lack more.
        prop_assert!(off < 0.01 + 2.0 * plan.step * plan.step / (radius[0] * radius[1]), "{} of the vehicle is lost: {plan:?}", off);
    }
}

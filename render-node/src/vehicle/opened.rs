//! Makes a convertible from a coupe that was drawn: everything below the belt is the coupe's, and
//! the roof is off and lies folded behind the seats. Lengths are those of the drawn convertibles,
//! in metres from the upper edge of the windscreen's glass.

use glam::Vec2;

use super::curve::ControlPoint;
use super::mesh::Material;
use super::outline::Outline;
use super::parts::cabin::space::Rear;
use super::parts::soft_top::StowedTop;
use super::sheet::{Drawing, DrawnIn, DrawnSolid, OpenTop, Sheet, SolidRole};

/// The windscreen's frame: its thickness, how far its rear edge is behind the glass, the width of
/// its pillars, and the rounding of its corners.
const FRAME_M: f32 = 0.035;
const HEADER_M: f32 = 0.045;
const PILLAR_M: f32 = 0.045;
const CORNER_M: f32 = 0.06;
/// The cockpit reaches from this far in front of the header to this far behind it (with two seats,
/// and with four). It stays `DECK_M` clear of the foot of the coupe's rear window.
const COCKPIT_FRONT_M: f32 = 0.33;
const COCKPIT_REAR_M: [f32; 2] = [0.75, 1.42];
const DECK_M: f32 = 0.30;
/// Half the cockpit's width as a ratio of the vehicle's, and its depth below the belt.
const COCKPIT_HALF_WIDTH: f32 = 0.365;
const COCKPIT_DEPTH_M: f32 = 0.5;
/// The folded top: how far it reaches before and behind the end of the cockpit, half its width as a
/// ratio, and how far it rises above the deck.
const TOP_FRONT_M: f32 = 0.12;
const TOP_REAR_M: f32 = 0.33;
const TOP_HALF_WIDTH: f32 = 0.32;
const TOP_HEAP_M: f32 = 0.02;
const STEP_M: f32 = 0.01;

/// Removes the roof. Returns `false`, and leaves the sheet unchanged, if the sheet has no
/// windscreen or no rear window from which to find the cockpit.
pub fn take_roof_off(sheet: &mut Sheet) -> bool {
    let (body, roof) = sheet.side_outlines();
    let Some(header) = sheet.glass.windscreen.as_ref().map(|windscreen| windscreen.header) else { return false };
    let Some(deck) = foot_of_rear_window(&body, &roof, header) else { return false };
    let seats_two =
        matches!(sheet.fittings.cabin.as_ref().map(|cabin| cabin.rear), None | Some(Rear::None | Rear::Bulkhead));
    let reach = COCKPIT_REAR_M[usize::from(!seats_two)];
    let rear = (header + reach).min(deck - DECK_M);
    let lowest = [0.1, 0.4, 0.7].into_iter().filter_map(|behind| body.top_at(header + behind)).reduce(f32::min);
    let (Some(lowest), Some(deck_z)) = (lowest, body.top_at(rear + 0.5 * TOP_REAR_M)) else { return false };

    sheet.greenhouse.open = Some(OpenTop { header: header + HEADER_M, frame: FRAME_M });
    if let Some(windscreen) = &mut sheet.glass.windscreen {
        (windscreen.pillar, windscreen.corner) = (PILLAR_M, CORNER_M);
    }
    let half_width = COCKPIT_HALF_WIDTH * sheet.size.width;
    let point = |x: f32, ratio: f32, radius: f32| ControlPoint { at: Vec2::new(x, ratio * half_width), radius };
    let front = header - COCKPIT_FRONT_M;
    sheet.solid.push(DrawnSolid {
        name: "cockpit".to_owned(),
        at: Drawing {
            view: DrawnIn::Top,
            curve: vec![
                point(front, 0.0, 0.0),
                point(front, 0.68, 0.0),
                point(header - 0.2, 0.94, 0.08),
                point(header + 0.2, 1.0, 0.0),
                point(rear - 0.16, 0.96, 0.12),
                point(rear - 0.02, 0.72, 0.05),
                point(rear, 0.0, 0.0),
            ],
            mirror: true,
            range: Some([lowest - COCKPIT_DEPTH_M, sheet.size.height + 0.2]),
            bowed: false,
        },
        role: SolidRole::Cut,
        edge: 0.03,
        blend: 0.035,
        material: Some(Material::Interior),
    });
    let fittings = &mut sheet.fittings;
    if let Some(cabin) = &mut fittings.cabin {
        cabin.x_rear = rear - 0.04;
        cabin.rear = if seats_two { Rear::None } else { Rear::PlusTwo };
    }
    fittings.stowed_top = Some(StowedTop {
        x_front: rear - TOP_FRONT_M,
        x_rear: rear + TOP_REAR_M,
        half_width: TOP_HALF_WIDTH * sheet.size.width,
        z: deck_z + 0.005,
        heap: TOP_HEAP_M,
        ..StowedTop::default()
    });
    // The measured positions still bend the drawing, but those of the roof no longer exist
    // and must not be checked.
    sheet.proportions = sheet.facts.take();
    // Parts that sat on the roof are removed. A spoiler on the deck stays.
    fittings.rails = None;
    fittings.fin = None;
    fittings.rear_wiper = false;
    fittings.spoiler.take_if(|spoiler| spoiler.x < deck);
    true
}

/// Returns x of the point behind the header where the greenhouse meets the deck.
fn foot_of_rear_window(body: &Outline, roof: &Outline, header: f32) -> Option<f32> {
    let (_, high) = roof.bounds();
    let steps = ((high.x - header) / STEP_M).max(0.0) as usize;
    let mut places = (0..steps).map(|i| high.x - STEP_M * i as f32);
    places.find(|x| matches!((roof.top_at(*x), body.top_at(*x)), (Some(roof), Some(body)) if roof > body + STEP_M))
}

#[cfg(test)]
mod tests {
    use super::super::build::build;
    use super::super::library::Library;
    use super::super::typical::typical;
    use cyclorama_core::vehicle::{BodyClass, Vehicle};

    #[test]
    fn a_convertible_that_nobody_drew_is_its_coupe_without_a_roof() {
        let library = Library::embedded().unwrap();
        for (make, model, year) in [("ford", "mustang", 2017), ("bmw", "4-series", 2017), ("chevrolet", "camaro", 2012)]
        {
            let of = |body| Vehicle { make: make.into(), model: model.into(), year, ..typical(body) };
            let [coupe, open] = [BodyClass::Coupe, BodyClass::Convertible].map(of);
            let [coupe, sheet] = [&coupe, &open].map(|vehicle| library.dressed(vehicle).unwrap().unwrap());
            assert!(coupe.greenhouse.open.is_none() && sheet.greenhouse.open.is_some(), "{make} {model}");
            assert_eq!(coupe.about, sheet.about);
            let cockpit = sheet.solid.iter().find(|solid| solid.name == "cockpit").unwrap();
            assert!(cockpit.at.range.unwrap()[0] > 0.3, "{make} {model}: the floor stays");
            build(&library, &open).unwrap();
        }
    }
}

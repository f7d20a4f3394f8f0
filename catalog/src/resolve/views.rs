//! Puts the parts of a view that a text names together: `rear` and `three quarter` are `rear-3-4`.

use super::vocabulary::ViewPart;
use cyclorama_core::View;

/// Returns the view, and true if the parts agree on it.
pub fn view(sides: &[u16]) -> (Option<View>, bool) {
    let said = |side: ViewPart| sides.contains(&(side as u16));
    let (front, rear) =
        (said(ViewPart::Front) || said(ViewPart::FrontQuarter), said(ViewPart::Rear) || said(ViewPart::RearQuarter));
    let side = said(ViewPart::Side) || said(ViewPart::SideRight);
    let quarter = said(ViewPart::Quarter) || said(ViewPart::FrontQuarter) || said(ViewPart::RearQuarter);
    if sides.is_empty() {
        return (None, true);
    }
    let view = match () {
        // A corner of the vehicle: two neighbouring sides, or one corner by name.
        _ if rear && (quarter || side) => View::RearThreeQuarter,
        _ if quarter || front && side => View::FrontThreeQuarter,
        _ if rear => View::Rear,
        _ if front => View::Front,
        _ if said(ViewPart::SideRight) => View::SideRight,
        _ => View::Side,
    };
    // The quarter views show the driver's side only.
    let clear = !(front && rear || said(ViewPart::SideRight) && (said(ViewPart::Side) || quarter));
    (Some(view), clear)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_to_views() {
        for (sides, expected, clear) in [
            (&[][..], None, true),
            (&[ViewPart::Front], Some(View::Front), true),
            (&[ViewPart::Rear], Some(View::Rear), true),
            (&[ViewPart::Side, ViewPart::Side], Some(View::Side), true),
            (&[ViewPart::SideRight], Some(View::SideRight), true),
            (&[ViewPart::Quarter], Some(View::FrontThreeQuarter), true),
            (&[ViewPart::Quarter, ViewPart::Rear], Some(View::RearThreeQuarter), true),
            (&[ViewPart::Rear, ViewPart::Side], Some(View::RearThreeQuarter), true),
            (&[ViewPart::Front, ViewPart::Side], Some(View::FrontThreeQuarter), true),
            (&[ViewPart::Front, ViewPart::Rear], Some(View::Rear), false),
            (&[ViewPart::Side, ViewPart::SideRight], Some(View::SideRight), false),
        ] {
            let sides: Vec<u16> = sides.iter().map(|side| *side as u16).collect();
            assert_eq!(view(&sides), (expected, clear), "{sides:?}");
        }
    }
}

//! The view that several parts of a description come to: `rear` and `three quarter` are `rear-3-4`.

use super::vocabulary::Side;
use cyclorama_core::View;

/// The view, and whether the parts agree on it.
pub fn view(sides: &[u16]) -> (Option<View>, bool) {
    let said = |side: Side| sides.contains(&(side as u16));
    let (front, rear) = (said(Side::Front) || said(Side::FrontQuarter), said(Side::Rear) || said(Side::RearQuarter));
    let side = said(Side::Side) || said(Side::SideRight);
    let quarter = said(Side::Quarter) || said(Side::FrontQuarter) || said(Side::RearQuarter);
    if sides.is_empty() {
        return (None, true);
    }
    let view = match () {
        // A corner of the vehicle: two neighbouring sides, or one by name.
        _ if rear && (quarter || side) => View::RearThreeQuarter,
        _ if quarter || front && side => View::FrontThreeQuarter,
        _ if rear => View::Rear,
        _ if front => View::Front,
        _ if said(Side::SideRight) => View::SideRight,
        _ => View::Side,
    };
    // The quarter views show the driver's side only.
    let clear = !(front && rear) && !(said(Side::Side) && said(Side::SideRight)) && !(quarter && said(Side::SideRight));
    (Some(view), clear)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_to_views() {
        for (sides, expected, clear) in [
            (&[][..], None, true),
            (&[Side::Front], Some(View::Front), true),
            (&[Side::Rear], Some(View::Rear), true),
            (&[Side::Side, Side::Side], Some(View::Side), true),
            (&[Side::SideRight], Some(View::SideRight), true),
            (&[Side::Quarter], Some(View::FrontThreeQuarter), true),
            (&[Side::Quarter, Side::Rear], Some(View::RearThreeQuarter), true),
            (&[Side::Rear, Side::Side], Some(View::RearThreeQuarter), true),
            (&[Side::Front, Side::Side], Some(View::FrontThreeQuarter), true),
            (&[Side::Front, Side::Rear], Some(View::Rear), false),
            (&[Side::Side, Side::SideRight], Some(View::SideRight), false),
        ] {
            let sides: Vec<u16> = sides.iter().map(|side| *side as u16).collect();
            assert_eq!(view(&sides), (expected, clear), "{sides:?}");
        }
    }
}

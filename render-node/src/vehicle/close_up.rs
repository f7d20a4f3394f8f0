//! Boxes for close-ups of parts of a finished vehicle, found by material and position.

use std::ops::Range;

use cyclorama_core::View;
use glam::Vec3;

use super::mesh::{Material, VehicleMesh};

/// A part that can be shown alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum CloseUpPart {
    HeadLamp,
    /// Grille, badge and the middle of the bumper.
    Nose,
    TailLamp,
    /// Plate, badge and the middle of the rear bumper.
    Tail,
    Wheel,
    /// A steered wheel seen from the front quarter, which shows its depth.
    WheelDepth,
    Mirror,
    /// Handles, trim and shut lines of the doors.
    Doors,
    SideWindows,
    /// The windscreen and the interior that is visible through it.
    Cabin,
    /// The engine of a two-wheeler.
    Engine,
}

const HEAD_LAMP: &[Material] = &[Material::LampLens, Material::LampReflector, Material::LampGlass];
const TAIL_LAMP: &[Material] = &[Material::LampRedLens, Material::LampRed];
const WINDOWS: &[Material] = &[Material::ClearGlass, Material::Glass];
/// A close-up shows a margin around the part, as a ratio of its size.
const MARGIN: f32 = 0.12;
/// An outside mirror is at least this far outside the side windows, at their height.
const BEYOND_WINDOWS_M: f32 = 0.06;
const BELOW_BELT_M: f32 = 0.04;
/// Maximum width of a two-wheeler. No car is as narrow.
const TWO_WHEELER_WIDTH_M: f32 = 1.25;

impl CloseUpPart {
    pub const ALL: [CloseUpPart; 11] = [
        CloseUpPart::HeadLamp,
        CloseUpPart::Nose,
        CloseUpPart::TailLamp,
        CloseUpPart::Tail,
        CloseUpPart::Wheel,
        CloseUpPart::WheelDepth,
        CloseUpPart::Mirror,
        CloseUpPart::Doors,
        CloseUpPart::SideWindows,
        CloseUpPart::Cabin,
        CloseUpPart::Engine,
    ];

    /// Returns the view in which the part is seen.
    pub fn view(self) -> View {
        match self {
            CloseUpPart::HeadLamp
            | CloseUpPart::WheelDepth
            | CloseUpPart::Mirror
            | CloseUpPart::Cabin
            | CloseUpPart::Nose => View::FrontThreeQuarter,
            CloseUpPart::TailLamp | CloseUpPart::Tail => View::RearThreeQuarter,
            CloseUpPart::Wheel | CloseUpPart::Doors | CloseUpPart::SideWindows | CloseUpPart::Engine => View::Side,
        }
    }

    /// Returns opposite corners of the box to show, in vehicle axes and metres. A part
    /// that exists on both sides is shown on the vehicle's left. Returns `None` if the
    /// vehicle has no such part.
    pub fn bounds(self, mesh: &VehicleMesh) -> Option<[Vec3; 2]> {
        let [low, high] = bounds_of(mesh, None, |_| true)?;
        let size = high - low;
        // Position in ratios of the vehicle's length, of half its width (-1 is its left
        // side) and of its height.
        let place = |x: Range<f32>, y: Range<f32>, z: Range<f32>| {
            let corner = |x: f32, y: f32, z: f32| low + Vec3::new(x, 0.5 + 0.5 * y, z) * size;
            [corner(x.start, y.start, z.start), corner(x.end, y.end, z.end)]
        };
        let found = |materials: &[Material], [near, far]: [Vec3; 2]| {
            bounds_of(mesh, Some(materials), |p| p.cmpge(near).all() && p.cmple(far).all())
        };
        let left = -1.0..0.0;
        let shown = match self {
            CloseUpPart::HeadLamp => found(HEAD_LAMP, place(0.0..0.27, left, 0.25..1.0))?,
            CloseUpPart::TailLamp => found(TAIL_LAMP, place(0.65..1.0, left, 0.2..1.0))?,
            CloseUpPart::Nose => place(0.0..0.08, -0.5..0.5, 0.1..0.55),
            CloseUpPart::Tail => place(0.92..1.0, -0.5..0.5, 0.1..0.6),
            CloseUpPart::Wheel | CloseUpPart::WheelDepth => {
                found(&[Material::Tyre], place(0.0..0.5, -1.0..0.2, 0.0..1.0))?
            }
            CloseUpPart::Mirror => {
                let [belt, _] = found(WINDOWS, place(0.0..0.6, -1.0..-0.45, 0.0..1.0))?;
                let beside = |p: Vec3| {
                    p.y < belt.y - BEYOND_WINDOWS_M && p.z > belt.z - BELOW_BELT_M && p.x < low.x + 0.6 * size.x
                };
                bounds_of(mesh, None, beside)?
            }
            CloseUpPart::Doors => place(0.32..0.66, -1.0..-0.8, 0.2..0.75),
            CloseUpPart::SideWindows => found(WINDOWS, place(0.0..1.0, -1.0..-0.45, 0.0..1.0))?,
            CloseUpPart::Cabin => found(&[Material::ClearGlass], place(0.0..0.6, -0.9..0.9, 0.0..1.0))?,
            // Only two-wheelers have an exposed engine.
            CloseUpPart::Engine => (size.y < TWO_WHEELER_WIDTH_M).then(|| place(0.25..0.72, -0.6..0.6, 0.12..0.65))?,
        };
        let margin = (shown[1] - shown[0]).max_element() * MARGIN;
        Some([shown[0] - margin, shown[1] + margin])
    }
}

/// Returns the bounds of the vertices of some materials (of all if `None`) whose position
/// satisfies `is_wanted`.
fn bounds_of(
    mesh: &VehicleMesh,
    materials: Option<&[Material]>,
    is_wanted: impl Fn(Vec3) -> bool,
) -> Option<[Vec3; 2]> {
    mesh.surfaces
        .iter()
        .filter(|(material, _)| materials.is_none_or(|wanted| wanted.contains(material)))
        .flat_map(|(_, surface)| &surface.positions)
        .map(|p| Vec3::from(*p))
        .filter(|p| is_wanted(*p))
        .fold(None, |found, p| Some(found.map_or([p, p], |[low, high]: [Vec3; 2]| [low.min(p), high.max(p)])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclorama_core::BodyClass;

    use crate::vehicle::typical::typical;
    use crate::vehicle::{Library, build};

    #[test]
    fn a_car_has_every_part_but_an_open_engine_on_its_left_side() {
        let library = Library::embedded().expect("sheets");
        let car = build(&library, &typical(BodyClass::Sedan)).expect("a car");
        for part in CloseUpPart::ALL {
            let bounds = part.bounds(&car);
            assert_eq!(bounds.is_none(), part == CloseUpPart::Engine, "{part:?}");
            let Some([low, high]) = bounds else { continue };
            assert!((high - low).min_element() > 0.0, "{part:?}: {low} {high}");
            let is_in_the_middle = matches!(part, CloseUpPart::Nose | CloseUpPart::Tail | CloseUpPart::Cabin);
            assert!(is_in_the_middle || low.y + high.y < 0.0, "{part:?} is on the right: {low} {high}");
        }
        let [low, high] = CloseUpPart::HeadLamp.bounds(&car).expect("a head lamp");
        assert!((high - low).max_element() < 1.2 && high.x < 1.6, "{low} {high}");
    }
}

//! The layout of a two-wheeler: its sizes in natural metres, and the kind of each of its parts.
//!
//! The sheets of the families define layouts (`render-node/sheets/two-wheelers/families`). The
//! neighbouring modules build the parts, and `fit` applies a vehicle's own dimensions.

use serde::Deserialize;

use super::engine_kind::EngineKind;
use super::style::Family;

/// Kind of rim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rim {
    Cast,
    Wires,
    /// Pressed steel, as on old scooters.
    Dish,
}

/// Kind of fork, by the look of its legs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fork {
    /// Bright tubes slide into thick lower legs.
    Telescopic,
    /// Legs that are thick above and thin below.
    UpsideDown,
    /// Telescopic, with its tubes under rubber bellows or covers.
    Covered,
    /// Slim legs under a body, with one short link at the axle.
    Hidden,
}

/// Form of the tank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TankForm {
    /// Broad shoulders, and hollows for the knees.
    Modern,
    /// A rounded loaf with rubber pads for the knees.
    Loaf,
    /// A drop, low and stretched.
    Drop,
    /// Narrow, between shrouds.
    Slim,
}

/// Form of the seat and tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SeatForm {
    /// The rider low and the passenger raised, over a painted tail.
    Stepped,
    /// One level cushion over a mudguard.
    Bench,
    /// A bench that ends in a painted hump.
    Hump,
    /// A deep saddle with a pillion pad.
    Saddle,
    /// Two armchairs.
    Armchair,
    /// Long, narrow and flat, from the tank to a slim tail.
    Rail,
}

/// The part in front of the handlebar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Nose {
    RoundLamp,
    /// A round lamp in a small cowl.
    Bikini,
    /// The angular mask of modern naked bikes.
    Wedge,
    /// A full fairing with a low screen.
    Sport,
    /// A full fairing with a tall screen and room for the hands.
    SportTouring,
    /// A full fairing as wide as the rider, with leg shields.
    Touring,
    /// A wide cowl on the fork around one lamp.
    Batwing,
    /// A wide cowl on the frame with two lamps.
    Shark,
    /// A beak over the wheel, a tall screen, and shrouds beside the tank.
    Beak,
    /// A small lamp in a plate.
    Mask,
    /// A number plate without a lamp.
    Plate,
    /// No part of its own, because the body has a front.
    None,
}

/// Luggage at the rear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Luggage {
    None,
    /// Aluminium boxes.
    Boxes,
    /// Painted cases.
    Cases,
    /// Long painted bags beside the rear mudguard.
    Bags,
    /// Bags as [`Luggage::Bags`], and a trunk with a backrest.
    BagsAndTrunk,
}

/// Layout of the exhaust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Exhaust {
    /// One silencer low on the right that rises to the rear.
    Rising,
    /// One long silencer on each side.
    Pair,
    /// Two pipes, one above the other, on the right.
    Stacked,
    /// High along the seat, to be clear of water and stones.
    High,
    /// One silencer on each side that rises to the rear.
    TwinRising,
    /// Two mouths under the tail.
    UnderTail,
    /// A short mouth beside the swing arm's pivot, with its chamber under the engine.
    Stub,
    None,
}

/// Spokes of a cast rim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Cast {
    /// Five pairs.
    TwinFive,
    /// Three broad spokes.
    Three,
    Six,
    /// Ten thin spokes.
    Ten,
    /// Five spokes that fork.
    YFive,
}

/// Lamps of a fairing or a mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Eyes {
    /// Two slanted slits beside an air intake.
    Slits,
    /// Two lamps with a bright bowl each.
    Twins,
    /// One lamp across the nose.
    Broad,
    /// One tall lamp in the middle.
    Tall,
}

/// Technology of the lamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vehicle) enum LampEra {
    /// A bulb in front of a fluted bowl.
    Bulb,
    /// Bowls behind clear glass.
    Clear,
    /// Lenses of dark glass, light guides.
    Led,
}

/// Part of the engine that a fairing covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Flank {
    Full,
    /// The panel ends above the engine, over a belly pan.
    Open,
    /// The panel covers the engine, and its lower edge runs straight to the rear wheel.
    Long,
}

/// Frame of a bike without a cradle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Frame {
    /// A beam on each side.
    Beam,
    /// A lattice of tubes on each side.
    Trellis,
}

/// Differences between makes and models of one family.
#[derive(Debug, Clone)]
pub(super) struct Details {
    pub cast: Cast,
    /// True for cast rims in bright metal instead of black.
    pub pale_rims: bool,
    pub eyes: Eyes,
    pub era: LampEra,
    pub flank: Flank,
    pub frame: Frame,
    /// True if the lower half of a flank, or a tank's sides, are black.
    pub accent: bool,
    /// The tank's width as a ratio of the usual one, and metres by which its top is higher.
    pub tank: [f32; 2],
    /// Metres by which a stepped tail is higher.
    pub tail_rise: f32,
    /// Height of a wind screen, as a ratio of the usual one.
    pub screen: f32,
    /// True if a painted cover lies on the passenger's seat.
    pub solo: bool,
    /// True if the front mudguard is black.
    pub dark_guard: bool,
    /// True if the bowl of a round lamp is painted.
    pub painted_lamp: bool,
    /// Width of a scooter's apron and body, as a ratio of the usual one.
    pub apron: f32,
    /// Metres by which the lower end of a fairing's flank reaches further back.
    pub lean: f32,
}

/// The details of a family while make and model are not known.
impl Default for Details {
    fn default() -> Details {
        Details {
            cast: Cast::TwinFive,
            pale_rims: false,
            eyes: Eyes::Slits,
            era: LampEra::Clear,
            flank: Flank::Full,
            frame: Frame::Beam,
            accent: false,
            tank: [1.0, 0.0],
            tail_rise: 0.0,
            screen: 1.0,
            solo: false,
            dark_guard: false,
            painted_lamp: false,
            apron: 1.0,
            lean: 0.0,
        }
    }
}

/// Position of the front mudguard.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Guard {
    /// Close to the tyre, between two angles in radians, measured from the
    /// rear horizontal over the top.
    Hugging(f32, f32),
    /// Far above the tyre, under the fork's clamps.
    High,
}

/// The layout of one family. Lengths are in metres.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FamilyDesign {
    /// The family whose rules the parts follow.
    #[serde(rename = "built_as")]
    pub family: Family,
    /// The engine of the vehicle. Sheets define it in `engines`.
    #[serde(skip)]
    pub engine: EngineKind,
    pub wheelbase: f32,
    /// Radius and width of the front tyre.
    pub front_tyre: [f32; 2],
    /// Radius and width of the rear tyre.
    pub rear_tyre: [f32; 2],
    pub rim: Rim,
    /// True if the tyres have blocks.
    pub knobbly: bool,
    /// Number of brake discs on the front wheel. With 0 the rear wheel has none either.
    pub discs: usize,
    /// Angle of the steering axis from the vertical, in radians.
    pub rake: f32,
    pub head_z: f32,
    pub seat_z: f32,
    /// Distance of the seat's lowest point in front of the rear axle, as a ratio of the wheelbase.
    pub seat_ratio: f32,
    /// Height of the engine's lowest point.
    pub clearance: f32,
    /// Distance of the tail's end behind the rear axle.
    pub tail: f32,
    pub fork: Fork,
    /// Handlebar: rise over the clamp, sweep to the rear, half width.
    pub bars: [f32; 3],
    pub mirrors: bool,
    pub hand_guards: bool,
    /// True for tubes round the engine instead of beams beside it.
    pub cradle: bool,
    /// True for a shock absorber on each side instead of one in the middle.
    pub twin_shocks: bool,
    /// True for bright metal instead of black.
    pub bright: bool,
    /// True for cooling fins and no radiator.
    pub air_cooled: bool,
    pub tank: TankForm,
    pub seat: SeatForm,
    pub nose: Nose,
    pub luggage: Luggage,
    pub exhaust: Exhaust,
    pub guard: Guard,
    /// Differences that make and model decide. No sheet defines them.
    #[serde(skip)]
    pub details: Details,
}

/// Wheelbases that are accepted, in metres. Outside this range parts would lie inside each other.
const WHEELBASES_M: std::ops::RangeInclusive<f32> = 0.7..=2.5;
/// Tyre radii that are accepted, in metres. Outside this range parts would lie inside each other.
const TYRES_M: std::ops::RangeInclusive<f32> = 0.1..=0.5;

impl FamilyDesign {
    /// Fails with the key of a number that no two-wheeler can have, and the range that is accepted.
    pub(super) fn check(&self) -> Result<(), String> {
        let held = [
            ("wheelbase", self.wheelbase, WHEELBASES_M),
            ("front_tyre", self.front_tyre[0], TYRES_M),
            ("rear_tyre", self.rear_tyre[0], TYRES_M),
        ];
        for (key, metres, range) in held {
            if !range.contains(&metres) {
                return Err(format!("{key}: {metres} m is not between {} and {} m", range.start(), range.end()));
            }
        }
        Ok(())
    }
}

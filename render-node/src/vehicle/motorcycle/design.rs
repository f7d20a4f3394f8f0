//! How a two-wheeler is laid out: sizes in natural metres and which parts hang where. The sheets of the families say it
//! (`render-node/sheets/two-wheelers/families`); the neighbours build the parts, `fit` brings a vehicle's own dimensions in.

use serde::Deserialize;

use super::engine_kind::Engine;
use super::style::Family;

/// What holds a tyre.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rim {
    Cast,
    Wires,
    /// Pressed steel, as on old scooters.
    Dish,
}

/// What the fork's legs look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fork {
    /// Bright tubes slide into thick lower legs.
    Telescopic,
    /// Thick above, thin below.
    UpsideDown,
    /// Telescopic, its tubes under rubber bellows or covers.
    Covered,
    /// Slim legs under a body, one short link at the axle.
    Hidden,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Tank {
    /// Broad shoulders, knees' hollows.
    Modern,
    /// A rounded loaf with rubber pads for the knees.
    Loaf,
    /// A drop, low and stretched.
    Drop,
    /// Narrow, between shrouds.
    Slim,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Seat {
    /// Rider low, passenger raised, over a painted tail.
    Stepped,
    /// One level cushion over a mudguard.
    Bench,
    /// A bench that ends in a painted hump.
    Hump,
    /// Deep saddle with a pillion pad.
    Saddle,
    /// Two armchairs.
    Armchair,
    /// Long, narrow and flat, from the tank to a slim tail.
    Rail,
}

/// What stands before the handlebar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Nose {
    RoundLamp,
    /// A round lamp in a small cowl.
    Bikini,
    /// The angular mask of modern naked bikes.
    Wedge,
    /// Full fairing, low screen.
    Sport,
    /// Full fairing, tall screen, room for the hands.
    SportTouring,
    /// Full fairing as wide as the rider, with leg shields.
    Touring,
    /// Wide cowl on the fork around one lamp.
    Batwing,
    /// Wide cowl on the frame with two lamps.
    Shark,
    /// Beak over the wheel, tall screen, shrouds beside the tank.
    Beak,
    /// Small lamp in a plate.
    Mask,
    /// Number plate, no lamp.
    Plate,
    /// The body brings its own.
    None,
}

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
    /// The same and a trunk with a backrest.
    BagsAndTrunk,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Exhaust {
    /// One silencer low on the right that rises to the rear.
    Rising,
    /// One long silencer on each side.
    Pair,
    /// Two pipes one above the other on the right.
    Stacked,
    /// High along the seat, for water and stones.
    High,
    /// One silencer on each side that rises to the rear.
    TwinRising,
    /// Two mouths under the tail.
    UnderTail,
    /// A short mouth beside the swing arm's pivot, its chamber under the engine.
    Stub,
    None,
}

/// Spokes of a cast rim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Cast {
    /// Five pairs.
    TwinFive,
    /// Three broad ones.
    Three,
    Six,
    /// Ten thin ones.
    Ten,
    /// Five that fork.
    YFive,
}

/// What a fairing or mask looks out of.
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

/// What lamps are made of at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vehicle) enum Era {
    /// A bulb before a fluted bowl.
    Bulb,
    /// Bowls behind clear glass.
    Clear,
    /// Lenses of dark glass, light guides.
    Led,
}

/// How much of the engine a fairing covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Flank {
    Full,
    /// It ends above the engine, over a belly pan.
    Open,
    /// Covers the engine, its lower edge straight to the rear wheel.
    Long,
}

/// What carries a bike without a cradle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Frame {
    /// A beam on each side.
    Beam,
    /// A lattice of tubes on each side.
    Trellis,
}

/// What makes and models of one family do differently.
#[derive(Debug, Clone)]
pub(super) struct Details {
    pub cast: Cast,
    /// Cast rims in bright metal instead of black.
    pub pale_rims: bool,
    pub eyes: Eyes,
    pub era: Era,
    pub flank: Flank,
    pub frame: Frame,
    /// The lower half of a flank, or a tank's sides, in black.
    pub accent: bool,
    /// Of tank: share of the width, and metres that its top is higher.
    pub tank: [f32; 2],
    /// Metres that a stepped tail is higher.
    pub tail_rise: f32,
    /// Height of a wind screen, as a share.
    pub screen: f32,
    /// A painted cover on the passenger's seat.
    pub solo: bool,
    /// Front mudguard in black.
    pub dark_guard: bool,
    /// The bowl of a round lamp in paint.
    pub painted_lamp: bool,
    /// Width of a scooter's apron and body, as a share.
    pub apron: f32,
    /// Metres by which the lower end of a fairing's flank reaches further back.
    pub lean: f32,
}

/// Those of a family whose make and model are not known yet.
impl Default for Details {
    fn default() -> Details {
        Details {
            cast: Cast::TwinFive,
            pale_rims: false,
            eyes: Eyes::Slits,
            era: Era::Clear,
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

/// Where the front mudguard goes.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Guard {
    /// Close to the tyre, between two angles measured from the rear horizontal over the top.
    Hugging(f32, f32),
    /// Far above the tyre, under the fork's clamps.
    High,
}

/// One family's layout.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Design {
    /// Whose rules the parts follow.
    #[serde(rename = "built_as")]
    pub family: Family,
    /// The vehicle's; sheets say it elsewhere.
    #[serde(skip)]
    pub engine: Engine,
    pub wheelbase: f32,
    /// Radius and width.
    pub front_tyre: [f32; 2],
    pub rear_tyre: [f32; 2],
    pub rim: Rim,
    /// Blocks on the tyres.
    pub knobbly: bool,
    pub discs: usize,
    /// Steering axis from the vertical, radians.
    pub rake: f32,
    pub head_z: f32,
    pub seat_z: f32,
    /// The seat's lowest point before the rear axle, as a share of the wheelbase.
    pub seat_share: f32,
    /// Lowest point of the engine.
    pub clearance: f32,
    /// End of the tail behind the rear axle.
    pub tail: f32,
    pub fork: Fork,
    /// Handlebar: rise over the clamp, sweep to the rear, half width.
    pub bars: [f32; 3],
    pub mirrors: bool,
    pub hand_guards: bool,
    /// Tubes round the engine instead of beams beside it.
    pub cradle: bool,
    /// A shock absorber on each side instead of one in the middle.
    pub twin_shocks: bool,
    /// Bright metal instead of black.
    pub bright: bool,
    /// Cooling fins, no radiator.
    pub air_cooled: bool,
    pub tank: Tank,
    pub seat: Seat,
    pub nose: Nose,
    pub luggage: Luggage,
    pub exhaust: Exhaust,
    pub guard: Guard,
    /// What make and model decide; no sheet says it.
    #[serde(skip)]
    pub details: Details,
}

/// Metres that a wheelbase and a tyre's radius may have: outside of them parts would lie inside each other.
const WHEELBASES_M: std::ops::RangeInclusive<f32> = 0.7..=2.5;
const TYRES_M: std::ops::RangeInclusive<f32> = 0.1..=0.5;

impl Design {
    /// Says which number no two-wheeler can have.
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

//! How each family of two-wheelers is laid out: sizes in natural metres and which parts hang where. Data only; the
//! neighbours build the parts, `fit` brings a vehicle's own dimensions in.

use super::style::{Engine, Family, Style};

/// What holds a tyre.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rim {
    Cast,
    Wires,
    /// Pressed steel, as on old scooters.
    Dish,
}

/// What the fork's legs look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flank {
    Full,
    /// It ends above the engine, over a belly pan.
    Open,
    /// Covers the engine, its lower edge straight to the rear wheel.
    Long,
}

/// What carries a bike without a cradle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl Details {
    const PLAIN: Details = Details {
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
    };
}

/// Where the front mudguard goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Guard {
    /// Close to the tyre, between two angles measured from the rear horizontal over the top.
    Hugging(f32, f32),
    /// Far above the tyre, under the fork's clamps.
    High,
}

/// One family's layout.
#[derive(Debug, Clone)]
pub(super) struct Design {
    pub family: Family,
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
    pub details: Details,
}

impl Design {
    /// A modern naked bike: what the others are told apart from.
    fn naked(style: Style) -> Design {
        Design {
            family: style.family,
            engine: style.engine,
            wheelbase: 1.43,
            front_tyre: [0.300, 0.120],
            rear_tyre: [0.315, 0.180],
            rim: Rim::Cast,
            knobbly: false,
            discs: 2,
            rake: 0.43,
            head_z: 0.895,
            seat_z: 0.805,
            seat_share: 0.27,
            clearance: 0.17,
            tail: 0.36,
            fork: Fork::UpsideDown,
            bars: [0.075, 0.12, 0.40],
            mirrors: true,
            hand_guards: false,
            cradle: false,
            twin_shocks: false,
            bright: false,
            air_cooled: false,
            tank: Tank::Modern,
            seat: Seat::Stepped,
            nose: Nose::Wedge,
            luggage: Luggage::None,
            exhaust: Exhaust::Rising,
            guard: Guard::Hugging(0.90, 2.45),
            details: Details::PLAIN,
        }
    }

    fn classic(style: Style) -> Design {
        Design {
            wheelbase: 1.45,
            front_tyre: [0.325, 0.100],
            rear_tyre: [0.320, 0.130],
            rim: Rim::Wires,
            discs: 1,
            rake: 0.45,
            head_z: 0.89,
            seat_z: 0.79,
            seat_share: 0.24,
            clearance: 0.16,
            tail: 0.34,
            fork: Fork::Covered,
            bars: [0.085, 0.16, 0.38],
            cradle: true,
            twin_shocks: true,
            bright: true,
            air_cooled: true,
            tank: Tank::Loaf,
            seat: Seat::Bench,
            nose: Nose::RoundLamp,
            exhaust: Exhaust::Pair,
            guard: Guard::Hugging(0.45, 2.55),
            ..Design::naked(style)
        }
    }

    fn cruiser(style: Style) -> Design {
        Design {
            wheelbase: 1.62,
            front_tyre: [0.335, 0.115],
            rear_tyre: [0.325, 0.170],
            rim: Rim::Wires,
            discs: 1,
            rake: 0.58,
            head_z: 0.90,
            seat_z: 0.69,
            seat_share: 0.23,
            clearance: 0.14,
            tail: 0.36,
            fork: Fork::Telescopic,
            bars: [0.13, 0.30, 0.44],
            cradle: true,
            twin_shocks: true,
            bright: true,
            air_cooled: true,
            tank: Tank::Drop,
            seat: Seat::Saddle,
            nose: Nose::RoundLamp,
            exhaust: Exhaust::Stacked,
            guard: Guard::Hugging(0.50, 2.65),
            ..Design::naked(style)
        }
    }

    fn off_road(style: Style) -> Design {
        Design {
            wheelbase: 1.48,
            front_tyre: [0.350, 0.085],
            rear_tyre: [0.335, 0.120],
            rim: Rim::Wires,
            knobbly: true,
            discs: 1,
            rake: 0.46,
            head_z: 1.01,
            seat_z: 0.90,
            seat_share: 0.30,
            clearance: 0.29,
            tail: 0.37,
            bars: [0.11, 0.12, 0.41],
            mirrors: false,
            tank: Tank::Slim,
            seat: Seat::Rail,
            nose: Nose::Plate,
            exhaust: Exhaust::High,
            guard: Guard::High,
            ..Design::naked(style)
        }
    }

    fn scooter(style: Style) -> Design {
        Design {
            wheelbase: 1.30,
            front_tyre: [0.235, 0.110],
            rear_tyre: [0.235, 0.130],
            discs: 1,
            rake: 0.46,
            head_z: 0.87,
            seat_z: 0.77,
            clearance: 0.18,
            tail: 0.36,
            fork: Fork::Telescopic,
            bars: [0.13, 0.11, 0.35],
            nose: Nose::None,
            exhaust: Exhaust::None,
            guard: Guard::Hugging(0.75, 2.65),
            ..Design::naked(style)
        }
    }

    /// A classic with low bars and a humped seat.
    fn cafe(style: Style) -> Design {
        Design {
            bars: [-0.03, 0.10, 0.36],
            seat: Seat::Hump,
            nose: Nose::Bikini,
            seat_z: 0.80,
            ..Design::classic(style)
        }
    }

    /// A classic for rough ways.
    fn scrambler(style: Style) -> Design {
        Design {
            knobbly: true,
            front_tyre: [0.330, 0.110],
            rear_tyre: [0.322, 0.140],
            clearance: 0.20,
            head_z: 0.91,
            seat_z: 0.81,
            bars: [0.10, 0.14, 0.42],
            exhaust: Exhaust::High,
            guard: Guard::Hugging(0.80, 2.35),
            ..Design::classic(style)
        }
    }

    fn sport(style: Style) -> Design {
        Design {
            wheelbase: 1.40,
            rake: 0.41,
            head_z: 0.86,
            seat_z: 0.81,
            bars: [-0.06, 0.08, 0.34],
            mirrors: false,
            nose: Nose::Sport,
            ..Design::naked(style)
        }
    }

    fn sport_tourer(style: Style) -> Design {
        Design {
            wheelbase: 1.50,
            rake: 0.44,
            head_z: 0.92,
            seat_z: 0.80,
            tail: 0.42,
            bars: [0.03, 0.16, 0.37],
            mirrors: false,
            nose: Nose::SportTouring,
            luggage: if style.luggage { Luggage::Cases } else { Luggage::None },
            ..Design::naked(style)
        }
    }

    fn tourer(style: Style) -> Design {
        Design {
            wheelbase: 1.69,
            front_tyre: [0.325, 0.130],
            rear_tyre: [0.320, 0.190],
            rake: 0.50,
            head_z: 0.97,
            seat_z: 0.745,
            seat_share: 0.26,
            clearance: 0.15,
            tail: 0.52,
            fork: Fork::Telescopic,
            bars: [0.06, 0.30, 0.38],
            mirrors: false,
            bright: true,
            tank: Tank::Modern,
            seat: Seat::Armchair,
            nose: Nose::Touring,
            luggage: Luggage::BagsAndTrunk,
            exhaust: Exhaust::Pair,
            guard: Guard::Hugging(0.50, 2.75),
            ..Design::naked(style)
        }
    }

    /// A cruiser with a fairing and bags.
    fn bagger(style: Style) -> Design {
        Design {
            rim: Rim::Cast,
            discs: 2,
            rake: 0.47,
            head_z: 0.96,
            seat_z: 0.71,
            seat_share: 0.24,
            tail: 0.44,
            fork: Fork::Covered,
            bars: [0.10, 0.30, 0.44],
            nose: if style.shark { Nose::Shark } else { Nose::Batwing },
            seat: if style.luggage { Seat::Armchair } else { Seat::Saddle },
            luggage: if style.luggage { Luggage::BagsAndTrunk } else { Luggage::Bags },
            exhaust: Exhaust::Pair,
            guard: Guard::Hugging(0.35, 2.85),
            ..Design::cruiser(style)
        }
    }

    fn adventure(style: Style) -> Design {
        Design {
            wheelbase: 1.56,
            front_tyre: [0.335, 0.115],
            rear_tyre: [0.325, 0.165],
            rim: Rim::Wires,
            rake: 0.45,
            head_z: 0.99,
            seat_z: 0.85,
            clearance: 0.22,
            tail: 0.48,
            bars: [0.11, 0.14, 0.42],
            hand_guards: true,
            nose: Nose::Beak,
            luggage: if style.luggage { Luggage::Boxes } else { Luggage::None },
            guard: Guard::Hugging(0.95, 2.45),
            ..Design::naked(style)
        }
    }

    /// Off the road, with lamps and mirrors.
    fn enduro(style: Style) -> Design {
        Design {
            mirrors: true,
            nose: Nose::Mask,
            head_z: 0.99,
            seat_z: 0.88,
            clearance: 0.27,
            tail: 0.40,
            ..Design::off_road(style)
        }
    }

    /// An off-road bike on road tyres.
    fn supermoto(style: Style) -> Design {
        Design {
            front_tyre: [0.305, 0.120],
            rear_tyre: [0.310, 0.160],
            knobbly: false,
            head_z: 0.96,
            seat_z: 0.86,
            clearance: 0.26,
            mirrors: true,
            nose: Nose::Mask,
            ..Design::off_road(style)
        }
    }

    fn trial(style: Style) -> Design {
        Design {
            wheelbase: 1.33,
            front_tyre: [0.345, 0.075],
            rear_tyre: [0.335, 0.110],
            head_z: 0.93,
            seat_z: 0.70,
            clearance: 0.31,
            tail: 0.36,
            bars: [0.14, 0.10, 0.41],
            ..Design::off_road(style)
        }
    }

    fn mini(style: Style) -> Design {
        Design {
            wheelbase: 1.18,
            front_tyre: [0.235, 0.135],
            rear_tyre: [0.235, 0.145],
            rim: Rim::Cast,
            rake: 0.44,
            head_z: 0.75,
            seat_z: 0.69,
            tail: 0.27,
            fork: Fork::UpsideDown,
            bars: [0.11, 0.13, 0.36],
            exhaust: Exhaust::High,
            bright: false,
            guard: Guard::Hugging(0.80, 2.40),
            ..Design::classic(style)
        }
    }

    fn underbone(style: Style) -> Design {
        Design {
            wheelbase: 1.22,
            front_tyre: [0.288, 0.075],
            rear_tyre: [0.288, 0.080],
            rim: Rim::Wires,
            discs: 0,
            rake: 0.46,
            head_z: 0.86,
            seat_z: 0.75,
            clearance: 0.19,
            tail: 0.36,
            bars: [0.09, 0.14, 0.34],
            fork: Fork::Hidden,
            bright: true,
            air_cooled: true,
            guard: Guard::Hugging(0.35, 2.55),
            ..Design::scooter(style)
        }
    }

    fn vespa(style: Style) -> Design {
        Design {
            wheelbase: 1.27,
            front_tyre: [0.225, 0.100],
            rear_tyre: [0.225, 0.110],
            rim: Rim::Dish,
            discs: 0,
            head_z: 0.88,
            seat_z: 0.78,
            tail: 0.31,
            bars: [0.10, 0.11, 0.35],
            fork: Fork::Hidden,
            ..Design::scooter(style)
        }
    }

    /// A long scooter, also one with two front wheels or a roof.
    fn long_scooter(style: Style) -> Design {
        Design {
            wheelbase: 1.56,
            front_tyre: [0.270, 0.120],
            rear_tyre: [0.262, 0.160],
            discs: if style.family == Family::Tilting { 1 } else { 2 },
            rake: 0.45,
            head_z: 0.92,
            seat_z: 0.77,
            seat_share: 0.30,
            tail: 0.42,
            bars: [0.10, 0.14, 0.37],
            mirrors: style.family != Family::Cabin,
            ..Design::scooter(style)
        }
    }

    /// The layout a style is drawn with.
    pub(super) fn of(style: Style) -> Design {
        match style.family {
            Family::Naked => Design::naked(style),
            Family::Classic => Design::classic(style),
            Family::Cafe => Design::cafe(style),
            Family::Scrambler => Design::scrambler(style),
            Family::Sport => Design::sport(style),
            Family::SportTourer => Design::sport_tourer(style),
            Family::Tourer => Design::tourer(style),
            Family::Bagger => Design::bagger(style),
            Family::Cruiser => {
                Design { luggage: if style.luggage { Luggage::Bags } else { Luggage::None }, ..Design::cruiser(style) }
            }
            Family::Adventure => Design::adventure(style),
            Family::Enduro => Design::enduro(style),
            Family::Motocross => Design::off_road(style),
            Family::Supermoto => Design::supermoto(style),
            Family::Trial => Design::trial(style),
            Family::Mini => Design::mini(style),
            Family::Underbone => Design::underbone(style),
            Family::Scooter => Design::scooter(style),
            Family::Vespa => Design::vespa(style),
            Family::MaxiScooter | Family::Tilting | Family::Cabin => Design::long_scooter(style),
        }
    }
}

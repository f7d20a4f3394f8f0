//! What tells two-wheelers of one family apart: how their make draws wheels, lamps, frames and fairings, and what the model
//! moves within it. A make that people know has its own row; for the others, and for each model, the name decides,
//! always alike. Never the dimensions, which are known.

use cyclorama_core::Vehicle;

use super::design::{Cast, Design, Era, Exhaust, Eyes, Flank, Fork, Frame, Guard, Luggage, Nose, Rim, Seat};
use super::style::{Engine, Family};
use crate::vehicle::chance::{chances, pick};

/// Before it, sport bikes look out of wide lamps and stand on telescopic forks; slits come later.
const SLITS_SINCE: u16 = 2004;
/// Lamps have fluted bowls until then, and bowls behind clear glass until light comes from diodes.
const CLEAR_LAMPS_AFTER: u16 = 1996;
const LED_LAMPS_SINCE: u16 = 2015;
/// Silencers hide under tail or engine.
const HIDDEN_SILENCERS: std::ops::RangeInclusive<u16> = 2000..=2030;

/// How a make draws.
#[derive(Clone, Copy)]
struct Hand {
    cast: Cast,
    eyes: Eyes,
    frame: Frame,
    exhaust: Exhaust,
}

/// Makes that are known by it.
const HANDS: &[(&[&str], Hand)] = &[
    (&["ducati"], hand(Cast::YFive, Eyes::Slits, Frame::Trellis, Exhaust::UnderTail)),
    (&["mv-agusta", "cagiva"], hand(Cast::YFive, Eyes::Tall, Frame::Trellis, Exhaust::UnderTail)),
    (&["ktm", "husqvarna", "gasgas"], hand(Cast::Six, Eyes::Tall, Frame::Trellis, Exhaust::Stub)),
    (&["bmw"], hand(Cast::Ten, Eyes::Twins, Frame::Beam, Exhaust::Rising)),
    (&["triumph"], hand(Cast::TwinFive, Eyes::Twins, Frame::Beam, Exhaust::Stub)),
    (&["yamaha"], hand(Cast::TwinFive, Eyes::Slits, Frame::Beam, Exhaust::Stub)),
    (&["kawasaki"], hand(Cast::Six, Eyes::Slits, Frame::Beam, Exhaust::Rising)),
    (&["honda"], hand(Cast::YFive, Eyes::Broad, Frame::Beam, Exhaust::Rising)),
    (&["suzuki"], hand(Cast::Three, Eyes::Tall, Frame::Beam, Exhaust::Rising)),
    (&["aprilia"], hand(Cast::Three, Eyes::Twins, Frame::Beam, Exhaust::Rising)),
    (&["harley-davidson", "indian", "victory"], hand(Cast::Ten, Eyes::Broad, Frame::Beam, Exhaust::Rising)),
];

const fn hand(cast: Cast, eyes: Eyes, frame: Frame, exhaust: Exhaust) -> Hand {
    Hand { cast, eyes, frame, exhaust }
}

fn hand_of(make: &str) -> Hand {
    let known = HANDS.iter().find(|(makes, _)| makes.contains(&make)).map(|(_, hand)| *hand);
    known.unwrap_or_else(|| {
        let mut chance = chances(make);
        Hand {
            cast: pick(&[Cast::TwinFive, Cast::Three, Cast::Six, Cast::Ten, Cast::YFive], chance()),
            eyes: pick(&[Eyes::Slits, Eyes::Twins, Eyes::Broad, Eyes::Tall], chance()),
            frame: if chance() > 0.4 { Frame::Trellis } else { Frame::Beam },
            exhaust: pick(&[Exhaust::Rising, Exhaust::Rising, Exhaust::Stub], chance()),
        }
    })
}

/// What a model's name draws for what is peculiar to its family; each from -1 to 1.
struct Draws {
    first: f32,
    second: f32,
    third: f32,
    /// How far the steering head is moved up.
    up: f32,
    /// How far the wheels are moved apart.
    along: f32,
    /// How far the fork is laid back.
    steep: f32,
    /// How far the handlebar is swept back.
    swept: f32,
}

/// Changes a family's layout for one vehicle. Its years differ only where its time shows.
pub(super) fn vary(design: &mut Design, vehicle: &Vehicle) {
    let hand = hand_of(&vehicle.make);
    let mut chance = chances(&format!("{}/{}", vehicle.make, vehicle.model));
    vary_details(design, vehicle.year, &hand, &mut chance);
    let draws = vary_sizes(design, &mut chance);
    match design.family {
        Family::Naked | Family::Sport => vary_roadster(design, vehicle.year, &hand, &draws),
        Family::SportTourer | Family::Adventure => {
            design.exhaust = if draws.first > 0.5 { Exhaust::TwinRising } else { Exhaust::Rising };
            if design.family == Family::Adventure && draws.second > 0.1 {
                design.rim = Rim::Cast;
            }
        }
        Family::Classic | Family::Cafe | Family::Scrambler => vary_classic(design, &draws),
        Family::Cruiser | Family::Bagger => vary_cruiser(design, &draws),
        Family::Enduro | Family::Motocross | Family::Supermoto | Family::Trial => {
            design.details.tank[1] *= 0.6;
            design.tail += 0.02 * draws.third;
        }
        Family::Scooter | Family::MaxiScooter | Family::Tilting => vary_scooter(design, &draws),
        Family::Tourer | Family::Mini | Family::Underbone | Family::Vespa | Family::Cabin => {}
    }
}

/// What make and year decide, and what the model draws for details.
fn vary_details(design: &mut Design, year: u16, hand: &Hand, chance: &mut impl FnMut() -> f32) {
    let d = &mut design.details;
    d.cast = hand.cast;
    d.eyes = if year < SLITS_SINCE && hand.eyes == Eyes::Slits { Eyes::Broad } else { hand.eyes };
    d.era = match year {
        ..=CLEAR_LAMPS_AFTER => Era::Bulb,
        LED_LAMPS_SINCE.. => Era::Led,
        _ => Era::Clear,
    };
    d.frame = hand.frame;
    d.pale_rims = chance() > 0.45;
    d.tank = [1.0 + 0.11 * chance(), 0.020 * chance()];
    d.tail_rise = 0.045 * chance();
    d.screen = 1.0 + 0.22 * chance();
    d.solo = chance() > 0.45 && matches!(design.family, Family::Sport | Family::Naked);
    d.accent = chance() > 0.1;
    d.painted_lamp = chance() > 0.3;
    // From the front, other families show their paint on the mudguard, and hardly elsewhere.
    d.dark_guard = chance() > 0.2 && matches!(design.nose, Nose::Sport | Nose::SportTouring | Nose::None);
    d.apron = 1.0 + 0.09 * chance();
    d.flank = pick(&[Flank::Full, Flank::Open, Flank::Long], chance());
    d.lean = 0.045 * chance();
}

/// Moves joints and tyres a little, and gives what was drawn for it.
fn vary_sizes(design: &mut Design, chance: &mut impl FnMut() -> f32) -> Draws {
    let (first, second, third) = (chance(), chance(), chance());
    let (up, along, steep) = (chance(), chance(), chance());
    design.head_z += 0.016 * up;
    design.seat_z += 0.014 * chance();
    design.seat_share += 0.012 * chance();
    design.wheelbase *= 1.0 + 0.02 * along;
    design.rake += 0.022 * steep;
    design.tail += 0.035 * chance();
    design.clearance += 0.010 * chance();
    for tyre in [&mut design.front_tyre, &mut design.rear_tyre] {
        tyre[1] *= 1.0 + 0.09 * chance();
    }
    let swept = chance();
    design.bars[1] += 0.025 * swept;
    design.bars[2] *= 1.02 + 0.04 * chance();

    Draws { first, second, third, up, along, steep, swept }
}

/// Silencers, forks and lamps of naked and sport bikes.
fn vary_roadster(design: &mut Design, year: u16, hand: &Hand, draws: &Draws) {
    let modern = HIDDEN_SILENCERS.contains(&year);
    let ways = [hand.exhaust, hand.exhaust, Exhaust::Rising, Exhaust::TwinRising];
    design.exhaust =
        if modern { pick(&ways, draws.first) } else { pick(&[Exhaust::Rising, Exhaust::TwinRising], draws.first) };
    if year < SLITS_SINCE {
        design.fork = Fork::Telescopic;
    }
    design.details.tail_rise += if design.family == Family::Sport { 0.015 } else { 0.0 };
    // Old nakeds look out of one round lamp; some makes still do.
    let round = year < 2000 || hand.frame == Frame::Trellis && draws.second > 0.2 || draws.second > 0.75;
    if design.family == Family::Naked && round {
        design.nose = if draws.third > 0.5 { Nose::Bikini } else { Nose::RoundLamp };
    }
}

/// Seats, forks and rims of classics.
fn vary_classic(design: &mut Design, draws: &Draws) {
    let single = matches!(design.engine, Engine::Inline(1));
    if design.family == Family::Classic && !single && draws.first > 0.55 {
        design.seat = Seat::Hump;
    }
    design.fork = if draws.third > 0.0 { Fork::Telescopic } else { Fork::Covered };
    design.rim = if draws.swept > 0.45 { Rim::Cast } else { Rim::Wires };
    design.bars[0] += 0.03 * draws.up;
    design.front_tyre[0] *= 1.0 + 0.025 * draws.along;
}

/// How bright cruisers are, and how long and low.
fn vary_cruiser(design: &mut Design, draws: &Draws) {
    design.bright = design.family == Family::Bagger || draws.first > -0.45;
    if design.family == Family::Cruiser {
        design.rim = if draws.second > 0.0 { Rim::Cast } else { Rim::Wires };
        // Long and low, or short with high bars.
        design.bars[0] += 0.07 * draws.third;
        design.rake += 0.05 * draws.steep;
        design.front_tyre[0] *= 1.0 + 0.05 * draws.along;
        let deep = if design.bright && draws.up > 0.0 { 0.32 } else { 0.85 };
        design.guard = Guard::Hugging(deep, 2.65);
        if draws.swept > 0.35 && design.luggage == Luggage::None {
            design.exhaust = Exhaust::Pair;
        }
        if draws.third < -0.55 && design.luggage == Luggage::None {
            design.seat = Seat::Hump;
        }
    }
}

/// Wheel sizes and cases of scooters.
fn vary_scooter(design: &mut Design, draws: &Draws) {
    let large = design.family == Family::Scooter && draws.first > 0.35;
    let grown = if large { 1.24 } else { 1.0 + 0.05 * draws.second };
    design.front_tyre[0] *= grown;
    design.rear_tyre[0] *= 1.0 + 0.8 * (grown - 1.0);
    if large {
        design.front_tyre[1] *= 0.85;
        design.rear_tyre[1] *= 0.85;
    }
    if draws.third > 0.6 && design.luggage == Luggage::None {
        design.luggage = Luggage::Cases;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_makes_with_a_row_are_those_that_clients_are_told_of() {
        let mut makes: Vec<&str> = HANDS.iter().flat_map(|(makes, _)| makes.iter().copied()).collect();
        makes.sort_unstable();
        assert_eq!(makes, cyclorama_drawings::KNOWN_BY_TWO_WHEELERS);
    }
}

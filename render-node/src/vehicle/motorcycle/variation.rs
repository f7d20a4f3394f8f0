//! Differences between two-wheelers of one family. The make chooses wheels, lamps, frames and
//! exhausts, and the model changes sizes and details.
//!
//! A well-known make has its own row. For other makes, and for each model, a choice is
//! derived from the name, so that it is always the same. Dimensions are never changed
//! here, because they are known.

use cyclorama_core::Vehicle;
use serde::Deserialize;

use super::design::{
    Cast, Exhaust, Eyes, FamilyDesign, Flank, Fork, Frame, Guard, LampEra, Luggage, Nose, Rim, SeatForm,
};
use super::engine_kind::EngineKind;
use super::style::Family;
use crate::vehicle::chance::{chances, pick};

/// Ratio of the handlebars' average width to that of their sheet.
const BARS_WIDER: f32 = 1.02;

/// The choices of makes, and the ranges of models. `variation.toml` of the
/// two-wheelers' sheets explains each number.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variation {
    years: Years,
    model: Moves,
    ratios: Shares,
    make: Vec<Make>,
    other_makes: OtherMakes,
}

/// Model years from or until which a technology is drawn.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Years {
    slit_lamps_since: u16,
    clear_lamps_after: u16,
    led_lamps_since: u16,
    masks_since: u16,
    hidden_silencers: [u16; 2],
}

/// Greatest change of each number of a layout by a model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Moves {
    head_z: f32,
    seat_z: f32,
    seat_ratio: f32,
    wheelbase_ratio: f32,
    rake: f32,
    tail: f32,
    clearance: f32,
    tyre_width_ratio: f32,
    bar_sweep: f32,
    bar_width_ratio: f32,
    tank_width_ratio: f32,
    tank_height: f32,
    tail_rise: f32,
    screen_ratio: f32,
    apron_ratio: f32,
    fairing_lean: f32,
}

/// Ratios of all names that have a detail.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shares {
    pale_rims: Share,
    solo_seats: Share,
    accents: Share,
    painted_lamps: Share,
    dark_guards: Share,
}

/// A ratio of all names, from 0 to 1.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
struct Share(f64);

impl Share {
    /// Returns true if a name is among them, by a number between -1 and 1
    /// that is derived from the name.
    fn takes(self, chance: f32) -> bool {
        chance > (1.0 - 2.0 * self.0) as f32
    }
}

/// The choices of known makes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Make {
    makes: Vec<String>,
    cast: Cast,
    eyes: Eyes,
    frame: Frame,
    exhaust: Exhaust,
}

/// The choices that a make without a row draws from.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct OtherMakes {
    cast: Vec<Cast>,
    eyes: Vec<Eyes>,
    exhaust: Vec<Exhaust>,
    trellis: Share,
}

/// The choices of one make.
struct Hand {
    cast: Cast,
    eyes: Eyes,
    frame: Frame,
    exhaust: Exhaust,
}

/// Numbers that are derived from a model's name for the peculiarities of its
/// family. Each is from -1 to 1.
struct Draws {
    first: f32,
    second: f32,
    third: f32,
    /// Distance by which the steering head moves up.
    up: f32,
    /// Distance by which the wheels move apart.
    along: f32,
    /// Angle by which the fork is laid back.
    steep: f32,
    /// Distance by which the handlebar is swept back.
    swept: f32,
}

impl Variation {
    /// Reads the numbers of a text. The error names the key.
    pub(super) fn read(text: &str) -> Result<Variation, String> {
        let variation: Variation = toml::from_str(text).map_err(|error| error.to_string())?;
        let others = &variation.other_makes;
        for (key, count) in
            [("cast", others.cast.len()), ("eyes", others.eyes.len()), ("exhaust", others.exhaust.len())]
        {
            if count == 0 {
                return Err(format!("other_makes.{key}: must list something to choose from"));
            }
        }
        let mut makes: Vec<&String> = variation.make.iter().flat_map(|row| &row.makes).collect();
        makes.sort_unstable();
        if let Some(twice) = makes.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("make: `{}` is in two rows", twice[0]));
        }
        Ok(variation)
    }

    /// Returns the choices of a make: those of its row, or else ones derived from its name.
    fn hand_of(&self, make: &str) -> Hand {
        if let Some(known) = self.make.iter().find(|row| row.makes.iter().any(|known| known == make)) {
            return Hand { cast: known.cast, eyes: known.eyes, frame: known.frame, exhaust: known.exhaust };
        }
        let (others, mut chance) = (&self.other_makes, chances(make));
        Hand {
            cast: pick(&others.cast, chance()),
            eyes: pick(&others.eyes, chance()),
            frame: if others.trellis.takes(chance()) { Frame::Trellis } else { Frame::Beam },
            exhaust: pick(&others.exhaust, chance()),
        }
    }

    /// Changes a family's layout for one vehicle. The years of one model only differ in the
    /// details that depend on the year.
    pub(super) fn vary(&self, design: &mut FamilyDesign, vehicle: &Vehicle) {
        let hand = self.hand_of(&vehicle.make);
        let mut chance = chances(&format!("{}/{}", vehicle.make, vehicle.model));
        self.vary_details(design, vehicle.year, &hand, &mut chance);
        let draws = self.vary_sizes(design, &mut chance);
        match design.family {
            Family::Naked | Family::Sport => self.vary_roadster(design, vehicle.year, &hand, &draws),
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

    /// Sets the details that make and year decide, and those that are
    /// derived from the model's name.
    fn vary_details(&self, design: &mut FamilyDesign, year: u16, hand: &Hand, chance: &mut impl FnMut() -> f32) {
        let (years, moves, ratios) = (&self.years, &self.model, &self.ratios);
        let d = &mut design.details;
        d.cast = hand.cast;
        d.eyes = if year < years.slit_lamps_since && hand.eyes == Eyes::Slits { Eyes::Broad } else { hand.eyes };
        d.era = if year <= years.clear_lamps_after {
            LampEra::Bulb
        } else if year < years.led_lamps_since {
            LampEra::Clear
        } else {
            LampEra::Led
        };
        d.frame = hand.frame;
        d.pale_rims = ratios.pale_rims.takes(chance());
        d.tank = [1.0 + moves.tank_width_ratio * chance(), moves.tank_height * chance()];
        d.tail_rise = moves.tail_rise * chance();
        d.screen = 1.0 + moves.screen_ratio * chance();
        d.solo = ratios.solo_seats.takes(chance()) && matches!(design.family, Family::Sport | Family::Naked);
        d.accent = ratios.accents.takes(chance());
        d.painted_lamp = ratios.painted_lamps.takes(chance());
        // Seen from the front, other families show their paint mainly on the mudguard.
        d.dark_guard =
            ratios.dark_guards.takes(chance()) && matches!(design.nose, Nose::Sport | Nose::SportTouring | Nose::None);
        d.apron = 1.0 + moves.apron_ratio * chance();
        d.flank = pick(&[Flank::Full, Flank::Open, Flank::Long], chance());
        d.lean = moves.fairing_lean * chance();
    }

    /// Moves joints and tyres a little, and returns the numbers that were derived for that.
    fn vary_sizes(&self, design: &mut FamilyDesign, chance: &mut impl FnMut() -> f32) -> Draws {
        let moves = &self.model;
        let (first, second, third) = (chance(), chance(), chance());
        let (up, along, steep) = (chance(), chance(), chance());
        design.head_z += moves.head_z * up;
        design.seat_z += moves.seat_z * chance();
        design.seat_ratio += moves.seat_ratio * chance();
        design.wheelbase *= 1.0 + moves.wheelbase_ratio * along;
        design.rake += moves.rake * steep;
        design.tail += moves.tail * chance();
        design.clearance += moves.clearance * chance();
        for tyre in [&mut design.front_tyre, &mut design.rear_tyre] {
            tyre[1] *= 1.0 + moves.tyre_width_ratio * chance();
        }
        let swept = chance();
        design.bars[1] += moves.bar_sweep * swept;
        design.bars[2] *= BARS_WIDER + moves.bar_width_ratio * chance();

        Draws { first, second, third, up, along, steep, swept }
    }

    /// Changes silencers, forks and lamps of naked and sport bikes.
    fn vary_roadster(&self, design: &mut FamilyDesign, year: u16, hand: &Hand, draws: &Draws) {
        let years = &self.years;
        let [first, last] = years.hidden_silencers;
        let modern = (first..=last).contains(&year);
        let ways = [hand.exhaust, hand.exhaust, Exhaust::Rising, Exhaust::TwinRising];
        design.exhaust =
            if modern { pick(&ways, draws.first) } else { pick(&[Exhaust::Rising, Exhaust::TwinRising], draws.first) };
        if year < years.slit_lamps_since {
            design.fork = Fork::Telescopic;
        }
        design.details.tail_rise += if design.family == Family::Sport { 0.015 } else { 0.0 };
        // Old naked bikes have one round lamp, and some makes still do.
        let round =
            year < years.masks_since || hand.frame == Frame::Trellis && draws.second > 0.2 || draws.second > 0.75;
        if design.family == Family::Naked && round {
            design.nose = if draws.third > 0.5 { Nose::Bikini } else { Nose::RoundLamp };
        }
    }
}

/// Changes seats, forks and rims of classics.
fn vary_classic(design: &mut FamilyDesign, draws: &Draws) {
    let single = matches!(design.engine, EngineKind::Inline(1));
    if design.family == Family::Classic && !single && draws.first > 0.55 {
        design.seat = SeatForm::Hump;
    }
    design.fork = if draws.third > 0.0 { Fork::Telescopic } else { Fork::Covered };
    design.rim = if draws.swept > 0.45 { Rim::Cast } else { Rim::Wires };
    design.bars[0] += 0.03 * draws.up;
    design.front_tyre[0] *= 1.0 + 0.025 * draws.along;
}

/// Changes how bright, long and low cruisers are.
fn vary_cruiser(design: &mut FamilyDesign, draws: &Draws) {
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
            design.seat = SeatForm::Hump;
        }
    }
}

/// Changes wheel sizes and cases of scooters.
fn vary_scooter(design: &mut FamilyDesign, draws: &Draws) {
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

//! Decides which body a model has in a year, and which vehicle type it mostly is.

use super::evidence::{Evidence, Publisher};
use super::rules::Rules;
use super::size::Nameplate;
use super::{ModelDraft, size};
use crate::names;
use crate::release::YearSet;
use cyclorama_core::{BodyClass, Dimensions, VehicleType};

/// A "van" up to this height is a minivan, because sources call both a van. The tallest minivans
/// have 1.83 m, the lowest full-size vans 1.95 m. Small panel vans are named in the rules.
const MINIVAN_HEIGHT_MM_MAX: u32 = 1880;

/// If a model has several bodies in one year, the first of these is its usual one.
const PRIMARY: [BodyClass; 10] = [
    BodyClass::Sedan,
    BodyClass::Suv,
    BodyClass::Hatchback,
    BodyClass::Fastback,
    BodyClass::Coupe,
    BodyClass::Wagon,
    BodyClass::Convertible,
    BodyClass::Pickup,
    BodyClass::Minivan,
    BodyClass::Van,
];

pub struct Facts {
    pub body: BodyClass,
    pub dimensions: Dimensions,
    /// Where the dimensions come from, for the import's report.
    pub dimensions_from: &'static str,
}

/// One model, with everything that is known about it.
pub struct ModelFacts<'a> {
    rules: &'a Rules,
    name: Nameplate<'a>,
    /// The kinds of vehicle as which the registers know it, and the body words of its car rows.
    kinds: Vec<&'a str>,
    car_bodies: Vec<&'a str>,
    /// The body word in its own name (`word`), and whether it takes precedence over the rules for
    /// the nameplate (`word_decides`).
    word: Option<BodyClass>,
    word_decides: bool,
    scooter_word: bool,
    types: Vec<(VehicleType, YearSet)>,
    in_us: bool,
}

impl<'a> ModelFacts<'a> {
    pub fn new(
        rules: &'a Rules,
        evidence: &'a Evidence,
        draft: &ModelDraft,
        name: Nameplate<'a>,
        spelling: &str,
    ) -> Self {
        let Nameplate { make, key, .. } = name;
        let words = names::words(spelling);
        let register = evidence.get(make, key).map(|own| &own.register);
        let mut subject = Self {
            rules,
            name,
            kinds: register.map_or(Vec::new(), |register| register.kinds.iter().map(String::as_str).collect()),
            car_bodies: register
                .map_or(Vec::new(), |register| register.car_bodies.iter().map(String::as_str).collect()),
            word: rules.word_body(make, &words, "road"),
            word_decides: rules.word_rule(make, &words, "road").is_some_and(|rule| rule.over_bodies),
            scooter_word: rules.word_body(make, &words, "two-wheeler") == Some(BodyClass::Scooter),
            types: draft.types(),
            in_us: !draft.us_years.is_empty(),
        };
        subject.prefer_type_of_body(draft.years());
        subject
    }

    /// Vehicle types with their years, the likeliest first.
    pub fn types(&self) -> Vec<(VehicleType, YearSet)> {
        self.types.clone()
    }

    /// Registers list one model under several types. Moves the type that fits the known body to the
    /// front.
    fn prefer_type_of_body(&mut self, years: YearSet) {
        let Some(middle) = years.iter().nth(years.len() / 2) else { return };
        let wanted: &[VehicleType] = match self.known_body(middle, true) {
            Some(BodyClass::Pickup | BodyClass::Van) => &[VehicleType::Truck, VehicleType::Mpv],
            Some(BodyClass::Suv | BodyClass::OffRoader | BodyClass::Minivan) => {
                &[VehicleType::Mpv, VehicleType::PassengerCar]
            }
            Some(_) => &[VehicleType::PassengerCar, VehicleType::Mpv],
            None => &[],
        };
        if let Some(position) = wanted.iter().find_map(|one| self.types.iter().position(|(other, _)| other == one)) {
            let preferred = self.types.remove(position);
            self.types.insert(0, preferred);
        }
    }

    /// The body as far as rules, sources and the name tell it.
    fn known_body(&self, year: u16, with_share_alike: bool) -> Option<BodyClass> {
        let is_two_wheeler =
            matches!(self.types.first(), Some((VehicleType::Motorcycle | VehicleType::AutoRickshaw, _)));
        if is_two_wheeler {
            return None;
        }
        if self.word_decides && !matches!(self.types.first(), Some((VehicleType::Other, _))) {
            return self.word;
        }
        let seen = self.seen_body(year, with_share_alike);
        // A "wagon" among vans (Transit Wagon) is a van with windows.
        let word = self.word.filter(|word| {
            *word != BodyClass::Wagon
                || !matches!(seen, Some(BodyClass::Van | BodyClass::Minivan | BodyClass::Suv | BodyClass::Pickup))
        });
        self.rules.body(self.name.make, self.name.key, year, word.or(seen)).or(word).or(seen)
    }

    /// Returns the body that the sources saw, under the nearest name that has one: there, first the
    /// named bodies of the year, then those of the nearest year, then size classes.
    fn seen_body(&self, year: u16, with_share_alike: bool) -> Option<BodyClass> {
        self.name.sightings.iter().find_map(|sightings| {
            let usable = || sightings.bodies.iter().filter(|one| with_share_alike || one.publisher != Publisher::Cvs);
            let nearest = |is_class: bool| {
                let best = usable()
                    .filter(|one| (one.publisher == Publisher::SizeClass) == is_class)
                    .map(|one| (one.year.abs_diff(year), one.publisher))
                    .min()?;
                let seen: Vec<BodyClass> = usable()
                    .filter(|one| (one.year.abs_diff(year), one.publisher) == best)
                    .map(|one| one.body)
                    .collect();
                PRIMARY.into_iter().find(|body| seen.contains(body))
            };
            nearest(false).or_else(|| nearest(true))
        })
    }

    pub fn facts(&self, year: u16, with_share_alike: bool) -> Facts {
        let known = self.known_body(year, with_share_alike);
        let mut body = known.unwrap_or_else(|| self.assumed_body(year));
        let named = self.word_decides || self.rules.body(self.name.make, self.name.key, year, known).is_some();
        let (mut dimensions, mut dimensions_from) = size::of(self.rules, self.name, year, body, with_share_alike);
        if !named {
            let measured = dimensions_from != size::TEMPLATE;
            let split = match body {
                BodyClass::Van if measured && dimensions.height_mm <= MINIVAN_HEIGHT_MM_MAX => BodyClass::Minivan,
                BodyClass::Minivan if measured && dimensions.height_mm > MINIVAN_HEIGHT_MM_MAX + 60 => BodyClass::Van,
                other => other,
            };
            if split != body {
                body = split;
                (dimensions, dimensions_from) = size::of(self.rules, self.name, year, body, with_share_alike);
            }
        }
        Facts { body, dimensions, dimensions_from }
    }

    /// Returns the body that most vehicles of its type and origin have, unless a rule knows better.
    /// For models whose body is not known.
    fn assumed_body(&self, year: u16) -> BodyClass {
        let usual = self.usual_body();
        let is_two_wheeler = |body| matches!(body, BodyClass::Motorcycle | BodyClass::Scooter | BodyClass::Rickshaw);
        // One name can be a car and a motorcycle of the same make. A rule about the one does not
        // hold for the other.
        let ruled = self.rules.body(self.name.make, self.name.key, year, Some(usual));
        ruled.filter(|body| is_two_wheeler(*body) == is_two_wheeler(usual)).unwrap_or(usual)
    }

    fn usual_body(&self) -> BodyClass {
        let is_kind = |kind: &str| self.kinds.contains(&kind);
        match self.types.first().map(|(one, _)| *one) {
            Some(VehicleType::Motorcycle) if self.scooter_word || is_kind("moped") && !is_kind("motorcycle") => {
                BodyClass::Scooter
            }
            Some(VehicleType::Motorcycle) => BodyClass::Motorcycle,
            Some(VehicleType::AutoRickshaw) => BodyClass::Rickshaw,
            Some(VehicleType::Bus) => BodyClass::Bus,
            Some(VehicleType::Truck) if is_kind("truck") => BodyClass::Truck,
            Some(VehicleType::Truck) if is_kind("van") => BodyClass::Van,
            Some(VehicleType::Truck) => BodyClass::Truck,
            Some(VehicleType::Mpv) => BodyClass::Suv,
            Some(VehicleType::PassengerCar) => self.assumed_car(),
            Some(VehicleType::Other) if is_kind("car") => self.assumed_car(),
            Some(VehicleType::Other) if is_kind("van") => BodyClass::Van,
            Some(VehicleType::Other) if is_kind("truck") => BodyClass::Truck,
            Some(VehicleType::Other) | None => BodyClass::Other,
        }
    }

    /// Returns the registers' one body word where they have one; else a hatchback, which most cars
    /// outside America are.
    fn assumed_car(&self) -> BodyClass {
        match self.car_bodies.as_slice() {
            ["suv"] => BodyClass::Suv,
            ["mpv"] => BodyClass::Minivan,
            ["coupe"] => BodyClass::Coupe,
            ["convertible"] | ["roadster"] => BodyClass::Convertible,
            ["wagon"] => BodyClass::Wagon,
            ["pickup"] => BodyClass::Pickup,
            ["van"] => BodyClass::Van,
            ["sedan"] | ["sedan", "wagon"] => BodyClass::Sedan,
            [] if self.in_us => BodyClass::Sedan,
            _ => BodyClass::Hatchback,
        }
    }
}

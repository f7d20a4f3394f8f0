//! Chooses the family and the engine that a two-wheeler is drawn with, from its catalog
//! line. The words are in `words`.

use cyclorama_core::vehicle::{BodyClass, Vehicle};
use serde::Deserialize;

use super::engine_kind::EngineKind;
use super::words::{EngineRow, FamilyRow, TypeCodes, Words};

/// The shapes by which people tell two-wheelers apart, and by whose rules the parts are built. A
/// sheet says which of them it is built as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Modern, with the engine in view.
    Naked,
    /// Round lamp, loaf tank, two shock absorbers, wire wheels.
    Classic,
    /// A classic with low bars and a hump.
    Cafe,
    /// A classic with high bars, a high pipe and blocks on its tyres.
    Scrambler,
    /// Full fairing, low bars.
    Sport,
    /// Full fairing, high bars, often with cases.
    SportTourer,
    /// Wide fairing and screen, cases, trunk.
    Tourer,
    /// A cruiser with a wide cowl and hard bags.
    Bagger,
    /// Long, low, wide bars.
    Cruiser,
    /// Beak, tall screen, long suspension.
    Adventure,
    /// Off-road with lamps.
    Enduro,
    Motocross,
    /// Off-road on road wheels.
    Supermoto,
    Trial,
    /// Small wheels, full-size handlebar.
    Mini,
    /// Step-through with leg shields and large wheels.
    Underbone,
    Scooter,
    /// Rounded steel body with side cowls.
    Vespa,
    /// Long, with a screen.
    MaxiScooter,
    /// A maxi scooter on two front wheels.
    Tilting,
    /// A maxi scooter whose frame goes over the rider and carries a roof.
    Cabin,
}

/// The choices that a two-wheeler's name makes for its drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Style<'w> {
    /// Name of the family's sheet.
    pub family: &'w str,
    /// Engine that the name tells. `None` if the family's usual engine is drawn.
    pub engine: Option<EngineKind>,
    /// Displacement in cm³, if the name has a number that can be one.
    pub displacement: Option<u32>,
    /// Extras that the name comes with.
    pub with: Vec<&'w str>,
}

#[cfg(test)]
impl<'w> Style<'w> {
    /// Returns a family with an engine and extras, whatever the name.
    pub fn of(family: &'w str, engine: EngineKind, with: &[&'w str]) -> Style<'w> {
        Style { family, engine: Some(engine), displacement: None, with: with.to_vec() }
    }
}

/// A make and a model's name, in which words are searched.
struct Name<'a> {
    make: &'a str,
    model: &'a str,
}

impl Name<'_> {
    /// Returns true if `word` is in the name and begins and ends where a part of the name does: at
    /// a hyphen, at the name's end, or where letters change to digits. A word that ends in `*` may
    /// continue, and a word that begins with `=` must be the whole name.
    fn says(&self, word: &str) -> bool {
        if let Some(whole) = word.strip_prefix('=') {
            return self.model == whole;
        }
        let (word, open) = word.strip_suffix('*').map_or((word, false), |word| (word, true));
        let bytes = self.model.as_bytes();
        self.model.match_indices(word).any(|(at, _)| {
            let end = at + word.len();
            let digits = |a: u8, b: u8| a.is_ascii_digit() && b.is_ascii_digit();
            let begins = at == 0
                || bytes[at - 1] == b'-'
                || (bytes[at - 1].is_ascii_digit() && !bytes[at].is_ascii_digit() && word.len() > 1);
            let ends = open
                || end == bytes.len()
                || bytes[end] == b'-'
                || (bytes[end].is_ascii_digit() && !digits(bytes[end - 1], bytes[end]))
                || (bytes[end - 1].is_ascii_digit() && bytes[end].is_ascii_alphabetic());
            begins && ends
        })
    }

    fn says_any(&self, words: &[String]) -> bool {
        words.iter().any(|word| self.says(word))
    }

    /// Returns the value of the first row that fits. A row is its makes, its words and its value.
    fn found<'w, T>(&self, rows: impl IntoIterator<Item = (&'w [String], &'w [String], T)>) -> Option<T> {
        let fits = |makes: &[String], words: &[String]| {
            (makes.is_empty() || makes.iter().any(|make| make == self.make))
                && (words.is_empty() || self.says_any(words))
        };
        rows.into_iter().find(|(makes, words, _)| fits(makes, words)).map(|(_, _, what)| what)
    }

    fn family<'w>(&self, rows: &'w [FamilyRow]) -> Option<&'w str> {
        self.found(rows.iter().map(|row| (row.makes.as_slice(), row.words.as_slice(), row.family.as_str())))
    }

    fn engine(&self, rows: &[EngineRow]) -> Option<EngineKind> {
        self.found(rows.iter().map(|row| (row.makes.as_slice(), row.words.as_slice(), row.engine)))
    }

    /// Returns the first number of the name that can be a displacement in cm³.
    fn displacement(&self) -> Option<u32> {
        self.model.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).find(|n| (49..=2500).contains(n))
    }

    /// Returns the family of a Chinese type code, if the name has one. After the displacement,
    /// these codes end in `qt` or `t` for scooters and in `gy` for off-road bikes.
    fn coded<'w>(&self, codes: &'w TypeCodes) -> Option<&'w str> {
        let ends = |suffix: &str| {
            self.model.match_indices(suffix).any(|(at, _)| {
                let (before, after) = (&self.model[..at], &self.model[at + suffix.len()..]);
                before.trim_end_matches('-').ends_with(|c: char| c.is_ascii_digit())
                    && !after.starts_with(|c: char| c.is_ascii_alphabetic())
            })
        };
        let chinese = self.displacement().is_some_and(|cc| cc <= 250) || self.model.contains("qt");
        if !chinese {
            None
        } else if ends("qt") || (ends("t") && !codes.own_codes.iter().any(|make| make == self.make)) {
            Some(&codes.scooter)
        } else if ends("gy") || self.says("gy") {
            Some(&codes.off_road)
        } else {
            None
        }
    }
}

/// Returns how a two-wheeler is drawn: by its name, or else as the
/// commonest of its body class and age.
pub(super) fn style_of<'w>(words: &'w Words, vehicle: &Vehicle) -> Style<'w> {
    let name = Name { make: &vehicle.make, model: &vehicle.model };
    let otherwise = &words.otherwise;
    let family = if vehicle.body == BodyClass::Scooter {
        let named = name.family(&words.scooters).or_else(|| name.family(&words.not_scooters));
        named.unwrap_or(&otherwise.scooter)
    } else {
        let named = name.family(&words.motorcycles).or_else(|| name.family(&words.scooters));
        let known = named.or_else(|| name.coded(&words.type_codes)).or_else(|| name.family(&words.makes));
        let is_old = vehicle.year <= otherwise.old_until;
        known.unwrap_or(if is_old { &otherwise.old_motorcycle } else { &otherwise.motorcycle })
    };
    Style {
        family,
        engine: name.engine(&words.engines),
        displacement: name.displacement(),
        with: words.with.iter().filter(|(_, list)| name.says_any(list)).map(|(extra, _)| extra.as_str()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::Library;
    use crate::vehicle::motorcycle::design::FamilyDesign;
    use cyclorama_core::vehicle::{Dimensions, VehicleType};

    fn named(make: &str, model: &str, body: BodyClass, year: u16) -> FamilyDesign {
        Library::embedded().unwrap().two_wheelers().layout_of_name(&Vehicle {
            make: make.to_owned(),
            model: model.to_owned(),
            year,
            vehicle_type: VehicleType::Motorcycle,
            body,
            dimensions: Dimensions {
                length_mm: 2130,
                width_mm: 800,
                height_mm: 1110,
                wheelbase_mm: 1430,
                front_track_mm: 0,
            },
        })
    }

    #[test]
    fn names_give_the_family() {
        for (name, family) in [
            ("kawasaki/ninja-400", Family::Sport),
            ("honda/cbr600rr", Family::Sport),
            ("yamaha/yzf-r1", Family::Sport),
            ("bmw/s-1000-rr", Family::Sport),
            ("ducati/1199-panigale", Family::Sport),
            ("honda/cb500f", Family::Naked),
            ("yamaha/mt-07", Family::Naked),
            ("ktm/390-duke", Family::Naked),
            ("ducati/monster", Family::Naked),
            ("harley-davidson/sportster", Family::Cruiser),
            ("honda/rebel-500", Family::Cruiser),
            ("kawasaki/vn", Family::Cruiser),
            ("suzuki/vl1500", Family::Cruiser),
            ("harley-davidson/flhx", Family::Bagger),
            ("harley-davidson/electra-glide", Family::Bagger),
            ("indian/chieftain", Family::Bagger),
            ("honda/gold-wing", Family::Tourer),
            ("honda/gl1800a", Family::Tourer),
            ("yamaha/fjr1300", Family::SportTourer),
            ("honda/st1300", Family::SportTourer),
            ("bmw/r-1200-rt", Family::SportTourer),
            ("bmw/r-1250-gs", Family::Adventure),
            ("honda/africa-twin", Family::Adventure),
            ("honda/crf1000d", Family::Adventure),
            ("suzuki/dl650", Family::Adventure),
            ("yamaha/tenere", Family::Adventure),
            ("yamaha/wr450f", Family::Enduro),
            ("suzuki/dr-z400", Family::Enduro),
            ("ktm/exc", Family::Enduro),
            ("yamaha/yz", Family::Motocross),
            ("ktm/250-sx", Family::Motocross),
            ("ktm/690-smc", Family::Supermoto),
            ("montesa/cota-4rt", Family::Trial),
            ("honda/c50", Family::Underbone),
            ("honda/monkey", Family::Mini),
            ("honda/st70", Family::Mini),
            ("triumph/bonneville-t120", Family::Classic),
            ("royal-enfield/bullet", Family::Classic),
            ("triumph/thruxton", Family::Cafe),
            ("ducati/scrambler", Family::Scrambler),
            ("suzuki/burgman-400", Family::MaxiScooter),
            ("bmw/c1", Family::Cabin),
            ("bmw/c-400", Family::MaxiScooter),
            ("lml/star-deluxe", Family::Vespa),
            ("yiying/yy50qt-6", Family::Scooter),
        ] {
            let (make, model) = name.split_once('/').unwrap();
            assert_eq!(named(make, model, BodyClass::Motorcycle, 2015).family, family, "{name}");
        }
        assert_eq!(named("honda", "cb", BodyClass::Motorcycle, 1975).family, Family::Classic);
    }

    #[test]
    fn scooters_are_told_apart_and_strangers_among_them_found() {
        for (name, family) in [
            ("vespa/gts", Family::Vespa),
            ("piaggio/px125", Family::Vespa),
            ("suzuki/an-650", Family::MaxiScooter),
            ("yamaha/tmax", Family::MaxiScooter),
            ("piaggio/mp3", Family::Tilting),
            ("honda/sh-125", Family::Scooter),
            ("piaggio/zip", Family::Scooter),
            ("triumph/sprint-st", Family::SportTourer),
            ("honda/cub", Family::Underbone),
            ("kymco/zing", Family::Cruiser),
        ] {
            let (make, model) = name.split_once('/').unwrap();
            assert_eq!(named(make, model, BodyClass::Scooter, 2015).family, family, "{name}");
        }
    }

    #[test]
    fn names_give_the_engine() {
        for (name, engine) in [
            ("bmw/r-1250-gs", EngineKind::Boxer),
            ("honda/gold-wing", EngineKind::FlatSix),
            ("harley-davidson/flhx", EngineKind::Vee),
            ("ducati/monster", EngineKind::WideVee),
            ("moto-guzzi/v7-stone", EngineKind::CrossVee),
            ("honda/cbr1000", EngineKind::Inline(4)),
            ("triumph/speed-triple", EngineKind::Inline(3)),
            ("triumph/bonneville", EngineKind::Inline(2)),
            ("yamaha/mt-07", EngineKind::Inline(2)),
            ("ktm/390-duke", EngineKind::Inline(1)),
            ("zero/sr-zf", EngineKind::Electric),
            ("honda/st50", EngineKind::Inline(1)),
        ] {
            let (make, model) = name.split_once('/').unwrap();
            assert_eq!(named(make, model, BodyClass::Motorcycle, 2015).engine, engine, "{name}");
        }
    }
}

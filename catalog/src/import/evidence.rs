//! The statements of all sources about a model's body and size, in one shape: sightings under the
//! catalog's own keys.

use super::rules::Rules;
use crate::names;
use cyclorama_core::BodyClass;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The publisher of a statement, the most trusted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Publisher {
    /// Transport Canada through AllCarsDB: share-alike.
    Cvs,
    Omega,
    UsCarModels,
    OpenEv,
    Ademe,
    /// Size classes of EPA and NRCan: a hint, not a body.
    SizeClass,
}

/// A statement of a publisher that a model had a body in a year.
#[derive(Debug, Clone, Copy)]
pub struct BodySighting {
    pub publisher: Publisher,
    pub year: u16,
    pub body: BodyClass,
}

/// Dimensions in millimetres; `None` where a source does not have them.
#[derive(Debug, Clone, Copy)]
pub struct SizeSighting {
    pub publisher: Publisher,
    pub from: u16,
    pub to: u16,
    pub body: Option<BodyClass>,
    /// True for a pickup with a crew or double cab.
    pub four_door_cab: bool,
    pub length_mm: u32,
    pub height_mm: u32,
    pub wheelbase_mm: u32,
    pub width_mm: Option<u32>,
    pub front_track_mm: Option<u32>,
}

impl SizeSighting {
    pub fn contains(&self, year: u16) -> bool {
        (self.from..=self.to).contains(&year)
    }

    /// Years between the sighting and `year`, 0 within it.
    pub fn distance(&self, year: u16) -> u16 {
        self.from.saturating_sub(year).max(year.saturating_sub(self.to))
    }

    /// True if the proportions are those of a road vehicle. Others are mistakes of the source (nine
    /// in CVS).
    fn is_plausible(&self) -> bool {
        let ratio = |a: u32, b: u32| f64::from(a) / f64::from(b.max(1));
        (2_000..12_500).contains(&self.length_mm)
            && (0.40..0.80).contains(&ratio(self.wheelbase_mm, self.length_mm))
            && (0.18..0.75).contains(&ratio(self.height_mm, self.length_mm))
            && self.width_mm.is_none_or(|width| (0.28..0.75).contains(&ratio(width, self.length_mm)))
    }
}

/// The registers' knowledge of a name: the kind of vehicle, and how common it is.
#[derive(Debug, Clone, Default)]
pub struct Register {
    /// `car`, `van`, `truck`, `bus`, `motorcycle` or `moped`.
    pub kinds: BTreeSet<String>,
    /// Body words of the `car` rows; weak evidence.
    pub car_bodies: BTreeSet<String>,
    /// Popularity from 1 (the most common) to 10; 0 if unknown.
    pub popularity: u8,
}

/// All statements of the sources about one model.
#[derive(Debug, Default)]
pub struct Sightings {
    pub bodies: Vec<BodySighting>,
    pub sizes: Vec<SizeSighting>,
    pub register: Register,
}

/// All sightings, by make key and model key.
#[derive(Debug, Default)]
pub struct Evidence {
    /// Models in the order of their names, because the sightings that a family gathers must not
    /// depend on chance.
    pub models: HashMap<String, BTreeMap<String, Sightings>>,
    /// Names of makes as they are shown, by key.
    pub make_names: HashMap<String, String>,
    /// Nicknames of makes, by key.
    pub make_aliases: HashMap<String, Vec<String>>,
}

/// A model name of a source, mapped to the catalog's key.
pub struct Target {
    pub make: String,
    pub model: String,
    /// The body that a word beyond the model (trim, drive, body) stands for.
    pub word_body: Option<BodyClass>,
}

/// The keys of the models that the catalog has, by make key.
pub type KnownModels = HashMap<String, BTreeSet<String>>;

impl Target {
    /// Finds the catalog's key of a name: the longest beginning of the name that is a model of the
    /// catalog; else the whole name, so that a family that is not in the catalog (`3 Series` in one
    /// year) is still found by its members.
    pub fn resolve(rules: &Rules, known: &KnownModels, make: &str, model: &str) -> Self {
        let make = rules.make_key(make);
        let mut words = names::words(model);
        let make_words = names::words(&make);
        // "Ram Ram 1500" of the make Ram is the catalog's "1500".
        if words.len() > 1
            && !make_words.is_empty()
            && words.first() == make_words.first()
            && known
                .get(&make)
                .is_some_and(|models| models.contains(&words[1..].concat()) || models.contains(&words[1]))
        {
            words.remove(0);
        }
        let models = known.get(&make);
        let is_known = |key: &str| models.is_some_and(|models| models.contains(key));
        for count in (1..=words.len()).rev() {
            let key = words[..count].concat();
            // A single letter is a model only when it is the whole name ("C 300" is not the
            // Mercedes "C").
            if count < words.len() && key.len() < 2 {
                break;
            }
            for key in [key.clone(), format!("{make}{key}")] {
                if is_known(&key) {
                    let word_body = rules.word_body(&make, &words[count..], "road");
                    return Self { make, model: key, word_body };
                }
            }
        }
        let word_body = rules.word_body(&make, &words, "road");
        Self { make, model: words.concat(), word_body }
    }
}

impl Evidence {
    pub fn at(&mut self, make: &str, model: &str) -> &mut Sightings {
        self.models.entry(make.to_owned()).or_default().entry(model.to_owned()).or_default()
    }

    pub fn get(&self, make: &str, model: &str) -> Option<&Sightings> {
        self.models.get(make)?.get(model)
    }

    pub fn add_body(&mut self, target: &Target, publisher: Publisher, year: u16, body: BodyClass) {
        self.at(&target.make, &target.model).bodies.push(BodySighting { publisher, year, body });
    }

    pub fn add_size(&mut self, target: &Target, size: SizeSighting) {
        if size.is_plausible() {
            self.at(&target.make, &target.model).sizes.push(size);
        }
    }

    /// Gathers the sightings of a family's members under the family's key with [`MEMBERS`] before
    /// it, so that `3 Series` has a size in the years in which only `328i` was measured.
    pub fn gather_families(&mut self, rules: &Rules) {
        for (make, models) in &mut self.models {
            let mut of_families: BTreeMap<String, Sightings> = BTreeMap::new();
            for (model, sightings) in &*models {
                if let Some(family) = rules.family(make, model) {
                    let gathered = of_families.entry(format!("{MEMBERS}{family}")).or_default();
                    gathered.bodies.extend(&sightings.bodies);
                    gathered.sizes.extend(&sightings.sizes);
                }
            }
            models.extend(of_families);
        }
    }
}

/// Marks the key under which the sightings of a family's members are gathered. The key of a name
/// never has it.
pub const MEMBERS: &str = "members of ";

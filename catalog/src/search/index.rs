//! The search index: every name of every make and model, nicknames among them, built once for a
//! release.

use super::dictionary::{Dictionary, DictionaryName, Terms};
use super::substrings::Substrings;
use super::typos::Typos;
use super::words::Words;
use crate::nameless::{is_nameless, is_nameless_make};
use crate::{Catalog, Make, Model, YearSet};
use cyclorama_core::VehicleType;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Added to a model's renown when it has a nickname, for the order among the models of its make.
/// Sixteen years of sale add as much.
const NICKNAMED: u16 = 4;
/// Maximum number of atoms of a name. They are bits of a word elsewhere.
const ATOMS_OF_NAME_MAX: usize = 24;

/// Nicknames of makes and models.
static NICKNAMES: &str = include_str!("../../data/nicknames.toml");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nicknames {
    /// Nicknames by make slug.
    pub makes: HashMap<String, Vec<String>>,
    /// Nicknames by `make/model` in slugs.
    pub models: HashMap<String, Vec<String>>,
}

impl Nicknames {
    /// The embedded list. A test reads it, so it is never empty here.
    pub fn embedded() -> &'static Self {
        static READ: LazyLock<Nicknames> = LazyLock::new(|| toml::from_str(NICKNAMES).unwrap_or_default());
        &READ
    }
}

/// Returns the nicknames of a make, which are neither its name nor its aliases.
pub fn make_nicknames(make: &Make) -> &'static [String] {
    Nicknames::embedded().makes.get(&make.slug).map_or(&[], Vec::as_slice)
}

/// Returns the nicknames of a model, which are neither its name nor its spellings.
pub fn model_nicknames(make: &Make, model: &Model) -> &'static [String] {
    Nicknames::embedded().models.get(&format!("{}/{}", make.slug, model.slug)).map_or(&[], Vec::as_slice)
}

/// One name of a make or a model. Everything that the first selection needs is in one place: a
/// query reads thousands of names, and fetching them from memory is what costs the time.
pub(super) struct Name {
    /// Position in [`SearchIndex::subjects`].
    pub subject: u32,
    /// The subject's make.
    pub make: u32,
    /// The subject's renown.
    pub renown: u16,
    /// True if the catalog does not have this name.
    pub is_nickname: bool,
    atoms: u8,
    /// Number of bytes up to the end of each atom.
    ends: [u8; ATOMS_OF_NAME_MAX],
}

impl Name {
    pub fn atoms(&self) -> usize {
        usize::from(self.atoms)
    }

    /// Number of bytes of atoms `from..to`.
    pub fn bytes(&self, from: usize, to: usize) -> usize {
        let at = |atom: usize| if atom == 0 { 0 } else { usize::from(self.ends[atom - 1]) };
        at(to) - at(from)
    }
}

/// A make or a model.
pub(super) struct IndexedName {
    /// Position of the make in the catalog.
    pub make: u32,
    /// Position of the model in the make; `None` for the make itself.
    pub model: Option<u32>,
    pub years: YearSet,
    /// Renown of the subject, 0 to 40.
    pub renown: u16,
    /// True if the subject names no vehicle.
    pub nameless: bool,
}

/// The index in which the search and resolve look names up.
pub struct SearchIndex {
    pub(super) subjects: Vec<IndexedName>,
    /// In the order of the catalog.
    pub(super) make_slugs: Vec<String>,
    /// For each make the positions of its models, the best known first.
    pub(super) fame: Vec<Box<[u32]>>,
    /// All years of the catalog.
    pub(super) years: YearSet,
    pub(super) make_names: Vec<Name>,
    pub(super) makes: Dictionary,
    pub(super) model_names: Vec<Name>,
    pub(super) models: Dictionary,
    pub(super) substrings: Substrings,
    pub(super) wholes: Wholes,
}

/// Make and model in one word, for texts that write them together or with the space in the wrong
/// place.
pub(super) struct Wholes {
    /// Keys, one behind the other, and the position where each begins.
    text: String,
    starts: Vec<u32>,
    /// The position in the model names for each key.
    names: Vec<u32>,
    typos: Typos,
}

impl Wholes {
    fn new(pairs: impl Iterator<Item = (u32, String)>) -> Self {
        let (mut text, mut starts, mut names) = (String::new(), vec![0], Vec::new());
        for (name, key) in pairs {
            text.push_str(&key);
            starts.push(text.len() as u32);
            names.push(name);
        }
        let keys = starts.windows(2).map(|ends| &text[ends[0] as usize..ends[1] as usize]);
        Self { typos: Typos::of_wholes(keys), text, starts, names }
    }

    /// Returns the model names whose make and name, joined, are this text (0) or one edit away (1).
    pub fn near(&self, text: &str) -> impl Iterator<Item = (u32, u8)> {
        self.typos.near_whole(text).into_iter().filter_map(move |number| {
            let number = number as usize;
            let key = &self.text[self.starts[number] as usize..self.starts[number + 1] as usize];
            let edits = if key.len().abs_diff(text.len()) > 1 { 2 } else { strsim::osa_distance(key, text) };
            (edits <= 1).then_some((self.names[number], edits as u8))
        })
    }

    fn size(&self) -> usize {
        self.text.len() + 4 * (self.starts.len() + self.names.len()) + self.typos.size()
    }
}

impl std::fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SearchIndex of {} makes and models", self.subjects.len())
    }
}

/// Names while the index is built.
#[derive(Default)]
struct Names {
    words: Vec<Words>,
    names: Vec<Name>,
}

impl Names {
    fn push(&mut self, text: &str, subject: usize, is_nickname: bool, make: u32, renown: u16) {
        let words = Words::of(text);
        let mut ends = [0; ATOMS_OF_NAME_MAX];
        let mut atoms = 0;
        for (atom, end) in (1..=words.len()).zip(&mut ends) {
            // A name longer than any real one (about 50 letters) is found by its beginning.
            let Ok(bytes) = u8::try_from(words.start(atom)) else { return };
            *end = bytes;
            atoms += 1;
        }
        let known = |other: usize| self.names[other].subject == subject as u32 && self.words[other] == words;
        if words.is_empty() || words.len() > ATOMS_OF_NAME_MAX || (0..self.names.len()).rev().take(40).any(known) {
            return;
        }
        self.words.push(words);
        self.names.push(Name { subject: subject as u32, make, renown, is_nickname, atoms, ends });
    }

    fn dictionary(&self, groups: usize) -> Dictionary {
        let entries: Vec<DictionaryName<'_>> = self
            .words
            .iter()
            .zip(&self.names)
            .map(|(words, name)| DictionaryName { words, group: name.make, renown: name.renown })
            .collect();
        Dictionary::new(&entries, groups)
    }
}

impl SearchIndex {
    pub fn new(catalog: &Catalog) -> Self {
        let (mut subjects, mut fame) = (Vec::new(), Vec::new());
        let (mut make_names, mut model_names) = (Names::default(), Names::default());
        for (position, make) in catalog.makes().iter().enumerate() {
            let group = position as u32;
            let nameless = is_nameless_make(make);
            let nameless_models: Vec<bool> = make.models.iter().map(|model| is_nameless(make, model)).collect();
            let renowns: Vec<u16> = (make.models.iter().zip(&nameless_models))
                .map(|(model, nameless)| if *nameless { 0 } else { renown(model) })
                .collect();
            fame.push(by_fame(make, &nameless_models));
            let best = renowns.iter().max().copied().unwrap_or(0);
            let years = make.models.iter().fold(YearSet::default(), |all, model| all.union(model.years()));
            let known = if nameless { 0 } else { best + (make.models.len().min(60) / 12) as u16 };
            subjects.push(IndexedName { make: group, model: None, years, renown: known, nameless });
            let subject = subjects.len() - 1;
            let others = make.aliases.iter().chain(make_nicknames(make));
            make_names.push(&make.name, subject, false, group, known);
            others.for_each(|name| make_names.push(name, subject, true, group, known));
            for (at, (model, renown)) in make.models.iter().zip(renowns).enumerate() {
                let nameless = nameless_models[at];
                subjects.push(IndexedName {
                    make: group,
                    model: Some(at as u32),
                    years: model.years(),
                    renown,
                    nameless,
                });
                let subject = subjects.len() - 1;
                for spelling in spellings(model) {
                    model_names.push(spelling, subject, false, group, renown);
                }
                let nicknames = model_nicknames(make, model).iter().map(String::as_str);
                for name in nicknames.chain(without_make(make, model)) {
                    model_names.push(name, subject, true, group, renown);
                }
            }
        }
        let makes = catalog.makes().len();
        let of_make = |name: &Name| {
            let make = &catalog.makes()[subjects[name.subject as usize].make as usize];
            // Where the make is written in several words or letters, people also join its short
            // name with the model's.
            std::iter::once(&make.name).chain(&make.aliases).chain(make_nicknames(make))
        };
        let wholes = Wholes::new(model_names.names.iter().enumerate().flat_map(|(number, name)| {
            let model = model_names.words[number].key();
            of_make(name)
                .filter(|make| make.is_ascii() || make.chars().any(|c| c.is_ascii_alphabetic()))
                .map(move |make| (number as u32, format!("{}{model}", Words::of(make).key())))
        }));
        let substrings = Substrings::new(model_names.words.iter().map(Words::key));
        Self {
            makes: make_names.dictionary(makes),
            models: model_names.dictionary(makes),
            years: catalog.years(),
            make_slugs: catalog.makes().iter().map(|make| make.slug.clone()).collect(),
            subjects,
            fame,
            make_names: make_names.names,
            model_names: model_names.names,
            substrings,
            wholes,
        }
    }

    /// Returns the places of these terms in the names of a make's models.
    pub(super) fn places_in(&self, make: u32, terms: &Terms) -> impl Iterator<Item = &super::dictionary::TermPlace> {
        self.models.places_in(make, terms)
    }

    /// Memory that the index occupies, in bytes.
    pub fn size(&self) -> usize {
        self.makes.size()
            + self.models.size()
            + self.substrings.size()
            + self.wholes.size()
            + size_of_val(&*self.make_names)
            + size_of_val(&*self.model_names)
            + size_of_val(&*self.subjects)
            + self.make_slugs.iter().map(|slug| slug.len() + size_of::<String>()).sum::<usize>()
            + self.fame.iter().map(|models| size_of_val(&**models)).sum::<usize>()
    }
}

/// Returns the name and the spellings of a model. Spellings whose words are split differently are
/// separate names: `Landcruiser`, `LAND CRUISER`.
fn spellings(model: &Model) -> impl Iterator<Item = &str> {
    std::iter::once(model.name.as_str()).chain(model.spellings.iter().map(|spelling| spelling.name.as_str()))
}

/// Returns the name of a model without its make. Registers repeat the make before some models
/// (`Mini Cooper SE` of MINI); people do not.
fn without_make<'a>(make: &Make, model: &'a Model) -> Option<&'a str> {
    let start = model.name.get(..make.name.len()).filter(|start| start.eq_ignore_ascii_case(&make.name))?;
    model.name[start.len()..].strip_prefix(' ')
}

/// Returns the positions of a make's models, the best known first. The order is by renown and by
/// whether people have a nickname for the model; of equals, the one that was built longer comes
/// first. Rows that name no vehicle come last.
fn by_fame(make: &Make, nameless: &[bool]) -> Box<[u32]> {
    let fame = |model: &Model| renown(model) + if model_nicknames(make, model).is_empty() { 0 } else { NICKNAMED };
    let order = |at: &u32| {
        let model = &make.models[*at as usize];
        (nameless[*at as usize], Reverse((fame(model), model.years().len())), *at)
    };
    let mut models: Vec<u32> = (0..make.models.len() as u32).collect();
    models.sort_by_cached_key(order);
    models.into_boxed_slice()
}

/// Renown of a model, 0 to 35: its rank in the popularity list, how long it was built, and
/// its kind. A well-known car comes before a trailer with the same name.
fn renown(model: &Model) -> u16 {
    let popularity = if model.popularity == 0 { 0 } else { 11 - u16::from(model.popularity.min(10)) };
    let kind = match model.vehicle_type() {
        VehicleType::PassengerCar | VehicleType::Mpv => 7,
        VehicleType::Truck => 4,
        VehicleType::Motorcycle => 2,
        VehicleType::Bus | VehicleType::AutoRickshaw => 1,
        VehicleType::Other => 0,
    };
    2 * popularity + (model.years().len() as u16).min(32) / 4 + kind
}

//! Holds the words of all names in one sorted automaton (`fst`), each with the places where it
//! stands, and finds words that are a typing mistake away.
//!
//! A term is any run of neighbouring atoms of a name, joined: `MX-5 Miata` has `mx`, `mx5`,
//! `mx5miata`, `5`, `5miata` and `miata`. Terms are numbered in their order, so that all terms with
//! one beginning, and with them all their places, are one slice.

use super::typos::Typos;
use super::words::Words;
use fst::{IntoStreamer, Map, Streamer};
use std::collections::HashMap;
use std::ops::Range;

/// Maximum number of neighbouring atoms that are joined into one term. The whole name is a term
/// whatever its length.
const JOINED_ATOMS_MAX: usize = 4;

/// Maximum number of places of one term, or of one beginning, that are read. If there are more,
/// those of the best-known names are read.
const PLACES_MAX: usize = 160;

/// The place of a term: atoms `from..to` of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TermPlace {
    pub name: u32,
    pub from: u8,
    pub to: u8,
}

/// Numbers of neighbouring terms.
pub type Terms = Range<u32>;

/// The terms of many names, with their places.
pub struct Dictionary {
    terms: Map<Vec<u8>>,
    /// The position in `places` of the first place of each term, and at the end the number of
    /// places.
    offsets: Vec<u32>,
    places: Vec<TermPlace>,
    /// For terms and beginnings with too many places, those that are read.
    best: HashMap<Terms, Box<[TermPlace]>>,
    /// For each group, the terms of its names with their places, in order.
    by_group: Vec<Box<[(u32, TermPlace)]>>,
    typos: Typos,
    /// The spellings of all terms, one behind the other, and the position where each begins.
    spelt: String,
    spelt_from: Vec<u32>,
}

/// A name while the dictionary is built.
pub struct DictionaryName<'a> {
    pub words: &'a Words,
    /// Names of one group can be searched separately from the others. The models of a make are a
    /// group.
    pub group: u32,
    /// Renown of the name.
    pub renown: u16,
}

impl Dictionary {
    pub fn new(entries: &[DictionaryName<'_>], groups: usize) -> Self {
        let mut places_by_term: HashMap<&str, Vec<TermPlace>> = HashMap::new();
        for (name, entry) in entries.iter().enumerate() {
            let atoms = entry.words.len();
            for from in 0..atoms {
                for to in (from + 1..=atoms).filter(|to| to - from <= JOINED_ATOMS_MAX || (from, *to) == (0, atoms)) {
                    let place = TermPlace { name: name as u32, from: from as u8, to: to as u8 };
                    places_by_term.entry(entry.words.join(from, to)).or_default().push(place);
                }
            }
        }
        let mut places_by_term: Vec<(&str, Vec<TermPlace>)> = places_by_term.into_iter().collect();
        places_by_term.sort_unstable_by_key(|(term, _)| *term);
        let terms = || places_by_term.iter().map(|(term, _)| *term);
        let mut dictionary = Self {
            terms: Map::default(),
            offsets: Vec::with_capacity(places_by_term.len() + 1),
            places: Vec::new(),
            best: HashMap::new(),
            by_group: Vec::new(),
            typos: Typos::new(terms()),
            spelt: String::new(),
            spelt_from: Vec::with_capacity(places_by_term.len() + 1),
        };
        for (term, places) in &places_by_term {
            dictionary.spelt_from.push(dictionary.spelt.len() as u32);
            dictionary.spelt.push_str(term);
            dictionary.offsets.push(dictionary.places.len() as u32);
            dictionary.places.extend(places);
        }
        dictionary.offsets.push(dictionary.places.len() as u32);
        dictionary.spelt_from.push(dictionary.spelt.len() as u32);
        let numbered = terms().enumerate().map(|(number, term)| (term, number as u64));
        // Building fails only for unsorted or repeated keys, and there are none here.
        dictionary.terms = Map::from_iter(numbered).unwrap_or_default();
        dictionary.group(entries, groups);
        dictionary.choose_best(entries, terms());
        dictionary
    }

    fn group(&mut self, entries: &[DictionaryName<'_>], groups: usize) {
        let mut by_group: Vec<Vec<(u32, TermPlace)>> = vec![Vec::new(); groups];
        for term in 0..self.offsets.len() as u32 - 1 {
            for place in self.all(&(term..term + 1)) {
                by_group[entries[place.name as usize].group as usize].push((term, *place));
            }
        }
        self.by_group = by_group.into_iter().map(Vec::into_boxed_slice).collect();
    }

    fn choose_best<'a>(&mut self, entries: &[DictionaryName<'_>], terms: impl Iterator<Item = &'a str>) {
        let mut crowded: Vec<Terms> = Vec::new();
        // Beginnings that the current term still has, with their first term. A beginning ends when
        // a term differs.
        let mut open: Vec<(usize, u32)> = Vec::new();
        let mut last = "";
        let mut count = 0;
        for (number, term) in terms.enumerate() {
            let shared = term.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
            while open.last().is_some_and(|(length, _)| *length > shared) {
                let (_, first) = open.pop().unwrap_or_default();
                crowded.push(first..number as u32);
            }
            open.extend((shared + 1..=term.len()).map(|length| (length, number as u32)));
            crowded.push(number as u32..number as u32 + 1);
            last = term;
            count = number as u32 + 1;
        }
        crowded.extend(open.into_iter().map(|(_, first)| first..count));
        crowded.retain(|terms| self.all(terms).len() > PLACES_MAX);
        for terms in crowded {
            let renown = |place: &TermPlace| {
                let length = place.to - place.from;
                std::cmp::Reverse((entries[place.name as usize].renown, place.from == 0, length))
            };
            let mut places = self.all(&terms).to_vec();
            places.sort_by_key(|place| (renown(place), *place));
            places.truncate(PLACES_MAX);
            self.best.insert(terms, places.into_boxed_slice());
        }
    }

    /// Returns the number of the term itself; empty when there is none.
    pub fn exact(&self, text: &str) -> Terms {
        self.terms.get(text).map_or(0..0, |term| term as u32..term as u32 + 1)
    }

    /// Returns all terms that begin with a text.
    pub fn beginning(&self, text: &str) -> Terms {
        let first_from = |bound: &[u8]| {
            let found = self.terms.range().ge(bound).into_stream().next().map(|(_, term)| term as u32);
            found.unwrap_or(self.offsets.len() as u32 - 1)
        };
        let mut behind = text.as_bytes().to_vec();
        // No byte of UTF-8 is 0xff.
        behind.push(0xff);
        first_from(text.as_bytes())..first_from(&behind)
    }

    /// Returns the terms that `edits` (1 or 2) insertions, deletions, replacements or swaps of
    /// neighbours make of the text, with the number of edits.
    pub fn near(&self, text: &str, edits: u8) -> Vec<(Terms, u8)> {
        let measured = |term: u32| {
            let near = self.spelling(term);
            let far = near.len().abs_diff(text.len()) > usize::from(edits);
            let distance = if far { usize::MAX } else { strsim::osa_distance(near, text) };
            (1..=usize::from(edits)).contains(&distance).then_some((term..term + 1, distance as u8))
        };
        self.typos.near(text, edits).into_iter().filter_map(measured).collect()
    }

    fn spelling(&self, term: u32) -> &str {
        let at = |term: u32| self.spelt_from[term as usize] as usize;
        &self.spelt[at(term)..at(term + 1)]
    }

    /// Returns every place of these terms.
    fn all(&self, terms: &Terms) -> &[TermPlace] {
        let at = |term: u32| self.offsets[term as usize] as usize;
        if terms.is_empty() { &[] } else { &self.places[at(terms.start)..at(terms.end)] }
    }

    /// Returns the places of these terms that a search reads.
    pub fn places(&self, terms: &Terms) -> &[TermPlace] {
        let all = self.all(terms);
        match self.best.get(terms) {
            _ if all.len() <= PLACES_MAX => all,
            Some(best) => best,
            None => &all[..PLACES_MAX],
        }
    }

    /// Returns every place of these terms in names of one group.
    pub fn places_in(&self, group: u32, terms: &Terms) -> impl Iterator<Item = &TermPlace> {
        let places = &self.by_group[group as usize];
        let from = places.partition_point(|(term, _)| *term < terms.start);
        places[from..].iter().take_while(|(term, _)| *term < terms.end).map(|(_, place)| place)
    }

    /// Memory that the dictionary occupies, in bytes.
    pub fn size(&self) -> usize {
        let best: usize = self.best.values().map(|places| size_of_val(&**places) + size_of::<(Terms, usize)>()).sum();
        let by_group: usize = self.by_group.iter().map(|places| size_of_val(&**places)).sum();
        let terms = self.terms.as_fst().as_bytes().len() + self.spelt.len() + self.typos.size();
        terms + 4 * (self.offsets.len() + self.spelt_from.len()) + size_of_val(&*self.places) + best + by_group
    }
}

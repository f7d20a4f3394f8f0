//! Searches makes and models for free text, in memory and without a clock. An index holds every
//! name (`index`, over a sorted automaton in `dictionary`, deletions in `typos` and a suffix array
//! in `substrings`). A query first collects the names that have some of its words (`query`,
//! `pieces`), and then rates how well the query and each name fit (`align`, `rank`).
//!
//! Exact words are looked up first. Beginnings, pieces inside of names and typing mistakes are
//! tried only where words are left over. Model years, trims and words for bodies are not names, but
//! are read beside them (`asides`). Everything else that is not a name (colours, views) is left to
//! `resolve`, which passes its own readings in.

mod align;
mod asides;
mod dictionary;
mod index;
mod pieces;
mod query;
mod rank;
mod substrings;
mod typos;
mod words;

pub(crate) use align::{Aside, Fit};
pub(crate) use asides::{
    ASIDES_MAX, BODY_SLOT, DOORS_SLOT, TRIM, YEAR_SLOT, bodies_at, is_trim, of as trims_and_years, short_year,
    trim_points,
};
pub(crate) use index::{SearchIndex, make_nicknames, model_nicknames};
pub(crate) use query::{Effort, Match, Query};
pub(crate) use words::{Words, atom_bits};

use super::{Catalog, Make, Model, YearSet};
use cyclorama_core::named_enum;
use std::cmp::Reverse;
use std::collections::HashSet;

named_enum! {
    /// The way in which a name fits a query, the best kind first.
    pub enum MatchKind {
        /// The query is the name, or make and name.
        Exact = "exact",
        /// The query is the beginning of the name.
        Prefix = "prefix",
        /// Each word of the query is a word of the name or begins one, in any order.
        Token = "token",
        /// Letters of the query stand inside of the name.
        Contains = "contains",
        /// The query is a few typing mistakes away from the name.
        Fuzzy = "fuzzy",
    }
}

/// One result of a search.
#[derive(Debug, Clone)]
pub struct Hit<'a> {
    pub make: &'a Make,
    /// `None` if the make itself is meant.
    pub model: Option<&'a Model>,
    /// Ascending; a single year if the search was for one.
    pub years: Vec<u16>,
    pub kind: MatchKind,
}

impl Catalog {
    /// Returns makes and models for a text that somebody types, the best first, at most `limit`. A
    /// make that is named is followed by its own models, the best known first. A given year narrows
    /// the search, and so does a year in the text unless the number is a name.
    pub fn search(&self, text: &str, year: Option<u16>, limit: usize) -> Vec<Hit<'_>> {
        self.search_in(text, year, None, limit)
    }

    /// Searches as [`Catalog::search`] does, among the models of one make if one is given.
    pub fn search_in(&self, text: &str, year: Option<u16>, make: Option<&Make>, limit: usize) -> Vec<Hit<'_>> {
        let words = Words::of(text);
        let asides = asides::of(&words);
        let only = make.and_then(|make| self.make_position(&make.slug));
        let query = Query { words: &words, asides: &asides, year, make: only, effort: Effort::Suggest };
        let mut matches = self.search_index().matches(&query);
        matches.retain(|found| only.is_none_or(|only| self.search_index().subject(found.subject).0 == only));
        // Every word must be accounted for, and a year alone is not a vehicle.
        matches.retain(|found| found.reading.left == 0);
        // A name that contains the trim or the body is nearer than one that leaves it out.
        let is_left_out = |aside: &Aside| [TRIM, BODY_SLOT, DOORS_SLOT].contains(&aside.slot);
        let leaves_trim_out = |found: &Match| found.asides(&asides).any(is_left_out);
        // A vehicle that the catalog has under this very name comes before one that has it as a
        // nickname.
        let nicknamed = |found: &Match| found.by_nickname && found.kind == MatchKind::Exact;
        let index = self.search_index();
        matches.sort_by_key(|found| {
            let other_name = (index.is_nameless(found.subject), leaves_trim_out(found), nicknamed(found));
            (found.kind, other_name, Reverse((found.score, found.renown)), found.subject)
        });
        let mut hits: Vec<Hit<'_>> = Vec::new();
        let mut seen = HashSet::new();
        for found in &matches {
            let Some((make, model)) = self.subject(found) else { continue };
            let year = year.or_else(|| found.aside(&asides, YEAR_SLOT));
            // Somebody who writes the name of a make wants to see its models as well. They count as
            // matches by prefix, because the name of each begins with the make's.
            let is_make = model.is_none() && found.kind == MatchKind::Exact;
            let models = if is_make { &*index.fame[index.subject(found.subject).0 as usize] } else { &[] };
            let models = models.iter().filter_map(|position| make.models.get(*position as usize));
            let models = models.filter_map(|model| hit(make, Some(model), year, MatchKind::Prefix)).take(limit);
            let all = hit(make, model, year, found.kind).into_iter().chain(models);
            hits.extend(all.filter(|hit| seen.insert((hit.make.id, hit.model.map(|model| model.slug.as_str())))));
            if hits.len() >= limit {
                break;
            }
        }
        hits.truncate(limit);
        hits
    }

    /// Returns the make of a match, and the model if the match is one.
    pub fn subject(&self, found: &Match) -> Option<(&Make, Option<&Model>)> {
        let (make, model) = self.search_index().subject(found.subject);
        let make = self.makes().get(make as usize)?;
        Some((make, model.and_then(|position| make.models.get(position as usize))))
    }
}

fn hit<'a>(make: &'a Make, model: Option<&'a Model>, year: Option<u16>, kind: MatchKind) -> Option<Hit<'a>> {
    let models = model.map_or(make.models.as_slice(), std::slice::from_ref);
    let years = models.iter().fold(YearSet::default(), |all, model| all.union(model.years()));
    let years: Vec<u16> = years.iter().filter(|each| year.is_none_or(|year| year == *each)).collect();
    (!years.is_empty()).then_some(Hit { make, model, years, kind })
}

#[cfg(test)]
mod tests;

//! A query, and in which steps it is looked up.

use super::MatchKind;
use super::align::{Aside, Reading};
use super::index::{Name, SearchIndex};
use super::pieces::Piece;
use super::words::Words;

/// Words of what somebody types that may still be mistyped, or stand inside of names. A whole sentence is no name, and a
/// list of names has to account for every word.
const OPEN_WORDS_MAX: usize = 3;
/// A query of at least so many words is a sentence: it gets suggestions only if each of its words is read as it is written.
const SENTENCE_WORDS_MIN: usize = 8;

/// How far to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// For a list that grows as somebody types: whatever begins so is wanted as well.
    Suggest,
    /// For the one vehicle that is meant: further only where words are left over.
    Decide,
}

/// What is searched for.
pub struct Query<'a> {
    pub words: &'a Words,
    /// Readings of words that are no names.
    pub asides: &'a [Aside],
    /// The model year that is meant, whatever the text says.
    pub year: Option<u16>,
    /// Only this make (its position).
    pub make: Option<u32>,
    pub effort: Effort,
}

/// A make or model and how it fits.
#[derive(Debug, Clone)]
pub struct Match {
    /// Position in the index.
    pub subject: u32,
    pub kind: MatchKind,
    /// Points of the reading, and of how well known the subject is.
    pub score: i32,
    pub reading: Reading,
    /// How well known the subject is, 0 to 40.
    pub renown: u16,
    pub is_model: bool,
    /// The name that fits is one that people give it.
    pub by_nickname: bool,
}

impl Match {
    /// The value of a slot in this reading.
    pub fn aside(&self, asides: &[Aside], slot: u8) -> Option<u16> {
        self.asides(asides).find(|aside| aside.slot == slot).map(|aside| aside.value)
    }

    /// Less than a third of the name was asked for: what was typed may well be something else with a mistake in it.
    fn is_thin(&self) -> bool {
        u32::from(self.reading.missing) > 2 * self.reading.had
    }

    /// What this reading takes for no name.
    pub fn asides<'a>(&self, asides: &'a [Aside]) -> impl Iterator<Item = &'a Aside> {
        let taken = self.reading.asides;
        asides.iter().enumerate().filter(move |(number, _)| taken >> number & 1 == 1).map(|(_, aside)| aside)
    }
}
impl SearchIndex {
    /// The positions of a subject's make, and of its model in that make.
    pub fn subject(&self, subject: u32) -> (u32, Option<u32>) {
        let subject = &self.subjects[subject as usize];
        (subject.make, subject.model)
    }

    /// Whether a subject names no vehicle ([`crate::nameless`]).
    pub fn is_nameless(&self, subject: u32) -> bool {
        self.subjects[subject as usize].nameless
    }

    /// The makes and models that fit best, in no order, each once.
    pub fn matches(&self, query: &Query<'_>) -> Vec<Match> {
        if query.words.is_empty() {
            return Vec::new();
        }
        let mut search = Search { index: self, query, makes: Vec::new(), models: Vec::new() };
        search.exact();
        let mut found = if query.effort == Effort::Suggest { Vec::new() } else { search.rank() };
        if query.effort == Effort::Suggest || search.wants_more(&found) {
            search.beginnings(&found);
            found = search.rank();
        }
        if search.wants_more(&found) {
            let is_sentence = query.words.written().len() >= SENTENCE_WORDS_MIN;
            let open = if is_sentence { 0 } else { OPEN_WORDS_MAX };
            if query.effort == Effort::Suggest && search.open_words(&found).len() > open {
                return Vec::new();
            }
            search.mistyped(&found);
            found = search.rank();
        }
        if search.wants_more(&found) {
            search.inside(&found);
            found = search.rank();
        }
        found
    }
}

pub(super) struct Search<'a> {
    pub(super) index: &'a SearchIndex,
    pub(super) query: &'a Query<'a>,
    /// Pieces of make names.
    pub(super) makes: Vec<Piece>,
    /// Pieces of model names.
    pub(super) models: Vec<Piece>,
}
impl Search<'_> {
    /// Nothing is found, or something is left over of the best, or most of its name was not asked for.
    fn wants_more(&self, found: &[Match]) -> bool {
        let Some(best) = best_model(found) else { return true };
        let suggests = self.query.effort == Effort::Suggest;
        let whole_make = found.iter().any(|other| {
            !other.is_model && other.reading.left == 0 && other.kind == MatchKind::Exact && other.score >= best.score
        });
        best.reading.left != 0 && !(whole_make && suggests) || !suggests && best.is_thin()
    }

    /// Written words that the best readings so far do nothing with, or nothing much; all but the make's, when there is no
    /// model worth the name.
    pub(super) fn open_words(&self, found: &[Match]) -> Vec<(usize, usize)> {
        let best = best_model(found);
        let make = found.iter().filter(|found| !found.is_model).max_by_key(|found| found.score);
        let names_make = |make: &Match, atom: usize| {
            self.makes.iter().any(|piece| {
                self.name(true, piece.name).subject == make.subject
                    && (usize::from(piece.from)..usize::from(piece.to)).contains(&atom)
            })
        };
        let is_open = |(from, to): &(usize, usize)| {
            (*from..*to).any(|atom| match (best, make) {
                (Some(best), _) if best.reading.left >> atom & 1 == 1 => true,
                (Some(best), _) if !best.is_thin() => false,
                (_, Some(make)) => !names_make(make, atom),
                _ => true,
            })
        };
        self.query.words.written().into_iter().filter(is_open).collect()
    }

    pub(super) fn name(&self, of_make: bool, name: u32) -> &Name {
        if of_make { &self.index.make_names[name as usize] } else { &self.index.model_names[name as usize] }
    }
}

fn best_model(found: &[Match]) -> Option<&Match> {
    found.iter().filter(|found| found.is_model).max_by_key(|found| found.score)
}

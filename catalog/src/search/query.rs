//! A query, and the steps in which it is looked up.

use super::MatchKind;
use super::align::{Aside, Reading};
use super::index::{Name, SearchIndex};
use super::pieces::Piece;
use super::words::Words;

/// For a query that is still being typed: maximum number of written words that may be mistyped or
/// stand inside of names. A whole sentence is not a name, and a list of names must account for
/// every word.
const OPEN_WORDS_MAX: usize = 3;
/// Minimum number of words of a sentence. A sentence gets suggestions only if each of its words is
/// read as it is written.
const SENTENCE_WORDS_MIN: usize = 8;

/// The effort of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// For search, whose list grows while somebody types: names that begin with the text are always
    /// looked up as well.
    Suggest,
    /// For resolve, which decides on the one vehicle that a text means: beginnings, typing mistakes
    /// and pieces inside of names are looked up only where the exact words do not suffice.
    Decide,
}

/// The input of one search: the words, their readings as something other than names, and what
/// limits the search.
pub struct Query<'a> {
    pub words: &'a Words,
    /// Readings of words as something other than names.
    pub asides: &'a [Aside],
    /// The requested model year, which takes precedence over one in the text.
    pub year: Option<u16>,
    /// Position of the only make that is searched, if any.
    pub make: Option<u32>,
    pub effort: Effort,
}

/// A make or model, and how well it fits a query.
#[derive(Debug, Clone)]
pub struct Match {
    /// Position of the make or model in the index.
    pub subject: u32,
    pub kind: MatchKind,
    /// Points by which matches are ordered, higher is better: those of the reading, those for the
    /// subject's renown and for a name that is written out, less those for a wrong or long past
    /// year.
    pub score: i32,
    pub reading: Reading,
    /// How well known the subject is, 0 to 40.
    pub renown: u16,
    pub is_model: bool,
    /// True if the name that fits is a nickname.
    pub by_nickname: bool,
}

impl Match {
    /// Returns the value of a slot (see [`Aside::slot`]) in this match's reading of the query, for
    /// instance the model year, or `None` if the reading has none.
    pub fn aside(&self, asides: &[Aside], slot: u8) -> Option<u16> {
        self.asides(asides).find(|aside| aside.slot == slot).map(|aside| aside.value)
    }

    /// True if the query has less than a third of the name. The text may then well be another name
    /// with a typing mistake.
    fn is_thin(&self) -> bool {
        u32::from(self.reading.missing) > 2 * self.reading.had
    }

    /// Returns the readings of words, as something other than names, that this match uses.
    pub fn asides<'a>(&self, asides: &'a [Aside]) -> impl Iterator<Item = &'a Aside> {
        let taken = self.reading.asides;
        asides.iter().enumerate().filter(move |(number, _)| taken >> number & 1 == 1).map(|(_, aside)| aside)
    }
}
impl SearchIndex {
    /// Returns the positions of a subject's make in the catalog, and of its model in that make.
    pub fn subject(&self, subject: u32) -> (u32, Option<u32>) {
        let subject = &self.subjects[subject as usize];
        (subject.make, subject.model)
    }

    /// True if a subject names no vehicle ([`crate::nameless`]).
    pub fn is_nameless(&self, subject: u32) -> bool {
        self.subjects[subject as usize].nameless
    }

    /// Returns the makes and models that fit best, each once, in no particular order.
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
    /// True if the next step of the search is necessary: no model is found, the best one leaves
    /// words over, or (for resolve) most of its name is not in the query. For search, words that
    /// are left over do not count if they are left by a model while a make fits exactly, leaves
    /// none over and has at least as many points.
    fn wants_more(&self, found: &[Match]) -> bool {
        let Some(best) = best_model(found) else { return true };
        let suggests = self.query.effort == Effort::Suggest;
        let whole_make = found.iter().any(|other| {
            !other.is_model && other.reading.left == 0 && other.kind == MatchKind::Exact && other.score >= best.score
        });
        best.reading.left != 0 && !(whole_make && suggests) || !suggests && best.is_thin()
    }

    /// Returns the written words, each as a range of atoms, that the next step of the search looks
    /// up. These are the words that the best model leaves over. If there is no model, or if most of
    /// the best one's name is not in the query, they are all words except those of the best make.
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

//! Finds the names that have words of a query: exactly, as a beginning, with a typing mistake, or
//! somewhere inside.

use super::align::Fit;
use super::dictionary::{Dictionary, TermPlace, Terms};
use super::index::Name;
use super::query::{Effort, Match, Search};
use super::words::Words;
use std::cmp::Reverse;

/// Maximum number of neighbouring atoms of a query that are looked up as one word.
const JOINED_ATOMS_MAX: usize = 5;
/// Maximum number of makes that a query's words may mean.
const MAKES_MAX: usize = 6;
/// Maximum number of words in which typing mistakes are looked for.
const MISTYPED_MAX: usize = 8;
/// Words with fewer letters than this are one edit away from many names.
const SHORT_LETTERS: usize = 4;
/// Maximum number of words, besides the last, that may be beginnings of others.
const BEGUN_MAX: usize = 8;
/// Maximum number of words that a make and its model may have become by misplaced spaces.
const WHOLE_WORDS_MAX: usize = 4;
/// Bonus for a make that is written out.
const MAKE: i8 = 6;

/// A part of a name that the query has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub name: u32,
    pub from: u8,
    pub to: u8,
    pub part: (u8, u8),
    pub fit: Fit,
    /// For the make of a model: a bonus that depends on how the make is named. It decides between
    /// two makes that share a name.
    pub bonus: i8,
    /// True if the piece contains the make as well.
    pub with_make: bool,
}

impl Piece {
    /// Returns a key that orders pieces by name, then by position and fit. It is a single number,
    /// because a query can have ten thousand pieces.
    pub fn key(&self) -> u64 {
        let fit = match self.fit {
            Fit::Exact => 0,
            Fit::Beginning(rest) => 0x100 | u64::from(rest),
            Fit::Inside => 0x200,
            Fit::Near(edits) => 0x300 | u64::from(edits),
        };
        // Positions of atoms are at most 32, so six bits suffice for each.
        let at = |position: u8, shift: u32| u64::from(position) << shift;
        u64::from(self.name) << 34
            | at(self.from, 28)
            | at(self.to, 22)
            | at(self.part.0, 16)
            | at(self.part.1, 10)
            | fit
    }
}

impl<'a> Search<'a> {
    fn spans(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let atoms = self.query.words.len();
        let joined = (0..atoms)
            .flat_map(move |from| (from + 1..=(from + JOINED_ATOMS_MAX).min(atoms)).map(move |to| (from, to)));
        // A name of more atoms is still found by all of them.
        joined.chain((atoms > JOINED_ATOMS_MAX).then_some((0, atoms)))
    }

    pub(super) fn exact(&mut self) {
        for (from, to) in self.spans() {
            let terms = self.index.makes.exact(self.query.words.join(from, to));
            self.add_makes((from, to), &terms, Fit::Exact);
        }
        let meant = self.makes_meant();
        for (from, to) in self.spans() {
            let terms = self.index.models.exact(self.query.words.join(from, to));
            self.add_models((from, to), &terms, Fit::Exact, &meant);
        }
    }

    pub(super) fn beginnings(&mut self, found: &[Match]) {
        let words = self.query.words;
        let written = match self.query.effort {
            Effort::Suggest => words.written(),
            Effort::Decide => self.open_words(found),
        };
        // The last words together may begin a name that is written as one word (`land cr`), and so
        // may a piece of a word.
        let mut spans = written.clone();
        spans.truncate(BEGUN_MAX);
        if self.query.effort == Effort::Suggest {
            let last = words.len();
            spans.extend((0..last).rev().take(JOINED_ATOMS_MAX).map(|from| (from, last)));
        }
        spans.sort_unstable();
        spans.dedup();
        // A single letter begins too many names. That helps somebody who is still typing it, but
        // does not show which name is meant.
        let typing = |to: usize| self.query.effort == Effort::Suggest && to == words.len();
        spans.retain(|(from, to)| words.start(*to) - words.start(*from) > 1 || typing(*to));
        for (from, to) in &spans {
            let terms = self.index.makes.beginning(words.join(*from, *to));
            self.add_makes((*from, *to), &terms, Fit::Beginning(0));
        }
        let meant = self.makes_meant();
        for (from, to) in &spans {
            let terms = self.index.models.beginning(words.join(*from, *to));
            self.add_models((*from, *to), &terms, Fit::Beginning(0), &meant);
        }
    }

    pub(super) fn mistyped(&mut self, found: &[Match]) {
        let words = self.query.words;
        let open = self.open_words(found);
        let written = words.written();
        // A word by itself, or together with a neighbour from which a misplaced space may have
        // parted it.
        let mut spans: Vec<(usize, usize)> = open.clone();
        for pair in written.windows(2).filter(|pair| open.contains(&pair[0]) || open.contains(&pair[1])) {
            spans.push((pair[0].0, pair[1].1));
        }
        spans.retain(|(from, to)| to - from <= JOINED_ATOMS_MAX + 1);
        spans.sort_by_key(|(from, to)| (!open.contains(&(*from, *to)), Reverse(words.start(*to) - words.start(*from))));
        spans.truncate(MISTYPED_MAX);
        let long = if self.makes.is_empty() { 6 } else { 5 };
        let near = |dictionary: &Dictionary, text: &str, short: usize| {
            let letters = text.chars().count();
            let mut near = if letters >= short { dictionary.near(text, 1) } else { Vec::new() };
            if near.is_empty() && letters >= long {
                near = dictionary.near(text, 2);
            }
            near
        };
        let several = |(from, to): &(usize, usize)| open.iter().any(|(first, end)| from <= first && end <= to);
        let runs: Vec<(usize, usize)> = (1..=WHOLE_WORDS_MAX)
            .flat_map(|count| written.windows(count).map(|words| (words[0].0, words[words.len() - 1].1)))
            .filter(several)
            .take(4 * MISTYPED_MAX)
            .collect();
        for (from, to) in &runs {
            for (terms, edits) in near(&self.index.makes, words.join(*from, *to), 3) {
                self.add_makes((*from, *to), &terms, Fit::Near(edits));
            }
        }
        let meant = self.makes_meant();
        for (from, to) in &spans {
            let text = words.join(*from, *to);
            // Short names differ by an edit from many others, so only those of a make that is named
            // are tried.
            let any_make = text.chars().count() >= SHORT_LETTERS;
            if !any_make && meant.is_empty() {
                continue;
            }
            for (terms, edits) in near(&self.index.models, text, 1) {
                match any_make {
                    true => self.add_models((*from, *to), &terms, Fit::Near(edits), &meant),
                    false => self.add_models_of(&meant, (*from, *to), &terms, Fit::Near(edits)),
                }
            }
        }
        for (from, to) in runs {
            for (name, edits) in self.index.wholes.near(words.join(from, to)) {
                let make = self.index.model_names[name as usize].make;
                if self.query.make.is_none_or(|only| only == make) {
                    let part = (0, self.index.model_names[name as usize].atoms() as u8);
                    let fit = if edits == 0 { Fit::Exact } else { Fit::Near(edits) };
                    self.models.push(Piece {
                        name,
                        from: from as u8,
                        to: to as u8,
                        part,
                        fit,
                        bonus: 0,
                        with_make: true,
                    });
                }
            }
        }
    }

    pub(super) fn inside(&mut self, found: &[Match]) {
        let words = self.query.words;
        for (from, to) in self.open_words(found) {
            for (name, at) in self.index.substrings.holding(words.join(from, to)) {
                let end = at + words.start(to) - words.start(from);
                let parts = &self.index.model_names[name as usize];
                if self.query.make.is_some_and(|make| make != parts.make) {
                    continue;
                }
                let touched = |atom: &usize| parts.bytes(0, *atom) < end && parts.bytes(0, atom + 1) > at;
                let Some(first) = (0..parts.atoms()).find(touched) else { continue };
                let part = (first as u8, (first..parts.atoms()).take_while(touched).last().unwrap_or(first) as u8 + 1);
                self.models.push(Piece {
                    name,
                    from: from as u8,
                    to: to as u8,
                    part,
                    fit: Fit::Inside,
                    bonus: 0,
                    with_make: false,
                });
            }
        }
    }

    fn add_makes(&mut self, (from, to): (usize, usize), terms: &Terms, fit: Fit) {
        let places = self.index.makes.places(terms);
        for place in places {
            let name = &self.index.make_names[place.name as usize];
            // People write the whole name of a make or the beginning of it.
            if place.from == 0 && self.query.make.is_none_or(|make| name.make == make) {
                let mut piece = piece((from, to), place, fit, name, self.query.words);
                let rest = name.bytes(usize::from(place.to), name.atoms());
                if piece.fit == Fit::Exact && rest > 0 {
                    piece.fit = Fit::Beginning(rest as u8);
                } else if piece.fit == Fit::Exact {
                    let spelt_so = usize::from(piece.to - piece.from) == name.atoms();
                    piece.bonus = MAKE - 2 * i8::from(name.is_nickname) - i8::from(!spelt_so);
                }
                self.makes.push(piece);
            }
        }
    }

    /// Adds models of any make, and more of the makes that are meant.
    fn add_models(&mut self, span: (usize, usize), terms: &Terms, fit: Fit, meant: &[u32]) {
        if terms.is_empty() {
            return;
        }
        if self.query.make.is_none() {
            let piece = self.model_piece(span, fit);
            self.models.extend(self.index.models.places(terms).iter().map(piece));
        }
        self.add_models_of(meant, span, terms, fit);
    }

    fn add_models_of(&mut self, makes: &[u32], span: (usize, usize), terms: &Terms, fit: Fit) {
        for make in makes {
            let piece = self.model_piece(span, fit);
            self.models.extend(self.index.places_in(*make, terms).map(piece));
        }
    }

    fn model_piece(&self, span: (usize, usize), fit: Fit) -> impl Fn(&TermPlace) -> Piece + use<'a> {
        let (index, words) = (self.index, self.query.words);
        move |place| piece(span, place, fit, &index.model_names[place.name as usize], words)
    }

    /// The given make, or the makes that words of the query name, the likeliest first.
    fn makes_meant(&self) -> Vec<u32> {
        if let Some(make) = self.query.make {
            return vec![make];
        }
        let mut makes: Vec<(Fit, Reverse<u8>, Reverse<u16>, u32)> = self
            .makes
            .iter()
            .map(|piece| {
                let subject = &self.index.subjects[self.name(true, piece.name).subject as usize];
                (piece.fit, Reverse(piece.to - piece.from), Reverse(subject.renown), subject.make)
            })
            .collect();
        makes.sort_unstable();
        let mut meant: Vec<u32> = Vec::new();
        for (_, _, _, make) in makes {
            if meant.len() < MAKES_MAX && !meant.contains(&make) {
                meant.push(make);
            }
        }
        meant
    }
}

fn piece((from, to): (usize, usize), place: &TermPlace, fit: Fit, name: &Name, words: &Words) -> Piece {
    let typed = words.start(to) - words.start(from);
    let fit = match fit {
        Fit::Beginning(_) => match name.bytes(usize::from(place.from), usize::from(place.to)).saturating_sub(typed) {
            0 => Fit::Exact,
            rest => Fit::Beginning(rest.min(255) as u8),
        },
        other => other,
    };
    Piece {
        name: place.name,
        from: from as u8,
        to: to as u8,
        part: (place.from, place.to),
        fit,
        bonus: 0,
        with_make: false,
    }
}

//! Rates how well a query as a whole fits the names that have some of its words.

use super::align::{Edge, Fit, Reading, align};
use super::pieces::Piece;
use super::query::{Effort, Match, Search};
use super::words::atom_bits;
use super::{MatchKind, YEAR_SLOT};
use crate::YearSet;
use std::cmp::Reverse;

/// Maximum number of names that are aligned in full. The others fit worse at a first estimate.
const ALIGNED_MAX: usize = 28;
/// Number of atoms of a query above which fewer names are aligned: aligning takes as many steps as
/// a query has atoms.
const ALIGNED_ATOMS: usize = 10;
/// Taken off where the requested year is not one of the model's.
const WRONG_YEAR: i32 = 45;
/// Points for a name that is written out as the catalog has it: it is meant, however well known a
/// part of it is.
const WRITTEN_OUT: i32 = 42;
/// Points for a nickname that is written out.
const NICKNAME_WRITTEN_OUT: i32 = 36;
/// Taken off for each edit of a name that the catalog has and the text writes out: the nearer name
/// is meant, not the better known one.
const MISTYPED: i32 = 20;
/// Divisor of renown between names that are written out: there, renown weighs less than half a
/// letter.
const RENOWN_OF_WRITTEN_OUT: i32 = 16;
/// Maximum number of years since a model's last year that count against it, where no year is
/// requested: `320i` then rather means the 3 Series of today than the row that was once registered
/// under that name.
const YEARS_GONE_MAX: u16 = 12;
/// Taken off where a make is written out and left over.
const IGNORED_MAKE: i32 = 30;

impl Search<'_> {
    /// Aligns the most promising names and returns the best match of each subject.
    pub(super) fn rank(&mut self) -> Vec<Match> {
        for pieces in [&mut self.makes, &mut self.models] {
            pieces.sort_by_cached_key(Piece::key);
            pieces.dedup();
        }
        let mut matches = self.align_all(true);
        matches.extend(self.align_all(false));
        // Keep the best match among each subject's names.
        matches.sort_unstable_by_key(|found| (found.subject, Reverse(found.score)));
        matches.dedup_by_key(|found| found.subject);
        matches
    }

    fn align_all(&self, makes: bool) -> Vec<Match> {
        let pieces = if makes { &self.makes } else { &self.models };
        let named = self.makes_named();
        let mut promising: Vec<(Reverse<i32>, u32, &[Piece])> = pieces
            .chunk_by(|a, b| a.name == b.name)
            .map(|pieces| (Reverse(self.promise(pieces, makes, &named)), pieces[0].name, pieces))
            .collect();
        let aligned = ALIGNED_MAX * ALIGNED_ATOMS / self.query.words.len().max(ALIGNED_ATOMS);
        if promising.len() > aligned {
            promising.select_nth_unstable_by_key(aligned, |(promise, name, _)| (*promise, *name));
            promising.truncate(aligned);
        }
        promising.into_iter().filter_map(|(_, name, pieces)| self.align_one(name, pieces, makes)).collect()
    }

    /// Returns each make that words of the query name, with the atoms that name it as bits; in the
    /// order of the makes.
    fn makes_named(&self) -> Vec<(u32, u32)> {
        let make = |piece: &Piece| (self.name(true, piece.name).make, atom_bits(piece.from, piece.to));
        let mut named: Vec<(u32, u32)> = self.makes.iter().map(make).collect();
        named.sort_unstable();
        named.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 |= if same { next.1 } else { 0 };
            same
        });
        named
    }

    /// Estimates how well a name fits, without aligning it: letters of the query that the name has,
    /// and how much of the name is missing.
    fn promise(&self, pieces: &[Piece], makes: bool, named: &[(u32, u32)]) -> i32 {
        let words = self.query.words;
        let name = self.name(makes, pieces[0].name);
        let (mut atoms, mut parts, mut edits) = (0u32, 0u32, 0);
        for piece in pieces {
            if atoms & atom_bits(piece.from, piece.to) != atom_bits(piece.from, piece.to) {
                edits += if let Fit::Near(edits) = piece.fit { i32::from(edits) } else { 0 };
            }
            atoms |= atom_bits(piece.from, piece.to);
            parts |= atom_bits(piece.part.0, piece.part.1);
        }
        if !makes {
            let of_make = named.binary_search_by_key(&name.make, |(make, _)| *make);
            atoms |= of_make.map_or(0, |at| named[at].1);
        }
        let mut had = 0;
        for atom in set_bits(atoms) {
            had += words.start(atom + 1) - words.start(atom);
        }
        let mut missing = 0;
        for atom in set_bits(!parts & atom_bits(0, name.atoms() as u8)) {
            missing += name.bytes(atom, atom + 1) + 2;
        }
        let wrong_year =
            self.query.year.is_some_and(|year| !self.index.subjects[name.subject as usize].years.contains(year));
        let whole = if missing == 0 { WRITTEN_OUT } else { 0 };
        whole + 10 * had as i32 - 2 * (missing as i32).min(20) - 13 * edits + i32::from(name.renown)
            - if wrong_year { WRONG_YEAR } else { 0 }
    }

    fn align_one(&self, number: u32, pieces: &[Piece], makes: bool) -> Option<Match> {
        let query = self.query;
        let name = self.name(makes, number);
        let subject = &self.index.subjects[name.subject as usize];
        let edge = |piece: &Piece, part| Edge {
            from: piece.from,
            to: piece.to,
            part,
            fit: piece.fit,
            bonus: piece.bonus,
            with_make: piece.with_make,
        };
        let mut edges: Vec<Edge> = pieces.iter().map(|piece| edge(piece, Some(piece.part))).collect();
        if !makes {
            let of_make = self.makes.iter().filter(|piece| self.name(true, piece.name).make == subject.make);
            edges.extend(of_make.map(|piece| edge(piece, None)));
        }
        let make = self.index.make_slugs[subject.make as usize].as_str();
        let bytes = |from, to| name.bytes(from, to);
        let mut reading = align(query.words, (make, name.atoms()), bytes, &edges, query.asides)?;
        // Somebody who writes a make means it.
        let named = self.makes.iter().filter(|piece| piece.fit == Fit::Exact && piece.to - piece.from == 1);
        if named.into_iter().any(|piece| reading.left >> piece.from & 1 == 1) {
            reading.points -= IGNORED_MAKE;
        }
        let mut found = Match {
            subject: name.subject,
            kind: kind(&reading, name.atoms()),
            score: reading.points,
            reading,
            renown: subject.renown,
            is_model: !makes,
            by_nickname: name.is_nickname,
        };
        let renown = i32::from(subject.renown);
        let written_out = found.kind == MatchKind::Exact && reading.left == 0;
        // The text has make and name, or several words of a name, in any order and with typing
        // mistakes, and the catalog has the vehicle under that name: it comes before the better
        // known vehicle that has it as a nickname.
        let all_of_it = found.reading.left == 0 && found.reading.is_whole(name.atoms());
        let registered = all_of_it && !name.is_nickname && (found.reading.make.is_some() || name.atoms() > 1);
        found.score += match (query.effort, written_out, name.is_nickname) {
            (Effort::Decide, true, false) => WRITTEN_OUT + renown / RENOWN_OF_WRITTEN_OUT,
            (Effort::Decide, true, true) => NICKNAME_WRITTEN_OUT + renown / RENOWN_OF_WRITTEN_OUT,
            (Effort::Suggest, ..) if registered => WRITTEN_OUT + renown - MISTYPED * i32::from(found.reading.edits),
            _ => renown,
        };
        let last = |years: YearSet| years.iter().last().unwrap_or_default();
        match query.year.or_else(|| found.aside(query.asides, YEAR_SLOT)) {
            Some(year) if !subject.years.contains(year) => found.score -= WRONG_YEAR,
            None if query.effort == Effort::Decide => {
                let gone = last(self.index.years).saturating_sub(last(subject.years)).min(YEARS_GONE_MAX);
                found.score -= i32::from(gone);
            }
            _ => {}
        }
        Some(found)
    }
}

/// Positions of the bits that are set, ascending.
fn set_bits(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (lowest < 32).then_some(lowest)
    })
}

fn kind(reading: &Reading, atoms: usize) -> MatchKind {
    let whole = reading.is_whole(atoms);
    let whole_make = reading.make.is_none_or(|fit| fit == Fit::Exact);
    let mistyped_make = matches!(reading.make, Some(Fit::Near(_)));
    // Atoms from the first on, none left out.
    let from_the_start = reading.covered & (reading.covered + 1) == 0;
    match () {
        _ if reading.edits > 0 || mistyped_make => MatchKind::Fuzzy,
        _ if reading.inside => MatchKind::Contains,
        _ if whole && whole_make && reading.in_order => MatchKind::Exact,
        _ if from_the_start && whole_make && reading.in_order => MatchKind::Prefix,
        _ => MatchKind::Token,
    }
}

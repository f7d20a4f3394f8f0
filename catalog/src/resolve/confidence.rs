//! Rates how certain an answer is.
//!
//! `high`: every word is accounted for, the names are written out without mistakes, and no other
//! vehicle fits as well. `medium`: a typing mistake, a beginning of a name, a word for a trim, a
//! year in which the model was not built, a body that it did not have, a row that names no vehicle,
//! a word for a kind of vehicle without a make, or another vehicle that fits as well. `low`: words
//! are left over, or only a piece of the name was there.
//!
//! Why: `docs/decisions/catalog-and-search.md` (Resolve: levels of confidence).

use crate::search::{Aside, Fit, Match, MatchKind, Words, YEAR_SLOT};
use cyclorama_core::named_enum;

/// A rival is another vehicle that fits as well. Its reading has at most this many points less than
/// that of the best match.
const RIVAL_POINTS: i32 = 2;
/// The score of a rival is at most this much below that of the best match. A year in which the
/// vehicle was not built lowers its score.
const RIVAL_SCORE: i32 = 12;
/// A vehicle is no rival if the best match has more renown by more than this.
const RIVAL_RENOWN: u16 = 11;

named_enum! {
    /// The certainty of a result; the module describes the levels.
    pub enum Confidence { High = "high", Medium = "medium", Low = "low" }
}

/// Doubts about a match beside those about the names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Doubts {
    pub unclear_view: bool,
    pub wrong_year: bool,
    /// The model was not sold with the body or the doors that the words name.
    pub other_body: bool,
    /// The row names no vehicle.
    pub nameless: bool,
    /// The words that are read as the name are words for a kind of thing, and the make is not
    /// written: `tractor`, `fast car`.
    pub kind_without_make: bool,
}

/// Rates the best match. `found` must have all matches that are other vehicles; it may have the
/// best itself.
pub fn judge<'a>(
    best: &Match,
    mut found: impl Iterator<Item = &'a Match>,
    asides: &[Aside],
    words: &Words,
    doubts: &Doubts,
) -> Confidence {
    let reading = &best.reading;
    let pieces_only = matches!(best.kind, MatchKind::Contains);
    if reading.left != 0 || words.truncated || pieces_only || reading.missing > 0 && reading.edits > 1 {
        return Confidence::Low;
    }
    let rival = found.any(|other| {
        other.is_model
            && other.subject != best.subject
            && other.reading.points >= reading.points - RIVAL_POINTS
            && other.reading.missing <= reading.missing
            && other.score >= best.score - RIVAL_SCORE
            && other.renown + RIVAL_RENOWN >= best.renown
    });
    // In `2002 bmw` the number is read as the model and might be the year.
    let year_or_name = best.kind == MatchKind::Token
        && asides.iter().any(|aside| aside.slot == YEAR_SLOT && !aside.guessed)
        && best.aside(asides, YEAR_SLOT).is_none();
    let guessed = best.asides(asides).any(|aside| aside.guessed);
    let named = reading.edits == 0
        && reading.missing == 0
        && !reading.inside
        && reading.make.is_none_or(|fit| fit == Fit::Exact);
    let doubtful =
        doubts.unclear_view || doubts.wrong_year || doubts.other_body || doubts.nameless || doubts.kind_without_make;
    if named && !rival && !guessed && !year_or_name && !doubtful { Confidence::High } else { Confidence::Medium }
}

//! Reads the words that people write beside the name of a vehicle, in a search as in a request: the
//! model year, bodies, and words for its version.

use super::align::Aside;
use super::words::Words;
use crate::styles::{self, STYLE_ATOMS_MAX};
use cyclorama_core::BodyClass;
use serde::Deserialize;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// Numbers that are read as model years.
const YEARS: RangeInclusive<u16> = 1990..=2027;
/// The [`Aside`] slot of a model year; its value is the year.
pub const YEAR_SLOT: u8 = 0;
/// The [`Aside`] slot of a word for a body; its value is a position in [`BodyClass::ALL`].
pub const BODY_SLOT: u8 = 4;
/// The [`Aside`] slot of a number of doors.
pub const DOORS_SLOT: u8 = 5;
/// The kind of a trim, outside of the slots: there may be several.
pub const TRIM: u8 = 18;

/// Atoms of the longest trim (`plug in hybrid`).
const TRIM_ATOMS_MAX: usize = 4;
/// Maximum number of asides of a query: a reading notes them as bits of a `u64`.
pub const ASIDES_MAX: usize = 64;

static TRIMS: &str = include_str!("trims.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    words: Vec<String>,
}

/// Returns every reading of atoms as a model year, a body or a trim.
pub fn of(words: &Words) -> Vec<Aside> {
    let mut asides: Vec<Aside> = Vec::new();
    for from in 0..words.len() {
        asides.extend(year_at(words, from));
        asides.extend(bodies_at(words, from));
        for to in from + 1..=(from + TRIM_ATOMS_MAX).min(words.len()) {
            asides.extend(trim_at(words, from, to));
        }
    }
    asides.truncate(ASIDES_MAX);
    asides
}

/// Reads a number that can be a model year: `2014`, `'14`.
fn year_at(words: &Words, atom: usize) -> Option<Aside> {
    let text = words.join(atom, atom + 1);
    let number: u16 = text.parse().ok()?;
    let year = match text.len() {
        4 => number,
        2 if words.has_apostrophe(atom) => short_year(number)?,
        _ => return None,
    };
    let (from, to) = (atom as u8, atom as u8 + 1);
    let aside = Aside { from, to, slot: YEAR_SLOT, value: year, points: 34, guessed: false, makes: &[] };
    YEARS.contains(&year).then_some(aside)
}

/// Returns every reading of atoms from `from` on as a word for a body or as a number of doors.
pub fn bodies_at(words: &Words, from: usize) -> Vec<Aside> {
    let mut asides = Vec::new();
    let letters = |to: usize| (words.start(to) - words.start(from)) as i32;
    for to in from + 1..=(from + STYLE_ATOMS_MAX).min(words.len()) {
        let several = (from + 1..to).any(|atom| !words.is_glued(atom));
        for style in styles::at(words, from, to) {
            // A maker's own word for a body (`Avant`) seldom means anything else after the model's
            // name, and neither does a phrase of several words.
            let points = match (style.makes.is_empty(), several) {
                (true, false) => 5 * letters(to) + 1,
                (true, true) => 8 * letters(to) + 1,
                (false, _) => 9 * letters(to) + 2,
            };
            let value = BodyClass::ALL.iter().position(|body| *body == style.body).unwrap_or(0) as u16;
            let (from, to) = (from as u8, to as u8);
            asides.push(Aside { from, to, slot: BODY_SLOT, value, points, guessed: false, makes: &style.makes });
        }
    }
    if let Some((to, doors)) = styles::doors_at(words, from) {
        let points = 8 * letters(to);
        let (from, to) = (from as u8, to as u8);
        asides.push(Aside { from, to, slot: DOORS_SLOT, value: doors, points, guessed: false, makes: &[] });
    }
    asides
}

/// Returns the model year that two digits stand for.
pub fn short_year(digits: u16) -> Option<u16> {
    [2000 + digits, 1900 + digits].into_iter().find(|year| YEARS.contains(year))
}

/// Points of a trim: half of what the same letters would have as part of a name, and more for a
/// phrase, which is meant as a whole (`Blue dCi` is not a colour).
pub fn trim_points(words: &Words, from: usize, to: usize) -> i32 {
    let joined = words.join(from, to);
    let several =
        (from + 1..to).any(|atom| !words.is_glued(atom)) && joined.bytes().any(|byte| byte.is_ascii_alphabetic());
    if several { 8 * joined.len() as i32 } else { 5 * joined.len() as i32 }
}

fn trim_at(words: &Words, from: usize, to: usize) -> Option<Aside> {
    let points = trim_points(words, from, to);
    let aside = Aside { from: from as u8, to: to as u8, slot: TRIM, value: 0, points, guessed: true, makes: &[] };
    is_trim(words, from, to).then_some(aside)
}

/// True if atoms `from..to`, joined, tell versions of one vehicle apart.
pub fn is_trim(words: &Words, from: usize, to: usize) -> bool {
    /// The embedded list. A test reads it, so it is never empty here.
    static READ: LazyLock<HashSet<String>> = LazyLock::new(|| read(TRIMS).unwrap_or_default());
    let joined = words.join(from, to);
    let is_number = joined.bytes().all(|byte| byte.is_ascii_digit());
    // `2.0` is an engine, but `20` can be anything; `LE` in `LE2` is a piece of a name.
    let stands_alone = if is_number { to - from > 1 } else { to == words.len() || !words.is_glued(to) };
    stands_alone && READ.contains(joined)
        || is_engine(words, from, to)
        || is_power(words, from, to)
        || is_fuel(words, from, to)
}

/// True if the atom is the letter behind the number of an engine, as a separate word: `C 220 d`.
fn is_fuel(words: &Words, from: usize, to: usize) -> bool {
    let is_letter = ["d", "e", "h", "i", "de"].contains(&words.join(from, to));
    to - from == 1 && from > 0 && is_letter && words.is_number(from - 1) && !words.is_glued(to)
}

/// True if the atoms are the power of an engine: `105 PS`, `120cv`, `81 kW`.
fn is_power(words: &Words, from: usize, to: usize) -> bool {
    let is_unit = |unit: &str| ["ps", "cv", "ch", "hp", "bhp", "kw", "pk"].contains(&unit);
    to - from == 2
        && words.is_number(from)
        && (2..=4).contains(&words.join(from, from + 1).len())
        && is_unit(words.join(from + 1, to))
        && !words.is_glued(from)
        && !words.is_glued(to)
}

/// True if the atoms are a maker's code of an engine, as one word: `30d`, `M40i`, `xDrive40i`,
/// `50e`.
fn is_engine(words: &Words, from: usize, to: usize) -> bool {
    let whole_word = !words.is_glued(from) && !words.is_glued(to);
    let code = words.join(from, to).trim_start_matches("xdrive").trim_start_matches("sdrive").trim_start_matches('m');
    let is_code = |(digits, fuel): (&str, &str)| {
        digits.bytes().all(|byte| byte.is_ascii_digit()) && ["d", "e", "h", "i", "si", "sd"].contains(&fuel)
    };
    whole_word && code.split_at_checked(2).is_some_and(is_code)
}

fn read(text: &str) -> Result<HashSet<String>, toml::de::Error> {
    let file: File = toml::from_str(text)?;
    Ok(file.words.iter().map(|phrase| Words::of(phrase).key().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_whole() {
        let file: File = toml::from_str(TRIMS).expect("trims.toml");
        assert_eq!(read(TRIMS).expect("trims.toml").len(), file.words.len(), "each once");
        for (text, expected) in
            [("Quattro", true), ("plug-in hybrid", true), ("2.0", true), ("20", false), ("LE2", false), ("golf", false)]
        {
            let words = Words::of(text);
            let whole = is_trim(&words, 0, words.len());
            assert_eq!(whole || is_trim(&words, 0, 1), expected, "{text}");
        }
        let longest = file.words.iter().map(|phrase| Words::of(phrase).len()).max();
        assert!(longest <= Some(TRIM_ATOMS_MAX), "{longest:?}");
    }
}

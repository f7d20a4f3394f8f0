//! What people say of a vehicle beside its name, in a search as in a request: the model year, and words of its version.

use super::align::Aside;
use super::words::Words;
use serde::Deserialize;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// Numbers that are read as model years.
const YEARS: RangeInclusive<u16> = 1990..=2027;
/// The [`Aside`] slot of a model year; its value is the year.
pub const YEAR_SLOT: u8 = 0;
/// A trim, outside of the slots: there may be several.
pub const TRIM: u8 = 18;

/// Atoms of the longest trim (`plug in hybrid`).
const TRIM_ATOMS_MAX: usize = 4;
/// As many as a reading can note.
pub const ASIDES_MAX: usize = 64;

static TRIMS: &str = include_str!("trims.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    words: Vec<String>,
}

/// Every reading of atoms as a model year or a trim.
pub fn of(words: &Words) -> Vec<Aside> {
    let mut asides: Vec<Aside> = Vec::new();
    for from in 0..words.len() {
        asides.extend(year_at(words, from));
        for to in from + 1..=(from + TRIM_ATOMS_MAX).min(words.len()) {
            asides.extend(trim_at(words, from, to));
        }
    }
    asides.truncate(ASIDES_MAX);
    asides
}

/// A number that can be a model year: `2014`, `'14`.
fn year_at(words: &Words, atom: usize) -> Option<Aside> {
    let text = words.join(atom, atom + 1);
    let number: u16 = text.parse().ok()?;
    let year = match text.len() {
        4 => number,
        2 if words.has_apostrophe(atom) => short_year(number)?,
        _ => return None,
    };
    let (from, to) = (atom as u8, atom as u8 + 1);
    let aside = Aside { from, to, slot: YEAR_SLOT, value: year, points: 34, guessed: false };
    YEARS.contains(&year).then_some(aside)
}

/// The model year that two digits stand for.
pub fn short_year(digits: u16) -> Option<u16> {
    [2000 + digits, 1900 + digits].into_iter().find(|year| YEARS.contains(year))
}

/// Half of what the same letters would say as part of a name.
fn trim_at(words: &Words, from: usize, to: usize) -> Option<Aside> {
    let points = 5 * words.join(from, to).len() as i32;
    let aside = Aside { from: from as u8, to: to as u8, slot: TRIM, value: 0, points, guessed: true };
    is_trim(words, from, to).then_some(aside)
}

/// Whether atoms `from..to`, joined, tell versions of one vehicle apart.
pub fn is_trim(words: &Words, from: usize, to: usize) -> bool {
    /// The embedded list; a test reads it, so it is never empty here.
    static READ: LazyLock<HashSet<String>> = LazyLock::new(|| read(TRIMS).unwrap_or_default());
    let joined = words.join(from, to);
    let is_number = joined.bytes().all(|byte| byte.is_ascii_digit());
    // `2.0` is an engine and `20` anything; `LE` in `LE2` is a piece of a name.
    let stands_alone = if is_number { to - from > 1 } else { to == words.len() || !words.is_glued(to) };
    stands_alone && READ.contains(joined) || is_engine(words, from, to)
}

/// Makers' codes of an engine, as one word: `30d`, `M40i`, `xDrive40i`, `50e`.
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
